"""Direct bias and relative norm distance, held to hand calculations."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from helpers.seeds import shifted
from helpers.tables import two_by_two
from helpers.vectors import LIST, A, B, X, Y, cosine, vectors

from bayesbias.core.errors import InputError
from bayesbias.scores.association import weat
from bayesbias.scores.averages import mac
from bayesbias.scores.projections import direct_bias, relative_norm_distance
from bayesbias.tables.distances import distance_table
from bayesbias.wordlists.listfile import load_wordlist

PLANE = {
    "he": np.array([2.0, 0.0]), "she": np.array([-1.0, 0.0]), "his": np.array([3.0, 3.0]),
    "hers": np.array([-5.0, 5.0]), "nurse": np.array([-3.0, 4.0]), "doctor": np.array([0.6, 0.8]),
    "clerk": np.array([0.0, 7.0]),
}  # fmt: skip


COUPLES = [("he", "she"), ("his", "hers")]


NEUTRAL = ["nurse", "doctor", "clerk"]


def test_direct_bias_by_hand() -> None:
    # Both differences of the unit vectors lie along the first axis.
    result = direct_bias(PLANE, words=NEUTRAL, sets=COUPLES)
    assert result.direction == pytest.approx([1, 0], abs=1e-15)
    assert result.explained == pytest.approx(1)
    assert result.value == pytest.approx((0.6 + 0.6 + 0) / 3)
    assert result.pairs()["cosine"].tolist() == pytest.approx([-0.6, 0.6, 0])
    assert direct_bias(PLANE, words=NEUTRAL, sets=COUPLES, strictness=2).value == pytest.approx(0.72 / 3)
    assert direct_bias(PLANE, words=NEUTRAL, sets=COUPLES, strictness=0).value == pytest.approx(2 / 3)
    other = direct_bias(PLANE, words=NEUTRAL, sets=[couple[::-1] for couple in COUPLES])
    assert other.direction == pytest.approx([-1, 0], abs=1e-15)
    assert other.value == pytest.approx(result.value)
    assert (result.towards, result.away) == (("he", "his"), ("she", "hers"))


def test_the_direction_is_the_principal_component_around_zero() -> None:
    words = [f"m{i}" for i in range(6)] + [f"f{i}" for i in range(6)] + ["n"]
    v = vectors(11, words, 8)
    for i in range(6):
        v[f"m{i}"][0] += 3  # a common direction, which centring would remove
    couples = [(f"m{i}", f"f{i}") for i in range(6)]
    result = direct_bias(v, words=["n"], sets=couples)
    unit = {w: u / np.linalg.norm(u) for w, u in v.items()}
    differences = np.array([unit[m] - unit[f] for m, f in couples])
    values, axes = np.linalg.eigh(differences.T @ differences)
    assert abs(axes[:, -1] @ result.direction) == pytest.approx(1, abs=1e-12)
    assert (differences @ result.direction).mean() > 0
    assert result.explained == pytest.approx(values[-1] / values.sum())
    assert result.value == pytest.approx(abs(cosine(v["n"], result.direction)), abs=1e-12)
    random = np.random.default_rng(0)
    scaled = {w: u * random.uniform(0.01, 100) for w, u in reversed(v.items())}
    again = direct_bias(scaled, words=["n"], sets=couples[::-1])
    assert again.direction == pytest.approx(result.direction, abs=1e-12)


def test_direct_bias_of_a_list() -> None:
    result = direct_bias("minilm-static", "gender")
    listed = load_wordlist("gender")
    assert result.words == listed.attribute_words
    assert result.n_pairs == 7
    cosines = result.pairs().set_index("word")["cosine"]
    assert cosines["nurse"] < -0.3 < 0.05 < cosines["soldier"]  # towards he, away from she
    assert result.value == pytest.approx(cosines.abs().mean())


def test_direct_bias_says_what_it_lacks() -> None:
    v = {**PLANE}
    del v["hers"], v["clerk"]
    result = direct_bias(v, words=NEUTRAL, sets=COUPLES)
    assert (result.dropped, result.n_pairs, result.n_words) == (("hers", "clerk"), 1, 2)
    for words, sets, said in [
        (NEUTRAL, [], "no pairs define a direction"),
        (NEUTRAL, [("he", "she", "it")], "pairs of different words"),
        (NEUTRAL, [("he", "he")], "pairs of different words"),
        ([], COUPLES, "no words are given"),
        (["nurse", "nurse"], COUPLES, "a word stands twice"),
        (["unicorn"], COUPLES, "no word of 1"),
        (NEUTRAL, [("unicorn", "he")], "no pair of 1"),
        (NEUTRAL, [("he", "she"), ("she", "he")], "cancel"),
    ]:
        with pytest.raises(InputError, match=said):
            direct_bias(PLANE, words=words, sets=sets)
    with pytest.raises(InputError, match="same vector"):
        direct_bias({**PLANE, "they": PLANE["he"]}, words=NEUTRAL, sets=[("he", "they")])
    with pytest.raises(InputError, match="strictness"):
        direct_bias(PLANE, words=NEUTRAL, sets=COUPLES, strictness=-1)
    with pytest.raises(InputError, match="pairs of different words"):
        direct_bias("minilm-static", "religion")
    against = direct_bias(PLANE, words=NEUTRAL, sets=[*COUPLES, ("nurse", "doctor")])
    assert any("against the direction of the others: nurse/doctor" in note for note in against.notes)


def test_relative_norm_distance_by_hand() -> None:
    v = vectors(12)
    result = relative_norm_distance(v, LIST)
    unit = {w: u / math.sqrt(sum(float(c) ** 2 for c in u)) for w, u in v.items()}
    mean_x, mean_y = (np.mean([unit[w] for w in words], axis=0) for words in (X, Y))
    by_hand = sum(math.dist(unit[w], mean_x) - math.dist(unit[w], mean_y) for w in [*A, *B])
    assert result.value == pytest.approx(by_hand, abs=1e-13)
    assert result.mean == pytest.approx(by_hand / 5, abs=1e-13)
    assert result.pairs()["difference"].sum() == pytest.approx(by_hand, abs=1e-13)
    swapped = relative_norm_distance(v, LIST, classes=("y", "x"))
    assert swapped.value == pytest.approx(-by_hand, abs=1e-13)
    raw = relative_norm_distance(v, LIST, unit=False, words=["a1"])
    mean_x, mean_y = (np.mean([v[w] for w in words], axis=0) for words in (X, Y))
    assert raw.value == pytest.approx(math.dist(v["a1"], mean_x) - math.dist(v["a1"], mean_y), abs=1e-13)
    alike = relative_norm_distance({**v, **dict.fromkeys([*X, *Y], v["a1"])}, LIST)
    assert alike.value == 0
    assert "as near to x as to y" in repr(alike)
    assert alike.in_words()[1].endswith("as near to x as to y")
    del v["b3"], v["y1"]
    assert relative_norm_distance(v, LIST).dropped == ("y1", "b3")
    with pytest.raises(InputError, match="two protected classes"):
        relative_norm_distance("minilm-static", "religion")


def test_results_keep_their_fields_and_hold_no_nan() -> None:
    v = vectors()
    whole = distance_table(v, LIST)
    flat = two_by_two({"x1": (0.4, 0.9), "y1": (0.5, 1.0)})
    for some in (
        [
            weat(v, LIST),
            weat(flat),
            weat(v, LIST, p="normal"),
            weat(v, LIST, p="montecarlo", seed=shifted(1)),
        ],
        [mac(v, LIST), mac(whole, against=whole), mac(whole, against=distance_table(vectors(1), LIST))],
        [direct_bias(PLANE, words=NEUTRAL, sets=COUPLES), direct_bias("minilm-static", "gender")],
        [relative_norm_distance(v, LIST), relative_norm_distance("minilm-static", "gender")],
    ):
        assert len({tuple(result.as_dict()) for result in some}) == 1
        for result in some:
            json.dumps(result.as_dict(), allow_nan=False)
            assert len(repr(result)) < 300
            with pytest.raises(AttributeError):
                result.name = "other"
