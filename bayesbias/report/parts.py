"""What a page is: a value with named parts, which the template prints."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bayesbias.columns.table import Table, page_table
from bayesbias.columns.words import parameter_columns
from bayesbias.findings.parts import Doubt
from bayesbias.inference.posterior import BiasFit
from bayesbias.models.spec import ModelSpec
from bayesbias.report.texts import as_sentence

if TYPE_CHECKING:
    from markupsafe import Markup


@dataclass(frozen=True)
class Picture:
    """A figure inside the page: its SVG, its caption, and an id to link to."""

    id: str
    caption: str
    content: Markup


@dataclass(frozen=True)
class Part:
    """A section of the page: sentences, figures, tables, and parts that open on a click."""

    title: str = ""
    sentences: Sequence[str] = ()
    figures: Sequence[Picture] = ()
    tables: Sequence[Table] = ()
    folded: Sequence[Part] = ()


@dataclass(frozen=True)
class Box:
    """Sentences that must not be missed, under a title."""

    title: str
    sentences: Sequence[str]


@dataclass(frozen=True)
class Labelled:
    """A value with its label: a number beside the answer, or a term and what it means."""

    label: str
    value: str


@dataclass(frozen=True)
class Answer:
    """What the reader came for: warnings, headlines, a few numbers, doubts, tables, and what else there is to say."""

    headlines: Sequence[str]
    warnings: Sequence[Box] = ()
    covariates: Sequence[Labelled] = ()
    doubts: Sequence[Box] = ()
    tables: Sequence[Table] = ()
    sentences: Sequence[str] = ()


@dataclass(frozen=True)
class Words:
    """Words of the data under a title."""

    title: str
    words: Sequence[str]


@dataclass(frozen=True)
class Data:
    """What went in: counts, tables, notes, all words, and parts that open on a click."""

    sentences: Sequence[str]
    tables: Sequence[Table] = ()
    notes: Sequence[str] = ()
    words: Sequence[Words] = ()
    words_title: str = "All words of the table"
    folded: Sequence[Part] = ()


@dataclass(frozen=True)
class Model:
    """A model: what it says of itself, its file, and parts that open on a click."""

    title: str
    description: str
    source: str
    text: str
    notes: Sequence[str] = ()
    folded: Sequence[Part] = ()


@dataclass(frozen=True)
class Again:
    """What makes the run again, with its inputs."""

    sentence: str
    command: str
    notes: Sequence[str] = ()
    tables: Sequence[Table] = ()


@dataclass(frozen=True)
class Page:
    """A whole page, in the order in which it is read.

    Attributes
    ----------
    kicker, title, question : str
        What kind of study this is, of what, and what it asks.
    answer : Answer
    data : Data
    sections : sequence of Part
        Figures and tables.
    models : sequence of Model
        None where nothing was fitted; then `without_model` says so.
    trust : Part
        Whether the numbers can be trusted.
    again : Again
    glossary : sequence of Labelled
    without_model : str
    """

    kicker: str
    title: str
    question: str
    answer: Answer
    data: Data
    sections: Sequence[Part]
    models: Sequence[Model]
    trust: Part
    again: Again
    glossary: Sequence[Labelled]
    without_model: str = ""


def not_trusted(problems: Sequence[str]) -> list[Box]:
    """Make the box that stands before the answer where a fit has problems; none without."""
    if not problems:
        return []
    return [Box("Not to be trusted yet", [as_sentence(text) for text in problems])]


def look_again(doubts: Sequence[Doubt]) -> list[Box]:
    """Make the box on what the model leaves out; none where nothing is doubted."""
    if not doubts:
        return []
    return [Box("Look again before you rely on it", [as_sentence(doubt.text) for doubt in doubts])]


def about_spec(
    spec: ModelSpec, use: str = "", notes: Sequence[str] = (), folded: Sequence[Part] = ()
) -> Model:
    """Say of a model what it is for, where it comes from, its notes and then those given, and its file."""
    title = f"Model {spec.name}" + (f", {use}" if use else "")
    return Model(title, spec.description, spec.source, spec.text, [*spec.notes, *notes], folded)


def labelled(entries: Mapping[str, str]) -> list[Labelled]:
    """Return values with their labels, in order."""
    return [Labelled(label, value) for label, value in entries.items()]


def parameters_part(fit: BiasFit, prob: float, tag: str = "") -> Part:
    """Make the table of the model's parameters, with effective draws and R-hat."""
    left_out = any("attribute" in parameter.dims for parameter in fit.spec.parameters.values())
    note = "Effects of single attributes left out." if left_out else ""
    id_ = re.sub(r"[^A-Za-z0-9_-]+", "-", f"t-parameters{tag}")
    rows = fit.parameters(prob).itertuples()
    table = page_table(id_, "Parameters", parameter_columns(prob), rows, note)
    return Part("Every parameter", tables=[table])


def how_sampled(fit: BiasFit) -> str:
    """Say in one sentence how the posterior was sampled, and why."""
    method = fit.provenance.get("sampler", {})
    if method.get("method") == "pairwise":
        return (
            f"Sampled pair by pair with {method.get('name', 'NUTS')}, since {method.get('why_pairwise', '')}."
        )
    if engine := fit.engine.in_words():
        return f"The scales by {engine}; all effects exactly given the scales."
    return f"Sampled with {method.get('name', 'NUTS')}: the scales by chains, and all effects exactly given the scales."
