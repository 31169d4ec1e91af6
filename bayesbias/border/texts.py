"""Files of text, read whole: plain text, TOML and JSON."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

from bayesbias.basics.errors import InputError
from bayesbias.border.guarding import guarded
from bayesbias.border.opening import read_bytes


def decoded(content: bytes, where: object) -> str:
    """Return the text of bytes in UTF-8, without the byte-order mark that some editors write."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise InputError(
            "is not valid UTF-8", where=f"{where}, line {line}", found=content[error.start :][:4]
        ) from None


def read_text(path: Path) -> str:
    """Return the text of a small file in UTF-8; say which line where it is no text."""
    return decoded(read_bytes(path), path)


def parse_toml(text: bytes, where: str) -> dict[str, Any]:
    """Parse TOML; what is wrong with it is said with file and line."""
    content = decoded(text, where)
    with guarded(where, "is not valid TOML"):
        try:
            return tomllib.loads(content)
        except tomllib.TOMLDecodeError as error:
            raise InputError(f"is not valid TOML: {error}", where=where) from None


def read_toml(path: Path) -> dict[str, Any]:
    """Read and parse a TOML file."""
    return parse_toml(read_bytes(path), str(path))


def parse_json(content: str | bytes, where: object) -> Any:
    """Parse JSON; what is wrong with it is said in one line."""
    text = content if isinstance(content, str) else decoded(content, where)
    with guarded(where, "is not valid JSON"):
        return json.loads(text)


def read_json_or_none(path: Path) -> Any:
    """Return what a JSON file holds; None where it is not there, broken off or damaged."""
    try:
        return parse_json(read_bytes(path), path)
    except InputError:
        return None
