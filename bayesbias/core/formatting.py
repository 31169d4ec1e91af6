"""Words and numbers as people read them: lists, counts, intervals, probabilities."""

import math
import unicodedata
from collections.abc import Iterable
from typing import Any

UNKNOWN = "-"  # what does not exist


# Words


def literal(text: str) -> str:
    r"""Return a text with control characters written as their codes.

    They would act on a terminal, a page or a figure.

    Examples
    --------
    >>> print(literal("nurse\x1b[2J"), literal("Köln, שלום"))
    nurse\x1b[2J Köln, שלום
    """
    if text.isprintable():
        return text
    kept = "\u200c\u200d"  # joiners of Persian, Indic scripts and emoji
    return "".join(
        c
        if c.isprintable() or c in kept or unicodedata.category(c) == "Zs"
        else c.encode("unicode_escape").decode()
        for c in text
    )


def in_one_line(text: str, most: int | None = None) -> str:
    r"""Return a `literal` text in one line, of at most so many characters.

    Examples
    --------
    >>> in_one_line("no\n  such\x07 thing", 10)
    'no such...'
    """
    line = literal(" ".join(text.split()))
    return line if most is None or len(line) <= most else f"{line[: most - 3]}..."


def some(words: Iterable[object], most: int = 12) -> str:
    """Name the first few of some words, each once, and say how many are left.

    Examples
    --------
    >>> some(["a", "b", "a", "c"], 2)
    'a, b and 1 more'
    """
    named = list(dict.fromkeys(map(str, words)))
    rest = len(named) - most
    return ", ".join(map(literal, named[:most])) + (f" and {rest:,} more" if rest > 0 else "")


def number_of(n: int, noun: str) -> str:
    """Say how many there are of something.

    Examples
    --------
    >>> number_of(1, "word"), number_of(1200, "class"), number_of(2, "category")
    ('1 word', '1,200 classes', '2 categories')
    """
    return f"{n:,} {noun if n == 1 else plural(noun)}"


def plural(noun: str) -> str:
    """Return the plural of a noun.

    Examples
    --------
    >>> plural("word"), plural("class"), plural("category"), plural("survey")
    ('words', 'classes', 'categories', 'surveys')
    """
    if noun.endswith("s"):
        return f"{noun}es"
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}s"


def join_words(items: Iterable[str], word: str = "and") -> str:
    """Join items as a sentence does.

    Examples
    --------
    >>> join_words(["a"]), join_words(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    *first, last = items
    return f"{', '.join(first)} {word} {last}" if first else last


def with_minus(contrast: str) -> str:
    """Write the name of a contrast with a minus.

    Examples
    --------
    >>> with_minus("associated - different")
    'associated − different'
    """
    return contrast.replace(" - ", " − ")


# Numbers


def is_known(value: Any) -> bool:
    """Whether a value is a text or a finite number."""
    import pandas as pd

    return isinstance(value, str) or (not pd.isna(value) and math.isfinite(value))


def format_value(value: Any, kind: str = "number", digits: int = 3) -> str:
    """Return one value as a table prints it.

    Examples
    --------
    >>> (
    ...     format_value(-0.06712, "signed"),
    ...     format_value(0.9996, "probability"),
    ...     format_value(0.0312, "p_value"),
    ... )
    ('-0.067', '>.999', '.031')
    >>> format_value(4704, "count"), format_value(0.25, "percent"), format_value(None)
    ('4,704', '25%', '-')
    """
    if not is_known(value):
        return UNKNOWN
    if kind == "text":
        return literal(str(value))
    if kind == "count":
        return f"{value:,.0f}"
    if kind == "percent":
        return f"{100 * value:.0f}%"
    if kind in ("probability", "p_value"):
        if value < 0.001:
            return "<.001"
        if kind == "probability" and value > 0.999:
            return ">.999"
        return f"{value:.3f}".removeprefix("0")
    text = f"{value:{'+' if kind == 'signed' else ''}.{digits}f}"
    return text.lstrip("+-") if float(text) == 0 and kind != "signed" else text


def percent(share: float) -> str:
    """Write a share as a whole percentage.

    What is not quite nothing is not 0%, nor what is not quite all 100%.

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
    """Write the probability of an interval in per cent with all its digits.

    So 97.5% is not read as 98%.

    Examples
    --------
    >>> as_percent(0.89), as_percent(0.975), as_percent(0.999), as_percent(1 - 0.89)
    ('89%', '97.5%', '99.9%', '11%')
    """
    return f"{100 * prob:.12g}%"
