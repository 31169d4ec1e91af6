"""One check of each kind, and one wording for each.

Every check returns what it was given, in the form that is used further on, or raises an
`InputError`: ``<where>: expected <what>, got <value>.`` `where` is the name of the argument, or the
file and key.
"""

import contextlib
import math
import numbers
import os
import re
import secrets
import unicodedata
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping
from typing import Any

from bayesbias.core.errors import InputError, nearest
from bayesbias.core.formatting import join_words, some

type FilePath = str | os.PathLike[str]
"""A path as users give it."""
MOST_PAIRS = 25_000_000
"""Pairs of words, or of sentences, in one table: some 10 GB while it is made."""
_BYTES_OF_PAIR = 400  # at most, while a table is made
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
# Newlines and tabs are part of a longer text; the others act on a terminal, or end a text in a file.
_ACTING = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
# Soft hyphens, blanks of no width and byte-order marks say nothing in a word, joiners and marks of
# direction nothing at its ends.
_NO_BREAK = re.compile("[\u00a0\u2007\u202f]")
_UNSEEN = re.compile("[\u00ad\u200b\u2060\ufeff]+|^[\u061c\u200c-\u200f]+|[\u061c\u200c-\u200f]+$")


def count(value: Any, where: object, least: int = 1, most: int | None = None) -> int:
    """Return a whole number of at least `least`, and of `most` where one is given.

    Examples
    --------
    >>> count(0, "draws")
    Traceback (most recent call last):
    ...
    bayesbias.InputError: draws: expected a whole number of at least 1, got 0.
    """
    whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if not whole or value < least or (most is not None and value > most):
        limits = f"of at least {least}" if most is None else f"from {least} to {most}"
        raise InputError(f"expected a whole number {limits}", where=where, found=value)
    return int(value)


def seed(value: Any, where: object = "seed") -> int:
    """Return a seed: a whole number from 0 and below 2 to the 32."""
    return count(value, where, 0, 2**32 - 1)


def seed_or_new(value: Any) -> int:
    """Return a seed; a new one for None."""
    return secrets.randbits(32) if value is None else seed(value)


def derived_seed(*numbers: int) -> int:
    """Return a seed that depends on several whole numbers."""
    import numpy as np

    return int(np.random.SeedSequence(numbers).generate_state(1)[0])


def sampling(draws: Any, tune: Any, chains: Any) -> None:
    """Refuse numbers of draws and chains that are none.

    Examples
    --------
    >>> sampling(1000, 1000, 0)
    Traceback (most recent call last):
    ...
    bayesbias.InputError: chains: expected a whole number of at least 1, got 0.
    """
    for name, value in (("chains", chains), ("draws", draws), ("tune", tune)):
        count(value, name)


def number_of_pairs(words: int, attributes: int, where: object) -> None:
    """Refuse a table of more pairs than a usual machine holds, before it is made.

    Examples
    --------
    >>> number_of_pairs(20_000, 20_000, "list")
    Traceback (most recent call last):
    ...
    bayesbias.InputError: list: expected at most 25,000,000 pairs, got 400,000,000 (160 GB of memory). Split it, or sample its words.
    """
    pairs = words * attributes
    if pairs > MOST_PAIRS:
        found = f"{pairs:,} ({pairs * _BYTES_OF_PAIR / 1e9:,.0f} GB of memory)"
        problem = f"expected at most {MOST_PAIRS:,} pairs, got {found}"
        raise InputError(problem, where=where, hint="split it, or sample its words")


def is_number(value: Any) -> bool:
    """Whether a value is one finite number, of Python or NumPy; True and False are not."""
    try:
        number = isinstance(value, numbers.Real) and not isinstance(value, bool)
        return number and math.isfinite(value)
    except (OverflowError, TypeError, ValueError):  # a whole number that no float holds
        return False


def finite(value: Any, where: object) -> float:
    """Return a finite number."""
    return within(value, where, -math.inf, math.inf)


def positive(value: Any, where: object) -> float:
    """Return a finite number above 0."""
    if not (is_number(value) and value > 0):
        raise InputError("expected a finite number above 0", where=where, found=value)
    return float(value)


