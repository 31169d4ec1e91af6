"""The scores in common use: direct bias, WEAT, relative norm distance and MAC, on the same pairs as the models.

They are here to be understood, not to be recommended: each averages averages, and what that hides is the
subject of `simulation`. Every result says which words went in and which were missing, and has a table of
pairs from which the score can be followed by hand.

Two conventions hold throughout. A repeated row of a table is the same observation and counts once. What
cannot be computed is None with a note that says why, or an error; it is never NaN.

Sources: equations 1-7 of Dobrzeniecka and Urbaniak, "A bayesian method of cosine-based word2vec bias" (the
seed paper); Bolukbasi et al. (2016) for (1); Caliskan, Bryson and Narayanan (2017) and May et al. (2019) for
(2-4); Garg et al. (2018) for (5); Manzini et al. (2019) for (6-7).
"""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from bayesbias._wording import some
from bayesbias.distance import PairTable, distance_table, read_distances
from bayesbias.embedding import Embedding, load_embedding
from bayesbias.errors import InputError, nearest
from bayesbias.permutation import Method, PermutationResult, permutation_test
from bayesbias.wordlist import WordList, load_wordlist

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "CONVENTIONS",
    "DENOMINATORS",
    "DirectBias",
    "MacResult",
    "RelativeNormDistance",
    "WeatResult",
    "direct_bias",
    "effect_size",
    "largest_effect_size",
    "mac",
    "relative_norm_distance",
    "weat",
]

DENOMINATORS = ("union_n_minus_1", "union_n", "pooled")
"""What the effect size divides by; see `effect_size`."""
CONVENTIONS = ("class_means", "all_pairs")
"""What MAC averages; see `mac`."""

# Mean cosines in double precision are wrong by about 1e-16. Scores that differ by less than this are equal.
_ROUNDING = 2.0**-42
_STEREOTYPES = ("associated", "different")


# -- what the results have in common ---------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class _Result:
    """What every score says of itself."""

    name: str
    dropped: tuple[str, ...]
    notes: tuple[str, ...]
    _pairs: pd.DataFrame = field(repr=False)

    def pairs(self) -> pd.DataFrame:
        """Return a copy of the table from which the score can be followed by hand."""
        return self._pairs.copy()

    def as_dict(self) -> dict[str, Any]:
        """Return the fields, but for the table of pairs, as plain numbers, texts, lists and dictionaries."""
        return {f.name: _plain(getattr(self, f.name)) for f in dataclasses.fields(self) if f.name != "_pairs"}


@dataclass(frozen=True, eq=False, repr=False)
class WeatResult(_Result):
    """WEAT: its statistic, effect size and p-value.

    Attributes
    ----------
    name : str
        The table, or the word list and the vectors.
    classes : tuple of str
        The names of X and Y.
    x, y, a, b : tuple of str
        The words of the four sets that were used.
    scores : dict of str to float
        s(w, A, B) of each word of X and Y (equation 2): mean cosine similarity with A less that with B.
    statistic : float
        s(X, Y, A, B), the sum of the scores over X less the sum over Y (equation 3).
    effect_size : float or None
        Equation 4, see `effect_size`. None where all scores are equal.
    largest_effect_size : float or None
        What the effect size cannot exceed with so many words, see `largest_effect_size`.
    denominator : str
        One of `DENOMINATORS`.
    p_value, p_lower, p_upper, p_method, sides
        See `PermutationResult`; `p_lower` and `p_upper` are None with the method ``"normal"``.
    n_x, n_y, n_a, n_b : int
        The numbers of words used.
    permutation : PermutationResult
        All about the p-value.
    dropped : tuple of str
        Words of the four sets that the vectors lack.
    notes : tuple of str
        What else a reader should know.
    """

    classes: tuple[str, str]
    x: tuple[str, ...]
    y: tuple[str, ...]
    a: tuple[str, ...]
    b: tuple[str, ...]
    scores: dict[str, float]
    statistic: float
    effect_size: float | None
    largest_effect_size: float | None
    denominator: str
    p_value: float
    p_lower: float | None
    p_upper: float | None
    p_method: str
    sides: int
    n_x: int
    n_y: int
    n_a: int
    n_b: int
    permutation: PermutationResult

    def __repr__(self) -> str:
        effect = "none" if self.effect_size is None else f"{self.effect_size:.3f}"
        limit = "" if self.largest_effect_size is None else f" of at most {self.largest_effect_size:.3f}"
        return (
            f"<WeatResult {self.name}: {self.n_x} {self.classes[0]}, {self.n_y} {self.classes[1]}, "
            f"{self.n_a} + {self.n_b} attributes; effect size {effect}{limit} ({self.denominator}); "
            f"p {self.p_value:.4g} ({self.p_method}, {self.sides}-sided); {len(self.dropped)} words dropped>"
        )


