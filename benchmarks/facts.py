"""The slope of the single-category test on simulated words and targets, beside the correlation of averaged scores.

Alone it takes the number of tables: ``python -m benchmarks.facts --tables 1000``. Words of the sets and targets are drawn anew
for every table. Of the variance of cosines around the lines 60 % is that of targets (40 % theirs alone, 20 % theirs with one
set), 10 % of words and 30 % of single pairs.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from bayesbias.studies.wefat.result import of_published

TARGETS, WORDS = 50, 8  # of each set
SD = 0.1
SHARES = {"t": 0.4, "b": 0.2, "w": 0.1, "noise": 0.3}
SLOPE, SLOPE_OF_WORDS = (
    0.03,
    0.01,
)  # of one set and with the other sign of the other; between words of a set
PROB = 0.89


def simulated(seed: int, slope: float, targets: int, words: int) -> tuple[np.ndarray, np.ndarray]:
    """Return cosines, shape (words of both sets, targets), and the covariate."""
    rng = np.random.default_rng([seed, 3])
    sd = {name: SD * np.sqrt(share) for name, share in SHARES.items()}
    covariate = rng.normal(0, 1, targets)
    x = (covariate - covariate.mean()) / covariate.std(ddof=1)
    side = np.repeat([1.0, -1.0], words)[:, None]
    own = np.repeat(rng.normal(0, sd["b"], (2, targets)), words, axis=0)
    slopes = side * slope + rng.normal(0, SLOPE_OF_WORDS if slope else 0.0, (2 * words, 1))
    cosines = (
        0.1
        + slopes * x
        + own
        + rng.normal(0, sd["t"], targets)
        + rng.normal(0, sd["w"], (2 * words, 1))
    )
    return cosines + rng.normal(0, sd["noise"], cosines.shape), covariate


def half_width_of_flawless(cosines: np.ndarray, covariate: np.ndarray, words: int) -> float:
    """Return half the interval of a slope on covariates dealt out anew, by its exact standard deviation over all orders.

    With D the difference of the mean cosines of a target, the least-squares slope on one standard deviation of the covariate has,
    over all orders of the covariates, mean 0 and the variance of D over n - 1, as that of a correlation is 1 / (n - 1) (Pitman 1937).
    """
    gap = cosines[:words].mean(axis=0) - cosines[words:].mean(axis=0)
    return float(stats.norm.ppf(0.5 + PROB / 2) * gap.std(ddof=1) / np.sqrt(len(covariate) - 1))


def dealt(cosines: np.ndarray, covariate: np.ndarray, words: int, found: Any) -> dict[str, float]:
    """Say of a table whose covariates say nothing whether the flawless method excludes zero, and how wide the model's interval is."""
    gap = cosines[:words].mean(axis=0) - cosines[words:].mean(axis=0)
    slope = float(
        ((covariate - covariate.mean()) * gap).sum() / covariate.std(ddof=1) / (len(covariate) - 1)
    )
    half = half_width_of_flawless(cosines, covariate, words)
    return {
        "flawless excludes 0": abs(slope) > half,
        "width, over that of the flawless": (found.slope.hpdi_high - found.slope.hpdi_low)
        / (2 * half),
    }


def one(seed: int, slope: float, targets: int, words: int) -> dict[str, float]:
    """Return what the test says of one table."""
    cosines, covariate = simulated(seed, slope, targets, words)
    names = [f"w{k}" for k in range(2 * words)]
    values = {f"t{k}": float(v) for k, v in enumerate(covariate)}
    score = (cosines[:words].mean(axis=0) - cosines[words:].mean(axis=0)) / cosines.std(
        axis=0, ddof=1
    )
    scores = dict(zip(values, score, strict=True))
    published: Any = SimpleNamespace(
        classes=("a", "b"), a=names[:words], b=names[words:], covariates=values, scores=scores
    )
    averaged = stats.pearsonr(score, covariate)
    fisher = averaged.confidence_interval(PROB)
    found = of_published(
        published, np.clip(cosines, -1, 1), list(values), prob=PROB, seed=seed, draws=250, tune=500, chains=2, engine="quick"
    )  # fmt: skip
    true_r = 2 * slope / np.sqrt(4 * slope**2 + 2 * SHARES["b"] * SD**2)
    inside = {
        "slope": found.slope.hpdi_low <= 2 * slope <= found.slope.hpdi_high,
        "true r": found.true_correlation.low <= true_r <= found.true_correlation.high,
        "Fisher z, true r": fisher.low <= true_r <= fisher.high,
        "slope excludes 0": not found.slope.hpdi_low <= 0 <= found.slope.hpdi_high,
        "Fisher z excludes 0": not fisher.low <= 0 <= fisher.high,
    }
    return {
        **inside,
        **({} if slope else dealt(cosines, covariate, words, found)),
        "r": float(averaged.statistic),
        "mean of true r": found.true_correlation.mean,
        "true r is": true_r,
    }


def _chunk(task: tuple[range, float, int, int]) -> list[dict[str, float]]:
    seeds, *rest = task
    return [one(seed, *rest) for seed in seeds]


def main(arguments: Sequence[str] = ()) -> None:
    """Print coverage, and how often zero is excluded without a slope."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tables", type=int, default=200)
    parser.add_argument("--workers", type=int, default=2)
    asked = parser.parse_args(arguments)
    for slope, targets, words in ((SLOPE, TARGETS, WORDS), (0.0, TARGETS, WORDS), (SLOPE, 20, 4)):
        began = time.perf_counter()
        tasks = [
            (range(start, min(start + 10, asked.tables)), slope, targets, words)
            for start in range(0, asked.tables, 10)
        ]
        with ProcessPoolExecutor(asked.workers) as pool:
            rows = pd.DataFrame([row for part in pool.map(_chunk, tasks) for row in part])
        seconds = time.perf_counter() - began
        print(
            f"{asked.tables:,} tables, {targets} targets, {words} + {words} words, slope {2 * slope:g}: {seconds:.0f} s"
        )
        mean, error = rows.mean(), rows.astype(float).std(ddof=1) / np.sqrt(len(rows))
        print(pd.DataFrame({"share or mean": mean, "error": error}).to_string(float_format="%.3f"))


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
