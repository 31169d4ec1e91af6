"""What a model expects before any data, and how far results depend on it afterwards.

Sensitivity is power scaling by importance weights. The draws are weighted toward a posterior whose
priors (or likelihood) are raised to a power near one. The sensitivity is how fast the distribution
of a contrast moves with the binary logarithm of that power (cumulative Jensen-Shannon distance;
Kallioinen, Paananen, Bürkner & Vehtari 2024, *Statistics and Computing* 34:57), computed by ArviZ.
The priors are those with a width of their own, as these authors advise for hierarchical models; the
likelihood is that of the pairs given all effects.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from bayesbias.core import checks
from bayesbias.core.errors import FitError
from bayesbias.inference import estimates
from bayesbias.inference.cross_validation import LEAST_TO_SMOOTH
from bayesbias.inference.estimands import asked_rows, no_contrasts, words_said
from bayesbias.inference.view import PROB
from bayesbias.models.design import Design
from bayesbias.models.distributions import DISTRIBUTIONS
from bayesbias.models.loading import load_model
from bayesbias.models.spec import ModelSpec
from bayesbias.tables.pair_table import PairTable
from bayesbias.wordlists.listfile import pairs

if TYPE_CHECKING:
    import xarray as xr

    from bayesbias.inference.posterior import BiasFit

__all__ = ["PriorExpectation", "prior_expectation"]

USUAL_LIST = "religion"
"""The word list that a model is shown on where no table is given.

