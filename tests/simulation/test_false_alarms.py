"""The null distribution of the effect size, and false alarms of each method, compared with theory."""

import math

import numpy as np
import pandas as pd
import pytest
from helpers import monte_carlo as mc
from helpers.seeds import shifted
from scipy import stats

from bayesbias.scores.association import effect_size, largest_effect_size
from bayesbias.scores.resampling import permutation_test
from bayesbias.simulation import false_alarms as alarms
from bayesbias.simulation.false_alarms import METHODS, null_distribution, simulate_grid


@pytest.fixture(scope="module")
def grid():
    return simulate_grid([2, 4, 8, 16], [0.1], [0.0, 0.06], draws=2000, seed=shifted(1))


def test_the_null_distribution_of_two_and_two_words_is_uniform() -> None:
    null = null_distribution(2, 2, n_attributes=5, draws=20_000, seed=shifted(3))
    share = (null.effect_sizes / math.sqrt(3) + 1) / 2
    assert stats.kstest(share, "uniform").pvalue > mc.CHANCE
    assert null.quantile([0, 0.25, 1]) == pytest.approx(
        [-math.sqrt(3), -math.sqrt(3) / 2, math.sqrt(3)]
    )
    assert null.above(1.5) == pytest.approx(1 - 1.5 / math.sqrt(3))


@pytest.mark.parametrize(
    ("n_x", "n_y", "denominator"), [(3, 5, "union_n_minus_1"), (8, 8, "union_n"), (1, 2, "union_n")]
)
def test_the_exact_null_distribution(n_x, n_y, denominator) -> None:
    null = null_distribution(n_x, n_y, 2, denominator=denominator, draws=20_000, seed=shifted(4))
    assert null.largest == largest_effect_size(n_x, n_y, denominator)
    assert np.abs(null.effect_sizes).max() <= null.largest * (1 + 1e-12)
    for q in (0.025, 0.3, 0.9):
        at = float(null.quantile(q))
        assert np.mean(null.effect_sizes <= at) == pytest.approx(
            q, abs=mc.K * math.sqrt(q * (1 - q) / 20_000)
        )
        assert null.above(at) == pytest.approx(2 * min(q, 1 - q), abs=1e-9)
    frame = null.summary().set_index("quantity")
    mc.assert_near(mc.log_sd_of(null.effect_sizes), math.log(frame.loc["sd", "exact"]))
    assert frame.loc["sd", "simulated"] == pytest.approx(null.effect_sizes.std(ddof=1), rel=1e-3)
    # A quantile lies where its share of the draws does, to within the error of a share.
    for name, row in frame.drop(["sd", "largest |d|"]).iterrows():
        if name.startswith("quantile"):
            p = float(name.split()[1].rstrip("%")) / 100
            found = np.mean(null.effect_sizes <= row["exact"])
            assert row["simulated"] == pytest.approx(np.quantile(null.effect_sizes, p), rel=1e-9)
        else:
            p, found = row["exact"], row["simulated"]
        assert abs(found - p) <= mc.K * math.sqrt(p * (1 - p) / 20_000), name


def cell(frame, n: int, attribute_sd: float, question: str, method: str):
    rows = frame[(frame["n_words"] == n) & (frame["attribute_sd"] == attribute_sd)]
    rows = rows[(rows["question"] == question) & (rows["method"] == method)]
    assert len(rows) == 1
    return rows.iloc[0]


@pytest.mark.slow
def test_where_attributes_do_not_vary_every_method_keeps_its_promise(grid) -> None:
    for n in (2, 4, 8, 16):
        for question, method in METHODS:
            assert cell(grid, n, 0.0, question, method)["alarms"] * 2000 <= mc.most(2000, 0.05)
    # With two words a class a one-sided p is at least 1/6, and a two-sided one at least 1/3.
    for attribute_sd in (0.0, 0.06):
        for method in ("weat", "weat_two_sided"):
            assert cell(grid, 2, attribute_sd, "classes", method)["alarms"] == 0


@pytest.mark.slow
def test_where_attributes_vary_alarms_grow_with_words(grid) -> None:
    for key in [
        ("classes", "weat"),
        ("classes", "pairs"),
        ("tables", "manzini"),
        ("tables", "pairs"),
    ]:
        rates = [cell(grid, n, 0.06, *key)["alarms"] for n in (4, 8, 16)]
        low, middle, high = (mc.Estimate(p, math.sqrt(p * (1 - p) / 2000)) for p in rates)
        assert low.value * 2000 > mc.most(2000, 0.05)
        assert (middle - low).may_reach(0)
        assert (high - middle).may_reach(0)
        assert not (low - high).may_reach(0)
        assert high.may_reach(0.2)
        assert not high.may_stay_below(0.1)
    for n in (2, 4, 8, 16):
        for question in ("classes", "tables"):
            row = cell(grid, n, 0.06, question, "attributes")
            assert mc.fewest(2000, 0.05) <= row["alarms"] * 2000 <= mc.most(2000, 0.05)


