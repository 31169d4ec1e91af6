"""Text from outside, cleaned: one spelling of each letter, and no characters that steer a terminal or end a string."""

from __future__ import annotations

import re
import unicodedata

from bayesbias.basics.errors import InputError

# Control characters (Cc) other than tab and line ends, and halves of surrogate pairs, which no file in UTF-8 can hold.
_STEERING = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
_BLANKS = re.compile(r"\s+")


def cleaned(text: str) -> str:
    r"""Return text in Unicode's composed form (NFC), without control characters and lone surrogates.

    Examples
    --------
    >>> cleaned("Ko\u0308nig\x00\x1b[1m") == "König[1m"
    True
    """
    return unicodedata.normalize("NFC", _STEERING.sub("", text))


def checked_text(text: str, where: object) -> str:
    r"""Return text in Unicode's composed form (NFC); refuse control characters and lone surrogates.

    Examples
    --------
    >>> checked_text("a\x00b", "list.toml, line 3")
    Traceback (most recent call last):
    ...
    bayesbias.InputError: list.toml, line 3: holds a control character; found: '\x00'; valid: text
    """
    if odd := _STEERING.search(text):
        half = "\ud800" <= odd.group() <= "\udfff"
        problem = "holds half of a surrogate pair" if half else "holds a control character"
        raise InputError(problem, where=where, found=odd.group(), valid="text")
    return unicodedata.normalize("NFC", text)


def in_one_line(text: str, most: int = 300) -> str:
    r"""Return text cleaned, in one line, and with at most so many characters.

    Examples
    --------
    >>> in_one_line("no\n  such\x07 thing", 10)
    'no such...'
    """
    line = _BLANKS.sub(" ", cleaned(text[: 20 * most].replace("\x85", " "))).strip()
    return line if len(line) <= most else f"{line[: most - 3]}..."
