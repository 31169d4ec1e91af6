"""The tables of the page on sentiment: tests, classifiers, estimands, levels, contrasts, earnings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bayesbias.columns.sentiment import contrast_columns, control_columns, earnings_columns, test_columns
from bayesbias.columns.table import (
    Cell,
    Table,
    known_cell,
    known_interval_cell,
    number_cell,
    of_cells,
    p_cell,
    page_table,
    probability_cell,
)
from bayesbias.core.digits import error_of, shares_printed
from bayesbias.core.wording import as_percent, number_of
from bayesbias.inference.diagnostics import error_of_share
from bayesbias.inference.estimands import STANDARD_ROPE
from bayesbias.inference.observed import excluded_observed
from bayesbias.inference.posterior import BiasFit
from bayesbias.inference.scope import sure_ends
from bayesbias.inference.verdicts import sentiment_verdict
from bayesbias.studies.sentiment import SentimentAnalysis
from bayesbias.studies.sentiment_fit import SENTIMENT_ESTIMANDS, little_of_ratings

if TYPE_CHECKING:
    import pandas as pd

_SCALE = {"difference": "probability of the positive class", "logit_difference": "log odds"}
_UNITS = {
    "sentence_pair": "a sentence pair, as published",
    "noun_pair": "a noun pair (mean over professions)",
    "profession": "a profession (mean over noun pairs)",
}
_PUBLISHED = "Bhaskaran & Bhallamudi (2019)"


def tests_table(analysis: SentimentAnalysis) -> Table:
    """Tabulate the paired t-tests of each classifier, by what is taken as the unit."""
    rows = [
        {"classifier": name, "unit": "sentence_pair"} | row
        for name in analysis.classifiers
        for row in (analysis.as_dict(name), *analysis.as_dict(name)["units"])
    ]
    k = analysis.provenance["hypotheses"]
    note = (
        f"Bonferroni's correction is for {number_of(k, 'test')}. The first row of a classifier is the published test "
        f"({_PUBLISHED}); the others let noun pairs or professions be what varies."
    )
    return page_table("t-tests", "Paired t-tests of male against female", test_columns(_UNITS), rows, note)


def classifiers_table(analysis: SentimentAnalysis, fit: BiasFit, prob: float) -> Table:
    """Tabulate classifiers: raw difference, p-values, and the posterior for new words."""
    frame, little = fit.summary(prob).set_index("classifier"), little_of_ratings(fit)
    rows = []
    for name in analysis.classifiers:
        tests, r = analysis.as_dict(name), frame.loc[name]
        pairs = next(row for row in tests["units"] if row["unit"] == "noun_pair")
        rows.append(
            [
                Cell(name),
                number_cell(tests["f_minus_m"], signed=True),
                p_cell(tests["p_value"]),
                p_cell(pairs["p_value"]),
                known_cell(r, "mean", signed=True),
                known_interval_cell(r, signed=True),
                Cell(
                    sentiment_verdict(*sure_ends(r), little[name])
                    if fit.diagnostics()["ok"]
                    else "no conclusion"
                ),
            ]
        )
    head = ["classifier", "#female − male", "#p, sentence pairs", "#p, noun pairs", "#model, new sentences"]
    head += [f"#{as_percent(prob)} HPDI", "verdict"]
    note = f"The model is of the {_SCALE[fit.spec.outcome]}, the tests of the probability."
    return of_cells("t-classifiers", "The classifiers", head, rows, note)


def overall_table(fit: BiasFit, prob: float) -> Table:
    """Tabulate the mean difference of each classifier for each estimand."""
    rows, little = [], little_of_ratings(fit)
    names = list(dict.fromkeys(map(str, fit.table["classifier"].unique())))
    for name in names:
        for estimand, holds in SENTIMENT_ESTIMANDS.items():
            frame = fit.summary(prob, estimand)
            at = frame["classifier"].tolist().index(name)
            r = frame.iloc[at]
            draws = fit.draws_of("summary", estimand=estimand)
            below = float((draws.to_numpy()[..., at] < 0).mean())
            error = float(error_of_share(below, r["ess_bulk"]))
            rows.append(
                [
                    Cell(name),
                    Cell(holds),
                    known_cell(r, "mean", signed=True),
                    known_cell(r, "sd"),
                    known_interval_cell(r, signed=True),
                    probability_cell(below, error),
                    Cell(sentiment_verdict(*sure_ends(r), little[name])),
                ]
            )
    head = ["classifier", "holds for", "#mean", "#sd", f"#{as_percent(prob)} HPDI", "#P(below 0)", "verdict"]
    caption = f"Female − male by the crossed model, in {_SCALE[fit.spec.outcome]}"
    note = f"A difference is called little below {STANDARD_ROPE:g} standard deviations of sentence pairs."
    return of_cells("t-overall", caption, head, rows, note)


def shares_table(fit: BiasFit, prob: float) -> Table:
    """Tabulate how much of the variance lies between noun pairs, professions and single pairs."""
    rows = []
    for name in dict.fromkeys(map(str, fit.table["classifier"].unique())):
        frame = fit.shares(prob, group=name)
        printed = shares_printed(list(frame["mean"]), float(frame["mcse_mean"].max()))
        rows += [
            [
                Cell(name),
                Cell({"noun_pair": "noun pairs", "profession": "professions"}.get(r.source, "single pairs")),
                Cell(text, True, repr(float(r.mean))),
                _shares_cell(r),
            ]
            for r, text in zip(frame.itertuples(), printed, strict=True)
        ]
    head = ["classifier", "between", "#share of the variance", f"#{as_percent(prob)} HPDI"]
    note = (
        "Where one source holds most of it, its number, and not that of sentences, says how sure one may be."
    )
    return of_cells("t-shares", "Where the differences come from", head, rows, note)


def _shares_cell(row: Any) -> Cell:
    error = error_of(row, "hpdi_low", "hpdi_high")
    low, high = shares_printed([row.hpdi_low, row.hpdi_high], error)
    return Cell(f"{low} to {high}", True, repr(float(row.hpdi_low)))


def level_table(analysis: SentimentAnalysis, fit: BiasFit, level: str, prob: float) -> Table:
    """Tabulate every profession or noun pair: observed means, and both estimands."""
    raw = analysis.professions if level == "profession" else analysis.noun_pairs
    raw = raw.set_index(["classifier", level])
    means = {
        e: fit.means(level, prob, e).set_index(["classifier", "name"]) for e in ("listed_words", "population")
    }
    noun, other = ("profession", "nouns") if level == "profession" else ("noun pair", "professions")
    rows = []
    for key, r in raw.iterrows():
        these, new = (means[e].loc[key] for e in ("listed_words", "population"))
        row = [Cell(str(key[1])), Cell(str(key[0])), number_cell(r["p_male"]), number_cell(r["p_female"])]
        if level == "profession":
            row.append(number_cell(r["sentiment"]))
        row += [
            number_cell(r["difference"], signed=True),
            known_cell(these, "mean", signed=True),
            known_interval_cell(these, signed=True),
            known_interval_cell(new, signed=True),
        ]
        rows.append(row)
    head = [noun, "classifier", "#male", "#female", *(["#sentiment"] if level == "profession" else [])]
    head += [
        "#female − male",
        "#model",
        f"#{as_percent(prob)} HPDI of the model's mean",
        f"#{as_percent(prob)} HPDI, new {other}",
    ]
    in_ = "" if fit.spec.outcome == "difference" else " The model's columns are in log odds."
    return of_cells(
        f"t-{level.replace('_', '-')}s",
        f"Every {noun}",
        head,
        rows,
        f"Male, female: mean probability of the positive class. Female − male is what was observed with these {other}, and has "
        f"no interval.{in_} The model's mean is without the noise of single sentence pairs and draws alike {noun}s together: "
        f"its interval is one of the model, and what was observed may lie outside.{_how_many_outside(fit, level, prob)}",
    )


def _how_many_outside(fit: BiasFit, level: str, prob: float) -> str:
    """Say of how many labels it does, where they are far too many."""
    outside = [
        excluded_observed(fit, level, prob, name)
        for name in dict.fromkeys(map(str, fit.table["classifier"].unique()))
    ]
    return "".join(
        f" Of {of.group} it does in {of.excluded} of {of.rows}, where by the model about {of.expected:.0f} would"
        f"{': it takes them for more alike than they are' if of.too_alike else ', as they differ by little beyond that noise'}."
        for of in outside
        if of.far_too_often
    )


def contrasts_table(frame: pd.DataFrame, prob: float) -> Table:
    """Tabulate differences between classifiers."""
    note = "Compared sentence pair by sentence pair, so that what two classifiers share cancels."
    caption = "One classifier against another"
    return page_table("t-contrasts", caption, contrast_columns(prob), frame.itertuples(), note)


def control_table(frame: pd.DataFrame) -> Table:
    """Tabulate the control sentences, which name no profession."""
    note = "A difference here does not come from a profession. That the test finds none does not show that there is none."
    return page_table(
        "t-control", "Sentences without a profession", control_columns(), frame.itertuples(), note
    )


def earnings_table(frame: pd.DataFrame) -> Table:
    """Tabulate correlations of sentiment with earnings, with their intervals."""
    columns = earnings_columns(as_percent(float(frame["prob"].iloc[0])))
    return page_table("t-earnings", "Earnings and sentiment", columns, frame.itertuples())
