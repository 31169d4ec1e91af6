"""The shape of vectors pair by pair, and the shares that real vectors are known to have."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest
from helpers.vectors import cosine, vectors
from scipy import stats

from bayesbias.core.errors import InputError
from bayesbias.embeddings import describe_vectors
from bayesbias.embeddings.loading import load_embedding
from bayesbias.embeddings.shape import EDGES

WORDS = [f"w{i}" for i in range(40)]


def lopsided(seed: int = 1) -> dict[str, np.ndarray]:
    held = vectors(seed, WORDS, 6)
    return {word: v + np.array([2.0, 0.8, 0, 0, 0, 0]) for word, v in held.items()}


def test_the_mean_cosine_and_what_a_dimension_carries_pair_by_pair() -> None:
    held = lopsided()
    shape = describe_vectors(held)
    pairs = list(itertools.combinations(WORDS, 2))
    cosines = [cosine(held[a], held[b]) for a, b in pairs]
    assert shape.mean_cosine == pytest.approx(np.mean(cosines), abs=1e-12)
    units = {w: v / np.linalg.norm(v) for w, v in held.items()}
    by_dimension = np.mean([units[a] * units[b] for a, b in pairs], axis=0)
    assert shape.contributions == pytest.approx(by_dimension, abs=1e-12)
    assert shape.contributions.sum() == pytest.approx(shape.mean_cosine, abs=1e-12)
    assert shape.words.dimensions[:2] == (1, 2)
    assert shape.words.share_top == pytest.approx(
        np.sort(by_dimension)[::-1][:3].sum() / by_dimension.sum()
    )
    assert shape.histogram.tolist() == np.histogram(cosines, EDGES)[0].tolist()


def test_its_error_is_the_jackknife_over_words() -> None:
    held = lopsided()
    without = [
        describe_vectors({w: v for w, v in held.items() if w != word}).mean_cosine for word in WORDS
    ]
    n = len(WORDS)
    expected = np.sqrt((n - 1) / n * np.sum((np.array(without) - np.mean(without)) ** 2))
    assert describe_vectors(held).words.se == pytest.approx(expected, rel=1e-9)


def test_hubness_is_the_skewness_of_how_often_a_word_is_near() -> None:
    held = lopsided(3)
    shape = describe_vectors(held)
    counts = dict.fromkeys(WORDS, 0)
    for word in WORDS:
        others = sorted((w for w in WORDS if w != word), key=lambda w: -cosine(held[word], held[w]))
        for near in others[:10]:
            counts[near] += 1
    assert shape.hubness == pytest.approx(stats.skew(list(counts.values())), abs=1e-9)
    assert shape.hubs[0] == max(counts.items(), key=lambda item: item[1])
    assert shape.never == pytest.approx(np.mean([c == 0 for c in counts.values()]))


def test_a_share_of_nothing_is_none() -> None:
    shape = describe_vectors(vectors(5, WORDS, 6))
    assert shape.words.share_top is None
    assert "none" in repr(shape)


@pytest.mark.parametrize(
    ("file", "share"),
    [
        ("glove6B_top2441_50d", 0.91),
        pytest.param("googlenews_psychwordvec_8000x300", 0.06, marks=pytest.mark.claim),
    ],
)
def test_three_dimensions_carry_the_cosine_of_glove_but_not_of_googlenews(
    file: str, share: float, shared
) -> None:
    shape = describe_vectors(shared / "data" / "vectors" / f"{file}.txt")
    assert round(shape.words.share_top, 2) == share
    assert shape.neutral.n_words > 20


def test_what_is_told_of_the_words_asked_for() -> None:
    shape = describe_vectors("minilm-static", ["clock", "grass", "table", "river", "rabbi"])
    assert (shape.words.n_words, shape.n_compared) == (5, 5)
    assert shape.neutral.n_words > 200  # of an open vocabulary all neutral words are to be had
    assert json.dumps(shape.as_dict(), allow_nan=False)
    with pytest.raises(InputError, match="3 words or more"):
        describe_vectors(load_embedding({"a": [1.0, 0.0], "b": [0.0, 1.0]}))
