"""Columns of one's own in a table of pairs: which there are, and how they are kept.

A frequency, a part of speech, the source of a word: what a table says of its pairs beyond what is asked of it stays
with the rows, after our own columns, in its order. Numbers stay numbers, and texts stay texts.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from bayesbias.core import checks
from bayesbias.core.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

# What pandas calls a column that has no name.
_UNNAMED = re.compile(r"Unnamed: \d+(\.\d+)?|\s*")
# Codes such as 007 and numbers that no float holds are texts.
_NUMBER = r"[+-]?((0|[1-9][0-9]{0,14})(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?"
_WHOLE = r"[+-]?(0|[1-9][0-9]{0,14})"


def own_columns(
    names: Sequence[object], ours: Collection[str], taken: Collection[str], where: str
) -> list[str]:
    """Return the columns of a table that are its own.

    Columns without a name that stand first are the numbers of rows, which R and pandas write; they are none.

    Parameters
    ----------
    names : sequence
        All columns, in their order.
    ours : collection of str
        Those that the layout has.
    taken : collection of str
        Those that no column of one's own may be called.
    where : str

    Raises
    ------
    InputError
        For a column that has no name, a name that stands twice or that is ours.
    """
    checks.distinct([str(name) for name in names if not _UNNAMED.fullmatch(str(name))], "a column", where)
    own: list[str] = []
    begun = False
    for place, name in enumerate(names, 1):
        if _UNNAMED.fullmatch(str(name)):
            if begun:
                raise InputError("a column has no name", where=f"{where}, column {place}", hint="name it")
            continue
        begun = True
        if name in ours:
            continue
        if not isinstance(name, str):
            raise InputError("the name of a column must be a text", where=where, found=name)
        if name in taken:
            raise InputError(
                f"a column of your own is called {name!r}, which is ours", where=where, hint="rename it"
            )
        own.append(name)
    return own


def kept_as_read(column: pd.Series) -> pd.Series:
    """Return a column with its numbers as numbers and all else as it stands; of mixed things, texts."""
    import pandas as pd

    if column.dtype.kind != "O" and not pd.api.types.is_string_dtype(column.dtype):
        return column
    present = column[column.notna()]
    if not all(isinstance(value, str) for value in present):
        return column.map(str, na_action="ignore")
    return column


def numbers_of_texts(column: pd.Series) -> pd.Series:
    """Return a column of texts as numbers where all of its cells, but for empty ones, are numbers."""
    import pandas as pd

    if not pd.api.types.is_string_dtype(column.dtype):  # numbers already
        return column
    texts = column.str.strip()
    filled = texts[texts != ""]
    if filled.empty or not filled.str.fullmatch(_NUMBER).all():
        return column
    whole = len(filled) == len(column) and filled.str.fullmatch(_WHOLE).all()
    return filled.astype("int64") if whole else pd.to_numeric(texts, errors="coerce").astype(float)
