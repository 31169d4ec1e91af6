"""The table of slopes on covariates about words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bayesbias.columns.table import (
    Column,
    Table,
    contrast,
    interval,
    known_cell,
    known_interval_cell,
    number,
    page_table,
    probability,
    screen_table,
    text,
)
from bayesbias.core.wording import as_percent, digits_of

if TYPE_CHECKING:
    import pandas as pd

OF_ONE = ("word", "profession", "noun_pair", "template")
"""Levels at which every word, or what else one row of a study is of, has slopes of its own."""

SLOPES_SAID = (
    "What a covariate about words goes with: the change of means, and of their differences, for words that have more of it. A slope "
    "is no cause: whatever else goes with the covariate is in it."
)


def of_groups(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the slopes that are not those of single words."""
    return frame[~frame["level"].isin(OF_ONE)]


def slopes_on_screen(frame: pd.DataFrame, prob: float, title: str, before: Sequence[Column] = ()) -> Table:
    """Return the table of slopes as the terminal shows it."""
    return screen_table(title, slope_columns(prob, before), of_groups(frame).itertuples())


def slopes_on_page(
    frame: pd.DataFrame, prob: float, caption: str, before: Sequence[Column] = ()
) -> tuple[Table, Table | None]:
    """Return the table of slopes as a page shows it, and that of single words where they have slopes of their own."""
    columns, shown = slope_columns(prob, before), of_groups(frame)
    rest = frame.drop(index=shown.index)
    each = page_table("t-slopes-word", "Slopes of every word", columns, rest.itertuples())
    return page_table("t-slopes", caption, columns, shown.itertuples()), each if len(rest) else None


def slope_columns(prob: float, before: Sequence[Column] = ()) -> list[Column]:
    """Return the columns of `BiasFit.slopes`: for one standard deviation of the covariate, and for one unit."""
    return [
        *before,
        text("covariate", "covariate"),
        text("of", lambda row: "all" if row.level == "overall" else f"{row.level} {row.name}"),
        contrast("slope of", "of"),
        number("for one sd", "mean", signed=True),
        number("sd", "sd").on_the_screen_only(),
        interval(f"{as_percent(prob)} HPDI", signed=True),
        probability("P(below 0)", "p_below_zero", screen="P(<0)"),
        Column("for one unit", lambda row: known_cell(row, "per_unit", _digits(row), signed=True), True),
        Column(
            f"for one unit, {as_percent(prob)} HPDI",
            lambda row: known_interval_cell(
                row, "per_unit_low", "per_unit_high", signed=True, digits=_digits(row)
            ),
            True,
        ).on_the_page_only(),
    ]


def _digits(row: Any) -> int:
    return digits_of(row.sd / row.scale)
