"""The table of gaps gives a verdict with the interval that it is made of."""

from __future__ import annotations

import pandas as pd
import pytest

from bayesbias.columns.change import gap_columns
from bayesbias.columns.table import page_table, screen_table

ROW = pd.DataFrame(
    {
        "contrast": "associated - different", "estimand": "population",
        "before": -0.042, "mean": 0.03, "hpdi_low": 0.01, "hpdi_high": 0.05,
        "verdict": "moved", "after": -0.012, "after_low": -0.113, "after_high": 0.007,
        "verdict_after": "no evidence of a gap", "by_construction": "wholly",
    },
    index=[0],
)  # fmt: skip


@pytest.mark.parametrize("made", [page_table, screen_table])
def test_what_is_left_stands_beside_its_interval(made):
    of = ("id", "caption") if made is page_table else ("caption",)
    table = made(*of, gap_columns(0.89), ROW.itertuples())
    (row,) = table.rows
    told = [(head.text, cell.typed) for head, cell in zip(table.head, row, strict=True)]
    assert told[-3:] == [
        ("after", "-0.012"), ("after, 89% HPDI", "-0.113 to +0.007"), ("what is left", "no evidence of a gap, by construction"),
    ]  # fmt: skip
