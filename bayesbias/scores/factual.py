"""The single-category test: the scores of words with two sets of attributes, and their correlation with a covariate.

Source: Caliskan, Bryson and Narayanan (2017), the word embedding factual association test (WEFAT): the score of a word is
``(mean cosine with A - mean cosine with B) / sd of its cosines with both``, with n - 1 in the standard deviation.
"""

from __future__ import annotations

import itertools
import math
import os
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesbias.core import checks
from bayesbias.core.digits import p_printed
from bayesbias.core.errors import InputError
from bayesbias.core.wording import Shortened, as_percent, some
from bayesbias.embeddings.embedding import Embedding
from bayesbias.embeddings.loading import load_embedding
from bayesbias.scores.projections import vectors_of_words
from bayesbias.scores.stereotypes import (
    ROUNDING,
    ScoreResult,
    classes_of_list,
    frame_of_rows,
    refuse_none_left,
)
from bayesbias.tables.coverage import composed_in_words
from bayesbias.tables.reading_covariates import Given, as_number, covariates_given
from bayesbias.wordlists.listfile import load_wordlist
from bayesbias.wordlists.wordlist import WordList

__all__ = ["WefatScore", "wefat_score"]

Array = npt.NDArray[np.float64]
SAMPLES = 99_999
"""Permutations drawn for a p-value."""
_LEAST = 4  # words; Fisher's z needs more than three
_ALL_ORDERS = 8  # words of which every order is taken


@dataclass(frozen=True, eq=False, repr=False)
class WefatScore(ScoreResult):
    """The published single-category test.

    Attributes
    ----------
    covariate : str
        What the scores are correlated with.
    classes : tuple of str
        The classes whose words are A and B; a positive score is nearer to A.
    r : float
        Pearson's correlation of score and covariate over the words.
    r_low, r_high : float
        Its interval by Fisher's z, which takes the words for a sample and the scores for exact.
    prob : float
    p_value : float
        Two-sided, of the permutation test: how often the covariates, dealt out to the words anew, correlate as strongly. Where not
        all orders are counted, the observed one is counted among those drawn.
    p_method : str
        ``"exact"`` or ``"montecarlo"``.
    samples : int or None
        Orders drawn, with ``"montecarlo"``.
    seed : int or None
        What they were drawn with, also where none was given.
    n : int
        Words with a score and a covariate.
    missing : tuple of str
        Words of the covariates that the vectors lack.
    scores : dict of str to float
    covariates : dict of str to float
    a, b : tuple of str
        The words of A and B that were used.
    dropped : tuple of str
        The words of A and B that the vectors lack.
    notes : tuple of str

    Examples
    --------
    >>> import bayesbias as bb
    >>> women = {"nurse": 88.0, "engineer": 12.0, "teacher": 80.0, "plumber": 2.0, "lawyer": 35.0, "dancer": 79.0}
    >>> found = bb.scores.wefat_score("minilm-static", "wefat", {"percent_women": women}, seed=1)
    >>> found.n, found.classes, found.r_low < found.r < found.r_high
    (6, ('female', 'male'), True)
    """

    covariate: str
    classes: tuple[str, str]
    r: float
    r_low: float
    r_high: float
    prob: float
    p_value: float
    p_method: str
    samples: int | None
    seed: int | None
    n: int
    missing: tuple[str, ...]
    scores: dict[str, float]
    covariates: dict[str, float]
    a: tuple[str, ...]
    b: tuple[str, ...]

    def __repr__(self) -> str:
        return (
            f"<WefatScore {self.name}: r = {self.r:.4f} with {self.covariate} over {self.n} words "
            f"({as_percent(self.prob)} {self.r_low:.3f} to {self.r_high:.3f} by Fisher's z), p {self.p_text(4)} "
            f"({self.p_method}); "
            f"{len(self.missing)} words missing>"
        )

    @property
    def r_undivided(self) -> float:
        """Pearson's correlation of the covariate with the differences of mean cosines, not divided by each word's standard deviation.

        That is what a slope in cosine is of. Missing (NaN) where these differences do not vary.
        """
        pairs = self.pairs()
        away = (pairs["mean_a"] - pairs["mean_b"]).to_numpy(dtype=float)
        if np.ptp(away) <= ROUNDING:
            return math.nan
        return correlation(away, pairs["covariate"].to_numpy(dtype=float))

    def as_json(self) -> dict[str, Any]:
        """Return what the command prints as JSON."""
        undivided = self.r_undivided
        return {**self.as_dict(), "r_undivided": None if math.isnan(undivided) else undivided}

    def p_text(self, digits: int) -> str:
        """Write the p-value with so many digits that count, as far as a sample of orders knows them.

        Where no order of those drawn was as extreme, that is a bound: one of the sample counts itself.
        """
        if self.samples is not None and self.p_value <= 1.5 / (self.samples + 1):
            return f"at most {p_printed(self.p_value, None, 1)}"
        error = None if self.samples is None else math.sqrt(self.p_value * (1 - self.p_value) / self.samples)
        return p_printed(self.p_value, error, checks.count(digits, "digits", 1, 17))

    def in_words(self) -> list[str]:
        """Say what was found, in lines for the screen."""
        order = sorted(self.scores, key=lambda word: -self.scores[word])
        return [
            f"single-category test, {self.name}",
            f"  A {self.classes[0]} ({len(self.a)}), B {self.classes[1]} ({len(self.b)}); {self.n} words with {self.covariate}",
            f"  r = {self.r:.4f}, {as_percent(self.prob)} interval {self.r_low:.4f} to {self.r_high:.4f} (Fisher's z)",
            f"  p {self.p_text(6)} (permutation, two-sided, {self.p_method})",
            f"  nearest to {self.classes[0]}: {', '.join(order[:5])}; to {self.classes[1]}: {', '.join(order[:-6:-1])}",
        ]


