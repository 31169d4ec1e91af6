"""Reference posteriors: the plain PyMC model, pair by pair with all its effects, against the exact reduction.

The rule is that of posteriordb (Magnusson et al. 2024): 10,000 draws kept, R-hat below 1.01 for every parameter, no
divergence. Means, sds and the 5 % and 95 % quantiles of every contrast, overall and by class, then agree within 4 Monte
Carlo errors; of hundreds of figures as many may lie beyond as chance allows.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from helpers import monte_carlo as mc
from scipy import stats

import bayesbias as bb
from bayesbias.models.loading import DEFAULT_MODEL
from proof.evidence import Evidence, Known

SEED = 10
CHAINS, TUNE, DRAWS = 4, 1000, 10_000
ERRORS = 4.0
TARGETS = (0.95, 0.99)
PUBLISHED = Path(__file__).resolve().parents[2] / "shared/data/bayesbias_distances"
LEVELS = ("overall", "class")


def published() -> dict[str, Path]:
    """Return the published tables that lie beside the checkout, the smallest first."""
    files = sorted(PUBLISHED.glob("*/*.csv"), key=lambda file: (file.stat().st_size, str(file)))
    return {f"{file.parent.name}/{file.stem}": file for file in files}


def in_words(name: str) -> str:
    """Return the name of a table so that a line can break in it."""
    return name.replace("/", ": ").replace("_", " ")


def errors_apart(ours: bb.BiasFit, reference: bb.BiasFit) -> np.ndarray:
    """Return how many Monte Carlo errors lie between two fits: mean, sd and two quantiles of every contrast."""
    apart = []
    for level in LEVELS:
        both = [f.draws_of("contrasts", level=level, estimand="population") for f in (ours, reference)]
        for row in range(both[0].sizes["row"]):
            one, other = (draws.isel(row=row) for draws in both)
            apart += [
                mc.mean(one).errors_apart(mc.mean(other)),
                mc.log_sd(one).errors_apart(mc.log_sd(other)),
            ]
            apart += [mc.quantile(one, p).errors_apart(mc.quantile(other, p)) for p in (0.05, 0.95)]
    return np.array([float(a) for a in apart])


def compared(name: str, table: bb.PairTable, model: str, share: float) -> Evidence:
    """Sample one table both ways."""
    began = time.perf_counter()
    draws = max(100, round(DRAWS * share) // CHAINS)
    ours = bb.fit(table, model, seed=SEED, draws=max(500, round(4 * DRAWS * share) // 4), chains=4)
    for target in TARGETS:  # smaller steps where the first could not follow the posterior everywhere
        reference = bb.fit(
            table,
            model,
            seed=SEED + 1,
            sampler="pairwise",
            draws=draws,
            tune=TUNE,
            chains=CHAINS,
            target_accept=target,
            progress=False,
        )
        found = reference.diagnostics()
        if found["divergences"] == 0:
            break
    apart = errors_apart(ours, reference)
    beyond = int((apart > ERRORS).sum())
    # As many beyond as independent figures would have by chance, but for once in 10,000 tables.
    allowed = int(stats.binom.ppf(1 - 1e-4, len(apart), 2 * stats.norm.sf(ERRORS)))
    sound = found["divergences"] == 0 and (found["max_r_hat"] or 2.0) < 1.01
    reason = "" if sound else f"the reference itself: {'; '.join(found['problems'])}"
    return Evidence(
        "reference posteriors",
        f"{model}: {name}",
        f"The exact reduction of {model} has the posterior of the plain PyMC model on {in_words(name)}.",
        "held" if sound and beyond <= allowed else "failed",
        CHAINS * draws,
        "draws of the reference",
        float(apart.max()),
        f"{ERRORS:g} Monte Carlo errors ({len(apart)} figures, at most {allowed} beyond)",
        SEED,
        time.perf_counter() - began,
        {
            "divergences": found["divergences"],
            "target_accept": target,
            "max_r_hat": found["max_r_hat"],
            "min_ess_bulk": found["min_ess_bulk"],
        },
        reason,
    )


def run(share: float, known: Known) -> Iterator[Evidence]:
    """Compare on the published tables, by the default model and by `crossed`."""
    tables = published()
    if not tables:
        claim = "The exact reduction has the posterior of the plain PyMC model."
        why = "the published tables do not lie beside the checkout"
        name = "published tables"
        yield Evidence(
            "reference posteriors", name, claim, "not run", 0, "draws", None, "", SEED, 0.0, reason=why
        )
    for model in ("crossed", DEFAULT_MODEL):  # the quicker one first
        for name, file in tables.items():
            if not known("reference posteriors", f"{model}: {name}", round(DRAWS * share)):
                yield compared(name, bb.load_distances(file), model, share)
