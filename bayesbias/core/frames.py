"""Tables: frames and arrays from memory made plain, CSV and Parquet read and written."""

import codecs
import html
import io
import numbers
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pandas as pd

from bayesbias.core import InputError, checks, some
from bayesbias.core.encodings import given_encoding
from bayesbias.core.files import (
    decoded,
    guarded,
    opened,
    parse_json,
    parse_json_lines,
    read_bytes,
    read_text,
    refuse_binary,
    separator_of,
)

_SHOWN_ROWS = 5  # of a table that is printed
_SHOWN_WIDTH = 30  # characters of a cell
_HEAD = 1 << 16  # bytes that tell how the cells are separated
_BLOCK = 8 << 20  # bytes that Arrow reads at a time; a line may be as long


_ANSWERS = {
    "CrowS-Pairs": {"sent_more", "sent_less"},
    "samples of lm-evaluation-harness": {"doc_id", "filtered_resps"},
    "BBQ": {"question_polarity", "context_condition"},
}
"""Columns of tables that `bayesbias responses fit` reads."""


# In memory


def is_frame(value: Any) -> bool:
    """Whether something is a data frame of pandas or polars, perhaps lazy, or an Arrow table."""
    return hasattr(value, "collect_schema") or hasattr(value, "columns")


def as_pandas(frame: Any) -> Any:
    """Return a frame of polars, perhaps lazy, or of Arrow as one of pandas; all else as it is.

    Examples
    --------
    >>> import pyarrow as pa
    >>> as_pandas(pa.table({"word": ["he"]}))["word"].tolist()
    ['he']
    """
    if isinstance(frame, pd.DataFrame):
        return frame
    if hasattr(frame, "collect_schema") and hasattr(frame, "collect"):  # a LazyFrame
        frame = frame.collect()
    return frame.to_pandas() if hasattr(frame, "to_pandas") else frame


def plain_frame(frame: Any, known: Collection[str] | None = None) -> pd.DataFrame:
    """Return a data frame with columns of numbers, truth values, texts, or categories of texts.

    Parameters
    ----------
    frame : DataFrame
    known : collection of str, optional
        Columns whose cells must be numbers or texts; other cells of other columns become texts. By
        default all.

    Examples
    --------
    >>> import pandas as pd
    >>> plain_frame(pd.DataFrame({"a": pd.array([1, None], dtype="Int64")}))["a"].tolist()
    [1.0, nan]
    """
    frame = as_pandas(frame)
    if not isinstance(frame, pd.DataFrame):
        raise checks.wrong_kind(frame, "data frame", "a pandas DataFrame")
    if isinstance(frame.columns, pd.MultiIndex):
        raise InputError("expected one level of column names, got several", where="data frame")
    out = frame.copy(deep=False)
    for place, name in enumerate(frame.columns):
        if not isinstance(name, str | numbers.Integral):
            raise InputError("expected texts as names of columns", where="data frame", found=name)
        strict = known is None or name in known
        plain = _plain_column(frame.iloc[:, place], f"data frame, column {name}", strict)
        out.isetitem(place, plain)
    return out


def _plain_column(column: pd.Series, where: str, strict: bool) -> pd.Series:
    kinds, dtype = pd.api.types, column.dtype
    if isinstance(dtype, pd.CategoricalDtype) and not kinds.is_string_dtype(dtype.categories):
        return column.astype(dtype.categories.dtype)
    if isinstance(dtype, pd.StringDtype | pd.CategoricalDtype):
        return column
    extension = kinds.is_extension_array_dtype(dtype)
    if kinds.is_bool_dtype(dtype) and extension:
        return column.astype(object if column.isna().any() else bool)
    if kinds.is_numeric_dtype(dtype):
        return column.astype(float if extension else dtype.newbyteorder("="))
    kind = kinds.infer_dtype(column, skipna=True) if kinds.is_object_dtype(dtype) else "dates"
    if kind in ("integer", "floating", "mixed-integer-float", "decimal"):
        return column.astype(float if column.isna().any() or kind != "integer" else "int64")
    if kind in ("string", "empty", "boolean"):
        return column
    if not strict or kind == "dates":
        return column.astype(str).where(column.notna(), None)
    for row, value in enumerate(column):
        if not (value is None or value is pd.NA or isinstance(value, str | numbers.Real)):
            raise checks.wrong_kind(value, f"{where}, row {row}", "a number or a text")
    return column


