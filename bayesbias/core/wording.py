"""Words and numbers as they are read: a few of many, how many of what, enumerations, signs and intervals."""

from __future__ import annotations

import difflib
import math
import unicodedata
from collections.abc import Callable, Iterable
from typing import Any

__all__ = [
    "Shortened",
    "as_percent",
    "closest",
    "closest_file",
    "conjoined",
    "end_text",
    "ended",
    "ends_text",
    "interval_text",
    "literal",
    "number_of",
    "number_text",
    "percent",
    "put_in_words",
    "signed_text",
    "size_text",
    "some",
    "with_minus",
]


_COMPARED, _MOST_COMPARED = (
    255,
    50_000,
)  # characters, and options: more is not compared, which would take long
_FILES_ALIKE = 0.75


def put_in_words(value: object, write: Callable[[Any], str] = repr) -> str:
    """Write a value as it writes itself; of one that cannot, its kind.

    Examples
    --------
    >>> put_in_words("a"), put_in_words(10**5000)
    ("'a'", 'a int')
    """
    try:
        return write(value)
    except Exception:  # whatever its author forgot; numbers of five thousand digits have no text either
        return f"a {type(value).__name__}"


def literal(text: str, *, lines: bool = False) -> str:
    r"""Return a text in which what would act on a terminal, a page or a figure is written as its code.

    Parameters
    ----------
    text : str
    lines : bool
        Whether tabs and line feeds stay.

    Examples
    --------
    >>> print(literal("nurse\x1b[2J"), literal("Köln, שלום"))
    nurse\x1b[2J Köln, שלום
    """
    if text.isprintable():
        return text
    kept = "\u200c\u200d" + "\t\n" * lines  # joiners of Persian, Indic scripts and emoji
    return "".join(
        c
        if c.isprintable() or c in kept or unicodedata.category(c) == "Zs"
        else c.encode("unicode_escape").decode()
        for c in text
    )


def some(words: Iterable[object], most: int = 12) -> str:
    """Name the first few of some words, each once, and say how many are left.

    Examples
    --------
    >>> some(["a", "b", "a", "c"], 2)
    'a, b and 1 more'
    """
    named = list(dict.fromkeys(put_in_words(word, str) for word in words))
    rest = len(named) - most
    return ", ".join(named[:most]) + (f" and {rest:,} more" if rest > 0 else "")


def number_of(n: int, noun: str, plural: str | None = None) -> str:
    """Say how many there are of something.

    Examples
    --------
    >>> number_of(1, "class", "classes"), number_of(1200, "word")
    ('1 class', '1,200 words')
    """
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"


