"""Predictive draws, left-out pairs (PSIS-LOO, by ArviZ), and models compared by them."""

from __future__ import annotations

import dataclasses
import math
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from bayesbias.core import FitError, InputError, checks
from bayesbias.core.conventions import PROB
from bayesbias.core.result import opened
from bayesbias.models.spec import ModelSpec, load_model

if TYPE_CHECKING:
    from bayesbias.inference.posterior import BiasFit

_PREDICTIVE = 200  # draws of posterior and prior that become new outcomes
_TABLES = 50  # replicated for a check
_MOST_REPLICATED = 20_000_000  # rows in all tables
_LEAST_TO_SMOOTH = 25  # of so many weights a fifth is a tail of five, which can be smoothed
MODELS_COMPARED = ("default", "crossed", "shared", "hierarchical")
"""The shipped normal models of distances, which are fitted in seconds."""
WHAT_LOO_MISSES = (
    "LOO says how well a model predicts a left-out pair, not whether its intervals hold. Models "
    "that predict pairs alike differ in how often their intervals of a class cover the value of "
    "its words. So look at what the answers have in common; do not choose a model by elpd alone."
)
"""What a reader of such a table has to know."""


def with_pointwise(fit: BiasFit) -> BiasFit:
    """Return the fit with pointwise log-likelihood and predictive draws in its idata."""
    import xarray as xr

    design, draws, outcome = fit.design, fit.parameter_draws(), fit.spec.outcome
    n = math.prod(fit.shape)
    keep = np.linspace(0, n - 1, min(_PREDICTIVE, n)).astype(int)
    posterior = {name: values[keep] for name, values in draws.items()}
    prior = design.prior_draws(_PREDICTIVE, fit.stream + 2)
    groups = {
        "log_likelihood": design.log_likelihood(draws).reshape(*fit.shape, -1),
        "posterior_predictive": design.outcome_draws(posterior, fit.stream + 1)[None],
        "prior_predictive": design.outcome_draws(prior, fit.stream + 3)[None],
    }
    idata = fit.sampled.copy()
    for group, values in groups.items():
        coords = {"pair": np.arange(len(design.y))}
        idata[group] = xr.DataTree(
            xr.Dataset({outcome: (("chain", "draw", "pair"), values)}, coords=coords)
        )
    return dataclasses.replace(fit, sampled=idata)


def replicated(fit: BiasFit, most: int) -> np.ndarray:
    """Return outcomes of tables that the fitted model would make, shape (tables, rows)."""
    return fit.design.outcome_draws(fit.scales_and_effects(fit.spec.mu, most), fit.stream + 1)


