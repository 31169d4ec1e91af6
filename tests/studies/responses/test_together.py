"""Families of intervals, ranks, rates, refusals and limits on each group."""

import numpy as np
import pandas as pd
import pytest
from helpers.responses import choice_answers, crossed, fitted, quick

import bayesbias as bb
from bayesbias.studies import requirements
from bayesbias.studies.responses import together


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
    assert together.exceeding(four, 0.5, "pairs") == pytest.approx(expected)
    text = "P(|any difference| > 0.5) < 0.05, P(|any group - mean| > 50) < 0.05"
    first, second = requirements.check_requirements(four, text)
    assert first.value == pytest.approx(expected)
    assert second.met


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
