"""Power-scaling: how much the main contrasts change where all priors, or the data, count a little more or less."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayesbias.inference.from_arviz import power_scaling_of
from bayesbias.inference.posterior import BiasFit, kept_with
from bayesbias.inference.prediction import refuse_few_draws
from bayesbias.inference.sensitivity import log_prior_draws, main_contrasts
from bayesbias.models.stretching import stretchable

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["power_scaling"]

_VALUES_AT_A_TIME = 4_000_000  # of the log-likelihood of pairs, which is summed and never held as a whole


def power_scaling(fit: BiasFit) -> pd.DataFrame:
    """Return the power-scaling sensitivity of the main contrasts to all priors together and to the likelihood.

    The posterior is weighted towards one whose priors (or likelihood) are raised to a power near one; the sensitivity is
    how fast its distribution function moves with the binary logarithm of the power (cumulative Jensen-Shannon distance;
    Kallioinen, Paananen, Bürkner & Vehtari 2024, doi:10.1007/s11222-023-10366-5), computed by ArviZ. The priors are those
    with a width of their own, as these authors advise for hierarchical models; the likelihood is that of the pairs given
    all effects.

    Returns
    -------
    DataFrame
        One row per main contrast, as in `BiasFit.prior_sensitivity`: ``level, name, contrast, prior, likelihood``. Above
        0.05 a posterior is called sensitive: to the prior alone where the likelihood says little, to both where they
        contradict each other.

    Raises
    ------
    FitError
        Where the table holds nothing to contrast, and of fewer than 25 draws.

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.distance_table("minilm-static", "religion", controls="none")
    >>> frame = bb.inference.power_scaling(bb.fit(table, "crossed", seed=1, draws=500, pointwise=False))
    >>> list(frame["level"]), bool(frame["likelihood"].min() > frame["prior"].max())
    (['overall', 'class', 'class', 'class'], True)
    """
    return kept_with(fit, "power_scaling", lambda: _made(fit)).copy()


def _made(fit: BiasFit) -> pd.DataFrame:
    import pandas as pd
    import xarray as xr

    refuse_few_draws(fit, "power-scaling")
    design, draws = fit.design.ordered(), fit.draws()
    keys, values = main_contrasts(design, fit.table).of(draws)
    shape = tuple(fit.idata["posterior"].sizes[dim] for dim in ("chain", "draw"))

    def over_draws(one: np.ndarray) -> xr.Dataset:
        return xr.Dataset({"log": (("chain", "draw"), one.reshape(shape))})

    prior = sum(log_prior_draws(design, draws, name) for name in stretchable(fit.spec))
    step = max(1, _VALUES_AT_A_TIME // len(design.y))
    likelihood = np.concatenate(
        [
            design.log_likelihood({name: x[start : start + step] for name, x in draws.items()}).sum(axis=-1)
            for start in range(0, len(values), step)
        ]
    )
    idata = xr.DataTree.from_dict(
        {
            "posterior": xr.Dataset(
                {"contrast": (("chain", "draw", "row"), values.reshape(*shape, len(keys)))}
            ),
            "log_prior": over_draws(np.asarray(prior)),
            "log_likelihood": over_draws(likelihood),
        }
    )
    out = pd.DataFrame(keys, columns=["level", "name", "contrast"])
    for group in ("prior", "likelihood"):
        out[group] = power_scaling_of(idata, group)
    return out
