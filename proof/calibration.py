r"""Ranks and coverage: tables from the prior of a model, fitted by it, every contrast and every scale.

Where all is right the probability that the posterior gives to values below the true one is uniform (Talts et al. 2018;
for contrasts it is that of the exact mixture, for scales the share of draws). The largest distance of its distribution
function from the diagonal is held to the band that `n` uniform numbers stay within with probability .99, all rows
together (Dvoretzky, Kiefer and Wolfowitz 1956; Massart 1990: a distance of
:math:`\sqrt{\log(2 r / .01) / 2 n}` for r rows).
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats
from threadpoolctl import threadpool_limits

import bayesbias as bb
from bayesbias.inference.answers import mixed_rows
from bayesbias.inference.collapsed import collapse
from bayesbias.inference.effects import joined_draws
from bayesbias.inference.engine import Engine
from bayesbias.inference.estimands import times_of
from bayesbias.inference.mixtures import Mixtures
from bayesbias.inference.sampling import sample_collapsed
from bayesbias.models.loading import DEFAULT_MODEL
from benchmarks.own_prior import DRAWS, PROB, fitted_layout, simulated
from proof.evidence import Evidence, Known

MODELS = (DEFAULT_MODEL, "crossed", "hierarchical", "shared")
TABLES = 10_000
OUTSIDE = 0.01  # how often the band of all rows is left where all is right
CHUNK = 25
TRUTHS = (0.0, -0.05, -0.1, -0.2)  # of associated - different
AT_A_TRUTH = 1000  # tables
OFF_AT_A_TRUTH = 0.04
GRID = 101


def one(model: str, seed: int, engine: str = "quick") -> tuple[dict[str, float], dict[str, bool], bool]:
    """Return the probability below the truth of every contrast and scale, which intervals hold it, and whether by weights."""
    values, drawn = simulated(model, "model", seed)
    design, rows = fitted_layout(model)
    reduced = collapse(replace(design, y=values))
    settings = {
        "draws": DRAWS,
        "tune": 500,
        "chains": 2,
        "seed": seed,
        "engine": engine,
    }
    posterior = sample_collapsed(reduced, settings, 1)["posterior"].dataset
    scales = joined_draws(posterior, reduced.scales)
    below, held = {}, {}
    for estimand, own in rows.items():
        true = own.linear.draws(drawn, times_of(design))[0]
        mixed = mixed_rows(own, design, reduced, scales, 2)
        assert mixed is not None
        ends = mixed.mixtures.described(PROB)
        for row, key in enumerate(own.keys):
            name = " ".join((estimand, *key))
            below[name] = float(_alone(mixed.mixtures, row).below(float(true[row]))[0])
            held[name] = bool(ends["low"][0, row] <= true[row] <= ends["high"][0, row])
    for name in reduced.scales:
        draws = scales[name].reshape(len(scales[name]), -1)
        for entry, true in enumerate(np.ravel(drawn[name])):
            below[f"scale {name} {entry}"] = float((draws[:, entry] < true).mean())
    return below, held, Engine.of(settings).name == "quick"


def _alone(mixtures: Mixtures, row: int) -> Mixtures:
    return mixtures.chosen([row])


def _chunk(task: tuple[str, range]) -> list[tuple[dict[str, float], dict[str, bool], bool]]:
    model, seeds = task
    return [one(model, 10 * seed) for seed in seeds]


def farthest(probabilities: np.ndarray) -> float:
    """Return the largest distance of a distribution function from that of uniform numbers (Kolmogorov)."""
    return float(stats.kstest(probabilities, "uniform").statistic)


def rank_curves(every: Mapping[str, np.ndarray], far: Mapping[str, float], band: float) -> dict[str, Any]:
    """Return what a picture of ranks needs: on a grid the distribution functions less the diagonal, and the band.

    Of so many rows it keeps the lowest and the highest at every point, and the one that is farthest off somewhere.
    """
    grid = np.linspace(0, 1, GRID)
    off = {
        name: np.searchsorted(np.sort(values), grid, side="right") / len(values) - grid
        for name, values in every.items()
    }
    curves = np.stack(list(off.values()))
    return {
        "at": grid.round(4).tolist(),
        "lowest": curves.min(axis=0).round(5).tolist(),
        "highest": curves.max(axis=0).round(5).tolist(),
        "farthest": off[max(far, key=lambda name: far[name])].round(5).tolist(),
        "band": round(band, 5),
        "step": 1 / (2 * DRAWS),  # of ranks of scales, which are shares of draws
    }


def at_four_truths(model: str, n: int) -> Evidence:
    """Fix the population instead of drawing it: no difference, and differences of up to .2.

    At one truth the interval of a prior that doubts differences need not cover as often as over all truths; it may be off by
    a little, and the row says by how much. The tables are as large as a published one, drawn from `crossed`.
    """
    began = time.perf_counter()
    parts = []
    for difference in TRUTHS:
        scenario = bb.simulation.Scenario()
        means = dict(scenario.values["cbar"])
        means["associated"] = means["different"] + difference
        scenario = replace(scenario, values={**scenario.values, "cbar": means})
        report = bb.coverage_simulated(scenario, tables=n, methods=[model], seed=0, progress=False)
        own = report[report["contrast"].isin(["associated - different", "associated - neutral"])]
        parts.append(own.assign(difference=difference))
    report = pd.concat(parts, ignore_index=True)
    off = int((report["coverage"] - PROB).abs().argmax())
    worst = report.iloc[off]
    reach = max(OFF_AT_A_TRUTH, 3 * float(worst["coverage_se"]))
    return Evidence(
        "calibration",
        f"{model}: four truths",
        f"89 % intervals by {model} hold associated - different and associated - neutral where the first is "
        f"{', '.join(f'{t:g}' for t in TRUTHS)}.",
        "held" if abs(worst["coverage"] - PROB) <= reach else "failed",
        n * len(TRUTHS),
        "tables from crossed at fixed means",
        float(worst["coverage"]),
        f".89 within {reach:.2f}",
        0,
        time.perf_counter() - began,
        {
            "truths": list(TRUTHS),
            "coverage": {c: own["coverage"].tolist() for c, own in report.groupby("contrast")},
            "wrong_sign": {  # none where there is nothing to have the sign of
                c: [None if np.isnan(x) else float(x) for x in own["wrong_sign"]]
                for c, own in report.groupby("contrast")
            },
            "called": {c: own["called"].tolist() for c, own in report.groupby("contrast")},
        },
        ""
        if abs(worst["coverage"] - PROB) <= reach
        else f"{worst['contrast']} where the first is {worst['difference']:g}: {worst['coverage']:.3f}; estimates are off by "
        f"{worst['bias']:+.3f} on average",
    )


def run(share: float, known: Known) -> Iterator[Evidence]:
    """Simulate and fit by every main model."""
    n = max(CHUNK, round(TABLES * share))
    for model in MODELS:
        if known("calibration", f"{model}: ranks", n):
            continue
        began = time.perf_counter()
        tasks = [(model, range(start, min(start + CHUNK, n))) for start in range(0, n, CHUNK)]
        # A worker is one of many: more threads would wait for one another.
        with ProcessPoolExecutor(initializer=threadpool_limits, initargs=(1,)) as pool:
            found = [row for part in pool.map(_chunk, tasks) for row in part]
        names = list(found[0][0])
        every = {name: np.array([below[name] for below, _, _ in found]) for name in names}
        far = {name: farthest(values) for name, values in every.items()}
        # Shares of so many draws are not continuous: a rank may be off by half a draw.
        grain = {name: 1 / (2 * DRAWS) if name.startswith("scale ") else 0.0 for name in names}
        band = float(np.sqrt(np.log(2 * len(names) / OUTSIDE) / (2 * n)))
        worst = max(names, key=lambda name: far[name] - grain[name])
        by_weights = float(np.mean([quick for _, _, quick in found]))
        seconds = time.perf_counter() - began
        yield Evidence(
            "calibration",
            f"{model}: ranks",
            f"True values of {len(names)} contrasts and scales have uniform ranks in their posteriors by {model}.",
            "held" if far[worst] - grain[worst] <= band else "failed",
            n,
            "tables from its prior",
            far[worst] - grain[worst],
            f"at most {band:.4f} (the 99 % band of all rows)",
            0,
            seconds,
            {
                "farthest": worst,
                "by_weights": by_weights,
                "ranks": rank_curves(every, far, band),
            },
        )
        held = np.array([list(hold.values()) for _, hold, _ in found], dtype=float)
        cover = held.mean(axis=0)
        # As far from .89 as chance allows any of so many rows, but for once in 100 runs.
        reach = float(stats.norm.isf(OUTSIDE / 2 / held.shape[1]) * np.sqrt(PROB * (1 - PROB) / n))
        off = int(np.argmax(np.abs(cover - PROB)))
        yield Evidence(
            "calibration",
            f"{model}: coverage",
            f"89 % intervals of every contrast at every level by {model} hold the true value in 89 % of tables.",
            "held" if abs(cover[off] - PROB) <= max(reach, 0.01) else "failed",
            n,
            "tables from its prior",
            float(cover[off]),
            f".89 within {max(reach, 0.01):.3f}, for every one of {held.shape[1]} rows",
            0,
            seconds,
            {"farthest": list(found[0][1])[off], "lowest": float(cover.min()), "highest": float(cover.max())},
        )
    for model in (DEFAULT_MODEL, "crossed"):
        n = max(CHUNK, round(AT_A_TRUTH * share))
        if not known("calibration", f"{model}: four truths", n * len(TRUTHS)):
            yield at_four_truths(model, n)
