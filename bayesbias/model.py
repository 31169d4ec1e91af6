"""Fit a model to a table. The only module that calls PyMC.

`fit` takes the quickest exact way: normal models on (nearly) complete grids are reduced to their
scales (`bayesbias.collapsed`) and sampled there; anything else is sampled pair by pair through the PyMC
model that `build` returns, which is also the plain statement of what is fitted.
"""

from __future__ import annotations

import dataclasses
import os
import time
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.collapsed import Collapsed, NotCollapsible, collapse, exchangeable_blocks
from bayesbias.distance import PairTable
from bayesbias.errors import FitError, InputError
from bayesbias.posterior import BiasFit, effective_draws, with_pointwise
from bayesbias.spec import Design, ModelSpec, load_model, trimmed

if TYPE_CHECKING:
    import pandas as pd
    import pymc as pm
    import xarray as xr

__all__ = ["build", "fit"]

SAMPLERS = ("auto", "collapsed", "pairwise")
# Above this many pointwise values (200 MB) they are left out of the tree; `loo` makes them when asked.
MOST_POINTWISE = 25_000_000
# Scales near zero mix slowly. A longer run of the collapsed model costs little, so that draws are thinned until each
# chain has twice the effective draws that diagnostics ask for; not where so few are asked for that nobody could tell,
# nor where it costs much.
FEWEST_TO_THIN = 200
ENOUGH_PER_CHAIN = 200
MOST_THINNED = 8
MOST_CUBES_TO_THIN = 2e4  # cost of an evaluation, as in `collapsed`: some hundredths of a millisecond


def build(model: str | os.PathLike[str] | ModelSpec, table: PairTable | pd.DataFrame) -> pm.Model:
    """Return the plain PyMC model, pair by pair, as the TOML file states it.

    Parameters
    ----------
    model : str, path or ModelSpec
    table : PairTable or DataFrame

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.distance_table(bb.load_embedding("minilm-static"), "religion")
    >>> sorted(v.name for v in bb.build("hierarchical", table).free_RVs)
    ['c', 'cbar', 'csd', 'sigma']
    """
    return _pymc_model(Design.of(load_model(model), _frame(table)))


def _frame(table: PairTable | pd.DataFrame) -> pd.DataFrame:
    frame = table.frame if isinstance(table, PairTable) else table
    if not hasattr(frame, "columns"):
        raise InputError(
            "a fit needs a table of pairs",
            found=type(table).__name__,
            valid="what distance_table or read_distances returns, or a data frame",
        )
    return frame


def _pymc_model(design: Design, *, rotated: bool = False) -> pm.Model:
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
    roots = _roots(design) if rotated else {}
    known = _known_from_data(design) if rotated else {}
    made: dict[str, Any] = {}
    shifted: dict[str, Any] = {}
    with pm.Model(coords={dim: list(labels) for dim, labels in design.coords.items()}) as model:

        def shift(name: str) -> Any:
            """Return the average of the zero-mean effects that `name` is sampled with, per entry."""
            if name in roots:
                return sum(weights @ make(q).flatten() for q, weights in roots[name].items())
            return shift(str(spec.parameters[name].args["mu"]))[design.parent[name, "mu"]]

        def make(name: str) -> Any:
            if name in made:
                return made[name]
            parameter = spec.parameters[name]
            moved = name in roots or parameter.args.get("mu") in shifted_names
            args: dict[str, Any] = {}
            for arg, value in parameter.args.items():
                if isinstance(value, str):
                    make(value)
                    up = shifted.get(value, made[value]) if arg == "mu" else made[value]
                    entries = design.parent[name, arg].reshape(design.shape(name))
                    args[arg] = up.flatten()[entries] if spec.parameters[value].dims else up
                else:
                    args[arg] = value
            if name in roots:
                args["mu"] = args["mu"] + shift(name).reshape(design.shape(name))
            label = f"{name}__shifted" if moved else name
            if name in blocks and parameter.distribution == "Normal" and parameter.dims and name not in roots:
                value = _by_block(label, args, blocks[name], design.shape(name), known.get(name))
                if not moved:
                    value = pm.Deterministic(name, value, dims=parameter.dims)
            else:
                value = getattr(pm, parameter.distribution)(label, **args, dims=parameter.dims or None)
            if moved:
                shifted[name] = value
                value = pm.Deterministic(
                    name, value - shift(name).reshape(design.shape(name)), dims=parameter.dims
                )
            made[name] = value
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

        mean = sum(per_pair(name) for name in spec.mu)
        noise = {arg: per_pair(value) for arg, value in spec.noise.items()}
        getattr(pm, spec.likelihood)(spec.outcome, mu=mean, **noise, observed=design.y)
    return model


