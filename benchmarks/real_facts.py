"""The single-category test on real vectors: occupations and first names drawn from pools, covariates as they are and dealt out anew.

The pool: 100 + 100 first names and the occupations of one word with their share of women (US Bureau of Labor Statistics 2015)
that `minilm-static` has. Each table has a few of both; its slope is held to that of the pool, a least-squares line through the
differences of mean cosines over all names. With the covariates of a table dealt out anew there is no slope to find.

``python -m benchmarks.real_covariates --tables 200``; it needs the folder `shared` beside the checkout.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

import bayesbias as bb
from bayesbias.studies.wefat.result import of_published
from benchmarks.facts import dealt

SHARED = Path(__file__).resolve().parents[2] / "shared/data"
PROB = 0.89


def share_of_women() -> dict[str, float]:
    """Return the share of women of occupations of one word: of all rows with that label, weighed by who is employed."""
    rows = pd.read_csv(
        SHARED / "covariates/occupations_bls_2015.tsv", sep="\t", header=None, skiprows=1
    )
    number = rows.iloc[:, :2].apply(pd.to_numeric, errors="coerce")
    labels = sorted(
        {label for label in rows.iloc[:, 6:].to_numpy().ravel() if isinstance(label, str) and label}
    )
    out = {}
    for label in labels:
        own = number[(rows.iloc[:, 6:] == label).any(axis=1)].dropna()
        if len(own) and own[0].sum() > 0:
            out[label] = float(np.average(own[1], weights=own[0]))
    return out


def pool() -> tuple[list[list[str]], list[str], np.ndarray, np.ndarray]:
    """Return names of both sets, occupations, their cosines (names, occupations) and the covariate."""
    with np.load(SHARED / "real_coverage/gender_jobs.npz", allow_pickle=False) as content:
        names = [[str(word) for word in content[key]] for key in ("words_0", "words_1")]
    covariates = share_of_women()
    vectors = bb.load_embedding("minilm-static", [*names[0], *names[1], *covariates])
    jobs = [job for job in covariates if job in vectors]
    rows = [vectors.vectors_of(words).astype(float) for words in ([*names[0], *names[1]], jobs)]
    a, b = (own / np.linalg.norm(own, axis=1, keepdims=True) for own in rows)
    return names, jobs, a @ b.T, np.array([covariates[job] for job in jobs])


def one(
    seed: int,
    names: list[list[str]],
    jobs: list[str],
    cosines: np.ndarray,
    covariate: np.ndarray,
    size: tuple[int, int],
) -> dict[str, float]:
    """Return what the test says of one table, and of the same with its covariates dealt out anew."""
    rng = np.random.default_rng([seed, 7])
    n = len(names[0])
    first, second = (np.sort(rng.choice(len(own), size[0], replace=False)) for own in names)
    chosen = np.sort(rng.choice(len(jobs), size[1], replace=False))
    part = cosines[np.concatenate([first, n + second])][:, chosen]
    difference = cosines[:n].mean(axis=0) - cosines[n:].mean(axis=0)
    slope, r = (
        np.polyfit(covariate, difference, 1)[0],
        stats.pearsonr(difference, covariate).statistic,
    )
    out = {}
    for kind, own in (
        ("", covariate[chosen]),
        ("dealt out anew, ", rng.permutation(covariate[chosen])),
    ):
        score = (part[: size[0]].mean(axis=0) - part[size[0] :].mean(axis=0)) / part.std(
            axis=0, ddof=1
        )
        known: Any = SimpleNamespace(
            classes=("women", "men"),
            a=[names[0][k] for k in first],
            b=[names[1][k] for k in second],
            covariates={jobs[k]: float(x) for k, x in zip(chosen, own, strict=True)},
            scores={jobs[k]: float(x) for k, x in zip(chosen, score, strict=True)},
        )
        found = of_published(
            known, part, [jobs[k] for k in chosen], prob=PROB, seed=seed, draws=250, tune=500, chains=2, engine="quick"
        )  # fmt: skip
        fisher = stats.pearsonr(score, own).confidence_interval(PROB)
        if kind:
            out["dealt out anew: slope excludes 0"] = (
                not found.slope.hpdi_low <= 0 <= found.slope.hpdi_high
            )
            out["dealt out anew: Fisher z excludes 0"] = not fisher.low <= 0 <= fisher.high
            flawless = dealt(part, own, size[0], found)
            out |= {f"dealt out anew: {name}": value for name, value in flawless.items()}
            continue
        per, true, expected = found.slope, found.true_correlation, slope * found.scale
        out |= {
            "slope covered": per.hpdi_low <= expected <= per.hpdi_high,
            "true r covered": true.low <= r <= true.high,
            "Fisher z covers true r": fisher.low <= r <= fisher.high,
            "slope, over that of the pool": per.mean / expected,
            "width of the slope, over that of the pool": (per.hpdi_high - per.hpdi_low) / expected,
            "mean of true r": true.mean,
            "r of scores": float(stats.pearsonr(score, own).statistic),
            "r of the pool": float(r),
        }
    return out


def main(arguments: Sequence[str] = ()) -> None:
    """Print coverage, and how often zero is excluded of covariates that say nothing."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tables", type=int, default=100)
    parser.add_argument("--names", type=int, default=8)
    parser.add_argument("--occupations", type=int, default=40)
    asked = parser.parse_args(arguments)
    names, jobs, cosines, covariate = pool()
    began = time.perf_counter()
    size = asked.names, asked.occupations
    rows = pd.DataFrame(
        [one(seed, names, jobs, cosines, covariate, size) for seed in range(asked.tables)]
    )
    print(
        f"{asked.tables} tables of {size[0]} + {size[0]} of {len(names[0])} + {len(names[1])} names and {size[1]} of "
        f"{len(jobs)} occupations: {time.perf_counter() - began:.0f} s"
    )
    mean, error = rows.mean(), rows.astype(float).std(ddof=1) / np.sqrt(len(rows))
    print(pd.DataFrame({"share or mean": mean, "error": error}).to_string(float_format="%.3f"))


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
