"""WEAT and its effect size, held to hand calculations and to published values."""

from __future__ import annotations

import itertools
import math
import statistics

import numpy as np
import pytest
from helpers import monte_carlo as mc
from helpers.seeds import shifted
from helpers.tables import table, two_by_two
from helpers.vectors import LIST, A, B, X, Y, cosine, vectors

from bayesbias.core.errors import InputError
from bayesbias.embeddings.loading import load_embedding
from bayesbias.scores.association import DENOMINATORS, effect_size, largest_effect_size, weat
from bayesbias.scores.averages import mac
from bayesbias.scores.projections import relative_norm_distance
from bayesbias.tables.distances import distance_table
from bayesbias.wordlists.listfile import load_wordlist

# Caliskan et al. (2017), table 1: effect sizes of WEAT 1-10 on GloVe 840B.
PUBLISHED = [1.50, 1.53, 1.41, 1.50, 1.28, 1.81, 1.06, 1.24, 1.38, 1.21]


def scores_by_hand(v: dict[str, np.ndarray]) -> dict[str, float]:
    return {
        w: statistics.fmean(cosine(v[w], v[a]) for a in A) - statistics.fmean(cosine(v[w], v[b]) for b in B)
        for w in [*X, *Y]
    }


def test_weat_by_hand() -> None:
    v = vectors()
    result = weat(v, LIST)
    s = scores_by_hand(v)
    assert result.scores == pytest.approx(s, abs=1e-14)
    assert result.statistic == pytest.approx(sum(s[w] for w in X) - sum(s[w] for w in Y), abs=1e-13)
    difference = statistics.fmean(s[w] for w in X) - statistics.fmean(s[w] for w in Y)
    assert result.effect_size == pytest.approx(difference / statistics.stdev(s.values()), abs=1e-12)
    at_least = [
        sum(s[w] for w in chosen) - sum(s[w] for w in s if w not in chosen) >= result.statistic - 1e-12
        for chosen in itertools.combinations(s, 3)
    ]
    assert result.p_value == result.p_lower == result.p_upper == sum(at_least) / 35
    assert (result.p_method, result.sides, result.n_x, result.n_y, result.n_a, result.n_b) == (
        "exact",
        1,
        3,
        4,
        2,
        3,
    )
    assert (result.classes, result.x, result.y, result.a, result.b) == (
        ("x", "y"), tuple(X), tuple(Y), tuple(A), tuple(B),
    )  # fmt: skip
    pairs = result.pairs()
    assert len(pairs) == 7 * 5
    assert (pairs["weight"] * pairs["similarity"]).sum() == pytest.approx(result.statistic, abs=1e-13)
    row = pairs[(pairs["protected_word"] == "y2") & (pairs["attribute"] == "b3")].iloc[0]
    assert (row["set"], row["attribute_set"], row["weight"]) == ("Y", "B", pytest.approx(1 / 3))
    assert row["distance"] == pytest.approx(1 - cosine(v["y2"], v["b3"]), abs=1e-14)
    pairs.loc[:, "weight"] = 0.0
    assert result.pairs()["weight"].abs().min() > 0  # a copy


def test_a_table_gives_the_same_as_its_vectors() -> None:
    v = vectors(1)
    pairs = distance_table(v, LIST)
    for name in ("statistic", "effect_size", "p_value"):
        assert getattr(weat(pairs, None), name) == getattr(weat(v, LIST), name)
    assert mac(pairs).mac == mac(v, LIST).mac


@pytest.mark.parametrize("denominator", DENOMINATORS)
def test_denominators_by_hand(denominator) -> None:
    x, y = [0.31, 0.12, -0.05], [0.02, -0.11, -0.3, 0.07, 0.0]
    sd = {
        "union_n_minus_1": statistics.stdev(x + y),
        "union_n": statistics.pstdev(x + y),
        "pooled": math.sqrt((2 * statistics.variance(x) + 4 * statistics.variance(y)) / 6),
    }[denominator]
    expected = (statistics.fmean(x) - statistics.fmean(y)) / sd
    assert effect_size(x, y, denominator) == pytest.approx(expected, rel=1e-14)
    assert effect_size(y, x, denominator) == pytest.approx(-expected, rel=1e-14)


@pytest.mark.parametrize("factor", [1e-300, 1e-120, 1e120, 1e299])
def test_the_effect_size_has_no_unit(factor) -> None:
    x, y = [0.3, 0.1, 0.2], [0.0, -0.2, 0.1]
    for denominator in DENOMINATORS:
        scaled = effect_size([v * factor for v in x], [v * factor for v in y], denominator)
        assert scaled == pytest.approx(effect_size(x, y, denominator), rel=1e-9)
    with pytest.raises(InputError, match=r"scores_x\[0\]: is too large for a score"):
        effect_size([1e308, 1], y)
    with pytest.raises(InputError, match="scores_x: must hold real numbers"):
        effect_size(["1", "2"], y)


