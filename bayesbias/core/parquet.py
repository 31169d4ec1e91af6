"""Parquet files: what their footer claims held against what is there, and the checksums of their pages looked at."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesbias.core.cleaning import in_one_line
from bayesbias.core.csv_files import MOST_COLUMNS
from bayesbias.core.errors import InputError, nearest
from bayesbias.core.guarding import guarded
from bayesbias.core.opening import opened
from bayesbias.core.parquet_pages import measured_pages
from bayesbias.core.unpacking import believable, bomb

if TYPE_CHECKING:
    import pandas as pd

# Bytes of all cells: columns of one value take next to nothing on the disk, but a table has others too.
_ALWAYS_ALLOWED, _MOST_RATIO = 1 << 26, 50
_BYTES_PER_CELL = 8
_MOST_FOOTER = 1 << 22


def read_columns(
    path: Path,
    columns: Sequence[str] | None = None,
    *,
    categories: Collection[str] = (),
    problem: str = "cannot be read as Parquet",
) -> Any:
    """Return some or all columns of a Parquet file as an Arrow table.

    Parameters
    ----------
    path : Path
    columns : sequence of str, optional
        Those wanted; all if None.
    categories : collection of str
        Columns that come as dictionaries, where they are text.
    problem : str
        How it is told that it cannot be read.

    Raises
    ------
    InputError
        Where it is no whole Parquet file, claims to hold far more than it is, or a page differs from its checksum.
    """
    import pyarrow as pa

    with _opened(path, problem) as (file, texts, size):
        held = list(file.schema_arrow.names)
        for name in columns or ():
            if name not in held:
                raise InputError(
                    f"lacks the column {name}",
                    where=path,
                    found=in_one_line(", ".join(held), 100),
                    valid=columns,
                    hint=nearest(name, held),
                )
        with guarded(path, problem):
            table = file.read(columns=None if columns is None else list(columns))
            for place, name in enumerate(table.column_names):
                if name not in categories and pa.types.is_dictionary(table.column(place).type):
                    column = _checked_texts(table.column(place), path, size)
                    table = table.set_column(place, name, column.cast(texts.get(name, column.type)))
            return table


def read_frame(path: Path, *, problem: str = "cannot be read as Parquet") -> pd.DataFrame:
    """Return a Parquet file as a data frame, as ``pandas.read_parquet`` does."""
    table = read_columns(path, problem=problem)
    with guarded(path, problem):
        return table.to_pandas()


def _texts() -> tuple[Callable[[Any], bool], ...]:
    """Return what tells the kinds of text, which take as many bytes as they have letters."""
    from pyarrow import types

    return types.is_string, types.is_large_string, types.is_binary, types.is_large_binary


def _checked_texts(column: Any, path: Path, size: int) -> Any:
    """Return a dictionary of texts; refuse it where all of its cells take more than is believable."""
    import pyarrow.compute as pc

    length = 0
    for chunk in column.chunks:
        if any(is_of(chunk.type.value_type) for is_of in _texts()):
            lengths = pc.binary_length(chunk.dictionary)
            length += pc.sum(lengths.take(chunk.indices)).as_py() or 0
        if not believable(length, size, _MOST_RATIO, _ALWAYS_ALLOWED):
            raise bomb(path, length, size, _MOST_RATIO)
    return column


@contextlib.contextmanager
def _opened(path: Path, problem: str) -> Iterator[tuple[Any, dict[str, Any], int]]:
    """Yield a file, the types of its columns of texts, which are read as dictionaries, and its size."""
    import pyarrow.parquet as pq

    with opened(path) as raw:
        size = raw.seek(0, 2)
        raw.seek(max(0, size - 8))
        end = raw.read(8)
        footer = int.from_bytes(end[:4], "little")
        if end[4:] != b"PAR1" or footer > size:
            raise InputError(f"{problem} (it is no such file, or was cut short)", where=path)
        if footer > _MOST_FOOTER:
            raise InputError(f"{problem} (its list of columns is longer than that of any table)", where=path)
        raw.seek(0)
        with guarded(path, problem):
            how = {
                "page_checksum_verification": True,
                "thrift_string_size_limit": _MOST_FOOTER,
                "thrift_container_size_limit": 1_000_000,
            }
            file = pq.ParquetFile(raw, **how)
            facts = file.metadata
            rows, columns = facts.num_rows, facts.num_columns
            if columns > MOST_COLUMNS:
                raise ValueError(f"it has {columns:,} columns; at most {MOST_COLUMNS:,} are read")
            pages = measured_pages(raw, size, footer)
            width = _BYTES_PER_CELL
            for place in range(columns):
                leaf = file.schema.column(place)
                width = max(width, leaf.length if leaf.physical_type == "FIXED_LEN_BYTE_ARRAY" else 0)
                if leaf.max_repetition_level and leaf.physical_type == "BYTE_ARRAY":
                    raise ValueError(f"column {leaf.path[:60]!r} holds lists of texts, which are not read")
            unpacked = sum(facts.row_group(i).total_byte_size for i in range(facts.num_row_groups))
        if min(rows, unpacked) < 0:
            raise InputError(f"{problem} (it claims to hold more than it has room for)", where=path)
        # Where a cell holds several values, a byte may stand for a million of them.
        cells = max(rows * columns, pages.values) * width
        claimed = max(unpacked, pages.unpacked, cells)
        if not believable(claimed, size, _MOST_RATIO, _ALWAYS_ALLOWED):
            raise bomb(path, claimed, size, _MOST_RATIO)
        with guarded(path, problem):
            # A text that stands in a million cells is read once; what it takes in all of them is known before it is.
            texts = {
                field.name: field.type
                for field in file.schema_arrow
                if any(is_of(field.type) for is_of in _texts())
            }
            if texts:
                raw.seek(0)
                file = pq.ParquetFile(raw, read_dictionary=list(texts), **how)
        yield file, texts, size
