"""RNSB against scikit-learn's regression and SciPy's entropy; and what every such score says of itself."""

from __future__ import annotations

import math

import numpy as np
import pytest
from helpers.seeds import shifted
from helpers.vectors import LIST, A, B, X, Y, vectors
from scipy import stats

from bayesbias.core.errors import InputError
from bayesbias.scores import ect, ripa, rnsb

FEW = {"resamples": 99, "seed": shifted(1)}
PAIRS = [("x1", "y1"), ("x2", "y2"), ("x3", "y3")]


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
    for beyond in (0, 1e-7, 1e7, 1e100, 1e308, math.nan):
        with pytest.raises(InputError, match="shrinkage: must lie from 1e-06 to 1e\\+06"):
            rnsb(vectors(0), LIST, shrinkage=beyond)


@pytest.mark.parametrize("shrinkage", [1e-6, 1e6])
def test_rnsb_is_solved_at_both_ends_of_its_shrinkage(shrinkage) -> None:
    """Far beyond them its equations were singular in double precision."""
    held = vectors(3)
    result = rnsb(held, LIST, shrinkage=shrinkage, **FEW)
    words, labels = [*A, *B], [0] * len(A) + [1] * len(B)
    linear_model = pytest.importorskip("sklearn.linear_model")

    model = linear_model.LogisticRegression(C=shrinkage, max_iter=100_000, tol=1e-10).fit(
        [held[w] for w in words], labels
    )
    asked = [*X, *Y]
    expected = model.predict_proba([held[w] for w in asked])[:, 1]
    assert result.pairs()["probability"].to_numpy() == pytest.approx(expected, abs=1e-5)


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


def test_probabilities_too_small_for_numbers_are_no_equal_shares() -> None:
    """Shares are taken in logarithms; of resamples whose probabilities all vanished a divergence of zero was counted."""
    held = {word: 400.0 * np.array(vector) for word, vector in vectors(9).items()}
    result = rnsb(held, LIST, **FEW)
    shares = result.pairs()["share"].to_numpy()
    assert shares.sum() == pytest.approx(1)
    assert result.value == pytest.approx(
        float(np.sum(shares * np.log(np.maximum(shares, 1e-300) * len(shares))))
    )
    far = {"he": (400, 0), "man": (450, 1), "she": (400, 2), "woman": (450, 3)}
    near = {"strong": (1, 0), "brave": (2, 1), "kind": (-1, 0), "warm": (-2, 1)}
    of = {"m": {"protected": ["he", "man"], "attributes": ["strong", "brave"]}}
    of["f"] = {"protected": ["she", "woman"], "attributes": ["kind", "warm"]}
    vanishing = {word: np.array(vector, dtype=float) for word, vector in {**far, **near}.items()}
    one = rnsb(vanishing, of, **FEW)
    assert 0 < one.value <= one.largest
    assert 0 <= one.low <= one.high <= one.largest + 1e-12