def _roots(design: Design) -> dict[str, dict[str, np.ndarray]]:
    """Return the normal root of the mean and how to average the zero-mean effects over its entries.

    Empty where there is not exactly one chain of terms to hang the averages on.
    """
    spec = design.spec
    zero = [
        name
        for name in spec.mu
        if spec.is_random(name) and not isinstance(spec.parameters[name].args["mu"], str)
    ]
    chains = [name for name in spec.mu if name not in zero]
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
        data = np.bincount(design.index[name], 1 / noise**2, minlength=design.size(name))
        spread = scales[str(spec.parameters[name].args["sigma"])].ravel()[design.parent[name, "sigma"]]
        out[name] = (data / (data + 1 / spread**2)) ** 2
    return out


def _by_block(
    name: str,
    args: Mapping[str, Any],
    block: np.ndarray,
    shape: tuple[int, ...],
    known: np.ndarray | None,
) -> Any:
    """Make normal effects out of block means and deviations in an orthonormal (Helmert) basis."""
    import pymc as pm
    import pytensor.tensor as pt
    from scipy.linalg import helmert

    n, labels = len(block), np.unique(block)
    first = np.array([np.flatnonzero(block == label)[0] for label in labels])
    root = np.sqrt([np.sum(block == label) for label in labels])
    basis = np.zeros((n, n - len(labels)))
    owner = np.zeros(n - len(labels), dtype=int)
    column = 0
    for label, entry in zip(labels, first, strict=True):
        members = np.flatnonzero(block == label)
        width = len(members) - 1
        if width:
            basis[members, column : column + width] = helmert(len(members)).T
            owner[column : column + width] = entry
        column += width

    def of(arg: str, entries: np.ndarray) -> Any:
        value = args[arg]
        return value if isinstance(value, float) or value.ndim == 0 else value.flatten()[entries]

    def partly(label: str, mu: Any, spread: Any, entries: np.ndarray) -> Any:
        """Make normal effects, centred on their mean as far as the data know them."""
        if known is None:
            return pm.Normal(label, mu, spread, shape=len(entries))
        centred = known[entries]
        value = pm.Normal(label, centred * mu, spread**centred, shape=len(entries))
        return mu + spread ** (1 - centred) * (value - centred * mu)

    centre = partly(f"{name}__mean", of("mu", first), of("sigma", first) / root, first)
    flat = centre[np.searchsorted(labels, block)]
    if len(owner):
        flat = flat + pt.dot(basis, partly(f"{name}__deviation", 0.0, of("sigma", owner), owner))
    return flat.reshape(shape)


