"""Files of tables as frames: what a cell is, which line is to blame, and labels that are categories."""

from __future__ import annotations

import csv

import numpy as np
import pandas as pd
import pytest
from helpers.seeds import shifted

from bayesbias.basics.errors import InputError
from bayesbias.tables import reading
from bayesbias.tables.codes import Codes, labels_within
from bayesbias.tables.pair_table import COLUMNS
from bayesbias.tables.reading import read_distances
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
    few = read_distances(path)
    monkeypatch.setattr(reading, "MOST_TEXTS", 3)
    many = read_distances(path)
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
