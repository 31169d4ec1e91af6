r"""The independent small normal vectors that a table falls into, and exact draws of their effects.

- For every set A of unit factors (words, attributes, both, none) and every choice of orbits for A, the
  deviations along A of the block means are :math:`\prod_{f \in A}(n_f - 1)` independent copies of
  one small normal vector with one row per block;
- an effect takes part in a component if its units include A, with the coefficient
  :math:`\sqrt{\prod n_f}` over the factors that are neither in A nor its own.

A term may be multiplied by a number of each word or attribute (a covariate), so that its entries are slopes. Then the covariate is
one more direction of the rotation: of the levels of an orbit not their mean alone is set apart, but also the covariates'
deviations from it, made orthogonal; deviations along a factor are what is left. A row of a component is a block and a
direction for each factor outside A, and a slope enters it with the inner product of covariate and direction. Rows that no
effect connects are components of their own.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeVar

import numpy as np

from bayesbias.inference.orbits import blocks_of, factors_of, find_orbits, in_blocks, own_of_levels
from bayesbias.models.design import Design

_Made = TypeVar("_Made")


@dataclass(frozen=True, eq=False)
class _Effect:
    """One effect in one component."""

    name: str
    entries: np.ndarray  # flat entries of the parameter; one axis per factor, length 1 where not its own
    variance: int
    blocks: np.ndarray  # the rows of the component it enters
    coef: np.ndarray  # with these coefficients
    factors: np.ndarray  # times the scale of this number, or -1
    load: np.ndarray  # from the rotated effect to its entries; broadcasts with them


class Normals(Protocol):
    """What draws are made from: a random generator, or something more even."""

    def standard_normal(self, shape: tuple[int, ...], /) -> np.ndarray:
        """Return standard normals; of draws, the first axis counts them."""


@dataclass(frozen=True, eq=False)
class Component:
    """`copies` independent copies of one normal vector, one row per block."""

    copies: int
    half: np.ndarray  # (m, rank); times its transpose: the Gram matrix of the data, summed over the copies
    data: np.ndarray | None  # (m, *levels along A, 1 elsewhere); kept only where effects take part
    noise: np.ndarray  # (m,) variance number
    effects: tuple[_Effect, ...]
    bases: tuple[tuple[int, np.ndarray], ...] = ()  # for each axis along A: what deviations are orthogonal to


@dataclass(frozen=True, eq=False)
class Covariate:
    """A number of each level of one factor, for the terms that it multiplies."""

    factor: int
    levels: np.ndarray  # one number for each level


def incidence(comp: Component, var: np.ndarray) -> np.ndarray:
    """Return how the effects of a component enter its rows, shape (n or 1, rows, effects), for draws of variances."""
    x = np.zeros((len(comp.noise), len(comp.effects)))
    for column, effect in enumerate(comp.effects):
        x[effect.blocks, column] = effect.coef
    if all((effect.factors < 0).all() for effect in comp.effects):
        return x[None]
    out = np.repeat(x[None], len(var), axis=0)
    for column, effect in enumerate(comp.effects):
        for block, factor in zip(effect.blocks, effect.factors, strict=True):
            if factor >= 0:
                out[:, block, column] *= np.sqrt(var[:, factor])
    return out


def draw_component(comp: Component, var: np.ndarray, flat: dict[str, np.ndarray], rng: Normals) -> None:
    """Add the draws of one component to the effects it is part of."""
    assert comp.data is not None
    shape = comp.data.shape[1:]
    n, m, n_eff, size = len(var), len(comp.noise), len(comp.effects), int(np.prod(shape))
    data = comp.data.reshape(m, size)
    few = n_eff <= m
    # In slices of the draws, so that a large table does not need all of them at once.
    step = max(1, int(4e6 // (max(n_eff, m) * size)))
    for start in range(0, n, step):
        part = slice(start, min(n, start + step))
        noise = var[part][:, comp.noise]
        prior = var[part][:, [effect.variance for effect in comp.effects]]
        x = incidence(comp, var[part])
        if few:
            weighted = x.transpose(0, 2, 1) / noise[:, None]  # X^T S^-1, (k, n_eff, m)
            precision = np.matmul(weighted, x)
            diagonal = np.arange(n_eff)
            precision[:, diagonal, diagonal] += 1 / prior
            lower = np.linalg.cholesky(precision)
            inverse = np.linalg.inv(lower).transpose(0, 2, 1)  # L^-T, small
            mean = np.matmul(inverse @ (inverse.transpose(0, 2, 1) @ weighted), data)
            u = mean + np.matmul(inverse, _projected_normals(rng, (len(weighted), n_eff, *shape), comp.bases))
        else:
            # Fewer rows than effects: draw both from their prior, and move the effects by what is left of the data
            # (Matheron's rule), which needs a matrix of the rows alone.
            k = len(noise)
            u = np.sqrt(prior)[:, :, None] * _projected_normals(rng, (k, n_eff, *shape), comp.bases)
            left = (
                data
                - x @ u
                - np.sqrt(noise)[:, :, None] * _projected_normals(rng, (k, m, *shape), comp.bases)
            )
            total = (x * prior[:, None]) @ x.transpose(0, 2, 1)
            total[:, np.arange(m), np.arange(m)] += noise
            inverse = np.linalg.inv(np.linalg.cholesky(total))
            left = np.matmul(inverse.transpose(0, 2, 1), np.matmul(inverse, left))
            u += prior[:, :, None] * (x.transpose(0, 2, 1) @ left)
        for column, effect in enumerate(comp.effects):
            own = u[:, column].reshape(len(u), *shape) * effect.load
            spread = np.broadcast_to(own, (len(u), *effect.entries.shape))
            flat[effect.name][part, effect.entries.ravel()] += spread.reshape(len(u), -1)


def without_directions(values: np.ndarray, axis: int, basis: np.ndarray) -> np.ndarray:
    """Return values less their part in the directions that are set apart along an axis (the columns of `basis`)."""
    if basis.shape[1] == 1:  # the mean
        return values - values.mean(axis=axis, keepdims=True)
    onto = np.tensordot(values, basis, axes=(axis, 0))
    return values - np.moveaxis(onto @ basis.T, -1, axis)


def _projected_normals(
    rng: Normals, shape: tuple[int, ...], bases: tuple[tuple[int, np.ndarray], ...]
) -> np.ndarray:
    """Draw standard normals, projected on deviations along some axes; trailing axes flattened."""
    z = rng.standard_normal(shape)
    for axis, basis in bases:
        z = without_directions(z, 2 + axis, basis)
    return z.reshape(*shape[:2], -1)


def exchangeable_blocks(design: Design) -> dict[str, np.ndarray]:
    """Return the block of exchangeable entries that every entry of a location parameter is in.

    Entries of one block have one prior and meet the same partners, so that their mean and their
    deviations are independent a priori; a sampler of the pairs moves far more easily along those.

    Returns
    -------
    dict of str to ndarray of int, shape (entries,)
        Entries that no row touches form blocks of their own.
    """
    spec = design.spec
    names = spec.location_parameters()
    index = {name: design.index[name] for name in names}
    prior = {}
    for name in names:
        keys = [design.parent[name, arg] for arg in ("mu", "sigma") if (name, arg) in design.parent]
        stacked = np.stack([*keys, np.zeros(design.size(name), dtype=np.int64)])
        prior[name] = np.unique(stacked, axis=1, return_inverse=True)[1].ravel()
    sigma = spec.noise["sigma"]
    noise = design.index[sigma] if isinstance(sigma, str) else np.zeros(len(design.y), dtype=np.int64)
    factors = factors_of(design)
    own = own_of_levels(index, factors)
    orbits = find_orbits(
        factors,
        index,
        prior,
        [noise, *(design.index[name] for name in spec.factors()), *design.only.values()],
        own,
    )
    out = {}
    for name, idx in index.items():
        kinds = [orbit[codes] for orbit, codes, its in zip(orbits, factors, own[name], strict=True) if its]
        label = np.full((len(kinds) + 1, design.size(name)), -1, dtype=np.int64)
        label[0] = prior[name]
        for row, kind in enumerate(kinds):
            label[row + 1, idx] = kind
        out[name] = np.unique(label, axis=1, return_inverse=True)[1].ravel()
    return out


def covariates_on(factors: list[np.ndarray], values: Mapping[str, np.ndarray]) -> dict[str, Covariate] | str:
    """Return the factor that each covariate belongs to, and its number for each level.

    Parameters
    ----------
    factors : list of ndarray of int, shape (rows,)
    values : Mapping of str to ndarray of float, shape (rows,)

    Returns
    -------
    dict of str to Covariate
        Or the name of a covariate that no factor determines.
    """
    out = {}
    for name, rows in values.items():
        for number, codes in enumerate(factors):
            levels = np.zeros(codes.max() + 1)
            levels[codes] = rows
            if np.array_equal(levels[codes], rows):
                out[name] = Covariate(number, levels)
                break
        else:
            return name
    return out


def _directions(orbit: np.ndarray, covariates: list[Covariate]) -> list[np.ndarray]:
    """Return for each orbit of a factor the directions set apart, shape (levels, 1 + independent covariates), orthonormal."""
    out = []
    for label in range(orbit.max() + 1):
        members = np.flatnonzero(orbit == label)
        mean = np.full((len(members), 1), 1 / np.sqrt(len(members)))
        if not covariates or len(members) == 1:
            out.append(mean)
            continue
        values = np.stack([covariate.levels[members] for covariate in covariates], axis=1)
        size = np.sqrt((values**2).sum(axis=0))
        values = values / np.where(size > 0, size, 1.0)
        vectors, lengths, _ = np.linalg.svd(values - values.mean(axis=0), full_matrices=False)
        out.append(np.concatenate([mean, vectors[:, lengths > NO_LENGTH]], axis=1))
    return out


# What rounding leaves of a vector of length one.
NO_LENGTH = 1e-9


@dataclass(frozen=True, eq=False)
class _Rotation:
    """What all components of a table are made from, but for its outcome."""

    own: Mapping[str, tuple[bool, ...]]  # whether each entry of a term is one level's alone, for each factor
    index: Mapping[str, np.ndarray]
    variance_of: Mapping[str, np.ndarray]
    noise: np.ndarray
    times: Mapping[str, np.ndarray]
    covariates: Mapping[str, Covariate]  # by the term that it multiplies
    only: Mapping[str, np.ndarray]  # which rows have a term, where not all do


@dataclass(frozen=True, eq=False)
class _Block:
    """Rows of the table whose levels are of one orbit of every factor."""

    rows: np.ndarray  # (levels of each factor)
    bases: tuple[np.ndarray, ...]  # for each factor the directions set apart
    levels: tuple[np.ndarray, ...]  # for each factor the levels


@dataclass(frozen=True, eq=False)
class _Together:
    """Components along some factors, of blocks that share the levels there; what they hold comes with the outcome."""

    blocks: tuple[_Block, ...]
    along: tuple[int, ...]
    copies: int
    noise: np.ndarray  # of each row: a block and a direction for each other factor
    bases: tuple[tuple[int, np.ndarray], ...]
    connected: tuple[tuple[np.ndarray, tuple[_Effect, ...]], ...]  # rows of each component, and its effects

    def rotated(self, y: np.ndarray) -> np.ndarray:
        """Return the rows, shape (rows, *levels along, 1 elsewhere)."""
        n_factors = len(self.blocks[0].levels)
        rest = tuple(f for f in range(n_factors) if f not in self.along)
        shape = [1 if f in rest else self.blocks[0].rows.shape[f] for f in range(n_factors)]
        data = []
        for block in self.blocks:
            part = y[block.rows]
            for f in rest:
                part = np.moveaxis(np.tensordot(part, block.bases[f], axes=(f, 0)), -1, f)
            for f in self.along:
                part = without_directions(part, f, block.bases[f])
            data.append(part.transpose((*rest, *self.along)).reshape(-1, *shape))
        return np.concatenate(data)

    def components(self, y: np.ndarray) -> list[Component]:
        """Return the components of an outcome."""
        data = self.rotated(y)
        out = []
        for rows, effects in self.connected:
            own = data[rows]
            half = _gram_root(own.reshape(len(rows), -1), self.copies)
            kept = own if effects else None
            out.append(Component(self.copies, half, kept, self.noise[rows], effects, self.bases))
        return out


@dataclass(frozen=True, eq=False)
class Layout:
    """How tables fall into components, whatever their outcomes: tables of the same labels share it."""

    parts: tuple[_Together, ...]
    _made: dict[str, Any] = field(default_factory=dict, init=False)

    def once(self, name: str, make: Callable[[], _Made]) -> _Made:
        """Return what is made once for all tables of the layout."""
        if name not in self._made:
            self._made[name] = make()
        value: _Made = self._made[name]
        return value

    def components(self, y: np.ndarray) -> tuple[Component, ...]:
        """Return the components of an outcome, shape (pairs,)."""
        out: list[Component] = []
        pure: dict[int, tuple[int, float]] = {}
        for part in self.parts:
            for component in part.components(y):
                if component.effects:
                    out.append(component)
                    continue
                for k, v in enumerate(component.noise):  # nothing but noise: one number per variance
                    count, squares = pure.get(int(v), (0, 0.0))
                    pure[int(v)] = (count + part.copies, squares + float((component.half[k] ** 2).sum()))
        for v, (count, squares) in pure.items():
            out.append(Component(count, np.array([[np.sqrt(squares)]]), None, np.array([v]), ()))
        return tuple(out)


def layout_of(
    factors: list[np.ndarray],
    orbits: list[np.ndarray],
    index: Mapping[str, np.ndarray],
    variance_of: Mapping[str, np.ndarray],
    noise: np.ndarray,
    times: Mapping[str, np.ndarray],
    covariates: Mapping[str, Covariate],
    only: Mapping[str, np.ndarray],
    own: Mapping[str, tuple[bool, ...]],
) -> Layout:
    """Rotate a balanced table into components that are independent: contrasts within each set of factors."""
    n_factors = len(factors)
    labels, block = blocks_of(factors, orbits)
    order = in_blocks(factors, block).astype(np.int32)  # kept as long as the layout
    bounds = np.concatenate([[0], np.cumsum(np.bincount(block, minlength=labels.shape[1]))])
    directions = [
        _directions(orbit, [covariate for covariate in covariates.values() if covariate.factor == f])
        for f, orbit in enumerate(orbits)
    ]
    blocks = []
    for b in range(labels.shape[1]):
        rows = order[bounds[b] : bounds[b + 1]]
        levels = tuple(np.flatnonzero(orbits[f] == labels[f, b]) for f in range(n_factors))
        bases = tuple(directions[f][labels[f, b]] for f in range(n_factors))
        blocks.append(_Block(rows.reshape([len(own_levels) for own_levels in levels]), bases, levels))

    rotation = _Rotation(own, index, variance_of, noise, times, covariates, only)
    parts = []
    for r in range(n_factors + 1):
        for along in itertools.combinations(range(n_factors), r):
            groups: dict[tuple[int, ...], list[int]] = {}
            for b in range(labels.shape[1]):
                groups.setdefault(tuple(labels[list(along), b]), []).append(b)
            names = [name for name in index if all(own[name][f] for f in along)]
            for members in groups.values():
                first = blocks[members[0]]
                copies = int(
                    np.prod([first.rows.shape[f] - first.bases[f].shape[1] for f in along], dtype=int)
                )
                if copies:
                    parts.append(_together(rotation, [blocks[b] for b in members], along, copies, names))
    return Layout(tuple(parts))


def _together(
    rotation: _Rotation, members: list[_Block], along: tuple[int, ...], copies: int, names: list[str]
) -> _Together:
    """Return the components along some factors, of blocks that share the levels there."""
    own, index = rotation.own, rotation.index
    n_factors = members[0].rows.ndim
    rest = tuple(f for f in range(n_factors) if f not in along)
    noise: list[int] = []
    entering: dict[tuple[str, int, tuple[int, ...]], list[tuple[int, float, int, _Block]]] = {}
    for block in members:
        first = block.rows.flat[0]
        having = [name for name in names if name not in rotation.only or rotation.only[name][first]]
        for towards in itertools.product(*(range(block.bases[f].shape[1]) for f in rest)):
            place = dict(zip(rest, towards, strict=True))
            for name in having:
                coef = _coefficient(rotation, block, name, place)
                if coef == 0.0:
                    continue
                turned = tuple(place[f] for f in rest if own[name][f])
                factor = int(rotation.times[name][first]) if name in rotation.times else -1
                entering.setdefault((name, int(index[name][first]), turned), []).append(
                    (len(noise), coef, factor, block)
                )
            noise.append(rotation.noise[first])
    effects = []
    for (name, entry, turned), entries in entering.items():
        block = entries[0][3]
        rows = block.rows[tuple(slice(None) if own[name][f] else slice(0, 1) for f in range(n_factors))]
        load = np.ones((1,) * n_factors)
        for f, direction in zip([f for f in rest if own[name][f]], turned, strict=True):
            shape = [1] * n_factors
            shape[f] = -1
            load = load * block.bases[f][:, direction].reshape(shape)
        effects.append(
            _Effect(
                name,
                index[name][rows],
                int(rotation.variance_of[name][entry]),
                np.array([k for k, *_ in entries]),
                np.array([coef for _, coef, *_ in entries]),
                np.array([factor for _, _, factor, _ in entries]),
                load,
            )
        )
    connected = tuple(
        (rows, tuple(replace(effect, blocks=np.searchsorted(rows, effect.blocks)) for effect in its))
        for rows, its in _connected(len(noise), effects)
    )
    bases = tuple((f, members[0].bases[f]) for f in along)
    return _Together(tuple(members), along, copies, np.array(noise, dtype=np.int64), bases, connected)


def _coefficient(rotation: _Rotation, block: _Block, name: str, place: Mapping[int, int]) -> float:
    """Return how an effect enters the row of a block in some directions."""
    out = 1.0
    covariate = rotation.covariates.get(name)
    for f, direction in place.items():
        if rotation.own[name][f]:
            continue
        if covariate is not None and covariate.factor == f:
            values = covariate.levels[block.levels[f]]
            inner = float(values @ block.bases[f][:, direction])
            out *= inner if abs(inner) > NO_LENGTH * float(np.sqrt(values @ values)) else 0.0
        else:
            out *= np.sqrt(block.rows.shape[f]) if direction == 0 else 0.0
    return out


def _connected(size: int, effects: list[_Effect]) -> list[tuple[np.ndarray, list[_Effect]]]:
    """Return the rows that effects connect, directly or by way of others, with those effects."""
    group = np.arange(size)
    for effect in effects:
        together = np.isin(group, group[effect.blocks])
        group[together] = group[effect.blocks].min()
    return [
        (np.flatnonzero(group == label), [e for e in effects if group[e.blocks[0]] == label])
        for label in np.unique(group)
    ]


def _gram_root(matrix: np.ndarray, copies: int) -> np.ndarray:
    """Return F with FF' = matrix matrix', and no more columns than rank; the data themselves where they are few."""
    rank = min(copies, len(matrix))
    if matrix.shape[1] <= rank:
        return matrix
    values, vectors = np.linalg.eigh(matrix @ matrix.T)
    return vectors[:, -rank:] * np.sqrt(np.maximum(values[-rank:], 0.0))
