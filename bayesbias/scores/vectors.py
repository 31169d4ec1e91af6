"""Scores of vectors: direct bias, relative norm distance, RIPA, ECT, RNSB.

Sources: equations 1 and 5 of the seed paper; Bolukbasi et al. (2016), Garg et al. (2018),
Ethayarajh, Duvenaud and Hirst (2019), Dev and Phillips (2019), Sweeney and Najafian (2019).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from bayesbias.core import InputError, checks, some
from bayesbias.embeddings.embedding import (
    Embedding,
    check_dimensions,
    first_with_vector,
    units,
)
from bayesbias.embeddings.loading import load_embedding
from bayesbias.embeddings.spelling import notes_of_spellings, without_notes_of_words
from bayesbias.scores.resampling import RESAMPLES, Array, percentile_interval
from bayesbias.scores.score import ROUNDING, Score, two_of
from bayesbias.wordlists.listfile import load_wordlist
from bayesbias.wordlists.wordlist import WordClass, WordList

ROUNDING_OF_SINGLES = 2.0**-20
"""As `ROUNDING`, for vectors that are stored in single precision."""


def direct_bias(
    embedding: Any,
    wordlist: Any = None,
    *,
    words: Iterable[str] | None = None,
    sets: Iterable[Sequence[str]] | None = None,
    strictness: float = 1.0,
) -> Score:
    """Compute the direct bias of words along the direction of word pairs.

    Parameters
    ----------
    embedding : Embedding, or anything `load_embedding` reads
        Word vectors.
    wordlist : optional
        What `load_wordlist` takes. Its attributes are the words, its definitional sets the pairs.
    words : iterable of str, optional
        The words that ought to be neutral, instead of the list's attributes.
    sets : iterable of pairs of str, optional
        The pairs, such as ``("he", "she")``, instead of the list's definitional sets.
    strictness : float, default 1
        The exponent c, at least 0. With 0 a word counts fully unless it is exactly at right angles
        to the direction.

    Returns
    -------
    Score
        The value is the mean of ``|cos(w, g)|^c``, in [0, 1]. Details: ``strictness, explained``
        (the share of the pair differences' sum of squares along g), ``direction`` (g, of length 1,
        toward the first words of most pairs), ``towards, away`` (the words on either side of
        it). Its ``pairs()`` have ``word, cosine, contribution``.

    Raises
    ------
    InputError
        If there are no pairs or no words with vectors, or the words of a pair have the same vector.

    Notes
    -----
    Equation 1 of the seed paper. Vectors have length 1 before anything else (Bolukbasi et al.,
    2016). The direction is the first principal component of the pair differences *around zero*:
    around their mean it would be what they differ in, not what they share. The value does not depend on
    its sign, nor on the order of pairs and words.

    Examples
    --------
    >>> from bayesbias import direct_bias
    >>> result = direct_bias("minilm-static", "gender")
    >>> round(result.value, 3), result.towards[:2], result.away[:2]
    (0.11, ('he', 'his'), ('she', 'hers'))
    """
    listed = None if wordlist is None else load_wordlist(wordlist, controls="none")
    where = "direct bias" if listed is None else f"word list {listed.name}"
    if listed is not None:
        words = listed.attribute_words if words is None else words
        sets = listed.definitional_sets if sets is None else sets
    wanted = checks.once(words or ())
    if not wanted:
        hint = "give a word list, or words=[...]"
        raise InputError("expected words to measure, got none", where=where, hint=hint)
    couples = defining_pairs(sets, where)
    held = vectors_of(embedding, [*sum(couples, ()), *wanted])
    present = held.known(wanted, f"word of {len(wanted)}")
    used = _pairs_once(held, couples)
    differences = _differences(held, used)
    direction = _first_component(differences)
    along = _differences(held, used, sort=False) @ direction
    if along.sum() < 0:
        direction, along = -direction, -along
    sides = [pair if part >= 0 else pair[::-1] for pair, part in zip(used, along, strict=True)]
    notes = held.all_notes()
    if against := [pair for pair, part in zip(used, along, strict=True) if part < 0]:
        pairs = some("/".join(pair) for pair in against)
        notes.append(f"against the direction of the others: {pairs}")
    cosines = held.rows(present) @ direction
    cosines[np.abs(cosines) <= ROUNDING] = 0.0
    parts = np.where(cosines == 0, 0.0, np.minimum(np.abs(cosines), 1.0) ** strictness)
    return Score(
        name="direct_bias",
        data=held.name,
        label="mean share",
        value=math.fsum(parts) / len(parts),
        n={"words": len(present), "pairs": len(used)},
        dropped=held.missing,
        notes=tuple(notes),
        details={
            "strictness": strictness,
            "explained": float(np.sum((differences @ direction) ** 2) / np.sum(differences**2)),
            "towards": tuple(first for first, _ in sides),
            "away": tuple(second for _, second in sides),
            "direction": direction,
        },
        table=pd.DataFrame({"word": present, "cosine": cosines, "contribution": parts}),
    )


def relative_norm_distance(
    embedding: Any,
    wordlist: Any,
    *,
    classes: Sequence[str] | None = None,
    words: Iterable[str] | None = None,
    unit: bool = True,
) -> Score:
    """Compute how much nearer words are to one class's mean vector.

    Parameters
    ----------
    embedding : Embedding, or anything `load_embedding` reads
        Word vectors.
    wordlist
        What `load_wordlist` takes.
    classes : pair of str, optional
        The protected classes to take as X and Y, as in `weat`.
    words : iterable of str, optional
        The words whose distances are compared; by default the attributes of both classes.
    unit : bool, default True
        Bring all vectors to length 1 first (Garg et al., 2018). If not, the result is in the units
        of the vectors, and grows with them.

    Returns
    -------
    Score
        The value is the sum over words of the distance to the mean vector of X minus that to the
        mean vector of Y; below zero: nearer to X. Details: ``mean`` (per word). Its
        ``pairs()`` have ``word, distance_x, distance_y, difference``.

    Raises
    ------
    InputError
        If there are not two classes, each with a word in the vocabulary, or no word has a vector.

    Notes
    -----
    Equation 5 of the seed paper, with Euclidean distances.

    Examples
    --------
    >>> from bayesbias import relative_norm_distance
    >>> result = relative_norm_distance("minilm-static", "gender")
    >>> round(result.value, 3), result.classes, result.n["words"]
    (-0.147, ('man', 'woman'), 25)
    """
    listed = load_wordlist(wordlist, controls="none")
    pair = x, y = classes_of_list(listed, classes)
    wanted = [*x.attributes, *y.attributes] if words is None else words
    held = vectors_of(embedding, [*x.protected, *y.protected, *wanted], unit)
    own = held.of_classes(pair)
    present = held.known(wanted, "word")
    rows = held.rows(present)
    far = [np.linalg.norm(rows - held.rows(sorted(side)).mean(axis=0), axis=1) for side in own]
    table = pd.DataFrame({"word": present, "distance_x": far[0], "distance_y": far[1]})
    table["difference"] = far[0] - far[1]
    value = math.fsum(table["difference"])
    if abs(value) <= held.rounding * math.fsum(far[0] + far[1]):
        value = 0.0
    return Score(
        name="relative_norm_distance",
        label="sum of differences",
        value=value,
        n={"x": len(own[0]), "y": len(own[1]), "words": len(present)},
        details={"mean": value / len(present)},
        table=table,
        **_about(listed, pair, held),
    )


def ripa(
    embedding: Any,
    wordlist: Any,
    *,
    classes: Sequence[str] | None = None,
    sets: Sequence[Sequence[str]] | None = None,
    prob: float = 0.89,
    resamples: int = RESAMPLES,
    seed: int | None = None,
) -> Score:
    """Compute the relational inner product association (RIPA).

    Parameters
    ----------
    embedding : Embedding, or anything `load_embedding` reads
        Word vectors.
    wordlist
        What `load_wordlist` takes. Its definitional sets are the pairs.
    classes : pair of str, optional
        As in `weat`.
    sets : sequence of pairs of str, optional
        The pairs instead of the list's definitional sets. The order of the words of a pair does not
        matter.
    prob, resamples, seed
        Of the bootstrap, which draws the pairs and the attributes of either class again.

    Returns
    -------
    Score
        The value is the mean RIPA of the attributes of X minus that of Y's. Details: ``mean`` (by
        class), ``mean_absolute, direction, towards, away``. Its ``pairs()`` have
        ``word, attribute_of, score``.

    Raises
    ------
    InputError
        If there are no pairs or no two classes, no word is in the vocabulary, a pair cannot tell
        the classes apart, or the differences of the pairs cancel.

    Notes
    -----
    beta(w; b) = <w, b>, where b is the first principal component of the differences of the pairs,
    around zero and of length 1; with one pair it is their difference over its length. Vectors are
    as they are, not of length 1. Each difference points from Y to X: the mean of the protected
    words of X lies further along it than that of Y. The sign of b is that of their mean.

    Examples
    --------
    >>> from bayesbias.scores import ripa
    >>> result = ripa("minilm-static", "gender", seed=1)
    >>> result.classes, result.n["pairs"], result.value > 0
    (('man', 'woman'), 7, True)
    """
    listed = load_wordlist(wordlist, controls="none")
    pair = x, y = classes_of_list(listed, classes)
    couples = defining_pairs(
        listed.definitional_sets if sets is None else sets, f"word list {listed.name}"
    )
    protected = [*x.protected, *y.protected]
    wanted = [*sum(couples, ()), *x.attributes, *y.attributes, *protected]
    held = vectors_of(embedding, wanted, unit=False)
    used = _toward_first_class(held, _pairs_once(held, couples), pair)
    differences = _differences(held, used)
    if (direction := _main_direction(differences)) is None:
        problem = "expected pairs whose differences share a direction, got some that cancel"
        hint = "leave out pairs that differ in something else"
        raise InputError(problem, where=held.name, hint=hint)
    # In alphabetical order, so that one seed draws the same words whatever their order in the list.
    own = held.of_classes(pair, "attributes")
    vectors = [held.rows(sorted(words)) for words in own]
    least = held.rounding * max(float(np.linalg.norm(v, axis=1).max()) for v in vectors)

    def nonzero(value: float) -> float:
        return value if abs(value) > least else 0.0

    def difference(pairs: Array, first: Array, second: Array) -> float | None:
        found = _main_direction(np.repeat(differences, pairs.astype(int), axis=0))
        if found is None:
            return None
        a, b = (
            np.average(v @ found, weights=n) for v, n in zip(vectors, (first, second), strict=True)
        )
        return nonzero(float(a - b))

    means = [float((v @ direction).mean()) for v in vectors]
    value = nonzero(means[0] - means[1])
    drawn, notes = percentile_interval(
        difference, [len(used), *map(len, own)], prob, resamples, seed, value
    )
    if both := [w for w in own[0] if w in set(own[1])]:
        notes = [f"attributes of both classes: {some(both)}", *notes]
    words = [*own[0], *own[1]]
    names = np.repeat([c.name for c in pair], [len(side) for side in own])
    table = pd.DataFrame(
        {"word": words, "attribute_of": names, "score": held.rows(words) @ direction}
    )
    return Score(
        name="ripa",
        label="difference",
        value=value,
        n={"pairs": len(used), "a": len(own[0]), "b": len(own[1])},
        details={
            "mean": dict(zip((x.name, y.name), means, strict=True)),
            "mean_absolute": float(table["score"].abs().mean()),
            "direction": direction,
            "towards": tuple(first for first, _ in used),
            "away": tuple(second for _, second in used),
        },
        table=table,
        **_about(listed, pair, held, notes),
        **drawn,
    )


def ect(
    embedding: Any,
    wordlist: Any,
    *,
    classes: Sequence[str] | None = None,
    prob: float = 0.89,
    resamples: int = RESAMPLES,
    seed: int | None = None,
) -> Score:
    """Compute the embedding coherence test of two classes.

    Parameters
    ----------
    embedding : Embedding, or anything `load_embedding` reads
        Word vectors.
    wordlist
        What `load_wordlist` takes. The attributes of both classes are ordered.
    classes : pair of str, optional
        As in `weat`.
    prob, resamples, seed
        Of the bootstrap, which draws the words of either class and the attributes again.

    Returns
    -------
    Score
        The value is Spearman's correlation, in [-1, 1], of the attributes' cosines with the mean
        vectors of X and of Y; 1 where both order them alike. Its ``pairs()`` have ``word, cosine_x,
        cosine_y, rank_x, rank_y``.

    Raises
    ------
    InputError
        If there are not two classes, each with a word in the vocabulary, and three attributes.

    Notes
    -----
    Spearman's correlation, over attributes a, of cos(mean of X, a) and cos(mean of Y, a). Ties
    share their mean rank.

    Examples
    --------
    >>> from bayesbias.scores import ect
    >>> result = ect("minilm-static", "gender", seed=1)
    >>> round(result.value, 3), result.n["words"]
    (-0.012, 25)
    """
    listed = load_wordlist(wordlist, controls="none")
    pair = x, y = classes_of_list(listed, classes)
    wanted = [*x.attributes, *y.attributes]
    held = vectors_of(embedding, [*x.protected, *y.protected, *wanted], unit=False)
    own = held.of_classes(pair)
    present = held.known(wanted, "attribute")
    if len(present) < 3:
        problem = f"expected three attributes or more, got {some(present)}"
        raise InputError(problem, where=held.name)
    # In alphabetical order, so that one seed draws the same words whatever their order in the list.
    sides = [held.rows(sorted(words)) for words in own]
    in_order = sorted(present)
    attributes = units(held.rows(in_order))

    def cosines_of(counts: Sequence[Array]) -> list[Array] | None:
        means = [np.average(side, axis=0, weights=n) for side, n in zip(sides, counts, strict=True)]
        lengths = [float(np.linalg.norm(mean)) for mean in means]
        if min(lengths) <= ROUNDING:
            return None
        return [attributes @ mean / length for mean, length in zip(means, lengths, strict=True)]

    if (cosines := cosines_of([np.ones(len(side)) for side in sides])) is None:
        problem = "expected classes whose mean vector has a direction, got one of length 0"
        raise InputError(problem, where=held.name)
    value = _spearman(*cosines)

    def correlation(first: Array, second: Array, drawn: Array) -> float | None:
        if (found := cosines_of([first, second])) is None:
            return None
        a, b = (np.repeat(x, drawn.astype(int)) for x in found)
        return _spearman(a, b)

    drawn, notes = percentile_interval(
        correlation, [*map(len, own), len(present)], prob, resamples, seed, value
    )
    if value is None:
        notes = ["all attributes are equally near to a class, so there is no correlation", *notes]
    names = ("cosine_x", "cosine_y", "rank_x", "rank_y")
    numbers = dict(zip(names, [*cosines, *map(_ranks, cosines)], strict=True))
    return Score(
        name="ect",
        label="rank correlation",
        value=value,
        n={"x": len(own[0]), "y": len(own[1]), "words": len(present)},
        table=pd.DataFrame(numbers, index=in_order).loc[present].rename_axis("word").reset_index(),
        **_about(listed, pair, held, notes),
        **drawn,
    )


def rnsb(
    embedding: Any,
    wordlist: Any,
    *,
    classes: Sequence[str] | None = None,
    shrinkage: float = 1.0,
    prob: float = 0.89,
    resamples: int = RESAMPLES,
    seed: int | None = None,
) -> Score:
    """Compute the relative negative sentiment bias of the words of classes.

    Parameters
    ----------
    embedding : Embedding, or anything `load_embedding` reads
        Word vectors.
    wordlist
        What `load_wordlist` takes.
    classes : pair of str, optional
        As in `weat`. The attributes of the second count as the negative ones. Of a list with two
        attribute sets that belong to no class, all classes are judged, and the second set counts as
        negative.
    shrinkage : float, default 1
        C of the logistic regression, from 1e-6 to 1e6, as in scikit-learn: C times the loss of
        every attribute, plus half the squared length of the weights; the intercept is not shrunk.
    prob, resamples, seed
        Of the bootstrap, which draws the attributes and the words of either class again, and trains
        the classifier anew.

    Returns
    -------
    Score
        The value is the Kullback-Leibler divergence of the words' shares from equal ones, in nats.
        Details: ``largest`` (log n, which it cannot exceed), ``mean_probability`` (of a negative
        attribute, by class), ``shrinkage``. Its ``pairs()`` have
        ``protected_word, protected_class, probability, share``.

    Raises
    ------
    InputError
        If there are not two classes, each with a word and an attribute in the vocabulary, or an
        attribute is of both.

    Notes
    -----
    A logistic regression is trained on the vectors of the attributes, as they are. P holds, for
    each protected word, the probability that it is a negative attribute, over the sum of these; the
    score is the divergence of P from the uniform distribution. The regression is convex and is
    solved by Newton's method, in the space that the attributes span.

    Examples
    --------
    >>> from bayesbias.scores import rnsb
    >>> result = rnsb("minilm-static", "weat7", resamples=99, seed=1)
    >>> 0 < result.value < result.largest, result.n["x"], result.n["a"]
    (True, 8, 8)
    """
    from scipy.special import softmax

    shrinkage = checks.positive(shrinkage, "shrinkage")
    listed = load_wordlist(wordlist, controls="none")
    shared = [] if any(c.attributes for c in listed.classes) else list(listed.attribute_sets)
    if len(shared) > 2:
        got = f"expected two attribute sets, got {some(shared)}"
        raise InputError(got, where=f"word list {listed.name}")
    together = classes is None and len(shared) == 2
    x, y = classes_of_list(listed, [c.name for c in listed.classes[:2]] if together else classes)
    groups = listed.classes if together else (x, y)
    if both := [w for w in x.attributes if w in set(y.attributes)]:
        problem = f"expected attributes of one class each, got {some(both)} in both"
        raise InputError(problem, where=f"word list {listed.name}")
    wanted = [word for c in groups for word in c.protected] + [*x.attributes, *y.attributes]
    held = vectors_of(embedding, wanted, unit=False)
    sets = [*held.of_classes(groups), *held.of_classes((x, y), "attributes")]
    if both := [w for w in sets[-2] if held.first[w] in {held.first[v] for v in sets[-1]}]:
        problem = f"expected attributes of one class each, got the vector of {some(both)} in both"
        raise InputError(problem, where=held.name)
    sizes = [len(side) for side in sets]
    # In alphabetical order, so that one seed draws the same words whatever their order in the list.
    words = [word for own in sets[:-2] for word in sorted(own)]
    trained = held.rows([*sorted(sets[-2]), *sorted(sets[-1])])
    # Weights that lie outside the span of the attributes would only add to their length.
    _, lengths, axes = np.linalg.svd(trained, full_matrices=False)
    axes = axes[lengths > lengths[0] * 1e-12]
    trained, judged = trained @ axes.T, held.rows(words) @ axes.T
    negative = np.repeat([0.0, 1.0], sizes[-2:])

    def log_probabilities(counts: Array) -> Array:
        coefficients, intercept = _fit_logistic(trained, negative, shrinkage * counts)
        return -np.logaddexp(0.0, -(judged @ coefficients + intercept))

    def divergence(*counts: Array) -> float:
        logs = log_probabilities(np.concatenate(counts[-2:]))
        return _divergence(np.repeat(logs, np.concatenate(counts[:-2]).astype(int)))

    logs = log_probabilities(np.ones(len(trained)))
    value = _divergence(logs)
    drawn, notes = percentile_interval(divergence, sizes, prob, resamples, seed, value)
    columns = ["protected_word", "protected_class", "probability", "share"]
    numbers = (words, np.repeat([c.name for c in groups], sizes[:-2]), np.exp(logs), softmax(logs))
    table = pd.DataFrame(dict(zip(columns, numbers, strict=True))).set_index(columns[1::-1])
    order = [(c.name, w) for c, side in zip(groups, sets, strict=False) for w in side]
    table = table.loc[order].reset_index()
    letters = "xy" if len(groups) == 2 else [c.name for c in groups]
    return Score(
        name="rnsb",
        label="divergence",
        value=value,
        n=dict(zip([*letters, "a", "b"], sizes, strict=True)),
        details={
            "largest": math.log(len(words)),
            "mean_probability": dict(table.groupby("protected_class")["probability"].mean()),
            "shrinkage": shrinkage,
        },
        table=table[columns],
        **_about(listed, groups, held, notes),
        **drawn,
    )


def _about(
    listed: WordList, pair: Iterable[WordClass], held: Vectors, notes: Iterable[str] = ()
) -> dict[str, Any]:
    """Return what a score says of its data."""
    return {
        "data": f"{listed.name} in {held.name}",
        "classes": tuple(c.name for c in pair),
        "dropped": held.missing,
        "notes": (*held.all_notes(), *notes),
    }


def _pairs_once(held: Vectors, couples: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the pairs that have vectors; those of the same two vectors count once."""
    used: dict[frozenset[str], tuple[str, str]] = {}
    for first, second in couples:
        if first not in held.of or second not in held.of:
            continue
        key = frozenset((held.first[first], held.first[second]))
        if len(key) < 2:
            problem = f"expected two vectors, got one for both {first} and {second}"
            raise InputError(problem, where=f"{held.name}, pair {first}/{second}")
        kept = used.setdefault(key, (first, second))
        held.note_same(kept, (first, second))
    if not used:
        raise InputError(f"expected a pair of {len(couples)}, got none", where=held.name)
    return list(used.values())


