"""Coverage of the default model on tables drawn from its own prior, every contrast at every level.

Alone it takes the number of tables: ``python -m benchmarks.own_prior --tables 10000``.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pandas as pd

import bayesbias as bb
from bayesbias.inference.answers import asked_rows
from bayesbias.inference.estimands import ESTIMANDS, times_of
from bayesbias.models.design import Design
from bayesbias.models.loading import DEFAULT_MODEL, load_model
from bayesbias.simulation.scenario import scenario_frame
from bayesbias.tables.checking import SIMULATED

WORDS, ATTRIBUTES, HUMAN, NEUTRAL = (4, 3, 4), (4, 3, 5), 4, 6
TABLES = 500
PROB = 0.89


def one(model: str, seed: int) -> pd.DataFrame:
    """Draw every parameter and a table, fit it, and say of each row of the contrasts whether its interval holds the truth."""
    frame = scenario_frame(WORDS, ATTRIBUTES, HUMAN, NEUTRAL)
    design = Design.of(load_model(model), frame)
    truth = design.prior_draws(1, seed)
    table = frame.assign(distance=design.outcome_draws(truth, seed + 1)[0])
    table.attrs[SIMULATED] = True
    fit = bb.fit(table, model, seed=seed, draws=250, tune=500, chains=2, pointwise=False, cores=1)
    parts = []
    for estimand in ESTIMANDS:
        rows = asked_rows(design, frame, estimand, contrasted=True)
        true = rows.linear.draws(truth, times_of(design))[0]
        found = fit.contrasts(prob=PROB, estimand=estimand)
        at = {key: value for key, value in zip(rows.keys, true, strict=True)}
        value = np.array(
            [at[key] for key in zip(found["level"], found["name"], found["contrast"], strict=True)]
        )
        held = (found["hpdi_low"] <= value) & (value <= found["hpdi_high"])
        parts.append(found[["level", "contrast", "estimand"]].assign(held=held, table=seed))
    return pd.concat(parts)


def _chunk(task: tuple[str, int, int]) -> pd.DataFrame:
    model, start, stop = task
    return pd.concat([one(model, 10 * seed) for seed in range(start, stop)])


def main(arguments: Sequence[str] = ()) -> None:
    """Print the coverage of every contrast, level and estimand, with its standard error over tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", default=DEFAULT_MODEL)
    parser.add_argument("--tables", type=int, default=TABLES)
    parser.add_argument("--workers", type=int, default=2)
    asked = parser.parse_args(arguments)
    began = time.perf_counter()
    bounds = range(0, asked.tables, 25)
    tasks = [(asked.model, start, min(start + 25, asked.tables)) for start in bounds]
    with ProcessPoolExecutor(asked.workers) as pool:
        every = pd.concat(pool.map(_chunk, tasks))
    # Rows of one table go together, so the error is over tables.
    keys = ["estimand", "level", "contrast"]
    by_table = every.groupby([*keys, "table"], sort=False)["held"].mean().reset_index()
    out = by_table.groupby(keys, sort=False)["held"].agg(
        coverage="mean", error=lambda x: x.std(ddof=1) / np.sqrt(len(x))
    )
    print(
        f"{asked.tables:,} tables from the prior of {asked.model}, fitted by it: {time.perf_counter() - began:.0f} s"
    )
    print(out.reset_index().to_string(index=False, float_format="%.3f"))


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
