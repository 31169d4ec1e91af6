"""Tables: frames and arrays from memory made plain, CSV and Parquet read and written."""

import numbers
import re
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesbias.core import checks
from bayesbias.core.errors import InputError, nearest
from bayesbias.core.files import blocks_of_lines, guarded, opened
from bayesbias.core.formatting import Shortened, number_of

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

_BLOCK = 8 << 20  # bytes that Arrow reads at a time; a line may be as long
_MOST_COLUMNS = 1000
_FORMULA = re.compile("'?[=+\\-@\t\r]")  # what a spreadsheet executes, or what stands before it


# In memory


def plain_frame(
    frame: Any,
    where: str,
    valid: str = "a pandas DataFrame",
    *,
    known: Collection[str] | None = None,
) -> "pd.DataFrame":
    """Return a data frame with columns of numbers, truth values, texts, or categories of texts.

    Parameters
    ----------
    frame : DataFrame
    where : str
        What it is called in messages.
    valid : str
    known : collection of str, optional
        Columns whose cells must be numbers or texts; other cells of other columns become texts. By
        default all.

    Examples
    --------
    >>> import pandas as pd
    >>> plain_frame(pd.DataFrame({"a": pd.array([1, None], dtype="Int64")}), "the frame")["a"].tolist()
    [1.0, nan]
    """
    import pandas as pd

    if not isinstance(frame, pd.DataFrame):
        hint = "turn it into one with .to_pandas()" if hasattr(frame, "to_pandas") else None
        raise checks.wrong_kind(frame, where, valid, hint)
    if isinstance(frame.columns, pd.MultiIndex):
        raise InputError("has columns of several levels", where=where, valid="one name a column")
    out = frame.copy(deep=False)
    for place, name in enumerate(frame.columns):
        if not isinstance(name, str | numbers.Integral):
            raise InputError(
                "the name of a column must be a text", where=where, found=Shortened(name)
            )
        here = f"{where}, column {name}"
        column = _plain_column(frame.iloc[:, place], here, known is None or name in known)
        if column is not None:
            out.isetitem(place, column)
    return out


def _plain_column(column: "pd.Series", where: str, strict: bool) -> "pd.Series | None":
    """Return a column made plain; None where it is."""
    import pandas as pd

    kinds = pd.api.types
    dtype = column.dtype
    if isinstance(dtype, pd.StringDtype):
        return None
    if isinstance(dtype, pd.CategoricalDtype):
        return (
            None
            if kinds.is_string_dtype(dtype.categories)
            else column.astype(dtype.categories.dtype)
        )
    if kinds.is_bool_dtype(dtype) and kinds.is_extension_array_dtype(dtype):
        return column.astype(object if column.isna().any() else bool)
    if kinds.is_complex_dtype(dtype):
        raise checks.wrong_kind(column.iloc[0], where, "numbers, or texts")
    if kinds.is_numeric_dtype(dtype) and kinds.is_extension_array_dtype(dtype):
        return column.astype(float)
    if kinds.is_numeric_dtype(dtype):
        return column.astype(dtype.newbyteorder("=")) if not dtype.isnative else None
    if not kinds.is_object_dtype(dtype):  # dates and spans
        return column.astype(str).where(column.notna(), None)
    kind = kinds.infer_dtype(column, skipna=True)
    if kind in ("string", "empty", "boolean"):
        return None
    if kind in ("integer", "floating", "mixed-integer-float", "decimal"):
        with guarded(where, "cannot be read as numbers"):
            return column.astype(float if column.isna().any() or kind != "integer" else "int64")
    for row, value in enumerate(column):
        if strict and not (
            value is None or isinstance(value, str | numbers.Real) or value is pd.NA
        ):
            raise checks.wrong_kind(value, f"{where}, row {row}", "numbers, or texts")
    return None if strict else column.astype(str).where(column.notna(), None)