def within(value: Any, where: object, low: float, high: float) -> float:
    """Return a finite number from one to another, both included."""
    if not (is_number(value) and low <= value <= high):
        limits = f" from {low:g} to {high:g}" if math.isfinite(high) else f" of at least {low:g}"
        expected = f"a number{limits}" if math.isfinite(low) else "a finite number"
        raise InputError(f"expected {expected}", where=where, found=value)
    return float(value)


def probability(value: Any, where: object = "prob", most: float = 1) -> float:
    """Return a probability above 0 and below 1, or below a smaller limit.

    Examples
    --------
    >>> probability(1, "alpha")
    Traceback (most recent call last):
    ...
    bayesbias.InputError: alpha: expected a number between 0 and 1, got 1.
    """
    if not (is_number(value) and 0 < value < most):
        raise InputError(f"expected a number between 0 and {most:g}", where=where, found=value)
    return float(value)


def choice[T](value: T, valid: Iterable[Any], where: object) -> T:
    """Return a value that is one of those valid; the nearest of these is named where it is none.

    Examples
    --------
    >>> choice("clas", ["word", "class"], "level")
    Traceback (most recent call last):
    ...
    bayesbias.InputError: level: expected word or class, got 'clas'. Did you mean 'class'?
    """
    options = list(valid)
    # Arrays compare cell by cell, and have no hash.
    if not (isinstance(value, Hashable) and value in options):
        raise unknown(value, options, where)
    return value


def unknown(
    value: Any, valid: Iterable[Any], where: object, hint: str | None = None, most: int = 12
) -> InputError:
    """Return the error for what is none of the valid values, of which the first are named."""
    options = list(map(str, valid))
    expected = join_words(options, "or") if 0 < len(options) <= most else some(options, most)
    hint = hint or nearest(str(value), options)
    return InputError(f"expected {expected}", where=where, found=value, hint=hint)


def known_keys(
    data: Collection[Any],
    known: Iterable[str],
    where: object,
    *,
    needed: Iterable[str] = (),
    problems: list[InputError] | None = None,
    hints: Mapping[str, str] | None = None,
) -> None:
    """Refuse a table with an unknown key, or without one that is needed.

    Parameters
    ----------
    data : mapping, or collection of keys
    known : iterable of str
        The valid keys, in the order in which they are named.
    where : object
    needed : iterable of str
        Those that may not be left out.
    problems : list of InputError, optional
        What is wrong is added to it; without it the first thing that is wrong is raised.
    hints : mapping, optional
        What to do about keys that are unknown here.

    Examples
    --------
    >>> known_keys({"lamda": 2}, ["lam"], "own.toml")
    Traceback (most recent call last):
    ...
    bayesbias.InputError: own.toml, key: expected lam, got 'lamda'. Did you mean 'lam'?
    """
    known, hints = list(known), hints or {}
    wrong = [
        unknown(key, known, f"{where}, key", hints.get(str(key)), most=len(known))
        for key in data
        if key not in known
    ]
    if lacking := [key for key in needed if key not in data]:
        expected = f"expected the {_named('key', lacking)}"
        wrong.append(InputError(expected, where=where, found=list(data)))
    if problems is not None:
        problems += wrong
    elif wrong:
        raise wrong[0]


def _named(noun: str, names: list[str]) -> str:
    return f"{noun}{'s' if len(names) > 1 else ''} {join_words(map(repr, names))}"


def table(value: Any, where: object, valid: str | None = None) -> Mapping[Any, Any]:
    """Return a mapping, as a table of TOML or an object of JSON is."""
    if not isinstance(value, Mapping):
        raise InputError("expected a table", where=where, found=value, valid=valid)
    return value


def columns(frame: Any, needed: Iterable[str], where: object, kind: str) -> None:
    """Refuse what is no data frame, and a frame that lacks one of some columns.

    `kind` says how such a frame is made.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"word": ["nurse"]})
    >>> columns(frame, ["word", "difference"], "table", "what sentiment_table returns")
    Traceback (most recent call last):
    ...
    bayesbias.InputError: table: expected the column 'difference', got ['word']. Use what sentiment_table returns.
    """
    if not hasattr(frame, "columns") or not hasattr(frame, "groupby"):
        raise wrong_kind(frame, where, kind)
    if lacking := [name for name in needed if name not in frame.columns]:
        expected, found = f"expected the {_named('column', lacking)}", list(frame.columns)
        hint = nearest(lacking[0], map(str, found))
        raise InputError(expected, where=where, found=found, valid=kind, hint=hint)


