"""Fits of the distances and of their differences, and the draws of mean change that they give.

A connection in which every pair changed by one number has nothing to infer: it is left out of the fit, and
stands among the draws as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.core import checks
from bayesbias.inference.estimands import ESTIMANDS
from bayesbias.inference.estimates import (
    estimates,
    joined_chains,
    joined_rows,
    keys_of_rows,
    labelled_draws,
)
from bayesbias.inference.fitting import fit
from bayesbias.inference.posterior import BiasFit
from bayesbias.models.spec import ModelSpec
from bayesbias.studies.debiasing.construction import EXACT
from bayesbias.tables.change import JOINED, pairs_by_level
from bayesbias.tables.pair_table import COLUMNS, PairTable

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

NO_LEVELS: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, eq=False, repr=False)
class ChangesFit:
    """A fit of differences, and the connections of which every difference is one number."""

    fit: BiasFit | None
    exact: Mapping[str, float]

    def __repr__(self) -> str:
        known = ", ".join(f"{name} {value:+.3f}" for name, value in self.exact.items())
        fitted = "no fit" if self.fit is None else f"a fit of {len(self.fit.table):,} pairs"
        return f"ChangesFit: {fitted}" + (f"; known exactly: {known}" if known else "")


def fit_distances(
    frame: pd.DataFrame, column: str, source: PairTable, spec: ModelSpec, settings: Mapping[str, Any]
) -> BiasFit:
    """Fit the distances before or after debiasing alone, with the table's own coverage."""
    own = [name for name in frame.columns if name not in (*COLUMNS, *JOINED)]
    table = frame[list(COLUMNS[:-1])].assign(distance=frame[column], **{name: frame[name] for name in own})
    return fit(PairTable(table, source.coverage, source.provenance), spec, **settings)


def fit_changes(
    frame: pd.DataFrame,
    column: str,
    spec: ModelSpec,
    settings: Mapping[str, Any],
    name: str,
    covariates: Mapping[str, Any] | None = None,
) -> ChangesFit:
    """Fit the changes; a connection whose changes are all equal is known exactly and not fitted.

    `covariates` is what the provenance of the original says of its covariates.
    """
    from bayesbias.tables.coverage import Coverage

    exact = {}
    for connection, part in frame.groupby("connection", observed=True, sort=False)[column]:
        if np.ptp(part.to_numpy()) <= EXACT:
            middle = float(part.mean())
            exact[str(connection)] = 0.0 if abs(middle) <= EXACT else middle
    rest = frame[~frame["connection"].isin(list(exact))].reset_index(drop=True)
    if rest.empty:
        return ChangesFit(None, exact)
    rest["connection"] = rest["connection"].cat.remove_unused_categories()
    about = {"name": name, "repeats": "keep", **({"covariates": dict(covariates)} if covariates else {})}
    return ChangesFit(fit(PairTable(rest, Coverage({}, {}), about), spec, **settings), exact)


def draws_of_changes(
    changes: ChangesFit,
    pairs: pd.DataFrame,
    estimand: str,
    shape: tuple[int, ...],
    levels: Mapping[str, str] = NO_LEVELS,
) -> xr.DataArray:
    """Draws of the mean change, labelled ``level, name, connection, estimand``, those known exactly among them.

    Overall, and at levels of the model: `levels` says by which column each goes.
    """
    at: dict[tuple[str, ...], int] = {}
    if changes.fit is not None:
        drawn = [
            changes.fit.draws_of("means", level=level, estimand=estimand) for level in ("overall", *levels)
        ]
        means = joined_rows(drawn)
        at = {key: i for i, key in enumerate(keys_of_rows(means, "level", "name", "connection"))}
        draws = means.to_numpy()
        shape = draws.shape[:2]
    keys = list(pairs_by_level(pairs, levels))
    columns = [draws[..., at[key]] if key in at else np.full(shape, changes.exact[key[2]]) for key in keys]
    places, names, connections = zip(*keys, strict=True)
    return labelled_draws(
        np.stack(columns, axis=-1),
        {"level": places, "name": names, "connection": connections, "estimand": estimand},
    )


def described_changes(draws: xr.DataArray, prob: float, rope: float) -> pd.DataFrame:
    """Return `estimates`; a number that is known is known by every draw."""
    frame = estimates(draws, prob, rope)
    flat = joined_chains(draws.to_numpy())
    known = np.ptp(flat, axis=0) == 0
    frame.loc[known, "ess_bulk"], frame.loc[known, "r_hat"] = float(len(flat)), 1.0
    frame.loc[known, ["sd", *(name for name in frame if name.startswith("mcse_"))]] = 0.0
    return frame


def chosen_estimands(estimand: str | None) -> tuple[str, ...]:
    """Return the estimand asked for, or all of them."""
    return ESTIMANDS if estimand is None else (checks.choice(estimand, ESTIMANDS, "estimand"),)
