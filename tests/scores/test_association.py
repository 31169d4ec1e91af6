"""WEAT and SC-WEAT, compared with hand calculations and published values."""

import itertools
import math
import statistics

import numpy as np
import pytest
from helpers.vectors import LIST, A, B, X, Y, cosine, vectors

from bayesbias.core.errors import InputError
from bayesbias.embeddings.loading import load_embedding
from bayesbias.scores import sc_weat
from bayesbias.scores.association import DENOMINATORS, effect_size, largest_effect_size, mac, weat
from bayesbias.scores.resampling import sign_flip_test
from bayesbias.scores.vectors import relative_norm_distance
from bayesbias.tables.distances import distance_table
from bayesbias.wordlists.listfile import load_wordlist

# Caliskan et al. (2017), table 1: effect sizes of WEAT 1-10 on GloVe 840B.
PUBLISHED = [1.50, 1.53, 1.41, 1.50, 1.28, 1.81, 1.06, 1.24, 1.38, 1.21]


def gap(v, w) -> float:
    return statistics.fmean(cosine(v[w], v[a]) for a in A) - statistics.fmean(
        cosine(v[w], v[b]) for b in B
    )


def test_weat_by_hand() -> None:
    v = vectors()
    result = weat(v, LIST)
    s = {w: gap(v, w) for w in [*X, *Y]}
    assert result.scores == pytest.approx(s, abs=1e-14)
    assert result.statistic == pytest.approx(sum(s[w] for w in X) - sum(s[w] for w in Y), abs=1e-13)
    difference = statistics.fmean(s[w] for w in X) - statistics.fmean(s[w] for w in Y)
    assert result.value == pytest.approx(difference / statistics.stdev(s.values()), abs=1e-12)
    at_least = [
        sum(s[w] for w in chosen) - sum(s[w] for w in s if w not in chosen)
        >= result.statistic - 1e-12
        for chosen in itertools.combinations(s, 3)
    ]
    assert result.p_value == result.p_lower == result.p_upper == sum(at_least) / 35
    assert (result.p_method, result.sides, result.n) == (
        "exact",
        1,
        {"x": 3, "y": 4, "a": 2, "b": 3},
    )
    assert (result.classes, result.x, result.b) == (("x", "y"), tuple(X), tuple(B))
    pairs = result.pairs()
    assert len(pairs) == 7 * 5
    assert (pairs["weight"] * pairs["similarity"]).sum() == pytest.approx(
        result.statistic, abs=1e-13
    )
    row = pairs[(pairs["protected_word"] == "y2") & (pairs["attribute"] == "b3")].iloc[0]
    assert (row["set"], row["attribute_set"], row["weight"]) == ("Y", "B", pytest.approx(1 / 3))
    assert row["distance"] == pytest.approx(1 - cosine(v["y2"], v["b3"]), abs=1e-14)


def test_a_table_gives_the_same_as_its_vectors() -> None:
    v = vectors(1)
    pairs = distance_table(v, LIST)
    for name in ("statistic", "value", "p_value"):
        assert getattr(weat(pairs, None), name) == getattr(weat(v, LIST), name)
    assert mac(pairs).value == mac(v, LIST).value


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
    assert effect_size(np.multiply(y, 1e6), np.multiply(x, 1e6), denominator) == pytest.approx(
        -expected, rel=1e-14
    )


def test_the_ceiling_of_the_effect_size_is_reached_and_never_passed() -> None:
    assert largest_effect_size(2, 2) == pytest.approx(math.sqrt(3), rel=1e-15)
    assert largest_effect_size(2, 2, "union_n") == 2
    assert largest_effect_size(3, 5, "pooled") is None
    random = np.random.default_rng(5)
    for n_x, n_y in [(1, 1), (2, 2), (1, 4), (3, 5), (8, 8)]:
        for denominator in DENOMINATORS[:2]:
            most = largest_effect_size(n_x, n_y, denominator)
            assert effect_size([1.0] * n_x, [0.0] * n_y, denominator) == pytest.approx(
                most, rel=1e-14
            )
            for _ in range(50):
                d = effect_size(random.normal(3, 1, n_x), random.normal(0, 1, n_y), denominator)
                assert abs(d) <= most * (1 + 1e-12)
    assert effect_size([1.1, 1.0], [0.1, 0.0], "pooled") > 10


def test_a_printed_score_says_how_many_sides_its_p_has() -> None:
    printed = [str(weat("minilm-static", "weat7", sides=sides)) for sides in (1, 2)]
    assert "(exact, one-sided)" in printed[0]
    assert "(exact, two-sided)" in printed[1]


@pytest.mark.slow
def test_glove_reproduces_the_published_effect_sizes(shared) -> None:
    glove = load_embedding(shared / "data" / "vectors" / "glove840B_union_300d.txt")
    results = [weat(glove, f"weat{i}") for i in range(1, 11)]
    assert [round(result.value, 2) for result in results] == PUBLISHED
    for result in results:
        assert result.dropped == ()
        assert result.p_method in ("exact", "bounds")
        assert result.p_upper - result.p_lower <= 0.02 * result.p_value
    assert (results[6].p_method, results[6].p_value) == ("exact", 202 / math.comb(16, 8))


