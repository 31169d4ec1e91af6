"""Words and numbers as people read them: lists, counts, intervals, probabilities."""

import difflib
import re
import unicodedata
from collections.abc import Callable, Iterable
from typing import Any

_COMPARED, _MOST_COMPARED = 255, 50_000  # characters, and options, of which the nearest is sought


# Words


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


def in_one_line(text: str, most: int = 300) -> str:
    r"""Return text in one line, without control characters, and of at most so many characters.

    Examples
    --------
    >>> in_one_line("no\n  such\x07 thing", 10)
    'no such...'
    """
    line = " ".join(re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]", "", text[: 20 * most]).split())
    return line if len(line) <= most else f"{line[: most - 3]}..."


def put_in_words(value: object, write: Callable[[Any], str] = repr) -> str:
    """Write a value as it writes itself; of one that cannot, its kind.

    Examples
    --------
    >>> put_in_words("a"), put_in_words(10**5000)
    ("'a'", 'a int')
    """
    try:
        return write(value)
    except Exception:  # numbers of five thousand digits have no text
        return f"a {type(value).__name__}"


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


def join_words(items: Iterable[str]) -> str:
    """Join items as a sentence does.

    Examples
    --------
    >>> join_words(["a"]), join_words(["a", "b", "c"])
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


def with_minus(contrast: str) -> str:
    """Write the name of a contrast with a minus.

    Examples
    --------
    >>> with_minus("associated - different")
    'associated − different'
    """
    return contrast.replace(" - ", " − ")


def closest(name: str, options: Iterable[str], cutoff: float = 0.6) -> str | None:
    """Return the option that is spelled most like the name, capitals aside; None if none is near.

    Examples
    --------
    >>> closest("Religon", ["religion", "gender"]), closest("x", ["gender"])
    ('religion', None)
    """
    name = name[:_COMPARED]
    spelled: dict[str, str] = {}
    for option in options:
        spelled.setdefault(option.lower(), option)
        if option == name:
            return option
    if name.lower() in spelled:
        return spelled[name.lower()]
    # Options whose lengths differ by more do not reach the cutoff.
    near = [one for one in spelled if min(len(one), len(name)) >= 0.42 * max(len(one), len(name))]
    if len(near) > _MOST_COMPARED:
        return None
    close = difflib.get_close_matches(name.lower(), near, n=1, cutoff=cutoff)
    return spelled[close[0]] if close else None


# Numbers


def number_text(value: float, decimals: int = 3, *, signed: bool = False) -> str:
    """Write a number; zero has no sign, and what does not exist is a dash.

    Examples
    --------
    >>> number_text(-0.0004), number_text(1234.5, 1, signed=True), number_text(float("nan"))
    ('0.000', '+1,234.5', '-')
    """
    if value != value:
        return "-"
    text = f"{value:+,.{decimals}f}" if signed else f"{value:,.{decimals}f}"
    return text if any(digit in text for digit in "123456789") else text.lstrip("+-")


def interval_text(low: float, high: float, decimals: int = 3, *, signed: bool = False) -> str:
    """Write an interval.

    Examples
    --------
    >>> interval_text(-0.093, 0.0412), interval_text(-0.093, 0.0412, 2, signed=True)
    ('[-0.093, 0.041]', '[-0.09, +0.04]')
    """
    return f"[{number_text(low, decimals, signed=signed)}, {number_text(high, decimals, signed=signed)}]"


def probability_text(p: float) -> str:
    """Write a probability without its zero; near 0 and 1 it has a third digit.

    Examples
    --------
    >>> [probability_text(p) for p in (0.00002, 0.004, 0.12, 0.5, 0.96, 0.997, 0.99999, 1, 0)]
    ['<.001', '.004', '.12', '.50', '.96', '.997', '>.999', '>.999', '<.001']
    """
    if p != p:
        return "-"
    if p < 0.0005:
        return "<.001"
    if p >= 0.9995:
        return ">.999"
    return f"{p:.{2 if 0.045 <= p < 0.975 else 3}f}".removeprefix("0")


def p_text(p: float) -> str:
    """Write a p-value as an equation.

    Examples
    --------
    >>> p_text(0.00002), p_text(0.0312), p_text(0.4), p_text(1)
    ('p < .001', 'p = .031', 'p = .40', 'p = 1')
    """
    if p != p:
        return "p = -"
    if p < 0.0005:
        return "p < .001"
    text = f"{p:.{2 if p >= 0.095 else 3}f}"
    return "p = 1" if text == "1.00" else f"p = {text.removeprefix('0')}"


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
