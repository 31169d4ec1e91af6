"""Permutation p-values, held to enumeration in exact fractions."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers import monte_carlo as mc
from helpers.seeds import shifted
from scipy import stats

import bayesbias as bb
from bayesbias.scores import counting
from bayesbias.scores.resampling import holm, permutation_test


def p_of(x: Any, y: Any, **arguments: Any) -> Any:
    """Run the test; typed loosely, since the bounds may be None and arguments are wrong on purpose."""
    return permutation_test(x, y, **arguments)


def brute_force(x: list[Fraction], y: list[Fraction], sides: int) -> tuple[int, int, int]:
    """Return how many partitions are as extreme, how many of them tie, and how many there are."""
    union, n_x = x + y, len(x)

    def difference(chosen: tuple[int, ...]) -> Fraction:
        inside = sum((union[i] for i in chosen), Fraction(0))
        value = inside / n_x - (sum(union, Fraction(0)) - inside) / len(y)
        return abs(value) if sides == 2 else value

    observed = difference(tuple(range(n_x)))
    values = [difference(chosen) for chosen in itertools.combinations(range(len(union)), n_x)]
    return sum(v >= observed for v in values), sum(v == observed for v in values), len(values)


def random_case(
    random: np.random.Generator, most: int = 5
) -> tuple[list[Fraction], list[Fraction]]:
    """Return two sets of scores with many sums that tie by right and not in floating point."""
    denominator = int(random.choice([1, 3, 7, 10, 1000]))
    spread = int(random.choice([2, 6, 40]))
    shift = Fraction(int(random.integers(-3, 4)), 10)
    n_x, n_y = random.integers(1, most + 1, size=2)
    scores = [
        Fraction(int(v), denominator) + shift
        for v in random.integers(-spread, spread + 1, n_x + n_y)
    ]
    return scores[:n_x], scores[n_x:]


def count_by_size_and_sum(x: list[int], y: list[int]) -> tuple[int, int]:
    """Count partitions at least as extreme as x among whole numbers, by an exact table; and all of them."""
    table: list[dict[int, int]] = [{0: 1}] + [{} for _ in x]
    for number in x + y:
        for j in range(len(x), 0, -1):
            for total, count in table[j - 1].items():
                table[j][total + number] = table[j].get(total + number, 0) + count
    return sum(count for total, count in table[-1].items() if total >= sum(x)), math.comb(
        len(x + y), len(x)
    )


def floats(scores: list[Fraction]) -> list[float]:
    return [float(score) for score in scores]


@pytest.mark.parametrize("sides", [1, 2])
def test_exact_p_is_that_of_exact_fractions(sides) -> None:
    random = np.random.default_rng(sides)
    for _ in range(150):
        x, y = random_case(random)
        count, ties, partitions = brute_force(x, y, sides)
        result = p_of(floats(x), floats(y), sides=sides)
        assert (result.p_value, result.ties, result.partitions) == (
            count / partitions,
            ties,
            partitions,
        )
        assert result.p_lower == result.p_value == result.p_upper
        assert result.method == "exact"


@pytest.mark.parametrize("sides", [1, 2])
def test_ties_that_floating_point_blurs_count(sides) -> None:
    assert 0.1 + 0.2 + 0.3 != 0.3 + 0.2 + 0.1  # the reason for this test
    # Sums of three of 0.1 ... 0.6 of at least 1.1: 1.1 in three ways, then 1.2 in three, 1.3, 1.4, 1.5
    x, y = [0.1, 0.4, 0.6], [0.2, 0.3, 0.5]
    result = p_of(x, y, sides=sides)
    assert (round(result.p_value * 20), result.ties) == ((10, 3) if sides == 1 else (20, 6))


@pytest.mark.parametrize("sides", [1, 2])
@pytest.mark.parametrize("method", ["exact", "bounds", "montecarlo", "normal"])
def test_order_of_the_words_changes_nothing(method, sides) -> None:
    random = np.random.default_rng(5)
    x, y = random.normal(0.02, 0.05, 9), random.normal(0, 0.05, 12)
    expected = p_of(x, y, method=method, sides=sides, seed=shifted(3), samples=2000)
    for _ in range(5):
        random.shuffle(x)
        random.shuffle(y)
        assert p_of(x, y, method=method, sides=sides, seed=shifted(3), samples=2000) == expected


def test_swapping_x_and_y() -> None:
    random = np.random.default_rng(7)
    for _ in range(60):
        x, y = (floats(scores) for scores in random_case(random))
        one, other = p_of(x, y), p_of(y, x)
        assert one.ties == other.ties
        assert round(one.p_value * one.partitions) + round(other.p_value * one.partitions) == (
            one.partitions + one.ties
        )
        assert other.statistic == -one.statistic
        two, swapped = p_of(x, y, sides=2), p_of(y, x, sides=2)
        assert (two.p_value, two.ties) == (swapped.p_value, swapped.ties)
        for method in ("montecarlo", "normal"):
            p = p_of(x, y, sides=2, method=method, seed=shifted(1), samples=300).p_value
            assert p == pytest.approx(
                p_of(y, x, sides=2, method=method, seed=shifted(1), samples=300).p_value, rel=1e-12
            )


def test_two_sided_p_of_unequal_sets_goes_by_means() -> None:
    # One word against three. By sums, 1 - 15 = -14 would look extreme beside 9 - 7 = 2; but 1 lies
    # 3 below the mean of 4 and 9 lies 5 above it, so only 9 is further away.
    result = p_of([1.0], [9.0, 2.0, 4.0], sides=2)
    assert result.p_value == 0.5
    assert result.statistic == -14


@pytest.mark.parametrize("sides", [1, 2])
@pytest.mark.parametrize("method", ["auto", "bounds", "montecarlo", "normal"])
@pytest.mark.parametrize("n", [1, 8, 32, 400])
def test_scores_that_are_all_the_same_give_one(n, method, sides) -> None:
    result = p_of([0.1] * n, [0.3 - 0.2] * n, method=method, sides=sides, samples=50)
    assert result.p_value == 1
    if method == "auto":
        assert result.ties == result.partitions == math.comb(2 * n, n)


@pytest.mark.slow
def test_bounds_hold_the_exact_p() -> None:
    random = np.random.default_rng(8)
    for i in range(120):
        n_x, n_y = random.integers(3, 12, size=2)
        x, y = random.normal(random.normal(0, 0.5), 1, n_x), random.normal(0, 1, n_y)
        if i % 3 == 0:
            x, y = x.round(1), y.round(1)
        sides = 1 + i % 2
        exact = p_of(x, y, sides=sides, method="exact")
        bounds = p_of(
            x, y, sides=sides, method="bounds", rel_width=float(random.choice([0.05, 5.0]))
        )
        assert bounds.p_lower <= exact.p_value <= bounds.p_upper
        assert bounds.p_lower <= bounds.p_value <= bounds.p_upper
        assert bounds.p_value == pytest.approx(math.sqrt(bounds.p_lower * bounds.p_upper))
        assert bounds.ties is None


def test_limits_are_met_to_the_unit() -> None:
    random = np.random.default_rng(10)
    for _ in range(300):
        deficits = np.sort(random.integers(0, 9, random.integers(2, 10)))
        deficits -= deficits[0]
        size = int(random.integers(1, len(deficits) // 2 + 1))
        sums = [sum(chosen) for chosen in itertools.combinations(deficits.tolist(), size)]
        strict, limit = sorted(int(v) for v in random.integers(-1, max(sums) + 2, 2))
        tail = counting.Tail(deficits, size, limit, strict)
        within = tuple(sum(total <= bar for total in sums) for bar in (limit, strict))
        assert counting._count_in_halves(tail) == within
        assert counting._bound_tail(tail, 10_000) == (within[0], within[0])
        outside = counting._count_in_halves(counting.other_side(tail))
        assert outside == (len(sums) - within[1], len(sums) - within[0])


@pytest.mark.parametrize(
    ("n_x", "n_y", "shift"), [(30, 34, 0), (45, 45, 1), (30, 60, -4), (32, 32, 9)]
)
@pytest.mark.slow
def test_bounds_hold_counts_beyond_double_precision(n_x, n_y, shift) -> None:
    # Whole numbers are counted exactly by a dictionary of Python's integers; these counts exceed 2^53.
    random = np.random.default_rng(n_x)
    x = [int(v) + shift for v in random.integers(-20, 21, n_x)]
    y = [int(v) for v in random.integers(-20, 21, n_y)]
    count, partitions = count_by_size_and_sum(x, y)
    assert partitions > 2**60
    result = p_of(x, y, method="bounds", rel_width=0.05)
    assert Fraction(result.p_lower) <= Fraction(count, partitions) <= Fraction(result.p_upper)
    assert result.p_upper - result.p_lower <= 0.2 * result.p_value


def test_halves_agree_with_an_exact_table() -> None:
    random = np.random.default_rng(12)
    for n_x, n_y in [(12, 13), (5, 30), (30, 5), (14, 14)]:
        x = [int(v) + 2 for v in random.integers(-9, 10, n_x)]
        y = [int(v) for v in random.integers(-9, 10, n_y)]
        count, partitions = count_by_size_and_sum(x, y)
        assert partitions > 100_000
        result = p_of([v / 10 for v in x], [v / 10 for v in y], method="exact")
        assert result.p_value == count / partitions
        # and with nearly everything counted, where the other end is followed
        result = p_of([v / 10 for v in y], [v / 10 for v in x], method="exact")
        assert result.p_value == count_by_size_and_sum(y, x)[0] / partitions


@pytest.mark.slow
def test_what_auto_takes() -> None:
    random = np.random.default_rng(13)
    x, y = random.normal(0.5, 1, 32), random.normal(0, 1, 32)
    assert p_of(x[:8], y[:8]).method == "exact"
    middling = p_of(x, y)
    assert middling.method == "bounds"
    assert (middling.p_upper - middling.p_lower) / middling.p_value <= 0.02
    narrow = p_of(x, y, rel_width=0.01)
    assert (narrow.p_upper - narrow.p_lower) / narrow.p_value <= 0.01
    assert middling.p_lower <= narrow.p_lower <= narrow.p_upper <= middling.p_upper
    # Where p is small few partial sums can take part, and more words are counted exactly.
    far = p_of(x + 1.5, y)
    assert far.method == "exact"
    bounds = p_of(x + 1.5, y, method="bounds")
    assert bounds.p_lower <= far.p_value <= bounds.p_upper


@pytest.mark.parametrize("sides", [1, 2])
@pytest.mark.parametrize(("n_x", "n_y"), [(7, 7), (5, 9), (9, 5)])
def test_sampling_finds_the_exact_p(n_x, n_y, sides) -> None:
    random = np.random.default_rng(16)
    x, y = random.normal(0.5, 1, n_x).round(1), random.normal(0, 1, n_y).round(1)
    exact = p_of(x, y, sides=sides)
    sampled = p_of(x, y, sides=sides, method="montecarlo", seed=shifted(2), samples=50_000)
    hits = round(sampled.p_value * 50_001) - 1  # the observed order counts as one of the draws
    assert mc.fewest(50_000, exact.p_value) <= hits <= mc.most(50_000, exact.p_value)
    ends = stats.binomtest(hits, 50_000).proportion_ci(0.99, method="exact")
    assert (sampled.p_lower, sampled.p_upper) == pytest.approx((ends.low, ends.high), rel=1e-9)
    assert sampled.p_lower < sampled.p_value < sampled.p_upper
    assert (sampled.seed, sampled.ties) == (shifted(2), None)


def test_normal_has_the_mean_and_variance_of_all_partitions() -> None:
    random = np.random.default_rng(17)
    x, y = random.normal(0.3, 1, 4), random.normal(0, 1, 6)
    union = np.concatenate([x, y])
    values = []
    for chosen in itertools.combinations(range(10), 4):
        inside = union[list(chosen)].sum()
        values.append(2 * inside - union.sum())  # equation 3
    z = (x.sum() - y.sum() - np.mean(values)) / np.std(values)
    one = p_of(x, y, method="normal")
    assert one.p_value == pytest.approx(0.5 * math.erfc(z / math.sqrt(2)), rel=1e-9)
    assert (one.p_lower, one.p_upper, one.ties) == (None, None, None)
    two = p_of(x, y, method="normal", sides=2)
    assert two.p_value == pytest.approx(math.erfc(abs(z) / math.sqrt(2)), rel=1e-9)


@pytest.mark.parametrize(
    ("p", "expected"),
    [
        ([0.01, 0.04, 0.03], [0.03, 0.06, 0.06]),  # by hand: 3 * .01, 1 * .04 raised to it, 2 * .03
        (
            [0.01, 0.02, 0.03, 0.04, 0.05],
            [0.05, 0.08, 0.09, 0.09, 0.09],
        ),  # R: p.adjust(1:5 / 100, "holm")
        ([0.5, 0.9, 0.2], [1.0, 1.0, 0.6]),
        ([0.02, 0.02], [0.04, 0.04]),
        ([0.3], [0.3]),
        ([0, 1], [0, 1]),
        ([], []),
    ],
)
def test_holm(p, expected) -> None:
    np.testing.assert_allclose(holm(p), expected, rtol=1e-15)


# ------------------------------------------------------------------------------- published vectors


@pytest.fixture(scope="module")
def weat_scores(shared: Path) -> dict[int, tuple[np.ndarray, np.ndarray]]:
    """The association scores of WEAT 1-10 in the vectors of GloVe 840B (Pennington et al., 2014)."""
    glove = bb.load_embedding(shared / "data" / "vectors" / "glove840B_union_300d.txt")
    scores = {}
    for number in range(1, 11):
        score = bb.weat(glove, f"weat{number}", p="normal")
        x, y = ([score.scores[w] for w in side] for side in (score.x, score.y))
        scores[number] = np.array(x), np.array(y)
    return scores


@pytest.mark.slow
def test_all_ten_weat_p_values_are_exact(weat_scores) -> None:
    exact = {number: p_of(*scores) for number, scores in weat_scores.items()}
    assert exact[7].p_value == 202 / 12870  # as published
    sizes = [25, 25, 32, 16, 16, 8, 8, 8, 6, 8]
    assert [result.method for result in exact.values()] == ["exact"] * 10
    assert [len(x) for x, _ in weat_scores.values()] == sizes
    for number, (x, y) in weat_scores.items():
        bounds = p_of(x, y, method="bounds")
        assert bounds.p_lower <= exact[number].p_value <= bounds.p_upper
        if number <= 5:
            assert bounds.p_upper - bounds.p_lower <= 0.02 * bounds.p_value
        # Sets of equal size: the two-sided p is twice the one-sided one, whatever order the words are in.
        both = p_of(y[::-1], x, sides=2)
        assert both.p_value == 2 * exact[number].p_value
    assert (
        exact[3].p_value
        < 1e-10
        < p_of(*weat_scores[3], method="montecarlo", seed=shifted(1)).p_value
    )
