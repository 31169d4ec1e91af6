"""The scores in common use, held to hand calculations and to published values."""

from __future__ import annotations

import itertools
import json
import math
import statistics

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from helpers import monte_carlo as mc
from helpers.seeds import shifted
from scipy import stats

from bayesbias.basics.errors import InputError
from bayesbias.cli.main import cli
from bayesbias.scores.association import DENOMINATORS, effect_size, largest_effect_size, weat
from bayesbias.scores.averages import CONVENTIONS, mac
from bayesbias.scores.projections import direct_bias, relative_norm_distance
from bayesbias.tables.distances import distance_table
from bayesbias.tables.reading import read_distances
from bayesbias.vectors.loading import load_embedding
from bayesbias.words.listfile import load_wordlist

# Caliskan et al. (2017), table 1: effect sizes of WEAT 1-10 on GloVe 840B.
PUBLISHED = [1.50, 1.53, 1.41, 1.50, 1.28, 1.81, 1.06, 1.24, 1.38, 1.21]

LIST = {
    "x": {"protected": ["x1", "x2", "x3"], "attributes": ["a1", "a2"]},
    "y": {"protected": ["y1", "y2", "y3", "y4"], "attributes": ["b1", "b2", "b3"]},
}
X, Y, A, B = ["x1", "x2", "x3"], ["y1", "y2", "y3", "y4"], ["a1", "a2"], ["b1", "b2", "b3"]


def vectors(seed: int = 0, words: list[str] | None = None, d: int = 5) -> dict[str, np.ndarray]:
    random = np.random.default_rng(seed)
    return {word: random.normal(size=d) for word in words or [*X, *Y, *A, *B]}


def cosine(u: np.ndarray, v: np.ndarray) -> float:
    return sum(map(float, u * v)) / math.sqrt(sum(map(float, u * u)) * sum(map(float, v * v)))


def table(rows: list[tuple[str, str, str, str, str, float]]) -> pd.DataFrame:
    names = ["protected_word", "protected_class", "attribute", "attribute_class", "connection", "distance"]
    return pd.DataFrame(rows, columns=names)


def two_by_two(distances: dict[str, tuple[float, float]]) -> pd.DataFrame:
    """One attribute in either set; words that begin with x are of class x."""
    rows = []
    for word, (to_a, to_b) in distances.items():
        c = word[0]
        rows.append((word, c, "a", "x", "associated" if c == "x" else "different", to_a))
        rows.append((word, c, "b", "y", "associated" if c == "y" else "different", to_b))
    return table(rows)


def scores_by_hand(v: dict[str, np.ndarray]) -> dict[str, float]:
    return {
        w: statistics.fmean(cosine(v[w], v[a]) for a in A) - statistics.fmean(cosine(v[w], v[b]) for b in B)
        for w in [*X, *Y]
    }


# -- WEAT ------------------------------------------------------------------------------------------


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


# -- MAC -------------------------------------------------------------------------------------------


def test_mac_by_hand() -> None:
    v = vectors(7)
    averages = [
        statistics.fmean(1 - cosine(v[w], v[a]) for a in attributes)
        for w in [*X, *Y]
        for attributes in (A, B)
    ]
    result = mac(v, LIST)
    assert result.mac == pytest.approx(statistics.fmean(averages), abs=1e-14)
    assert result.averages()["distance"].tolist() == pytest.approx(averages, abs=1e-14)
    every = [1 - cosine(v[w], v[a]) for w in [*X, *Y] for a in [*A, *B]]
    other = mac(v, LIST, convention="all_pairs")
    assert other.mac == pytest.approx(statistics.fmean(every), abs=1e-14)
    assert other.mac != pytest.approx(result.mac, abs=1e-4)
    for one in (result, other):
        pairs = one.pairs()
        assert (pairs["weight"] * pairs["distance"]).sum() == pytest.approx(one.mac, abs=1e-14)
        assert pairs["weight"].sum() == pytest.approx(1)
    assert (result.n_words, result.n_averages, result.n_pairs) == (7, 14, 35)
    assert (result.mac_against, result.t, result.p_value) == (None, None, None)


