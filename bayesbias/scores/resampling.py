"""Tests and intervals of scores: permutations, flipped signs, bootstrap, Holm's correction.

Given the association scores s(w) of the words of two sets X and Y, the permutation test asks how
often a partition of their union into sets of the same sizes has a statistic at least as large as the
observed one, s(X, Y) = sum of s over X - sum of s over Y.

A bootstrap draws each group of words again from itself and asks how the score varies (percentile
intervals). It treats the words as a sample and is too narrow for few of them. For scores that lie
symmetrically around a center, flipping their signs gives an exact test that the center is 0, and the
means of subsets an exact interval for it.

Sources: Caliskan, Bryson and Narayanan (2017); May et al. (2019), appendix A and the note on Holm's
correction; Holm (1979); Efron (1979); Fisher (1935); Hartigan (1969).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from bayesbias.core import InputError, checks
from bayesbias.scores import counting
from bayesbias.scores.score import ROUNDING

type Array = npt.NDArray[np.float64]
Method = Literal["auto", "exact", "bounds", "montecarlo", "normal"]
RESAMPLES = 999
_MOST_COUNTED = 40  # signs: two halves of 2^20 sums each
_ALL_SUBSETS = 14  # scores of which every subset is taken, rather than a sample of the subsets
_SUBSETS = 9_999


@dataclass(frozen=True)
class PermutationResult:
    """The p-value of a permutation test.

    Attributes
    ----------
    statistic : float
        The sum of the scores over X minus the sum over Y (equation 3 of the seed paper).
    p_value : float
        The p-value. With method ``"bounds"`` it is the geometric mean of the two bounds.
    p_lower, p_upper : float or None
        Where the p-value lies. With ``"exact"`` both equal `p_value`; with ``"bounds"`` they are
        certain; with ``"montecarlo"`` they are a 99 % Clopper-Pearson interval; with ``"normal"``,
        which says nothing of its own error, they are None.
    method : str
        ``"exact"``, ``"bounds"``, ``"montecarlo"`` or ``"normal"``: the method used, never
        ``"auto"``.
    partitions : int
        The number of partitions into sets of these sizes, exactly.
    ties : int or None
        With ``"exact"``, the number of partitions, the observed one included, that tie with the
        observed one and so are part of the p-value.
    seed : int or None
        The seed of ``"montecarlo"``, also where none was given.

    Examples
    --------
    >>> import bayesbias as bb
    >>> found = bb.scores.permutation_test([0.3, 0.2, 0.4], [0.1, 0.0, 0.05])
    >>> found.p_value, found.method, found.partitions
    (0.05, 'exact', 20)
    """

    statistic: float
    p_value: float
    p_lower: float | None
    p_upper: float | None
    method: str
    partitions: int
    ties: int | None = None
    seed: int | None = None


def permutation_test(
    scores_x: npt.ArrayLike,
    scores_y: npt.ArrayLike,
    *,
    method: Method = "auto",
    sides: Literal[1, 2] = 1,
    samples: int = 99_999,
    seed: int | None = None,
    rel_width: float = 0.02,
) -> PermutationResult:
    """Test whether words of X are associated more strongly than those of Y.

    Parameters
    ----------
    scores_x, scores_y : array_like of float
        The association scores s(w, A, B) of the words of X and of Y (equation 2 of the seed paper),
        shapes ``(n_x,)`` and ``(n_y,)``, finite. One word is enough for a set; the sizes may
        differ. A word that stands in both sets counts as two.
    method : {"auto", "exact", "bounds", "montecarlo", "normal"}, default "auto"
        ``"exact"`` counts every partition by splitting the
        union into two halves and counting pairs of partial sums (25 + 25 words always, more where p
        is small). ``"bounds"`` rounds the scores to a grid and counts subsets by size and sum,
        which gives a lower and an upper bound that are certain; the grid is refined until
        `rel_width` is met. ``"montecarlo"`` draws partitions with replacement and counts one more
        as at least as extreme (May et al., 2019). ``"normal"`` takes the normal tail at the
        statistic (Caliskan et al., 2017), with the mean and variance that the statistic has over
        all partitions instead of estimates from a sample of them. ``"auto"`` takes ``"exact"``
        where possible, else ``"bounds"``; or ``"montecarlo"``, where its interval will be narrower
        than the bounds that can be had in a few seconds.
    sides : {1, 2}, default 1
        1 counts partitions whose statistic is at least the observed one. 2 counts those whose
        *difference of means* is at least as far from zero as the observed one. (For sets of equal
        size the difference of sums and that of means order the partitions alike. For unequal sizes
        the sums do not vary around zero, and only the means give a test that stays the same when X
        and Y are swapped.)
    samples : int, default 99999
        How many partitions ``"montecarlo"`` draws. Its lowest p-value is 1 / (samples + 1).
    seed : int, optional
        Seed for ``"montecarlo"``. Without one a fresh seed is drawn, and reported.
    rel_width : float, default 0.02
        The wanted ratio (p_upper - p_lower) / p_value for ``"bounds"``. Where it cannot be met in a
        few seconds the bounds are wider. (Partitions that tie with the observed
        one always lie between the bounds. For small sets, and for scores with few different values,
        they set a limit to the width; ``"exact"`` has none.)

    Returns
    -------
    PermutationResult
        The p-value with its bounds, the method used and the counts behind it.

    Raises
    ------
    InputError
        If a set is empty, a score is not a finite number, an argument is outside its range, or the
        sets are too large for ``"exact"`` or ``"bounds"``.

    Notes
    -----
    The inequality is not strict, so that the observed partition always counts and p is never 0 (but
    the tail of ``"normal"`` may be). Sums closer than about n 2^-42 max|s|, 1e-11 of the largest
    score for 50 words, are ties: what is equal by right but differs in the last bits is not told
    apart. The p-value can only grow by this, and among 10^14 partitions a few hundred are that
    close by chance.

    Swapping X and Y turns the one-sided p into 1 - p + ties / partitions and leaves the two-sided p
    alone.

    Sources: equations 2-4 of the seed paper; May et al. (2019), appendix A.

    Examples
    --------
    Of the 20 ways to choose three of these six scores, three have a sum of at least 0.9, two of
    them exactly that (although 0.4 + 0.3 + 0.2 depends, in floating point, on the order):

    >>> from bayesbias.scores import permutation_test
    >>> result = permutation_test([0.4, 0.3, 0.2], [0.3, 0.1, -0.2])
    >>> result.p_value, result.ties, result.partitions, result.method
    (0.15, 2, 20, 'exact')
    """
    x, y = finite_scores(scores_x, "scores_x"), finite_scores(scores_y, "scores_y")
    checks.choice(method, get_args(Method), "method")
    checks.choice(sides, (1, 2), "sides")
    n_x, n_y = len(x), len(y)
    n, partitions = n_x + n_y, math.comb(n_x + n_y, n_x)
    question = counting.Question.ask(x, y, sides)
    statistic = math.fsum(x) - math.fsum(y)
    if method == "normal":
        # Over all partitions the difference of means has mean 0 and this standard deviation.
        both = np.sort(np.concatenate([x, y]))
        sd = math.sqrt(np.var(both, ddof=1) * (1 / n_x + 1 / n_y))
        difference = math.fsum(x) / n_x - math.fsum(y) / n_y
        z = (abs(difference) if sides == 2 else difference) / (sd or 1.0)
        varies = sd > ROUNDING * np.abs(both).max()
        p = math.erfc(z / math.sqrt(2)) * sides / 2 if varies else 1.0
        return PermutationResult(statistic, p, None, None, "normal", partitions)
    if method in ("auto", "exact"):
        if (counted := counting.count_all(question)) is not None:
            p = counted[0] / partitions
            return PermutationResult(statistic, p, p, p, "exact", partitions, counted[1])
        if method == "exact":
            raise InputError(
                f"expected about 25 and 25 words, got {n_x} and {n_y}",
                where="method 'exact'",
                hint="use method='bounds' or method='auto'",
            )
    most = counting.MOST_WORDS_COUNTED
    if method == "bounds" and n > most:
        problem = f"expected at most {most} words, got {n}"
        raise InputError(problem, where="method 'bounds'", hint="use method='montecarlo'")
    if method in ("auto", "bounds") and n <= most:
        ends = counting.bound_all(question, rel_width, samples if method == "auto" else None)
        # Rounded outward, so that the bounds stay certain.
        lower, upper = (
            end / partitions if end in (0, partitions) else math.nextafter(end / partitions, toward)
            for end, toward in zip(ends, (0.0, 1.0), strict=True)
        )
        # A sample is taken instead only where its interval would be the narrower of the two.
        enough = max(rel_width * upper, counting.sampling_width(upper, samples))
        if method == "bounds" or upper - lower <= enough:
            middle = min(max(math.sqrt(lower) * math.sqrt(upper), lower), upper)
            return PermutationResult(statistic, middle, lower, upper, "bounds", partitions)
    seed = checks.seed_or_new(seed)
    p, (lower, upper) = counting.p_by_sampling(question, samples, seed)
    return PermutationResult(statistic, p, lower, upper, "montecarlo", partitions, seed=seed)


def holm(p_values: npt.ArrayLike) -> Array:
    """Adjust a family of p-values for multiple testing, by Holm's method.

    The r-th smallest of n p-values is multiplied by n + 1 - r; an adjusted value is never below
    that of a smaller p-value, and never above 1. A hypothesis is rejected at level alpha if its
    adjusted p-value is at most alpha, which is the procedure in the supplement of May et al.
    (2019). No independence is needed.

    Parameters
    ----------
    p_values : array_like of float
        The family, shape ``(n,)``, each in [0, 1]. All tests made belong to it, not only the small
        ones.

    Returns
    -------
    numpy.ndarray
        The adjusted p-values, shape ``(n,)``, in the order given.

    Raises
    ------
    InputError
        If a value is missing or outside [0, 1].

    Notes
    -----
    Source: Holm (1979), as in R's ``p.adjust(p, "holm")``.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, dtype=float)
    if p.ndim != 1 or not ((p >= 0) & (p <= 1)).all():
        raise InputError(
            f"expected one row of numbers from 0 to 1, got {p_values!r}", where="p_values"
        )
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)))
    return adjusted


