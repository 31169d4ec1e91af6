"""A fit of the crossed model to sentiment: the published analysis it carries, and its classifiers compared.

Two classifiers are compared sentence pair by sentence pair: the difference of their outcomes is fitted, since they
rated the same sentences and their effects are not independent.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bayesbias.core import checks
from bayesbias.core.errors import FitError, InputError
from bayesbias.core.files import plain
from bayesbias.inference.estimands import PROB, STANDARD_ROPE
from bayesbias.inference.estimates import error_of_share
from bayesbias.inference.posterior import BiasFit
from bayesbias.studies.sentiment.analysis import SentimentAnalysis, analysis_of_table
from bayesbias.tables.sentiment import OUTCOMES

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["analysis_of", "classifier_contrasts", "with_analysis"]

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


def with_analysis(fit: BiasFit, analysis: SentimentAnalysis) -> BiasFit:
    """Return the fit with the origin of its table: classifiers, sentences, control experiment and earnings.

    They travel with the fit, into its file and its report, under ``provenance["sentiment"]``.

    Parameters
    ----------
    fit : BiasFit
        Of ``analysis.table``, or of that with covariates about professions. A model with slopes leaves out professions without
        the covariate: then the analysis that travels with it is that of the others, and its notes say so.
    analysis : SentimentAnalysis

    Returns
    -------
    BiasFit

    Raises
    ------
    InputError
        Where the fit is of another table.

    Examples
    --------
    >>> import bayesbias as bb
    >>> analysis = bb.sentiment_analysis(bb.list_predictions("m1"))
    >>> fit = bb.fit(analysis.table, "sentiment", seed=1, draws=200, tune=300, chains=2, pointwise=False)
    >>> bb.studies.with_analysis(fit, analysis).provenance["table"]["name"]
    'occupations by m1'
    """
    left_out = _left_out(fit, analysis.table) if is_sentiment(fit) else None
    if left_out is None:
        raise InputError("the fit is of another table", where="analysis", valid="the analysis of its table")
    notes = list(analysis.notes)
    if left_out:
        # What an analysis notes of its table is noted anew of the rows that are left.
        again = analysis_of_table(analysis.table, earnings=analysis.provenance.get("earnings"))
        notes = [note for note in notes if note not in again.notes]
        covariates = " or ".join(fit.spec.covariates())
        notes.append(f"left out of tests and fit, since they have no {covariates}: {', '.join(left_out)}")
    if fit.spec.covariates():
        notes += fit.table.attrs.get("covariates_noted", [])
    analysis = dataclasses.replace(analysis, notes=tuple(notes))
    name = analysis.provenance.get("occupations", {}).get("name", "sentences")
    return dataclasses.replace(
        fit,
        provenance={
            **fit.provenance,
            "table": {
                **fit.provenance.get("table", {}),
                "name": f"{name} by {' and '.join(analysis.classifiers)}",
            },
            "sentiment": origin_of(analysis),
        },
    )


def _left_out(fit: BiasFit, table: pd.DataFrame) -> list[str] | None:
    """Return the professions and noun pairs of a table that a fit lacks, for want of a covariate; None if it is of another table."""
    keys = ["classifier", "noun_pair", "profession"]
    fitted = fit.table.set_index(keys)["difference"]
    listed = table.set_index(keys)["difference"]
    here = listed.index.isin(fitted.index)
    kept = listed[here]
    if len(kept) != len(fitted) or (kept.index != fitted.index).any() or (kept != fitted.to_numpy()).any():
        return None
    gone = table[~here]
    lost = [
        str(unit)
        for column in ("profession", "noun_pair")
        for unit in dict.fromkeys(gone[column])
        if unit not in set(fit.table[column])
    ]
    whole = (gone["profession"].isin(lost) | gone["noun_pair"].isin(lost)).all()
    return lost if whole and (fit.spec.covariates() or not lost) else None


def origin_of(analysis: SentimentAnalysis) -> dict[str, Any]:
    """Return what an analysis holds beside its table, for JSON; `analysis_from` puts both together again."""
    control = plain(analysis.control.to_dict("records"))
    return {**analysis.provenance, "control": control, "notes": list(analysis.notes)}


def analysis_from(table: pd.DataFrame, origin: Mapping[str, Any]) -> SentimentAnalysis:
    """Return the published analysis of a table, with what `origin_of` says of it."""
    import pandas as pd

    control = None
    if origin.get("control"):
        control = pd.DataFrame(origin["control"]).astype({"t": "Float64", "p_value": "Float64"})
    analysis = analysis_of_table(
        table,
        control=control,
        hypotheses=origin.get("hypotheses"),
        earnings=origin.get("earnings"),
        provenance={k: origin[k] for k in ("classifiers", "occupations") if k in origin},
        **settings_of_analysis(origin),
    )
    notes = dict.fromkeys([*origin.get("notes", ()), *analysis.notes])
    return dataclasses.replace(analysis, notes=tuple(notes))


def settings_of_analysis(origin: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of `sentiment_analysis` that are not the usual ones."""
    return {key: origin[key] for key in ("n", "clip", "prob") if key in origin}