def misfit(fit: BiasFit) -> dict[str, float]:
    """Return the share of rows that would have to move for the data to look like replicated data.

    Rows of each group of the results are counted between the deciles of the replicated rows. The
    share is the total variation distance from the replicated counts, minus what is usual for a
    replicated table. Groups are left out whose distance a replicated table reaches. Where values
    repeat, as those of ratings, replicated rows have the nearest of them.
    """
    column = fit.spec.results.group
    if column not in fit.table:
        return {}
    observed, groups = fit.table[fit.spec.outcome].to_numpy(float), fit.table[column].astype(str)
    # Millions of rows need few tables, and have no room for more.
    tables, out = replicated(fit, max(5, min(_TABLES, _MOST_REPLICATED // len(observed)))), {}
    values = np.unique(observed)
    if fit.design.outcome_type.continuous and len(values) <= len(observed) / 2:  # such as ratings
        tables = values[np.searchsorted((values[1:] + values[:-1]) / 2, tables)]
    for name in groups.unique():
        mine = (groups == name).to_numpy()
        edges = np.quantile(tables[:, mine], np.arange(1, 10) / 10)
        counts = np.array(
            [
                np.bincount(np.searchsorted(edges, values), minlength=10)
                for values in (observed[mine], *tables[:, mine])
            ]
        )
        away = np.abs(counts - counts[1:].mean(axis=0)).sum(axis=1) / (2 * mine.sum())
        if away[0] > away[1:].max():
            out[str(name)] = float(away[0] - away[1:].mean())
    return out


def refuse_few_draws(fit: BiasFit, what: str) -> int:
    """Return the number of draws, unless their weights have no tail to be smoothed."""
    n = math.prod(fit.shape)
    if n < _LEAST_TO_SMOOTH:
        raise FitError(f"{what}: expected {_LEAST_TO_SMOOTH} draws or more, got {n}. Raise draws.")
    return n


def _fit_of(given: Any) -> BiasFit:
    """Return a fit: the one that is given, or that of a run or of its folder."""
    from bayesbias.inference.posterior import BiasFit

    fit: BiasFit = opened(given)
    checks.instance(fit, BiasFit, "fit", "a fit (from bayesbias.fit) or the folder of its run")
    return fit


def loo(fit: Any) -> Any:
    """Estimate how well the model predicts a left-out pair (PSIS-LOO).

    Parameters
    ----------
    fit : BiasFit, Run or path
        A fit, or the folder of its run.

    Returns
    -------
    arviz ELPDData
        ``elpd`` (higher is better), its standard error ``se``, ``p`` (effective number of
        parameters), and the Pareto k per pair.

    Raises
    ------
    FitError
        If there are fewer than 25 draws, whose weights have no tail to be smoothed.

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.distance_table("minilm-static", "religion", controls="none")
    >>> fit = bb.fit(table, seed=1, draws=100, tune=100, chains=2)
    >>> found = bb.inference.loo(fit)
    >>> bool(found.se > 0), int(found.n_data_points) == len(table)
    (True, True)
    """
    import arviz

    fit = _fit_of(fit)
    refuse_few_draws(fit, "loo")
    with warnings.catch_warnings():
        # High Pareto k are part of the result (`pareto_k`, `warning`) and shown wherever it is
        # printed.
        warnings.filterwarnings(
            "ignore", message="Estimated shape parameter of Pareto", category=UserWarning
        )

        def made() -> Any:
            whole = fit if "log_likelihood" in fit.sampled.children else with_pointwise(fit)
            return arviz.loo(whole.idata, var_name=fit.spec.outcome, pointwise=True)

        return fit.cached("loo", made)


def compare_models(fits: Mapping[str, Any] | Sequence[Any]) -> pd.DataFrame:
    """Compare models on one table by LOO.

    Parameters
    ----------
    fits : Mapping of str to BiasFit, Run or path, or sequence of them
        At least two fits of the same rows, or the folders of their runs. In a sequence they are called by the names of their
        models.

    Returns
    -------
    DataFrame
        Best first: ``rank, elpd, p, elpd_diff, weight, se, dse`` and diagnostic columns, as ArviZ
        names them. A difference of several `dse` is clear.

    Raises
    ------
    InputError
        If there are fewer than two fits, or two fits in a sequence have one model.
    FitError
        If the fits are of different tables.

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.distance_table("minilm-static", "religion", controls="none")
    >>> fits = [
    ...     bb.fit(table, name, seed=1, draws=100, tune=100, chains=2)
    ...     for name in ("default", "hierarchical")
    ... ]
    >>> bb.compare_models(fits).index.tolist()
    ['default', 'hierarchical']
    """
    import arviz

    if not isinstance(fits, Mapping):
        several = isinstance(fits, Sequence) and not isinstance(fits, str)
        listed = [_fit_of(fit) for fit in (fits if several else [fits])]
        fits = {fit.spec.name: fit for fit in listed}
        if len(fits) < len(listed):
            names = [fit.spec.name for fit in listed]
            hint = "give a dict, whose keys name them"
            problem = "expected fits of different models"
            raise InputError(problem, where="fits", found=names, hint=hint)
    if len(fits) < 2:
        raise InputError("expected at least two fits", where="fits", found=list(fits))
    fits = {name: _fit_of(fit) for name, fit in fits.items()}
    first_name, first = next(iter(fits.items()))
    for name, fit in fits.items():
        shared = [key for key in first.spec.units if key in fit.table]
        columns = [first.spec.outcome, *shared]
        if fit.spec.outcome != first.spec.outcome or not np.array_equal(
            fit.table[columns].to_numpy(object), first.table[columns].to_numpy(object)
        ):
            raise FitError(
                f"fits: expected fits of one table, got {name} and {first_name} of different tables"
            )
    return arviz.compare({name: loo(fit) for name, fit in fits.items()}, round_to="none")


def answers_by_model(
    fit: BiasFit,
    models: Sequence[checks.FilePath | ModelSpec] = MODELS_COMPARED,
    prob: float = PROB,
) -> pd.DataFrame:
    """Fit other models to the rows of a fit, and return the first contrast of each.

    `WHAT_LOO_MISSES` says how to read it.

    Parameters
    ----------
    fit : BiasFit
        Of pairs of words and attributes. Its model is the first; the others are sampled with its
        settings.
    models : sequence of str, path or ModelSpec
        The other models; the model of the fit is skipped.
    prob : float in (0, 1)
        Probability of the intervals.

    Returns
    -------
    DataFrame
        For each model the first contrast of the table, overall and per class, under ``population``:
        ``model, level, name, contrast, words``, the columns of `bayesbias.inference.estimates`,
        ``elpd, elpd_diff, se_diff, high_pareto_k, converged``.
        `words` is ``new`` or ``listed``: which words of a class the model means. `elpd` is that of
        PSIS-LOO, `elpd_diff` how much lower it is than that of the best model, `se_diff` the
        standard error of that difference, and `high_pareto_k` the number of pairs for which LOO
        cannot be trusted.

    Raises
    ------
    InputError
        If a model is of another outcome than the fit, or two have one name.
    FitError
        If the table has nothing to contrast.

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.distance_table("minilm-static", "gender", controls="none")
    >>> fit = bb.fit(table, seed=1, draws=200, chains=2)
    >>> frame = answers_by_model(fit, ["hierarchical"])
    >>> frame["model"].unique().tolist(), float(frame["elpd_diff"].max())
    (['default', 'hierarchical'], 0.0)
    """
    from bayesbias.inference.fitting import fit as fit_model

    fits = {fit.spec.name: fit}
    settings = fit.sampling.arguments()
    for spec in map(load_model, models):
        if spec.sha256 == fit.spec.sha256:
            continue
        if (spec.outcome, spec.results.group) != (fit.spec.outcome, fit.spec.results.group):
            of, ours = (f"{each.outcome} by {each.results.group}" for each in (spec, fit.spec))
            raise InputError(f"expected a model of {ours}, got one of {of}", where=spec.label)
        # Beside a model file that was made from it and kept its name.
        name = f"{spec.name} (shipped)" if spec.name in fits else spec.name
        fits[name] = fit_model(fit.table, spec, progress=False, **settings)
    found = {name: loo(each) for name, each in fits.items()}
    best = max(found, key=lambda name: found[name].elpd)
    compared = compare_models(fits)["dse"] if len(fits) > 1 else {best: 0.0}
    parts = []
    for name, each in fits.items():
        frame = each.contrast_rows(prob, estimand="population").drop(columns="estimand")
        frame = frame[frame["level"].isin(["overall", "class"])]
        frame = frame[frame["contrast"] == fit.contrast_rows()["contrast"].iloc[0]]
        listed = [
            level for level, of in each.spec.results.levels.items() if "protected_word" in of.held
        ]
        frame.insert(3, "words", np.where(frame["level"].isin(listed), "listed", "new"))
        frame.insert(0, "model", name)
        about = found[name]
        parts.append(
            frame.assign(
                elpd=float(about.elpd),
                elpd_diff=float(about.elpd - found[best].elpd),
                se_diff=float(compared[name]),
                high_pareto_k=int((about.pareto_k.to_numpy() > about.good_k).sum()),
                converged=each.diagnostics()["ok"],
            )
        )
    return pd.concat(parts, ignore_index=True)
