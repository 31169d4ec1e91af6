"""Data frames and arrays handed over in memory, made plain: numbers, truth values and texts, and nothing else.

Whoever calls from Python may hold columns of any kind: of dates, of lists, of complex numbers, in another order of bytes, with
a mask. What comes out of here is of a few kinds alone, so that nothing further on need know of the others.
"""

from __future__ import annotations

import datetime
import decimal
import numbers
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from bayesbias.core import checks
from bayesbias.core.arrays import checked_texts
from bayesbias.core.cleaning import checked_text
from bayesbias.core.errors import InputError
from bayesbias.core.guarding import guarded
from bayesbias.core.wording import Shortened, number_of, put_in_words

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

_CELLS = "numbers, or texts"
_WIDTHS = (4, 8)  # bytes of a floating-point number that every library reckons with
_MOST_WHOLE = 2**63
_PLAIN = ("string", "empty")


def plain_frame(
    frame: Any, where: str, valid: str = "a pandas DataFrame", *, known: Collection[str] | None = None
) -> pd.DataFrame:
    """Return a data frame with columns of plain kinds: numbers, truth values, texts, or categories of texts.

    Dates and spans become texts, extension types and fractions plain numbers; a missing number is NaN, another missing cell
    stays missing.

    Parameters
    ----------
    frame : DataFrame
    where : str
        What it is called in messages.
    valid : str
    known : collection of str, optional
        Columns whose cells must be numbers or texts; in others whatever else stands there is put into words. By default all.

    Raises
    ------
    InputError
        For what is no data frame of pandas, columns of several levels, and cells that are neither numbers nor texts.

    Examples
    --------
    >>> import pandas as pd
    >>> plain_frame(pd.DataFrame({"a": pd.array([1, None], dtype="Int64")}), "the frame")["a"].tolist()
    [1.0, nan]
    >>> plain_frame(pd.DataFrame({"a": [[1], "b"]}), "the frame")
    Traceback (most recent call last):
    ...
    bayesbias.InputError: the frame, row 0, column a: is none of what is taken here; found: a list; valid: numbers, or texts
    """
    import pandas as pd

    if not isinstance(frame, pd.DataFrame):
        hint = "turn it into one with .to_pandas()" if hasattr(frame, "to_pandas") else None
        raise checks.wrong_kind(frame, where, valid, hint)
    if isinstance(frame.columns, pd.MultiIndex):
        raise InputError("has columns of several levels", where=where, valid="one name a column")
    out = frame
    for place, name in enumerate(frame.columns):
        called = f"column {place + 1}"
        if not (
            isinstance(name, str) or (isinstance(name, numbers.Integral) and abs(int(name)) < _MOST_WHOLE)
        ):
            raise InputError(
                "the name of a column must be a text", where=f"{where}, {called}", found=Shortened(name)
            )
        if isinstance(name, str):
            called = f"column {checked_text(name, f'{where}, the name of {called}')}"
        before = frame.iloc[:, place]
        if len(before.array) != len(frame):  # as pandas leaves it where it was handed masked records
            raise InputError("has columns of several lengths", where=f"{where}, {called}")
        after = plain_column(before, where, called, strict=known is None or name in known)
        if after is not before:
            out = out.copy(deep=False) if out is frame else out
            with guarded(f"{where}, {called}", "cannot be read as a column"):
                out.isetitem(place, after)
    return out


def plain_column(column: pd.Series, where: str, called: str, *, strict: bool = True) -> pd.Series:
    """Return a column of a plain kind; itself where it is."""
    with guarded(f"{where}, {called}", "cannot be read as numbers or texts"):
        return _plain_column(column, where, called, strict)


