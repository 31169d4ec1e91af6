"""Raters, such as a person and a model that judges: their effects and their agreement."""

import numpy as np
import pandas as pd
import pytest
from helpers.responses import quick
from scipy import stats

import bayesbias as bb
from bayesbias.core.errors import InputError
from bayesbias.studies.responses import agreement


def ratings(raters, kind="number", seed=4, words=4, items=8):
    """Simulate answers of two groups of words to the same items, each rated by all raters."""
    rng = np.random.default_rng(seed)
    of_item = rng.normal(0, 0.8, items)
    of_rater = dict(zip(raters, rng.normal(0, 0.5, len(raters)), strict=True))
    of_cell = {(group, rater): rng.normal(0, 0.3) for group in "ab" for rater in raters}
    rows = []
    for group in "ab":
        for word, item in np.ndindex(words, items):
            answer = of_item[item] + 0.5 * (group == "a") + rng.normal(0, 0.7)
            for rater in raters:
                latent = answer + of_rater[rater] + of_cell[group, rater] + rng.normal(0, 0.7)
                levels = {"number": latent, "choice": int(latent > 0)}
                levels["ordered"] = int(np.digitize(latent, [-1, 0, 1]))
                rows.append((group, f"{group}{word}", f"i{item}", rater, levels[kind]))
    return pd.DataFrame(rows, columns=["group", "word", "item", "judge", "score"])


def table_of(frame, **options):
    return bb.responses_table(frame, outcome="score", rater="judge", **options)


def test_raters_are_crossed_with_groups_as_in_lme4():
    """Score ~ group + (1 | word) + (1 | item) + (1 | group:item) + (1 | answer) + (1 | judge) + (1 | group:judge)."""
    frame = ratings([f"j{k}" for k in range(12)], words=12, items=10, seed=5)
    found = bb.fit_responses(table_of(frame), seed=1, draws=500, progress=False)
    assert {"rater_effect", "group_by_rater", "question_effect"} <= {*found.fit.spec.mu}
    row = found.contrasts(estimand="population", level="overall", detail=True).iloc[0]
    estimate, error = 0.5744, 0.1387  # lme4 1.1.31
    assert row["mean"] == pytest.approx(estimate, abs=0.1 * error)
    # lme4 has the SDs of words and of groups by items at 0, which a posterior mean cannot be.
    assert error < row["sd"] < 1.25 * error
    draws = found.fit.parameter_draws()
    for name, expected in (("question_sd", 0.733), ("group_by_rater_sd", 0.240), ("sigma", 0.691)):
        assert np.median(draws[name]) == pytest.approx(expected, rel=0.15), name
    assert found.estimands["population"] == "new words, items and raters"
    sds = found.contrasts(level="overall", detail=True).set_index("estimand")["sd"]
    assert sds["listed_words"] < sds["new_words"] < sds["population"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["choice", "ordered"])
def test_raters_of_other_answers(kind):
    model = "ordered" if kind == "ordered" else None
    table = table_of(ratings(["a", "b", "c"], kind))
    found = bb.fit_responses(table, model, seed=1, draws=200, progress=False)
    assert {"rater_effect", "group_by_rater", "question_effect"} <= {*found.fit.spec.mu}
    assert np.isfinite(found.contrasts()["mean"]).all()
    rows = found.agreement()
    assert [*rows.columns[-2:]] == ["equal", "kappa"]
    assert len(rows) == 3 * 3


def test_two_raters_have_a_difference_in_place_of_sds():
    """Where one rated only answers of one group, their difference is no difference between groups."""
    frame = ratings(["human", "model"])
    frame.loc[frame["judge"] == "model", "score"] += 3.0
    frame = frame[(frame["judge"] == "model") | (frame["group"] == "a")]
    found = quick(table_of(frame))
    assert found.fit.spec.mu[-1] == "adjust_1"
    assert "rater_effect" not in found.fit.spec.mu
    row = found.contrasts(estimand="population", level="overall").iloc[0]
    assert row["hpdi_low"] < 0.5 < row["hpdi_high"]
    raw = frame.groupby("group")["score"].mean()
    assert raw["a"] - raw["b"] < -0.5
    assert found.agreement()["rows"].tolist() == [32, 32]


