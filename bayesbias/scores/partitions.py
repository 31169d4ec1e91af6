"""The question that a permutation test asks, in whole numbers, and its quick answers.

Two covariates carry everything. The total over the union of X and Y is fixed, so a partition is judged by the sum
over the words in X alone; and it makes no difference which of the two sets is followed, so the smaller one is.
The test is then a question about one number line: *how many subsets of k out of n numbers have a sum of at
most some limit?* It is counted, or bounded, in `bayesbias.scores.counting`; here random partitions and the
normal tail estimate it.

Scores become whole numbers first (see `_as_integers`). Sums of whole numbers do not depend on the order of
their terms, so that neither does any p-value, and ties are found by an allowance that is stated and argued
rather than by luck.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

# A score is trusted to this fraction of the largest absolute score, 2e-13. Mean cosines in double precision
# are wrong by about 1e-15, or by 1e-14 of the largest where the scores are small.
_TRUSTED = 2.0**-42
_SAMPLING_CONFIDENCE = 0.99


@dataclass(frozen=True, eq=False)
class Tail:
    """Count the subsets of `size` of the `deficits` whose sum is at most `limit`.

    The deficits are ascending whole numbers, none negative; `size` is at most half their number.
    `strict` is the limit that leaves the ties out.
    """

    deficits: npt.NDArray[np.int64]
    size: int
    limit: int
    strict: int


@dataclass(frozen=True, eq=False)
class Question:
    """The test in whole numbers.

    A partition is judged by n sum_X - n_x total, which is n_x n_y times its difference of means, freed from
    fractions, or by the absolute value of that. Those within `allowance` of `observed` tie with it.
    """

    values: npt.NDArray[np.int64]  # of the union, ascending
    n_x: int
    sides: int
    observed: int
    allowance: int

    @classmethod
    def ask(cls, x: npt.NDArray[np.float64], y: npt.NDArray[np.float64], sides: int) -> Question:
        """Put the question to two groups: their values as integers of one scale, so that ties are exact."""
        values, allowance = _as_integers(np.concatenate([x, y]))
        n, n_x = len(values), len(x)
        observed = n * int(values[:n_x].sum()) - n_x * int(values.sum())
        return cls(np.sort(values), n_x, sides, observed if sides == 1 else abs(observed), n * allowance)

    @property
    def bars(self) -> tuple[int, int]:
        """The lowest values that count with and without ties."""
        return self.observed - self.allowance, self.observed + self.allowance + 1

    @property
    def counts_everything(self) -> bool:
        """Whether the observed difference is zero, from which every partition is at least as far."""
        return self.sides == 2 and self.bars[0] <= 0

    def tails(self) -> list[Tail]:
        """Return the one tail or the two tails that are counted; two do not overlap."""
        n, middle = len(self.values), self.n_x * int(self.values.sum())
        # n sum_X >= middle + bar, and for the lower tail n sum_X <= middle - bar. The lower tail is counted
        # as the upper tail of the negated values.
        least = [-(-(middle + bar) // n) for bar in self.bars]
        upper = _upper_tail(self.values, self.n_x, *least)
        if self.sides == 1:
            return [upper]
        most = [(middle - bar) // n for bar in self.bars]
        return [upper, _upper_tail(-self.values[::-1], self.n_x, -most[0], -most[1])]


def _as_integers(scores: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.int64], int]:
    """Round scores to whole multiples of a small unit; return them and the allowance for ties, in units.

    The unit is a power of two near 2^-47 of the largest absolute score. Rounding moves a score by half a
    unit at most. Two partitions differ in no more than n words. If their sums are equal by right, and each
    score is wrong by no more than 2^-42 of the largest (16 to 32 units), then the rounded sums differ by less
    than the allowance: that much and one unit for each of n words. For thousands of words the unit is
    coarser, so that no sum of 64 bits overflows.
    """
    largest = float(np.abs(scores).max())
    if largest == 0:
        return np.zeros(len(scores), dtype=np.int64), 0
    n = len(scores)
    bits = min(47, 59 - n.bit_length())
    exponent = math.frexp(largest)[1]  # largest < 2 ** exponent
    values = np.rint(np.ldexp(scores, bits - exponent)).astype(np.int64)
    allowance = n * math.ceil(_TRUSTED * math.ldexp(largest, bits - exponent) + 1)
    return values, allowance


def _upper_tail(values: npt.NDArray[np.int64], size: int, least: int, strict_least: int) -> Tail:
    """Ask for subsets with a sum of at least `least`, as one for deficits from the largest value."""
    n, top = len(values), int(values[-1])
    deficits = top - values[::-1]
    limit, strict = size * top - least, size * top - strict_least
    if 2 * size > n:
        # Follow the words left out: their deficits make up the rest of the total.
        total, far = int(deficits.sum()), int(deficits[-1])
        deficits, size = far - deficits[::-1], n - size
        limit, strict = size * far - total + limit, size * far - total + strict
    return Tail(deficits, size, limit, strict)


def other_side(tail: Tail) -> Tail:
    """Return the tail that holds exactly the subsets this one leaves out, its two limits exchanged."""
    far = int(tail.deficits[-1])
    full = tail.size * far
    return Tail(far - tail.deficits[::-1], tail.size, full - tail.strict - 1, full - tail.limit - 1)


def is_upper_part(tail: Tail) -> bool:
    """Say whether the limit lies above the mean sum, so that the other side is the shorter way."""
    return tail.limit * len(tail.deficits) > tail.size * int(tail.deficits.sum())


def p_by_sampling(question: Question, samples: int, seed: int) -> tuple[float, tuple[float, float], str]:
    """Estimate p from random partitions, one of them counted in advance (May et al., 2019, appendix A).

    The values are in ascending order and the smaller set is the one drawn, so that the result depends
    on neither the order of the words nor which set is called X.
    """
    hits = 0
    if question.counts_everything:
        hits = samples
    else:
        random = np.random.default_rng(seed)
        n = len(question.values)
        size = min(question.n_x, n - question.n_x)
        total = int(question.values.sum())
        # The sum over X has these limits; where Y is drawn, X has the rest of the total.
        middle, bar = question.n_x * total, question.bars[0]
        least, most = -(-(middle + bar) // n), (middle - bar) // n
        at_once = max(1, 4_000_000 // n)
        for start in range(0, samples, at_once):
            keys = random.random((min(at_once, samples - start), n))
            sums = question.values[np.argpartition(keys, size - 1, axis=1)[:, :size]].sum(axis=1)
            if size != question.n_x:
                sums = total - sums
            hits += int(np.count_nonzero(sums >= least))
            if question.sides == 2:
                hits += int(np.count_nonzero(sums <= most))
    interval = clopper_pearson(hits, samples, _SAMPLING_CONFIDENCE)
    note = (
        f"{hits:,} of {samples:,} random partitions were as extreme, and one more is counted; the bounds are "
        f"a {_SAMPLING_CONFIDENCE:.0%} interval and not certain"
    )
    return (hits + 1) / (samples + 1), interval, note


def clopper_pearson(hits: int, samples: int, confidence: float) -> tuple[float, float]:
    """Return the exact interval of a share; that of ``scipy.stats.binomtest``, whose p-value takes 20 ms more."""
    from scipy.special import betaincinv

    outside = (1 - confidence) / 2
    lower = 0.0 if hits == 0 else float(betaincinv(hits, samples - hits + 1, outside))
    upper = 1.0 if hits == samples else float(betaincinv(hits + 1, samples - hits, 1 - outside))
    return lower, upper


def error_of_p(p_lower: float | None, p_upper: float | None, method: str) -> float | None:
    """Return the Monte Carlo error of a sampled p-value, from its 99 % interval; None of one that is not sampled."""
    if method != "montecarlo" or p_lower is None or p_upper is None:
        return None
    return (p_upper - p_lower) / 2 / 2.576


def error_of_quantile(values: Sequence[float] | np.ndarray, q: float) -> float:
    """Return the Monte Carlo error of a quantile of independent draws, from the order statistics around it.

    That of a quantile's rank is binomial; half the distance between the draws one such error below and above.
    """
    ordered = np.sort(np.asarray(values, dtype=float))
    n = len(ordered)
    by = math.sqrt(q * (1 - q) / n)
    low, high = np.quantile(ordered, [max(0.0, q - by), min(1.0, q + by)])
    return float(high - low) / 2


def sampling_width(p: float, samples: int) -> float:
    """Return about how wide the interval of `clopper_pearson` will be where the p-value is `p`."""
    lower, upper = clopper_pearson(round(p * samples), samples, _SAMPLING_CONFIDENCE)
    return upper - lower


def p_by_normal(question: Question) -> tuple[float, str]:
    """Return the tail of the normal distribution with the permutation mean and variance.

    Over all partitions the difference of means has mean 0 and variance s^2 (1 / n_x + 1 / n_y), s^2 being the
    variance of the scores with denominator n - 1. Caliskan et al. (2017) estimate both from 100,000 random
    partitions.
    """
    values, n_x = question.values, question.n_x
    n_y = len(values) - n_x
    if n_x * n_y * int(values[-1] - values[0]) <= question.allowance:
        return 1.0, "all scores are the same"
    difference = question.observed / (n_x * n_y)
    z = difference / math.sqrt(float(np.var(values, ddof=1)) * (1 / n_x + 1 / n_y))
    p = question.sides * 0.5 * math.erfc(z / math.sqrt(2))
    return p, "normal tail with the exact mean and variance over all partitions; its error is not known"
