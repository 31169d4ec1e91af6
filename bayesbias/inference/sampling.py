"""The scales of a collapsed model, sampled by NUTS or by importance sampling; effects follow from them exactly.

Only this module calls nutpie by itself. The effects are drawn from the scales:
`bayesbias.inference.effects`.
"""

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.core.errors import FitError
from bayesbias.core.formatting import in_one_line
from bayesbias.core.workers import one_thread_of_blas
from bayesbias.inference.laplace import Engine, Scores, laplace, weighted_theta
from bayesbias.inference.likelihood import Collapsed

if TYPE_CHECKING:
    import xarray as xr

TARGET = 0.8
CAREFUL = 0.95  # where a step of the usual size diverged
STATISTICS = (
    "diverging",
    "depth",
    "n_steps",
    "energy",
    "logp",
    "step_size",
)  # of the sampler, kept


def sample_collapsed(reduced: Collapsed, settings: dict[str, Any], cores: int) -> "xr.DataTree":
    """Sample the scales by the engine that is asked for, and note in the settings which one gave the draws, and how.

    Parameters
    ----------
    reduced : Collapsed
    settings : dict
        ``draws, tune, chains, seed`` and, where they are asked for, ``target_accept`` and
        ``engine``.
    cores : int
    """
    import xarray as xr

    theta, stats = sample_theta(reduced, settings, cores)
    values = reduced.log_densities(theta.reshape(-1, theta.shape[2])).reshape(theta.shape[:2])
    # The sampler's own density is that of its coordinates.
    stats = (xr.Dataset() if stats is None else stats).assign(logp=(("chain", "draw"), values))
    design, spec = reduced.design, reduced.design.spec
    variables = {
        name: (("chain", "draw", *spec.parameters[name].dims), values)
        for name, values in reduced.split(theta).items()
    }
    dims = {dim for name in variables for dim in spec.parameters[name].dims}
    coords: dict[str, Any] = {dim: labels for dim, labels in design.coords.items() if dim in dims}
    coords |= {"chain": range(theta.shape[0]), "draw": range(theta.shape[1])}
    return xr.DataTree.from_dict(
        {"posterior": xr.Dataset(variables, coords), "sample_stats": stats}
    )


def sample_theta(
    reduced: Collapsed, settings: dict[str, Any], cores: int
) -> tuple[np.ndarray, "xr.Dataset | None"]:
    """Return the logarithms of the scales, shape (chains, draws, n_theta), and of NUTS its statistics."""
    asked, engine, scores = settings.pop("engine", "nuts"), Engine(), None
    seed = reduced.design.stream(settings["seed"])
    with one_thread_of_blas():
        if asked == "quick":
            theta, engine, scores = weighted_theta(
                reduced, settings["draws"], settings["chains"], seed
            )
            if engine.name == "quick":
                settings["engine"] = engine.as_dict()
                return theta, None
        scores = laplace(reduced) if scores is None else scores
        settings["target_asked"] = asked_target = settings.get("target_accept")
        for target in (asked_target,) if asked_target else (TARGET, CAREFUL):
            settings["target_accept"] = target
            sampled = _nuts(reduced, settings, cores, scores, seed)
            if not sampled["sample_stats"]["diverging"].to_numpy().any():
                break
    settings["engine"] = engine.as_dict()
    stats = sampled["sample_stats"].to_dataset()
    kept = stats[[name for name in STATISTICS if name in stats]]
    return sampled["posterior"]["theta"].to_numpy(), kept


def _nuts(
    reduced: Collapsed, settings: Mapping[str, Any], cores: int, scores: Scores, seed: int
) -> Any:
    """Sample the scales' scores by nutpie, from compiled functions that it calls through C."""
    import nutpie
    from nutpie.compile_pymc import CompiledPyMCModel

    from bayesbias.inference.kernel import expand_callback, logp_callback, packed

    n = reduced.n_theta
    # What nutpie makes of a PyMC model, made by hand: two compiled functions and the data behind a pointer.
    compiled = CompiledPyMCModel(
        dims={},
        _n_dim=n,
        _coords={},
        _shapes={"theta": (n,)},
        compiled_logp_func=logp_callback,
        compiled_expand_func=expand_callback,
        initial_point_func=lambda seed: np.random.default_rng(seed).normal(0, 1, n),
        shared_data={},
        shared_var_keys={},
        user_data=packed(reduced.arrays, scores.log_m, scores.mode, scores.root),
        n_expanded=n,
        shape_info=(["theta"], [slice(0, n)], [(n,)]),
        logp_func=None,
        expand_func=None,
    )
    with warnings.catch_warnings():
        # Fewer draws than chains look like swapped dimensions to the conversion; they are not.
        warnings.filterwarnings(
            "ignore", message="Found chain dimension to be longer", category=UserWarning
        )
        try:
            at_work = nutpie.sample(
                compiled,
                draws=settings["draws"],
                tune=settings["tune"],
                chains=settings["chains"],
                cores=cores,
                seed=seed,
                save_warmup=False,
                progress_bar=False,
                target_accept=settings["target_accept"],
                blocking=False,
            )
            try:
                return at_work.wait()
            except BaseException:  # left to itself, it takes Ctrl-C for the end of the draws
                at_work.cancel()
                raise
        except RuntimeError as error:
            raise FitError(
                "the sampler finds no point to start from: are priors far from the outcomes, or far too wide? "
                f"({in_one_line(str(error), 80)})"
            ) from None
