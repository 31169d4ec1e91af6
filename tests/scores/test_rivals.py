"""SC-WEAT, RIPA, ECT and RNSB against computations that share nothing with them."""

from __future__ import annotations

import math
import statistics

import numpy as np
import pytest
from helpers.seeds import shifted
from helpers.vectors import LIST, A, B, X, Y, cosine, vectors
from scipy import stats

from bayesbias.basics.errors import InputError
from bayesbias.scores import ect, ripa, rnsb, sc_weat, sign_flip_test

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
        test = sign_flip_test([result.scores[w] for w in words], sides=2)
        assert (result.mean[c], result.p_value[c], result.n[c]) == (test.mean, test.p_value, len(words))
    assert result.low == {"x": None, "y": None}  # three and four words: no 89 % interval
    assert "x: 3 words are too few for a 89% interval" in result.notes
    pairs = result.pairs().set_index("protected_word")
    assert (pairs["mean_a"] - pairs["mean_b"]).to_numpy() / pairs["sd"].to_numpy() == pytest.approx(
        pairs["score"].to_numpy()
    )


def test_sc_weat_asks_each_class_for_its_own_attributes() -> None:
    result = sc_weat("minilm-static", "weat7", prob=0.8)
    arts = [result.scores[w] for w in result.pairs().query("protected_class == 'arts'")["protected_word"]]
    below = sign_flip_test([-s for s in arts], sides=1, prob=0.8)
    assert result.p_value["arts"] == below.p_value
    assert (result.low["arts"], result.high["arts"]) == (-below.high, -below.low)
    assert result.low["arts"] < result.mean["arts"] < result.high["arts"]
    assert result.as_json()["p_method"] == {"math": "exact", "arts": "exact"}
    swapped = sc_weat("minilm-static", "weat7", classes=("arts", "math"), prob=0.8)
    assert swapped.p_value == result.p_value
    assert swapped.mean["math"] == pytest.approx(-result.mean["math"])


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


@pytest.mark.parametrize("shrinkage", [0.01, 1.0, 50.0])
def test_rnsb_is_the_divergence_of_a_logistic_regression(shrinkage: float) -> None:
    linear_model = pytest.importorskip("sklearn.linear_model")
    v = vectors(7, d=12)
    result = rnsb(v, LIST, shrinkage=shrinkage, **FEW)
    model = linear_model.LogisticRegression(C=shrinkage, tol=1e-12, max_iter=10_000, solver="lbfgs")
    model.fit(np.array([v[w] for w in [*A, *B]]), [0, 0, 1, 1, 1])
    p = model.predict_proba(np.array([v[w] for w in [*X, *Y]]))[:, 1]
    assert result.pairs()["probability"].to_numpy() == pytest.approx(p, abs=1e-6)
    assert result.value == pytest.approx(stats.entropy(p / p.sum(), np.full(7, 1 / 7)), abs=1e-6)
    assert result.largest == math.log(7)
    assert result.low <= result.high <= result.largest + 1e-12
    assert result.mean_probability["y"] == pytest.approx(p[3:].mean(), abs=1e-6)


def test_rnsb_is_above_zero_without_any_association() -> None:
    """The known defect: random vectors have no association, and the interval leaves zero out."""
    result = rnsb(vectors(8, d=50), LIST, **FEW)
    assert result.low > 0


def test_rnsb_refuses_attributes_of_both_classes() -> None:
    both = {**LIST, "y": {**LIST["y"], "attributes": ["a1", "b1"]}}
    with pytest.raises(InputError, match="cannot be told apart"):
        rnsb(vectors(0), both, **FEW)
    with pytest.raises(InputError, match="shrinkage"):
        rnsb(vectors(0), LIST, shrinkage=0)


@pytest.mark.parametrize("score", [ripa, ect, rnsb])
def test_a_rival_says_its_source_and_its_defects(score) -> None:
    options = {"sets": PAIRS} if score is ripa else {}
    result = score(vectors(9), LIST, **options, **FEW)
    lines = result.in_words()
    assert lines[-1] == f"  source: {result.source}"
    assert lines[-2] == f"  known: {result.defects}"
    assert set(result.as_json()) >= {"value", "low", "high", "prob", "resamples", "seed", "source", "defects"}
    again = score(vectors(9), LIST, **options, **FEW)
    assert (again.low, again.high) == (result.low, result.high)
    assert score(vectors(9), LIST, **options, resamples=99).seed is not None
    missing = {w: u for w, u in vectors(9).items() if w not in ("x2", "b3")}
    assert set(score(missing, LIST, **options, **FEW).dropped) == {"x2", "b3"}
