"""Sampled quantities, compared in Monte Carlo standard errors.

A posterior mean is known from draws to within its own error only, and draws differ between seeds and processors.
So no test holds a sampled number to a fixed decimal: it is near a reference where it differs by at most `K` of its
errors (more where many are compared at once), which come from its own effective draws. One such comparison fails by
chance 6 times in ten million, all of the suite together in well under 1 of 1,000 runs. Tests of a distribution, and
counts of calls, have the same chance each (`CHANCE`, `fewest`, `most`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

K = 5.0
CHANCE = 2 * stats.norm.sf(K)  # 5.7e-7


def limit(n: int = 1) -> float:
    """Return how many standard errors the farthest of n numbers may lie away by chance: `K` for one."""
    return float(stats.norm.isf(CHANCE / 2 / n))


@dataclass(frozen=True, eq=False)
class Estimate:
    """Sampled values with their Monte Carlo standard errors, of any shape."""

    value: np.ndarray
    error: np.ndarray

    def errors_apart(self, other: Any) -> np.ndarray:
        """Return how many standard errors lie between these and others, or numbers that are known exactly."""
        value, error = (other.value, other.error) if isinstance(other, Estimate) else (other, 0.0)
        apart = np.abs(self.value - np.asarray(value))
        both = np.hypot(self.error, error)
        return np.divide(apart, both, out=np.where(apart > 0, np.inf, 0.0), where=both > 0)

    def __sub__(self, other: Any) -> Estimate:
        value, error = (other.value, other.error) if isinstance(other, Estimate) else (other, 0.0)
        return Estimate(self.value - np.asarray(value), np.hypot(self.error, error))

    def may_reach(self, bound: float) -> bool:
        """Say whether no value lies below a bound by more than its error."""
        return bool(np.all(self.value + K * self.error >= bound))

    def may_stay_below(self, bound: float) -> bool:
        """Say whether no value lies above a bound by more than its error."""
        return bool(np.all(self.value - K * self.error <= bound))


def assert_near(found: Estimate, expected: Any, label: object = "") -> None:
    """Assert that all values lie within as many Monte Carlo standard errors of what is expected as chance allows."""
    apart = found.errors_apart(expected)
    assert np.max(apart) < limit(apart.size), (
        label,
        found.value,
        getattr(expected, "value", expected),
        apart,
    )


def _array(draws: Any) -> np.ndarray:
    """Return draws as an array, chain and draw first."""
    if hasattr(draws, "transpose") and hasattr(draws, "dims"):
        draws = draws.transpose("chain", "draw", ...).to_numpy()
    return np.asarray(draws, float)


def effective(draws: Any, method: str, **options: Any) -> np.ndarray:
    """Return the effective draws for one kind of quantity, one for each entry."""
    import arviz as az

    return np.asarray(az.ess(_array(draws), method=method, **options))


def mean(draws: Any) -> Estimate:
    """Estimate a posterior mean from draws (chain, draw, ...): the error is sd / sqrt(effective draws)."""
    draws = _array(draws)
    sd = draws.std(axis=(0, 1))
    return Estimate(draws.mean(axis=(0, 1)), sd / np.sqrt(effective(draws, "mean")))


def log_sd(draws: Any) -> Estimate:
    """Estimate the logarithm of a posterior sd: its error follows from the kurtosis.

    Antithetic draws tell more of a mean than of a spread, so this has effective draws of its own.
    """
    draws = _array(draws)
    kurtosis = stats.kurtosis(draws.reshape((-1, *draws.shape[2:])), axis=0, fisher=False)
    error = np.sqrt((kurtosis - 1) / (4 * effective(draws, "sd")))
    return Estimate(np.log(draws.std(axis=(0, 1))), error)


def quantile(draws: Any, prob: float) -> Estimate:
    """Estimate a posterior quantile; ArviZ takes the error from the effective draws below the quantile."""
    import arviz as az

    draws = _array(draws)
    error = np.asarray(az.mcse(draws, method="quantile", prob=prob))
    return Estimate(np.quantile(draws, prob, axis=(0, 1)), error)


def probability(events: Any) -> Estimate:
    """Estimate the probability of an event from draws of it, true or false.

    Where it always or never came, one half of a draw is added to each side, so that the error is not zero.
    """
    events = _array(events)
    n = events.shape[0] * events.shape[1]
    share = events.mean(axis=(0, 1))
    constant = (share == 0) | (share == 1)
    draws = np.where(constant, n, 1.0)
    if not constant.all():
        draws = np.where(constant, n, effective(events, "mean"))
    inner = (share * draws + 0.5) / (draws + 1)
    return Estimate(share, np.sqrt(inner * (1 - inner) / draws))


def hpdi(draws: Any, prob: float) -> tuple[Estimate, Estimate]:
    """Estimate both ends of a highest posterior density interval, of draws (chain, draw) of one quantity.

    The ends wander more than quantiles do: where the density is flat, the shortest interval slides along it. So the
    draws are resampled in blocks that are long against their correlation, and the error is the sd of the ends. It
    was found to be within a fifth of the scatter of independent chains, or above it; test_monte_carlo.py holds this.
    """
    draws = _array(draws)
    chains, n = draws.shape
    block = int(
        np.clip(np.ceil(5 * draws.size / effective(draws, "tail", prob=prob)), 1, max(1, n // 5))
    )
    rng = np.random.default_rng(0)
    starts = rng.integers(0, n - block + 1, size=(200, chains, -(-n // block)))
    at = (starts[..., None] + np.arange(block)).reshape(200, chains, -1)[..., :n]
    resampled = draws[np.arange(chains)[None, :, None], at].reshape(200, -1)
    ends = np.array([shortest(x, prob) for x in resampled])
    found = shortest(draws.ravel(), prob)
    error = ends.std(axis=0)
    return Estimate(np.array(found[0]), error[0]), Estimate(np.array(found[1]), error[1])


def shortest(x: np.ndarray, prob: float) -> tuple[float, float]:
    """Return the shortest interval between two draws that holds `prob` of them."""
    x = np.sort(x)
    inside = int(np.floor(prob * len(x)))
    best = int(np.argmin(x[inside:] - x[: len(x) - inside]))
    return x[best], x[best + inside]


def independent(values: Any) -> np.ndarray:
    """Return independent repetitions (along the first axis) as draws of one chain."""
    return np.asarray(values, float)[None]


def mean_of_row(row: Any) -> Estimate:
    """Estimate the mean in one or more rows of a table of results."""
    return Estimate(np.asarray(row["mean"], float), np.asarray(row["mcse_mean"], float))


def log_sd_of_row(row: Any) -> Estimate:
    """Estimate the logarithm of the sd in one or more rows."""
    return Estimate(
        np.log(np.asarray(row["sd"], float)), np.asarray(row["mcse_sd"] / row["sd"], float)
    )


def ends_of_row(row: Any) -> tuple[Estimate, Estimate]:
    """Estimate the ends of the intervals in one or more rows."""
    low, high = (
        Estimate(np.asarray(row[f"hpdi_{end}"], float), np.asarray(row[f"mcse_{end}"], float))
        for end in ("low", "high")
    )
    return low, high


def mean_of(values: Any, axis: int = 0) -> Estimate:
    """Estimate the mean of independent repetitions."""
    values = np.asarray(values, float)
    return Estimate(
        values.mean(axis=axis), values.std(axis=axis, ddof=1) / np.sqrt(values.shape[axis])
    )


def log_sd_of(values: Any, axis: int = 0) -> Estimate:
    """Estimate the logarithm of the sd of independent repetitions."""
    values = np.asarray(values, float)
    kurtosis = stats.kurtosis(values, axis=axis, fisher=False)
    return Estimate(
        np.log(values.std(axis=axis, ddof=1)), np.sqrt((kurtosis - 1) / (4 * values.shape[axis]))
    )


def fewest(n: int, prob: float) -> int:
    """Return the smallest count that n events of a probability may show by chance."""
    return int(stats.binom.ppf(CHANCE, n, prob))


def most(n: int, prob: float) -> int:
    """Return the largest count that n events of a probability may show by chance."""
    return int(stats.binom.isf(CHANCE, n, prob))


def assert_rate(events: Any, prob: float) -> None:
    """Assert that draws of one event, true or false, came as often as its probability lets them.

    What is rare comes or does not, so it is counted, in effective draws, and no error is taken from the count itself.
    """
    events = _array(events)
    constant = np.ptp(events) == 0
    n = int(events.size if constant else min(events.size, effective(events, "mean")))
    count = events.mean() * n
    assert fewest(n, prob) - 1 < count < most(n, prob) + 1, (count, n, prob)
