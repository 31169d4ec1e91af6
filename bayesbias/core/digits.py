"""Fields of rows of estimates as texts and figures show them: decimals are fixed for each column."""

import math
from typing import Any

from bayesbias.core import formatting


def error_of(row: Any, *fields: str) -> float:
    """Return the largest Monte Carlo error of some fields of a row of estimates; NaN where none is known.

    Examples
    --------
    >>> row = {"mean": -0.04, "mcse_mean": 0.0002, "hpdi_low": -0.07, "mcse_low": 0.002}
    >>> error_of(row, "mean"), error_of(row, "mean", "hpdi_low"), error_of(row, "sd")
    (0.0002, 0.002, nan)
    """
    errors = [_field(row, f"mcse_{field.removeprefix('hpdi_')}") for field in fields]
    known = [error for error in errors if error == error]
    return max(known) if known else math.nan


def as_known(row: Any, field: str, usual: int = 3, *, signed: bool = False) -> str:
    """Write one field of a row of estimates.

    Examples
    --------
    >>> as_known({"mean": -0.04321}, "mean", signed=True)
    '-0.043'
    """
    return formatting.number_text(_field(row, field), usual, signed=signed).replace(",", "")


def ends_as_known(
    row: Any,
    low: str = "hpdi_low",
    high: str = "hpdi_high",
    usual: int = 3,
    *,
    signed: bool = False,
) -> tuple[str, str]:
    """Write both ends of an interval.

    Examples
    --------
    >>> ends_as_known({"hpdi_low": -0.0711, "hpdi_high": 0.0123})
    ('-0.071', '0.012')
    """
    return as_known(row, low, usual, signed=signed), as_known(row, high, usual, signed=signed)


def number_known(row: Any, field: str, usual: int = 3, *, signed: bool = False) -> str:
    """Write one field of a row with a typographic minus, for figures.

    Examples
    --------
    >>> number_known({"mean": -0.04321}, "mean")
    '−0.043'
    """
    return as_known(row, field, usual, signed=signed).replace("-", "−")


def interval_known(
    row: Any,
    low: str = "hpdi_low",
    high: str = "hpdi_high",
    usual: int = 3,
    *,
    signed: bool = False,
) -> str:
    """Write an interval with typographic minuses, for figures.

    Examples
    --------
    >>> interval_known({"hpdi_low": -0.0711, "hpdi_high": 0.0123}, signed=True)
    '−0.071 to +0.012'
    """
    return " to ".join(ends_as_known(row, low, high, usual, signed=signed)).replace("-", "−")


def number_text(value: float, digits: int = 3, *, signed: bool = False) -> str:
    """Write a number with a typographic minus, for figures."""
    return formatting.number_text(value, digits, signed=signed).replace("-", "−")


def interval_text(low: float, high: float, *, digits: int = 3, signed: bool = False) -> str:
    """Write an interval with typographic minuses, for figures."""
    return " to ".join(number_text(end, digits, signed=signed) for end in (low, high))


def printed(
    value: float, error: float | None = None, usual: int = 3, *, signed: bool = False
) -> str:
    """Write a number."""
    return formatting.number_text(value, usual, signed=signed).replace(",", "")


def allowed(error: float | None, usual: int = 3) -> int:
    """Return the decimals of a number: the usual ones."""
    return usual


def probability_printed(p: float, error: float | None = None, usual: int = 3) -> str:
    """Write a probability; next to 0 and 1 only on which side it lies.

    Examples
    --------
    >>> probability_printed(0.5), probability_printed(0.9999), probability_printed(0.00001)
    ('0.500', '> 0.999', '< 0.001')
    """
    if p > 0.999:
        return "> 0.999"
    return "< 0.001" if p < 0.001 else f"{p:.{usual}f}"


def _field(row: Any, name: str) -> float:
    value = row.get(name) if hasattr(row, "get") else getattr(row, name, None)
    try:
        return math.nan if value is None else float(value)
    except TypeError:  # pandas' NA, which is no number
        return math.nan
