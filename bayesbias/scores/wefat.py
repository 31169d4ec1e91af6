"""WEFAT: the scores of words with two sets of attributes, and their correlation with a covariate.

Source: Caliskan, Bryson and Narayanan (2017), the word embedding factual association test: the
score of a word is ``(mean cosine with A - mean cosine with B) / SD of its cosines with both``, with
n - 1 in the standard deviation.
"""

import dataclasses
import itertools
import math
import secrets
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bayesbias.core import checks
from bayesbias.core.errors import InputError
from bayesbias.core.formatting import some
from bayesbias.embeddings.embedding import Embedding
from bayesbias.embeddings.loading import load_embedding
from bayesbias.scores.inputs import Array, classes_of_list, vectors_of
from bayesbias.scores.score import ROUNDING, Score
from bayesbias.tables.covariates import Given, covariates_given
from bayesbias.wordlists.listfile import load_wordlist

SAMPLES = 99_999
"""Permutations drawn for a p-value."""
_LEAST = 4  # words; Fisher's z needs more than three
_ALL_ORDERS = 8  # words of which every order is taken


def wefat_score(
    embedding: Any,
    sets: Any = "wefat",
    covariates: Any = None,
    covariate: str | None = None,
    *,
    classes: Sequence[str] | None = None,
    prob: float = 0.89,
    samples: int = SAMPLES,
    seed: int | None = None,
) -> Score:
    """Correlate the association of words with two sets of attributes with a number for each word.

    Parameters
    ----------
    embedding : Embedding, or anything `load_embedding` reads
    sets : default "wefat"
        A word list with two classes (or two of its `classes`), whose protected words are the two
        sets A and B; what `load_wordlist` takes.
    covariates : path, data frame or mapping
        A table with a column ``word`` and numbers, or ``{covariate: {word: number}}``; see
        `bayesbias.tables.join_covariates`. Its words are those that are scored.
    covariate : str, optional
        Which of its columns; needed where there are several.
    classes : pair of str, optional
        The classes of the list to take as A and B; needed where there are more than two.
    prob : float, default 0.89
        Of the interval.
    samples : int, default 99999
        Orders that the permutation test draws where there are more than eight words.
    seed : int, optional
        What they are drawn with. Without one a fresh seed is drawn, and reported.

    Returns
    -------
    Score
        The value is Pearson's r of score and covariate, its interval by Fisher's z. `p_value` is
        two-sided: how often the covariates, dealt to the words anew, correlate as strongly.
        Details: ``covariate, r_undivided`` (r of the differences of mean cosines, not divided by
        each word's SD), ``samples, seed, missing`` (scored words without a vector), ``scores,
        covariates, a, b``. Its ``pairs()`` have ``word, mean_a, mean_b, sd, score, covariate``.

    Raises
    ------
    InputError
        If there are not two classes, one numeric covariate, and four words with a vector, a score
        and a covariate; or the covariates or the scores do not vary.

    Notes
    -----
    The correlation is of averages over few attributes: it knows neither their error nor that all
    scores share it. `bayesbias.wefat` adds a model that does.

    Examples
    --------
    >>> import bayesbias as bb
    >>> women = {"nurse": 90.0, "librarian": 83.0, "teacher": 74.0, "surgeon": 30.0, "carpenter": 2.0, "plumber": 1.0}
    >>> result = bb.scores.wefat_score("minilm-static", "wefat", {"percent_women": women})
    >>> result.n["words"], result.p_method, result.r > 0.5
    (6, 'exact', True)
    """
    import pandas as pd

    prob = checks.probability(prob)
    listed = load_wordlist(sets, controls="none")
    both_classes = classes_of_list(listed, classes)
    chosen = _chosen({} if covariates is None else covariates, covariate)
    own = [list(dict.fromkeys(c.protected)) for c in both_classes]
    both = {*own[0], *own[1]}
    wanted = [word for word in chosen.values if word not in both]
    notes = []
    if len(wanted) < len(chosen.values):
        notes.append(
            f"words of the two sets are not scored: {some(w for w in chosen.values if w in both)}"
        )
    if chosen.without:
        notes.append(f"no {chosen.name} is given of {some(chosen.without)}")
    if not wanted:
        raise InputError("no word has the covariate", where=chosen.source, found=chosen.name)
    every = [*own[0], *own[1], *wanted]
    loaded = (
        embedding if isinstance(embedding, Embedding) else load_embedding(embedding, words=every)
    )
    held = vectors_of(loaded, every)
    if pieces := [word for word in dict.fromkeys(every) if word in set(loaded.composed)]:
        notes.append(f"built from subwords: {some(pieces)}")
    kept, doubled = _once(held.known(wanted, "word"), held.of, chosen)
    sides = [
        held.known(words, f"word of the protected class {c.name!r}")
        for words, c in zip(own, both_classes, strict=True)
    ]
    a, b = (held.rows(sorted(side)) for side in sides)
    rows, still = [], []
    for word in kept:
        near, far = a @ held.of[word], b @ held.of[word]
        mean_a, mean_b = math.fsum(near) / len(near), math.fsum(far) / len(far)
        sd = float(np.std(np.concatenate([near, far]), ddof=1))
        if sd > ROUNDING:
            rows.append(
                (word, mean_a, mean_b, sd, (mean_a - mean_b) / sd, float(chosen.values[word]))
            )
        else:
            still.append(word)
    if still:
        notes.append(f"no score, since their cosines do not vary: {some(still)}")
    if len(rows) < _LEAST:
        raise InputError(
            f"fewer than {_LEAST} words have a vector, the covariate and a score",
            where=held.name,
            found=[row[0] for row in rows] or "none",
        )
    # In alphabetical order, so that one seed draws the same orders whatever that of the covariates.
    away, scores, values = (
        np.array(column)
        for column in zip(*((r[1] - r[2], r[4], r[5]) for r in sorted(rows)), strict=True)
    )
    for what, numbers in ((f"the covariate {chosen.name!r}", values), ("the score", scores)):
        if np.ptp(numbers) <= ROUNDING * np.abs(numbers).max():
            raise InputError(
                f"{what} is the same for all words", where=chosen.source, found=float(numbers[0])
            )
    r = _correlation(scores, values)
    p, method, seed = _permutation_p(scores, values, samples, seed)
    low, high = fisher_interval(r, len(rows), prob)
    return Score(
        name="wefat",
        data=f"{listed.name} in {held.name}",
        label="r",
        value=r,
        low=low,
        high=high,
        prob=prob,
        p_value=p,
        p_method=method,
        n={"words": len(rows), "a": len(a), "b": len(b)},
        classes=(both_classes[0].name, both_classes[1].name),
        dropped=tuple(w for w in held.missing if w in both),
        notes=(*notes, *held.notes, *doubled),
        details={
            "covariate": chosen.name,
            "r_undivided": _correlation(away, values) if np.ptp(away) > ROUNDING else None,
            "samples": samples if method == "montecarlo" else None,
            "seed": seed,
            "missing": tuple(w for w in held.missing if w not in both),
            "scores": {row[0]: row[4] for row in rows},
            "covariates": {row[0]: row[5] for row in rows},
            **{"a": tuple(sides[0]), "b": tuple(sides[1])},
        },
        table=pd.DataFrame(rows, columns=["word", "mean_a", "mean_b", "sd", "score", "covariate"]),
    )


