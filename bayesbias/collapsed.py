r"""Exact reduction of normal models: only the scales are left to sample.

Let every row be :math:`y_n = \sum_p u_p[i_p(n)] + \epsilon_n` with independent normal effects, their
spreads being either numbers or parameters (a parameter centred on another one is the other one plus an
effect of its own). Words that meet the same partners under the same labels are exchangeable: swapping
two of them changes no array of the model. Rotating each such group ("orbit") into its mean and its
deviations therefore splits the rows into independent *components*:

- for every set A of unit factors (words, attributes, both, none) and every choice of orbits for A, the
  deviations along A of the block means, which are :math:`\prod_{f \in A}(n_f - 1)` independent copies of
  one small normal vector with one row per block;
- an effect takes part in a component if its units include A, with the coefficient
  :math:`\sqrt{\prod n_f}` over the factors that are neither in A nor its own.

The rotation is orthonormal, so the sum of the components' log-densities *is* the marginal
log-likelihood, not an approximation, and its cost depends on the number of orbits, not of words. A
complete grid of 15 words in three classes and 322 attributes in five has components of at most
15 rows; so has one of 1,000 by 1,000 words.

Missing cells make the orbits smaller, not the result wrong; where so many are missing that the components
grow large, `collapse` says so and the caller samples the pairs one by one instead.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from bayesbias.spec import DISTRIBUTIONS, Design

__all__ = ["Collapsed", "NotCollapsible", "collapse"]

# Cost of one evaluation is the sum of the cubes of the components' sizes; at this bound it is some
# 20 ms, where sampling the pairs themselves is no slower.
MOST_CUBES = 3e7
_PRIOR_CODES = {
    "Exponential": 0,
    "HalfNormal": 1,
    "HalfCauchy": 2,
    "Gamma": 3,
    "HalfStudentT": 4,
    "InverseGamma": 5,
    "LogNormal": 6,
}


class NotCollapsible(Exception):  # noqa: N818 - a reason to go another way, not an error
    """Why a model or a table has no exact reduction here; the message is shown to the user."""


@dataclass(frozen=True)
class _Effect:
    """One effect in one component."""

    name: str
    entries: np.ndarray  # flat entries of the parameter; one axis per factor, length 1 where not its own
    variance: int
    blocks: np.ndarray  # the rows of the component it enters
    coef: np.ndarray  # with these coefficients
    scale: float  # from the rotated effect to its entries


class Normals(Protocol):
    """What draws are made from: a random generator, or something more even."""

    def standard_normal(self, shape: tuple[int, ...], /) -> np.ndarray:
        """Return standard normals; of draws, the first axis counts them."""


@dataclass(frozen=True)
class _Component:
    """`copies` independent copies of one normal vector, one row per block."""

    copies: int
    half: np.ndarray  # (m, rank); times its transpose: the Gram matrix of the data, summed over the copies
    data: np.ndarray | None  # (m, *levels along A, 1 elsewhere); kept only where effects take part
    noise: np.ndarray  # (m,) variance number
    effects: tuple[_Effect, ...]


@dataclass(frozen=True)
class Collapsed:
    """A normal model on one table with all location effects integrated out.

    Attributes
    ----------
    design : Design
    scales : tuple of str
        The sampled parameters, all positive, in the order in which `theta` holds their logarithms.
    components : tuple
        The independent small normal vectors that the table falls into.
    """

    design: Design
    scales: tuple[str, ...]
    components: tuple[_Component, ...]
    constants: np.ndarray
    arrays: tuple[np.ndarray, ...]
    variance_of: Mapping[str, np.ndarray]

    @property
    def n_theta(self) -> int:
        """The number of sampled numbers."""
        return sum(self.design.size(name) for name in self.scales)

    @property
    def component_sizes(self) -> tuple[int, ...]:
        """The number of rows of each component."""
        return tuple(len(component.noise) for component in self.components)

    def log_density(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the log-posterior density of the log-scales and its gradient.

        Parameters
        ----------
        theta : ndarray, shape (n_theta,)
            Logarithms of the scales.
        """
        from bayesbias._kernel import log_density

        grad = np.empty(self.n_theta)
        arguments = (np.ascontiguousarray(theta, dtype=float), *self.arrays, grad)
        value = log_density(*arguments)
        return value, grad

    def split(self, theta: np.ndarray) -> dict[str, np.ndarray]:
        """Turn log-scales, shape (..., n_theta), into the named scale parameters."""
        values, out, start = np.exp(theta), {}, 0
        for name in self.scales:
            part = values[..., start : start + self.design.size(name)]
            out[name] = part.reshape((*theta.shape[:-1], *self.design.shape(name)))
            start += part.shape[-1]
        return out

    def draw_effects(self, theta: np.ndarray, rng: Normals) -> dict[str, np.ndarray]:
        """Draw all location parameters from their exact conditional posterior.

        Within a component, with incidence X, effect variances D and noise variances S, the effects are normal
        with precision :math:`P = D^{-1} + X^T S^{-1} X` and mean :math:`P^{-1} X^T S^{-1} y`.

        Parameters
        ----------
        theta : ndarray, shape (n, n_theta)
        rng : numpy.random.Generator
            Or anything else that has its `standard_normal`.

        Returns
        -------
        dict of str to ndarray, shape (n, *shape of the parameter)
        """
        from threadpoolctl import threadpool_limits

        n, design = len(theta), self.design
        fixed = np.broadcast_to(self.constants, (n, len(self.constants)))
        var = np.concatenate([np.exp(2 * theta), fixed], axis=1)
        flat: dict[str, np.ndarray] = {}
        for name in design.spec.location_parameters():
            flat[name] = np.zeros((n, design.size(name)))
            untouched = np.ones(design.size(name), dtype=bool)
            untouched[design.index[name]] = False
            # What no row touches keeps its prior.
            sd = np.sqrt(var[:, self.variance_of[name][untouched]])
            flat[name][:, untouched] = sd * rng.standard_normal(sd.shape)
        # Thousands of small matrices: several threads for each would wait for one another.
        with threadpool_limits(1, user_api="blas"):
            for component in self.components:
                if component.effects:
                    _draw_component(component, var, flat, rng)
        out: dict[str, np.ndarray] = {}
        for name in design.spec.location_parameters():
            mu = design.spec.parameters[name].args["mu"]
            centre = out[mu].reshape(n, -1)[:, design.parent[name, "mu"]] if isinstance(mu, str) else mu
            out[name] = (flat[name] + centre).reshape((n, *design.shape(name)))
        return out


