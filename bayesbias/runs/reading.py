"""Tables of a run read back exactly: every digit of a number, and words that look like nothing."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesbias.core.errors import InputError
from bayesbias.core.guarding import guarded
from bayesbias.core.opening import read_bytes
from bayesbias.core.sheets import without_marks
from bayesbias.core.texts import decoded

if TYPE_CHECKING:
    import pandas as pd


def read_table(path: Path, *, texts: Collection[str], whole: Collection[str] = ()) -> pd.DataFrame:
    """Read a CSV file as pandas wrote it.

    Columns in `texts` are words, of which ``NA`` and ``null`` are some; those in `whole` whole numbers, all others
    numbers or true and false, missing where they are empty.

    Raises
    ------
    InputError
        Where it is damaged.
    """
    import io

    import pandas as pd

    content = io.StringIO(decoded(read_bytes(path), path), newline="")
    with guarded(path, "is damaged: cannot be read as a table"):
        frame = without_marks(pd.read_csv(content, dtype=str, keep_default_na=False))
    known = {"True": True, "False": False, "": float("nan")}
    for name in frame.columns.difference(list(texts), sort=False):
        values = frame[name].tolist()
        if name in whole:
            frame[name] = _converted(values, int, path, name, "a whole number")
        elif {"True", "False"} & set(values):
            truths = _converted(values, known.__getitem__, path, name, "True or False")
            frame[name] = pd.Series(truths, dtype=object).infer_objects()
        else:
            frame[name] = _converted(values, lambda value: float(value or "nan"), path, name, "a number")
    return frame


def _converted(
    values: list[str], convert: Callable[[str], Any], path: Path, name: str, valid: str
) -> list[Any]:
    out = []
    for line, value in enumerate(values, start=2):
        try:
            out.append(convert(value))
        except (ValueError, KeyError):
            raise InputError(
                "is damaged", where=f"{path}, line {line}, column {name}", found=value, valid=valid
            ) from None
    return out
