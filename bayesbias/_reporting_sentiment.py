"""What an analysis and a fit of sentiment say, in sentences made from their numbers."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias._wording import some
from bayesbias.errors import FitError, InputError
from bayesbias.posterior import PROB, BiasFit
from bayesbias.sentiment import OUTCOMES, SentimentAnalysis, _plain, analysis_of_table, paired_test

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "analysis_of",
    "carrying_pairs",
    "classifier_contrasts",
    "sentiment_doubts",
    "sentiment_in_words",
    "with_analysis",
]

ESTIMANDS = {
    "population": "new nouns, new professions",
    "new_nouns": "new nouns, these professions",
    "new_professions": "these nouns, new professions",
    "these_words": "these sentences alone",
}
"""The estimands of the models of sentiment, and what they hold for."""

_SAME = 1e-9  # differences smaller than this are none
_CALLED = 0.05
_HEAVY = 3.0  # excess kurtosis of the residuals; that of Student's t with 6 degrees of freedom
_MANY_ZEROS = 0.05
_NAMED = 4  # noun pairs that a sentence names


def is_sentiment(fit: BiasFit) -> bool:
    """Say whether a fit is one of sentiment tables."""
    return fit.spec.results.group == "classifier" and fit.spec.outcome in OUTCOMES


def with_analysis(fit: BiasFit, analysis: SentimentAnalysis) -> BiasFit:
    """Return the fit with the origin of its table: classifiers, sentences, control experiment and earnings.

    They travel with the fit, into its file and its report, under ``provenance["sentiment"]``.

    Parameters
    ----------
    fit : BiasFit
        Of ``analysis.table``.
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
    >>> analysis = bb.published_analysis(bb.shipped_predictions("m1"))
    >>> fit = bb.fit(analysis.table, "sentiment", seed=1, draws=200, pointwise=False)
    >>> bb.with_analysis(fit, analysis).provenance["table"]["name"]
    'occupations by m1'
    """
    keys = ["classifier", "noun_pair", "profession", "difference"]
    same = is_sentiment(fit) and len(fit.table) == len(analysis.table)
    if not same or (fit.table[keys].to_numpy() != analysis.table[keys].to_numpy()).any():
        raise InputError("the fit is of another table", where="analysis", valid="the analysis of its table")
    about = analysis.provenance
    name = about.get("occupations", {}).get("name", "sentences")
    control = [{str(k): _plain(v) for k, v in row.items()} for row in analysis.control.to_dict("records")]
    return dataclasses.replace(
        fit,
        provenance={
            **fit.provenance,
            "table": {"name": f"{name} by {' and '.join(analysis.classifiers)}"},
            "sentiment": {**about, "control": control, "notes": list(analysis.notes)},
        },
    )


def analysis_of(fit: BiasFit) -> SentimentAnalysis:
    """Return the published analysis of the table of a fit, with what `with_analysis` put there.

    Raises
    ------
    FitError
        For a fit of something else than sentiment.
    """
    import pandas as pd

    if not is_sentiment(fit):
        raise FitError(f"{fit.spec.label} is about {fit.spec.outcome}, not about sentiment")
    about: Mapping[str, Any] = fit.provenance.get("sentiment", {})
    control = None
    if about.get("control"):
        control = pd.DataFrame(about["control"]).astype({"t": "Float64", "p_value": "Float64"})
    found = analysis_of_table(
        fit.table, control=control, hypotheses=about.get("hypotheses"), earnings=about.get("earnings"),
        provenance={k: about[k] for k in ("classifiers", "occupations") if k in about},
    )  # fmt: skip
    notes = dict.fromkeys([*about.get("notes", ()), *found.notes])
    return dataclasses.replace(found, notes=tuple(notes))


def carrying_pairs(table: pd.DataFrame, classifier: str) -> list[str]:
    """Name the fewest noun pairs without which the mean difference would be zero or have the other sign.

    Returns
    -------
    list of str
        From the largest on; empty where the mean is zero or only all pairs together would do.

    Examples
    --------
    >>> import bayesbias as bb
    >>> carrying_pairs(bb.sentiment_table(bb.shipped_predictions("m1")), "m1")[:2]
    ['The male candidate / The female candidate', 'This gentleman / This lady']
    """
    part = table[table["classifier"].astype(str) == classifier]
    means = part.groupby("noun_pair", sort=False, observed=True)["difference"].mean()
    sign = np.sign(means.mean())
    ordered = (sign * means).sort_values(ascending=False, kind="stable")
    left = ordered.sum() - ordered.cumsum()
    turned = np.flatnonzero(left.to_numpy() <= _SAME)
    if abs(means.mean()) < _SAME or not len(turned) or turned[0] + 1 >= (ordered > _SAME).sum():
        return []
    return [str(name) for name in ordered.index[: turned[0] + 1]]


def sentiment_doubts(fit: BiasFit) -> list[str]:
    """Say where the model and the differences do not fit together, each in a sentence without its full stop.

    Said of a classifier where more than 5 % of the differences are exactly zero, and where the residuals have an excess
    kurtosis above 3: most pairs differ by hardly anything and a few by much, and normal noise describes neither. Means
    and their intervals are over all pairs, and hold.

    Returns
    -------
    list of str
        Empty where nothing was found.
    """
    from scipy.stats import kurtosis

    mean = fit.design.mean({name: values.mean(axis=0) for name, values in fit.draws().items()})
    residual = fit.design.y - np.asarray(mean).reshape(fit.design.y.shape)
    out = []
    for name in dict.fromkeys(fit.table["classifier"].astype(str)):
        mine = residual[(fit.table["classifier"].astype(str) == name).to_numpy()]
        if float(np.std(mine)) < _SAME:
            continue
        value = fit.design.y[(fit.table["classifier"].astype(str) == name).to_numpy()]
        zeros = float(np.mean(np.abs(value) < _SAME))
        if zeros > _MANY_ZEROS:
            out.append(
                f"{name}: {zeros:.0%} of the differences are exactly zero, which no normal distribution makes; the spread "
                "between noun pairs is one of pairs that it sees and pairs that it does not"
            )
        found = float(kurtosis(mine))
        if found > _HEAVY:
            look = " and the log odds (the model sentiment_logit)" if fit.spec.outcome == "difference" else ""
            out.append(
                f"{name}: most sentence pairs differ by little and a few by much (excess kurtosis of the residuals "
                f"{found:.1f}); a mean describes neither, so look at the noun pairs{look}"
            )
    return out


def sentiment_in_words(
    analysis: SentimentAnalysis, fit: BiasFit | None = None, prob: float = PROB, classifier: str | None = None
) -> list[str]:
    """Say what the tests say, what the crossed model says, and which noun pairs carry the difference.

    Parameters
    ----------
    analysis : SentimentAnalysis
    fit : BiasFit, optional
        Of the same table. Nothing is concluded from a fit that has not converged.
    prob : float in (0, 1)
        Probability of the HPDIs.
    classifier : str, optional
        By default all, one after the other.

    Returns
    -------
    list of str

    Examples
    --------
    >>> import bayesbias as bb
    >>> for sentence in sentiment_in_words(bb.published_analysis(bb.shipped_predictions("m1")))[:2]:
    ...     print(sentence)
    m1: female sentences are rated 0.035 higher than male ones (0.517 against 0.483).
    The paired t-test over 400 sentence pairs says t(399) = -5.91 (male - female), p = 7.5e-09; it takes them for independent.
    """
    names = analysis.classifiers if classifier is None else (classifier,)
    out = []
    for name in names:
        found = _first_sentences(analysis, name)
        if fit is not None:
            found[1:1] = [sentiment_finding(fit, name, prob)]
            if fit.diagnostics()["ok"]:
                found.append(_shares_sentence(fit, name))
            if fit.spec.outcome == "logit_difference":
                found.append(_on_log_odds(analysis.table, name))
        out += found
    if fit is not None and classifier is None:
        out += [*between_classifiers(fit, prob), *fit.diagnostics()["problems"]]
    return out


def sentiment_finding(fit: BiasFit, classifier: str, prob: float = PROB) -> str:
    """Say what the crossed model says of one classifier; nothing where it has not converged."""
    state = fit.diagnostics()
    if not state["ok"]:
        return (
            f"No conclusion from the model, since the sampler cannot be believed yet: {state['problems'][0]}."
        )
    told = {}
    for estimand in ("population", "these_words"):
        frame = fit.summary(prob, estimand)
        r = next(iter(frame[frame["classifier"] == classifier].itertuples()))
        told[estimand] = r
    new, these = told["population"], told["these_words"]
    scale = "" if fit.spec.outcome == "difference" else " in log odds"
    m, low, high = signed(new.mean, new.hpdi_low, new.hpdi_high)
    m_here, low_here, high_here = signed(these.mean, these.hpdi_low, these.hpdi_high)
    return (
        f"Crossed model: for new nouns and professions like these, female - male is {m}{scale} "
        f"({prob:.0%} HPDI {low} to {high}; {verdict(new.hpdi_low, new.hpdi_high)}); for "
        f"these sentences alone {m_here} ({low_here} to {high_here})."
    )


def signed(*values: float) -> list[str]:
    """Write numbers of one sentence with a sign and as many decimals as tell the largest from zero, at least three.

    Examples
    --------
    >>> signed(-0.0345, 0.5), signed(0.0002, -0.00001), signed(0.0)
    (['-0.035', '+0.500'], ['+0.00020', '-0.00001'], ['+0.000'])
    """
    largest = max(abs(v) for v in values)
    decimals = 3 if largest < 1e-12 else max(3, 1 - math.floor(math.log10(largest)))
    return [f"{v:+.{decimals}f}" for v in values]


def verdict(low: float, high: float) -> str:
    """Say what an interval of female - male means.

    Examples
    --------
    >>> [verdict(*ends) for ends in ((-0.2, -0.1), (0.1, 0.2), (-0.1, 0.2))]
    ['female lower', 'female higher', 'the sign is open']
    """
    return "female lower" if high < 0 else "female higher" if low > 0 else "the sign is open"


def _first_sentences(analysis: SentimentAnalysis, name: str) -> list[str]:
    said = analysis.as_dict(name)
    size = abs(said["f_minus_m"])
    if size < _SAME:
        first = f"{name}: female and male sentences are rated alike on average ({said['p_male']:.3f})."
    else:
        way = "higher" if said["f_minus_m"] > 0 else "lower"
        first = (
            f"{name}: female sentences are rated {signed(size)[0].lstrip('+')} {way} than male ones "
            f"({said['p_female']:.3f} against {said['p_male']:.3f})."
        )
    out = [first]
    k = analysis.provenance.get("hypotheses", 1)
    corrected = (
        f" ({said['p_bonferroni']:.2g} after Bonferroni for {k} tests)"
        if k > 1 and said["t"] is not None
        else ""
    )
    out.append(
        f"The paired t-test over {said['n']} sentence pairs says {_test(said)}{corrected}; it takes them for "
        "independent."
    )  # fmt: skip
    units = {row["unit"]: row for row in said["units"]}
    pairs = units["noun_pair"]
    out.append(
        f"They are made of {pairs['n']} noun pairs and {units['profession']['n']} professions. Over the means of the "
        f"noun pairs: {_test(pairs, False)}; over those of the professions: {_test(units['profession'], False)}."
    )
    listed = said["noun_pairs"]
    low, high = listed[0], listed[-1]
    ends = signed(low["difference"], high["difference"])
    out.append(f"Noun pairs range from {ends[0]} ({low['noun_pair']}) to {ends[1]} ({high['noun_pair']}).")
    carrying = carrying_pairs(analysis.table, name)
    # In any sample a mean goes where its largest part is left out; worth a sentence where a test calls the mean clear.
    if carrying and said["p_value"] is not None and said["p_value"] < _CALLED:
        named = some(carrying, _NAMED)
        verb = "carries" if len(carrying) == 1 else "carry"
        out.append(
            f"{len(carrying)} of {len(listed)} noun pairs {verb} the difference: without {named} it would be gone or "
            "turned round."
        )
    part = analysis.table[analysis.table["classifier"].astype(str) == name]
    largest = part["difference"].abs().groupby(part["noun_pair"], sort=False, observed=True).max()
    same = [str(pair) for pair in largest.index[largest < _SAME]]
    if same:
        subject = "pair makes" if len(same) == 1 else "pairs make"
        out.append(
            f"{len(same)} noun {subject} no difference at all, to the last digit ({', '.join(same[:_NAMED])}"
            f"{' and more' if len(same) > _NAMED else ''}): the classifier may not know their words."
        )
    control = said["control"]
    if control is not None:
        out.append(
            f"Control sentences, without a profession: female - male is {signed(control['f_minus_m'])[0]}, "
            f"{_test(control, False)}."
        )
    return out


def _on_log_odds(table: pd.DataFrame, name: str) -> str:
    part = table[table["classifier"].astype(str) == name]
    told = []
    for unit in ("sentence_pair", "noun_pair"):
        (row,) = paired_test(part, unit=unit, outcome="logit_difference").to_dict("records")
        row = {k: _plain(v) for k, v in row.items()}
        told.append(f"over {row['n']} {unit.replace('_', ' ')}s {_test(row, unit == 'sentence_pair')}")
    return f"The tests above are of probabilities. Of log odds (female - male {row['f_minus_m']:+.3f}): {'; '.join(told)}."


def _test(row: Mapping[str, Any], direction: bool = True) -> str:
    if row["t"] is None:
        return "nothing, since the differences do not vary"
    said = " (male - female)" if direction else ""
    p = f"p = {row['p_value']:.2g}" if row["p_value"] > 0 else "p < 1e-300"
    return f"t({row['df']}) = {row['t']:.2f}{said}, {p}"


def _shares_sentence(fit: BiasFit, name: str) -> str:
    found = fit.shares(group=name).set_index("source")["mean"]
    return (
        f"Of the variance between sentence pairs {found['noun_pair']:.0%} lies between noun pairs, "
        f"{found['profession']:.0%} between professions, and {found['residual']:.0%} in the single pairs."
    )


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
        ``contrast, estimand, mean, sd, hpdi_low, hpdi_high, prob, p_below_zero``; a row for each two classifiers and
        each of `ESTIMANDS`; empty where there is one classifier. Where two differ by the same everywhere, that is the
        mean, and the sd is 0.

    Raises
    ------
    FitError
        For a fit of something else than sentiment, or where the differences leave nothing to fit.

    Examples
    --------
    >>> import bayesbias as bb
    >>> m1 = bb.shipped_predictions("m1")
    >>> other = m1.frame.assign(classifier="other", probability=m1.frame["probability"] ** 1.1)
    >>> table = bb.sentiment_table(m1, other)
    >>> fit = bb.fit(table, "sentiment", seed=1, draws=200, pointwise=False)
    >>> found = classifier_contrasts(fit)
    >>> found["contrast"].unique().tolist(), bool(found["sd"].max() < fit.contrasts()["sd"].max() / 2)
    (['m1 - other'], True)
    """
    import itertools

    import pandas as pd

    from bayesbias.model import fit as fit_model

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
        if float(value.std()) < _SAME:
            equal += [(name, estimand, float(value.mean())) for estimand in ESTIMANDS]
        else:
            parts.append(both[[*keys, "category"]].assign(classifier=name, **{outcome: value}))
    columns = ["contrast", "estimand", "mean", "sd", "hpdi_low", "hpdi_high", "prob", "p_below_zero"]
    rows = [(name, e, mean, 0.0, mean, mean, prob, float(mean < 0)) for name, e, mean in equal]
    frames = [pd.DataFrame(rows, columns=columns)] if rows else []
    if parts:
        if "between" not in fit._cache:
            sampler = fit.provenance["sampler"]
            how = {k: max(1000, sampler[k]) for k in ("draws", "tune")}  # a fraction of a second
            how |= {k: sampler[k] for k in ("chains", "seed", "target_accept")}
            fit._cache["between"] = fit_model(
                pd.concat(parts, ignore_index=True), fit.spec, pointwise=False, progress=False, **how
            )
        between: BiasFit = fit._cache["between"]
        if not between.diagnostics()["ok"]:
            raise FitError(between.diagnostics()["problems"][0])
        for estimand in ESTIMANDS:
            names, draws = between._levels(estimand)
            frame = between.summary(prob, estimand).rename(columns={"classifier": "contrast"})
            below = {
                name: float((draws[..., i] < 0).mean())
                for i, (level, _, name) in enumerate(names)
                if level == "overall"
            }
            frames.append(frame.assign(p_below_zero=frame["contrast"].astype(str).map(below))[columns])
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=columns)


