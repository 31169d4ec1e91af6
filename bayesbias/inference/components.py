r"""The independent small normal vectors that a table falls into, and exact draws of their effects.

- For every set A of unit factors (words, attributes, both, none) and every choice of orbits for A, the
  deviations along A of the block means are :math:`\prod_{f \in A}(n_f - 1)` independent copies of
  one small normal vector with one row per block;
- an effect takes part in a component if its units include A, with the coefficient
  :math:`\sqrt{\prod n_f}` over the factors that are neither in A nor its own.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from bayesbias.models.design import Design


@dataclass(frozen=True, eq=False)
class _Effect:
    """One effect in one component."""

    name: str
    entries: np.ndarray  # flat entries of the parameter; one axis per factor, length 1 where not its own
    variance: int
    blocks: np.ndarray  # the rows of the component it enters
    coef: np.ndarray  # with these coefficients
    factors: np.ndarray  # times the scale of this number, or -1
    scale: float  # from the rotated effect to its entries


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
    along = tuple(2 + axis for axis, length in enumerate(shape) if length > 1)
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
            u = mean + np.matmul(inverse, _projected_normals(rng, (len(weighted), n_eff, *shape), along))
        else:
            # Fewer rows than effects: draw both from their prior, and move the effects by what is left of the data
            # (Matheron's rule), which needs a matrix of the rows alone.
            k = len(noise)
            u = np.sqrt(prior)[:, :, None] * _projected_normals(rng, (k, n_eff, *shape), along)
            left = data - x @ u - np.sqrt(noise)[:, :, None] * _projected_normals(rng, (k, m, *shape), along)
            total = (x * prior[:, None]) @ x.transpose(0, 2, 1)
            total[:, np.arange(m), np.arange(m)] += noise
            inverse = np.linalg.inv(np.linalg.cholesky(total))
            left = np.matmul(inverse.transpose(0, 2, 1), np.matmul(inverse, left))
            u += prior[:, :, None] * (x.transpose(0, 2, 1) @ left)
        for column, effect in enumerate(comp.effects):
            own = (u[:, column] * effect.scale).reshape(len(u), *shape)
            spread = np.broadcast_to(own, (len(u), *effect.entries.shape))
            flat[effect.name][part, effect.entries.ravel()] += spread.reshape(len(u), -1)


def _projected_normals(rng: Normals, shape: tuple[int, ...], along: tuple[int, ...]) -> np.ndarray:
    """Draw standard normals, projected on deviations along the given axes; trailing axes flattened."""
    z = rng.standard_normal(shape)
    for axis in along:
        z -= z.mean(axis=axis, keepdims=True)
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
    orbits = find_orbits(factors, index, prior, [noise, *(design.index[name] for name in spec.factors())])
    out = {}
    for name, idx in index.items():
        kinds = [
            orbit[codes] for orbit, codes in zip(orbits, factors, strict=True) if within_one_level(idx, codes)
        ]
        label = np.full((len(kinds) + 1, design.size(name)), -1, dtype=np.int64)
        label[0] = prior[name]
        for row, kind in enumerate(kinds):
            label[row + 1, idx] = kind
        out[name] = np.unique(label, axis=1, return_inverse=True)[1].ravel()
    return out


def factors_of(design: Design) -> list[np.ndarray]:
    """Return the unit columns as codes, and a counter of repeats where they do not identify a row."""
    factors = list(design.units.values())
    order = np.lexsort(factors[::-1])
    stacked = np.stack(factors)[:, order]
    new = np.ones(len(order), dtype=bool)
    new[1:] = (stacked[:, 1:] != stacked[:, :-1]).any(axis=0)
    if not new.all():
        starts = np.flatnonzero(new)
        repeat = np.empty(len(order), dtype=np.int64)
        repeat[order] = np.arange(len(order)) - np.repeat(starts, np.diff([*starts, len(order)]))
        factors.append(repeat)
    return factors


def find_orbits(
    factors: list[np.ndarray],
    index: Mapping[str, np.ndarray],
    variance_of: Mapping[str, np.ndarray],
    kinds: list[np.ndarray],
) -> list[np.ndarray]:
    """For each factor the orbit of each level: levels whose rows differ in nothing but the level.

    `kinds` are codes of the rows that levels of one orbit must share, such as which noise a row has.
    """
    out = []
    for f, codes in enumerate(factors):
        others = [factor for g, factor in enumerate(factors) if g != f]
        order = np.lexsort([*others[::-1], codes])
        bounds = np.searchsorted(codes[order], np.arange(codes.max() + 2))
        own = {name: within_one_level(idx, codes) for name, idx in index.items()}
        columns = [*others, *kinds, *(variance_of[name][idx] for name, idx in index.items())]
        columns += [idx for name, idx in index.items() if not own[name]]
        fixed = np.stack(columns)[:, order]
        seen: dict[bytes, int] = {}
        orbit = np.empty(len(bounds) - 1, dtype=np.int64)
        for level, (start, stop) in enumerate(itertools.pairwise(bounds)):
            # Entries that belong to this level alone count by their order, not by their number.
            ranks = [
                np.unique(idx[order[start:stop]], return_inverse=True)[1]
                for name, idx in index.items()
                if own[name]
            ]
            key = fixed[:, start:stop].tobytes() + b"|" + np.array(ranks, dtype=np.int64).tobytes()
            orbit[level] = seen.setdefault(key, len(seen))
        out.append(orbit)
    return out


def within_one_level(idx: np.ndarray, codes: np.ndarray) -> bool:
    """Whether each entry is used by rows of one level only."""
    first = np.zeros(idx.max() + 1, dtype=np.int64)
    first[idx] = codes
    return bool(np.array_equal(first[idx], codes))


def components_of(
    y: np.ndarray,
    factors: list[np.ndarray],
    orbits: list[np.ndarray],
    index: Mapping[str, np.ndarray],
    variance_of: Mapping[str, np.ndarray],
    noise: np.ndarray,
    times: Mapping[str, np.ndarray],
) -> tuple[Component, ...]:
    """Rotate a balanced table into components that are independent: contrasts within each set of factors."""
    n_factors = len(factors)
    kind = np.stack([orbit[codes] for orbit, codes in zip(orbits, factors, strict=True)])
    labels, block = np.unique(kind, axis=1, return_inverse=True)
    order = np.lexsort([*factors[::-1], block.ravel()])
    bounds = np.searchsorted(block.ravel()[order], np.arange(labels.shape[1] + 1))
    own = {name: tuple(within_one_level(idx, codes) for codes in factors) for name, idx in index.items()}
    blocks = []
    for b in range(labels.shape[1]):
        rows = order[bounds[b] : bounds[b + 1]]
        shape = [int((orbits[f] == labels[f, b]).sum()) for f in range(n_factors)]
        blocks.append(rows.reshape(shape))

    out: list[Component] = []
    pure: dict[int, tuple[int, float]] = {}
    for r in range(n_factors + 1):
        for along in itertools.combinations(range(n_factors), r):
            groups: dict[tuple[int, ...], list[int]] = {}
            for b in range(labels.shape[1]):
                groups.setdefault(tuple(labels[list(along), b]), []).append(b)
            names = [name for name in index if all(own[name][f] for f in along)]
            for members in groups.values():
                copies = int(np.prod([blocks[members[0]].shape[f] - 1 for f in along], dtype=int))
                if copies == 0:
                    continue
                component = _one_component(
                    y,
                    [blocks[b] for b in members],
                    along,
                    copies,
                    names,
                    own,
                    index,
                    variance_of,
                    noise,
                    times,
                )
                if component.effects:
                    out.append(component)
                else:  # nothing but noise: one number per variance
                    for k, v in enumerate(component.noise):
                        count, squares = pure.get(int(v), (0, 0.0))
                        pure[int(v)] = (count + copies, squares + float((component.half[k] ** 2).sum()))
    for v, (count, squares) in pure.items():
        out.append(Component(count, np.array([[np.sqrt(squares)]]), None, np.array([v]), ()))
    return tuple(out)


def _one_component(
    y: np.ndarray,
    members: list[np.ndarray],
    along: tuple[int, ...],
    copies: int,
    names: list[str],
    own: Mapping[str, tuple[bool, ...]],
    index: Mapping[str, np.ndarray],
    variance_of: Mapping[str, np.ndarray],
    noise: np.ndarray,
    times: Mapping[str, np.ndarray],
) -> Component:
    n_factors = members[0].ndim
    rest = tuple(f for f in range(n_factors) if f not in along)
    data = []
    for rows in members:
        part = y[rows].sum(axis=rest, keepdims=True) / np.sqrt(np.prod([rows.shape[f] for f in rest]))
        for f in along:
            part = part - part.mean(axis=f, keepdims=True)
        data.append(part)
    stacked = np.stack(data)
    matrix = stacked.reshape(len(members), -1)
    rows_of: dict[tuple[str, int], list[int]] = {}
    for k, rows in enumerate(members):
        first = rows.flat[0]
        for name in names:
            rows_of.setdefault((name, int(index[name][first])), []).append(k)
    effects = []
    for (name, entry), ks in rows_of.items():
        coef = [np.sqrt(np.prod([members[k].shape[f] for f in rest if not own[name][f]])) for k in ks]
        rows = members[ks[0]][tuple(slice(None) if own[name][f] else slice(0, 1) for f in range(n_factors))]
        scale = 1 / np.sqrt(np.prod([rows.shape[f] for f in rest]))
        effects.append(
            _Effect(
                name,
                index[name][rows],
                int(variance_of[name][entry]),
                np.array(ks),
                np.array(coef),
                np.array([times[name][members[k].flat[0]] if name in times else -1 for k in ks]),
                float(scale),
            )
        )
    return Component(
        copies=copies,
        half=_gram_root(matrix, copies),
        data=stacked if effects else None,
        noise=np.array([noise[rows.flat[0]] for rows in members]),
        effects=tuple(effects),
    )


def _gram_root(matrix: np.ndarray, copies: int) -> np.ndarray:
    """Return F with FF' = matrix matrix', and no more columns than rank; the data themselves where they are few."""
    rank = min(copies, len(matrix))
    if matrix.shape[1] <= rank:
        return matrix
    values, vectors = np.linalg.eigh(matrix @ matrix.T)
    return vectors[:, -rank:] * np.sqrt(np.maximum(values[-rank:], 0.0))
