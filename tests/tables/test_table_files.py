"""Files of tables as frames: what a cell is, which line is to blame, and labels that are categories."""

from __future__ import annotations

import bz2
import csv
import gzip
import lzma
import os
import threading

import numpy as np
import pandas as pd
import pytest
from helpers.seeds import shifted

from bayesbias.core.errors import InputError
from bayesbias.tables import reading
from bayesbias.tables.codes import Codes, labels_within
from bayesbias.tables.pair_table import COLUMNS
from bayesbias.tables.reading import load_distances
from bayesbias.tables.table_files import read_frame

ODD = [
    "a,b",
    'say "so"',
    "two\nlines",
    "nan",
    "NA",
    "",
    " padded ",
    "007",
    "1e5",
    "naïve",
    "word",
    "ẞ",
    "0.5",
]


def read(path, labels=("label",), numbers=("number",)):
    return read_frame(path, labels, numbers, "label, number")


def test_cells_are_those_that_the_standard_library_reads(tmp_path):
    rng = np.random.default_rng(shifted(4))
    rows = [[str(rng.choice(ODD)), str(rng.choice(ODD)), repr(float(x))] for x in rng.normal(0, 10, 300)]
    path = tmp_path / "t.csv"
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows([["label", "own", "number"], *rows])
    frame = read(path)
    with open(path, newline="", encoding="utf-8") as file:
        _, *expected = csv.reader(file)
    assert frame["label"].astype(str).tolist() == [row[0] for row in expected]
    assert frame["own"].tolist() == [row[1] for row in expected]
    assert frame["number"].tolist() == [float(row[2]) for row in expected]
    assert isinstance(frame["label"].dtype, pd.CategoricalDtype)
    assert list(frame["label"].cat.categories) == list(dict.fromkeys(row[0] for row in expected))


def test_one_cell_that_is_no_number_leaves_a_column_as_texts(tmp_path):
    for cell in ("far", "", "nan", "inf", "1,5"):
        path = tmp_path / "t.csv"
        path.write_text(f'label,number\na,1.50\nb,"{cell}"\n')
        assert read(path)["number"].tolist() == ["1.50", cell]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("label,number\na,1\nb\n", "line 3: has 1 cells where the header has 2$"),
        ("label,number\n1,a,1\n2,b,2\n", "line 2: has 3 cells where the header has 2; a cell with a comma"),
        ("label,number\n" + "a,1\n" * 5000 + "a,1,\n", "line 5002: has 3 cells"),
    ],
)
def test_a_ragged_line_is_named(tmp_path, text, said):
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=said):
        read(path)


def test_of_very_many_rows_labels_are_categories_and_say_the_same(hand, tmp_path, monkeypatch):
    path = tmp_path / "pairs.csv"
    hand.save(path)
    few = load_distances(path)
    monkeypatch.setattr(reading, "MOST_TEXTS", 3)
    many = load_distances(path)
    for name in COLUMNS[:5]:
        assert pd.api.types.is_string_dtype(few.frame[name].dtype)
        assert list(many.frame[name].cat.categories) == sorted(set(few.frame[name]))
        assert many.frame[name].tolist() == few.frame[name].tolist()
    assert repr(many) == repr(few)
    assert many.coverage == few.coverage


def test_labels_within_labels_are_those_of_pandas():
    rng = np.random.default_rng(shifted(5))
    frame = pd.DataFrame({"a": rng.choice(list("xyz"), 200), "b": rng.choice(list("klmno"), 200)})
    expected = {k: list(v) for k, v in frame.groupby("a", sort=False)["b"].unique().items()}
    assert labels_within(frame, "a", "b") == expected
    assert labels_within(frame.astype("category"), "a", "b") == expected
    codes = Codes.of(frame["b"])
    assert list(codes.categories(lambda label: "k" if label == "l" else label)) == list(
        frame["b"].replace({"l": "k"})
    )


def piped(path, content: bytes) -> threading.Thread:
    """Make a pipe to which somebody writes."""
    os.mkfifo(path)
    writer = threading.Thread(target=lambda: path.write_bytes(content), daemon=True)
    writer.start()
    return writer


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_and_a_packed_file_hold_the_same_table(hand, tmp_path):
    path = tmp_path / "pairs.csv"
    hand.save(path)
    whole, content = load_distances(path), path.read_bytes()
    for name, packed in (("gz", gzip.compress), ("bz2", bz2.compress), ("xz", lzma.compress), ("csv", bytes)):
        other = tmp_path / f"packed.{name}"
        other.write_bytes(packed(content))
        assert load_distances(other).frame.equals(whole.frame)
        writer = piped(tmp_path / f"pipe.{name}", packed(content))
        found = load_distances(tmp_path / f"pipe.{name}")
        writer.join()
        assert found.frame.equals(whole.frame)
        assert found.provenance["source"] == f"pipe.{name}"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (gzip.compress(b"label,number\n" + b"a,1\n" * (9 << 20), 9), "unpacks to far more"),
        (gzip.compress(b"label,number\n" * 5000)[:-20], "truncated"),
        (b"a," * 2000 + b"\n", "its first line is longer than any header; found: '2,001 columns"),
        (b"a" * (1 << 21), "its first line is longer than any header"),
        (b"label,number\n" + b"x" * (1 << 25), "line 2: the line is longer than any"),
        (b"label,numb\x1ber\na,1\n", "the name of column 2: holds a control character"),
        (b"ARROW1\0\0", "is a Feather file"),
        (b"\xd0\xcf\x11\xe0" * 9, "is an old Excel file"),
    ],
)
def test_what_would_fill_the_memory_or_is_another_format_is_refused(content, said, tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    with pytest.raises(InputError, match=said) as caught:
        read(path)
    assert str(caught.value).startswith(str(path))


def test_a_parquet_file_without_rows_is_said_to_have_none(tmp_path):
    """Its names stand among other bytes, where a tab is no separator."""
    path = tmp_path / "t.parquet"
    pd.DataFrame({column: pd.Series(dtype=str) for column in COLUMNS}).to_parquet(path)
    with pytest.raises(InputError, match="the table has no rows"):
        load_distances(path)
