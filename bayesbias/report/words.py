"""The page on a fit to words. Sentences come from `findings.words`, numbers from the draws."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bayesbias.basics.errors import InputError
from bayesbias.figures.style import size_ridges
from bayesbias.findings.words import convergence, finding, in_words, shortcomings, verdict
from bayesbias.inference.estimands import CONTRASTS
from bayesbias.inference.posterior import BiasFit
from bayesbias.report.columns import (
    Cell,
    Table,
    as_sentence,
    interval_cell,
    interval_text,
    lower_first,
    number_cell,
    probability_cell,
    probability_text,
    signed_text,
    with_minus,
)
from bayesbias.report.parts import (
    Part,
    Picture,
    as_picture,
    how_sampled,
    last_of_path,
    look_again,
    not_trusted,
    reproduction,
)
from bayesbias.report.sections import (
    at_level,
    data_part,
    glossary_of,
    holds_for,
    model_part,
    present_connections,
    wordlist_arguments,
)

if TYPE_CHECKING:
    import pandas as pd


def of_fit(fit: BiasFit, prob: float, rope: float) -> dict[str, Any]:
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
    name = _name(fit)
    said = in_words(fit, prob, rope) if frame is not None else []
    lacking = shortcomings(fit)
    state = fit.diagnostics()
    # The parts of `in_words` that are about trust have places of their own in the report.
    apart = {*(f"Look again: {text}." for text in lacking), *(state["problems"] or said[-1:])}
    # Nothing is concluded from a fit that has not converged; its tables stand below the warning.
    sentences = [text for text in said[1:] if text not in apart] if state["ok"] else []
    answer = (
        [finding(fit, prob, rope)]
        if frame is not None
        else [
            f"{name}: the table holds no two connections to hold against each other, only their mean distances."
        ]
    )
    return {
        "kicker": "Association in word vectors, pair by pair",
        "title": name,
        "question": _question(fit),
        "warnings": not_trusted(state["problems"]),
        "answer": answer,
        "doubts": look_again(lacking),
        "facts": _facts(fit, frame if state["ok"] else None, prob),
        "answer_tables": [],
        "sentences": sentences,
        "data": data_part(fit.table, fit.provenance.get("coverage", {})),
        "sections": _fit_sections(fit, frame, prob, rope),
        "models": [model_part(fit, prob, "")],
        "trust": _trust_of_fit(fit, lacking),
        "again": _again(fit, prob, rope),
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


def _fit_sections(fit: BiasFit, frame: pd.DataFrame | None, prob: float, rope: float) -> list[Part]:
    from bayesbias.figures.contrasts import plot_contrasts, size_contrasts
    from bayesbias.figures.words import plot_connections, plot_words, size_connections, size_words

    size = functools.partial(size_contrasts, fit, contrasts=None)
    summary = fit.summary(prob)
    means = "; ".join(
        f"{r.connection} {r.mean:.3f} ({interval_text(r.hpdi_low, r.hpdi_high)})"
        for r in summary.itertuples()
    )
    connections = as_picture(
        "connections",
        lambda ax: plot_connections(fit, prob, ax=ax),
        size_connections(fit),
        "Mean distance per connection, for new words like these. The nearer to 0, the nearer two words.",
        f"Posterior mean and {prob:.0%} HPDI per connection: {means}.",
    )
    words = as_picture(
        "words",
        lambda ax: plot_words(fit, prob, ax=ax),
        size_words(fit),
        "Every pair as a small point, and over the pairs what the model makes of each protected word.",
        f"One row per protected word with all {len(fit.table):,} pairs as points and the posterior mean and HPDI per "
        "connection; the numbers are in the table of means per word.",
    )
    by_word = _words_table(fit, frame, prob, rope)
    per_word = _means_per_word(fit, prob)
    levels = Part("Mean distances per connection", figures=[connections], tables=[_summary_table(fit, prob)])
    if frame is None:
        return [
            dataclasses.replace(
                levels, folded=[Part("Mean distance of every protected word", tables=[per_word])]
            ),
            Part("Every protected word", figures=[words]),
        ]
    overall = frame[frame["level"] == "overall"]
    told = "; ".join(
        f"{with_minus(r.contrast)} {signed_text(r.mean)} ({interval_text(r.hpdi_low, r.hpdi_high, signed=True)})"
        for r in overall[overall["estimand"] == "population"].itertuples()
    )

    def contrasts(level: str, caption: str, alt: str) -> Picture:
        return as_picture(
            "contrasts" if level == "overall" else f"contrasts-{level}",
            lambda ax: plot_contrasts(fit, prob, rope, level, ax=ax),
            size(level),
            caption,
            alt,
        )

    first = Part(
        "The differences overall",
        figures=[
            contrasts(
                "overall",
                "Differences between connections. The grey band is the region of practical equivalence: a difference "
                "inside it is too small to matter.",
                f"Posterior mean and {prob:.0%} HPDI of each difference, for new words like these: {told}.",
            )
        ],
        tables=[_contrast_table("t-overall", "Differences overall", overall, prob)],
    )
    of_classes = frame[frame["level"] == "class"]
    of_words = at_level(frame, "word")
    classes = Part(
        "Differences per class",
        figures=[
            contrasts(
                "class",
                "The same differences for each protected class.",
                "Posterior mean and HPDI of each difference, per protected class; the numbers are in the table below.",
            )
        ],
        tables=[_contrast_table("t-class", "Differences per protected class", of_classes, prob, "class")],
    )
    every = Part(
        "Differences per word, all of them",
        figures=[
            contrasts(
                "word",
                "The first difference for each protected word.",
                "Posterior mean and HPDI of the first difference, per protected word; the numbers are in the tables.",
            )
        ],
        tables=[_contrast_table("t-word", "All differences per protected word", of_words, prob, "word")],
    )
    return [
        first,
        Part(
            "Every protected word",
            figures=[words],
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
        rows.append([*row, Cell(verdict(r.hpdi_low, r.hpdi_high, r.rope))])
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
            Cell(verdict(r.hpdi_low, r.hpdi_high, rope)),
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


def _trust_of_fit(fit: BiasFit, lacking: Sequence[str]) -> Part:
    from bayesbias.figures.predictive import plot_predictive

    problems = fit.diagnostics()["problems"]
    sentences = [as_sentence(text) for text in problems] or ["The chains agree and no transition diverged."]
    sentences.append(convergence(fit))
    sentences.append(how_sampled(fit))
    sentences += [f"Look again: {lower_first(as_sentence(text))}" for text in lacking] or [
        "The residuals show nothing that pairs share and the model leaves out."
    ]
    predictive = as_picture(
        "predictive",
        lambda ax: plot_predictive(fit, ax=ax),
        size_ridges(len(present_connections(fit.table))),
        "The observed distances against tables that the fitted model would make: where the coloured curve leaves "
        "the grey ones, the model misses something.",
        "Densities of the observed distances per connection over those of replicated tables.",
    )
    return Part(sentences=sentences, folded=[Part("Would the model make such data?", figures=[predictive])])


def _again(fit: BiasFit, prob: float, rope: float) -> dict[str, Any]:
    source = fit.provenance.get("table", {})
    arguments = ["bayesbias", "fit"]
    notes: list[str] = []
    if "wordlist" in source and "embedding" in source:
        arguments += ["--embedding", last_of_path(source["embedding"].get("source", "EMBEDDING"))]
        arguments += wordlist_arguments(source["wordlist"], notes)
    else:
        arguments += ["--distances", last_of_path(source.get("source", "pairs.csv"))]
    return reproduction(arguments, "--model", fit.spec, fit.provenance, {"": source}, notes, (prob, rope))


def _class_of_word(table: pd.DataFrame) -> dict[str, str]:
    first = table.drop_duplicates("protected_word")
    return dict(zip(first["protected_word"].astype(str), first["protected_class"].astype(str), strict=True))