@dataclass(frozen=True, eq=False, repr=False)
class MacResult(_Result):
    """MAC, and where two tables are compared, the paired t-test of Manzini et al. (2019).

    Attributes
    ----------
    name, name_against : str, str or None
        The table, and the one it is compared with.
    mac, mac_against : float, float or None
        Mean average cosine *distance* of either, in [0, 2]; 1 means unrelated.
    difference : float or None
        ``mac - mac_against``, as the t-test has it.
    t, df, p_value : float, int, float or None
        The two-sided paired t-test on the averages S(t, A_j). None without a second table, or where the
        differences do not vary.
    convention : str
        One of `CONVENTIONS`.
    words, attribute_classes : tuple of str
        The protected words and attribute classes used.
    n_words, n_averages, n_pairs : int
        Protected words; averages S(t, A_j), which the t-test takes for observations; pairs behind them.
    dropped, notes
        As in `WeatResult`.
    """

    name_against: str | None
    mac: float
    mac_against: float | None
    difference: float | None
    t: float | None
    df: int | None
    p_value: float | None
    convention: str
    words: tuple[str, ...]
    attribute_classes: tuple[str, ...]
    n_words: int
    n_averages: int
    n_pairs: int

    def __repr__(self) -> str:
        second = (
            "" if self.mac_against is None else f", against {self.mac_against:.6f} in {self.name_against}"
        )
        test = "" if self.p_value is None else f"; t({self.df}) = {self.t:.4f}, p {self.p_value:.4g}"
        return (
            f"<MacResult {self.name}: {self.mac:.6f}{second}{test}; {self.n_words} words, "
            f"{self.n_averages} averages of {self.n_pairs} pairs ({self.convention}); {len(self.dropped)} words dropped>"
        )

    def averages(self) -> pd.DataFrame:
        """Return S(t, A_j) of equation 6: ``protected_word, attribute_class, distance, distance_against``."""
        keys = ["protected_word", "attribute_class"]
        means = self._pairs.groupby(keys, sort=False)[["distance", "distance_against"]].mean()
        return means.reset_index()


@dataclass(frozen=True, eq=False, repr=False)
class DirectBias(_Result):
    """Direct bias of some words (equation 1).

    Attributes
    ----------
    name : str
        The vectors.
    value : float
        The mean of |cos(w, g)|^c over the words, in [0, 1].
    strictness : float
        c.
    direction : ndarray, shape (d,)
        g, of length 1. It points from the second words of the pairs towards the first.
    explained : float
        The share of the pair differences' sum of squares that lies along g, in (0, 1].
    towards, away : tuple of str
        The first and the second words of the pairs that define g.
    words : tuple of str
        The words whose bias it is.
    n_pairs, n_words : int
    dropped, notes
        As in `WeatResult`; a pair with one missing word is left out whole.
    """

    value: float
    strictness: float
    direction: npt.NDArray[np.float64] = field(repr=False)
    explained: float
    towards: tuple[str, ...]
    away: tuple[str, ...]
    words: tuple[str, ...]
    n_pairs: int
    n_words: int

    def __repr__(self) -> str:
        return (
            f"<DirectBias {self.name}: {self.value:.4f} (strictness {self.strictness:g}) of {self.n_words} words; "
            f"direction of {self.n_pairs} pairs, towards {self.towards[0]}, explains {self.explained:.0%}; "
            f"{len(self.dropped)} words dropped>"
        )


@dataclass(frozen=True, eq=False, repr=False)
class RelativeNormDistance(_Result):
    """Relative norm distance (equation 5).

    Attributes
    ----------
    name : str
        The word list and the vectors.
    value : float
        The sum over words of the distance to the mean vector of X less that to the mean vector of Y. Below
        zero: nearer to X.
    mean : float
        The same per word, in [-2, 2] for unit vectors, which does not grow with the list.
    unit : bool
        Whether the vectors were brought to length 1 first.
    classes : tuple of str
        The names of X and Y.
    x, y, words : tuple of str
        The words of either class, and the words whose distances are compared.
    n_x, n_y, n_words : int
    dropped, notes
        As in `WeatResult`.
    """

    value: float
    mean: float
    unit: bool
    classes: tuple[str, str]
    x: tuple[str, ...]
    y: tuple[str, ...]
    words: tuple[str, ...]
    n_x: int
    n_y: int
    n_words: int

    def __repr__(self) -> str:
        nearer = self.classes[0] if self.value < 0 else self.classes[1]
        return (
            f"<RelativeNormDistance {self.name}: {self.value:.4f}, {self.mean:.4f} per word, nearer to {nearer}; "
            f"{self.n_words} words; {len(self.dropped)} words dropped>"
        )


# -- WEAT ------------------------------------------------------------------------------------------


