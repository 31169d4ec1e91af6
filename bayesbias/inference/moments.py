r"""Mean and variance of linear quantities given the scales, exactly; nothing is drawn.

Within a component (`bayesbias.inference.components`), with incidence :math:`X`, effect variances :math:`D` and noise variances
:math:`S`, the covariance of the data is :math:`V = X D X^T + S`, and the effects given the data are normal with mean
:math:`D X^T V^{-1} y` and covariance :math:`D - D X^T V^{-1} X D`, the same at every position along the component's factors
(on which deviations are projected). A linear quantity is a sum over components of such effects.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesbias.core.errors import FitError
from bayesbias.inference.collapsed import Collapsed
from bayesbias.inference.components import Component, without_directions
from bayesbias.inference.linear import Linear, Part

_DENSE = 1_000_000  # weights


def conditional_moments(
    reduced: Collapsed, theta: np.ndarray, linear: Linear
) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and variance of linear quantities for given scales.

    Parameters
    ----------
    reduced : Collapsed
    theta : ndarray, shape (n, n_theta)
        Logarithms of the scales.
    linear : Linear
        New effects are left out; see `Linear.new_variance`.

    Returns
    -------
    mean, variance : ndarray, shape (n, rows)
    """
    return Projected.of(reduced, linear).moments(reduced, theta)


@dataclass(frozen=True, eq=False)
class _Loads:
    """What some quantities have in the effects of one component."""

    place: int  # of the component
    rows: np.ndarray  # the quantities
    effect: np.ndarray  # (loads,) of the component
    factor: np.ndarray  # (loads,) the number of the scale that multiplies it, or -1
    weights: np.ndarray  # (loads, rows, size)
    by_rows: bool
    among: np.ndarray  # (rows, loads, loads), where not by rows
    first: np.ndarray  # pairs of loads of one effect
    second: np.ndarray
    products: np.ndarray  # (pairs, rows)


