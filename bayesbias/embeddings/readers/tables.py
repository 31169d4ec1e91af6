"""The readers of tables with a row for each word: CSV, TSV, JSON, Parquet, Arrow, data frames."""

import csv
import io
import itertools
import json
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


def check_dimensions(names: Sequence[str], where: object, odd: Sequence[str] = ()) -> None:
    """Refuse columns that are no dimension, such as texts, a count or a year.

    Examples
    --------
    >>> check_dimensions(["d1", "d2"], "v.csv")
    >>> check_dimensions(["year", "d1", "d2"], "v.csv")
    Traceback (most recent call last):
    ...
    bayesbias.InputError: v.csv: expected a dimension in each column, got 'year'. Drop or rename them
    """
    odd = odd or [name for name in names if _NO_DIMENSION.fullmatch(name.strip())]
    stems = [re.sub(r"\d+$", "", name) for name in names]
    usual = max(stems, key=stems.count, default="")
    numbered = [name for name, stem in zip(names, stems, strict=True) if stem == usual != name]
    if not odd and len(numbered) > 1 and 2 * len(numbered) > len(names):
        odd = [name for name in names if name not in numbered]
    if odd:
        problem, hint = "expected a dimension in each column", "drop or rename them"
        raise InputError(problem, where=where, found=", ".join(odd[:6]), hint=hint)


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
    whole = [c for c in frame.columns if len(frame) and np.ndim(frame[c].iloc[0]) == 1]
    if whole:
        places = [f"{where}, column {whole[0]!r}, row {i}" for i in range(1, len(words) + 1)]
        return words, stacked(list(frame[whole[0]]), places)
    odd = [str(column) for column in frame.columns if frame[column].dtype.kind not in "fiu"]
    check_dimensions([str(column) for column in frame.columns], where, odd)
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


def rows_of_matrix(reading: Reading, words: list[Any], matrix: Any, where: object = None) -> Rows:
    """Return the wanted rows of words and a matrix of numbers."""
    shape, where = tuple(matrix.shape), where or reading.path
    if len(shape) != 2 or shape[0] != len(words) or not 1 <= shape[1] <= common.MOST_DIMENSIONS:
        found = f"{len(words):,} words and an array of shape {shape}"
        raise InputError(f"expected one row for each word, got {found}", where=where)
    for row, word in enumerate(words, start=1):
        if not isinstance(word, str | bytes):
            raise InputError(f"expected a word, got {word!r}", where=f"{where}, row {row}")
    keys = [w if isinstance(w, bytes) else w.encode("utf-8", "surrogatepass") for w in words]
    # Half precision is stored, never calculated with.
    dtype = "<f4" if matrix.dtype in (np.float16, np.float32) else "<f8"
    block = (keys, lambda chosen: matrix[np.asarray(chosen)])
    return gather(reading, [block], dtype, dim=shape[1])


def read_table(reading: Reading) -> Rows:
    """Read a table with a column of words, and columns of numbers or one of lists."""
    return gather(reading, _blocks(reading), "<f8", "line")


def _blocks(reading: Reading) -> Iterator[common.Block]:
    layout = reading.layout
    word, *columns = layout.columns
    rows: list[tuple[int, list[str]]] = []

    def row_of(i: int) -> list[float] | None:
        number, row = rows[i]
        cells = [cell for column in columns for cell in _numbers_in(row[column], layout.separator)]
        if len(cells) == layout.dim and all(map(common.is_number, cells)):
            return list(map(float, cells))
        bad = next((repr(c[:60]) for c in cells if not common.is_number(c)), len(cells))
        reading.skip(f"line {number}", f"{layout.dim} numbers", bad)
        return None

    with reading.opened() as stream, guarded(reading.path, hint="is a quotation mark left open?"):
        lines = (
            line.decode("utf-8", "surrogateescape") + "\n"  # a word that is not UTF-8 is met later
            for block in blocks_of_lines(stream, reading.path)
            for line in block
        )
        table = csv.reader(lines, delimiter=layout.separator)
        if layout.header:
            next(table)
        numbered = ((table.line_num, row) for row in table if any(row))
        while rows := list(itertools.islice(numbered, 1000)):
            words = []
            for number, row in rows:
                whole = len(row) == layout.width and bool(row[word].strip())
                if not whole:
                    reading.skip(f"line {number}", f"a word and {layout.width} cells", len(row))
                words.append(row[word].encode("utf-8", "surrogateescape") if whole else b"")
            yield words, lambda chosen: list(map(row_of, chosen))
            reading.told(stream)


