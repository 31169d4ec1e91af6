r"""The exact likelihood against lme4 (R), which integrates effects out by sparse Cholesky factors.

The model `crossed` with flat means is a linear mixed model. At any point of its scales lme4 has the restricted
likelihood, the estimated means and their errors; so has the reduction, by another way. lme4 profiles over the common
factor of all scales, so ours is maximised over it too.
"""

import shutil
import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import optimize, sparse

import bayesbias as bb
from bayesbias.inference.likelihood import Collapsed, collapse
from bayesbias.inference.linear import Linear, Rotated
from bayesbias.models.design import Design
from bayesbias.models.spec import load_model

SEED = 4
POINTS = 20
SCRIPT = Path(__file__).with_name("lme4.R")
FLAT = 100.0  # sd of the means' prior: flat beside distances (it moves a mean by 6e-6), and not so flat that digits are lost
LISTS = ("religion", "gender", "race")


def reduced_of(table: bb.PairTable) -> Collapsed:
    """Return the exact reduction of `crossed` with flat means."""
    spec = load_model("crossed")
    flat = replace(spec.parameters["connection_mean"], args={"mu": 0.0, "sigma": FLAT})
    spec = replace(spec, parameters={**spec.parameters, "connection_mean": flat})
    return collapse(Design.of(spec, table.frame))


def likelihood(reduced: Collapsed, theta: np.ndarray) -> float:
    """Return the log marginal likelihood: the density of the log-scales without their priors (Exponential, rate 2)."""
    value, _ = reduced.log_density(theta)
    return value - float(np.sum(np.log(2) - 2 * np.exp(theta) + theta))


def at_best_factor(reduced: Collapsed, theta: np.ndarray) -> tuple[float, float]:
    """Return -2 log likelihood at the best common factor of all scales, and the factor."""
    found = optimize.minimize_scalar(
        lambda log_factor: -2 * likelihood(reduced, theta + log_factor),
        bounds=(-7, 7),
        method="bounded",
        options={"xatol": 1e-10},
    )
    return float(found.fun), float(np.exp(found.x))


def ours(reduced: Collapsed, theta: np.ndarray) -> dict[str, float]:
    """Return criterion, factor, and at the point itself the means and their errors."""
    design = reduced.design
    criterion, factor = at_best_factor(reduced, theta)
    connections = design.coords["connection"]
    n = len(connections)
    means = Linear(np.zeros(n), {"connection_mean": sparse.csr_array(np.eye(n))})
    # The factor changes no mean.
    mean, variance = Rotated.of(reduced, means).moments(reduced, theta[None])
    out = {"criterion": criterion, "factor": factor}
    for name, m, v in zip(connections, mean[0], variance[0], strict=True):
        out |= {f"mean.{name}": float(m), f"error.{name}": float(np.sqrt(v))}
    return out


def points(reduced: Collapsed, n: int, seed: int) -> np.ndarray:
    """Return points, shape (n, n_theta): spreads of words and attributes over two orders of magnitude, noise over one."""
    rng = np.random.default_rng(seed)
    noise = 4
    spreads = rng.choice([0.003, 0.03, 0.1, 0.3], (n, reduced.n_theta - noise))
    around = rng.choice([0.05, 0.1, 0.2], (n, noise))
    assert reduced.scales[-1] == "sigma"
    return np.log(np.concatenate([spreads, around], axis=1)) + rng.normal(
        0, 0.3, (n, reduced.n_theta)
    )


def named(reduced: Collapsed, theta: np.ndarray) -> pd.DataFrame:
    """Return points as the columns that the script reads."""
    scales, connections = reduced.scales_of(theta), reduced.design.coords["connection"]
    columns = {"ws": scales["attribute_sd"].ravel()}
    for name, column in (("word_by_connection_sd", "csd"), ("sigma", "sigma")):
        columns |= {f"{column}.{c}": scales[name][:, k] for k, c in enumerate(connections)}
    return pd.DataFrame(columns)


def lme4(table: bb.PairTable, scales: pd.DataFrame) -> pd.DataFrame:
    """Ask lme4 at every point."""
    pairs = table.frame[["distance", "protected_word", "connection", "attribute"]].astype(
        {"distance": float}
    )
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / name for name in ("pairs.csv", "scales.csv", "answers.csv")]
        pairs.rename(columns={"distance": "y", "protected_word": "word"}).to_csv(
            files[0], index=False
        )
        scales.to_csv(files[1], index=False)
        with files[2].open("w") as out:
            subprocess.run(["Rscript", str(SCRIPT), *map(str, files[:2])], stdout=out, check=True)
        return pd.read_csv(files[2])


def largest_gaps(mine: pd.DataFrame, theirs: pd.DataFrame) -> dict[str, float]:
    """Return the largest gaps: of the criterion (but for one constant), of factors and errors (relative), of means."""
    gap = (mine["criterion"] - theirs["criterion"]).to_numpy()
    means = [c for c in mine if c.startswith("mean.")]
    errors = [c for c in mine if c.startswith("error.")]
    return {
        "criterion": float(np.ptp(gap)),
        "factor": float(np.abs(mine["factor"] / theirs["factor"] - 1).max()),
        "mean": float(np.abs(mine[means] - theirs[means]).to_numpy().max()),
        "error": float(np.abs(mine[errors] / theirs[errors] - 1).to_numpy().max()),
    }


def run(share):
    """Compare on the shipped lists in the shipped vectors, if R is installed."""
    n = max(2, round(POINTS * share))
    for name in LISTS if shutil.which("Rscript") else ():
        table = bb.distance_table("minilm-static", name)
        reduced = reduced_of(table)
        theta = points(reduced, n, SEED)
        mine = pd.DataFrame([ours(reduced, one) for one in theta])
        gap = max(largest_gaps(mine, lme4(table, named(reduced, theta))).values())
        yield (
            f"Restricted likelihood, means and standard errors of `crossed` are those of lme4: {name}.",
            f"{n} points of the SDs, {len(table):,} pairs", f"{gap:.1e}", "1e-4", gap < 1e-4,
        )  # fmt: skip
