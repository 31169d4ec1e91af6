"""Permutation p-values against the count over every partition, in exact arithmetic."""

import itertools
import math

import numpy as np
from scipy import stats

from bayesbias.scores import permutation_test

SEED = 16
CASES = 10_000
MOST_WORDS = 9  # of a set: 48,620 partitions


def counted(x, y, sides):
    """Return the share of partitions at least as extreme, from whole numbers: nothing is rounded."""
    union, n, m = [*x, *y], len(x), len(y)
    total, observed = sum(union), sum(x)
    sums = (sum(part) for part in itertools.combinations(union, n))
    if sides == 1:
        count = sum(s >= observed for s in sums)
    else:  # difference of means, times n m: m s - n (total - s)
        gap = abs(m * observed - n * (total - observed))
        count = sum(abs(m * s - n * (total - s)) >= gap for s in sums)
    return count / math.comb(n + m, n)


def case(rng):
    """Return two sets of scores in units of 2^-20 and the sides; a third have few values, so that many tie."""
    n, m = rng.integers(1, MOST_WORDS + 1, 2)
    unit = int(rng.choice([2**18, 2**14, 1]))
    scores = (np.round(rng.normal(0, 2**20 * 0.1, n + m) / unit) * unit).astype(int)
    scores[:n] += int(rng.normal(0, 2**20 * 0.05) / unit) * unit
    return [int(v) for v in scores[:n]], [int(v) for v in scores[n:]], int(rng.integers(1, 3))


def run(share):
    """Compare the exact p-values, the bounds and the random partitions with the count."""
    rng = np.random.default_rng(SEED)
    cases = max(10, round(CASES * share))
    gap, bounded, covered, drawn = 0.0, 0, 0, 0
    for k in range(cases):
        x, y, sides = case(rng)
        true = counted(x, y, sides)
        scores = np.array(x) / 2**20, np.array(y) / 2**20
        exact = permutation_test(*scores, method="exact", sides=sides)
        gap = max(gap, abs(exact.p_value - true))
        bounds = permutation_test(*scores, method="bounds", sides=sides)
        bounded += bounds.p_lower <= true * (1 + 1e-12) and true <= bounds.p_upper * (1 + 1e-12)
        if k % 10 == 0:
            sampled = permutation_test(
                *scores, method="montecarlo", sides=sides, samples=999, seed=k
            )
            drawn += 1
            covered += sampled.p_lower <= true <= sampled.p_upper
    # 99 % Clopper-Pearson intervals cover at least 99 %; fewer than this many happens once in 10,000 runs.
    fewest = int(stats.binom.ppf(1e-4, drawn, 0.99))
    tried = f"{cases:,} pairs of sets of 1 to {MOST_WORDS} words"
    yield (
        "Exact permutation p-values equal the count over every partition.",
        tried, f"{gap:.1g}", "1e-12", gap < 1e-12,
    )  # fmt: skip
    yield (
        "Bounds include the exact p-value.",
        tried,
        f"{bounded / cases:.1%}",
        "100 %",
        bounded == cases,
    )
    yield (
        "99 % intervals from 999 random partitions include the exact p-value.",
        f"{drawn:,} pairs of sets", f"{covered / drawn:.1%}", f"{fewest / drawn:.1%}", covered >= fewest,
    )  # fmt: skip
