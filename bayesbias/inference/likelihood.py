r"""The exact marginal likelihood of a normal model: its effects are integrated out.

`collapse` turns a design into a `Reduction`, whose `log_density` depends on the scales alone (the
standard deviations, SDs, that are parameters). NUTS samples it. Given scales, `draw_effects` draws
the effects.

*Model.* Row n of the table has the outcome

.. math:: y_n = \sum_p x_{pn}\, u_p[i_p(n)] + \epsilon_n.

Each location parameter p has one effect :math:`u_p[i]` for each of its entries i, and row n uses
the entry :math:`i_p(n)`. The lever :math:`x_{pn}` is 1, a covariate, or 0 where the row lacks the
term. (A parameter centered on another is that one plus effects of its own.) Effects and noise
:math:`\epsilon` are independent normals, whose SDs are scales or numbers. So y is normal given the
scales, with a covariance as large as the table. Symmetry makes it small.

*Factors, orbits, blocks.* The columns that identify a row (the word and the attribute) are factors;
a level of a factor is one word or one attribute. Levels whose rows differ in nothing but the level
form an orbit: the words of one class, the attributes of one set. One orbit of each factor gives a
block: a complete grid of rows, which share every entry but those nested in a factor, that is, those
that belong to one level alone.

*Rotation.* Along factor f an orthonormal rotation splits the :math:`n_f` levels of an orbit into
:math:`k_f` directions and :math:`n_f - k_f` deviations from them. The first direction is the mean.
Where a covariate multiplies a term, its deviations from its own mean are another one. Rotated
effects and noise are still independent normals with the same variances.

*Strata and components.* Each set A of factors, with one orbit of each factor in A, has a stratum:
the data rotated to deviations along A and to directions along the other factors. Strata are
independent. A stratum is :math:`\nu = \prod_{f \in A}(n_f - k_f)` independent copies of one small
normal vector. The vector has a row for each block with these orbits and each choice of one
direction along every other factor. The effects of p take part if p is nested in every factor of A.
The coefficient of an effect on a row is a product over the factors f outside A that p is not nested
in: :math:`\sqrt{n_f}` for the mean and 0 for another direction, or the inner product of covariate
and direction. Rows that no effect connects are independent, so that a stratum falls apart into
components.

For I words of one class by J attributes of one set, with effects of words (SD
:math:`\sigma_w`), attributes (:math:`\sigma_a`) and noise (:math:`\sigma`), the strata are those of
a two-way analysis of variance, each with one row:

=================  ========================  ===============================================
A                  copies                    variance of the row
=================  ========================  ===============================================
none               1                         :math:`\sigma^2 + J \sigma_w^2 + I \sigma_a^2`
words              :math:`I - 1`             :math:`\sigma^2 + J \sigma_w^2`
attributes         :math:`J - 1`             :math:`\sigma^2 + I \sigma_a^2`
words, attributes  :math:`(I - 1)(J - 1)`    :math:`\sigma^2`
=================  ========================  ===============================================

*Likelihood.* A component has m rows, the incidence X (its coefficients), effect variances D and
noise variances R, so that one copy has covariance :math:`V = X D X^T + R`. Its copies
:math:`y_1 \ldots y_\nu` have the Gram matrix :math:`G = \sum_c y_c y_c^T` and the log density
:math:`-\frac12 (\nu m \log 2\pi + \nu \log |V| + \mathrm{tr}\, V^{-1} G)`. The sum over
components is the marginal log likelihood, exactly. Its cost depends on the number of orbits, not of
words: 15 words in three classes by 322 attributes in five sets have components of at most 15 rows,
and so have 1,000 words by 1,000 attributes.

*Effects.* Given the scales, the effects of a component are normal with precision :math:`P = D^{-1}
+ X^T R^{-1} X` and mean :math:`P^{-1} X^T R^{-1} y`, for each copy.

Missing cells make orbits smaller, not the result wrong. Where components grow too large, `collapse`
takes the way of `bayesbias.inference.unbalanced`, which fits any table.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from bayesbias.core import FitError
from bayesbias.core.workers import one_thread_of_blas
from bayesbias.inference.diagnostics import ENOUGH_MIXED
from bayesbias.models.design import Arrays, Design, determined
from bayesbias.models.distributions import DISTRIBUTIONS
from bayesbias.models.spec import ModelSpec

# Cost of one evaluation is the sum of the cubes of the components' sizes; at this bound it is some
# 20 ms, where sampling the pairs themselves is no slower.
MOST_CUBES = 3e7
_CUBES_PER_SECOND = 1.5e9
_COSTLY_S = 1e-3
_LEAST_PER_CHAIN, _WANTED_PER_CHAIN = 100.0, 110.0  # effective draws: diagnostics ask for 100
_ROOTS_KEPT = 4_000_000  # numbers: 32 MB
_MOST_BLOCKS = 2000  # of a table that may still be a grid
_LEAST_SQUARE = 1e-22  # of noise, relative to the outcomes
NO_LENGTH = 1e-9  # what rounding leaves of a vector of length one
type Nested = Mapping[str, tuple[bool, ...]]
"""Whether each factor has entries of its own of a term, for each factor."""
_GRAM_ROOTS = 11  # the place of the data among the arrays of the kernel


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
        Flat entries of the parameter that are rotated into this effect, with an axis for each
        factor, of length 1 where the parameter is not nested in it.
    variance : int
        The number of its variance (see `Collapsed`).
    rows, coef : ndarray
        The rows of the component that it enters, and its coefficients there.
    load : ndarray
        How the rotated effect is spread over its entries; broadcasts with them.
    """

    name: str
    entries: np.ndarray
    variance: int
    rows: np.ndarray
    coef: np.ndarray
    load: np.ndarray


