"""The scales of a collapsed model, sampled by NUTS (nutpie) or by importance sampling.

`sample_collapsed` samples the log scales, theta. Both engines start from a Laplace approximation
and move in coordinates u of the scales in which the posterior is nearly normal
(`bayesbias.inference.kernel`).

Given the scales all effects are normal (`bayesbias.inference.likelihood`), and `with_effects` draws
all effects once for each draw of the scales. A draw has some twenty scales and a thousand effects
of attributes. A seed gives the same effects again, so that a fit holds the scales alone.
"""

from __future__ import annotations

import functools
import inspect
import math
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from bayesbias.core import FitError
from bayesbias.core.errors import as_resource_error
from bayesbias.core.formatting import in_one_line
from bayesbias.core.progress import Tick, ticking, unseen
from bayesbias.core.workers import one_thread_of_blas
from bayesbias.inference.diagnostics import (
    MAX_R_HAT,
    MIN_ESS_PER_CHAIN,
    MOST_PARETO_K,
    r_hat_and_ess,
)
from bayesbias.inference.likelihood import Collapsed, Reduction
from bayesbias.models.design import Arrays, Design

if TYPE_CHECKING:
    import xarray as xr

ENGINES = ("auto", "nuts", "quick")
FEW_EFFECTS = 450  # of 0/1 answers, which NUTS samples in seconds
PAIRWISE_ASKED = "asked for"  # why a fit is not collapsed
_ROUNDS = 5
_DEGREES = 10.0
_TRUST = 200.0  # effective draws that the covariance of the last proposal counts for
_FEWEST_PROPOSED = 4000
_FEWEST_PER_CHAIN = 300.0  # effective draws: three times what diagnostics ask of any sampler
# A run of at least so many draws that has not mixed is sampled so many times longer, and thinned.
LONG_RUN, _LONGER = 1000, 4
_NEAR = 1e-5, 1e-7  # tolerances of the searches where it is enough to be near the mode
_STEPS_OF_A_DRAW = 30  # of NUTS, as densities: some ten steps, each with a gradient
_STEP = 1e-4  # of differences of the gradient
_NEWTON_STEPS, _LONGEST_STEP = 5, 1.0  # to the mode of coordinates, where it is enough to be near
_NEAR_ENOUGH = 0.01  # the square of the distance in SDs
_STEEP = 0.5  # a gradient of the log density that is not near the mode
_LEAST_CURVATURE = 0.05  # of a coordinate that only a flat prior holds
NO_DENSITY = 1e300  # minus a log density beyond floating point, for searches
AT_MODE = 0.3375  # the coordinate of a scale at the mode of its logarithm
COLLAPSED_TARGET_ACCEPT = 0.8, 0.95, 0.995  # the others where steps of the size before diverged
STATISTICS = ("diverging", "depth", "n_steps", "energy", "logp", "step_size")  # those kept


@dataclass(frozen=True)
class Engine:
    """How the posterior of a fit was sampled.

    Attributes
    ----------
    name : {"nuts", "quick"}
        The engine that gave the draws; ``quick`` is importance sampling of the scales.
    asked : {"auto", "nuts", "quick"}
        The engine that was asked for. ``auto`` is NUTS unless the density of a table is costly, or the
        effects are integrated out by an approximation.
    pareto_k : float or None
        The shape of the tail of the importance weights, which can be trusted up to 0.7.
    effective : float
        How many draws of equal weight the weights are worth.
    proposed : int
        How many draws were weighted.
    why_not : {"", "pareto_k", "effective", "no mode", "not collapsed"}
        Why NUTS took the place of ``quick``.

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.distance_table("minilm-static", "religion", controls="none")
    >>> fit = bb.fit(table, "crossed", seed=1, draws=100, chains=2, engine="quick")
    >>> fit.engine.asked, fit.engine.name in ("quick", "nuts")
    ('quick', True)
    """

    name: str = "nuts"
    asked: str = "nuts"
    pareto_k: float | None = None
    effective: float = 0.0
    proposed: int = 0
    why_not: str = ""

    @classmethod
    def without_reduction(cls, asked: str) -> Engine:
        """Return the engine of a model whose effects are not integrated out: always NUTS."""
        return cls(asked=asked, why_not="not collapsed" if asked == "quick" else "")

    def in_words(self) -> str:
        """Return a phrase about the engine; empty if it is NUTS, and was meant to be."""
        k = "without bound" if self.pareto_k is None else f"{self.pareto_k:.2f}"
        if self.name == "quick":
            drawn = f"{self.effective:,.0f} effective of {self.proposed:,} draws"
            return f"importance sampling, {drawn}, Pareto k {k}"
        if self.why_not:
            why = {
                "pareto_k": f"Pareto k was {k}",
                "effective": f"only {self.effective:.0f} of {self.proposed:,} draws counted",
                "no mode": "it found no mode",
                "not collapsed": "the model has no exact reduction",
            }[self.why_not]
            return f"NUTS instead of importance sampling, since {why}"
        return ""