def analysis_of(fit: BiasFit) -> SentimentAnalysis:
    """Return the published analysis of the table of a fit, with what `with_analysis` put there.

    Raises
    ------
    FitError
        For a fit of something else than sentiment.

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.sentiment_table(bb.list_predictions("m1"))
    >>> fit = bb.fit(table, "sentiment", draws=100, tune=100, chains=2, seed=1)
    >>> bb.studies.analysis_of(fit).classifiers
    ('m1',)
    """
    if not is_sentiment(fit):
        raise FitError(f"{fit.spec.label} is about {fit.spec.outcome}, not about sentiment")
    analysis = fit.once(
        "analysis", lambda: analysis_from(fit.table, fit.provenance.get("sentiment", {}))
    )
    return copy.deepcopy(analysis)


def classifier_contrasts(fit: BiasFit, prob: float = PROB) -> pd.DataFrame:
    """Compare classifiers with each other, sentence pair by sentence pair.

    Two classifiers have rated the same sentences, and may rate them alike. So the model is fitted once more, to the
    differences between the classifiers' differences (female - male by the one less that by the other), in which what
    they share cancels. `BiasFit.contrasts` takes the effects of classifiers for independent, and is too wide where
    they are alike.

    Parameters
    ----------
    fit : BiasFit
        Of two or more classifiers.
    prob : float in (0, 1)
        Probability of the HPDIs.

    Returns
    -------
    DataFrame
        ``contrast, estimand, mean, sd, hpdi_low, hpdi_high, prob, p_below_zero``, and their
        Monte Carlo errors (``mcse_mean`` and so on); a row for each two classifiers and
        each of `ESTIMANDS`; empty where there is one classifier. Where two differ by the same everywhere, that is the
        mean, and the sd is 0.

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
    sides = {str(name): part for name, part in fit.table.groupby("classifier", sort=False, observed=True)}
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
                both[[*keys, "category", *fit.spec.covariates()]].assign(classifier=name, **{outcome: value})
            )
    errors = [f"mcse_{of}" for of in ("mean", "sd", "low", "high", "p_below_zero")]
    columns = ["contrast", "estimand", "mean", "sd", "hpdi_low", "hpdi_high", "prob", "p_below_zero", *errors]
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
    return fit_model(pd.concat(parts, ignore_index=True), fit.spec, pointwise=False, progress=False, **how)


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

    Ratings have no unit that classifiers share, so that it is told by their own scatter; None where they do not scatter.
    """
    scatter = fit.table.groupby(fit.table["classifier"].astype(str), sort=False)[fit.spec.outcome].std()
    return {
        str(name): STANDARD_ROPE * float(sd) if sd > NO_DIFFERENCE else None for name, sd in scatter.items()
    }
