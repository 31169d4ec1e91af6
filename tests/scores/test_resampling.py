"""Sign flips and subset means against every choice written out; the bootstrap against what theory says of a mean."""

from __future__ import annotations

import itertools
import math
import random

import numpy as np
import pytest
from helpers.seeds import shifted
from scipy import stats

import bayesbias as bb
from bayesbias.scores.resampling import percentile_interval, sign_flip_test


@pytest.mark.parametrize("name", ["ect", "ripa", "rnsb", "sc_weat", "wefat_score"])
def test_one_seed_draws_the_same_words_in_whatever_order_they_are_listed(name: str) -> None:
    words = bb.load_wordlist("gender")
    held = bb.load_embedding("minilm-static", words.words)
    how = random.Random(3)
    covariate = {w: float(len(w) % 5) for w in words.attribute_words}
    extra = {
        "ripa": {"sets": [("he", "she"), ("man", "woman"), ("his", "her")]},
        "wefat_score": {"covariates": {"f": covariate}},
    }

    def found(order) -> list[float | None]:
        listed = {
            c.name: {"protected": order(c.protected), "attributes": order(c.attributes)}
            for c in words.classes
        }
        less = {"resamples": 99} if name in ("ect", "ripa", "rnsb") else {"samples": 999}
        options = extra.get(name, {}) | less | {"seed": shifted(1)}
        result = getattr(bb.scores, name)(held, listed, **options)
        scores = result.values() if isinstance(result, dict) else [result]
        return [x for s in scores for x in (s.value, s.low, s.high) if x is not None]

    # Kernels of some processors add up a row by its place in the matrix, to the last bits.
    shuffled = found(lambda group: how.sample(group, len(group)))
    assert shuffled == pytest.approx(found(list), rel=1e-12, abs=1e-14)


@pytest.mark.parametrize("sides", [1, 2])
@pytest.mark.parametrize("n", [1, 2, 5, 9])
def test_signs_are_counted_as_by_hand(n: int, sides: int) -> None:
    scores = np.random.default_rng(n).normal(0.3, 1, n).round(1)  # ties among the sums
    total = math.fsum(scores)
    hits = 0
    for signs in itertools.product((1, -1), repeat=n):
        each = math.fsum(s * x for s, x in zip(signs, scores, strict=True))
        hits += (abs(each) >= abs(total) - 1e-9) if sides == 2 else (each >= total - 1e-9)
    found = sign_flip_test(scores, sides=sides)
    assert (found.p_value, found.method, found.seed) == (hits / 2**n, "exact", None)
    assert found.p_lower == found.p_value == found.p_upper
    assert found.mean == pytest.approx(total / n)


def test_the_exact_test_is_that_of_scipy_at_its_size() -> None:
    scores = np.random.default_rng(3).normal(0.4, 1, 12)
    theirs = stats.permutation_test(
        (scores,), np.mean, permutation_type="samples", alternative="greater", n_resamples=10**6
    )
    assert sign_flip_test(scores, sides=1).p_value == pytest.approx(theirs.pvalue, abs=1e-12)


def test_the_interval_is_made_of_the_means_of_all_subsets() -> None:
    scores = [0.3, -0.1, 0.9, 0.4, 0.35, 0.62]
    means = sorted(
        np.mean(subset) for size in range(1, 7) for subset in itertools.combinations(scores, size)
    )
    found = sign_flip_test(scores, prob=0.8)
    k = math.floor(64 * 0.1)
    assert (found.low, found.high) == pytest.approx((means[k - 1], means[-k]))
    assert found.coverage == 1 - 2 * k / 64
    # What it covers is what the test does not reject.
    for value, inside in (
        (found.low - 1e-6, False),
        (found.low + 1e-6, True),
        (found.high - 1e-6, True),
        (found.high + 1e-6, False),
    ):
        p = sign_flip_test(np.array(scores) - value).p_value
        assert (p > 1 - found.coverage) == inside
    assert sign_flip_test([0.3, 0.5]).low is None


def test_the_interval_covers_as_often_as_it_says() -> None:
    random = np.random.default_rng(shifted(5))
    n, times = 7, 1500
    covered = 0
    for _ in range(times):
        found = sign_flip_test(random.laplace(0.7, 1, n), prob=0.89)
        covered += found.low < 0.7 < found.high
    share = found.coverage
    assert abs(covered / times - share) < 4 * math.sqrt(share * (1 - share) / times)


def test_of_many_scores_subsets_are_drawn() -> None:
    scores = np.random.default_rng(8).normal(0.2, 1, 15)
    found = sign_flip_test(scores, seed=shifted(2))
    sums, counts = np.zeros(1), np.zeros(1)
    for value in scores:
        sums, counts = np.r_[sums, sums + value], np.r_[counts, counts + 1]
    means = np.sort(sums[1:] / counts[1:])
    share = np.searchsorted(means, found.low) / len(means)
    assert abs(share - 0.055) < 5 * math.sqrt(0.055 * 0.945 / 9999)
    assert found.seed == shifted(2)
    assert found.coverage == pytest.approx(0.89, abs=2e-4)
    assert found.coverage >= 0.89
    assert sign_flip_test(scores, seed=shifted(2)) == found


def test_the_bootstrap_of_a_mean_is_as_wide_as_theory_has_it() -> None:
    values = np.random.default_rng(0).normal(size=300)
    resamples = 2000
    found, notes = percentile_interval(
        lambda counts: float(counts @ values / counts.sum()),
        [300],
        prob=0.89,
        resamples=resamples,
        seed=shifted(1),
        estimate=float(values.mean()),
    )
    low, high = found["low"], found["high"]
    sd = values.std() / math.sqrt(300)
    z = stats.norm.ppf(0.945)
    error = sd * math.sqrt(0.055 * 0.945 / resamples) / stats.norm.pdf(z)
    assert abs(low - (values.mean() - z * sd)) < 5 * error
    assert abs(high - (values.mean() + z * sd)) < 5 * error
    assert (found["seed"], notes) == (shifted(1), [])


@pytest.mark.slow
def test_of_more_than_forty_scores_signs_are_drawn() -> None:
    scores = np.random.default_rng(9).normal(0.15, 1, 60)
    drawn = sign_flip_test(scores, seed=shifted(4), samples=20_000)
    assert drawn.method == "montecarlo"
    normal = 2 * stats.norm.sf(
        abs(scores.sum()) / math.sqrt(float(scores @ scores))
    )  # the sum of 60 flipped scores
    assert drawn.p_lower < drawn.p_value < drawn.p_upper
    assert abs(drawn.p_value - normal) < 5 * math.sqrt(normal / 20_000) + 0.005
    assert sign_flip_test(scores).seed is not None
