"""Tables of a run read back exactly: every digit of a number, and words that look like nothing."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from bayesbias.basics.errors import InputError
from bayesbias.basics.sheets import without_marks
from bayesbias.border.opening import read_bytes

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

    content = io.BytesIO(read_bytes(path))
    try:
        frame = without_marks(pd.read_csv(content, dtype=str, keep_default_na=False, encoding="utf-8"))
        for name in frame.columns.difference(list(texts), sort=False):
            values = frame[name].tolist()
            if name in whole:
                frame[name] = [int(value) for value in values]
            elif {"True", "False"} & set(values):
                known = {"True": True, "False": False, "": float("nan")}
                frame[name] = pd.Series([known[value] for value in values], dtype=object).infer_objects()
            else:
                frame[name] = [float(value) if value else float("nan") for value in values]
    except (ValueError, KeyError) as error:
        raise InputError(f"is damaged ({str(error).splitlines()[0]})", where=path) from None
    return frame
