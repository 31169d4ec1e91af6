"""What is shown of an analysis of sentiment classifiers: its header, tables and figures, and what it says."""

import math
from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd

from bayesbias.core import number_of
from bayesbias.core.files import records
from bayesbias.core.sections import Column, Interpretation, Section
from bayesbias.inference.estimates import BELOW, HPDI, MEAN
from bayesbias.inference.view import ROUNDING, TOO_CLOSE, View
from bayesbias.studies import common
from bayesbias.studies.sentiment.analysis import SENTIMENT_ESTIMANDS, SentimentAnalysis
from bayesbias.tables.sentiment import only_labels

QUESTION = "Does a classifier rate sentences about women and men differently, for these words and for new ones?"

UNITS = {"sentence_pair": "sentence pairs", "noun_pair": "noun pairs", "profession": "professions"}
ONE_VERDICT = True
FILES_BEFORE = False
FIT_FILE = ""
TYPES: tuple[type, ...] = (SentimentAnalysis,)
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
FEMALE_MINUS_MALE = Column("f_minus_m", "F - M", "signed", 4)
T, P = Column("t", "t", "signed", 2), Column("p_value", "p", "p_value")
SHARE = Column("hpdi_low", "{prob} HPDI", "interval", 2, "hpdi_high")


def glossary(result: SentimentAnalysis) -> tuple[tuple[str, str], ...]:
    """Return the terms that the page explains."""
    return GLOSSARY


def header(result: SentimentAnalysis, view: View) -> list[str]:
    """Return the lines over the first table."""
    name = result.provenance.get("occupations", {}).get("name", "sentences")
    table = result.table
    size = (
        f"{len(table):,} sentence pairs: {table['noun_pair'].nunique()} noun pairs x {table['profession'].nunique()} professions"
        f" x {number_of(len(result.classifiers), 'classifier')}"
    )
    subject = f"{name} by {' and '.join(result.classifiers)}"
    return common.header_of(result.fit, subject, size, "paired t-tests")


def main_table(result: SentimentAnalysis, view: View) -> pd.DataFrame:
    """Return the tests of each classifier by unit, what the model says for each estimand, and how classifiers differ."""
    tests, fit, several = result.tests, result.fit, len(result.classifiers) > 1
    said = [
        f"t-test over {n} {UNITS[unit]}" for n, unit in zip(tests["n"], tests["unit"], strict=True)
    ]
    parts = [tests.assign(label=said, mean=tests["f_minus_m"], t=-tests["t"])]
    if fit is not None:
        parts += [
            fit.summary(view.prob, estimand).assign(label=f"model, {label}")
            for estimand, label in SENTIMENT_ESTIMANDS.items()
        ]
        if several and fit.diagnostics()["ok"]:
            own = result.classifier_contrasts(view.prob).rename(columns={"contrast": "classifier"})
            parts.append(own.assign(label="model, " + own["estimand"].map(SENTIMENT_ESTIMANDS)))
    columns = ["classifier", "label", "mean", "sd", "hpdi_low", "hpdi_high", "t", "p_value"]
    frame = pd.concat(parts, ignore_index=True)
    frame = frame[[name for name in columns if name in frame]]
    if not several:
        return frame.drop(columns="classifier")
    parts = []
    for name, own in frame.groupby("classifier", sort=False):
        parts += [common.heading(name), own.assign(label="  " + own["label"])]
    return pd.concat(parts, ignore_index=True)


def importance(rows: pd.DataFrame) -> list[float]:
    """Return how important each row of the first table is, where there is no room for all.

    What the model says of new nouns and professions comes first, then the first test of each
    classifier.
    """
    out, tested = [], False
    for label in rows["label"].str.strip():
        first_test = label.startswith("t-test") and not tested
        tested = label.startswith("t-test")
        out.append(
            2.0 if label == f"model, {SENTIMENT_ESTIMANDS['population']}" else 1.0 * first_test
        )
    return out


