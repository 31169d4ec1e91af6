"""Files of tables as data frames: CSV and Parquet. Labels come as categories, so that millions of rows stay small.

Nothing here knows what a column means; `bayesbias.tables.reading` does. Cells are kept as they are written: "nan", "null"
and "NA" are words.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from bayesbias.core.errors import InputError
from bayesbias.core.files import guarded, kind_of, opened
from bayesbias.core.frames import plain_frame, read_csv, read_parquet, without_marks

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


def read_frame(
    path: Path, labels: Collection[str], numbers: Collection[str], layouts: str, called: object = None
) -> pd.DataFrame:
    """Read a ``.parquet`` file, or CSV of any other name, packed with gzip, bzip2 or xz too.

    Parameters
    ----------
    path : Path
    labels : collection of str
        Columns of texts that become categories, in the order in which they come.
    numbers : collection of str
        Columns of CSV that are numbers where all of their cells are finite ones; else they are texts, as all others.
    layouts : str
        What columns are wanted, for messages.
    called : object, optional
        What messages call it: of a pipe, whose content lies elsewhere by now.

    Returns
    -------
    DataFrame
        With its rows numbered from 0.

    Raises
    ------
    InputError
        For a file that is not there or no table; it names the line where one is to blame.
    """
    called = path if called is None else called
    _refuse_format(path, called, layouts)
    problem = "cannot be read as a table"
    if path.suffix.lower() == ".parquet":
        table = read_parquet(path, categories=labels)
        with guarded(called, problem):
            frame = _as_frame(table).reset_index(drop=True)
        return plain_frame(frame, str(called), known=[*labels, *numbers])
    table = read_csv(path, labels, numbers, layouts, called)
    with guarded(called, problem):
        return without_marks(_as_frame(table))


def _as_frame(table: pa.Table) -> pd.DataFrame:
    """Return the columns of a table, each freed when it is turned."""
    return table.unify_dictionaries().to_pandas(split_blocks=True, self_destruct=True)


def _refuse_format(path: Path, called: object, layouts: str) -> None:
    """Say what a file is that is no table of ours, as far as its beginning tells."""
    if path.suffix == ".toml":
        raise InputError(
            "is a TOML file, not a table",
            where=called,
            valid="a .csv or .parquet file",
            hint="a word list is read with load_wordlist, a model with load_model",
        )
    with opened(path, unpack=True) as stream:
        head = stream.read(65536)
    if not head:
        raise InputError("is empty", where=called, valid=f"a table with the columns {layouts}")
    if head.startswith(b"PAR1") and path.suffix.lower() == ".parquet":
        return
    if (kind := kind_of(head)) is not None:
        valid = "CSV in UTF-8, or Parquet named .parquet"
        raise InputError(f"is {kind[0]}", where=called, valid=valid, hint=kind[1])
    header = next((line for line in head.splitlines() if line.strip()), b"")
    for mark, its_name in ((b";", "';'"), (b"\t", "a tab"), (b"|", "'|'")):
        # Of other compressed and binary files the header is no text; the reader or the columns say what is wrong.
        if b"protected_word" in header and header.count(mark) > header.count(b","):
            raise InputError(
                f"is separated by {its_name}",
                where=called,
                hint=f"save it with commas, or hand over pd.read_csv(path, sep={mark.decode()!r}, decimal=',')"
                if mark == b";"
                else "save it with commas",
            )
