"""Parquet files: whole ones read, and their claims held against their size."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bayesbias.core import parquet
from bayesbias.core.errors import InputError
from bayesbias.core.parquet import read_columns, read_frame
from bayesbias.core.parquet_pages import Pages, measured_pages


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


def test_tables_and_parts_of_tables_without_a_row_are_read(tmp_path):
    path = tmp_path / "a.parquet"
    table = pa.table({"word": ["rabbi", "imam"], "number": [1.0, 2.0]})
    for parts in ([], [table[:0]], [table[:0], table, table[:0]]):
        with pq.ParquetWriter(path, table.schema) as file:
            for part in parts:
                file.write_table(part)
        assert read_columns(path).equals(pa.concat_tables([table[:0], *parts]))


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


def refused(path, table, match, **how):
    pq.write_table(table, path, **how)
    with pytest.raises(InputError, match=match) as caught:
        read_columns(path)
    assert len(str(caught.value)) <= 400


def test_what_unpacks_to_far_more_is_refused_before_it_is_read(tmp_path, monkeypatch):
    """One long text in every cell, lists of one value, and pages whose own headers say more than the footer does."""
    path = tmp_path / "a.parquet"
    monkeypatch.setattr(parquet, "_ALWAYS_ALLOWED", 1 << 20)
    long = pa.DictionaryArray.from_arrays(pa.array(np.zeros(5_000, "i4")), ["x" * 1_000])
    refused(path, pa.table({"note": long}), "unpacks to far more")
    refused(path, pa.table({"note": long.cast(pa.string())}), "unpacks to far more")
    assert len(read_columns(path, categories=["note"])) == 5_000
    refused(path, pa.table({"a": [np.zeros(500_000, "f4")]}), "unpacks to far more")
    refused(path, pa.table({"a": [["x"]]}), "holds lists of texts, which are not read")
    refused(path, pa.table({f"c{i}": [1] for i in range(1_001)}), "it has 1,001 columns")
    shared = {"use_dictionary": False, "column_encoding": "DELTA_BYTE_ARRAY"}
    refused(path, pa.table({"a": ["x"]}), "DELTA_BYTE_ARRAY, which is not read", **shared)


def varint(number: int) -> bytes:
    low = bytes([number & 127 | (128 if number > 127 else 0)])
    return low + (varint(number >> 7) if number > 127 else b"")


@pytest.mark.parametrize(
    ("unpacked", "stored", "values", "said"),
    [
        (800, 10, 100, None),
        (2**31 - 1, 10, 100, None),  # which is told, and then refused
        (-1, 10, 100, "larger than the file has room for"),
        (800, 2**31 - 1, 100, "larger than the file has room for"),
        (800, 10, -5, "fewer values than none"),
    ],
)
def test_pages_are_measured_by_what_they_say_themselves(unpacked, stored, values, said):
    numbers = [varint((n << 1) ^ (n >> 63)) for n in (0, unpacked, stored, values, 0)]
    header = b"".join(b"\x15" + number for number in numbers[:3])
    header += b"\x2c" + b"".join(b"\x15" + number for number in numbers[3:]) + b"\0\0"
    page = b"PAR1" + header + bytes(10)
    column = b"".join(k + varint(2 * n) for k, n in ((b"\x56", 1), (b"\x26", len(page) - 4), (b"\x26", 4)))
    footer = b"\x49\x1c" + b"\x19\x1c" + b"\x3c" + column + bytes(4)  # of groups, their columns, their facts
    content = page + footer + bytes(8)
    if said is None:
        assert measured_pages(io.BytesIO(content), len(content), len(footer)) == Pages(unpacked, values)
    else:
        with pytest.raises(ValueError, match=said):
            measured_pages(io.BytesIO(content), len(content), len(footer))
