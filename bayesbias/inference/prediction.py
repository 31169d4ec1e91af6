"""What a fit predicts: pointwise log-likelihood, predictive draws, and models compared by left-out pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.core import checks
from bayesbias.core.errors import FitError, InputError
from bayesbias.inference.diagnostics import quiet_about_few_draws, r_hat_and_ess
from bayesbias.inference.from_arviz import LEAST_TO_SMOOTH, compared_loo, loo_of
from bayesbias.inference.posterior import BiasFit, kept_with

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["compare_models", "loo"]


def with_pointwise(fit: BiasFit, *, predictive_draws: int = 200) -> BiasFit:
    """Return the fit with pointwise log-likelihood and predictive draws in its idata.

    Parameters
    ----------
    fit : BiasFit
    predictive_draws : int
        How many draws of the posterior and of the prior are turned into new outcomes.
    """
    import dataclasses

    import xarray as xr

    design, draws, outcome = fit.design, fit.draws(), fit.spec.outcome
    posterior = fit.idata["posterior"]
    chains, per_chain = posterior.sizes["chain"], posterior.sizes["draw"]
    seed = design.stream(int(fit.provenance["sampler"]["seed"]))
    idata = fit.idata.copy()
    shape = (chains, per_chain, len(design.y))
    log_lik = design.log_likelihood(draws).reshape(shape)
    pair = np.arange(len(design.y))
    idata["log_likelihood"] = xr.DataTree(
        xr.Dataset({outcome: (("chain", "draw", "pair"), log_lik)}, coords={"pair": pair})
    )
    keep = np.linspace(0, chains * per_chain - 1, min(predictive_draws, chains * per_chain)).astype(int)
    new = design.outcome_draws({name: values[keep] for name, values in draws.items()}, seed + 1)
    prior = design.outcome_draws(design.prior_draws(predictive_draws, seed + 2), seed + 3)
    for group, values in (("posterior_predictive", new), ("prior_predictive", prior)):
        idata[group] = xr.DataTree(
            xr.Dataset({outcome: (("chain", "draw", "pair"), values[None])}, coords={"pair": pair})
        )
    return dataclasses.replace(fit, idata=idata)


def loo(fit: BiasFit) -> Any:
    """Estimate how well the model predicts a left-out pair (PSIS-LOO).

    Returns
    -------
    arviz ELPDData
        ``elpd`` (higher is better), its standard error ``se``, ``p`` (effective number of parameters), and the
        Pareto k per pair.

    Raises
    ------
    FitError
        Of fewer than 25 draws, whose weights have no tail to be smoothed.

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.distance_table("minilm-static", "religion", controls="none")
    >>> fit = bb.fit(table, seed=1, draws=100, tune=100, chains=2)
    >>> found = bb.inference.loo(fit)
    >>> bool(found.se > 0), int(found.n_data_points) == len(table)
    (True, True)
    """
    return _loo_and_error(fit)[0]


def loo_error(fit: BiasFit) -> float:
    """Return the Monte Carlo error of ``elpd``: how much it moves with the seed.

    To first order ``elpd`` is the sum over pairs i of ``log sum_s w_is p_is``, with the normalised weights ``w`` of PSIS, and
    draw s moves it by ``h_s = sum_i w_is (p_is / elpd_i - 1)``, elpd_i on its own scale: all pairs share their draws, so that
    what one draw does to each of them is added before it is squared. The error is that of the sum of ``h_s`` by its effective
    draws; of one pair it is that of Vehtari, Gelman and Gabry (2017), as the package loo has it.
    """
    return _loo_and_error(fit)[1]


def _loo_and_error(fit: BiasFit) -> tuple[Any, float]:
    return kept_with(fit, "loo", lambda: _loo_made(fit))


def refuse_few_draws(fit: BiasFit, what: str) -> None:
    """Refuse what weighs draws where they are too few to be weighed."""
    sizes = fit.idata["posterior"].sizes
    if sizes["chain"] * sizes["draw"] < LEAST_TO_SMOOTH:
        raise FitError(
            f"{what} needs {LEAST_TO_SMOOTH} draws or more, of all chains, and here are {sizes['chain'] * sizes['draw']}"
        )


def _loo_made(fit: BiasFit) -> tuple[Any, float]:
    refuse_few_draws(fit, "leave-one-out cross-validation")
    whole = fit if "log_likelihood" in fit.idata.children else with_pointwise(fit)
    loo = loo_of(whole.idata, fit.spec.outcome)
    order = ("chain", "draw", "pair")
    log_p = whole.idata["log_likelihood"][fit.spec.outcome].transpose(*order).to_numpy()
    log_w = loo.log_weights.transpose(*order).to_numpy()
    return loo, error_of_elpd(log_p, log_w, loo.elpd_i.to_numpy())


def error_of_elpd(log_p: np.ndarray, log_w: np.ndarray, elpd_i: np.ndarray) -> float:
    """Return the error that `loo_error` tells of, of log-likelihoods and log-weights, shape (chain, draw, pair)."""
    moves = np.zeros(log_p.shape[:2])
    for pair in range(log_p.shape[2]):  # one at a time, since all of them are as much as the fit holds
        weights = np.exp(log_w[..., pair] - log_w[..., pair].max())
        moves += weights / weights.sum() * np.expm1(log_p[..., pair] - elpd_i[pair])
    with quiet_about_few_draws():
        _, ess = r_hat_and_ess(moves[..., None])
    # Where chains are too short to be counted all draws may tell no more than one.
    return float(moves.size * moves.std() / np.sqrt(1.0 if np.isnan(ess[0]) else ess[0]))


def compare_models(fits: Mapping[str, BiasFit] | Sequence[BiasFit]) -> pd.DataFrame:
    """Compare models on one table by LOO.

    Parameters
    ----------
    fits : Mapping of str to BiasFit, or sequence of BiasFit
        At least two fits of the same rows. In a sequence they are called by the names of their models.

    Returns
    -------
    DataFrame
        Best first: ``rank, elpd, p, elpd_diff, weight, se, dse`` and diagnostic columns, as ArviZ names them. A
        difference of several `dse` is clear; Pareto k over the limit of ArviZ in a handful of pairs hardly matters
        then.

    Raises
    ------
    FitError
        Where the fits are of different tables.

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.distance_table("minilm-static", "religion", controls="none")
    >>> fits = [bb.fit(table, name, seed=1, draws=100, tune=100, chains=2) for name in ("default", "hierarchical")]
    >>> bb.compare_models(fits).index.tolist()
    ['default', 'hierarchical']
    """
    if isinstance(fits, BiasFit):
        raise InputError(
            "a comparison needs at least two fits", found="one fit", valid="a dict or a list of fits"
        )
    valid = "a dict or a list of fits"
    items = getattr(fits, "items", None)  # a Series has names too
    fits = dict(items()) if callable(items) else fits
    listed = list(fits.values()) if isinstance(fits, Mapping) else checks.several(fits, "fit", "fits")
    for fit in listed:
        checks.instance(fit, BiasFit, "fits", valid)
    if not isinstance(fits, Mapping):
        fits = listed
        named = {fit.spec.name: fit for fit in fits}
        if len(named) < len(fits):
            raise InputError(
                "two fits of one model need names", found=[fit.spec.name for fit in fits], valid="a dict"
            )
        fits = named
    else:
        fits = dict(zip(checks.names(fits, "fit"), listed, strict=True))
    if len(fits) < 2:
        raise InputError("a comparison needs at least two fits", found=list(fits))
    first_name, first = next(iter(fits.items()))
    for name, fit in fits.items():
        same = len(fit.table) == len(first.table) and np.array_equal(fit.design.y, first.design.y)
        keys = [k for k in (*fit.spec.units, *first.spec.units) if k in fit.table and k in first.table]
        if not same or any((fit.table[k].to_numpy() != first.table[k].to_numpy()).any() for k in keys):
            raise FitError(f"{name} and {first_name} were fitted to different tables and cannot be compared")
    return compared_loo({name: loo(fit) for name, fit in fits.items()})
