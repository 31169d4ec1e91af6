"""RIPA and ECT by computations that share nothing with them."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.seeds import shifted
from helpers.vectors import LIST, A, B, X, Y, cosine, vectors
from scipy import stats

from bayesbias.core.errors import InputError
from bayesbias.scores import ect, ripa

FEW = {"resamples": 99, "seed": shifted(1)}
PAIRS = [("x1", "y1"), ("x2", "y2"), ("x3", "y3")]


def test_ripa_by_hand() -> None:
    v = {
        "he": [3.0, 0.0],
        "she": [1.0, 0.0],
        "a": [0.5, 9.0],
        "b": [-2.0, 1.0],
        "c": [4.0, 4.0],
        "d": [1.0, -1.0],
    }
    words = {w: np.array(u) for w, u in v.items()}
    listed = {
        "m": {"protected": ["he", "him"], "attributes": ["a", "c"]},
        "f": {"protected": ["she", "her"], "attributes": ["b", "d"]},
    }
    result = ripa(words, listed, sets=[("he", "she")], **FEW)
    assert result.pairs()["score"].tolist() == pytest.approx([0.5, 4.0, -2.0, 1.0])
    assert (result.mean, result.value) == (pytest.approx({"m": 2.25, "f": -0.5}), pytest.approx(2.75))
    assert result.mean_absolute == pytest.approx(7.5 / 4)
    long = ripa({w: 3 * u for w, u in words.items()}, listed, sets=[("he", "she")], **FEW)
    assert long.value == pytest.approx(3 * result.value)  # the known defect: it grows with the vectors
    assert ripa(words, listed, sets=[("she", "he")], **FEW).value == pytest.approx(-2.75)


def test_ripa_takes_the_principal_component_of_vectors_as_they_are() -> None:
    v = vectors(4)
    for i, (m, f) in enumerate(PAIRS):
        v[m] = v[f] + np.array([3.0, 1.0, 0, 0, 0]) * (1 + i)
    result = ripa(v, LIST, sets=PAIRS, **FEW)
    differences = np.array([v[m] - v[f] for m, f in PAIRS])
    _, axes = np.linalg.eigh(differences.T @ differences)
    axis = axes[:, -1] * np.sign(axes[0, -1])
    expected = np.mean([v[w] @ axis for w in A]) - np.mean([v[w] @ axis for w in B])
    assert result.value == pytest.approx(expected, abs=1e-10)
    assert result.low <= result.high
    assert np.linalg.norm(result.direction) == pytest.approx(1)
    with pytest.raises(InputError, match="cancel"):
        ripa({**v, "x2": v["y1"], "y2": v["x1"]}, LIST, sets=PAIRS[:2], **FEW)
    with pytest.raises(InputError, match="no pairs define a direction"):
        ripa(v, LIST, **FEW)


def test_ect_is_spearmans_correlation_with_mean_vectors() -> None:
    v = vectors(5)
    result = ect(v, LIST, **FEW)
    mean_x, mean_y = (np.mean([v[w] for w in side], axis=0) for side in (X, Y))
    columns = [[cosine(v[w], mean) for w in [*A, *B]] for mean in (mean_x, mean_y)]
    assert result.value == pytest.approx(stats.spearmanr(*columns).statistic, abs=1e-12)
    assert pytest.approx(np.array(columns)) == result.pairs()[["cosine_x", "cosine_y"]].to_numpy().T
    assert -1 <= result.low <= result.high <= 1
    units = {w: u / np.linalg.norm(u) for w, u in v.items()}
    assert ect(v, LIST, unit=True, **FEW).value == ect(units, LIST, **FEW).value
    same = {**v, **dict(zip(Y[:3], (v[w] for w in X), strict=True))}
    assert ect(same, {**LIST, "y": {**LIST["y"], "protected": Y[:3]}}, **FEW).value == pytest.approx(1)


def test_ect_shares_the_ranks_of_ties_and_says_what_it_lacks() -> None:
    v = vectors(6)
    v["a2"] = 2 * v["a1"]
    result = ect(v, LIST, **FEW)
    ranks = result.pairs().set_index("word")["rank_x"]
    assert ranks["a1"] == ranks["a2"]
    assert ranks.sum() == 15
    level = {**v, **{w: v["a1"] for w in [*A, *B]}}
    none = ect(level, LIST, **FEW)
    assert (none.value, none.low) == (None, None)
    assert none.notes[0] == "all attributes are equally near to a class, so there is no correlation"
    with pytest.raises(InputError, match="fewer than three attributes"):
        ect({w: v[w] for w in [*X, *Y, *A]}, LIST, **FEW)
