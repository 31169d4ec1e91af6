"""Direct bias, relative norm distance, RIPA, ECT and RNSB by computations that share nothing with them."""

import math

import numpy as np
import pytest
from helpers.seeds import shifted
from helpers.vectors import LIST, A, B, X, Y, cosine, vectors
from scipy import stats

import bayesbias as bb
from bayesbias.core.errors import InputError
from bayesbias.scores import direct_bias, ect, relative_norm_distance, ripa, rnsb, weat
from bayesbias.scores.score import SCORES
from bayesbias.tables.distances import distance_table
from bayesbias.wordlists.listfile import load_wordlist

PLANE = {
    "he": np.array([2.0, 0.0]), "she": np.array([-1.0, 0.0]), "his": np.array([3.0, 3.0]),
    "hers": np.array([-5.0, 5.0]), "nurse": np.array([-3.0, 4.0]), "doctor": np.array([0.6, 0.8]),
    "clerk": np.array([0.0, 7.0]),
}  # fmt: skip
COUPLES = [("he", "she"), ("his", "hers")]
NEUTRAL = ["nurse", "doctor", "clerk"]
FEW = {"resamples": 99, "seed": shifted(1)}
PAIRS = [("x1", "y1"), ("x2", "y2"), ("x3", "y3")]


@pytest.mark.parametrize(
    "name",
    ["weat", "mac", "sc_weat", "ripa", "rnsb", "ect", "direct_bias", "relative_norm_distance"],
)
def test_scores_of_the_field_are_in_the_folder(name) -> None:
    assert SCORES[name].function.endswith(f":{getattr(bb.scores, name).__name__}")
    assert bb.scores.weat is bb.weat


def test_direct_bias_by_hand() -> None:
    # Both differences of the unit vectors lie along the first axis.
    result = direct_bias(PLANE, words=NEUTRAL, sets=COUPLES)
    assert result.direction == pytest.approx([1, 0], abs=1e-15)
    assert result.explained == pytest.approx(1)
    assert result.value == pytest.approx((0.6 + 0.6 + 0) / 3)
    assert result.pairs()["cosine"].tolist() == pytest.approx([-0.6, 0.6, 0])
    assert direct_bias(PLANE, words=NEUTRAL, sets=COUPLES, strictness=2).value == pytest.approx(
        0.72 / 3
    )
    assert direct_bias(PLANE, words=NEUTRAL, sets=COUPLES, strictness=0).value == pytest.approx(
        2 / 3
    )
    other = direct_bias(PLANE, words=NEUTRAL, sets=[couple[::-1] for couple in COUPLES])
    assert other.direction == pytest.approx([-1, 0], abs=1e-15)
    assert other.value == pytest.approx(result.value)
    assert (result.towards, result.away) == (("he", "his"), ("she", "hers"))


def test_the_direction_is_the_principal_component_around_zero() -> None:
    words = [f"m{i}" for i in range(6)] + [f"f{i}" for i in range(6)] + ["n"]
    v = vectors(11, words, 8)
    for i in range(6):
        v[f"m{i}"][0] += 3  # a common direction, which centering would remove
    couples = [(f"m{i}", f"f{i}") for i in range(6)]
    result = direct_bias(v, words=["n"], sets=couples)
    unit = {w: u / np.linalg.norm(u) for w, u in v.items()}
    differences = np.array([unit[m] - unit[f] for m, f in couples])
    values, axes = np.linalg.eigh(differences.T @ differences)
    assert abs(axes[:, -1] @ result.direction) == pytest.approx(1, abs=1e-12)
    assert (differences @ result.direction).mean() > 0
    assert result.explained == pytest.approx(values[-1] / values.sum())
    assert result.value == pytest.approx(abs(cosine(v["n"], result.direction)), abs=1e-12)


def test_relative_norm_distance_by_hand() -> None:
    v = vectors(12)
    result = relative_norm_distance(v, LIST)
    unit = {w: u / math.sqrt(sum(float(c) ** 2 for c in u)) for w, u in v.items()}
    mean_x, mean_y = (np.mean([unit[w] for w in words], axis=0) for words in (X, Y))
    by_hand = sum(math.dist(unit[w], mean_x) - math.dist(unit[w], mean_y) for w in [*A, *B])
    assert result.value == pytest.approx(by_hand, abs=1e-13)
    assert result.mean == pytest.approx(by_hand / 5, abs=1e-13)
    assert result.pairs()["difference"].sum() == pytest.approx(by_hand, abs=1e-13)
    assert relative_norm_distance(v, LIST, classes=("y", "x")).value == pytest.approx(
        -by_hand, abs=1e-13
    )
    raw = relative_norm_distance(v, LIST, unit=False, words=["a1"])
    mean_x, mean_y = (np.mean([v[w] for w in words], axis=0) for words in (X, Y))
    assert raw.value == pytest.approx(
        math.dist(v["a1"], mean_x) - math.dist(v["a1"], mean_y), abs=1e-13
    )
    del v["b3"], v["y1"]
    assert relative_norm_distance(v, LIST).dropped == ("y1", "b3")
    with pytest.raises(InputError, match="two protected classes"):
        relative_norm_distance("minilm-static", "religion")