def _draw_component(comp: _Component, var: np.ndarray, flat: dict[str, np.ndarray], rng: Normals) -> None:
    """Add the draws of one component to the effects it is part of."""
    assert comp.data is not None
    shape = comp.data.shape[1:]
    n, m, n_eff, size = len(var), len(comp.noise), len(comp.effects), int(np.prod(shape))
    x = np.zeros((m, n_eff))
    for column, effect in enumerate(comp.effects):
        x[effect.blocks, column] = effect.coef
    data = comp.data.reshape(m, size)
    along = tuple(2 + axis for axis, length in enumerate(shape) if length > 1)
    few = n_eff <= m
    # In slices of the draws, so that a large table does not need all of them at once.
    step = max(1, int(4e6 // (max(n_eff, m) * size)))
    for start in range(0, n, step):
        part = slice(start, min(n, start + step))
        noise = var[part][:, comp.noise]
        prior = var[part][:, [effect.variance for effect in comp.effects]]
        if few:
            weighted = x.T / noise[:, None]  # X^T S^-1, (k, n_eff, m)
            precision = np.matmul(weighted, x)
            diagonal = np.arange(n_eff)
            precision[:, diagonal, diagonal] += 1 / prior
            lower = np.linalg.cholesky(precision)
            inverse = np.linalg.inv(lower).transpose(0, 2, 1)  # L^-T, small
            mean = np.matmul(inverse @ (inverse.transpose(0, 2, 1) @ weighted), data)
            u = mean + np.matmul(inverse, _normals(rng, (len(weighted), n_eff, *shape), along))
        else:
            # Fewer rows than effects: draw both from their prior, and move the effects by what is left of the data
            # (Matheron's rule), which needs a matrix of the rows alone.
            k = len(noise)
            u = np.sqrt(prior)[:, :, None] * _normals(rng, (k, n_eff, *shape), along)
            left = data - x @ u - np.sqrt(noise)[:, :, None] * _normals(rng, (k, m, *shape), along)
            total = (x * prior[:, None]) @ x.T
            total[:, np.arange(m), np.arange(m)] += noise
            inverse = np.linalg.inv(np.linalg.cholesky(total))
            left = np.matmul(inverse.transpose(0, 2, 1), np.matmul(inverse, left))
            u += prior[:, :, None] * (x.T @ left)
        for column, effect in enumerate(comp.effects):
            own = (u[:, column] * effect.scale).reshape(len(u), *shape)
            spread = np.broadcast_to(own, (len(u), *effect.entries.shape))
            flat[effect.name][part, effect.entries.ravel()] += spread.reshape(len(u), -1)


def _normals(rng: Normals, shape: tuple[int, ...], along: tuple[int, ...]) -> np.ndarray:
    """Draw standard normals, projected on deviations along the given axes; trailing axes flattened."""
    z = rng.standard_normal(shape)
    for axis in along:
        z -= z.mean(axis=axis, keepdims=True)
    return z.reshape(*shape[:2], -1)


def collapse(design: Design) -> Collapsed:
    """Reduce a model on a table to its scales, exactly.

    Raises
    ------
    NotCollapsible
        For noise or effects that are not normal, for scales whose own priors have parameters, and
        for tables so irregular that the reduction would not pay.
    """
    spec = design.spec
    terms = _check_model(design)
    scales = tuple(name for name, parameter in spec.parameters.items() if parameter.positive)
    offset = dict(zip(scales, np.cumsum([0, *(design.size(name) for name in scales)]), strict=False))
    n_theta = sum(design.size(name) for name in scales)
    constants: list[float] = []

    def variance(argument: float | str, entries: np.ndarray) -> np.ndarray:
        if isinstance(argument, str):
            return offset[argument] + entries
        if argument**2 not in constants:
            constants.append(argument**2)
        return np.full(len(entries), n_theta + constants.index(argument**2))

    variance_of = {}
    for name in terms:
        sigma = spec.parameters[name].args["sigma"]
        entries = design.parent[name, "sigma"] if isinstance(sigma, str) else np.zeros(design.size(name))
        variance_of[name] = variance(sigma, entries.astype(np.int64))
    sigma = spec.noise["sigma"]
    noise = variance(sigma, design.index[sigma] if isinstance(sigma, str) else np.zeros(len(design.y)))
    noise = noise.astype(np.int64)
    y = design.y - sum(
        float(mu) for name in terms if not isinstance(mu := spec.parameters[name].args["mu"], str)
    )
    factors = _factors(design)
    index = {name: design.index[name] for name in terms}
    orbits = _orbits(factors, index, variance_of, noise)
    components = _components(y, factors, orbits, index, variance_of, noise)
    cubes = sum(float(len(comp.noise)) ** 3 for comp in components)
    if cubes > MOST_CUBES:
        raise NotCollapsible(
            "so many cells of the grid are missing, or labelled unlike their neighbours, "
            f"that the exact reduction would need vectors of {max(len(c.noise) for c in components)} rows"
        )
    arrays = _kernel_arrays(design, scales, np.array(constants, dtype=float), components)
    return Collapsed(design, scales, components, np.array(constants, dtype=float), arrays, variance_of)


def _check_model(design: Design) -> list[str]:
    spec = design.spec
    if spec.likelihood != "Normal":
        raise NotCollapsible(f"the noise is {spec.likelihood}, not normal")
    terms = spec.location_parameters()
    paths = list(spec.mu)
    for name in terms:
        parameter = spec.parameters[name]
        if parameter.distribution != "Normal":
            raise NotCollapsible(f"the effect {name} is {parameter.distribution}, not normal")
        if isinstance(parameter.args["mu"], str):
            paths.append(parameter.args["mu"])
    twice = sorted({name for name in paths if paths.count(name) > 1})
    if twice:
        raise NotCollapsible(f"the mean reaches {', '.join(twice)} by more than one way")
    for name, parameter in spec.parameters.items():
        if parameter.positive and any(isinstance(value, str) for value in parameter.args.values()):
            raise NotCollapsible(f"the prior of {name} has parameters of its own")
    return terms


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
    factors = _factors(design)
    orbits = _orbits(factors, index, prior, noise)
    out = {}
    for name, idx in index.items():
        kinds = [
            orbit[codes] for orbit, codes in zip(orbits, factors, strict=True) if _touches_one(idx, codes)
        ]
        label = np.full((len(kinds) + 1, design.size(name)), -1, dtype=np.int64)
        label[0] = prior[name]
        for row, kind in enumerate(kinds):
            label[row + 1, idx] = kind
        out[name] = np.unique(label, axis=1, return_inverse=True)[1].ravel()
    return out


def _factors(design: Design) -> list[np.ndarray]:
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


def _orbits(
    factors: list[np.ndarray],
    index: Mapping[str, np.ndarray],
    variance_of: Mapping[str, np.ndarray],
    noise: np.ndarray,
) -> list[np.ndarray]:
    """For each factor the orbit of each level: levels whose rows differ in nothing but the level."""
    out = []
    for f, codes in enumerate(factors):
        others = [factor for g, factor in enumerate(factors) if g != f]
        order = np.lexsort([*others[::-1], codes])
        bounds = np.searchsorted(codes[order], np.arange(codes.max() + 2))
        own = {name: _touches_one(idx, codes) for name, idx in index.items()}
        columns = [*others, noise, *(variance_of[name][idx] for name, idx in index.items())]
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


def _touches_one(idx: np.ndarray, codes: np.ndarray) -> bool:
    """Whether each entry is used by rows of one level only."""
    first = np.zeros(idx.max() + 1, dtype=np.int64)
    first[idx] = codes
    return bool(np.array_equal(first[idx], codes))


def _components(
    y: np.ndarray,
    factors: list[np.ndarray],
    orbits: list[np.ndarray],
    index: Mapping[str, np.ndarray],
    variance_of: Mapping[str, np.ndarray],
    noise: np.ndarray,
) -> tuple[_Component, ...]:
    n_factors = len(factors)
    kind = np.stack([orbit[codes] for orbit, codes in zip(orbits, factors, strict=True)])
    labels, block = np.unique(kind, axis=1, return_inverse=True)
    order = np.lexsort([*factors[::-1], block.ravel()])
    bounds = np.searchsorted(block.ravel()[order], np.arange(labels.shape[1] + 1))
    own = {name: tuple(_touches_one(idx, codes) for codes in factors) for name, idx in index.items()}
    blocks = []
    for b in range(labels.shape[1]):
        rows = order[bounds[b] : bounds[b + 1]]
        shape = [int((orbits[f] == labels[f, b]).sum()) for f in range(n_factors)]
        blocks.append(rows.reshape(shape))

    out: list[_Component] = []
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
                component = _component(
                    y, [blocks[b] for b in members], along, copies, names, own, index, variance_of, noise
                )
                if component.effects:
                    out.append(component)
                else:  # nothing but noise: one number per variance
                    for k, v in enumerate(component.noise):
                        count, squares = pure.get(int(v), (0, 0.0))
                        pure[int(v)] = (count + copies, squares + float((component.half[k] ** 2).sum()))
    for v, (count, squares) in pure.items():
        out.append(_Component(count, np.array([[np.sqrt(squares)]]), None, np.array([v]), ()))
    return tuple(out)


def _component(
    y: np.ndarray,
    members: list[np.ndarray],
    along: tuple[int, ...],
    copies: int,
    names: list[str],
    own: Mapping[str, tuple[bool, ...]],
    index: Mapping[str, np.ndarray],
    variance_of: Mapping[str, np.ndarray],
    noise: np.ndarray,
) -> _Component:
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
    found: dict[tuple[str, int], list[int]] = {}
    for k, rows in enumerate(members):
        first = rows.flat[0]
        for name in names:
            found.setdefault((name, int(index[name][first])), []).append(k)
    effects = []
    for (name, entry), ks in found.items():
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
                float(scale),
            )
        )
    return _Component(
        copies=copies,
        half=_half(matrix, copies),
        data=stacked if effects else None,
        noise=np.array([noise[rows.flat[0]] for rows in members]),
        effects=tuple(effects),
    )


