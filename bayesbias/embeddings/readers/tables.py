"""The readers of vectors as a table, one row a word: CSV, TSV, Parquet, Arrow, data frames."""

import csv
import itertools
import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from bayesbias.core.errors import InputError
from bayesbias.core.files import blocks_of_lines, guarded
from bayesbias.embeddings.readers import common
from bayesbias.embeddings.readers.common import Format, Head, Layout, Reading, Rows, gather

_WORD = ("word", "words", "token", "term", "item", "")  # "" as pandas and R write an index
_NO_DIMENSION = re.compile(r"(?i)(log[ _-])?freq(uenc(y|ies)|s)?|counts?|ranks?|ids?|index")


def is_word_column(name: str) -> bool:
    """Whether a column of this name holds the words.

    Examples
    --------
    >>> is_word_column("Word"), is_word_column("d1")
    (True, False)
    """
    return name.strip().casefold() in _WORD


def check_dimensions(names: Sequence[str], where: object) -> None:
    """Refuse columns that are no dimension, such as a count or a year.

    Examples
    --------
    >>> check_dimensions(["d1", "d2"], "v.csv")
    >>> check_dimensions(["year", "d1", "d2"], "v.csv")
    Traceback (most recent call last):
    ...
    bayesbias.InputError: v.csv: expected a dimension in each column, got 'year'. Drop or rename them
    """
    odd = [name for name in names if _NO_DIMENSION.fullmatch(name.strip())]
    stems = [re.sub(r"\d+$", "", name) for name in names]
    usual = max(stems, key=stems.count, default="")
    numbered = [name for name, stem in zip(names, stems, strict=True) if stem == usual != name]
    if not odd and len(numbered) > 1 and 2 * len(numbered) > len(names):
        odd = [name for name in names if name not in numbered]
    if odd:
        problem, hint = "expected a dimension in each column", "drop or rename them"
        raise InputError(problem, where=where, found=", ".join(odd), hint=hint)


def words_and_vectors(frame: Any, where: object) -> tuple[list[Any], np.ndarray]:
    """Return the words and vectors of a data frame.

    Words are its index or a column; a column is a dimension, or holds whole vectors.
    """
    words = list(frame.index)
    texts = [c for c in frame.columns if str(c) == "word" or frame[c].dtype.kind not in "fiu"]
    named = [c for c in texts if str(c).strip() and is_word_column(str(c))]
    if not named and not all(isinstance(word, str) for word in words):
        named = [c for c in texts if isinstance(frame[c].iloc[0], str)]
    if named:
        words, frame = list(frame[named[0]]), frame.drop(columns=named[0])
    for column in [c for c in frame.columns if len(frame) and isinstance(frame[c].iloc[0], str)]:
        if frame[column].str.match(r"\[.*\]$").all():  # lists that were written as text
            cells = frame[column].str.strip("[]").str.replace(",", " ").str.split()
            frame = frame.assign(**{column: [np.array(cell, float) for cell in cells]})
    whole = [c for c in frame.columns if len(frame) and np.ndim(frame[c].iloc[0]) == 1]
    if whole:
        places = [f"{where}, column {whole[0]!r}, row {i}" for i in range(1, len(words) + 1)]
        return words, stacked(list(frame[whole[0]]), places)
    if odd := [str(c) for c in frame.columns if frame[c].dtype.kind not in "fiu"]:
        found, valid = ", ".join(odd[:6]), "a column a dimension, or a column 'vector'"
        raise InputError("expected numbers in each column", where=where, found=found, valid=valid)
    check_dimensions([str(column) for column in frame.columns], where)
    return words, frame.to_numpy()


def numbers(values: Any, where: object) -> np.ndarray:
    """Return values as an array of numbers."""
    try:
        array = np.asarray(values)
    except ValueError:  # rows of several lengths
        array = np.empty(0, object)
    if array.dtype.kind not in "fiu":
        raise InputError("expected numbers, and rows of one length", where=where)
    return array


def stacked(vectors: list[Any], places: list[str]) -> np.ndarray:
    """Return vectors as the rows of a matrix."""
    arrays = [numbers(vector, place) for vector, place in zip(vectors, places, strict=True)]
    for array, place in zip(arrays, places, strict=True):
        if array.ndim != 1 or array.shape != arrays[0].shape or not array.size:
            found, valid = f"shape {array.shape}", f"{arrays[0].size} numbers, as in the first"
            raise InputError("expected a vector", where=place, found=found, valid=valid)
    return np.stack(arrays)


def rows_of_matrix(reading: Reading, words: list[Any], matrix: Any) -> Rows:
    """Return the wanted rows of words and a matrix of numbers."""
    shape, where = tuple(matrix.shape), reading.path
    if len(shape) != 2 or shape[0] != len(words) or not 1 <= shape[1] <= common.MOST_DIMENSIONS:
        found = f"{len(words):,} words and an array of shape {shape}"
        raise InputError("expected one row for each word", where=where, found=found)
    for row, word in enumerate(words, start=1):
        if not isinstance(word, str | bytes):
            place = f"{where}, row {row}"
            raise InputError("expected a word", where=place, found=word, valid="strings")
    keys = [w if isinstance(w, bytes) else w.encode("utf-8", "surrogatepass") for w in words]
    # Half precision is stored, never calculated with.
    dtype = "<f4" if matrix.dtype in (np.float16, np.float32) else "<f8"
    block = (keys, lambda chosen: matrix[np.asarray(chosen)])
    return gather(reading, [block], dtype, dim=shape[1])


