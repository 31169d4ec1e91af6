"""Cells that a spreadsheet would execute: marked on the way out where asked, and always read back as they were."""

from __future__ import annotations

import io

import pandas as pd
import pytest

from bayesbias.core.sheets import marked, unmarked, without_marks, write_csv

CELLS = [
    "=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "＝1", "'=1", "''-x", "'tis", "nurse", "", "'", "-", "a=b",
]  # fmt: skip


@pytest.mark.parametrize("safe", [True, False])
@pytest.mark.parametrize("cell", CELLS)
def test_a_cell_is_read_back_as_it_was(cell, safe):
    written = marked(cell, spreadsheet_safe=safe)
    assert unmarked(written) == cell
    if safe:
        assert not written.startswith(tuple("=+-@\t\r\n＝＋－＠"))
    elif not cell.startswith("'"):
        assert written == cell


@pytest.mark.parametrize("safe", [True, False])
@pytest.mark.parametrize("kind", ["object", "str", "category"])
def test_a_table_is_read_back_as_it_was_and_numbers_are_not_touched(safe, kind, tmp_path):
    words = [cell for cell in CELLS if "\r" not in cell]  # a reader of CSV takes it for the end of a line
    frame = pd.DataFrame({"=word": pd.Series(words, dtype=kind), "distance": -0.5})
    before = frame.copy()
    write_csv(frame, tmp_path / "t.csv", spreadsheet_safe=safe)
    pd.testing.assert_frame_equal(frame, before)
    text = (tmp_path / "t.csv").read_text(encoding="utf-8")
    assert text.count("-0.5") == len(words)
    assert ("'=word,distance" in text) == safe
    back = without_marks(pd.read_csv(io.StringIO(text), keep_default_na=False))
    assert list(back.columns) == list(frame.columns)
    assert back["=word"].tolist() == words


def test_a_frame_without_such_cells_is_not_copied():
    frame = pd.DataFrame({"word": ["nurse"], "distance": [1.0]})
    assert without_marks(frame) is frame