def conjoined(items: Iterable[str]) -> str:
    """Join items as a sentence does.

    Examples
    --------
    >>> conjoined(["a"]), conjoined(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    *first, last = items
    return f"{', '.join(first)} and {last}" if first else last


def ended(text: str) -> str:
    """End a text as a sentence ends.

    Examples
    --------
    >>> ended("no word is missing"), ended("missing: a, b ...")
    ('no word is missing.', 'missing: a, b ...')
    """
    return text if text.endswith((".", "!", "?")) else f"{text}."


class Shortened:
    """A value as a message shows it: a long one by its beginning, and None as what was found.

    Examples
    --------
    >>> Shortened("one, two, three", 10), Shortened(None)
    ('one, ..., None)
    """

    def __init__(self, value: object, most: int = 60) -> None:
        self.text = " ".join(put_in_words(value).split())
        self.most = most

    def __repr__(self) -> str:
        return self.text if len(self.text) <= self.most else f"{self.text[: self.most - 3]}..."


def closest(name: str, options: Iterable[str]) -> str | None:
    """Return the option that is spelled most like the name, capitals aside; None if none is near.

    Examples
    --------
    >>> closest("he is a doctor.", ["She is a doctor.", "He is a doctor."]), closest("x", ["gender"])
    ('He is a doctor.', None)
    """
    options = list(options)
    name = name[:_COMPARED]
    spelt: dict[str, list[str]] = {}
    for one in options:
        spelt.setdefault(one.lower(), []).append(one)
    if same := spelt.get(name.lower()):
        return _most_alike(name, same)
    # Of texts whose lengths differ by more none reaches the cutoff, 2 * shorter / (shorter + longer).
    near = [one for one in spelt if min(len(one), len(name)) >= 0.42 * max(len(one), len(name))]
    if len(near) > _MOST_COMPARED:
        return None
    close = difflib.get_close_matches(name.lower(), near, n=1, cutoff=0.6)
    return _most_alike(name, spelt[close[0]]) if close else None


def _most_alike(name: str, options: list[str]) -> str:
    """Return the option with most of the capitals of the name."""
    return max(options, key=lambda one: sum(a == b for a, b in zip(one, name, strict=False)))


def closest_file(name: str, beside: Iterable[str]) -> str | None:
    """Return the file whose name is most like another without their endings; None if none is near.

    Examples
    --------
    >>> closest_file("pair.csv", ["pairs.parquet", "pairs.csv", "fit.csv"]), closest_file("a.csv", ["b.csv"])
    ('pairs.csv', None)
    """
    stem, _, ending = name.rpartition(".") if "." in name[1:] else (name, "", "")
    stems: dict[str, list[str]] = {}
    for other in list(beside)[:_MOST_COMPARED]:
        stems.setdefault(other.rpartition(".")[0] if "." in other[1:] else other, []).append(other)
    close = difflib.get_close_matches(stem[:_COMPARED], stems, n=1, cutoff=_FILES_ALIKE)
    if not close:
        return None
    return min(stems[close[0]], key=lambda other: (not other.endswith(f".{ending}"), other))


def number_text(value: float, digits: int = 3, *, signed: bool = False) -> str:
    """Write a number; zero has no sign, and a minus is a minus. Digits below zero leave tens or hundreds.

    Examples
    --------
    >>> number_text(-0.0004), number_text(1234.5, 1, signed=True), number_text(1234.5, -2)
    ('0.000', '+1,234.5', '1,200')
    """
    text = f"{round(float(value), min(digits, 0)) if digits < 0 else float(value):,.{max(digits, 0)}f}"
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


def end_text(value: float, digits: int = 3, *, signed: bool = False, error: float | None = None) -> str:
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
    finer = (number_text(value, more, signed=signed) for more in range(max(digits, 0), _MOST_DIGITS + 1))
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
            end_text(end, digits, signed=signed, error=error) for end, error in zip(ends, errors, strict=True)
        ]

    def shown(end: float) -> str:
        return number_text(end, -math.floor(math.log10(abs(end))), signed=signed)

    texts = written(digits)
    if all(map(_is_zero, texts)):
        clear = fine and low * high > 0 and all(known)
        first, second = (shown(end) if clear else number_text(end, digits, signed=signed) for end in ends)
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
    return f"less than {5 * 10.0 ** -(digits + 1):.{digits + 1}f}" if _is_zero(text) and value > 0 else text


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


def with_minus(contrast: str) -> str:
    """Write the name of a contrast with a minus.

    Examples
    --------
    >>> with_minus("associated - different")
    'associated − different'
    """
    return contrast.replace(" - ", " − ")


def percent(share: float) -> str:
    """Write a share as a whole percentage; what is not quite nothing is not 0%, nor what is not quite all 100%.

    Examples
    --------
    >>> percent(0.254), percent(0.001), percent(0), percent(0.9999), percent(1)
    ('25%', '< 1%', '0%', '> 99%', '100%')
    """
    if 0 < share < 0.01:
        return "< 1%"
    text = f"{share:.0%}"
    return "> 99%" if share < 1 and text == "100%" else text


def as_percent(prob: float) -> str:
    """Write the probability of an interval in per cent with all its digits, so that 97.5% is not read as 98%.

    Examples
    --------
    >>> as_percent(0.89), as_percent(0.975), as_percent(0.999), as_percent(1 - 0.89)
    ('89%', '97.5%', '99.9%', '11%')
    """
    return f"{100 * prob:.12g}%"
