"""How many digits an estimate may be printed with: no more than its Monte Carlo error allows.

The last digit that is printed is at least as large as the error. Tables of estimates hold the errors beside them: that of
``mean`` is ``mcse_mean``, of ``hpdi_low`` ``mcse_low``, of any other column ``mcse_`` and its name. What is known exactly has
no error, or none that is not zero, and keeps the usual digits. Values for machines (CSV, JSON, parquet) keep all digits:
their readers have the errors beside them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

_MOST = 12  # decimals
_ENDS = (0, 100)  # per cent: none, and all
_LOW_OF_MEAN = (
    "hpdi_low"  # of a mean that is clear of zero: neither it nor its ends are printed as zero
)


def number_text(value: float, digits: int = 3, *, signed: bool = False) -> str:
    """Write a number; zero has no sign, and a minus is a minus. Digits below zero leave tens or hundreds.

    Examples
    --------
    >>> number_text(-0.0004), number_text(1234.5, 1, signed=True), number_text(1234.5, -2)
    ('0.000', '+1,234.5', '1,200')
    """
    text = (
        f"{round(float(value), min(digits, 0)) if digits < 0 else float(value):,.{max(digits, 0)}f}"
    )
    if float(text.replace(",", "")) == 0:
        return text.removeprefix("-")
    return (f"+{text}" if signed and value > 0 else text).replace("-", "−")


def digits_of(sd: float, least: int = 3) -> int:
    """Return the decimals that show two digits of a standard deviation, and at least some.

    Examples
    --------
    >>> digits_of(0.2), digits_of(0.00025)
    (3, 5)
    """
    return max(least, 1 - math.floor(math.log10(sd))) if 0 < sd < math.inf else least


def signed_text(value: float) -> str:
    """Write a difference, with its sign."""
    return number_text(value, signed=True)


_MOST_DIGITS = 4  # decimals of an end of an interval that fewer would round to zero
_NO_MORE_THAN_ROUNDING = 1e-12


def end_text(
    value: float, digits: int = 3, *, signed: bool = False, error: float | None = None
) -> str:
    """Write an end of an interval: what is not zero is not written as zero, since a verdict may hang on its sign.

    Where the usual digits would round it to zero it has as many as show its first, at most four; what they do not show
    keeps its sign, where signs are shown. An end within twice its Monte Carlo error of zero has no sign that is known, and is
    written as any number.

    Parameters
    ----------
    value : float
    digits : int
        What is usual.
    signed : bool
        Whether what is positive has a plus.
    error : float, optional
        The Monte Carlo error of the end; NaN and None where there is none.

    Examples
    --------
    >>> end_text(-0.0432, 2), end_text(-0.0012, 2), end_text(0.0012, 2, signed=True), end_text(-0.00001)
    ('−0.04', '−0.001', '+0.001', '−0.000')
    >>> end_text(-0.0012, 2, error=0.001), end_text(0)
    ('0.00', '0.000')
    """
    text = number_text(value, digits, signed=signed)
    if not _is_zero(text) or not _has_sign(value, error):
        return text
    finer = (
        number_text(value, more, signed=signed) for more in range(max(digits, 0), _MOST_DIGITS + 1)
    )
    shown = next((each for each in finer if not _is_zero(each)), text)
    return f"{'−' if value < 0 else '+' if signed else ''}{text}" if shown is text else shown


def _is_zero(text: str) -> bool:
    return not any(digit in text for digit in "123456789") and "0" in text


def _has_sign(value: float, error: float | None) -> bool:
    return abs(value) > max(
        _NO_MORE_THAN_ROUNDING, 2 * error if error is not None and error == error else 0.0
    )


def ends_text(
    low: float,
    high: float,
    digits: int = 3,
    *,
    signed: bool = False,
    errors: tuple[float | None, float | None] = (None, None),
    fine: bool = False,
) -> tuple[str, str]:
    """Write both ends of an interval with as many digits each, as `end_text` does; where both would be zero, as plain zeros.

    One that would be zero beside the other, and is clear of it, has the digits that show it.

    Parameters
    ----------
    low, high, digits, signed, errors
        As of `end_text`.
    fine : bool
        Whether ends clear of zero then have as many digits as show them, as the mean that they stand beside has.

    Examples
    --------
    >>> ends_text(-0.0432, 0.0012, 2, signed=True), ends_text(0.000012, 0.00003, signed=True)
    (('−0.043', '+0.001'), ('0.000', '0.000'))
    >>> ends_text(0.000012, 0.00003, signed=True, fine=True), ends_text(-0.000012, 0.00003, fine=True)
    (('+0.00001', '+0.00003'), ('0.000', '0.000'))
    """
    ends = (low, high)
    known = [_has_sign(end, error) for end, error in zip(ends, errors, strict=True)]

    def written(digits: int) -> list[str]:
        return [
            end_text(end, digits, signed=signed, error=error)
            for end, error in zip(ends, errors, strict=True)
        ]

    def shown(end: float) -> str:
        return number_text(end, -math.floor(math.log10(abs(end))), signed=signed)

    texts = written(digits)
    if all(map(_is_zero, texts)):
        clear = fine and low * high > 0 and all(known)
        first, second = (
            shown(end) if clear else number_text(end, digits, signed=signed) for end in ends
        )
        return first, second
    texts = written(max(digits, *(len(text.partition(".")[2]) for text in texts)))
    # An end that is next to nothing beside the other has a digit of its own, if a sign.
    first, second = (
        shown(end) if _is_zero(text) and sign else text
        for end, text, sign in zip(ends, texts, known, strict=True)
    )
    return first, second


def size_text(value: float, digits: int = 3) -> str:
    """Write a size; one that is not zero is not written as zero.

    Examples
    --------
    >>> size_text(0.0123), size_text(0.00001), size_text(0.00001, 2), size_text(0)
    ('0.012', 'less than 0.0005', 'less than 0.005', '0.000')
    """
    text = number_text(value, digits)
    return (
        f"less than {5 * 10.0 ** -(digits + 1):.{digits + 1}f}"
        if _is_zero(text) and value > 0
        else text
    )


def interval_text(
    low: float,
    high: float,
    *,
    digits: int = 3,
    signed: bool = False,
    errors: tuple[float | None, float | None] = (None, None),
) -> str:
    """Write the ends of an interval as `ends_text` has them.

    Examples
    --------
    >>> interval_text(0.25, 1), interval_text(-0.25, 1, signed=True), interval_text(-0.04, -0.001, digits=2)
    ('0.250 to 1.000', '−0.250 to +1.000', '−0.040 to −0.001')
    """
    return " to ".join(ends_text(low, high, digits, signed=signed, errors=errors))


def allowed(error: float | None, usual: int = 3) -> int:
    """Return the decimals that a Monte Carlo error allows, at most the usual ones; below zero, tens or hundreds.

    Parameters
    ----------
    error : float or None
        NaN and None where there is none, or it is not known.
    usual : int

    Examples
    --------
    >>> allowed(0.0004), allowed(0.001), allowed(0.004), allowed(0.2), allowed(3), allowed(0), allowed(None)
    (3, 3, 2, 0, -1, 3, 3)
    """
    if error is None or error != error or error <= 0:
        return usual
    if math.isinf(error):
        return min(usual, 0)
    # A power of ten is its own last digit; its logarithm may be off by rounding.
    return min(usual, math.floor(-math.log10(error) + 1e-12))


def error_of(row: Any, *fields: str) -> float:
    """Return the largest Monte Carlo error of some fields of a row of estimates; NaN where none is known.

    Parameters
    ----------
    row : Mapping, Series or named tuple
    *fields : str

    Examples
    --------
    >>> row = {"mean": -0.04, "mcse_mean": 0.0002, "hpdi_low": -0.07, "mcse_low": 0.002}
    >>> error_of(row, "mean"), error_of(row, "mean", "hpdi_low"), error_of(row, "sd")
    (0.0002, 0.002, nan)
    """
    errors = [_field(row, f"mcse_{field.removeprefix('hpdi_')}") for field in fields]
    known = [error for error in errors if error == error]
    return max(known) if known else math.nan


def printed(
    value: float, error: float | None = None, usual: int = 3, *, signed: bool = False
) -> str:
    """Write a number with a hyphen for a minus, as a line of text has it, to the digits that its error allows.

    Examples
    --------
    >>> printed(-0.0432, 0.0003, signed=True), printed(-0.0432, 0.004), printed(0.0432, 0.03, signed=True)
    ('-0.043', '-0.04', '0.0')
    """
    return _typed(number_text(value, allowed(error, usual), signed=signed))


def as_known(row: Any, field: str, usual: int = 3, *, signed: bool = False) -> str:
    """Write one field of a row of estimates to the digits its error allows; a mean whose ends are clear of zero never as zero.

    Examples
    --------
    >>> as_known({"mean": -0.04321, "mcse_mean": 0.002}, "mean", signed=True)
    '-0.04'
    >>> as_known({"mean": -0.00031, "mcse_mean": 1e-6, "hpdi_low": -0.0005, "hpdi_high": -0.0001}, "mean")
    '-0.0003'
    """
    return _typed(number_known(row, field, usual, signed=signed))


def ends_as_known(
    row: Any,
    low: str = "hpdi_low",
    high: str = "hpdi_high",
    usual: int = 3,
    *,
    signed: bool = False,
) -> tuple[str, str]:
    """Write both ends of an interval to the digits that the larger of their errors allows; one clear of zero never as zero.

    Both have as many digits.

    Examples
    --------
    >>> ends_as_known({"hpdi_low": -0.0711, "mcse_low": 0.0004, "hpdi_high": 0.0123, "mcse_high": 0.002})
    ('-0.07', '0.01')
    >>> ends_as_known({"hpdi_low": -0.0411, "mcse_low": 0.002, "hpdi_high": -0.0043, "mcse_high": 0.001})
    ('-0.041', '-0.004')
    """
    first, second = _ends(row, low, high, usual, signed)
    return _typed(first), _typed(second)


def number_known(row: Any, field: str, usual: int = 3, *, signed: bool = False) -> str:
    """Write what `as_known` writes as pages and figures have it: a minus is a minus.

    Examples
    --------
    >>> number_known({"mean": -0.04321, "mcse_mean": 0.002}, "mean")
    '−0.04'
    """
    value, error = _field(row, field), error_of(row, field)
    digits = allowed(error, usual)
    if field == "mean" and _field(row, "hpdi_low") * _field(row, "hpdi_high") > 0:
        while round(value, digits) == 0 and digits < allowed(error, _MOST):
            digits += 1
    return number_text(value, digits, signed=signed)


def interval_known(
    row: Any,
    low: str = "hpdi_low",
    high: str = "hpdi_high",
    usual: int = 3,
    *,
    signed: bool = False,
) -> str:
    """Write what `ends_as_known` writes as pages and figures have it.

    Examples
    --------
    >>> interval_known({"hpdi_low": -0.0711, "mcse_low": 0.0004, "hpdi_high": 0.0123, "mcse_high": 0.002}, signed=True)
    '−0.07 to +0.01'
    """
    return " to ".join(_ends(row, low, high, usual, signed))


def _ends(row: Any, low: str, high: str, usual: int, signed: bool) -> tuple[str, str]:
    return ends_text(
        _field(row, low),
        _field(row, high),
        digits=allowed(error_of(row, low, high), usual),
        signed=signed,
        errors=(error_of(row, low), error_of(row, high)),
        fine=low == _LOW_OF_MEAN,
    )


def probability_printed(p: float, error: float | None = None, usual: int = 3) -> str:
    """Write a probability to the digits that its error allows; next to 0 and 1 only on which side it lies.

    Examples
    --------
    >>> probability_printed(0.5), probability_printed(0.9999), probability_printed(0.998, 0.002)
    ('0.500', '> 0.999', '> 0.99')
    >>> probability_printed(0.4, 0.02), probability_printed(0.4, 0.3)
    ('0.4', 'not known')
    """
    digits = allowed(error, usual)
    if digits < 1:
        return "not known"
    least = 10.0**-digits
    if p > 1 - least:
        return f"> {1 - least:.{digits}f}"
    return f"< {least:.{digits}f}" if p < least else f"{p:.{digits}f}"


def p_printed(p: float, error: float | None = None, usual: int = 2) -> str:
    """Write a p-value with so many digits that count, as far as its Monte Carlo error allows.

    Examples
    --------
    >>> p_printed(0.03124), p_printed(0.000031), p_printed(0.03124, 0.0005, 4), p_printed(0.0004, 0.0002)
    ('0.031', '3.1e-05', '0.031', '< 0.001')
    >>> p_printed(0.00001, 0.00001), p_printed(0.004, 0.02)
    ('1e-05', '< 0.1')
    """
    if error is None or error != error or not 0 < error < 1:
        return f"{p:.{usual}g}"
    place = allowed(error, 300)
    rounded = round(p, place)
    if rounded <= 0:
        return f"< {10.0**-place:.1g}"
    # Digits that count, from the first of the rounded number to the place that the error allows.
    counting = math.floor(math.log10(rounded) + 1e-12) + 1 + place
    return f"{rounded:.{max(1, min(usual, counting))}g}"


def share_printed(
    value: float, error: float | None = None, usual: int = 0, marks: Sequence[float] = _ENDS
) -> str:
    """Write a share in per cent, to the digits that its error allows; as 0% or 100% only what may be that.

    Examples
    --------
    >>> share_printed(0.254), share_printed(0.254, 0.02), share_printed(0.254, 0.0001, 1)
    ('25%', '30%', '25.4%')
    >>> share_printed(0.3, 0.11), share_printed(0.962, 0.02), share_printed(0.004), share_printed(0.99999)
    ('30%', '96%', '0.4%', '> 99.9%')
    """
    return shares_printed([value], error, usual, marks)[0]


def shares_printed(
    values: Sequence[float],
    error: float | None = None,
    usual: int = 0,
    marks: Sequence[float] = _ENDS,
) -> list[str]:
    """Write shares that belong together, such as both ends of an interval or the parts of a whole, with as many digits each.

    Digits end with tens, since nothing is left of a share in hundreds.

    Parameters
    ----------
    values : sequence of float
    error : float, optional
        The largest of their Monte Carlo errors.
    usual : int
        Decimals of a per cent.
    marks : sequence of float
        Per cents that are read as more than a number, such as 50 where that is chance: no share is rounded to one that is
        farther from it than its error.

    Examples
    --------
    >>> shares_printed([0.759, 0.241], 0.011), shares_printed([0.004, 0.0812], 0.001)
    (['80%', '20%'], ['0.4%', '8.1%'])
    >>> shares_printed([0.545, 0.949], 0.019), shares_printed([0.545, 0.949], 0.019, marks=(0, 50, 100))
    (['50%', '90%'], ['55%', '95%'])
    """
    hundred = [100 * value for value in values]
    least = 100 * error if error is not None and error == error else 0.0
    digits, finest = max(-1, allowed(least, usual)), max(usual, 1)
    while digits < finest and any(_reads_as_mark(each, digits, least, marks) for each in hundred):
        digits += 1
    return [f"{_share(each, digits, least)}%" for each in hundred]


def _share(value: float, digits: int, error: float) -> str:
    if not _reads_as_mark(value, digits, error, _ENDS):
        return printed(value, None, digits)
    return f"< {10.0**-digits:.{digits}f}" if value < 50 else f"> {100 - 10.0**-digits:.{digits}f}"


def _reads_as_mark(value: float, digits: int, error: float, marks: Sequence[float]) -> bool:
    """Say whether a percentage would be rounded to a mark that it is farther from than its error."""
    return any(error < abs(value - mark) and round(value, digits) == mark for mark in marks)


def _typed(text: str) -> str:
    return text.replace("−", "-").replace(",", "")


def _field(row: Any, name: str) -> float:
    value = row.get(name) if hasattr(row, "get") else getattr(row, name, None)
    try:
        return math.nan if value is None else float(value)
    except TypeError:  # pandas' NA, which is no number
        return math.nan
