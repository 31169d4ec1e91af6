"""Intervals and probabilities of normal mixtures: against closed forms and direct search."""

from __future__ import annotations

import numpy as np
import pytest
from helpers import monte_carlo as mc
from helpers.seeds import shifted
from helpers.tables import grid
from scipy import optimize, stats

from bayesbias.inference.estimates import shortest_interval
from bayesbias.inference.fitting import fit
from bayesbias.inference.linear import Mixtures, mixture_interval, mixture_mean_sd


def columns(n=300, seed=0):
    """Mixtures of several shapes: one normal, many alike, skewed, heavy-tailed, of very different sizes."""
    rng = np.random.default_rng(seed)
    mean = np.stack(
        [
            np.zeros(n),
            rng.normal(0, 0.1, n),
            0.5 * rng.exponential(size=n),
            rng.normal(0, 1e-4, n),
            np.full(n, 5.0),
        ],
        axis=1,
    )
    sd = np.stack(
        [
            np.ones(n),
            np.ones(n),
            np.full(n, 0.3),
            1e-4 * rng.exponential(size=n) + 1e-5,
            1 / np.sqrt(rng.gamma(2, 1, n)),
        ],
        axis=1,
    )
    return mean, sd


@pytest.mark.parametrize("prob", [0.5, 0.89, 0.99])
def test_the_interval_is_the_shortest_that_holds_its_probability(prob):
    mean, sd = columns()
    low, high = mixture_interval(mean, sd, prob)
    z = stats.norm.ppf(0.5 + prob / 2)
    assert (low[0], high[0]) == pytest.approx((-z, z), abs=1e-9)
    for k in range(mean.shape[1]):

        def cdf(x, k=k):
            return stats.norm.cdf((x - mean[:, k]) / sd[:, k]).mean()

        assert cdf(high[k]) - cdf(low[k]) == pytest.approx(prob, abs=1e-8)
        width, unit = high[k] - low[k], sd[:, k].mean()
        # Moved to either side, an interval of that width holds less.
        for by in (-0.05 * unit, 0.05 * unit):
            assert cdf(high[k] + by) - cdf(high[k] + by - width) < prob

        def end(start, cdf=cdf, reach=100 * (unit + width)):
            return optimize.brentq(lambda x: cdf(x) - cdf(start) - prob, start, start + reach)

        best = optimize.minimize_scalar(
            lambda start: end(start) - start,
            bounds=(low[k] - 0.2 * unit, low[k] + 0.1 * unit),
            method="bounded",
        )
        assert width <= best.fun + 1e-6 * unit


def test_two_humps_are_searched_on_a_grid():
    """The shortest single interval of a half-and-half mixture of humps far apart must span both."""
    mean = np.repeat([[-3.0], [3.0]], 100, axis=0)
    sd = np.full((200, 1), 0.2)
    low, high = mixture_interval(mean, sd, 0.89)
    assert high[0] - low[0] == pytest.approx(2 * (3 + 0.2 * stats.norm.ppf(0.89)), abs=0.02)
    mixture = Mixtures(mean[None], sd[None], np.arange(1), np.ones(1))
    inside = float(mixture.below(high[0])[0] - mixture.below(low[0])[0])
    assert inside == pytest.approx(0.89, abs=2e-3)


def test_two_humps_far_apart_are_searched_without_a_warning():
    """Densities between the humps are smaller than any number, and so are their products."""
    for distance in np.arange(10.0, 80.0, 0.5):
        low, high = mixture_interval(np.array([[-distance], [distance]]), np.ones((2, 1)), 0.89)
        width = 2 * (distance + stats.norm.ppf(0.89))
        assert high[0] - low[0] == pytest.approx(width, abs=2 * (2 * distance + 12) / 2000)


def test_mean_sd_and_tails_are_those_of_draws():
    mean, sd = columns(n=2000)
    x = np.random.default_rng(5).normal(mean, sd)
    centre, spread = mixture_mean_sd(mean, sd)
    np.testing.assert_allclose(centre, mean.mean(axis=0), atol=1e-15)
    assert spread[1] == pytest.approx(np.hypot(1, mean[:, 1].std()), abs=1e-12)
    n = mean.shape[1]
    below = Mixtures(mean[None], sd[None], np.arange(n), np.ones(n)).below(0.1)
    assert np.abs((x < 0.1).mean(axis=0) - below).max() < 5 * np.sqrt(0.25 / 2000)


def test_mixtures_of_classes_weigh_their_parts():
    """The first is half of either part, the second is the second part alone."""
    mean = np.tile([0.0, 1.0, 1.0], (2, 50, 1))
    sd = np.full((2, 50, 3), 0.5)
    both = Mixtures(mean, sd, np.array([0, 0, 1]), np.array([0.5, 0.5, 1.0]))
    out = both.described(0.89)
    assert out["mean"].tolist() == pytest.approx([0.5, 1.0], abs=1e-12)
    assert out["sd"][0] == pytest.approx(np.sqrt(0.25 + 0.25), abs=1e-12)
    assert both.below(0.5) == pytest.approx([0.5, stats.norm.cdf(-1)], abs=1e-12)
    z = stats.norm.ppf(0.945)
    assert (out["low"][1], out["high"][1]) == pytest.approx((1 - 0.5 * z, 1 + 0.5 * z), abs=1e-9)
    parts = both.in_batches(4).described(0.89)["low"]
    np.testing.assert_allclose(parts, np.tile(out["low"], 4), atol=1e-9)


@pytest.mark.claim
def test_ends_stay_where_they_are_from_seed_to_seed():
    """Ends of six fits differ by no more than their Monte Carlo errors say, and by less than those of sorted draws."""
    table = grid((4, 4), (5, 5), 10, 20, seed=2)
    ends, errors, sorted_ends = [], [], []
    for seed in range(6):
        result = fit(table, "default", seed=shifted(seed), draws=500, pointwise=False)
        frame = result.contrasts(estimand="population", level="overall", detail=True)
        ends.append(frame[["hpdi_low", "hpdi_high"]].to_numpy())
        errors.append(frame[["mcse_low", "mcse_high"]].to_numpy())
        draws = result.table_draws("contrasts", estimand="population", level="overall").to_numpy()
        sorted_ends.append(
            np.stack(shortest_interval(draws.reshape(-1, draws.shape[-1]), 0.89), axis=-1)
        )
    moved, moved_sorted = np.std(ends, axis=0, ddof=1), np.std(sorted_ends, axis=0, ddof=1)
    said = np.sqrt(np.mean(np.square(errors), axis=0))
    # Ten ratios of an sd of six; chi-squared with five degrees of freedom.
    assert (moved / said).max() < np.sqrt(stats.chi2.isf(mc.CHANCE / moved.size, 5) / 5) * 1.5
    assert np.median(moved / moved_sorted) < 0.5
