"""What averaged scores show where there is no difference.

WEAT's effect size, and false alarms of each method.

For 2 + 2 words without any difference the effect size is uniform between -sqrt(3) and sqrt(3): 13 %
are above 1.5 in size. The permutation test knows this: with 2 + 2 words its p-value is never below
1/6.

Averaging first is not the whole of the fault. A t-test of single pairs raises as many false alarms
as one of averages, since both count as independent what shares an attribute word. What helps is a
model that names what pairs share at the level of the question: here the effect of class and
attribute, as in the model ``shared``. An effect of the attribute alone, as in ``crossed``, cancels
in this contrast.

Source: Manzini et al. (2019) for the t-test.
"""

import itertools
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from bayesbias.core import InputError, checks
from bayesbias.scores.association import DENOMINATORS, largest_effect_size
from bayesbias.scores.counting import clopper_pearson

Floats = npt.NDArray[np.float64]
_PERMUTATIONS = 2000  # drawn where there are more than can be listed
_LISTED = 13_000  # 8 + 8 words: 12,870

METHODS: Mapping[tuple[str, str], str] = {
    ("classes", "weat"): "WEAT's permutation test, one-sided as published",
    ("classes", "weat_two_sided"): "WEAT's permutation test, two-sided",
    ("classes", "pairs"): "t-test of associated against different pairs",
    ("classes", "attributes"): "t-test of one number per attribute word",
    ("tables", "manzini"): "Manzini's paired t-test of averages",
    ("tables", "pairs"): "paired t-test of pairs",
    ("tables", "attributes"): "paired t-test of one number per attribute word",
}
"""The question asked, and the method, of each row that `simulate_grid` gives."""
_COLUMNS = (
    "n_words", "n_attributes", "pair_sd", "attribute_sd", "question", "method", "alarms", "alarms_low", "alarms_high",
    "truth_sd", "truth_low", "truth_high", "claimed_sd", "effect_low", "effect_high", "draws",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class NullDistribution:
    """Effect sizes where all pairs are drawn alike.

    Attributes
    ----------
    n_x, n_y : int
        Words of X and Y.
    largest : float
        What the absolute effect size cannot exceed.
    effect_sizes : ndarray, shape (draws,)
    """

    n_x: int
    n_y: int
    largest: float
    effect_sizes: Floats

    def __repr__(self) -> str:
        words = f"{self.n_x} + {self.n_y} words"
        return (
            f"NullDistribution of {words}: sd {self.effect_sizes.std():.3f}, at most "
            f"{self.largest:.3f}"
        )

    def quantile(self, prob: npt.ArrayLike) -> Floats:
        """Return exact quantiles of the null distribution.

        The squared effect size over its squared ceiling is the share of the sum of squares that
        lies between X and Y. For independent normal scores that share has a Beta(1/2, (n - 2)/2)
        distribution, whatever their spread and however many attributes went into them.

        Parameters
        ----------
        prob : array_like
            Probabilities in [0, 1].

        Examples
        --------
        With 2 + 2 words it is uniform:

        >>> from bayesbias.simulation import null_distribution
        >>> null_distribution(2, 2, draws=1).quantile([0.5, 0.75, 1]).round(3).tolist()
        [0.0, 0.866, 1.732]
        """
        p = np.asarray(prob, dtype=float)
        if not ((p >= 0) & (p <= 1)).all():
            raise InputError("expected probabilities from 0 to 1", where="prob", found=prob)
        return self.largest * self._exact.ppf(p)

    def above(self, size: float) -> float:
        """Return the exact probability that the absolute effect size is at least `size`.

        Examples
        --------
        >>> from bayesbias.simulation import null_distribution
        >>> [round(null_distribution(n, n, draws=1).above(1), 3) for n in (2, 8, 32)]
        [0.423, 0.041, 0.0]
        """
        return min(1.0, 2 * float(self._exact.sf(abs(size) / self.largest)))

    @property
    def _exact(self) -> Any:
        """The distribution of the effect size over its ceiling."""
        from scipy import stats

        # Of 1 + 1 words all mass is at the ends.
        return stats.rdist(max(self.n_x + self.n_y - 2, 1e-9))

    def summary(self) -> pd.DataFrame:
        """Return ``quantity, simulated, exact``.

        Standard deviation, quantiles, and shares above a size.
        """
        d, size_of = self.effect_sizes, np.abs(self.effect_sizes)
        # The mean of a Beta(1/2, (n - 2)/2) is 1/(n - 1).
        rows = [("sd", np.sqrt(np.mean(d**2)), self.largest / math.sqrt(self.n_x + self.n_y - 1))]
        for q in (0.025, 0.25, 0.5, 0.75, 0.975):
            rows.append((f"quantile {q:.1%}", np.quantile(d, q), float(self.quantile(q))))
        for size in (0.5, 0.8, 1.0, 1.5):
            rows.append((f"|d| >= {size:g}", np.mean(size_of >= size), self.above(size)))
        rows.append(("largest |d|", size_of.max(), self.largest))
        return pd.DataFrame(rows, columns=["quantity", "simulated", "exact"])


def null_distribution(
    n_x: int = 2,
    n_y: int = 2,
    n_attributes: int = 5,
    sd: float = 0.05,
    *,
    denominator: str = "union_n_minus_1",
    draws: int = 10_000,
    seed: int = 1,
) -> NullDistribution:
    """Draw effect sizes of tables without any association.

    Parameters
    ----------
    n_x, n_y : int, default 2
        Words of X and of Y, at least 1.
    n_attributes : int, default 5
        Attributes in A and in B, at least 1.
    sd : float, default 0.05
        Standard deviation of a pair.
    denominator : {"union_n_minus_1", "union_n"}
        See `effect_size`.
    draws : int, default 10000
        Number of draws.
    seed : int, default 1
        Seed of all random numbers.

    Returns
    -------
    NullDistribution

    Raises
    ------
    InputError
        If a set has no words, or the denominator is ``pooled``, which has no maximum.

    Examples
    --------
    >>> from bayesbias.simulation import null_distribution
    >>> wide, narrow = null_distribution(sd=0.05), null_distribution(sd=0.001)
    >>> bool(abs(wide.effect_sizes - narrow.effect_sizes).max() < 1e-9)
    True
    """
    largest = largest_effect_size(n_x, n_y, denominator)
    if largest is None:
        problem = "expected a denominator with a ceiling"
        raise InputError(problem, found=denominator, valid=DENOMINATORS[:2])
    random = np.random.default_rng(seed)
    pairs = random.standard_normal((draws, n_x + n_y, 2, n_attributes)) * sd
    means = pairs.mean(axis=3)
    s = means[:, :, 0] - means[:, :, 1]
    numerator = s[:, :n_x].mean(axis=1) - s[:, n_x:].mean(axis=1)
    d = numerator / s.std(axis=1, ddof=int(denominator == "union_n_minus_1"))
    return NullDistribution(n_x, n_y, largest, d)


def simulate_grid(
    n_words: Iterable[int] = (2, 4, 8, 16, 32),
    pair_sd: Iterable[float] = (0.05, 0.1),
    attribute_sd: Iterable[float] = (0.0, 0.03, 0.06),
    *,
    n_attributes: int = 8,
    difference: float = 0.0,
    alpha: float = 0.05,
    draws: int = 2000,
    seed: int = 1,
) -> pd.DataFrame:
    """Count false alarms of each method, and how far off its score is.

    In a simulated table the similarity of word t of class c with attribute a is ``v[a, c] + e[t,
    a]``. The term v, normal with `attribute_sd`, is how near attribute a is to class c as a whole;
    e, normal with `pair_sd`, is the pair's own. In the population from which attributes are drawn
    there is no difference (unless `difference` says so): any other difference in the table comes
    from the choice of words. Two questions are asked, as `METHODS` lists:

    * ``classes``: are X and Y associated differently with A and B in one table? The score is the
      mean of s over X less that over Y.
    * ``tables``: is the mean similarity in one table another than in a second, drawn alike? The
      score is the difference of MAC. (The second stands for vectors that "debiasing" has changed at
      random.)

    Parameters
    ----------
    n_words : iterable of int
        Words per class, each at least 2.
    pair_sd : iterable of float
        Spreads of pairs. Only the ratio of the two spreads matters to the
        alarms.
    attribute_sd : iterable of float
        Spreads of attribute words.
    n_attributes : int, default 8
        Attributes in A and in B, at least 2.
    difference : float, default 0
        The true difference: in the mean score of the first question, and in MAC for the second.
        With another value than 0 the "alarms" are the power.
    alpha : float, default 0.05
        A p-value below it is an alarm.
    draws : int, default 2000
        Simulated tables for each combination, at least 2.
    seed : int, default 1
        Each combination has a stream of its own, so that a row does not depend on the other rows.

    Returns
    -------
    pandas.DataFrame
        One row for each combination, question and method: ``n_words, n_attributes, pair_sd,
        attribute_sd, question, method, alarms`` (a share)``, alarms_low, alarms_high`` (its 95 %
        Clopper-Pearson interval)``, truth_sd, truth_low, truth_high`` (root mean square and 2.5 and
        97.5 % quantiles of truth less reported score, in units of cosine)``, claimed_sd`` (the
        standard error that the method takes its score to have, root mean square)``, effect_low,
        effect_high`` (2.5 and 97.5 % quantiles of WEAT's reported effect size; missing for other
        methods)``, draws``.

    Raises
    ------
    InputError
        If there are fewer than two words.

    Notes
    -----
    On the published Reddit tables the spread of pairs, freed from the means of words and
    attributes, is 0.05 to 0.15, and the spread of v beyond what both classes share 0.03 to 0.06.
    What they share cancels in the first question.

    WEAT's test asks whether the words of X and Y can be exchanged *for these attributes*. That is
    answered well: where `attribute_sd` is 0 its alarms stay at or below alpha. Wherever it is not,
    they grow with the number of protected words, since more words make the lean of the same few
    attributes ever clearer. So do those of both t-tests, of averages and of pairs. A t-test of one
    number per attribute word keeps to alpha, since attributes are what was sampled. (Where
    protected words of a class vary as wholes too, both have to be modelled, as the model ``shared``
    does.)

    Examples
    --------
    >>> from bayesbias.simulation import simulate_grid
    >>> frame = simulate_grid([16], [0.1], [0.06], draws=500).set_index(["question", "method"])
    >>> (
    ...     bool(frame["alarms"]["tables", "manzini"] > 0.3),
    ...     bool(frame["alarms"]["tables", "attributes"] < 0.08),
    ... )
    (True, True)
    """
    words = [checks.count(n, "n_words", least=2) for n in n_words]
    # A quarter with one sign in each of the four blocks makes a difference of means of s of one.
    shift = difference / 4 * np.array([[1, -1], [-1, 1]])[:, None, :, None]
    rows = []
    for n, pair, attribute in itertools.product(words, pair_sd, attribute_sd):
        # Streams are told apart by the bits of the numbers themselves.
        bits = np.array([pair, attribute]).view(np.uint32).tolist()
        random = np.random.default_rng([seed, n, n_attributes, *bits])
        parts: dict[tuple[str, str], list[Floats]] = {method: [] for method in METHODS}
        at_once = max(1, 200_000 // (8 * n * n_attributes))  # tables, whose permutations take 40 MB
        for start in range(0, draws, at_once):
            size = min(at_once, draws - start)
            # Axes: draw, table, class X or Y, word, set A or B, attribute.
            v = attribute * random.standard_normal((size, 2, 2, 1, 2, n_attributes))
            tables = v + pair * random.standard_normal((size, 2, 2, n, 2, n_attributes))
            changes = tables[:, 0] + difference - tables[:, 1]
            for key, said in _ask(tables[:, 0] + shift, changes, alpha, random).items():
                parts[key].append(said)
        for (question, method), each in parts.items():
            alarm, score, error, effect = np.concatenate(each, axis=1)
            off, count = difference - score, int(alarm.sum())
            row = [n, n_attributes, pair, attribute, question, method]
            row += [count / draws, *clopper_pearson(count, draws, 0.95)]
            row += [np.sqrt(np.mean(off**2)), *np.quantile(off, [0.025, 0.975])]
            row += [np.sqrt(np.mean(error**2)), *np.quantile(effect, [0.025, 0.975]), draws]
            rows.append(row)
    effects = ["effect_low", "effect_high"]
    return pd.DataFrame(rows, columns=_COLUMNS).astype(dict.fromkeys(effects, "Float64"))


def _ask(
    first: Floats, changes: Floats, alpha: float, random: np.random.Generator
) -> dict[tuple[str, str], Floats]:
    """Ask whether classes differ in one table, and whether the mean change to a second one is 0.

    Tables have the shape (draws, class, word, set, attribute). Of each method, the rows are alarm,
    score, the standard error that it takes the score to have, and effect size.
    """
    from scipy import stats

    size, _, n, _, k = first.shape
    out = {}

    def t_test(method: tuple[str, str], score: Floats, error: Floats, df: int) -> None:
        alarm = np.abs(score) > stats.t.ppf(1 - alpha / 2, df) * error
        out[method] = np.array([alarm, score, error, np.full(size, np.nan)])

    means = first.mean(axis=4)
    s = means[..., 0] - means[..., 1]  # (draws, class, word)
    score = s[:, 0].mean(axis=1) - s[:, 1].mean(axis=1)
    error = np.sqrt((s.var(axis=2, ddof=1) / n).sum(axis=1))
    effect = score / s.reshape(size, -1).std(axis=1, ddof=1)
    for name, p in zip(
        ("weat", "weat_two_sided"), _permutation_p(s.reshape(size, -1), random), strict=True
    ):
        out["classes", name] = np.array([p < alpha, score, error, effect])
    # Associated pairs are X with A and Y with B; their mean less that of others is half the score.
    sides = [[first[:, 0, :, j], first[:, 1, :, 1 - j]] for j in (0, 1)]
    variances = [np.concatenate(pairs, axis=1).var(axis=(1, 2), ddof=1) for pairs in sides]
    error = 2 * np.sqrt(sum(variances) / (2 * n * k))
    t_test(("classes", "pairs"), score, error, 2 * (2 * n * k - 1))
    leans = first[:, 0].mean(axis=1) - first[:, 1].mean(axis=1)  # (draws, set, attribute)
    error = np.sqrt((leans.var(axis=2, ddof=1) / k).sum(axis=1))
    t_test(("classes", "attributes"), score, error, 2 * k - 2)
    units = {
        "manzini": changes.mean(axis=4),  # S(t, A_j)
        "pairs": changes,
        "attributes": changes.mean(axis=(1, 2)),
    }
    for name, values in units.items():
        flat = values.reshape(size, -1)
        error = flat.std(axis=1, ddof=1) / math.sqrt(flat.shape[1])
        t_test(("tables", name), flat.mean(axis=1), error, flat.shape[1] - 1)
    return out


def _permutation_p(s: Floats, random: np.random.Generator) -> tuple[Floats, Floats]:
    """Return one- and two-sided p-values of tables of scores, shape (draws, 2 n).

    The first n are X.

    All partitions are listed where they are few; else some are drawn, afresh for each call, and the
    observed one is counted in advance. The scores are continuous, so that there are
    no ties.
    """
    n = s.shape[1] // 2
    centered = s - s.mean(axis=1, keepdims=True)  # then the two-sided test looks at absolute sums
    observed = centered[:, :n].sum(axis=1, keepdims=True)
    listed = math.comb(2 * n, n) <= _LISTED
    if listed:
        chosen = np.array(list(itertools.combinations(range(2 * n), n)))
    else:
        chosen = random.random((_PERMUTATIONS - 1, 2 * n)).argpartition(n, axis=1)[:, :n]
    members = np.zeros((len(chosen), 2 * n))
    np.put_along_axis(members, chosen, 1.0, axis=1)
    sums = centered @ members.T
    # The observed partition must meet itself.
    slack = 1e-12 * np.abs(centered).sum(axis=1, keepdims=True)
    extra = int(not listed)
    upper = (sums >= observed - slack).sum(axis=1)
    both = (np.abs(sums) >= np.abs(observed) - slack).sum(axis=1)
    total = len(members) + extra
    return (upper + extra) / total, (both + extra) / total
