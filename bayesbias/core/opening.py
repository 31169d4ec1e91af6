"""Files opened: plain ones, pipes where one pass suffices, and one clear error for whatever else bears a path."""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import re
import stat
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from bayesbias.core import checks
from bayesbias.core.errors import InputError, nearest_file
from bayesbias.core.guarding import guarded

MOST_IN_MEMORY = 1 << 30  # bytes of a file that is read whole
MOST_PIPED = 1 << 35  # bytes of a pipe that is put aside on the disk
_CHUNK = 1 << 20
_MOST_KEPT = 1 << 26  # bytes of a pipe that are kept in memory for those who read it again
_WAIT_FOR_WRITER_S = 2.0
_KEPT_FREE = 1 << 29  # bytes of the disk that a pipe may not take
_DESCRIPTOR = re.compile(r"/(?:dev|proc/self)/fd/(\d{1,6})")
_STANDARD = {"/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2}
_OTHER_KINDS = (
    (stat.S_ISDIR, "is a folder, not a {}"),
    (stat.S_ISCHR, "is a device, not a {}"),
    (stat.S_ISBLK, "is a device, not a {}"),
    (stat.S_ISSOCK, "is a socket, not a {}"),
)


def path_of(value: Any, where: object = "path", valid: str = "the path of a file") -> Path:
    r"""Return what was given as a path, with the user's home in place of ``~``.

    Examples
    --------
    >>> path_of("a\0b")
    Traceback (most recent call last):
    ...
    bayesbias.InputError: path: holds a NUL character, which no path can; found: 'a\x00b'; valid: the path of a file
    """
    text = checks.path(value, where, valid)
    if "\0" in text:
        raise InputError(
            "holds a NUL character, which no path can", where=where, found=text[:60], valid=valid
        )
    with guarded(text, "is no path that can be followed"):
        return Path(text).expanduser()


def state_of(
    path: Path, *, pipes: bool = False, noun: str = "file", valid: str | None = None
) -> os.stat_result:
    """Return the state of a file that can be opened for reading; raise what is the matter where it cannot.

    Parameters
    ----------
    path : Path
    pipes : bool
        Whether a pipe will do, since the file is read once and from its beginning.
    noun : str
        What the file should be, for the message where there is none.
    valid : str, optional
        What may stand there.
    """
    try:
        state = path.stat()
    except FileNotFoundError:
        raise absent(path, noun, valid) from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise InputError(f"cannot be read: {reason}", where=path, valid=valid) from None
    for is_of_kind, problem in _OTHER_KINDS:
        if is_of_kind(state.st_mode):
            number = _descriptor_of(path)
            if number is not None and stat.S_ISCHR(state.st_mode) and os.isatty(number):
                problem = "is a terminal: nothing is piped in"
            raise InputError(problem.format(noun), where=path, valid=valid)
    if stat.S_ISFIFO(state.st_mode) and not pipes:
        raise _read_again(path, noun, valid)
    return state


def _read_again(path: Path, noun: str, valid: str | None) -> InputError:
    return InputError(
        f"is a pipe, and a {noun} is read more than once",
        where=path,
        valid=valid,
        hint="save it as a file first",
    )


def names_beside(path: Path) -> list[str] | None:
    """Return what lies in the folder of a path, at most ten thousand of it; None where there is no such folder."""
    try:
        return sorted(os.listdir(path.parent))[:10_000] if path.name else []
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:  # a folder that is closed
        return []


def absent(path: Path, noun: str, valid: str | None) -> InputError:
    """Return the error for a path at which there is nothing; a file of nearly its name is named."""
    beside = names_beside(path)
    if beside is None:
        return InputError(
            f"no such {noun}", where=path, valid=valid, hint=f"there is no folder {path.parent}"
        )
    return InputError(f"no such {noun}", where=path, valid=valid, hint=nearest_file(path.name, beside))


def _descriptor_of(path: Path) -> int | None:
    """Return the number of a descriptor that was handed over by its path, as process substitution does."""
    if (number := _STANDARD.get(str(path))) is not None:
        return number
    match = _DESCRIPTOR.fullmatch(str(path))
    return int(match[1]) if match else None


@contextlib.contextmanager
def opened(
    path: Path, *, pipes: bool = False, noun: str = "file", valid: str | None = None, buffering: int = -1
) -> Iterator[BinaryIO]:
    """Open a file for reading; errors of the system, now or while it is read, name the file.

    A pipe is taken where `pipes` says so. One that lies in a folder, and that nobody writes to, is waited for two
    seconds and then refused. One that was handed over by its descriptor, as process substitution does, may be read
    again where it is small: what it held is kept.

    Examples
    --------
    >>> with opened(Path("nowhere.csv")) as file:
    ...     pass
    Traceback (most recent call last):
    ...
    bayesbias.InputError: nowhere.csv: no such file
    """
    handed_over = _descriptor_of(path) is not None
    before = state_of(path, pipes=pipes or handed_over, noun=noun, valid=valid)
    try:
        with contextlib.ExitStack() as stack:
            if stat.S_ISFIFO(before.st_mode):
                if handed_over and (not pipes or _key_of(before) in _kept):
                    yield stack.enter_context(io.BytesIO(_kept_content(path, before, noun, valid)))
                    return
                yield stack.enter_context(_opened_pipe(path))
                return
            # What it is may have changed since it was looked at: a pipe must not be waited for.
            flags = (
                os.O_RDONLY
                | getattr(os, "O_NONBLOCK", 0)
                | getattr(os, "O_BINARY", 0)
                | getattr(os, "O_CLOEXEC", 0)
            )
            try:
                handle = os.open(path, flags)
            except FileNotFoundError:  # it was there a moment ago
                raise absent(path, noun, valid) from None
            file: Any = stack.enter_context(open(handle, "rb", buffering=buffering))
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise InputError("was replaced by something that is no file", where=path, valid=valid)
            yield file
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", where=path, valid=valid) from None


def _key_of(state: os.stat_result) -> tuple[int, int]:
    return state.st_dev, state.st_ino


_kept: dict[
    tuple[int, int], bytes
] = {}  # what pipes held, by device and number of the pipe, which no other bears


def _kept_content(path: Path, state: os.stat_result, noun: str, valid: str | None) -> bytes:
    """Return what a pipe holds or held, which is kept where it is small."""
    key = _key_of(state)
    if key not in _kept:
        with _opened_pipe(path) as pipe:
            content = pipe.read(_MOST_KEPT + 1)
        if len(content) > _MOST_KEPT:
            raise _read_again(path, noun, valid)
        _kept[key] = content
    return _kept[key]


@contextlib.contextmanager
def _opened_pipe(path: Path) -> Iterator[BinaryIO]:
    number = _descriptor_of(path)
    if number is not None:
        handle = os.dup(number)  # of our own standard input: whoever fills it may take its time
        begun = b""
    else:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        try:
            begun = _begun(handle, path)
        except BaseException:
            os.close(handle)
            raise
    with open(handle, "rb", buffering=0) as raw:
        yield io.BufferedReader(_Prefixed(begun, raw), _CHUNK)


def _begun(handle: int, path: Path) -> bytes:
    """Wait until somebody writes to a pipe, and return what was there first."""
    end = time.monotonic() + _WAIT_FOR_WRITER_S
    first = b""
    while not first:
        try:
            first = os.read(handle, 1 << 16)
        except BlockingIOError:  # somebody has opened it, and has not written yet
            break
        if not first:
            if time.monotonic() > end:
                raise InputError(f"is a pipe that nobody wrote to for {_WAIT_FOR_WRITER_S:g} s", where=path)
            time.sleep(0.02)
    os.set_blocking(handle, True)
    return first


class _Prefixed(io.RawIOBase):
    """A stream whose first bytes were read before."""

    def __init__(self, first: bytes, rest: Any) -> None:
        self._first, self._rest = first, rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if self._first:
            part = self._first[: len(buffer)]
            buffer[: len(part)] = part
            self._first = self._first[len(part) :]
            return len(part)
        return self._rest.readinto(buffer)


def read_bytes(
    path: Path, most: int = MOST_IN_MEMORY, *, noun: str = "file", valid: str | None = None
) -> bytes:
    """Return the content of a file or pipe that is read whole, of at most so many bytes."""
    with opened(path, pipes=True, noun=noun, valid=valid) as file, guarded(path):
        parts, size = [], 0
        while part := file.read(min(_CHUNK, most + 1 - size)):
            parts.append(part)
            size += len(part)
            if size > most:
                raise too_large(path, most)
        content = b"".join(parts)
    if (
        size <= _MOST_KEPT
        and _descriptor_of(path) is not None
        and stat.S_ISFIFO((state := path.stat()).st_mode)
    ):
        _kept[_key_of(state)] = content
    return content


def is_piped(path: str | os.PathLike[str]) -> bool:
    """Say whether a path is a pipe that was handed over by its descriptor, whose name says nothing of its form."""
    try:
        return _descriptor_of(Path(path)) is not None and stat.S_ISFIFO(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False


def begins_as_json(path: Path, most: int) -> bool:
    """Say whether the content of a pipe that was handed over is JSON, by its first character."""
    return is_piped(path) and read_bytes(path, most).lstrip()[:1] in (b"{", b"[")


def too_large(path: object, most: int) -> InputError:
    """Return the error for a file that is larger than what is read of its kind."""
    return InputError("is too large", where=path, valid=f"at most {most:,} bytes")


@contextlib.contextmanager
def as_plain_file(path: Path, *, noun: str = "file", valid: str | None = None) -> Iterator[Path]:
    """Yield a file that can be read again and from anywhere: the one given, or what a pipe held, put aside on the disk.

    Raises
    ------
    InputError
        Where it is no file, or a pipe holds more than the disk for temporary files does.
    """
    if not stat.S_ISFIFO(state_of(path, pipes=True, noun=noun, valid=valid).st_mode):
        yield path
        return
    import shutil

    with tempfile.TemporaryDirectory(prefix="bayesbias-") as folder:
        aside = Path(folder) / (path.name or "pipe")
        with opened(path, pipes=True) as pipe, open(aside, "wb") as file:
            size = 0
            while part := pipe.read(_CHUNK):
                size += len(part)
                if size % (64 * _CHUNK) < len(part) and shutil.disk_usage(folder).free < _KEPT_FREE:
                    raise InputError(
                        "the pipe holds more than the disk for temporary files does",
                        where=path,
                        found=f"{size:,} bytes",
                    )
                if size > MOST_PIPED:
                    raise too_large(path, MOST_PIPED)
                file.write(part)
        yield aside


def sha256_file(path: str | os.PathLike[str]) -> str:
    """Return the SHA-256 of a file in hexadecimal."""
    with opened(Path(path)) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]


def fingerprint(path: Path) -> dict[str, int]:
    """Return what tells a file from an earlier or later state of it."""
    now = path.stat()
    return {"size": now.st_size, "mtime_ns": now.st_mtime_ns, "inode": now.st_ino, "device": now.st_dev}


@contextlib.contextmanager
def unchanged(path: Path) -> Iterator[None]:
    """Refuse what was read of a file that somebody wrote to meanwhile: it may be of two states.

    Raises
    ------
    InputError
    """
    before = _fingerprint_or_none(path)
    yield
    if before is not None and _fingerprint_or_none(path) != before:  # it may be gone
        raise InputError("changed while it was read", where=path, hint="read it when nothing writes to it")


def _fingerprint_or_none(path: Path) -> dict[str, int] | None:
    try:
        return fingerprint(path)
    except OSError:  # who reads it says what is wrong
        return None