def _half(matrix: np.ndarray, copies: int) -> np.ndarray:
    """Return F with FF' = matrix matrix', and no more columns than rank; the data themselves where they are few."""
    rank = min(copies, len(matrix))
    if matrix.shape[1] <= rank:
        return matrix
    values, vectors = np.linalg.eigh(matrix @ matrix.T)
    return vectors[:, -rank:] * np.sqrt(np.maximum(values[-rank:], 0.0))


def _kernel_arrays(
    design: Design, scales: tuple[str, ...], constants: np.ndarray, components: tuple[_Component, ...]
) -> tuple[np.ndarray, ...]:
    codes, a, b = [], [], []
    for name in scales:
        parameter = design.spec.parameters[name]
        args: list[Any] = [parameter.args[arg] for arg in DISTRIBUTIONS[parameter.distribution].args]
        codes += [_PRIOR_CODES[parameter.distribution]] * design.size(name)
        a += [float(args[0])] * design.size(name)
        b += [float(args[1]) if len(args) > 1 else 0.0] * design.size(name)
    effects = [effect for comp in components for effect in comp.effects]

    def starts(lengths: list[int]) -> np.ndarray:
        return np.cumsum([0, *lengths]).astype(np.int64)

    def joined(parts: list[np.ndarray], dtype: type) -> np.ndarray:
        return np.concatenate([np.zeros(0), *parts]).astype(dtype)

    return (
        np.array(codes, dtype=np.int64),
        np.array(a, dtype=float),
        np.array(b, dtype=float),
        constants,
        np.array([len(comp.noise) for comp in components], dtype=np.int64),
        np.array([comp.copies for comp in components], dtype=float),
        starts([len(comp.noise) for comp in components]),
        starts([comp.half.size for comp in components]),
        starts([len(comp.effects) for comp in components]),
        joined([comp.noise for comp in components], np.int64),
        joined([comp.half.ravel() for comp in components], float),
        np.array([effect.variance for effect in effects], dtype=np.int64),
        starts([len(effect.blocks) for effect in effects]),
        joined([effect.blocks for effect in effects], np.int64),
        joined([effect.coef for effect in effects], float),
    )
