"""MAC, held to hand calculations and to the published tables."""

from __future__ import annotations

import statistics

import pandas as pd
import pytest
from helpers.tables import two_by_two
from helpers.vectors import LIST, A, B, X, Y, cosine, vectors
from scipy import stats

from bayesbias.core.errors import InputError
from bayesbias.scores.averages import CONVENTIONS, mac
from bayesbias.tables.distances import distance_table
from bayesbias.tables.reading import load_distances
from bayesbias.wordlists.listfile import load_wordlist


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
@pytest.mark.slow
def test_mac_of_the_published_tables(shared, name, before, after, t, p) -> None:
    folder = shared / "data" / "bayesbias_distances" / "reddit_pairs_2021"
    sets = load_wordlist(name).evaluation_sets
    words = list(dict.fromkeys(w for s in sets for w in s))
    for repeats in ("once", "keep"):
        first = load_distances(folder / f"{name}Reddit.csv", repeats=repeats)
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
    pairs = load_distances(two_by_two({"x1": (0.4, 0.9), "y1": (0.8, 0.7)}))
    twice = pd.concat([pairs.frame, pairs.frame.assign(distance=0.1)], ignore_index=True)
    with pytest.raises(
        InputError, match=r"'x1', 'a' stands twice with different distances, in row 0 and row 4"
    ):
        mac(type(pairs)(twice, pairs.coverage, pairs.provenance))
