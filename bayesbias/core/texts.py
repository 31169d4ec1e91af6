"""Files of text, read whole: plain text, TOML and JSON.

What comes out is clean: text in Unicode's composed form, without control characters and halves of characters, of
bounded depth, and of a size that is read in moments.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from bayesbias.core.cleaning import MOST_DEPTH, checked_text, checked_tree, steering
from bayesbias.core.errors import InputError
from bayesbias.core.guarding import guarded
from bayesbias.core.no_text import no_text
from bayesbias.core.opening import read_bytes

# Bytes. A list of 20,000 words has a third of the first; what is larger takes the parser of TOML, and the look at every
# text of JSON, more than seconds. Files of our own, and the words of vectors, are JSON that is not looked through.
MOST_TOML, MOST_JSON, MOST_OWN_JSON = 1 << 20, 1 << 22, 1 << 27
MOST_TEXT, MOST_TABLE = (
    1 << 26,
    1 << 24,
)  # bytes: sentences by the hundred thousand; facts, counts and lists as tables
_MOST_NESTS = 1 << 20  # lists and objects in one file: each takes a hundred times the room of its brackets
_MOST_TABLES = 20_000
_TABLE = re.compile(r"^[ \t]*\[", re.MULTILINE)
_MANY_PARTS = re.compile(rf"(?<![\w\"'-])(?:[\w\"'-]++[ \t]*+\.[ \t]*+){{{MOST_DEPTH}}}")  # of a key: a.a.a
_LINE_END = re.compile(r"\r\n|\r|\n")


def decoded(content: bytes, where: object) -> str:
    """Return the text of bytes in UTF-8, without the byte-order mark that some editors write."""
    if (what := no_text(content[:64])) is not None:
        raise InputError(f"is {what.kind}", where=where, valid="UTF-8", hint=what.hint)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise InputError(
            "is not valid UTF-8",
            where=f"{where}, line {line}",
            found=content[error.start :][:4],
            hint="save it as UTF-8: in Latin-1 or Windows-1252 its letters are other bytes",
        ) from None


def read_text(path: Path, most: int = MOST_TEXT) -> str:
    """Return the text of a small file in UTF-8, of at most so many bytes, cleaned; say which line where it is no text."""
    text = decoded(read_bytes(path, most), path)
    if (at := steering(text)) is not None:
        checked_text(text[at], f"{path}, line {len(_LINE_END.findall(text[:at])) + 1}")
    return checked_text(text, path)


def lines_of(text: str) -> list[str]:
    r"""Return the lines of a text: what a sentence may hold, such as U+2028, ends none.

    Examples
    --------
    >>> lines_of("a\r\nb\u2028c\n")
    ['a', 'b\u2028c']
    """
    lines = _LINE_END.split(text)
    return lines[:-1] if lines[-1] == "" else lines


def parse_toml(text: bytes, where: str) -> dict[str, Any]:
    """Parse TOML; what is wrong with it is said with file and line."""
    _check_size(text, MOST_TOML, where)
    content = decoded(text, where)
    # Each part of a key, and each table, is looked up in all before it.
    if (tables := sum(1 for _ in _TABLE.finditer(content))) > _MOST_TABLES:
        raise InputError("holds more tables than any such file", where=where, found=tables)
    if _MANY_PARTS.search(content):
        raise InputError("is nested too deeply", where=where, valid=f"at most {MOST_DEPTH} levels")
    with guarded(where, "is not valid TOML"):
        try:
            data = tomllib.loads(content)
        except tomllib.TOMLDecodeError as error:
            raise InputError(f"is not valid TOML: {error}", where=where) from None
        except ValueError as error:
            raise (_too_long(error, where) or error) from None
        return checked_tree(data, where)


def read_toml(path: Path) -> dict[str, Any]:
    """Read and parse a TOML file."""
    return parse_toml(read_bytes(path, MOST_TOML), str(path))


def parse_json(content: str | bytes, where: object, *, as_written: bool = False) -> Any:
    """Parse JSON; what is wrong with it is said in one line, with its line where it is known.

    Parameters
    ----------
    content : str or bytes
    where : object
        The file, for messages.
    as_written : bool
        Whether texts are kept to the last character: of files of our own, and of the words of vectors.
    """
    _check_size(content, MOST_OWN_JSON if as_written else MOST_JSON, where)
    text = content if isinstance(content, str) else decoded(content, where)
    if (nests := text.count("[") + text.count("{")) > _MOST_NESTS:
        raise InputError("holds more lists than any such file", where=where, found=nests)
    with guarded(where, "is not valid JSON"):
        try:
            data = json.loads(text, object_pairs_hook=None if as_written else _without_repeats(where))
        except json.JSONDecodeError as error:
            place = f"{where}, line {error.lineno}, column {error.colno}"
            raise InputError(f"is not valid JSON: {error.msg}", where=place) from None
        except ValueError as error:
            raise (_too_long(error, where) or error) from None
        return data if as_written else checked_tree(data, where)


def read_json(path: Path, *, as_written: bool = False) -> Any:
    """Read and parse a JSON file, as `parse_json` does; one that is larger than any of its kind is not read."""
    most = MOST_OWN_JSON if as_written else MOST_JSON
    return parse_json(read_bytes(path, most), path, as_written=as_written)


def _too_long(error: ValueError, where: object) -> InputError | None:
    """Return the error for a whole number that Python does not read for its length; None for any other."""
    if "integer string conversion" not in str(error):
        return None
    return InputError(
        "holds a number of more digits than are read", where=where, valid="at most 4,300 digits"
    )


def _without_repeats(where: object) -> Callable[[Iterable[tuple[str, Any]]], dict[str, Any]]:
    def as_dict(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
        out: dict[str, Any] = {}
        for key, value in pairs:
            if key in out:
                raise InputError("a key stands twice", where=where, found=key, valid="each once")
            out[key] = value
        return out

    return as_dict


def _check_size(content: str | bytes, most: int, where: object) -> None:
    if len(content) > most:
        raise InputError(
            "is larger than any such file", where=where, found=len(content), valid=f"at most {most:,} bytes"
        )