def plain_numbers(
    values: Any,
    where: object,
    valid: str = "finite numbers, all rows of one length",
    *,
    truths: bool = False,
) -> Any:
    """Return numbers handed over in memory as an array of floats or integers.

    Parameters
    ----------
    values : array_like
    where : object
    valid : str
    truths : bool
        Whether truth values will do, as 0 and 1.

    Examples
    --------
    >>> plain_numbers([1, 0.5], "the vector")
    array([1. , 0.5])
    >>> plain_numbers([1j], "the vector", "numbers")
    Traceback (most recent call last):
    ...
    bayesbias.InputError: the vector: holds no real numbers; found: 'type complex128'; valid: numbers
    """
    import numpy as np
    import pandas as pd

    with guarded(where, "holds no real numbers", valid=valid):
        array = np.asarray(values)
        if np.ma.is_masked(values):
            raise InputError("holds numbers that are masked", where=where, valid=valid)
        if array.dtype.kind == "O" and array.size:
            if gone := int(pd.isna(array).sum()):
                raise InputError(
                    f"holds {number_of(gone, 'missing value')}", where=where, valid=valid
                )
            if all(not isinstance(one, str | bytes | bool | complex) for one in array.flat):
                array = array.astype(float)
    if truths and array.dtype.kind == "b":
        array = array.astype(np.int8)
    if array.dtype.kind not in "fiu":
        raise InputError(
            "holds no real numbers", where=where, found=f"type {str(array.dtype)[:40]}", valid=valid
        )
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def in_order_of(answer: Any, texts: Sequence[str], where: object) -> Any:
    """Return what a user's function made of texts, one row a text, in their order.

    A series or frame may have the texts as its index, in another order.

    Examples
    --------
    >>> import pandas as pd
    >>> in_order_of(pd.Series([0.2, 0.9], index=["b", "a"]), ["a", "b"], "classifier toy").tolist()
    [0.9, 0.2]
    """
    index = getattr(answer, "index", None)
    if index is None or not hasattr(answer, "iloc"):
        return answer
    held = list(index)
    if not any(isinstance(label, str) for label in held):
        if not index.is_monotonic_increasing:
            raise InputError(
                "the index of the answer is not sorted", where=where, hint="sort it: .sort_index()"
            )
        return answer
    if len(set(held)) != len(held) or set(held) != set(texts):
        raise InputError(
            "the index of the answer is not that of the sentences",
            where=where,
            found=Shortened(held),
            hint="drop it: .reset_index(drop=True)",
        )
    return answer.loc[list(texts)]


# Files