def _differences(held: Vectors, pairs: Sequence[tuple[str, str]], sort: bool = True) -> Array:
    """Return the first minus the second vector of each pair.

    In alphabetical order, so that one seed draws the same pairs whatever their order in the list.
    """
    ordered = sorted(pairs, key=sorted) if sort else pairs
    return np.array([held.of[first] - held.of[second] for first, second in ordered])


def _toward_first_class(
    held: Vectors, pairs: Sequence[tuple[str, str]], classes: tuple[WordClass, WordClass]
) -> list[tuple[str, str]]:
    """Return pairs with the word first that lies on the side of the first class.

    The means of the protected words of both classes tell the side.
    """
    sides = held.of_classes(classes)
    mean_x, mean_y = (held.rows(sorted(words)).mean(axis=0) for words in sides)
    scale = max(float(np.linalg.norm(mean)) for mean in (mean_x, mean_y))
    oriented = []
    for first, second in pairs:
        difference = held.of[first] - held.of[second]
        part = float(difference @ (mean_x - mean_y))
        if abs(part) <= held.rounding * scale * float(np.linalg.norm(difference)):
            x, y = (c.name for c in classes)
            problem = f"expected words that differ as the classes {x} and {y} do"
            got = "the protected words of both classes lie equally far along their difference"
            hint = "leave the pair out of definitional_sets"
            where = f"{held.name}, pair {first}/{second}"
            raise InputError(f"{problem}, got a pair that does not: {got}", where=where, hint=hint)
        oriented.append((first, second) if part > 0 else (second, first))
    return oriented


