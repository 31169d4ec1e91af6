"""Compressed files, unpacked as a stream and no further than their size on the disk makes believable.

A kilobyte can be made to unpack to gigabytes. Vectors as text shrink to a third, tables of pairs to a tenth or, where
words repeat, a fiftieth; what says to be two hundred times its own size is refused once that has been unpacked.
"""

from __future__ import annotations

import bz2
import contextlib
import io
import lzma
import os
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from bayesbias.core.errors import InputError
from bayesbias.core.guarding import guarded
from bayesbias.core.opening import opened

MOST_RATIO = 200
ALWAYS_ALLOWED = 1 << 25  # bytes that anything may unpack to
_MOST_DIRECTORY = 1 << 20  # bytes of the list of members of a zip file
_XZ_MEMORY = 1 << 27  # bytes that a decoder may ask for; xz -9 takes half of it
_STEP = 1 << 24
_PADDED = ("gzip", "xz")  # which may be followed by zeros
_MANY_STREAMS, _SHORTEST_STREAM = 1000, 100  # parts that any file may have, and bytes of each of the others
_CHUNK = 1 << 18

_BEGINNINGS = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bzip2",
    b"\xfd7zXZ\0": "xz",
    b"PK\x03\x04": "zip",
    b"PK\x05\x06": "zip",
    b"\x28\xb5\x2f\xfd": "Zstandard",
}


def compression_of(start: bytes) -> str | None:
    """Return how a file is compressed, told from its first six bytes: gzip, bzip2, xz, zip, Zstandard, or not.

    Examples
    --------
    >>> compression_of(b"BZh91AY"), compression_of(b"rabbi 1")
    ('bzip2', None)
    """
    return next((name for magic, name in _BEGINNINGS.items() if start.startswith(magic)), None)


def believable(unpacked: int, packed: int, ratio: int = MOST_RATIO, always: int = ALWAYS_ALLOWED) -> bool:
    """Whether so many bytes may come out of so many."""
    return unpacked <= max(always, ratio * packed)


def bomb(path: object, unpacked: int, packed: int, ratio: int = MOST_RATIO) -> InputError:
    """Return the error for a file that unpacks to far more than it is."""
    return InputError(
        "unpacks to far more than any table or vectors would",
        where=path,
        found=f"{unpacked:,} bytes or more out of {packed:,}",
        valid=f"at most {ratio} times as many",
        hint="if it is meant so, unpack it first",
    )


@contextlib.contextmanager
def unpacked(
    stream: BinaryIO,
    path: Path,
    compression: str = "gzip",
    chunk: int = 1 << 22,
    *,
    ratio: int = MOST_RATIO,
    always: int = ALWAYS_ALLOWED,
) -> Iterator[BinaryIO]:
    """Yield what a compressed stream holds, read `chunk` bytes at a time.

    Parameters
    ----------
    stream : binary stream
        Of the file as it lies on the disk, at its beginning; it must tell its position.
    path : Path
        For messages.
    compression : {"gzip", "bzip2", "xz"}
    chunk : int
    ratio, always : int
        How many times what was read may come out, and how many bytes in any case.

    Raises
    ------
    InputError
        Where it is damaged or broken off; where more comes out.
    """
    called = f"{compression} file"
    try:
        with io.BufferedReader(_Decoded(stream, compression, path), _CHUNK) as inner:
            yield io.BufferedReader(_Measured(inner, stream, path, ratio, always), chunk)
    except EOFError:
        raise InputError(
            f"the {called} is truncated: it ends before its end mark",
            where=path,
            found=f"{stream.tell()} bytes",
            valid=f"a whole {called}",
            hint="copy or download it again",
        ) from None
    except (zlib.error, lzma.LZMAError, _DamagedError) as error:
        with guarded(path, f"the {called} is damaged", valid=f"a whole {called}"):
            raise error


class _DamagedError(Exception):
    """What a decoder says of bytes that it cannot decode."""


class _Measured(io.RawIOBase):
    """What comes out of a decompressor, held against what went in."""

    def __init__(self, inner: Any, packed: BinaryIO, path: Path, ratio: int, always: int) -> None:
        self._inner, self._packed, self._path = inner, packed, path
        self._ratio, self._always = ratio, always

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self._inner.seekable()

    def tell(self) -> int:
        return self._inner.tell()

    def _check(self) -> None:
        out, taken = self._inner.tell(), self._packed.tell()
        if not believable(out, taken, self._ratio, self._always):
            raise bomb(self._path, out, taken, self._ratio)

    def readinto(self, buffer: Any) -> int:
        got = self._inner.readinto(buffer)
        self._check()
        return got

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        target = offset + (self._inner.tell() if whence == os.SEEK_CUR else 0)
        at = min(target, self._inner.tell())
        while True:
            before = self._inner.seek(at)
            self._check()
            if before < at or at == target:  # the end, or there
                return before
            at = min(target, at + _STEP)


