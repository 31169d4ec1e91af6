r"""The exact marginal likelihood of a normal model.

All effects are integrated out, only scales are left to sample.

Every row is :math:`y_n = \sum_p x_{pn} u_p[i_p(n)] + \epsilon_n` with independent normal effects u,
whose standard deviations are numbers or parameters. (A parameter centered on another one is the
other one plus an effect of its own; x is 1, or a covariate, or 0 where a row has not the term.) So
y is normal given the scales, with a covariance as large as the table. Symmetry makes it small.

*Orbits.* The units that identify a row (words and attributes) are factors. Levels of a factor whose
rows differ in nothing but the level form an orbit: the words of one class, the attributes of one
set. A choice of one orbit for each factor is a block: a complete grid of rows that share every
entry but those of the levels themselves.

*Rotation.* Along each factor an orthonormal rotation takes the levels of an orbit to their mean
(and, where a covariate multiplies a term, to the covariate's deviations from its mean) and to the
deviations from these. Rotated effects and noise are still independent normals with the same
variances. So the table falls into independent components: for every set A of factors, and every
choice of orbits for A, the deviations along A are :math:`\prod_{f \in A}(n_f - k_f)` independent
copies of one small normal vector. It has a row for each block with these orbits, and each direction
set apart along the other factors. An effect takes part if its entries differ along all of A. Its
coefficient on a row is :math:`\sqrt{n_f}` for each other factor that it is the same along, or the
inner product of covariate and direction.

*Likelihood.* A component with m rows, incidence X, effect variances D and noise variances S has
covariance :math:`V = X D X^T + S`. Over :math:`\nu` copies with Gram matrix :math:`G = \sum_c y_c
y_c^T` its log density is :math:`-\frac12 (\nu m \log 2\pi + \nu \log |V| + \mathrm{tr}\, V^{-1}
G)`. The sum over components is the marginal log likelihood, exactly. Its cost depends on the number
of orbits, not of words: a complete grid of 15 words in three classes and 322 attributes in five
sets has components of at most 15 rows, and so has one of 1,000 by 1,000 words.

*Effects.* Given the scales, the effects of a component are normal with precision :math:`P = D^{-1}
+ X^T S^{-1} X` and mean :math:`P^{-1} X^T S^{-1} y`, the same at every position along A.

Missing cells make orbits smaller, not the result wrong. Where components grow too large, `collapse`
says so.
"""

import functools
import itertools
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from bayesbias.core.workers import one_thread_of_blas
from bayesbias.models.design import Design, determined
from bayesbias.models.distributions import DISTRIBUTIONS
from bayesbias.models.spec import ModelSpec

# Cost of one evaluation is the sum of the cubes of the components' sizes; at this bound it is some
# 20 ms, where sampling the pairs themselves is no slower.
MOST_CUBES = 3e7
NO_LENGTH = 1e-9  # what rounding leaves of a vector of length one
_HALVES = 11  # the place of the data among the arrays of the kernel


class NotCollapsible(Exception):  # noqa: N818 - a reason to go another way, not an error
    """Why a model or a table has no exact reduction here; the message is shown to the user."""


@dataclass(frozen=True, eq=False)
class Effect:
    """One effect in one component.

    Attributes
    ----------
    name : str
        The parameter.
    entries : ndarray of int
        Flat entries of the parameter; one axis per factor, of length 1 where they are not its own.
    variance : int
        The number of its variance: of theta, or after these of the constants.
    rows, coef : ndarray
        The rows of the component that it enters, and its coefficients there.
    load : ndarray
        From the rotated effect to its entries; broadcasts with them.
    """

    name: str
    entries: np.ndarray
    variance: int
    rows: np.ndarray
    coef: np.ndarray
    load: np.ndarray


