"""Posteriors of the plain PyMC model, pair by pair with all its effects, against the exact likelihood.

The rule is that of posteriordb (Magnusson et al. 2024): 10,000 draws, R-hat below 1.01, no divergence. Means, SDs and
5 % and 95 % quantiles of every contrast, overall and by class, then agree within 4 Monte Carlo errors.
"""

from pathlib import Path

import numpy as np
from helpers import monte_carlo as mc
from scipy import stats

import bayesbias as bb

SEED, CHAINS, TUNE, DRAWS = 10, 4, 1000, 10_000
ERRORS = 4.0
PIECES = ("crossed", "default")
PUBLISHED = Path(__file__).resolve().parents[2] / "shared/data/bayesbias_distances"


def errors_apart(ours, reference):
    """Return how many Monte Carlo errors lie between two fits: mean, SD and two quantiles of every contrast."""
    apart = []
    # Some models have intervals by class for the listed words alone.
    by_class = "population" if ours.spec.results.levels["class"].population else "listed_words"
    for level, estimand in (("overall", "population"), ("class", by_class)):
        both = [
            f.table_draws("contrasts", level=level, estimand=estimand) for f in (ours, reference)
        ]
        for row in range(both[0].sizes["row"]):
            one, other = (np.asarray(draws.isel(row=row)) for draws in both)
            apart.append(mc.mean(one).errors_apart(mc.mean(other)))
            apart.append(mc.log_sd(one).errors_apart(mc.log_sd(other)))
            apart += [mc.quantile(one, p).errors_apart(mc.quantile(other, p)) for p in (0.05, 0.95)]
    return np.array([float(a) for a in apart])


def run(share, piece):
    """Compare on the published tables, by one model."""
    draws = DRAWS // CHAINS  # of a share of the tables: few draws never have so small an R-hat
    files = sorted(PUBLISHED.glob("*/*.csv"))
    for file in files[: max(1, round(share * len(files)))]:
        table = bb.load_distances(file)
        ours = bb.fit(table, piece, seed=SEED, draws=4 * draws, chains=4)
        for target in (0.95, 0.99):  # smaller steps where the first diverged
            reference = bb.fit(
                table, piece, seed=SEED + 1, sampler="pairwise", draws=draws, tune=TUNE, chains=CHAINS,
                target_accept=target, progress=False,
            )  # fmt: skip
            found = reference.diagnostics()
            if found["divergences"] == 0:
                break
        apart = errors_apart(ours, reference)
        # As many beyond as independent figures would have by chance, but for once in 10,000 tables.
        allowed = int(stats.binom.ppf(1 - 1e-4, len(apart), 2 * stats.norm.sf(ERRORS)))
        sound = found["divergences"] == 0 and (found["max_r_hat"] or 2.0) < 1.01
        yield (
            f"The exact likelihood gives the posterior of the plain PyMC model: {piece}, {file.stem}.",
            f"{CHAINS * draws:,} draws", f"{apart.max():.1f} Monte Carlo errors", f"{ERRORS:g}",
            sound and (apart > ERRORS).sum() <= allowed,
        )  # fmt: skip
