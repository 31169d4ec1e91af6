r"""Ranks and coverage: tables drawn from the prior of a model and fitted by it.

If all is right, the rank of the true value among the draws is uniform (Talts et al. 2018). The largest distance of its
distribution function from the diagonal is compared with the band that `n` uniform numbers stay within with probability
.99, all rows together (Massart 1990): :math:`\sqrt{\log(2 r / .01) / 2 n}` for r rows.
"""

import functools
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace

import numpy as np
import pandas as pd
from scipy import stats

import bayesbias as bb
from bayesbias.inference.estimands import asked_quantities
from bayesbias.models.design import Design
from bayesbias.simulation.scenario import Scenario

MODELS = ("default", "crossed", "hierarchical", "shared")
PIECES = (*MODELS, "default at fixed differences", "crossed at fixed differences")
TABLES, AT_A_TRUTH = 10_000, 1000
WORDS, ATTRIBUTES, HUMAN, NEUTRAL = (4, 3, 4), (4, 3, 5), 4, 6
PROB = 0.89
OUTSIDE = 0.01  # how often the bands are left if all is right
TRUTHS = (0.0, -0.05, -0.1, -0.2)  # of associated - different


def one(model, seed):
    """Draw a table from the prior and fit it; return rank and coverage of the truth for every contrast."""
    frame = Scenario(words=WORDS, attributes=ATTRIBUTES, human=HUMAN, neutral=NEUTRAL).frame
    design = Design.of(bb.load_model(model), frame)
    drawn = design.prior_draws(1, seed)
    table = frame.assign(distance=design.outcome_draws(drawn, seed + 1)[0])
    table.attrs["simulated"] = f"prior of {model}"  # distances may lie beyond 0 and 2
    fit = bb.fit(table, model, seed=seed, draws=250, chains=2, progress=False)
    ranks, held = {}, {}
    for estimand in ("population", "listed_words"):
        asked = asked_quantities(design, estimand, contrasted=True)
        true = dict(zip(asked.keys, asked.linear.draws(drawn)[0], strict=True))
        rows = fit.contrasts(prob=PROB).query("estimand == @estimand")
        for row in rows.itertuples():
            key = (row.level, row.name, row.contrast)
            held[estimand, *key] = row.hpdi_low <= true[key] <= row.hpdi_high
        draws = fit.table_draws("contrasts", estimand=estimand)
        for k in range(draws.sizes["row"]):
            own = draws.isel(row=k)
            key = (own["level"].item(), own["name"].item(), own["contrast"].item())
            ranks[estimand, *key] = float((own.values < true[key]).mean())
    return ranks, held


def at_four_truths(model, n):
    """Return the coverage farthest from .89 where the difference of the population is fixed, and its standard error."""
    parts = []
    for difference in TRUTHS:
        scenario = bb.simulation.Scenario()
        means = dict(scenario.values["connection_mean"])
        means["associated"] = means["different"] + difference
        scenario = replace(scenario, values={**scenario.values, "connection_mean": means})
        report = bb.coverage_simulated(scenario, tables=n, methods=[model], seed=0, progress=False)
        parts.append(
            report[report["contrast"].isin(["associated - different", "associated - neutral"])]
        )
    report = pd.concat(parts, ignore_index=True)
    worst = report.loc[(report["coverage"] - PROB).abs().idxmax()]
    return float(worst["coverage"]), float(worst["coverage_se"])


def run(share, piece):
    """Simulate and fit by a model for distances."""
    model, _, fixed = piece.partition(" ")
    if fixed:
        n = max(25, round(AT_A_TRUTH * share))
        worst, error = at_four_truths(model, n)
        reach = max(0.04, 3 * error)
        yield (
            f"89 % intervals include the truth at fixed differences of {TRUTHS}, {model}.",
            f"{n * len(TRUTHS):,} tables drawn from crossed", f"{worst:.3f}", f".89 ± {reach:.2f}",
            abs(worst - PROB) <= reach,
        )  # fmt: skip
        return
    n = max(25, round(TABLES * share))
    with ProcessPoolExecutor() as pool:
        found = list(pool.map(functools.partial(one, model), range(0, 10 * n, 10), chunksize=5))
    ranks = pd.DataFrame([ranks for ranks, _ in found])
    far = max(stats.kstest(ranks[column], "uniform").statistic for column in ranks)
    band = np.sqrt(np.log(2 * ranks.shape[1] / OUTSIDE) / (2 * n))
    yield (
        f"Ranks of {ranks.shape[1]} true values in their posteriors are uniform, {model}.",
        f"{n:,} tables from its prior", f"{far:.4f}", f"{band:.4f}", far <= band,
    )  # fmt: skip
    cover = pd.DataFrame([held for _, held in found]).mean()
    reach = stats.norm.isf(OUTSIDE / 2 / len(cover)) * np.sqrt(PROB * (1 - PROB) / n)
    worst = cover.iloc[(cover - PROB).abs().argmax()]
    yield (
        f"89 % intervals of {len(cover)} contrasts include the true value, {model}.",
        f"{n:,} tables from its prior", f"{worst:.3f}", f".89 ± {reach:.3f}", abs(worst - PROB) <= reach,
    )  # fmt: skip
