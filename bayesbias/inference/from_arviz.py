"""What is taken from ArviZ, and the only file that knows it: a new version of it is met here."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

LEAST_TO_SMOOTH = 25
"""The draws from which on weights have a tail that can be smoothed: a fifth of them, which are five."""


def loo_of(idata: Any, outcome: str) -> Any:
    """Return the leave-one-out estimate (ELPDData) of a idata that holds the log-likelihood of each row."""
    import arviz

    with warnings.catch_warnings():
        # High Pareto k are part of the result (`pareto_k`, `warning`) and shown wherever it is printed.
        warnings.filterwarnings("ignore", message="Estimated shape parameter of Pareto", category=UserWarning)
        return arviz.loo(idata, var_name=outcome, pointwise=True)


def compared_loo(estimates: Mapping[str, Any]) -> pd.DataFrame:
    """Compare leave-one-out estimates, best first, unrounded."""
    import arviz

    return arviz.compare(dict(estimates), round_to="none")


def power_scaling_of(idata: Any, group: str) -> np.ndarray:
    """Return the sensitivity of the variable ``contrast`` to powers of the prior or the likelihood."""
    import arviz

    return arviz.psense(idata, group=group)["contrast"].to_numpy()


def pareto_smoothed(log_ratio: np.ndarray) -> tuple[np.ndarray, float]:
    """Return smoothed log-weights of importance ratios, and the Pareto k of their tail."""
    import arviz  # noqa: F401 - gives arrays the accessor
    import xarray as xr

    # ArviZ takes the log-likelihood of a left-out observation, which is a log-ratio with the other sign.
    log_weights, k = xr.DataArray(-log_ratio, dims="draw").azstats.psislw(dim="draw")
    return log_weights.to_numpy(), float(k)