Three classes, 15 words, 11 stereotypes, 311 controls.
"""
MOST_IMPOSSIBLE = 0.05
"""The largest share of impossible pairs that a prior of distances should have."""
SENSITIVE = 0.05
"""The sensitivity from which on a result depends on the priors (Kallioinen et al., 2024)."""
MOST_PARETO_K = 0.7
_POSSIBLE = {"distance": (0.0, 2.0), "change": (-2.0, 2.0), "difference": (-1.0, 1.0)}
_PAIRS = 20_000
_MOST_DRAWS = 1000


@dataclass(frozen=True, eq=False, repr=False)
class PriorExpectation:
    """What a model expects before any data.

    Attributes
    ----------
    model, on : str
        Name of the model, and which pairs it was laid over.
    contrasts : DataFrame
        The first contrast, overall and for any one label of each level: ``level, contrast, mean,
        sd, hpdi_low, hpdi_high, prob``.
    impossible : float or None
        The share of simulated single pairs that no data can show: distances outside [0, 2], changes
        of a distance outside [-2, 2], differences of two probabilities outside [-1, 1]. None where
        every number is possible.
    words : str
        Whose differences these are.

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.distance_table("minilm-static", "religion", controls="none")
    >>> found = bb.inference.prior_expectation(bb.load_model("crossed"), table)
    >>> found.model, found.possible
    ('crossed', False)
    """

    model: str
    on: str
    contrasts: pd.DataFrame
    impossible: float | None
    words: str = "new words like these"

    @property
    def possible(self) -> bool:
        """Whether at most 5 % of the pairs are impossible."""
        return self.impossible is None or self.impossible <= MOST_IMPOSSIBLE

    def __repr__(self) -> str:
        first = self.contrasts["contrast"].iloc[0]
        lines = [f"Model {self.model} before any data, on {self.on}, {first} for {self.words}:"]
        for row in self.contrasts.itertuples():
            ends = f"{row.prob:.0%} between {row.hpdi_low:+.2f} and {row.hpdi_high:+.2f}"
            lines.append(f"  {row.level:<14} SD {row.sd:.2f}, {ends}")
        if self.impossible is not None:
            limit = "" if self.possible else f" (should be at most {MOST_IMPOSSIBLE:.0%})"
            lines.append(f"  {self.impossible:.0%} of single pairs are impossible{limit}")
        return "\n".join(lines)


def prior_expectation(
    model: str | os.PathLike[str] | ModelSpec,
    table: PairTable | pd.DataFrame | None = None,
    *,
    prob: float = PROB,
    draws: int = 4000,
    seed: int = 0,
) -> PriorExpectation:
    """State the prior of a model in the units of its result.

    Parameters
    ----------
    model : str, path or ModelSpec
    table : PairTable or DataFrame, optional
        What the model would be fitted to; its outcomes are not read. By default the pairs of the
        list religion.
    prob : float in (0, 1)
        Probability of the intervals.
    draws, seed : int
        Draws from the prior, at least 2. Shares of impossible pairs are of 20,000 draws of a pair
        of each connection.

    Returns
    -------
    PriorExpectation

    Raises
    ------
    InputError
        If the model is unknown, or needs a column that the table lacks.
    FitError
        If the table has nothing to contrast.

    Examples
    --------
    >>> expected = prior_expectation("crossed")
    >>> list(expected.contrasts["level"]), expected.possible
    (['overall', 'word'], False)
    >>> bool(
    ...     abs(expected.contrasts["sd"][0] - 0.3 * 2**0.5) < 0.02
    ... )  # of the difference of two means, each with sd 0.3
    True
    """
    checks.count(draws, "draws", 2)
    spec = load_model(model)
    if isinstance(table, PairTable):
        frame, on = table.frame, str(table.provenance.get("name", "this table"))
    else:
        frame, on = (
            (usual_pairs(spec), f"the pairs of the list {USUAL_LIST}")
            if table is None
            else (table, "this table")
        )
    contrasts = prior_contrasts(spec, frame, draws, checks.seed(seed))
    first = str(contrasts["contrast"].to_numpy()[0])
    rows = []
    for level in ("overall", *spec.results.levels):
        # Sorted, since a sum in another order is another in its last digit.
        own = estimates.chosen_rows(contrasts, level=level, contrast=first)
        values = np.sort(own.to_numpy(), axis=None)
        if values.size:
            ends = estimates.shortest_interval(values, checks.probability(prob))
            rows.append((level, first, values.mean(), values.std(ddof=1), *map(float, ends), prob))
    columns = ["level", "contrast", "mean", "sd", "hpdi_low", "hpdi_high", "prob"]
    described = pd.DataFrame(rows, columns=columns)
    impossible = impossible_share(spec, frame, seed)
    return PriorExpectation(spec.name, on, described, impossible, words_said(spec))


def fits_usual_pairs(spec: ModelSpec) -> bool:
    """Say whether a model names no column beyond those of pairs of words."""
    return spec.label_columns() | {spec.results.group} <= set(pairs(USUAL_LIST))


def usual_pairs(spec: ModelSpec) -> pd.DataFrame:
    """Return the pairs of a usual list, for a model without data.

    Nobody reads their outcome.
    """
    return pd.DataFrame(pairs(USUAL_LIST)).assign(**{spec.outcome: 1.0})


def prior_contrasts(spec: ModelSpec, frame: pd.DataFrame, draws: int, seed: int) -> xr.DataArray:
    """Draw the contrasts for new words at every level from the prior, labeled as those of a fit."""
    design = Design.of(spec, frame)
    rows = asked_rows(design, "population", contrasted=True)
    if not rows.keys:
        raise no_contrasts(spec)
    values = rows.linear.draws(design.prior_draws(draws, seed))[None]
    return estimates.keyed_draws(values, rows.keys, "contrast", "population")


def predictive_of_pairs(spec: ModelSpec, frame: pd.DataFrame, seed: int) -> dict[str, np.ndarray]:
    """Draw a single pair of each connection from the prior.

    Or of whatever else the model gives results for.
    """
    order = Design.of(spec, frame).order()
    one = (frame if order is None else frame.iloc[order]).drop_duplicates(spec.results.group)
    design = Design.of(spec, one)
    new = design.outcome_draws(design.prior_draws(_PAIRS, seed), seed + 1)
    return {str(name): new[:, place] for place, name in enumerate(one[spec.results.group])}


def impossible_share(spec: ModelSpec, frame: pd.DataFrame, seed: int) -> float | None:
    """Return the share of pairs drawn from the prior that no data can show.

    None where every number is possible.
    """
    if spec.outcome not in _POSSIBLE:
        return None
    low, high = _POSSIBLE[spec.outcome]
    counts = frame[spec.results.group].astype(str).value_counts()
    drawn = predictive_of_pairs(spec, frame, seed)
    shares = [((new < low) | (new > high)).mean() for new in drawn.values()]
    return float(np.average(shares, weights=[counts[name] for name in drawn]))


def prior_sensitivity(fit: BiasFit) -> pd.DataFrame:
    """Measure the sensitivity of the main contrasts to the priors and to the likelihood.

    The main contrasts are all of them overall, and the first of them at each level of several
    words. Where groups are not connections, as in sentiment, the overall mean of each comes first.

    Returns
    -------
    DataFrame
        ``level, name, contrast, prior, likelihood, parameter, diagnosis``. `prior` and `likelihood`
        are the sensitivities; `parameter` is the one whose prior alone moves the contrast most,
        named where some contrast is sensitive. `diagnosis` is empty where `prior` is below 0.05,
        ``strong prior`` where only the prior moves the contrast, ``prior-data conflict`` where both
        do, and ``unknown`` where the importance weights fail (Pareto k above 0.7).

    Raises
    ------
    FitError
        If the table has nothing to contrast, or there are fewer than 25 draws.

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.distance_table("minilm-static", "religion", controls="none")
    >>> frame = bb.fit(table, "crossed", seed=1, draws=500, pointwise=False).prior_sensitivity()
    >>> list(frame["level"]), bool(frame["likelihood"].min() > frame["prior"].max())
    (['overall'], True)
    """
    chains, length = (fit.idata["posterior"].sizes[dim] for dim in ("chain", "draw"))
    if chains * length < LEAST_TO_SMOOTH:
        raise FitError(f"prior sensitivity needs {LEAST_TO_SMOOTH} draws or more, of all chains")
    step = -(-chains * length // _MOST_DRAWS)
    contrasts = _main_contrasts(fit).isel(draw=slice(None, None, step))
    at = np.arange(chains * length).reshape(chains, length)[:, ::step].ravel()
    draws, design = {name: values[at] for name, values in fit.draws().items()}, fit.design.ordered()
    priors = _log_priors(design, draws)
    labels = estimates.labels_of_rows(contrasts)
    frame = pd.DataFrame({name: labels[name] for name in ("level", "name", "contrast")})
    frame["prior"] = _sensitivity(contrasts, np.sum(list(priors.values()), axis=0), "prior")
    likelihood = design.log_likelihood(draws).sum(axis=-1)
    frame["likelihood"] = _sensitivity(contrasts, likelihood, "likelihood")
    frame["parameter"] = ""
    if (frame["prior"] >= SENSITIVE).any():
        each = np.nan_to_num([_sensitivity(contrasts, log, "prior") for log in priors.values()])
        frame["parameter"] = [list(priors)[k] for k in each.argmax(axis=0)]
    strong = np.where(frame["likelihood"] < SENSITIVE, "strong prior", "prior-data conflict")
    known = np.where(frame["prior"] >= SENSITIVE, strong, "")
    frame["diagnosis"] = np.where(frame["prior"].isna(), "unknown", known)
    return frame


def prior_shift(fit: BiasFit) -> tuple[float, float]:
    """Return how far the first contrast would move with priors of twice the weight.

    Its mean, in SDs, and its SD, as a share.

    To first order in the logarithm of the weight: derivatives of importance-weighted moments are
    covariances with the log prior.
    """
    levels = ("between", "overall") if fit.spec.results.between else ("overall",)
    asked = (fit.rows_of(level, "population", "contrast") for level in levels)
    rows = next(rows for rows in asked if rows.keys)
    widths = _fixed_widths(fit.spec)
    draws = fit.draws_for({*widths, *(part.name for part in rows.linear.parts)})
    values = rows.linear.draws(draws)[:, fit.order_of(rows)[0]]
    away = (values - values.mean()) / values.std()
    density = np.sum(list(_log_priors(fit.design, draws).values()), axis=0) * np.log(2)
    density -= density.mean()
    return float((away * density).mean()), float((away**2 * density).mean() / 2)


def _log_priors(design: Design, draws: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the log densities of the priors whose width is a number of the model file."""
    return {name: log_prior_draws(design, draws, name) for name in _fixed_widths(design.spec)}


