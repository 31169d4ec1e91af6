"""WEAT, the word embedding association test: its statistic, effect size and p-value, on the models' own pairs.

Scores in common use are here to be understood, not to be recommended: each averages averages, and what that
hides is the subject of `bayesbias.simulation`. Every result says which words went in and which were missing,
and has a table of pairs from which the score can be followed by hand.

Sources: equations 2-4 of Dobrzeniecka and Urbaniak (2024), "A Bayesian Approach to Uncertainty in Word Embedding Bias
Estimation", doi:10.1162/coli_a_00507 (the seed paper; its equations and sections are counted as in the manuscript,
"A bayesian method of cosine-based word2vec bias"); Caliskan, Bryson and Narayanan (2017) and May et al. (2019).
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from bayesbias.core import checks
from bayesbias.core.digits import p_printed
from bayesbias.core.errors import InputError
from bayesbias.core.wording import number_of, some
from bayesbias.embeddings.embedding import Embedding
from bayesbias.scores.partitions import error_of_p
from bayesbias.scores.permutation import (
    Method,
    PermutationResult,
    permutation_test,
    refuse_no_scores,
    row_of_numbers,
)
from bayesbias.scores.stereotypes import (
    ROUNDING,
    ScoreResult,
    called_set,
    caveats,
    frame_of_rows,
    stereotype_grid,
    table_of_source,
    two_classes,
)
from bayesbias.tables.pair_table import PairTable
from bayesbias.wordlists.wordlist import WordList

if TYPE_CHECKING:
    import pandas as pd

    from bayesbias.scores.measures import Given

__all__ = ["DENOMINATORS", "WeatResult", "effect_size", "largest_effect_size", "weat"]

DENOMINATORS = ("union_n_minus_1", "union_n", "pooled")
"""What the effect size divides by; see `effect_size`."""
SOURCE = "Caliskan, Bryson and Narayanan (2017)"
DEFECTS = (
    "the attribute words count as fixed, so the p-value says nothing of others like them; the effect size is a difference over "
    "the spread of the words' own means, so that a small association that is alike in all of them makes a large one, and it has "
    "no interval (Dobrzeniecka and Urbaniak, 2024); other attribute words may turn it (Ethayarajh, Duvenaud and Hirst, 2019)"
)


@dataclass(frozen=True, eq=False, repr=False)
class WeatResult(ScoreResult):
    """WEAT: its statistic, effect size and p-value.

    Attributes
    ----------
    name : str
        The table, or the word list and the vectors.
    classes : tuple of str
        The names of X and Y.
    attribute_classes : tuple of str
        The names of A and B; those of X and Y where a list names them by their class.
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
    attribute_classes: tuple[str, str]
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
            f"p {self._p_text(4)} ({self.p_method}, {self.sides}-sided); {number_of(len(self.dropped), 'word')} dropped>"
        )

    def in_words(self) -> list[str]:
        """Say what was found, in lines for the screen."""
        effect = "none" if self.effect_size is None else f"{self.effect_size:.4f}"
        most = "" if self.largest_effect_size is None else f", at most {self.largest_effect_size:.4f}"
        bounds = "" if self.p_lower in (None, self.p_upper) else f", {self.p_lower:.6g} to {self.p_upper:.6g}"
        a, b = (
            called_set(letter, name, self.classes, n)
            for letter, name, n in zip("AB", self.attribute_classes, (self.n_a, self.n_b), strict=True)
        )
        return [
            f"WEAT, {self.name}",
            f"  X {self.classes[0]} ({self.n_x}), Y {self.classes[1]} ({self.n_y}), {a}, {b}",
            f"  statistic {self.statistic:.6f}",
            f"  effect size {effect} ({self.denominator}{most})",
            f"  p {self._p_text(6)} ({self.p_method}, {self.sides}-sided{bounds})",
            *caveats(DEFECTS, SOURCE),
        ]

    def _p_text(self, digits: int) -> str:
        return p_printed(self.p_value, error_of_p(self.p_lower, self.p_upper, self.p_method), digits)

    def as_json(self) -> dict[str, Any]:
        """Return what the command prints as JSON: of the permutation test what is not said already."""
        out = self.as_dict()
        keys = ("partitions", "ties", "rigorous", "samples", "seed", "note")
        return {**out, "permutation": {key: out["permutation"][key] for key in keys}}


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
    >>> from bayesbias import weat
    >>> result = weat("minilm-static", "weat7")
    >>> round(result.effect_size, 2), round(result.largest_effect_size, 2), result.p_method
    (1.37, 1.94, 'exact')
    >>> pairs = result.pairs()
    >>> bool(abs((pairs["weight"] * pairs["similarity"]).sum() - result.statistic) < 1e-12)
    True
    """
    checks.choice(denominator, DENOMINATORS, "denominator")
    grid = stereotype_grid(table_of_source(source, wordlist))
    x_class, y_class = two_classes(grid, classes)
    sets = {c: [w for w in grid.words if grid.word_class[w] == c] for c in (x_class, y_class)}
    a, b = grid.own_attributes[x_class], grid.own_attributes[y_class]
    notes = list(grid.notes)
    scores: dict[str, float] = {}
    rows = []
    for side, c in (("X", x_class), ("Y", y_class)):
        for word in sets[c]:
            means = []
            for letter, attributes in (("A", a), ("B", b)):
                distances = [(v, grid.distance[word, v]) for v in attributes if (word, v) in grid.distance]
                if not distances:
                    raise InputError(
                        f"the protected word {word!r} has no pair with an attribute of set {letter}",
                        where=grid.name,
                        valid="at least one pair with either set",
                    )
                means.append(math.fsum(1.0 - d for _, d in distances) / len(distances))
                weight = (1 if side == "X" else -1) * (1 if letter == "A" else -1) / len(distances)
                rows += [(word, side, v, letter, d, 1.0 - d, weight) for v, d in distances]
            # Equal means differ in their last bits; without this, noise would pass for a score.
            scores[word] = means[0] - means[1] if abs(means[0] - means[1]) > ROUNDING else 0.0
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
        _pairs=frame_of_rows(rows, columns),
        classes=(x_class, y_class),
        attribute_classes=(grid.attributes_called(x_class), grid.attributes_called(y_class)),
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
    checks.choice(denominator, DENOMINATORS, "denominator")
    x, y = _finite_scores(scores_x, "scores_x"), _finite_scores(scores_y, "scores_y")
    size = max(map(abs, x + y))
    if size and not 1 / checks.LARGEST < size < checks.LARGEST:  # whose squares are no numbers
        x, y = [v / size for v in x], [v / size for v in y]
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
    return (mean_x - mean_y) / sd if sd > ROUNDING * max(map(abs, x + y)) else None


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
    checks.choice(denominator, DENOMINATORS, "denominator")
    checks.count(n_x, "n_x")
    checks.count(n_y, "n_y")
    n = n_x + n_y
    if denominator == "pooled":
        return None
    return math.sqrt(n * (n - (denominator == "union_n_minus_1")) / (n_x * n_y))


def _finite_scores(scores: npt.ArrayLike, name: str) -> list[float]:
    array = np.asarray(scores)
    if array.ndim != 1 or len(array) == 0:
        raise InputError("must be a list of at least one score", where=name, found=array.shape)
    numbers = row_of_numbers(array, name)
    refuse_no_scores(numbers, name)
    return numbers.tolist()


def measured_weat(given: Given, **settings: Any) -> WeatResult:
    """Compute WEAT as the command does."""
    return weat(given.table, classes=given.classes, **settings)