def test_the_ceiling_of_the_effect_size_is_reached_and_never_passed() -> None:
    assert largest_effect_size(2, 2) == pytest.approx(math.sqrt(3), rel=1e-15)
    assert largest_effect_size(2, 2, "union_n") == 2
    assert largest_effect_size(3, 5, "pooled") is None
    random = np.random.default_rng(5)
    for n_x, n_y in [(1, 1), (2, 2), (1, 4), (3, 5), (8, 8)]:
        for denominator in DENOMINATORS[:2]:
            most = largest_effect_size(n_x, n_y, denominator)
            # reached where all variation lies between the sets
            assert effect_size([1.0] * n_x, [0.0] * n_y, denominator) == pytest.approx(most, rel=1e-14)
            for _ in range(50):
                d = effect_size(random.normal(3, 1, n_x), random.normal(0, 1, n_y), denominator)
                assert abs(d) <= most * (1 + 1e-12)
    assert effect_size([1.1, 1.0], [0.1, 0.0], "pooled") > 10


@pytest.mark.slow
def test_glove_reproduces_the_published_effect_sizes(shared) -> None:
    glove = load_embedding(shared / "data" / "vectors" / "glove840B_union_300d.txt")
    results = [weat(glove, f"weat{i}") for i in range(1, 11)]
    assert [round(result.effect_size, 2) for result in results] == PUBLISHED
    for result in results:
        assert result.dropped == ()
        assert result.permutation.rigorous
        assert result.p_upper - result.p_lower <= 0.02 * result.p_value
    seventh = results[6]
    assert seventh.p_method == "exact"
    assert seventh.p_value == 202 / math.comb(16, 8)
    assert f"{seventh.p_value:.4f}" == "0.0157"


def test_swapping_x_and_y() -> None:
    v = vectors(2)
    swapped = {
        "x": {"protected": LIST["y"]["protected"], "attributes": LIST["x"]["attributes"]},
        "y": {"protected": LIST["x"]["protected"], "attributes": LIST["y"]["attributes"]},
    }
    one, other = weat(v, LIST), weat(v, swapped)
    assert other.statistic == pytest.approx(-one.statistic, abs=1e-14)
    assert other.effect_size == pytest.approx(-one.effect_size, abs=1e-13)
    assert other.p_value == pytest.approx(1 - one.p_value + one.permutation.ties / 35, abs=1e-14)
    assert one.p_value != other.p_value
    assert weat(v, LIST, sides=2).p_value == weat(v, swapped, sides=2).p_value
    # Swapping the attributes along with the words changes nothing at all but for unequal sets' names.
    both = weat(v, LIST, classes=("y", "x"))
    assert both.classes == ("y", "x")
    assert both.statistic == pytest.approx(one.statistic, abs=1e-14)


def test_renaming_reordering_and_rescaling_change_nothing() -> None:
    v = vectors(3)
    one = weat(v, LIST), mac(v, LIST), relative_norm_distance(v, LIST)
    names = {w: f"<{i}>" for i, w in enumerate(v)}
    random = np.random.default_rng(0)
    scaled = {names[w]: u * random.uniform(0.01, 1000) for w, u in v.items()}
    renamed = {
        c: {side: [names[w] for w in reversed(words)] for side, words in sets.items()}
        for c, sets in LIST.items()
    }
    other = weat(scaled, renamed), mac(scaled, renamed), relative_norm_distance(scaled, renamed)
    assert other[0].p_value == one[0].p_value
    assert other[0].permutation.ties == one[0].permutation.ties
    assert other[0].statistic == pytest.approx(one[0].statistic, abs=1e-13)
    assert other[0].effect_size == pytest.approx(one[0].effect_size, abs=1e-12)
    assert other[1].mac == pytest.approx(one[1].mac, abs=1e-14)
    assert other[2].value == pytest.approx(one[2].value, abs=1e-13)


def test_one_word_sets() -> None:
    result = weat(two_by_two({"x1": (0.4, 0.9), "y1": (0.8, 0.7)}))
    # s(x1) = 0.5, s(y1) = -0.1: their standard deviation is 0.6 / sqrt(2)
    assert result.statistic == pytest.approx(0.6)
    assert result.effect_size == pytest.approx(math.sqrt(2)) == result.largest_effect_size
    assert (result.p_value, result.n_x, result.n_y, result.n_a, result.n_b) == (0.5, 1, 1, 1, 1)
    pooled = weat(two_by_two({"x1": (0.4, 0.9), "y1": (0.8, 0.7)}), denominator="pooled")
    assert pooled.effect_size is None
    with pytest.raises(InputError, match=r"class 'x', protected.*at least two protected words"):
        weat(vectors(), {**LIST, "x": {"protected": ["x1"], "attributes": A}})


def test_equal_attribute_sets_give_no_association() -> None:
    shared_words = ["a1", "b1", "b2"]
    words = {
        "x": {"protected": X, "attributes": shared_words},
        "y": {"protected": Y, "attributes": shared_words[::-1]},
    }
    result = weat(vectors(4), words)
    assert (result.statistic, result.effect_size, result.p_value) == (0.0, None, 1.0)
    assert any("same words" in note for note in result.notes)


