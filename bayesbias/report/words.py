"""The page on a fit to words. Sentences come from `findings.words`, numbers from the draws."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bayesbias.basics.errors import InputError
from bayesbias.basics.wording import interval_text, probability_text, signed_text, with_minus
from bayesbias.figures.words import plates
from bayesbias.findings.parts import Findings
from bayesbias.findings.trust import convergence
from bayesbias.findings.words import findings_of_words
from bayesbias.inference.estimands import CONTRASTS
from bayesbias.inference.posterior import BiasFit
from bayesbias.inference.verdicts import contrast_verdict
from bayesbias.report.again import (
    Code,
    called,
    model_name,
    report_call,
    reproduction,
    sampler_settings,
    table_call,
)
from bayesbias.report.columns import (
    Cell,
    Table,
    as_sentence,
    interval_cell,
    number_cell,
    probability_cell,
)
from bayesbias.report.parts import (
    Gallery,
    Part,
    how_sampled,
    look_again,
    more_figures,
    not_trusted,
)
from bayesbias.report.sections import (
    at_level,
    data_part,
    glossary_of,
    holds_for,
    model_part,
    present_connections,
)

if TYPE_CHECKING:
    import pandas as pd


def of_fit(fit: BiasFit, prob: float, rope: float, command: Sequence[str] | None = None) -> dict[str, Any]:
    """Gather what the page on one fit of distances prints."""
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
    frame = _contrasts(fit, prob, rope)
    found = findings_of_words(fit, prob, rope)
    figures = Gallery(plates(fit, prob, rope, columns=1))
    sections = _fit_sections(fit, frame, prob, rope, figures)
    model, trust = model_part(fit, prob, "", figures.take("priors")), _trust_of_fit(fit, found, figures)
    return {
        "kicker": "Association in word vectors, pair by pair",
        "title": _name(fit),
        "question": _question(fit),
        "warnings": not_trusted(found.problems),
        "answer": [found.headline],
        "doubts": look_again(found.doubts),
        "facts": _facts(fit, None if found.problems else frame, prob),
        "answer_tables": [],
        "sentences": list(found.sentences),
        "data": data_part(fit.table, fit.provenance.get("coverage", {})),
        "sections": [*sections, *more_figures(figures.rest())],
        "models": [model],
        "trust": trust,
        "again": _again(fit, prob, rope, command),
        "glossary": glossary_of(fit.table, fit.spec.outcome, prob, rope),
    }


def _name(fit: BiasFit) -> str:
    return str(fit.provenance.get("table", {}).get("name", "A table of pairs"))


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


def _facts(fit: BiasFit, frame: pd.DataFrame | None, prob: float) -> list[dict[str, str]]:
    facts = [{"label": "pairs of words", "value": f"{len(fit.table):,}"}]
    if frame is None:
        return facts
    row = frame[(frame["level"] == "overall") & (frame["estimand"] == "population")].iloc[0]
    return [
        {"label": f"{with_minus(row['contrast'])}, in cosine distance", "value": signed_text(row["mean"])},
        {"label": f"{prob:.0%} HPDI", "value": interval_text(row["hpdi_low"], row["hpdi_high"], signed=True)},
        {
            "label": "probability that it is below zero (nearer)",
            "value": probability_text(row["p_below_zero"]),
        },
        *facts,
    ]


def _fit_sections(
    fit: BiasFit, frame: pd.DataFrame | None, prob: float, rope: float, figures: Gallery
) -> list[Part]:
    by_word = _words_table(fit, frame, prob, rope)
    per_word = _means_per_word(fit, prob)
    levels = Part(
        "Mean distances per connection",
        figures=figures.take("connections"),
        tables=[_summary_table(fit, prob)],
    )
    if frame is None:
        return [
            dataclasses.replace(
                levels, folded=[Part("Mean distance of every protected word", tables=[per_word])]
            ),
            Part("Every protected word", figures=figures.take("words")),
        ]
    overall = frame[frame["level"] == "overall"]
    first = Part(
        "The differences overall",
        figures=figures.take("contrasts"),
        tables=[_contrast_table("t-overall", "Differences overall", overall, prob)],
    )
    of_classes = frame[frame["level"] == "class"]
    of_words = at_level(frame, "word")
    classes = Part(
        "Differences per class",
        figures=figures.take("contrasts_class"),
        tables=[_contrast_table("t-class", "Differences per protected class", of_classes, prob, "class")],
    )
    every = Part(
        "Differences per word, all of them",
        figures=figures.take("contrasts_word"),
        tables=[_contrast_table("t-word", "All differences per protected word", of_words, prob, "word")],
    )
    return [
        first,
        Part(
            "Every protected word",
            figures=figures.take("words"),
            tables=[by_word] if by_word is not None else [],
            folded=[classes, every, Part("Mean distance of every protected word", tables=[per_word])],
        ),
        levels,
    ]


def _contrast_table(id_: str, caption: str, frame: pd.DataFrame, prob: float, level: str = "") -> Table:
    head = [level] if level else []
    head += [
        "difference",
        "holds for",
        "#mean",
        f"#{prob:.0%} HPDI",
        "#P(below 0)",
        "#P(in ROPE)",
        "the first is",
    ]
    rows = []
    for r in frame.itertuples():
        row = [Cell(str(r.name))] if level else []
        row += [
            Cell(with_minus(r.contrast)),
            Cell(holds_for(r.estimand, bool(level))),
            number_cell(r.mean, signed=True),
        ]
        row += [interval_cell(r.hpdi_low, r.hpdi_high, signed=True)]
        row += [probability_cell(r.p_below_zero), probability_cell(r.p_in_rope)]
        rows.append([*row, Cell(contrast_verdict(r.hpdi_low, r.hpdi_high, r.rope))])
    return Table(id_, caption, head, rows)


def _words_table(fit: BiasFit, frame: pd.DataFrame | None, prob: float, rope: float) -> Table | None:
    if frame is None:
        return None
    name = str(frame["contrast"].iloc[0])
    chosen = frame[
        (frame["level"] == "word") & (frame["contrast"] == name) & (frame["estimand"] == "population")
    ]
    classes = _class_of_word(fit.table)
    head = [
        "protected word",
        "class",
        f"#{with_minus(name)}",
        f"#{prob:.0%} HPDI",
        "#P(below 0)",
        "the first is",
    ]
    rows = [
        [
            Cell(str(r.name)),
            Cell(classes[str(r.name)]),
            number_cell(r.mean, signed=True),
            interval_cell(r.hpdi_low, r.hpdi_high, signed=True),
            probability_cell(r.p_below_zero),
            Cell(contrast_verdict(r.hpdi_low, r.hpdi_high, rope)),
        ]
        for r in chosen.itertuples()
    ]
    return Table(
        "t-words",
        f"Each protected word: {with_minus(name)}",
        head,
        rows,
        "Held for new attributes like the listed ones.",
    )


def _summary_table(fit: BiasFit, prob: float) -> Table:
    head = ["connection", "holds for", "#mean", "#sd", f"#{prob:.0%} HPDI", "#pairs"]
    rows = [
        [
            Cell(str(r.connection)),
            Cell(holds_for(r.estimand, False)),
            number_cell(r.mean),
            number_cell(r.sd),
            interval_cell(r.hpdi_low, r.hpdi_high),
            number_cell(r.n_pairs, 0),
        ]
        for estimand in ("population", "these_words")
        for r in fit.summary(prob, estimand).itertuples()
    ]
    return Table("t-summary", "Mean cosine distance per connection", head, rows)


def _means_per_word(fit: BiasFit, prob: float) -> Table:
    head = ["protected word", "class", "connection", "#mean", "#sd", f"#{prob:.0%} HPDI"]
    rows = [
        [
            Cell(str(r.protected_word)),
            Cell(str(r.protected_class)),
            Cell(str(r.connection)),
            number_cell(r.mean),
            number_cell(r.sd),
            interval_cell(r.hpdi_low, r.hpdi_high),
        ]
        for r in fit.words(prob).itertuples()
    ]
    note = "Held for new attributes like the listed ones."
    return Table("t-means", "Mean cosine distance of each protected word", head, rows, note)


def _trust_of_fit(fit: BiasFit, found: Findings, figures: Gallery) -> Part:
    sentences = [as_sentence(text) for text in found.problems] or [found.trust]
    sentences.append(convergence(fit))
    sentences.append(how_sampled(fit))
    sentences += [doubt.line for doubt in found.doubts] or [
        "The residuals show nothing that pairs share and the model leaves out."
    ]
    return Part(
        sentences=sentences,
        folded=[Part("Would the model make such data?", figures=figures.take("predictive"))],
    )


def _again(fit: BiasFit, prob: float, rope: float, command: Sequence[str] | None) -> dict[str, Any]:
    source = fit.provenance.get("table", {})
    notes: list[str] = []
    lines = [
        f"table = {table_call(source, 'pairs.csv', notes)}",
        f"fit = {called('fit', Code('table'), model_name(fit.spec, notes), **sampler_settings(fit.provenance))}",
        report_call("fit", prob, rope),
    ]
    return reproduction(lines, command, fit.spec, fit.provenance, {"": source}, notes)


def _class_of_word(table: pd.DataFrame) -> dict[str, str]:
    first = table.drop_duplicates("protected_word")
    return dict(zip(first["protected_word"].astype(str), first["protected_class"].astype(str), strict=True))
