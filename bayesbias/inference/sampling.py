"""The scales of the collapsed model, sampled by nutpie or by importance sampling.

The only room that calls nutpie by itself. The effects are drawn from the scales: `bayesbias.inference.effects`.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.core.errors import FitError
from bayesbias.core.formatting import in_one_line
from bayesbias.core.workers import one_thread_of_blas
from bayesbias.inference.collapsed import Collapsed
from bayesbias.inference.coordinates import Coordinates, plain_coordinates, shaped_coordinates
from bayesbias.inference.diagnostics import r_hat_and_ess
from bayesbias.inference.engine import Engine
from bayesbias.inference.importance import weigh_scales

if TYPE_CHECKING:
    import xarray as xr

# Near a standard normal a share of .7 gives as many effective draws as one of .9, from half the steps. In logarithms the
# posterior of a spread near zero is narrow in places, where larger steps would stop short of it.
TARGETS = {"shaped": 0.7, "plain": 0.9, "pairwise": 0.98}
CAREFUL = 0.95  # where a step of the usual size went astray
# Scales near zero mix slowly. A longer run of the collapsed model costs little, so that draws are thinned until each
# chain has twice the effective draws that diagnostics ask for, and chains agree; not where so few are asked for
# that nobody could tell, nor where it costs much.
FEWEST_TO_THIN = 200
ENOUGH_PER_CHAIN = 200
ENOUGH_R_HAT = 1.007  # short of what diagnostics refuse, so that chance does not carry it over
MOST_THINNED = 8
_FAR_APART = 1.5  # standard deviations of where chains start
MOST_CUBES_TO_THIN = 2e4  # cost of an evaluation, as in `collapsed`: some hundredths of a millisecond


def sample_collapsed(reduced: Collapsed, settings: dict[str, Any], cores: int) -> xr.DataTree:
    """Sample the scales by the engine that is asked for, and note in the settings which one gave the draws, and how.

    Parameters
    ----------
    reduced : Collapsed
    settings : dict
        ``draws, tune, chains, seed`` and, where they are asked for, ``target_accept`` and ``engine``.
    cores : int
    """
    import xarray as xr

    theta, stats = _sampled(reduced, settings, cores)
    if stats is None:
        values = reduced.log_densities(theta.reshape(-1, theta.shape[2])).reshape(theta.shape[:2])
        stats = xr.Dataset({"logp": (("chain", "draw"), values)})
    return _as_tree(reduced, theta, stats)


def sample_theta(reduced: Collapsed, settings: dict[str, Any], cores: int) -> np.ndarray:
    """Return the logarithms of the scales alone, shape (chains, draws, n_theta): the very draws of `sample_collapsed`."""
    return _sampled(reduced, settings, cores)[0]


def _sampled(
    reduced: Collapsed, settings: dict[str, Any], cores: int
) -> tuple[np.ndarray, xr.Dataset | None]:
    """Return log-scales, and of NUTS its statistics."""
    asked = settings.pop("engine", "nuts")
    engine = Engine()
    with one_thread_of_blas():
        if asked == "quick":
            seed = reduced.design.stream(settings["seed"])
            kept = settings["draws"], settings["chains"], seed
            theta, engine = weigh_scales(reduced, starting_point(reduced), *kept)
            if engine.name == "quick":
                settings["engine"] = engine.as_dict()
                return theta, None
        sampled = _by_nuts(reduced, settings, cores)
    settings["engine"] = engine.as_dict()
    return sampled


def starting_point(reduced: Collapsed) -> np.ndarray:
    """Return log-scales to start from: a factor from one, a spread from that of the outcome; shape (n_theta,)."""
    spread = np.log(max(float(np.std(reduced.design.y)), 1e-6) / 2)
    return np.where(reduced.factor_places(), 0.0, spread)


def _by_nuts(reduced: Collapsed, settings: dict[str, Any], cores: int) -> tuple[np.ndarray, xr.Dataset]:
    """Sample by NUTS; where a step went astray, by smaller steps, unless their size was asked for."""
    shaped = shaped_coordinates(reduced, starting_point(reduced), reduced.design.stream(settings["seed"]))
    coordinates = plain_coordinates(reduced) if shaped is None else shaped
    asked = settings.get("target_accept")
    settings["target_asked"] = asked
    settings["coordinates"] = "plain" if shaped is None else "shaped"
    for target in (asked,) if asked else (TARGETS[settings["coordinates"]], CAREFUL):
        settings["target_accept"] = target
        theta, stats = _long_enough(reduced, settings, cores, coordinates)
        if not stats["diverging"].any():
            break
    return theta, stats


def _long_enough(
    reduced: Collapsed, settings: dict[str, Any], cores: int, coordinates: Coordinates
) -> tuple[np.ndarray, xr.Dataset]:
    """Sample by NUTS; where draws are too alike, run longer and keep fewer."""
    settings.pop("thin", None)
    sampled = _sample_scales(reduced, settings, cores, 1, coordinates)
    cost = sum(float(size) ** 3 for size in reduced.component_sizes)
    if settings["draws"] >= FEWEST_TO_THIN and cost <= MOST_CUBES_TO_THIN:
        scales = sampled["posterior"]["theta"].to_numpy()
        r_hat, ess = r_hat_and_ess(scales)
        effective = max(float(np.nanmin(ess, initial=np.inf)), 1.0)
        enough = min(ENOUGH_PER_CHAIN, settings["draws"] // 2) * settings["chains"]
        longer = max(np.ceil(enough / effective), 2 if np.nanmax(r_hat, initial=0.0) > ENOUGH_R_HAT else 1)
        settings["thin"] = int(np.clip(longer, 1, MOST_THINNED))
        if settings["thin"] > 1:
            sampled = _sample_scales(reduced, settings, cores, settings["thin"], coordinates)
    every = slice(settings.get("thin", 1) - 1, None, settings.get("thin", 1))
    theta = sampled["posterior"]["theta"].to_numpy()[:, every]
    stats = sampled["sample_stats"].to_dataset()
    keep = [
        name for name in ("diverging", "depth", "n_steps", "energy", "logp", "step_size") if name in stats
    ]
    kept = stats[keep].isel(draw=every)
    # A divergence counts wherever it happened, also between draws that are kept.
    thin = settings.get("thin", 1)
    wild = stats["diverging"].to_numpy().reshape(kept.sizes["chain"], kept.sizes["draw"], thin).sum(axis=2)
    kept = kept.assign(diverging=(("chain", "draw"), wild)).assign_coords(draw=range(kept.sizes["draw"]))
    # The sampler's own density is that of its coordinates.
    values = reduced.log_densities(theta.reshape(-1, theta.shape[2])).reshape(theta.shape[:2])
    return theta, kept.assign(logp=(("chain", "draw"), values))


def _as_tree(reduced: Collapsed, theta: np.ndarray, stats: xr.Dataset) -> xr.DataTree:
    """Return draws of the log-scales, shape (chains, draws, n_theta), as draws of the scales by their names."""
    import xarray as xr

    design = reduced.design
    spec = design.spec
    variables = {
        name: (("chain", "draw", *spec.parameters[name].dims), values)
        for name, values in reduced.split(theta).items()
    }
    dims = {dim for name in variables for dim in spec.parameters[name].dims}
    coords: dict[str, Any] = {dim: labels for dim, labels in design.coords.items() if dim in dims}
    coords |= {"chain": range(theta.shape[0]), "draw": range(theta.shape[1])}
    return xr.DataTree.from_dict({"posterior": xr.Dataset(variables, coords), "sample_stats": stats})


def _sample_scales(
    reduced: Collapsed, settings: Mapping[str, Any], cores: int, thin: int, coordinates: Coordinates
) -> Any:
    """Sample the logarithms of the scales, `thin` draws for each that is wanted."""
    import nutpie
    from nutpie.compile_pymc import CompiledPyMCModel

    from bayesbias.inference.kernel_sampling import expand_callback, logp_callback, packed

    n = reduced.n_theta

    def initial(seed: int) -> np.ndarray:
        rng = np.random.default_rng(seed)
        if coordinates.shaped:
            return rng.normal(0, _FAR_APART, n)
        return starting_point(reduced) + rng.normal(0, 0.5, n)

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
        user_data=packed(reduced.arrays, coordinates),
        n_expanded=n,
        shape_info=(["theta"], [slice(0, n)], [(n,)]),
        logp_func=None,
        expand_func=None,
    )
    with warnings.catch_warnings():
        # Fewer draws than chains look like swapped dimensions to the conversion; they are not.
        warnings.filterwarnings("ignore", message="Found chain dimension to be longer", category=UserWarning)
        try:
            at_work = nutpie.sample(
                compiled,
                draws=settings["draws"] * thin,
                tune=settings["tune"],
                chains=settings["chains"],
                cores=cores,
                seed=reduced.design.stream(settings["seed"]),
                save_warmup=False,
                progress_bar=False,
                target_accept=settings["target_accept"],
                blocking=False,
            )
            try:
                return at_work.wait()
            except (
                BaseException
            ):  # left to itself, it takes Ctrl-C for the end of the draws and returns what it has
                at_work.cancel()
                raise
        except RuntimeError as error:
            raise FitError(
                "the sampler finds no point to start from: are priors far from the outcomes, or far too wide? "
                f"({in_one_line(str(error), 80)})"
            ) from None