def weat(
    source: PairTable | pd.DataFrame | str | os.PathLike[str] | Embedding | Any,
    wordlist: str | os.PathLike[str] | Mapping[str, Any] | WordList | None = None,
    *,
    classes: Sequence[str] | None = None,
    denominator: str = "union_n_minus_1",
    p: Method = "auto",
    sides: Literal[1, 2] = 1,
    samples: int = 99_999,
    seed: int | None = None,
    rel_width: float = 0.02,
) -> WeatResult:
    """Compute the Word Embedding Association Test.

    X is the first protected class and Y the second; A are the attributes associated with X, B those with
    Y. Control words play no part.

    Parameters
    ----------
    source : PairTable, DataFrame or path of a table; with `wordlist`, anything `load_embedding` reads
        The pairs, or the vectors to compute them from.
    wordlist : optional
        What `load_wordlist` takes.
    classes : pair of str, optional
        The protected classes to take as X and Y. Needed where there are more than two; in reverse
        order they swap X with Y and A with B.
    denominator : {"union_n_minus_1", "union_n", "pooled"}
        Of the effect size, see `effect_size`.
    p, sides, samples, seed, rel_width
        How the p-value is found: `method` and the rest of `permutation_test`.

    Returns
    -------
    WeatResult
        Its ``pairs()`` have ``protected_word, set`` (X or Y)``, attribute, attribute_set`` (A or B)``,
        distance, similarity, weight``; the sum of weight times similarity is the statistic.

    Raises
    ------
    InputError
        Unless there are two classes, each with a word and an attribute; where a word stands in both X and Y;
        where a word has no pair with one of the attribute sets; for unknown options.

    Notes
    -----
    Equations 2-4 of the seed paper. One word is enough for a set. An attribute may stand in both A and B.
    If A and B are equal every score is 0: the statistic is 0, p is 1, and there is no effect size. A
    protected word that is an attribute too is not compared with itself (see `pairs`).

    Examples
    --------
    >>> from bayesbias.baseline import weat
    >>> result = weat("minilm-static", "weat7")
    >>> round(result.effect_size, 2), round(result.largest_effect_size, 2), result.p_method
    (1.37, 1.94, 'exact')
    >>> pairs = result.pairs()
    >>> bool(abs((pairs["weight"] * pairs["similarity"]).sum() - result.statistic) < 1e-12)
    True
    """
    _one_of(denominator, DENOMINATORS, "denominator")
    grid = _grid(_table(source, wordlist))
    x_class, y_class = _two_classes(grid, classes)
    sets = {c: [w for w in grid.words if grid.word_class[w] == c] for c in (x_class, y_class)}
    a, b = grid.own_attributes[x_class], grid.own_attributes[y_class]
    notes = list(grid.notes)
    scores: dict[str, float] = {}
    rows = []
    for side, c in (("X", x_class), ("Y", y_class)):
        for word in sets[c]:
            means = []
            for letter, attributes in (("A", a), ("B", b)):
                found = [(v, grid.distance[word, v]) for v in attributes if (word, v) in grid.distance]
                if not found:
                    raise InputError(
                        f"the protected word {word!r} has no pair with an attribute of set {letter}",
                        where=grid.name,
                        valid="at least one pair with either set",
                    )
                means.append(math.fsum(1.0 - d for _, d in found) / len(found))
                weight = (1 if side == "X" else -1) * (1 if letter == "A" else -1) / len(found)
                rows += [(word, side, v, letter, d, 1.0 - d, weight) for v, d in found]
            # Equal means differ in their last bits; without this, noise would pass for a score.
            scores[word] = means[0] - means[1] if abs(means[0] - means[1]) > _ROUNDING else 0.0
    if len(rows) < len(scores) * (len(a) + len(b)):
        notes.append(
            f"{len(scores) * (len(a) + len(b)) - len(rows)} pairs do not exist; their words' means are over the others"
        )
    both = [v for v in a if v in set(b)]
    if set(a) == set(b):
        notes.append("A and B are the same words, so every score is 0 and there is no effect size")
    elif both:
        notes.append(
            f"in both A and B: {some(both)}; their similarities cancel as far as the sets' sizes agree"
        )
    x, y = sets[x_class], sets[y_class]
    scores_x, scores_y = [scores[w] for w in x], [scores[w] for w in y]
    effect = effect_size(scores_x, scores_y, denominator)
    if effect is None and set(a) != set(b):
        notes.append("the scores do not vary, so there is no effect size")
    test = permutation_test(
        scores_x, scores_y, method=p, sides=sides, samples=samples, seed=seed, rel_width=rel_width
    )
    columns = ["protected_word", "set", "attribute", "attribute_set", "distance", "similarity", "weight"]
    return WeatResult(
        name=grid.name,
        dropped=grid.missing((x_class, y_class)),
        notes=tuple(notes),
        _pairs=_frame(rows, columns),
        classes=(x_class, y_class),
        x=tuple(x),
        y=tuple(y),
        a=tuple(a),
        b=tuple(b),
        scores=scores,
        statistic=test.statistic,
        effect_size=effect,
        largest_effect_size=largest_effect_size(len(x), len(y), denominator),
        denominator=denominator,
        p_value=test.p_value,
        p_lower=test.p_lower,
        p_upper=test.p_upper,
        p_method=test.method,
        sides=test.sides,
        n_x=len(x),
        n_y=len(y),
        n_a=len(a),
        n_b=len(b),
        permutation=test,
    )


