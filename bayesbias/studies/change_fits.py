"""Fits of the distances and of their differences, and the draws of mean change that they give.

A connection in which every pair changed by one number has nothing to infer: it is left out of the fit, and
stands among the draws as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.basics import checks
from bayesbias.inference.diagnostics import describe_draws
from bayesbias.inference.estimands import CONTRASTS, ESTIMANDS
from bayesbias.inference.fitting import fit
from bayesbias.inference.posterior import BiasFit
from bayesbias.models.spec import ModelSpec
from bayesbias.studies.construction import EXACT
from bayesbias.tables.change import pairs_by_level
from bayesbias.tables.pair_table import COLUMNS, PairTable

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class ChangesFit:
    """A fit of differences, and the connections of which every difference is one number."""

    fit: BiasFit | None
    exact: Mapping[str, float]


def fit_distances(
    frame: pd.DataFrame, column: str, source: PairTable, spec: ModelSpec, settings: Mapping[str, Any]
) -> BiasFit:
    """Fit the distances before or after debiasing alone, with the table's own coverage."""
    table = frame[list(COLUMNS[:-1])].assign(distance=frame[column])
    return fit(PairTable(table, source.coverage, source.provenance), spec, **settings)


def fit_changes(
    frame: pd.DataFrame, column: str, spec: ModelSpec, settings: Mapping[str, Any], name: str
) -> ChangesFit:
    """Fit the changes; a connection whose changes are all equal is known exactly and not fitted."""
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
    return ChangesFit(fit(PairTable(rest, Coverage({}, {}), {"name": name}), spec, **settings), exact)


def draws_of_changes(
    changes: ChangesFit, pairs: pd.DataFrame, estimand: str, shape: tuple[int, ...]
) -> tuple[list[tuple[str, str, str]], np.ndarray]:
    """Draws of the mean change per (level, name, connection), those known exactly among them."""
    if changes.fit is None:
        keys: list[tuple[str, str, str]] = []
        draws = np.empty((*shape, 0))
    else:
        keys, draws = changes.fit._levels(estimand)
    every = list(pairs_by_level(pairs))
    at = {key: i for i, key in enumerate(keys)}
    columns = [
        draws[..., at[key]] if key in at else np.full(draws.shape[:2], changes.exact[key[2]]) for key in every
    ]
    return every, np.stack(columns, axis=-1)


def draws_of_gaps(
    keys: Sequence[tuple[str, str, str]], draws: np.ndarray
) -> tuple[list[tuple[str, str, str]], np.ndarray]:
    """Turn draws of means into draws of differences between connections, at each level."""
    at = {key: i for i, key in enumerate(keys)}
    names, columns = [], []
    for level, name in dict.fromkeys((level, name) for level, name, _ in keys):
        for a, b in CONTRASTS:
            if (level, name, a) in at and (level, name, b) in at:
                names.append((level, name, f"{a} - {b}"))
                columns.append(draws[..., at[level, name, a]] - draws[..., at[level, name, b]])
    return names, np.stack(columns, axis=-1) if columns else np.empty((*draws.shape[:2], 0))


def described_with_rope(draws: np.ndarray, prob: float, rope: float) -> pd.DataFrame:
    """Describe draws by mean, interval, and the share of them inside the ROPE."""
    checks.positive(rope, "rope")
    frame = describe_draws(draws, prob)
    flat = draws.reshape(-1, draws.shape[-1])
    # A number that is known is known by every draw.
    known = np.ptp(flat, axis=0) == 0
    frame.loc[known, "ess_bulk"], frame.loc[known, "r_hat"] = float(len(flat)), 1.0
    frame.loc[known, "sd"] = 0.0
    frame["p_below_zero"] = (flat < 0).mean(axis=0)
    frame["p_in_rope"] = (np.abs(flat) < rope).mean(axis=0)
    frame["rope"] = rope
    return frame


def chosen_estimands(estimand: str | None) -> tuple[str, ...]:
    """Return the estimand asked for, or all of them."""
    return ESTIMANDS if estimand is None else (checks.choice(estimand, ESTIMANDS, "estimand"),)
