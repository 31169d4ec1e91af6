"""What numbers of a table that comes from outside may be: the first that cannot be meant is refused by its line."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.core import checks
from bayesbias.core.errors import InputError

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Range:
    """From the least to the most that a number may be, both included, and whether it may be missing.

    Examples
    --------
    >>> SHARE.takes(0.5), SHARE.takes(7), SHARE.takes(None), SHARE.takes(True), NUMBER.takes(float("inf"))
    (True, False, True, False, False)
    """

    least: float = -checks.LARGEST
    most: float = checks.LARGEST
    missing: bool = True

    def takes(self, value: object) -> bool:
        """Say whether one value, of JSON, is a number of this range."""
        if value is None:
            return self.missing
        if type(value) in (float, int):  # nearly all, and many
            return self.least <= value <= self.most  # type: ignore[operator]
        return checks.is_number(value) and self.least <= value <= self.most  # type: ignore[operator]

    def __str__(self) -> str:
        if self.most >= checks.LARGEST:
            return (
                "a finite number" if self.least <= -checks.LARGEST else f"a number of at least {self.least:g}"
            )
        return f"a number from {self.least:g} to {self.most:g}"


NUMBER, SIZE, SHARE = Range(), Range(0), Range(0, 1)


def hold_to_ranges(
    frame: pd.DataFrame,
    where: object,
    ranges: Mapping[str, Range],
    *,
    choices: Mapping[str, Collection[str]] | None = None,
    texts: Sequence[str] = (),
    ordered: Sequence[Sequence[str]] = (),
    once: Sequence[str] = (),
) -> None:
    """Refuse a table, as `read_table` reads it, with a cell that cannot be meant.

    Parameters
    ----------
    frame : DataFrame
        Its rows are those of the file, the first in its second line. Columns that it lacks are passed over.
    where : object
        The file.
    ranges : mapping
        Column -> what its numbers may be.
    choices : mapping, optional
        Column -> the texts that may stand there.
    texts : sequence of str
        Columns in which a text must stand.
    ordered : sequence of sequences of str
        Columns whose numbers must not fall from one to the next.
    once : sequence of str
        Columns that together name a row, of which none stands twice.

    Raises
    ------
    InputError
        That names line and column.
    """
    for name, allowed in ranges.items():
        if name not in frame.columns:
            continue
        values = frame[name].astype(object).where(frame[name].notna(), None).tolist()
        for row, value in enumerate(values):
            if not allowed.takes(value):
                raise _impossible(where, row, name, "missing" if value is None else value, str(allowed))
    for name, known in (choices or {}).items():
        for row, value in enumerate(frame[name] if name in frame.columns else ()):
            if value not in known:
                raise _impossible(where, row, name, value, ", ".join(filter(None, known)))
    for name in texts:
        for row, value in enumerate(frame[name] if name in frame.columns else ()):
            if not str(value).strip():
                raise _impossible(where, row, name, value, "a text")
    for names in ordered:
        there = [name for name in names if name in frame.columns]
        numbers = frame[there].astype(float).to_numpy()
        falls = (numbers[:, :-1] > numbers[:, 1:]).any(axis=1)
        if falls.any():
            row = int(np.argmax(falls))
            raise _impossible(
                where, row, " and ".join(there), tuple(numbers[row]), "numbers that do not fall"
            )
    if once:
        twice = frame.duplicated(list(once))
        if twice.any():
            row = int(np.argmax(twice))
            raise _impossible(where, row, ", ".join(once), tuple(frame.loc[row, list(once)]), "each row once")


def _impossible(where: object, row: int, column: str, found: Any, valid: str) -> InputError:
    return InputError(
        "is damaged", where=f"{where}, line {row + 2}, column {column}", found=found, valid=valid
    )