def test_rows_of_several_raters_are_no_repeats():
    table = table_of(ratings(["human", "model"]))
    assert table.coverage["repeats"] == 0
    assert table.raters == ["human", "model"]
    assert table.pairing is None
    twice = table_of(pd.concat([ratings(["human", "model"])] * 2))
    assert twice.coverage["repeats"] == len(twice.frame)
    both = agreement.rated_by_both(twice, "human", "model")
    assert len(both) == len(twice.frame) / 2


@pytest.mark.slow
def test_answers_that_one_rater_lacks_are_left_out_of_agreement():
    frame = ratings(["human", "model"], "choice")
    few = frame[(frame["judge"] == "model") | (frame["item"] < "i3")].sample(frac=1, random_state=1)
    found = quick(table_of(few))
    rows = found.agreement().set_index("group")
    wide = few.pivot(index=["word", "item"], columns="judge", values="score").dropna()
    assert rows.loc["all", "rows"] == len(wide) == 24
    assert rows.loc["all", "equal"] == (wide["human"] == wide["model"]).mean()
    difference = (wide["human"] - wide["model"]).mean()
    assert rows.loc["all", "mean_difference"] == pytest.approx(difference)
    note = "human - model: on the 24 answers that both rated"
    assert note in str(found).replace("\n         ", " ")
    assert "agreement" in bb.output.to_json(found)


def test_kappa_by_hand_and_of_cohen():
    """The table of Cohen (1968) style by hand: 45 + 25 of 100 equal, 60 and 70 percent yes."""
    a = np.repeat([1, 1, 0, 0], [45, 15, 25, 15])
    b = np.repeat([1, 0, 1, 0], [45, 15, 25, 15])
    by_chance = 0.6 * 0.7 + 0.4 * 0.3
    assert agreement.kappa(a, b, [0, 1]) == pytest.approx((0.6 - by_chance) / (1 - by_chance))
    # With squared weights of three levels: 1 - mean squared distance over that of shuffled pairs.
    rng = np.random.default_rng(2)
    a = rng.integers(0, 3, 200)
    b = np.clip(a + rng.integers(-1, 2, 200), 0, 2)
    distance = np.mean((a - b) ** 2) / np.mean(np.subtract.outer(a, b) ** 2)
    assert agreement.kappa(a, b, [0, 1, 2]) == pytest.approx(1 - distance)
    assert np.isnan(agreement.kappa(np.ones(4), np.ones(4), [0, 1]))


def test_the_intraclass_correlation_of_shrout_and_fleiss():
    """Judges 1 and 2 of their six targets; mean squares from the definition of variance components."""
    a, b = np.array([9.0, 6, 8, 7, 10, 6]), np.array([2.0, 1, 4, 1, 5, 2])
    n = len(a)
    of_answers = 2 * np.var((a + b) / 2, ddof=1)
    of_raters = n * np.var([a.mean(), b.mean()], ddof=1)
    error = np.var(a - b, ddof=1) / 2
    expected = (of_answers - error) / (of_answers + error + 2 * (of_raters - error) / n)
    assert agreement.intraclass(a, b) == pytest.approx(expected)
    assert agreement.pearson(a, b) == pytest.approx(stats.pearsonr(a, b)[0])
    assert np.isnan(agreement.pearson(np.ones(6), b))


def test_raters_that_cannot_be_told_apart_are_refused():
    frame = ratings(["human", "model"])
    with pytest.raises(
        InputError, match="the column judge: expected two raters or more, got human"
    ):
        table_of(frame.assign(judge="human"))
    lacking = frame.assign(judge=frame["judge"].mask(frame["item"] == "i0", ""))
    assert table_of(lacking).coverage["dropped"]["without judge"] == 16


def test_raters_are_named_on_the_command_line(tmp_path):
    path = tmp_path / "answers.csv"
    ratings(["human", "model", "other"]).to_csv(path, index=False)
    columns = {"outcome": "score", "rater": "judge"}
    table = bb.studies.load_responses(path, columns=columns)
    assert table.raters == ["human", "model", "other"]
    assert bb.responses_table(path, outcome="score", rater="judge").raters == table.raters
