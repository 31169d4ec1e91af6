"""Scores of distances: WEAT, SC-WEAT and MAC (equations 2-4, 6 and 7).

They average before they compare; `bayesbias.simulation` shows what that hides.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from bayesbias.core import InputError, checks, some
from bayesbias.scores.resampling import (
    Method,
    PermutationResult,
    around,
    finite_scores,
    permutation_test,
    sign_flip_test,
)
from bayesbias.scores.score import ALPHA, ROUNDING, Score, two_of
from bayesbias.tables.coverage import Coverage
from bayesbias.tables.distances import distance_table
from bayesbias.tables.pair_table import notes_of_vectors
from bayesbias.tables.reading import as_pair_table
from bayesbias.wordlists.listfile import list_wordlists, load_wordlist
from bayesbias.wordlists.wordlist import SHARED

DENOMINATORS = ("union_n_minus_1", "union_n", "pooled")
"""What the effect size divides by; see `effect_size`."""
CONVENTIONS = ("class_means", "all_pairs")
"""What MAC averages; see `mac`."""


def weat(
    source: Any,
    wordlist: Any = None,
    *,
    classes: Sequence[str] | None = None,
    denominator: str = "union_n_minus_1",
    p: Method = "auto",
    sides: Literal[1, 2] = 1,
    samples: int = 99_999,
    seed: int | None = None,
    alpha: float = ALPHA,
) -> Score:
    """Compute the Word Embedding Association Test.

    X is the first protected class and Y the second; A are the attributes associated with X, B those
    with Y. Control words play no part.

    Parameters
    ----------
    source : PairTable, DataFrame or path of a table; with `wordlist`, anything `load_embedding`
        Distances, or word vectors.
    reads
        The pairs, or the vectors to compute them from.
    wordlist : optional
        What `load_wordlist` takes.
    classes : pair of str, optional
        The protected classes to take as X and Y; needed where there are more than two.
    denominator : {"union_n_minus_1", "union_n", "pooled"}
        Of the effect size, see `effect_size`.
    p, sides, samples, seed
        How the p-value is found: `method` and the rest of `permutation_test`.
    alpha : float, default 0.05
        The level at or below which the p-value is significant.

    Returns
    -------
    Score
        The value is the effect size. Details: ``statistic, largest_effect_size, denominator, sides,
        p_lower, p_upper, p_opposite`` (of the other side, where the test is one-sided),
        ``attribute_sets, x, y, a, b, scores`` (s of each word) and ``permutation``. Its
        ``pairs()`` have ``protected_word, set, attribute, attribute_set,
        distance, similarity, weight``; the sum of weight times similarity is the statistic.

    Raises
    ------
    InputError
        If there are not two classes, a word stands in both, or a word has no pair with one of the
        attribute sets.

    Notes
    -----
    Equations 2-4 of the seed paper. An attribute may stand in both A and B. If A and B are equal
    every score is 0: p is 1, and there is no effect size. A protected word that is an attribute too
    is not compared with itself.

    Examples
    --------
    >>> from bayesbias import weat
    >>> result = weat("minilm-static", "weat7")
    >>> round(result.value, 2), round(result.largest_effect_size, 2), result.p_method
    (1.37, 1.94, 'exact')
    >>> pairs = result.pairs()
    >>> bool(abs((pairs["weight"] * pairs["similarity"]).sum() - result.statistic) < 1e-12)
    True
    """
    checks.choice(denominator, DENOMINATORS, "denominator")
    alpha = checks.probability(alpha, "alpha")
    grid, chosen = grid_of(source, wordlist).two_classes(classes)
    x_class, y_class = chosen
    pairs = grid.sides(chosen)
    pairs["set"] = np.where(pairs["protected_class"] == x_class, "X", "Y")
    pairs["similarity"] = 1.0 - pairs["distance"]
    means = pairs.groupby(["protected_word", "attribute_set"])["similarity"]
    pairs["weight"] = np.where(pairs["attribute_set"] == "A", 1, -1) / means.transform("size")
    parts = pairs["weight"] * pairs["similarity"]
    by_word = parts.groupby([pairs["set"], pairs["protected_word"]], sort=False).sum()
    # Equal means differ in their last bits; without this, noise would pass for a score.
    by_word = by_word.where(by_word.abs() > ROUNDING, 0.0)
    pairs["weight"] *= np.where(pairs["set"] == "X", 1, -1)
    x, y = by_word["X"], by_word["Y"]
    a, b = grid.own(x_class), grid.own(y_class)
    notes = list(grid.notes)
    if lost := len(by_word) * (len(a) + len(b)) - len(pairs):
        notes.append(f"{lost} pairs do not exist; the means of their words are over the others")
    effect = effect_size(x, y, denominator)
    if set(a) == set(b):
        notes.append("A and B are the same words, so every score is 0 and there is no effect size")
    elif both := [v for v in a if v in set(b)]:
        cancel = "their similarities cancel as far as the sizes of the sets agree"
        notes.append(f"in both A and B: {some(both)}; {cancel}")
    elif effect is None:
        notes.append("the scores do not vary, so there is no effect size")
    test = permutation_test(x, y, method=p, sides=sides, samples=samples, seed=seed)
    columns = ["protected_word", "set", "attribute", "attribute_set"]
    return Score(
        name="weat",
        data=grid.name,
        label="effect size",
        value=effect,
        p_value=test.p_value,
        p_method=test.method,
        alpha=alpha,
        seed=test.seed,
        n={"x": len(x), "y": len(y), "a": len(a), "b": len(b)},
        classes=chosen,
        dropped=grid.missing(chosen),
        notes=tuple(notes),
        details={
            "statistic": test.statistic,
            "largest_effect_size": largest_effect_size(len(x), len(y), denominator),
            "denominator": denominator,
            "sides": sides,
            "p_lower": test.p_lower,
            "p_upper": test.p_upper,
            "p_opposite": _p_opposite(test) if sides == 1 else None,
            "attribute_sets": grid.sets(chosen),
            **{"x": tuple(x.index), "y": tuple(y.index), "a": tuple(a), "b": tuple(b)},
            "scores": {**x, **y},
            "permutation": test,
        },
        table=pairs[[*columns, "distance", "similarity", "weight"]],
    )


def _p_opposite(test: PermutationResult) -> float:
    """Return the p-value of the other side of a one-sided test, or an upper bound of it."""
    if test.ties is not None:
        return min(1.0, 1 - test.p_value + test.ties / test.partitions)
    return 1 - (test.p_value if test.p_lower is None else test.p_lower)


def effect_size(
    scores_x: npt.ArrayLike, scores_y: npt.ArrayLike, denominator: str = "union_n_minus_1"
) -> float | None:
    """Return WEAT's effect size: difference of mean scores over their SD.

    Parameters
    ----------
    scores_x, scores_y : array_like of float
        The scores s(w, A, B), shapes ``(n_x,)`` and ``(n_y,)``, finite.
    denominator : {"union_n_minus_1", "union_n", "pooled"}
        The standard deviation of the scores over X and Y together, with n - 1 in it (May et al.,
        2019) or n; or, ``pooled``, that within X and within Y, as in Cohen's d.

    Returns
    -------
    float or None
        None where the standard deviation is 0, or does not exist (``pooled`` with two words).

    Raises
    ------
    InputError
        If a set is empty, a score is not finite, or the denominator is unknown.

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
    checks.choice(denominator, DENOMINATORS, "denominator")
    x, y = finite_scores(scores_x, "scores_x"), finite_scores(scores_y, "scores_y")
    both = np.concatenate([x, y])
    if denominator == "pooled":
        if len(both) == 2:
            return None
        sd = math.sqrt((len(x) * np.var(x) + len(y) * np.var(y)) / (len(both) - 2))
    else:
        sd = float(np.std(both, ddof=int(denominator == "union_n_minus_1")))
    least = ROUNDING * float(np.abs(both).max())
    if sd <= least:
        return None
    difference = float(x.mean() - y.mean())
    return difference / sd if abs(difference) > least else 0.0


