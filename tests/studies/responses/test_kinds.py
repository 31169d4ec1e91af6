"""The kinds of answers: which one a table has, and what each says of itself."""

import numpy as np
import pandas as pd
import pytest
from helpers.responses import quick, shared
from scipy import stats

import bayesbias as bb
from bayesbias.models.spec import load_model
from bayesbias.studies.responses.kinds import KINDS, kind_named, kind_of


def table(outcomes):
    """Answers of two groups to the same items."""
    n = len(outcomes) // 2
    frame = {
        "group": ["a"] * n + ["b"] * n,
        "word": "x",
        "item": [f"i{k}" for k in range(n)] * 2,
        "outcome": outcomes,
    }
    return bb.responses_table(pd.DataFrame(frame))


NUMBERS = [0.1, 0.5, 0.4, 0.3, 0.2, 0.9]


def test_the_kind_of_a_table():
    assert kind_of(table([0, 1, 0, 1, 1, 1])).name == "choice"
    assert kind_of(table(NUMBERS)).name == "paired"
    # With a second word in one group there is no single answer to each question.
    frame = table(NUMBERS).frame
    more = frame[frame["group"] == "a"].assign(word="y")
    answers = bb.responses_table(pd.concat([frame, more]))
    assert kind_of(answers).name == "number"


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_kind_and_its_model_agree(kind):
    spec = load_model(kind.model)
    # Log odds are no unit of a ROPE, so such a kind has a scale of the answers before them.
    assert (kind.scales[0] == "outcome") == spec.outcome_type.in_units
    assert kind_named(kind.name) is kind
    # A difference has a zero, to which a figure of it draws a line.
    assert (kind.zero is not None) == (kind.row == "difference")


def test_the_default_rope_is_a_tenth_of_the_sd():
    number = kind_named("number")
    frame = table(NUMBERS).frame
    more = frame[frame["group"] == "a"].assign(word="y")
    answers = pd.concat([frame, more])
    unmatched = number.default_rope(bb.responses_table(answers), pd.DataFrame())
    assert unmatched == float(f"{np.std(answers['outcome']) / 10:.2g}")
    differences = np.subtract(NUMBERS[:3], NUMBERS[3:])
    rows, notes = kind_named("paired").rows(table(NUMBERS), False)
    assert notes == []
    expected = float(f"{np.std(differences) / 10:.2g}")
    assert kind_named("paired").default_rope(table(NUMBERS), rows) == expected
    assert number.default_rope(table(NUMBERS), pd.DataFrame()) == expected


def test_one_word_of_two_groups_is_two_words_for_numbers_alone():
    frame = table(NUMBERS).frame.assign(word=["x", "y", "x"] * 2)
    answers = bb.responses_table(frame)
    rows, _ = kind_named("number").rows(answers, False)
    assert {*rows["word"]} == {"x (a)", "y (a)", "x (b)", "y (b)"}
    counts, _ = kind_named("choice").rows(answers, False)
    assert {*counts["word"]} == {"x", "y"}


def one_answer_each(groups, questions=40, seed=5):
    """Return answers of groups to the same questions, one each, with an SD of .4 around them."""
    rng = np.random.default_rng(seed)
    asked = rng.normal(0, 1, questions)
    rows = [
        (group, f"q{q}", 0.2 * g + asked[q] + rng.normal(0, 0.4))
        for g, group in enumerate(groups)
        for q in range(questions)
    ]
    return pd.DataFrame(rows, columns=["group", "item", "outcome"])


def error_of_differences(frame, question):
    """Return the standard error of a difference of two groups, in a table without gaps."""
    wide = frame.pivot(index=question, columns="group", values="outcome")
    left = wide.sub(wide.mean(axis=1), axis=0) - (wide.mean() - wide.mean().mean())
    n, groups = wide.shape
    return np.sqrt(2 * (left.to_numpy() ** 2).sum() / ((n - 1) * (groups - 1)) / n)