# The values of the request; Manzini et al. (2019) report them in table 3 to three decimals.
@pytest.mark.parametrize(
    ("name", "before", "after", "t", "p"),
    [
        ("religion", 0.861373, 0.947635, -5.2099, 4.807e-06),
        ("gender", 0.623159, 0.694950, None, None),
        ("race", 0.892089, 0.924707, None, None),
    ],
)
def test_mac_of_the_published_tables(shared, name, before, after, t, p) -> None:
    folder = shared / "data" / "bayesbias_distances" / "reddit_pairs_2021"
    sets = load_wordlist(name).evaluation_sets
    words = list(dict.fromkeys(w for s in sets for w in s))
    for repeats in ("once", "keep"):
        first = read_distances(folder / f"{name}Reddit.csv", repeats=repeats)
        result = mac(first, against=folder / f"debiased{name.capitalize()}Reddit.csv", words=words)
        assert (round(result.mac, 6), round(result.mac_against, 6)) == (before, after)
        assert result.n_words == len(words)
        averages = result.averages()
        by_scipy = stats.ttest_rel(averages["distance"], averages["distance_against"].astype(float))
        assert (result.t, result.p_value) == pytest.approx((by_scipy.statistic, by_scipy.pvalue), rel=1e-9)
        assert result.df == len(averages) - 1
        assert result.difference == pytest.approx(result.mac - result.mac_against)
        if t is not None:
            assert round(result.t, 4) == t
            assert f"{result.p_value:.3e}" == f"{p:.3e}"
    assert any("repeated pairs count once" in note for note in result.notes) == (name == "race")


def test_mac_against_a_table_that_lacks_pairs() -> None:
    v = vectors(8)
    whole = distance_table(v, LIST)
    w = vectors(9)
    del w["b2"], w["y4"]
    result = mac(whole, against=distance_table(w, LIST))
    small = {
        "x": LIST["x"], "y": {"protected": ["y1", "y2", "y3"], "attributes": ["b1", "b3"]},
    }  # fmt: skip
    assert result.mac == pytest.approx(mac(v, small).mac, abs=1e-14)
    assert result.mac_against == pytest.approx(mac(w, small).mac, abs=1e-14)
    assert any("b2" in note and "y4" in note for note in result.notes)
    none = two_by_two({"x8": (0.4, 0.9), "y9": (0.8, 0.7)})
    with pytest.raises(InputError, match="no pair in common"):
        mac(whole, against=none)


def test_a_t_test_of_nothing_is_none_and_says_so() -> None:
    whole = distance_table(vectors(), LIST)
    result = mac(whole, against=whole)
    assert (result.difference, result.t, result.p_value) == (0.0, None, None)
    assert any("do not vary" in note for note in result.notes)


def test_words_of_mac() -> None:
    v = vectors()
    few = mac(v, LIST, words=["y2", "x1"])
    assert few.words == ("y2", "x1")
    assert few.n_pairs == 10
    with pytest.raises(InputError, match="did you mean 'y2'"):
        mac(v, LIST, words=["y22"])
    del v["x1"]
    assert mac(v, LIST, words=["y2", "x1"]).dropped == ("x1",)
    with pytest.raises(InputError, match="where a list is expected"):
        mac(v, LIST, words="y2")
    assert CONVENTIONS == ("class_means", "all_pairs")
    with pytest.raises(InputError, match="class_means"):
        mac(v, LIST, convention="means")


def test_two_distances_of_one_pair_are_refused() -> None:
    pairs = read_distances(two_by_two({"x1": (0.4, 0.9), "y1": (0.8, 0.7)}))
    twice = pd.concat([pairs.frame, pairs.frame.assign(distance=0.1)], ignore_index=True)
    with pytest.raises(InputError, match=r"a pair has two distances.*x1"):
        mac(type(pairs)(twice, pairs.coverage, pairs.provenance))


# -- direct bias and relative norm distance ---------------------------------------------------------

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


# -- the command -----------------------------------------------------------------------------------


