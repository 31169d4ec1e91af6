"""Files of tables as data frames: CSV and Parquet. Labels come as categories, so that millions of rows stay small.

Nothing here knows what a column means; `bayesbias.tables.reading` does. Cells are kept as they are written: "nan", "null"
and "NA" are words.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.basics.errors import InputError, nearest
from bayesbias.basics.sheets import without_marks
from bayesbias.border.guarding import guarded
from bayesbias.border.parquet import read_columns

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

# A line may be as long as a block, of which the reader holds a few at a time.
_BLOCK = 8 << 20


def read_frame(path: Path, labels: Collection[str], numbers: Collection[str], layouts: str) -> pd.DataFrame:
    """Read a ``.parquet`` file, or CSV of any other name.

    Parameters
    ----------
    path : Path
    labels : collection of str
        Columns of texts that become categories, in the order in which they come.
    numbers : collection of str
        Columns of CSV that are numbers where all of their cells are finite ones; else they are texts, as all others.
    layouts : str
        What columns are wanted, for messages.

    Returns
    -------
    DataFrame
        With its rows numbered from 0.

    Raises
    ------
    InputError
        For a file that is not there or no table; it names the line where one is to blame.
    """
    if path.is_dir():
        raise InputError("is a folder, not a table", where=path, valid="a .csv or .parquet file")
    if not path.is_file():
        beside = [p.name for p in path.parent.iterdir()] if path.parent.is_dir() else []
        raise InputError("no such file", where=path, hint=nearest(path.name, beside))
    try:
        _refuse_format(path, layouts)
        if path.suffix == ".parquet":
            return _read_parquet(path, labels)
        return without_marks(_read_csv(path, labels, numbers, layouts))
    except InputError:
        raise
    except UnicodeDecodeError as error:  # of the header
        raise _no_csv(path, error, layouts) from None
    except (ValueError, OSError) as error:  # pyarrow raises subclasses of these
        raise InputError(f"cannot be read as a table ({str(error).splitlines()[0]})", where=path) from None


def _read_parquet(path: Path, labels: Collection[str]) -> pd.DataFrame:
    problem = "cannot be read as a table"
    table = read_columns(path, categories=labels, problem=problem)
    with guarded(path, problem):
        return _as_frame(table).reset_index(drop=True)


def _read_csv(path: Path, labels: Collection[str], numbers: Collection[str], layouts: str) -> pd.DataFrame:
    import pyarrow as pa
    import pyarrow.csv as pc

    label = pa.dictionary(pa.int32(), pa.string())
    try:
        # A first look at the names of columns: what they hold is read below.
        names = pc.open_csv(path, pc.ReadOptions(block_size=_BLOCK), _dialect()).schema.names
        texts = {name: label if name in labels else pa.string() for name in names}
        types = {name: pa.float64() if name in numbers else texts[name] for name in names}
        try:
            table = _arrow_of_csv(path, types)
            if all(_finite(table, place) for place, name in enumerate(names) if name in numbers):
                return _as_frame(table)
        except pa.ArrowInvalid:
            pass  # it is said below what it is that is no number
        return _as_frame(_arrow_of_csv(path, texts))
    except pa.ArrowInvalid as error:
        raise _no_csv(path, error, layouts) from None


def _dialect(**more: Any) -> Any:
    import pyarrow.csv as pc

    return pc.ParseOptions(newlines_in_values=True, **more)


def _arrow_of_csv(path: Path, types: Mapping[str, Any]) -> pa.Table:
    import pyarrow.csv as pc

    return pc.read_csv(
        path,
        pc.ReadOptions(block_size=_BLOCK),
        _dialect(),
        # No text stands for a missing value.
        pc.ConvertOptions(column_types=types, null_values=[], strings_can_be_null=False),
    )


def _finite(table: pa.Table, place: int) -> bool:
    return bool(np.isfinite(table.column(place).to_numpy()).all())


def _as_frame(table: pa.Table) -> pd.DataFrame:
    """Return the columns of a table, each freed when it is turned."""
    return table.unify_dictionaries().to_pandas(split_blocks=True, self_destruct=True)


def _no_csv(path: Path, error: Exception, layouts: str) -> InputError:
    """Say what is wrong with a file that is not read as CSV, and in which line."""
    import pyarrow as pa
    import pyarrow.csv as pc

    if "Empty CSV file" in str(error):
        return InputError("is empty", where=path, valid=f"a table with the columns {layouts}")
    if (line := _line_not_utf8(path)) is not None:
        return InputError("is not valid UTF-8", where=f"{path}, line {line}", hint="save it as UTF-8")
    ragged: list[Any] = []

    def note(row: Any) -> str:
        ragged.append(row)
        return "error"

    try:
        serially = pc.ReadOptions(block_size=_BLOCK, use_threads=False)  # only so rows are counted
        pc.read_csv(path, serially, _dialect(invalid_row_handler=note))
    except pa.ArrowInvalid as again:
        error = again
    if ragged:
        row = ragged[0]
        return InputError(
            f"has {row.actual_columns} cells where the header has {row.expected_columns}",
            where=f"{path}, line {row.number}",
            hint="a cell with a comma stands in quotation marks"
            if row.actual_columns > row.expected_columns
            else None,
        )
    return InputError(f"cannot be read as a table ({str(error).splitlines()[0]})", where=path)


def _line_not_utf8(path: Path) -> int | None:
    """Return the first line that is no UTF-8, or None."""
    with open(path, "rb") as file:
        for number, line in enumerate(file, 1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError:
                return number
    return None


def _refuse_format(path: Path, layouts: str) -> None:
    """Say what a file is that is no table of ours, as far as its beginning tells."""
    if path.suffix == ".toml":
        raise InputError(
            "is a TOML file, not a table",
            where=path,
            valid="a .csv or .parquet file",
            hint="a word list is read with load_wordlist, a model with load_model",
        )
    with open(path, "rb") as file:
        head = file.read(65536)
    if not head:
        raise InputError("is empty", where=path, valid=f"a table with the columns {layouts}")
    kind = hint = None
    if head[0] == 0x80 and head[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05"):
        kind, hint = "a pickle", "pickles can run code and are not read; save it as CSV or Parquet"
    elif head.startswith(b"\x89HDF") or re.match(rb"CDF[\x01\x02\x05]", head):
        kind, hint = "netCDF", "a fit is read with load_fit"
    elif head.startswith(b"PK\x03\x04"):
        kind, hint = "a zip archive (such as .xlsx or .npz)", "save the table as CSV"
    elif head.startswith(b"PAR1") and path.suffix != ".parquet":
        kind, hint = "Parquet by its content", "rename it to end in .parquet"
    elif head.startswith((b"\xff\xfe", b"\xfe\xff")) or re.match(rb"([ -~]\0){4}|(\0[ -~]){4}", head):
        kind, hint = "UTF-16 text", "save it as UTF-8"
    if kind:
        raise InputError(f"is {kind}", where=path, valid="CSV in UTF-8, or Parquet named .parquet", hint=hint)
    header = next((line for line in head.splitlines() if line.strip()), b"")
    for mark, called in ((b";", "';'"), (b"\t", "a tab"), (b"|", "'|'")):
        # Of other compressed and binary files the header is no text; the reader or the columns say what is wrong.
        if b"protected_word" in header and header.count(mark) > header.count(b","):
            raise InputError(f"is separated by {called}", where=path, hint="save it with commas")
