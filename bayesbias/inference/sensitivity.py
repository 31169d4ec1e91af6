"""How far results depend on the priors: power scaling by importance weights.

The draws are weighted toward a posterior whose priors (or likelihood) are raised to a power near one. The sensitivity is how fast
the distribution of a contrast moves with the binary logarithm of that power (cumulative Jensen-Shannon distance; Kallioinen,
Paananen, Bürkner & Vehtari 2024, *Statistics and Computing* 34:57), computed by ArviZ. The priors are those with a width of their
own, as these authors advise for hierarchical models; the likelihood is that of the pairs given all effects.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from bayesbias.core.errors import FitError
from bayesbias.inference.cross_validation import LEAST_TO_SMOOTH, pareto_smoothed, power_scaling_of
from bayesbias.inference.estimands import (
    contrast_rows,
    contrasted_groups,
    mean_rows,
    no_contrasts,
    times_of,
)
from bayesbias.inference.linear import Linear, joined
from bayesbias.models.design import Design
from bayesbias.models.distributions import DISTRIBUTIONS

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from bayesbias.inference.posterior import BiasFit

SENSITIVE = 0.05
"""The sensitivity from which on a result is said to depend on the priors, as in Kallioinen et al. (2024)."""
MOST_PARETO_K = 0.7
_MOST_DRAWS = 1000


def prior_sensitivity(fit: BiasFit) -> pd.DataFrame:
    """Measure the sensitivity of the main contrasts to the priors and to the likelihood.

    The main contrasts are all of them overall, and the first of them at each level of several words. Where groups are not
    connections, as in sentiment, the overall mean of each comes first.

    Returns
    -------
    DataFrame
        ``level, name, contrast, prior, likelihood, parameter, diagnosis``. `prior` and `likelihood` are the sensitivities;
        `parameter` is the one whose prior alone moves the contrast most. `diagnosis` is empty where `prior` is below 0.05,
        ``strong prior`` where only the prior moves the contrast, ``prior-data conflict`` where both do, and ``unknown``
        where the importance weights fail (Pareto k above 0.7).

    Raises
    ------
    FitError
        If the table has nothing to contrast, or there are fewer than 25 draws.

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.distance_table("minilm-static", "religion", controls="none")
    >>> frame = bb.fit(table, "crossed", seed=1, draws=500, pointwise=False).prior_sensitivity()
    >>> list(frame["level"]), bool(frame["likelihood"].min() > frame["prior"].max())
    (['overall', 'class', 'class', 'class'], True)
    """
    import pandas as pd
    import xarray as xr

    sizes = fit.idata["posterior"].sizes
    if sizes["chain"] * sizes["draw"] < LEAST_TO_SMOOTH:
        raise FitError(f"prior sensitivity needs {LEAST_TO_SMOOTH} draws or more, of all chains")
    design, table = fit.in_order
    keys, contrasts = _main_contrasts(design, table, fit)
    step = -(-sizes["chain"] * sizes["draw"] // _MOST_DRAWS)
    draws = {
        name: values.reshape(sizes["chain"], sizes["draw"], *values.shape[1:])[:, ::step].reshape(
            -1, *values.shape[1:]
        )
        for name, values in fit.draws().items()
    }
    values = contrasts.draws(draws, times_of(design)).reshape(sizes["chain"], -1, len(keys))
    # A width that is a number of the model file, not a parameter.
    names = [
        name
        for name, parameter in design.spec.parameters.items()
        if not any(isinstance(value, str) for arg, value in parameter.args.items() if arg != "mu")
    ]
    priors = {name: log_prior_draws(design, draws, name) for name in names}
    likelihood = design.log_likelihood(draws).sum(axis=-1)

    def sensitivity(log: Mapping[str, np.ndarray], group: str) -> np.ndarray:
        total = np.sum(list(log.values()), axis=0)
        if np.ptp(total) == 0:
            return np.zeros(len(keys))
        if max(pareto_smoothed(by * total)[1] for by in (-0.01, 0.01)) > MOST_PARETO_K:
            return np.full(len(keys), np.nan)
        shape = values.shape[:2]
        return power_scaling_of(
            xr.DataTree.from_dict(
                {
                    "posterior": xr.Dataset({"contrast": (("chain", "draw", "row"), values)}),
                    f"log_{group}": xr.Dataset({"all": (("chain", "draw"), total.reshape(shape))}),
                }
            ),
            group,
        )

    frame = pd.DataFrame(keys, columns=["level", "name", "contrast"])
    frame["prior"] = sensitivity(priors, "prior")
    frame["likelihood"] = sensitivity({"all": likelihood}, "likelihood")
    frame["parameter"] = ""
    if (frame["prior"] >= SENSITIVE).any():
        each = np.nan_to_num([sensitivity({name: log}, "prior") for name, log in priors.items()])
        frame["parameter"] = [names[k] for k in each.argmax(axis=0)]
    strong = np.where(frame["likelihood"] < SENSITIVE, "strong prior", "prior-data conflict")
    frame["diagnosis"] = np.where(
        frame["prior"].isna(), "unknown", np.where(frame["prior"] >= SENSITIVE, strong, "")
    )
    return frame


def _main_contrasts(
    design: Design, table: pd.DataFrame, fit: BiasFit
) -> tuple[list[tuple[str, str, str]], Linear]:
    """Return keys of the main contrasts, and these as linear functions of the effects."""
    spec = design.spec
    levels = {
        name: level
        for name, level in spec.results.levels.items()
        if not set(spec.units) & {level.by}
    }
    some = replace(design, spec=replace(spec, results=replace(spec.results, levels=levels)))
    group = spec.results.group
    means = mean_rows(some, table, "population")
    known = contrast_rows(means, contrasted_groups(group, fit.table[group].astype(str)))
    keys, taken = [], []
    if group != "connection":
        overall = [k for k, key in enumerate(means.keys) if key[0] == "overall"]
        keys += [means.keys[k] for k in overall]
        taken.append(means.linear.taken(overall))
    if known.keys:
        first = known.keys[0][2]
        main = [k for k, key in enumerate(known.keys) if key[0] == "overall" or key[2] == first]
        main = [main[k] for k in fit.order_of(known.chosen(main))]
        keys += [known.keys[k] for k in main]
        taken.append(known.linear.taken(main))
    if not taken:
        raise no_contrasts(spec)
    return keys, joined(taken)


def log_prior_draws(design: Design, draws: Mapping[str, np.ndarray], name: str) -> np.ndarray:
    """Return the log prior density of all entries of a parameter, given its parents, shape (draws,)."""
    parameter = design.spec.parameters[name]
    args = {
        arg: draws[value].reshape(len(draws[value]), -1)[:, design.parent[name, arg]]
        if isinstance(value, str)
        else value
        for arg, value in parameter.args.items()
    }
    density = DISTRIBUTIONS[parameter.distribution].log_density
    return density(draws[name].reshape(len(draws[name]), -1), **args).sum(axis=1)
