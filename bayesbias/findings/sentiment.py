"""What an analysis and a fit of sentiment say, made from their numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.core import checks
from bayesbias.core.digits import as_known, ends_as_known, shares_printed
from bayesbias.core.files import plain
from bayesbias.core.wording import as_percent, conjoined, some
from bayesbias.findings.outside import drawn_together, outside_doubts
from bayesbias.findings.parts import Doubt, Findings
from bayesbias.findings.priors import prior_doubts, unexamined_priors
from bayesbias.findings.slopes import sentences_of_slopes
from bayesbias.inference.estimands import PROB, STANDARD_ROPE
from bayesbias.inference.posterior import BiasFit
from bayesbias.inference.scope import sure_ends
from bayesbias.inference.verdicts import Verdict, place, sentiment_verdict
from bayesbias.studies.sentiment import SentimentAnalysis
from bayesbias.studies.sentiment_fit import (
    NO_DIFFERENCE,
    analysis_of,
    contrasts_or_why_not,
    little_of_ratings,
)
from bayesbias.studies.sentiment_tests import paired_test
from bayesbias.tables.sentiment import classifiers_in, only_labels

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["carrying_pairs", "findings_of_sentiment", "sentiment_doubts", "signed"]

_CLEAR_BELOW = 0.05
_HEAVY = 3.0  # excess kurtosis of the residuals; that of Student's t with 6 degrees of freedom
_MANY_ZEROS = 0.05
_LEVELS = {"profession": "professions", "noun_pair": "noun pairs"}
_SAMPLES = 4000  # of which the share beyond an end is known to half a per cent
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
    >>> carrying_pairs(bb.sentiment_table(bb.list_predictions("m1")), "m1")[:2]
    ['The male candidate / The female candidate', 'This gentleman / This lady']
    """
    checks.choice(classifier, map(str, classifiers_in(table)), "classifier", "classifier")
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


def _log_odds_help(fit: BiasFit, rows: np.ndarray, excess: float) -> bool:
    """Say whether log odds leave noise over with lighter tails; a classifier that adds up words leaves none at all."""
    from scipy.stats import kurtosis

    if fit.spec.outcome != "difference" or "logit_difference" not in fit.table:
        return False
    table = fit.table[rows]
    rest = whole = table["logit_difference"].astype(float)
    for _ in range(20):  # at once where every noun pair stands with every profession
        for unit in ("noun_pair", "profession"):
            rest = rest - rest.groupby(table[unit].astype(str)).transform("mean")
    return bool(np.std(rest) > 1e-6 * np.ptp(whole) and kurtosis(rest) < excess - 1)


def sentiment_doubts(fit: BiasFit, prob: float = PROB) -> list[Doubt]:
    """Return where the model and the differences do not fit together.

    Doubted of a classifier where more than 5 % of the differences are exactly zero, and where the residuals have an
    excess kurtosis above 3: noun pairs and professions leave hardly anything over of most pairs and much of a few,
    and normal noise describes neither. Means and their intervals are over all pairs, and hold. And where intervals
    of professions or noun pairs for the listed words alone exclude what was observed far too often
    (`bayesbias.inference.excluded_observed`). And where a mean or a difference of classifiers rests on a prior. Of a
    classifier that gives labels alone only the last is looked at: what labels are says a note of its analysis.

    Returns
    -------
    list of Doubt
        Empty where nothing was found.
    """
    from scipy.stats import kurtosis

    mean = fit.design.mean({name: values.mean(axis=0) for name, values in fit.draws().items()})
    residual = fit.design.y - np.asarray(mean).reshape(fit.design.y.shape)
    out = []
    labels = only_labels(fit.table)
    classifiers = [
        name for name in dict.fromkeys(map(str, fit.table["classifier"].unique())) if name not in labels
    ]
    for name in classifiers:
        rows = (fit.table["classifier"].astype(str) == name).to_numpy()
        own = residual[rows]
        if float(np.std(own)) < NO_DIFFERENCE:
            continue
        zeros = float(np.mean(np.abs(fit.design.y[rows]) < NO_DIFFERENCE))
        if zeros > _MANY_ZEROS:
            out.append(
                Doubt(
                    kind="exact_zeros",
                    text=f"{name}: {zeros:.0%} of the differences are exactly zero, which no normal distribution makes; the "
                    "spread between noun pairs is one of pairs that it sees and pairs that it does not",
                    level="noun_pair",
                    group=name,
                )
            )
        excess = float(kurtosis(own))
        if excess > _HEAVY:
            model = "sentiment_logit" if _log_odds_help(fit, rows, excess) else None
            look = "" if model is None else f"; of log odds (the model {model}) the tails are lighter"
            farthest = np.argsort(-np.abs(own))[:3]
            most = dict.fromkeys(fit.table["profession"].astype(str).to_numpy()[rows][farthest])
            out.append(
                Doubt(
                    kind="heavy_tails",
                    text=f"{name}: what noun pairs and professions leave over is little for most sentence pairs and much for a "
                    f"few, most of all of {conjoined(most)} (excess kurtosis {excess:.1f}); means are over all pairs and hold, "
                    f"and no one spread of sentence pairs describes both{look}",
                    group=name,
                    model=model,
                )
            )
    if fit.diagnostics()["ok"]:
        out += outside_doubts(fit, _LEVELS, prob, classifiers) if classifiers else []
        out += prior_doubts(fit, more_of="sentences", refit=False)
    return out