def effect_size(
    scores_x: npt.ArrayLike, scores_y: npt.ArrayLike, denominator: str = "union_n_minus_1"
) -> float | None:
    """Return WEAT's effect size: the difference of the mean scores over their standard deviation.

    Parameters
    ----------
    scores_x, scores_y : array_like of float
        The scores s(w, A, B), shapes ``(n_x,)`` and ``(n_y,)``, finite.
    denominator : {"union_n_minus_1", "union_n", "pooled"}
        The standard deviation of the scores over X and Y together, with n - 1 in it (May et al., 2019)
        or n; or, ``pooled``, that within X and within Y, as in Cohen's d.

    Returns
    -------
    float or None
        None where the standard deviation is 0, or cannot be had (``pooled`` with two words).

    Raises
    ------
    InputError
        For an empty set, a score that is not finite, or an unknown denominator.

    Notes
    -----
    Equation 4 of the seed paper. Over the union the effect size is not Cohen's d: it has a ceiling,
    `largest_effect_size`, which is reached where all variation lies between the two sets.

    Examples
    --------
    >>> round(effect_size([0.3, 0.1], [0.0, -0.2]), 4)
    1.4412
    >>> effect_size([0.1, 0.1], [0.1]) is None
    True
    """
    _one_of(denominator, DENOMINATORS, "denominator")
    x, y = _scores(scores_x, "scores_x"), _scores(scores_y, "scores_y")
    mean_x, mean_y = math.fsum(x) / len(x), math.fsum(y) / len(y)
    if denominator == "pooled":
        squares = [(v - mean_x) ** 2 for v in x] + [(v - mean_y) ** 2 for v in y]
        freedom = len(x) + len(y) - 2
    else:
        mean = math.fsum(x + y) / (len(x) + len(y))
        squares = [(v - mean) ** 2 for v in x + y]
        freedom = len(x) + len(y) - (denominator == "union_n_minus_1")
    if freedom == 0:
        return None
    sd = math.sqrt(math.fsum(squares) / freedom)
    return (mean_x - mean_y) / sd if sd > _ROUNDING * max(map(abs, x + y)) else None


def largest_effect_size(n_x: int, n_y: int, denominator: str = "union_n_minus_1") -> float | None:
    """Return what the absolute effect size cannot exceed, whatever the scores.

    Of the sum of squares over the union, ``n_x n_y / n`` times the squared difference of means is due to that
    difference, where ``n = n_x + n_y``. So the effect size is at most ``sqrt(n (n - 1) / (n_x n_y))`` with
    n - 1 in the denominator, and ``n / sqrt(n_x n_y)`` with n: for 2 + 2 words sqrt(3), for long lists
    of equal length 2.

    Parameters
    ----------
    n_x, n_y : int
        The numbers of words, at least 1.
    denominator : {"union_n_minus_1", "union_n", "pooled"}

    Returns
    -------
    float or None
        None for ``pooled``, which has no ceiling.

    Raises
    ------
    InputError
        For a set without words, or an unknown denominator.

    Examples
    --------
    >>> [round(largest_effect_size(n, n), 3) for n in (1, 2, 8, 32)]
    [1.414, 1.732, 1.936, 1.984]
    """
    _one_of(denominator, DENOMINATORS, "denominator")
    for n in (n_x, n_y):
        if n < 1:
            raise InputError("a set needs at least one word", found=n)
    n = n_x + n_y
    if denominator == "pooled":
        return None
    return math.sqrt(n * (n - (denominator == "union_n_minus_1")) / (n_x * n_y))


# -- MAC -------------------------------------------------------------------------------------------


