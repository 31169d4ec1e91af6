"""Scores of vectors as they are: RIPA along the direction of word pairs, and ECT, the order of words by two mean vectors.

Sources: Ethayarajh, Duvenaud and Hirst (2019), "Understanding Undesirable Word Embedding Associations" (RIPA);
Dev and Phillips (2019), "Attenuating Bias in Word Vectors" (ECT).
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bayesbias.core.errors import InputError
from bayesbias.core.wording import number_of, some
from bayesbias.embeddings.embedding import Embedding
from bayesbias.scores.projections import defining_pairs, vectors_of_words
from bayesbias.scores.resampling import RESAMPLES, ResampledScore, percentile_interval
from bayesbias.scores.stereotypes import ROUNDING, classes_of_list, frame_of_rows, refuse_none_left
from bayesbias.wordlists.listfile import load_wordlist
from bayesbias.wordlists.wordlist import WordList

if TYPE_CHECKING:
    from bayesbias.scores.measures import Given

__all__ = ["EctResult", "RipaResult", "ect", "ripa"]

Array = npt.NDArray[np.float64]
RIPA_SOURCE = "Ethayarajh, Duvenaud and Hirst (2019)"
RIPA_DEFECTS = (
    "an inner product with vectors as they are grows with their length, and so with the frequency of a word; it has no scale "
    "of its own, and differs between definitional pairs"
)
ECT_SOURCE = "Dev and Phillips (2019)"
ECT_DEFECTS = (
    "it compares orders only, so that a shift of all words towards one class is not seen; where the attributes lie close "
    "together their order is noise, and it falls without any association; and it does not say which class is nearer"
)


@dataclass(frozen=True, eq=False, repr=False)
class RipaResult(ResampledScore):
    """RIPA of the attributes of two classes.

    Attributes
    ----------
    value, low, high, prob, resamples, seed, source, defects
        As in every score with a bootstrap interval: the mean RIPA of the attributes of X less that of Y's, the ends of its
        interval, how that was found, and what is known of the score. Positive: the attributes of X lie further towards the
        first words of the pairs.
    classes : tuple of str
        X and Y.
    mean : dict of str to float
        The mean RIPA of the attributes of either.
    mean_absolute : float
        The mean of the absolute values over all attributes of both.
    direction : ndarray, shape (d,)
        b, of length 1, towards the first words of the pairs.
    towards, away : tuple of str
        The first and second words of the pairs.
    n_pairs, n_x, n_y : int
        Pairs, and attributes of either class.
    dropped, notes
        As in `WeatResult`; a pair with one missing word is left out whole.
    """

    classes: tuple[str, str]
    mean: dict[str, float]
    mean_absolute: float
    direction: Array = field(repr=False)
    towards: tuple[str, ...]
    away: tuple[str, ...]
    n_pairs: int
    n_x: int
    n_y: int

    def __repr__(self) -> str:
        return (
            f"<RipaResult {self.name}: {self.classes[0]} - {self.classes[1]} {self.value:.4f}, {self.interval_in_words()}; "
            f"{number_of(self.n_pairs, 'pair')} towards {self.towards[0]}, {self.n_x} + {self.n_y} attributes; "
            f"{number_of(len(self.dropped), 'word')} dropped>"
        )

    def in_words(self) -> list[str]:
        """Say what was found, in lines for the screen."""
        x, y = self.classes
        return [
            f"RIPA, {self.name}",
            f"  attributes of {x} ({self.n_x}) {self.mean[x]:.6f}, of {y} ({self.n_y}) {self.mean[y]:.6f}, "
            f"absolute {self.mean_absolute:.6f}; {number_of(self.n_pairs, 'pair')}, towards {self.towards[0]}",
            f"  difference {self.value_in_words()}, {self.interval_in_words()} (over pairs and attributes)",
            *self.last_words(),
        ]


@dataclass(frozen=True, eq=False, repr=False)
class EctResult(ResampledScore):
    """The embedding coherence test of two classes.

    Attributes
    ----------
    value, low, high, prob, resamples, seed, source, defects
        As in every score with a bootstrap interval: Spearman's correlation, in [-1, 1], of the attributes' cosines with the
        mean vectors of X and of Y; 1 where both order them alike.
    classes : tuple of str
        X and Y.
    x, y, words : tuple of str
        The words of either class, and the attributes that are put in order.
    n_x, n_y, n_words : int
    dropped, notes
        As in `WeatResult`.
    """

    classes: tuple[str, str]
    x: tuple[str, ...]
    y: tuple[str, ...]
    words: tuple[str, ...]
    n_x: int
    n_y: int
    n_words: int

    def __repr__(self) -> str:
        value = "none" if self.value is None else f"{self.value:.4f}"
        return (
            f"<EctResult {self.name}: {value}, {self.interval_in_words()}; {self.n_x} {self.classes[0]}, {self.n_y} "
            f"{self.classes[1]}, {self.n_words} attributes; {number_of(len(self.dropped), 'word')} dropped>"
        )

    def in_words(self) -> list[str]:
        """Say what was found, in lines for the screen."""
        return [
            f"ECT, {self.name}",
            f"  rank correlation {self.value_in_words()} of {self.n_words} attributes by {self.classes[0]} ({self.n_x}) and "
            f"{self.classes[1]} ({self.n_y}); {self.interval_in_words()} (over words of all three)",
            *self.last_words(),
        ]


def ripa(
    embedding: Embedding | Any,
    wordlist: str | os.PathLike[str] | Mapping[str, Any] | WordList,
    *,
    classes: Sequence[str] | None = None,
    sets: Sequence[Sequence[str]] | None = None,
    prob: float = 0.89,
    resamples: int = RESAMPLES,
    seed: int | None = None,
) -> RipaResult:
    """Compute the relational inner product association of the attributes of two classes.

    Parameters
    ----------
    embedding : Embedding, or anything `load_embedding` reads
    wordlist
        What `load_wordlist` takes. Its definitional sets are the pairs.
    classes : pair of str, optional
        As in `weat`.
    sets : sequence of pairs of str, optional
        The pairs in place of the list's definitional sets, the first word of each of the same class.
    prob, resamples, seed
        Of the bootstrap, which draws the pairs and the attributes of either class again.

    Returns
    -------
    RipaResult
        Its ``pairs()`` have ``word, attribute_of, score``.

    Raises
    ------
    InputError
        Where there are no pairs or no two classes, where none of the words is in the vocabulary, or where the differences of
        the pairs cancel.

    Notes
    -----
    beta(w; b) = <w, b>, where b is the first principal component of the differences of the pairs, around zero and of
    length 1; with one pair it is their difference over its length. Vectors are as they are, not of length 1. The sign is
    that of the mean difference.

    Examples
    --------
    >>> from bayesbias.scores import ripa
    >>> result = ripa("minilm-static", "gender", seed=1)
    >>> result.classes, result.n_pairs, result.value > 0
    (('man', 'woman'), 7, True)
    """
    listed = load_wordlist(wordlist, controls="none")
    x, y = classes_of_list(listed, classes)
    given = listed.definitional_sets if sets is None else sets
    couples = defining_pairs(given, f"word list {listed.name}")
    sides = [list(dict.fromkeys(c.attributes)) for c in (x, y)]
    asked = tuple(dict.fromkeys([*(w for couple in couples for w in couple), *sides[0], *sides[1]]))
    vectors, missing, notes, name = vectors_of_words(embedding, asked, unit=False)
    used = [couple for couple in couples if couple[0] in vectors and couple[1] in vectors]
    own = [[w for w in side if w in vectors] for side in sides]
    if not used:
        raise InputError(f"no pair of {len(couples)} is whole in the vocabulary", where=name)
    refuse_none_left(own, (x, y), "attribute", name)
    differences = np.array([vectors[m] - vectors[f] for m, f in sorted(used)])
    direction = _main_direction(differences)
    if direction is None:
        raise InputError("the differences of the pairs cancel, so no direction is theirs", where=name)
    # In the order of the alphabet, so that one seed draws the same words whatever their order in the list.
    in_order = [sorted(side) for side in own]
    arrays = [np.array([vectors[w] for w in side]) for side in in_order]
    scores = [array @ direction for array in arrays]

    def difference(pairs: Array, first: Array, second: Array) -> float | None:
        along = _main_direction(np.repeat(differences, pairs.astype(int), axis=0))
        if along is None:
            return None
        return float(first @ (arrays[0] @ along) / first.sum() - second @ (arrays[1] @ along) / second.sum())

    sizes = [len(used), len(own[0]), len(own[1])]
    interval = percentile_interval(difference, sizes, prob=prob, resamples=resamples, seed=seed)
    if x.attributes and set(x.attributes) & set(y.attributes):
        notes.append(f"attributes of both classes: {some(w for w in x.attributes if w in set(y.attributes))}")
    by_word = [
        dict(zip(side, each.tolist(), strict=True)) for side, each in zip(in_order, scores, strict=True)
    ]
    rows = [(w, c.name, score[w]) for c, side, score in zip((x, y), own, by_word, strict=True) for w in side]
    return RipaResult(
        name=f"{listed.name} in {name}",
        dropped=missing,
        notes=(*notes, *interval.notes),
        _pairs=frame_of_rows(rows, ["word", "attribute_of", "score"]),
        value=float(scores[0].mean() - scores[1].mean()),
        **interval.fields(prob, resamples),
        source=RIPA_SOURCE,
        defects=RIPA_DEFECTS,
        classes=(x.name, y.name),
        mean={c.name: float(each.mean()) for c, each in zip((x, y), scores, strict=True)},
        mean_absolute=math.fsum(abs(row[2]) for row in rows) / len(rows),
        direction=direction,
        towards=tuple(m for m, _ in used),
        away=tuple(f for _, f in used),
        n_pairs=len(used),
        n_x=len(own[0]),
        n_y=len(own[1]),
    )


def ect(
    embedding: Embedding | Any,
    wordlist: str | os.PathLike[str] | Mapping[str, Any] | WordList,
    *,
    classes: Sequence[str] | None = None,
    unit: bool = False,
    prob: float = 0.89,
    resamples: int = RESAMPLES,
    seed: int | None = None,
) -> EctResult:
    """Compute the embedding coherence test of two classes.

    Parameters
    ----------
    embedding : Embedding, or anything `load_embedding` reads
    wordlist
        What `load_wordlist` takes. The attributes of both classes are put in order.
    classes : pair of str, optional
        As in `weat`.
    unit : bool, default False
        Bring the words of the classes to length 1 before their mean is taken; published code does not.
    prob, resamples, seed
        Of the bootstrap, which draws the words of either class and the attributes again.

    Returns
    -------
    EctResult
        Its ``pairs()`` have ``word, cosine_x, cosine_y, rank_x, rank_y``.

    Raises
    ------
    InputError
        Unless there are two classes, each with a word in the vocabulary, and three attributes.

    Notes
    -----
    Spearman's correlation, over attributes a, of cos(mean of X, a) and cos(mean of Y, a). Ties share their mean rank.

    Examples
    --------
    >>> from bayesbias.scores import ect
    >>> result = ect("minilm-static", "gender", seed=1)
    >>> round(result.value, 3), result.n_words
    (-0.012, 25)
    """
    listed = load_wordlist(wordlist, controls="none")
    x, y = classes_of_list(listed, classes)
    wanted = list(dict.fromkeys([*x.attributes, *y.attributes]))
    asked = tuple(dict.fromkeys([*x.protected, *y.protected, *wanted]))
    vectors, missing, notes, name = vectors_of_words(embedding, asked, unit=unit)
    own = [[w for w in c.protected if w in vectors] for c in (x, y)]
    refuse_none_left(own, (x, y), "word", name)
    present = [w for w in wanted if w in vectors]
    if len(present) < 3:
        raise InputError("fewer than three attributes are in the vocabulary", where=name, found=present)
    # In the order of the alphabet, so that one seed draws the same words whatever their order in the list.
    sides = [np.array([vectors[w] for w in sorted(side)]) for side in own]
    in_order = sorted(present)
    attributes = np.array([vectors[w] for w in in_order])
    attributes /= np.linalg.norm(attributes, axis=1, keepdims=True)
    with_x, with_y = (_cosines(side.mean(axis=0), attributes) for side in sides)
    if with_x is None or with_y is None:
        raise InputError("the mean vector of a class is zero, so it has no direction", where=name)
    value = spearman(with_x, with_y)
    if value is None:
        notes.append("all attributes are equally near to a class, so there is no correlation")

    def correlation(first: Array, second: Array, drawn: Array) -> float | None:
        means = [counts @ side / counts.sum() for counts, side in zip((first, second), sides, strict=True)]
        repeated = np.repeat(attributes, drawn.astype(int), axis=0)
        columns = [_cosines(mean, repeated) for mean in means]
        return None if columns[0] is None or columns[1] is None else spearman(columns[0], columns[1])

    sizes = [len(own[0]), len(own[1]), len(present)]
    interval = percentile_interval(correlation, sizes, prob=prob, resamples=resamples, seed=seed)
    numbers = np.column_stack([with_x, with_y, _ranks(with_x), _ranks(with_y)]).tolist()
    by_word = dict(zip(in_order, numbers, strict=True))
    return EctResult(
        name=f"{listed.name} in {name}",
        dropped=missing,
        notes=(*notes, *interval.notes),
        _pairs=frame_of_rows(
            [(w, *by_word[w]) for w in present], ["word", "cosine_x", "cosine_y", "rank_x", "rank_y"]
        ),
        value=value,
        **interval.fields(prob, resamples),
        source=ECT_SOURCE,
        defects=ECT_DEFECTS,
        classes=(x.name, y.name),
        x=tuple(own[0]),
        y=tuple(own[1]),
        words=tuple(present),
        n_x=len(own[0]),
        n_y=len(own[1]),
        n_words=len(present),
    )


def spearman(first: Array, second: Array) -> float | None:
    """Return Spearman's correlation, ties at their mean rank; None where one of the two does not vary."""
    a, b = (ranks - ranks.mean() for ranks in (_ranks(first), _ranks(second)))
    size = math.sqrt(float(a @ a) * float(b @ b))
    return float(a @ b) / size if size > 0 else None