def read_csv(
    path: Path,
    labels: Collection[str],
    numbers: Collection[str],
    layouts: str,
    called: object = None,
) -> "pa.Table":
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
    called : object, optional
        What messages call the file.
    """
    import numpy as np
    import pyarrow as pa
    from pyarrow import csv

    called = called or path

    def read(types: dict[str, Any], threads: bool = True) -> Any:
        with opened(path, unpack=True) as stream:
            return csv.read_csv(
                stream,
                csv.ReadOptions(block_size=_BLOCK, use_threads=threads),
                csv.ParseOptions(newlines_in_values=True),
                csv.ConvertOptions(column_types=types, null_values=[], strings_can_be_null=False),
            )

    with guarded(called, "cannot be read as a table"):
        try:
            with opened(path, unpack=True) as stream:
                names = csv.open_csv(stream, csv.ReadOptions(block_size=_BLOCK)).schema.names
            if len(names) > _MOST_COLUMNS:
                raise InputError("has more columns than any table", where=called, found=len(names))
            label = pa.dictionary(pa.int32(), pa.string())
            texts = {name: label if name in labels else pa.string() for name in names}
            try:
                table = read(
                    {name: pa.float64() if name in numbers else texts[name] for name in names}
                )
                wanted = [name for name in names if name in numbers]
                if all(
                    np.isfinite(table.column(names.index(name)).to_numpy()).all() for name in wanted
                ):
                    return table
            except pa.ArrowInvalid:
                pass  # a text among numbers is found below
            return read(texts)
        except (pa.ArrowInvalid, UnicodeDecodeError) as error:
            if "Empty CSV" in str(error):
                raise InputError(
                    "holds no rows", where=called, valid=f"a table with the columns {layouts}"
                ) from None
            if line := _line_not_utf8(path):
                raise InputError(
                    "is not valid UTF-8", where=f"{called}, line {line}", hint="save it as UTF-8"
                ) from None
            ragged = re.search(
                r"Row #(\d+): Expected (\d+) columns, got (\d+)", _serial_error(read)
            )
            if ragged is None:
                raise
            raise InputError(
                f"has {ragged[3]} cells where the header has {ragged[2]}",
                where=f"{called}, line {ragged[1]}",
                hint="a cell with a comma stands in quotation marks"
                if int(ragged[3]) > int(ragged[2])
                else None,
            ) from None


def _serial_error(read: Callable[[dict[str, Any], bool], Any]) -> str:
    """Return what Arrow says with the number of the row, which it knows on one thread alone."""
    try:
        read({}, False)
    except Exception as error:
        return str(error)
    return ""


def _line_not_utf8(path: Path) -> int | None:
    number = 0
    with opened(path, unpack=True) as stream:
        for block in blocks_of_lines(stream, path):
            for line in block:
                number += 1
                try:
                    line.decode()
                except UnicodeDecodeError:
                    return number
    return None


def read_parquet(
    path: Path, columns: Sequence[str] | None = None, *, categories: Collection[str] = ()
) -> "pa.Table":
    """Return some or all columns of a Parquet file as an Arrow table; texts of `categories` come as dictionaries."""
    import pyarrow.parquet as pq

    with opened(path) as file, guarded(path, "cannot be read as Parquet"):
        held = pq.read_schema(file).names
        for name in columns or ():
            if name not in held:
                raise InputError(
                    f"lacks the column {name}",
                    where=path,
                    found=held,
                    valid=columns,
                    hint=nearest(name, held),
                )
        file.seek(0)
        texts = [name for name in categories if name in held]
        return pq.ParquetFile(file, read_dictionary=texts, page_checksum_verification=True).read(
            columns=None if columns is None else list(columns)
        )


def write_csv(
    frame: "pd.DataFrame", path: Path, *, separator: str = ",", spreadsheet_safe: bool = False
) -> None:
    """Write a frame as CSV; if `spreadsheet_safe`, an apostrophe stands before what a spreadsheet would execute."""
    safe = _changed(frame, lambda text: f"'{text}" if _FORMULA.match(text) else text)
    (safe if spreadsheet_safe else frame).to_csv(path, index=False, sep=separator)


def unmarked(text: str) -> str:
    """Return the text of a cell without the apostrophe that `write_csv` put before it.

    Examples
    --------
    >>> unmarked("'=1+1"), unmarked("'tis")
    ('=1+1', "'tis")
    """
    return text[1:] if text.startswith("'") and _FORMULA.match(text[1:]) else text


def without_marks(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Return a frame that was read from CSV, its texts as they were before they were written."""
    return _changed(frame, unmarked)


def _changed(frame: "pd.DataFrame", change: Callable[[str], str]) -> "pd.DataFrame":
    """Change the texts of a frame, and the names of its columns."""
    import pandas as pd

    def changed(value: Any) -> Any:
        return change(value) if isinstance(value, str) else value

    out = frame.copy(deep=False)
    for place, dtype in enumerate(frame.dtypes):
        column = frame.iloc[:, place]
        if isinstance(dtype, pd.CategoricalDtype):
            names = [changed(value) for value in dtype.categories]
            if names != dtype.categories.tolist():
                out.isetitem(place, column.cat.rename_categories(names))
        elif pd.api.types.is_object_dtype(dtype) or pd.api.types.is_string_dtype(dtype):
            out.isetitem(place, column.map(changed))
    return out.set_axis([changed(name) for name in frame.columns], axis=1)
