"""The PyMC model of a design, in the coordinates of its TOML file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.models.design import Design

if TYPE_CHECKING:
    import pymc as pm


def pymc_model(design: Design) -> pm.Model:
    """Make the PyMC model that the TOML file states, pair by pair with all its effects."""
    import pymc as pm

    spec = design.spec
    variables: dict[str, Any] = {}
    with pm.Model(coords=coords_of(design)) as model:

        def make(name: str) -> Any:
            if name not in variables:
                parameter = spec.parameters[name]
                args = {
                    arg: entries_of(design, name, arg, make(value))
                    if isinstance(value, str)
                    else np.float64(value)
                    for arg, value in parameter.args.items()
                }  # a plain number would be rounded to single precision
                distribution = getattr(pm, parameter.distribution)
                variables[name] = distribution(name, **args, dims=parameter.dims or None)
            return variables[name]

        observe(design, {name: make(name) for name in spec.parameters})
    return model


def coords_of(design: Design) -> dict[str, list[str]]:
    """Return the labels of every dimension."""
    return {dim: list(labels) for dim, labels in design.coords.items()}


def entries_of(design: Design, name: str, arg: str, value: Any) -> Any:
    """Return the entries of a parameter that those of another have as an argument, in the shape of the latter."""
    if value.ndim == 0:
        return value
    return value.flatten()[design.parent[name, arg].reshape(design.shape(name))]


def observe(design: Design, variables: Mapping[str, Any], mean: Any = None) -> None:
    """Add the outcome to the model at hand, given all its parameters, or the mean of each row too."""
    import pymc as pm

    spec = design.spec
    if mean is None:
        rows = np.arange(len(design.y))
        mean = sum(term_of(design, variables, name, rows) for name in spec.mu)
    noise = {
        arg: _entries_at(design, variables, value, slice(None)) if isinstance(value, str) else value
        for arg, value in spec.noise.items()
    }
    getattr(pm, spec.likelihood)(spec.outcome, mu=mean, **noise, observed=design.y)


def term_of(design: Design, variables: Mapping[str, Any], name: str, rows: np.ndarray) -> Any:
    """Return a term of the mean in some rows, times its factor, its fact, and whether they have it."""
    times, lever = design.spec.parameters[name].times, design.lever(name, rows)
    value = _entries_at(design, variables, name, rows)
    if times is not None:
        value = _entries_at(design, variables, times, rows) * value
    return value if lever is None else value * lever


def _entries_at(design: Design, variables: Mapping[str, Any], name: str, rows: Any) -> Any:
    variable = variables[name]
    return variable.flatten()[design.index[name][rows]] if variable.ndim else variable
