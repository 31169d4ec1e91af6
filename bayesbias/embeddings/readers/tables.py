"""The readers of tables with a row for each word: CSV, TSV, JSON, Parquet, Arrow, data frames."""

import csv
import io
import itertools
import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from bayesbias.core import InputError, files
from bayesbias.embeddings.readers import common
from bayesbias.embeddings.readers.common import Format, Head, Layout, Reading, Rows

# "" as pandas and R write an index


_WORD = (
    *("word", "words", "token", "term", "item", "lemma", "text", "input"),
    *("document", "documents", "custom_id", ""),
)
# A vector as text: a list, or an array or tensor as Python prints it.
_LIST = re.compile(r"\s*(?:(?:np\.)?array\(|tensor\()?\[")
_AROUND = re.compile(
    r"^\s*(?:(?:np\.)?array|tensor)\(|,\s*(?:dtype|device|grad_fn|requires_grad)=.*$", re.DOTALL
)
_ASIDE = re.compile(
    r"(?i)(unnamed: \d+|(log[ _-])?freq(uenc(y|ies)|s)?|counts?|ranks?|ids?|index)?"
)


def is_word_column(name: str) -> bool:
    """Whether a column of this name holds the words.

    Examples
    --------
    >>> is_word_column("Word"), is_word_column("d1")
    (True, False)
    """
    return name.strip().casefold() in _WORD


def word_and_dimensions(
    names: Sequence[str], first: Sequence[Any], where: object
) -> list[int] | None:
    """Return the column of the words, and those of numbers or the one of vectors.

    `first` is the first row. A column without a name, of frequencies, ranks or the like is left
    aside. None if there are no words or no numbers.

    Examples
    --------
    >>> word_and_dimensions(["id", "lemma", "d1", "d2"], [7, "he", 0.5, 0.1], "v.csv")
    [1, 2, 3]
    >>> word_and_dimensions(["word", "year", "d1", "d2"], ["he", 1990, 0.5, 0.1], "v.csv")
    Traceback (most recent call last):
    ...
    bayesbias.InputError: v.csv: expected a dimension in each column, got 'year'. Drop or rename them.
    """
    places = range(len(names))
    known = [c for c in places if is_word_column(names[c])]
    texts = [c for c in places if isinstance(first[c], str)]
    named_texts = [c for c in texts if not (names[c] and _ASIDE.fullmatch(names[c].strip()))]
    word = next(iter([*(c for c in known if names[c]), *(named_texts or texts), *known]), None)
    whole = [c for c in places if np.ndim(first[c]) == 1][:1]
    rest = [c for c in places if c != word and not _ASIDE.fullmatch(names[c].strip())]
    if word is None or set(whole or rest) <= set(texts):
        return None
    odd = [names[c] for c in rest if c in texts]
    stems = [re.sub(r"\d+$", "", names[c]) for c in rest]
    usual = max(stems, key=stems.count, default="")
    numbered = [names[c] for c, stem in zip(rest, stems, strict=True) if stem == usual != names[c]]
    if not odd and 2 * len(numbered) > max(len(rest), 2):
        odd = [names[c] for c in rest if names[c] not in numbered]
    if odd and not whole:
        problem, hint = "expected a dimension in each column", "drop or rename them"
        raise InputError(problem, where=where, found=", ".join(odd[:6]), hint=hint)
    return [word, *(whole or rest)]


def words_and_vectors(frame: Any, where: object) -> tuple[list[Any], np.ndarray]:
    """Return the words and vectors of a data frame.

    Words are its index or a column; a column is a dimension, or holds whole vectors. Numbers and
    vectors may be texts, as they are in a CSV file.
    """
    held = [frame.index, *(frame.iloc[:, c] for c in range(frame.shape[1]))]
    cells = [next(iter(column[:1])) for column in held] if len(frame) else []
    first = [_value(cell, ",") if isinstance(cell, str) else cell for cell in cells]
    names = ["", *map(str, frame.columns)]
    chosen = word_and_dimensions(names, first, where) if first else None
    if chosen is None:
        told = next(filter(None, (shortened(cell, where) for cell in cells)), None)
        raise told or InputError("expected words and numbers, got none", where=where)
    word, *columns = chosen
    words = list(held[word])
    if np.ndim(first[columns[0]]) >= 1:
        column, name = held[columns[0]], names[columns[0]]
        places = [f"{where}, column {name!r}, row {i + 1}" for i in range(len(words))]
        vectors = [_of_text(cell, p) for cell, p in zip(column, places, strict=True)]
        return words, stacked(vectors, places)
    return words, _numbers_of(frame.iloc[:, [c - 1 for c in columns]], where)


