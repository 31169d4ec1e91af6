"""A table as it is read: columns with a heading and a format, and the cells they make of the rows of a result.

A table of a study is a list of `Column` in the room of that study. `page_table` makes it for the page, `screen_table` for
the terminal; the page has true minus signs and knows by what a cell is sorted.

A column that names a field of its rows prints it to the digits that its Monte Carlo error allows, where the row has one
(`basics.digits`); `digits` is what is usual.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bayesbias.core.digits import allowed, error_of, p_printed, probability_printed, share_printed
from bayesbias.core.wording import interval_text, number_text, with_minus

_LONG = 24  # characters, from which on a cell is given more width
_UNKNOWN = "not known"


@dataclass(frozen=True)
class Cell:
    """One cell: what is printed, whether it is a number, and by what it is sorted (its text if empty).

    ``screen`` is what a terminal prints, where that is not the text with hyphens for the minus signs of numbers.
    """

    text: str
    number: bool = False
    key: str = ""
    screen: str | None = None

    @property
    def long(self) -> bool:
        """Whether the text needs a wide column that may break."""
        return len(self.text) > _LONG

    @property
    def typed(self) -> str:
        """The text as a terminal prints it."""
        if self.screen is not None:
            return self.screen
        return self.text.replace("−", "-") if self.number else self.text


@dataclass(frozen=True)
class Heading:
    """What stands over a column, and whether there are numbers below."""

    text: str
    number: bool = False


@dataclass(frozen=True)
class Table:
    """A table as printed: cells row by row under their heads, with a caption and a note."""

    id: str
    caption: str
    head: Sequence[Heading]
    rows: Sequence[Sequence[Cell]]
    note: str = ""


@dataclass(frozen=True)
class Column:
    """One column: what stands over it, and what it makes of a row.

    Attributes
    ----------
    heading : str
    cell : callable
        Makes a `Cell` of a row.
    number : bool
        Whether its cells are numbers, which stand at the right.
    screen : str, optional
        The heading on a terminal, where it is another.
    on_page, on_screen : bool
        Where the column is shown.
    """

    heading: str
    cell: Callable[[Any], Cell]
    number: bool = False
    screen: str | None = None
    on_page: bool = True
    on_screen: bool = True

    def on_the_page_only(self) -> Column:
        """Return the column as one that the terminal leaves out."""
        return replace(self, on_screen=False)

    def on_the_screen_only(self) -> Column:
        """Return the column as one that the page leaves out."""
        return replace(self, on_page=False)


def page_table(
    id_: str, caption: str, columns: Iterable[Column], rows: Iterable[Any], note: str = ""
) -> Table:
    """Return a table for the page."""
    shown = [column for column in columns if column.on_page]
    head = [Heading(column.heading, column.number) for column in shown]
    return Table(id_, caption, head, [[column.cell(row) for column in shown] for row in rows], note)


def of_cells(
    id_: str, caption: str, head: Sequence[str], rows: Sequence[Sequence[Cell]], note: str = ""
) -> Table:
    """Return a table of cells that are there already; a # stands before the heads of numbers."""
    return Table(
        id_, caption, [Heading(name.removeprefix("#"), name.startswith("#")) for name in head], rows, note
    )


def screen_table(title: str, columns: Iterable[Column], rows: Iterable[Any]) -> Table:
    """Return a table for the terminal."""
    shown = [column for column in columns if column.on_screen]
    head = [
        Heading(column.heading if column.screen is None else column.screen, column.number) for column in shown
    ]
    return Table("", title, head, [[column.cell(row) for column in shown] for row in rows])


# -- columns by what they hold: a field is a name of the row, or a function of it --------------------

Field = str | Callable[[Any], Any]


def _of(field: Field) -> Callable[[Any], Any]:
    if callable(field):
        return field
    # Of a Series `mean` is a method; and results of earlier versions lack some fields.
    return lambda row: row.get(field, math.nan) if hasattr(row, "get") else getattr(row, field, math.nan)


def _error(*fields: Field) -> Callable[[Any], float | None]:
    """Return what tells the Monte Carlo error of some fields; a function of the row has none but what it prints."""
    names = [field for field in fields if isinstance(field, str)]
    return lambda row: error_of(row, *names) if names else None


def text(heading: str, field: Field, screen: str | None = None) -> Column:
    """Return a column of texts."""
    value = _of(field)
    return Column(heading, lambda row: Cell(str(value(row))), screen=screen)


def contrast(heading: str, field: Field, screen: str | None = None) -> Column:
    """Return a column of names of contrasts, such as associated - different."""
    value = _of(field)
    return Column(
        heading,
        lambda row: Cell(with_minus(str(value(row))), screen=str(value(row))),
        screen=screen,
    )