def schema(data: Mapping[str, Any], expected: int, where: object) -> None:
    """Refuse a file whose form, by the number it states, is not the one that is read here."""
    version = data.get("schema")
    if isinstance(version, bool) or version != expected:
        hint = f"write schema = {expected} in its first line" if version is None else ""
        raise InputError(f"expected {expected}", where=f"{where}, schema", found=version, hint=hint)


def text(value: Any, where: object) -> str:
    """Return a text with more than blanks in it, and no control character but newlines and tabs."""
    free_text(_filled(value, where), where)
    return str(value)


def _filled(value: Any, where: object) -> str:
    if not (isinstance(value, str) and value.strip()):
        raise wrong_kind(value, where, "a non-empty string")
    return value


def texts(value: Any, where: object, least: int = 0) -> tuple[str, ...]:
    """Return a list of texts with more than blanks in them."""
    if not isinstance(value, list | tuple) or len(value) < least:
        size = f", {least} or more" if least else ""
        raise InputError(f"expected a list of texts{size}", where=where, found=value)
    return tuple(text(item, f"{where}, number {i}") for i, item in enumerate(value, start=1))


def plain_spaces(text: str) -> str:
    """Return a text with a space for each space that keeps a line together.

    Examples
    --------
    >>> plain_spaces("new\N{NO-BREAK SPACE}york")
    'new york'
    """
    return text if text.isascii() else _NO_BREAK.sub(" ", text)


def label(text: str, where: object) -> str:
    r"""Return a word or label in composed form (NFC); refuse characters that nobody sees.

    A no-break space becomes a space.

    Examples
    --------
    >>> label("she\nhe", "table.csv, line 3")
    Traceback (most recent call last):
    ...
    bayesbias.InputError: table.csv, line 3: expected one line of visible characters, got 'she\nhe'.
    """
    if _CONTROL.search(text) or (not text.isascii() and _UNSEEN.search(text)):
        raise InputError(f"expected one line of visible characters, got {text!a}", where=where)
    return unicodedata.normalize("NFC", plain_spaces(text))


def free_text(text: str, where: object) -> str:
    r"""Return a longer text, such as a prompt, in composed form (NFC).

    Newlines and tabs are kept; other control characters, which would act on a terminal, are
    refused.

    Examples
    --------
    >>> free_text("Who is it?\nAnswer:", "answers.csv")
    'Who is it?\nAnswer:'
    >>> free_text("Who\x1b[2J is it?", "answers.csv")
    Traceback (most recent call last):
    ...
    bayesbias.InputError: answers.csv: expected text without control characters, got 'Who\x1b[2J is it?'.
    """
    if match := _ACTING.search(text):
        near = text[max(0, match.start() - 20) : match.end() + 20]
        problem = f"expected text without control characters, got {near!a}"
        raise InputError(problem, where=where)
    return unicodedata.normalize("NFC", text)


def labels(texts: Collection[str], where: object) -> list[str]:
    """Return many texts, each as `label` returns it."""
    joined = " ".join(texts)  # one search of all is faster than a search of each
    if joined.isascii() and not _CONTROL.search(joined):
        return list(texts)
    return [label(text, where) for text in texts]


def free_texts(texts: Collection[str], where: object) -> list[str]:
    """Return many longer texts, each as `free_text` returns it."""
    joined = " ".join(texts)
    if joined.isascii() and not _ACTING.search(joined):
        return list(texts)
    return [free_text(text, where) for text in texts]


def line(value: Any, where: object) -> str:
    """Return a label that has more than blanks, without blanks around it."""
    return label(_filled(value, where).strip(), where)


def names(given: Iterable[Any], noun: str) -> list[str]:
    """Return the names that somebody gave to several things, each a text of one line.

    Examples
    --------
    >>> names(["hard", ""], "method")
    Traceback (most recent call last):
    ...
    bayesbias.InputError: method number 2: expected a non-empty string, got ''.
    """
    named = [line(name, f"{noun} number {i}") for i, name in enumerate(given, start=1)]
    distinct(named, "name", f"{noun}s")
    return named


