"""What draws say of a quantity, and whether they can be believed: intervals, effective draws, R-hat, limits."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bayesbias.core import checks
from bayesbias.core.formatting import number_of
from bayesbias.inference.mixing import r_hat_and_ess

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

MAX_R_HAT = 1.01
MIN_ESS_PER_CHAIN = 100
_BATCHES_PER_CHAIN = 5
_LEAST_BATCH = 20
_LEAST_EFFECTIVE = 5  # draws in a batch, on average
MIN_DRAWS_PER_CHAIN = 4  # per chain; R-hat and ESS split each chain in two and need a variance in both halves


def describe_draws(draws: np.ndarray, prob: float) -> pd.DataFrame:
    """Mean, sd, HPDI, effective draws and R-hat of quantities given as draws, shape (chain, draw, n).

    ``mcse_low`` and ``mcse_high`` are Monte Carlo errors of the ends, and ``mcse_sd`` that of the sd, from batches of draws; an
    interval from few draws has ends that are less sure than those of many, so that errors are rather too large than too small.
    Where draws are too few for batches they are those of so many effective draws of a normal, and so is that of the sd at
    least where the effective ones in a batch are. ``mcse_mean`` is the sd over the root of the effective draws.
    """
    import pandas as pd

    prob = checks.probability(prob)
    with quiet_about_few_draws():
        r_hat, ess = r_hat_and_ess(draws)
        flat = joined_chains(draws)
        sd = flat.std(axis=0, ddof=1)
    low, high = shortest_interval(flat, prob)
    # Where chains are too short to be counted all draws may tell no more than one.
    error_mean = sd / np.sqrt(np.where(np.isnan(ess), 1.0, ess))
    error_sd, error_low, error_high = error_mean / np.sqrt(2), *2 * [error_mean * end_to_mean(prob)]
    batches = batches_of(*draws.shape[:2])
    if batches > 1:
        length = len(flat) // batches
        parts = flat[: batches * length].reshape(batches, length, -1).transpose(1, 0, 2)
        in_batches = parts.std(axis=0, ddof=1).std(axis=0, ddof=1) / np.sqrt(batches)
        # Batches of few effective draws all look narrow, alike: of 800 draws with 40 effective ones by a half.
        few = ess < _LEAST_EFFECTIVE * batches
        error_sd = np.where(few, np.fmax(in_batches, error_sd), in_batches)
        # The ends of a shortest interval close in on their place by the cube root of the draws alone (Kim and Pollard
        # 1990, section 6.3, on the shorth): a little density more at one end moves both.
        error_low, error_high = (
            ends.std(axis=0, ddof=1) / np.cbrt(batches) for ends in shortest_interval(parts, prob)
        )
    return pd.DataFrame(
        {
            "mean": flat.mean(axis=0),
            "sd": sd,
            "hpdi_low": low,
            "hpdi_high": high,
            "mcse_mean": error_mean,
            "mcse_sd": error_sd,
            "mcse_low": error_low,
            "mcse_high": error_high,
            "prob": prob,
            "ess_bulk": ess,
            "r_hat": r_hat,
        }
    )


def batches_of(chains: int, draws: int) -> int:
    """Return into how many batches draws are cut to see how much an end moves; 1 where they are too few."""
    per_chain = min(_BATCHES_PER_CHAIN, draws // _LEAST_BATCH)
    return chains * per_chain if per_chain else 1


def end_to_mean(prob: float) -> float:
    """Return how much larger the error of an end is than that of the mean, of draws of a normal: that of a quantile."""
    from scipy.stats import norm

    tail = (1 - prob) / 2
    return float(np.sqrt(tail * (1 - tail)) / norm.pdf(norm.ppf(tail)))


def error_of_share(share: npt.ArrayLike, ess: npt.ArrayLike) -> np.ndarray:
    """Return the Monte Carlo error of the share of draws with a property, which of few draws is never zero.

    The binomial one of so many effective draws, at a share with half a draw added on either side (Jeffreys).
    """
    share, ess = np.asarray(share, float), np.asarray(ess, float)
    known = np.where(np.isnan(ess), 1.0, ess)
    middle = (share * known + 0.5) / (known + 1)
    return np.sqrt(middle * (1 - middle) / known)


def joined_chains(draws: np.ndarray) -> np.ndarray:
    """Return draws, shape (chain, draw, n), one chain after the other; n may be 0."""
    chains, length, n = draws.shape
    return draws.reshape(chains * length, n)


def shortest_interval(draws: np.ndarray, prob: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of the shortest interval that holds `prob` of the draws, which lie along the first axis.

    The highest posterior density interval of one hump; to the last digit that of ArviZ, without its overhead.
    """
    ordered = np.sort(draws, axis=0)
    # Of few draws, or next to nothing or all of them, it is still between two.
    inside = min(max(1, int(np.floor(prob * len(ordered)))), len(ordered) - 1)
    first = np.argmin(ordered[inside:] - ordered[: len(ordered) - inside], axis=0)
    low, high = (np.take_along_axis(ordered, at[None], axis=0)[0] for at in (first, first + inside))
    return low, high


