"""Coverage of the default model on tables drawn from a prior, every contrast at every level.

Alone it takes the number of tables, the model that tables are drawn from and the shape of their noise:
``python -m benchmarks.own_prior --tables 10000``, ``python -m benchmarks.own_prior --truth crossed --tables 1000``,
``python -m benchmarks.own_prior --noise student --tables 1000``.
"""

from __future__ import annotations

import argparse
import functools
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from bayesbias.inference.estimands import ESTIMANDS, asked_quantities
from bayesbias.inference.likelihood import collapse
from bayesbias.inference.linear import Quantities, mixtures_of
from bayesbias.inference.sampling import Engine, joined_draws, sample_collapsed
from bayesbias.models.design import Design
from bayesbias.models.spec import DEFAULT_MODEL, load_model
from bayesbias.models.variants import trimmed
from bayesbias.simulation.scenario import Scenario

WORDS, ATTRIBUTES, HUMAN, NEUTRAL = (4, 3, 4), (4, 3, 5), 4, 6
TABLES = 500
DRAWS = 100  # of the scales, each of which gives a normal of every contrast
PROB = 0.89
CHUNK = 25
NOISES = ("model", "student", "skewed")


@functools.cache
def layout(truth: str) -> tuple[pd.DataFrame, Design, dict[str, Quantities]]:
    """Return the pairs of every table, the model that draws them, and what is asked of it."""
    frame = Scenario(words=WORDS, attributes=ATTRIBUTES, human=HUMAN, neutral=NEUTRAL).frame
    design = Design.of(load_model(truth), frame)
    return (
        frame,
        design,
        {name: asked_quantities(design, name, contrasted=True) for name in ESTIMANDS},
    )