def tree(value: Any) -> Any:
    r"""Return a mapping from memory as a file would give it.

    Plain lists, texts in composed form (NFC).

    Examples
    --------
    >>> tree({"words": ("Ko\u0308nig", 1)})
    {'words': ['König', 1]}
    """
    if isinstance(value, str):
        return unicodedata.normalize("NFC", str(value))
    if isinstance(value, Mapping):
        return {tree(key): tree(item) for key, item in value.items()}
    if hasattr(value, "tolist"):
        value = value.tolist()
    ordered = isinstance(value, Collection) and not isinstance(value, set | frozenset | bytes)
    return [tree(item) for item in value] if ordered else value


def path(value: Any, where: object, kind: str = "the path of a file or folder") -> str:
    """Return a path as a text.

    Examples
    --------
    >>> path(3, "folder")
    Traceback (most recent call last):
    ...
    bayesbias.InputError: folder: expected the path of a file or folder, got 3.
    """
    text = os.fsdecode(value) if isinstance(value, str | os.PathLike) else ""
    if not text.strip() or "\0" in text:
        raise wrong_kind(value, where, kind)
    return text


def instance[T](value: Any, kind: type[T], where: object, called: str) -> T:
    """Return a value that is of a kind.

    Examples
    --------
    >>> instance("crossed", dict, "fit", "a BiasFit (from bayesbias.fit)")
    Traceback (most recent call last):
    ...
    bayesbias.InputError: fit: expected a BiasFit (from bayesbias.fit), got 'crossed'.
    """
    if not isinstance(value, kind):
        raise wrong_kind(value, where, called)
    return value


def wrong_kind(value: Any, where: object, kind: str, hint: str | None = None) -> InputError:
    """Return the error for something of the wrong kind."""
    if value is None or isinstance(value, str | int | float | bool | bytes):
        found = repr(value)
    else:
        name = type(value).__name__
        found = f"a{'n' * (name[:1].lower() in 'aeiou' or name == 'ndarray')} {name}"
    return InputError(f"expected {kind}, got {found}", where=where, hint=hint)


def several[T](values: Iterable[T], where: object) -> list[T]:
    """Return a list of what was handed over; one text is not taken for a list of its letters.

    Examples
    --------
    >>> several("rabbi", "words")
    Traceback (most recent call last):
    ...
    bayesbias.InputError: words: expected a list, got 'rabbi'.
    """
    if not isinstance(values, str | bytes | bytearray):
        with contextlib.suppress(TypeError):  # what cannot be gone through
            return list(values)
    raise wrong_kind(values, where, "a list")


def words(values: Any, where: object = "words") -> list[str]:
    r"""Return a list of words, each of which has more than blanks and can be written.

    Examples
    --------
    >>> words(["rabbi", None])
    Traceback (most recent call last):
    ...
    bayesbias.InputError: words, number 2: expected a non-empty string, got None.
    """
    numbered = enumerate(several(values, where), start=1)
    return [plain_spaces(str(_filled(word, f"{where}, number {i}"))) for i, word in numbered]


def once[T](items: Iterable[T]) -> list[T]:
    """Return each item once, in order.

    Examples
    --------
    >>> once(["b", "a", "b"])
    ['b', 'a']
    """
    return list(dict.fromkeys(items))


def repeated[T](items: Iterable[T]) -> list[T]:
    """Return what occurs more than once, each once, in order.

    Examples
    --------
    >>> repeated(["a", "b", "a", "a"])
    ['a']
    """
    return [item for item, number in Counter(items).items() if number > 1]


def grouped[K, T](pairs: Iterable[tuple[K, T]]) -> dict[K, list[T]]:
    """Return the values of each key, in order.

    Examples
    --------
    >>> grouped([("x", 1), ("y", 2), ("x", 3)])
    {'x': [1, 3], 'y': [2]}
    """
    out: dict[K, list[T]] = {}
    for key, value in pairs:
        out.setdefault(key, []).append(value)
    return out


def distinct[T](items: Collection[T], noun: str, where: object) -> tuple[T, ...]:
    """Return items of which none occurs twice.

    Examples
    --------
    >>> distinct(["nurse", "cook", "nurse"], "profession", "jobs.toml")
    Traceback (most recent call last):
    ...
    bayesbias.InputError: jobs.toml: expected each profession once, got 'nurse' twice or more.
    """
    if twice := repeated(items):
        raise InputError(f"expected each {noun} once, got {twice[0]!r} twice or more", where=where)
    return tuple(items)