def _plain_column(column: pd.Series, where: str, called: str, strict: bool) -> pd.Series:
    import numpy as np
    import pandas as pd

    dtype, types = column.dtype, pd.api.types
    if isinstance(dtype, pd.CategoricalDtype):
        labels = dtype.categories
        if labels.dtype.kind == "O" and types.infer_dtype(labels, skipna=False) in _PLAIN:
            checked_texts(labels.tolist(), f"{where}, {called}")
            return column
        if isinstance(labels.dtype, pd.StringDtype):
            return column
        return _plain_column(column.astype(object), where, called, strict)
    if isinstance(dtype, np.dtype):
        kind = dtype.kind
        if (
            column.to_numpy().ndim != 1
        ):  # pandas makes a column of an array of arrays, each of which looks like a number
            raise checks.wrong_kind(column.to_numpy()[0], f"{where}, row 0, {called}", _CELLS)
        if kind in "biu" or (kind == "f" and dtype.itemsize in _WIDTHS):
            return column if dtype.isnative else column.astype(dtype.newbyteorder("="))
        if kind == "f":
            return column.astype(np.float64)
    elif isinstance(dtype, pd.StringDtype):
        return column
    elif isinstance(dtype, pd.SparseDtype):
        return _plain_column(column.sparse.to_dense(), where, called, strict)
    elif types.is_bool_dtype(dtype) or types.is_numeric_dtype(dtype):
        if column.isna().any():
            if types.is_bool_dtype(dtype):  # truths stay truths, with and without gaps
                return column.astype(object).where(column.notna(), None)
            return pd.Series(column.to_numpy(np.float64, na_value=np.nan), column.index)
        if types.is_bool_dtype(dtype) or types.is_integer_dtype(dtype):
            return column.astype(bool if types.is_bool_dtype(dtype) else dtype.numpy_dtype)
        return pd.Series(column.to_numpy(np.float64), column.index)
    values = column.astype(object)
    if dtype.kind == "O" and types.infer_dtype(values, skipna=True) in _PLAIN:
        checked_texts(pd.unique(values.dropna()).tolist(), f"{where}, {called}")
        return column if isinstance(dtype, np.dtype) else values
    cells: list[Any] = []
    for row, value in enumerate(values):
        cells.append(_plain_cell(value, f"{where}, row {row}, {called}", strict))
    present = [cell for cell in cells if cell is not None]
    if present and all(type(cell) in (int, float) for cell in present):
        whole = len(present) == len(cells) and all(
            type(cell) is int and abs(cell) < _MOST_WHOLE for cell in cells
        )
        return pd.Series(cells, column.index, dtype=np.int64 if whole else np.float64)
    checked_texts([cell for cell in present if isinstance(cell, str)], f"{where}, {called}")
    if len(present) == len(cells) and all(type(cell) is bool for cell in cells):
        return pd.Series(cells, column.index, dtype=bool)
    return pd.Series(cells, column.index, dtype=object)


def _plain_cell(value: Any, here: str, strict: bool) -> str | int | float | bool | None:
    import numpy as np

    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, numbers.Integral):
        return int(value) if abs(int(value)) < _MOST_WHOLE else _as_float(value, here)
    if isinstance(value, numbers.Real | decimal.Decimal):
        number = _as_float(value, here)
        return None if number != number else number
    if isinstance(value, datetime.date | datetime.time | datetime.timedelta):
        return str(value)
    if type(value).__module__.startswith("pandas.") and type(value).__name__ in ("Period", "Interval"):
        return str(value)
    if strict:
        raise checks.wrong_kind(value, here, _CELLS)
    return put_in_words(value, str)


def _as_float(value: Any, where: str) -> float:
    with guarded(where, "is a number that cannot be reckoned with", valid=_CELLS):
        return float(value)


def plain_numbers(
    values: Any,
    where: object,
    valid: str = "finite numbers, all rows of one length",
    *,
    truths: bool = False,
) -> Any:
    """Return numbers handed over in memory as an array of floats or integers; truth values, texts and complex ones are none.

    Parameters
    ----------
    values : array_like
        Of any shape.
    where : object
    valid : str
    truths : bool
        Whether truth values will do, as 0 and 1.

    Raises
    ------
    InputError
        For anything that is no array of real numbers, and for one of which a part is masked.

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

    with guarded(where, "holds no real numbers", valid=valid):
        masked = np.ma.is_masked(values)
        array = np.asarray(values)
        if array.dtype.kind == "O":
            array = _of_objects(array)
    if masked:
        raise InputError("holds numbers that are masked", where=where, valid=valid)
    if gone := _missing_among(array):
        raise InputError(f"holds {number_of(gone, 'missing value')}", where=where, valid=valid)
    if truths and array.dtype.kind == "b":
        array = array.astype(np.int8)
    if array.dtype.kind not in "fiu":
        dtype = f"type {str(array.dtype)[:40]}"
        raise InputError("holds no real numbers", where=where, found=dtype, valid=valid)
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def _missing_among(array: np.ndarray) -> int:
    """Return how many of an array of Python's numbers are none: None, and what pandas has for it."""
    if array.dtype.kind != "O":
        return 0
    flat = array.ravel().tolist()
    gone = sum(one is None or type(one).__name__ in ("NAType", "NaTType") for one in flat)
    return gone if gone < len(flat) else 0


def _of_objects(array: np.ndarray) -> np.ndarray:
    """Return an array of Python's numbers, which may be fractions or decimals, as floats."""
    import numpy as np

    flat = array.ravel().tolist()
    if not all(isinstance(one, numbers.Real | decimal.Decimal) and not isinstance(one, bool) for one in flat):
        return array
    return np.array([float(one) for one in flat], dtype=np.float64).reshape(array.shape)


def in_order_of(answer: Any, texts: Sequence[str], where: object) -> Any:
    """Return what a function of somebody else's made of texts, one row a text, in their order.

    A series or frame may have the texts as its index, and stand in another order; one whose rows are numbered must have them
    in order, since nobody says what its numbers are.

    Raises
    ------
    InputError

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
                "answers with rows in another order, by their index",
                where=where,
                found=Shortened(held),
                hint="sort them: .sort_index()",
            )
        return answer
    if held == list(texts):
        return answer
    if len(set(held)) != len(held) or set(held) != set(texts):
        raise InputError(
            "answers with an index that is not that of the sentences",
            where=where,
            found=Shortened(held),
            valid="one row a sentence, in their order",
            hint="drop it: .reset_index(drop=True)",
        )
    return answer.loc[list(texts)]