@dataclass(frozen=True, eq=False)
class Component:
    """`copies` independent copies of one normal vector.

    Attributes
    ----------
    copies : int
    half : ndarray, shape (m, rank)
        Times its transpose: the Gram matrix of the data, summed over the copies.
    data : ndarray or None, shape (m, *levels along A, 1 elsewhere)
        Kept only where effects take part.
    noise : ndarray of int, shape (m,)
        The number of the variance of the noise of each row.
    effects : tuple of Effect
    bases : tuple of (axis, ndarray)
        For each axis along A what deviations are orthogonal to.
    """

    copies: int
    half: np.ndarray
    data: np.ndarray | None
    noise: np.ndarray
    effects: tuple[Effect, ...]
    bases: tuple[tuple[int, np.ndarray], ...] = ()

    @functools.cached_property
    def incidence(self) -> np.ndarray:
        """How effects enter the rows: X, shape (m, effects)."""
        out = np.zeros((len(self.noise), len(self.effects)))
        for column, effect in enumerate(self.effects):
            out[effect.rows, column] = effect.coef
        return out

    @functools.cached_property
    def variances(self) -> np.ndarray:
        """The number of the variance of each effect."""
        return np.array([effect.variance for effect in self.effects], dtype=np.int64)


@dataclass(frozen=True, eq=False)
class _Block:
    """Rows of the table whose levels are of one orbit of every factor.

    `rows` has an axis for each factor; `bases` are the directions set apart along it, orthonormal
    columns, and `levels` its levels.
    """

    rows: np.ndarray
    bases: tuple[np.ndarray, ...]
    levels: tuple[np.ndarray, ...]


@dataclass(frozen=True, eq=False)
class _Deviations:
    """The deviations along some factors, of the blocks that share the levels there.

    `connected` has the rows of each component, and its effects. Data come with the outcome.
    """

    blocks: tuple[_Block, ...]
    along: tuple[int, ...]
    copies: int
    noise: np.ndarray
    connected: tuple[tuple[np.ndarray, tuple[Effect, ...]], ...]

    def components(self, y: np.ndarray) -> list[Component]:
        """Rotate an outcome into these components."""
        rest = tuple(f for f in range(self.blocks[0].rows.ndim) if f not in self.along)
        rotated = []
        for block in self.blocks:
            part = y[block.rows]
            for f in rest:
                part = np.moveaxis(np.tensordot(part, block.bases[f], axes=(f, 0)), -1, f)
            for f in self.along:
                part = without_directions(part, f, block.bases[f])
            shape = [1 if f in rest else length for f, length in enumerate(block.rows.shape)]
            rotated.append(part.transpose((*rest, *self.along)).reshape(-1, *shape))
        data = np.concatenate(rotated)
        bases = tuple((f, self.blocks[0].bases[f]) for f in self.along)
        out = []
        for rows, effects in self.connected:
            half = data[rows].reshape(len(rows), -1)
            rank = min(self.copies, len(rows))
            if half.shape[1] > rank:  # F with FF' = G, and no more columns than rank
                values, vectors = np.linalg.eigh(half @ half.T)
                half = vectors[:, -rank:] * np.sqrt(np.maximum(values[-rank:], 0.0))
            kept = data[rows] if effects else None
            out.append(Component(self.copies, half, kept, self.noise[rows], effects, bases))
        return out


