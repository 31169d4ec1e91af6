"""The tables of a sweep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bayesbias.columns.table import (
    Cell,
    Column,
    Field,
    count,
    known_interval_cell,
    number,
    probability,
    text,
)
from bayesbias.core.wording import as_percent

HEADINGS = {"wordlist": "word list", "distances": "table"}
_NONE = "–"


def label_columns(labels: Mapping[str, Sequence[str]]) -> list[Column]:
    """Return the columns of the labels that tell cells apart; a row has them under ``labels``."""
    return [text(HEADINGS.get(name, name), _label(name)) for name in labels]


def compared_columns(labels: Mapping[str, Sequence[str]], prob: float, units: int) -> list[Column]:
    """Return the columns of one contrast in every cell: in standard deviations, and as it is beside it."""
    return [
        *label_columns(labels),
        number("standard deviations", "standardized", 2, signed=True, missing=_NONE),
        _interval(f"{as_percent(prob)} HPDI", "standardized_low", "standardized_high", 2),
        text("the first is", lambda row: row.verdict or ("not to be trusted" if not row.trusted else _NONE)),
        number("superiority", "superiority", 2, missing=_NONE),
        number("in cosine distance", "distance", signed=True, missing=_NONE),
        _interval(f"{as_percent(prob)} HPDI", "distance_low", "distance_high", 3),
        probability("P(below 0)", "p_below_zero"),
        *([text("unit", lambda row: row.unit or _NONE)] if units > 1 else []),
    ]


def cell_columns(labels: Mapping[str, Sequence[str]]) -> list[Column]:
    """Return the columns of the cells themselves: how many pairs and words, and how the fit went."""
    return [
        *label_columns(labels),
        text("status", "status"),
        count("pairs", "n_pairs"),
        _found("protected words", "protected"),
        _found("stereotypes", "stereotypes"),
        number("R-hat", "max_r_hat"),
        text("note", "note"),
    ]


def _label(name: str) -> Field:
    return lambda row: row.labels[name]


def _interval(heading: str, low: str, high: str, digits: int) -> Column:
    def cell(row: Any) -> Cell:
        if any(end is None or end != end for end in (getattr(row, low), getattr(row, high))):
            return Cell(_NONE, True, screen="-")
        return known_interval_cell(row, low, high, signed=True, digits=digits)

    return Column(heading, cell, True)


def _found(heading: str, side: str) -> Column:
    def cell(row: Any) -> Cell:
        found, listed = getattr(row, f"{side}_found"), getattr(row, f"{side}_listed")
        if found is None or found != found:
            return Cell("not known", True)
        return Cell(f"{int(found)} of {int(listed)}", True, repr(float(found)))

    return Column(heading, cell, True)
