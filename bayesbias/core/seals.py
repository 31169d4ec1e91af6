"""Seals: a file that ends, or begins, with the SHA-256 of all else in it, so that a changed bit is seen where it is read.

Two forms: a line after the end of a binary file (HDF5 and netCDF ignore what follows their end), and the first key of an
object in JSON. Both are over the bytes as they stand. A seal that is itself damaged counts as broken, not as none.
"""

from __future__ import annotations

import enum
import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bayesbias.core.errors import InputError
from bayesbias.core.files import opened, sha256_file

SEAL_KEY = "sha256_of_rest"
_MARK = b"\nbayesbias seal, sha256: "
_HEX = 64
_END = len(_MARK) + _HEX + 1
_EMPTY = "0" * _HEX
_CHUNK = 1 << 20


class State(enum.Enum):
    """What became of a file since it was written; the value is how it is told."""

    INTACT = "intact"
    DAMAGED = "damaged"
    MISSING = "missing"
    UNVERIFIED = "unverified"  # written without a hash


def sum_beside(path: Path) -> Path:
    """Return where the sum of a file lies that cannot hold it."""
    return path.with_name(f"{path.name}.sha256")


_AGAIN = "copy it again from a whole one, or make it again"


def damaged(
    path: object, problem: str = "its bytes are not those that were written", hint: str = _AGAIN
) -> InputError:
    """Return the error that says so of a file that this package wrote."""
    return InputError(f"is damaged: {problem}", where=path, hint=hint)


def seal_bytes(content: bytes | bytearray) -> bytes:
    """Return the line that seals `content`, to be written after it."""
    return _MARK + hashlib.sha256(content).hexdigest().encode() + b"\n"


def seal_of_file(path: str | os.PathLike[str], valid: str | None = None) -> State:
    """Check the seal after the end of a file; its content is read once, in small parts."""
    digest = hashlib.sha256()
    with opened(Path(path), valid=valid) as file:
        rest = file.seek(0, os.SEEK_END) - _END
        if rest < 0:
            return State.UNVERIFIED
        file.seek(rest)
        ending = file.read(_END)
        if not _alike(ending, _MARK):
            return State.UNVERIFIED
        file.seek(0)
        while rest > 0 and (part := file.read(min(rest, _CHUNK))):
            digest.update(part)
            rest -= len(part)
    return State.INTACT if ending == _MARK + digest.hexdigest().encode() + b"\n" else State.DAMAGED


def sealed_json(value: Mapping[str, Any], indent: int | None = None) -> bytes:
    """Return an object as JSON with its seal as the first key; NaN is refused.

    Examples
    --------
    >>> content = sealed_json({"n": 1})
    >>> seal_of_json(content), seal_of_json(content.replace(b"1}", b"2}"))
    (<State.INTACT: 'intact'>, <State.DAMAGED: 'damaged'>)
    """
    text = json.dumps({SEAL_KEY: _EMPTY, **value}, indent=indent, allow_nan=False) + "\n"
    content = text.encode()
    return content.replace(_EMPTY.encode(), hashlib.sha256(content).hexdigest().encode(), 1)


def seal_of_json(content: bytes) -> State:
    """Check the seal of what `sealed_json` returned."""
    for head in (f'{{"{SEAL_KEY}": "'.encode(), f'{{\n  "{SEAL_KEY}": "'.encode()):
        if _alike(content, head):
            at = len(head)
            blank = head + _EMPTY.encode() + content[at + _HEX :]
            expected = hashlib.sha256(blank).hexdigest().encode()
            return State.INTACT if content[: at + _HEX] == head + expected else State.DAMAGED
    return State.UNVERIFIED


def _alike(content: bytes, mark: bytes) -> bool:
    """Say whether `content` begins with a mark, of which a part may be damaged."""
    return 2 * sum(a == b for a, b in zip(content, mark, strict=False)) > len(mark)


def state_of_file(path: Path, listed: Mapping[str, Any]) -> State:
    """Hold a file against what was written down of it: ``bytes`` first, which costs nothing, then ``sha256``."""
    if not isinstance(listed, Mapping) or not listed.keys() >= {"bytes", "sha256"}:
        return State.DAMAGED
    try:
        if not path.is_file():
            return State.MISSING
        if path.stat().st_size != listed["bytes"]:
            return State.DAMAGED
        return State.INTACT if sha256_file(path) == listed["sha256"] else State.DAMAGED
    except (FileNotFoundError, InputError):
        if path.is_file():
            raise
        return State.MISSING  # another process has just replaced the run


def about_file(path: Path) -> dict[str, Any]:
    """Return what is written down of a file: ``bytes`` and ``sha256``."""
    return {"bytes": path.stat().st_size, "sha256": sha256_file(path)}