def _numbers_of(frame: Any, where: object) -> np.ndarray:
    """Return columns of numbers as an array, whatever their types are."""
    if all(getattr(dtype, "kind", "O") in "fiu" for dtype in frame.dtypes):
        plain = all(isinstance(dtype, np.dtype) for dtype in frame.dtypes)
        return numbers(frame if plain else frame.to_numpy(float, na_value=np.nan), where)
    columns = []
    for name in frame.columns:
        cells = frame[name].to_numpy(object, na_value=np.nan)
        try:
            columns.append(cells.astype(float))
        except (TypeError, ValueError):
            row = next(i for i, cell in enumerate(cells) if not _is_real(cell))
            place = f"{where}, column {name!r}, row {row + 1}"
            raise InputError("expected a number", where=place, found=cells[row]) from None
    return np.column_stack(columns)


def _is_real(cell: Any) -> bool:
    """Whether a cell is a number, or a text that spells one."""
    try:
        float(cell)
    except (TypeError, ValueError):
        return False
    return True


def numbers(values: Any, where: object) -> np.ndarray:
    """Return values as an array of numbers."""
    try:
        array = np.asarray(values)
        if array.dtype.kind == "O" and array.size:
            array = array.astype(float)
    except (TypeError, ValueError):  # rows of several lengths, or no numbers
        array = np.empty(0, object)
    if array.dtype.kind not in "fiu":
        raise InputError("expected numbers in rows of one length, got others", where=where)
    return array


def stacked(vectors: list[Any], places: list[str]) -> np.ndarray:
    """Return vectors as the rows of a matrix; one of shape (1, d) has d numbers."""
    arrays = [numbers(vector, place) for vector, place in zip(vectors, places, strict=True)]
    arrays = [a[0] if a.ndim == 2 and len(a) == 1 else a for a in arrays]
    for array, place in zip(arrays, places, strict=True):
        if array.ndim == 1 and array.size and array.shape == arrays[0].shape:
            continue
        problem, valid = "expected a vector", None
        if arrays[0].ndim == 1 and arrays[0].size:
            valid = f"{arrays[0].size} numbers, as in the first"
        raise InputError(problem, where=place, found=f"shape {array.shape}", valid=valid)
    return np.stack(arrays)


def _of_text(cell: Any, where: str) -> Any:
    """Return the vector of a cell, which may be a text such as ``[0.1, 0.2]``."""
    if not isinstance(cell, str):
        return cell
    value = _value(cell, ",")
    if isinstance(value, str):
        raise shortened(cell, where) or InputError("expected a vector", where=where, found=cell)
    return value


def shortened(cell: Any, where: object) -> InputError | None:
    """Return the error for a vector that was printed with ... for most numbers; else None."""
    if not (isinstance(cell, str) and _LIST.match(cell) and "..." in cell):
        return None
    problem = f"expected all numbers of a vector, got {cell[:40] + ' ...'!r}, shortened by ..."
    hint = (
        "numbers were left out when this was written, as str(v) does for long arrays: write "
        "v.tolist() from where the vectors are"
    )
    return InputError(problem, where=where, hint=hint)


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
    return common.gather(reading, [block], dtype, dim=shape[1])


def read_table(reading: Reading) -> Rows:
    """Read a table with a column of words, and columns of numbers or one of lists."""
    return common.gather(reading, _blocks(reading), "<f8", "line")


