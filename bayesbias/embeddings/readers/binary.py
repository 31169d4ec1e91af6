"""The reader of word2vec binary."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from typing import Any, BinaryIO

import numpy as np

from bayesbias.core.errors import InputError
from bayesbias.embeddings.readers.headers import kind_of_headed
from bayesbias.embeddings.readers.rows import (
    CHUNK_BYTES,
    HOW_TO_SKIP,
    Format,
    Gathered,
    Reading,
    Rows,
    invalid_utf8,
    opened,
    room_for_rows,
    skip_bytes,
)

_AT_ONCE = 16
_BLOCK = 1 << 19  # of a binary file, read and walked at once: fits the cache


class _Blocks:
    """A plain file, read block by block into the same memory, or a stream, buffered: `at` gives what follows a position."""

    def __init__(self, stream: BinaryIO, start: int, seekable: bool, least: int) -> None:
        self._stream = stream
        # One small room, filled again and again, stays in the processor's cache: the walk over a block then costs a
        # fraction of what it would on memory fresh from the file.
        self._room = bytearray(max(_BLOCK, least)) if seekable else None
        self._held, self._from = b"", start
        if not seekable:
            skip_bytes(stream, start)

    def at(self, pos: int) -> tuple[Any, int]:
        """Return a buffer that begins at `pos`, and its end, which is 0 at the end of the file."""
        if self._room is None:
            self._held = self._held[pos - self._from :] + self._stream.read(CHUNK_BYTES)
            self._from = pos
            return self._held, len(self._held)
        self._stream.seek(pos)
        return self._room, self._stream.readinto(self._room)  # type: ignore[attr-defined]


def read_binary(asked: Reading) -> Rows:
    """Read word2vec binary: a header line, then records of word, blank, `dim` single-precision numbers.

    A record has no fixed length, so the file must be walked record by record. One regular expression
    walks some 400 of them per call without touching the numbers, a set intersection finds the wanted.
    """
    path, kind, wanted, listed = asked.path, asked.kind, asked.wanted, asked.listed
    assert kind.count is not None
    payload = 4 * kind.dim
    expected = f"{kind.count} records of a word and {kind.dim} single-precision numbers, as the header says"
    keys = None if wanted is None else {word.encode() for word in wanted if " " not in word}
    newlines = False
    gathered = Gathered(kind.dim, "<f4", "record", room_for_rows(path, kind, wanted, 4))
    record = rb"([^ ]*+) .{%d}+" % payload
    one = re.compile(record, re.DOTALL)
    many = re.compile(record * _AT_ONCE, re.DOTALL)  # a quarter less time than one by one
    pos, done = kind.start, 0
    with opened(path, kind.compressed) as (stream, position):
        blocks = _Blocks(stream, pos, not kind.compressed, 4 * payload)
        while done < kind.count:
            buffer, end = blocks.at(pos)
            walked = 0
            while done < kind.count and end - walked > payload:  # room for a record
                stop = min(walked + _BLOCK, end)
                words = _walk(many, buffer, walked, stop) or _walk(one, buffer, walked, stop)
                words = words or _walk(one, buffer, walked, end)
                if not words:
                    break
                del words[kind.count - done :]
                blob = b" ".join(words)
                if not blob.isascii() and (bad := invalid_utf8(words)):
                    if not asked.skip_invalid:
                        raise InputError(
                            "the word is not valid UTF-8",
                            where=f"{path}, record {done + bad[0] + 1}",
                            found=words[bad[0]][:40],
                            hint=f"a wrong dimension in the header shows so too; else {HOW_TO_SKIP}",
                        )
                    gathered.skipped += [f"record {done + i + 1}" for i in bad]
                if keys is not None and not newlines and b"\n" in blob:
                    # word2vec.c ends a record with a newline; here it stands before the next word
                    newlines, keys = True, keys | {b"\n" + key for key in keys}
                if listed is not None:
                    listed.append((blob, pos + walked))
                for i, at in _wanted_records(words, keys, payload + 1):
                    with contextlib.suppress(UnicodeDecodeError):  # counted above
                        word = words[i].lstrip(b"\n").decode()
                        gathered.add(word, np.frombuffer(buffer, "<f4", kind.dim, walked + at), done + i + 1)
                done += len(words)
                walked += len(blob) + 1 + len(words) * payload
            if walked == 0:
                break
            pos += walked
            asked.tick(position() if kind.compressed else pos)
        buffer, end = blocks.at(pos)
        surplus = bytes(buffer[: min(end, 64)]).strip(b"\n")
        rest = end if kind.compressed else path.stat().st_size - pos
    if done < kind.count:
        raise InputError(
            "the file is truncated" if rest else "the header does not fit the file",
            where=f"{path}, record {done + 1}" if rest else f"{path}, line 1",
            found=f"{done} whole records" + (f" and {rest} bytes" if rest else ""),
            valid=expected,
            hint="copy or download it again, or correct the header",
        )
    if surplus:
        raise InputError(
            "the header does not fit the file: more follows the last record",
            where=f"{path}, line 1",
            found=f"more than {kind.count} records of {kind.dim} numbers",
            valid=expected,
            hint="one of the two numbers in the header is wrong",
        )
    return gathered.rows(done)


def _walk(records: re.Pattern[bytes], buffer: Any, at: int, end: int) -> list[bytes]:
    """Return the words of the records that follow one another from a position on.

    Each match begins where the last one ended. A search would look for a record at every byte of what is none, which
    takes the square of its length, and would go on behind it.
    """
    words: list[bytes] = []
    while match := records.match(buffer, at, end):
        words += match.groups()
        at = match.end()
    return words


def _wanted_records(words: list[bytes], keys: set[bytes] | None, tail: int) -> Iterator[tuple[int, int]]:
    """Give index and offset of the numbers of every wanted record of a block."""
    if keys is None:
        at = 0
        for i, word in enumerate(words):
            yield i, at + len(word) + 1
            at += len(word) + tail
        return
    if not keys.isdisjoint(words):
        hits = keys.intersection(words)
        for i in [i for i, word in enumerate(words) if word in hits]:
            yield i, sum(map(len, words[: i + 1])) + i * tail + 1


WORD2VEC_BINARY: Format = Format(
    name="word2vec binary",
    told_as="word2vec binary",
    suffixes=(".bin", ".w2v", ".magnitude"),
    tells=lambda head: kind_of_headed(head, WORD2VEC_BINARY.name, text=False),
    read=read_binary,
    index="records",
)