def checked_texts(
    column: pd.Series, where: str, check: Callable[..., list[str]] = checks.labels
) -> pd.Series:
    r"""Return a column whose texts pass a check, in composed form; each text is checked once.

    Parameters
    ----------
    column : Series
        Cells that are no texts stay as they are.
    where : str
    check : callable
        `checks.labels` for names, or `checks.free_texts` for sentences and prompts.

    Examples
    --------
    >>> import pandas as pd
    >>> checked_texts(pd.Series(["a", "b\0", "a"]), "answers.csv, column group")
    Traceback (most recent call last):
    ...
    bayesbias.InputError: answers.csv, column group: expected one line of visible characters, got 'b\x00'.
    """
    categorical = isinstance(column.dtype, pd.CategoricalDtype)
    if not categorical and pd.api.types.is_numeric_dtype(column.dtype):
        return column
    distinct = column.cat.categories if categorical else pd.unique(column)
    texts = [text for text in distinct if isinstance(text, str)]
    checked = check(texts, where)
    other = {text: new for text, new in zip(texts, checked, strict=True) if new != text}
    return column.map(lambda cell: other.get(cell, cell)) if other else column


# Files


def joined(frame: pd.DataFrame, separator: str = " | ") -> pd.Series:
    """Return the texts of each row as one.

    Examples
    --------
    >>> joined(pd.DataFrame({"group": ["a", "b"], "item": ["x", "y"]})).tolist()
    ['a | x', 'b | y']
    """
    first, *others = frame.columns
    out = frame[first]
    for name in others:
        out = out + separator + frame[name]
    return out


def read_cells(path: Path) -> tuple[pd.DataFrame, str]:
    """Read a small table of texts; return it without columns that have no name, and its separator.

    Commas, semicolons or tabs separate; the index counts lines.
    """
    text = read_text(path)
    mark, start = separator_of(text)
    with guarded(path, "a table"):
        frame = pd.read_csv(
            io.StringIO(text[start:]), sep=mark, dtype=str, keep_default_na=False, index_col=False
        )
    frame.index += 2 + bool(start)
    # R and pandas write the numbers of rows without a name.
    return frame.loc[:, ~frame.columns.str.startswith("Unnamed: ")].fillna(""), mark


def read_rows(path: Path) -> pd.DataFrame:
    """Read a table in CSV, TSV, Parquet or JSON lines, whose nested keys are joined by dots.

    Columns may be separated by semicolons, with decimal commas. Lines of # before the header are comments.
    """
    ending = path.suffix.lower()
    with guarded(path, "a table"):
        if ending in (".parquet", ".pq"):
            return pd.read_parquet(path)
        if ending in (".jsonl", ".json", ".ndjson"):
            return rows_of_document(read_document(path), path)
        text = decoded(read_bytes(path), path)
        mark, start = separator_of(text)
        lines = text[start:].splitlines()
        first = next((line for line in lines if not line.startswith("#")), "")
        if not start:
            mark = "\t" if ending in (".tsv", ".txt") else max(",;", key=first.count)
        frame = pd.read_csv(
            io.StringIO(text[start:]), sep=mark, comment="#" if lines[:1] != [first] else None,
            keep_default_na=False, dtype=object,
        )  # fmt: skip
        if mark == ";":
            frame = frame.replace(r"^([+-]?\d*),(\d+)$", r"\1.\2", regex=True)
        return frame.rename(columns=str)


def refuse_answers(columns: Collection[object], where: object) -> None:
    """Refuse a file of answers of a model where another table is expected, and name its command.

    Examples
    --------
    >>> refuse_answers(["protected_word", "attribute", "distance"], "pairs.csv")
    """
    names = {str(name) for name in columns}
    for kind, known in _ANSWERS.items():
        if known <= names:
            raise InputError(
                f"expected another table, got answers of a model ({kind})",
                where=where,
                hint="compare them with `bayesbias responses fit`",
            )


def read_document(path: Path) -> Any:
    """Return what a file of JSON holds: a list with a value for each line, a list, or an object."""
    with guarded(path, "a table"):
        text = decoded(read_bytes(path), path)
        start = text.lstrip()
        if start.startswith("["):
            return parse_json(text, path)
        if path.suffix.lower() == ".json" and not _has_objects_in_lines(start):
            return parse_json(text, path)
        return parse_json_lines(text, path)


def _has_objects_in_lines(text: str) -> bool:
    """Whether the first line of a text is one whole object, and others follow."""
    first, _, others = text.partition("\n")
    return first.rstrip().endswith("}") and bool(others.strip())


def rows_of_document(document: Any, where: object) -> pd.DataFrame:
    """Return the table in a document of JSON: its records, or those of the one list in it.

    Parameters
    ----------
    document : list or dict
    where : object
        The file, for messages.

    Examples
    --------
    >>> rows_of_document({"id": 1, "results": {"results": [{"score": 1, "vars": {"name": "Ebony"}}]}}, "x")
       score vars.name
    0      1     Ebony
    """
    if isinstance(document, list):
        return pd.json_normalize(document)
    lists = _lists_of_records(document)
    if len(lists) == 1:
        return pd.json_normalize(*lists.values())
    keys = list(document) if isinstance(document, dict) else []
    if not keys:
        raise InputError("expected a list of records, got another value", where=where)
    if not lists:
        raise InputError(
            f"expected a list of records, got one object with the keys {some(keys)}",
            where=where,
            hint="write a list with an object for each answer",
        )
    raise InputError(
        f"expected one list of records, got {len(lists)}: {some(lists)}",
        where=where,
        hint="write the one that holds the answers to a file of its own",
    )


