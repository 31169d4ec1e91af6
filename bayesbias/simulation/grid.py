"""A complete table of words by attributes as a grid, contrasts as weights of its blocks.

Also intervals without a model. A block holds the pairs of the words of one protected class and the
attributes of one set. A mean of a connection is over pairs, so a block counts by its words times
its attributes. The method of moments takes words and attributes for samples, and classes and sets
for all there are, as the models do. It has no prior and shrinks nothing.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from bayesbias.core import InputError, checks
from bayesbias.core.conventions import PROB
from bayesbias.inference.estimands import CONTRASTS, between_contrasts
from bayesbias.inference.linear import Key
from bayesbias.wordlists.wordlist import SHARED

MOMENTS = "moments"
"""The two-way method of moments, which needs no model."""
type Weights = Mapping[Key, np.ndarray]
"""Contrasts as weights of blocks, shape (classes, lists)."""
_LABELS = [
    "protected_word",
    "protected_class",
    "attribute",
    "attribute_class",
    "attribute_kind",
    "connection",
]
LEVEL_COLUMNS = {"class": "protected_class", "attribute_set": "attribute_class"}
"""The levels below overall that a grid has values of, and the column that each goes by."""


@dataclass(frozen=True, eq=False)
class Grid:
    """Distances of all words to all attributes.

    Attributes
    ----------
    classes, lists : tuple of str
        Protected classes; attribute classes, the control lists among them.
    words, attributes : tuple of str
    class_of, list_of : ndarray of int
        The class of each word and the list of each attribute, as places in `classes` and `lists`.
    connections : tuple of tuple of str
        The connection of each block, class by class.
    kinds : tuple of str
        Of each list: stereotype, human or neutral.
    distances : ndarray, shape (words, attributes)
    """

    classes: tuple[str, ...]
    lists: tuple[str, ...]
    words: tuple[str, ...]
    attributes: tuple[str, ...]
    class_of: np.ndarray
    list_of: np.ndarray
    connections: tuple[tuple[str, ...], ...]
    kinds: tuple[str, ...]
    distances: np.ndarray

    def sizes(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the number of words of each class, and of attributes of each list."""
        return (
            np.bincount(self.class_of, minlength=len(self.classes)),
            np.bincount(self.list_of, minlength=len(self.lists)),
        )

    def means(self) -> np.ndarray:
        """Return the mean distance of each block, shape (classes, lists)."""
        rows, columns = self.averaging()
        return rows @ self.distances @ columns

    def averaging(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the matrices that average words into classes and attributes into lists."""
        words, attributes = self.sizes()
        rows = (self.class_of == np.arange(len(self.classes))[:, None]) / words[:, None]
        columns = (self.list_of[:, None] == np.arange(len(self.lists))) / attributes
        return rows, columns

    def part(self, words: np.ndarray, attributes: np.ndarray) -> Grid:
        """Return the grid of some words and attributes, given by their places.

        Every class and list keeps some. A place given again is another word: ``name (2)``.
        """
        return replace(
            self,
            words=_told_apart(self.words[i] for i in words),
            attributes=_told_apart(self.attributes[i] for i in attributes),
            class_of=self.class_of[words],
            list_of=self.list_of[attributes],
            distances=self.distances[np.ix_(words, attributes)],
        )

    def frame(self) -> pd.DataFrame:
        """Return the grid as a table of pairs."""
        from bayesbias.tables.pair_table import as_pair_columns

        row, column = np.indices(self.distances.shape).reshape(2, -1)
        k, j = self.class_of[row], self.list_of[column]
        columns = {
            "protected_word": np.take(self.words, row),
            "protected_class": np.take(self.classes, k),
            "attribute": np.take(self.attributes, column),
            "attribute_class": np.take(self.lists, j),
            "attribute_kind": np.take(self.kinds, j),
            "connection": np.array(self.connections)[k, j],
            "distance": self.distances.ravel(),
        }
        return as_pair_columns(pd.DataFrame(columns))


def _told_apart(names: Iterable[str]) -> tuple[str, ...]:
    seen: Counter[str] = Counter()
    out = []
    for name in names:
        seen[name] += 1
        out.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return tuple(out)


def grid_of(frame: pd.DataFrame, where: str) -> Grid:
    """Return the grid of a table of pairs.

    Raises
    ------
    InputError
        If a word has two classes or an attribute two lists, or no attribute has a pair with every
        word.
    """
    frame = frame.astype(dict.fromkeys(_LABELS, str))
    for word, column in (("protected_word", "protected_class"), ("attribute", "attribute_class")):
        of = frame[[word, column]].drop_duplicates()
        twice = of.loc[of[word].duplicated(), word].tolist()
        if twice:
            problem = f"expected one {column} for each {word}, got several for {twice[0]!r}"
            raise InputError(problem, where=where)
    words = frame.drop_duplicates("protected_word").set_index("protected_word")
    distances = frame.pivot(index="protected_word", columns="attribute", values="distance")
    distances = distances.loc[words.index].dropna(axis="columns")
    about = frame.drop_duplicates("attribute").set_index("attribute")
    about = about[about.index.isin(distances.columns)]
    if about.empty:
        raise InputError("expected attributes with a pair for every word, got none", where=where)
    class_of, classes = pd.factorize(words["protected_class"])
    list_of, lists = pd.factorize(about["attribute_class"])
    blocks = frame.groupby(["protected_class", "attribute_class"])["connection"].first()
    kinds = about.groupby("attribute_class")["attribute_kind"].first()
    return Grid(
        tuple(classes),
        tuple(lists),
        tuple(words.index),
        tuple(about.index),
        class_of,
        list_of,
        tuple(tuple(blocks[c, j] for j in lists) for c in classes),
        tuple(kinds[j] for j in lists),
        distances[about.index].to_numpy(dtype=float),
    )


def contrast_weights(grid: Grid, words: np.ndarray, attributes: np.ndarray) -> Weights:
    """Return every contrast of a grid as weights of its blocks, shape (classes, lists).

    Parameters
    ----------
    grid : Grid
    words, attributes : ndarray of int
        Of each class and list: how many a table has, by which its blocks count.
    """
    pairs = np.outer(words, attributes).astype(float)
    if SHARED in grid.kinds:
        return _weights_of_sets(grid, words)
    connections = np.array(grid.connections)
    places = {("overall", "all"): pairs}
    for name, own in _indicators(grid.classes).items():
        places["class", name] = pairs * own[:, None]
    for name, own in _indicators(grid.lists).items():
        places["attribute_set", name] = pairs * own
    out = {}
    for key, mine in places.items():
        for a, b in CONTRASTS:
            first, second = mine * (connections == a), mine * (connections == b)
            if first.any() and second.any():
                out[*key, f"{a} - {b}"] = first / first.sum() - second / second.sum()
    return out


def _indicators(names: Sequence[str]) -> dict[str, np.ndarray]:
    return dict(zip(names, np.eye(len(names)), strict=True))


def _weights_of_sets(grid: Grid, words: np.ndarray) -> Weights:
    """Return the contrasts of classes on sets of attributes as weights of blocks."""
    pairs = list(itertools.combinations(grid.lists, 2))
    of_class, place = _indicators(grid.classes), _indicators(grid.lists)
    shares = {("overall", "all"): words / words.sum()}
    shares |= {("class", name): own for name, own in of_class.items()}
    out = {
        (*key, f"{a} - {b}"): np.outer(share, place[a] - place[b])
        for key, share in shares.items()
        for a, b in pairs
    }
    return out | {
        key: np.sum([w * np.outer(of_class[c], place[x]) for (c, x), w in cells.items()], axis=0)
        for key, cells in between_contrasts(grid.classes, grid.lists, pairs).items()
    }


def contrast_values(means: np.ndarray, weights: Weights) -> dict[Key, float]:
    """Return the value of each contrast of means of blocks."""
    return {key: float((w * means).sum()) for key, w in weights.items()}


def scatter(
    grid: Grid, weights: np.ndarray, freedom: bool = True
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the mean squares of a contrast around its means.

    Of words, of attributes, and of what is left.

    The score of a word is its weighted mean over the lists, sum_j w_kj (d_i. - d_..), that of an
    attribute its weighted mean over the classes; what is left of a pair is the interaction d_ij -
    d_i. - d_.j + d_.. of its block, weighted. Each is the sum of squares over its degrees of
    freedom, or over its number where `freedom` is False.
    """
    lost, k, j = int(freedom), grid.class_of, grid.list_of
    sizes, (to_classes, to_lists) = grid.sizes(), grid.averaging()
    of_words, of_attributes = grid.distances @ to_lists, to_classes @ grid.distances
    means = to_classes @ of_words
    row, column = of_words - means[k], of_attributes - means[:, j]
    inside = (grid.distances - means[np.ix_(k, j)] - row[:, j] - column[k]) * weights[np.ix_(k, j)]
    words, attributes = (np.maximum(n - lost, 1) for n in sizes)
    rows = np.bincount(k, (row * weights[k]).sum(axis=1) ** 2) / words
    columns = np.bincount(j, (column * weights[:, j]).sum(axis=0) ** 2) / attributes
    rest = (to_classes > 0) @ inside**2 @ (to_lists > 0) / np.outer(words, attributes)
    return rows, columns, rest


def sampling_variance(
    grid: Grid,
    weights: np.ndarray,
    words: Sequence[int] | np.ndarray,
    attributes: Sequence[int] | np.ndarray,
) -> float:
    """Return the exact variance of a contrast over tables drawn from a grid.

    Words and attributes are drawn with replacement.

    The grid is all there is. With A, B and AB the effects of words, attributes and pairs in it, the
    mean of a block of n by m has the variance A/n + B/m + AB/(nm) (the two-way random model,
    Searle, Casella and McCulloch 1992, ch. 4); words are the same in all blocks of a class and
    attributes in all of a list, so their effects are added first.
    """
    rows, columns, rest = scatter(grid, weights, freedom=False)
    n, m = np.asarray(words), np.asarray(attributes)
    return float((rows / n).sum() + (columns / m).sum() + (rest / np.outer(n, m)).sum())


def t_intervals(
    grid: Grid,
    weights: Weights,
    prob: float,
    spread: Callable[[Grid, np.ndarray], tuple[float, float]],
) -> dict[Key, tuple[float, float, float]]:
    """Return the estimate of each contrast with the ends of its t interval.

    `spread` returns variance and degrees of freedom of a contrast: `averages` or `moments`.
    """
    from scipy import stats

    out = {}
    for key, estimate in contrast_values(grid.means(), weights).items():
        variance, freedom = spread(grid, weights[key])
        half = float(stats.t.ppf((1 + prob) / 2, freedom) * np.sqrt(variance))
        out[key] = estimate, estimate - half, estimate + half
    return out


def crossed_intervals(table: Any, prob: float = PROB) -> pd.DataFrame:
    """Compute intervals that treat words and attributes as samples, without a model.

    This is the two-way method of moments with Satterthwaite's degrees of freedom. It has no prior
    and shrinks nothing, so with few words its intervals are wide. It needs two words of each class
    and two attributes of each set.

    Parameters
    ----------
    table : PairTable, DataFrame or path of a table
        The pairs. Attributes without a pair for each word are left out.
    prob : float in (0, 1), default 0.89
        Probability of the intervals.

    Returns
    -------
    DataFrame
        One row per contrast: ``level, name, contrast, estimate, low, high, se, df``.

    Raises
    ------
    InputError
        If a class has a single word or a set a single attribute, a word has two classes, or
        `prob` is not between 0 and 1.

    Notes
    -----
    The variance of a contrast is R + C - E, from the mean squares of words, attributes and
    residuals (Searle, Casella and McCulloch 1992, ch. 4). Negative components count as zero.

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.distance_table("minilm-static", "gender", controls="none")
    >>> overall = bb.simulation.crossed_intervals(table).iloc[0]
    >>> overall["contrast"], f"{overall['estimate']:.3f} [{overall['low']:.3f}, {overall['high']:.3f}]"
    ('associated - different', '-0.070 [-0.096, -0.044]')
    """
    from scipy import stats

    from bayesbias.tables.reading import as_pair_table

    prob = checks.probability(prob)
    grid = grid_of(as_pair_table(table).frame, "table")
    words, attributes = grid.sizes()
    for names, sizes, kind in (
        (grid.classes, words, "words of each class"),
        (grid.lists, attributes, "attributes of each set"),
    ):
        if sizes.min() < 2:
            problem = f"expected at least two {kind}, got one of {names[int(sizes.argmin())]!r}"
            raise InputError(problem, where="table")
    rows = []
    means = grid.means()
    for key, weights in contrast_weights(grid, words, attributes).items():
        variance, freedom = moments(grid, weights)
        estimate, se = float((weights * means).sum()), float(np.sqrt(variance))
        half = float(stats.t.ppf((1 + prob) / 2, freedom)) * se
        rows.append((*key, estimate, estimate - half, estimate + half, se, float(freedom)))
    columns = ["level", "name", "contrast", "estimate", "low", "high", "se", "df"]
    return pd.DataFrame(rows, columns=columns)


def averages(grid: Grid, weights: np.ndarray) -> tuple[float, float]:
    """Return the variance of a contrast of words' averages, as WEAT has, and degrees of freedom.

    A word's averages over attributes are its data. Welch's test of words of different classes, with
    Satterthwaite's degrees of freedom.
    """
    of_words = grid.distances @ grid.averaging()[1]
    scores = [of_words[grid.class_of == k] @ w for k, w in enumerate(weights) if w.any()]
    errors = np.array([np.var(own, ddof=1) / len(own) for own in scores])
    lost = np.array([len(own) - 1 for own in scores])
    return errors.sum(), errors.sum() ** 2 / (errors**2 / lost).sum()


def moments(grid: Grid, weights: np.ndarray) -> tuple[float, float]:
    """Return the variance of a contrast by the method of moments, and its degrees of freedom.

    With R, C and E the mean squares (over the number of words, of attributes, of pairs) of the
    scores of words, of attributes and of what is left (`scatter`), the variance of a contrast is
    estimated without bias by R + C - E, since R and C hold the noise of pairs each (Searle, Casella
    and McCulloch 1992, ch. 4). A component that comes out negative is taken for zero, so that R and
    C count for E at least. The degrees of freedom are those of Satterthwaite (1946) for this sum of
    mean squares.
    """
    words, attributes = grid.sizes()
    rows, columns, rest = scatter(grid, weights)
    pairs = rest / np.outer(words, attributes)
    parts = rows / words, columns / attributes, pairs.ravel()
    counted = [int(part.sum() > pairs.sum()) for part in parts[:2]]
    terms = np.concatenate(
        [n * part for n, part in zip([*counted, 1 - sum(counted)], parts, strict=True)]
    )
    lost = words - 1, attributes - 1
    freedom = np.concatenate([*lost, np.outer(*lost).ravel()])
    variance, squares = float(terms.sum()), float((terms**2 / freedom).sum())
    return variance, variance**2 / squares if squares > 0 else np.inf
