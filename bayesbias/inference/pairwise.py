"""Sampling pair by pair through PyMC, effects and all: for noise that is not normal, and to check the exact reduction.

The model is that of its TOML file (`bayesbias.inference.graph`) in coordinates that have the same distribution and
mix faster. In the plain ones a shift of all attribute effects is undone by a shift of means, and NUTS crawls along:

- every location parameter is the one it is centred on and an effect of its own, whose blocks of exchangeable entries
  have a mean and deviations from it, independent a priori;
- the means of all blocks are sampled along the axes of what is likely of them: sums are known to some hundredths
  where each alone is hardly better known than by its prior;
- deviations are sampled partly in units of their spread, the more so the less the data say of each, which takes the
  funnel out of small spreads (partial non-centring; Papaspiliopoulos, Roberts & Sköld 2007);
- effects that a factor multiplies, and their spread, are sampled times the mean factor: the data know the product;
- what no row says anything of is drawn from its prior afterwards.

Where noise is normal and the exact reduction holds, there are better ones still: `bayesbias.inference.expected_effects`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.core.workers import one_thread_of_blas
from bayesbias.inference.collapsed import NotCollapsible, collapse
from bayesbias.inference.components import exchangeable_blocks
from bayesbias.inference.expected_effects import ExpectedEffects
from bayesbias.inference.graph import coords_of, entries_of, left_out, mean_of_rows, observe
from bayesbias.inference.sampling import starting_point
from bayesbias.models.design import Design

if TYPE_CHECKING:
    import pymc as pm
    import xarray as xr

# Where spreads begin that are sampled times a factor: from no distribution of their own.
_BEGIN = 0.05
# Effects up to which a matrix of all of them is inverted, once.
_MOST_TOGETHER = 5000


def rotated_model(design: Design) -> pm.Model:
    """Make the PyMC model in coordinates that mix faster; entries that no row touches stay at their mean."""
    import pymc as pm
    import pytensor.tensor as pt

    expected = ExpectedEffects.of(design)
    if expected is not None:
        return expected.model()
    spec = design.spec
    blocks = {name: _Blocks.of(design, name, labels) for name, labels in _blocks_of(design).items()}
    pilot = _Pilot.of(design)
    axes = _axes_of_means(design, pilot, blocks)
    factor_of = {
        spread: times for spread, times in spec.factor_of_spreads().items() if _serves(design, spread, blocks)
    }
    values: dict[str, Any] = {}
    lifts: dict[str, Any] = {}
    lifted: dict[str, Any] = {}
    with pm.Model(coords=coords_of(design)) as model:

        def argument(name: str, arg: str) -> Any:
            value = spec.parameters[name].args[arg]
            if not isinstance(value, str):
                return np.float64(value)
            make(value)
            if arg == "sigma" and value in lifted:
                return entries_of(design, name, arg, lifted[value])
            return entries_of(design, name, arg, values[value])

        def make(name: str) -> None:
            if name in values:
                return
            parameter = spec.parameters[name]
            dims, distribution = parameter.dims or None, getattr(pm, parameter.distribution)
            if name in factor_of:
                times = factor_of[name]
                make(times)
                lifts.setdefault(times, pt.exp(pt.log(values[times]).mean()))
                begin = np.full(design.shape(name), _BEGIN)
                lifted[name] = pm.HalfFlat(f"{name}__lifted", dims=dims, initval=begin)
                values[name] = pm.Deterministic(name, lifted[name] / lifts[times], dims=dims)
                prior = distribution.dist(**{arg: argument(name, arg) for arg in parameter.args})
                pm.Potential(f"{name}__prior", (pm.logp(prior, values[name]) - pt.log(lifts[times])).sum())
            elif name in blocks:
                known = None if pilot is None else pilot.known[name]
                spread = pt.broadcast_to(argument(name, "sigma"), design.shape(name)).flatten()
                usual = None if pilot is None else pilot.spread[name]
                own = blocks[name].effects(name, spread, usual, means[axes.place[name]], known)
                own = own.reshape(design.shape(name))
                by = factor_of.get(str(parameter.args["sigma"]))
                own = own if by is None else own / lifts[by]
                values[name] = pm.Deterministic(name, argument(name, "mu") + own, dims=dims)
            else:
                args = {arg: argument(name, arg) for arg in parameter.args}
                values[name] = distribution(name, **args, dims=dims)

        means = axes.centre
        if len(means):  # none are normal where all effects have another distribution
            means = means + axes.root @ pm.Flat("means__standard", shape=len(means))
        for name in spec.parameters:
            make(name)
        observe(design, values, mean_of_rows(design, values))
    return model


def _blocks_of(design: Design) -> dict[str, np.ndarray]:
    """Return the block of every entry of the normal location parameters; means that are fixed are each for itself."""
    spec = design.spec
    return {
        name: own if spec.is_random(name) else np.arange(len(own))
        for name, own in exchangeable_blocks(design).items()
        if spec.parameters[name].distribution == "Normal"
    }


def _serves(design: Design, spread: str, blocks: Mapping[str, Any]) -> bool:
    """Whether all that a spread is of are effects in blocks."""
    parameters = design.spec.parameters.items()
    return all(name in blocks for name, parameter in parameters if spread in parameter.args.values())


@dataclass(frozen=True, eq=False)
class _Blocks:
    """Exchangeable entries of one location parameter, of those that rows touch."""

    size: int  # of the parameter
    used: np.ndarray
    label: np.ndarray  # of each entry, or -1
    first: np.ndarray  # an entry of each block
    sizes: np.ndarray

    @classmethod
    def of(cls, design: Design, name: str, labels: np.ndarray) -> _Blocks:
        """Find the blocks of a parameter."""
        used = np.flatnonzero(~left_out(design, name))
        _, first, of_label, sizes = np.unique(
            labels[used], return_index=True, return_inverse=True, return_counts=True
        )
        label = np.full(len(labels), -1)
        label[used] = of_label
        return cls(len(labels), used, label, used[first], sizes)

    def effects(
        self, name: str, spread: Any, usual: np.ndarray | None, means: Any, known: np.ndarray | None
    ) -> Any:
        r"""Make effects around zero out of block means and deviations in an orthonormal basis.

        Means are in units of their prior at the pilot's (`usual`) spread, as far as the data know them, else at their own.
        The basis of a block of n entries is that of the Householder reflection which takes its first entry to its mean:
        numbers w of the others, with sum s, are deviations :math:`w_j - s / (n - \sqrt n)`, and :math:`s / \sqrt n` of the
        first. Unlike a matrix it costs no more than the entries themselves (Golub & Van Loan 2013, section 5.1).
        """
        import pymc as pm
        import pytensor.tensor as pt

        root = np.sqrt(self.sizes)
        centred = np.zeros(len(root)) if known is None else known[self.first]
        by = spread[self.first] / (1.0 if usual is None else usual[self.first])
        unit = by**centred
        pm.Potential(f"{name}__means_prior", -(0.5 * (means / unit) ** 2 + pt.log(unit)).sum())
        centre = spread[self.first] / unit / root * means
        flat = pt.set_subtensor(pt.zeros(self.size)[self.used], centre[self.label[self.used]])
        rest = np.setdiff1d(self.used, self.first)
        if not len(rest):
            return flat
        owner = self.first[self.label[rest]]
        share = np.ones(len(rest)) if known is None else known[owner]
        others = pm.Normal(f"{name}__deviation", 0.0, spread[owner] ** share, shape=len(rest))
        others = spread[owner] ** (1 - share) * others
        wide = np.flatnonzero(self.sizes > 1)
        place = np.searchsorted(wide, self.label[rest])
        total = pt.dot((place == np.arange(len(wide))[:, None]).astype(float), others)
        flat = pt.inc_subtensor(flat[rest], others - (total / (self.sizes - root)[wide])[place])
        return pt.inc_subtensor(flat[self.first[wide]], total / root[wide])


@dataclass(frozen=True, eq=False)
class _Pilot:
    """The mode of the scales of the same model with normal noise, which coordinates are chosen by.

    Only the coordinates depend on it, so a rough value does.
    """

    noise: np.ndarray  # (n_pairs,) standard deviations
    factor: Mapping[str, np.ndarray]  # (n_pairs,) of a term, what rows multiply it by
    spread: Mapping[str, np.ndarray]  # of every entry of a location parameter
    known: Mapping[str, np.ndarray]  # how much of what is known of an entry comes from the data, in [0, 1]

    @classmethod
    def of(cls, design: Design) -> _Pilot | None:
        """Find the mode, outlying rows pulled in; None where that model has no quick reduction."""
        from scipy.optimize import minimize

        spec = design.spec
        middle = np.median(design.y)
        reach = 3 * 1.4826 * np.median(np.abs(design.y - middle))
        pilot = dataclasses.replace(spec, likelihood="Normal", noise={"sigma": spec.noise["sigma"]})
        calm = np.clip(design.y, middle - reach, middle + reach) if reach > 0 else design.y
        try:
            reduced = collapse(dataclasses.replace(design, spec=pilot, y=calm))
        except NotCollapsible:
            return None
        if reduced.n_theta == 0:
            return None

        def minus(theta: np.ndarray) -> tuple[float, np.ndarray]:
            value, grad = reduced.log_density(theta)
            return -value, -grad

        scales = reduced.split(minimize(minus, starting_point(reduced), jac=True, method="L-BFGS-B").x)
        noise = np.broadcast_to(design.noise(scales, "sigma"), design.y.shape)
        factor, spread = {}, {}
        for name in spec.location_parameters():
            parameter, lever = spec.parameters[name], design.lever(name)
            factor[name] = np.ones(len(design.y)) if lever is None else lever
            if parameter.times is not None:
                factor[name] = factor[name] * np.ravel(scales[parameter.times])[design.index[parameter.times]]
            sd = parameter.args["sigma"]
            spread[name] = (
                np.ravel(scales[sd])[design.parent[name, "sigma"]]
                if isinstance(sd, str)
                else np.full(design.size(name), float(sd))
            )
        # Squared, since spreads wander far below their mode, and too little centring does less harm than too much.
        known = {name: share**2 for name, share in _shares_known(design, factor, spread, noise).items()}
        return cls(noise, factor, spread, known)


def _shares_known(
    design: Design, factor: Mapping[str, np.ndarray], spread: Mapping[str, np.ndarray], noise: np.ndarray
) -> dict[str, np.ndarray]:
    """Return by which share the data lessen the variance of every entry, given the scales.

    Of effects that only show together none is known, however many rows there are. Where there are too many for a matrix of
    all, each is taken as if the others were known.
    """
    from scipy import sparse

    names = design.spec.location_parameters()
    bounds = np.cumsum([0, *(design.size(name) for name in names)])
    prior = np.concatenate([spread[name] for name in names])
    entering = {name: sparse.csr_array((len(design.y), design.size(name))) for name in names}
    for term in design.spec.mu:
        name: float | str = term
        while isinstance(name, str):
            at = (np.arange(len(design.y)), design.index[name])
            entering[name] = entering[name] + sparse.csr_array(
                (factor[term] / noise, at), shape=entering[name].shape
            )
            name = design.spec.parameters[name].args["mu"]
    rows = sparse.hstack([entering[name] for name in names], format="csr") * prior[None]
    touched = np.flatnonzero(abs(rows).sum(axis=0))
    share = np.zeros(len(prior))
    precision = rows[:, touched].T @ rows[:, touched]
    if len(touched) <= _MOST_TOGETHER:
        together = precision.toarray() + np.eye(len(touched))
        share[touched] = 1 - np.diag(np.linalg.inv(together))
    else:
        data = precision.diagonal()
        share[touched] = data / (1 + data)
    return {name: share[a:b] for name, a, b in zip(names, bounds[:-1], bounds[1:], strict=True)}


@dataclass(frozen=True, eq=False)
class _Axes:
    """Means of blocks in units of their prior: `centre` plus `root` times numbers that are near standard normal."""

    place: Mapping[str, np.ndarray]  # of a location parameter, which are of its blocks
    centre: np.ndarray
    root: np.ndarray


def _axes_of_means(design: Design, pilot: _Pilot | None, blocks: Mapping[str, _Blocks]) -> _Axes:
    """Find how the means of all blocks go together: their posterior in the linear model that the pilot's scales leave."""
    bounds = np.cumsum([0, *(len(own.sizes) for own in blocks.values())])
    place = {name: np.arange(a, b) for name, a, b in zip(blocks, bounds[:-1], bounds[1:], strict=True)}
    if pilot is None:
        return _Axes(place, np.zeros(bounds[-1]), np.eye(bounds[-1]))
    spec = design.spec
    rows, left = np.zeros((len(design.y), bounds[-1])), design.y.astype(float)
    for term in spec.mu:
        name: float | str = term
        while isinstance(name, str) and name in blocks:  # up to the number that all is centred on
            own = blocks[name]
            label = own.label[design.index[name]]
            each = pilot.factor[term] * pilot.spread[name][design.index[name]] / np.sqrt(own.sizes)[label]
            np.add.at(rows, (np.flatnonzero(label >= 0), place[name][label[label >= 0]]), each[label >= 0])
            name = spec.parameters[name].args["mu"]
        left -= pilot.factor[term] * (0.0 if isinstance(name, str) else name)
    rows /= pilot.noise[:, None]
    inverse = np.linalg.inv(np.linalg.cholesky(rows.T @ rows + np.eye(bounds[-1])))
    return _Axes(place, inverse.T @ (inverse @ (rows.T @ (left / pilot.noise))), inverse.T)


