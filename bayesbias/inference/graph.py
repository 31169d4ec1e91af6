"""The PyMC model of a design, in the coordinates of its TOML file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.models.design import Design

if TYPE_CHECKING:
    import pymc as pm

# Fewest rows that a sum of terms is worth being looked up for.
_ROWS_A_CELL = 4


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
    """Return a term of the mean in some rows, times its factor, its covariate, and whether they have it."""
    times, lever = design.spec.parameters[name].times, design.lever(name, rows)
    value = _entries_at(design, variables, name, rows)
    if times is not None:
        value = _entries_at(design, variables, times, rows) * value
    return value if lever is None else value * lever


def _entries_at(design: Design, variables: Mapping[str, Any], name: str, rows: Any) -> Any:
    variable = variables[name]
    return variable.flatten()[design.index[name][rows]] if variable.ndim else variable


def mean_of_rows(design: Design, values: Mapping[str, Any]) -> Any:
    """Return the mean of each row: terms that few rows tell apart are added up there, and looked up once."""
    groups: list[tuple[list[str], np.ndarray]] = []  # terms, and their cell of each row
    for name in design.spec.mu:
        times, lever = design.spec.parameters[name].times, design.lever(name)
        columns = [design.index[name], *([] if times is None else [design.index[times]])]
        columns += [] if lever is None else [np.unique(lever, return_inverse=True)[1]]
        for place, (terms, cells) in enumerate(groups):
            joint = np.unique(np.stack([cells, *columns]), axis=1, return_inverse=True)[1].ravel()
            if joint.max() < len(design.y) / _ROWS_A_CELL:
                groups[place] = [*terms, name], joint
                break
        else:
            groups.append(([name], np.unique(np.stack(columns), axis=1, return_inverse=True)[1].ravel()))
    mean: Any = 0.0
    for terms, cells in groups:
        rows = np.unique(cells, return_index=True)[1]
        total = sum(term_of(design, values, name, rows) for name in terms)
        mean = mean + (total[cells] if total.ndim else total)
    return mean


def left_out(design: Design, name: str) -> np.ndarray:
    """Return which entries of an effect are drawn after all else, from their prior: no row says anything of them."""
    parameter = design.spec.parameters[name]
    alone = not any(name in other.args.values() for other in design.spec.parameters.values())
    around_number = design.spec.is_random(name) and not isinstance(parameter.args["mu"], str)
    if alone and around_number and parameter.distribution == "Normal":
        return design.untouched(name)
    return np.zeros(design.size(name), dtype=bool)
