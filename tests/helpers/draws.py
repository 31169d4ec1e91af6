"""Fits with made-up draws, for tests of what is drawn, written and said of a fit and not of the sampling."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayesbias.inference.posterior import BiasFit
from bayesbias.inference.sampling import Sampling
from bayesbias.models.design import Design
from bayesbias.models.spec import load_model
from bayesbias.studies.debiasing import comparison
from bayesbias.studies.debiasing.comparison import Comparison, compare
from bayesbias.tables.pair_table import PairTable


def made_up_fit(
    table: PairTable | pd.DataFrame,
    model: str = "crossed",
    *,
    noise: float = 0.01,
    chains: int = 2,
    draws: int = 200,
    seed: int = 3,
    name: str = "simulated",
) -> BiasFit:
    """Make a fit whose draws lie around the means of the pairs; it looks converged and no sampler has run.

    Each parameter of the mean is the mean of what those before it leave of the pairs, with normal `noise`; what a prior
    is centred on is the mean of all its pairs, and spreads are those of what is left, give or take five percent.
    Each half of a chain has the same noise in an order of its own, so that some hundred draws look converged at any seed.
    """
    frame = table.frame if isinstance(table, PairTable) else table
    design = Design.of(load_model(model), frame)
    spec = design.spec
    rng = np.random.default_rng(seed)
    left = design.y.copy()
    centres = {
        parent: _means(design.y, design.index[parent], design.size(parent))
        for parent in spec.location_parameters()
        if parent not in spec.mu
    }
    for parameter in spec.mu:
        centres[parameter] = _means(left, design.index[parameter], design.size(parameter))
        left = left - centres[parameter][design.index[parameter]]
    variables: dict[str, Any] = {}
    for key, parameter in spec.parameters.items():
        if key in centres:
            values = centres[key] + noise * _normals(rng, chains, draws, design.size(key))
        else:
            values = max(left.std(), 1e-9) * np.exp(
                0.05 * _normals(rng, chains, draws, design.size(key))
            )
        shape = (chains, draws, *design.shape(key))
        variables[key] = (("chain", "draw", *parameter.dims), values.reshape(shape))
    return _fit(frame, spec, design, variables, (chains, draws), seed, name)


def prior_fit(
    table: PairTable | pd.DataFrame,
    model: str = "crossed",
    *,
    seed: int = 4,
    name: str = "simulated",
) -> BiasFit:
    """Make a fit whose draws are those of the prior, far wider than the pairs."""
    frame = table.frame if isinstance(table, PairTable) else table
    design = Design.of(load_model(model), frame)
    values = design.prior_draws(100, seed)
    variables = {
        key: (("chain", "draw", *parameter.dims), values[key].reshape((4, 25, *design.shape(key))))
        for key, parameter in design.spec.parameters.items()
    }
    return _fit(frame, design.spec, design, variables, (4, 25), seed, name)


def made_up_comparison(
    before: PairTable,
    after: Mapping[str, PairTable],
    *,
    chains: int = 2,
    draws: int = 50,
    seed: int = 3,
    **settings: Any,
) -> Comparison:
    """Compare tables with made-up draws in the place of each fit."""

    def fit(
        table: PairTable, model: Any, *, draws: int, chains: int, seed: int, **_: Any
    ) -> BiasFit:
        made = made_up_fit(table, model, draws=draws, chains=chains, seed=seed, name="")
        about = {
            "table": dict(table.provenance),
            "coverage": table.coverage.as_dict(),
            "versions": {},
        }
        return dataclasses.replace(made, provenance={**made.provenance, **about})

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(comparison, "fit", fit)
        return compare(
            before, after, draws=draws, tune=1, chains=chains, seed=seed, progress=False, **settings
        )


def _normals(rng: np.random.Generator, chains: int, draws: int, size: int) -> np.ndarray:
    """Return normals, shape (chains, draws, size), the same in each half of a chain but for their order."""
    half = -(-draws // 2)
    each = rng.normal(size=(half, size))
    halves = [rng.permuted(each, axis=0) for _ in range(2 * chains)]
    whole = [np.concatenate(halves[2 * chain : 2 * chain + 2])[:draws] for chain in range(chains)]
    return np.stack(whole)


def _means(values: np.ndarray, index: np.ndarray, size: int) -> np.ndarray:
    return np.bincount(index, values, size) / np.maximum(np.bincount(index, minlength=size), 1)


def _fit(
    frame: pd.DataFrame,
    spec: Any,
    design: Design,
    variables: dict[str, Any],
    size: tuple[int, int],
    seed: int,
    name: str,
) -> BiasFit:
    import xarray as xr

    dims = {dim for parameter in spec.parameters.values() for dim in parameter.dims}
    coords = {dim: design.coords[dim] for dim in dims} | {
        "chain": range(size[0]),
        "draw": range(size[1]),
    }
    stats = {"diverging": (("chain", "draw"), np.zeros(size, dtype=int))}
    idata = xr.DataTree.from_dict(
        {
            "posterior": xr.Dataset(variables, coords=coords),
            "sample_stats": xr.Dataset(stats),
            "observed_data": xr.Dataset({spec.outcome: ("pair", design.y)}),
        }
    )
    sampler = {
        "name": "made up", "draws": size[1], "tune": 0, "chains": size[0], "seed": seed, "method": "made up",
        "why_not_collapsed": "",
    }  # fmt: skip
    sampling = Sampling("made up", draws=size[1], tune=0, chains=size[0], seed=seed)
    provenance = {"table": {"name": name}, "sampler": sampler, "versions": {"bayesbias": "0"}}
    return BiasFit(idata, frame, spec, provenance, sampling)