@dataclass(frozen=True, eq=False)
class Sampled:
    """What a sampler returns.

    Attributes
    ----------
    idata : xarray.DataTree
        Groups ``posterior`` and ``sample_stats``.
    engine : Engine
        What gave the draws.
    target_accept : float or None
        The acceptance rate that NUTS aimed at; of importance sampling what was asked for.
    thin : int or None
        Of so many draws one was kept; None if the sampler did not thin.
    """

    idata: xr.DataTree
    engine: Engine
    target_accept: float | None
    thin: int | None = None


@dataclass(frozen=True, eq=False)
class SampledTheta:
    """Draws of the log scales; engine, target_accept and thin as in `Sampled`.

    Attributes
    ----------
    theta : ndarray, shape (chains, draws, n_theta)
    stats : Dataset or None
        Statistics of NUTS; None of importance sampling.
    """

    theta: np.ndarray
    stats: xr.Dataset | None
    engine: Engine
    target_accept: float | None
    thin: int | None = None


@dataclass(frozen=True)
class Sampling:
    """How a fit was sampled: what was asked for, and what was done.

    Attributes
    ----------
    method : str
        ``collapsed`` (the effects were integrated out exactly), ``variational`` or ``laplace`` (of
        counts and ordered levels, by a normal approximation of the effects given the SDs), ``counts``
        (effects and SDs sampled from a compiled density) or ``pairwise`` (by PyMC).
    draws, tune, chains, seed : int
        As of `bayesbias.fit`.
    engine : Engine
        The engine that was asked for, and that gave the draws.
    target_accept, target_asked : float or None
        The acceptance rate that NUTS aimed at, and the one that was asked for.
    thin : int or None
        As in `Sampled`.
    why_not_collapsed : str
        Why the effects were not integrated out; empty if they were.
    """

    method: str
    draws: int
    tune: int
    chains: int
    seed: int
    engine: Engine = Engine()
    target_accept: float | None = None
    target_asked: float | None = None
    thin: int | None = None
    why_not_collapsed: str = ""

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Self:
        """Return what `as_dict` stored."""
        known = {name: value for name, value in stored.items() if name != "name"}
        return cls(**{**known, "engine": Engine(**stored["engine"])})

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, as they are in the provenance of a fit."""
        quick = self.engine.name == "quick"
        out: dict[str, Any] = {
            "name": "importance sampling" if quick else "nutpie NUTS",
            "draws": self.draws,
            "tune": self.tune,
            "chains": self.chains,
            "seed": self.seed,
            "target_accept": self.target_accept,
            "target_asked": self.target_asked,
        }
        if self.thin is not None:
            out["thin"] = self.thin
        return out | {
            "engine": asdict(self.engine),
            "method": self.method,
            "why_not_collapsed": self.why_not_collapsed,
        }

    def arguments(self) -> dict[str, Any]:
        """Return the arguments that `bayesbias.fit` was given, for a fit of another model.

        Defaults are left out, since another model may be sampled another way.
        """
        out: dict[str, Any] = {
            "seed": self.seed,
            "draws": self.draws,
            "tune": self.tune,
            "chains": self.chains,
        }
        if self.engine.asked != "auto":
            out["engine"] = self.engine.asked
        if self.why_not_collapsed == PAIRWISE_ASKED:
            out["sampler"] = "pairwise"
        if self.target_asked is not None:
            out["target_accept"] = self.target_asked
        return out


def sample_collapsed(reduced: Reduction, settings: Mapping[str, Any], cores: int) -> Sampled:
    """Return the draws of the scales, with statistics of the sampler.

    Parameters
    ----------
    reduced : Reduction
    settings : Mapping
        ``draws, tune, chains, seed`` and, if asked for, ``target_accept``, ``engine`` and
        ``progress``, as of `fit`.
    cores : int
        How many chains run at a time.
    """
    import xarray as xr

    drawn = sample_theta(reduced, settings, cores)
    theta, stats = drawn.theta, drawn.stats
    if stats is None or "step_size" in stats:
        # The sampler's own density is that of its coordinates.
        values = reduced.log_densities(theta.reshape(-1, theta.shape[2])).reshape(theta.shape[:2])
        stats = (xr.Dataset() if stats is None else stats).assign(logp=(("chain", "draw"), values))
    posterior = parameter_dataset(reduced.design, reduced.scales_of(theta), len(theta))
    idata = xr.DataTree.from_dict({"posterior": posterior, "sample_stats": stats})
    return Sampled(idata, drawn.engine, drawn.target_accept, drawn.thin)


def sample_theta(reduced: Reduction, settings: Mapping[str, Any], cores: int) -> SampledTheta:
    """Return draws of the log scales; parameters as of `sample_collapsed`."""
    import xarray as xr

    asked, approximation = settings.get("engine", "nuts"), None
    asked_target, progress = settings.get("target_accept"), settings.get("progress")
    engine = Engine(asked=asked)
    seed = reduced.design.stream(settings["seed"])
    with one_thread_of_blas():
        size = settings["draws"], settings["chains"]
        if asked != "nuts" and reduced.costly:
            from bayesbias.inference.importance import sample_costly

            theta, logp, engine, approximation = sample_costly(reduced, *size, seed, progress)
            engine = replace(engine, asked=asked)
            stats: xr.Dataset | None = xr.Dataset({"logp": (("chain", "draw"), logp)})
        elif asked == "quick":
            theta, engine, approximation = weighted_theta(reduced, *size, seed)
            stats = None
        if engine.name == "quick":
            return SampledTheta(theta, stats, engine, asked_target)
        if approximation is None:
            approximation = laplace(reduced)
        if reduced.costly:
            from bayesbias.inference.importance import announce

            steps = size[1] * (size[0] + settings["tune"]) * _STEPS_OF_A_DRAW
            announce(steps, reduced, progress)
        return _nuts_of_scales(reduced, approximation, settings, engine, cores, seed)


def _nuts_of_scales(
    reduced: Reduction,
    approximation: ScaleApproximation,
    settings: Mapping[str, Any],
    engine: Engine,
    cores: int,
    seed: int,
) -> SampledTheta:
    """Sample the log scales by NUTS, in smaller steps or longer where that is needed."""
    if isinstance(reduced, Collapsed):
        from bayesbias.inference.kernel import expand_callback, logp_callback, packed

        data = packed(
            [*reduced.arrays, approximation.log_m, approximation.mode, approximation.root]
        )
        callbacks = (logp_callback, expand_callback)
        sample = functools.partial(nuts, reduced.n_theta, callbacks, data)
    else:
        sample = functools.partial(nuts_of, _called_density(reduced, approximation))

    def run(target: float, times: int = 1) -> tuple[np.ndarray, xr.Dataset]:
        lengths = {name: times * settings[name] for name in ("draws", "tune")}
        return sample({**settings, **lengths, "target_accept": target}, cores, seed)

    asked_target = settings.get("target_accept")
    for target in (asked_target,) if asked_target else COLLAPSED_TARGET_ACCEPT:
        theta, stats = run(target)
        if not stats["diverging"].any():
            break
    thin = None
    if settings["draws"] >= LONG_RUN and not mixed(theta):
        thin = _LONGER
        theta, stats = run(target, thin)
    times = thin or 1
    return SampledTheta(theta[:, ::times], thinned(stats, times), engine, target, thin)


class NoDensityError(ValueError):
    """There is no density at a point: nutpie takes it for a divergence, and goes on.

    Any other error in a density ends the thread of the sampler.
    """

    is_recoverable = True


def _called_density(reduced: Reduction, approximation: ScaleApproximation) -> Any:
    """Return a density for nutpie that Python works out, in the coordinates of the scales."""
    from nutpie.compiled_pyfunc import from_pyfunc

    n, mode, root = reduced.n_theta, approximation.mode, approximation.root

    def density(z: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = approximation.minus(reduced, mode + root @ z)
        if value >= NO_DENSITY:
            raise NoDensityError
        return -value, -(root.T @ gradient)

    def draw(z: np.ndarray) -> dict[str, np.ndarray]:
        return {"theta": approximation.theta(mode + root @ z)[0]}

    return from_pyfunc(
        n,
        make_logp_fn=lambda: density,
        make_expand_fn=lambda *_: draw,
        expanded_dtypes=[np.dtype(float)],
        expanded_shapes=[(n,)],
        expanded_names=["theta"],
        make_initial_point_fn=lambda seed: np.random.default_rng(seed).normal(0, 1, n),
    )


def mixed(draws: np.ndarray) -> bool:
    """Return whether chains agree well enough to keep a run; a single chain always does."""
    r_hat, ess = r_hat_and_ess(draws)
    enough = bool((ess >= MIN_ESS_PER_CHAIN * len(draws)).all())
    return len(draws) == 1 or (enough and bool((r_hat < MAX_R_HAT).all()))


def thinned(drawn: xr.Dataset, times: int) -> xr.Dataset:
    """Keep every draw in `times`; it counts as divergent if any of these diverged."""
    kept = drawn.isel(draw=slice(None, None, times))
    if "diverging" in drawn:
        diverging = drawn["diverging"].transpose("chain", "draw").to_numpy()
        of_each = diverging.reshape(len(diverging), -1, times)
        kept["diverging"] = ("chain", "draw"), of_each.any(axis=2)
    return kept.assign_coords(draw=range(kept.sizes["draw"]))


def nuts(
    n: int,
    callbacks: tuple[Any, Any],
    data: np.ndarray,
    settings: Mapping[str, Any],
    cores: int,
    seed: int,
) -> tuple[np.ndarray, xr.Dataset]:
    """Sample n numbers by nutpie, and return draws (chains, draws, n) and statistics.

    Nutpie calls the two compiled functions, density and draw, through C; `data` is what they read.
    """
    from nutpie.compile_pymc import CompiledPyMCModel

    logp_callback, expand_callback = callbacks
    # What nutpie makes of a PyMC model, made by hand: two compiled functions and the data behind a
    # pointer.
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
        user_data=data,
        n_expanded=n,
        shape_info=(["theta"], [slice(0, n)], [(n,)]),
        logp_func=None,
        expand_func=None,
    )
    return nuts_of(compiled, settings, cores, seed)


def nuts_of(
    compiled: Any, settings: Mapping[str, Any], cores: int, seed: int
) -> tuple[np.ndarray, xr.Dataset]:
    """Sample a density that nutpie knows, and return draws (chains, draws, n) and statistics."""
    import nutpie

    with warnings.catch_warnings():
        # Fewer draws than chains look like swapped dimensions to the conversion; they are not.
        warnings.filterwarnings(
            "ignore", message="Found chain dimension to be longer", category=UserWarning
        )
        total = settings["chains"] * (settings["draws"] + settings["tune"])
        following = ticking("sampling", total, settings.get("progress"))
        try:
            with following as tick:
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
                    **_followed(tick),
                )
                try:
                    sampled = at_work.wait()
                except BaseException:  # left to itself, it takes Ctrl-C for the end of the draws
                    at_work.cancel()
                    raise
        except RuntimeError as error:
            reason = in_one_line(str(error), 80)
            if as_resource_error(error) is not None:
                raise
            if "initial" not in str(error).lower():
                raise FitError(f"the sampler stopped ({reason})") from None
            raise FitError(
                "the sampler finds no point to start from: are priors far from the outcomes, or "
                f"far too wide? ({reason})"
            ) from None
    stats = sampled["sample_stats"].to_dataset()
    kept = stats[[name for name in STATISTICS if name in stats]]
    return sampled["posterior"]["theta"].to_numpy(), kept


def _followed(tick: Tick) -> dict[str, Any]:
    """Return the options of nutpie by which a bar follows its chains."""
    import nutpie

    known = "progress_callback" in inspect.signature(nutpie.sample).parameters
    if tick is unseen or not known:
        return {}
    done = 0

    def follow(chains: Sequence[Any]) -> None:
        nonlocal done
        finished = sum(chain.finished_draws for chain in chains)
        tick(finished - done)
        done = finished

    return {"progress_callback": follow}


@dataclass(frozen=True, eq=False)
class ScaleApproximation:
    """A normal approximation of the posterior of the scales, in coordinates u of `kernel`.

    Attributes
    ----------
    log_m : ndarray, shape (n_theta,)
        The log scales at their mode, which coordinates are relative to.
    mode : ndarray, shape (n_theta,)
        The mode of the coordinates.
    root : ndarray, shape (n_theta, n_theta)
        R, with RR' their covariance.
    found : bool
        Whether there is a mode; else `root` is the identity.
    """

    log_m: np.ndarray
    mode: np.ndarray
    root: np.ndarray
    found: bool = True

    def theta(self, u: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the log scales at coordinates, dtheta/du, and the logarithm of the latter."""
        from scipy.special import log_ndtr

        h = -log_ndtr(-u)
        with np.errstate(divide="ignore"):  # far from the mode a scale is zero
            log_h = np.log(h)
        log_slope = h - 0.5 * u * u - 0.5 * math.log(2 * math.pi) - log_h
        return self.log_m + log_h, np.exp(log_slope), log_slope

    def log_densities(self, reduced: Reduction, u: np.ndarray) -> np.ndarray:
        """Return the log posterior density of coordinates of shape (n, n_theta)."""
        with np.errstate(all="ignore"):
            theta, _, log_slope = self.theta(u)
            value = reduced.log_densities(theta) + log_slope.sum(axis=1)
        return np.where(np.isfinite(value), value, -np.inf)

    def minus(self, reduced: Reduction, u: np.ndarray) -> tuple[float, np.ndarray]:
        """Return minus the log posterior density at one point, and its gradient."""
        with np.errstate(all="ignore"):
            theta, slope, log_slope = self.theta(u)
            value, gradient = reduced.log_density(theta)
            first = slope * np.exp(theta - self.log_m)
            out = -(value + log_slope.sum()), -(gradient * slope + first - u - slope)
        return out if np.isfinite(out[0]) else (NO_DENSITY, np.zeros_like(u))

    def slopes(self, reduced: Reduction, u: np.ndarray) -> np.ndarray:
        """Return the gradients of minus the log posterior density at points of shape (n, n_theta)."""
        with np.errstate(all="ignore"):
            theta, slope, _ = self.theta(u)
            first = slope * np.exp(theta - self.log_m)
            return -(reduced.gradients(theta) * slope + first - u - slope)