def wefat_score(
    embedding: Embedding | Any,
    sets: str | os.PathLike[str] | Mapping[str, Any] | WordList = "wefat",
    covariates: Any = None,
    covariate: str | None = None,
    *,
    classes: Sequence[str] | None = None,
    prob: float = 0.89,
    samples: int = SAMPLES,
    seed: int | None = None,
) -> WefatScore:
    """Correlate the association of words with two sets of attributes with a number for each word.

    Parameters
    ----------
    embedding : Embedding, or anything `load_embedding` reads
    sets : default "wefat"
        A word list with two classes (or two of its `classes`), whose protected words are the two sets A and B; what
        `load_wordlist` takes.
    covariates : path, data frame or mapping
        A table with a column ``word`` and numbers, or ``{covariate: {word: number}}``; see `bayesbias.tables.join_covariates`. Its
        words are those that are scored.
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
    WefatScore
        Its ``pairs()`` have ``word, mean_a, mean_b, sd, score, covariate``.

    Raises
    ------
    InputError
        Unless there are two classes and one covariate that is a number, and at least four words with a vector, a score and a
        covariate; where the covariates or the scores do not vary.

    Notes
    -----
    The correlation is of averages over few attributes: it knows neither their error nor that all scores share it.
    `bayesbias.wefat` has beside it what does.

    Examples
    --------
    >>> import bayesbias as bb
    >>> women = {"nurse": 90.0, "librarian": 83.0, "teacher": 74.0, "surgeon": 30.0, "carpenter": 2.0, "plumber": 1.0}
    >>> result = bb.scores.wefat_score("minilm-static", "wefat", {"percent_women": women})
    >>> result.n, result.p_method, result.r > 0.5
    (6, 'exact', True)
    """
    prob = checks.probability(prob)
    checks.count(samples, "samples", most=checks.MOST_SAMPLES)
    if seed is not None:
        checks.seed(seed, most=None)
    listed = load_wordlist(sets, controls="none")
    both_classes = classes_of_list(
        listed, classes, "name two with --classes X,Y of the command, classes=(X, Y) in Python"
    )
    x, y = (c.name for c in both_classes)
    given = covariates_given({} if covariates is None else covariates)
    if not given:
        raise InputError(
            "there is no covariate to correlate with",
            where="covariates",
            found=covariates,
            valid="a .csv file with a column word, a data frame, or {covariate: {word: number}}",
        )
    if covariate is None:
        if len(given) != 1:
            raise InputError(
                f"name the covariate, of {len(given)}",
                where=", ".join(dict.fromkeys(str(g.source) for g in given)),
                valid=[g.name for g in given],
                hint="--covariate COLUMN of the command, covariate= in Python",
            )
        chosen = given[0]
    else:
        checks.choice(covariate, [g.name for g in given], "covariate", "covariate")
        chosen = next(g for g in given if g.name == covariate)
    if not chosen.numeric:
        word, value = next((w, v) for w, v in chosen.values.items() if isinstance(v, str))
        raise InputError(
            f"the covariate {chosen.name!r} is no number",
            where=f"{chosen.source}, word {Shortened(word)}",
            found=value,
            valid=as_number(str(value)),
        )
    own = [list(dict.fromkeys(c.protected)) for c in both_classes]
    both = set(own[0]) | set(own[1])
    wanted = [word for word in chosen.values if word not in both]
    notes = []
    if len(wanted) < len(chosen.values):
        notes.append(
            f"words of the two sets themselves are not scored: {some(w for w in chosen.values if w in both)}"
        )
    if chosen.without:
        notes.append(f"no {chosen.name} is given of {some(chosen.without)}")
    if not wanted:
        raise InputError("no word has the covariate", where=chosen.source, found=chosen.name)
    every = tuple(dict.fromkeys([*own[0], *own[1], *wanted]))
    held = embedding if isinstance(embedding, Embedding) else load_embedding(embedding, words=every)
    vectors, absent, spellings, name = vectors_of_words(held, every)
    notes += spellings
    made = set(held.composed)
    if pieces := composed_in_words({"protected": {"words": {"composed": [w for w in every if w in made]}}}):
        notes.append(pieces)
    wanted, doubled = _once(wanted, vectors, chosen)
    notes += doubled
    sides = [[w for w in side if w in vectors] for side in own]
    refuse_none_left(sides, both_classes, "word", name)
    a, b = (np.array([vectors[w] for w in sorted(side)]) for side in sides)
    rows, still = [], []
    for word in wanted:
        if word not in vectors:
            continue
        near, far = a @ vectors[word], b @ vectors[word]
        mean_a, mean_b = math.fsum(near) / len(near), math.fsum(far) / len(far)
        sd = float(np.std(np.concatenate([near, far]), ddof=1))
        if sd <= ROUNDING:
            still.append(word)
            continue
        rows.append((word, mean_a, mean_b, sd, (mean_a - mean_b) / sd, float(chosen.values[word])))
    if still:
        notes.append(f"no score, since their cosines do not vary: {some(still)}")
    if len(rows) < _LEAST:
        raise InputError(
            f"fewer than {_LEAST} words have a vector, the covariate and a score"
            if still
            else f"fewer than {_LEAST} words have a vector and the covariate",
            where=name,
            found=[row[0] for row in rows] or "none",
            hint=f"of {some(still)} the cosines with the two sets do not vary, by which a score is divided"
            if still
            else None,
        )
    # In the order of the alphabet, so that one seed draws the same orders whatever that of the covariates.
    scores, values = (np.array([row[i] for row in sorted(rows)]) for i in (4, 5))
    for what, numbers in ((f"the covariate {chosen.name!r}", values), ("the score", scores)):
        if np.ptp(numbers) <= ROUNDING * np.abs(numbers).max():
            raise InputError(
                f"{what} is the same for all {len(rows)} words", where=chosen.source, found=float(numbers[0])
            )
    with np.errstate(over="ignore", under="ignore"):
        if not 0 < np.std(values) < np.inf:
            raise InputError(
                f"the covariate {chosen.name!r} is too large or too small for its squares to be numbers",
                where=chosen.source,
                found=float(np.abs(values).max()),
                hint="give it in another unit",
            )
    r = correlation(scores, values)
    p, method, seed = _permutation_p(scores, values, samples, seed)
    low, high = _fisher_interval(r, len(rows), prob)
    return WefatScore(
        name=f"{listed.name} in {name}",
        dropped=tuple(w for w in absent if w in both),
        notes=tuple(notes),
        _pairs=frame_of_rows(rows, ["word", "mean_a", "mean_b", "sd", "score", "covariate"]),
        covariate=chosen.name,
        classes=(x, y),
        r=r,
        r_low=low,
        r_high=high,
        prob=prob,
        p_value=p,
        p_method=method,
        samples=samples if method == "montecarlo" else None,
        seed=seed,
        n=len(rows),
        missing=tuple(w for w in absent if w not in both),
        scores={row[0]: float(row[4]) for row in rows},
        covariates={row[0]: row[5] for row in rows},
        a=tuple(sides[0]),
        b=tuple(sides[1]),
    )


