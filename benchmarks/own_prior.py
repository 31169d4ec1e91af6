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
from pathlib import Path

import numpy as np
import pandas as pd

import bayesbias as bb
from bayesbias.inference.answers import asked_rows
from bayesbias.inference.estimands import ESTIMANDS, Rows, times_of
from bayesbias.models.design import Design
from bayesbias.models.loading import DEFAULT_MODEL, load_model
from bayesbias.simulation.scenario import scenario_frame
from bayesbias.tables.checking import SIMULATED

WORDS, ATTRIBUTES, HUMAN, NEUTRAL = (4, 3, 4), (4, 3, 5), 4, 6
TABLES = 500
PROB = 0.89
CHUNK = 25
NOISES = ("model", "student", "skewed")


@functools.cache
def layout(truth: str) -> tuple[pd.DataFrame, Design, dict[str, Rows]]:
    """Return the pairs of every table, the model that draws them, and what is asked of it."""
    frame = scenario_frame(WORDS, ATTRIBUTES, HUMAN, NEUTRAL)
    design = Design.of(load_model(truth), frame)
    return frame, design, {name: asked_rows(design, frame, name, contrasted=True) for name in ESTIMANDS}


def simulated(truth: str, noise: str, seed: int) -> tuple[pd.DataFrame, dict[str, np.ndarray]]:
    """Draw every parameter and a table; its noise as the model has it, from a t with 4 degrees of freedom, or skewed.

    Both have the spread of the model's own. Skewed is an exponential distribution less its mean.
    """
    frame, design, _ = layout(truth)
    drawn = design.prior_draws(1, seed)
    values = design.outcome_draws(drawn, seed + 1)[0]
    if noise != "model":
        rng = np.random.default_rng([seed, 2])
        n = len(frame)
        shape = rng.standard_t(4, n) / np.sqrt(2) if noise == "student" else rng.exponential(1, n) - 1
        own = np.ravel(drawn["sigma"])[design.index["sigma"]]
        silent = {**drawn, "sigma": np.zeros_like(drawn["sigma"])}
        values = design.outcome_draws(silent, seed + 1)[0] + own * shape
    table = frame.assign(distance=values)
    table.attrs[SIMULATED] = True
    return table, drawn


def one(model: str, truth: str, noise: str, engine: str, seed: int) -> pd.DataFrame:
    """Fit a table, and say of each row of the contrasts that both models have whether its interval holds the truth."""
    table, drawn = simulated(truth, noise, seed)
    _, design, rows = layout(truth)
    start = time.perf_counter()
    fit = bb.fit(
        table, model, engine=engine, seed=seed, draws=250, tune=500, chains=2, cores=1, progress=False
    )
    parts = []
    for estimand in ESTIMANDS:
        values = rows[estimand].linear.draws(drawn, times_of(design))[0]
        at = dict(zip(rows[estimand].keys, values, strict=True))
        found = fit.contrasts(prob=PROB, estimand=estimand)
        true = np.array(
            [
                at.get(key, np.nan)
                for key in zip(found["level"], found["name"], found["contrast"], strict=True)
            ]
        )
        held = (found["hpdi_low"] <= true) & (true <= found["hpdi_high"])
        # Only the overall population is the same thing in two models: a class may be held in the one and drawn in the other.
        known = np.isfinite(true) & (
            (truth == model) | (estimand == "these_words") | (found["level"] == "overall").to_numpy()
        )
        parts.append(found[["level", "contrast", "estimand"]].assign(held=held, table=seed)[known])
    about = {"k": fit.engine.pareto_k, "quick": fit.engine.name == "quick", "s": time.perf_counter() - start}
    return pd.concat(parts).assign(**about)


def _chunk(asked: argparse.Namespace, start: int) -> pd.DataFrame:
    kept = asked.out / f"{start:06d}.csv" if asked.out else None
    if kept is not None and kept.is_file():
        return pd.read_csv(kept)
    seeds = range(start, min(start + CHUNK, asked.tables))
    made = pd.concat(
        [one(asked.model, asked.truth or asked.model, asked.noise, asked.engine, 10 * seed) for seed in seeds]
    )
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
    parser.add_argument("--truth", help="the model whose prior tables are drawn from; by default the same")
    parser.add_argument("--noise", choices=NOISES, default="model")
    parser.add_argument("--engine", default="quick")
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
