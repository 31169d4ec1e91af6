"""Covariates, weights and conditions on rows."""

import numpy as np
import pandas as pd
import pytest
from helpers.responses import quick

import bayesbias as bb
from bayesbias.core.errors import InputError
from bayesbias.studies.responses.columns import rows_where


def answers(seed=2, slope=1.0, n=6):
    """Return answers of two groups of names with three resumes each; names of b have a higher age."""
    rng = np.random.default_rng(seed)
    rows = []
    for group, older in (("a", 0.0), ("b", 10.0)):
        for word in range(n):
            age = 30 + older + rng.normal(0, 4)
            for quality, of_quality in (("weak", -2.0), ("medium", 0.0), ("strong", 1.5)):
                y = 0.3 * (group == "a") + slope * (age - 35) / 10 + of_quality + rng.normal(0, 0.2)
                rows.append((group, f"{group}{word}", quality, age, y))
    return pd.DataFrame(rows, columns=["group", "name", "resume", "age", "score"])


def table_of(frame, **columns):
    return bb.responses_table(frame, word="name", outcome="score", **columns)


def test_groups_are_compared_at_the_same_covariates():
    """Against least squares by age and resume; without age the difference has another sign."""
    frame = answers(n=20)
    found = quick(table_of(frame, adjust=["age", "resume"]), draws=300, tune=300, chains=2)
    row = found.contrasts(level="overall", estimand="population", detail=True).iloc[0]
    x = np.column_stack(
        [
            np.ones(len(frame)),
            frame["group"] == "a",
            frame["age"],
            frame["resume"] == "weak",
            frame["resume"] == "strong",
        ]
    ).astype(float)
    ols = np.linalg.lstsq(x, frame["score"].to_numpy(), rcond=None)[0]
    assert row["mean"] == pytest.approx(ols[1], abs=0.35 * row["sd"])
    assert frame.groupby("group")["score"].mean().diff().iloc[-1] > 0 > -row["mean"]


def test_weights_are_numbers_of_answers():
    """A mean of n answers counts like n answers: against weighted least squares of two groups."""
    rng = np.random.default_rng(5)
    n = rng.integers(1, 40, 60)
    frame = pd.DataFrame({"group": ["a", "b"] * 30, "name": [f"w{k}" for k in range(60)], "n": n})
    frame["score"] = rng.normal(0, 1 / np.sqrt(n))
    found = quick(table_of(frame, weight="n"), draws=400, tune=300, chains=2)
    row = found.contrasts(level="overall", estimand="population", detail=True).iloc[0]
    of_group = [frame[frame["group"] == name] for name in "ab"]
    means = [np.average(part["score"], weights=part["n"]) for part in of_group]
    assert row["mean"] == pytest.approx(means[0] - means[1], abs=0.5 * row["sd"])
    assert found.fit.spec.weights == "weight"
    plain = quick(table_of(frame), draws=400, tune=300, chains=2)
    assert row["sd"] < plain.contrasts(level="overall", detail=True)["sd"].iloc[0]


def test_probabilities_are_averaged_over_covariates():
    """By group alike, with a covariate that answers follow: rates are those of the table."""
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({"group": ["a", "b"] * 200, "item": [f"i{k % 20}" for k in range(400)]})
    frame["item"] = [f"i{k // 2 % 20}" for k in range(400)]
    frame["kind"] = np.where(np.arange(400) // 40 % 2, "strong", "weak")
    p = np.where(frame["kind"] == "strong", 0.9, 0.1)
    frame["score"] = (rng.random(400) < p).astype(int)
    table = bb.responses_table(frame, outcome="score", adjust="kind")
    found = quick(table, draws=300, tune=300, chains=2)
    assert found.kind == "choice"
    row = found.contrasts(level="overall", estimand="population", detail=True)
    row = row[row["scale"] == "probability"].iloc[0]
    rates = frame.groupby("group")["score"].mean()
    assert row["mean"] == pytest.approx(rates["a"] - rates["b"], abs=0.5 * row["sd"])


def test_conditions_on_rows():
    frame = answers()
    assert {*rows_where(frame, "resume != strong")["resume"]} == {"weak", "medium"}
    assert rows_where(frame, "resume = weak and age > 40")["age"].min() > 40
    assert table_of(frame, where="resume != strong").coverage["rows_read"] == 24
    for condition, problem in (
        ("resume", "COLUMN"),
        ("resum = weak", "resum"),
        ("resume > weak", "number"),
    ):
        with pytest.raises(InputError, match=problem):
            rows_where(frame, condition)


@pytest.mark.parametrize(
    ("condition", "kept"),
    [
        ("variant = firstName_*", ["firstName_a", "firstName_b.c"]),
        ("variant != *Name_*", ["school_mit"]),
        ("variant = firstName_b.c", ["firstName_b.c"]),
        ("variant = firstName_bxc", []),
    ],
)
def test_a_star_stands_for_any_text(condition, kept):
    frame = pd.DataFrame({"variant": ["firstName_a", "firstName_b.c", "school_mit"]})
    assert rows_where(frame, condition)["variant"].tolist() == kept


def test_rows_without_a_covariate_are_counted():
    frame = answers()
    frame.loc[0, "age"] = np.nan
    table = table_of(frame, adjust="age")
    assert table.coverage["dropped"]["without age"] == 1
    assert table.frame["adjust age"].mean() == pytest.approx(0, abs=1e-9)
    assert "age" not in table.unused


@pytest.mark.parametrize(
    ("columns", "problem"),
    [
        ({"adjust": "name"}, "1 to 30|2 to 30"),
        ({"adjust": "ages"}, "ages"),
        ({"weight": "resume"}, "resume"),
    ],
)
def test_columns_that_cannot_be(columns, problem):
    frame = answers(n=20)
    with pytest.raises(InputError, match=problem):
        table_of(frame, **columns)


def test_the_file_has_the_same_columns(tmp_path):
    path = tmp_path / "answers.csv"
    answers().to_csv(path, index=False)
    named = {"word": "name", "outcome": "score", "adjust": "age+resume"}
    table = bb.studies.load_responses(path, columns=named, where="resume != strong")
    assert table.adjust == ("adjust age", "adjust resume: weak")
    assert table.frame["outcome"].notna().sum() == 24
