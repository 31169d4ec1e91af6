"""What a score that averages says of its own error: bootstrap intervals, and exact ones from flipped signs.

A bootstrap draws each group of words again from itself and asks how the score varies (Efron, 1979; percentile
intervals). It takes the words for a sample and is too narrow for few of them. For scores that lie symmetrically around
a centre, flipping their signs gives an exact test that the centre is 0 (Fisher, 1935), and the means of subsets an exact
interval for it (Hartigan, 1969).
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesbias.core import checks
from bayesbias.core.digits import allowed, ends_as_known, error_of
from bayesbias.core.errors import InputError
from bayesbias.core.wording import as_percent, number_of
from bayesbias.scores.partitions import clopper_pearson, error_of_quantile
from bayesbias.scores.permutation import refuse_no_scores, row_of_numbers
from bayesbias.scores.stereotypes import ROUNDING, ScoreResult, caveats

__all__ = ["SignFlips", "sign_flip_test"]

RESAMPLES = 999
_MOST_COUNTED = 40  # signs: two halves of 2^20 sums each
_ALL_SUBSETS = 14  # scores of which every subset is taken, rather than a sample of the subsets
_SUBSETS = 9_999


@dataclass(frozen=True, eq=False, repr=False)
class ResampledScore(ScoreResult):
    """A score with a bootstrap interval, its source, and what is known to be wrong with it.

    Attributes
    ----------
    value : float or None
        None where it does not exist; a note says why.
    low, high : float or None
        Ends of the percentile bootstrap interval; None where too many draws have no value.
    mcse_low, mcse_high : float or None
        Their Monte Carlo errors: how far they would move with another seed.
    prob : float
        The probability of the interval, by intention.
    resamples : int
        Draws of the bootstrap.
    seed : int
        The seed they were drawn with, also where none was given.
    source : str
    defects : str
        What to know before the number is used, in a sentence.
    """

    value: float | None
    low: float | None
    high: float | None
    mcse_low: float | None
    mcse_high: float | None
    prob: float
    resamples: int
    seed: int
    source: str
    defects: str

    def interval_in_words(self) -> str:
        """Say the interval and how it was found."""
        if self.low is None:
            return "no interval"
        return (
            f"{as_percent(self.prob)} bootstrap interval {' to '.join(ends_as_known(self, 'low', 'high', 6))}"
        )

    def value_in_words(self) -> str:
        """Say the value with one digit more than the ends of its interval: the rest is below what it scatters by."""
        if self.value is None:
            return "none"
        digits = 6 if self.low is None else min(6, max(1, allowed(error_of(self, "low", "high"), 6) + 1))
        return f"{self.value:.{digits}f}"

    def last_words(self) -> list[str]:
        """Say what is wrong with the score, and where it is from."""
        return caveats(self.defects, self.source)


@dataclass(frozen=True)
class Bootstrap:
    """The ends of an interval, and how they were found."""

    low: float | None
    high: float | None
    mcse_low: float | None
    mcse_high: float | None
    seed: int
    notes: tuple[str, ...]

    def fields(self, prob: float, resamples: int) -> dict[str, Any]:
        """Return what a `ResampledScore` holds of its interval."""
        ends = {name: getattr(self, name) for name in ("low", "high", "mcse_low", "mcse_high", "seed")}
        return {**ends, "prob": prob, "resamples": resamples}


def percentile_interval(
    statistic: Callable[..., float | None],
    sizes: Sequence[int],
    *,
    prob: float,
    resamples: int,
    seed: int | None,
) -> Bootstrap:
    """Return the percentile bootstrap interval of a statistic of several groups.

    Parameters
    ----------
    statistic : callable
        Takes one array of counts a group, shape ``(size,)``: how often each of its members was drawn. None where it
        does not exist for that draw.
    sizes : sequence of int
        Of the groups, which are drawn from independently.
    prob, resamples, seed
        As in `ResampledScore`.

    Notes
    -----
    Efron (1979). Draws without a value are left out; where they are more than one in twenty there is no interval.
    """
    prob = checks.probability(prob)
    checks.count(resamples, "resamples", 99, checks.MOST_RESAMPLES)
    seed = secrets.randbits(32) if seed is None else checks.seed(seed)
    random = np.random.default_rng(seed)
    values = []
    for _ in range(resamples):
        value = statistic(*(random.multinomial(n, np.full(n, 1.0 / n)) for n in sizes))
        if value is not None and math.isfinite(value):
            values.append(value)
    notes = []
    few = [n for n in sizes if n < 8]
    if few:
        notes.append(
            f"groups of {', '.join(map(str, sorted(set(few))))} are small for a bootstrap: it is too narrow"
        )
    lost = resamples - len(values)
    if lost > resamples / 20:
        notes.append(f"{number_of(lost, 'bootstrap draw')} of {resamples} have no value")
        return Bootstrap(None, None, None, None, seed, tuple(notes))
    ends = (1 - prob) / 2, (1 + prob) / 2
    low, high = map(float, np.quantile(values, ends))
    error_low, error_high = (error_of_quantile(values, end) for end in ends)
    return Bootstrap(low, high, error_low, error_high, seed, tuple(notes))


@dataclass(frozen=True)
class SignFlips:
    """A sign-flip test of the mean of some scores, and the exact interval for their centre.

    Attributes
    ----------
    mean : float
    p_value, p_lower, p_upper : float
        The p-value, and where it lies: both equal it where all signs were counted; else the ends of a 99 %
        Clopper-Pearson interval.
    method : str
        ``"exact"`` or ``"montecarlo"``.
    sides : int
        1 counts means at least as large, 2 means at least as far from zero.
    low, high : float or None
        Ends of the interval for the centre; None for too few scores.
    mcse_low, mcse_high : float or None
        How far they would move with other subsets; None where every subset was taken, or there are no ends.
    prob : float
        The probability that was asked for.
    coverage : float or None
        What the interval covers exactly, at least `prob`.
    n : int
    seed : int or None
        The seed of what was drawn, if anything was.
    """

    mean: float
    p_value: float
    p_lower: float
    p_upper: float
    method: str
    sides: int
    low: float | None
    high: float | None
    mcse_low: float | None
    mcse_high: float | None
    prob: float
    coverage: float | None
    n: int
    seed: int | None


def sign_flip_test(
    scores: npt.ArrayLike,
    *,
    sides: int = 2,
    prob: float = 0.89,
    samples: int = 99_999,
    seed: int | None = None,
) -> SignFlips:
    """Test whether the centre of some scores is zero, by flipping their signs.

    Parameters
    ----------
    scores : array_like of float, shape (n,)
        Finite; at least one.
    sides : {1, 2}, default 2
        1 asks for a centre above zero.
    prob : float, default 0.89
        Of the interval.
    samples : int, default 99999
        How many choices of signs are drawn where there are too many to count (more than 40 scores).
    seed : int, optional
        For what is drawn. Without one a fresh seed is drawn, and reported.

    Returns
    -------
    SignFlips

    Raises
    ------
    InputError
        For scores that are no list of finite numbers, and unknown options.

    Notes
    -----
    Under the hypothesis each score is as likely as its negative, so that all 2^n choices of signs are equally likely
    (Fisher, 1935). They are counted without rounding by splitting the scores into two halves. The interval
    is made of the means of the 2^n - 1 subsets of the scores: between any two neighbours of them in order the centre lies with
    probability 2^-n (Hartigan, 1969); of more than 14 scores it is made of 9,999 subsets drawn at random, of which
    the same is true with 1/10,000. Both are exact for independent scores that lie symmetrically around one centre.

    Examples
    --------
    >>> from bayesbias.scores import sign_flip_test
    >>> found = sign_flip_test([0.5, 0.8, 0.2, 1.1, 0.4, 0.6])
    >>> found.p_value, round(found.low, 3), round(found.high, 3)
    (0.03125, 0.35, 0.85)
    """
    given = np.asarray(scores)
    if given.ndim != 1 or len(given) == 0:
        raise InputError("must be a list of at least one score", where="scores", found=given.shape)
    values = row_of_numbers(given, "scores")
    refuse_no_scores(values, "scores")
    checks.choice(sides, (1, 2), "number of sides")
    prob = checks.probability(prob)
    checks.count(samples, "samples", most=checks.MOST_SAMPLES)
    if seed is not None:
        checks.seed(seed)
    values = np.sort(values)  # one seed flips the same scores whatever their order
    n = len(values)
    used = None  # of few scores everything is counted
    if n > _ALL_SUBSETS:
        used = secrets.randbits(32) if seed is None else int(seed)
    total = math.fsum(values)
    nearly = ROUNDING * max(1.0, float(np.abs(values).sum()))
    least = (abs(total) if sides == 2 else total) - nearly
    if sides == 2 and least <= 0:
        p = lower = upper = 1.0
        method = "exact"
    elif n <= _MOST_COUNTED:
        p = lower = upper = min(1.0, sides * _signs_at_least(values, least) / 2**n)
        method = "exact"
    else:
        random = np.random.default_rng([0 if used is None else used, 1])
        hits = 0
        for start in range(0, samples, 10_000):
            signs = random.integers(0, 2, (min(10_000, samples - start), n)) * 2 - 1
            sums = signs @ values
            hits += int(np.count_nonzero((np.abs(sums) if sides == 2 else sums) >= least))
        p = (hits + 1) / (samples + 1)
        (lower, upper), method = clopper_pearson(hits, samples, 0.99), "montecarlo"
    low, high, errors, coverage = _typical_values(values, prob, used)
    return SignFlips(total / n, p, lower, upper, method, sides, low, high, *errors, prob, coverage, n, used)


def _signs_at_least(values: npt.NDArray[np.float64], least: float) -> int:
    """Count the choices of signs whose sum is at least so much."""
    half = len(values) // 2
    first, second = (_all_sums(part) for part in (values[:half], values[half:]))
    second.sort()
    return int((len(second) - np.searchsorted(second, least - first, side="left")).sum())


def _all_sums(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    sums = np.zeros(1)
    for value in values:
        sums = np.concatenate([sums + value, sums - value])
    return sums


def _typical_values(
    values: npt.NDArray[np.float64], prob: float, seed: int | None
) -> tuple[float | None, float | None, tuple[float | None, float | None], float | None]:
    """Return the ends of Hartigan's interval, their Monte Carlo errors and its coverage."""
    n = len(values)
    if n <= _ALL_SUBSETS:
        sums, counts = np.zeros(1), np.zeros(1)
        for value in values:
            sums = np.concatenate([sums, sums + value])
            counts = np.concatenate([counts, counts + 1])
        means = sums[1:] / counts[1:]
    else:
        random = np.random.default_rng([0 if seed is None else seed, 2])
        chosen = np.unique(random.integers(0, 2, (2 * _SUBSETS, n), dtype=np.int8), axis=0)
        chosen = random.permutation(chosen[chosen.any(axis=1)])[:_SUBSETS]
        means = chosen @ values / chosen.sum(axis=1)
    means.sort()
    parts = len(means) + 1
    k = math.floor(parts * (1 - prob) / 2)
    if k < 1:
        return None, None, (None, None), None
    errors: tuple[float | None, float | None] = None, None
    if n > _ALL_SUBSETS:
        errors = error_of_quantile(means, k / parts), error_of_quantile(means, 1 - k / parts)
    return float(means[k - 1]), float(means[-k]), errors, 1 - 2 * k / parts