def largest_effect_size(n_x: int, n_y: int, denominator: str = "union_n_minus_1") -> float | None:
    """Return what the absolute effect size cannot exceed, whatever the scores.

    Of the sum of squares over the union, ``n_x n_y / n`` times the squared difference of means is
    due to that difference, where ``n = n_x + n_y``. So the effect size is at most ``sqrt(n (n - 1)
    / (n_x n_y))`` with n - 1 in the denominator, and ``n / sqrt(n_x n_y)`` with n: for 2 + 2 words
    sqrt(3), for long lists of equal length 2.

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
        If a set has no words, or the denominator is unknown.

    Examples
    --------
    >>> [round(largest_effect_size(n, n), 3) for n in (1, 2, 8, 32)]
    [1.414, 1.732, 1.936, 1.984]
    """
    checks.choice(denominator, DENOMINATORS, "denominator")
    n = checks.count(n_x, "n_x") + checks.count(n_y, "n_y")
    if denominator == "pooled":
        return None
    return math.sqrt(n * (n - (denominator == "union_n_minus_1")) / (n_x * n_y))


def sc_weat(
    source: Any,
    wordlist: Any = None,
    *,
    classes: Sequence[str] | None = None,
    sides: Literal[1, 2] = 1,
    prob: float = 0.89,
    samples: int = 99_999,
    seed: int | None = None,
    alpha: float = ALPHA,
) -> dict[str, Score]:
    """Compute the Single-Category WEAT of each of two classes.

    Parameters
    ----------
    source, wordlist, classes
        As in `weat`.
    sides : {1, 2}, default 1
        1 asks whether the words are nearer to their own attributes (X to A, Y to B), 2 whether they
        are nearer to either.
    prob, samples, seed
        Probability of the interval, draws of signs for more than 40 words, and their seed.
    alpha : float, default 0.05
        The level at or below which the p-value is significant.

    Returns
    -------
    dict of str to Score
        By class. The value is the mean over its words of mean cosine with A minus mean cosine with
        B: positive is nearer to A. Details: ``mean_score`` and ``scores``, where each word's
        difference is divided by the SD of its cosines; ``p_lower, p_upper,
        p_opposite`` (of the other side, where the test is one-sided), ``sides, attribute_sets``.
        The ``pairs()`` have ``protected_word, mean_a, mean_b, sd, score``.

    Raises
    ------
    InputError
        If the classes or words are not those of such a score, as in `weat`.

    Notes
    -----
    A score is ES(w, A, B) of Caliskan et al. (2017). The test flips the signs of the words'
    differences of mean cosines, as PsychWordVec does. For the p-value of a single word, with A and
    B divided anew, use `permutation_test`.

    Examples
    --------
    >>> from bayesbias.scores import sc_weat
    >>> result = sc_weat("minilm-static", "weat7")
    >>> {
    ...     name: (round(score.mean_score, 2), round(score.p_value, 4))
    ...     for name, score in result.items()
    ... }
    {'math': (-0.53, 0.9844), 'arts': (-1.14, 0.0039)}
    """
    alpha = checks.probability(alpha, "alpha")
    grid, chosen = grid_of(source, wordlist).two_classes(classes)
    pairs = grid.sides(chosen)
    n = {letter: len(grid.own(c)) for letter, c in zip("ab", chosen, strict=True)}
    out = {}
    # One-sided, the differences of Y are negated, so that both classes are asked the same: nearer
    # to their own?
    for c, sign in zip(chosen, (1, -1) if sides == 1 else (1, 1), strict=True):
        own = pairs[pairs["protected_class"] == c]
        near, far, every = (
            own[own["attribute_set"].isin(letters)].groupby("protected_word", sort=False)[
                "distance"
            ]
            for letters in (["A"], ["B"], ["A", "B"])
        )
        table = pd.DataFrame({"mean_a": 1 - near.mean(), "mean_b": 1 - far.mean()})
        table["sd"] = every.std()
        differences = table["mean_a"] - table["mean_b"]
        table["score"] = (differences / table["sd"]).where(table["sd"] > ROUNDING)
        test = sign_flip_test(
            sign * differences, sides=sides, prob=prob, samples=samples, seed=seed
        )
        seed = test.seed if seed is None else seed
        p_opposite = None
        if sides == 1:
            p_opposite = sign_flip_test(
                -sign * differences, sides=1, prob=prob, samples=samples, seed=test.seed
            ).p_value
        value = _without_rounding(sign * test.mean)
        ends: tuple[float, float] | tuple[None, None] = (None, None)
        if test.low is not None and test.high is not None:
            low, high = sorted((sign * test.low, sign * test.high))
            ends = around(value, _without_rounding(low), _without_rounding(high))
        scores = table["score"].dropna()
        notes = list(grid.notes)
        if len(scores) < len(table):
            still = some(table.index[table["score"].isna()])
            notes.append(f"no score, since their cosines do not vary: {still}")
        if test.low is None:
            notes.append(f"{len(table)} words are too few for an interval")
        elif ends[0] is None:
            notes.append("no interval, since that of the test does not include the value")
        out[c] = Score(
            name="sc_weat",
            data=f"{c} of {grid.name}",
            label="difference",
            value=value,
            low=ends[0],
            high=ends[1],
            prob=prob,
            p_value=test.p_value,
            p_method=test.method,
            alpha=alpha,
            seed=test.seed,
            n={"words": len(table), **n},
            classes=chosen,
            dropped=grid.missing(chosen),
            notes=tuple(notes),
            details={
                "mean_score": math.fsum(scores) / len(scores) if len(scores) else None,
                "sides": sides,
                "p_lower": test.p_lower,
                "p_upper": test.p_upper,
                "p_opposite": p_opposite,
                "attribute_sets": grid.sets(chosen),
                "scores": scores.to_dict(),
            },
            table=table.reset_index(),
        )
    return out