def findings_of_sentiment(result: BiasFit | SentimentAnalysis, prob: float = PROB) -> Findings:
    """Say what the tests say, what the crossed model says, and which noun pairs carry the difference.

    Parameters
    ----------
    result : BiasFit or SentimentAnalysis
        A fit, with what `with_analysis` put there, or the analysis alone. Nothing is concluded from a fit that has
        not converged.
    prob : float in (0, 1)
        Probability of the HPDIs.

    Returns
    -------
    Findings
        With a part for each classifier.

    Examples
    --------
    >>> import bayesbias as bb
    >>> found = findings_of_sentiment(bb.sentiment_analysis(bb.list_predictions("m1")))
    >>> for line in found.lines()[:2]:
    ...     print(line)
    m1: female sentences are rated 0.035 higher than male ones (0.517 against 0.483).
    The paired t-test over 400 sentence pairs says t(399) = -5.91 (male - female), p = 7.5e-09; it takes them for independent.
    """
    fit = result if isinstance(result, BiasFit) else None
    analysis = analysis_of(result) if isinstance(result, BiasFit) else result
    parts = tuple(_of_classifier(analysis, fit, name, prob) for name in analysis.classifiers)
    subject = ", ".join(analysis.classifiers)
    if fit is not None:
        subject = str(fit.provenance.get("table", {}).get("name", subject))
    return Findings(
        subject=subject,
        headline=" ".join(part.headline if fit is None else headline_of(part) for part in parts),
        parts=parts,
        sentences=() if fit is None else (*_between_classifiers(fit, prob), *sentences_of_slopes(fit, prob)),
        doubts=() if fit is None else tuple(sentiment_doubts(fit, prob)),
        problems=() if fit is None else tuple(fit.diagnostics()["problems"]),
        notes=analysis.notes,
        unexamined=() if fit is None else unexamined_priors(fit, refit=False),
    )


def headline_of(part: Findings) -> str:
    """Say of which classifier the headline of a part is."""
    return f"{part.subject}: {part.headline[:1].lower()}{part.headline[1:]}"


def _of_classifier(analysis: SentimentAnalysis, fit: BiasFit | None, name: str, prob: float) -> Findings:
    observed, *rest = _of_tests(analysis, name)
    if fit is None:
        return Findings(subject=name, headline=observed, sentences=tuple(rest))
    if fit.diagnostics()["ok"]:
        rest += _little(fit, name, prob)
        if name not in only_labels(fit.table):
            rest += [_shares_sentence(fit, name), *drawn_together(fit, _LEVELS, prob, name)]
    if fit.spec.outcome == "logit_difference":
        rest.append(_on_log_odds(analysis.table, name))
    return Findings(
        subject=name, premises=(observed,), headline=_of_model(fit, name, prob), sentences=tuple(rest)
    )


def _of_model(fit: BiasFit, classifier: str, prob: float) -> str:
    """Say what the crossed model says of one classifier; nothing where it has not converged."""
    state = fit.diagnostics()
    if not state["ok"]:
        return (
            f"No conclusion from the model, since the sampler cannot be believed yet: {state['problems'][0]}."
        )
    rows: dict[str, Any] = {}
    for estimand in ("population", "listed_words"):
        frame = fit.summary(prob, estimand)
        rows[estimand] = next(iter(frame[frame["classifier"] == classifier].itertuples()))
    new, these = rows["population"], rows["listed_words"]
    little = little_of_ratings(fit)[classifier]
    scale = "" if fit.spec.outcome == "difference" else " in log odds"
    m, low, high = signed_estimate(new)
    m_here, low_here, high_here = signed_estimate(these)
    return (
        f"Crossed model: for new nouns and professions like these, female - male is {m}{scale} "
        f"({as_percent(prob)} HPDI {low} to {high}; {sentiment_verdict(*sure_ends(new), little)}); for "
        f"these sentences alone {m_here} ({low_here} to {high_here})."
    )


