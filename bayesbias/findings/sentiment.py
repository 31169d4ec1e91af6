"""What an analysis and a fit of sentiment say, in sentences made from their numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.basics.files import plain
from bayesbias.basics.wording import some
from bayesbias.inference.estimands import PROB
from bayesbias.inference.posterior import BiasFit
from bayesbias.studies.sentiment import SentimentAnalysis
from bayesbias.studies.sentiment_fit import NO_DIFFERENCE, contrasts_or_why_not
from bayesbias.studies.sentiment_tests import paired_test

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["carrying_pairs", "sentiment_doubts", "sentiment_in_words"]

_CLEAR_BELOW = 0.05
_HEAVY = 3.0  # excess kurtosis of the residuals; that of Student's t with 6 degrees of freedom
_MANY_ZEROS = 0.05
_NAMED = 4  # noun pairs that a sentence names


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
    turned = np.flatnonzero(left.to_numpy() <= NO_DIFFERENCE)
    if (
        abs(means.mean()) < NO_DIFFERENCE
        or not len(turned)
        or turned[0] + 1 >= (ordered > NO_DIFFERENCE).sum()
    ):
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
        if float(np.std(mine)) < NO_DIFFERENCE:
            continue
        value = fit.design.y[(fit.table["classifier"].astype(str) == name).to_numpy()]
        zeros = float(np.mean(np.abs(value) < NO_DIFFERENCE))
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
    if size < NO_DIFFERENCE:
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
        f"The paired t-test over {said['n']} sentence pairs says {_test_in_words(said)}{corrected}; it takes them for "
        "independent."
    )  # fmt: skip
    units = {row["unit"]: row for row in said["units"]}
    pairs = units["noun_pair"]
    out.append(
        f"They are made of {pairs['n']} noun pairs and {units['profession']['n']} professions. Over the means of the "
        f"noun pairs: {_test_in_words(pairs, False)}; over those of the professions: "
        f"{_test_in_words(units['profession'], False)}."
    )
    listed = said["noun_pairs"]
    low, high = listed[0], listed[-1]
    ends = signed(low["difference"], high["difference"])
    out.append(f"Noun pairs range from {ends[0]} ({low['noun_pair']}) to {ends[1]} ({high['noun_pair']}).")
    carrying = carrying_pairs(analysis.table, name)
    # In any sample a mean goes where its largest part is left out; worth a sentence where a test calls the mean clear.
    if carrying and said["p_value"] is not None and said["p_value"] < _CLEAR_BELOW:
        named = some(carrying, _NAMED)
        verb = "carries" if len(carrying) == 1 else "carry"
        out.append(
            f"{len(carrying)} of {len(listed)} noun pairs {verb} the difference: without {named} it would be gone or "
            "turned round."
        )
    part = analysis.table[analysis.table["classifier"].astype(str) == name]
    largest = part["difference"].abs().groupby(part["noun_pair"], sort=False, observed=True).max()
    same = [str(pair) for pair in largest.index[largest < NO_DIFFERENCE]]
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
            f"{_test_in_words(control, False)}."
        )
    return out


def _on_log_odds(table: pd.DataFrame, name: str) -> str:
    part = table[table["classifier"].astype(str) == name]
    told = []
    for unit in ("sentence_pair", "noun_pair"):
        (row,) = paired_test(part, unit=unit, outcome="logit_difference").to_dict("records")
        row = plain(row)
        told.append(
            f"over {row['n']} {unit.replace('_', ' ')}s {_test_in_words(row, unit == 'sentence_pair')}"
        )
    return f"The tests above are of probabilities. Of log odds (female - male {row['f_minus_m']:+.3f}): {'; '.join(told)}."


def _test_in_words(row: Mapping[str, Any], direction: bool = True) -> str:
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
                    if abs(r.mean) < NO_DIFFERENCE
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
