r"""Convergence: R-hat and effective draws of many quantities at once, and their limits.

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
MIN_ESS_PER_CHAIN = 100
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


def diagnose(idata: xr.DataTree, names: Sequence[str], independent: bool = False) -> dict[str, Any]:
    """Return what `BiasFit.diagnostics` says of some parameters.

    Parameters
    ----------
    idata : DataTree
    names : sequence of str
        The parameters.
    independent : bool
        Whether draws are independent by construction, as those of the quick engine, whose Pareto k
        is the check. R-hat then says nothing, and the largest of hundreds passes its limit by
        chance where draws are few.
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
    min_ess, least = min((np.nanmin(ess[name], initial=np.inf), name) for name in names)
    divergences = int(stats["diverging"].sum()) if "diverging" in stats else 0
    has_r_hat = chains > 1 and per_chain >= _LEAST_DRAWS
    enough = MIN_ESS_PER_CHAIN * chains
    problems = []
    if divergences:
        times = number_of(divergences, "divergent transition")
        problems.append(f"{times}; take more tuning steps")
    if not has_r_hat:
        least_of_all = f"R-hat needs at least two chains of {_LEAST_DRAWS} draws"
        problems.append(f"{least_of_all}, and here are {chains} of {per_chain}; take more draws")
    elif still:
        problems.append(f"some entries of {', '.join(still)} have the same value in every draw")
    if has_r_hat and max_r_hat >= MAX_R_HAT and not independent:
        limit = f"it should be below {MAX_R_HAT}"
        problems.append(f"R-hat reaches {max_r_hat:.4f} in {worst} ({limit}); take more draws")
    if min_ess < enough:
        wanted = f"at least {enough} are wanted"
        problems.append(
            f"only {min_ess:.0f} effective draws in {least} ({wanted}); take more draws"
        )
    return {
        "divergences": divergences,
        "max_r_hat": float(max_r_hat) if has_r_hat and np.isfinite(max_r_hat) else None,
        "min_ess_bulk": float(min_ess) if np.isfinite(min_ess) else None,
        "ok": not problems,
        "problems": problems,
    }
