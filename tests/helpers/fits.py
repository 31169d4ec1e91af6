"""Fits with made-up draws: what a result says is tested without a sampler."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from bayesbias.inference.posterior import BiasFit
from bayesbias.inference.sampling import Sampling
from bayesbias.models.design import Design
from bayesbias.models.spec import ModelSpec, load_model

WORDS = {"x": ("x0", "x1", "x2"), "y": ("y0", "y1", "y2")}
ATTRIBUTES = {"x": ("p0", "p1", "p2"), "y": ("q0", "q1", "q2")}
CONTROLS = {"human": ("h0", "h1"), "neutral": ("n0", "n1")}
COLUMNS = [
    "protected_word",
    "protected_class",
    "attribute",
    "attribute_class",
    "connection",
    "distance",
]


def pairs(
    mean: Mapping[str, float] | None = None, noise: float = 0.02, seed: int = 0
) -> pd.DataFrame:
    """Two classes of three words, three stereotypes each, and control words; distances around a mean per connection."""
    mean = mean or dict.fromkeys(("associated", "different", "human", "neutral"), 0.9)
    rng = np.random.default_rng(seed)
    rows = [
        (word, own, attribute, kind, connection, mean[connection] + rng.normal(0, noise))
        for own, words in WORDS.items()
        for word in words
        for kind, listed in {**ATTRIBUTES, **CONTROLS}.items()
        for attribute in listed
        if (
            connection := kind if kind in CONTROLS else "associated" if kind == own else "different"
        )
        in mean
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def made_up(
    table: pd.DataFrame,
    model: str | ModelSpec = "crossed",
    values: Mapping[str, Any] | None = None,
    sd: float = 0.005,
    *,
    apart: float = 0.0,
    name: str = "made up",
    coverage: Mapping[str, Any] | None = None,
    seed: int = 0,
) -> BiasFit:
    """Return a fit whose draws lie independently around given values.

    Parameters
    ----------
    values : mapping of str to array_like or callable
        The mean of a parameter, in the shape of its entries, or a function of the labels of each entry; zero by
        default.
    apart : float
        How far the chains lie from each other: with more than none they have not converged.
    """
    spec = load_model(model)
    design = Design.of(spec, table)
    rng = np.random.default_rng(seed)
    chains, draws = 4, 1000
    variables: dict[str, Any] = {}
    for parameter, about in spec.parameters.items():
        labels = [design.coords[dim] for dim in about.dims]
        given = (values or {}).get(parameter, 0.0)
        shape = tuple(map(len, labels))
        centre = np.empty(shape)
        for entry in np.ndindex(shape):
            own = tuple(labels[k][i] for k, i in enumerate(entry))
            centre[entry] = given(*own) if callable(given) else np.broadcast_to(given, shape)[entry]
        sample = centre + rng.normal(0, sd, (chains, draws, *shape))
        sample += apart * np.arange(chains).reshape(chains, *[1] * (sample.ndim - 1))
        if about.positive:
            sample = np.maximum(np.abs(sample), 1e-9)
        variables[parameter] = (
            ("chain", "draw", *(f"{parameter}_{dim}" for dim in about.dims)),
            sample,
        )
    idata = xr.DataTree.from_dict(
        {
            "posterior": xr.Dataset(variables),
            "sample_stats": xr.Dataset(
                {"diverging": (("chain", "draw"), np.zeros((chains, draws), bool))}
            ),
        }
    )
    provenance = {
        "table": {"name": name},
        "coverage": dict(coverage or {}),
        "model": {"name": spec.name, "sha256": spec.sha256},
        "sampler": {
            "name": "made up",
            "draws": draws,
            "tune": 1,
            "chains": chains,
            "seed": seed,
            "target_accept": 0.9,
        },
        "versions": {},
        "timing": {},
    }
    sampling = Sampling("made up", draws=draws, tune=1, chains=chains, seed=seed)
    return BiasFit(idata, table, spec, provenance, sampling)
