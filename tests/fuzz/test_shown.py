"""Hostile words through everything that shows or writes them: each stands there as it is, or by its code, and does nothing."""

from __future__ import annotations

import csv
import io
import json
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from helpers.hostile import words
from helpers.seeds import shifted

mpl.use("Agg")
from bayesbias.core.literal import literal
from bayesbias.report.texts import escaped
from matplotlib.cbook import is_math_text
from matplotlib.figure import Figure
from matplotlib.text import Text
from rich.cells import cell_len

from bayesbias.cli import screen
from bayesbias.core.errors import InputError
from bayesbias.core.sheets import marked, unmarked, without_marks, write_csv
from bayesbias.plots import headings, marks, rows
from bayesbias.plots.plates import Plate, rendered

COUNTS = [100, pytest.param(5000, marks=pytest.mark.claim)]
BATCH = 100


def batches(count: int, seed: int, *, acting: bool = True, size: int = BATCH) -> list[list[str]]:
    rng = np.random.default_rng(shifted(seed))
    return [words(rng, size, acting=acting) for _ in range(count // size)]


def does_nothing(text: str, allowed: str = "") -> bool:
    return all(c.isprintable() or c in allowed + "\u200d" for c in text)


class Terminal(io.TextIOWrapper):
    def __init__(self, encoding: str) -> None:
        super().__init__(io.BytesIO(), encoding=encoding, newline="\n")

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize(("encoding", "width"), [("utf-8", 400), ("utf-8", 40), ("ascii", 80)])
def test_terminals(count, encoding, width, monkeypatch):
    for name, value in (("COLUMNS", str(width)), ("TERM", "dumb"), ("NO_COLOR", "1")):
        monkeypatch.setenv(name, value)
    for batch in batches(count, 51):
        stream = Terminal(encoding)
        monkeypatch.setattr(sys, "stdout", stream)
        screen.table(batch[0], ["word", "#mean"], [[word, f"{i}.125"] for i, word in enumerate(batch)])
        screen.lines(f"said: {word}" for word in batch)
        stream.seek(0)
        text = stream.read()
        assert does_nothing(text, "\n\u200e")
        assert max(map(cell_len, text.split("\n"))) <= width
        seen = "".join(text.replace("\u200e", "").split())
        for i, word in enumerate(batch):
            assert f"{i}.125" in text
            if encoding == "utf-8" and width == 400:
                assert "".join(literal(word).split()) in seen


@pytest.mark.parametrize("count", [100, pytest.param(1000, marks=pytest.mark.claim)])
def test_figures(count):
    for batch in batches(count, 52, size=40):

        def draw(figure: Figure, batch=batch) -> None:
            ax = figure.subplots()
            rows.row_axis(
                ax, [(i + 0.5, word) for i, word in enumerate(batch)], [(0.2, batch[0])], (0, 1), inside=True
            )
            headings.name_x(ax, f"distance, {batch[1]}")
            handles = [marks.line_handle("k", word) for word in batch[:4]] + [
                marks.patch_handle("k", batch[4])
            ]
            headings.add_headings(ax, batch[5], f"{batch[6]}; {batch[7]}", handles, pd.DataFrame({"x": [1]}))

        figure = Plate("x", draw, (7, 12), "", "").figure()
        texts = [text.get_text() for text in figure.findobj(Text)]
        assert not [text for text in texts if is_math_text(text) or not does_nothing(text, "\n")]
        root = ET.fromstring(rendered(figure, "svg"))  # well-formed
        drawn = {
            "".join("".join(node.itertext()).split()) for node in root.iter() if node.tag.endswith("}text")
        }
        for word in batch:
            whole = literal(" ".join(word.split()))
            if len(whole) <= 32:
                assert "".join(whole.split()) in drawn, word


@pytest.mark.parametrize("count", COUNTS)
def test_pages(count):
    for batch in batches(count, 53):
        for word in batch:
            text = str(escaped(word))
            assert does_nothing(text, "\n\t")
            body = ET.fromstring(f"<td>{text}</td>")
            assert {node.tag for node in body} <= {"bdi"}
            assert "".join(body.itertext()) == literal(word, lines=True)


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("safe", [True, False])
def test_sheets_and_json(count, safe, tmp_path):
    for batch in batches(count, 54, acting=False):
        frame = pd.DataFrame({"word": batch, "distance": np.arange(len(batch)) - 0.5})
        path = Path(tmp_path / "t.csv")
        write_csv(frame, path, spreadsheet_safe=safe)
        cells = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8"))))[1:]
        assert [unmarked(row[0]) for row in cells] == batch
        assert without_marks(pd.read_csv(path, keep_default_na=False)).equals(frame)
        if safe:
            assert not [row[0] for row in cells if row[0].startswith(tuple("=+-@\t\r"))]
            assert all(marked(word) in (row[0] for row in cells) for word in batch[:3])
        text = json.dumps(batch)
        assert text.isascii()
        assert text.isprintable()
        assert json.loads(text) == batch


@pytest.mark.parametrize("count", COUNTS)
def test_messages(count):
    for batch in batches(count, 55):
        for word, other in zip(batch, reversed(batch), strict=True):
            message = str(InputError(word, where=other * 5, found=word, valid=batch, hint=other))
            assert len(message) <= 300
            assert does_nothing(message)