def finite_scores(values: npt.ArrayLike, name: str) -> Array:
    """Return one row of finite numbers, at least one."""
    try:
        scores = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        scores = np.array([np.nan])
    if scores.ndim != 1 or not scores.size or not np.isfinite(scores).all():
        raise InputError(f"expected one or more finite scores, got {values!r}", where=name)
    return scores


def percentile_interval(
    statistic: Callable[..., float | None],
    sizes: Sequence[int],
    prob: float,
    resamples: int,
    seed: int | None,
    estimate: float | None,
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
    estimate : float or None
        The value of the score. There is no interval without one, nor where it would not include it.

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
    seed = checks.seed_or_new(seed)
    random = np.random.default_rng(seed)
    drawn = [
        statistic(*(random.multinomial(n, np.full(n, 1.0 / n)) for n in sizes))
        for _ in range(resamples)
    ]
    values = [value for value in drawn if value is not None and math.isfinite(value)]
    notes = []
    low = high = None
    if (lost := resamples - len(values)) > resamples / 20:
        notes.append(f"no interval, since {lost} of {resamples} bootstrap draws have no value")
    elif estimate is not None:
        ends = np.quantile(values, [(1 - prob) / 2, (1 + prob) / 2])
        low, high = around(estimate, *ends.tolist())
        if low is None:
            notes.append("no interval, since that of the bootstrap does not include the value")
    if low is not None and (few := sorted({n for n in sizes if n < 8})):
        groups = ", ".join(map(str, few))
        notes.append(f"intervals of so few words ({groups}) are too narrow")
    return {"low": low, "high": high, "prob": prob, "seed": seed}, notes


def around(estimate: float, low: float, high: float) -> tuple[float, float] | tuple[None, None]:
    """Return the ends of an interval, or None twice if it does not include its estimate."""
    allowed = ROUNDING * max(abs(estimate), abs(low), abs(high))
    if not low - allowed <= estimate <= high + allowed:
        return None, None
    return min(low, estimate), max(high, estimate)


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
    checks.choice(sides, (1, 2), "sides")
    prob = checks.probability(prob)
    # One seed flips the same scores whatever their order.
    values = np.sort(finite_scores(scores, "scores"))
    n = len(values)
    seed = checks.seed_or_new(seed)
    if n <= _ALL_SUBSETS:
        seed = None  # everything is counted
    total = math.fsum(values)
    nearly = ROUNDING * max(1.0, float(np.abs(values).sum()))
    least = (abs(total) if sides == 2 else total) - nearly
    method = "exact"
    if sides == 2 and least <= 0:
        p = lower = upper = 1.0
    elif n <= _MOST_COUNTED:
        halves = [np.zeros(1), np.zeros(1)]  # the sums of all choices of signs
        for i, value in enumerate(values):
            half = halves[i % 2]
            halves[i % 2] = np.concatenate([half + value, half - value])
        first, second = halves[0], np.sort(halves[1])
        extreme = (len(second) - np.searchsorted(second, least - first, side="left")).sum()
        p = lower = upper = min(1.0, sides * int(extreme) / 2**n)
    else:
        random = np.random.default_rng([seed or 0, 1])
        hits = 0
        for start in range(0, samples, 10_000):
            signs = random.integers(0, 2, (min(10_000, samples - start), n)) * 2 - 1
            sums = signs @ values
            hits += int(np.count_nonzero((np.abs(sums) if sides == 2 else sums) >= least))
        p = (hits + 1) / (samples + 1)
        (lower, upper), method = counting.clopper_pearson(hits, samples), "montecarlo"
    return SignFlips(
        total / n, p, lower, upper, method, *_subset_interval(values, prob, seed), seed
    )


def _subset_interval(
    values: Array, prob: float, seed: int | None
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