def _chosen(covariates: Any, covariate: str | None) -> Given:
    """Return the one covariate to correlate with."""
    given = {each.name: each for each in covariates_given(covariates)}
    if not given:
        raise InputError("there is no covariate to correlate with", where="covariates")
    if covariate is None and len(given) > 1:
        raise InputError("name the covariate", where="covariate", valid=list(given))
    name = checks.choice(covariate or next(iter(given)), given, "covariate", "covariate")
    chosen = given[name]
    if not chosen.numeric:
        found = next((w, v) for w, v in chosen.values.items() if isinstance(v, str))
        problem = f"the covariate {name!r} is not a number"
        raise InputError(problem, where=chosen.source, found=found)
    return chosen


def _once(
    words: Sequence[str], vectors: Mapping[str, Array], covariate: Given
) -> tuple[list[str], list[str]]:
    """Keep one of the spellings of a word that have the same vector.

    Their covariates must agree.
    """
    first: dict[tuple[str, bytes], str] = {}
    notes = []
    for word in words:
        known = first.setdefault((word.casefold(), vectors[word].tobytes()), word)
        if known == word:
            continue
        if covariate.values[known] != covariate.values[word]:
            raise InputError(
                f"{known!r} and {word!r} have one vector and two values of {covariate.name}",
                where=covariate.source,
                found=(covariate.values[known], covariate.values[word]),
            )
        notes.append(f"{word} and {known} are one word of the vectors, which counts once")
    return list(first.values()), notes


def at_prob(score: Score, prob: float) -> Score:
    """Return the score with an interval of another probability."""
    assert score.value is not None
    low, high = fisher_interval(score.value, score.n["words"], prob)
    return dataclasses.replace(score, prob=prob, low=low, high=high)


def _correlation(first: Array, second: Array) -> float:
    """Return Pearson's correlation."""
    return float(np.clip(np.corrcoef(first, second)[0, 1], -1.0, 1.0))


def _permutation_p(
    scores: Array, values: Array, samples: int, seed: int | None
) -> tuple[float, str, int | None]:
    """Return the share of orders that correlate as strongly, the observed one among them.

    All orders of few words.
    """
    a, b = (x - x.mean() for x in (scores, values))
    a, b = a / np.linalg.norm(a), b / np.linalg.norm(b)
    least = abs(float(a @ b)) - ROUNDING
    if len(a) <= _ALL_ORDERS:
        orders = np.array(list(itertools.permutations(range(len(a)))))
        return float(np.mean(np.abs(b[orders] @ a) >= least)), "exact", None
    seed = secrets.randbits(32) if seed is None else seed
    random = np.random.default_rng(seed)
    hits = 0
    for first in range(0, samples, 10_000):
        drawn = random.permuted(np.tile(b, (min(10_000, samples - first), 1)), axis=1)
        hits += int(np.count_nonzero(np.abs(drawn @ a) >= least))
    return (hits + 1) / (samples + 1), "montecarlo", seed


def fisher_interval(r: float, n: int, prob: float) -> tuple[float, float]:
    """Return the interval of a correlation by Fisher's z (1921): its standard error is 1 / sqrt(n - 3)."""
    from scipy.special import ndtri

    if abs(r) >= 1 - ROUNDING:
        return r, r
    half = float(ndtri((1 + prob) / 2)) / math.sqrt(n - 3)
    return math.tanh(math.atanh(r) - half), math.tanh(math.atanh(r) + half)
