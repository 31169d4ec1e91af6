"""The permutation test of WEAT and SEAT: exact, bounded, sampled or approximated; and Holm's correction.

Given the association scores s(w) of the words of two sets X and Y, the test asks how often a
partition of their union into sets of the same sizes has a statistic at least as large as the
observed one, s(X, Y) = sum of s over X - sum of s over Y.

Sources: Caliskan, Bryson and Narayanan (2017); May et al. (2019), appendix A and the note on Holm's
correction; Holm (1979).
"""

import math
import secrets
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from bayesbias.core import checks
from bayesbias.core.errors import InputError
from bayesbias.scores import counting

Method = Literal["auto", "exact", "bounds", "montecarlo", "normal"]


@dataclass(frozen=True, repr=False)
class PermutationResult:
    """The p-value of a permutation test, and all that is needed to read it.

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
    rigorous : bool
        Whether `p_lower` and `p_upper` are certain (``"exact"`` and ``"bounds"``) or not.
    method : str
        ``"exact"``, ``"bounds"``, ``"montecarlo"`` or ``"normal"``: the method used, never
        ``"auto"``.
    sides : int
        1 for partitions with a statistic at least as large, 2 for one at least as far from the
        middle.
    n_x, n_y : int
        The numbers of words.
    partitions : int
        The number of partitions into sets of these sizes, exactly.
    ties : int or None
        The number of partitions, the observed one included, that tie with the observed one and so
        are part of the p-value. None where it is not known, that is with every method but
        ``"exact"``.
    samples : int or None
        The number of partitions drawn, with ``"montecarlo"``, else None.
    seed : int or None
        The seed they were drawn with, also where none was given; else None.
    note : str
        How the p-value was found, in a sentence.

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
    rigorous: bool
    method: str
    sides: int
    n_x: int
    n_y: int
    partitions: int
    ties: int | None
    samples: int | None
    seed: int | None
    note: str

    def __repr__(self) -> str:
        within = (
            f" ({self.p_lower:.3g} to {self.p_upper:.3g})"
            if self.p_lower not in (None, self.p_upper)
            else ""
        )
        return (
            f"PermutationResult: p = {self.p_value:.3g}{within}, {self.sides}-sided, statistic {self.statistic:.6g} of "
            f"{self.n_x} and {self.n_y} words\n  {self.method}: {self.note}"
        )


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
    """Test whether the words of X are associated more strongly than the words of Y.

    Parameters
    ----------
    scores_x, scores_y : array_like of float
        The association scores s(w, A, B) of the words of X and of Y (equation 2 of the seed paper),
        shapes ``(n_x,)`` and ``(n_y,)``, finite. One word is enough for a set; the sizes may
        differ. A word that stands in both sets counts as two.
    method : {"auto", "exact", "bounds", "montecarlo", "normal"}, default "auto"
        ``"exact"`` counts every partition: one by one up to 100,000 of them, else by splitting the
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
        few seconds the bounds are wider, and `note` says so. (Partitions that tie with the observed
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
    checks.choice(sides, (1, 2), "number of sides", "sides")
    n, partitions = len(x) + len(y), math.comb(len(x) + len(y), len(x))
    question = counting.Question.ask(x, y, sides)
    sizes = f"{len(x)} and {len(y)} words"

    def result(
        method: str, p: float, bounds: tuple[float | None, float | None], note: str, **more: Any
    ) -> PermutationResult:
        return PermutationResult(
            statistic=math.fsum(x) - math.fsum(y),
            p_value=p,
            p_lower=bounds[0],
            p_upper=bounds[1],
            rigorous=method in ("exact", "bounds"),
            method=method,
            sides=sides,
            n_x=len(x),
            n_y=len(y),
            partitions=partitions,
            note=note,
            **{"ties": None, "samples": None, "seed": None, **more},
        )

    if method == "normal":
        p, note = counting.p_by_normal(question)
        return result("normal", p, (None, None), note)
    if method in ("auto", "exact"):
        counted = counting.count_all(question)
        if counted is not None:
            count, ties, note = counted
            p = count / partitions
            return result("exact", p, (p, p), note, ties=ties)
        if method == "exact":
            raise InputError(
                "too many words for an exact p-value",
                found=sizes,
                valid="about 25 and 25, more where p is small",
                hint="method='bounds' gives certain bounds, method='auto' what is best",
            )
    if method == "bounds" and n > counting.MOST_WORDS_COUNTED:
        raise InputError(
            "too many words for bounds",
            found=sizes,
            valid=f"{counting.MOST_WORDS_COUNTED} together",
            hint="use method='montecarlo'",
        )
    if method in ("auto", "bounds") and n <= counting.MOST_WORDS_COUNTED:
        lower, upper, note = counting.bound_all(
            question, rel_width, samples if method == "auto" else None
        )
        # Rounded outward, so that the bounds stay certain.
        p_lower = (
            lower / partitions
            if lower in (0, partitions)
            else math.nextafter(lower / partitions, 0.0)
        )
        p_upper = (
            upper / partitions
            if upper in (0, partitions)
            else math.nextafter(upper / partitions, 1.0)
        )
        width = p_upper - p_lower
        # A sample is taken instead only where its interval would be the narrower of the two.
        good = width <= rel_width * p_upper or width <= counting.sampling_width(p_upper, samples)
        if method == "bounds" or good:
            middle = math.sqrt(p_lower) * math.sqrt(p_upper)
            return result("bounds", min(max(middle, p_lower), p_upper), (p_lower, p_upper), note)
    seed = secrets.randbits(32) if seed is None else seed
    p, interval, note = counting.p_by_sampling(question, samples, seed)
    return result("montecarlo", p, interval, note, samples=samples, seed=seed)


def holm(p_values: npt.ArrayLike) -> npt.NDArray[np.float64]:
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
    >>> from bayesbias.scores import holm
    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, dtype=float)
    if p.ndim != 1 or not ((p >= 0) & (p <= 1)).all():
        raise InputError("not a row of p-values", where="p_values", found=p_values, valid="0 to 1")
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)))
    return adjusted


def finite_scores(values: npt.ArrayLike, name: str) -> npt.NDArray[np.float64]:
    """Return one row of finite numbers, at least one."""
    try:
        scores = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        scores = np.array([np.nan])
    if scores.ndim != 1 or not scores.size or not np.isfinite(scores).all():
        raise InputError("expected one or more finite scores", where=name, found=values)
    return scores
