"""The page on a fit to words. Sentences come from `findings.words`, numbers from the draws."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bayesbias.columns.slopes import SLOPES_SAID, slopes_on_page
from bayesbias.columns.table import Table, page_table
from bayesbias.columns.words import (
    MEASURES_SAID,
    contrast_columns,
    mean_columns,
    new_word_columns,
    reliability_columns,
    side_columns,
    standard_columns,
    summary_columns,
    word_columns,
)
from bayesbias.core.digits import error_of, interval_known, number_known, probability_printed
from bayesbias.core.errors import FitError, InputError
from bayesbias.core.wording import as_percent, conjoined, with_minus
from bayesbias.findings.parts import Findings
from bayesbias.findings.priors import largest_prior_shift
from bayesbias.findings.trust import convergence
from bayesbias.findings.words import findings_of_words, lists_in_order, own_lists
from bayesbias.inference.estimands import CONTRASTS, STANDARD_ROPE
from bayesbias.inference.posterior import BiasFit
from bayesbias.inference.reliability import LEFT_OUT
from bayesbias.inference.scope import has_new_words, holds_for, same_for_all_words, sure_ends
from bayesbias.inference.spreads import has_variance
from bayesbias.inference.standard import in_full
from bayesbias.inference.verdicts import contrast_verdict
from bayesbias.plots.predictive import unlike_replicated
from bayesbias.plots.words import plates
from bayesbias.report.again import (
    Code,
    called,
    model_name,
    report_call,
    reproduction,
    sampler_settings,
    table_call,
)
from bayesbias.report.frequency import frequency_part
from bayesbias.report.parts import Again, Answer, Labelled, Page, Part, how_sampled, look_again, not_trusted
from bayesbias.report.pictures import Gallery, in_order
from bayesbias.report.sections import (
    at_level,
    data_part,
    glossary_of,
    model_part,
    present_connections,
)
from bayesbias.report.texts import as_sentence

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class _Study:
    """What the parts of the page are made of."""

    fit: BiasFit
    prob: float
    rope: float
    standard_rope: float
    contrasts: pd.DataFrame | None  # None where the table holds no two connections to hold against each other
    findings: Findings
    figures: Gallery


def of_fit(
    fit: BiasFit,
    prob: float,
    rope: float,
    command: Sequence[str] | None = None,
    standard_rope: float = STANDARD_ROPE,
) -> Page:
    """Return the page on one fit of distances."""
    if fit.spec.outcome != "distance":
        raise InputError(
            "a report on a single fit is about distances or sentiment",
            where=f"model {fit.spec.name}",
            found=fit.spec.outcome,
            valid="distance, difference, logit_difference",
            hint="for a fit of changes, give the folder of its comparison"
            if fit.spec.outcome == "change"
            else None,
        )
    figures = Gallery(plates(fit, prob, rope, columns=1))
    findings = findings_of_words(fit, prob, rope)
    study = _Study(fit, prob, rope, standard_rope, _contrasts(fit, prob, rope), findings, figures)
    models = [model_part(fit, prob, drawn=figures.take("priors"))]
    trust = _trust(study)
    return Page(
        kicker="Association in word vectors, pair by pair",
        title=str(fit.provenance.get("table", {}).get("name", "A table of pairs")),
        question=_question(fit),
        answer=Answer(
            [findings.headline],
            warnings=not_trusted(findings.problems),
            covariates=_covariates(study),
            doubts=look_again(findings.doubts),
            sentences=findings.sentences,
        ),
        data=data_part(fit.table, fit.provenance.get("coverage", {})),
        sections=in_order(_ONE_CONNECTION if study.contrasts is None else _SECTIONS, study, [figures]),
        models=models,
        trust=trust,
        again=_again(fit, prob, rope, command, standard_rope),
        glossary=glossary_of(fit.table, fit.spec.outcome, prob, rope, fit.spec, standard_rope),
    )


def _question(fit: BiasFit) -> str:
    present = present_connections(fit.table)
    if {"associated", "different"} <= set(present):
        return (
            "Do protected words lie nearer to the stereotypes of their own class than to the stereotypes of other "
            "classes, and how sure may we be?"
        )
    return f"How far do protected words lie from {' and '.join(present)} attributes, and how sure may we be?"


def _contrasts(fit: BiasFit, prob: float, rope: float) -> pd.DataFrame | None:
    present = present_connections(fit.table)
    if not any(a in present and b in present for a, b in CONTRASTS):
        return None
    return fit.contrasts(prob, rope)


def _covariates(study: _Study) -> list[Labelled]:
    covariates = [Labelled("pairs of words", f"{len(study.fit.table):,}")]
    frame = study.contrasts
    if frame is None or study.findings.problems:
        return covariates
    row = frame[(frame["level"] == "overall") & (frame["estimand"] == "population")].iloc[0]
    return [
        Labelled(
            f"{with_minus(row['contrast'])}, in cosine distance", number_known(row, "mean", signed=True)
        ),
        Labelled(f"{as_percent(study.prob)} HPDI", interval_known(row, signed=True)),
        Labelled(
            "probability that it is below zero (nearer)",
            probability_printed(row["p_below_zero"], error_of(row, "p_below_zero")),
        ),
        *covariates,
    ]


def _overall(study: _Study) -> Part:
    assert study.contrasts is not None
    overall = study.contrasts[study.contrasts["level"] == "overall"]
    table = _contrast_table(study.fit, "t-overall", "Differences overall", overall, study.prob)
    tables = [table, *_standard_tables(study, "overall", "t-overall-standard")]
    return Part("The differences overall", figures=study.figures.take("contrasts"), tables=tables)


def _classes(study: _Study) -> Part:
    """Put classes and lists of stereotypes side by side, each under its name; all numbers open on a click."""
    frame, prob = study.contrasts, study.prob
    assert frame is not None
    sentences, tables, folded = [], [], []
    if same_for_all_words(study.fit.spec):
        sentences.append(
            f"The form of the model {study.fit.spec.name} forces one difference on all classes and words: that they are equal "
            "here is no finding."
        )
    sides = _sides(frame, own_lists(study.fit.table))
    if len(sides):
        who = holds_for(study.fit.spec, "class")
        sentences.append(
            "The table below the figures holds two differences of each class: first that of its words, to their own stereotypes "
            f"less those to others ({who}); then that of its list, to its own words less those to words of other classes. Where "
            "only the first is clear, the difference may be that of the lists."
        )
        caption = "Each class, and its list of stereotypes"
        named = bool((sides["name"] != sides["name_list"]).any())
        tables.append(page_table("t-sides", caption, side_columns(prob, named), sides.itertuples()))
    for level, title in (("class", "All differences per class"), ("stereotype", "All lists of stereotypes")):
        rows = frame[frame["level"] == level]
        if len(rows):
            own = _contrast_table(study.fit, f"t-{level}", title, rows, prob, level)
            folded.append(Part(title, tables=[own, *_standard_tables(study, level, f"t-{level}-standard")]))
    pictures = [*study.figures.take("contrasts_class"), *study.figures.take("contrasts_stereotype")]
    return Part("Every class", sentences, figures=pictures, tables=tables, folded=folded)


def _sides(frame: pd.DataFrame, listed: Mapping[str, str]) -> pd.DataFrame:
    """Return one row for each class that has a list of its own: its contrast, and beside it that of the list."""
    lists = lists_in_order(frame)
    lists = lists.assign(verdict=[contrast_verdict(*sure_ends(row), row.rope) for row in lists.itertuples()])
    shown = frame[(frame["level"] == "class") & (frame["estimand"] == "population")]
    shown = shown[shown["contrast"] == frame["contrast"].iloc[0]]
    # With their errors, without which they would be printed to more digits than in the sentence on them.
    errors = ["mcse_mean", "mcse_low", "mcse_high"]
    beside = lists[["name", "mean", "hpdi_low", "hpdi_high", *errors, "verdict"]]
    beside = beside.rename(columns={name: f"{name}_list" for name in beside.columns})
    return shown.assign(name_list=shown["name"].map(listed)).merge(beside, on="name_list")


def _one_word(study: _Study) -> Part | None:
    if not has_new_words(study.fit.spec):
        return None
    frame = study.fit.new_words(study.prob)
    frame = frame[frame["contrast"] == frame["contrast"].iloc[0]]
    table = page_table(
        "t-new-words", "A single new word", new_word_columns(study.prob), frame.itertuples(),
        "On average over new attributes. Both what is not known of the mean and how words scatter are in it.",
    )  # fmt: skip
    return Part("One new word", tables=[table])


def _every_word(study: _Study) -> Part:
    frame, prob = study.contrasts, study.prob
    assert frame is not None
    of_words = at_level(frame, "word")
    every = Part(
        "Differences per word, all of them",
        figures=study.figures.take("contrasts_word"),
        tables=[
            _contrast_table(study.fit, "t-word", "All differences per protected word", of_words, prob, "word")
        ],
    )
    return Part(
        "Every protected word",
        figures=study.figures.take("words"),
        tables=[_words_table(study.fit, frame, prob, study.rope)],
        folded=[every, _means_of_words(study)],
    )


def _levels(study: _Study) -> Part:
    pictures = study.figures.take("connections")
    return Part(
        "Mean distances per connection", figures=pictures, tables=[_summary_table(study.fit, study.prob)]
    )


def _levels_alone(study: _Study) -> Part:
    return dataclasses.replace(_levels(study), folded=[_means_of_words(study)])


def _words_alone(study: _Study) -> Part:
    return Part("Every protected word", figures=study.figures.take("words"))


def _means_of_words(study: _Study) -> Part:
    return Part("Mean distance of every protected word", tables=[_means_per_word(study.fit, study.prob)])


def _frequency(study: _Study) -> Part | None:
    doubts = [doubt.line for doubt in study.findings.doubts if doubt.kind == "frequency"]
    pictures = [*study.figures.take("frequencies"), *study.figures.take("frequency_contrasts")]
    return frequency_part(study.fit, study.rope, pictures, doubts)


def _slopes(study: _Study) -> Part | None:
    if not study.fit.spec.covariates():
        return None
    table, each = slopes_on_page(study.fit.slopes(study.prob), study.prob, "Slopes")
    folded = [Part("Slopes of every word", tables=[each])] if each else []
    return Part(
        "Covariates about words",
        [SLOPES_SAID],
        figures=study.figures.take("slopes"),
        tables=[table],
        folded=folded,
    )


# The sections of the page, in order; the second where there is one connection only.
_SECTIONS = (_overall, _classes, _slopes, _frequency, _one_word, _every_word, _levels)
_ONE_CONNECTION = (_levels_alone, _words_alone)


def _contrast_table(
    fit: BiasFit, id_: str, caption: str, frame: pd.DataFrame, prob: float, level: str = ""
) -> Table:
    return page_table(id_, caption, contrast_columns(prob, level, fit.spec), frame.itertuples())


def _standard_tables(study: _Study, level: str, id_: str) -> list[Table]:
    """Make the table of the same differences on a scale that other vectors share, where pairs have a variance."""
    if not has_variance(study.fit.spec):
        return []
    frame = study.fit.standardized(study.prob, study.standard_rope, level=level)
    units = list(dict.fromkeys(frame["unit"]))
    unit = in_full(units[0]) if len(units) == 1 else "standard deviations of pairs"
    own = float(frame["rope"].iloc[0])
    columns = standard_columns(
        study.prob,
        own,
        len(units),
        "" if level == "overall" else level,
        study.fit.spec,
    )
    note = (
        f"To compare with other vectors, whose distances scatter otherwise. Little is here what is less than {own:g} standard "
        f"deviations, and above what is less than {study.rope:g} in cosine distance, so that the last columns may differ."
    )
    return [page_table(id_, f"The same differences in {unit}", columns, frame.itertuples(), note)]


def _words_table(fit: BiasFit, frame: pd.DataFrame, prob: float, rope: float) -> Table:
    name = str(frame["contrast"].iloc[0])
    chosen = frame[
        (frame["level"] == "word") & (frame["contrast"] == name) & (frame["estimand"] == "population")
    ]
    shown = with_minus(name)
    columns = word_columns(prob, rope, shown, _class_of_word(fit.table))
    return page_table("t-words", f"Each protected word: {shown}", columns, chosen.itertuples(), _held(fit))


def _summary_table(fit: BiasFit, prob: float) -> Table:
    rows = [
        row for estimand in ("population", "listed_words") for row in fit.summary(prob, estimand).itertuples()
    ]
    return page_table(
        "t-summary", "Mean cosine distance per connection", summary_columns(prob, fit.spec), rows
    )


def _means_per_word(fit: BiasFit, prob: float) -> Table:
    rows = fit.words(prob).itertuples()
    caption = "Mean cosine distance of each protected word"
    return page_table("t-means", caption, mean_columns(prob), rows, _held(fit))


def _held(fit: BiasFit) -> str:
    return f"Held for {holds_for(fit.spec, 'word')} like the listed ones."


_OF_READING = ("prior", "drawn_together", "wide_rope", "unequal_lists")  # doubts that no residual shows


def _predicted(fit: BiasFit) -> list[str]:
    """Say where the observed distances are unlike those that the fitted model makes."""
    if not fit.diagnostics()["ok"] or "connection" not in fit.table:
        return []
    unlike, tables = unlike_replicated(fit)
    if not unlike:
        return [
            f"The observed curve of no connection is farther from the average one than those of all {tables} tables that the "
            "fitted model makes."
        ]
    return [
        f"The observed curve of {conjoined(unlike)} is farther from the average one than those of all {tables} tables that the "
        "fitted model makes: it misses something in how these pairs scatter."
    ]


def _trust(study: _Study) -> Part:
    fit, findings = study.fit, study.findings
    sentences = [as_sentence(text) for text in findings.problems] or [findings.trust]
    sentences.append(convergence(fit))
    sentences.append(how_sampled(fit))
    sentences += [
        doubt.line for doubt in findings.doubts if doubt.kind not in (*_OF_READING, "frequency")
    ] or ["The residuals show nothing that pairs share and the model leaves out."]
    sentences += [doubt.line for doubt in findings.doubts if doubt.kind in _OF_READING]
    moved = largest_prior_shift(fit)
    sentences += [moved] if moved else []
    predicted = Part(
        "Would the model make such data?", _predicted(study.fit), figures=study.figures.take("predictive")
    )
    return Part(sentences=sentences, folded=[predicted, *_reliability(study)])


def _reliability(study: _Study) -> list[Part]:
    """Return the part on scores as instruments; none where the model has no such variances."""
    try:
        frame = study.fit.reliability(prob=study.prob)
    except FitError:
        return []
    shown = frame[frame["left_out"] == ""]
    if shown.empty:
        return []
    sentences = [
        "With other words and stereotypes like these a score comes out otherwise. A coefficient is the share of its "
        "variance that is due to what is measured, which is also its correlation with the same score from other words; "
        "held against zero it is the share of its mean square, and at 0.8 the score is two standard errors away from it.",
        *_left_out(frame),
    ]
    if ((shown["measure"] == "weat") & (shown["coefficient"] == "absolute")).any():
        sentences.append(
            "A few classes say little of how classes differ: where classes are held against others, the interval is wide "
            "and leans on the prior."
        )
    table = page_table(
        "t-reliability", "Reliability of scores", reliability_columns(study.prob), shown.itertuples()
    )
    return [Part("How reliable are scores of so many words?", sentences, tables=[table])]


def _left_out(frame: pd.DataFrame) -> list[str]:
    """Say why scores are left out, each reason with its scores."""
    sentences = []
    for reason, rows in frame[frame["left_out"] != ""].groupby("left_out", sort=False):
        scores = "; ".join(dict.fromkeys(with_minus(MEASURES_SAID[name]) for name in rows["measure"]))
        against = "" if "against_zero" in set(rows["coefficient"]) else ", held against others"
        sentences.append(f"Left out{against} ({scores}): {LEFT_OUT[str(reason)]}.")
    return sentences


def _again(
    fit: BiasFit, prob: float, rope: float, command: Sequence[str] | None, standard_rope: float
) -> Again:
    source = fit.provenance.get("table", {})
    notes: list[str] = []
    lines = [
        f"table = {table_call(source, 'pairs.csv', notes)}",
        f"fit = {called('fit', Code('table'), model_name(fit.spec, notes), **sampler_settings(fit.provenance))}",
        report_call("fit", prob, rope, standard_rope),
    ]
    return reproduction(lines, command, fit.spec, fit.provenance, {"": source}, notes)


def _class_of_word(table: pd.DataFrame) -> dict[str, str]:
    first = table.drop_duplicates("protected_word")
    return dict(zip(first["protected_word"].astype(str), first["protected_class"].astype(str), strict=True))