@contextlib.contextmanager
def quiet_about_few_draws() -> Iterator[None]:
    """Let few or equal draws have no R-hat without a warning; the result says it."""
    with np.errstate(invalid="ignore", divide="ignore"), warnings.catch_warnings():
        for message in ("Found chain dimension to be longer", "Degrees of freedom <= 0"):
            warnings.filterwarnings("ignore", message=message)
        yield


def diagnose(idata: xr.DataTree, names: Sequence[str], independent: bool = False) -> dict[str, Any]:
    """Say whether a sampler can be believed, by some parameters: the answer of `BiasFit.diagnostics`.

    Parameters
    ----------
    idata : DataTree
    names : sequence of str
        Of the parameters.
    independent : bool
        Whether draws are independent by construction, as those of the quick engine, which its Pareto k vouches for. Then
        R-hat says nothing of convergence, and the largest of hundreds passes its limit by chance where draws are few.
    """
    posterior, stats = idata["posterior"].to_dataset()[list(names)], idata["sample_stats"]
    divergences = int(stats["diverging"].sum()) if "diverging" in stats else 0
    r_hat, ess = {}, {}
    with quiet_about_few_draws():
        for name in names:
            values = posterior[name].transpose("chain", "draw", ...).to_numpy()
            r_hat[name], ess[name] = r_hat_and_ess(values.reshape(*values.shape[:2], -1))
    # NaN is no R-hat at all, and would be lost in a maximum; it is said apart.
    highest = {name: float(np.nanmax(v, initial=0.0)) for name, v in r_hat.items()}
    lowest = {name: float(np.nanmin(v, initial=np.inf)) for name, v in ess.items()}
    chains, per_chain = posterior.sizes["chain"], posterior.sizes["draw"]
    known = chains > 1 and per_chain >= MIN_DRAWS_PER_CHAIN
    problems = []
    if divergences:
        problems.append(
            f"{number_of(divergences, 'divergent transition')}: the sampler could not follow the posterior everywhere; "
            "try more tuning steps, or a tighter prior on the spreads"
        )
    if known:
        still = [name for name, v in r_hat.items() if np.isnan(v).any()]
        problems += _problems_of_chains({} if independent else highest, still)
    else:
        problems.append(
            f"R-hat needs at least two chains of {MIN_DRAWS_PER_CHAIN} draws, and here are {chains} of {per_chain}: nothing "
            "shows whether the sampler has converged; take more (four chains are usual)"
        )
    max_r_hat, min_ess = max(highest.values()), min(lowest.values())
    enough = MIN_ESS_PER_CHAIN * chains
    if min_ess < enough:
        worst = min(lowest, key=lambda name: lowest[name])
        problems.append(
            f"only {min_ess:.0f} effective draws in {worst} (at least {enough} are wanted): means and intervals "
            "are noisy; draw longer"
        )
    return {
        "divergences": divergences,
        "max_r_hat": max_r_hat if known and np.isfinite(max_r_hat) else None,
        "min_ess_bulk": min_ess if np.isfinite(min_ess) else None,
        "ok": not problems,
        "problems": problems,
    }


def _problems_of_chains(highest: Mapping[str, float], still: Sequence[str]) -> list[str]:
    problems = []
    if still:
        problems.append(
            f"some entries of {', '.join(still)} have the same value in every draw: the sampler did not move"
        )
    worst = max(highest, key=lambda name: highest[name], default=None)
    if worst is not None and highest[worst] >= MAX_R_HAT:
        problems.append(
            f"R-hat reaches {highest[worst]:.3f} in {worst} (it should stay below {MAX_R_HAT}): the chains do not "
            "agree yet; draw longer"
        )
    return problems