def test_ripa_by_hand() -> None:
    v = {
        "he": [3.0, 0],
        "she": [1.0, 0],
        "a": [0.5, 9],
        "b": [-2.0, 1],
        "c": [4.0, 4],
        "d": [1.0, -1],
    }
    words = {w: np.array(u) for w, u in v.items()}
    listed = {
        "m": {"protected": ["he", "him"], "attributes": ["a", "c"]},
        "f": {"protected": ["she", "her"], "attributes": ["b", "d"]},
    }
    result = ripa(words, listed, sets=[("he", "she")], **FEW)
    assert result.pairs()["score"].tolist() == pytest.approx([0.5, 4.0, -2.0, 1.0])
    assert (result.mean, result.value) == (
        pytest.approx({"m": 2.25, "f": -0.5}),
        pytest.approx(2.75),
    )
    assert result.mean_absolute == pytest.approx(7.5 / 4)
    long = ripa({w: 3 * u for w, u in words.items()}, listed, sets=[("he", "she")], **FEW)
    assert long.value == pytest.approx(
        3 * result.value
    )  # the known defect: it grows with the vectors
    assert ripa(words, listed, sets=[("she", "he")], **FEW).value == result.value


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
    # The same two vectors as another pair, the other way round, count once.
    again = ripa({**v, "u": v["y1"], "w": v["x1"]}, LIST, sets=[*PAIRS, ("u", "w")], **FEW)
    assert (again.value, again.low, again.high) == (result.value, result.low, result.high)
    assert "4 words with the same vector count once: y1/u, x1/w" in again.notes
    with pytest.raises(InputError, match="define a direction"):
        ripa(v, LIST, **FEW)


def test_ect_is_spearmans_correlation_with_mean_vectors() -> None:
    v = vectors(5)
    result = ect(v, LIST, **FEW)
    mean_x, mean_y = (np.mean([v[w] for w in side], axis=0) for side in (X, Y))
    columns = [[cosine(v[w], mean) for w in [*A, *B]] for mean in (mean_x, mean_y)]
    assert result.value == pytest.approx(stats.spearmanr(*columns).statistic, abs=1e-12)
    assert pytest.approx(np.array(columns)) == result.pairs()[["cosine_x", "cosine_y"]].to_numpy().T
    assert -1 <= result.low <= result.high <= 1
    same = {**v, **dict(zip(Y[:3], (v[w] for w in X), strict=True))}
    assert ect(
        same, {**LIST, "y": {**LIST["y"], "protected": Y[:3]}}, **FEW
    ).value == pytest.approx(1)


def test_ect_shares_the_ranks_of_ties() -> None:
    v = vectors(6)
    v["a2"] = 2 * v["a1"]
    ranks = ect(v, LIST, **FEW).pairs().set_index("word")["rank_x"]
    assert (ranks["a1"], ranks.sum()) == (ranks["a2"], 15)
    none = ect({**v, **{w: (k + 1) * v["a1"] for k, w in enumerate([*A, *B])}}, LIST, **FEW)
    assert (none.value, none.low) == (None, None)
    with pytest.raises(InputError, match="three attributes"):
        ect({w: v[w] for w in [*X, *Y, *A]}, LIST, **FEW)


@pytest.mark.parametrize("shrinkage", [1e-6, 0.3, 1.0, 1e6])
def test_rnsb_is_the_divergence_of_a_logistic_regression(shrinkage) -> None:
    linear_model = pytest.importorskip("sklearn.linear_model")
    v = vectors(3)
    result = rnsb(v, LIST, shrinkage=shrinkage, **FEW)
    model = linear_model.LogisticRegression(C=shrinkage, tol=1e-12, max_iter=100_000)
    model.fit(np.array([v[w] for w in [*A, *B]]), [0, 0, 1, 1, 1])
    p = model.predict_proba(np.array([v[w] for w in [*X, *Y]]))[:, 1]
    assert result.pairs()["probability"].to_numpy() == pytest.approx(p, abs=1e-5)
    assert result.value == pytest.approx(stats.entropy(p / p.sum(), np.full(7, 1 / 7)), abs=1e-4)
    assert result.largest == math.log(7)
    assert result.low <= result.high <= result.largest + 1e-12
    assert result.mean_probability["y"] == pytest.approx(p[3:].mean(), abs=1e-5)


@pytest.mark.parametrize("name", ["ripa", "ect", "rnsb"])
def test_a_bootstrap_is_repeatable_and_names_missing_words(name) -> None:
    score, options = getattr(bb.scores, name), {"sets": PAIRS} if name == "ripa" else {}
    result, again = (score(vectors(9), LIST, **options, **FEW) for _ in range(2))
    assert (again.low, again.high) == (result.low, result.high)
    assert score(vectors(9), LIST, **options, resamples=99).seed is not None
    missing = {w: u for w, u in vectors(9).items() if w not in ("x2", "b3")}
    assert set(score(missing, LIST, **options, **FEW).dropped) == {"x2", "b3"}


def test_every_score_is_computed_of_vectors_and_some_of_a_table() -> None:
    v = vectors()
    words = load_wordlist(LIST)
    held = bb.load_embedding(v)
    table = distance_table(held, words)
    for name, row in SCORES.items():
        settings = {"resamples": 99}
        if "vectors" in row.needs:
            with pytest.raises(InputError, match="expected vectors"):
                row.compute(table, **settings)
        else:
            assert row.compute(table, **settings)
        if "definitional pairs" not in row.needs:  # the list has none
            scores = row.compute(table, held, words, **settings)
            assert {score.name for score in scores} == {name}
    assert SCORES["weat"].compute(table)[0].value == weat(v, LIST).value


def test_rnsb_of_probabilities_next_to_zero() -> None:
    """Shares are taken in logarithms."""
    result = rnsb(
        {word: 400.0 * np.array(vector) for word, vector in vectors(9).items()}, LIST, **FEW
    )
    shares = result.pairs()["share"].to_numpy()
    assert shares.sum() == pytest.approx(1)
    assert result.value == pytest.approx(
        float(np.sum(shares * np.log(np.maximum(shares, 1e-300) * len(shares))))
    )