def _first_component(differences: Array) -> Array:
    """Return the first principal component around zero; its sign means nothing.

    It is that of rows with signs turned alike, so that their order within a pair does not matter.
    """
    largest = np.abs(differences).argmax(axis=1)
    signs = np.sign(differences[np.arange(len(differences)), largest])
    _, _, components = np.linalg.svd(differences * signs[:, None], full_matrices=False)
    return np.asarray(components[0])


def _main_direction(differences: Array) -> Array | None:
    """Return the first principal component around zero, with the sign of the mean.

    None where these cancel.
    """
    component = _first_component(differences)
    along = differences @ component
    if abs(along.mean()) <= ROUNDING * np.linalg.norm(along):
        return None
    return np.sign(along.mean()) * component


def _ranks(values: Array) -> Array:
    """Return ranks from 1, where values that are equal up to rounding share theirs."""
    from scipy.stats import rankdata

    return rankdata(np.round(values, 12))


def _spearman(first: Array, second: Array) -> float | None:
    """Return Spearman's correlation; None where one of the two does not vary."""
    ranks = np.array([_ranks(first), _ranks(second)])
    return float(np.corrcoef(ranks)[0, 1]) if np.ptp(ranks, axis=1).all() else None


def _divergence(logs: Array) -> float:
    """Return the divergence of shares from equal ones, from log probabilities."""
    from scipy.special import softmax
    from scipy.stats import entropy

    return max(0.0, math.log(len(logs)) - float(entropy(softmax(logs))))


