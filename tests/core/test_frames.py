"""Frames from memory, CSV and Parquet."""

import gzip

import numpy as np
import pandas as pd
import pytest

from bayesbias.core import frames
from bayesbias.core.errors import InputError


def test_columns_of_other_kinds_become_plain():
    frame = pd.DataFrame(
        {
            "whole": pd.array([1, 2], dtype="Int64"),
            "gap": pd.array([1.5, None], dtype="Float64"),
            "label": pd.Categorical(["a", "b"]),
            "code": pd.Categorical([3, 4]),
            "true": pd.array([True, False], dtype="boolean"),
            "swapped": np.array([1.0, 2.0], dtype=">f8"),
            "mixed": pd.Series([1, 2.5], dtype=object),
            "date": pd.to_datetime(["2020-01-01", "2021-01-01"]),
        }
    )
    plain = frames.plain_frame(frame)
    kinds = [getattr(dtype, "kind", "O") for dtype in plain.dtypes]
    assert kinds == ["f", "f", "O", "i", "b", "f", "f", "O"]
    assert plain["date"].tolist() == ["2020-01-01", "2021-01-01"]
    assert np.isnan(plain["gap"][1])


@pytest.mark.parametrize(
    "frame", [{"a": 1}, pd.DataFrame({"a": [[1], "b"]}), pd.DataFrame({("a", "b"): [1]})]
)
def test_what_is_no_plain_frame_is_refused(frame):
    with pytest.raises(InputError, match="data frame"):
        frames.plain_frame(frame)


def test_csv_keeps_words_and_finds_numbers(tmp_path):
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"word,d,x\nnan,0.5,a\nNA,1,\n"))
    table = frames.read_csv(path, ["word"], ["d"], "word").to_pandas()
    assert table["word"].tolist() == ["nan", "NA"]
    assert table["d"].tolist() == [0.5, 1]
    assert table["x"].tolist() == ["a", ""]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"a,b\n1,2\n1,2,3\n", "Row #3: Expected 2 columns, got 3"),
        (b"a,b\n1,M\xfcnchen\n", "line 2: expected UTF-8.*cp1252.*München"),
        (b"", "Empty CSV file"),
    ],
)
def test_csv_that_is_wrong_names_the_line(tmp_path, content, problem):
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(InputError, match=problem):
        frames.read_csv(tmp_path / "t.csv", [], [], "a, b")


def test_parquet(tmp_path):
    path = tmp_path / "t.parquet"
    pd.DataFrame({"word": ["a", "b"], "d": [0.5, 1.0]}).to_parquet(path)
    assert frames.read_parquet(path).to_pandas()["d"].tolist() == [0.5, 1]
    assert frames.read_parquet(path, categories=["word"]).to_pandas()["word"].dtype == "category"
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(InputError, match=r"t\.parquet: expected Parquet"):
        frames.read_parquet(path)
