"""What draws say of a quantity, and whether they can be believed: intervals, effective draws, R-hat, limits."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from bayesbias.basics import checks

if TYPE_CHECKING:
    import pandas as pd

MAX_R_HAT = 1.01
MIN_ESS_PER_CHAIN = 100
MIN_DRAWS_PER_CHAIN = 4  # per chain; R-hat and ESS split each chain in two and need a variance in both halves


def describe_draws(draws: np.ndarray, prob: float) -> pd.DataFrame:
    """Mean, sd, HPDI, effective draws and R-hat of quantities given as draws, shape (chain, draw, n)."""
    import arviz as az
    import pandas as pd
    import xarray as xr

    checks.probability(prob)
    data = xr.Dataset({"x": (("chain", "draw", "row"), draws)})
    with quiet_about_few_draws():
        hpdi = az.hdi(data, prob=prob)["x"].to_numpy()
        ess = az.ess(data, method="bulk")["x"].to_numpy()
        r_hat = az.rhat(data)["x"].to_numpy()
        flat = draws.reshape(-1, draws.shape[-1])
        sd = flat.std(axis=0, ddof=1)
    return pd.DataFrame(
        {
            "mean": flat.mean(axis=0),
            "sd": sd,
            "hpdi_low": hpdi[:, 0],
            "hpdi_high": hpdi[:, 1],
            "prob": prob,
            "ess_bulk": ess,
            "r_hat": r_hat,
        }
    )


def effective_draws(draws: np.ndarray) -> float:
    """Return the smallest bulk ESS of quantities given as draws, shape (chain, draw, n)."""
    import arviz as az
    import xarray as xr

    with quiet_about_few_draws():
        ess = az.ess(xr.Dataset({"x": (("chain", "draw", "row"), draws)}), method="bulk")["x"].to_numpy()
    return float(np.nanmin(ess, initial=np.inf))


@contextlib.contextmanager
def quiet_about_few_draws() -> Iterator[None]:
    """Let few or equal draws have no R-hat without a warning; the result says it."""
    with np.errstate(invalid="ignore", divide="ignore"), warnings.catch_warnings():
        for message in ("Found chain dimension to be longer", "Degrees of freedom <= 0"):
            warnings.filterwarnings("ignore", message=message)
        yield
