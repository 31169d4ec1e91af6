"""Families of intervals, ranks, rates, refusals and limits on each group."""

import numpy as np
import pandas as pd
import pytest
from helpers.responses import choice_answers, crossed, fitted, quick

import bayesbias as bb
from bayesbias.core import InputError
from bayesbias.studies import requirements
from bayesbias.studies.responses import limits
from bayesbias.studies.responses.sections import header


@pytest.fixture(scope="module")
def four():
    return quick(
        crossed(("a", "b", "c", "d"), words=5, difference=0.2), draws=400, tune=300, chains=2
    )


def test_joint_draws_have_the_spread_of_each_difference(four):
    labels, draws = four.answer_kind.joint(four, "population")
    rows = four.contrasts(estimand="population", level="overall", detail=True).set_index("contrast")
    flat = draws.reshape(-1, 4)
    for a, b in ((0, 1), (0, 3), (2, 3)):
        values, row = flat[:, a] - flat[:, b], rows.loc[f"{'abcd'[a]} - {'abcd'[b]}"]
        assert values.mean() == pytest.approx(row["mean"], abs=0.15 * row["sd"])
        assert values.std() == pytest.approx(row["sd"], rel=0.15)
    assert [label[0] for label in labels] == list("abcd")


def test_a_family_is_wider_than_one_and_narrower_than_bonferroni(four):
    from scipy.stats import norm

    rows = four.contrasts(estimand="population", level="overall", detail=True)
    pairs = rows[rows["family"] == "pairs of groups"]
    assert len(pairs) == 6
    width = ((pairs["high_family"] - pairs["low_family"]) / 2 / pairs["sd"]).to_numpy()
    assert np.ptp(width) < 1e-9
    assert norm.ppf(0.945) < width[0] < 1.15 * norm.ppf(1 - 0.11 / 2 / 6)
    assert "family" not in four.contrasts(level="overall")


def test_rates_and_ranks(four):
    frame = four.rates()
    assert frame["rate"].is_monotonic_decreasing
    assert frame["p_highest"].sum() == pytest.approx(1)
    assert frame["p_lowest"].sum() == pytest.approx(1)
    raw = four.responses.frame.groupby("group")["outcome"].mean()
    for row in frame.itertuples():
        assert row.rate == pytest.approx(raw[row.group], abs=0.3 * row.sd)
        assert row.rate_low < row.rate < row.rate_high
    assert frame["used"].tolist() == [45] * 4


def test_rates_of_choices_have_ratios_to_the_highest():
    found = fitted(choice_answers(), draws=300, tune=300, chains=2)
    frame = found.rates()
    assert frame["ratio"].iloc[0] == pytest.approx(1)
    assert frame["ratio"].iloc[1] == pytest.approx(
        frame["rate"].iloc[1] / frame["rate"].iloc[0], rel=0.05
    )
    assert frame["rate"].between(0, 1).all()


def test_refusals_are_counted_by_group_and_may_be_the_outcome():
    frame = pd.DataFrame({"group": ["a", "b"] * 6, "item": [f"i{k // 2}" for k in range(12)]})
    frame["outcome"] = ["yes", "I'm sorry, but no."] * 3 + ["no", "no"] * 2 + ["", "purple"]
    groups = bb.responses_table(frame).coverage["groups"]
    assert groups["b"]["refusals"] == 3
    assert groups["a"]["missing"] == 1
    assert groups["b"]["unparseable"] == 1
    table = bb.responses_table(frame, refused=True)
    assert table.outcome == "refused"
    assert table.frame.groupby("group")["outcome"].agg(["sum", "size"]).to_numpy().tolist() == [
        [0, 5],
        [3, 6],
    ]


def test_limits_on_each_group(four):
    rows = four.contrasts(estimand="population", level="overall", detail=True).set_index("contrast")
    others = rows[rows.index.str.endswith(" - others")]
    most = 0.75 * others[["hpdi_low", "hpdi_high"]].abs().to_numpy().max()
    limits = (
        f"|each group - mean|<{most + 0.1}, |each group - mean|<{most - 0.1}, each group - mean>-9"
    )
    met, not_met, signed = requirements.check_requirements(four, limits)
    assert (met.met, not_met.met, signed.met) == (True, False, True)
    assert met.value == pytest.approx(most)
    a = requirements.check_requirements(four, "a - mean<9")[0]
    assert a.value == pytest.approx(0.75 * rows.loc["a - others", "hpdi_high"])


