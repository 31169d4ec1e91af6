"""Fit a model to a table, fit many tables of the same pairs, or read a fit from its file.

A fit runs in four steps:

1. Read the model, check the table, and lay the model over it (`bayesbias.models.design`).
2. Integrate all effects out exactly, which leaves the standard deviations (SDs; `likelihood`, and
   `unbalanced` for tables that follow no grid). Only normal models have such a reduction.
3. Sample the SDs (`sampling`), by NUTS, or by importance sampling where a density is costly
   (`importance`). Models without a reduction go one of three ways. The effects of counts and ordered
   levels are integrated out by an approximation (`binomial`, `ordered`). Counts with few effects, or
   where this fails, have SDs and effects sampled together from a compiled density (`counts`).
   Otherwise PyMC samples both, row by row (`graph`).
4. Keep the draws with table, model and provenance in a `BiasFit` (`posterior`). Its tables of
   results integrate over the effects given the SDs (`linear`); `BiasFit.idata` draws the effects.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from bayesbias.core import FitError, InputError, checks
from bayesbias.core.errors import lack_of_resources
from bayesbias.core.packages import versions_of
from bayesbias.core.result import opened
from bayesbias.inference.cross_validation import with_pointwise
from bayesbias.inference.estimands import asked_quantities
from bayesbias.inference.graph import pymc_model, sample_pairwise
from bayesbias.inference.likelihood import NotCollapsible, Reduction, collapse, factors_of
from bayesbias.inference.linear import Key, Moments, Quantities, mixtures_of, moments_of
from bayesbias.inference.posterior import BiasFit
from bayesbias.inference.sampling import (
    ENGINES,
    FEW_EFFECTS,
    PAIRWISE_ASKED,
    Engine,
    Sampled,
    Sampling,
    sample_collapsed,
    sample_theta,
)
from bayesbias.inference.storage import read_fit
from bayesbias.models.design import Design
from bayesbias.models.spec import DEFAULT_MODEL, GROUPS_MODEL, ModelSpec, load_model
from bayesbias.models.variants import trimmed
from bayesbias.tables.covariates import with_covariates_known
from bayesbias.tables.pair_table import PairTable
from bayesbias.tables.reading import rows_to_model, with_repeats_noted
from bayesbias.wordlists.wordlist import SHARED

if TYPE_CHECKING:
    import pymc as pm

    from bayesbias.inference.binomial import Binomial

_LEAST_RANGE = 1e-7
_COMPLETE = 0.999  # share of the cells of a grid that are there where NUTS is likely


def build(model: checks.FilePath | ModelSpec, table: PairTable | pd.DataFrame) -> pm.Model:
    """Return the model as plain PyMC, pair by pair, as the TOML file states it.

    Effects are non-centered: their mean plus their standard deviation times a standard normal, so
    that NUTS can sample the model. `fit` samples the same posterior faster.

    Parameters
    ----------
    model : str, path or ModelSpec
        As of `fit`.
    table : PairTable or DataFrame
        As of `fit`.

    Returns
    -------
    pymc.Model

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.distance_table("minilm-static", "religion")
    >>> sorted(v.name for v in bb.inference.build("hierarchical", table).free_RVs)
    ['connection_mean', 'sigma', 'word_by_connection_sd', 'word_by_connection_standard']
    """
    spec, checked = _model_and_table(model, table)
    return pymc_model(Design.of(spec, checked.frame))


def _model_and_table(model: Any, table: Any) -> tuple[ModelSpec, PairTable]:
    """Return the model, and the table with its rows checked, each counted once."""
    if isinstance(table, str | os.PathLike | ModelSpec):
        raise InputError(
            "expected a table of pairs",
            where="table",
            found=table.name if isinstance(table, ModelSpec) else os.fspath(table),
            valid="what distance_table or load_distances returns, or a data frame",
            hint="the table comes first: fit(table, model)",
        )
    if function := getattr(table, "fitted_by", ""):
        problem = f"expected a table of pairs, got {type(table).__name__}"
        raise InputError(problem, where="table", hint=f"fit it with {function}")
    spec = load_model(model_for(table) if model is None else model)
    apart = dict.fromkeys([*spec.units, *sorted(spec.label_columns())])
    checked = rows_to_model(table, spec.outcome, list(apart))
    joined = checked.coverage.covariates
    names = [name for name in (*spec.covariates(), *apart) if name in joined]
    return spec, with_covariates_known(checked, names)


def fit(
    table: PairTable | pd.DataFrame | Mapping[str, Any] | Sequence[Mapping[str, Any]],
    model: checks.FilePath | ModelSpec | None = None,
    *,
    draws: int = 1000,
    tune: int = 1000,
    chains: int = 4,
    seed: int | None = None,
    sampler: str = "auto",
    engine: str = "auto",
    target_accept: float | None = None,
    pointwise: bool = False,
    cores: int | None = None,
    progress: bool | None = None,
) -> BiasFit:
    """Fit a model to a table of pairs.

    Parameters
    ----------
    table : PairTable, DataFrame, mapping of columns, or list of records
        As made by `bayesbias.distance_table` or `bayesbias.load_distances`. Its rows are checked:
        distances of 0 to 2, known connections that agree with the classes, one class a word. A row
        that repeats another is the same observation and counts once, unless the table was read with
        ``repeats="keep"`` (noted in ``frame.attrs``). Simulated distances may lie beyond 0 and 2 if
        ``frame.attrs["simulated"]`` says what they are, as `simulate_table` does.
    model : str, path or ModelSpec
        A shipped name (see `bayesbias.models.list_models`) or the path of your own TOML file. By
        default ``default``, or ``groups`` where the table has attribute sets that belong to no
        class.
    draws, tune, chains : int
        Kept draws and tuning steps per chain, and chains.
    seed : int, optional
        Same seed, same machine, same draws. By default one is drawn and recorded in the provenance.
    sampler : {"auto", "collapsed", "pairwise"}
        ``collapsed`` integrates all effects out exactly; ``pairwise`` samples everything through
        PyMC. ``auto`` takes the first if it applies, and else records why not. The effects of
        binomial and ordered models it integrates out by an approximation (``variational``, or
        ``laplace`` in very large tables), or samples with the SDs (``counts``; of ordered ones
        ``pairwise``). The provenance says which it was (``["sampler"]["method"]``).
    engine : {"auto", "nuts", "quick"}
        How the SDs are sampled. ``quick`` is importance sampling from a Laplace approximation: a
        tenth of the time, for fits by the hundred. If its weights cannot be trusted (Pareto k above
        0.7), NUTS takes its place. ``auto`` is NUTS on grids, and ``quick`` on tables that are no
        grid, or where a density takes a millisecond or more. Ordered models it fits by ``quick``,
        and binomial ones, unless they have at most 450 effects.
        `BiasFit.engine` says which it was, and why.
    target_accept : float in (0, 1), optional
        The acceptance rate that NUTS aims at. By default 0.8 for ``collapsed``; 0.9 for
        ``pairwise``; for ``counts`` 0.95, or 0.97 of up to 200 effects. If a step diverged, another
        run aims at more, up to 0.995; so does one for ``counts``, at 0.98, if chains mixed slowly.
    pointwise : bool
        Whether the idata gets the log-likelihood of each pair and predictive draws: 8 bytes for
        each pair and draw, 150 MB for a usual table. `bayesbias.inference.loo`,
        `bayesbias.compare_models` and the figures make what they need without it.
    cores : int, optional
        How many chains run at a time; by default as many as the machine has cores. Does not change
        the draws.
    progress : bool, optional
        A progress bar on the terminal; by default where standard error is one and it pays.

    Returns
    -------
    BiasFit
        Its tables are `summary`, `contrasts`, `standardized` and `words`; `bayesbias.interpret`
        says in sentences what they show; `bayesbias.save_run` writes a folder, `save` one file.

    Raises
    ------
    InputError
        If a model or setting is unknown, the table lacks a column of the model or has values that
        are not numbers, or rows do not pass the check.
    FitError
        If there is no noise (all outcomes are equal, or the effects reproduce some exactly),
        ``sampler="collapsed"`` does not apply, or the sampler cannot start.

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.distance_table("minilm-static", "religion")
    >>> result = bb.fit(table, "crossed", seed=1, draws=500)
    >>> list(result.summary()["connection"])
    ['associated', 'different', 'human', 'neutral']
    """
    import xarray as xr

    checks.sampling(draws, tune, chains)
    if cores is not None:
        checks.count(cores, "cores")
    cores = min(chains, cores or os.cpu_count() or 1)
    checks.choice(sampler, ("auto", "collapsed", "pairwise"), "sampler")
    checks.choice(engine, ENGINES, "engine")
    if target_accept is not None:
        checks.probability(target_accept, "target_accept")
    seed = checks.seed_or_new(seed)
    # 1. The model is laid over the table.
    started = time.perf_counter()
    spec, checked = _model_and_table(model, table)
    repeats = str(checked.provenance.get("repeats", "once"))
    frame = with_repeats_noted(checked.frame.reset_index(drop=True), repeats)
    if spec.trim:
        spec = trimmed(spec, frame)
    design = Design.of(spec, frame)
    for name, parameter in spec.parameters.items() if spec.origin else ():
        for column, label in parameter.only.items():
            where = f"{spec.label}, [parameter.{name}], key only"
            checks.choice(label, design.coords[column], f"{where}, {column}")
    refuse_equal_outcomes(design)
    # 2. Effects are integrated out.
    reduced: Reduction | None = None
    why = PAIRWISE_ASKED if sampler == "pairwise" else ""
    if _takes_nuts(design, sampler, engine):
        # Before Numba, whose import looks through all modules that are there already.
        import nutpie  # noqa: F401
    if sampler != "pairwise":
        try:
            reduced = collapse(design)
            refuse_no_noise(reduced)
        except NotCollapsible as reason:
            if sampler == "collapsed":
                raise FitError(f"model {spec.name}: no exact reduction, since {reason}") from None
            why = str(reason)
    lengths = {"draws": int(draws), "tune": int(tune), "chains": int(chains), "seed": int(seed)}
    settings = {
        **lengths, "target_accept": target_accept, "engine": engine, "progress": progress
    }  # fmt: skip
    # 3. Standard deviations are sampled, with the effects if these were not integrated out.
    prepared = time.perf_counter()
    sampled: Sampled | None = None
    approximate: Binomial | None = None
    with lack_of_resources():
        if reduced:
            method = "collapsed"
            sampled = sample_collapsed(reduced, settings, cores)
        elif design.outcome_type.engine and sampler != "pairwise":
            from bayesbias.inference.binomial import sample_quickly

            # By importance sampling if it applies, else by the sampler of the outcome.
            method = design.outcome_type.engine
            sampled, tried, approximate = sample_quickly(design.ordered(), settings)
            if approximate is not None:
                method = approximate.method
            else:
                sampled = SAMPLERS[method](design, settings, cores)
                if sampled is not None:
                    sampled = replace(sampled, engine=tried)
        if sampled is None:
            method = "pairwise"
            sampled = sample_pairwise(design, settings, cores, progress)
    sampling = Sampling(
        method,
        **lengths,
        engine=sampled.engine,
        target_accept=sampled.target_accept,
        target_asked=target_accept,
        thin=sampled.thin,
        why_not_collapsed=why,
    )
    # 4. All is kept in one result.
    outcome = xr.Dataset({spec.outcome: ("pair", design.y)}, {"pair": np.arange(len(design.y))})
    idata = sampled.idata
    idata["observed_data"] = xr.DataTree(outcome)
    provenance = _provenance_of(checked, spec, sampling)
    provenance["timing"] = {
        "prepare_s": round(prepared - started, 4),
        "sample_s": round(time.perf_counter() - prepared, 4),
    }
    result = BiasFit(idata, frame, spec, provenance, sampling)
    if approximate is not None:
        reduced = approximate.anchored(result._scales)
    if reduced:
        result.__dict__["_reduced"] = reduced  # what its tables ask of it would be made again
    return with_pointwise(result) if pointwise else result


def _takes_nuts(design: Design, sampler: str, engine: str) -> bool:
    """Return whether NUTS is likely to be needed, whose library takes a second to import."""
    if sampler == "pairwise" or engine == "nuts":
        return True
    if engine == "quick":
        return False
    if design.outcome_type.engine:
        return design.effects <= FEW_EFFECTS
    cells = np.prod([float(len(np.unique(index))) for index in design.units.values()])
    return bool(len(design.y) >= _COMPLETE * cells)


def _sample_counts(design: Design, settings: Mapping[str, Any], cores: int) -> Sampled | None:
    from bayesbias.inference.counts import sample_counts

    return sample_counts(design.ordered(), settings, cores)


def _sample_row_by_row(design: Design, settings: Mapping[str, Any], cores: int) -> None:
    """Return None: the model has no compiled density for NUTS, so that PyMC samples it."""


SAMPLERS: Mapping[str, Callable[[Design, Mapping[str, Any], int], Sampled | None]] = {
    "counts": _sample_counts,
    "ordered": _sample_row_by_row,
}
"""Samplers by NUTS of models that have no exact reduction, by the `engine` of their outcome.