def _without_rounding(difference: float) -> float:
    """Return a difference of mean cosines; 0 where it is no more than their rounding."""
    return difference if abs(difference) > ROUNDING else 0.0


def mac(
    source: Any,
    wordlist: Any = None,
    *,
    against: Any = None,
    words: Iterable[str] | Literal["all", "evaluation"] = "all",
    convention: str = "class_means",
    alpha: float = ALPHA,
) -> Score:
    """Compute the mean average cosine distance (MAC) of one or two tables.

    Parameters
    ----------
    source, wordlist
        As in `weat`.
    against : PairTable, DataFrame or path of a table, optional
        The same pairs from other vectors, such as debiased ones. Pairs that only one of the two
        tables has are left out of both scores, and noted.
    words : iterable of str, "all" or "evaluation", default "all"
        The protected words to average over. Published values are over the evaluation sets of the
        word list, where it has any; ``evaluation`` takes these.
    convention : {"class_means", "all_pairs"}
        ``class_means`` averages over a class's attributes first (Manzini et al., 2019, and WEFE),
        so that short lists weigh as much as long ones. With ``all_pairs`` every pair weighs the
        same. The t-test is on the averages S(t, A_j) either way.
    alpha : float, default 0.05
        The level at or below which the p-value is significant.

    Returns
    -------
    Score
        The value is the mean distance, in [0, 2]; 1 means unrelated. Details: ``against`` (the
        second value), ``difference, t, df, data_against, convention``. Its ``pairs()`` have
        ``protected_word, attribute, attribute_class, distance, distance_against, weight``; the sum
        of weight times distance is the value.

    Raises
    ------
    InputError
        If a word is not in the table, the tables have no pair in common, or the convention is
        unknown.

    Notes
    -----
    Equations 6 and 7 of the seed paper, on distances. The averages of one class are over the same
    few attributes, so they rise and fall together; the t-test treats them as independent.
    `simulate_grid` shows what that costs.

    Examples
    --------
    >>> from bayesbias import mac
    >>> result = mac("minilm-static", "religion")
    >>> round(result.value, 3), result.n["averages"], result.t is None
    (0.98, 45, True)
    """
    from scipy import stats

    checks.choice(convention, CONVENTIONS, "convention")
    alpha = checks.probability(alpha, "alpha")
    grid = grid_of(source, wordlist)
    other = None if against is None else grid_of(against)
    notes = list(grid.notes)
    listed = dict.fromkeys(grid.frame["protected_word"])
    missing = [w for group in grid.coverage.protected.values() for w in group.missing]
    chosen = [*listed, *missing] if isinstance(words, str) else checks.once(words)
    if words == "evaluation":
        chosen = _evaluation_words(grid, wordlist, chosen) or chosen
        if left := [w for w in listed if w not in set(chosen)]:
            notes.append(f"over the evaluation sets of the word list, without {some(left)}")
    for word in chosen:
        if word not in listed and word not in missing:
            raise checks.unknown(word, listed, f"{grid.name}, protected word")
    # An attribute of several sets counts in each.
    key, by_set = ["protected_word", "attribute"], ["protected_word", "attribute_class"]
    sets = grid.frame[["attribute_class", "attribute"]].drop_duplicates()
    pairs = grid.frame[[*key, "distance"]].merge(sets, on="attribute")
    pairs = pairs[pairs["protected_word"].isin(chosen)].assign(distance_against=math.nan)
    if other is not None:
        second = other.frame.set_index(key)["distance"]
        pairs["distance_against"] = second.reindex(pairs[key]).to_numpy()
        lost = pairs[pairs["distance_against"].isna()]
        pairs = pairs.drop(lost.index)
        if len(lost) and len(pairs):
            known = lost["protected_word"].isin(other.frame["protected_word"])
            gone = some(lost["protected_word"].where(~known, lost["attribute"]))
            notes.append(f"left out, since {other.name} has no such pairs: {gone}")
    if pairs.empty:
        in_both = "" if other is None else f" in common with {other.name}"
        raise InputError(f"expected pairs{in_both}, got none", where=grid.name)
    groups = pairs.groupby(by_set, sort=False)
    averages = groups[["distance", "distance_against"]].mean().reset_index()
    by_class = convention == "class_means"
    size = len(averages) * groups["distance"].transform("size") if by_class else len(pairs)
    pairs["weight"] = 1.0 / size
    mean_of = averages if by_class else pairs
    value = math.fsum(mean_of["distance"]) / len(mean_of)
    compared = dict.fromkeys(("against", "difference", "t", "df"))
    p_value = None
    if other is not None:
        against_value = math.fsum(mean_of["distance_against"]) / len(mean_of)
        compared |= {"against": against_value, "difference": value - against_value}
        changes = (averages["distance"] - averages["distance_against"]).to_numpy()
        compared["df"] = len(changes) - 1
        if len(changes) > 1 and float(np.std(changes, ddof=1)) > ROUNDING:
            test = stats.ttest_1samp(np.sort(changes), 0.0)
            compared["t"], p_value = float(test.statistic), float(test.pvalue)
        else:
            notes.append("the differences of the averages do not vary, so there is no t-test")
    lost_words = [w for w in chosen if w in missing]
    for group in sets["attribute_class"].unique():
        if group in grid.coverage.attributes:
            lost_words += grid.coverage.attributes[group].missing
    return Score(
        name="mac",
        data=grid.name,
        label="mean distance",
        value=value,
        p_value=p_value,
        p_method=None if p_value is None else "paired t-test, two-sided",
        alpha=alpha,
        n={
            "words": pairs["protected_word"].nunique(),
            "averages": len(averages),
            "pairs": len(pairs),
        },
        dropped=tuple(dict.fromkeys(lost_words)),
        notes=tuple(notes),
        details={
            **compared,
            "data_against": None if other is None else other.name,
            "convention": convention,
        },
        table=pairs[[*key, "attribute_class", "distance", "distance_against", "weight"]],
    )


