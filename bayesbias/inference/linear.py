r"""Quantities that are linear in the effects of a model, as mixtures of normals.

Every mean and contrast of a normal model is such a quantity, and so is the value of a new word.
Given the scales (SDs) it has a known normal distribution. So its posterior is a mixture of normals,
one for each draw of the scales, and no effect has to be drawn.

1. `Linear` holds the weights of quantities on effects, and `Quantities` what they are called.
2. `Rotated` has the same weights on the rotated effects of each component of
   `bayesbias.inference.likelihood`. With incidence X, effect variances D and noise variances R a
   copy y of a component has covariance :math:`V = X D X^T + R`. Given y its effects are normal with
   mean :math:`D X^T V^{-1} y` and covariance :math:`D - D X^T V^{-1} X D`. Copies and components
   are independent, so that the moments of a quantity are sums over them.
3. `mixtures_of` makes `Mixtures` of these moments, and `mixture_interval` their intervals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from bayesbias.inference.diagnostics import ENOUGH_MIXED
from bayesbias.inference.likelihood import Collapsed, Reduction, without_directions
from bayesbias.models.design import Arrays, Design

type Key = tuple[str, str, str]
"""Level, name at that level, and connection or contrast."""
_DENSE = 1_000_000  # weights
_NUMBERS_AT_A_TIME = 4_000_000
_NODES = 21  # of Gauss-Hermite quadrature


@dataclass(frozen=True, eq=False)
class NewEffects:
    """The effects of a new word, attribute or pair: normals around zero.

    Attributes
    ----------
    sd : str or float
        The parameter that is their standard deviation, or a number.
    entries : ndarray of int, shape (new effects,)
        The flat entry of `sd` that each has.
    weights : ndarray, shape (quantities, new effects)
        Weights of the new effects; in `Linear.apart` their squares.
    """

    sd: str | float
    entries: np.ndarray
    weights: np.ndarray


@dataclass(frozen=True, eq=False)
class Linear:
    """Quantities that are a constant plus weighted effects.

    Attributes
    ----------
    constant : ndarray, shape (quantities,)
    weights : Mapping of str to scipy.sparse.csr_array, shape (quantities, entries)
        The weights of each parameter's entries.
    shared : tuple of NewEffects
        New effects that several quantities share (a new word), so that they cancel in a difference.
    apart : tuple of NewEffects
        New effects of one quantity alone (attributes, noise).
    """

    constant: np.ndarray
    weights: Mapping[str, Any]
    shared: tuple[NewEffects, ...] = ()
    apart: tuple[NewEffects, ...] = ()

    def __len__(self) -> int:
        return len(self.constant)

    def combined(self, by: Any) -> Linear:
        """Return weighted sums of the quantities, by a sparse array of shape (sums, quantities)."""
        shared, apart = (
            tuple(replace(new, weights=factor @ new.weights) for new in group)
            for group, factor in ((self.shared, by), (self.apart, by.power(2)))
        )
        weights = {name: by @ each for name, each in self.weights.items()}
        return Linear(by @ self.constant, weights, shared, apart)

    def draws(self, draws: Arrays) -> np.ndarray:
        """Return the quantities, shape (n, quantities), for n draws, with new effects at zero."""
        n = len(next(iter(draws.values())))
        out = np.broadcast_to(self.constant, (n, len(self))).copy()
        for name, weights in self.weights.items():
            out += (weights @ draws[name].reshape(n, -1).T).T
        return out

    def new_variance(self, draws: Arrays) -> np.ndarray:
        """Return the variance that new effects add under each draw of the scales.

        Its shape is (n, quantities), or (1, quantities) if it depends on no scale.
        """
        from scipy import sparse

        out = np.zeros((1, len(self)))
        for squared, group in ((False, self.shared), (True, self.apart)):
            for new in group:
                weights = new.weights if squared else new.weights**2
                # Effects with one SD are counted together: a term may have many thousands.
                used, place = np.unique(new.entries, return_inverse=True)
                at = (np.arange(len(place)), place)
                of_used = sparse.csr_array((np.ones(len(place)), at), (len(place), len(used)))
                if isinstance(new.sd, str):
                    values = draws[new.sd]
                    variances = values.reshape(len(values), -1)[:, used] ** 2
                else:
                    variances = np.full((1, len(used)), float(new.sd) ** 2)
                out = out + variances @ (weights @ of_used).T
        return out


def weights_of(sums: Sequence[Mapping[int, float]], number: int) -> Any:
    """Return sparse weights, shape (sums, number), from the weights of each sum by place."""
    from scipy import sparse

    out = sparse.lil_array((len(sums), number))
    for k, weights in enumerate(sums):
        for place, weight in weights.items():
            out[k, place] = weight
    return out.tocsr()


def contrasts_of(
    parts: Mapping[str, Sequence[Key]], asked: Iterable[tuple[str, str, Mapping[str, float]]]
) -> tuple[list[Key], Any]:
    """Return contrasts of the means of several tables at each level and name, and their sparse weights.

    Parameters
    ----------
    parts : Mapping of str to sequence of Key
        The keys of each table; that of all rows is an empty text.
    asked : iterable of (str, str, Mapping of str to float)
        The table of a contrast, or an empty text where there is none of that name; its label; the weight of
        each mean.
    """
    every = [(part, *key) for part, keys in parts.items() for key in keys]
    at = {key: place for place, key in enumerate(every)}
    found: dict[Key, dict[int, float]] = {}
    contrasts = [(part if part in parts else "", label, means) for part, label, means in asked]
    for level, name in dict.fromkeys(key[:2] for key in parts[""]):
        for part, label, means in contrasts:
            if all((part, level, name, mean) in at for mean in means):
                own = {at[part, level, name, mean]: by for mean, by in means.items()}
                found[level, name, label] = own
    return list(found), weights_of([*found.values()], len(every))


def joined(tables: Sequence[Linear]) -> Linear:
    """Return the quantities of several tables of one model, one table after the other."""
    from scipy import sparse

    constant = np.concatenate([np.zeros(0), *(table.constant for table in tables)])
    starts = np.cumsum([0, *(len(table) for table in tables)])
    entries = {name: each.shape[1] for table in tables for name, each in table.weights.items()}
    weights = {}
    for name, size in entries.items():
        of_each = [
            table.weights.get(name, sparse.csr_array((len(table), size))) for table in tables
        ]
        weights[name] = sparse.vstack(of_each, format="csr")

    def fresh(group: str) -> tuple[NewEffects, ...]:
        out: dict[Any, NewEffects] = {}
        for place, table in enumerate(tables):
            for new in getattr(table, group):
                none = np.zeros((len(constant), new.weights.shape[1]))
                whole = out.setdefault((new.sd, new.entries.tobytes()), replace(new, weights=none))
                whole.weights[starts[place] : starts[place + 1]] += new.weights
        return tuple(out.values())

    return Linear(constant, weights, fresh("shared"), fresh("apart"))


@dataclass(frozen=True, eq=False)
class _Loads:
    """The weights of quantities on the rotated effects of one component.

    Attributes
    ----------
    place : int
        The place of the component among all.
    quantities : ndarray of int
        The quantities that have a weight here.
    effects : ndarray of int
        The effects of the component that have a weight.
    weights : ndarray, shape (effects, quantities, levels along A)
    """

    place: int
    quantities: np.ndarray
    effects: np.ndarray
    weights: np.ndarray


@dataclass(frozen=True, eq=False)
class Rotated:
    """Linear quantities of the rotated effects; the same for all outcomes of a design."""

    constant: np.ndarray
    weights: Mapping[str, Any]
    loads: list[_Loads]

    @classmethod
    def of(cls, reduced: Collapsed, linear: Linear) -> Rotated:
        """Rotate quantities into the components of a reduction."""
        constant, weights = without_centers(reduced.design, linear)
        # Columns are taken again and again, which of sparse weights costs more than what is done
        # with them.
        weights = {
            name: each.toarray() if np.prod(each.shape) <= _DENSE else each.tocsc()
            for name, each in weights.items()
        }
        loads = [
            _loads_of(reduced, place, weights, len(constant))
            for place in range(len(reduced.components))
        ]
        return cls(constant, weights, [each for each in loads if each is not None])

    def moments(self, reduced: Collapsed, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return mean and variance of the quantities given log scales, without new effects.

        Both have the shape (n, quantities), for log scales of the shape (n, n_theta).
        """
        mean = np.broadcast_to(self.constant, (len(theta), len(self.constant))).copy()
        variance = np.zeros_like(mean)
        for name, weights in self.weights.items():
            unused = reduced.design.without_data(name)  # these entries keep their prior
            of_unused = _columns(weights, unused)
            if of_unused.any():
                var = reduced.variances_at(theta)[:, reduced.variance_of[name][unused]]
                variance += var @ (of_unused**2).T
        for loads in self.loads:
            size = reduced.components[loads.place].incidence.size + len(loads.effects) ** 2
            step = max(1, _NUMBERS_AT_A_TIME // size)
            for start in range(0, len(theta), step):
                some = slice(start, start + step)
                _add_moments(loads, reduced, theta[some], mean[some], variance[some])
        return mean, variance


def without_centers(design: Design, linear: Linear) -> tuple[np.ndarray, dict[str, Any]]:
    """Return constant and weights of quantities in effects around zero.

    A parameter centered on another is that one plus effects of its own.
    """
    from scipy import sparse

    constant, weights = linear.constant.astype(float), dict(linear.weights)
    for name in reversed(design.spec.location_parameters()):
        mu = design.spec.parameters[name].args["mu"]
        if name not in weights:
            continue
        if isinstance(mu, str):
            up = design.parent[name, "mu"]
            onto = sparse.csr_array(
                (np.ones(len(up)), (np.arange(len(up)), up)), shape=(len(up), design.size(mu))
            )
            moved = weights[name] @ onto
            weights[mu] = weights[mu] + moved if mu in weights else moved
        elif mu:
            constant = constant + weights[name].sum(axis=1) * float(mu)
    return constant, weights


def _columns(weights: Any, which: np.ndarray) -> np.ndarray:
    """Return some columns of dense or sparse weights as a dense array."""
    taken = weights[:, which]
    return taken if isinstance(taken, np.ndarray) else taken.toarray()


def _loads_of(
    reduced: Collapsed, place: int, weights: Mapping[str, Any], number: int
) -> _Loads | None:
    """Rotate weights of `number` quantities into one component; None if all are zero there."""
    component = reduced.components[place]
    if component.data is None:
        return None
    shape = component.data.shape[1:]
    rest = tuple(1 + axis for axis, length in enumerate(shape) if length == 1)
    effects, rotated = [], []
    for k, effect in enumerate(component.effects):
        if effect.name not in weights:
            continue
        values = _columns(weights[effect.name], effect.entries.ravel())
        values = values.reshape(number, *effect.entries.shape) * effect.load
        values = values.sum(axis=rest, keepdims=True) if rest else values
        for axis, directions in component.directions:
            values = without_directions(values, 1 + axis, directions)
        if values.any():
            effects.append(k)
            rotated.append(values.reshape(number, -1))
    if not rotated:
        return None
    loads = np.stack(rotated)
    used = np.flatnonzero(loads.any(axis=(0, 2)))
    return _Loads(place, used, np.array(effects), loads[:, used])


def _add_moments(
    loads: _Loads, reduced: Collapsed, theta: np.ndarray, mean: np.ndarray, variance: np.ndarray
) -> None:
    """Add what one component contributes to mean and variance.

    With w the loads of a quantity on the effects of a copy, they are w'D X' V^-1 y and
    w'D w - w'D X' V^-1 X D w, summed over the copies.
    """
    component, var = reduced.components[loads.place], reduced.variances_at(theta)
    assert component.data is not None
    n, (m, _) = len(var), component.incidence.shape
    data, weights = component.data.reshape(m, -1), loads.weights
    prior = var[:, component.variances[loads.effects]]
    inverse = reduced.inverse_roots(loads.place, var)  # L^-1, with V = L L'
    whitened = inverse @ (component.incidence[:, loads.effects] * prior[:, None])  # L^-1 X D
    gain = inverse.transpose(0, 2, 1) @ whitened  # V^-1 X D
    onto = np.matmul(weights, data.T)  # (effects, quantities, m)
    mean[:, loads.quantities] += gain.transpose(0, 2, 1).reshape(n, -1) @ onto.transpose(
        0, 2, 1
    ).reshape(-1, onto.shape[1])
    added = prior @ (weights**2).sum(axis=2)
    number, size = weights.shape[1:]
    if m * size < len(weights):  # by the squares of L^-1 X D w
        product = whitened.reshape(n * m, -1) @ weights.reshape(len(weights), -1)
        added -= (product.reshape(n, m, number, size) ** 2).sum(axis=(1, 3))
    else:  # by the products of loads with each other
        among = np.einsum("cqs,dqs->cdq", weights, weights)
        products = whitened.transpose(0, 2, 1) @ whitened
        added -= products.reshape(n, -1) @ among.reshape(-1, number)
    variance[:, loads.quantities] += added


@dataclass(frozen=True, eq=False)
class Quantities:
    """Quantities asked of a posterior; each becomes a row of a table of results.

    A quantity is one linear part, or a mixture of several, as where a new word may be of several
    classes.

    Attributes
    ----------
    keys : list of (level, name, label)
        The label is a connection, or ``a - b`` for a contrast.
    linear : Linear
        All parts.
    quantity : ndarray of int, shape (parts,)
        The quantity that each part belongs to, in rising order.
    weight : ndarray, shape (parts,)
        Weights of the parts; those of a quantity add up to one.
    observed : ndarray, shape (quantities,), optional
        The observed values, where quantities are about the listed words.
    """

    keys: list[Key]
    linear: Linear
    quantity: np.ndarray
    weight: np.ndarray
    observed: np.ndarray | None = None

    @classmethod
    def plain(
        cls,
        keys: Sequence[Key],
        linear: Linear,
        observed: np.ndarray | None = None,
    ) -> Quantities:
        """Return quantities of one part each."""
        return cls(list(keys), linear, np.arange(len(keys)), np.ones(len(keys)), observed)

    @classmethod
    def joined(cls, parts: Sequence[Quantities]) -> Quantities:
        """Return the quantities of several tables, one table after the other."""
        if len(parts) == 1:
            return parts[0]
        starts = np.cumsum([0, *(len(part.keys) for part in parts)])
        seen = [part.observed for part in parts if part.observed is not None]
        return cls(
            [key for part in parts for key in part.keys],
            joined([part.linear for part in parts]),
            np.concatenate([part.quantity + k for part, k in zip(parts, starts, strict=False)]),
            np.concatenate([part.weight for part in parts]),
            np.concatenate(seen) if len(seen) == len(parts) else None,
        )

    def combined(self, keys: Sequence[Key], by: Any) -> Quantities:
        """Return weighted sums of quantities of one part each."""
        observed = None if self.observed is None else by @ self.observed
        return Quantities.plain(keys, self.linear.combined(by), observed)

    def chosen(self, which: Sequence[int]) -> Quantities:
        """Return some of the quantities, by their places."""
        from scipy import sparse

        parts = [np.arange(*np.searchsorted(self.quantity, [k, k + 1])) for k in which]
        at = np.concatenate([np.zeros(0, int), *parts])
        quantity = np.repeat(np.arange(len(parts)), [len(places) for places in parts])
        observed = None if self.observed is None else self.observed[which]
        linear = self.linear.combined(sparse.eye_array(len(self.linear), format="csr")[at])
        keys = [self.keys[k] for k in which]
        return Quantities(keys, linear, quantity, self.weight[at], observed)

    def at(self, level: str | None) -> Quantities:
        """Return the quantities of one level, or all."""
        if level is None:
            return self
        return self.chosen([k for k, key in enumerate(self.keys) if key[0] == level])


_SPARSEST = 4  # of runs of more than 4,000 draws each fourth is mixed, so that errors shrink
_STEPS = 60
_EXACT = 1e-10
_GRID = 2001
_BLOCK = 1_000_000  # numbers of a block


@dataclass(frozen=True, eq=False)
class Mixtures:
    """A mixture of normals for each quantity: over draws of the scales, and over its parts.

    Attributes
    ----------
    mean, sd : ndarray, shape (chains, draws, parts)
    quantity : ndarray of int, shape (parts,)
        The quantity that each part belongs to, in rising order.
    weight : ndarray, shape (parts,)
    """

    mean: np.ndarray
    sd: np.ndarray
    quantity: np.ndarray
    weight: np.ndarray

    def __len__(self) -> int:
        return int(self.quantity[-1]) + 1 if len(self.quantity) else 0

    def described(self, prob: float) -> Arrays:
        """Return mean, sd, ``low`` and ``high`` of the shortest interval, shape (quantities,)."""
        mean, sd = (values.reshape(-1, values.shape[-1]) for values in (self.mean, self.sd))
        out = {key: np.full(len(self), np.nan) for key in ("mean", "sd", "low", "high")}

        def fill(at: Any, m: np.ndarray, s: np.ndarray, weight: np.ndarray | None) -> None:
            out["mean"][at], out["sd"][at] = mixture_mean_sd(m, s, weight)
            out["low"][at], out["high"][at] = mixture_interval(m, s, prob, weight)

        number = np.bincount(self.quantity, minlength=len(self))
        alone = number[self.quantity] == 1
        fill(self.quantity[alone], mean[:, alone], sd[:, alone], None)
        for k in np.flatnonzero(number > 1):
            parts = self.quantity == k
            weight = np.tile(self.weight[parts], len(mean)) / len(mean)
            fill([k], mean[:, parts].reshape(-1, 1), sd[:, parts].reshape(-1, 1), weight)
        return out

    def in_batches(self, batches: int) -> Mixtures:
        """Return the mixtures over each batch of draws, one batch after another."""
        parts, length = len(self.quantity), self.mean.shape[0] * self.mean.shape[1] // batches

        def cut(values: np.ndarray) -> np.ndarray:
            whole = values.reshape(-1, parts)[: batches * length].reshape(batches, length, parts)
            return whole.transpose(1, 0, 2).reshape(1, length, batches * parts)

        quantity = (self.quantity + len(self) * np.arange(batches)[:, None]).ravel()
        return type(self)(cut(self.mean), cut(self.sd), quantity, np.tile(self.weight, batches))

    def below(self, at: float) -> np.ndarray:
        """Return the probability of lying below a number, shape (quantities,)."""
        from scipy.special import ndtr

        each = ndtr((at - self.mean) / self.sd).reshape(-1, len(self.quantity)).mean(axis=0)
        return np.bincount(self.quantity, self.weight * each, minlength=len(self))

    def sampled(self, seed: int) -> np.ndarray:
        """Draw once from each mixture under each draw of the scales.

        A quantity of several parts takes one of them. The shape is (chains, draws, quantities).
        """
        rng = np.random.default_rng([seed, 4])
        values = self.mean + self.sd * rng.standard_normal(self.mean.shape)
        out = np.empty((*values.shape[:2], len(self)))
        for k in range(len(self)):
            parts = np.flatnonzero(self.quantity == k)
            which = parts[rng.choice(len(parts), values.shape[:2], p=self.weight[parts])]
            out[..., k] = np.take_along_axis(values, which[..., None], axis=-1)[..., 0]
        return out


def expected_outcome(
    expected: Callable[[np.ndarray], np.ndarray], eta: np.ndarray, sd: np.ndarray
) -> np.ndarray:
    """Return the mean of ``expected(eta + sd z)`` over a standard normal z."""
    if not sd.any():
        return expected(eta)
    nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
    out = np.zeros_like(eta)
    for node, weight in zip(nodes, weights / weights.sum(), strict=True):
        out += weight * expected(eta + node * sd)
    return out


def mixture_mean_sd(
    mean: np.ndarray, sd: np.ndarray, weight: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean and SD of each mixture; arguments are those of `mixture_interval`."""
    center = _average(mean, weight)
    return center, np.sqrt(_average(sd**2 + (mean - center) ** 2, weight))


def mixture_interval(
    mean: np.ndarray, sd: np.ndarray, prob: float, weight: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of the shortest interval of each mixture (the HPDI of a single hump).

    The ends have equal density and hold `prob` between them. Newton's method solves for them, all
    mixtures at once. Where it fails (humps apart), a grid is searched.

    Parameters
    ----------
    mean, sd : ndarray, shape (n, mixtures)
        Means and SDs (above 0) of the normals.
    prob : float in (0, 1)
        Probability of the intervals.
    weight : ndarray, shape (n,), optional
        Weights that add up to one; by default equal.

    Returns
    -------
    low, high : ndarray, shape (mixtures,)
    """
    from scipy.special import ndtr, ndtri

    center, whole_sd = mixture_mean_sd(mean, sd, weight)
    z = float(ndtri(0.5 + prob / 2))
    low, high = center - z * whole_sd, center + z * whole_sd
    unsolved = np.arange(mean.shape[1])
    for _ in range(_STEPS):
        m, s, unit = mean[:, unsolved], sd[:, unsolved], whole_sd[unsolved]
        sides = []
        for end in (low[unsolved], high[unsolved]):
            x = (end - m) / s
            density = np.exp(-0.5 * x * x) / (s * np.sqrt(2 * np.pi))
            sides.append(
                (
                    _average(ndtr(x), weight),
                    _average(density, weight),
                    _average(-x * density / s, weight),
                )
            )
        (f_low, d_low, slope_low), (f_high, d_high, slope_high) = sides
        mass, tilt = f_high - f_low - prob, (d_low - d_high) * unit
        # Of [mass, tilt] with respect to [low, high].
        a, b, c, d = -d_low, d_high, slope_low * unit, -slope_high * unit
        # Far from all humps these are tiny, and their products are zero; what two of them share
        # cancels.
        (a_, c_), (b_, d_) = _of_size_one(a, c), _of_size_one(b, d)
        reach = 0.5 * unit
        low[unsolved] -= _quotient(d_ * mass - b_ * tilt, a * d_ - b_ * c, reach)
        high[unsolved] -= _quotient(a_ * tilt - c_ * mass, a_ * d - b * c_, reach)
        moving = (np.abs(mass) > _EXACT) | (np.abs(tilt * unit) > _EXACT)
        # Rising at the low end and falling at the high one, or it is no interval of highest
        # density.
        moving |= ~((slope_low > 0) & (slope_high < 0))
        unsolved = unsolved[moving]
        if len(unsolved) == 0:
            break
    for k in unsolved:
        low[k], high[k] = _on_a_grid(mean[:, k], sd[:, k], prob, weight)
    return low, high


def _of_size_one(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return two numbers over the power of 2 near the larger one; zeros stay zeros."""
    _, power = np.frexp(np.maximum(np.abs(x), np.abs(y)))
    return np.ldexp(x, -power), np.ldexp(y, -power)


def _quotient(above: np.ndarray, below: np.ndarray, most: np.ndarray) -> np.ndarray:
    """Return quotients, those of a larger size than `most` cut to it, also where `below` is 0."""
    cut = np.where(np.signbit(above) ^ np.signbit(below), -most, most)
    inside = np.abs(above) < most * np.abs(below)
    return np.divide(above, below, out=cut, where=inside)


def _on_a_grid(
    mean: np.ndarray, sd: np.ndarray, prob: float, weight: np.ndarray | None
) -> tuple[float, float]:
    """Return the shortest interval of one mixture, from its distribution function on a grid."""
    from scipy.special import ndtr

    grid = np.linspace((mean - 6 * sd).min(), (mean + 6 * sd).max(), _GRID)

    # In blocks, so that many normals do not need the memory of the whole grid at once.
    blocks = np.array_split(grid, 1 + len(mean) * _GRID // _BLOCK)
    parts = [_average(ndtr((block - mean[:, None]) / sd[:, None]), weight) for block in blocks]
    below = np.concatenate(parts)

    start = np.linspace(below[0], 1 - prob, _GRID)
    ends = np.interp(start, below, grid), np.interp(start + prob, below, grid)
    at = int(np.argmin(ends[1] - ends[0]))
    return float(ends[0][at]), float(ends[1][at])


def _average(values: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
    return values.mean(axis=0) if weight is None else weight @ values


class Moments(Protocol):
    """Linear quantities, made ready for a reduction."""

    def moments(self, reduced: Any, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return mean and variance of the quantities given log scales, without new effects."""


def moments_of(reduced: Reduction, linear: Linear) -> Moments:
    """Make quantities ready for a reduction; the same for all outcomes of a design."""
    if isinstance(reduced, Collapsed):
        return Rotated.of(reduced, linear)
    from bayesbias.inference.unbalanced import Solved, Unbalanced

    assert isinstance(reduced, Unbalanced)
    return Solved.of(reduced, *without_centers(reduced.design, linear))


def mixtures_of(
    asked: Quantities,
    reduced: Reduction | None,
    draws: Arrays,
    chains: int,
    rotated: Moments | None = None,
) -> tuple[Mixtures, Arrays] | None:
    """Return quantities as normal mixtures, and the draws of scales that these are over.

    Return None where quantities are no such mixtures. Without a reduction only new effects are
    normal given the draws. `rotated` spares the rotation where it has been done.
    """
    if not asked.keys:
        return None
    names = list(draws) if reduced is None else list(reduced.scales)
    n = len(draws[names[0]])
    most, sparsest = ENOUGH_MIXED, _SPARSEST
    if reduced is not None and reduced.most_mixed < ENOUGH_MIXED:
        most, sparsest = reduced.most_mixed, n
    step = min(-(-n // most), sparsest)  # as many draws of each chain
    chosen = [np.arange(k * (n // chains), (k + 1) * (n // chains), step) for k in range(chains)]
    some = {name: draws[name][np.concatenate(chosen)] for name in names}
    if reduced is not None and all((some[name] > 0).all() for name in names):
        rotated = moments_of(reduced, asked.linear) if rotated is None else rotated
        mean, variance = rotated.moments(reduced, reduced.theta_of(some))
    elif reduced is None and (asked.linear.shared or asked.linear.apart):
        mean = asked.linear.draws(some)
        variance = np.zeros_like(mean)
    else:
        return None
    variance = variance + asked.linear.new_variance(some)
    if not (variance > 0).all():
        return None  # such as a mean that is a number of the model file
    shape = (chains, len(mean) // chains, mean.shape[1])
    mean, sd = mean.reshape(shape), np.sqrt(variance).reshape(shape)
    return Mixtures(mean, sd, asked.quantity, asked.weight), some
