"""CSV files of many rows, read by Arrow: header and lines bounded, packed ones unpacked as far as is believable.

Cells are kept as they are written: "nan", "null" and "NA" are words.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from bayesbias.core.cleaning import checked_text
from bayesbias.core.errors import InputError
from bayesbias.core.guarding import guarded
from bayesbias.core.lines import blocks_of_lines
from bayesbias.core.opening import opened
from bayesbias.core.unpacking import compression_of, unpacked
from bayesbias.core.wording import Shortened

if TYPE_CHECKING:
    import pyarrow as pa

# A line may be as long as a block, of which the reader holds a few at a time.
_BLOCK = 8 << 20
MOST_COLUMNS = 1000
_MOST_HEADER = 1 << 20  # bytes
# Where words repeat, tables shrink to a fiftieth; a reader of many threads holds some blocks more than it has passed on.
_MOST_RATIO, _ALWAYS_ALLOWED = 80, 1 << 24
_UNPACKED = ("gzip", "bzip2", "xz")


@contextlib.contextmanager
def opened_packed(path: Path, called: object = None) -> Iterator[BinaryIO]:
    """Open a file and yield what it holds, unpacked where it is packed with gzip, bzip2 or xz.

    Parameters
    ----------
    path : Path
    called : object, optional
        What messages call it, where that is not its path.
    """
    with opened(path) as raw:
        compression = compression_of(raw.read(6))
        raw.seek(0)
        if compression in _UNPACKED:
            where = Path(str(called or path))
            with unpacked(
                raw, where, compression, 1 << 20, ratio=_MOST_RATIO, always=_ALWAYS_ALLOWED
            ) as stream:
                yield stream
        else:
            yield raw


def read_csv(
    path: Path,
    labels: Collection[str],
    numbers: Collection[str],
    layouts: str,
    called: object = None,
) -> pa.Table:
    """Read CSV in UTF-8 as an Arrow table.

    Parameters
    ----------
    path : Path
    labels : collection of str
        Columns of texts that become dictionaries, in the order in which they come.
    numbers : collection of str
        Columns that are numbers where all of their cells are finite ones; else they are texts, as all others.
    layouts : str
        What columns are wanted, for messages.
    called : object, optional
        What messages call the file.

    Raises
    ------
    InputError
        For what is no table; it names the line where one is to blame.
    """
    import pyarrow as pa

    called = called or path
    _check_header(path, called)
    label = pa.dictionary(pa.int32(), pa.string())
    with guarded(called, "cannot be read as a table"):
        try:
            names = _names(path, called)
            texts = {name: label if name in labels else pa.string() for name in names}
            types = {name: pa.float64() if name in numbers else texts[name] for name in names}
            try:
                table = _arrow_of(path, types, called)
                if all(_finite(table, place) for place, name in enumerate(names) if name in numbers):
                    return table
            except pa.ArrowInvalid:
                pass  # it is said below what it is that is no number
            return _arrow_of(path, texts, called)
        except (pa.ArrowInvalid, UnicodeDecodeError) as error:  # the latter of the header
            raise _no_csv(path, error, layouts, called) from None


def _check_header(path: Path, called: object) -> None:
    """Refuse a header that would make room for very many columns, before it is made."""
    with opened_packed(path, called) as stream:
        head = stream.read(_MOST_HEADER).lstrip(b"\xef\xbb\xbf\r\n")
    header = head.replace(b"\r", b"\n").partition(b"\n")[0]
    if header.count(b",") >= MOST_COLUMNS or len(header) >= _MOST_HEADER - 3:
        raise InputError(
            "is no table: its first line is longer than any header",
            where=called,
            found=f"{header.count(b',') + 1:,} columns, {len(header):,} bytes or more",
            valid=f"at most {MOST_COLUMNS:,} columns",
        )


def _names(path: Path, called: object) -> list[str]:
    """Return the names of the columns; what they hold is read later."""
    import pyarrow.csv as pc

    with opened_packed(path, called) as stream:
        names = pc.open_csv(stream, pc.ReadOptions(block_size=_BLOCK), _dialect()).schema.names
    return [
        checked_text(name, f"{called}, the name of column {i}") and name for i, name in enumerate(names, 1)
    ]


def _dialect(**more: Any) -> Any:
    import pyarrow.csv as pc

    return pc.ParseOptions(newlines_in_values=True, **more)


def _arrow_of(path: Path, types: Mapping[str, Any], called: object) -> pa.Table:
    import pyarrow.csv as pc

    with opened_packed(path, called) as stream:
        return pc.read_csv(
            stream,
            pc.ReadOptions(block_size=_BLOCK),
            _dialect(),
            # No text stands for a missing value.
            pc.ConvertOptions(column_types=types, null_values=[], strings_can_be_null=False),
        )


def _finite(table: pa.Table, place: int) -> bool:
    import numpy as np

    return bool(np.isfinite(table.column(place).to_numpy()).all())


def _no_csv(path: Path, error: Exception, layouts: str, called: object) -> InputError:
    """Say what is wrong with a file that is not read as CSV, and in which line."""
    import pyarrow as pa
    import pyarrow.csv as pc

    if "Empty CSV file" in str(error):
        with opened_packed(path, called) as stream:
            begins = stream.read(200).decode("utf-8", "replace").strip()
        return InputError(
            "holds one line, and no rows below it" if begins else "is empty",
            where=called,
            found=Shortened(begins) if begins else None,
            valid=f"a table with the columns {layouts}",
        )
    if (line := _line_not_utf8(path, called)) is not None:
        return InputError("is not valid UTF-8", where=f"{called}, line {line}", hint="save it as UTF-8")
    ragged: list[Any] = []

    def note(row: Any) -> str:
        ragged.append(row)
        return "error"

    try:
        serially = pc.ReadOptions(block_size=_BLOCK, use_threads=False)  # only so rows are counted
        with opened_packed(path, called) as stream:
            pc.read_csv(stream, serially, _dialect(invalid_row_handler=note))
    except pa.ArrowInvalid as again:
        error = again
    if ragged:
        row = ragged[0]
        return InputError(
            f"has {row.actual_columns} cells where the header has {row.expected_columns}",
            where=f"{called}, line {row.number}",
            hint="a cell with a comma stands in quotation marks"
            if row.actual_columns > row.expected_columns
            else None,
        )
    return InputError(
        f"cannot be read as a table ({(str(error).splitlines() or ['it is damaged'])[0]})", where=called
    )


def _line_not_utf8(path: Path, called: object) -> int | None:
    """Return the first line that is no UTF-8, or None."""
    number = 0
    with opened_packed(path, called) as stream:
        for block in blocks_of_lines(stream, called):
            for line in block:
                number += 1
                try:
                    line.decode("utf-8")
                except UnicodeDecodeError:
                    return number
    return None
