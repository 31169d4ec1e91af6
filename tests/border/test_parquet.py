"""Parquet files: whole ones read, and their claims held against their size."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from bayesbias.basics.errors import InputError
from bayesbias.border.parquet import read_columns, read_frame


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    words = pd.Categorical(rng.choice(["rabbi", "日本", "NA"], 500))
    return pd.DataFrame({"word": words, "number": rng.normal(size=500), "whole": np.arange(500)})


def test_frames_are_read_as_pandas_reads_them(tmp_path, frame):
    path = tmp_path / "a.parquet"
    frame.to_parquet(path)
    pd.testing.assert_frame_equal(read_frame(path), frame)
    assert read_columns(path, ["number"]).column_names == ["number"]
    with pytest.raises(InputError, match=r"lacks the column numbr; found: .*did you mean 'number'"):
        read_columns(path, ["numbr"])


def test_a_page_that_differs_from_its_checksum_is_refused(tmp_path, frame):
    path = tmp_path / "a.parquet"
    frame.to_parquet(path, write_page_checksum=True, compression=None, index=False)
    whole = path.read_bytes()
    at = whole.index(frame["number"].to_numpy()[:4].tobytes())
    path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
    with pytest.raises(InputError, match=r"a\.parquet: is damaged \(.*CRC"):
        read_frame(path, problem="is damaged")


def test_what_is_no_parquet_or_cut_short_is_refused(tmp_path, frame):
    path = tmp_path / "a.parquet"
    frame.to_parquet(path)
    whole = path.read_bytes()
    for content in (b"", b"PAR1", whole[:-1], whole[: len(whole) // 2], whole[:-8] + b"\xff\xff\xff\x7fPAR1"):
        path.write_bytes(content)
        with pytest.raises(InputError, match="it is no such file, or was cut short"):
            read_frame(path)


@pytest.mark.slow
def test_a_column_of_one_value_is_no_bomb_until_it_is(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = tmp_path / "a.parquet"
    some = pa.DictionaryArray.from_arrays(pa.array(np.zeros(1_000_000, "int32")), ["associated"])
    pq.write_table(pa.table({"connection": some}), path)
    assert path.stat().st_size < 10_000
    assert len(read_columns(path)) == 1_000_000
    with pq.ParquetWriter(path, pa.schema({"a": pa.int8()})) as writer:
        part = pa.table({"a": pa.array(np.zeros(10_000_000, "int8"))})
        for _ in range(4):
            writer.write_table(part)
    with pytest.raises(InputError, match="unpacks to far more"):
        read_columns(path)
