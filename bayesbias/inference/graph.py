r"""The PyMC model of a TOML file, pair by pair with all its effects, and its sampling.

`pymc_model` states what is fitted. Effects are their mean plus their standard deviation times a
standard normal (non-centered), which takes the funnel out of small standard deviations.

Noise that is not normal has no exact reduction, so `sample_pairwise` samples this model. A shift of
all attribute effects is undone by a shift of means, and NUTS would crawl along. So the standard
normals z are sampled along the axes of their posterior in a pilot: the same model with normal
noise, at the mode of its scales. There :math:`y = W z + \epsilon` has precision :math:`A = I + W^T
S^{-1} W = L L^T`, and :math:`z = A^{-1} W^T S^{-1} y + L^{-T} w`. The prior stays that of z, so the
pilot decides over the number of steps alone.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.core.progress import without_bars
from bayesbias.core.workers import one_thread_of_blas
from bayesbias.inference.likelihood import NotCollapsible, collapse_grid
from bayesbias.inference.sampling import (
    LONG_RUN,
    STATISTICS,
    Engine,
    Sampled,
    laplace,
    mixed,
    thinned,
)
from bayesbias.models.design import Design

if TYPE_CHECKING:
    import pymc as pm
    import xarray as xr

PAIRWISE_TARGET_ACCEPT, PAIRWISE_TARGET_AGAIN = 0.9, 0.995  # the second where a step diverged
PAIRWISE_LONGER = 2  # times as many draws, of which each second is kept
_MOST_TOGETHER = 3000  # effects whose axes are a matrix
_AT_A_TIME = 100
_MOST_ROWS = 500  # of a component of the pilot


def pymc_model(design: Design, axes: tuple[np.ndarray, np.ndarray] | None = None) -> "pm.Model":
    """Make the PyMC model that the TOML file states.

    Parameters
    ----------
    design : Design
    axes : (center, root), optional
        Sample the standard normals z of all effects as center + root w, with w what NUTS moves.
    """
    import pymc as pm

    spec = design.spec
    values: dict[str, Any] = {}
    normal = _normal_effects(design)
    with pm.Model(coords={dim: list(labels) for dim, labels in design.coords.items()}) as model:
        standard: dict[str, Any] = {}
        if axes is not None:
            joint = axes[0] + axes[1] @ pm.Flat("standard", shape=len(axes[0]))
            pm.Potential("standard_prior", -0.5 * (joint**2).sum())
            ends = np.cumsum([0, *(design.size(name) for name in normal)])
            for name, start, end in zip(normal, ends[:-1], ends[1:], strict=True):
                standard[name] = joint[start:end].reshape(design.shape(name))

        def argument(name: str, arg: str) -> Any:
            value = spec.parameters[name].args[arg]
            if not isinstance(value, str):
                return np.float64(value)  # a plain number would be rounded to single precision
            make(value)
            if values[value].ndim == 0:
                return values[value]
            return values[value].flatten()[design.parent[name, arg].reshape(design.shape(name))]

        def make(name: str) -> None:
            if name in values:
                return
            parameter, dims = spec.parameters[name], spec.parameters[name].dims or None
            if name in standard or (name in normal and spec.is_random(name)):
                if name not in standard:
                    standard[name] = pm.Normal(f"{name}_standard", dims=dims)
                effect = argument(name, "mu") + argument(name, "sigma") * standard[name]
                values[name] = pm.Deterministic(name, effect, dims=dims)
            else:
                args = {arg: argument(name, arg) for arg in parameter.args}
                values[name] = getattr(pm, parameter.distribution)(name, **args, dims=dims)

        def of_rows(name: str) -> Any:
            return values[name].flatten()[design.index[name]] if values[name].ndim else values[name]

        for name in spec.parameters:
            make(name)
        mean: Any = 0.0
        for name in spec.mu:
            lever = design.lever(name)
            mean = mean + (of_rows(name) if lever is None else of_rows(name) * lever)
        args = {arg: of_rows(x) if isinstance(x, str) else x for arg, x in spec.noise.items()}
        if design.trials is not None:
            args["trials"] = design.trials
        design.outcome_type.pymc(spec.outcome, design.y, mean, **args)
    return model


def _normal_effects(design: Design) -> list[str]:
    spec = design.spec
    effects = spec.location_parameters()
    return [name for name in effects if spec.parameters[name].distribution == "Normal"]


def axes_of_effects(design: Design) -> tuple[np.ndarray, np.ndarray] | None:
    """Return center and root of the standard normals in the pilot; None if it would be costly."""
    from scipy import sparse

    spec, normal = design.spec, _normal_effects(design)
    sizes = [design.size(name) for name in normal]
    size = sum(sizes)
    if "sigma" not in spec.noise or size > _MOST_TOGETHER:
        return None
    if len(normal) < len(spec.location_parameters()):
        return None
    middle = np.median(design.y)
    reach = 3 * 1.4826 * np.median(np.abs(design.y - middle))
    reach = reach if reach > 0 else np.inf
    calm = np.clip(design.y, middle - reach, middle + reach)  # outlying rows pulled in
    pilot = replace(spec, likelihood="Normal", noise={"sigma": spec.noise["sigma"]})
    try:
        reduced = collapse_grid(replace(design, spec=pilot, y=calm))
    except NotCollapsible:
        return None
    if max(reduced.component_sizes) > _MOST_ROWS:
        return None
    scales = reduced.scales_of(laplace(reduced).log_m)
    noise = design.noise(scales, "sigma")

    def means(z: np.ndarray) -> np.ndarray:
        """Return the means of the rows at standard normals, shape (n, size)."""
        effects: dict[str, np.ndarray] = {}
        for name, part in zip(normal, np.split(z, np.cumsum(sizes)[:-1], axis=1), strict=True):
            mu: Any = spec.parameters[name].args["mu"]
            sd: Any = spec.parameters[name].args["sigma"]
            if isinstance(mu, str):
                mu = effects[mu].reshape(len(z), -1)[:, design.parent[name, "mu"]]
            if isinstance(sd, str):
                sd = np.ravel(scales[sd])[design.parent[name, "sigma"]]
            effects[name] = (mu + sd * part).reshape(len(z), *design.shape(name))
        return design.mean(effects)

    fixed, one = means(np.zeros((1, size)))[0], np.eye(size)
    parts = (one[start : start + _AT_A_TIME] for start in range(0, size, _AT_A_TIME))
    w = sparse.vstack([sparse.csr_array((means(part) - fixed) / noise) for part in parts])
    inverse = np.linalg.inv(np.linalg.cholesky((w @ w.T).toarray() + one))
    return inverse.T @ (inverse @ (w @ ((design.y - fixed) / noise))), inverse.T


def sample_pairwise(
    design: Design, settings: Mapping[str, Any], cores: int, progress: bool | None
) -> Sampled:
    """Sample the model pair by pair with PyMC.

    It runs again by smaller steps if a step diverged, and longer if a long run has not mixed.
    """
    import logging
    import sys

    import pymc as pm
    import xarray as xr

    logging.getLogger("pymc").setLevel(logging.WARNING)  # it would list its internal variables
    design = design.ordered()
    model = pymc_model(design, axes_of_effects(design))

    def run(target: float, times: int) -> dict[str, "xr.Dataset"]:
        with model, one_thread_of_blas(), without_bars():  # the sampler has a bar of its own
            sampled = pm.sample(
                draws=times * settings["draws"],
                tune=times * settings["tune"],
                chains=settings["chains"],
                cores=cores,
                random_seed=design.stream(settings["seed"]),
                target_accept=target,
                nuts_sampler="nutpie",
                progressbar=sys.stderr.isatty() if progress is None else progress,
                compute_convergence_checks=False,
            )
        posterior, stats = (sampled[group].to_dataset() for group in ("posterior", "sample_stats"))
        # What is interrupted comes back as far as it went.
        if posterior.sizes["draw"] < times * settings["draws"] or np.isnan(stats["logp"]).any():
            raise KeyboardInterrupt
        kept = stats[[name for name in STATISTICS if name in stats]]
        return {"posterior": posterior[list(design.spec.parameters)], "sample_stats": kept}

    asked = settings.get("target_accept")
    target = asked or PAIRWISE_TARGET_ACCEPT
    groups = run(target, 1)
    if groups["sample_stats"]["diverging"].any() and not asked:
        target = PAIRWISE_TARGET_AGAIN
        groups = run(target, 1)
    thin = None
    if settings["draws"] >= LONG_RUN:
        drawn = [values.to_numpy() for values in groups["posterior"].data_vars.values()]
        flat = [values.reshape(*values.shape[:2], -1) for values in drawn]
        if not mixed(np.concatenate(flat, axis=2)):
            thin = PAIRWISE_LONGER
            again = run(target, thin)
            groups = {name: thinned(part, thin) for name, part in again.items()}
    engine = Engine.without_reduction(settings.get("engine", "nuts"))
    return Sampled(xr.DataTree.from_dict(groups), engine, target, thin)