def test_the_probability_of_any_difference(four):
    _, draws = four.answer_kind.joint(four, "population")
    flat = draws.reshape(-1, 4)
    expected = (np.ptp(flat, axis=1) > 0.5).mean()
    text = "P(|any difference| > 0.5) < 0.05, P(|any group - mean| > 50) < 0.05"
    first, second = requirements.check_requirements(four, text)
    assert first.value == pytest.approx(expected)
    assert second.met
    (mean,) = requirements.check_requirements(four, "P(|any group - mean| > 0.3) < 0.05")
    centered = flat - flat.mean(axis=1, keepdims=True)
    assert mean.value == pytest.approx((np.abs(centered) > 0.3).any(axis=1).mean())


def test_the_probability_of_a_named_contrast(four):
    _, draws = four.answer_kind.joint(four, "population")
    gap = np.subtract(*draws.reshape(-1, 4)[:, :2].T)
    text = "P(a - b < -0.1) < 1, P(b - a > 0.1) < 1, P(|a - b| > 0.2) < 1, P(|b - a|>0.2) < 1"
    found = [check.value for check in requirements.check_requirements(four, text)]
    below, large = (gap < -0.1).mean(), (np.abs(gap) > 0.2).mean()
    assert found == pytest.approx([below, below, large, large])
    (listed,) = requirements.check_requirements(four, "P(a - b (listed_words) < 0) < 1")
    rows = four.contrasts(estimand="listed_words", level="overall").set_index("contrast")
    assert listed.value == pytest.approx(rows.loc["a - b", "p_below_zero"], abs=0.03)
    with pytest.raises(InputError, match="over all items"):
        requirements.check_requirements(four, "P(a - b (i0) < 0) < 1")


def test_bars_are_the_size_of_any_contrast(four):
    rows = four.contrasts(level="overall").set_index(["estimand", "contrast"])
    text = "|a - b| < 9, |b - a (listed_words)| < 9, |a - b| (listed_words) < 9, |a - mean| < 9"
    new, turned, listed, mean = requirements.check_requirements(four, text)
    sizes = rows[["hpdi_low", "hpdi_high"]].abs().max(axis=1)
    assert new.value == pytest.approx(sizes["population", "a - b"])
    assert turned.value == listed.value == pytest.approx(sizes["listed_words", "a - b"])
    assert mean.value == pytest.approx(0.75 * sizes["population", "a - others"])
    each = requirements.check_requirements(four, "|each difference| (listed_words) < 9")[0]
    pairs = [name for name in rows.loc["listed_words"].index if "others" not in name]
    assert each.value == pytest.approx(sizes["listed_words"][pairs].max())


def test_an_unmet_limit_names_what_does_not_meet_it(four):
    rows = four.contrasts(estimand="population", level="overall").set_index("contrast")
    pairs = rows[~rows.index.str.endswith("others")]
    assert (pairs["hpdi_low"] < 0).any()
    (check,) = requirements.check_requirements(four, "each difference > 5")
    row = pairs.loc[pairs["hpdi_low"].idxmin()]
    assert not check.undecided
    assert check.line.startswith(
        f"each difference > 5 is NOT met: {row.name} is {row['mean']:+.3f} "
        f"[{row['hpdi_low']:+.3f}, {row['hpdi_high']:+.3f}]; also "
    )
    assert len(check.others) == 5
    assert check.line.endswith("and 3 more") or check.line.endswith(", 3 more")
    name, limit = "a - b", rows.loc["a - b", "mean"]
    (unsure,) = requirements.check_requirements(four, f"{name} < {limit}")
    assert (unsure.met, unsure.undecided) == (False, True)
    assert "the interval does not decide: more words, prompts or items are needed" in unsure.line


@pytest.mark.parametrize(
    "limit",
    [
        "|a - b| < 1", "|b - a (new_words)| < 1", "|each group - mean| (i1) < 1", "|a - mean| < 1",
        "P(|any group - mean| > 1) < .1", "P(a - b < -1) < .1", "P(|each difference| < 1) > .9",
    ],
)  # fmt: skip
def test_names_with_bars_and_of_probabilities_are_known_before_the_fit(four, limit):
    limits.check_names(four.responses, limit)


@pytest.mark.parametrize(
    ("limit", "problem"),
    [
        ("|a - z| < 1", "P(|NAME| > NUMBER), got '|a - z|'"),
        ("P(|any cell - mean| > 1) < 1", '"P(|any group - mean| > 0.05) < 0.05"'),
        ("|any group - mean| < 1", "each group - mean"),
        ("|a - b| (new_wrods) < 1", "got 'new_wrods'. Did you mean 'new_words'?"),
        ("each group - mean (zz) < 1", "expected an estimand, a model, an item or a template"),
    ],
)
def test_other_names_are_refused_before_the_fit(four, limit, problem):
    with pytest.raises(InputError) as error:
        limits.check_names(four.responses, limit)
    assert problem in str(error.value)