class _Decoded(io.RawIOBase):
    """What a stream of gzip, bzip2 or xz unpacks to, never more at once than was asked for; it is sought by reading on."""

    def __init__(self, packed: BinaryIO, compression: str, path: Path) -> None:
        self._packed, self._compression, self._path = packed, compression, path
        self._begin()

    def _begin(self) -> None:
        self._decoder = self._new()
        self._left = b""
        self._at = self._streams = 0

    def _new(self) -> Any:
        if self._compression == "gzip":
            return _Gzip()
        if self._compression == "bzip2":
            return bz2.BZ2Decompressor()
        return lzma.LZMADecompressor(memlimit=_XZ_MEMORY)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        target = offset + (self._at if whence == os.SEEK_CUR else 0)
        if target < self._at:
            self._packed.seek(0)
            self._begin()
        room = memoryview(bytearray(_CHUNK))
        while self._at < target and self.readinto(room[: target - self._at]):
            pass
        return self._at

    def readinto(self, buffer: Any) -> int:
        data = b""
        while not data:
            decoder, more = self._decoder, b""
            if decoder.eof:  # several streams may follow one another
                more = decoder.unused_data or self._packed.read(_CHUNK)
                more = more.lstrip(b"\0") if self._compression in _PADDED else more
                if not more:
                    return 0
                self._streams += 1
                if self._streams > _MANY_STREAMS + self._at // _SHORTEST_STREAM:
                    raise InputError(
                        f"is packed in very many short parts ({self._compression})",
                        where=self._path,
                        found=f"{self._streams:,} parts of {self._at:,} bytes",
                        hint="if it is meant so, unpack it first",
                    )
                self._decoder = decoder = self._new()
            elif decoder.needs_input and not (more := self._packed.read(_CHUNK)):
                raise EOFError
            try:
                data = decoder.decompress(more, len(buffer))
            except OSError as error:  # as bz2 calls damaged data
                raise _DamagedError(str(error)) from None
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)


class _Gzip:
    """A decoder of one stream of gzip, which is used as those of bzip2 and xz are; zlib looks at its checksum."""

    def __init__(self) -> None:
        self._inner = zlib.decompressobj(wbits=31)
        self._full = False  # whether there may be more of what it was given

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data

    @property
    def needs_input(self) -> bool:
        return not self._full

    def decompress(self, more: bytes, most: int) -> bytes:
        data = self._inner.decompress(self._inner.unconsumed_tail + more, most)
        self._full = len(data) == most or bool(self._inner.unconsumed_tail)
        return data


@contextlib.contextmanager
def opened_zip(
    path: Path, *, valid: str | None = None, most_members: int = 1000
) -> Iterator[zipfile.ZipFile]:
    """Open a zip file whose members are no larger than the file makes believable.

    Members are stored or deflated; each is read with ``archive.open``, and is no larger than it says.

    Raises
    ------
    InputError
        Where it is no whole zip file, where its list of members is long, or where a member claims to be more than 32 MB
        and more than 200 times what is there of it.
    """
    with opened(path, valid=valid) as file:
        size = file.seek(0, os.SEEK_END)
        _check_directory(file, size, path, valid)
        with contextlib.ExitStack() as stack:
            with guarded(path, "the zip file is damaged", valid=valid):
                archive = stack.enter_context(zipfile.ZipFile(file))
            if len(archive.filelist) > most_members:
                members = f"{len(archive.filelist):,} members"
                raise InputError("is a zip file of very many members", where=path, found=members, valid=valid)
            for member in archive.filelist:
                _check_member(member, size, path, valid)
            yield archive


def _check_directory(file: BinaryIO, size: int, path: Path, valid: str | None) -> None:
    """Refuse a list of members that would fill the memory; the end record says how many bytes it has."""
    file.seek(max(0, size - 66_000))
    tail = file.read()
    at = tail.rfind(b"PK\x05\x06")
    length = int.from_bytes(tail[at + 12 : at + 16], "little") if at >= 0 else 0
    if length == 0xFFFFFFFF:  # of a large file, which has a second end record before it
        large = tail.rfind(b"PK\x06\x06", 0, at)
        length = int.from_bytes(tail[large + 40 : large + 48], "little") if large >= 0 else length
    if length > _MOST_DIRECTORY:
        raise InputError(
            "is a zip file with a very long list of members",
            where=path,
            found=f"{length:,} bytes",
            valid=valid,
        )
    file.seek(0)


def _check_member(member: zipfile.ZipInfo, size: int, path: Path, valid: str | None) -> None:
    where = f"{path}, {member.filename[:60]!r}"
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise InputError("is packed in a way that is not read", where=where, valid="stored or deflated")
    if member.compress_size > size or (
        member.compress_type == zipfile.ZIP_STORED and member.file_size != member.compress_size
    ):
        raise InputError(
            "the zip file is damaged: a member is larger than the file has room for",
            where=where,
            found=f"{member.file_size:,} bytes in a file of {size:,}",
            valid=valid,
        )
    if not believable(member.file_size, member.compress_size):
        raise bomb(where, member.file_size, member.compress_size)