@dataclass(frozen=True, eq=False)
class Component:
    """Independent copies of one normal vector of m rows.

    Attributes
    ----------
    copies : int
        Their number nu.
    gram_root : ndarray, shape (m, rank)
        F, with FF' the Gram matrix G of the copies.
    data : ndarray or None, shape (m, *levels along A, 1 elsewhere)
        The rotated data, kept only where effects take part.
    noise : ndarray of int, shape (m,)
        The number of the variance of the noise of each row.
    effects : tuple of Effect
    directions : tuple of (axis, ndarray)
        For each axis along A the orthonormal directions that the data deviate from.
    """

    copies: int
    gram_root: np.ndarray
    data: np.ndarray | None
    noise: np.ndarray
    effects: tuple[Effect, ...]
    directions: tuple[tuple[int, np.ndarray], ...] = ()

    @functools.cached_property
    def incidence(self) -> np.ndarray:
        """The coefficients of effects on rows: X, shape (m, effects)."""
        out = np.zeros((len(self.noise), len(self.effects)))
        for column, effect in enumerate(self.effects):
            out[effect.rows, column] = effect.coef
        return out

    @functools.cached_property
    def variances(self) -> np.ndarray:
        """The number of the variance of each effect."""
        return np.array([effect.variance for effect in self.effects], dtype=np.int64)


