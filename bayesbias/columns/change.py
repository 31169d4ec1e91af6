"""The tables of a comparison of original and debiased vectors."""

from __future__ import annotations

from typing import Any

from bayesbias.columns.table import (
    Cell,
    Column,
    contrast,
    count,
    interval,
    number,
    probability,
    scientific_cell,
    text,
)
from bayesbias.columns.words import holding


def gap_columns(prob: float, level: str = "") -> list[Column]:
    """Return the columns of gaps between connections: before, their change, and what is left."""
    return [
        *([text(level, "name")] if level else []),
        contrast("gap", "contrast", screen="contrast"),
        holding(bool(level)),
        number("before", "before", signed=True).on_the_page_only(),
        number("change", "mean", signed=True),
        interval(f"change, {prob:.0%} HPDI", signed=True, screen=f"{prob:.0%} HPDI"),
        text("the change", "verdict", screen="verdict"),
        number("after", "after", signed=True).on_the_page_only(),
        text("what is left", what_is_left).on_the_page_only(),
        text("after", lambda row: f"{row.after:+.3f} {row.verdict_after}").on_the_screen_only(),
    ]


def what_is_left(row: Any) -> str:
    """Return the verdict on the gap after debiasing, and whether the method forces it."""
    return f"{row.verdict_after}{', by construction' if row.by_construction else ''}"


def change_columns(prob: float, level: str = "") -> list[Column]:
    """Return the columns of changes of the mean distance."""
    return [
        *([text(level, "name")] if level else []),
        text("connection", "connection"),
        holding(bool(level)),
        number("change", "mean", signed=True),
        interval(f"{prob:.0%} HPDI", signed=True),
        probability("P(below 0)", "p_below_zero").on_the_page_only(),
        count("pairs", "n_pairs").on_the_page_only(),
        text("what it means", _meaning, screen="verdict"),
    ]


def _meaning(row: Any) -> str:
    return f"{row.verdict}{' (known exactly)' if row.exact else ''}"


def ranking_columns(prob: float) -> list[Column]:
    """Return the columns of the methods in the order of their ranking, each against the next."""
    return [
        text("method", "method"),
        number("gap", "gap", signed=True),
        interval(f"{prob:.0%} HPDI", "gap_low", "gap_high", signed=True),
        text("verdict", "verdict_after"),
        text("against the next", lambda row: row.verdict_next if isinstance(row.verdict_next, str) else ""),
    ]


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
