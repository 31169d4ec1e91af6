r"""Quantities that are linear in the effects of a model, given its scales: means, contrasts, new words.

Every mean and contrast of a normal model is such a quantity. So its posterior is a mixture of
normals over the draws of the scales, and nothing has to be drawn. Within a component
(`bayesbias.inference.likelihood`), with incidence X, effect variances D and noise variances S, the
data have covariance :math:`V = X D X^T + S`, and the effects given the data are normal with mean
:math:`D X^T V^{-1} y` and covariance :math:`D - D X^T V^{-1} X D`, the same at every position along
the component's factors. A linear quantity is a sum over components of such effects.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bayesbias.core.errors import FitError
from bayesbias.inference.likelihood import Collapsed, covariances, without_directions

_DENSE = 1_000_000  # weights
_NUMBERS_AT_A_TIME = 4_000_000


@dataclass(frozen=True, eq=False)
class Part:
    """Some entries of one parameter, weighed for each row.

    Attributes
    ----------
    name : str
    weights : scipy.sparse.csr_array, shape (rows, entries)
    """

    name: str
    weights: Any


@dataclass(frozen=True, eq=False)
class Fresh:
    """Effects of a new word, attribute or pair: normal, with the standard deviation that the model gives them.

    Attributes
    ----------
    spread : str or float
        The parameter that is their standard deviation, or a number.
    entries : ndarray of int, shape (cells,)
        The flat entry of `spread` for each of the new effects.
    weights : ndarray, shape (rows, cells)
        Weights of the new effects; of `Linear.apart` their squares.
    """

    spread: str | float
    entries: np.ndarray
    weights: np.ndarray


@dataclass(frozen=True, eq=False)
class Linear:
    """Some quantities, one a row.

    Attributes
    ----------
    constant : ndarray, shape (rows,)
    parts : tuple of Part
    shared : tuple of Fresh
        New effects that rows of one table share (a new word), so that they cancel in a difference.
    apart : tuple of Fresh
        New effects of each row alone (attributes, noise), by the squares of their weights.
    """

    constant: np.ndarray
    parts: tuple[Part, ...]
    shared: tuple[Fresh, ...] = ()
    apart: tuple[Fresh, ...] = ()

    def __len__(self) -> int:
        return len(self.constant)

    def taken(self, rows: Sequence[int] | np.ndarray) -> "Linear":
        """Return some rows."""
        at = np.asarray(rows, dtype=np.int64)
        groups: list[Any] = [
            tuple(replace(each, weights=each.weights[at]) for each in group)
            for group in (self.parts, self.shared, self.apart)
        ]
        return Linear(self.constant[at], *groups)

    def minus(self, other: "Linear") -> "Linear":
        """Return the differences to the rows of another of the same table."""
        groups: list[Any] = [
            tuple(
                replace(a, weights=a.weights + sign * b.weights)
                for a, b in zip(getattr(self, name), getattr(other, name), strict=True)
            )
            for name, sign in (("parts", -1), ("shared", -1), ("apart", 1))
        ]
        return Linear(self.constant - other.constant, *groups)

    def draws(self, draws: Mapping[str, np.ndarray]) -> np.ndarray:
        """Return the quantities for draws of the parameters, shape (n, rows), new effects at their mean of zero."""
        n = len(next(iter(draws.values())))
        out = np.broadcast_to(self.constant, (n, len(self))).copy()
        for part in self.parts:
            out += (part.weights @ draws[part.name].reshape(n, -1).T).T
        return out

    def new_variance(self, draws: Mapping[str, np.ndarray]) -> np.ndarray:
        """Return the variance that new effects add, for given values of the scales, shape (n or 1, rows)."""
        out = np.zeros((1, len(self)))
        for squared, group in ((False, self.shared), (True, self.apart)):
            for new in group:
                weights = new.weights if squared else new.weights**2
                if isinstance(new.spread, str):
                    values = draws[new.spread]
                    cells = values.reshape(len(values), -1)[:, new.entries] ** 2
                else:
                    cells = np.full((1, len(new.entries)), float(new.spread) ** 2)
                out = out + cells @ weights.T
        return out


def joined(tables: Sequence[Linear]) -> Linear:
    """Return the rows of some tables of the same model, one after the other."""
    from scipy import sparse

    constant = np.concatenate([np.zeros(0), *(table.constant for table in tables)])
    starts = np.cumsum([0, *(len(table) for table in tables)])
    weights: dict[str, list[Any]] = {}
    for place, table in enumerate(tables):
        for part in table.parts:
            rows = weights.setdefault(
                part.name, [sparse.csr_array((len(own), part.weights.shape[1])) for own in tables]
            )
            rows[place] = rows[place] + part.weights
    parts = tuple(Part(name, sparse.vstack(rows, format="csr")) for name, rows in weights.items())

    def fresh(group: str) -> tuple[Fresh, ...]:
        out: dict[Any, Fresh] = {}
        for place, table in enumerate(tables):
            for new in getattr(table, group):
                none = np.zeros((len(constant), new.weights.shape[1]))
                its = out.setdefault(
                    (new.spread, new.entries.tobytes()), replace(new, weights=none)
                )
                its.weights[starts[place] : starts[place + 1]] += new.weights
        return tuple(out.values())

    return Linear(constant, parts, fresh("shared"), fresh("apart"))


@dataclass(frozen=True, eq=False)
class _Loads:
    """What some quantities have in the effects of one component."""

    place: int  # of the component
    rows: np.ndarray  # the quantities
    effect: np.ndarray  # (loads,) of the component
    weights: np.ndarray  # (loads, rows, positions)


@dataclass(frozen=True, eq=False)
class Projected:
    """Linear quantities turned as the components of a table are; all tables of the same labels share it."""

    constant: np.ndarray
    parts: list[Part]
    loads: list[_Loads]

    @classmethod
    def of(cls, reduced: Collapsed, linear: Linear) -> "Projected":
        """Turn linear quantities."""
        from scipy import sparse

        design = reduced.design
        constant, weights = (
            linear.constant.astype(float),
            {part.name: part.weights for part in linear.parts},
        )
        # A parameter centered on another is that one and an effect of its own.
        for name in reversed(design.spec.location_parameters()):
            mu = design.spec.parameters[name].args["mu"]
            if name not in weights:
                continue
            if isinstance(mu, str):
                up = design.parent[name, "mu"]
                turn = sparse.csr_array(
                    (np.ones(len(up)), (np.arange(len(up)), up)), shape=(len(up), design.size(mu))
                )
                moved = weights[name] @ turn
                weights[mu] = weights[mu] + moved if mu in weights else moved
            elif mu:
                constant = constant + weights[name].sum(axis=1) * float(mu)
        # Columns are taken again and again, which of sparse weights costs more than what is done with them.
        parts = [
            Part(name, own.toarray() if np.prod(own.shape) <= _DENSE else own.tocsc())
            for name, own in weights.items()
        ]
        loads = [
            _loads_of(reduced, place, parts, len(constant))
            for place in range(len(reduced.components))
        ]
        return cls(constant, parts, [each for each in loads if each is not None])

    def moments(self, reduced: Collapsed, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return mean and variance, shape (n, rows), for log scales of shape (n, n_theta); new effects are left out."""
        mean = np.broadcast_to(self.constant, (len(theta), len(self.constant))).copy()
        variance = np.zeros_like(mean)
        for part in self.parts:
            untouched = reduced.design.untouched(part.name)  # which keeps its prior
            own = _columns(part.weights, untouched)
            if own.any():
                var = reduced.variances_at(theta)[:, reduced.variance_of[part.name][untouched]]
                variance += var @ (own**2).T
        for loads in self.loads:
            size = reduced.components[loads.place].incidence.size + len(loads.effect) ** 2
            step = max(1, _NUMBERS_AT_A_TIME // size)
            for start in range(0, len(theta), step):
                some = slice(start, start + step)
                _add_moments(loads, reduced, theta[some], mean[some], variance[some])
        return mean, variance


def conditional_moments(
    reduced: Collapsed, theta: np.ndarray, linear: Linear
) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and variance of linear quantities, shape (n, rows), for given log scales (n, n_theta)."""
    return Projected.of(reduced, linear).moments(reduced, theta)


def _columns(weights: Any, which: np.ndarray) -> np.ndarray:
    taken = weights[:, which]
    return taken if isinstance(taken, np.ndarray) else taken.toarray()


def _loads_of(reduced: Collapsed, place: int, parts: Sequence[Part], rows: int) -> _Loads | None:
    component = reduced.components[place]
    if component.data is None:
        return None
    shape = component.data.shape[1:]
    rest = tuple(1 + axis for axis, length in enumerate(shape) if length == 1)
    effects, loads = [], []
    for number, effect in enumerate(component.effects):
        for part in parts:
            if part.name != effect.name:
                continue
            own = _columns(part.weights, effect.entries.ravel()).reshape(
                rows, *effect.entries.shape
            )
            own = own * effect.load
            own = own.sum(axis=rest, keepdims=True) if rest else own
            for axis, basis in component.bases:
                own = without_directions(own, 1 + axis, basis)
            if own.any():
                effects.append(number)
                loads.append(own.reshape(rows, -1))
    if not loads:
        return None
    weights = np.stack(loads)
    used = np.flatnonzero(weights.any(axis=(0, 2)))
    return _Loads(place, used, np.array(effects), weights[:, used])


def _add_moments(
    loads: _Loads, reduced: Collapsed, theta: np.ndarray, mean: np.ndarray, variance: np.ndarray
) -> None:
    """Add what one component contributes to mean and variance."""
    component, var = reduced.components[loads.place], reduced.variances_at(theta)
    assert component.data is not None
    n, (m, _) = len(var), component.incidence.shape
    data, weights = component.data.reshape(m, -1), loads.weights
    prior = var[:, component.variances]
    try:
        lower = np.linalg.cholesky(covariances(component, var[:, component.noise], prior))
    except np.linalg.LinAlgError:
        raise FitError(
            "a covariance is not positive definite in floating point: a standard deviation is millions of times the noise"
        ) from None
    prior = prior[:, loads.effect]
    # L^-1 X D, for V = L L'.
    inverse = np.linalg.inv(lower)
    half = inverse @ (component.incidence[:, loads.effect] * prior[:, None])
    onto = np.matmul(weights, data.T)  # (loads, rows, m)
    toward = inverse.transpose(0, 2, 1) @ half  # V^-1 X D
    mean[:, loads.rows] += toward.transpose(0, 2, 1).reshape(n, -1) @ onto.transpose(
        0, 2, 1
    ).reshape(-1, onto.shape[1])
    own = prior @ (weights**2).sum(axis=2)
    rows, size = weights.shape[1:]
    if m * size < len(weights):  # squares of the numbers that a row takes from the data
        turned = half.reshape(n * m, -1) @ weights.reshape(len(weights), -1)
        own -= (turned.reshape(n, m, rows, size) ** 2).sum(axis=(1, 3))
    else:  # by the products of loads
        among = np.einsum("crs,drs->cdr", weights, weights)
        products = half.transpose(0, 2, 1) @ half
        own -= products.reshape(n, -1) @ among.reshape(-1, rows)
    variance[:, loads.rows] += own
