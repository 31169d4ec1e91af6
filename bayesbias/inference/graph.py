"""The PyMC model of a design, and sampling pair by pair through it. The only room that calls PyMC.

In its plain coordinates the model is what the TOML file states; for sampling it is rotated into
coordinates that mix faster and have the same distribution.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.inference.collapsed import NotCollapsible, collapse
from bayesbias.inference.components import exchangeable_blocks
from bayesbias.models.design import Design

if TYPE_CHECKING:
    import pymc as pm
    import xarray as xr


def pymc_model(design: Design, *, rotated: bool = False) -> pm.Model:
    """Make the PyMC model; `rotated` gives the same distribution in coordinates that mix faster.

    In the plain coordinates a shift of all attribute effects is undone by a shift of all cell means, and
    NUTS crawls along that ridge. Two changes of coordinates, neither of which changes the
    distribution, take it away: blocks of exchangeable effects are split into their mean and their
    deviations, which are independent a priori; and the parameters at the root of the means are
    sampled with the average of the zero-mean effects added, which is what the data determine. A third
    takes the funnel out of small spreads: deviations are sampled partly in units of their spread, the more so
    the less the data say of each (partial non-centring; Papaspiliopoulos, Roberts & Sköld 2007).
    """
    import pymc as pm

    spec = design.spec
    blocks = exchangeable_blocks(design) if rotated else {}
    roots = _root_averages(design) if rotated else {}
    known = _known_from_data(design) if rotated else {}
    variables: dict[str, Any] = {}
    shifted: dict[str, Any] = {}
    with pm.Model(coords={dim: list(labels) for dim, labels in design.coords.items()}) as model:

        def shift(name: str) -> Any:
            """Return the average of the zero-mean effects that `name` is sampled with, per entry."""
            if name in roots:
                return sum(weights @ make(q).flatten() for q, weights in roots[name].items())
            return shift(str(spec.parameters[name].args["mu"]))[design.parent[name, "mu"]]

        def make(name: str) -> Any:
            if name in variables:
                return variables[name]
            parameter = spec.parameters[name]
            moved = name in roots or parameter.args.get("mu") in shifted_names
            args: dict[str, Any] = {}
            for arg, value in parameter.args.items():
                if isinstance(value, str):
                    make(value)
                    up = shifted.get(value, variables[value]) if arg == "mu" else variables[value]
                    entries = design.parent[name, arg].reshape(design.shape(name))
                    args[arg] = up.flatten()[entries] if spec.parameters[value].dims else up
                else:
                    args[arg] = np.float64(value)  # a plain number would be rounded to single precision
            if name in roots:
                args["mu"] = args["mu"] + shift(name).reshape(design.shape(name))
            label = f"{name}__shifted" if moved else name
            if name in blocks and parameter.distribution == "Normal" and parameter.dims and name not in roots:
                value = _by_block(
                    label, args, blocks[name], ~left_out(design, name), known.get(name)
                ).reshape(design.shape(name))
                if not moved:
                    value = pm.Deterministic(name, value, dims=parameter.dims)
            else:
                value = getattr(pm, parameter.distribution)(label, **args, dims=parameter.dims or None)
            if moved:
                shifted[name] = value
                value = pm.Deterministic(
                    name, value - shift(name).reshape(design.shape(name)), dims=parameter.dims
                )
            variables[name] = value
            return value

        shifted_names = set(roots)
        for name in spec.location_parameters():
            if spec.parameters[name].args["mu"] in shifted_names:
                shifted_names.add(name)

        def per_pair(value: float | str) -> Any:
            if not isinstance(value, str):
                return value
            variable = make(value)
            return variable.flatten()[design.index[value]] if spec.parameters[value].dims else variable

        def term(name: str) -> Any:
            times, lever = spec.parameters[name].times, design.lever(name)
            value = per_pair(name) if times is None else per_pair(times) * per_pair(name)
            return value if lever is None else value * lever

        mean = sum(term(name) for name in spec.mu)
        noise = {arg: per_pair(value) for arg, value in spec.noise.items()}
        getattr(pm, spec.likelihood)(spec.outcome, mu=mean, **noise, observed=design.y)
    return model


def _root_averages(design: Design) -> dict[str, dict[str, np.ndarray]]:
    """Return the normal root of the mean and how to average the zero-mean effects over its entries.

    Empty where there is not exactly one chain of terms to hang the averages on.
    """
    spec = design.spec
    level = [name for name in spec.mu if spec.parameters[name].fact is None]
    zero = [
        name
        for name in level
        if spec.is_random(name) and not isinstance(spec.parameters[name].args["mu"], str)
    ]
    chains = [name for name in level if name not in zero]
    if len(chains) != 1 or not zero:
        return {}
    root = chains[0]
    while isinstance(spec.parameters[root].args["mu"], str):
        root = str(spec.parameters[root].args["mu"])
    if not spec.parameters[root].dims or spec.parameters[root].distribution != "Normal":
        return {}
    out = {}
    for name in zero:
        weights = np.zeros((design.size(root), design.size(name)))
        np.add.at(weights, (design.index[root], design.index[name]), 1.0)
        out[name] = weights / np.maximum(weights.sum(axis=1, keepdims=True), 1.0)
    return {root: out}


def _known_from_data(design: Design) -> dict[str, np.ndarray]:
    """Return how much of what is known of each effect comes from the data, in [0, 1].

    The precision of the rows of an entry against that of its prior, at the mode of the scales of the same model
    with normal noise, outlying rows pulled in; squared, since spreads wander far below their mode, and too
    little centring does less harm than too much. Only the coordinates depend on it, so a rough value does. Empty
    where that model has no quick reduction.
    """
    from scipy.optimize import minimize

    spec = design.spec
    middle = np.median(design.y)
    reach = 3 * 1.4826 * np.median(np.abs(design.y - middle))
    pilot = dataclasses.replace(spec, likelihood="Normal", noise={"sigma": spec.noise["sigma"]})
    calm = np.clip(design.y, middle - reach, middle + reach) if reach > 0 else design.y
    try:
        reduced = collapse(dataclasses.replace(design, spec=pilot, y=calm))
    except NotCollapsible:
        return {}
    if reduced.n_theta == 0:
        return {}

    def minus(theta: np.ndarray) -> tuple[float, np.ndarray]:
        value, grad = reduced.log_density(theta)
        return -value, -grad

    start = np.full(reduced.n_theta, np.log(max(float(np.std(calm)), 1e-6) / 2))
    scales = reduced.split(minimize(minus, start, jac=True, method="L-BFGS-B").x)
    noise = np.broadcast_to(design.noise(scales, "sigma"), design.y.shape)
    out = {}
    for name in spec.location_parameters():
        if not spec.is_random(name):
            continue
        lever = design.lever(name)
        known = (1.0 if lever is None else lever**2) / noise**2
        data = np.bincount(design.index[name], known, minlength=design.size(name))
        spread = scales[str(spec.parameters[name].args["sigma"])].ravel()[design.parent[name, "sigma"]]
        out[name] = (data / (data + 1 / spread**2)) ** 2
    return out


def _by_block(
    name: str,
    args: Mapping[str, Any],
    block: np.ndarray,
    touched: np.ndarray,
    known: np.ndarray | None,
) -> Any:
    """Make normal effects out of block means and deviations in an orthonormal basis.

    The basis of a block of n entries is that of the Householder reflection which takes its first entry to its mean:
    numbers w of the others, with sum s, are deviations :math:`w_j - s / (n - \\sqrt n)`, and :math:`s / \\sqrt n` of the
    first. Unlike a matrix it costs no more than the entries themselves (Golub & Van Loan 2013, section 5.1). Only what
    is touched is sampled.
    """
    import pymc as pm
    import pytensor.tensor as pt

    used = np.flatnonzero(touched)
    _, first, of_label, sizes = np.unique(
        block[used], return_index=True, return_inverse=True, return_counts=True
    )
    first, root = used[first], np.sqrt(sizes)
    own = np.full(len(block), -1)
    own[used] = of_label
    rest = np.setdiff1d(used, first)
    owner = first[own[rest]]

    def of(arg: str, entries: np.ndarray) -> Any:
        value = args[arg]
        return value if value.ndim == 0 else value.flatten()[entries]

    def partly(label: str, mu: Any, spread: Any, entries: np.ndarray) -> Any:
        """Make normal effects, centred on their mean as far as the data know them."""
        if known is None:
            return pm.Normal(label, mu, spread, shape=len(entries))
        centred = known[entries]
        value = pm.Normal(label, centred * mu, spread**centred, shape=len(entries))
        return mu + spread ** (1 - centred) * (value - centred * mu)

    centre = partly(f"{name}__mean", of("mu", first), of("sigma", first) / root, first)
    flat = pt.set_subtensor(pt.zeros(len(block))[used], centre[of_label])
    if len(rest):
        wide = np.flatnonzero(sizes > 1)
        place = np.searchsorted(wide, own[rest])
        members = (place == np.arange(len(wide))[:, None]).astype(float)
        others = partly(f"{name}__deviation", 0.0, of("sigma", owner), owner)
        total = pt.dot(members, others)
        size, root = sizes[wide], root[wide]
        flat = pt.inc_subtensor(flat[rest], others - (total / (size - root))[place])
        flat = pt.inc_subtensor(flat[first[wide]], total / root)
    return flat


def left_out(design: Design, name: str) -> np.ndarray:
    """Return which entries of an effect are drawn after all else, from their prior: no row says anything of them."""
    parameter = design.spec.parameters[name]
    around_zero = design.spec.is_random(name) and parameter.args["mu"] == 0
    return design.untouched(name) if around_zero else np.zeros(design.size(name), dtype=bool)


def sample_pairwise(
    design: Design, settings: Mapping[str, Any], cores: int, progress: bool | None
) -> xr.DataTree:
    """Sample the model pair by pair with PyMC, effects and all; for noise that is not normal."""
    import logging
    import sys

    import pymc as pm
    import xarray as xr

    logging.getLogger("pymc").setLevel(logging.WARNING)  # it would list its internal variables
    design = design.ordered()
    with pymc_model(design, rotated=True):
        sampled = pm.sample(
            draws=settings["draws"],
            tune=settings["tune"],
            chains=settings["chains"],
            cores=cores,
            random_seed=settings["seed"],
            target_accept=settings["target_accept"],
            nuts_sampler="nutpie",
            progressbar=sys.stderr.isatty() if progress is None else progress,
            compute_convergence_checks=False,
        )
    posterior = sampled["posterior"].to_dataset()[list(design.spec.parameters)]
    rng = np.random.default_rng(settings["seed"])
    for name in design.spec.location_parameters():
        left = left_out(design, name)
        if left.any() and design.spec.parameters[name].dims:
            values = posterior[name].to_numpy().reshape(*posterior[name].shape[:2], -1)
            spread = posterior[str(design.spec.parameters[name].args["sigma"])].to_numpy()
            sd = spread.reshape(*spread.shape[:2], -1)[..., design.parent[name, "sigma"][left]]
            values[..., left] = sd * rng.standard_normal(sd.shape)
    stats = sampled["sample_stats"].to_dataset()
    keep = [
        name for name in ("diverging", "depth", "n_steps", "energy", "logp", "step_size") if name in stats
    ]
    return xr.DataTree.from_dict({"posterior": posterior, "sample_stats": stats[keep]})
