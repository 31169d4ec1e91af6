r"""Convergence: R-hat and effective draws of many quantities at once, and their limits.

Convergence is asked of what is printed (`BiasFit.diagnostics`): R-hat, and the Monte Carlo errors
of the ends of intervals. A sampled parameter has a wider limit, since its slow mixing may not move
any interval.

Rank-normalized split R-hat and bulk effective draws are those of Vehtari, Gelman, Simpson,
Carpenter & Bürkner (2021, *Bayesian Analysis* 16:667-718): chains are cut in halves, and draws
replaced by normal scores of their ranks over all halves, :math:`\Phi^{-1}((r - 3/8) / (S + 1/4))`;
R-hat is the larger one of those scores and of the scores of distances from the median; effective
draws sum autocorrelations as far as Geyer's (1992) initial positive sequence goes, made monotone.
The numbers are those of ArviZ, which takes quantities one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from bayesbias.core import number_of

if TYPE_CHECKING:
    import xarray as xr

MAX_R_HAT = 1.01
"""Of what is printed, where independent draws stay below it (`r_hat_by_chance`)."""
ENOUGH_MIXED = 1000
"""How many draws of the scales a mixture is over; 1,000 normals say more than 1,000 plain draws."""
MAX_R_HAT_OF_PARAMETERS = 1.05
"""Of what is sampled: a parameter may mix slowly where no interval is the worse for it."""
MAX_ERROR = 0.05
"""Monte Carlo error of an end of a printed interval, as a share of its width."""
MOST_PARETO_K = 0.7
"""Of the weights of the quick engine."""
MIN_ESS_PER_CHAIN = 100
"""Effective draws below which a run of the default length is made longer."""
_LEAST_DRAWS = 4
_NUMBERS_AT_A_TIME = 500_000


def r_hat_and_ess(draws: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return R-hat and bulk effective draws of each quantity.

    Parameters
    ----------
    draws : ndarray, shape (chain, draw, n)

    Returns
    -------
    r_hat, ess : ndarray, shape (n,)
        NaN if a draw is NaN or chains have fewer than four draws; R-hat also if there is one chain,
        or all draws are equal.
    """
    chains, length, n = draws.shape
    r_hat, ess = np.full(n, np.nan), np.full(n, np.nan)
    if length < _LEAST_DRAWS:
        return r_hat, ess
    step, half = max(1, _NUMBERS_AT_A_TIME // (chains * length)), length // 2
    for start in range(0, n, step):
        part = slice(start, start + step)
        # Chains cut in two, shape (n, 2 chains, half); the middle of an odd number is left out.
        cut = np.concatenate([draws[:, :half, part], draws[:, -half:, part]])
        halves = np.ascontiguousarray(cut.transpose(2, 0, 1), dtype=float)
        finite = ~np.isnan(draws[..., part]).any(axis=(0, 1))
        scores = _normal_scores(halves)
        ess[part] = np.where(finite, _effective(scores), np.nan)
        if chains > 1:
            flat = halves.reshape(len(halves), -1)
            folded = np.abs(halves - np.median(flat, axis=1)[:, None, None])
            bulk, tail = _r_hat(scores), _r_hat(_normal_scores(folded))
            # Draws of two values, whose distances from the median are all the same, have no R-hat
            # of the tail.
            r_hat[part] = np.where(finite, np.where(tail > bulk, tail, bulk), np.nan)
    return r_hat, ess


def _normal_scores(halves: np.ndarray) -> np.ndarray:
    """Return normal scores of the ranks of each quantity, equal draws with their mean rank."""
    from scipy.special import ndtri

    flat = halves.reshape(len(halves), -1)
    ranks = pd.DataFrame(flat.T).rank().to_numpy().T
    return ndtri((ranks - 3 / 8) / (flat.shape[1] + 1 / 4)).reshape(halves.shape)


def _r_hat(halves: np.ndarray) -> np.ndarray:
    length = halves.shape[2]
    between = length * halves.mean(axis=2).var(axis=1, ddof=1)
    within = halves.var(axis=2, ddof=1).mean(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.sqrt((between / within + length - 1) / length)


def r_hat_by_chance(chains: int, per_chain: int, rows: int) -> float:
    r"""Return what the largest R-hat of independent draws exceeds in about one of 1,000 fits.

    The means of 2 m half-chains of n independent draws vary by :math:`W / n`, so that R-hat squared
    is :math:`1 - 1 / n + \chi^2_{2 m - 1} / ((2 m - 1) n)`. It is taken twice for each row, of the
    draws and of their distances from the median.

    Parameters
    ----------
    chains, per_chain : int
        How many chains m there are, and the draws 2 n of each.
    rows : int

    Examples
    --------
    >>> round(r_hat_by_chance(4, 250, 1), 4), round(r_hat_by_chance(4, 250, 28), 4)
    (1.0108, 1.0153)
    """
    from scipy.special import chdtri

    length, freedom = per_chain // 2, 2 * chains - 1
    quantile = chdtri(freedom, 0.001 / (2 * rows))
    return float(np.sqrt(1 + (quantile / freedom - 1) / length))


def _effective(halves: np.ndarray) -> np.ndarray:
    from scipy.fft import next_fast_len

    n, parts, length = halves.shape
    centre = halves.mean(axis=2)
    size = next_fast_len(2 * length)
    power = np.abs(np.fft.rfft(halves - centre[..., None], n=size, axis=2)) ** 2
    covariance = np.fft.irfft(power.mean(axis=1), n=size, axis=1)[:, :length] / length
    within = covariance[:, :1] * length / (length - 1)
    total = covariance[:, :1] + (centre.var(axis=1, ddof=1)[:, None] if parts > 1 else 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        correlation = 1 - (within - covariance) / total
    correlation[:, 0] = 1.0
    # Sums of neighbors, from 0 and 1 on; the last that are looked at end short of the chain.
    count = max(1, (length - 1) // 2)
    even = correlation[:, : 2 * count : 2]
    pairs = even + correlation[:, 1 : 2 * count : 2]
    ends = pairs <= 0
    last = np.where(ends.any(axis=1), ends.argmax(axis=1), count - 1)
    falling = np.minimum.accumulate(pairs, axis=1)
    sums = np.concatenate([np.zeros((n, 1)), np.cumsum(falling, axis=1)], axis=1)
    at = np.arange(n)
    rest = np.where((even[at, last] > 0) | (pairs[at, last] >= 0), even[at, last], 0.0)
    draws = parts * length
    time = np.maximum(-1 + 2 * sums[at, last] + rest, 1 / np.log10(draws))
    still = np.ptp(halves.reshape(n, -1), axis=1) < np.finfo(float).resolution
    return np.where(still, draws, draws / time)


def diagnose(
    idata: xr.DataTree,
    names: Sequence[str],
    rows: pd.DataFrame | None = None,
    pareto_k: float | None = None,
) -> dict[str, Any]:
    """Return what `BiasFit.diagnostics` says of some parameters, and of what is printed.

    Parameters
    ----------
    idata : DataTree
    names : sequence of str
        The parameters.
    rows : DataFrame, optional
        The rows that have to be known well enough: ``row`` (what each is called), and the interval
        with its Monte Carlo errors and R-hat, as `bayesbias.inference.estimates` has them.
    pareto_k : float, optional
        That of the quick engine, whose draws are independent by construction. R-hat then says
        nothing, and the largest of hundreds passes its limit by chance where draws are few.
    """
    posterior, stats = idata["posterior"].to_dataset()[list(names)], idata["sample_stats"]
    chains, per_chain = posterior.sizes["chain"], posterior.sizes["draw"]
    r_hats, ess = {}, {}
    for name in names:
        values = posterior[name].transpose("chain", "draw", ...).to_numpy()
        r_hats[name], ess[name] = r_hat_and_ess(values.reshape(chains, per_chain, -1))
    # An entry without an R-hat (NaN) is reported as one that does not move.
    still = [name for name in names if np.isnan(r_hats[name]).any()]
    max_r_hat, worst = max((np.nanmax(r_hats[name], initial=0.0), name) for name in names)
    min_ess = min(np.nanmin(ess[name], initial=np.inf) for name in names)
    divergences = int(stats["diverging"].sum()) if "diverging" in stats else 0
    has_r_hat = chains > 1 and per_chain >= _LEAST_DRAWS

    problems = []
    if divergences:
        times = number_of(divergences, "divergent transition")
        problems.append(f"{times}; take more tuning steps")
    if not has_r_hat:
        least_of_all = f"R-hat needs at least two chains of {_LEAST_DRAWS} draws"
        problems.append(f"{least_of_all}, and here are {chains} of {per_chain}; take more draws")
    elif still:
        problems.append(f"some entries of {', '.join(still)} have the same value in every draw")
    if pareto_k is not None:
        if not pareto_k <= MOST_PARETO_K:
            limit = f"it should be at most {MOST_PARETO_K}"
            problems.append(f"Pareto k is {pareto_k:.2f} ({limit}); take the engine nuts")
    elif has_r_hat and max_r_hat > MAX_R_HAT_OF_PARAMETERS:
        limit = f"it should be at most {MAX_R_HAT_OF_PARAMETERS}"
        problems.append(f"R-hat reaches {max_r_hat:.4f} in {worst} ({limit}); take more draws")

    max_r_hat_of_rows = max_mcse = None
    if rows is not None:
        if has_r_hat and rows["r_hat"].notna().any():
            max_r_hat_of_rows = float(rows["r_hat"].max())
            mixed = min(per_chain, ENOUGH_MIXED // chains)
            most = max(MAX_R_HAT, r_hat_by_chance(chains, mixed, len(rows)))
            if max_r_hat_of_rows > most and pareto_k is None:
                row = rows.loc[rows["r_hat"].idxmax(), "row"]
                limit = f"it should be at most {most:.3g}"
                found = f"R-hat reaches {max_r_hat_of_rows:.4f} in the row {row}"
                problems.append(f"{found} ({limit}); take more draws")
        errors = errors_of_ends(rows)
        if errors.notna().any():
            max_mcse = float(errors.max())
            if max_mcse > MAX_ERROR:
                row = rows.loc[errors.idxmax(), "row"]
                limit = f"at most {MAX_ERROR:.0%} is wanted"
                share = f"{100 * max_mcse:.3g}% of the interval"
                found = f"an end of {row} has a Monte Carlo error of {share}"
                problems.append(f"{found} ({limit}); take more draws")
    return {
        "divergences": divergences,
        "max_r_hat": float(max_r_hat) if has_r_hat and np.isfinite(max_r_hat) else None,
        "min_ess_bulk": float(min_ess) if np.isfinite(min_ess) else None,
        "max_r_hat_of_rows": max_r_hat_of_rows,
        "max_mcse": max_mcse,
        "ok": not problems,
        "problems": problems,
    }


def errors_of_ends(rows: pd.DataFrame) -> pd.Series:
    """Return the larger Monte Carlo error of the ends of each interval, as a share of its width.

    It is missing where the interval has no width.

    Examples
    --------
    >>> ends = {"hpdi_low": [-1.0], "hpdi_high": [1.0], "mcse_low": [0.02], "mcse_high": [0.04]}
    >>> errors_of_ends(pd.DataFrame(ends)).tolist()
    [0.02]
    """
    width = rows["hpdi_high"] - rows["hpdi_low"]
    return rows[["mcse_low", "mcse_high"]].max(axis=1) / width.where(width > 0)
