"""Draws from the priors of a model, and the sensitivity of results to the priors.

Sensitivity is power scaling by importance weights. The draws are weighted toward a posterior whose
priors (or likelihood) are raised to a power near one. The sensitivity is how fast the distribution
of a contrast moves with the binary logarithm of that power (cumulative Jensen-Shannon distance;
Kallioinen, Paananen, Bürkner & Vehtari 2024, *Statistics and Computing* 34:57), computed by ArviZ.
The priors are those whose width is a number, as these authors advise for hierarchical models; the
likelihood is that of the pairs given all effects.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from bayesbias.core import FitError
from bayesbias.inference import estimates
from bayesbias.inference.cross_validation import refuse_few_draws
from bayesbias.inference.diagnostics import MOST_PARETO_K
from bayesbias.inference.estimands import asked_quantities
from bayesbias.inference.linear import Key
from bayesbias.inference.sampling import pareto_smoothed
from bayesbias.models.design import Arrays, Design
from bayesbias.models.distributions import DISTRIBUTIONS
from bayesbias.models.spec import ModelSpec
from bayesbias.wordlists.listfile import pairs

if TYPE_CHECKING:
    import xarray as xr

    from bayesbias.inference.posterior import BiasFit

USUAL_LIST = "religion"
"""The word list that a model is shown on where no table is given.