def _little(fit: BiasFit, classifier: str, prob: float) -> list[str]:
    """Say what little is, where an interval reaches there."""
    little = little_of_ratings(fit)[classifier]
    frame = fit.summary(prob)
    row: Any = next(iter(frame[frame["classifier"] == classifier].itertuples()))
    if little is None or place(*sure_ends(row), little) in (Verdict.BELOW, Verdict.OPEN, Verdict.ABOVE):
        return []
    return [
        f"A difference is called little below {signed(little)[0].lstrip('+')}, {STANDARD_ROPE:g} standard deviations of "
        "sentence pairs."
    ]


def signed(*values: float) -> list[str]:
    """Write numbers of one sentence with a sign and as many decimals as tell the largest from zero, at least three.

    Examples
    --------
    >>> signed(-0.0345, 0.5), signed(0.0002, -0.00001), signed(0.0)
    (['-0.035', '+0.500'], ['+0.00020', '-0.00001'], ['+0.000'])
    """
    return [f"{v:+.{_decimals(values)}f}" for v in values]


def signed_estimate(row: Any) -> list[str]:
    """Write mean and ends of an estimate as `signed` does, to the digits that their Monte Carlo errors allow.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> row = SimpleNamespace(mean=-0.0345, hpdi_low=-0.05123, hpdi_high=0.02, mcse_mean=0.0001, mcse_low=0.002)
    >>> signed_estimate(row)
    ['-0.035', '-0.05', '+0.02']
    """
    usual = _decimals((row.mean, row.hpdi_low, row.hpdi_high))
    return [as_known(row, "mean", usual, signed=True), *ends_as_known(row, usual=usual, signed=True)]


def _decimals(values: Sequence[float]) -> int:
    largest = max(abs(v) for v in values)
    return 3 if largest < 1e-12 else max(3, 1 - math.floor(math.log10(largest)))


def _of_tests(analysis: SentimentAnalysis, name: str) -> list[str]:
    row = analysis.as_dict(name)
    size = abs(row["f_minus_m"])
    if name in only_labels(analysis.table):
        first = (
            f"{name}: {row['p_female']:.3f} of the female sentences are labelled positive, against {row['p_male']:.3f} of the "
            "male ones; of labels, which are no probabilities, only means over many pairs are described."
        )
    elif size < NO_DIFFERENCE:
        first = f"{name}: female and male sentences are rated alike on average ({row['p_male']:.3f})."
    else:
        way = "higher" if row["f_minus_m"] > 0 else "lower"
        first = (
            f"{name}: female sentences are rated {signed(size)[0].lstrip('+')} {way} than male ones "
            f"({row['p_female']:.3f} against {row['p_male']:.3f})."
        )
    out = [first]
    k = analysis.provenance.get("hypotheses", 1)
    corrected = (
        f" ({row['p_bonferroni']:.2g} after Bonferroni for {k} tests)"
        if k > 1 and row["t"] is not None
        else ""
    )
    out.append(
        f"The paired t-test over {row['n']} sentence pairs says {_test_in_words(row)}{corrected}; it takes them for "
        "independent."
        if row["t"] is not None
        else f"A paired t-test over {row['n']} sentence pairs cannot be made, since the differences do not vary."
    )
    units = {of["unit"]: of for of in row["units"]}
    pairs = units["noun_pair"]
    out.append(
        f"They are made of {pairs['n']} noun pairs and {units['profession']['n']} professions. Over the means of the "
        f"noun pairs: {_test_in_words(pairs, False)}; over those of the professions: "
        f"{_test_in_words(units['profession'], False)}."
    )
    listed = row["noun_pairs"]
    part = analysis.table[analysis.table["classifier"].astype(str) == name]
    largest = part["difference"].abs().groupby(part["noun_pair"], sort=False, observed=True).max()
    same = [str(pair) for pair in largest.index[largest < NO_DIFFERENCE]]
    if len(same) < len(listed):
        low, high = listed[0], listed[-1]
        ends = signed(low["difference"], high["difference"])
        out.append(
            f"Noun pairs range from {ends[0]} ({low['noun_pair']}) to {ends[1]} ({high['noun_pair']})."
        )
    carrying = carrying_pairs(analysis.table, name)
    # In any sample a mean goes where its largest part is left out; worth a sentence where a test calls the mean clear.
    if carrying and row["p_value"] is not None and row["p_value"] < _CLEAR_BELOW:
        named = some(carrying, _NAMED)
        verb = "carries" if len(carrying) == 1 else "carry"
        out.append(
            f"{len(carrying)} of {len(listed)} noun pairs {verb} the difference: without {named} it would be gone or "
            f"turned round. {_reference([pair['difference'] for pair in listed], len(carrying))}"
        )
    if len(same) == len(listed):
        out.append(
            "No noun pair makes any difference, to the last digit: the classifier may not look at who is spoken of."
        )
    elif same:
        subject = "pair makes" if len(same) == 1 else "pairs make"
        out.append(
            f"{len(same)} noun {subject} no difference at all, to the last digit ({', '.join(same[:_NAMED])}"
            f"{' and more' if len(same) > _NAMED else ''}): the classifier may not know their words."
        )
    control = row["control"]
    if control is not None:
        out.append(
            f"Control sentences, without a profession: female - male is {signed(control['f_minus_m'])[0]}, "
            f"{_test_in_words(control)}."
        )
    return out