@pytest.mark.slow
def test_how_far_the_truth_lies_is_what_theory_says(grid) -> None:
    sigma, k = 0.1, 8
    # Relative errors of an sd, and of a normal 97.5 % quantile, from 2,000 tables.
    of_sd = mc.K / math.sqrt(2 * 2000)
    of_end = mc.K * math.sqrt(0.025 * 0.975 / 2000) / (stats.norm.pdf(1.96) * 1.96)
    for n in (2, 8, 16):
        for tau in (0.0, 0.06):
            weat = cell(grid, n, tau, "classes", "weat")
            assert weat["truth_sd"] == pytest.approx(
                math.sqrt(4 * (tau**2 + sigma**2 / n) / k), rel=of_sd
            )
            # what is claimed knows of the pairs only
            assert weat["claimed_sd"] == pytest.approx(math.sqrt(4 * sigma**2 / (n * k)), rel=of_sd)
            tables = cell(grid, n, tau, "tables", "attributes")
            expected = math.sqrt((tau**2 + sigma**2 / n) / (2 * k))
            assert tables["truth_sd"] == pytest.approx(expected, rel=of_sd)
            assert tables["claimed_sd"] == pytest.approx(expected, rel=of_sd)
            assert weat["truth_high"] == pytest.approx(1.96 * weat["truth_sd"], rel=of_end)
            assert weat["truth_low"] == pytest.approx(-1.96 * weat["truth_sd"], rel=of_end)
    assert (
        cell(grid, 16, 0.06, "tables", "manzini")["claimed_sd"]
        < 0.5 * cell(grid, 16, 0.06, "tables", "manzini")["truth_sd"]
    )
    null = null_distribution(8, 8, draws=1)
    row = cell(grid, 8, 0.0, "classes", "weat")
    assert [row["effect_low"], row["effect_high"]] == pytest.approx(
        null.quantile([0.025, 0.975]), rel=of_end
    )


def test_the_tests_of_the_grid_are_the_usual_ones() -> None:
    random = np.random.default_rng(8)
    tables = random.normal(0, 1, (40, 2, 3, 2, 4)) + random.normal(0, 0.7, (40, 2, 1, 2, 4))
    alpha = 0.15  # 3 + 3 words have no two-sided p below 0.1
    columns = ["alarm", "score", "error", "effect"]
    said = {
        key: pd.DataFrame(rows.T, columns=columns)
        for key, rows in alarms._ask(tables, tables, alpha, random).items()
    }
    classes, changes = (
        {name: calls for (asked, name), calls in said.items() if asked == question}
        for question in ("classes", "tables")
    )
    for i, t in enumerate(tables):
        s = t.mean(axis=3)[..., 0] - t.mean(axis=3)[..., 1]
        assert classes["weat"].score[i] == pytest.approx(s[0].mean() - s[1].mean())
        assert classes["weat"].effect[i] == pytest.approx(effect_size(s[0], s[1]))
        assert classes["weat"].alarm[i] == (permutation_test(s[0], s[1]).p_value < alpha)
        assert classes["weat_two_sided"].alarm[i] == (
            permutation_test(s[0], s[1], sides=2).p_value < alpha
        )
        associated = np.concatenate([t[0, :, 0].ravel(), t[1, :, 1].ravel()])
        different = np.concatenate([t[0, :, 1].ravel(), t[1, :, 0].ravel()])
        test = stats.ttest_ind(associated, different)
        assert classes["pairs"].alarm[i] == (test.pvalue < alpha)
        assert classes["pairs"].score[i] / classes["pairs"].error[i] == pytest.approx(
            test.statistic
        )
        leans = t[0].mean(axis=0) - t[1].mean(axis=0)
        test = stats.ttest_ind(leans[0], leans[1])
        assert classes["attributes"].score[i] / classes["attributes"].error[i] == pytest.approx(
            test.statistic
        )
        assert classes["attributes"].alarm[i] == (test.pvalue < alpha)
        for name, values in (
            ("manzini", t.mean(axis=3)), ("pairs", t), ("attributes", t.mean(axis=(0, 1))),
        ):  # fmt: skip
            test = stats.ttest_1samp(values.ravel(), 0)
            assert changes[name].score[i] / changes[name].error[i] == pytest.approx(test.statistic)
            assert changes[name].alarm[i] == (test.pvalue < alpha)
    for calls in (*classes.values(), *changes.values()):
        assert 0 < calls.alarm.sum() < 40


def test_a_true_difference_is_found() -> None:
    frame = simulate_grid([8], [0.1], [0.03], draws=500, difference=0.1, seed=shifted(4))
    for question, method in METHODS:
        row = cell(frame, 8, 0.03, question, method)
        assert row["alarms"] > 0.75
        # the truth still lies around the score
        error = math.sqrt(2 * 0.025 * 0.975 / 500) / (
            stats.norm.pdf(1.96) * 1.96
        )  # of two ends, relative
        assert abs(row["truth_low"] + row["truth_high"]) < mc.K * error * row["truth_high"]