def _fit_logistic(vectors: Array, labels: Array, weights: Array) -> tuple[Array, float]:
    """Return the coefficients and the intercept of a logistic regression.

    They minimize the weighted sum of the losses plus half the squared length of the coefficients,
    by Newton's method with steps halved until the sum falls.
    """
    design = np.column_stack([vectors, np.ones(len(vectors))])
    ridge = np.append(np.ones(vectors.shape[1]), 0.0)
    signs = 2 * labels - 1
    at = np.zeros(design.shape[1])

    def total(point: Array) -> float:
        return float(
            weights @ np.logaddexp(0.0, -signs * (design @ point)) + 0.5 * ridge @ point**2
        )

    value = total(at)
    for _ in range(100):
        p = 0.5 * (1 + np.tanh(0.5 * (design @ at)))
        gradient = design.T @ (weights * (p - labels)) + ridge * at
        curvature = design.T @ (design * (weights * p * (1 - p))[:, None])
        curvature.flat[:: len(at) + 1] += ridge
        step = np.linalg.solve(curvature, gradient)
        if float(gradient @ step) < 1e-20:
            break
        size = 1.0
        while total(at - size * step) > value and size > 1e-8:
            size /= 2
        at = at - size * step
        value = total(at)
    return at[:-1], float(at[-1])