def _blocks(reading: Reading) -> Iterator[common.Block]:
    layout = reading.layout
    word, *columns = layout.columns
    rows: list[tuple[int, list[str]]] = []

    def row_of(i: int) -> list[float] | None:
        number, row = rows[i]
        cells = [n for column in columns for n in _numbers_in(row[column], layout.separator)]
        if len(cells) == layout.dim and all(map(common.is_number, cells)):
            return list(map(float, cells))
        bad = next((repr(c[:60]) for c in cells if not common.is_number(c)), len(cells))
        reading.skip(f"line {number}", f"{layout.dim} numbers", bad)
        return None

    with (
        reading.opened() as stream,
        files.guarded(reading.path, "a table", hint="is a quotation mark left open?"),
    ):
        lines = (
            line.decode("utf-8", "surrogateescape") + "\n"  # a word that is not UTF-8 is met later
            for block in files.blocks_of_lines(stream, reading.path)
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
    if _LIST.match(cell):
        inside = _AROUND.sub("", cell)
        return re.sub(r"np\.float\d+|[][(),]", " ", inside).split()
    return [cell if separator == "," else cell.replace(",", ".")]


def _recognize(head: Head) -> Layout | None:
    """Recognize a column of words beside columns of numbers or one of lists."""
    text = head.start[: 1 << 17].decode("utf-8", "replace")
    named_mark, of_excel = files.separator_of(text)
    start = io.StringIO(text[of_excel:], newline="")
    for separator in (named_mark,) if of_excel else (",", "\t", ";"):
        start.seek(0)
        rows = list(itertools.islice(csv.reader(start, delimiter=separator), 2))
        names, width = rows[0], len(rows[0])
        if width < 2 or len(rows[-1]) != width:
            continue
        named, first = ([_value(cell, separator) for cell in row] for row in (names, rows[-1]))
        of_numbers = [not isinstance(value, str) for value in named]
        # Columns may be numbered, as pandas does; other numbers are a row of vectors.
        numbered = is_word_column(names[0]) and names[-1] in (str(width - 1), str(width - 2))
        header = numbered or of_numbers != [False] + [True] * (width - 1)
        if not header:
            names, first = ["word", *map(str, range(1, width))], named
        elif any(of_numbers) and not any(map(is_word_column, names)):
            continue
        if columns := word_and_dimensions(names, first, head.path):
            dim = sum(np.size(first[c]) for c in columns[1:])
            return Layout(dim, None, of_excel, separator, header, tuple(columns), width)
    return None


def _value(cell: str, separator: str) -> Any:
    """Return the number of a cell, the list of them, or its text."""
    found = _numbers_in(cell.strip(), separator)
    if not found or not all(map(common.is_number, found)):
        return cell
    return list(map(float, found)) if _LIST.match(cell) else float(found[0])


FORMAT = Format("CSV or TSV", (".csv", ".tsv"), _recognize, read_table)


def read_columnar(reading: Reading) -> Rows:
    """Read Parquet, an Arrow file (Feather) or an Arrow stream."""
    import pyarrow as pa
    from pyarrow import parquet

    with files.guarded(reading.path, "Parquet or Arrow"), pa.OSFile(str(reading.path)) as file:
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


COLUMNAR = Format(
    "Parquet or Arrow",
    (".parquet", ".feather", ".arrow"),
    common.starting_with(b"PAR1", b"ARROW1", b"\xff\xff\xff\xff"),
    read_columnar,
)


def read_json(reading: Reading) -> Rows:
    """Read a table word -> vector, or records with a word and a vector, also one a line."""
    import pandas as pd

    expected = '{"he": [0.1, ...], ...}, or records such as {"word": "he", "vector": [0.1, ...]}'
    with (
        reading.opened() as stream,
        files.guarded(reading.path, expected),
    ):
        data: Any
        text = files.decoded(stream.read(), reading.path)
        first, _, rest = text.strip().partition("\n")
        if rest and _is_json(first):
            data = files.parse_json_lines(text, reading.path)
        else:
            data = files.parse_json(text, reading.path)
        data = _of_services(data, reading.path)
        if isinstance(data, list) and all(len(record) == 1 for record in data):
            data = {word: vector for record in data for word, vector in record.items()}
        if isinstance(data, dict) and not any(isinstance(v[0], str) for v in data.values()):
            data = {"word": list(data), "vector": list(data.values())}
        return rows_of_matrix(reading, *words_and_vectors(pd.DataFrame(data), reading.path))


def _of_services(data: Any, where: object) -> Any:
    """Return a dump of Chroma, or the output of a batch of OpenAI, as words and vectors."""
    if isinstance(data, dict) and isinstance(data.get("embeddings"), list) and "ids" in data:
        return {"word": data.get("documents") or data["ids"], "vector": data["embeddings"]}
    if not isinstance(data, list) or not all(
        isinstance(record, dict) and "custom_id" in record and "response" in record
        for record in data
    ):
        return data
    records = []
    for line, record in enumerate(data, start=1):
        answers = record["response"]["body"]["data"]
        if len(answers) != 1:
            problem = "expected one embedding for each custom_id"
            raise InputError(problem, where=f"{where}, line {line}", found=len(answers))
        records.append({"word": record["custom_id"], "vector": answers[0]["embedding"]})
    return records


def _is_json(line: str) -> bool:
    """Whether a line is a whole value of JSON."""
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


JSON = Format(
    "JSON",
    (".json", ".jsonl"),
    lambda head: Layout() if re.match(rb'\s*(\{\s*"|\[\s*[{\[])', head.start) else None,
    read_json,
)