def fit(
    table: PairTable | pd.DataFrame,
    model: str | os.PathLike[str] | ModelSpec = "crossed",
    *,
    draws: int = 1000,
    tune: int = 1000,
    chains: int = 4,
    seed: int | None = None,
    sampler: str = "auto",
    target_accept: float | None = None,
    pointwise: bool = True,
    cores: int | None = None,
    progress: bool | None = None,
) -> BiasFit:
    """Fit a model to a table of pairs.

    Parameters
    ----------
    table : PairTable or DataFrame
        As made by `distance_table` or `read_distances`.
    model : str, path or ModelSpec
        A shipped name (see `shipped_models`) or the path of your own TOML file.
    draws, tune, chains : int
        Kept draws and tuning steps per chain, and chains.
    seed : int, optional
        Same seed, same machine, same draws. By default one is drawn and recorded in the provenance.
    sampler : {"auto", "collapsed", "pairwise"}
        ``collapsed`` integrates all effects out exactly; ``pairwise`` samples everything through PyMC.
        ``auto`` takes the first where it applies and records why not where it does not.
    target_accept : float in (0, 1), optional
        By default 0.9 for ``collapsed`` and 0.98 for ``pairwise``, where spreads near zero make the posterior
        narrow in places and small steps cost little beside the compilation.
    pointwise : bool
        Whether the tree gets the log-likelihood of each pair and predictive draws.
    cores : int, optional
        How many chains run at a time; by default as many as the machine has cores. Does not change the draws.
    progress : bool, optional
        A progress bar on the terminal; by default where standard error is one and it pays.

    Returns
    -------
    BiasFit

    Raises
    ------
    InputError, FitError

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.distance_table(bb.load_embedding("minilm-static"), "religion")
    >>> result = bb.fit(table, "crossed", seed=1, draws=500)
    >>> list(result.summary()["connection"])
    ['associated', 'different', 'human', 'neutral']
    """
    available = os.cpu_count() or 1
    _check_settings(draws=draws, tune=tune, chains=chains, cores=available if cores is None else cores)
    cores = min(chains, available if cores is None else cores)
    if sampler not in SAMPLERS:
        raise InputError("unknown sampler", found=sampler, valid=SAMPLERS)
    if target_accept is not None and not 0 < target_accept < 1:
        raise InputError("target_accept must lie between 0 and 1", found=target_accept)
    if seed is None:
        seed = int(np.random.SeedSequence().generate_state(1)[0])
    elif isinstance(seed, bool) or not isinstance(seed, int | np.integer) or not 0 <= seed < 2**32:
        raise InputError("the seed must be a whole number from 0 to 4294967295", found=seed)
    spec, frame = load_model(model), _frame(table).reset_index(drop=True)
    started = time.perf_counter()
    if spec.trim:
        spec = trimmed(spec, frame)
    design = Design.of(spec, frame)
    if len(design.y) > 1 and np.ptp(design.y) == 0:
        raise FitError(
            f"every row has the same {spec.outcome} ({design.y[0]:g}): there is nothing to model, and noise of zero is no "
            "noise"
        )
    reduced: Collapsed | None = None
    why = "asked for" if sampler == "pairwise" else ""
    if sampler != "pairwise":
        try:
            reduced = collapse(design)
            if reduced.n_theta == 0:
                raise NotCollapsible("the model has no scale to sample")
            _refuse_no_noise(reduced)
        except NotCollapsible as reason:
            if sampler == "collapsed":
                raise FitError(f"model {spec.name}: no exact reduction, since {reason}") from None
            reduced, why = None, str(reason)
    settings = {
        "draws": int(draws),
        "tune": int(tune),
        "chains": int(chains),
        "seed": int(seed),
        "target_accept": target_accept or (0.9 if reduced else 0.98),
    }
    prepared = time.perf_counter()
    effects_s = 0.0
    if reduced:
        tree, effects_s = _sample_collapsed(reduced, settings, cores)
    else:
        tree = _sample_pairwise(design, settings, cores, progress)
    _observed(tree, design)
    provenance = _provenance(table, spec, settings)
    provenance["sampler"] |= {
        "method": "collapsed" if reduced is not None else "pairwise",
        "why_pairwise": why,
    }
    provenance["timing"] = {
        "prepare_s": round(prepared - started, 4),
        "sample_s": round(time.perf_counter() - prepared, 4),
        "effects_s": round(effects_s, 4),  # of it, to draw the effects
    }
    result = BiasFit(tree=tree, table=frame, spec=spec, provenance=provenance)
    if pointwise and chains * draws * len(frame) <= MOST_POINTWISE:
        result = with_pointwise(result)
    return result


def _refuse_no_noise(reduced: Collapsed) -> None:
    """Refuse rows that the effects reproduce to the last digit: their noise would shrink without end."""
    least = 1e-22 * float(np.sum(reduced.design.y**2))
    if any(not part.effects and part.half[0, 0] ** 2 <= least for part in reduced.components):
        raise FitError(
            "the effects of the model reproduce some rows exactly, so that their noise has no posterior: noise of zero "
            "is no noise; are the outcomes rounded, computed from a few numbers, or of sentences with the same vector?"
        )


def _check_settings(**settings: int) -> None:
    for name, value in settings.items():
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
            raise InputError(f"`{name}` must be a whole number of at least 1", found=value)


