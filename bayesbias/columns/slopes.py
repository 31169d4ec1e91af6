"""The table of slopes on facts about words."""

from __future__ import annotations

from typing import Any

from bayesbias.basics.wording import digits_of
from bayesbias.columns.table import (
    Column,
    contrast,
    interval,
    known_cell,
    known_interval_cell,
    number,
    probability,
    text,
)

SLOPES_SAID = (
    "What a fact about words goes with: the change of means, and of their differences, for words that have more of it. A slope "
    "is no cause: whatever else goes with the fact is in it."
)


def slope_columns(prob: float, method: bool = False) -> list[Column]:
    """Return the columns of `BiasFit.slopes`: for one standard deviation of the fact, and for one unit."""
    return [
        *([text("method", "method")] if method else []),
        text("fact", "fact"),
        text("of", lambda row: "all" if row.level == "overall" else f"{row.level} {row.name}"),
        contrast("slope of", "of"),
        number("for one sd", "mean", signed=True),
        number("sd", "sd").on_the_screen_only(),
        interval(f"{prob:.0%} HPDI", signed=True),
        probability("P(below 0)", "p_below_zero", screen="P(<0)"),
        Column("for one unit", lambda row: known_cell(row, "per_unit", _digits(row), signed=True), True),
        Column(
            f"for one unit, {prob:.0%} HPDI",
            lambda row: known_interval_cell(
                row, "per_unit_low", "per_unit_high", signed=True, digits=_digits(row)
            ),
            True,
        ).on_the_page_only(),
    ]


def _digits(row: Any) -> int:
    return digits_of(row.sd / row.scale)
