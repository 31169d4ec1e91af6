"""Permutation p-values against brute force: every partition formed and counted, in exact arithmetic."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Iterator

import numpy as np
from scipy import stats

from bayesbias.scores import permutation_test
from proof.evidence import Evidence, Known

SEED = 16
CASES = 10_000
MOST_WORDS = 9  # of a set: 48,620 partitions


def brute_force(x: list[int], y: list[int], sides: int) -> float:
    """Return the share of partitions at least as extreme, from whole numbers: nothing is rounded."""
    union, n, m = [*x, *y], len(x), len(y)
    total = sum(union)
    observed = sum(x)
    sums = (sum(part) for part in itertools.combinations(union, n))
    if sides == 1:
        count = sum(1 for s in sums if s >= observed)
    else:
        # Difference of means, times n m: m s - n (total - s).
        gap = abs(m * observed - n * (total - observed))
        count = sum(1 for s in sums if abs(m * s - n * (total - s)) >= gap)
    return count / math.comb(n + m, n)


def case(rng: np.random.Generator) -> tuple[list[int], list[int], int]:
    """Return two sets of scores in units of 2^-20 and the sides; a third of them with few values, so that many tie."""
    n, m = rng.integers(1, MOST_WORDS + 1, 2)
    unit = int(rng.choice([2**18, 2**14, 1]))
    scores = (np.round(rng.normal(0, 2**20 * 0.1, n + m) / unit) * unit).astype(int)
    scores[:n] += int(rng.normal(0, 2**20 * 0.05) / unit) * unit
    return [int(v) for v in scores[:n]], [int(v) for v in scores[n:]], int(rng.integers(1, 3))


def run(share: float, known: Known) -> Iterator[Evidence]:
    """Compare every method of `permutation_test` with brute force."""
    cases = max(10, round(CASES * share))
    if known("p-values", "exact", cases):
        return
    began = time.perf_counter()
    rng = np.random.default_rng(SEED)
    far, bounded, covered = 0.0, 0, 0
    drawn = 0
    for k in range(cases):
        x, y, sides = case(rng)
        true = brute_force(x, y, sides)
        as_scores = np.array(x) / 2**20, np.array(y) / 2**20
        exact = permutation_test(*as_scores, method="exact", sides=sides)  # type: ignore[arg-type]
        far = max(far, abs(exact.p_value - true))
        bounds = permutation_test(*as_scores, method="bounds", sides=sides)  # type: ignore[arg-type]
        assert bounds.p_lower is not None
        assert bounds.p_upper is not None
        bounded += bounds.p_lower <= true * (1 + 1e-12) and true <= bounds.p_upper * (1 + 1e-12)
        if k % 10 == 0:
            sampled = permutation_test(*as_scores, method="montecarlo", sides=sides, samples=999, seed=k)  # type: ignore[arg-type]
            assert sampled.p_lower is not None
            assert sampled.p_upper is not None
            drawn += 1
            covered += sampled.p_lower <= true <= sampled.p_upper
    seconds = (time.perf_counter() - began) / 3  # one run, three pieces of evidence
    yield Evidence(
        "p-values",
        "exact",
        "Exact permutation p-values equal brute force over every partition, one and two sides, ties included.",
        "held" if far < 1e-12 else "failed",
        cases,
        "pairs of sets of 1 to 9 words",
        far,
        "below 1e-12",
        SEED,
        seconds,
    )
    yield Evidence(
        "p-values",
        "bounds",
        "Bounds of p-values, which are said to be certain, hold the p-value of brute force.",
        "held" if bounded == cases else "failed",
        cases,
        "pairs of sets of 1 to 9 words",
        bounded / cases,
        "1",
        SEED,
        seconds,
    )
    # 99 % Clopper-Pearson intervals hold at least 99 %; fewer than this many happens once in 10,000 runs.
    fewest = int(stats.binom.ppf(1e-4, drawn, 0.99))
    yield Evidence(
        "p-values",
        "drawn",
        "99 % intervals of p-values from drawn partitions hold the p-value of brute force.",
        "held" if covered >= fewest else "failed",
        drawn,
        "pairs of sets of 1 to 9 words, 999 partitions each",
        covered / drawn,
        f"at least {fewest / drawn:.3f}",
        SEED,
        seconds,
    )