def _sample_collapsed(reduced: Collapsed, settings: dict[str, Any], cores: int) -> tuple[xr.DataTree, float]:
    """Sample the scales, draw the effects; where draws of the scales are too alike, run longer and keep fewer."""
    import xarray as xr

    sampled = _scales(reduced, settings, cores, thin=1)
    cost = sum(float(size) ** 3 for size in reduced.component_sizes)
    if settings["draws"] >= FEWEST_TO_THIN and cost <= MOST_CUBES_TO_THIN:
        effective = max(effective_draws(sampled["posterior"]["theta"].to_numpy()), 1.0)
        enough = min(ENOUGH_PER_CHAIN, settings["draws"] // 2) * settings["chains"]
        settings["thin"] = int(np.clip(np.ceil(enough / effective), 1, MOST_THINNED))
        if settings["thin"] > 1:
            sampled = _scales(reduced, settings, cores, settings["thin"])
    every = slice(settings.get("thin", 1) - 1, None, settings.get("thin", 1))
    theta = sampled["posterior"]["theta"].to_numpy()[:, every]
    n = reduced.n_theta
    rng = np.random.default_rng(np.random.SeedSequence([settings["seed"], 1]))
    flat = theta.reshape(-1, n)
    began = time.perf_counter()
    try:
        drawn = reduced.split(flat) | reduced.draw_effects(flat, rng)
    except np.linalg.LinAlgError:
        raise FitError(
            "the noise runs to zero: do some rows repeat others exactly, such as words that stand in two sets?"
        ) from None
    effects_s = time.perf_counter() - began
    design = reduced.design
    variables = {
        name: (
            ("chain", "draw", *parameter.dims),
            drawn[name].reshape((*theta.shape[:2], *design.shape(name))),
        )
        for name, parameter in design.spec.parameters.items()
    }
    coords: dict[str, Any] = {
        dim: labels
        for dim, labels in design.coords.items()
        if any(dim in parameter.dims for parameter in design.spec.parameters.values())
    }
    coords |= {"chain": range(theta.shape[0]), "draw": range(theta.shape[1])}
    stats = sampled["sample_stats"].to_dataset()
    keep = [
        name for name in ("diverging", "depth", "n_steps", "energy", "logp", "step_size") if name in stats
    ]
    kept = stats[keep].isel(draw=every)
    # A divergence counts wherever it happened, also between draws that are kept.
    thin = settings.get("thin", 1)
    wild = stats["diverging"].to_numpy().reshape(kept.sizes["chain"], kept.sizes["draw"], thin).sum(axis=2)
    kept = kept.assign(diverging=(("chain", "draw"), wild)).assign_coords(draw=range(kept.sizes["draw"]))
    tree = xr.DataTree.from_dict({"posterior": xr.Dataset(variables, coords), "sample_stats": kept})
    return tree, effects_s


def _scales(reduced: Collapsed, settings: Mapping[str, Any], cores: int, thin: int) -> Any:
    """Sample the logarithms of the scales, `thin` draws for each that is wanted."""
    import nutpie
    from nutpie.compile_pymc import CompiledPyMCModel

    from bayesbias._kernel import expand_callback, logp_callback, packed

    n = reduced.n_theta
    spread = np.log(max(float(np.std(reduced.design.y)), 1e-6) / 2)

    def initial(seed: int) -> np.ndarray:
        return spread + np.random.default_rng(seed).normal(0, 0.5, n)

    # What nutpie makes of a PyMC model, made by hand: two compiled functions and the data behind a pointer.
    compiled = CompiledPyMCModel(
        dims={},
        _n_dim=n,
        _coords={},
        _shapes={"theta": (n,)},
        compiled_logp_func=logp_callback,
        compiled_expand_func=expand_callback,
        initial_point_func=initial,
        shared_data={},
        shared_var_keys={},
        user_data=packed(reduced.arrays),
        n_expanded=n,
        shape_info=(["theta"], [slice(0, n)], [(n,)]),
        logp_func=None,
        expand_func=None,
    )
    with warnings.catch_warnings():
        # Fewer draws than chains look like swapped dimensions to the conversion; they are not.
        warnings.filterwarnings("ignore", message="Found chain dimension to be longer", category=UserWarning)
        return nutpie.sample(
            compiled,
            draws=settings["draws"] * thin,
            tune=settings["tune"],
            chains=settings["chains"],
            cores=cores,
            seed=settings["seed"],
            save_warmup=False,
            progress_bar=False,
            target_accept=settings["target_accept"],
        )


def _sample_pairwise(
    design: Design, settings: Mapping[str, Any], cores: int, progress: bool | None
) -> xr.DataTree:
    import logging
    import sys

    import pymc as pm
    import xarray as xr

    logging.getLogger("pymc").setLevel(logging.WARNING)  # it would list its internal variables
    with _pymc_model(design, rotated=True):
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
    stats = sampled["sample_stats"].to_dataset()
    keep = [
        name for name in ("diverging", "depth", "n_steps", "energy", "logp", "step_size") if name in stats
    ]
    return xr.DataTree.from_dict({"posterior": posterior, "sample_stats": stats[keep]})


def _observed(tree: xr.DataTree, design: Design) -> None:
    import xarray as xr

    tree["observed_data"] = xr.DataTree(
        xr.Dataset({design.spec.outcome: ("pair", design.y)}, coords={"pair": np.arange(len(design.y))})
    )


def _provenance(
    table: PairTable | pd.DataFrame, spec: ModelSpec, settings: Mapping[str, Any]
) -> dict[str, Any]:
    import platform
    from importlib.metadata import version

    out: dict[str, Any] = {
        "table": dict(table.provenance) if isinstance(table, PairTable) else {"name": "a data frame"},
        "coverage": table.coverage.as_dict() if isinstance(table, PairTable) else {},
        "model": {"name": spec.name, "sha256": spec.sha256},
        "sampler": {"name": "nutpie NUTS", **settings},
        "versions": {
            name: version(name)
            for name in ("bayesbias", "nutpie", "pymc", "arviz", "numpy", "numba", "pandas")
        },
    }
    out["versions"]["python"] = platform.python_version()
    return out
