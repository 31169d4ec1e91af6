"""SC-WEAT word by word, by a computation that shares nothing with it."""

from __future__ import annotations

import dataclasses
import statistics

import numpy as np
import pytest
from helpers.seeds import shifted
from helpers.vectors import LIST, A, B, X, Y, cosine, vectors

from bayesbias.scores import sc_weat, sign_flip_test

FEW = {"resamples": 99, "seed": shifted(1)}
PAIRS = [("x1", "y1"), ("x2", "y2"), ("x3", "y3")]


def test_sc_weat_word_by_word() -> None:
    v = vectors(2)
    result = sc_weat(v, LIST, sides=2)
    for word in [*X, *Y]:
        near, far = ([cosine(v[word], v[u]) for u in side] for side in (A, B))
        expected = (statistics.mean(near) - statistics.mean(far)) / statistics.stdev([*near, *far])
        assert result.scores[word] == pytest.approx(expected, abs=1e-12)
    for c, words in (("x", X), ("y", Y)):
        means = [
            np.mean([cosine(v[w], v[a]) for a in A]) - np.mean([cosine(v[w], v[b]) for b in B]) for w in words
        ]
        test = sign_flip_test(means, sides=2)
        assert (result.p_value[c], result.n[c]) == (test.p_value, len(words))
        assert result.difference[c] == pytest.approx(np.mean(means), abs=1e-12)
        assert result.mean_score[c] == pytest.approx(np.mean([result.scores[w] for w in words]))
    assert result.low == {"x": None, "y": None}  # three and four words: no 89 % interval
    assert "x: 3 words are too few for a 89% interval" in result.notes
    pairs = result.pairs().set_index("protected_word")
    assert (pairs["mean_a"] - pairs["mean_b"]).to_numpy() / pairs["sd"].to_numpy() == pytest.approx(
        pairs["score"].to_numpy()
    )


def test_sc_weat_asks_each_class_for_its_own_attributes() -> None:
    result = sc_weat("minilm-static", "weat7", prob=0.8)
    arts = result.pairs().query("protected_class == 'arts'").eval("mean_a - mean_b")
    below = sign_flip_test([-s for s in arts], sides=1, prob=0.8)
    assert result.p_value["arts"] == below.p_value
    assert (result.low["arts"], result.high["arts"]) == (-below.high, -below.low)
    assert result.low["arts"] < result.difference["arts"] < result.high["arts"]
    assert result.as_json()["p_method"] == {"math": "exact", "arts": "exact"}
    swapped = sc_weat("minilm-static", "weat7", classes=("arts", "math"), prob=0.8)
    assert swapped.attribute_classes == ("female_terms", "male_terms")
    (cover,) = {result.coverage["arts"], swapped.coverage["arts"]}
    why = " (8 words allow none nearer to the 80% asked for)" if cover - 0.8 > 0.005 else ""
    said = " ".join(swapped.in_words())
    assert "its own attributes are A female_terms" in said
    assert f"{cover:.1%} interval {swapped.low['arts']:.6f} to {swapped.high['arts']:.6f}{why}; p" in said
    fewer = dataclasses.replace(swapped, coverage={**swapped.coverage, "arts": 0.906})
    assert "90.6% interval" in " ".join(fewer.in_words())
    assert "(8 words allow none nearer to the 80% asked for)" in " ".join(fewer.in_words())
    assert swapped.p_value == result.p_value
    assert swapped.mean_score["math"] == pytest.approx(-result.mean_score["math"])