def mac(
    source: PairTable | pd.DataFrame | str | os.PathLike[str] | Embedding | Any,
    wordlist: str | os.PathLike[str] | Mapping[str, Any] | WordList | None = None,
    *,
    against: PairTable | pd.DataFrame | str | os.PathLike[str] | None = None,
    words: Iterable[str] | None = None,
    convention: str = "class_means",
) -> MacResult:
    """Compute the mean average cosine distance, and test it against that of a second table.

    Parameters
    ----------
    source, wordlist
        As in `weat`.
    against : PairTable, DataFrame or path of a table, optional
        The same pairs from other vectors, such as debiased ones. Pairs that only one of the two tables has
        are left out of both scores, and noted.
    words : iterable of str, optional
        The protected words to average over; all by default. Published values for the race list are over
        its evaluation sets: ``[w for s in load_wordlist("race").evaluation_sets for w in s]``.
    convention : {"class_means", "all_pairs"}
        ``class_means`` averages over a class's attributes first (Manzini et al., 2019, and WEFE), so that
        short lists weigh as much as long ones. With ``all_pairs`` every pair weighs the same. The
        t-test is on the averages S(t, A_j) either way.

    Returns
    -------
    MacResult
        Its ``pairs()`` have ``protected_word, attribute, attribute_class, distance, distance_against,
        weight``; the sum of weight times distance is the score. ``averages()`` has what the t-test takes.

    Raises
    ------
    InputError
        For words that are not in the table, tables without a pair in common, or an unknown convention.

    Notes
    -----
    Equations 6 and 7 of the seed paper, on distances as in the published numbers. Each average is taken over
    the same few attribute words for every protected word, so that averages of one class rise and fall
    together; the t-test counts them as independent. `simulate_grid` says what comes of it.

    Examples
    --------
    >>> from bayesbias.baseline import mac
    >>> result = mac("minilm-static", "religion")
    >>> round(result.mac, 3), result.n_averages, result.t is None
    (0.98, 45, True)
    """
    _one_of(convention, CONVENTIONS, "convention")
    grid = _grid(_table(source, wordlist))
    other = None if against is None else _grid(_table(against, None))
    notes = list(grid.notes)
    chosen, missing = _chosen(grid, words)
    rows: list[tuple[Any, ...]] = []
    averages: list[tuple[float, float | None]] = []
    left_out: dict[str, None] = {}
    for word in chosen:
        for c, attributes in grid.attribute_sets.items():
            found = []
            for v in attributes:
                if (word, v) not in grid.distance:
                    continue
                if other is not None and (word, v) not in other.distance:
                    left_out[word if word not in other.word_class else v] = None
                    continue
                found.append((v, grid.distance[word, v], other.distance[word, v] if other else None))
            if found:
                mean = math.fsum(d for _, d, _ in found) / len(found)
                second = math.fsum(d for _, _, d in found if d is not None) / len(found) if other else None
                averages.append((mean, second))
                rows += [(word, v, c, d, e, 1.0 / len(found)) for v, d, e in found]
    if not rows:
        raise InputError(
            "the tables have no pair in common" if other else "no pair is left", where=grid.name,
            found=other.name if other else None,
        )  # fmt: skip
    if left_out:
        notes.append(f"left out, since {other.name if other else ''} lacks their pairs: {some(left_out)}")
    columns = ["protected_word", "attribute", "attribute_class", "distance", "distance_against", "weight"]
    pairs = _frame(rows, columns)
    pairs["distance_against"] = pairs["distance_against"].astype("Float64")
    whole = len(averages) if convention == "class_means" else None
    pairs["weight"] = pairs["weight"] / whole if whole else 1.0 / len(pairs)
    first = _mac([d for *_, d, _, _ in rows], [m for m, _ in averages], convention)
    second = difference = t = df = p_value = None
    if other is not None:
        second = _mac([d for *_, d, _ in rows], [m for _, m in averages if m is not None], convention)
        difference = first - second
        t, df, p_value, note = _paired_t(np.array([m - n for m, n in averages if n is not None]))
        notes += [note] if note else []
    return MacResult(
        name=grid.name,
        dropped=tuple(dict.fromkeys([*missing, *grid.missing_attributes()])),
        notes=tuple(notes),
        _pairs=pairs,
        name_against=None if other is None else other.name,
        mac=first,
        mac_against=second,
        difference=difference,
        t=t,
        df=df,
        p_value=p_value,
        convention=convention,
        words=tuple(dict.fromkeys(row[0] for row in rows)),
        attribute_classes=tuple(dict.fromkeys(row[2] for row in rows)),
        n_words=len({row[0] for row in rows}),
        n_averages=len(averages),
        n_pairs=len(rows),
    )


def _mac(distances: list[float], averages: list[float], convention: str) -> float:
    values = averages if convention == "class_means" else distances
    return math.fsum(values) / len(values)


def _paired_t(
    differences: npt.NDArray[np.float64],
) -> tuple[float | None, int | None, float | None, str | None]:
    """Return t, its degrees of freedom and the two-sided p, or why there are none."""
    from scipy import stats

    n = len(differences)
    if n < 2:
        return None, None, None, "there is one average, so there is no t-test"
    sd = float(np.std(differences, ddof=1))
    if sd <= _ROUNDING:
        return None, n - 1, None, "the differences of the averages do not vary, so there is no t-test"
    t = float(np.mean(differences)) / (sd / math.sqrt(n))
    return t, n - 1, float(2 * stats.t.sf(abs(t), n - 1)), None


# -- the scores that need vectors ------------------------------------------------------------------