def contrasts_or_why_not(fit: BiasFit, prob: float = PROB) -> tuple[pd.DataFrame | None, str]:
    """Return `classifier_contrasts`, or None and the reason where there are none; no reason for one classifier."""
    if fit.table["classifier"].nunique() < 2 or not fit.diagnostics()["ok"]:
        return None, ""
    try:
        return classifier_contrasts(fit, prob), ""
    except FitError as error:
        return None, f"The classifiers are not compared with each other: {error}."


def between_classifiers(fit: BiasFit, prob: float = PROB) -> list[str]:
    """Say how far the differences of each two classifiers differ; nothing where there is one, or no convergence."""
    frame, why = contrasts_or_why_not(fit, prob)
    if frame is None:
        return [why] if why else []
    out = []
    for r in frame[frame["estimand"] == "population"].itertuples():
        if r.sd == 0:
            out.append(
                f"{r.contrast}: the differences female - male of the two are the same"
                + (
                    " in every sentence pair."
                    if abs(r.mean) < _SAME
                    else f" but for {r.mean:+.3f}, in every sentence pair."
                )
            )
        else:
            mean, low, high = signed(r.mean, r.hpdi_low, r.hpdi_high)
            out.append(
                f"{r.contrast}: compared sentence pair by sentence pair, the differences female - male differ by {mean} "
                f"for new nouns and professions ({prob:.0%} HPDI {low} to {high})."
            )
    return out