def _ranks(values: Array) -> Array:
    """Return ranks from 1, where values that are equal up to rounding share theirs."""
    order = np.argsort(values, kind="stable")
    steps = np.diff(values[order]) > ROUNDING
    group = np.concatenate([[0], np.cumsum(steps)])
    sizes = np.bincount(group)
    ends = np.cumsum(sizes)
    ranks = np.empty(len(values))
    ranks[order] = (ends - (sizes - 1) / 2)[group]
    return ranks


def _cosines(mean: Array, units: Array) -> Array | None:
    length = float(np.linalg.norm(mean))
    return units @ mean / length if length > ROUNDING else None


def _main_direction(differences: Array) -> Array | None:
    """Return the first principal component around zero, with the sign of the mean; None where these cancel."""
    _, lengths, components = np.linalg.svd(differences, full_matrices=False)
    lean = float(components[0] @ differences.mean(axis=0))
    if lengths[0] <= ROUNDING or abs(lean) <= ROUNDING * lengths[0]:
        return None
    return components[0] if lean > 0 else -components[0]


def measured_ripa(given: Given, **settings: Any) -> RipaResult:
    """Compute RIPA as the command does."""
    assert given.words is not None  # vectors come with a word list
    return ripa(given.vectors, given.words, classes=given.classes, **settings)


def measured_ect(given: Given, **settings: Any) -> EctResult:
    """Compute ECT as the command does."""
    assert given.words is not None  # vectors come with a word list
    return ect(given.vectors, given.words, classes=given.classes, **settings)