def test_answers_of_three_groups_are_modeled_and_not_their_differences():
    """Three differences of pairs share answers: one SD for each, drawn by itself, is no model of them."""
    assert kind_of(bb.responses_table(one_answer_each("ab"))).name == "paired"
    frame = one_answer_each("abc")
    found = quick(frame, draws=500, tune=300, chains=4)
    assert found.kind == "number"
    rows = found.contrasts(estimand="population", level="overall", detail=True)
    rows = rows.set_index("contrast")
    means, error = frame.groupby("group")["outcome"].mean(), error_of_differences(frame, "item")
    for a, b in ("ab", "ac", "bc"):
        row = rows.loc[f"{a} - {b}"]
        assert row["mean"] == pytest.approx(means[a] - means[b], abs=0.1 * error)
        assert row["sd"] == pytest.approx(error, rel=0.15)
    rates = found.rates()
    assert rates["p_highest"].sum() == pytest.approx(1)
    assert rates["group"].tolist() == means.sort_values(ascending=False).index.tolist()
    published = found.published
    assert (published["score"] == "paired t over pairs").all()
    pair = frame.pivot(index="item", columns="group", values="outcome")
    t = stats.ttest_rel(pair["a"], pair["b"]).statistic
    assert published.set_index("name").loc["a - b", "t"] == pytest.approx(t)


def test_models_as_a_sample_have_the_errors_of_the_crossed_model():
    """Means of six names by 17 jobs and six models, whose random effects are job, model and both.

    In a table without gaps the estimate of restricted maximum likelihood is the difference of means,
    and its error that of the residuals around groups and questions.
    """
    (path,) = shared("audits", "resume_variants.csv")
    columns = {"group": "variant", "item": "jd", "template": "model", "outcome": "mean_score"}
    table = bb.studies.load_responses(path, columns=columns, where="variant = firstName_*")
    found = quick(table, draws=500, tune=300, chains=4)
    frame = table.frame.assign(question=table.frame["item"] + table.frame["template"])
    means, error = frame.groupby("group")["outcome"].mean(), error_of_differences(frame, "question")
    assert error == pytest.approx(0.0502, abs=0.0001)  # as lme4 has it
    rows = found.contrasts(estimand="listed_words", level="overall", detail=True)
    rows = rows[~rows["contrast"].str.endswith(" - others")]
    assert len(rows) == 15
    for row in rows.itertuples():
        a, b = row.contrast.split(" - ")
        assert row.mean == pytest.approx(means[a] - means[b], abs=0.1 * error)
        assert row.sd == pytest.approx(error, rel=0.15)


def three_groups(sd_of_third):
    """Answers of three groups to 60 items; those of the third vary by themselves."""
    rng = np.random.default_rng(7)
    items = pd.DataFrame(rng.normal(0, 0.3, (60, 3)), columns=["a", "b", "c"])
    items["c"] += rng.normal(0, sd_of_third, 60)
    return (
        items.rename_axis("item")
        .melt(var_name="group", value_name="outcome", ignore_index=False)
        .reset_index()
    )


def test_two_of_three_groups_that_differ_evenly_are_named():
    frame = three_groups(3.0)
    found = quick(bb.responses_table(frame.astype({"item": str})))
    pair = frame.pivot(index="item", columns="group", values="outcome")
    even = (pair["a"] - pair["b"]).std()
    uneven = np.sqrt(((pair["a"] - pair["c"]).var() + (pair["b"] - pair["c"]).var()) / 2)
    (note,) = [note for note in found.notes if "Differences a - b vary less" in note]
    assert f"(SD {even:.3f})" in note
    assert f"those with c ({uneven:.3f})" in note
    pairs = [pair[a] - pair[b] for a, b in ("ab", "ac", "bc")]
    pairs += [pair[g] - pair.drop(columns=g).mean(axis=1) for g in "abc"]
    apart = np.concatenate([differences - differences.mean() for differences in pairs])
    assert found.rope == pytest.approx(0.1 * apart.std(ddof=1), rel=0.01)
    alike = quick(bb.responses_table(three_groups(0.0).astype({"item": str})))
    assert not any("vary less" in note for note in alike.notes)
