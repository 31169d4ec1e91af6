"""Parquet files: what their footer claims held against what is there, and the checksums of their pages looked at."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesbias.basics.errors import InputError, nearest
from bayesbias.border.cleaning import in_one_line
from bayesbias.border.guarding import guarded
from bayesbias.border.opening import opened
from bayesbias.border.unpacking import MOST_RATIO, believable, bomb

if TYPE_CHECKING:
    import pandas as pd

_ALWAYS_ALLOWED = 1 << 28  # bytes of all cells: columns of one value take next to nothing on the disk
_BYTES_PER_CELL = 8
_MOST_FOOTER = 1 << 26
_MOST_COLUMNS = 10_000


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
    with _opened(path, problem, categories) as file:
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
            return file.read(columns=None if columns is None else list(columns))


def read_frame(path: Path, *, problem: str = "cannot be read as Parquet") -> pd.DataFrame:
    """Return a Parquet file as a data frame, as ``pandas.read_parquet`` does."""
    table = read_columns(path, problem=problem)
    with guarded(path, problem):
        return table.to_pandas()


@contextlib.contextmanager
def _opened(path: Path, problem: str, categories: Collection[str] = ()) -> Iterator[Any]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with opened(path) as raw:
        size = raw.seek(0, 2)
        raw.seek(max(0, size - 8))
        end = raw.read(8)
        footer = int.from_bytes(end[:4], "little")
        if end[4:] != b"PAR1" or footer > min(size, _MOST_FOOTER):
            raise InputError(f"{problem} (it is no such file, or was cut short)", where=path)
        raw.seek(0)
        with guarded(path, problem):
            how = {
                "page_checksum_verification": True,
                "thrift_string_size_limit": _MOST_FOOTER,
                "thrift_container_size_limit": 1_000_000,
            }
            file = pq.ParquetFile(raw, **how)
            kinds = (pa.types.is_string, pa.types.is_large_string)
            texts = [
                field.name
                for field in file.schema_arrow
                if field.name in categories and any(is_of(field.type) for is_of in kinds)
            ]
            if texts:
                raw.seek(0)
                file = pq.ParquetFile(raw, read_dictionary=texts, **how)
            facts = file.metadata
            rows, columns = facts.num_rows, facts.num_columns
            unpacked = sum(facts.row_group(i).total_byte_size for i in range(facts.num_row_groups))
        if min(rows, unpacked) < 0 or columns > _MOST_COLUMNS:
            raise InputError(f"{problem} (it claims to hold more than it has room for)", where=path)
        if not believable(unpacked, size):
            raise bomb(path, unpacked, size)
        cells = rows * columns * _BYTES_PER_CELL
        if cells > max(_ALWAYS_ALLOWED, MOST_RATIO * size):
            raise bomb(path, cells, size)
        yield file
