"""Cells and tables of a report: numbers as a reader sees them, and texts that do nothing to the page."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bayesbias.basics.wording import ended, interval_text, number_text, probability_text

_LONG = 24  # characters, from which on a cell is given more width
# What a text may not do to the page around it: control characters, overrides of the direction of text and
# halves of characters, which no encoding can write. ZERO WIDTH JOINER and its like stay; emoji need them.
_UNSHOWN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")
_RTL = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\U00010800-\U00010fff\U0001e800-\U0001efff"
_RTL_RUN = re.compile(f"[{_RTL}]+(?:[\\s\u200c-\u200f'-]+[{_RTL}]+)*")


@dataclass(frozen=True)
class Cell:
    """One cell: what is printed, whether it is a number, and by what it is sorted (its text if empty)."""

    text: str
    number: bool = False
    key: str = ""

    @property
    def long(self) -> bool:
        """Whether the text needs a wide column that may break."""
        return len(self.text) > _LONG


@dataclass(frozen=True)
class Table:
    """A table as printed: cells row by row under their heads, with a caption and a note."""

    id: str
    caption: str
    head: Sequence[str]  # with # before those of numbers
    rows: Sequence[Sequence[Cell]]
    note: str = ""


def number_cell(value: Any, digits: int = 3, *, signed: bool = False) -> Cell:
    """Make a cell of a number, sorted by its full precision; "not known" if it is none."""
    if value is None or not math.isfinite(value):
        return Cell("not known", True)
    value = float(value)
    return Cell(number_text(value, digits, signed=signed), True, repr(value))


def interval_cell(low: float, high: float, *, signed: bool = False) -> Cell:
    """Make a cell of an interval, sorted by its lower end."""
    if not (math.isfinite(low) and math.isfinite(high)):
        return Cell("not known", True)
    return Cell(interval_text(low, high, signed=signed), True, repr(float(low)))


def probability_cell(p: float) -> Cell:
    """Make a cell of a probability."""
    return Cell(probability_text(p), True, repr(float(p)))


def scientific_cell(value: float) -> Cell:
    """Make a cell of a number with one digit and an exponent, such as 4e−05."""
    return Cell(f"{value:.1g}".replace("-", "−"), True, repr(float(value)))


def as_sentence(text: str, lead: str = "") -> str:
    """Begin with a capital, unless a name leads, and end with a stop, where the text does neither."""
    named = re.match(r"[^\s:]+: ", text)  # the name of a classifier, a method or a test stays as it is
    text = lead + text if lead or named else text[:1].upper() + text[1:]
    return ended(text)


def escaped(value: Any) -> Any:
    """Escape a text for the page; words written from right to left do not disturb the order of those around them."""
    from markupsafe import Markup

    if isinstance(value, Markup) or not isinstance(value, str):
        return value
    text = without_controls(value)
    out = Markup()
    at = 0
    for run in _RTL_RUN.finditer(text):
        out += Markup.escape(text[at : run.start()]) + Markup("<bdi>{}</bdi>").format(run[0])
        at = run.end()
    return out + Markup.escape(text[at:])


def without_controls(text: str) -> str:
    """Replace characters that a page cannot show."""
    return _UNSHOWN.sub("\ufffd", text)
