r"""Exact reduction of normal models: only the scales are left to sample.

Let every row be :math:`y_n = \sum_p u_p[i_p(n)] + \epsilon_n` with independent normal effects, their
spreads being either numbers or parameters (a parameter centred on another one is the other one plus an
effect of its own). Rotating each orbit (`bayesbias.inference.orbits`) into its mean and its deviations splits
the rows into independent components (`bayesbias.inference.components`).

The rotation is orthonormal, so the sum of the components' log-densities *is* the marginal
log-likelihood, not an approximation, and its cost depends on the number of orbits, not of words. A
complete grid of 15 words in three classes and 322 attributes in five has components of at most
15 rows; so has one of 1,000 by 1,000 words.

Missing cells make the orbits smaller, not the result wrong; where so many are missing that the components
grow large, `collapse` says so and the caller samples the pairs one by one instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bayesbias.core.workers import one_thread_of_blas
from bayesbias.inference.components import (
    Component,
    Covariate,
    Layout,
    Normals,
    covariates_on,
    draw_component,
    layout_of,
)
from bayesbias.inference.orbits import factors_of, find_orbits, own_of_levels, within_one_level
from bayesbias.models.design import Design
from bayesbias.models.distributions import DISTRIBUTIONS

__all__ = ["Collapsed", "NotCollapsible", "collapse"]

# Cost of one evaluation is the sum of the cubes of the components' sizes; at this bound it is some
# 20 ms, where sampling the pairs themselves is no slower.
MOST_CUBES = 3e7

# The last reduction: a fit and the questions asked of it need the same, and the next table of the same labels its layout.
_LATELY: list[Collapsed] = []
_MOST_KEPT = 100_000  # rows
_HALVES = 11  # the place of the data among the arrays of the kernel


class NotCollapsible(Exception):  # noqa: N818 - a reason to go another way, not an error
    """Why a model or a table has no exact reduction here; the message is shown to the user."""


@dataclass(frozen=True, eq=False)
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
    components: tuple[Component, ...]
    constants: np.ndarray
    arrays: tuple[np.ndarray, ...]
    variance_of: Mapping[str, np.ndarray]
    layout: Layout

    def of_outcome(self, y: np.ndarray) -> Collapsed:
        """Return the reduction of another outcome of the same pairs, in the order of this one's.

        Parameters
        ----------
        y : ndarray, shape (n_pairs,)
        """
        design = replace(self.design, y=y)
        components = self.layout.components(_centred(design))
        halves = _joined([comp.half.ravel() for comp in components], float)
        arrays = (*self.arrays[:_HALVES], halves, *self.arrays[_HALVES + 1 :])
        return replace(self, design=design, components=components, arrays=arrays)

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
        from bayesbias.inference.kernel import log_density

        grad = np.empty(self.n_theta)
        arguments = (np.ascontiguousarray(theta, dtype=float), *self.arrays, grad)
        value = log_density(*arguments)
        return value, grad

    def log_densities(self, thetas: np.ndarray) -> np.ndarray:
        """Return the log-posterior density at many values of the log-scales, shape (n, n_theta): a twentieth of the cost."""
        from bayesbias.inference.kernel_lanes import log_densities

        out = np.empty(len(thetas))
        thetas = np.ascontiguousarray(thetas, dtype=float)
        with np.errstate(over="ignore"):  # what is out of range has no density
            scales = np.exp(thetas)
        arguments = (thetas, scales, *self.arrays, out)
        log_densities(*arguments)
        return out

    def log_gradients(self, thetas: np.ndarray) -> np.ndarray:
        """Return its gradient at many values of the log-scales, shape (n, n_theta)."""
        from bayesbias.inference.kernel_lanes import log_gradients

        out = np.empty(np.shape(thetas))
        thetas = np.ascontiguousarray(thetas, dtype=float)
        with np.errstate(over="ignore"):
            scales = np.exp(thetas)
        arguments = (thetas, scales, *self.arrays, out)
        log_gradients(*arguments)
        return out

    def coordinates(self) -> np.ndarray:
        """Return `log_coordinates` of these scales."""
        return log_coordinates(self.design, self.scales)

    def factor_places(self) -> np.ndarray:
        """Return which of the numbers in theta belong to factors, which multiply effects; shape (n_theta,), of bool."""
        factors = self.design.spec.factors()
        return np.concatenate([np.full(self.design.size(name), name in factors) for name in self.scales])

    def split(self, theta: np.ndarray) -> dict[str, np.ndarray]:
        """Turn log-scales, shape (..., n_theta), into the named scale parameters."""
        values, out, start = np.exp(theta), {}, 0
        for name in self.scales:
            part = values[..., start : start + self.design.size(name)]
            out[name] = part.reshape((*theta.shape[:-1], *self.design.shape(name)))
            start += part.shape[-1]
        return out

    def joined(self, scales: Mapping[str, np.ndarray]) -> np.ndarray:
        """Turn draws of the named scale parameters into log-scales, shape (n, n_theta); undoes `split`."""
        parts = [np.reshape(scales[name], (len(scales[name]), -1)) for name in self.scales]
        return np.log(np.concatenate(parts, axis=1))

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
        n, design = len(theta), self.design
        fixed = np.broadcast_to(self.constants, (n, len(self.constants)))
        var = np.concatenate([np.exp(2 * theta), fixed], axis=1)
        flat: dict[str, np.ndarray] = {}
        for name in design.spec.location_parameters():
            flat[name] = np.zeros((n, design.size(name)))
            untouched = design.untouched(name)  # which keeps its prior
            sd = np.sqrt(var[:, self.variance_of[name][untouched]])
            flat[name][:, untouched] = sd * rng.standard_normal(sd.shape)
        with one_thread_of_blas():
            for component in self.components:
                if component.effects:
                    draw_component(component, var, flat, rng)
        out: dict[str, np.ndarray] = {}
        for name in design.spec.location_parameters():
            mu = design.spec.parameters[name].args["mu"]
            centre = out[mu].reshape(n, -1)[:, design.parent[name, "mu"]] if isinstance(mu, str) else mu
            out[name] = (flat[name] + centre).reshape((n, *design.shape(name)))
        return out


def log_coordinates(design: Design, scales: Sequence[str]) -> np.ndarray:
    """Return the matrix that turns the coordinates which are sampled into the logarithms of positive parameters.

    Factors of a term and its spread say the same thing twice but for their priors. What the data determine, the
    spread times the mean factor, is sampled in place of the spread, and the factors as their mean and the
    contrasts around it. The volume is that of the logarithms.

    Parameters
    ----------
    design : Design
    scales : sequence of str
        All positive parameters, in the order of the logarithms.

    Returns
    -------
    ndarray, shape (n_theta, n_theta)
    """
    from scipy.linalg import helmert

    starts = np.cumsum([0, *(design.size(name) for name in scales)])
    place = {name: np.arange(a, b) for name, a, b in zip(scales, starts[:-1], starts[1:], strict=True)}
    out = np.eye(starts[-1])
    for spread, times in design.spec.factor_of_spreads().items():
        out[np.ix_(place[spread], place[times])] = -1 / len(place[times])
    for name in design.spec.factors():
        size = len(place[name])
        if size > 1:
            turn = np.eye(len(out))
            turn[np.ix_(place[name], place[name])] = helmert(size, full=True).T
            out = out @ turn
    return out


def collapse(design: Design) -> Collapsed:
    """Reduce a model on a table to its scales, exactly; of the same as last time the same again.

    Raises
    ------
    NotCollapsible
        For noise or effects that are not normal, for scales whose own priors have parameters, and
        for tables so irregular that the reduction would not pay.
    """
    design = design.ordered()
    reduced: Collapsed | None = None
    for known in _LATELY[:]:
        if known.design.laid_as(design):
            if np.array_equal(known.design.y, design.y):
                return known
            reduced = known.of_outcome(design.y)
    if reduced is None:
        reduced = _collapsed(design)
    if len(design.y) <= _MOST_KEPT:
        _LATELY[:] = [reduced]
    return reduced


def _collapsed(design: Design) -> Collapsed:
    spec = design.spec
    terms = _collapsible_terms(design)
    scales = tuple(name for name, parameter in spec.parameters.items() if parameter.positive)
    offset = dict(zip(scales, np.cumsum([0, *(design.size(name) for name in scales)]), strict=False))
    n_theta = sum(design.size(name) for name in scales)
    constants: list[float] = []

    def variance(argument: float | str, entries: np.ndarray) -> np.ndarray:
        if isinstance(argument, str):
            return int(offset[argument]) + entries
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
    factors = factors_of(design)
    index = {name: design.index[name] for name in terms}
    times = {
        name: int(offset[factor]) + design.index[factor]
        for name in spec.mu
        if (factor := spec.parameters[name].times) is not None
    }
    own = own_of_levels(index, factors)
    orbits = find_orbits(factors, index, variance_of, [noise, *times.values(), *design.only.values()], own)
    covariates = _covariates_of_terms(design, factors)
    layout = layout_of(factors, orbits, index, variance_of, noise, times, covariates, design.only, own)
    components = layout.components(_centred(design))
    cubes = sum(float(len(comp.noise)) ** 3 for comp in components)
    if cubes > MOST_CUBES:
        raise NotCollapsible(
            "so many cells of the grid are missing, or labelled unlike their neighbors, "
            f"that the exact reduction would need vectors of {max(len(c.noise) for c in components)} rows"
        )
    arrays = _kernel_arrays(design, scales, np.array(constants, dtype=float), components)
    return Collapsed(
        design, scales, components, np.array(constants, dtype=float), arrays, variance_of, layout
    )


def _centred(design: Design) -> np.ndarray:
    """Return the outcome less what the means of effects are fixed at."""
    y = design.y.copy()
    for name in design.spec.location_parameters():
        mu, covariate = design.spec.parameters[name].args["mu"], design.spec.parameters[name].covariate
        if not isinstance(mu, str):
            y -= mu if covariate is None else mu * design.covariates[covariate]
    return y


def _covariates_of_terms(design: Design, factors: list[np.ndarray]) -> dict[str, Covariate]:
    """Return the covariate that multiplies each term which has one."""
    on = covariates_on(factors, design.covariates)
    if isinstance(on, str):
        raise NotCollapsible(f"{on} differs between rows of one {' and of one '.join(design.units)}")
    out = {}
    for name in design.spec.mu:
        covariate = design.spec.parameters[name].covariate
        if covariate is None:
            continue
        if within_one_level(design.index[name], factors[on[covariate].factor]):
            raise NotCollapsible(f"{name} has an entry of its own for whatever has one {covariate}")
        out[name] = on[covariate]
    return out


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
    for name, parameter in spec.parameters.items():
        if parameter.positive and any(isinstance(value, str) for value in parameter.args.values()):
            raise NotCollapsible(f"the prior of {name} has parameters of its own")
        if parameter.positive and DISTRIBUTIONS[parameter.distribution].code is None:
            raise NotCollapsible(f"{parameter.distribution} has no compiled density")
    return terms


def _kernel_arrays(
    design: Design, scales: tuple[str, ...], constants: np.ndarray, components: tuple[Component, ...]
) -> tuple[np.ndarray, ...]:
    from bayesbias.inference.kernel import prior_constant

    codes: list[Any] = []  # a compiled density has one
    a, b = [], []
    for name in scales:
        parameter = design.spec.parameters[name]
        args: list[Any] = [parameter.args[arg] for arg in DISTRIBUTIONS[parameter.distribution].args]
        codes += [DISTRIBUTIONS[parameter.distribution].code] * design.size(name)
        a += [float(args[0])] * design.size(name)
        b += [float(args[1]) if len(args) > 1 else 0.0] * design.size(name)
    effects = [effect for comp in components for effect in comp.effects]

    def starts(lengths: list[int]) -> np.ndarray:
        return np.cumsum([0, *lengths]).astype(np.int64)

    return (
        np.array(codes, dtype=np.int64),
        np.array(a, dtype=float),
        np.array(b, dtype=float),
        np.array([prior_constant(*prior) for prior in zip(codes, a, b, strict=True)], dtype=float),
        constants,
        np.array([len(comp.noise) for comp in components], dtype=np.int64),
        np.array([comp.copies for comp in components], dtype=float),
        starts([len(comp.noise) for comp in components]),
        starts([comp.half.size for comp in components]),
        starts([len(comp.effects) for comp in components]),
        _joined([comp.noise for comp in components], np.int64),
        _joined([comp.half.ravel() for comp in components], float),
        np.array([effect.variance for effect in effects], dtype=np.int64),
        starts([len(effect.blocks) for effect in effects]),
        _joined([effect.blocks for effect in effects], np.int64),
        _joined([effect.coef for effect in effects], float),
        _joined([effect.factors for effect in effects], np.int64),
    )


def _joined(parts: list[np.ndarray], dtype: type) -> np.ndarray:
    return np.concatenate([np.zeros(0), *parts]).astype(dtype)
