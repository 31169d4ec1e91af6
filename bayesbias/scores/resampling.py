"""Errors of scores: bootstrap intervals, and exact ones from flipped signs.

A bootstrap draws each group of words again from itself and asks how the score varies (Efron, 1979;
percentile intervals). It treats the words as a sample and is too narrow for few of them. For scores
that lie symmetrically around a center, flipping their signs gives an exact test that the center is
0 (Fisher, 1935), and the means of subsets an exact interval for it (Hartigan, 1969).
"""

import math
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesbias.core import checks
from bayesbias.scores.counting import clopper_pearson
from bayesbias.scores.permutation import finite_scores
from bayesbias.scores.score import ROUNDING

RESAMPLES = 999
_MOST_COUNTED = 40  # signs: two halves of 2^20 sums each
_ALL_SUBSETS = 14  # scores of which every subset is taken, rather than a sample of the subsets
_SUBSETS = 9_999


def percentile_interval(
    statistic: Callable[..., float | None],
    sizes: Sequence[int],
    *,
    prob: float,
    resamples: int,
    seed: int | None,
) -> tuple[dict[str, Any], list[str]]:
    """Return the percentile bootstrap interval of a statistic, and notes.

    Parameters
    ----------
    statistic : callable
        Takes one array of counts a group, shape ``(size,)``: how often each of its members was
        drawn. None where it does not exist for that draw.
    sizes : sequence of int
        Of the groups, which are drawn from independently.
    prob, resamples, seed
        Without a seed a fresh one is drawn.

    Returns
    -------
    dict
        ``low, high, prob, seed``; the ends are None where there is no interval.
    list of str

    Notes
    -----
    Efron (1979). Draws without a value are left out; where they are more than one in twenty there
    is no interval.
    """
    prob = checks.probability(prob)
    seed = secrets.randbits(32) if seed is None else seed
    random = np.random.default_rng(seed)
    drawn = [
        statistic(*(random.multinomial(n, np.full(n, 1.0 / n)) for n in sizes))
        for _ in range(resamples)
    ]
    values = [value for value in drawn if value is not None and math.isfinite(value)]
    notes = []
    if few := sorted({n for n in sizes if n < 8}):
        groups = ", ".join(map(str, few))
        notes.append(f"groups of {groups} are small for a bootstrap: the interval is too narrow")
    ends: list[float | None] = [None, None]
    if (lost := resamples - len(values)) > resamples / 20:
        notes.append(f"{lost} of {resamples} bootstrap draws have no value")
    else:
        ends = np.quantile(values, [(1 - prob) / 2, (1 + prob) / 2]).tolist()
    return {"low": ends[0], "high": ends[1], "prob": prob, "seed": seed}, notes


@dataclass(frozen=True)
class SignFlips:
    """A sign-flip test of some scores, and the interval of their center.

    Attributes
    ----------
    mean : float
    p_value, p_lower, p_upper : float
        The p-value, and where it lies: both equal it where all signs were counted; else the ends of
        a 99 % Clopper-Pearson interval.
    method : str
        ``"exact"`` or ``"montecarlo"``.
    low, high : float or None
        Ends of the interval for the center; None for too few scores.
    coverage : float or None
        Exact probability of the interval, at least the one that was asked for.
    seed : int or None
        The seed of what was drawn, if anything was.
    """

    mean: float
    p_value: float
    p_lower: float
    p_upper: float
    method: str
    low: float | None
    high: float | None
    coverage: float | None
    seed: int | None


def sign_flip_test(
    scores: npt.ArrayLike,
    *,
    sides: int = 2,
    prob: float = 0.89,
    samples: int = 99_999,
    seed: int | None = None,
) -> SignFlips:
    """Test whether the center of some scores is zero, by flipping their signs.

    Parameters
    ----------
    scores : array_like of float, shape (n,)
        Finite; at least one.
    sides : {1, 2}, default 2
        1 asks for a center above zero.
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
        If the scores are not a list of finite numbers, or an option is unknown.

    Notes
    -----
    Under the hypothesis each score is as likely as its negative, so that all 2^n choices of signs
    are equally likely (Fisher, 1935). They are counted without rounding by splitting the scores
    into two halves. The interval is made of the means of the 2^n - 1 subsets of the scores: between
    any two neighbors of them in order the center lies with probability 2^-n (Hartigan, 1969); of
    more than 14 scores it is made of 9,999 subsets drawn at random, of which the same is true with
    1/10,000. Both are exact for independent scores that lie symmetrically around one center.

    Examples
    --------
    >>> from bayesbias.scores.resampling import sign_flip_test
    >>> found = sign_flip_test([0.5, 0.8, 0.2, 1.1, 0.4, 0.6])
    >>> found.p_value, round(found.low, 3), round(found.high, 3)
    (0.03125, 0.35, 0.85)
    """
    checks.choice(sides, (1, 2), "number of sides", "sides")
    prob = checks.probability(prob)
    # One seed flips the same scores whatever their order.
    values = np.sort(finite_scores(scores, "scores"))
    n = len(values)
    seed = secrets.randbits(32) if seed is None else seed
    if n <= _ALL_SUBSETS:
        seed = None  # everything is counted
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
        random = np.random.default_rng([seed or 0, 1])
        hits = 0
        for start in range(0, samples, 10_000):
            signs = random.integers(0, 2, (min(10_000, samples - start), n)) * 2 - 1
            sums = signs @ values
            hits += int(np.count_nonzero((np.abs(sums) if sides == 2 else sums) >= least))
        p = (hits + 1) / (samples + 1)
        (lower, upper), method = clopper_pearson(hits, samples, 0.99), "montecarlo"
    return SignFlips(
        total / n, p, lower, upper, method, *_subset_interval(values, prob, seed), seed
    )


def _signs_at_least(values: npt.NDArray[np.float64], least: float) -> int:
    """Count the choices of signs whose sum is at least so much, by halves."""
    first, second = (
        _all_sums(part) for part in (values[: len(values) // 2], values[len(values) // 2 :])
    )
    second.sort()
    return int((len(second) - np.searchsorted(second, least - first, side="left")).sum())


def _all_sums(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    sums = np.zeros(1)
    for value in values:
        sums = np.concatenate([sums + value, sums - value])
    return sums


def _subset_interval(
    values: npt.NDArray[np.float64], prob: float, seed: int | None
) -> tuple[float | None, float | None, float | None]:
    """Return Hartigan's interval and its coverage; None for too few values."""
    n = len(values)
    if seed is None:
        chosen = (np.arange(1, 2**n)[:, None] >> np.arange(n)) & 1
    else:
        random = np.random.default_rng([seed, 2])
        chosen = np.unique(random.integers(0, 2, (2 * _SUBSETS, n), dtype=np.int8), axis=0)
        chosen = random.permutation(chosen[chosen.any(axis=1)])[:_SUBSETS]
    means = np.sort(chosen @ values / chosen.sum(axis=1))
    parts = len(means) + 1
    k = math.floor(parts * (1 - prob) / 2)
    return (float(means[k - 1]), float(means[-k]), 1 - 2 * k / parts) if k else (None, None, None)