def _lists_of_records(document: Any, inside: str = "") -> dict[str, list[Any]]:
    """Return the lists of objects in an object, by their keys joined by dots; not those in lists."""
    if not isinstance(document, dict):
        return {}
    lists: dict[str, list[Any]] = {}
    for key, value in document.items():
        name = f"{inside}{key}"
        if isinstance(value, list) and value and all(isinstance(row, dict) for row in value):
            lists[name] = value
        else:
            lists |= _lists_of_records(value, f"{name}.")
    return lists


def read_csv(
    path: Path,
    labels: Collection[str],
    numbers: Collection[str],
    layouts: str,
) -> Any:
    """Read CSV in UTF-8, perhaps packed, as an Arrow table; "nan", "null" and "NA" are words.

    Parameters
    ----------
    path : Path
    labels : collection of str
        Columns of texts that become dictionaries.
    numbers : collection of str
        Columns that are numbers if all of their cells are finite ones; else they are texts, as all
        others.
    layouts : str
        What columns are wanted, for messages.
    """
    import pyarrow as pa
    from pyarrow import csv

    texts = {}
    reading: dict[str, Any] = {"block_size": _BLOCK}
    with opened(path, unpack=True) as stream:
        start = stream.read(_HEAD)
        refuse_binary(start, path)
        if encoding := given_encoding():
            stream.seek(0)
            reading["encoding"] = "utf-8" if _holds_utf8(stream) else encoding
    mark, of_excel = separator_of(start.decode(errors="replace"))
    reading["skip_rows"] = int(bool(of_excel))

    def read(types: dict[str, Any], threads: bool = True, decimal: str = ".") -> Any:
        with opened(path, unpack=True) as stream:
            return csv.read_csv(
                stream,
                csv.ReadOptions(use_threads=threads, **reading),
                csv.ParseOptions(newlines_in_values=True, delimiter=mark),
                csv.ConvertOptions(
                    column_types=types, null_values=[], strings_can_be_null=False,
                    decimal_point=decimal,
                ),
            )  # fmt: skip

    with guarded(path, f"the columns {layouts}"):
        try:
            with opened(path, unpack=True) as stream:
                names = csv.open_csv(
                    stream, csv.ReadOptions(**reading), csv.ParseOptions(delimiter=mark)
                ).schema.names
            label = pa.dictionary(pa.int32(), pa.string())
            texts = {name: label if name in labels else pa.string() for name in names}
            wanted = {name: pa.float64() for name in names if name in numbers}
            for decimal in ".," if mark == ";" else ".":
                try:
                    table = read(texts | wanted, decimal=decimal)
                except pa.ArrowInvalid:
                    continue  # a text among numbers is found below
                columns = [table.column(names.index(name)).to_numpy() for name in wanted]
                if all(np.isfinite(column).all() for column in columns):
                    return table
            return read(texts)
        except pa.ArrowInvalid as error:
            if "UTF8" in str(error):
                decoded(read_bytes(path, unpack=True), path)  # says where, and what would read it
            return read(texts, False)  # says in which row the fault is: it knows that on one thread


def _holds_utf8(stream: BinaryIO) -> bool:
    """Whether all of a stream is text in UTF-8."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        while part := stream.read(_BLOCK):
            decoder.decode(part)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def read_parquet(path: Path, categories: Collection[str] = ()) -> Any:
    """Return a Parquet file as an Arrow table; texts of `categories` come as dictionaries."""
    import pyarrow.parquet as pq

    with opened(path) as file, guarded(path, "Parquet"):
        texts = [name for name in categories if name in pq.read_schema(file).names]
        file.seek(0)
        return pq.ParquetFile(file, read_dictionary=texts, page_checksum_verification=True).read()


# Printed


def first_rows(lines: Sequence[str], frame: pd.DataFrame) -> str:
    """Return lines about a table, and below them its first rows.

    Examples
    --------
    >>> print(first_rows(["Two words"], pd.DataFrame({"word": ["nurse", "cook"], "n": [1, 2]})))
    Two words
    <BLANKLINE>
     word  n
    nurse  1
     cook  2
    """
    shown = frame.head(_SHOWN_ROWS).to_string(index=False, max_colwidth=_SHOWN_WIDTH)
    more = ["..."] if len(frame) > _SHOWN_ROWS else []
    return "\n".join([*lines, "", *shown.splitlines(), *more])


def first_rows_html(lines: Sequence[str], frame: pd.DataFrame) -> str:
    """Return the same for a notebook."""
    text = "<br>".join(html.escape(line) for line in lines)
    with pd.option_context("display.max_colwidth", _SHOWN_WIDTH):
        rows = frame.head(_SHOWN_ROWS).to_html(index=False)
    more = "<p>...</p>" if len(frame) > _SHOWN_ROWS else ""
    return f"<p>{text}</p>{rows}{more}"