def classes_of_list(listed: WordList, classes: Sequence[str] | None) -> tuple[WordClass, WordClass]:
    """Return the two classes of a list that are chosen, or the only two there are.

    Of attribute sets that belong to no class the first becomes that of X, and the others those of
    Y.
    """
    by_name = {c.name: c for c in listed.classes}
    x, y = (by_name[c] for c in two_of(list(by_name), classes, f"word list {listed.name}"))
    if listed.attribute_sets and not (x.attributes or y.attributes):
        first, *rest = listed.attribute_sets.values()
        others = tuple(word for words in rest for word in words)
        x, y = replace(x, attributes=first), replace(y, attributes=others)
    return x, y


@dataclass(frozen=True, eq=False)
class Vectors:
    """The vectors of those of some words that have one.

    Words with the same vector are one word: `first` has the first of them for each word. `same`
    collects those that were left out of a score, under the words that were kept.
    """

    name: str
    of: dict[str, Array]
    missing: tuple[str, ...]
    composed: tuple[str, ...]
    misspelled: dict[str, str]
    notes: list[str]
    first: dict[str, str]
    rounding: float  # numbers that differ by less than this part of the vectors are equal
    same: dict[str, dict[str, None]] = field(default_factory=dict)

    def known(self, words: Iterable[str], what: str, once: bool = True) -> list[str]:
        """Return the words that have a vector, each vector once; there must be one."""
        found = [w for w in dict.fromkeys(words) if w in self.of]
        if not found:
            raise InputError(f"expected a vector of some {what}, got none", where=self.name)
        if not once:
            return found
        kept: dict[str, str] = {}
        for word in found:
            self.note_same([kept.setdefault(self.first[word], word)], [word])
        return list(kept.values())

    def note_same(self, kept: Iterable[str], words: Iterable[str]) -> None:
        """Note words that count as others, which have the same vectors."""
        left = [word for word in words if word not in kept]
        for word in left:
            other = next(name for name in kept if self.first[name] == self.first[word])
            self.same.setdefault(other, {})[word] = None

    def all_notes(self) -> list[str]:
        """Return the notes on the vectors, and one on words that count once."""
        if not self.same:
            return list(self.notes)
        named = some(("/".join([kept, *others]) for kept, others in self.same.items()), 4)
        count = len({word for kept, others in self.same.items() for word in (kept, *others)})
        return [*self.notes, f"{count} words with the same vector count once: {named}"]

    def of_classes(self, pair: Iterable[WordClass], side: str = "protected") -> list[list[str]]:
        """Return the words (or the attributes) of classes that have a vector."""
        return [self.known(getattr(c, side), f"word of class {c.name!r}") for c in pair]

    def rows(self, words: Iterable[str]) -> Array:
        """Return the vectors of words, one row each."""
        return np.array([self.of[w] for w in words])