def _once(wanted: list[str], vectors: Mapping[str, Array], covariate: Given) -> tuple[list[str], list[str]]:
    """Return words of which no two are one word of the vectors in another spelling, and what to note of it."""
    first: dict[tuple[str, bytes], str] = {}
    notes = []
    for word in wanted:
        if word not in vectors:
            continue
        key = (word.casefold(), np.asarray(vectors[word]).tobytes())
        known = first.setdefault(key, word)
        if known == word:
            continue
        if covariate.values[known] != covariate.values[word]:
            raise InputError(
                f"{known!r} and {word!r} are one word of the vectors, with two values of {covariate.name}",
                where=covariate.source,
                found=(covariate.values[known], covariate.values[word]),
                valid="one value a word",
            )
        notes.append(f"{word} and {known} are one word of the vectors, which counts once")
    kept = set(first.values())
    return [word for word in wanted if word not in vectors or word in kept], notes


def again(result: WefatScore, most: int) -> WefatScore:
    """Return a result whose correlation, interval and p are worked out anew; p only of `most` drawn orders or fewer."""
    words = sorted(result.scores)
    scores, values = (np.array([of[word] for word in words]) for of in (result.scores, result.covariates))
    r = correlation(scores, values)
    low, high = _fisher_interval(r, len(words), result.prob)
    p = result.p_value
    if result.samples is None or result.samples <= most:
        p = _permutation_p(scores, values, result.samples or 1, result.seed)[0]
    return replace(result, r=r, r_low=low, r_high=high, p_value=p)