def direct_bias(
    embedding: Embedding | Any,
    wordlist: str | os.PathLike[str] | Mapping[str, Any] | WordList | None = None,
    *,
    words: Iterable[str] | None = None,
    sets: Iterable[Sequence[str]] | None = None,
    strictness: float = 1.0,
) -> DirectBias:
    """Compute the direct bias of some words along the direction that pairs of words define.

    Parameters
    ----------
    embedding : Embedding, or anything `load_embedding` reads
    wordlist : optional
        What `load_wordlist` takes. Its attributes are the words, its definitional sets the pairs.
    words : iterable of str, optional
        The words that ought to be neutral, in place of the list's attributes.
    sets : iterable of pairs of str, optional
        The pairs, such as ``("he", "she")``, in place of the list's definitional sets.
    strictness : float, default 1
        The exponent c, at least 0. With 0 a word counts fully unless it is exactly at right angles to the
        direction.

    Returns
    -------
    DirectBias
        Its ``pairs()`` have ``word, cosine, contribution``; the mean contribution is the value. A
        positive cosine is towards the first words of the pairs.

    Raises
    ------
    InputError
        Where there are no pairs, or sets of other sizes; where no whole pair or no word has vectors; where
        the differences of the pairs cancel, so that no direction is theirs.

    Notes
    -----
    Equation 1 of the seed paper. Vectors have length 1 before anything else (Bolukbasi et al., 2016), so
    that lengths, which go with the frequency of a word, play no part. The direction is the first principal
    component of the pair differences *around zero*: around their mean it would be what they differ in,
    not what they share. Its sign, on which software differs, is that of the mean difference.

    Examples
    --------
    >>> from bayesbias.baseline import direct_bias
    >>> result = direct_bias("minilm-static", "gender")
    >>> round(result.value, 3), result.towards[:2], result.away[:2]
    (0.11, ('he', 'his'), ('she', 'hers'))
    """
    if not (isinstance(strictness, int | float) and math.isfinite(strictness) and strictness >= 0):
        raise InputError("the strictness must be a number of at least 0", found=strictness)
    listed = None if wordlist is None else load_wordlist(wordlist, controls="none")
    where = "direct bias" if listed is None else f"word list {listed.name}"
    if words is None and listed is not None:
        words = listed.attribute_words
    wanted = _unique(() if words is None else words, "words")
    couples = _couples(listed.definitional_sets if sets is None and listed is not None else sets, where)
    if not wanted:
        raise InputError("no words are given to measure", where=where, valid="a word list, or words=[...]")
    asked = tuple(dict.fromkeys([*(w for couple in couples for w in couple), *wanted]))
    vectors, missing, notes, name = _unit_vectors(embedding, asked)
    used = [(m, f) for m, f in couples if m in vectors and f in vectors]
    present = [w for w in wanted if w in vectors]
    for noun, left, before in (("pair", used, couples), ("word", present, wanted)):
        if not left:
            raise InputError(f"no {noun} of {len(before)} is whole in the vocabulary", where=name)
    differences = np.array([vectors[m] - vectors[f] for m, f in used])
    _, lengths, components = np.linalg.svd(differences, full_matrices=False)
    if lengths[0] <= _ROUNDING:
        raise InputError("the words of each pair have the same vector, so there is no direction", where=name)
    direction = components[0]
    lean = float(direction @ differences.mean(axis=0))
    if abs(lean) <= _ROUNDING:
        raise InputError(
            "the pair differences cancel: half of them point the other way, so no direction is theirs",
            where=name, hint="is the first word of every pair of the same class?",
        )  # fmt: skip
    direction = direction if lean > 0 else -direction
    against = [couple for couple, d in zip(used, differences @ direction, strict=True) if d < 0]
    if against:
        notes.append(f"against the direction of the others: {some('/'.join(pair) for pair in against)}")
    cosines = [float(vectors[w] @ direction) for w in present]
    parts = [0.0 if abs(c) <= _ROUNDING else min(abs(c), 1.0) ** strictness for c in cosines]
    return DirectBias(
        name=name,
        dropped=missing,
        notes=tuple(notes),
        _pairs=_frame(list(zip(present, cosines, parts, strict=True)), ["word", "cosine", "contribution"]),
        value=math.fsum(parts) / len(parts),
        strictness=float(strictness),
        direction=direction,
        explained=float(lengths[0] ** 2 / np.sum(lengths**2)),
        towards=tuple(m for m, _ in used),
        away=tuple(f for _, f in used),
        words=tuple(present),
        n_pairs=len(used),
        n_words=len(present),
    )


def relative_norm_distance(
    embedding: Embedding | Any,
    wordlist: str | os.PathLike[str] | Mapping[str, Any] | WordList,
    *,
    classes: Sequence[str] | None = None,
    words: Iterable[str] | None = None,
    unit: bool = True,
) -> RelativeNormDistance:
    """Compute how much nearer some words are to the mean vector of one class than to that of another.

    Parameters
    ----------
    embedding : Embedding, or anything `load_embedding` reads
    wordlist
        What `load_wordlist` takes.
    classes : pair of str, optional
        The protected classes to take as X and Y, as in `weat`.
    words : iterable of str, optional
        The words whose distances are compared; by default the attributes of both classes.
    unit : bool, default True
        Bring all vectors to length 1 first (Garg et al., 2018). If not, the result is in the units of the
        vectors, and grows with them.

    Returns
    -------
    RelativeNormDistance
        Its ``pairs()`` have ``word, distance_x, distance_y, difference``; the differences add up to the
        value.

    Raises
    ------
    InputError
        Unless there are two classes, each with a word in the vocabulary; where no word has a vector.

    Notes
    -----
    Equation 5 of the seed paper, with Euclidean distances.

    Examples
    --------
    >>> from bayesbias.baseline import relative_norm_distance
    >>> result = relative_norm_distance("minilm-static", "gender")
    >>> round(result.value, 3), result.classes, result.n_words
    (-0.147, ('man', 'woman'), 25)
    """
    listed = load_wordlist(wordlist, controls="none")
    names = [c.name for c in listed.classes]
    x_class, y_class = _pair_of_classes(names, classes, f"word list {listed.name}")
    chosen = {c.name: c for c in listed.classes}
    sides = [chosen[x_class], chosen[y_class]]
    wanted = _unique([v for c in sides for v in dict.fromkeys(c.attributes)] if words is None else words, "words",
                     repeats=words is None)  # fmt: skip
    asked = tuple(dict.fromkeys([*sides[0].protected, *sides[1].protected, *wanted]))
    vectors, missing, notes, name = _unit_vectors(embedding, asked, unit=unit)
    x, y = ([w for w in c.protected if w in vectors] for c in sides)
    present = [w for w in wanted if w in vectors]
    for noun, left in (
        (f"protected class {x_class!r}", x),
        (f"protected class {y_class!r}", y),
        ("words", present),
    ):
        if not left:
            raise InputError(f"no word of the {noun} is in the vocabulary", where=name)
    mean_x, mean_y = (np.mean([vectors[w] for w in side], axis=0) for side in (x, y))
    rows = []
    for word in present:
        far_x, far_y = (float(np.linalg.norm(vectors[word] - mean)) for mean in (mean_x, mean_y))
        rows.append((word, far_x, far_y, far_x - far_y))
    value = math.fsum(row[3] for row in rows)
    return RelativeNormDistance(
        name=f"{listed.name} in {name}",
        dropped=missing,
        notes=tuple(notes),
        _pairs=_frame(rows, ["word", "distance_x", "distance_y", "difference"]),
        value=value,
        mean=value / len(rows),
        unit=unit,
        classes=(x_class, y_class),
        x=tuple(x),
        y=tuple(y),
        words=tuple(present),
        n_x=len(x),
        n_y=len(y),
        n_words=len(present),
    )