def _evaluation_words(grid: Grid, wordlist: Any, known: Sequence[str]) -> list[str]:
    """Return those of the known words that are in the evaluation sets of a word list.

    A table from a file names no list. It is that of a shipped list with the same protected words in
    the same classes.
    """
    if wordlist is not None:
        lists = [load_wordlist(wordlist, controls="none")]
    else:
        lost = {(w, c) for c, group in grid.coverage.protected.items() for w in group.missing}
        found = grid.frame[["protected_word", "protected_class"]]
        pairs = {*found.itertuples(index=False, name=None), *lost}
        every = (load_wordlist(name, controls="none") for name in list_wordlists())
        lists = [x for x in every if pairs == {(w, c.name) for c in x.classes for w in c.protected}]
    words = (w for x in lists for group in x.evaluation_sets for w in group)
    return [w for w in dict.fromkeys(words) if w in set(known)]


@dataclass(frozen=True, eq=False)
class Grid:
    """The stereotype pairs of a table, each once."""

    name: str
    frame: pd.DataFrame
    coverage: Coverage
    notes: list[str]

    def two_classes(self, classes: Sequence[str] | None) -> tuple[Grid, tuple[str, str]]:
        """Return the pairs, and the two classes to compare, both with attributes of their own.

        Of two attribute sets that belong to no class the first becomes that of X, the second of Y.
        """
        grid, frame = self, self.frame
        chosen = two_of(frame["protected_class"].unique(), classes, self.name)
        sets = frame["attribute_class"].unique()
        if (frame["connection"] == SHARED).all() and len(sets) == 2:
            owner = frame["attribute_class"].map(dict(zip(sets, chosen, strict=True)))
            own = np.where(owner == frame["protected_class"], "associated", "different")
            grid = replace(self, frame=frame.assign(connection=own))
        for c in chosen:
            if not grid.own(c):
                problem = f"expected attributes associated with {c!r}, got none"
                hint = "give each class its own, or the list two attribute sets"
                raise InputError(problem, where=self.name, hint=hint)
        return grid, chosen

    def own(self, c: str, column: str = "attribute") -> list[str]:
        """Return the attributes, or attribute sets, associated with a class."""
        near = (self.frame["connection"] == "associated") & (self.frame["protected_class"] == c)
        return list(self.frame.loc[near, column].unique())

    def sets(self, chosen: Iterable[str]) -> tuple[str, ...]:
        """Return the names of the attribute sets A and B."""
        return tuple(" and ".join(self.own(c, "attribute_class")) for c in chosen)

    def missing(self, classes: Iterable[str]) -> tuple[str, ...]:
        """Return the missing words of some protected classes and of their attributes."""
        coverage, classes = self.coverage, list(classes)
        groups = [coverage.protected.get(c) for c in classes]
        groups += [
            coverage.attributes.get(s) for c in classes for s in self.own(c, "attribute_class")
        ]
        return tuple(dict.fromkeys(word for group in groups if group for word in group.missing))

    def sides(self, chosen: tuple[str, str]) -> pd.DataFrame:
        """Return the pairs of the words of two classes with attribute sets A and B."""
        columns = ["protected_word", "protected_class", "attribute", "distance"]
        words = self.frame.loc[self.frame["protected_class"].isin(chosen), columns]
        parts = []
        for letter, c in zip("AB", chosen, strict=True):
            near = words[words["attribute"].isin(self.own(c))]
            if lone := set(words["protected_word"]) - set(near["protected_word"]):
                problem = f"expected a pair with attribute set {letter} for each word, got none for"
                raise InputError(f"{problem} {some(sorted(lone))}", where=self.name)
            parts.append(near.assign(attribute_set=letter))
        return pd.concat(parts, ignore_index=True)


def grid_of(source: Any, wordlist: Any = None) -> Grid:
    """Return the stereotype pairs of a table, or of vectors and a word list."""
    if wordlist is None:
        table = as_pair_table(source)
    else:
        table = distance_table(source, load_wordlist(wordlist, controls="none"))
    name, coverage = str(table.provenance.get("name", "pairs")), table.coverage
    frame = table.frame[table.frame["connection"].isin(["associated", "different", SHARED])]
    if frame.empty:
        raise InputError("expected pairs of protected words and stereotypes, got none", where=name)
    repeated = frame.duplicated(["protected_word", "attribute"])
    notes = [f"{repeated.sum()} repeated pairs count once"] if repeated.any() else []
    labels = ("protected_class", "attribute_class", "connection")
    frame = frame.loc[~repeated].astype(dict.fromkeys(labels, str))
    of = frame.drop_duplicates(["protected_word", "protected_class"])["protected_word"]
    if twice := checks.repeated(of):
        problem = f"expected one class for each protected word, got two for {twice[0]!r}"
        raise InputError(problem, where=name)
    notes += [note for note in coverage.notes if " is left out, " in note]
    notes += notes_of_vectors(table)
    return Grid(name, frame, coverage, notes)