def test_swapping_x_and_y() -> None:
    v = vectors(2)
    swapped = {
        "x": {"protected": LIST["y"]["protected"], "attributes": LIST["x"]["attributes"]},
        "y": {"protected": LIST["x"]["protected"], "attributes": LIST["y"]["attributes"]},
    }
    one, other = weat(v, LIST), weat(v, swapped)
    assert other.statistic == pytest.approx(-one.statistic, abs=1e-14)
    assert other.value == pytest.approx(-one.value, abs=1e-13)
    assert other.p_value == pytest.approx(1 - one.p_value + one.permutation.ties / 35, abs=1e-14)
    assert weat(v, LIST, sides=2).p_value == weat(v, swapped, sides=2).p_value
    both = weat(v, LIST, classes=("y", "x"))  # swaps the attributes along with the words
    assert (both.classes, both.statistic) == (("y", "x"), pytest.approx(one.statistic, abs=1e-14))


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
    assert [x.value for x in other] == pytest.approx([x.value for x in one], abs=1e-12)
    assert (other[0].p_value, other[0].permutation.ties) == (
        one[0].p_value,
        one[0].permutation.ties,
    )


def test_attribute_sets_that_share_words() -> None:
    same = {
        "x": {"protected": X, "attributes": ["a1", "b1"]},
        "y": {"protected": Y, "attributes": ["b1", "a1"]},
    }
    result = weat(vectors(4), same)
    assert (result.statistic, result.value, result.p_value) == (0.0, None, 1.0)
    v = vectors(5)
    result = weat(v, {"x": {"protected": X, "attributes": ["a1", "a2", "b1"]}, "y": LIST["y"]})
    for w in [*X, *Y]:
        by_hand = statistics.fmean(cosine(v[w], v[a]) for a in ("a1", "a2", "b1"))
        by_hand -= statistics.fmean(cosine(v[w], v[b]) for b in B)
        assert result.scores[w] == pytest.approx(by_hand, abs=1e-14)
    assert any("in both A and B: b1" in note for note in result.notes)


def test_a_protected_word_that_is_an_attribute_is_not_compared_with_itself() -> None:
    v = vectors(6)
    result = weat(v, {"x": {"protected": ["x1", "a1"], "attributes": ["a1", "a2"]}, "y": LIST["y"]})
    by_hand = cosine(v["a1"], v["a2"]) - statistics.fmean(cosine(v["a1"], v[b]) for b in B)
    assert result.scores["a1"] == pytest.approx(by_hand, abs=1e-14)


def test_dropped_words_are_named(shared) -> None:
    v = vectors()
    del v["x3"], v["b1"]
    result = weat(v, LIST)
    assert (result.dropped, result.n["x"], result.n["b"]) == (("x3", "b1"), 2, 2)
    assert set(mac(v, LIST).dropped) == {"x3", "b1"}
    three = {**LIST, "z": {"protected": ["z1", "z2"], "attributes": ["c1", "c2"]}}
    assert weat(v | vectors(9, ["z1", "z2", "c1"]), three, classes=("x", "z")).dropped == (
        "x3",
        "c2",
    )
    # 19 of the 50 protected words and one attribute of WEAT 1 are not in the Reddit vectors.
    result = weat(shared / "data" / "bayesbias_distances" / "weat" / "weat_1_reddit.csv")
    assert len(result.dropped) == 20
    assert (result.n["x"] + result.n["y"], result.n["a"], result.n["b"]) == (31, 24, 25)


def test_two_classes_are_needed() -> None:
    with pytest.raises(InputError, match=r"two protected classes.*--classes.*in Python"):
        weat("minilm-static", "religion")
    result = weat("minilm-static", "religion", classes=("islam", "judaism"))
    assert list(result.n.values()) == [5, 5, 4, 4]
    assert result.a == load_wordlist("religion").classes[2].attributes
    with pytest.raises(InputError, match="Did you mean 'islam'"):
        weat("minilm-static", "religion", classes=("islan", "judaism"))


def test_sc_weat_word_by_word() -> None:
    v = vectors(2)
    result = sc_weat(v, LIST, sides=2)
    for c, words in (("x", X), ("y", Y)):
        for word in words:
            near, far = ([cosine(v[word], v[u]) for u in side] for side in (A, B))
            expected = (statistics.mean(near) - statistics.mean(far)) / statistics.stdev(
                [*near, *far]
            )
            assert result[c].scores[word] == pytest.approx(expected, abs=1e-12)
        gaps = [gap(v, w) for w in words]
        assert (result[c].p_value, result[c].n["words"]) == (
            sign_flip_test(gaps).p_value,
            len(words),
        )
        assert result[c].value == pytest.approx(np.mean(gaps), abs=1e-12)
        assert result[c].mean_score == pytest.approx(np.mean([result[c].scores[w] for w in words]))
        assert result[c].low is None  # three and four words: no 89 % interval


def test_sc_weat_asks_each_class_for_its_own_attributes() -> None:
    result = sc_weat("minilm-static", "weat7", prob=0.8)
    arts = result["arts"]
    below = sign_flip_test([-s for s in arts.pairs().eval("mean_a - mean_b")], sides=1, prob=0.8)
    assert arts.p_value == below.p_value
    assert (arts.low, arts.high) == (-below.high, -below.low)
    assert arts.low < arts.value < arts.high
    swapped = sc_weat("minilm-static", "weat7", classes=("arts", "math"), prob=0.8)
    assert swapped["arts"].p_value == arts.p_value
    assert swapped["math"].mean_score == pytest.approx(-result["math"].mean_score)