def carrying_expected(n: int, mean: float, sd: float) -> tuple[int, int]:
    """Return how many of normal values carry their mean: the fewest largest without which it would be gone.

    Parameters
    ----------
    n : int
        Values, two or more.
    mean, sd : float
        Theirs in every sample, the latter with n - 1.

    Returns
    -------
    low, high : int
        Between which 89 of 100 samples lie.

    Notes
    -----
    Normal values less their mean, over their standard deviation, are spread evenly over a sphere whatever both are, so that
    samples with a given mean and sd are drawn by giving them to standardized ones. The largest are picked after looking: in
    nearly any sample a few of them carry a small mean.

    Examples
    --------
    >>> carrying_expected(20, 1.0, 0.1)[0] >= 19  # far from zero the mean is that of all
    True
    >>> carrying_expected(20, 0.01, 1.0)
    (1, 1)
    """
    z = np.random.default_rng(0).normal(size=(_SAMPLES, n))
    z = (z - z.mean(axis=1, keepdims=True)) / z.std(axis=1, ddof=1, keepdims=True)
    x = np.sort(abs(mean) + sd * z, axis=1)[:, ::-1]
    left = x.sum(axis=1, keepdims=True) - np.cumsum(x, axis=1)
    left[:, -1] = 0.0  # without any value nothing is left
    counts = 1 + np.argmax(left <= NO_DIFFERENCE, axis=1)
    low, high = np.quantile(counts, [(1 - PROB) / 2, (1 + PROB) / 2], method="closest_observation")
    return int(low), int(high)


def _reference(differences: Sequence[float], carrying: int) -> str:
    """Say how many would carry the same mean of pairs that scatter as much, so that a small mean alone is not called a find."""
    low, high = carrying_expected(
        len(differences), float(np.mean(differences)), float(np.std(differences, ddof=1))
    )
    many = f"{low}" if low == high else f"{low} to {high}"
    if carrying < low:
        says = "here fewer carry it"
    elif carrying > high:
        says = "here it takes more"
    elif 2 * carrying > len(differences):
        says = "so this says that the difference is spread over the pairs"
    else:
        says = "so this says no more than that the mean is small beside their scatter"
    return (
        f"Of pairs that scatter normally with the same mean and standard deviation the {many} largest would "
        f"(in {as_percent(PROB)} of samples): {says}."
    )


def _on_log_odds(table: pd.DataFrame, name: str) -> str:
    part = table[table["classifier"].astype(str) == name]
    tests = []
    for unit in ("sentence_pair", "noun_pair"):
        (row,) = paired_test(part, unit=unit, outcome="logit_difference").to_dict("records")
        row = plain(row)
        tests.append(
            f"over {row['n']} {unit.replace('_', ' ')}s {_test_in_words(row, unit == 'sentence_pair')}"
        )
    mean = signed(row["f_minus_m"])[0]
    return f"The tests above are of probabilities. Of log odds (female - male {mean}): {'; '.join(tests)}."


def _test_in_words(row: Mapping[str, Any], direction: bool = True) -> str:
    if row["t"] is None:
        return "no test, since the differences do not vary"
    sign = " (male - female)" if direction else ""
    p = f"p = {row['p_value']:.2g}" if row["p_value"] > 0 else "p < 1e-300"
    return f"t({row['df']}) = {row['t']:.2f}{sign}, {p}"


def _shares_sentence(fit: BiasFit, name: str) -> str:
    frame = fit.shares(group=name)
    printed = shares_printed(list(frame["mean"]), float(frame["mcse_mean"].max()))
    shares = dict(zip(frame["source"], printed, strict=True))
    return (
        f"Of the variance between sentence pairs {shares['noun_pair']} lies between noun pairs, "
        f"{shares['profession']} between professions, and {shares['residual']} in the single pairs."
    )


def _between_classifiers(fit: BiasFit, prob: float = PROB) -> list[str]:
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
                    else f" but for {signed(r.mean)[0]}, in every sentence pair."
                )
            )
        else:
            mean, low, high = signed_estimate(r)
            out.append(
                f"{r.contrast}: compared sentence pair by sentence pair, the differences female - male differ by {mean} "
                f"for new nouns and professions ({as_percent(prob)} HPDI {low} to {high})."
            )
    return out
