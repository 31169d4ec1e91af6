"""The reader of word2vec binary."""

import contextlib
import re

import numpy as np

from bayesbias.embeddings.readers.common import (
    Format,
    Gathered,
    Reading,
    Rows,
    check_utf8,
    misfit,
    opened,
    position,
    skip_bytes,
)
from bayesbias.embeddings.readers.text import layout_of_headed

_AT_ONCE = 16
_BLOCK = 1 << 19  # bytes read and walked at once: fits the processor's cache


def read_binary(reading: Reading) -> Rows:
    """Read word2vec binary: a header line, then records of word, blank, `dim` single-precision numbers.

    A record has no fixed length, so the file must be walked record by record. One regular
    expression walks some 400 of them a call without touching the numbers, a set intersection
    finds the wanted ones. One small buffer, filled again and again, stays in the cache.
    """
    path, layout, wanted = reading.path, reading.layout, reading.wanted
    assert layout.count is not None
    payload = 4 * layout.dim
    keys = None if wanted is None else {word.encode() for word in wanted}
    newlines = False
    gathered = Gathered(reading, "<f4", 4)
    record = rb"([^ ]*+) .{%d}+" % payload
    one = re.compile(record, re.DOTALL)
    many = re.compile(record * _AT_ONCE, re.DOTALL)  # a quarter less time than one by one
    room = bytearray(max(_BLOCK, 4 * payload))
    view = memoryview(room)
    done = left = 0
    with opened(path) as stream:
        skip_bytes(stream, layout.start)
        while done < layout.count:
            got = stream.readinto(view[left:])  # type: ignore[attr-defined]
            end = left + got
            words, walked = _walk(many, room, 0, end)
            rest, walked = _walk(one, room, walked, end)
            words += rest
            del words[layout.count - done :]
            blob = b" ".join(words)
            if not blob.isascii():
                gathered.skipped += check_utf8(reading, words, done + 1, "record")
            if keys is not None and not newlines and b"\n" in blob:
                # word2vec.c ends a record with a newline; here it is before the next word
                newlines, keys = True, keys | {b"\n" + key for key in keys}
            if keys is None or not keys.isdisjoint(words):
                at = 0
                for i, word in enumerate(words, done + 1):
                    if keys is None or word in keys:
                        with contextlib.suppress(UnicodeDecodeError):  # skipped above
                            numbers = np.frombuffer(room, "<f4", layout.dim, at + len(word) + 1)
                            gathered.add(word.lstrip(b"\n").decode(), numbers, i)
                    at += len(word) + 1 + payload
            done += len(words)
            if done == layout.count:  # the records may have gone on
                walked = sum(map(len, words)) + len(words) * (payload + 1)
            left = end - walked
            view[:left] = view[walked:end]
            reading.tick(position(stream))
            if not got or (not words and left == len(room)):
                break
        surplus = bytes(view[:left]).strip(b"\n") or stream.read(64).strip(b"\n")
    if done < layout.count:
        raise misfit(path, f"{done:,} whole records", layout)
    if surplus:
        raise misfit(path, f"more than {done:,} records", layout)
    return gathered.rows(done, "record")


def _walk(
    records: re.Pattern[bytes], buffer: bytearray, at: int, end: int
) -> tuple[list[bytes], int]:
    """Return the words of the records that follow one another from a position on, and their end."""
    words: list[bytes] = []
    while match := records.match(buffer, at, end):
        words += match.groups()
        at = match.end()
    return words, at


FORMAT = Format(
    name="word2vec binary",
    described_as="word2vec binary",
    suffixes=(".bin", ".w2v"),
    recognize=lambda head: layout_of_headed(head, text=False),
    read=read_binary,
    sparse=True,
)
