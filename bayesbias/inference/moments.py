r"""Mean and variance of linear quantities given the scales, exactly; nothing is drawn.

Within a component (`bayesbias.inference.components`), with incidence :math:`X`, effect variances :math:`D` and noise variances
:math:`S`, the covariance of the data is :math:`V = X D X^T + S`, and the effects given the data are normal with mean
:math:`D X^T V^{-1} y` and covariance :math:`D - D X^T V^{-1} X D`, the same at every position along the component's factors
(on which deviations are projected). A linear quantity is a sum over components of such effects.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesbias.inference.collapsed import Collapsed
from bayesbias.inference.components import Component, incidence, without_directions
from bayesbias.inference.linear import Linear, Part

_NUMBERS_AT_A_TIME = 4e6
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
    from threadpoolctl import threadpool_limits

    constant, parts = _own_effects(reduced, linear)
    n = len(theta)
    fixed = np.broadcast_to(reduced.constants, (n, len(reduced.constants)))
    var = np.concatenate([np.exp(2 * theta), fixed], axis=1)
    mean = np.broadcast_to(constant, (n, len(constant))).copy()
    variance = np.zeros_like(mean)
    with threadpool_limits(1, user_api="blas"):
        for component in reduced.components:
            if component.effects:
                _add_component(component, reduced, var, parts, mean, variance)
    for part in parts:
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


def _add_component(
    component: Component,
    reduced: Collapsed,
    var: np.ndarray,
    parts: list[Part],
    mean: np.ndarray,
    variance: np.ndarray,
) -> None:
    assert component.data is not None
    shape = component.data.shape[1:]
    m, size, rows = len(component.noise), int(np.prod(shape)), mean.shape[1]
    data = component.data.reshape(m, size)
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
                column.append(k)
                factor.append(_place(reduced, part))
                loads.append(own)
    if not loads:
        return
    used = np.flatnonzero(np.any([load.any(axis=1) for load in loads], axis=0))
    weights = np.stack([load[used] for load in loads])  # (loads, rows, size)
    n_loads, n_used = len(loads), len(used)
    onto = np.matmul(weights.reshape(-1, size), data.T).reshape(n_loads, n_used, m).transpose(0, 2, 1)
    at = np.array(column)
    # The variance of a row is a quadratic form in its loads. Where these are more than the numbers that a row takes from the
    # data, the form is the sum of squares of those; else it is cheaper by the products of loads.
    by_squares = m * size < n_loads
    first, second = np.nonzero(at[:, None] == at[None, :])  # loads of one effect
    products = np.einsum("crs,crs->cr", weights[first], weights[second])
    flat = weights.reshape(n_loads, n_used * size)
    among = None if by_squares else np.matmul(weights.transpose(1, 0, 2), weights.transpose(1, 2, 0))
    step = max(
        1,
        int(
            _NUMBERS_AT_A_TIME
            // max(m * len(component.effects), m * n_used * size if by_squares else n_loads**2, n_used)
        ),
    )
    for start in range(0, len(var), step):
        some = slice(start, min(len(var), start + step))
        x = incidence(component, var[some])
        prior = var[some][:, [effect.variance for effect in component.effects]]
        towards = (x * prior[:, None]).transpose(0, 2, 1)  # D X^T
        total = x @ towards
        total[:, np.arange(m), np.arange(m)] += var[some][:, component.noise]
        inverse = np.linalg.inv(np.linalg.cholesky(total))  # L^-1, small
        lift = np.ones((len(prior), n_loads))
        for place, number in enumerate(factor):
            if number is not None:
                lift[:, place] = np.sqrt(var[some][:, number])
        half = np.matmul(
            inverse, towards.transpose(0, 2, 1)[:, :, at] * lift[:, None, :]
        )  # L^-1 X D, (k, m, loads)
        gain = np.matmul(half.transpose(0, 2, 1), inverse)  # D X^T V^-1
        k = len(prior)
        mean[some, used] += gain.reshape(k, -1) @ onto.reshape(-1, n_used)
        variance[some, used] += (prior[:, at[first]] * lift[:, first] * lift[:, second]) @ products
        if among is None:
            shares = (half.reshape(k * m, n_loads) @ flat).reshape(k, m, n_used, size)
            variance[some, used] -= np.einsum("kmrs,kmrs->kr", shares, shares)
        else:
            covariance = np.matmul(half.transpose(0, 2, 1), half)
            variance[some, used] -= covariance.reshape(k, -1) @ among.reshape(n_used, -1).T


def _place(reduced: Collapsed, part: Part) -> int | None:
    """Return the number of the scale that multiplies a part."""
    if part.factor is None:
        return None
    times = str(reduced.design.spec.parameters[part.name].times)
    before = reduced.scales[: reduced.scales.index(times)]
    return sum(reduced.design.size(name) for name in before) + part.factor


def _add_untouched(reduced: Collapsed, var: np.ndarray, part: Part, variance: np.ndarray) -> None:
    """Add the prior variance of entries that no row touches."""
    design = reduced.design
    untouched = np.ones(design.size(part.name), dtype=bool)
    untouched[design.index[part.name]] = False
    if not untouched.any():
        return
    own = _columns(part.weights, untouched)
    if own.any():
        number = _place(reduced, part)
        lift = 1.0 if number is None else var[:, number, None]
        variance += lift * (var[:, reduced.variance_of[part.name][untouched]] @ (own**2).T)