def sections(result: SentimentAnalysis, view: View) -> list[Section]:
    """Return all tables and figures of an analysis, in the order in which they are read."""
    import bayesbias as bb

    fit = result.fit
    outcome = (
        "log odds" if fit is not None and fit.spec.outcome == "logit_difference" else "probability"
    )
    difference = replace(FEMALE_MINUS_MALE, name="difference")
    out = [
        Section(
            "result",
            f"Sentiment of female minus male sentences, in {outcome} of the positive class",
            lambda: main_table(result, view),
            (
                Column("label", ""),
                replace(FEMALE_MINUS_MALE, name="mean"),
                replace(HPDI, digits=4),
                T,
                P,
            ),
            show_on="terminal page",
            importance=importance,
        ),
        Section(
            "tests",
            "Paired t-tests (t of male - female, as published)",
            lambda: result.tests,
            (
                "classifier",
                "unit",
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
            ("classifier", "profession", Column("sentiment", "mean", "number"), difference),
            figure=None if fit is None else lambda: bb.plots.plot_professions(fit),
            show_on="detail page files",
        ),
        Section(
            "noun_pairs",
            "Difference of each noun pair",
            lambda: result.noun_pairs,
            ("classifier", "noun_pair", difference),
            figure=None if fit is None else lambda: bb.plots.plot_noun_pairs(fit),
            show_on="detail page files",
        ),
        Section(
            "extremes",
            "Professions rated highest and lowest",
            lambda: result.extremes.assign(
                professions=[", ".join(names) for names in result.extremes["professions"]]
            ),
            ("classifier", "end", "professions"),
        ),
        Section(
            "earnings",
            "Correlation of sentiment with earnings",
            lambda: result.earnings,
            (
                "classifier",
                "method",
                Column("r", "r", "signed", 2),
                Column("low", "interval", "interval", 2, "high"),
                P,
                Column("n", "n", "count"),
            ),
            figure=(lambda: bb.plots.plot_earnings(result)) if len(result.earnings) else None,
            show_on="detail page files",
        ),
        Section(
            "control",
            "Control sentences, without a profession",
            lambda: result.control,
            ("classifier", FEMALE_MINUS_MALE, T, P),
        ),
        Section("pairs", "All sentence pairs", lambda: result.table, show_on="folder"),
    ]
    if fit is None:
        return out
    out += [
        Section(
            "estimates",
            "Female minus male for each estimand",
            lambda: pd.concat(
                [fit.summary(view.prob, name) for name in SENTIMENT_ESTIMANDS], ignore_index=True
            ),
            ("classifier", "estimand", MEAN, HPDI),
        ),
        Section(
            "variance",
            "Share of the variance between sentence pairs",
            lambda: pd.concat(
                [
                    fit.variance_partition(view.prob, group=name).assign(classifier=name)
                    for name in result.classifiers
                ],
                ignore_index=True,
            ),
            ("classifier", "source", Column("mean", "share", "percent"), SHARE),
        ),
        Section(
            "predictive",
            "Posterior predictive check",
            figure=lambda: bb.plot_ppc(fit),
            show_on="fold",
        ),
    ]
    if len(result.classifiers) > 1 and fit.diagnostics()["ok"]:
        out.append(
            Section(
                "contrasts",
                "Classifiers compared on the same sentence pairs",
                partial(result.classifier_contrasts, view.prob),
                ("contrast", "estimand", MEAN, HPDI, BELOW),
            )
        )
    if fit.spec.covariates():
        out += common.slope_sections(partial(fit.slopes, view.prob), ())
    return out


def interpret(result: SentimentAnalysis, view: View) -> Interpretation:
    """Say of each classifier whether it rates women and men differently, and for which words that holds."""
    subject = f"sentiment by {', '.join(result.classifiers)}"
    fit = result.fit
    if fit is not None and (unsure := common.not_converged(subject, fit, result.notes)):
        return unsure
    said, warnings = [], []
    for name in result.classifiers:
        tests = result.tests[result.tests["classifier"] == name].set_index("unit")
        whole, nouns = tests.loc["sentence_pair"], tests.loc["noun_pair"]
        said.append(
            _test(name, nouns, result.alpha, view.prob)
            if fit is None
            else _model(result, name, view)
        )
        if whole["p_value"] <= result.alpha < nouns["p_value"]:
            warnings.append(
                f"{name}: the t-test over sentence pairs ({common.p_text(whole['p_value'])}) "
                "treats pairs as independent. Over noun pairs it is not significant at "
                f"{common.level_text(result.alpha)} ({common.p_text(nouns['p_value'])}): the "
                "difference may be due to these nouns. Report both."
            )
        if name in only_labels(result.table):
            warnings.append(f"{name} gives labels. Use probabilities if it has them.")
    return Interpretation(
        subject,
        " ".join(said),
        warnings,
        result.notes,
        lambda: [
            f"{name}: noun pairs range from {low.difference:+.3f} ({low.noun_pair}) to "
            f"{high.difference:+.3f} ({high.noun_pair})."
            for name, own in result.noun_pairs.groupby("classifier", sort=False, observed=True)
            for low, high in [own.sort_values("difference").iloc[[0, -1]].itertuples()]
        ],
    )


def _test(name: str, row: Any, alpha: float, prob: float) -> str:
    """Say what the t-test over noun pairs says: over sentence pairs it counts each noun many times."""
    p_value, mean = float(row["p_value"]), float(row["f_minus_m"])
    if math.isnan(p_value):
        return f"{name}: no test, because all differences are equal."
    tested = f"{common.at_level(p_value, alpha)} ({common.p_text(p_value)})"
    if abs(mean) <= ROUNDING:
        return (
            f"{name} rates female and male sentences alike on average, over noun pairs. {tested}."
        )
    half = _half_width(row, prob)
    scope = f"over noun pairs ({prob:.0%} interval)"
    is_clear = p_value <= alpha
    center = abs(mean) if is_clear else mean
    digits = common.decimals_of(mean, half, least=4)
    ends = ", ".join(common.signed(end, digits) for end in (center - half, center + half))
    if not is_clear:
        difference = f"female minus male {common.signed(mean, digits)} [{ends}]"
        return f"{name}: no clear direction, {difference} {scope}. {tested}."
    way = "higher" if mean > 0 else "lower"
    size = f"{center:.{digits}f} [{ends}]"
    return f"{name} rates female sentences {way} than male ones by {size} {scope}. {tested}."


def _half_width(row: Any, prob: float) -> float:
    """Return half of the interval of Student's t around the mean of a t-test."""
    from scipy import stats

    error = abs(row["f_minus_m"] / row["t"]) if row["t"] else 0.0
    return float(stats.t.ppf((1 + prob) / 2, row["df"]) * error)


def _model(result: SentimentAnalysis, name: str, view: View) -> str:
    """Say what the model says for new nouns and professions; the standard ROPE is in SDs of sentence pairs."""
    fit = result.fit
    assert fit is not None
    asked = fit.quantities("overall", "population", "classifier")
    sd = fit.table.loc[fit.table["classifier"] == name, fit.spec.outcome].std()
    rope = view.rope if "rope" in view.given else float(view.standard_rope * sd) or None
    frame = fit.describe(asked, "population", "classifier", view.prob, rope)
    row: Any = next(frame[frame["classifier"] == name].itertuples())
    new = "for new nouns and professions"
    verdict = getattr(row, "verdict", "inconclusive")
    if verdict.startswith(("below", "above")):
        way = "higher" if verdict.startswith("above") else "lower"
        by = common.size(row, least=4)
        return f"{name} rates female sentences {way} than male ones by {by} {new}."
    estimate = common.estimate(row, least=4)
    said = {
        "inconclusive": f"inconclusive {new}: female minus male {estimate}; the interval "
        f"{common.zero_in(row)}",
        TOO_CLOSE: f"inconclusive with so few draws (raise --draws) {new}: female minus male {estimate}",
        "negligible": f"practically no difference {new}: female minus male {estimate}",
    }
    return f"{name}: {said[verdict]}."


def about(result: SentimentAnalysis) -> dict[str, Any]:
    """Return what JSON says beside the tables: the test of a single classifier, and the making of the fit."""
    out: dict[str, Any] = {"alpha": result.alpha, "provenance": dict(result.provenance)}
    if len(result.classifiers) == 1:
        out = {**records(result.tests)[0], **out}
    if result.fit is not None:
        made = common.about_fit(result.fit)
        out |= {name: made[name] for name in ("model", "diagnostics", "timing")}
    return out