def _numbers_in(cell: str, separator: str) -> list[str]:
    """Return the numbers of a cell, which is one (with a decimal comma, perhaps) or a list."""
    if cell[:1] == "[":
        return re.sub(r"[][,]", " ", cell).split()
    return [cell if separator == "," else cell.replace(",", ".")]


def _recognize(head: Head) -> Layout | None:
    """Recognize a column of words beside columns of numbers or one of lists."""
    start = io.StringIO(head.start[head.mark : 1 << 17].decode("utf-8", "replace"), newline="")
    for separator in (",", "\t", ";"):
        start.seek(0)
        rows = list(itertools.islice(csv.reader(start, delimiter=separator), 2))
        names, first, width = rows[0], rows[-1], len(rows[0])
        if width < 2 or len(first) != width:
            continue
        named = _columns_of_numbers(names, separator)
        # Columns may be numbered, as pandas does; other numbers are a row of vectors.
        numbered = is_word_column(names[0]) and names[-1] in (str(width - 1), str(width - 2))
        header = numbered or named != [*range(1, width)]
        if not header:
            names, first, named = ["word", *map(str, range(1, width))], names, []
        numbers = _columns_of_numbers(first, separator)
        known = [c for c, name in enumerate(names) if is_word_column(name)]
        texts = [c for c in range(width) if c not in numbers]
        words = [*(c for c in known if names[c]), *texts, *known]
        if not words or not numbers or (named and not known):
            continue
        columns = [c for c in numbers if first[c][:1] == "["][:1]
        if columns:
            dim = len(_numbers_in(first[columns[0]], separator))
        else:
            unnamed = re.compile(r"(Unnamed: \d+)?")  # as pandas and R write an index
            columns = [c for c in range(width) if c != words[0] and not unnamed.fullmatch(names[c])]
            dim, odd = len(columns), [names[c] for c in columns if c in texts]
            check_dimensions([names[c] for c in columns], head.path, odd)
        return Layout(dim, None, head.mark, separator, header, (words[0], *columns), width)
    return None


def _columns_of_numbers(row: list[str], separator: str) -> list[int]:
    cells = [_numbers_in(cell.strip(), separator) for cell in row]
    return [c for c, numbers in enumerate(cells) if all(map(common.is_number, numbers))]


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


def read_json(reading: Reading) -> Rows:
    """Read a table word -> vector, or records with a word and a vector, also one a line."""
    valid = '{"he": [0.1, ...], ...}, or records such as {"word": "he", "vector": [0.1, ...]}'
    with (
        reading.opened() as stream,
        guarded(reading.path, "expected vectors, got other JSON", valid=valid),
    ):
        text = stream.read()
        try:
            data = json.loads(text)
        except json.JSONDecodeError as error:
            if error.msg != "Extra data":
                raise
            data = [json.loads(line) for line in text.splitlines() if line.strip()]
        if isinstance(data, list) and all(len(record) == 1 for record in data):
            data = {word: vector for record in data for word, vector in record.items()}
        if isinstance(data, dict) and not any(isinstance(v[0], str) for v in data.values()):
            data = {"word": list(data), "vector": list(data.values())}
        return rows_of_matrix(reading, *words_and_vectors(pd.DataFrame(data), reading.path))


def _is_json(head: Head) -> Layout | None:
    known = re.match(rb'\s*(\{\s*"|\[\s*[{\[])', head.start[head.mark :])
    return Layout(start=head.mark) if known else None


JSON = Format("JSON", (".json", ".jsonl"), _is_json, read_json)
