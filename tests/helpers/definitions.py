"""What a fit answers, straight from the definitions."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import xarray as xr

from bayesbias.inference.posterior import BiasFit
from helpers.seeds import shifted

SETTINGS = {"draws": 200, "tune": 200, "chains": 2, "seed": shifted(3)}


def edited(result: BiasFit, **changes) -> BiasFit:
    """A copy of a fit whose draws were changed in place by a function per parameter: those of no sampler any more."""
    posterior = result.idata["posterior"].to_dataset().load().copy(deep=True)
    for name, change in changes.items():
        change(posterior[name].values)
    idata = result.idata.copy()
    idata["posterior"] = xr.DataTree(posterior)
    sampling = dataclasses.replace(result.sampling, method="edited")
    return BiasFit(idata, result.table, result.spec, result.provenance, sampling)


def brute_hpdi(x: np.ndarray, prob: float) -> tuple[float, float]:
    """The shortest interval between two draws that holds `prob` of them."""
    x = np.sort(x)
    inside = int(np.floor(prob * len(x)))
    best = int(np.argmin(x[inside:] - x[: len(x) - inside]))
    return x[best], x[best + inside]


def fitted(result: BiasFit) -> np.ndarray:
    """The mean of every row under every draw, from labels, shape (draws, rows)."""
    draws, coords = result.parameter_draws(), result.design.coords
    columns = []
    for _, row in result.table.iterrows():
        at = {dim: labels.index(row[dim]) for dim, labels in coords.items()}
        w, k, a = at["protected_word"], at["connection"], at["attribute"]
        if result.spec.name == "additive":
            columns.append(draws["word_mean"][:, w] + draws["connection_mean"][:, k])
        elif result.spec.name == "hierarchical":
            columns.append(draws["word_by_connection"][:, w, k])
        else:
            columns.append(draws["word_by_connection"][:, w, k] + draws["attribute_effect"][:, a])
    return np.stack(columns, axis=1)


def rows_of(result: BiasFit, level: str, name: str, connection: str) -> np.ndarray:
    table = result.table
    mine = (table["connection"] == connection).to_numpy()
    if level == "class":
        mine = mine & (table["protected_class"] == name).to_numpy()
    if level == "word":
        mine = mine & (table["protected_word"] == name).to_numpy()
    return mine


def by_hand(result: BiasFit, estimand: str, level: str, name: str, connection: str) -> np.ndarray:
    """Draws of one mean distance, straight from the definition of the two estimands."""
    mine = rows_of(result, level, name, connection)
    if estimand == "listed_words" or result.spec.name == "additive":
        return fitted(result)[:, mine].mean(axis=1)
    draws, coords = result.parameter_draws(), result.design.coords
    k = coords["connection"].index(connection)
    if level == "overall":
        return draws["connection_mean"][:, k]
    words = result.table.loc[mine, "protected_word"]
    return np.mean(
        [draws["word_by_connection"][:, coords["protected_word"].index(w), k] for w in words],
        axis=0,
    )


def observed(
    result: BiasFit, estimand: str, level: str, name: str, connection: str
) -> float | None:
    """The mean of the listed pairs, which is known."""
    mine = rows_of(result, level, name, connection)
    return result.table["distance"].to_numpy()[mine].mean() if estimand == "listed_words" else None


def assert_described(row, x: np.ndarray, prob: float, known: float | None = None) -> None:
    low, high = brute_hpdi(x, prob)
    assert row.mean == pytest.approx(x.mean(), abs=1e-12)
    if known is not None:
        assert row.observed == pytest.approx(known, abs=1e-12)
    assert row.sd == pytest.approx(x.std(ddof=1), abs=1e-12)
    assert (row.hpdi_low, row.hpdi_high) == pytest.approx((low, high), abs=1e-12)
    assert row.prob == prob


FITS = ["crossed", "hierarchical", "additive"]