def run(*args: object) -> str:
    result = CliRunner().invoke(cli, [str(a) for a in args], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_measure_prints_one_object() -> None:
    printed = json.loads(run("measure", "--embedding", "minilm-static", "--wordlist", "weat7", "--json"))
    assert list(printed) == ["weat", "mac", "relative_norm_distance"]
    result = weat("minilm-static", "weat7")
    keys = ["statistic", "effect_size", "p_value", "p_lower", "p_upper", "p_method", "sides", "n_x", "n_y"]
    assert {k: printed["weat"][k] for k in keys} == {k: getattr(result, k) for k in keys}
    assert printed["weat"]["dropped"] == []
    assert printed["mac"]["mac"] == mac("minilm-static", "weat7").mac
    assert (printed["mac"]["t"], printed["mac"]["df"], printed["mac"]["p_value"]) == (None, None, None)


def test_measure_passes_its_options_on() -> None:
    printed = json.loads(
        run(
            "measure", "--embedding", "minilm-static", "--wordlist", "gender", "--measure", "direct_bias,weat",
            "--p", "montecarlo", "--samples", 500, "--seed", shifted(7), "--sides", 2, "--denominator", "pooled",
            "--strictness", 2, "--classes", "woman,man", "--json",
        )
    )  # fmt: skip
    expected = weat(
        "minilm-static", "gender", p="montecarlo", samples=500, seed=shifted(7), sides=2, denominator="pooled",
        classes=("woman", "man"),
    )  # fmt: skip
    assert list(printed) == ["direct_bias", "weat"]
    assert printed["weat"]["p_value"] == expected.p_value
    assert printed["weat"]["effect_size"] == expected.effect_size
    assert printed["weat"]["permutation"]["seed"] == shifted(7)
    assert printed["direct_bias"]["value"] == direct_bias("minilm-static", "gender", strictness=2).value
    text = run("measure", "--embedding", "minilm-static", "--wordlist", "gender")
    assert f"effect size {weat('minilm-static', 'gender').effect_size:.4f}" in text
    assert "direction of 7 pairs, towards he" in text


def test_measure_takes_the_evaluation_sets_of_the_race_table(shared) -> None:
    folder = shared / "data" / "bayesbias_distances" / "reddit_pairs_2021"
    args = [
        "measure",
        "--distances",
        folder / "raceReddit.csv",
        "--against",
        folder / "debiasedRaceReddit.csv",
    ]
    printed = json.loads(run(*args, "--json"))
    assert list(printed) == ["mac"]  # three classes, and no vectors
    assert (round(printed["mac"]["mac"], 6), round(printed["mac"]["mac_against"], 6)) == (0.892089, 0.924707)
    every = json.loads(run(*args, "--mac-words", "all", "--json"))
    assert every["mac"]["n_words"] == 10
    assert every["mac"]["mac"] == mac(folder / "raceReddit.csv").mac


def test_measure_says_what_it_leaves_out_and_why(tmp_path) -> None:
    def said(*args: object) -> list[str]:
        result = CliRunner().invoke(cli, ["measure", *map(str, args)], catch_exceptions=False)
        assert result.exit_code == 0
        return [line for line in result.stderr.splitlines() if "left out: " in line]

    vectors_ = "it needs vectors (--embedding E --wordlist W), not distances"
    two, three = tmp_path / "two.csv", tmp_path / "three.csv"
    table = distance_table("minilm-static", "weat7")
    table.save(two)
    assert said("--distances", two) == [
        f"note: direct_bias left out: {vectors_}",
        f"note: relative_norm_distance left out: {vectors_}",
    ]
    assert said("--embedding", "minilm-static", "--wordlist", "weat7") == [
        "note: direct_bias left out: the list has no definitional sets"
    ]
    assert said("--embedding", "minilm-static", "--wordlist", "weat7", "--measure", "mac") == []
    distance_table("minilm-static", "religion").save(three)
    weat_note = said("--distances", three)[0]
    assert weat_note.startswith("note: weat left out: it compares two protected classes, and there are 3 (")
    assert weat_note.endswith("); name two with --classes X,Y")
    names = list(dict.fromkeys(distance_table("minilm-static", "religion").frame["protected_class"]))
    assert len(said("--distances", three, "--classes", ",".join(names[:2]))) == 2
    with pytest.raises(InputError, match=r"weat compares two protected classes; .*--classes X,Y"):
        run("measure", "--distances", three, "--measure", "weat")


def test_measure_refuses_what_it_cannot_do(tmp_path) -> None:
    path = tmp_path / "pairs.csv"
    distance_table(vectors(), LIST).save(path)
    for args, said in [
        (["--distances", path, "--measure", "direct_bias"], "needs vectors"),
        (["--distances", path, "--wordlist", "gender"], "stands alone"),
        (["--distances", path, "--measure", "waet"], "did you mean 'weat'"),
        (["--distances", path, "--measure", "weat", "--against", path], "--against is for mac"),
        (["--wordlist", "gender"], "nothing to measure"),
        (["--distances", path, "--classes", "x,z"], "unknown protected class"),
    ]:
        with pytest.raises(InputError, match=said):
            run("measure", *args)
    assert "the differences of the averages do not vary" in run(
        "measure", "--distances", path, "--against", path
    )


def test_choices_of_the_command_are_those_of_the_scores() -> None:
    from typing import get_args

    from bayesbias.scores.association import DENOMINATORS
    from bayesbias.scores.averages import CONVENTIONS
    from bayesbias.scores.measures import MEASURES
    from bayesbias.scores.permutation import Method

    settings = {setting.name: setting for row in MEASURES.values() for setting in row.settings}
    assert len(settings) == sum(len(row.settings) for row in MEASURES.values())  # no two bear one name
    assert settings["denominator"].choices == DENOMINATORS
    assert settings["convention"].choices == CONVENTIONS
    assert set(settings["p"].choices) == set(get_args(Method))


def test_a_new_score_is_one_file_and_one_row(tmp_path, monkeypatch) -> None:
    import importlib

    from bayesbias.basics.settings import Setting
    from bayesbias.cli import measuring
    from bayesbias.scores import measures

    # A file beside the others: the share of pairs nearer than a threshold.
    (tmp_path / "nearness.py").write_text(NEARNESS)
    monkeypatch.setattr(
        "bayesbias.scores.__path__", [*importlib.import_module("bayesbias.scores").__path__, str(tmp_path)]
    )
    row = measures.Measure(
        "nearness:measured_nearness",
        settings=(
            Setting("within", 1.0, "The distance.", least=0),
            Setting("kind", "all", "Which pairs.", choices=("all", "associated")),
        ),
    )
    monkeypatch.setattr(measures, "MEASURES", {**measures.MEASURES, "nearness": row})
    try:
        command = importlib.reload(measuring).measure
        path = tmp_path / "pairs.csv"
        table = distance_table(vectors(), LIST)
        table.save(path)

        def run_it(*args: str) -> str:
            result = CliRunner().invoke(command, ["--distances", str(path), *args], catch_exceptions=False)
            assert result.exit_code == 0, result.output
            return result.stdout

        distance = table.frame["distance"]
        printed = json.loads(run_it("--measure", "nearness", "--within", "0.9", "--json"))
        assert printed["nearness"]["share"] == pytest.approx((distance < 0.9).mean())
        own = distance[table.frame["connection"] == "associated"]
        text = run_it("--kind", "associated")
        assert f"  {(own < 1.0).mean():.6f} of {len(own)} pairs" in text.splitlines()
        assert text.startswith("WEAT, ")  # by default with all others
        assert "--within FLOAT RANGE" in CliRunner().invoke(command, ["--help"]).stdout
        assert CliRunner().invoke(command, ["--distances", str(path), "--within", "-1"]).exit_code == 2
    finally:
        monkeypatch.undo()
        importlib.reload(measuring)


NEARNESS = """
from dataclasses import dataclass

from bayesbias.scores.stereotypes import ScoreResult


@dataclass(frozen=True, eq=False, repr=False)
class Nearness(ScoreResult):
    share: float
    n_pairs: int

    def in_words(self):
        return [f"nearness, {self.name}", f"  {self.share:.6f} of {self.n_pairs} pairs"]


def measured_nearness(given, *, within, kind):
    frame = given.table.frame
    if kind != "all":
        frame = frame[frame["connection"] == kind]
    return Nearness("pairs", (), (), frame, (frame["distance"] < within).mean(), len(frame))
"""
