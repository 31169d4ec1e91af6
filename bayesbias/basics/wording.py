"""Words and numbers in messages: a few of many, how many of what, and enumerations."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

__all__ = ["Shortened", "closest", "conjoined", "number_of", "some"]


def some(words: Iterable[object], most: int = 12) -> str:
    """Name the first few of some words, each once, and say how many are left.

    Examples
    --------
    >>> some(["a", "b", "a", "c"], 2)
    'a, b and 1 more'
    """
    named = list(dict.fromkeys(map(str, words)))
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


class Shortened:
    """A value as a message shows it: a long one by its beginning, and None as what was found.

    Examples
    --------
    >>> Shortened("one, two, three", 10), Shortened(None)
    ('one, ..., None)
    """

    def __init__(self, value: object, most: int = 60) -> None:
        self.text = repr(value)
        self.most = most

    def __repr__(self) -> str:
        return self.text if len(self.text) <= self.most else f"{self.text[: self.most - 3]}..."


def closest(name: str, options: Iterable[str]) -> str | None:
    """Return the option that is spelled most like the name, or like it but for capitals; None if none is near."""
    options = list(options)
    close = difflib.get_close_matches(name, options, n=1, cutoff=0.6)
    if close:
        return close[0]
    return {option.lower(): option for option in options}.get(name.lower())
