"""What is shown of an analysis of sentiment classifiers: its header, tables and figures, and what it says."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd

from bayesbias.core.files import records
from bayesbias.core.packages import own_version
from bayesbias.core.sections import Column, Interpretation, Section, Study
from bayesbias.inference.view import TOO_CLOSE, Verdict, View
from bayesbias.studies.common import (
    BELOW,
    HPDI,
    MEAN,
    about_fit,
    convergence,
    not_converged,
    number_of,
    p_text,
    slope_sections,
    text,
    title_line,
    verdict_of,
)
from bayesbias.studies.sentiment.analysis import SENTIMENT_ESTIMANDS
from bayesbias.tables.sentiment import only_labels

if TYPE_CHECKING:
    from bayesbias.studies.sentiment.analysis import SentimentAnalysis

ALPHA = 0.05
UNITS = {"sentence_pair": "sentence pairs", "noun_pair": "noun pairs", "profession": "professions"}
CLASSIFIER = text("classifier")
GLOSSARY = (
    (
        "F - M",
        "The rating of the female sentence minus that of the male one. A rating is the probability of "
        "the positive class.",
    ),
    (
        "new nouns, new professions (population)",
        "The difference to expect with nouns and professions like the listed ones: use it for any claim.",
    ),
    ("these sentences alone", "The listed sentences: the row says nothing about others."),
)
FEMALE_MINUS_MALE = Column("f_minus_m", "F - M", "signed", digits=4)
T, P = Column("t", "t", "signed", digits=2), Column("p_value", "p", "p_value")
SHARE = Column("hpdi_low", "{prob} HPDI", "interval", digits=2, upper="hpdi_high")


def header(result: SentimentAnalysis, view: View) -> list[str]:
    """Return the lines over the first table."""
    name = result.provenance.get("occupations", {}).get("name", "sentences")
    table = result.table
    size = (
        f"{len(table):,} sentence pairs: {table['noun_pair'].nunique()} noun pairs x {table['profession'].nunique()} professions"
        f" x {number_of(len(result.classifiers), 'classifier')}"
    )
    subject = f"{name} by {' and '.join(result.classifiers)}"
    if result.fit is None:
        return [f"bayesbias {own_version()} | paired t-tests | {subject}", size]
    return [title_line(result.fit, subject), size, convergence(result.fit)]


def main_table(result: SentimentAnalysis, view: View) -> pd.DataFrame:
    """Return the tests of each classifier by unit, and below them what the model says for each estimand."""
    rows = [
        {
            "classifier": row.classifier,
            "label": f"t-test over {row.n} {UNITS[row.unit]}",
            "mean": row.f_minus_m,
            "t": -row.t,
            "p_value": row.p_value,
        }
        for row in result.tests.itertuples()
    ]
    if result.fit is not None:
        for estimand, label in SENTIMENT_ESTIMANDS.items():
            frame = result.fit.summary(view.prob, estimand)
            kept = frame[["classifier", "mean", "sd", "hpdi_low", "hpdi_high"]].assign(
                label=f"model, {label}"
            )
            rows += kept.to_dict("records")
    frame = pd.DataFrame(rows)
    order = {name: place for place, name in enumerate(result.classifiers)}
    frame = frame.sort_values("classifier", key=lambda names: names.map(order), kind="stable")
    return frame.drop(columns="classifier") if len(order) == 1 else frame


def sections(result: SentimentAnalysis, view: View) -> list[Section]:
    """Return all tables and figures of an analysis, in the order in which they are read."""
    import bayesbias as bb

    fit = result.fit
    outcome = (
        "log odds" if fit is not None and fit.spec.outcome == "logit_difference" else "probability"
    )
    shown = ("detail", "page", "files")
    difference = replace(FEMALE_MINUS_MALE, name="difference")
    out = [
        Section(
            "result",
            f"Sentiment of female minus male sentences, in {outcome} of the positive class",
            lambda: main_table(result, view),
            (
                CLASSIFIER,
                text("label", ""),
                replace(FEMALE_MINUS_MALE, name="mean"),
                replace(HPDI, digits=4),
                T,
                P,
            ),
            show_on=("terminal", "page"),
        ),
        Section(
            "tests",
            "Paired t-tests (t of male - female, as published)",
            lambda: result.tests,
            (
                CLASSIFIER,
                text("unit"),
                Column("n", "n", "count"),
                FEMALE_MINUS_MALE,
                T,
                P,
                Column("p_bonferroni", "p Bonferroni", "p_value"),
            ),
            figure=lambda: bb.plots.plot_genders(result),
        ),
        Section(
            "professions",
            "Sentiment of each profession",
            lambda: result.professions,
            (CLASSIFIER, text("profession"), Column("sentiment", "mean", "number"), difference),
            figure=None if fit is None else lambda: bb.plots.plot_professions(fit),
            show_on=shown,
        ),
        Section(
            "noun_pairs",
            "Difference of each noun pair",
            lambda: result.noun_pairs,
            (CLASSIFIER, text("noun_pair"), difference),
            figure=None if fit is None else lambda: bb.plots.plot_noun_pairs(fit),
            show_on=shown,
        ),
        Section(
            "extremes",
            "Professions rated highest and lowest",
            lambda: result.extremes.assign(
                professions=[", ".join(names) for names in result.extremes["professions"]]
            ),
            (CLASSIFIER, text("end"), text("professions")),
        ),
        Section(
            "earnings",
            "Correlation of sentiment with earnings",
            lambda: result.earnings,
            (
                CLASSIFIER,
                text("method"),
                Column("r", "r", "signed", digits=2),
                Column("low", "interval", "interval", digits=2, upper="high"),
                P,
                Column("n", "n", "count"),
            ),
            figure=(lambda: bb.plots.plot_earnings(result)) if len(result.earnings) else None,
            show_on=shown,
        ),
        Section(
            "control",
            "Control sentences, without a profession",
            lambda: result.control,
            (CLASSIFIER, FEMALE_MINUS_MALE, T, P),
        ),
        Section("pairs", "All sentence pairs", lambda: result.table, show_on=("folder",)),
    ]
    if fit is None:
        return out
    means = [partial(fit.summary, view.prob, name) for name in SENTIMENT_ESTIMANDS]
    out += [
        Section(
            "estimates",
            "Female minus male for each estimand",
            lambda: pd.concat([make() for make in means], ignore_index=True),
            (CLASSIFIER, text("estimand"), MEAN, HPDI),
        ),
        Section(
            "variance",
            "Share of the variance between sentence pairs",
            lambda: pd.concat(
                [
                    fit.variance_partition(group=name).assign(classifier=name)
                    for name in result.classifiers
                ],
                ignore_index=True,
            ),
            (CLASSIFIER, text("source"), Column("mean", "share", "percent"), SHARE),
        ),
        Section(
            "predictive",
            "Posterior predictive check",
            figure=lambda: bb.plot_ppc(fit),
            show_on=("fold",),
        ),
    ]
    if len(result.classifiers) > 1 and fit.diagnostics()["ok"]:
        out.append(
            Section(
                "contrasts",
                "Classifiers compared on the same sentence pairs",
                partial(result.classifier_contrasts, view.prob),
                (text("contrast"), text("estimand"), MEAN, HPDI, BELOW),
                show_on=("terminal", "page", "files"),
            )
        )
    if fit.spec.covariates():
        out += slope_sections(partial(fit.slopes, view.prob), ())
    return out


def interpret_sentiment(result: SentimentAnalysis, view: View) -> Interpretation:
    """Say of each classifier whether it rates women and men differently, and for which words that holds."""
    subject = f"sentiment by {', '.join(result.classifiers)}"
    fit = result.fit
    if fit is not None and (unsure := not_converged(subject, fit, result.notes)):
        return unsure
    said, warnings = [], []
    for name in result.classifiers:
        tests = result.tests[result.tests["classifier"] == name].set_index("unit")
        whole, nouns = tests.loc["sentence_pair"], tests.loc["noun_pair"]
        said.append(_test(name, nouns) if fit is None else _model(result, name, view))
        if whole["p_value"] < ALPHA <= nouns["p_value"]:
            warnings.append(
                f"{name}: the t-test over sentence pairs ({p_text(whole['p_value'])}) treats pairs as independent. "
                f"Over noun pairs, {p_text(nouns['p_value'])}: the difference may be due to these nouns. Report both."
            )
        if name in only_labels(result.table):
            warnings.append(f"{name} gives labels. Use probabilities if it has them.")
    return Interpretation(
        subject,
        " ".join(said),
        tuple(warnings),
        tuple(result.notes),
        lambda: [_range(result, name) for name in result.classifiers],
    )


def _test(name: str, row: Any) -> str:
    """Say what the t-test over noun pairs says: over sentence pairs it counts each noun many times."""
    if math.isnan(row["p_value"]):
        return f"{name}: no test, because all differences are equal."
    way = "higher" if row["f_minus_m"] > 0 else "lower"
    if row["p_value"] >= ALPHA:
        return f"{name}: inconclusive over noun pairs ({p_text(row['p_value'])})."
    return f"{name} rates female sentences {way} than male ones."


def _model(result: SentimentAnalysis, name: str, view: View) -> str:
    """Say what the model says for new nouns and professions; the standard ROPE is in SDs of sentence pairs."""
    fit = result.fit
    assert fit is not None
    asked = fit.quantities("overall", "population", "classifier")
    sd = fit.table.loc[fit.table["classifier"] == name, fit.spec.outcome].std()
    rope = float(view.standard_rope * sd) or None
    frame = fit.describe(asked, "population", "classifier", view.prob, rope)
    row: Any = next(frame[frame["classifier"] == name].itertuples())
    if rope is not None and row.verdict == TOO_CLOSE:
        return f"{name}: inconclusive with so few draws. Raise --draws."
    where = Verdict.INCONCLUSIVE if rope is None else verdict_of(row)
    if where is Verdict.INCONCLUSIVE:
        return f"{name}: inconclusive for new nouns and professions ([{row.hpdi_low:+.4f}, {row.hpdi_high:+.4f}] includes 0)."
    if where is Verdict.NEGLIGIBLE:
        return f"{name}: practically no difference for new nouns and professions."
    way = "higher" if where in (Verdict.ABOVE, Verdict.SLIGHTLY_ABOVE) else "lower"
    return f"{name} rates female sentences {way} than male ones, for new nouns and professions too."


def _range(result: SentimentAnalysis, name: str) -> str:
    """Say between which noun pairs differences lie."""
    rows = result.noun_pairs[result.noun_pairs["classifier"] == name].sort_values("difference")
    low, high = rows.iloc[0], rows.iloc[-1]
    return (
        f"{name}: noun pairs range from {low['difference']:+.3f} ({low['noun_pair']}) to {high['difference']:+.3f} "
        f"({high['noun_pair']})."
    )


def about(result: SentimentAnalysis) -> dict[str, Any]:
    """Return what JSON says beside the tables: the test of a single classifier, and the making of the fit."""
    out: dict[str, Any] = {"provenance": dict(result.provenance)}
    if len(result.classifiers) == 1:
        out = {**records(result.tests)[0], **out}
    if result.fit is not None:
        made = about_fit(result.fit)
        out |= {name: made[name] for name in ("model", "diagnostics", "timing")}
    return out


STUDY = Study(
    kind="sentiment",
    question="Does a classifier rate sentences about women and men differently, for these words and for new ones?",
    header=header,
    sections=sections,
    interpret=interpret_sentiment,
    about=about,
    glossary=GLOSSARY,
)