def test_limits_in_other_capitals_and_over_models_together():
    frame = crossed(("Black", "White"), models=("m1", "m2"), difference=1.0, words=6, seed=4)
    found = quick(frame)
    exact = (
        "|m1 - m2: Black - White| < 9, |Each group - mean| < 9, Black - White (m1) (new_words) < 9"
    )
    limits.check_names(found.responses, exact.casefold())
    expected = bb.studies.check_requirements(found, exact)
    for check, other in zip(
        expected, bb.studies.check_requirements(found, exact.casefold()), strict=True
    ):
        assert (check.low, check.high, check.met) == (other.low, other.high, True)
    (covered,) = bb.studies.check_requirements(found, "Coverage > 0.9")
    assert covered.met

    labels, draws = found.answer_kind.joint(found, "population")
    flat = dict(zip(labels, draws.reshape(-1, len(labels)).T, strict=True))
    halves = {
        model: 0.5 * abs(flat[f"Black | {model}"] - flat[f"White | {model}"])
        for model in ("m1", "m2")
    }
    level = float(np.median([*halves.values()]))
    names = f"P(|any group - mean| > {level}) < 0.01, P(|Any group - mean (M1)| > {level}) < 0.01"
    limits.check_names(found.responses, names)
    both, one = bb.studies.check_requirements(found, names)
    assert both.value == pytest.approx(((halves["m1"] > level) | (halves["m2"] > level)).mean())
    assert one.value == pytest.approx((halves["m1"] > level).mean())
    assert both.line.endswith(f"is NOT met: {both.value:.4g} over m1 and m2 together")
    assert one.line.endswith(f"is NOT met: {one.value:.4g}")
    with pytest.raises(InputError) as error:
        limits.check_names(found.responses, "|m1 - m2: black - wite| < 1")
    assert "Did you mean 'm1 - m2: Black - White'?" in str(error.value)
    assert ", m1: NAME, m1 - m2: NAME," in str(error.value)


def test_the_header_counts_questions_that_are_repeated(four):
    assert "180 of 180 answers: 4 groups, 20 words, 3 prompts, 3 items" in bb.output.to_text(four)
    frame = four.responses.frame
    twice = quick(pd.concat([frame, frame]).drop(columns="repeat"), draws=100, chains=2)
    assert "\n360 answers to 180 questions, 2 times each: 4 groups" in bb.output.to_text(twice)
    uneven = pd.concat([frame, frame[:5]]).drop(columns="repeat")
    table = bb.responses_table(uneven.assign(outcome=[np.nan, *uneven["outcome"][1:]]))
    assert header(bb.fit_responses(table, draws=100, chains=2), None)[1].startswith(
        "184 of 185 answers to 180 questions: "
    )


@pytest.mark.slow
def test_many_groups_have_a_short_sorted_table():
    groups = [f"g{k:02d}" for k in range(14)]
    found = quick(crossed(groups, words=3, items=2, templates=2), draws=1000, tune=300, chains=4)
    text = bb.output.to_text(found)
    assert "g05 - g06" not in text
    assert text.count(" - others") >= 5
    assert len(text.splitlines()) <= 25
    assert "of 91 differences between groups" in " ".join(text.split())
    assert len(found.rates()) == 14


@pytest.mark.slow
def test_figures_of_many_groups_are_ranked():
    groups = [f"g{k:02d}" for k in range(12)]
    found = quick(crossed(groups, words=3, items=6, templates=2), draws=300, tune=300, chains=2)
    rows = found.contrasts(estimand="population", level="overall")
    others = rows[rows["contrast"].str.endswith(" - others")].sort_values("mean", ascending=False)
    ax = bb.plots.plot_response_models(found)
    labels = [tick.get_text().replace("−", "-") for tick in ax.get_yticklabels()]
    assert labels == others["contrast"].tolist()
    by_item = bb.plots.plot_response_items(found)
    assert len(by_item.get_yticklabels()) == 4 * (1 + 12)  # the lowest and the highest items
    first = by_item.data.query("item == item.iloc[0]")["mean"]
    assert first.is_monotonic_decreasing
    assert bb.plots.plot_response_templates(found).data["contrast"].nunique() == 6
    pairs = rows[~rows["contrast"].str.endswith(" - others")]
    decided = pairs[pairs["verdict"].str.startswith(("below", "above"))]
    largest = decided.loc[decided["mean"].abs().idxmax(), "contrast"]
    assert found.independent()["contrast"].tolist() == [largest]
