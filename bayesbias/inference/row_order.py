"""Rows in an order of their own where something is drawn for them, and answers in the order in which labels came."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayesbias.models.design import Design, labels_of
from bayesbias.models.spec import ModelSpec

if TYPE_CHECKING:
    import pandas as pd


def in_own_order(design: Design, table: pd.DataFrame) -> tuple[Design, pd.DataFrame]:
    """Return a model on its rows, and the rows, in their own order (`Design.order`)."""
    order = design.order()
    return design.ordered(), table if order is None else table.iloc[order]


def as_they_come(frame: pd.DataFrame, table: pd.DataFrame, spec: ModelSpec) -> pd.DataFrame:
    """Return rows labelled ``parameter, direction, level, name`` with names in the order in which the table has them."""
    results = spec.results
    levels = ["overall", *results.levels]
    names = {level: labels_of(table[about.by], about.by)[0] for level, about in results.levels.items()}
    places = {(level, name): place for level, own in names.items() for place, name in enumerate(own)}
    blocks = list(dict.fromkeys(zip(frame["parameter"], frame["direction"], strict=True)))

    def at(row: int) -> tuple[int, int, int, int]:
        parameter, direction, level, name = frame[["parameter", "direction", "level", "name"]].iloc[row]
        return (
            blocks.index((parameter, direction)),
            levels.index(level),
            places.get((level, name), 0),
            row,
        )

    return frame.iloc[sorted(range(len(frame)), key=at)].reset_index(drop=True)