def _unit_vectors(
    embedding: Any, words: tuple[str, ...], unit: bool = True
) -> tuple[dict[str, npt.NDArray[np.float64]], tuple[str, ...], list[str], str]:
    """Return the vectors of those words that have one, the other words, notes and the embedding's name."""
    held = embedding if isinstance(embedding, Embedding) else load_embedding(embedding, words=words)
    present = [w for w in words if w in held]
    notes = []
    matched = {w: held.matched[w] for w in present if w in held.matched}
    if matched:
        notes.append(f"found under another spelling: {some(f'{w} as {v}' for w, v in matched.items())}")
    missing = tuple(w for w in words if w not in set(present))
    if not present:
        raise InputError("none of the words is in the vocabulary", where=held.name, found=some(words))
    array = np.asarray(held.vectors_of(present), dtype=float)
    lengths = np.linalg.norm(array, axis=1)
    if not (np.isfinite(lengths).all() and (lengths > 0).all()):
        bad = present[int(np.flatnonzero(~(np.isfinite(lengths) & (lengths > 0)))[0])]
        raise InputError("the vector has no direction", where=f"embedding {held.name!r}", found=bad)
    if unit:
        array = array / lengths[:, None]
    return dict(zip(present, array, strict=True)), missing, notes, held.name


def _couples(sets: Iterable[Sequence[str]] | None, where: str) -> list[tuple[str, str]]:
    couples = []
    for couple in () if sets is None else sets:
        if isinstance(couple, str) or len(couple) != 2 or couple[0] == couple[1]:
            raise InputError(
                "a direction is defined by pairs of different words", where=where, found=couple,
                valid='sets of two, such as ("he", "she")', hint="choose two columns of larger sets with sets=[...]",
            )  # fmt: skip
        couples.append((couple[0], couple[1]))
    if not couples:
        raise InputError(
            "no pairs define a direction", where=where,
            valid='definitional_sets in the word list, or sets=[("he", "she"), ...]',
        )  # fmt: skip
    return couples


# -- from a table to words and distances -----------------------------------------------------------


@dataclass(frozen=True)
class _Grid:
    """The stereotype pairs of a table, each once."""

    name: str
    words: list[str]
    word_class: dict[str, str]
    own_attributes: dict[str, list[str]]  # protected class -> the attributes associated with it
    attribute_sets: dict[str, list[str]]  # attribute class -> its attributes
    distance: dict[tuple[str, str], float]
    notes: list[str]
    _missing_protected: dict[str, list[str]]
    _missing_attributes: dict[str, list[str]]
    _names_of_sets: dict[str, list[str]]  # protected class -> the attribute classes associated with it

    def missing(self, classes: Iterable[str]) -> tuple[str, ...]:
        """Return the missing words of some protected classes and of their attributes."""
        protected = [w for c in classes for w in self._missing_protected.get(c, [])]
        sets = [name for c in classes for name in self._names_of_sets[c]]
        return tuple(
            dict.fromkeys([*protected, *(w for s in sets for w in self._missing_attributes.get(s, []))])
        )

    def missing_attributes(self) -> list[str]:
        return [w for name in self.attribute_sets for w in self._missing_attributes.get(name, [])]

    def missing_protected(self) -> list[str]:
        return [w for words in self._missing_protected.values() for w in words]


def _table(source: Any, wordlist: Any) -> PairTable:
    import pandas as pd

    if wordlist is not None:
        if isinstance(source, PairTable | pd.DataFrame):
            raise InputError(
                "a table already holds the words and their distances",
                hint="leave out the word list, or give vectors in place of the table",
            )
        return distance_table(source, load_wordlist(wordlist, controls="none"))
    if isinstance(source, PairTable):
        return source
    if isinstance(source, pd.DataFrame) or (
        isinstance(source, str | os.PathLike) and os.fspath(source).endswith((".csv", ".parquet"))
    ):
        return read_distances(source)
    shown = os.fspath(source) if isinstance(source, str | os.PathLike) else type(source).__name__
    raise InputError(
        "not a table of distances", found=shown, valid="a PairTable, a data frame, a .csv or .parquet file",
        hint="vectors need a word list too",
    )  # fmt: skip


