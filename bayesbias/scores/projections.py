"""The scores that need vectors: direct bias along a direction, and relative norm distance.

Sources: equations 1 and 5 of the seed paper; Bolukbasi et al. (2016) for the first, Garg et al. (2018) for the
second.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bayesbias.core import checks
from bayesbias.core.errors import InputError
from bayesbias.core.wording import number_of, some
from bayesbias.embeddings.embedding import Embedding
from bayesbias.embeddings.loading import load_embedding
from bayesbias.scores.stereotypes import (
    ROUNDING,
    ScoreResult,
    caveats,
    classes_of_list,
    frame_of_rows,
    refuse_none_left,
    unique_words,
)
from bayesbias.wordlists.listfile import load_wordlist
from bayesbias.wordlists.wordlist import WordList

if TYPE_CHECKING:
    from bayesbias.scores.measures import Given

__all__ = ["DirectBias", "RelativeNormDistance", "direct_bias", "relative_norm_distance"]


DIRECT_SOURCE = "Bolukbasi, Chang, Zou, Saligrama and Kalai (2016)"
DIRECT_DEFECTS = (
    "above zero for any vectors whatever, since it averages absolute values, and without an interval; it sees what lies along "
    "one direction and no more"
)
NORM_SOURCE = "Garg, Schiebinger, Jurafsky and Zou (2018)"
NORM_DEFECTS = (
    "a sum over words without an interval, which grows with the list; it goes by distances to two mean vectors, and that of a "
    "class whose words scatter is shorter, and so nearer to any word that is near neither"
)


@dataclass(frozen=True, eq=False, repr=False)
class DirectBias(ScoreResult):
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
            f"<DirectBias {self.name}: {self.value:.4f} (strictness {self.strictness:g}) of {number_of(self.n_words, 'word')}; "
            f"direction of {number_of(self.n_pairs, 'pair')}, towards {self.towards[0]}, explains {self.explained:.0%}; "
            f"{number_of(len(self.dropped), 'word')} dropped>"
        )

    def in_words(self) -> list[str]:
        """Say what was found, in lines for the screen."""
        return [
            f"direct bias, {self.name}",
            f"  {self.value:.6f} (strictness {self.strictness:g}) of {number_of(self.n_words, 'word')}",
            f"  direction of {number_of(self.n_pairs, 'pair')}, towards {self.towards[0]}, explains {self.explained:.0%}",
            *caveats(DIRECT_DEFECTS, DIRECT_SOURCE),
        ]


@dataclass(frozen=True, eq=False, repr=False)
class RelativeNormDistance(ScoreResult):
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

    def _nearer(self) -> str:
        x, y = self.classes
        if abs(self.value) <= ROUNDING * self.n_words:
            return f"as near to {x} as to {y}"
        return f"nearer to {x if self.value < 0 else y}"

    def __repr__(self) -> str:
        return (
            f"<RelativeNormDistance {self.name}: {self.value:.4f}, {self.mean:.4f} per word, {self._nearer()}; "
            f"{self.n_words} words; {number_of(len(self.dropped), 'word')} dropped>"
        )

    def in_words(self) -> list[str]:
        """Say what was found, in lines for the screen."""
        return [
            f"relative norm distance, {self.name}",
            f"  {self.value:.6f} over {self.n_words} words, {self.mean:.6f} per word: {self._nearer()}",
            *caveats(NORM_DEFECTS, NORM_SOURCE),
        ]


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
    >>> from bayesbias import direct_bias
    >>> result = direct_bias("minilm-static", "gender")
    >>> round(result.value, 3), result.towards[:2], result.away[:2]
    (0.11, ('he', 'his'), ('she', 'hers'))
    """
    strictness = checks.not_negative(strictness, "strictness")
    listed = None if wordlist is None else load_wordlist(wordlist, controls="none")
    where = "direct bias" if listed is None else f"word list {listed.name}"
    if words is None and listed is not None:
        words = listed.attribute_words
    wanted = unique_words(() if words is None else words, "words")
    couples = defining_pairs(listed.definitional_sets if sets is None and listed is not None else sets, where)
    if not wanted:
        raise InputError("no words are given to measure", where=where, valid="a word list, or words=[...]")
    asked = tuple(dict.fromkeys([*(w for couple in couples for w in couple), *wanted]))
    vectors, missing, notes, name = vectors_of_words(embedding, asked)
    used = [(m, f) for m, f in couples if m in vectors and f in vectors]
    present = [w for w in wanted if w in vectors]
    for noun, left, before in (("pair", used, couples), ("word", present, wanted)):
        if not left:
            raise InputError(f"no {noun} of {len(before)} is whole in the vocabulary", where=name)
    differences = np.array([vectors[m] - vectors[f] for m, f in sorted(used)])
    _, lengths, components = np.linalg.svd(differences, full_matrices=False)
    if lengths[0] <= ROUNDING:
        raise InputError("the words of each pair have the same vector, so there is no direction", where=name)
    direction = components[0]
    lean = float(direction @ differences.mean(axis=0))
    if abs(lean) <= ROUNDING:
        raise InputError(
            "the pair differences cancel: half of them point the other way, so no direction is theirs",
            where=name,
            hint="is the first word of every pair of the same class?",
        )
    direction = direction if lean > 0 else -direction
    against = [(m, f) for m, f in used if (vectors[m] - vectors[f]) @ direction < 0]
    if against:
        notes.append(f"against the direction of the others: {some('/'.join(pair) for pair in against)}")
    cosines = [float(vectors[w] @ direction) for w in present]
    parts = [0.0 if abs(c) <= ROUNDING else min(abs(c), 1.0) ** strictness for c in cosines]
    return DirectBias(
        name=name,
        dropped=missing,
        notes=tuple(notes),
        _pairs=frame_of_rows(
            list(zip(present, cosines, parts, strict=True)), ["word", "cosine", "contribution"]
        ),
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
    >>> from bayesbias import relative_norm_distance
    >>> result = relative_norm_distance("minilm-static", "gender")
    >>> round(result.value, 3), result.classes, result.n_words
    (-0.147, ('man', 'woman'), 25)
    """
    listed = load_wordlist(wordlist, controls="none")
    sides = classes_of_list(listed, classes)
    wanted = unique_words(
        [v for c in sides for v in dict.fromkeys(c.attributes)] if words is None else words,
        "words",
        repeats=words is None,
    )
    asked = tuple(dict.fromkeys([*sides[0].protected, *sides[1].protected, *wanted]))
    vectors, missing, notes, name = vectors_of_words(embedding, asked, unit=unit)
    x, y = ([w for w in c.protected if w in vectors] for c in sides)
    present = [w for w in wanted if w in vectors]
    refuse_none_left((x, y), sides, "word", name)
    if not present:
        raise InputError("no word of the words is in the vocabulary", where=name)
    mean_x, mean_y = (np.mean([vectors[w] for w in sorted(side)], axis=0) for side in (x, y))
    rows = []
    for word in present:
        far_x, far_y = (float(np.linalg.norm(vectors[word] - mean)) for mean in (mean_x, mean_y))
        rows.append((word, far_x, far_y, far_x - far_y))
    value = math.fsum(row[3] for row in rows)
    return RelativeNormDistance(
        name=f"{listed.name} in {name}",
        dropped=missing,
        notes=tuple(notes),
        _pairs=frame_of_rows(rows, ["word", "distance_x", "distance_y", "difference"]),
        value=value,
        mean=value / len(rows),
        unit=unit,
        classes=(sides[0].name, sides[1].name),
        x=tuple(x),
        y=tuple(y),
        words=tuple(present),
        n_x=len(x),
        n_y=len(y),
        n_words=len(present),
    )


def vectors_of_words(
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


def defining_pairs(sets: Iterable[Sequence[str]] | None, where: str) -> list[tuple[str, str]]:
    couples = []
    for couple in () if sets is None else checks.several(sets, "pair", "sets"):
        if (
            not isinstance(couple, Sized)
            or isinstance(couple, str)
            or len(couple) != 2
            or couple[0] == couple[1]
        ):
            raise InputError(
                "a direction is defined by pairs of different words",
                where=where,
                found=couple,
                valid='sets of two, such as ("he", "she")',
                hint="choose two columns of larger sets with sets=[...]",
            )
        couples.append((couple[0], couple[1]))
    if not couples:
        raise InputError(
            "no pairs define a direction",
            where=where,
            valid='definitional_sets in the word list, or sets=[("he", "she"), ...]',
        )
    return couples


def measured_direct_bias(given: Given, **settings: Any) -> DirectBias:
    """Compute direct bias as the command does."""
    return direct_bias(given.vectors, given.words, **settings)


def measured_relative_norm_distance(given: Given) -> RelativeNormDistance:
    """Compute the relative norm distance as the command does."""
    assert given.words is not None  # vectors come with a word list
    return relative_norm_distance(given.vectors, given.words, classes=given.classes)