@dataclass(frozen=True, eq=False)
class Collapsed:
    """A normal model on one table with all location effects integrated out.

    Attributes
    ----------
    design : Design
        Rows in their own order (`Design.ordered`).
    scales : tuple of str
        The sampled parameters, all positive, in the order in which `theta` holds their logarithms.
    components : tuple of Component
    constants : ndarray
        Fixed variances, numbered after those of theta.
    variance_of : Mapping of str to ndarray of int
        The number of the variance of each entry of a location parameter.
    arrays : tuple of ndarray
        What the compiled density reads; see `bayesbias.inference.kernel.log_density`.
    """

    design: Design
    scales: tuple[str, ...]
    components: tuple[Component, ...]
    constants: np.ndarray
    variance_of: Mapping[str, np.ndarray]
    arrays: tuple[np.ndarray, ...]
    _deviations: tuple[_Deviations, ...]

    def of_outcome(self, y: np.ndarray) -> "Collapsed":
        """Return the reduction of another outcome of the same pairs, in the order of this one's."""
        design = replace(self.design, y=y)
        components = _components(self._deviations, design)
        halves = _joined([comp.half.ravel() for comp in components], float)
        arrays = (*self.arrays[:_HALVES], halves, *self.arrays[_HALVES + 1 :])
        return replace(self, design=design, components=components, arrays=arrays)

    @functools.cached_property
    def _words(self) -> np.ndarray:
        from bayesbias.inference.kernel import packed

        return packed(self.arrays)

    @property
    def n_theta(self) -> int:
        """The number of sampled numbers."""
        return len(self.arrays[0])

    @property
    def component_sizes(self) -> tuple[int, ...]:
        """The number of rows of each component."""
        return tuple(len(component.noise) for component in self.components)

    def log_density(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the log posterior density of log scales (n_theta,), and its gradient."""
        from bayesbias.inference.kernel import log_density

        grad = np.empty(self.n_theta)
        theta = np.ascontiguousarray(theta, dtype=float)
        return log_density(theta, self._words, self._words.view(float), grad), grad

    def log_densities(self, thetas: np.ndarray) -> np.ndarray:
        """Return the log posterior density at many values of the log scales, shape (n, n_theta)."""
        from bayesbias.inference.kernel import log_density

        rows = np.ascontiguousarray(thetas, dtype=float)
        words, numbers, no_gradient = self._words, self._words.view(float), np.empty(0)
        out = np.array([log_density(row, words, numbers, no_gradient) for row in rows])
        return np.where(np.isfinite(out), out, -np.inf)

    def scales_of(self, theta: np.ndarray) -> dict[str, np.ndarray]:
        """Turn log scales, shape (..., n_theta), into the named scale parameters."""
        values, out, start = np.exp(theta), {}, 0
        for name in self.scales:
            part = values[..., start : start + self.design.size(name)]
            out[name] = part.reshape((*theta.shape[:-1], *self.design.shape(name)))
            start += part.shape[-1]
        return out

    def theta_of(self, scales: Mapping[str, np.ndarray]) -> np.ndarray:
        """Turn draws of the named scale parameters into log scales, shape (n, n_theta).

        Undoes `scales_of`.
        """
        parts = [np.reshape(scales[name], (len(scales[name]), -1)) for name in self.scales]
        return np.log(np.concatenate(parts, axis=1))

    def variances_at(self, theta: np.ndarray) -> np.ndarray:
        """Return all variances for log scales (n, n_theta), shape (n, n_theta + constants)."""
        fixed = np.broadcast_to(self.constants, (len(theta), len(self.constants)))
        return np.concatenate([np.exp(2 * theta), fixed], axis=1)

    def draw_effects(
        self, theta: np.ndarray, rng: np.random.Generator, some: Collection[str] | None = None
    ) -> dict[str, np.ndarray]:
        """Draw location parameters from their exact conditional posterior.

        One draw for each row of log scales.

        By default all; else `some`, and those that these are centered on.

        Returns
        -------
        dict of str to ndarray, shape (n, *shape of the parameter)
        """
        n, design, var = len(theta), self.design, self.variances_at(theta)
        flat: dict[str, np.ndarray] = {}
        wanted = design.spec.location_parameters()
        if some is not None:
            above = set(some)
            for name in reversed(wanted):
                if name in above:
                    above.add(str(design.spec.parameters[name].args["mu"]))
            wanted = [name for name in wanted if name in above]
        for name in wanted:
            flat[name] = np.zeros((n, design.size(name)))
            untouched = design.untouched(name)  # which keeps its prior
            sd = np.sqrt(var[:, self.variance_of[name][untouched]])
            flat[name][:, untouched] = sd * rng.standard_normal(sd.shape)
        with one_thread_of_blas():
            for component in self.components:
                if any(effect.name in flat for effect in component.effects):
                    _draw_component(component, var, flat, rng)
        out: dict[str, np.ndarray] = {}
        for name in wanted:
            center: Any = design.spec.parameters[name].args["mu"]
            if isinstance(center, str):
                center = out[center].reshape(n, -1)[:, design.parent[name, "mu"]]
            out[name] = (flat[name] + center).reshape((n, *design.shape(name)))
        return out


def _draw_component(
    comp: Component, var: np.ndarray, flat: dict[str, np.ndarray], rng: np.random.Generator
) -> None:
    """Add the draws of one component to the effects that take part in it."""
    assert comp.data is not None
    shape, x = comp.data.shape[1:], comp.incidence
    (m, n_eff), size = x.shape, int(np.prod(shape))
    data = comp.data.reshape(m, size)

    def normals(*lead: int) -> np.ndarray:
        z = rng.standard_normal((*lead, *shape))
        for axis, basis in comp.bases:
            z = without_directions(z, 2 + axis, basis)
        return z.reshape(*lead, size)

    # In slices of the draws, so that a large table does not need all of them at once.
    step = max(1, int(4e6 // (max(n_eff, m) * size)))
    for start in range(0, len(var), step):
        part = slice(start, start + step)
        noise, prior = var[part][:, comp.noise], var[part][:, comp.variances]
        k = len(noise)
        if n_eff <= m:
            weighted = x.T / noise[:, None]  # X' S^-1, (k, n_eff, m)
            precision = weighted @ x
            diagonal = np.arange(n_eff)
            precision[:, diagonal, diagonal] += 1 / prior
            inverse = np.linalg.inv(np.linalg.cholesky(precision)).transpose(0, 2, 1)  # L^-T
            mean = (inverse @ (inverse.transpose(0, 2, 1) @ weighted)) @ data
            u = mean + inverse @ normals(k, n_eff)
        else:
            # Fewer rows than effects: draw both from their prior, and move the effects by what is
            # left of the data (Matheron's rule), which needs a matrix of the rows alone.
            u = np.sqrt(prior)[:, :, None] * normals(k, n_eff)
            left = data - x @ u - np.sqrt(noise)[:, :, None] * normals(k, m)
            inverse = np.linalg.inv(np.linalg.cholesky(covariances(comp, noise, prior)))
            u += prior[:, :, None] * (x.T @ (inverse.transpose(0, 2, 1) @ (inverse @ left)))
        for column, effect in enumerate(comp.effects):
            if effect.name not in flat:
                continue
            own = u[:, column].reshape(k, *shape) * effect.load
            spread = np.broadcast_to(own, (k, *effect.entries.shape))
            flat[effect.name][part, effect.entries.ravel()] += spread.reshape(k, -1)


def covariances(comp: Component, noise: np.ndarray, prior: np.ndarray) -> np.ndarray:
    """Return V = X D X' + S for draws of variances.

    Those of noise (n, m) and effects (n, effects).
    """
    total = (comp.incidence * prior[:, None]) @ comp.incidence.T
    diagonal = np.arange(noise.shape[1])
    total[:, diagonal, diagonal] += noise
    return total


def without_directions(values: np.ndarray, axis: int, basis: np.ndarray) -> np.ndarray:
    """Return values minus their part in the directions set apart along an axis.

    These are the columns of `basis`.
    """
    if basis.shape[1] == 1:  # the mean
        return values - values.mean(axis=axis, keepdims=True)
    onto = np.tensordot(values, basis, axes=(axis, 0))
    return values - np.moveaxis(onto @ basis.T, -1, axis)


@functools.lru_cache(maxsize=2)  # a fit and the questions asked of it share a design
def collapse(design: Design) -> Collapsed:
    """Reduce a model on a table to its scales, exactly.

    Raises
    ------
    NotCollapsible
        If noise or effects are not normal, priors of scales have parameters, or the table is so
        irregular that the reduction would not pay.
    """
    design = design.ordered()
    spec = design.spec
    terms = _collapsible_terms(design)
    scales = tuple(spec.scales())
    starts = np.cumsum([0, *(design.size(name) for name in scales)])
    offset = dict(zip(scales, starts, strict=False))
    if not (n_theta := int(starts[-1])):
        raise NotCollapsible("the model has no scale to sample")
    constants: list[float] = []

    def variance(argument: float | str, entries: np.ndarray) -> np.ndarray:
        if isinstance(argument, str):
            return int(offset[argument]) + entries.astype(np.int64)
        if argument**2 not in constants:
            constants.append(argument**2)
        return np.full(len(entries), n_theta + constants.index(argument**2))

    variance_of = {}
    for name in terms:
        sigma = spec.parameters[name].args["sigma"]
        alone = np.zeros(design.size(name))
        variance_of[name] = variance(sigma, design.parent.get((name, "sigma"), alone))
    sigma = spec.noise["sigma"]
    noise = variance(sigma, design.index.get(str(sigma), np.zeros(len(design.y))))
    deviations = _deviations_of(
        design, {name: design.index[name] for name in terms}, variance_of, noise
    )
    components = _components(deviations, design)
    if sum(float(len(comp.noise)) ** 3 for comp in components) > MOST_CUBES:
        raise NotCollapsible(
            "so many cells of the grid are missing, or labelled unlike their neighbours, "
            "that the exact reduction would need vectors of "
            f"{max(len(c.noise) for c in components)} rows"
        )
    fixed = np.array(constants, dtype=float)
    arrays = _kernel_arrays(design, fixed, components)
    return Collapsed(design, scales, components, fixed, variance_of, arrays, deviations)


def _collapsible_terms(design: Design) -> list[str]:
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
    check_priors(spec)
    return terms


def check_priors(spec: ModelSpec) -> None:
    """Refuse priors of scales that the compiled density does not have."""
    for name in spec.scales():
        parameter = spec.parameters[name]
        if any(isinstance(value, str) for value in parameter.args.values()):
            raise NotCollapsible(f"the prior of {name} has parameters of its own")
        if DISTRIBUTIONS[parameter.distribution].code is None:
            raise NotCollapsible(f"{parameter.distribution} has no compiled density")


def prior_arrays(design: Design) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the code of the prior of each scale, and its two arguments, as `kernel` takes them."""
    priors: list[tuple[Any, ...]] = []
    for name in design.spec.scales():
        parameter = design.spec.parameters[name]
        about = DISTRIBUTIONS[parameter.distribution]
        arguments = (*(float(parameter.args[arg]) for arg in about.args), 0.0)[:2]
        priors += [(about.code, *arguments)] * design.size(name)
    codes, first, second = zip(*priors, strict=True)
    return np.array(codes, dtype=np.int64), np.array(first), np.array(second)


def _components(deviations: Sequence[_Deviations], design: Design) -> tuple[Component, ...]:
    """Return the components of an outcome, minus what the means of effects are fixed at.

    Rows without effects pooled.
    """
    y = design.y.copy()
    for name in design.spec.location_parameters():
        parameter = design.spec.parameters[name]
        if not isinstance(mu := parameter.args["mu"], str):
            y -= mu if parameter.covariate is None else mu * design.covariates[parameter.covariate]
    out: list[Component] = []
    pure: dict[int, tuple[int, float]] = {}
    for one in deviations:
        for component in one.components(y):
            if component.effects:
                out.append(component)
                continue
            for k, v in enumerate(
                map(int, component.noise)
            ):  # noise alone: one number per variance
                count, squares = pure.get(v, (0, 0.0))
                squares += float((component.half[k] ** 2).sum())
                pure[v] = (count + one.copies, squares)
    for v, (count, squares) in pure.items():
        out.append(Component(count, np.array([[np.sqrt(squares)]]), None, np.array([v]), ()))
    return tuple(out)


# From labels to orbits, blocks and deviations.


def factors_of(design: Design) -> list[np.ndarray]:
    """Return the unit columns of ordered rows as codes.

    With a counter of repeats where they do not identify a row.
    """
    factors = list(design.units.values())
    new = np.ones(len(design.y), dtype=bool)
    new[1:] = np.any([np.diff(codes) != 0 for codes in factors], axis=0)
    if not new.all():
        starts = np.flatnonzero(new)
        factors.append(np.arange(len(new)) - np.repeat(starts, np.diff([*starts, len(new)])))
    return factors


def find_orbits(
    factors: Sequence[np.ndarray],
    index: Mapping[str, np.ndarray],
    variance_of: Mapping[str, np.ndarray],
    kinds: Sequence[np.ndarray],
    own: Mapping[str, tuple[bool, ...]],
) -> list[np.ndarray]:
    """For each factor the orbit of each level: levels whose rows differ in nothing but the level.

    Parameters
    ----------
    factors : sequence of ndarray of int, shape (rows,)
        Rows are in their order, the first before the second.
    index : Mapping of str to ndarray of int, shape (rows,)
        Of each term the entry that a row uses.
    variance_of : Mapping of str to ndarray of int, shape (entries,)
    kinds : sequence of ndarray, shape (rows,)
        Codes that levels of one orbit must share, such as which noise a row has.
    own : Mapping of str to tuple of bool
        Whether each entry of a term is one level's alone, for each factor.
    """
    out = []
    for f, codes in enumerate(factors):
        columns = [*(factor for g, factor in enumerate(factors) if g != f), *kinds]
        for name, idx in index.items():
            if not own[name][f]:
                columns.append(idx)  # a variance follows from the entry
                continue
            columns.append(variance_of[name][idx])
            # The place of a row's entry among those of its level: entries of one level alone count
            # by their order.
            level = np.full(int(idx.max()) + 1, -1, dtype=np.int64)
            level[idx] = codes
            used = np.flatnonzero(level >= 0)
            by_level = used[np.argsort(level[used], kind="stable")]
            rank = np.zeros(len(level), dtype=np.int64)
            rank[by_level] = np.arange(len(by_level)) - np.searchsorted(
                level[by_level], level[by_level]
            )
            columns.append(rank[idx])
        order = np.argsort(codes, kind="stable")  # by level, then by the other factors
        counts = np.bincount(codes)
        bounds = np.concatenate([[0], np.cumsum(counts)])
        orbit = _numbered(counts.tolist())
        for column in {id(column): column for column in columns}.values():
            if (column != column[0]).any():
                in_levels = column[order]
                parts = [in_levels[start:stop].tobytes() for start, stop in pairwise(bounds)]
                orbit = _numbered(list(zip(orbit.tolist(), parts, strict=True)))
        out.append(orbit)
    return out


def _numbered(keys: Sequence[object]) -> np.ndarray:
    """Return a number for each key, in the order in which they come first."""
    seen: dict[object, int] = {}
    return np.array([seen.setdefault(key, len(seen)) for key in keys], dtype=np.int64)


def _deviations_of(
    design: Design,
    index: Mapping[str, np.ndarray],
    variance_of: Mapping[str, np.ndarray],
    noise: np.ndarray,
) -> tuple[_Deviations, ...]:
    """Rotate ordered rows into the deviations along each set of factors, which are independent."""
    factors = factors_of(design)
    number = range(len(factors))
    own = {
        name: tuple(determined(each, codes) is not None for codes in factors)
        for name, each in index.items()
    }
    covariates = _covariates_of(design, factors, own)
    orbits = find_orbits(factors, index, variance_of, [noise, *design.only.values()], own)
    bases = []
    for f in number:
        on = [levels for at, levels in covariates.values() if at == f]
        alike = (np.flatnonzero(orbits[f] == label) for label in range(orbits[f].max() + 1))
        bases.append([_directions(levels, on) for levels in alike])
    sizes = [orbit.max() + 1 for orbit in orbits]
    codes = [orbit[own] for orbit, own in zip(orbits, factors, strict=True)]
    joint = np.ravel_multi_index(codes, sizes)
    present, block, counts = np.unique(joint, return_inverse=True, return_counts=True)
    in_blocks = np.argsort(block, kind="stable")
    bounds = np.concatenate([[0], np.cumsum(counts)])
    blocks: dict[tuple[int, ...], _Block] = {}
    for b, labels in enumerate(zip(*np.unravel_index(present, sizes), strict=True)):
        levels = tuple(np.flatnonzero(orbits[f] == labels[f]) for f in number)
        rows = in_blocks[bounds[b] : bounds[b + 1]].reshape([len(its) for its in levels])
        blocks[labels] = _Block(rows, tuple(bases[f][labels[f]] for f in number), levels)
    out = []
    for along in (a for r in range(len(factors) + 1) for a in itertools.combinations(number, r)):
        groups: dict[tuple[int, ...], list[_Block]] = {}
        for labels, one in blocks.items():
            groups.setdefault(tuple(labels[f] for f in along), []).append(one)
        names = [name for name in index if all(own[name][f] for f in along)]
        for members in groups.values():
            first = members[0]
            copies = math.prod(first.rows.shape[f] - first.bases[f].shape[1] for f in along)
            if copies:
                entering = _entering(design, members, along, names, own, covariates, variance_of)
                noises = np.array([noise[row] for row in entering[0]], dtype=np.int64)
                connected = _connected(len(noises), entering[1])
                out.append(_Deviations(tuple(members), along, copies, noises, connected))
    return tuple(out)


def _covariates_of(
    design: Design, factors: Sequence[np.ndarray], own: Mapping[str, tuple[bool, ...]]
) -> dict[str, tuple[int, np.ndarray]]:
    """Return the factor that determines each term with a covariate.

    Also its number for each level.
    """
    out: dict[str, tuple[int, Any]] = {}
    for name in design.spec.mu:
        covariate = design.spec.parameters[name].covariate
        if covariate is None:
            continue
        each = [determined(codes, design.covariates[covariate]) for codes in factors]
        on = next((f for f, levels in enumerate(each) if levels is not None), None)
        if on is None:
            raise NotCollapsible(
                f"{covariate} differs between rows of one {' and of one '.join(design.units)}"
            )
        if own[name][on]:
            raise NotCollapsible(f"{name} has an entry of its own for whatever has one {covariate}")
        out[name] = (on, each[on])
    return out


def _directions(members: np.ndarray, covariates: Sequence[np.ndarray]) -> np.ndarray:
    """Return the directions set apart of an orbit's levels, orthonormal.

    Shape (levels, 1 + independent covariates).
    """
    mean = np.full((len(members), 1), 1 / np.sqrt(len(members)))
    if not covariates or len(members) == 1:
        return mean
    values = np.stack([levels[members] for levels in covariates], axis=1)
    size = np.sqrt((values**2).sum(axis=0))
    values = values / np.where(size > 0, size, 1.0)
    vectors, lengths, _ = np.linalg.svd(values - values.mean(axis=0), full_matrices=False)
    return np.concatenate([mean, vectors[:, lengths > NO_LENGTH]], axis=1)


def _entering(
    design: Design,
    members: Sequence[_Block],
    along: tuple[int, ...],
    names: Sequence[str],
    own: Mapping[str, tuple[bool, ...]],
    covariates: Mapping[str, tuple[int, np.ndarray]],
    variance_of: Mapping[str, np.ndarray],
) -> tuple[list[int], list[Effect]]:
    """Return a table row for each row of some deviations, and the effects that enter them.

    These have a row for each block and each choice of directions along the other factors.
    """
    n_factors = members[0].rows.ndim
    rest = tuple(f for f in range(n_factors) if f not in along)
    rows: list[int] = []
    entering: dict[tuple[str, int, tuple[int, ...]], list[tuple[int, float, _Block]]] = {}
    for block in members:
        first = block.rows.flat[0]
        for towards in itertools.product(*(range(block.bases[f].shape[1]) for f in rest)):
            for name in names:
                if name in design.only and not design.only[name][first]:
                    continue
                coef = 1.0
                for f, direction in zip(rest, towards, strict=True):
                    on, levels = covariates.get(name, (None, None))
                    if own[name][f]:
                        continue
                    if on == f:
                        values = levels[block.levels[f]]  # type: ignore[index]
                        inner = float(values @ block.bases[f][:, direction])
                        length = float(np.sqrt(values @ values))
                        coef *= inner if abs(inner) > NO_LENGTH * length else 0.0
                    else:
                        coef *= np.sqrt(block.rows.shape[f]) if direction == 0 else 0.0
                if coef:
                    turned = tuple(d for f, d in zip(rest, towards, strict=True) if own[name][f])
                    key = (name, int(design.index[name][first]), turned)
                    entering.setdefault(key, []).append((len(rows), coef, block))
            rows.append(int(first))
    effects = []
    for (name, entry, turned), entries in entering.items():
        block = entries[0][2]
        mine = own[name]
        its = block.rows[tuple(slice(None if mine[f] else 1) for f in range(n_factors))]
        load = np.ones((1,) * n_factors)
        for f, direction in zip([f for f in rest if mine[f]], turned, strict=True):
            shape = [-1 if g == f else 1 for g in range(n_factors)]
            load = load * block.bases[f][:, direction].reshape(shape)
        at, coefs = np.array([k for k, *_ in entries]), np.array([c for _, c, _ in entries])
        variance = int(variance_of[name][entry])
        effects.append(Effect(name, design.index[name][its], variance, at, coefs, load))
    return rows, effects


def _connected(
    size: int, effects: Sequence[Effect]
) -> tuple[tuple[np.ndarray, tuple[Effect, ...]], ...]:
    """Return the rows that effects connect, directly or by way of others, with those effects."""
    group = np.arange(size)
    for effect in effects:
        together = np.isin(group, group[effect.rows])
        group[together] = group[effect.rows].min()
    out = []
    for label in np.unique(group):
        rows = np.flatnonzero(group == label)
        its = [effect for effect in effects if group[effect.rows[0]] == label]
        moved = (replace(effect, rows=np.searchsorted(rows, effect.rows)) for effect in its)
        out.append((rows, tuple(moved)))
    return tuple(out)


def _kernel_arrays(
    design: Design, constants: np.ndarray, components: Sequence[Component]
) -> tuple[np.ndarray, ...]:
    from bayesbias.inference.kernel import prior_constant

    priors = prior_arrays(design)
    effects = [effect for comp in components for effect in comp.effects]

    def starts(lengths: list[int]) -> np.ndarray:
        return np.cumsum([0, *lengths]).astype(np.int64)

    return (
        *priors,
        np.array([prior_constant(*prior) for prior in zip(*priors, strict=True)]),
        constants,
        np.array([len(comp.noise) for comp in components], dtype=np.int64),
        np.array([comp.copies for comp in components], dtype=float),
        starts([len(comp.noise) for comp in components]),
        starts([comp.half.size for comp in components]),
        starts([len(comp.effects) for comp in components]),
        _joined([comp.noise for comp in components], np.int64),
        _joined([comp.half.ravel() for comp in components], float),
        np.array([effect.variance for effect in effects], dtype=np.int64),
        starts([len(effect.rows) for effect in effects]),
        _joined([effect.rows for effect in effects], np.int64),
        _joined([effect.coef for effect in effects], float),
    )


def _joined(parts: list[np.ndarray], dtype: type) -> np.ndarray:
    return np.concatenate([np.zeros(0), *parts]).astype(dtype)
