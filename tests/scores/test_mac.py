"""MAC, compared with hand calculations and the published tables."""

import statistics

import pytest
from helpers.tables import two_by_two
from helpers.vectors import LIST, A, B, X, Y, cosine, vectors
from scipy import stats

from bayesbias.core.errors import InputError
from bayesbias.scores.association import mac
from bayesbias.tables.distances import distance_table
from bayesbias.tables.reading import load_distances


def test_mac_by_hand() -> None:
    v = vectors(7)
    averages = [
        statistics.fmean(1 - cosine(v[w], v[a]) for a in attributes)
        for w in [*X, *Y]
        for attributes in (A, B)
    ]
    result = mac(v, LIST)
    assert result.value == pytest.approx(statistics.fmean(averages), abs=1e-14)
    every = [1 - cosine(v[w], v[a]) for w in [*X, *Y] for a in [*A, *B]]
    other = mac(v, LIST, convention="all_pairs")
    assert other.value == pytest.approx(statistics.fmean(every), abs=1e-14)
    assert other.value != pytest.approx(result.value, abs=1e-4)
    for one in (result, other):
        pairs = one.pairs()
        assert (pairs["weight"] * pairs["distance"]).sum() == pytest.approx(one.value, abs=1e-14)
        assert pairs["weight"].sum() == pytest.approx(1)
    assert result.n == {"words": 7, "averages": 14, "pairs": 35}
    assert (result.against, result.t, result.p_value) == (None, None, None)


# Manzini et al. (2019), table 3.
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
    for repeats in ("once", "keep"):
        first = load_distances(folder / f"{name}Reddit.csv", repeats=repeats)
        result = mac(
            first, against=folder / f"debiased{name.capitalize()}Reddit.csv", words="evaluation"
        )
        assert (round(result.value, 6), round(result.against, 6)) == (before, after)
        means = result.pairs().groupby(["protected_word", "attribute_class"], sort=False)
        averages = means[["distance", "distance_against"]].mean().astype(float)
        by_scipy = stats.ttest_rel(averages["distance"], averages["distance_against"])
        assert (result.t, result.p_value) == pytest.approx(
            (by_scipy.statistic, by_scipy.pvalue), rel=1e-9
        )
        assert result.df == len(averages) - 1
        assert result.difference == pytest.approx(result.value - result.against)
        if t is not None:
            assert (round(result.t, 4), f"{result.p_value:.3e}") == (t, f"{p:.3e}")
    assert any("repeated pairs count once" in note for note in result.notes) == (name == "race")


def test_mac_against_a_table_without_some_pairs() -> None:
    v = vectors(8)
    whole = distance_table(v, LIST)
    w = vectors(9)
    del w["b2"], w["y4"]
    result = mac(whole, against=distance_table(w, LIST))
    small = {"x": LIST["x"], "y": {"protected": ["y1", "y2", "y3"], "attributes": ["b1", "b3"]}}
    assert result.value == pytest.approx(mac(v, small).value, abs=1e-14)
    assert result.against == pytest.approx(mac(w, small).value, abs=1e-14)
    assert any("b2" in note and "y4" in note for note in result.notes)
    with pytest.raises(InputError, match="in common"):
        mac(whole, against=two_by_two({"x8": (0.4, 0.9), "y9": (0.8, 0.7)}))
    result = mac(whole, against=whole)
    assert (result.difference, result.t, result.p_value) == (0.0, None, None)