def at_prob(result: WefatScore, prob: float) -> WefatScore:
    """Return a result with an interval of another probability."""
    low, high = _fisher_interval(result.r, result.n, prob)
    return replace(result, prob=prob, r_low=low, r_high=high)


def correlation(first: Array, second: Array) -> float:
    """Return Pearson's correlation."""
    a, b = _centred(first), _centred(second)
    return float(np.clip(a @ b, -1.0, 1.0))


def _centred(values: Array) -> Array:
    """Return deviations from the mean, of length 1."""
    away = values - values.mean()
    return away / np.linalg.norm(away)


def _permutation_p(
    scores: Array, values: Array, samples: int, seed: int | None
) -> tuple[float, str, int | None]:
    a, b = _centred(scores), _centred(values)
    least = abs(float(a @ b)) - ROUNDING
    if len(a) <= _ALL_ORDERS:
        orders = np.array(list(itertools.permutations(range(len(a)))))
        return float(np.mean(np.abs(b[orders] @ a) >= least)), "exact", None
    seed = secrets.randbits(32) if seed is None else checks.seed(seed)
    random = np.random.default_rng(seed)
    hits = 0
    for first in range(0, samples, 10_000):
        drawn = random.permuted(np.tile(b, (min(10_000, samples - first), 1)), axis=1)
        hits += int(np.count_nonzero(np.abs(drawn @ a) >= least))
    return (hits + 1) / (samples + 1), "montecarlo", seed


def _fisher_interval(r: float, n: int, prob: float) -> tuple[float, float]:
    """Return the interval of a correlation by Fisher's z (1921): its standard error is 1 / sqrt(n - 3)."""
    from scipy.special import ndtri

    if abs(r) >= 1 - ROUNDING:
        return r, r
    half = float(ndtri((1 + prob) / 2)) / math.sqrt(n - 3)
    return math.tanh(math.atanh(r) - half), math.tanh(math.atanh(r) + half)