Three classes, 15 words, 11 stereotypes, 311 controls.
"""
SENSITIVE = 0.05
"""The sensitivity from which on a result depends on the priors (Kallioinen et al., 2024)."""
_PAIRS = 20_000
_MOST_DRAWS = 1000
_VALUES = 400  # of the scales, where each takes a costly factorization


def usual_pairs(spec: ModelSpec) -> pd.DataFrame | None:
    """Return the pairs of a usual list, with any outcome, for a model without data.

    Return None if the model names a column beyond those of pairs of words.
    """
    frame = pd.DataFrame(pairs(USUAL_LIST))
    enough = spec.label_columns() | {spec.results.group} <= set(frame)
    return frame.assign(**{spec.outcome: 1.0}) if enough else None


def prior_answers(
    spec: ModelSpec, frame: pd.DataFrame, contrasted: bool, draws: int, seed: int
) -> dict[Key, np.ndarray]:
    """Draw means or contrasts for new words from the prior, by level, name and label."""
    design = Design.of(spec, frame)
    asked = asked_quantities(design, "population", contrasted)
    values = asked.linear.draws(design.prior_draws(draws, seed))
    return dict(zip(asked.keys, values.T, strict=True))


def predictive_of_pairs(spec: ModelSpec, frame: pd.DataFrame, seed: int) -> Arrays:
    """Draw a single pair of each connection, or other group of the results, from the prior."""
    order = Design.of(spec, frame).order()
    one = (frame if order is None else frame.iloc[order]).drop_duplicates(spec.results.group)
    design = Design.of(spec, one)
    new = design.outcome_draws(design.prior_draws(_PAIRS, seed), seed + 1)
    return {str(name): new[:, place] for place, name in enumerate(one[spec.results.group])}


def prior_sensitivity(fit: BiasFit) -> pd.DataFrame:
    """Measure the sensitivity of the main contrasts to the priors and to the likelihood.

    The main contrasts are all of them overall, and the first of them at each level of several
    words. Where groups are not connections, as in sentiment, the overall mean of each comes first.

    Returns
    -------
    DataFrame
        ``level, name, contrast, prior, likelihood, parameter, diagnosis``. `prior` and `likelihood`
        are the sensitivities; `parameter` is the one whose prior alone moves the contrast most,
        named where some contrast is sensitive. `diagnosis` is empty where `prior` is below 0.05,
        ``strong prior`` where only the prior moves the contrast, ``prior-data conflict`` where both
        do, and ``unknown`` where the importance weights fail (Pareto k above 0.7).

    Raises
    ------
    FitError
        If the table has nothing to contrast, or there are fewer than 25 draws.

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.distance_table("minilm-static", "religion", controls="none")
    >>> frame = bb.fit(table, "crossed", seed=1, draws=500).prior_sensitivity()
    >>> list(frame["level"]), bool(frame["likelihood"].min() > frame["prior"].max())
    (['overall'], True)
    """
    n = refuse_few_draws(fit, "prior_sensitivity")
    step = -(-n // _MOST_DRAWS)
    contrasts = _main_contrasts(fit).isel(draw=slice(None, None, step))
    at = np.arange(n).reshape(fit.shape)[:, ::step].ravel()
    draws = {name: values[at] for name, values in fit.parameter_draws().items()}
    design = fit.design.ordered()
    priors = _log_priors(design, draws)
    labels = estimates.labels_of_rows(contrasts)
    frame = pd.DataFrame({name: labels[name] for name in ("level", "name", "contrast")})
    frame["prior"] = _sensitivity(contrasts, np.sum(list(priors.values()), axis=0), "prior")
    likelihood = design.log_likelihood(draws).sum(axis=-1)
    frame["likelihood"] = _sensitivity(contrasts, likelihood, "likelihood")
    frame["parameter"] = ""
    if (frame["prior"] >= SENSITIVE).any():
        each = np.nan_to_num([_sensitivity(contrasts, log, "prior") for log in priors.values()])
        frame["parameter"] = [list(priors)[k] for k in each.argmax(axis=0)]
    strong = np.where(frame["likelihood"] < SENSITIVE, "strong prior", "prior-data conflict")
    diagnosis = np.where(frame["prior"] >= SENSITIVE, strong, "")
    frame["diagnosis"] = np.where(frame["prior"].isna(), "unknown", diagnosis)
    return frame


def prior_shift(fit: BiasFit) -> tuple[float, float]:
    """Return the shift of the first contrast under priors of twice the weight.

    It is that of its mean, in SDs, and of its SD, as a share.

    To first order in the logarithm of the weight: derivatives of importance-weighted moments are
    covariances with the log prior.
    """
    levels = ("between", "overall") if fit.spec.results.between else ("overall",)
    each = (fit.quantities(level, "population", "contrast") for level in levels)
    asked = next(quantities for quantities in each if quantities.keys)
    widths = _fixed_widths(fit.spec)
    draws = fit.scales_and_effects({*widths, *asked.linear.weights}, values=_VALUES)
    values = asked.linear.draws(draws)[:, fit.order_of(asked)[0]]
    away = (values - values.mean()) / values.std()
    density = np.sum(list(_log_priors(fit.design, draws).values()), axis=0) * np.log(2)
    density -= density.mean()
    return float((away * density).mean()), float((away**2 * density).mean() / 2)


def _log_priors(design: Design, draws: Arrays) -> Arrays:
    """Return the log densities of the priors whose width is a number of the model file."""
    flat = {name: values.reshape(len(values), -1) for name, values in draws.items()}

    def log_prior(name: str) -> np.ndarray:
        parameter = design.spec.parameters[name]
        args = {
            arg: flat[value][:, design.parent[name, arg]] if isinstance(value, str) else value
            for arg, value in parameter.args.items()
        }
        density = DISTRIBUTIONS[parameter.distribution].log_density
        return density(flat[name], **args).sum(axis=1)

    return {name: log_prior(name) for name in _fixed_widths(design.spec)}


def _fixed_widths(spec: ModelSpec) -> list[str]:
    """Return the parameters whose prior depends on no other parameter but its mean."""
    return [
        name
        for name, parameter in spec.parameters.items()
        if not any(isinstance(value, str) for arg, value in parameter.args.items() if arg != "mu")
    ]


def _main_contrasts(fit: BiasFit) -> xr.DataArray:
    spec, parts = fit.spec, []
    group = spec.results.group
    if group != "connection":
        means = fit.table_draws("means", level="overall", estimand="population")
        parts.append(means.rename({group: "contrast"}))
    try:
        overall = fit.table_draws("contrasts", level="overall", estimand="population")
    except FitError:
        if not parts:
            raise
        return parts[0]
    parts.append(overall)
    first = str(overall["contrast"].to_numpy()[0])
    for level, about in spec.results.levels.items():
        if about.by not in spec.units and about.population:
            draws = fit.table_draws("contrasts", level=level, estimand="population")
            parts.append(draws.isel(row=draws["contrast"].to_numpy() == first))
    return estimates.joined_rows(parts)


def _sensitivity(contrasts: xr.DataArray, log_density: np.ndarray, group: str) -> np.ndarray:
    """Return the sensitivity of each contrast to powers of a density; NaN where weights fail."""
    import arviz
    import xarray as xr

    if np.ptp(log_density) == 0:
        return np.zeros(contrasts.sizes["row"])
    if any(pareto_smoothed(by * log_density)[1] > MOST_PARETO_K for by in (-0.01, 0.01)):
        return np.full(contrasts.sizes["row"], np.nan)
    shape = contrasts.shape[:2]
    values = xr.Dataset({"contrast": (("chain", "draw", "row"), contrasts.to_numpy())})
    density = xr.Dataset({"all": (("chain", "draw"), log_density.reshape(shape))})
    idata = xr.DataTree.from_dict({"posterior": values, f"log_{group}": density})
    return arviz.psense(idata, group=group)["contrast"].to_numpy()