def test_overlapping_attribute_sets_by_hand() -> None:
    words = {"x": {"protected": X, "attributes": ["a1", "a2", "b1"]}, "y": LIST["y"]}
    v = vectors(5)
    result = weat(v, words)
    for w in [*X, *Y]:
        by_hand = statistics.fmean(cosine(v[w], v[a]) for a in ("a1", "a2", "b1"))
        by_hand -= statistics.fmean(cosine(v[w], v[b]) for b in B)
        assert result.scores[w] == pytest.approx(by_hand, abs=1e-14)
    assert any("in both A and B: b1" in note for note in result.notes)


def test_words_in_both_x_and_y_are_refused() -> None:
    with pytest.raises(InputError, match="stands in two classes"):
        weat(vectors(), {**LIST, "y": {"protected": ["x1", "y1"], "attributes": B}})
    frame = two_by_two({"x1": (0.4, 0.9), "y1": (0.8, 0.7)})
    frame.loc[frame["protected_word"] == "y1", "protected_word"] = "x1"
    with pytest.raises(InputError, match="x1"):
        weat(frame)


def test_a_protected_word_that_is_an_attribute_is_not_compared_with_itself() -> None:
    words = {"x": {"protected": ["x1", "a1"], "attributes": ["a1", "a2"]}, "y": LIST["y"]}
    v = vectors(6)
    result = weat(v, words)
    by_hand = cosine(v["a1"], v["a2"]) - statistics.fmean(cosine(v["a1"], v[b]) for b in B)
    assert result.scores["a1"] == pytest.approx(by_hand, abs=1e-14)
    assert any("1 pairs do not exist" in note for note in result.notes)


def test_scores_that_do_not_vary() -> None:
    result = weat(two_by_two({"x1": (0.4, 0.9), "x2": (0.3, 0.8), "y1": (0.5, 1.0), "y2": (0.1, 0.6)}))
    assert (result.effect_size, result.p_value, result.permutation.ties) == (None, 1.0, 6)
    assert result.statistic == pytest.approx(0, abs=1e-15)
    assert any("do not vary" in note for note in result.notes)


def test_dropped_words_are_named() -> None:
    v = vectors()
    del v["x3"], v["b1"]
    result = weat(v, LIST)
    assert (result.dropped, result.n_x, result.n_b) == (("x3", "b1"), 2, 2)
    assert set(mac(v, LIST).dropped) == {"x3", "b1"}
    three = {**LIST, "z": {"protected": ["z1", "z2"], "attributes": ["c1", "c2"]}}
    v |= vectors(9, ["z1", "z2", "c1"])
    assert weat(v, three, classes=("x", "z")).dropped == ("x3", "c2")


def test_published_tables_name_their_missing_words(shared) -> None:
    # 19 of the 50 protected words and one attribute of WEAT 1 are not in the Reddit vectors.
    result = weat(shared / "data" / "bayesbias_distances" / "weat" / "weat_1_reddit.csv")
    assert len(result.dropped) == 20
    assert {"aster", "caress"} < set(result.dropped)
    assert (result.n_x + result.n_y, result.n_a, result.n_b) == (31, 24, 25)


def test_two_classes_are_needed() -> None:
    with pytest.raises(InputError, match=r"two protected classes.*classes=\(X, Y\)"):
        weat("minilm-static", "religion")
    result = weat("minilm-static", "religion", classes=("islam", "judaism"))
    assert (result.n_x, result.n_y, result.n_a, result.n_b) == (5, 5, 4, 4)
    assert result.a == load_wordlist("religion").classes[2].attributes
    with pytest.raises(InputError, match="did you mean 'islam'"):
        weat("minilm-static", "religion", classes=("islan", "judaism"))


@pytest.mark.parametrize("method", ["exact", "bounds", "montecarlo", "normal"])
def test_every_way_to_the_p_value(method) -> None:
    result = weat("minilm-static", "weat7", p=method, seed=shifted(3))
    exact = weat("minilm-static", "weat7")
    assert result.p_method == method
    if method == "montecarlo":
        samples = result.permutation.samples
        hits = round(result.p_value * (samples + 1)) - 1
        assert mc.fewest(samples, exact.p_value) <= hits <= mc.most(samples, exact.p_value)
    else:
        assert result.p_value == pytest.approx(exact.p_value, rel=0.5)  # the normal one is an approximation
    assert (result.p_lower is None) == (method == "normal")


def test_what_is_no_table_is_refused() -> None:
    with pytest.raises(InputError, match="vectors need a word list too"):
        weat("minilm-static")
    with pytest.raises(InputError, match="already holds the words"):
        weat(distance_table(vectors(), LIST), LIST)
    with pytest.raises(InputError, match="did you mean 'pooled'"):
        weat(vectors(), LIST, denominator="poled")
    controls = table([("x1", "x", "chair", "neutral", "neutral", 1.0)])
    with pytest.raises(InputError, match="no pair of a protected word and a stereotype"):
        mac(controls)
