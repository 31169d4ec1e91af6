"""Text from outside, cleaned: one spelling of each letter, and no characters that steer a terminal or end a string."""

from __future__ import annotations

import datetime
import numbers
import re
import unicodedata
from collections.abc import Iterable, KeysView, Mapping, Sequence, ValuesView
from typing import Any

from bayesbias.core import checks
from bayesbias.core.errors import InputError

# Control characters (Cc) other than tab and line ends, and halves of surrogate pairs, which no file in UTF-8 can hold.
_STEERING = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
MOST_DEPTH = 100
"""Levels of lists and tables in a file; those in use have five."""
_NOT_IN_A_LABEL = re.compile("[\t\n\r\u2028\u2029]")
# What a file of keys and lists has at its ends; and what is told further on to be no list of words.
_IN_ORDER = (Sequence, KeysView, ValuesView)
_LEAVES = (numbers.Real, datetime.date, datetime.time, bytes, set, frozenset)
_NAMED = 8  # levels that a message names
MOST_MARKS = 100
"""Marks above and below one letter; languages have four, Unicode's stream-safe text (UAX #15) thirty. Composing takes the square
of them."""
# What may be such marks: all but Latin letters, and those of East Asia, of which lines consist.
_MARKS = re.compile(f"[^\0-\u02ff\u3100-\ua66e\uac00-\ud7ff\uff00-\uffef]{{{MOST_MARKS + 1},}}")
_BLANKS = re.compile(r"\s+")
# Soft hyphens, blanks of no width and marks of the order of bytes say nothing anywhere in a word; joiners and marks of direction,
# which some scripts need between letters, say nothing at its ends. What turns text round is shown by its code, and stays.
_AT_ENDS = "[\u061c\u200c-\u200f]+"
_UNSEEN = re.compile(f"[\u00ad\u200b\u2060\ufeff]+|^{_AT_ENDS}|{_AT_ENDS}$")


def cleaned(text: str) -> str:
    r"""Return text in Unicode's composed form (NFC), without control characters and lone surrogates.

    Examples
    --------
    >>> cleaned("Ko\u0308nig\x00\x1b[1m") == "König[1m"
    True
    """
    return unicodedata.normalize("NFC", _STEERING.sub("", text))


def steering(text: str) -> int | None:
    """Return where the first control character or lone surrogate stands; None where there is none."""
    match = _STEERING.search(text)
    return None if match is None else match.start()


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
    if not text.isascii() and any(_heaped(match.group()) for match in _MARKS.finditer(text)):
        raise InputError(f"holds a letter with more than {MOST_MARKS} marks", where=where, valid="text")
    return unicodedata.normalize("NFC", text)


def breaks_line(text: str) -> bool:
    r"""Say whether a text holds a tab, a line break or another control character, which no word and no label does.

    Examples
    --------
    >>> breaks_line("new york"), breaks_line("new\nyork")
    (False, True)
    """
    return _NOT_IN_A_LABEL.search(text) is not None or _STEERING.search(text) is not None


def without_unseen(text: str) -> str:
    r"""Return a word or label without what cannot be seen in it, and makes another word of it.

    Examples
    --------
    >>> without_unseen("she\u200b"), without_unseen("co\u00adoperate")
    ('she', 'cooperate')
    """
    return text if text.isascii() else _UNSEEN.sub("", text)


def unseen_problem(text: str) -> str | None:
    r"""Say what of a word or label cannot be seen; None where there is no such thing.

    Examples
    --------
    >>> unseen_problem("she\u200b")
    'holds what cannot be seen (U+200B)'
    """
    if text.isascii() or (found := _UNSEEN.search(text)) is None:
        return None
    return f"holds what cannot be seen (U+{ord(found.group()[0]):04X})"