def sample_pairwise(
    design: Design, settings: Mapping[str, Any], cores: int, progress: bool | None
) -> xr.DataTree:
    """Sample the model pair by pair with PyMC."""
    import logging
    import sys

    import pymc as pm
    import xarray as xr

    logging.getLogger("pymc").setLevel(logging.WARNING)  # it would list its internal variables
    design = design.ordered()
    with rotated_model(design), one_thread_of_blas():
        sampled = pm.sample(
            draws=settings["draws"],
            tune=settings["tune"],
            chains=settings["chains"],
            cores=cores,
            random_seed=design.stream(settings["seed"]),
            target_accept=settings["target_accept"],
            nuts_sampler="nutpie",
            progressbar=sys.stderr.isatty() if progress is None else progress,
            compute_convergence_checks=False,
        )
    # What is interrupted comes back as far as it went.
    if (
        sampled["posterior"].sizes["draw"] < settings["draws"]
        or np.isnan(sampled["sample_stats"]["logp"]).any()
    ):
        raise KeyboardInterrupt
    posterior = sampled["posterior"].to_dataset()[list(design.spec.parameters)]
    _draw_what_is_left_out(design, posterior, design.stream(settings["seed"]))
    stats = sampled["sample_stats"].to_dataset()
    keep = [
        name for name in ("diverging", "depth", "n_steps", "energy", "logp", "step_size") if name in stats
    ]
    return xr.DataTree.from_dict({"posterior": posterior, "sample_stats": stats[keep]})


def _draw_what_is_left_out(design: Design, posterior: xr.Dataset, seed: int) -> None:
    """Draw the entries that no row touches around where they were left."""
    rng = np.random.default_rng(seed)
    for name in design.spec.location_parameters():
        left = left_out(design, name)
        if left.any():
            values, spread = (
                posterior[each].to_numpy() for each in (name, str(design.spec.parameters[name].args["sigma"]))
            )
            flat = values.reshape(*values.shape[:2], -1)
            sd = spread.reshape(*spread.shape[:2], -1)[..., design.parent[name, "sigma"][left]]
            flat[..., left] += sd * rng.standard_normal(sd.shape)
            posterior[name] = posterior[name].copy(data=flat.reshape(values.shape))
