"""WEFAT as published: scores of words, correlated with a covariate.

Source: Caliskan, Bryson and Narayanan (2017), the word embedding factual association test: the
score of a word is ``(mean cosine with A - mean cosine with B) / SD of its cosines with both``, with
n - 1 in the standard deviation.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from bayesbias.core import InputError, checks, some
from bayesbias.scores.resampling import Array
from bayesbias.scores.score import ROUNDING, Score
from bayesbias.scores.vectors import classes_of_list, vectors_of
from bayesbias.tables.covariates import Given, covariates_given
from bayesbias.wordlists.listfile import load_wordlist

SAMPLES = 99_999
"""Permutations drawn for a p-value."""
_LEAST = 4  # words; Fisher's z needs more than three
_MOST_ORDERS = math.factorial(8)  # of which every one is taken


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
    """Correlate the association of words with two sets with a covariate.

    Parameters
    ----------
    embedding : Embedding, or anything `load_embedding` reads
        Word vectors.
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
        each word's SD) and ``p_undivided`` (its p-value), ``missing`` (scored words without a vector), ``scores, covariates, a, b``.
        Its ``pairs()`` have ``word, mean_a, mean_b, sd, score, covariate``.

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
    >>> women = {"nurse": 90, "teacher": 74, "surgeon": 30, "carpenter": 2, "plumber": 1}
    >>> result = bb.scores.wefat_score("minilm-static", "wefat", {"percent_women": women})
    >>> result.n["words"], result.p_method, result.r > 0.5
    (5, 'exact', True)
    """
    from scipy.stats import pearsonr

    prob = checks.probability(prob)
    listed = load_wordlist(sets, controls="none")
    pair = classes_of_list(listed, classes)
    chosen = _chosen({} if covariates is None else covariates, covariate)
    in_sets = checks.once(word for c in pair for word in c.protected)
    wanted = [word for word in chosen.values if word not in in_sets]
    held = vectors_of(embedding, [*in_sets, *wanted])
    kept, doubled = _once(held.known(wanted, "word with the covariate", once=False), held.of)
    sides = held.of_classes(pair)
    near, far = (held.rows(kept) @ held.rows(sorted(side)).T for side in sides)
    table = pd.DataFrame({"word": kept, "mean_a": near.mean(axis=1), "mean_b": far.mean(axis=1)})
    table["sd"] = np.hstack([near, far]).std(axis=1, ddof=1)
    table["score"] = (table["mean_a"] - table["mean_b"]) / table["sd"]
    table["covariate"] = [float(chosen.values[word]) for word in kept]
    still = table["sd"] <= ROUNDING
    told = {
        "words of the two sets are not scored:": [w for w in chosen.values if w in in_sets],
        f"no {chosen.name} is given of": chosen.without,
        "built from subwords:": held.composed,
        "no score, since their cosines do not vary:": table["word"][still],
    }
    notes = [f"{what} {some(words)}" for what, words in told.items() if len(words)]
    table = table[~still].reset_index(drop=True)
    if len(table) < _LEAST:
        got = some(table["word"]) or "none"
        problem = f"expected {_LEAST} words or more with a vector, the covariate and a score"
        raise InputError(f"{problem}, got {got}", where=held.name)
    # In alphabetical order, so that one seed draws the same orders whatever that of the covariates.
    ordered = table.sort_values("word")
    scores, values = (ordered[name].to_numpy() for name in ("score", "covariate"))
    away = (ordered["mean_a"] - ordered["mean_b"]).to_numpy()
    if np.ptp(values) <= ROUNDING * np.abs(values).max():
        problem = f"expected words that differ in {chosen.name!r}, got {values[0]:g} for all"
        raise InputError(problem, where=chosen.source)
    correlation = pearsonr(scores, values)
    low, high = map(float, correlation.confidence_interval(prob))  # by Fisher's z (1921)
    p, method, seed = _permutation_p(scores, values, samples, seed)
    p_undivided, _, _ = _permutation_p(away, values, samples, seed)
    by_word = table.set_index("word")
    return Score(
        name="wefat",
        data=f"{listed.name} in {held.name}",
        label="r",
        value=float(correlation.statistic),
        low=low,
        high=high,
        prob=prob,
        p_value=p,
        p_method=method,
        seed=seed,
        n={"words": len(table), "a": len(sides[0]), "b": len(sides[1])},
        classes=(pair[0].name, pair[1].name),
        dropped=tuple(w for w in held.missing if w in in_sets),
        notes=(*notes, *held.all_notes(), *doubled),
        details={
            "covariate": chosen.name,
            "r_undivided": float(pearsonr(away, values).statistic),
            "p_undivided": p_undivided,
            "missing": tuple(w for w in held.missing if w not in in_sets),
            "misspelled": held.misspelled,
            "scores": by_word["score"].to_dict(),
            "covariates": by_word["covariate"].to_dict(),
            **{"a": tuple(sides[0]), "b": tuple(sides[1])},
        },
        table=table,
    )


def with_interval(score: Score, prob: float) -> Score:
    """Return a score of `wefat_score` with the interval of another probability."""
    from scipy.stats import pearsonr

    words = list(score.scores)
    scores, values = ([of[word] for word in words] for of in (score.scores, score.covariates))
    low, high = map(float, pearsonr(scores, values).confidence_interval(prob))
    return replace(score, low=low, high=high, prob=prob)


def _chosen(covariates: Any, covariate: str | None) -> Given:
    """Return the one covariate to correlate with."""
    given = {each.name: each for each in covariates_given(covariates)}
    if covariate is None and len(given) != 1:
        problem = f"expected the name of one of {some(given)}" if given else "expected a covariate"
        raise InputError(f"{problem}, got none", where="covariate")
    name = checks.choice(covariate or next(iter(given)), given, "covariate")
    if not given[name].numeric:
        found = next(v for v in given[name].values.values() if isinstance(v, str))
        problem = f"expected numbers as the covariate {name!r}, got {found!r}"
        raise InputError(problem, where=given[name].source)
    return given[name]


def _once(words: Sequence[str], vectors: Mapping[str, Array]) -> tuple[list[str], list[str]]:
    """Keep one of the spellings of a word that have the same vector, and note the others."""
    first: dict[tuple[str, bytes], str] = {}
    notes = []
    for word in words:
        known = first.setdefault((word.casefold(), vectors[word].tobytes()), word)
        if known != word:
            notes.append(f"one word of the vectors, counted as {known}: {word} and {known}")
    return list(first.values()), notes


def _permutation_p(
    scores: Array, values: Array, samples: int, seed: int | None
) -> tuple[float, str, int | None]:
    """Return the share of orders that correlate as strongly, the observed one among them.

    All orders of few words.
    """
    from scipy.stats import permutation_test

    a, b = (x - x.mean() for x in (scores, values))
    scale = np.linalg.norm(a) * np.linalg.norm(b)

    def strength(order: Array, axis: int = -1) -> Array:
        return np.round(np.abs(order @ b) / scale, 12)

    few = math.factorial(len(a)) <= _MOST_ORDERS
    seed = None if few else checks.seed_or_new(seed)
    test = permutation_test(
        (a,),
        strength,
        permutation_type="pairings",
        alternative="greater",
        n_resamples=_MOST_ORDERS if few else samples,
        batch=10_000,
        vectorized=True,
        rng=seed,
    )
    return float(test.pvalue), "exact" if few else "montecarlo", seed