def number(
    heading: str,
    field: Field,
    digits: int = 3,
    *,
    signed: bool = False,
    screen: str | None = None,
    missing: str = _UNKNOWN,
) -> Column:
    """Return a column of numbers."""
    value, error = _of(field), _error(field)
    return Column(
        heading,
        lambda row: number_cell(value(row), digits, signed=signed, missing=missing, error=error(row)),
        True,
        screen,
    )


def count(heading: str, field: Field, screen: str | None = None) -> Column:
    """Return a column of counts."""
    return number(heading, field, 0, screen=screen)


def interval(
    heading: str,
    low: Field = "hpdi_low",
    high: Field = "hpdi_high",
    *,
    signed: bool = False,
    screen: str | None = None,
    digits: int = 3,
) -> Column:
    """Return a column of intervals, of two fields."""
    first, second = _of(low), _of(high)
    errors = _error(low), _error(high)
    return Column(
        heading,
        lambda row: interval_cell(
            first(row),
            second(row),
            signed=signed,
            digits=digits,
            errors=(errors[0](row), errors[1](row)),
        ),
        True,
        screen,
    )


def probability(heading: str, field: Field, screen: str | None = None) -> Column:
    """Return a column of probabilities of a posterior."""
    value, error = _of(field), _error(field)
    return Column(heading, lambda row: probability_cell(value(row), error(row)), True, screen)


def p_value(heading: str, field: Field, screen: str | None = None, missing: str = "no test") -> Column:
    """Return a column of p-values, with two digits."""
    value, error = _of(field), _error(field)
    return Column(heading, lambda row: p_cell(value(row), missing, error(row)), True, screen)


def share(heading: str, field: Field, screen: str | None = None, missing: str = "–") -> Column:
    """Return a column of shares, in per cent."""
    value, error = _of(field), _error(field)
    return Column(heading, lambda row: share_cell(value(row), missing, error(row)), True, screen)


# -- cells -------------------------------------------------------------------------------------------


def _known(value: Any) -> bool:
    return value is not None and value == value and math.isfinite(value)


def number_cell(
    value: Any,
    digits: int = 3,
    *,
    signed: bool = False,
    missing: str = _UNKNOWN,
    error: float | None = None,
) -> Cell:
    """Make a cell of a number, sorted by its full precision; "not known" if it is none."""
    if not _known(value):
        return Cell(missing, True, screen="-")
    value = float(value)
    return Cell(number_text(value, allowed(error, digits), signed=signed), True, repr(value))


def interval_cell(
    low: float,
    high: float,
    *,
    signed: bool = False,
    digits: int = 3,
    errors: tuple[float | None, float | None] = (None, None),
) -> Cell:
    """Make a cell of an interval, sorted by its lower end; `errors` are those of its ends."""
    if not (_known(low) and _known(high)):
        return Cell(_UNKNOWN, True, screen="-")
    few = min(allowed(error, digits) for error in errors)
    text = interval_text(low, high, signed=signed, digits=few, errors=errors)
    return Cell(text, True, repr(float(low)))


def known_cell(
    row: Any, field: str, digits: int = 3, *, signed: bool = False, missing: str = _UNKNOWN
) -> Cell:
    """Make a cell of a field of a row of estimates, to the digits that its Monte Carlo error allows."""
    return number(field, field, digits, signed=signed, missing=missing).cell(row)


def known_interval_cell(
    row: Any, low: str = "hpdi_low", high: str = "hpdi_high", *, signed: bool = False, digits: int = 3
) -> Cell:
    """Make a cell of an interval of a row of estimates, to the digits that its Monte Carlo error allows."""
    return interval("", low, high, signed=signed, digits=digits).cell(row)


def probability_cell(p: float, error: float | None = None) -> Cell:
    """Make a cell of a probability."""
    return Cell(probability_printed(p, error), True, repr(float(p)))


def p_text(value: float | None, missing: str = "no test", error: float | None = None) -> str:
    """Write a p-value with two digits, or say what it means that there is none."""
    return p_printed(value, error).replace("-", "−") if value is not None and _known(value) else missing


def p_cell(value: float | None, missing: str = "no test", error: float | None = None) -> Cell:
    """Make a cell of a p-value; what is missing stands after all others."""
    if value is None or not _known(value):
        return Cell(missing, True, repr(math.inf), "-")
    return Cell(p_text(value, missing, error), True, repr(float(value)))


def share_cell(value: float, missing: str = "–", error: float | None = None) -> Cell:
    """Make a cell of a share, in per cent."""
    if not _known(value):
        return Cell(missing, True, screen="-")
    return Cell(share_printed(value, error), True, repr(float(value)))


def scientific_cell(value: float) -> Cell:
    """Make a cell of a number with one digit and an exponent, such as 4e−05."""
    return Cell(f"{value:.1g}".replace("-", "−"), True, repr(float(value)))
