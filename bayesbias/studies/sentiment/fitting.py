"""A fit of the crossed model to sentiment: the published analysis it carries, and its classifiers compared.

Two classifiers are compared sentence pair by sentence pair: the difference of their outcomes is
fitted, since they rated the same sentences and their effects are not independent.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bayesbias.core import checks
from bayesbias.core.errors import FitError, InputError
from bayesbias.inference.estimates import error_of_share
from bayesbias.inference.posterior import BiasFit
from bayesbias.inference.view import PROB, STANDARD_ROPE
from bayesbias.studies.sentiment.analysis import SentimentAnalysis, analysis_of_table
from bayesbias.tables.sentiment import OUTCOMES

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["classifier_contrasts", "fit_sentiment"]

SENTIMENT_ESTIMANDS = {
    "population": "new nouns, new professions",
    "new_nouns": "new nouns, these professions",
    "new_professions": "these nouns, new professions",
    "listed_words": "these sentences alone",
}
"""The estimands of the models of sentiment, and what they hold for."""
NO_DIFFERENCE = 1e-9  # differences smaller than this are none


def is_sentiment(fit: BiasFit) -> bool:
    """Say whether a fit is one of sentiment tables."""
    checks.instance(fit, BiasFit, "fit", "what bayesbias.fit returns")
    return fit.spec.results.group == "classifier" and fit.spec.outcome in OUTCOMES


def fit_sentiment(
    analysis: SentimentAnalysis,
    model: Any = "sentiment",
    *,
    table: pd.DataFrame | None = None,
    **sampling: Any,
) -> SentimentAnalysis:
    """Fit the model with crossed effects of noun pairs and professions to the pairs of a published analysis.

    Parameters
    ----------
    analysis : SentimentAnalysis
        From `sentiment_analysis`.
    model : str, path or ModelSpec
        A model of sentiment.
    table : DataFrame, optional
        ``analysis.table`` with covariates about professions added. Professions without a covariate
        that the model needs are left out of the fit and of the tests.
    **sampling
        Options of `fit`: ``draws, tune, chains, seed, engine, progress``.

    Returns
    -------
    SentimentAnalysis
        With ``fit``.

    Raises
    ------
    InputError
        If the model is not one of sentiment.
    FitError
        If the differences leave nothing to fit.

    Examples
    --------
    >>> import bayesbias as bb
    >>> analysis = bb.sentiment_analysis(bb.list_predictions("m1"))
    >>> found = bb.studies.fit_sentiment(analysis, seed=1, draws=200, tune=300, chains=2)
    >>> found.fit.spec.name
    'sentiment'
    """
    from bayesbias.inference.fitting import fit as fit_model
    from bayesbias.models.loading import load_model

    spec = load_model(model)
    if spec.results.group != "classifier":
        raise InputError(
            "expected a model of sentiment",
            where=f"model {spec.name}",
            valid="sentiment, sentiment_logit",
        )
    fitted = fit_model(
        analysis.table if table is None else table, spec, pointwise=False, **sampling
    )
    kept = set(fitted.table["profession"].astype(str))
    lost = [
        name for name in dict.fromkeys(analysis.table["profession"].astype(str)) if name not in kept
    ]
    if lost:
        rows = analysis.table[analysis.table["profession"].astype(str).isin(kept)].reset_index(
            drop=True
        )
        about = analysis.provenance
        again = analysis_of_table(
            rows,
            hypotheses=about.get("hypotheses"),
            earnings=about.get("earnings"),
            provenance=about,
        )
        note = f"Left out of tests and fit, since they have no {' or '.join(spec.covariates())}: {', '.join(lost)}."
        analysis = dataclasses.replace(again, control=analysis.control, notes=(*again.notes, note))
    name = analysis.provenance.get("occupations", {}).get("name", "sentences")
    subject = f"{name} by {' and '.join(analysis.classifiers)}"
    table_about = {**fitted.provenance.get("table", {}), "name": subject}
    fitted = dataclasses.replace(fitted, provenance={**fitted.provenance, "table": table_about})
    return dataclasses.replace(analysis, fit=fitted)


def classifier_contrasts(fit: BiasFit, prob: float = PROB) -> pd.DataFrame:
    """Compare classifiers with each other, sentence pair by sentence pair.

    Two classifiers have rated the same sentences, and may rate them alike. So the model is fitted
    once more, to the differences between the classifiers' differences (female - male by the one
    less that by the other), in which what they share cancels. `BiasFit.contrasts` takes the effects
    of classifiers for independent, and is too wide where they are alike.

    Parameters
    ----------
    fit : BiasFit
        Of two or more classifiers.
    prob : float in (0, 1)
        Probability of the HPDIs.

    Returns
    -------
    DataFrame
        ``contrast, estimand, mean, sd, hpdi_low, hpdi_high, prob, p_below_zero``, and their Monte
        Carlo errors (``mcse_mean`` and so on); a row for each two classifiers and each of
        `ESTIMANDS`; empty where there is one classifier. Where two differ by the same everywhere,
        that is the mean, and the sd is 0.

    Raises
    ------
    FitError
        For a fit of something else than sentiment, or where the differences leave nothing to fit.

    Examples
    --------
    >>> import bayesbias as bb
    >>> m1 = bb.list_predictions("m1")
    >>> other = m1.frame.assign(classifier="other", probability=m1.frame["probability"] ** 1.1)
    >>> table = bb.sentiment_table(m1, other)
    >>> fit = bb.fit(table, "sentiment", seed=1, draws=200, tune=300, chains=2, pointwise=False)
    >>> found = classifier_contrasts(fit)
    >>> found["contrast"].unique().tolist(), bool(found["sd"].max() < fit.contrasts()["sd"].max() / 2)
    (['m1 - other'], True)
    """
    import itertools

    import pandas as pd

    prob = checks.probability(prob)
    if not is_sentiment(fit):
        raise FitError(f"{fit.spec.label} is about {fit.spec.outcome}, not about sentiment")
    outcome = fit.spec.outcome
    sides = {
        str(name): part for name, part in fit.table.groupby("classifier", sort=False, observed=True)
    }
    keys = ["noun_pair", "profession"]
    parts, equal = [], []
    for a, b in itertools.combinations(sides, 2):
        both = sides[a].merge(sides[b], on=keys, suffixes=("", "_b"), validate="one_to_one")
        value = both[outcome] - both[f"{outcome}_b"]
        name = f"{a} - {b}"
        if float(value.std()) < NO_DIFFERENCE:
            equal += [(name, estimand, float(value.mean())) for estimand in SENTIMENT_ESTIMANDS]
        else:
            parts.append(
                both[[*keys, "category", *fit.spec.covariates()]].assign(
                    classifier=name, **{outcome: value}
                )
            )
    errors = [f"mcse_{of}" for of in ("mean", "sd", "low", "high", "p_below_zero")]
    columns = [
        "contrast",
        "estimand",
        "mean",
        "sd",
        "hpdi_low",
        "hpdi_high",
        "prob",
        "p_below_zero",
        *errors,
    ]
    rows = [
        (name, e, mean, 0.0, mean, mean, prob, float(mean < 0), *[0.0] * len(errors))
        for name, e, mean in equal
    ]
    frames = [pd.DataFrame(rows, columns=columns)] if rows else []
    if parts:
        between: BiasFit = fit.once("between", lambda: _fit_of_differences(fit, parts))
        if not between.diagnostics()["ok"]:
            raise FitError(between.diagnostics()["problems"][0])
        for estimand in SENTIMENT_ESTIMANDS:
            draws = between.draws_of("summary", estimand=estimand)
            frame = between.summary(prob, estimand).rename(columns={"classifier": "contrast"})
            below = (draws < 0).mean(["chain", "draw"]).to_numpy()
            error = error_of_share(below, frame["ess_bulk"])
            frames.append(frame.assign(p_below_zero=below, mcse_p_below_zero=error)[columns])
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=columns)


def _fit_of_differences(fit: BiasFit, parts: Sequence[pd.DataFrame]) -> BiasFit:
    import pandas as pd

    from bayesbias.inference.fitting import fit as fit_model, settings_of_sampler

    how = settings_of_sampler(fit.provenance["sampler"])
    how |= {k: max(1000, how[k]) for k in ("draws", "tune")}  # a fraction of a second
    return fit_model(
        pd.concat(parts, ignore_index=True), fit.spec, pointwise=False, progress=False, **how
    )


def contrasts_or_why_not(fit: BiasFit, prob: float = PROB) -> tuple[pd.DataFrame | None, str]:
    """Return `classifier_contrasts`, or None and the reason where there are none; no reason for one classifier."""
    if fit.table["classifier"].nunique() < 2 or not fit.diagnostics()["ok"]:
        return None, ""
    try:
        return classifier_contrasts(fit, prob), ""
    except FitError as error:
        return None, f"The classifiers are not compared with each other: {error}."


def little_of_ratings(fit: BiasFit) -> dict[str, float | None]:
    """Return what is little of each classifier: the standard ROPE in standard deviations of its sentence pairs.

    Ratings have no unit that classifiers share, so that it is told by their own scatter; None where
    they do not scatter.
    """
    scatter = fit.table.groupby(fit.table["classifier"].astype(str), sort=False)[
        fit.spec.outcome
    ].std()
    return {
        str(name): STANDARD_ROPE * float(sd) if sd > NO_DIFFERENCE else None
        for name, sd in scatter.items()
    }
