"""Files and folders: shipped data, reading with errors that name the file, writing whole or not at all, hashes."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import importlib.resources
import json
import math
import os
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesbias.basics import checks
from bayesbias.basics.errors import InputError, nearest

if TYPE_CHECKING:
    import pandas as pd

_PACKAGE = Path(str(importlib.resources.files("bayesbias")))


def data_dir(kind: str) -> Path:
    """Return the folder of shipped files: ``wordlists``, ``models`` or ``embeddings``.

    In an installed wheel they lie in ``bayesbias/_data``; in a checkout word lists and models lie
    at the top of the repository, where they are read and edited.
    """
    installed = _PACKAGE / "_data" / kind
    return installed if installed.is_dir() else _PACKAGE.parent / kind


def shipped_names(kind: str, suffix: str = ".toml") -> list[str]:
    """Return the names of the shipped files of one kind, sorted."""
    return sorted(path.stem for path in data_dir(kind).glob(f"*{suffix}"))


def find_toml(name_or_path: str | os.PathLike[str], kind: str, noun: str) -> Path:
    """Return the path of a shipped TOML file by its name, or of the user's own by its path."""
    text = checks.path(name_or_path, noun, f"the name of a shipped {noun}, or the path of a .toml file")
    if text in shipped_names(kind):
        return data_dir(kind) / f"{text}.toml"
    path = Path(text)
    if text and path.is_dir():
        raise InputError(f"is a folder, not a {noun} file", where=path, valid="a .toml file")
    if path.is_file():
        return path
    looks_like_path = path.suffix == ".toml" or os.sep in text
    raise InputError(
        f"no such {noun} file" if looks_like_path else f"unknown {noun}",
        found=text,
        valid=[*shipped_names(kind), "or the path of a .toml file"],
        hint=nearest(text, shipped_names(kind)),
    )


def read_bytes(path: Path) -> bytes:
    """Return the content of a small file; say which file where it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", where=path) from None


def parse_toml(text: bytes, where: str) -> dict[str, Any]:
    """Parse TOML; what is wrong with it is said with file and line."""
    try:
        return tomllib.loads(decoded(text, where))
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"is not valid TOML: {error}", where=where) from None


def read_toml(path: Path) -> dict[str, Any]:
    """Read and parse a TOML file."""
    return parse_toml(read_bytes(path), str(path))


def sha256_file(path: str | os.PathLike[str]) -> str:
    """Return the SHA-256 of a file in hexadecimal."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check_folder(out: Path | None) -> None:
    """Refuse a folder that cannot be written, before the work and not after it."""
    if out is None:
        return
    existing = out
    while not existing.exists() and existing != existing.parent:
        existing = existing.parent
    if not existing.is_dir():
        raise InputError("the output must be a folder", where=out, found=f"{existing} is a file")
    try:  # permissions alone do not tell: some file systems refuse whoever asks
        with tempfile.TemporaryDirectory(prefix=".bayesbias-", dir=existing):
            pass
    except OSError as error:
        raise InputError(
            "the output cannot be written", where=out, found=f"{error.strerror or error} in {existing}"
        ) from None


@contextlib.contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Write a file whole or not at all.

    Yields the path of a temporary file in the same folder. If the block ends well it is flushed to
    the disk and renamed to `path`; if not, it is removed and an older `path` stays as it was.

    Raises
    ------
    InputError
        Where the folder cannot be written or the disk is full.
    """
    path = Path(checks.path(path, "path"))
    temporary: Path | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=path.suffix, dir=path.parent)
        os.close(handle)
        temporary = Path(name)
        yield temporary
        with open(temporary, "rb+") as file:
            os.fsync(file.fileno())
        umask = os.umask(0)
        os.umask(umask)
        temporary.chmod(0o666 & ~umask)
        os.replace(temporary, path)
        temporary = None
    except OSError as error:
        # A file that the block itself looks for and does not find is another matter than one that cannot be written.
        if (
            temporary
            and isinstance(error, FileNotFoundError)
            and error.filename not in (str(temporary), str(path))
        ):
            raise
        raise InputError(
            f"cannot be written: {error.strerror or error}",
            where=path,
            hint="nothing was left half-written",
        ) from error
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a frame as plain dictionaries, for JSON; what does not exist is None."""
    return json.loads(frame.to_json(orient="records", double_precision=15))


def cache_dir() -> Path:
    """Return the folder for files that can be made again: ``BAYESBIAS_CACHE``, or the user's cache folder."""
    if chosen := os.environ.get("BAYESBIAS_CACHE"):
        return Path(chosen).expanduser()
    import platformdirs

    return Path(platformdirs.user_cache_dir("bayesbias", appauthor=False))


def sha256_of(content: str | bytes) -> str:
    """Return the SHA-256 of a text in UTF-8, or of bytes, in hexadecimal."""
    data = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    return hashlib.sha256(data).hexdigest()


def plain(value: Any) -> Any:
    """Return a value as JSON can hold it: Python's own numbers, lists and dictionaries.

    What does not exist is None: a missing cell of a table, and a number that is none or infinite.

    Examples
    --------
    >>> plain({"n": (1, float("nan"))})
    {'n': [1, None]}
    """
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    if type(value).__name__ == "NAType":  # of pandas, which need not be imported for it
        return None
    if hasattr(value, "tolist"):  # an array of NumPy, or one of its numbers
        return plain(value.tolist())
    return None if isinstance(value, float) and not math.isfinite(value) else value


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


def read_json_or_none(path: Path) -> Any:
    """Return what a JSON file holds; None where it is not there, broken off or damaged."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def delimiter_of(path: Path) -> str:
    """Return what separates the columns of a .csv or .tsv file; refuse any other kind of file."""
    kinds = {".csv": ",", ".tsv": "\t"}
    return kinds[checks.choice(path.suffix, kinds, "kind of file", path)]
