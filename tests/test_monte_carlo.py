"""The errors by which sampled numbers are judged are those that they have."""

from __future__ import annotations

import numpy as np
import pytest
from helpers import monte_carlo as mc
from helpers.seeds import shifted

PROB = 0.89


def chains(rng: np.random.Generator, correlation: float, n: int = 500) -> np.ndarray:
    """Four chains of standard normal draws, each correlated with the one before."""
    x = rng.normal(size=(4, n))
    for i in range(1, n):
        x[:, i] = correlation * x[:, i - 1] + np.sqrt(1 - correlation**2) * x[:, i]
    return x


QUANTITIES = {
    "mean": mc.mean,
    "log sd": mc.log_sd,
    "quantile": lambda x: mc.quantile(x, 0.1),
    "probability": lambda x: mc.probability(x < -1),
    "lower end": lambda x: mc.hpdi(x, PROB)[0],
    "upper end": lambda x: mc.hpdi(x, PROB)[1],
}


@pytest.mark.parametrize(
    "correlation", [-0.4, *(pytest.param(rho, marks=pytest.mark.claim) for rho in (0.0, 0.7))]
)
@pytest.mark.slow
def test_errors_are_the_scatter_of_independent_runs(correlation):
    rng = np.random.default_rng(shifted(1))
    runs = [chains(rng, correlation) for _ in range(60)]
    for name, estimate in QUANTITIES.items():
        found = [estimate(x) for x in runs[:20]]
        values = [float(one.value) for one in found]
        values += [float(estimate(x).value) for x in runs[20:]] if "end" not in name else [
            mc.shortest(x.ravel(), PROB)[name == "upper end"] for x in runs[20:]
        ]  # fmt: skip
        claimed = np.sqrt(np.mean([float(one.error) ** 2 for one in found]))
        # The scatter of 60 runs is itself known to within 9 %, what 20 runs claim to within some 5 %.
        ratio = mc.log_sd_of(values) - np.log(claimed)
        assert abs(float(ratio.value)) < mc.K * float(ratio.error), (name, np.exp(float(ratio.value)))


def test_agreement_is_seen_and_so_is_its_lack():
    rng = np.random.default_rng(shifted(2))
    one, other = chains(rng, 0.5), chains(rng, 0.5)
    for name, estimate in QUANTITIES.items():
        mc.assert_near(estimate(one), estimate(other), name)
        far = estimate(one + 1.5 if name != "log sd" else 2 * one)
        with pytest.raises(AssertionError):
            mc.assert_near(far, estimate(other), name)
    assert mc.mean(one).may_reach(0)
    assert mc.mean(one).may_stay_below(0)
    assert not mc.mean(one).may_reach(1)


def test_what_never_moved_is_exact_and_what_never_came_is_not_impossible():
    still = np.full((2, 50), 0.25)
    mc.assert_near(mc.mean_of(still[0]), 0.25)
    with pytest.raises(AssertionError):
        mc.assert_near(mc.mean_of(still[0]), 0.26)
    never = mc.probability(np.zeros((2, 50)))
    assert never.value == 0
    mc.assert_near(never, 0.001)
    with pytest.raises(AssertionError):
        mc.assert_near(never, 0.2)


def test_rates_are_counted():
    rng = np.random.default_rng(shifted(4))
    never, often = np.zeros((2, 400)), rng.random((2, 400)) < 0.3
    mc.assert_rate(never, 0.005)  # not one of 4 expected
    mc.assert_rate(often, 0.3)
    for events, prob in ((never, 0.05), (often, 0.5), (often, 0.12)):
        with pytest.raises(AssertionError):
            mc.assert_rate(events, prob)


def test_errors_of_the_rows_of_a_table():
    """What is known from a table alone agrees with what the draws say."""
    rng = np.random.default_rng(shifted(3))
    found = {name: [] for name in ("low", "high")}
    for _ in range(60):
        low, high = mc.shortest(rng.normal(size=2000), PROB)
        found["low"].append(low)
        found["high"].append(high)
    row = {"mean": 0.0, "sd": 1.0, "ess_bulk": 2000.0, "hpdi_low": -1.6, "hpdi_high": 1.6}
    for values, end in zip(found.values(), mc.ends_of_row(row), strict=True):
        scatter = mc.log_sd_of(values)
        assert scatter.may_stay_below(np.log(float(end.error)))
        assert scatter.may_reach(np.log(float(end.error) / 2))
    assert mc.mean_of_row(row).error == pytest.approx(1 / np.sqrt(2000))
    assert mc.log_sd_of_row(row).error == pytest.approx(1 / np.sqrt(4000))


def test_counts_that_chance_allows():
    assert mc.fewest(100, 0.89) < 80 < 89 < 97 < mc.most(100, 0.89)
    assert (mc.fewest(8, 0.5), mc.most(8, 0.5)) == (0, 8)