@dataclass(frozen=True, eq=False, kw_only=True)
class Reduction:
    """A normal model with all its effects integrated out, whatever the way.

    Variances are numbered: first the squares of the scales, in the order of `theta`, then the
    constants.

    Attributes
    ----------
    design : Design
        With its rows sorted (`Design.ordered`).
    scales : tuple of str
        The sampled parameters, all positive; `theta` holds the logarithms of their entries.
    constants : ndarray
        The variances that are numbers of the model file.
    variance_of : Mapping of str to ndarray of int
        The number of the variance of each entry of a location parameter.
    """

    design: Design
    scales: tuple[str, ...]
    constants: np.ndarray
    variance_of: Arrays

    @functools.cached_property
    def n_theta(self) -> int:
        """The number of sampled numbers."""
        return sum(self.design.size(name) for name in self.scales)

    @property
    def seconds(self) -> float:
        """About how long a density takes on one core."""
        raise NotImplementedError

    @property
    def costly(self) -> bool:
        """Whether a density takes too long for chains of NUTS: a millisecond or so."""
        return self.seconds > _COSTLY_S

    @property
    def most_mixed(self) -> int:
        """How many draws of the scales a mixture of normals is over."""
        return ENOUGH_MIXED

    @property
    def per_chain(self) -> tuple[float, float]:
        """The fewest effective draws of a chain, and how many are wanted, where it is costly."""
        return _LEAST_PER_CHAIN, _WANTED_PER_CHAIN

    @property
    def usual_sd(self) -> float:
        """The SD of outcomes, from which the search for scales starts."""
        return float(np.std(self.design.y))

    @property
    def is_approximate(self) -> bool:
        """Whether effects given the scales are searched for, so that few draws of scales differ."""
        return False

    @property
    def has_nuts(self) -> bool:
        """Whether NUTS can take over where importance weights cannot be trusted."""
        return True

    def started(self, theta: np.ndarray) -> None:
        """Let what is searched for at each value of the log scales start near one of them."""

    def bounds(self, thetas: np.ndarray) -> np.ndarray | None:
        """Return bounds closer to the log posterior density than `log_densities`, if there are any.

        The log scales have the shape (n, n_theta).
        """
        return None

    def of_outcome(self, y: np.ndarray) -> Reduction:
        """Return the reduction of another outcome of the same pairs, in the order of this one's."""
        raise NotImplementedError

    def log_density(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the log posterior density of log scales (n_theta,), and its gradient."""
        raise NotImplementedError

    def log_densities(self, thetas: np.ndarray) -> np.ndarray:
        """Return the log posterior density at many values of the log scales, shape (n, n_theta)."""
        raise NotImplementedError

    def gradients(self, thetas: np.ndarray) -> np.ndarray:
        """Return the gradient of the log posterior density at many log scales, shape (n, n_theta)."""
        return np.stack([self.log_density(theta)[1] for theta in thetas])

    def without_noise(self) -> bool:
        """Return whether the effects reproduce some rows exactly."""
        raise NotImplementedError

    def without_data(self, name: str) -> np.ndarray:
        """Return a mask of the entries of a location parameter that enter no row."""
        return self.design.without_data(name)

    def scales_of(self, theta: np.ndarray) -> Arrays:
        """Turn log scales, shape (..., n_theta), into the named scale parameters."""
        values, out, start = np.exp(theta), {}, 0
        for name in self.scales:
            part = values[..., start : start + self.design.size(name)]
            out[name] = part.reshape((*theta.shape[:-1], *self.design.shape(name)))
            start += part.shape[-1]
        return out

    def theta_of(self, scales: Arrays) -> np.ndarray:
        """Turn draws of the named scales into log scales, shape (n, n_theta)."""
        parts = [np.reshape(scales[name], (len(scales[name]), -1)) for name in self.scales]
        return np.log(np.concatenate(parts, axis=1))

    def variances_at(self, theta: np.ndarray) -> np.ndarray:
        """Return all variances for log scales (n, n_theta), shape (n, n_theta + constants)."""
        fixed = np.broadcast_to(self.constants, (len(theta), len(self.constants)))
        return np.concatenate([np.exp(2 * theta), fixed], axis=1)

    def draw_effects(
        self, theta: np.ndarray, rng: np.random.Generator, some: Collection[str] | None = None
    ) -> dict[str, np.ndarray]:
        """Draw location parameters from their exact posterior given scales.

        Parameters
        ----------
        theta : ndarray, shape (n, n_theta)
            Log scales; each row gives one draw.
        rng : Generator
        some : collection of str, optional
            The parameters to draw, with those that they are centered on; by default all.

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
            unused = self.without_data(name)  # these entries keep their prior
            sd = np.sqrt(var[:, self.variance_of[name][unused]])
            flat[name][:, unused] = sd * rng.standard_normal(sd.shape)
        if flat:
            with one_thread_of_blas():
                self._add_effects(theta, flat, rng)
        out: dict[str, np.ndarray] = {}
        for name in wanted:
            center: Any = design.spec.parameters[name].args["mu"]
            if isinstance(center, str):
                center = out[center].reshape(n, -1)[:, design.parent[name, "mu"]]
            out[name] = (flat[name] + center).reshape((n, *design.shape(name)))
        return out

    def _add_effects(
        self, theta: np.ndarray, flat: dict[str, np.ndarray], rng: np.random.Generator
    ) -> None:
        """Add draws of the deviations of effects from their means, for some parameters."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False, kw_only=True)
class Collapsed(Reduction):
    """The reduction of a design that is a nearly complete grid.

    Attributes
    ----------
    components : tuple of Component
    arrays : tuple of ndarray
        What the compiled density reads; see `bayesbias.inference.kernel.log_density`.
    """

    components: tuple[Component, ...]
    arrays: tuple[np.ndarray, ...]
    _strata: tuple[_Stratum, ...]

    def of_outcome(self, y: np.ndarray) -> Collapsed:
        """Return the reduction of another outcome of the same pairs, in the order of this one's."""
        design = replace(self.design, y=y)
        components = _components(self._strata, design)
        roots = _joined([comp.gram_root.ravel() for comp in components], float)
        arrays = (*self.arrays[:_GRAM_ROOTS], roots, *self.arrays[_GRAM_ROOTS + 1 :])
        return replace(self, design=design, components=components, arrays=arrays)

    @functools.cached_property
    def _packed(self) -> np.ndarray:
        from bayesbias.inference.kernel import packed

        return packed(self.arrays)

    @property
    def component_sizes(self) -> tuple[int, ...]:
        """The number of rows of each component."""
        return tuple(len(component.noise) for component in self.components)

    @property
    def cubes(self) -> float:
        """The cost of a density: the cubes of the components' sizes, summed."""
        return sum(float(size) ** 3 for size in self.component_sizes)

    @property
    def seconds(self) -> float:
        """About how long a density takes on one core."""
        return self.cubes / _CUBES_PER_SECOND

    def log_density(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the log posterior density of log scales (n_theta,), and its gradient."""
        from bayesbias.inference.kernel import log_density

        grad = np.empty(self.n_theta)
        theta = np.ascontiguousarray(theta, dtype=float)
        return log_density(theta, self._packed, self._packed.view(float), grad), grad

    def log_densities(self, thetas: np.ndarray) -> np.ndarray:
        """Return the log posterior density at many values of the log scales, shape (n, n_theta)."""
        from bayesbias.inference.kernel import log_density

        rows = np.ascontiguousarray(thetas, dtype=float)
        integers, reals, no_gradient = self._packed, self._packed.view(float), np.empty(0)
        out = np.array([log_density(row, integers, reals, no_gradient) for row in rows])
        return np.where(np.isfinite(out), out, -np.inf)

    def without_noise(self) -> bool:
        """Return whether the effects reproduce some rows exactly."""
        least = _LEAST_SQUARE * float(np.sum(self.design.y**2))
        return any(
            not component.effects and component.gram_root[0, 0] ** 2 <= least
            for component in self.components
        )

    def inverse_roots(self, place: int, var: np.ndarray) -> np.ndarray:
        """Return the inverse roots of the covariances of one component's rows.

        The questions asked of a fit are answered at the same draws, so the last roots are kept
        where they take little memory.

        Parameters
        ----------
        place : int
            The number of the component, of m rows.
        var : ndarray, shape (n, variances)

        Returns
        -------
        ndarray, shape (n, m, m)
            L^-1, with V = LL'.

        Raises
        ------
        FitError
            If a covariance is not positive definite in floating point.
        """
        kept = self._last_roots.get(place)
        if kept is not None and np.array_equal(kept[0], var):
            return kept[1]
        component = self.components[place]
        covariance = covariances(component, var[:, component.noise], var[:, component.variances])
        try:
            roots = np.linalg.inv(np.linalg.cholesky(covariance))
        except np.linalg.LinAlgError:
            raise FitError(
                "a covariance is not positive definite in floating point: a standard deviation is "
                "millions of times the noise"
            ) from None
        if roots.size <= _ROOTS_KEPT:
            self._last_roots[place] = var, roots
        return roots

    @functools.cached_property
    def _last_roots(self) -> dict[int, tuple[np.ndarray, np.ndarray]]:
        return {}

    def _add_effects(
        self, theta: np.ndarray, flat: dict[str, np.ndarray], rng: np.random.Generator
    ) -> None:
        """Add draws of the deviations of effects from their means, for some parameters."""
        var = self.variances_at(theta)
        for component in self.components:
            if any(effect.name in flat for effect in component.effects):
                _draw_component(component, var, flat, rng)


@functools.lru_cache(maxsize=2)  # a fit and the questions asked of it share a design
def collapse(design: Design) -> Reduction:
    """Integrate the effects of a model on a table out, exactly.

    A nearly complete grid gives a `Collapsed`, any other table an
    `bayesbias.inference.unbalanced.Unbalanced`.

    Raises
    ------
    NotCollapsible
        If noise or effects are not normal, or priors of scales have parameters.
    FitError
        If the table would take more memory or time than there is.
    """
    design = design.ordered()
    normal_terms(design)
    grid = None
    with contextlib.suppress(NotCollapsible):
        grid = collapse_grid(design)
        if not grid.costly:
            return grid
    from bayesbias.inference.unbalanced import Unbalanced

    try:
        unbalanced = Unbalanced.of(design)
    except FitError:
        if grid is None:
            raise
        return grid
    return unbalanced if grid is None or unbalanced.seconds < grid.seconds else grid


def collapse_grid(design: Design) -> Collapsed:
    """Integrate the effects out by the symmetry of a grid.

    Raises
    ------
    NotCollapsible
        If `collapse` raises it, or the table is so irregular that symmetry would not pay.
    """
    design = design.ordered()
    terms = normal_terms(design)
    if design.weights is not None:
        raise NotCollapsible("rows have weights")
    _refuse_second_ways(design.spec)
    numbered = numbered_variances(design, terms)
    index = {name: design.index[name] for name in terms}
    strata = _strata_of(design, index, numbered.of_entries, numbered.of_rows)
    components = _components(strata, design)
    if sum(float(len(comp.noise)) ** 3 for comp in components) > MOST_CUBES:
        raise NotCollapsible(
            "so many cells of the grid are missing, or labeled unlike their neighbors, "
            "that the exact reduction would need vectors of "
            f"{max(len(c.noise) for c in components)} rows"
        )
    return Collapsed(
        design=design,
        scales=numbered.scales,
        constants=numbered.constants,
        variance_of=numbered.of_entries,
        components=components,
        arrays=_kernel_arrays(design, numbered.constants, components),
        _strata=strata,
    )


class Numbered(NamedTuple):
    """Variances by number: first the squares of the scales, then the constants.

    Attributes
    ----------
    scales : tuple of str
        The sampled parameters.
    constants : ndarray
        The variances that are numbers of the model file.
    of_entries : dict of str to ndarray of int
        The number of the variance of each entry of a location parameter.
    of_rows : ndarray of int, shape (rows,)
        The number of the variance of the noise of each row; empty where counts have none.
    """

    scales: tuple[str, ...]
    constants: np.ndarray
    of_entries: dict[str, np.ndarray]
    of_rows: np.ndarray


def numbered_variances(design: Design, terms: Sequence[str]) -> Numbered:
    """Return the numbers of the variances of effects and noise, those of scales first."""
    spec = design.spec
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

    of_entries = {}
    for name in terms:
        sigma = spec.parameters[name].args["sigma"]
        alone = np.zeros(design.size(name))
        of_entries[name] = variance(sigma, design.parent.get((name, "sigma"), alone))
    of_rows = np.zeros(0, dtype=np.int64)
    if "sigma" in spec.noise:
        sigma = spec.noise["sigma"]
        of_rows = variance(sigma, design.index.get(str(sigma), np.zeros(len(design.y))))
    return Numbered(scales, np.array(constants, dtype=float), of_entries, of_rows)


def normal_terms(design: Design) -> list[str]:
    """Return the location parameters of a normal model; refuse any other model."""
    if not design.outcome_type.normal:
        raise NotCollapsible(f"the noise is {design.spec.likelihood}, not normal")
    return normal_effects(design)


def normal_effects(design: Design) -> list[str]:
    """Return the location parameters of a model; refuse effects that are not normal."""
    spec = design.spec
    terms = spec.location_parameters()
    for name in terms:
        parameter = spec.parameters[name]
        if parameter.distribution != "Normal":
            raise NotCollapsible(f"the effect {name} is {parameter.distribution}, not normal")
    check_priors(spec)
    return terms


def _refuse_second_ways(spec: ModelSpec) -> None:
    """Refuse a parameter that the mean reaches by more than one way."""
    paths = list(spec.mu)
    for name in spec.location_parameters():
        if isinstance(center := spec.parameters[name].args["mu"], str):
            paths.append(center)
    twice = sorted({name for name in paths if paths.count(name) > 1})
    if twice:
        raise NotCollapsible(f"the mean reaches {', '.join(twice)} by more than one way")


def check_priors(spec: ModelSpec) -> None:
    """Refuse priors of scales that the compiled density does not have."""
    for name in spec.scales():
        parameter = spec.parameters[name]
        if any(isinstance(value, str) for value in parameter.args.values()):
            raise NotCollapsible(f"the prior of {name} has parameters of its own")
        if DISTRIBUTIONS[parameter.distribution].code is None:
            raise NotCollapsible(f"{parameter.distribution} has no compiled density")


def prior_arrays(design: Design) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the code of the prior of each scale, and its two arguments (0 where it has one)."""
    priors: list[tuple[Any, ...]] = []
    for name in design.spec.scales():
        parameter = design.spec.parameters[name]
        about = DISTRIBUTIONS[parameter.distribution]
        arguments = (*(float(parameter.args[arg]) for arg in about.args), 0.0)[:2]
        priors += [(about.code, *arguments)] * design.size(name)
    columns = np.array(priors, dtype=float).reshape(-1, 3).T  # a model may have no scale
    return columns[0].astype(np.int64), columns[1].copy(), columns[2].copy()


# From a table to its orbits, blocks, strata and components.


def factors_of(design: Design) -> list[np.ndarray]:
    """Return the unit columns of sorted rows as codes, and a counter of repeats if rows repeat."""
    factors = list(design.units.values())
    new = np.ones(len(design.y), dtype=bool)
    new[1:] = np.any([np.diff(codes) != 0 for codes in factors], axis=0)
    if not new.all():
        starts = np.flatnonzero(new)
        factors.append(np.arange(len(new)) - np.repeat(starts, np.diff([*starts, len(new)])))
    return factors


def find_orbits(
    factors: Sequence[np.ndarray],
    index: Arrays,
    variance_of: Arrays,
    kinds: Sequence[np.ndarray],
    nested: Nested,
) -> list[np.ndarray]:
    """Return the orbit of each level, for each factor.

    Levels of one orbit have rows that differ in nothing but the level.

    Parameters
    ----------
    factors : sequence of ndarray of int, shape (rows,)
        Rows are sorted by them, the first before the second.
    index : Mapping of str to ndarray of int, shape (rows,)
        Of each term the entry that a row uses.
    variance_of : Mapping of str to ndarray of int, shape (entries,)
    kinds : sequence of ndarray, shape (rows,)
        Codes that levels of one orbit must share, such as which noise a row has.
    nested : Mapping of str to tuple of bool
        For each factor, whether every entry of a term belongs to one level alone.
    """
    out = []
    for f, codes in enumerate(factors):
        columns = [*(factor for g, factor in enumerate(factors) if g != f), *kinds]
        for name, idx in index.items():
            if not nested[name][f]:
                columns.append(idx)  # a variance follows from the entry
                continue
            columns.append(variance_of[name][idx])
            # Nested entries count by their place among those of their level.
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


@dataclass(frozen=True, eq=False)
class _Block:
    """The rows of the table whose levels belong to one orbit of each factor.

    Attributes
    ----------
    rows : ndarray of int
        With an axis for each factor.
    directions : tuple of ndarray, shape (levels, directions)
        Orthonormal columns, for each factor.
    levels : tuple of ndarray of int
        The levels of the orbit, for each factor.
    """

    rows: np.ndarray
    directions: tuple[np.ndarray, ...]
    levels: tuple[np.ndarray, ...]


@dataclass(frozen=True, eq=False)
class _Stratum:
    """The data of the blocks that share orbits along A, rotated to deviations along A.

    Attributes
    ----------
    blocks : tuple of _Block
    along : tuple of int
        The set A of factors.
    copies : int
    noise : ndarray of int, shape (rows,)
        The number of the noise variance of each row.
    connected : tuple of (ndarray of int, tuple of Effect)
        The rows of each component, and its effects.
    """

    blocks: tuple[_Block, ...]
    along: tuple[int, ...]
    copies: int
    noise: np.ndarray
    connected: tuple[tuple[np.ndarray, tuple[Effect, ...]], ...]

    def components(self, y: np.ndarray) -> list[Component]:
        """Rotate an outcome into the components."""
        rest = tuple(f for f in range(self.blocks[0].rows.ndim) if f not in self.along)
        rotated = []
        for block in self.blocks:
            values = y[block.rows]
            for f in rest:
                onto = np.tensordot(values, block.directions[f], axes=(f, 0))
                values = np.moveaxis(onto, -1, f)
            for f in self.along:
                values = without_directions(values, f, block.directions[f])
            shape = [1 if f in rest else length for f, length in enumerate(block.rows.shape)]
            rotated.append(values.transpose((*rest, *self.along)).reshape(-1, *shape))
        data = np.concatenate(rotated)
        directions = tuple((f, self.blocks[0].directions[f]) for f in self.along)
        out = []
        for rows, effects in self.connected:
            root = data[rows].reshape(len(rows), -1)
            rank = min(self.copies, len(rows))
            if root.shape[1] > rank:  # F with FF' = G, and no more columns than rank
                values, vectors = np.linalg.eigh(root @ root.T)
                root = vectors[:, -rank:] * np.sqrt(np.maximum(values[-rank:], 0.0))
            kept = data[rows] if effects else None
            out.append(Component(self.copies, root, kept, self.noise[rows], effects, directions))
        return out


def _strata_of(
    design: Design,
    index: Arrays,
    variance_of: Arrays,
    noise: np.ndarray,
) -> tuple[_Stratum, ...]:
    """Divide sorted rows into blocks, and return the strata of every set of factors."""
    factors = factors_of(design)
    numbers = range(len(factors))
    nested = {
        name: tuple(determined(entries, codes) is not None for codes in factors)
        for name, entries in index.items()
    }
    covariates = _covariates_of(design, factors, nested)
    # Levels are put into orbits, which have directions.
    orbits = find_orbits(factors, index, variance_of, [noise, *design.only.values()], nested)
    directions = []
    for f in numbers:
        on = [values for factor, values in covariates.values() if factor == f]
        each = (np.flatnonzero(orbits[f] == orbit) for orbit in range(orbits[f].max() + 1))
        directions.append([_directions(levels, on) for levels in each])
    # Rows are put into blocks, by the combination of their orbits.
    sizes = [orbit.max() + 1 for orbit in orbits]
    of_rows = [orbit[codes] for orbit, codes in zip(orbits, factors, strict=True)]
    combination = np.ravel_multi_index(of_rows, sizes)
    present, block_of, counts = np.unique(combination, return_inverse=True, return_counts=True)
    if len(present) > _MOST_BLOCKS:
        raise NotCollapsible(f"the table has {len(present):,} blocks, and is no grid")
    in_blocks = np.argsort(block_of, kind="stable")
    bounds = np.concatenate([[0], np.cumsum(counts)])
    blocks: dict[tuple[int, ...], _Block] = {}
    for b, chosen in enumerate(zip(*np.unravel_index(present, sizes), strict=True)):
        levels = tuple(np.flatnonzero(orbits[f] == chosen[f]) for f in numbers)
        grid = in_blocks[bounds[b] : bounds[b + 1]].reshape([len(its) for its in levels])
        blocks[chosen] = _Block(grid, tuple(directions[f][chosen[f]] for f in numbers), levels)
    # For each set A of factors, blocks that share their orbits along A make a stratum.
    out = []
    for along in (a for r in range(len(factors) + 1) for a in itertools.combinations(numbers, r)):
        sharing: dict[tuple[int, ...], list[_Block]] = {}
        for chosen, block in blocks.items():
            sharing.setdefault(tuple(chosen[f] for f in along), []).append(block)
        names = [name for name in index if all(nested[name][f] for f in along)]
        for members in sharing.values():
            first = members[0]
            copies = math.prod(first.rows.shape[f] - first.directions[f].shape[1] for f in along)
            if copies:
                rows, effects = _rows_and_effects(
                    design, members, along, names, nested, covariates, variance_of
                )
                connected = _connected(len(rows), effects)
                out.append(_Stratum(tuple(members), along, copies, noise[rows], connected))
    return tuple(out)


def _covariates_of(
    design: Design, factors: Sequence[np.ndarray], nested: Nested
) -> dict[str, tuple[int, np.ndarray]]:
    """Return the factor that determines each covariate, and its value at each level, by term."""
    out: dict[str, tuple[int, Any]] = {}
    for name in design.spec.mu:
        covariate = design.spec.parameters[name].covariate
        if covariate is None:
            continue
        by_level = [determined(codes, design.covariates[covariate]) for codes in factors]
        on = next((f for f, values in enumerate(by_level) if values is not None), None)
        if on is None:
            raise NotCollapsible(
                f"{covariate} differs between rows of one {' and of one '.join(design.units)}"
            )
        if nested[name][on]:
            raise NotCollapsible(f"{name} has an entry of its own for whatever has one {covariate}")
        out[name] = (on, by_level[on])
    return out


def _directions(levels: np.ndarray, covariates: Sequence[np.ndarray]) -> np.ndarray:
    """Return the directions of an orbit as orthonormal columns: its mean, then its covariates."""
    mean = np.full((len(levels), 1), 1 / np.sqrt(len(levels)))
    if not covariates or len(levels) == 1:
        return mean
    values = np.stack([by_level[levels] for by_level in covariates], axis=1)
    size = np.sqrt((values**2).sum(axis=0))
    values = values / np.where(size > 0, size, 1.0)
    vectors, lengths, _ = np.linalg.svd(values - values.mean(axis=0), full_matrices=False)
    return np.concatenate([mean, vectors[:, lengths > NO_LENGTH]], axis=1)


def _rows_and_effects(
    design: Design,
    blocks: Sequence[_Block],
    along: tuple[int, ...],
    names: Sequence[str],
    nested: Nested,
    covariates: Mapping[str, tuple[int, np.ndarray]],
    variance_of: Arrays,
) -> tuple[list[int], list[Effect]]:
    """Return a stratum's rows, each as one table row of its block, and the effects that enter them.

    An effect is told by its parameter, its entry, and its directions along the factors outside A
    that the parameter is nested in.
    """
    n_factors = blocks[0].rows.ndim
    rest = tuple(f for f in range(n_factors) if f not in along)
    rows: list[int] = []
    found: dict[tuple[str, int, tuple[int, ...]], list[tuple[int, float, _Block]]] = {}
    for block in blocks:
        row = int(block.rows.flat[0])
        for chosen in itertools.product(*(range(block.directions[f].shape[1]) for f in rest)):
            for name in names:
                if name in design.only and not design.only[name][row]:
                    continue
                coef = 1.0
                for f, direction in zip(rest, chosen, strict=True):
                    if nested[name][f]:
                        continue
                    on, by_level = covariates.get(name, (None, None))
                    if on == f:
                        values = by_level[block.levels[f]]  # type: ignore[index]
                        inner = float(values @ block.directions[f][:, direction])
                        length = float(np.sqrt(values @ values))
                        coef *= inner if abs(inner) > NO_LENGTH * length else 0.0
                    else:
                        coef *= np.sqrt(block.rows.shape[f]) if direction == 0 else 0.0
                if coef:
                    within = tuple(d for f, d in zip(rest, chosen, strict=True) if nested[name][f])
                    key = (name, int(design.index[name][row]), within)
                    found.setdefault(key, []).append((len(rows), coef, block))
            rows.append(row)
    effects = []
    for (name, entry, within), uses in found.items():
        block = uses[0][2]
        is_nested = nested[name]
        used = block.rows[tuple(slice(None if is_nested[f] else 1) for f in range(n_factors))]
        load = np.ones((1,) * n_factors)
        for f, direction in zip([f for f in rest if is_nested[f]], within, strict=True):
            shape = [-1 if g == f else 1 for g in range(n_factors)]
            load = load * block.directions[f][:, direction].reshape(shape)
        at, coefs = np.array([k for k, *_ in uses]), np.array([c for _, c, _ in uses])
        variance = int(variance_of[name][entry])
        effects.append(Effect(name, design.index[name][used], variance, at, coefs, load))
    return rows, effects


def _connected(
    size: int, effects: Sequence[Effect]
) -> tuple[tuple[np.ndarray, tuple[Effect, ...]], ...]:
    """Return the rows that effects connect, directly or through other rows, with those effects."""
    group = np.arange(size)
    for effect in effects:
        together = np.isin(group, group[effect.rows])
        group[together] = group[effect.rows].min()
    out = []
    for label in np.unique(group):
        rows = np.flatnonzero(group == label)
        entering = (effect for effect in effects if group[effect.rows[0]] == label)
        moved = (replace(effect, rows=np.searchsorted(rows, effect.rows)) for effect in entering)
        out.append((rows, tuple(moved)))
    return tuple(out)


def _components(strata: Sequence[_Stratum], design: Design) -> tuple[Component, ...]:
    """Return the components of the outcome minus the means that are numbers of the model file.

    Rows of noise alone are pooled into one component for each noise variance.
    """
    y = design.y.copy()
    for name in design.spec.location_parameters():
        parameter = design.spec.parameters[name]
        if not isinstance(mu := parameter.args["mu"], str):
            y -= mu if parameter.covariate is None else mu * design.covariates[parameter.covariate]
    out: list[Component] = []
    pooled: dict[int, tuple[int, float]] = {}
    for stratum in strata:
        for component in stratum.components(y):
            if component.effects:
                out.append(component)
                continue
            for row, variance in enumerate(map(int, component.noise)):
                copies, squares = pooled.get(variance, (0, 0.0))
                squares += float((component.gram_root[row] ** 2).sum())
                pooled[variance] = (copies + stratum.copies, squares)
    for variance, (copies, squares) in pooled.items():
        root = np.array([[np.sqrt(squares)]])
        out.append(Component(copies, root, None, np.array([variance]), ()))
    return tuple(out)


def _kernel_arrays(
    design: Design, constants: np.ndarray, components: Sequence[Component]
) -> tuple[np.ndarray, ...]:
    """Return the arrays that `bayesbias.inference.kernel.log_density` reads, in its order."""
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
        starts([comp.gram_root.size for comp in components]),
        starts([len(comp.effects) for comp in components]),
        _joined([comp.noise for comp in components], np.int64),
        _joined([comp.gram_root.ravel() for comp in components], float),
        np.array([effect.variance for effect in effects], dtype=np.int64),
        starts([len(effect.rows) for effect in effects]),
        _joined([effect.rows for effect in effects], np.int64),
        _joined([effect.coef for effect in effects], float),
    )


def _joined(parts: list[np.ndarray], dtype: type) -> np.ndarray:
    return np.concatenate([np.zeros(0), *parts]).astype(dtype)


# Effects, given the scales.


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
        for axis, directions in comp.directions:
            z = without_directions(z, 2 + axis, directions)
        return z.reshape(*lead, size)

    # In slices of the draws, so that a large table does not need all of them at once.
    step = max(1, int(4e6 // (max(n_eff, m) * size)))
    for start in range(0, len(var), step):
        part = slice(start, start + step)
        noise, prior = var[part][:, comp.noise], var[part][:, comp.variances]
        k = len(noise)
        if n_eff <= m:
            weighted = x.T / noise[:, None]  # X' R^-1, (k, n_eff, m)
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
            values = u[:, column].reshape(k, *shape) * effect.load
            values = np.broadcast_to(values, (k, *effect.entries.shape))
            flat[effect.name][part, effect.entries.ravel()] += values.reshape(k, -1)


def covariances(comp: Component, noise: np.ndarray, prior: np.ndarray) -> np.ndarray:
    """Return V = X D X' + R for variances of noise (n, m) and of effects (n, effects)."""
    total = (comp.incidence * prior[:, None]) @ comp.incidence.T
    diagonal = np.arange(noise.shape[1])
    total[:, diagonal, diagonal] += noise
    return total


def without_directions(values: np.ndarray, axis: int, directions: np.ndarray) -> np.ndarray:
    """Return the deviations of values along an axis from directions, orthonormal columns."""
    if directions.shape[1] == 1:  # the mean
        return values - values.mean(axis=axis, keepdims=True)
    onto = np.tensordot(values, directions, axes=(axis, 0))
    return values - np.moveaxis(onto @ directions.T, -1, axis)