def simulated(truth: str, noise: str, seed: int) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Draw every parameter and the distances of a table.

    Noise is as the model has it, from a t with 4 degrees of freedom, or skewed. Both of these have the spread of the model's
    own. Skewed is an exponential distribution less its mean.
    """
    frame, design, _ = layout(truth)
    drawn = design.prior_draws(1, seed)
    values = design.outcome_draws(drawn, seed + 1)[0]
    if noise != "model":
        rng = np.random.default_rng([seed, 2])
        n = len(frame)
        shape = (
            rng.standard_t(4, n) / np.sqrt(2) if noise == "student" else rng.exponential(1, n) - 1
        )
        own = np.ravel(drawn["sigma"])[design.index["sigma"]]
        silent = {**drawn, "sigma": np.zeros_like(drawn["sigma"])}
        values = design.outcome_draws(silent, seed + 1)[0] + own * shape
    return values, drawn


@functools.cache
def fitted_layout(model: str) -> tuple[Design, dict[str, Quantities]]:
    """Return the model that is fitted to the pairs, and what is asked of it."""
    frame = layout(model)[0]
    spec = load_model(model)
    design = Design.of(trimmed(spec, frame) if spec.trim else spec, frame)
    return design, {name: asked_quantities(design, name, contrasted=True) for name in ESTIMANDS}


def intervals(
    model: str, values: np.ndarray, engine: str, seed: int, draws: int, chains: int = 2
) -> tuple[dict[str, tuple[np.ndarray, np.ndarray]], Engine]:
    """Return the ends of every contrast by estimand, as `fit` and its `contrasts` do, with all that tables share made once."""
    design, rows = fitted_layout(model)
    reduced = collapse(replace(design, y=values))
    settings = {
        "draws": draws,
        "tune": 500,
        "chains": chains,
        "seed": seed,
        "engine": engine,
    }
    sampled = sample_collapsed(reduced, settings, 1)
    posterior = sampled.idata["posterior"].dataset
    scales = joined_draws(posterior, reduced.scales)
    ends = {}
    for name, own in rows.items():
        mixed = mixtures_of(own, reduced, scales, chains)
        described = mixed[0].described(PROB)
        ends[name] = described["low"], described["high"]
    return ends, sampled.engine


def one(model: str, truth: str, noise: str, engine: str, draws: int, seed: int) -> pd.DataFrame:
    """Fit a table, and say of each row of the contrasts that both models have whether its interval holds the truth."""
    values, drawn = simulated(truth, noise, seed)
    _, _, of_truth = layout(truth)
    start = time.perf_counter()
    ends, how = intervals(model, values, engine, seed, draws)
    seconds = time.perf_counter() - start
    parts = []
    for estimand, (low, high) in ends.items():
        true = of_truth[estimand].linear.draws(drawn)[0]
        at = dict(zip(of_truth[estimand].keys, true, strict=True))
        keys = fitted_layout(model)[1][estimand].keys
        wanted = np.array([at.get(key, np.nan) for key in keys])
        levels, _, contrasts = zip(*keys, strict=True)
        found = pd.DataFrame({"estimand": estimand, "level": levels, "contrast": contrasts})
        # Only the overall population is the same thing in two models: a class may be held in the one and drawn in the other.
        known = np.isfinite(wanted) & (
            (truth == model)
            | (estimand == "listed_words")
            | (found["level"] == "overall").to_numpy()
        )
        parts.append(found.assign(held=(low <= wanted) & (wanted <= high))[known])
    return pd.concat(parts).assign(table=seed, k=how.pareto_k, quick=how.name == "quick", s=seconds)


def _chunk(asked: argparse.Namespace, start: int) -> pd.DataFrame:
    kept = asked.out / f"{start:06d}.csv" if asked.out else None
    if kept is not None and kept.is_file():
        return pd.read_csv(kept)
    seeds = range(start, min(start + CHUNK, asked.tables))
    settings = (asked.model, asked.truth or asked.model, asked.noise, asked.engine, asked.draws)
    made = pd.concat([one(*settings, 10 * seed) for seed in seeds])
    # Rows of one table go together, so the error is over tables.
    keys = ["estimand", "level", "contrast", "table"]
    made = made.groupby(keys, sort=False).mean(numeric_only=True).reset_index()
    if kept is not None:
        made.to_csv(kept, index=False)
    return made


def main(arguments: Sequence[str] = ()) -> None:
    """Print the coverage of every contrast, level and estimand, with its standard error over tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", default=DEFAULT_MODEL)
    parser.add_argument(
        "--truth", help="the model whose prior tables are drawn from; by default the same"
    )
    parser.add_argument("--noise", choices=NOISES, default="model")
    parser.add_argument("--engine", default="quick")
    parser.add_argument("--draws", type=int, default=DRAWS, help="for each of two chains")
    parser.add_argument("--tables", type=int, default=TABLES)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--out", type=Path, help="a folder for finished parts, to go on from")
    asked = parser.parse_args(arguments)
    if asked.out:
        asked.out.mkdir(parents=True, exist_ok=True)
    began = time.perf_counter()
    with ProcessPoolExecutor(asked.workers) as pool:
        every = pd.concat(pool.map(functools.partial(_chunk, asked), range(0, asked.tables, CHUNK)))
    keys = ["estimand", "level", "contrast"]
    out = every.groupby(keys, sort=False)["held"].agg(
        coverage="mean", error=lambda x: x.std(ddof=1) / np.sqrt(len(x))
    )
    tables = every.drop_duplicates("table")
    print(
        f"{len(tables):,} tables from the prior of {asked.truth or asked.model}, noise of the kind {asked.noise}, fitted by "
        f"{asked.model}: {time.perf_counter() - began:.0f} s, {tables['s'].median():.2f} s a table"
    )
    if asked.engine == "quick":
        k = tables["k"].quantile([0.5, 0.9, 0.99, 1.0]).round(2).tolist()
        print(
            f"Pareto k: median, 90 %, 99 %, largest {k}; NUTS took over in {1 - tables['quick'].mean():.2%}"
        )
    print(out.reset_index().to_string(index=False, float_format="%.3f"))


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