def _grid(table: PairTable) -> _Grid:
    frame = table.frame
    name = str(table.provenance.get("name", "pairs"))
    frame = frame[frame["connection"].isin(_STEREOTYPES)]
    if frame.empty:
        raise InputError("the table has no pair of a protected word and a stereotype", where=name)
    columns = ["protected_word", "protected_class", "attribute", "attribute_class", "connection", "distance"]
    distance: dict[tuple[str, str], float] = {}
    word_class: dict[str, str] = {}
    own: dict[str, dict[str, None]] = {}
    sets: dict[str, dict[str, None]] = {}
    names: dict[str, dict[str, None]] = {}
    repeats = 0
    for word, c, attribute, attribute_class, connection, value in zip(
        *(frame[column].tolist() for column in columns), strict=True
    ):
        if word_class.setdefault(word, c) != c:
            raise InputError(
                "a protected word stands in two classes", where=name, found=word,
                valid="each protected word in one class",
            )  # fmt: skip
        if not math.isfinite(value):
            raise InputError("a distance is not finite", where=name, found=(word, attribute))
        repeats += (word, attribute) in distance
        if abs(distance.setdefault((word, attribute), value) - value) > 1e-9:
            raise InputError("a pair has two distances", where=name, found=(word, attribute))
        sets.setdefault(attribute_class, {})[attribute] = None
        own.setdefault(c, {})
        names.setdefault(c, {})
        if connection == "associated":
            own[c][attribute] = None
            names[c][attribute_class] = None
    notes = [f"{repeats} repeated pairs count once"] if repeats else []
    if table.coverage.matched:
        used = {*word_class, *(v for s in sets.values() for v in s)}
        spelled = [f"{w} as {v}" for w, v in table.coverage.matched.items() if w in used]
        notes += [f"found under another spelling: {some(spelled)}"] if spelled else []
    return _Grid(
        name,
        list(word_class),
        word_class,
        {c: list(words) for c, words in own.items()},
        {c: list(words) for c, words in sets.items()},
        distance,
        notes,
        {c: list(group["missing"]) for c, group in table.coverage.protected.items()},
        {c: list(group["missing"]) for c, group in table.coverage.attributes.items()},
        {c: list(found) for c, found in names.items()},
    )


def _two_classes(grid: _Grid, classes: Sequence[str] | None) -> tuple[str, str]:
    chosen = _pair_of_classes(list(grid.own_attributes), classes, grid.name)
    for c in chosen:
        if not grid.own_attributes[c]:
            raise InputError(f"no attribute is associated with the protected class {c!r}", where=grid.name)
    return chosen


def _pair_of_classes(names: list[str], classes: Sequence[str] | None, where: str) -> tuple[str, str]:
    if classes is None:
        if len(names) != 2:
            raise InputError(
                "two protected classes are compared", where=where, found=names, valid="two classes",
                hint="name two with classes=(X, Y)" if len(names) > 2 else None,
            )  # fmt: skip
        return names[0], names[1]
    if isinstance(classes, str) or len(classes) != 2 or classes[0] == classes[1]:
        raise InputError("two different protected classes are compared", found=classes, valid=names)
    for c in classes:
        if c not in names:
            raise InputError(
                "no such protected class", where=where, found=c, valid=names, hint=nearest(str(c), names)
            )
    return classes[0], classes[1]


def _chosen(grid: _Grid, words: Iterable[str] | None) -> tuple[list[str], list[str]]:
    """Return the protected words to use, and those among the wanted that are missing."""
    missing = grid.missing_protected()
    if words is None:
        return grid.words, missing
    wanted = _unique(words, "words", repeats=True)
    for word in wanted:
        if word not in grid.word_class and word not in missing:
            raise InputError(
                "no such protected word", where=grid.name, found=word, valid=grid.words,
                hint=nearest(word, grid.words),
            )  # fmt: skip
    return [w for w in wanted if w in grid.word_class], [w for w in wanted if w in missing]


# -- small things ----------------------------------------------------------------------------------


def _unique(words: Iterable[str], what: str, repeats: bool = False) -> tuple[str, ...]:
    if isinstance(words, str):
        raise InputError(
            "one word was given where a list is expected", where=what, found=words, valid="[word, ...]"
        )
    listed = list(words)
    unique = tuple(dict.fromkeys(listed))
    if len(unique) < len(listed) and not repeats:
        twice = next(w for i, w in enumerate(listed) if w in listed[:i])
        raise InputError("a word is listed twice", where=what, found=twice, valid="each word once")
    return unique


def _scores(scores: npt.ArrayLike, name: str) -> list[float]:
    array = np.asarray(scores, dtype=float)
    if array.ndim != 1 or len(array) == 0:
        raise InputError("must be a list of at least one score", where=name, found=array.shape)
    if not np.isfinite(array).all():
        raise InputError("a score is not finite", where=name)
    return array.tolist()


def _one_of(value: str, valid: Sequence[str], what: str) -> None:
    if value not in valid:
        raise InputError(f"unknown {what}", found=value, valid=valid, hint=nearest(str(value), valid))


def _frame(rows: list[tuple[Any, ...]], columns: list[str]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(rows, columns=columns)


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: _plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, tuple | list):
        return [_plain(v) for v in value]
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    return value