def checked_label(text: str, where: object, hint: str | None = None) -> str:
    r"""Return text as `checked_text` does; refuse a tab and a line break, too, since a label stands in one cell of one line.

    The hint says what may be behind a line break.

    Refused is also what cannot be seen: "she" and "she" with a blank of no width look alike, and are two words.

    Examples
    --------
    >>> checked_label("she\nhe", "table.csv, line 3")
    Traceback (most recent call last):
    ...
    bayesbias.InputError: table.csv, line 3: holds a tab or a line break; found: 'she\nhe'; valid: a text of one line
    """
    if _NOT_IN_A_LABEL.search(text):
        raise InputError(
            "holds a tab or a line break", where=where, found=text, valid="a text of one line", hint=hint
        )
    if (problem := unseen_problem(text)) is not None:
        raise InputError(problem, where=where, found=text, valid=repr(without_unseen(text)))
    return checked_text(text, where)


def checked_names(names: Iterable[Any], noun: str) -> list[str]:
    """Return the names that somebody gave to several things, each a text of one line.

    Examples
    --------
    >>> checked_names(["hard", ""], "method")
    Traceback (most recent call last):
    ...
    bayesbias.InputError: method number 2: must be a text that is not empty; found: ''
    """
    named = [
        checked_label(checks.text(name, f"{noun} number {i}").strip(), f"{noun} number {i}")
        for i, name in enumerate(names, start=1)
    ]
    if twice := checks.repeated(named):
        raise InputError(f"two {noun}s have one name", found=twice)
    return named


def _heaped(text: str) -> bool:
    """Say whether more marks follow one another than any letter has."""
    run = 0
    for letter in text:
        run = run + 1 if unicodedata.combining(letter) else 0
        if run > MOST_MARKS:
            return True
    return False


def checked_tree(value: Any, where: object) -> Any:
    r"""Return what a file of keys and lists holds with every text as `checked_text` returns it.

    Examples
    --------
    >>> checked_tree({"words": ["Ko\u0308nig", 1]}, "list.toml")
    {'words': ['König', 1]}
    >>> checked_tree({"class": [{"name": "a\x00"}]}, "list.toml")
    Traceback (most recent call last):
    ...
    bayesbias.InputError: list.toml, class, 1, name: holds a control character; found: '\x00'; valid: text
    """
    return _checked_branch(value, str(where), 0)


def _checked_branch(value: Any, where: str, depth: int) -> Any:
    if isinstance(value, str):
        return str(value) if value.isascii() and value.isprintable() else checked_text(str(value), where)
    if depth > MOST_DEPTH:
        raise InputError("is nested too deeply", where=where, valid=f"at most {MOST_DEPTH} levels")
    if isinstance(value, Mapping):
        out: dict[Any, Any] = {}
        for key, item in value.items():
            name = checked_text(key, where) if isinstance(key, str) else key
            if name in out:
                raise InputError("a key stands twice, in two spellings of one text", where=where, found=name)
            out[name] = _checked_branch(item, f"{where}, {name}" if depth < _NAMED else where, depth + 1)
        return out
    if hasattr(value, "tolist") and getattr(value, "ndim", None) == 1:  # arrays, and columns of frames
        value = value.tolist()
    elif isinstance(value, _IN_ORDER) and not isinstance(value, list | tuple | bytes):
        value = list(value)
    if isinstance(value, list | tuple):
        return type(value)(
            _checked_branch(item, f"{where}, {i}" if depth < _NAMED else where, depth + 1)
            for i, item in enumerate(value, 1)
        )
    if value is None or isinstance(value, _LEAVES):
        return value
    raise checks.wrong_kind(value, where, "texts, numbers, lists and tables")


def in_one_line(text: str, most: int = 300) -> str:
    r"""Return text cleaned, in one line, and with at most so many characters.

    Examples
    --------
    >>> in_one_line("no\n  such\x07 thing", 10)
    'no such...'
    """
    line = _BLANKS.sub(" ", cleaned(text[: 20 * most].replace("\x85", " "))).strip()
    return line if len(line) <= most else f"{line[: most - 3]}..."
