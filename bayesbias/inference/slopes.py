"""Slopes of means and contrasts on covariates of words, and contrasts at given covariates.

Means and contrasts of a model with slopes are those of words with the covariates of the listed
ones: where classes differ in the covariate, slopes are part of them. With the covariate held at one
value on all rows that part is gone. Both are linear in the effects, and so is their difference.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from bayesbias.core import FitError, InputError, checks
from bayesbias.core.conventions import PROB, ROPE
from bayesbias.inference.estimands import asked_quantities, check_asked, no_contrasts, sides_of
from bayesbias.inference.estimates import (
    CONVERGENCE,
    WITHOUT_ROPE,
    beside,
    chosen_columns,
    joined_rows,
    relabeled,
)
from bayesbias.inference.linear import Quantities, joined, weights_of
from bayesbias.models.design import Design

if TYPE_CHECKING:
    import xarray as xr

    from bayesbias.inference.posterior import BiasFit


def contrasts_at(
    fit: BiasFit,
    covariates: Mapping[str, float],
    *,
    prob: float = PROB,
    estimand: str = "population",
    level: str | None = None,
) -> pd.DataFrame:
    """Estimate the contrasts of words and attributes that all have given values of some covariates.

    Parameters
    ----------
    fit : BiasFit
        Of a model with slopes; see `bayesbias.models.slopes_for`.
    covariates : Mapping of str to float
        Covariates of the model and their value on all rows, in the units of the table's column: of
        a centered one, 0 is the mean over the words. Covariates that are not named stay as they
        are.
    prob, level
        As in `BiasFit.contrasts`.
    estimand : {"population", "listed_words"}
        Or one that the model declares.

    Returns
    -------
    DataFrame
        The columns of `BiasFit.contrasts` with ``detail``, but for ``d``.

    Raises
    ------
    InputError
        If the model has no slope on a covariate, or a value is not a finite number.

    Examples
    --------
    >>> import bayesbias as bb
    >>> from bayesbias.models.variants import with_slopes
    >>> table = bb.distance_table("minilm-static", "weat7", controls="none")
    >>> frame = table.frame.assign(length=table.frame["attribute"].str.len() - 5.0)
    >>> fit = bb.fit(
    ...     frame,
    ...     with_slopes("default", "length", ["protected_class"]),
    ...     seed=1,
    ...     draws=200,
    ...     chains=2,
    ... )
    >>> row = contrasts_at(fit, {"length": 0}, level="overall").iloc[0]
    >>> row["contrast"], bool(row["hpdi_low"] < row["mean"] < row["hpdi_high"])
    ('associated - different', True)
    """
    sloped = fit.spec.covariates()
    if not sloped or not covariates:
        raise InputError(
            "expected a model with slopes and values of its covariates",
            where="covariates",
            found=list(covariates),
            valid=sloped,
            hint="bayesbias.models.slopes_for gives a model slopes",
        )
    for name, value in covariates.items():
        checks.choice(name, sloped, "covariates")
        checks.finite(value, f"covariates, {name}")
    check_asked(fit.spec, level, estimand)
    design = fit.ordered
    values = {name: np.full(len(design.y), float(value)) for name, value in covariates.items()}
    held = replace(design, covariates={**design.covariates, **values})
    asked = replace(asked_quantities(held, estimand, True), observed=None).at(level)
    if not asked.keys:
        raise no_contrasts(fit.spec)
    return fit.describe(asked, estimand, "contrast", prob, ROPE)


def slope_draws(fit: BiasFit) -> xr.DataArray:
    """Return draws of all slopes, labeled ``covariate, level, name, of``."""
    parts = []
    for covariate, column, asked in _slopes(fit):
        draws = fit.answer(asked, "population", column).draws.isel(row=fit.order_of(asked))
        names = [covariate] * len(asked.keys)
        parts.append(relabeled(draws.rename({column: "of"}), covariate=names, estimand=None))
    return joined_rows(parts)


def described_slopes(fit: BiasFit, prob: float) -> pd.DataFrame:
    """Return the table of `BiasFit.slopes`."""
    about: Mapping[str, Mapping[str, Any]] = fit.provenance.get("table", {}).get("covariates", {})
    frames = []
    for covariate, column, asked in _slopes(fit):
        scale = float(about.get(covariate, {}).get("scale", 1.0))
        frame = fit.describe(asked, "population", column, prob, ROPE).rename(columns={column: "of"})
        frame = chosen_columns(frame, ("level", "name", "of", *WITHOUT_ROPE, *CONVERGENCE))
        frame.insert(0, "covariate", covariate)
        per_unit = {name: values / scale for name, values in beside(frame, "per_unit").items()}
        frames.append(frame.assign(**per_unit, scale=scale))
    return pd.concat(frames, ignore_index=True)


def _slopes(fit: BiasFit) -> list[tuple[str, str, Quantities]]:
    """Return each covariate with its slopes, those of means and those of contrasts."""
    if not fit.spec.covariates():
        raise FitError(
            f"{fit.spec.label}: expected a model with slopes. bayesbias.models.slopes_for adds them"
        )
    found = []
    for covariate in fit.spec.covariates():
        for column in (fit.spec.results.group, "contrast"):
            asked = slope_quantities(fit.ordered, covariate, column == "contrast")
            if asked.keys:
                found.append((covariate, column, asked))
    if not found:
        raise FitError(f"{fit.spec.label}: expected a covariate that is not zero in all rows")
    return found


def slope_quantities(design: Design, covariate: str, contrasted: bool) -> Quantities:
    """Return the slopes of means or contrasts on a covariate, at each level where they differ.

    A slope is the quantity at covariate 1 minus that at 0. Left out are those that no row with the
    covariate informs, and contrasts that are zero by the form of the model.
    """

    def at(value: float) -> Quantities:
        covariates = {**design.covariates, covariate: np.full(len(design.y), value)}
        return asked_quantities(replace(design, covariates=covariates), "population", contrasted)

    asked = at(1.0)
    both = joined([asked.linear, at(0.0).linear])
    by = [{k: 1.0, k + len(asked.keys): -1.0} for k in range(len(asked.keys))]
    asked = replace(asked, linear=both.combined(weights_of(by, len(both))))
    present, group = design.labels(design.spec.results.group)
    varying = {present[k] for k in set(group[design.covariates[covariate] != 0].tolist())}
    # What each is made of; differences of equal shares cancel but for rounding.
    of_effects = (each.toarray() for each in asked.linear.weights.values())
    weights = np.concatenate([asked.linear.constant[:, None], *of_effects], axis=1).round(12) + 0.0
    some = [
        k
        for k, key in enumerate(asked.keys)
        if set(sides_of(key[2], present) if contrasted else [key[2]]) <= varying
        and weights[k].any()
    ]
    kept, seen = [], set[tuple[str, bytes]]()
    for level in dict.fromkeys(asked.keys[k][0] for k in some):
        here = [k for k in some if asked.keys[k][0] == level]
        what = {(asked.keys[k][2], weights[k].tobytes()) for k in here}
        if not what <= seen:  # else all of them are those of levels before
            kept += here
        seen |= what
    return asked.chosen(kept)