`bayesbias.inference.binomial.sample_quickly` comes first, and leaves to them what it does not fit. Its
`_reduction_of` has the engines whose effects have a normal approximation.
Each takes the design, the settings and the number of cores. It returns None for a model that it does
not serve, which is then sampled row by row.
"""


def model_for(table: Any) -> str:
    """Return the model that a table is fitted with unless another is named."""
    frame = table.frame if isinstance(table, PairTable) else table
    shared = isinstance(frame, pd.DataFrame) and SHARED in set(frame.get("connection", ()))
    return GROUPS_MODEL if shared else DEFAULT_MODEL


def refuse_equal_outcomes(design: Design) -> None:
    """Refuse rows whose outcomes differ by less than single precision."""
    if not design.outcome_type.continuous:
        return  # counts and labels have no noise of their own
    spread = float(np.ptp(design.y))
    if len(design.y) > 1 and spread < _LEAST_RANGE:
        raise FitError(
            f"{design.spec.outcome} hardly differs between the rows (by {spread:.1g}, from "
            f"{design.y[0]:g} on), so that there is "
            "nothing to model. Are these labels, or in another unit?"
        )


def refuse_no_noise(reduced: Reduction) -> None:
    """Refuse rows that the effects reproduce exactly: their noise would shrink without end."""
    if reduced.without_noise():
        raise FitError(
            "the effects of the model reproduce some rows exactly, so that there is no noise to "
            "model. Are the outcomes labels (0 or 1), rounded, of sentences with the same vector, "
            "or log odds of a bag of words? Hand over probabilities instead."
        )


def _provenance_of(table: PairTable, spec: ModelSpec, sampling: Sampling) -> dict[str, Any]:
    import platform

    # A frame has no account of listed words that are missing.
    coverage = {
        name: value
        for name, value in table.coverage.as_dict().items()
        if value or name not in ("protected", "attributes")
    }
    out: dict[str, Any] = {
        "table": dict(table.provenance),
        "coverage": coverage,
        "model": {"name": spec.name, "sha256": spec.sha256},
        "sampler": sampling.as_dict(),
        "versions": versions_of("bayesbias", "nutpie", "pymc", "arviz", "numpy", "numba", "pandas"),
    }
    out["versions"]["python"] = platform.python_version()
    return out


def load_fit(path: checks.FilePath) -> BiasFit:
    """Read a fit that `BiasFit.save` wrote.

    Parameters
    ----------
    path : path
        A netCDF file, or the folder of a run, also one that ``bayesbias fit --out`` wrote.

    Returns
    -------
    BiasFit

    Raises
    ------
    InputError
        If the file is missing, cut short, or not a fit of bayesbias; or if the folder has no run,
        or one of another kind of result.

    Examples
    --------
    >>> import tempfile
    >>> import bayesbias as bb
    >>> table = bb.distance_table("minilm-static", "religion", controls="none")
    >>> fit = bb.fit(table, seed=1, draws=100, tune=100, chains=2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     files = fit.save(f"{folder}/fit.nc")
    ...     again = bb.load_fit(f"{folder}/fit.nc")
    >>> bool((again.summary()["mean"] == fit.summary()["mean"]).all())
    True
    """
    if isinstance(path, str | os.PathLike) and os.path.isdir(os.path.expanduser(path)):
        found = opened(path)
        if not isinstance(found, BiasFit):
            problem = f"expected the run of a fit, got one of the kind {found.study}"
            raise InputError(problem, where=path, hint="read it with load_run")
        return found

    result, pointwise = read_fit(path)
    return with_pointwise(result) if pointwise else result


@dataclass(frozen=True, eq=False)
class Prepared:
    """A collapsed model on pairs whose outcomes are still to come; made by `prepare`.

    Attributes
    ----------
    order : ndarray of int or None
        The order in which `reduced` has the pairs.
    reduced : Reduction
        The reduction of some outcome.
    contrasts, rotated : Quantities, Moments
        The contrasts, and the same made ready for the reduction.
    """

    order: np.ndarray | None
    reduced: Reduction
    contrasts: Quantities
    rotated: Moments

    def intervals(
        self, y: np.ndarray, settings: Mapping[str, Any], prob: float
    ) -> tuple[list[tuple[Key, dict[str, float]]], Engine] | None:
        """Fit one outcome, and return the contrasts of the population.

        Parameters
        ----------
        y : ndarray, shape (n_pairs,)
            The outcome, in the order of the table given to `prepare`.
        settings : Mapping
            ``draws, tune, chains, seed, engine``, as for `fit`.
        prob : float in (0, 1)
            Probability of the intervals.

        Returns
        -------
        list of (level, name, contrast) and ``estimate, low, high``
        Engine
            None is returned instead of both if an answer is a number of the model file.

        Raises
        ------
        FitError
            If `fit` raises it.
        """
        y = np.asarray(y, dtype=float)
        reduced = self.reduced.of_outcome(y if self.order is None else y[self.order])
        refuse_equal_outcomes(reduced.design)
        refuse_no_noise(reduced)
        drawn = sample_theta(reduced, {**settings, "progress": False}, 1)
        theta = drawn.theta
        scales = reduced.scales_of(theta.reshape(-1, theta.shape[2]))
        mixed = mixtures_of(self.contrasts, reduced, scales, len(theta), self.rotated)
        if mixed is None:
            return None
        ends = mixed[0].described(prob)
        named = pd.DataFrame({"estimate": ends["mean"], "low": ends["low"], "high": ends["high"]})
        rows = list(zip(self.contrasts.keys, named.to_dict("records"), strict=True))
        return rows, drawn.engine


def prepare(spec: ModelSpec, frame: pd.DataFrame, levels: Sequence[str]) -> Prepared | None:
    """Lay a model over pairs, to fit many outcomes; return None if only `fit` can do it.

    That is so for models without a reduction, and for tables with two rows of one pair, whose order
    is that of their outcomes.

    Parameters
    ----------
    spec : ModelSpec
        The model.
    frame : DataFrame
        The pairs; their outcomes are not read.
    levels : sequence of str
        The levels of the contrasts.
    """
    if spec.outcome not in frame.columns:
        return None  # which fit says
    rng = np.random.default_rng(0)
    table = frame.assign(**{spec.outcome: rng.standard_normal(len(frame))})
    if spec.trim:
        spec = trimmed(spec, table)
    shown = Design.of(spec, table)
    order = shown.order()
    design = shown.ordered()
    if len(factors_of(design)) > len(design.units):
        return None
    try:
        reduced = collapse(design)
    except NotCollapsible:
        return None
    whole = asked_quantities(design, "population", contrasted=True)
    contrasts = whole.chosen([k for k, key in enumerate(whole.keys) if key[0] in levels])
    return Prepared(order, reduced, contrasts, moments_of(reduced, contrasts.linear))