def vectors_of(embedding: Any, words: Iterable[str], unit: bool = True) -> Vectors:
    """Return the vectors of words, of length 1 unless `unit` is False."""
    asked = tuple(dict.fromkeys(words))
    held = embedding if isinstance(embedding, Embedding) else load_embedding(embedding, words=asked)
    present = [w for w in asked if w in held]
    if not present:
        raise InputError(f"expected a vector of {some(asked)}, got none", where=held.name)
    matched = {word: held.matched[word] for word in present if word in held.matched}
    notes = [*notes_of_spellings(matched), *without_notes_of_words(held.notes)]
    array = np.asarray(held.vectors_of(present), dtype=float)
    check_dimensions(array, held.name)
    first = first_with_vector(array)
    if unit:
        array = units(array)
    of = dict(zip(present, array, strict=True))
    return Vectors(
        name=held.name,
        of=of,
        missing=tuple(w for w in asked if w not in of),
        composed=tuple(w for w in asked if w in held.composed),
        misspelled={word: held.misspelled[word] for word in asked if word in held.misspelled},
        notes=notes,
        first={word: present[row] for word, row in zip(present, first, strict=True)},
        rounding=ROUNDING_OF_SINGLES if held.vectors.dtype == np.float32 else ROUNDING,
    )


def defining_pairs(sets: Iterable[Sequence[str]] | None, where: str) -> list[tuple[str, str]]:
    """Return the pairs of words that define a direction."""
    couples = [tuple(couple) for couple in sets or ()]
    wrong = [couple for couple in couples if len(couple) != 2 or couple[0] == couple[1]]
    if wrong or not couples:
        got = some(wrong[0]) if wrong else "none"
        problem = f"expected pairs of words that define a direction, got {got}"
        hint = "add definitional_sets to the word list or, in Python, give sets"
        raise InputError(problem, where=where, hint=hint)
    return [(first, second) for first, second in couples]