def _fixed_widths(spec: ModelSpec) -> list[str]:
    """Return the parameters whose prior has a width of its own."""
    return [
        name
        for name, parameter in spec.parameters.items()
        if not any(isinstance(value, str) for arg, value in parameter.args.items() if arg != "mu")
    ]


def _main_contrasts(fit: BiasFit) -> xr.DataArray:
    spec, parts = fit.spec, []
    group = spec.results.group
    if group != "connection":
        means = fit.draws_of("means", level="overall", estimand="population")
        parts.append(means.rename({group: "contrast"}))
    try:
        overall = fit.draws_of("contrasts", level="overall", estimand="population")
    except FitError:
        if not parts:
            raise
        return parts[0]
    parts.append(overall)
    first = str(overall["contrast"].to_numpy()[0])
    for level, about in spec.results.levels.items():
        if about.by not in spec.units and about.population:
            own = fit.draws_of("contrasts", level=level, estimand="population")
            parts.append(estimates.chosen_rows(own, contrast=first))
    return estimates.joined_rows(parts)


def _sensitivity(contrasts: xr.DataArray, log_density: np.ndarray, group: str) -> np.ndarray:
    """Return the sensitivity of each contrast to powers of a density; NaN where weights fail."""
    import arviz
    import xarray as xr

    if np.ptp(log_density) == 0:
        return np.zeros(contrasts.sizes["row"])
    # ArviZ takes the log-likelihood of a left-out observation, which is a log-ratio with the other
    # sign.
    ratios = xr.DataArray(np.outer((-0.01, 0.01), log_density), dims=("power", "draw"))
    if (ratios.azstats.psislw(dim="draw")[1] > MOST_PARETO_K).any():
        return np.full(contrasts.sizes["row"], np.nan)
    shape = contrasts.shape[:2]
    values = xr.Dataset({"contrast": (("chain", "draw", "row"), contrasts.to_numpy())})
    density = xr.Dataset({"all": (("chain", "draw"), log_density.reshape(shape))})
    idata = xr.DataTree.from_dict({"posterior": values, f"log_{group}": density})
    return arviz.psense(idata, group=group)["contrast"].to_numpy()


def log_prior_draws(design: Design, draws: Mapping[str, np.ndarray], name: str) -> np.ndarray:
    """Return the log prior density of all entries of a parameter, shape (draws,).

    Its parents are given.
    """
    parameter = design.spec.parameters[name]
    args = {
        arg: draws[value].reshape(len(draws[value]), -1)[:, design.parent[name, arg]]
        if isinstance(value, str)
        else value
        for arg, value in parameter.args.items()
    }
    density = DISTRIBUTIONS[parameter.distribution].log_density
    assert density is not None
    return density(draws[name].reshape(len(draws[name]), -1), **args).sum(axis=1)
