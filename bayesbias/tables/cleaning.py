"""Texts of a table, cleaned: one spelling of each letter, and no control characters, as in every file of words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from bayesbias.core import checks
from bayesbias.core.files import QUOTED
from bayesbias.core.formatting import some
from bayesbias.tables.checking import Source
from bayesbias.tables.codes import Codes

if TYPE_CHECKING:
    import pandas as pd


def cleaned_texts(
    frame: pd.DataFrame, columns: Iterable[str], source: Source
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Return a table with the texts of some columns as `checks.label` returns them; numbers stay as they are.

    Blanks around a text are left off, as covariates and predictions leave them off and lists have none: ``"she "`` is no
    other word than ``"she"``, and its row repeats the other's or contradicts it.

    Returns
    -------
    DataFrame, tuple of str
        The second notes the texts that had blanks around them.

    Raises
    ------
    InputError
        For a control character, a tab or a line break, naming row and column.
    """
    import pandas as pd

    changed = {}
    blank: dict[str, None] = {}
    for name in columns:
        column = frame[name]
        if pd.api.types.is_numeric_dtype(column.dtype) or pd.api.types.is_bool_dtype(column.dtype):
            continue
        try:
            codes = Codes.of(column)
        except TypeError:  # a list, or another thing that is no label
            at = next(i for i, value in enumerate(column) if isinstance(value, list | dict | set))
            raise checks.wrong_kind(column.iloc[at], source.at(at, str(name)), "a text") from None
        new: dict[str, str] = {}
        for place, label in enumerate(codes.labels):
            if not (label.isascii() and label.isprintable()):
                at = int((codes.of_row == place).argmax())
                new[label] = checks.label(label, source.at(at, str(name)), QUOTED if source.file else None)
            if label != label.strip():
                new[label] = new.get(label, label).strip()
                blank[label] = None
        if any(label != clean for label, clean in new.items()):
            changed[name] = pd.Series(codes.categories(_of(new)), frame.index)
    notes = (f"blanks around texts are left off: {some(map(repr, blank))}",) if blank else ()
    return (frame.assign(**changed) if changed else frame), notes


def _of(new: Mapping[str, str]) -> Callable[[str], str]:
    return lambda label: new.get(label, label)