@dataclass(frozen=True, eq=False)
class Projected:
    """Linear quantities turned as the components of a table are; all tables of one layout share it."""

    constant: np.ndarray
    parts: list[Part]
    loads: list[_Loads]

    @classmethod
    def of(cls, reduced: Collapsed, linear: Linear) -> Projected:
        """Turn linear quantities."""
        constant, parts = _own_effects(reduced, linear)
        loadings = [
            _loads_of(reduced, place, parts, len(constant))
            for place, component in enumerate(reduced.components)
            if component.effects
        ]
        return cls(constant, parts, [loads for loads in loadings if loads is not None])

    def moments(self, reduced: Collapsed, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return mean and variance; see `conditional_moments`."""
        n = len(theta)
        fixed = np.broadcast_to(reduced.constants, (n, len(reduced.constants)))
        var = np.concatenate([np.exp(2 * theta), fixed], axis=1)
        mean = np.broadcast_to(self.constant, (n, len(self.constant))).copy()
        variance = np.zeros_like(mean)
        for loads in self.loads:
            _add_component(loads, reduced.components[loads.place], var, mean, variance)
        for part in self.parts:
            _add_untouched(reduced, var, part, variance)
        return mean, variance


def _own_effects(reduced: Collapsed, linear: Linear) -> tuple[np.ndarray, list[Part]]:
    """Return the same quantities by deviations: a parameter centred on another is that one and an effect of its own."""
    from scipy import sparse

    design = reduced.design
    constant = linear.constant.astype(float)
    weights: dict[tuple[str, int | None], sparse.csr_array] = {}
    for part in linear.parts:
        key = (part.name, part.factor)
        weights[key] = weights[key] + part.weights if key in weights else part.weights
    for name in reversed(design.spec.location_parameters()):
        mu = design.spec.parameters[name].args["mu"]
        for key in [key for key in weights if key[0] == name]:
            if isinstance(mu, str):
                up = design.parent[name, "mu"]
                turn = sparse.csr_array(
                    (np.ones(len(up)), (np.arange(len(up)), up)), shape=(len(up), design.size(mu))
                )
                moved = weights[key] @ turn
                weights[mu, None] = weights[mu, None] + moved if (mu, None) in weights else moved
            elif mu:
                constant = constant + weights[key].sum(axis=1) * float(mu)
    # Columns are taken again and again, which of sparse weights costs more than what is done with them.
    return constant, [
        Part(name, factor, own.toarray() if np.prod(own.shape) <= _DENSE else own.tocsc())
        for (name, factor), own in weights.items()
    ]


def _columns(weights: Any, which: np.ndarray) -> np.ndarray:
    taken = weights[:, which]
    return taken if isinstance(taken, np.ndarray) else taken.toarray()


def _loads_of(reduced: Collapsed, place: int, parts: list[Part], rows: int) -> _Loads | None:
    component = reduced.components[place]
    assert component.data is not None
    shape = component.data.shape[1:]
    m, size = len(component.noise), int(np.prod(shape))
    column, factor, loads = [], [], []
    for k, effect in enumerate(component.effects):
        for part in parts:
            if part.name != effect.name:
                continue
            own = _columns(part.weights, effect.entries.ravel()).reshape(rows, *effect.entries.shape)
            rest = tuple(1 + axis for axis, length in enumerate(shape) if length == 1)
            own = own * effect.load
            own = own.sum(axis=rest, keepdims=True) if rest else own
            for axis, basis in component.bases:
                own = without_directions(own, 1 + axis, basis)
            own = own.reshape(rows, size)
            if own.any():
                number = _place(reduced, part)
                column.append(k)
                factor.append(-1 if number is None else number)
                loads.append(own)
    if not loads:
        return None
    used = np.flatnonzero(np.any([load.any(axis=1) for load in loads], axis=0))
    weights = np.stack([load[used] for load in loads])
    at = np.array(column)
    # The variance of a row is a quadratic form in its loads. Where these are more than the numbers that a row takes from the
    # data, the form is the sum of squares of those; else it is cheaper by the products of loads.
    by_rows = m * size < len(loads)
    among = np.zeros((0, 0, 0))
    if not by_rows:
        among = np.matmul(weights.transpose(1, 0, 2), weights.transpose(1, 2, 0))
    first, second = np.nonzero(at[:, None] == at[None, :])
    return _Loads(
        place,
        used,
        at,
        np.array(factor),
        weights,
        by_rows,
        among,
        first,
        second,
        np.einsum("crs,crs->cr", weights[first], weights[second]),
    )


def _add_component(
    loads: _Loads, component: Component, var: np.ndarray, mean: np.ndarray, variance: np.ndarray
) -> None:
    from bayesbias.inference.kernel_moments import add_moments

    assert component.data is not None
    m = len(component.noise)
    data = component.data.reshape(m, -1)
    effects = component.effects
    none = np.zeros((0, 0, 0))
    onto = none if loads.by_rows else np.matmul(loads.weights, data.T).transpose(0, 2, 1)  # (loads, m, rows)
    weights = loads.weights.transpose(1, 2, 0) if loads.by_rows else none
    own_mean, own_variance = (np.zeros((len(var), len(loads.rows))) for _ in range(2))
    positive = add_moments(
        var,
        component.noise.astype(np.int64),
        np.array([effect.variance for effect in effects]),
        np.cumsum([0, *(len(effect.blocks) for effect in effects)]),
        np.concatenate([effect.blocks for effect in effects]),
        np.concatenate([effect.coef for effect in effects]).astype(float),
        np.concatenate([effect.factors for effect in effects]),
        np.ascontiguousarray(data),
        loads.effect,
        loads.factor,
        loads.by_rows,
        np.ascontiguousarray(weights),
        np.ascontiguousarray(onto),
        np.ascontiguousarray(loads.among),
        loads.first,
        loads.second,
        loads.products,
        own_mean,
        own_variance,
    )
    if not positive:
        raise FitError(
            "the arithmetic does not reach as far as some draws: a covariance is not positive definite; a spread is millions of "
            "times as large as the noise"
        )
    mean[:, loads.rows] += own_mean
    variance[:, loads.rows] += own_variance


def _place(reduced: Collapsed, part: Part) -> int | None:
    """Return the number of the scale that multiplies a part."""
    if part.factor is None:
        return None
    times = str(reduced.design.spec.parameters[part.name].times)
    before = reduced.scales[: reduced.scales.index(times)]
    return sum(reduced.design.size(name) for name in before) + part.factor


def _add_untouched(reduced: Collapsed, var: np.ndarray, part: Part, variance: np.ndarray) -> None:
    """Add the prior variance of entries that no row touches."""
    untouched = reduced.design.untouched(part.name)
    if not untouched.any():
        return
    own = _columns(part.weights, untouched)
    if own.any():
        number = _place(reduced, part)
        lift = 1.0 if number is None else var[:, number, None]
        variance += lift * (var[:, reduced.variance_of[part.name][untouched]] @ (own**2).T)
