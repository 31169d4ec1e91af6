"""Scores of distances: WEAT, SC-WEAT and MAC (equations 2-4, 6 and 7 of the seed paper).

They average before they compare; `bayesbias.simulation` shows what that hides.
"""

import math
import statistics
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from bayesbias.core import checks
from bayesbias.core.errors import InputError
from bayesbias.core.formatting import some
from bayesbias.scores.inputs import Grid, grid_of
from bayesbias.scores.permutation import Method, finite_scores, permutation_test
from bayesbias.scores.resampling import sign_flip_test
from bayesbias.scores.score import ROUNDING, Score
from bayesbias.wordlists.listfile import list_wordlists, load_wordlist
from bayesbias.wordlists.wordlist import WordList

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
    rel_width: float = 0.02,
) -> Score:
    """Compute the Word Embedding Association Test.

    X is the first protected class and Y the second; A are the attributes associated with X, B those
    with Y. Control words play no part.

    Parameters
    ----------
    source : PairTable, DataFrame or path of a table; with `wordlist`, anything `load_embedding`
    reads
        The pairs, or the vectors to compute them from.
    wordlist : optional
        What `load_wordlist` takes.
    classes : pair of str, optional
        The protected classes to take as X and Y; needed where there are more than two.
    denominator : {"union_n_minus_1", "union_n", "pooled"}
        Of the effect size, see `effect_size`.
    p, sides, samples, seed, rel_width
        How the p-value is found: `method` and the rest of `permutation_test`.

    Returns
    -------
    Score
        The value is the effect size. Details: ``statistic, largest_effect_size, denominator, sides,
        p_lower, p_upper, attribute_classes, x, y, a, b, scores`` (s of each word) and
        ``permutation``. Its ``pairs()`` have ``protected_word, set, attribute, attribute_set,
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
    import pandas as pd

    checks.choice(denominator, DENOMINATORS, "denominator")
    grid = grid_of(source, wordlist)
    x_class, y_class = grid.two_classes(classes)
    x, y = grid.words_of(x_class), grid.words_of(y_class)
    a, b = grid.own[x_class], grid.own[y_class]
    scores: dict[str, float] = {}
    rows = []
    for side, sign, words in (("X", 1, x), ("Y", -1, y)):
        for word in words:
            means = []
            for letter, turn, attributes in (("A", 1, a), ("B", -1, b)):
                near = grid.near(word, attributes, letter)
                means.append(math.fsum(1.0 - d for d in near.values()) / len(near))
                weight = sign * turn / len(near)
                rows += [(word, side, v, letter, d, 1.0 - d, weight) for v, d in near.items()]
            # Equal means differ in their last bits; without this, noise would pass for a score.
            scores[word] = means[0] - means[1] if abs(means[0] - means[1]) > ROUNDING else 0.0
    notes = list(grid.notes)
    if lost := len(scores) * (len(a) + len(b)) - len(rows):
        notes.append(f"{lost} pairs do not exist; the means of their words are over the others")
    if set(a) == set(b):
        notes.append("A and B are the same words, so every score is 0 and there is no effect size")
    elif both := [v for v in a if v in set(b)]:
        notes.append(
            f"in both A and B: {some(both)}; their similarities cancel as far as the sizes of the sets agree"
        )
    scores_x, scores_y = [scores[w] for w in x], [scores[w] for w in y]
    effect = effect_size(scores_x, scores_y, denominator)
    if effect is None and set(a) != set(b):
        notes.append("the scores do not vary, so there is no effect size")
    test = permutation_test(
        scores_x, scores_y, method=p, sides=sides, samples=samples, seed=seed, rel_width=rel_width
    )
    columns = ["protected_word", "set", "attribute", "attribute_set"]
    return Score(
        name="weat",
        data=grid.name,
        label="effect size",
        value=effect,
        p_value=test.p_value,
        p_method=test.method,
        n={"x": len(x), "y": len(y), "a": len(a), "b": len(b)},
        classes=(x_class, y_class),
        dropped=grid.missing((x_class, y_class)),
        notes=tuple(notes),
        details={
            "statistic": test.statistic,
            "largest_effect_size": largest_effect_size(len(x), len(y), denominator),
            "denominator": denominator,
            "sides": test.sides,
            "p_lower": test.p_lower,
            "p_upper": test.p_upper,
            "attribute_classes": (grid.called(x_class), grid.called(y_class)),
            **{"x": tuple(x), "y": tuple(y), "a": tuple(a), "b": tuple(b)},
            "scores": scores,
            "permutation": test,
        },
        table=pd.DataFrame(rows, columns=[*columns, "distance", "similarity", "weight"]),
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
    return float(x.mean() - y.mean()) / sd if sd > ROUNDING * np.abs(both).max() else None


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
) -> dict[str, Score]:
    """Compute the Single-Category Word Embedding Association Test of each of two classes.

    Parameters
    ----------
    source, wordlist, classes
        As in `weat`.
    sides : {1, 2}, default 1
        1 asks whether the words are nearer to their own attributes (X to A, Y to B), 2 whether they
        are nearer to either.
    prob, samples, seed
        As in `sign_flip_test`.

    Returns
    -------
    dict of str to Score
        By class. The value is the mean over its words of mean cosine with A minus mean cosine with
        B: positive is nearer to A. Details: ``mean_score`` and ``scores``, where each word's
        difference is divided by the SD of its cosines; ``coverage, p_lower, p_upper, sides, seed,
        attribute_classes, a, b``. The ``pairs()`` have ``protected_word, mean_a, mean_b, sd,
        score``.

    Raises
    ------
    InputError
        As `weat`.

    Notes
    -----
    A score is ES(w, A, B) of Caliskan et al. (2017). The test flips the signs of the words'
    differences of mean cosines, as PsychWordVec does. For the p-value of a single word, with A and
    B divided anew, use `permutation_test`.

    Examples
    --------
    >>> from bayesbias.scores import sc_weat
    >>> result = sc_weat("minilm-static", "weat7")
    >>> {name: (round(score.mean_score, 2), round(score.p_value, 4)) for name, score in result.items()}
    {'math': (-0.53, 0.9844), 'arts': (-1.14, 0.0039)}
    """
    import pandas as pd

    grid = grid_of(source, wordlist)
    chosen = grid.two_classes(classes)
    a, b = (grid.own[c] for c in chosen)
    out = {}
    # One-sided, the differences of Y are negated, so that both classes are asked the same: nearer
    # to their own?
    for c, sign in zip(chosen, (1, -1) if sides == 1 else (1, 1), strict=True):
        rows = []
        for word in grid.words_of(c):
            near, far = (
                [1.0 - d for d in grid.near(word, side, letter).values()]
                for side, letter in ((a, "A"), (b, "B"))
            )
            mean_a, mean_b = math.fsum(near) / len(near), math.fsum(far) / len(far)
            sd = statistics.stdev([*near, *far])
            rows.append(
                (word, mean_a, mean_b, sd, (mean_a - mean_b) / sd if sd > ROUNDING else None)
            )
        test = sign_flip_test(
            [sign * (row[1] - row[2]) for row in rows],
            sides=sides,
            prob=prob,
            samples=samples,
            seed=seed,
        )
        seed = test.seed if seed is None else seed
        ends = [test.low, test.high][::sign]
        notes = list(grid.notes)
        if still := [row[0] for row in rows if row[4] is None]:
            notes.append(f"no score, since their cosines do not vary: {', '.join(still)}")
        if test.low is None:
            notes.append(f"{test.n} words are too few for a {100 * prob:g}% interval")
        scores = {row[0]: row[4] for row in rows if row[4] is not None}
        out[c] = Score(
            name="sc_weat",
            data=f"{c} of {grid.name}",
            label="difference",
            value=sign * test.mean,
            low=None if ends[0] is None else sign * ends[0],
            high=None if ends[1] is None else sign * ends[1],
            prob=prob,
            p_value=test.p_value,
            p_method=test.method,
            n={"words": test.n, "a": len(a), "b": len(b)},
            classes=chosen,
            dropped=grid.missing(chosen),
            notes=tuple(notes),
            details={
                "mean_score": math.fsum(scores.values()) / len(scores) if scores else None,
                "coverage": test.coverage,
                "sides": sides,
                "nearer": "A where positive"
                + ("; p asks for its own attributes" if sides == 1 else ""),
                "p_lower": test.p_lower,
                "p_upper": test.p_upper,
                "seed": test.seed,
                "attribute_classes": tuple(map(grid.called, chosen)),
                "scores": scores,
                **{"a": tuple(a), "b": tuple(b)},
            },
            table=pd.DataFrame(rows, columns=["protected_word", "mean_a", "mean_b", "sd", "score"]),
        )
    return out


def mac(
    source: Any,
    wordlist: Any = None,
    *,
    against: Any = None,
    words: Iterable[str] | Literal["all", "evaluation"] = "all",
    convention: str = "class_means",
) -> Score:
    """Compute the mean average cosine distance, and test it against that of a second table.

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

    Returns
    -------
    Score
        The value is the mean distance, in [0, 2]; 1 means unrelated. Details: ``against`` (the
        second value), ``difference, t, df``, ``data_against, convention, words,
        attribute_classes``. Its ``pairs()`` have ``protected_word, attribute, attribute_class,
        distance, distance_against, weight``; the sum of weight times distance is the value.

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
    import pandas as pd
    from scipy import stats

    checks.choice(convention, CONVENTIONS, "convention")
    grid = grid_of(source, wordlist)
    other = None if against is None else grid_of(against)
    notes = list(grid.notes)
    missing = [w for side in grid.missing_words.values() for w in side]
    if words == "evaluation":
        chosen = _evaluation_words(grid, wordlist, missing) or [*grid.word_class, *missing]
        if left := [w for w in grid.word_class if w not in set(chosen)]:
            notes.append(f"over the evaluation sets of the word list, without {some(left)}")
    elif isinstance(words, str) and words == "all":
        chosen = [*grid.word_class, *missing]
    else:
        chosen = list(dict.fromkeys(words))
    for word in chosen:
        if word not in grid.word_class and word not in missing:
            raise checks.unknown(word, grid.word_class, "protected word", grid.name)
    rows: list[tuple[str, str, str, float, float | None]] = []
    left_out: dict[str, None] = {}
    for word in (w for w in chosen if w in grid.word_class):
        for c, attributes in grid.sets.items():
            for v in (v for v in attributes if (word, v) in grid.distance):
                if other is None or (word, v) in other.distance:
                    second = None if other is None else other.distance[word, v]
                    rows.append((word, v, c, grid.distance[word, v], second))
                else:
                    left_out[word if word not in other.word_class else v] = None
    if not rows:
        raise InputError(
            "no pair is left" if other is None else "the tables have no pair in common",
            where=grid.name,
            found=None if other is None else other.name,
        )
    if left_out and other is not None:
        notes.append(f"left out, since {other.name} has no such pairs: {some(left_out)}")
    columns = ["protected_word", "attribute", "attribute_class", "distance", "distance_against"]
    pairs = pd.DataFrame(rows, columns=columns).astype({"distance_against": "Float64"})
    groups = pairs.groupby(columns[:3:2], sort=False)
    averages = groups[columns[3:]].mean().reset_index()
    if convention == "class_means":
        pairs["weight"] = 1.0 / (len(averages) * groups["distance"].transform("size"))
    else:
        pairs["weight"] = 1.0 / len(pairs)
    mean_of = averages if convention == "class_means" else pairs
    value = math.fsum(mean_of["distance"]) / len(mean_of)
    second = difference = t = df = p_value = None
    if other is not None:
        second = math.fsum(mean_of["distance_against"]) / len(mean_of)
        difference = value - second
        changes = np.sort(
            (averages["distance"] - averages["distance_against"]).to_numpy(dtype=float)
        )
        df = len(changes) - 1
        if df and float(np.std(changes, ddof=1)) > ROUNDING:
            test = stats.ttest_1samp(changes, 0.0)
            t, p_value = float(test.statistic), float(test.pvalue)
        else:
            notes.append("the differences of the averages do not vary, so there is no t-test")
    lost = [w for w in chosen if w in missing]
    lost += [w for name in grid.sets for w in grid.missing_attributes.get(name, [])]
    return Score(
        name="mac",
        data=grid.name,
        label="mean distance",
        value=value,
        p_value=p_value,
        p_method=None if p_value is None else "paired t-test, two-sided",
        n={
            "words": pairs["protected_word"].nunique(),
            "averages": len(averages),
            "pairs": len(pairs),
        },
        dropped=tuple(dict.fromkeys(lost)),
        notes=tuple(notes),
        details={
            "against": second,
            "difference": difference,
            "t": t,
            "df": df,
            "data_against": None if other is None else other.name,
            "convention": convention,
            "words": tuple(pairs["protected_word"].unique()),
            "attribute_classes": tuple(pairs["attribute_class"].unique()),
        },
        table=pairs,
    )


def _evaluation_words(grid: Grid, wordlist: Any, missing: Sequence[str]) -> list[str]:
    """Return the words of the evaluation sets of a word list; none where it has none.

    A table from a file names no list. It is that of a shipped list with the same protected words in
    the same classes.
    """
    words: WordList | None = None
    if wordlist is not None:
        words = load_wordlist(wordlist, controls="none")
    else:
        lost = {(w, c) for c, group in grid.missing_words.items() for w in group}
        for name in list_wordlists():
            listed = load_wordlist(name, controls="none")
            own = {(w, c.name) for c in listed.classes for w in c.protected}
            if listed.evaluation_sets and own == {*grid.word_class.items(), *lost}:
                words = listed
    if words is None:
        return []
    known = {*grid.word_class, *missing}
    return [w for w in dict.fromkeys(w for s in words.evaluation_sets for w in s) if w in known]
