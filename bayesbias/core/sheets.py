"""Tables as CSV, and cells that a spreadsheet would execute.

A text that begins with ``=``, ``+``, ``-``, ``@``, a tab or a carriage return is a formula to a spreadsheet. Written
`spreadsheet_safe`, an apostrophe stands before it, which spreadsheets take for the mark of a text. A text that has such
an apostrophe of its own gets another, whichever way it is written: so taking one away, as every reader here does,
always returns what was there.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

_FORMULA = "=+\\-@\t\r\n＝＋－＠"
_EXECUTED = re.compile(f"'*[{_FORMULA}]")
_MARKED = re.compile(f"'+[{_FORMULA}]")


def marked(text: str, *, spreadsheet_safe: bool = True) -> str:
    """Return the text of a cell as it is written.

    Examples
    --------
    >>> marked("=1+1"), marked("=1+1", spreadsheet_safe=False), marked("nurse"), marked("'-ish", spreadsheet_safe=False)
    ("'=1+1", '=1+1', 'nurse', "''-ish")
    """
    return f"'{text}" if (_EXECUTED if spreadsheet_safe else _MARKED).match(text) else text


def unmarked(text: str) -> str:
    """Return the text of a cell as it was before it was written.

    Examples
    --------
    >>> unmarked("'=1+1"), unmarked("=1+1"), unmarked("'tis"), unmarked("''-ish")
    ('=1+1', '=1+1', "'tis", "'-ish")
    """
    return text[1:] if _MARKED.match(text) else text


def write_csv(
    frame: pd.DataFrame, path: Path, *, separator: str = ",", spreadsheet_safe: bool = False
) -> None:
    """Write a frame as CSV, without the numbers of its rows."""

    def written(text: str) -> str:
        return marked(text, spreadsheet_safe=spreadsheet_safe)

    safe = _changed(frame, _EXECUTED if spreadsheet_safe else _MARKED, written)
    safe.to_csv(path, index=False, sep=separator)


def without_marks(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame that was read from CSV, its texts as they were before they were written."""
    return _changed(frame, _MARKED, unmarked)


def _changed(frame: pd.DataFrame, pattern: re.Pattern[str], change: Callable[[str], str]) -> pd.DataFrame:
    """Change the texts of a frame that a pattern describes, its heads among them."""
    import pandas as pd

    out = frame
    for at, kind in enumerate(frame.dtypes):
        categorical = isinstance(kind, pd.CategoricalDtype)
        if not (categorical or pd.api.types.is_object_dtype(kind) or pd.api.types.is_string_dtype(kind)):
            continue
        column = frame.iloc[:, at]
        values = (column.cat.categories if categorical else column).tolist()
        if not any(isinstance(value, str) and pattern.match(value) for value in values):
            continue
        change_all = {value: change(value) for value in values if isinstance(value, str)}
        out = out.copy() if out is frame else out
        if categorical and len(set(change_all.values())) == len(values):
            out.isetitem(at, column.cat.rename_categories(change_all))
        else:
            new = [change_all.get(value, value) if isinstance(value, str) else value for value in column]
            out.isetitem(at, pd.Series(new, index=frame.index, dtype=object if categorical else kind))
    names = [change(name) if isinstance(name, str) else name for name in frame.columns]
    return out if names == list(frame.columns) else out.set_axis(names, axis=1)