def laplace(reduced: Reduction, near: bool = False) -> ScaleApproximation:
    """Approximate the posterior by a normal with its mode and curvature.

    With `near` the searches end near the mode, which is enough for a proposal. The log density of many
    rows is so large that they end too early. Where it is costly, Newton's method then goes on from the
    curvature there.
    """
    n, rough = reduced.n_theta, near and reduced.costly
    start = np.full(n, np.log(max(reduced.usual_sd, 1e-6) / 2))

    def minus(theta: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = reduced.log_density(theta)
        return (-value, -gradient) if np.isfinite(value) else (NO_DENSITY, np.zeros(n))

    plain = ScaleApproximation(start, np.full(n, AT_MODE), np.eye(n), found=False)
    if not np.isfinite(reduced.log_density(start)[0]):
        return plain
    first, second = _NEAR if near else (None, None)
    to_the_end = not reduced.costly
    log_m = _lowest(minus, start, first, to_the_end)
    of_mode = ScaleApproximation(log_m, plain.mode, plain.root)
    minus_of_coordinates = functools.partial(of_mode.minus, reduced)
    mode = _lowest(minus_of_coordinates, plain.mode, second, to_the_end)
    slopes = functools.partial(of_mode.slopes, reduced)
    for _ in range(_NEWTON_STEPS):
        gradient, curvature = _curvature(slopes, mode, rough)
        if not np.isfinite(curvature).all():
            return plain
        values, vectors = np.linalg.eigh(curvature)
        covariance = (vectors / np.maximum(values, _LEAST_CURVATURE)) @ vectors.T
        step = -covariance @ gradient
        if not rough or -step @ gradient < _NEAR_ENOUGH:
            break
        closer = mode + step * min(1.0, _LONGEST_STEP / np.abs(step).max())
        if minus_of_coordinates(closer)[0] >= minus_of_coordinates(mode)[0]:
            break
        mode = closer
    return ScaleApproximation(log_m, mode, np.linalg.cholesky(covariance))


Minus = Callable[[np.ndarray], tuple[float, np.ndarray]]  # a log density: minus it, and gradient


def _lowest(
    minus: Minus, start: np.ndarray, tolerance: float | None, to_the_end: bool
) -> np.ndarray:
    """Return where minus a log density is lowest, or near there.

    L-BFGS stops where the density changes little relative to its size. Of a million pairs the log
    density is millions, and that is far from the mode. With `to_the_end` Newton's method goes on.
    """
    from scipy.optimize import minimize

    found = minimize(minus, start, jac=True, method="L-BFGS-B", tol=tolerance)
    if to_the_end and np.abs(found.jac).max() > _STEEP:

        def slopes(points: np.ndarray) -> np.ndarray:
            return np.stack([minus(point)[1] for point in points])

        def hessian(at: np.ndarray) -> np.ndarray:
            return _curvature(slopes, at)[1]

        closer = minimize(minus, found.x, jac=True, hess=hessian, method="trust-exact")
        if closer.fun < found.fun:
            return closer.x
    return found.x


def _curvature(
    slopes: Callable[[np.ndarray], np.ndarray], at: np.ndarray, rough: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Return gradient and second derivatives of minus a log density, by its gradients around a point.

    Rough differences are one-sided, which is close enough for a proposal and costs half.
    """
    n, steps = len(at), np.eye(len(at)) * _STEP
    if rough:
        gradients = slopes(at + np.concatenate([np.zeros((1, n)), steps]))
        gradient, curvature = gradients[0], (gradients[1:] - gradients[0]) / _STEP
    else:
        gradients = slopes(at + np.concatenate([steps, -steps]))
        gradient, curvature = gradients.mean(axis=0), (gradients[:n] - gradients[n:]) / (2 * _STEP)
    return gradient, (curvature + curvature.T) / 2


def weighted_theta(
    reduced: Reduction, draws: int, chains: int, seed: int
) -> tuple[np.ndarray, Engine, ScaleApproximation]:
    """Return draws of the log scales by importance sampling, all of the same weight.

    The proposal is a Student-t around the mode, adapted in rounds. Each chain resamples its own
    proposals systematically (one random start, even steps). A proposal that is taken twice stands
    beside itself, so that effective draws and R-hat mean what they mean elsewhere.

    Returns
    -------
    ndarray, shape (chains, draws, n_theta)
        No draws if the weights cannot be trusted.
    Engine
    ScaleApproximation
    """
    start = laplace(reduced, near=True)
    none = np.empty((chains, 0, reduced.n_theta))
    if not start.found:
        return none, Engine(asked="quick", why_not="no mode"), start
    n, rng = reduced.n_theta, np.random.default_rng([seed, 5])
    proposed = max(2 * draws, -(-_FEWEST_PROPOSED // chains))
    center, root = start.mode, start.root
    size = chains * proposed
    for _ in range(_ROUNDS):
        z = rng.standard_normal((size, n)) / np.sqrt(rng.chisquare(_DEGREES, (size, 1)) / _DEGREES)
        u = center + z @ root.T
        log_q = -0.5 * (_DEGREES + n) * np.log1p((z * z).sum(axis=1) / _DEGREES)
        ratio = start.log_densities(reduced, u) - log_q
        if not np.isfinite(ratio.max()):
            return none, Engine(asked="quick", why_not="no mode"), start
        log_weights, k = pareto_smoothed(np.maximum(ratio, ratio.max() - 700))
        weights = np.exp(log_weights - log_weights.max())
        even = weights / weights.sum()
        effective = float(1 / (even**2).sum())
        few = effective < min(_FEWEST_PER_CHAIN, draws / 3) * chains
        if k <= MOST_PARETO_K and not few:
            break
        # The next proposal has the weighted mean and covariance, which few effective draws shrink
        # toward the last one.
        center = even @ u
        away = u - center
        share = effective / (effective + _TRUST)
        root = np.linalg.cholesky(
            share * (away * even[:, None]).T @ away + (1 - share) * root @ root.T
        )
    why_not = "pareto_k" if not k <= MOST_PARETO_K else "effective" if few else ""
    name = "nuts" if why_not else "quick"
    how = Engine(name, "quick", float(k) if math.isfinite(k) else None, effective, len(u), why_not)
    if why_not:
        return none, how, start
    theta = start.theta(u)[0].reshape(chains, proposed, n)
    along = np.cumsum(weights.reshape(chains, proposed), axis=1)
    comb = (np.arange(draws) + rng.random((chains, 1))) / draws
    taken = [np.searchsorted(total / total[-1], at) for total, at in zip(along, comb, strict=True)]
    chosen = [each[np.minimum(at, proposed - 1)] for each, at in zip(theta, taken, strict=True)]
    return np.stack(chosen), how, start


def pareto_smoothed(log_ratio: np.ndarray) -> tuple[np.ndarray, float]:
    """Return smoothed log importance weights and the Pareto k of their tail, by ArviZ."""
    import arviz_stats  # noqa: F401 - gives arrays the accessor
    import xarray as xr

    # ArviZ takes the log likelihood of a left-out observation, which is a log ratio with the other
    # sign.
    log_weights, k = xr.DataArray(-log_ratio, dims="draw").azstats.psislw(dim="draw")
    return log_weights.to_numpy(), float(k)


def parameter_dataset(design: Design, draws: Arrays, chains: int) -> xr.Dataset:
    """Return draws of parameters, chains joined, as a dataset with the labels of their entries."""
    import xarray as xr

    variables, coords = {}, dict[str, Any]()
    for name, parameter in design.spec.parameters.items():
        if name in draws:
            values = draws[name].reshape(chains, -1, *design.shape(name))
            variables[name] = (("chain", "draw", *parameter.dims), values)
            coords |= {dim: design.coords[dim] for dim in parameter.dims}
    coords |= {"chain": range(chains), "draw": range(values.shape[1])}
    return xr.Dataset(variables, coords)


def with_effects(posterior: xr.Dataset, reduced: Reduction, seed: int) -> xr.Dataset:
    """Return draws of the scales, each with one draw of all effects.

    Parameters
    ----------
    posterior : Dataset
        Draws of the scales.
    reduced : Reduction
    seed : int
        The seed of the fit's random numbers, which always gives the same effects.

    Raises
    ------
    FitError
        If the noise goes to zero.
    """
    draws = joined_draws(posterior, reduced.scales)
    rng = np.random.default_rng([seed, 1])
    try:
        draws |= reduced.draw_effects(reduced.theta_of(draws), rng)
    except np.linalg.LinAlgError:
        raise FitError(
            "the noise goes to zero: do some rows repeat others exactly, such as words that are in "
            "two sets?"
        ) from None
    return parameter_dataset(reduced.design, draws, posterior.sizes["chain"])


def joined_draws(posterior: xr.Dataset, names: Iterable[str]) -> dict[str, np.ndarray]:
    """Return draws of some parameters with chains joined, read-only."""
    out = {}
    for name in names:
        values = posterior[name].transpose("chain", "draw", ...).to_numpy()
        out[name] = values.reshape((-1, *values.shape[2:]))
        out[name].flags.writeable = False
    return out
