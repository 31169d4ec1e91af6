"""The tables of a comparison of original and debiased vectors."""

from __future__ import annotations

import math
import numbers
from typing import Any

from bayesbias.columns.table import (
    Cell,
    Column,
    contrast,
    count,
    interval,
    number,
    number_cell,
    probability,
    scientific_cell,
    text,
)
from bayesbias.columns.words import holding
from bayesbias.core.wording import as_percent, interval_text, number_text
from bayesbias.inference.scope import level_said
from bayesbias.inference.verdicts import LEFT_OVER
from bayesbias.models.spec import RESULTS_OF_PAIRS, ModelSpec, Results
from bayesbias.studies.construction import Forced
from bayesbias.studies.geometry import Left


def gap_columns(prob: float, level: str = "", model: ModelSpec | Results = RESULTS_OF_PAIRS) -> list[Column]:
    """Return the columns of gaps between connections: before, their change, and what is left."""
    return [
        *([text(level_said(model, level), "name")] if level else []),
        contrast("gap", "contrast", screen="contrast"),
        holding(level or "overall", model),
        number("before", "before", signed=True).on_the_page_only(),
        number("change", "mean", signed=True),
        interval(f"change, {as_percent(prob)} HPDI", signed=True, screen=f"{as_percent(prob)} HPDI"),
        text("the change", "verdict", screen="verdict"),
        number("after", "after", signed=True),
        interval(f"after, {as_percent(prob)} HPDI", "after_low", "after_high", signed=True),
        text("what is left", what_is_left),
    ]


def what_is_left(row: Any) -> str:
    """Return the verdict on the gap after debiasing, and whether the method forces it."""
    return f"{row.verdict_after}{_forced(row)}"


def change_columns(
    prob: float, level: str = "", model: ModelSpec | Results = RESULTS_OF_PAIRS
) -> list[Column]:
    """Return the columns of changes of the mean distance."""
    return [
        *([text(level_said(model, level), "name")] if level else []),
        text("connection", "connection"),
        holding(level or "overall", model),
        number("change", "mean", signed=True),
        interval(f"{as_percent(prob)} HPDI", signed=True),
        probability("P(below 0)", "p_below_zero").on_the_page_only(),
        count("pairs", "n_pairs").on_the_page_only(),
        text("what it means", _meaning, screen="verdict"),
    ]


def _meaning(row: Any) -> str:
    return f"{row.verdict}{' (known exactly)' if row.exact else ''}"


def rank_cell(rank: Any) -> Cell:
    """Make a cell of a rank; a method that destroyed the geometry has none and stands last."""
    return number_cell(rank, 0) if isinstance(rank, numbers.Integral) else Cell("none", True, repr(math.inf))


def related(heading: str, field: str, screen: str | None = None) -> Column:
    """Return the column of a correlation or a slope and its interval."""
    return Column(
        heading,
        lambda row: _related_cell(*(getattr(row, f"{field}{end}") for end in ("", "_low", "_high"))),
        True,
        screen,
    )


def _related_cell(value: float, low: float, high: float) -> Cell:
    if value != value:
        return Cell("not known", True, repr(math.inf), screen="-")
    ends = "not known" if low != low else interval_text(low, high, digits=2)
    return Cell(f"{number_text(value, 2)} ({ends})", True, repr(float(value)))


def _moved_cell(row: Any) -> Cell:
    if row.rms != row.rms:
        return number_cell(row.rms)
    return Cell(f"{number_text(row.rms)} ({number_text(row.rms_unrelated)})", True, repr(float(row.rms)))


def geometry_columns(prob: float) -> list[Column]:
    """Return the columns of what methods leave of the distances to control words."""
    return [
        text("method", "method"),
        text("control words", lambda row: Left(row.left).label, screen="controls"),
        related(f"correlation ({as_percent(prob)} interval)", "correlation", "correlation"),
        related("without the means of words", "relations", "without means"),
        related("slope", "slope").on_the_page_only(),
        number("slope", "slope", 2).on_the_screen_only(),
        Column("moved by (if unrelated)", _moved_cell, True, "moved"),
        number("gap in sd, before", "gap_before", 2, signed=True, screen="gap/sd"),
        number("gap in sd, after", "gap_after", 2, signed=True, screen="after"),
    ]


def ranking_columns(prob: float) -> list[Column]:
    """Return the columns of the methods in the order of their ranking, each against the next."""
    return [
        Column("rank", lambda row: rank_cell(row.rank), True),
        text("method", "method"),
        number("gap", "gap", signed=True),
        interval(f"{as_percent(prob)} HPDI", "gap_low", "gap_high", signed=True),
        text("verdict", what_is_left),
        text("controls", lambda row: Left(row.geometry).label),
        text("against the next", _against_the_next),
    ]


def _against_the_next(row: Any) -> str:
    if not isinstance(row.verdict_next, str):
        return ""
    return f"{row.verdict_next}{_forced(row)}"


def _forced(row: Any) -> str:
    forced = Forced(row.by_construction)
    if forced is Forced.PARTLY and str(row.verdict_after).startswith(LEFT_OVER):
        return ", although some words are drawn together"
    return f", {forced.label}" if forced.label else ""


def set_columns() -> list[Column]:
    """Return the columns of sets of words to which stereotypes have one distance."""
    return [
        text("set of words", lambda row: ", ".join(map(str, row.words))),
        Column("one distance to", _how_many, True),
        number("largest gap before", "gap_before"),
        Column("after", lambda row: scientific_cell(row.gap_after), True),
        number("gap to controls before", "control_gap_before"),
        number("after", "control_gap_after"),
    ]


def _how_many(row: Any) -> Cell:
    return Cell(f"{row.n_equal} of {row.n_attributes}", True, repr(int(row.n_equal)))


def drift_columns() -> list[Column]:
    """Return the columns of what control words moved by."""
    return [
        text("protected word", "protected_word"),
        text("class", "protected_class"),
        text("controls", "connection"),
        number("mean change", "mean_change", signed=True),
        number("root mean square", "rms_change"),
        number("largest", "max_change", signed=True),
        text("with", "attribute"),
    ]


def near_columns() -> list[Column]:
    """Return the columns of stereotypes, and how near they lie to all protected words."""
    return [
        text("stereotype", "attribute"),
        text("of", "attribute_class"),
        number("before", "before"),
        number("after", "after"),
        Column(
            "nearer than",
            lambda row: Cell(f"{row.nearer_than:.0%}", True, repr(float(row.nearer_than))),
            True,
        ),
        text("near everything", lambda row: "yes" if row.near_everything else "no"),
    ]


def raw_columns() -> list[Column]:
    """Return the columns of raw mean distances, without a model."""
    return [
        text("connection", "connection"),
        text("method", "method"),
        count("pairs", "n_pairs"),
        number("before", "before", 4),
        number("after", "after", 4),
    ]