def read_table(reading: Reading) -> Rows:
    """Read a table with a word in its first column and numbers in others."""
    before = int(reading.layout.header)
    return gather(reading, _blocks(reading), "<f8", "line", before)


def _blocks(reading: Reading) -> Iterator[common.Block]:
    dim = reading.layout.dim
    rows: list[tuple[int, list[str]]] = []

    def row_of(i: int) -> list[float] | None:
        number, row = rows[i]
        for cell in row[1:]:
            if not common.is_number(cell.encode("utf-8", "replace")):
                problem = "expected a number" + (
                    "; write decimals with a point" if "," in cell else ""
                )
                reading.skip(f"line {number}", problem, cell[:60])
                return None
        return list(map(float, row[1:]))

    with reading.opened() as stream, guarded(reading.path, hint="is a quotation mark left open?"):
        lines = (
            line.decode("utf-8", "surrogateescape") + "\n"  # a word that is not UTF-8 is met later
            for block in blocks_of_lines(stream, reading.path)
            for line in block
        )
        table = csv.reader(lines, delimiter=reading.layout.separator)
        if reading.layout.header:
            next(table)
        numbered = ((table.line_num, row) for row in table if any(row))
        while rows := list(itertools.islice(numbered, 1000)):
            words = []
            for number, row in rows:
                whole = len(row) == dim + 1 and bool(row[0].strip())
                if not whole:
                    reading.skip(
                        f"line {number}", "expected as many cells as in the header", len(row)
                    )
                words.append(row[0].encode("utf-8", "surrogateescape") if whole else b"")
            yield words, lambda chosen: list(map(row_of, chosen))
            reading.told(stream)


def _recognize(head: Head) -> Layout | None:
    """Recognize rows of a word and numbers, with or without a header."""
    lines = head.start[head.mark :].decode("utf-8", "replace").splitlines()[:2]
    for separator in (",", "\t", ";"):
        if not lines or separator not in lines[0]:
            continue
        header, *rest = csv.reader(lines, delimiter=separator)
        first = rest[0] if rest else header
        names = header[1:]
        if not all(_is_cell(cell) for cell in first[1:]) or len(first) != len(header):
            continue
        # Columns may be numbered, as pandas does; a header that holds other numbers is a row of
        # vectors.
        numbered = names in ([str(i + start) for i in range(len(names))] for start in (0, 1))
        if rest and is_word_column(header[0]) and (numbered or not all(map(_is_cell, names))):
            check_dimensions(names, head.path)
            return Layout(len(names), None, head.mark, separator)
        if len(names) > 1 and all(map(_is_cell, names)) and not _is_cell(header[0]):
            return Layout(len(names), None, head.mark, separator, header=False)
    return None


def _read_whole(reading: Reading) -> Rows:
    """Read a table with words in any column, or with vectors in one."""
    with reading.opened() as stream, guarded(reading.path, "expected a table of vectors"):
        frame = pd.read_csv(stream, sep=reading.layout.separator, keep_default_na=False)
        frame = frame.loc[:, ~frame.columns.str.startswith("Unnamed: ")]
        return rows_of_matrix(reading, *words_and_vectors(frame, reading.path))


def _recognize_whole(head: Head) -> Layout | None:
    first = head.start[head.mark :].partition(b"\n")[0].decode("utf-8", "replace").strip()
    for separator in (",", "\t", ";") if "\r" not in first else ():
        names = next(csv.reader([first], delimiter=separator), [])
        if len(names) > 1 and any(name and is_word_column(name) for name in names):
            return Layout(0, None, head.mark, separator)
    return None


def _is_cell(cell: str) -> bool:
    return common.is_number(cell.strip().replace(",", ".").encode())


OTHER = Format("CSV or TSV", (".csv", ".tsv"), _recognize_whole, _read_whole)
FORMAT = Format("CSV or TSV", (".csv", ".tsv"), _recognize, read_table)


def read_columnar(reading: Reading) -> Rows:
    """Read Parquet, an Arrow file (Feather) or an Arrow stream."""
    import pyarrow as pa
    from pyarrow import parquet

    with guarded(reading.path, valid="Parquet or Arrow"), pa.OSFile(str(reading.path)) as file:
        start = file.read(6)
        file.seek(0)
        table: Any
        if start[:4] == b"PAR1":
            table = parquet.read_table(file)
        elif start == b"ARROW1":
            table = pa.ipc.open_file(file).read_all()
        else:
            table = pa.ipc.open_stream(file).read_all()
        words, vectors = words_and_vectors(table.to_pandas(), reading.path)
    return rows_of_matrix(reading, words, vectors)


def _is_columnar(head: Head) -> Layout | None:
    known = head.start.startswith((b"PAR1", b"ARROW1", b"\xff\xff\xff\xff"))
    return Layout() if known and not head.compressed else None


COLUMNAR = Format(
    "Parquet or Arrow", (".parquet", ".feather", ".arrow"), _is_columnar, read_columnar
)
