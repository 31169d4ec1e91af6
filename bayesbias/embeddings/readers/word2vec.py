"""Word2vec, text and binary, which are also written; and GloVe text."""

import collections
import functools
import itertools
import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from bayesbias.core.errors import InputError
from bayesbias.core.files import blocks_of_lines
from bayesbias.embeddings.readers import common
from bayesbias.embeddings.readers.common import (
    Format,
    Head,
    Layout,
    Opened,
    Reading,
    Rows,
    Writer,
    gather,
    is_number,
)

_AT_ONCE = 16
_BLOCK = 1 << 19  # bytes read and walked at once: fits the processor's cache
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f]")
_HEADER = re.compile(rb"\s{0,16}(\d{1,15})[ \t]{1,16}(\d{1,15})\s{0,16}\Z")


def read_text(reading: Reading) -> Rows:
    """Read word2vec text (with a header) or GloVe text (without one).

    The number of fields is checked on every line, numbers are read on wanted lines only. A word
    may hold spaces (some of GloVe 840B do): a line is split from the right.
    """
    return gather(reading, _blocks(reading), "<f8", "line")


def _blocks(reading: Reading) -> Iterator[common.Block]:
    dim, number = reading.layout.dim, int(reading.layout.count is not None)  # of lines read
    words: list[bytes] = []
    lines: list[bytes] = []

    def row_of(i: int) -> list[float] | None:
        fields = lines[i].lstrip()[len(words[i]) :].split()
        if len(fields) == dim and all(map(is_number, fields)):
            return list(map(float, fields))
        bad = (field[:60].decode("utf-8", "replace") for field in fields if not is_number(field))
        skip(i, next(map(repr, bad), f"{len(fields)} numbers"))
        return None

    def skip(i: int, found: object) -> None:
        reading.skip(f"line {number + i + 1}", f"a word and {dim} numbers", found)

    with reading.opened() as stream:
        for lines in blocks_of_lines(stream, reading.path):
            words = []
            for line in lines:
                # A trailing blank is how word2vec.c and fastText write.
                if line.count(b" ") - line.endswith(b" ") == dim and not line.startswith(b" "):
                    words.append(line[: line.find(b" ")])
                    continue
                # More fields than numbers: a word with spaces, unless all of them are numbers.
                fields = line.split()
                surplus = len(fields) - dim - 1
                if not fields:
                    words.append(b"")
                elif surplus < 0 or (surplus > 0 and all(map(is_number, fields[1:]))):
                    skip(len(words), f"{len(fields) - 1} numbers")
                    words.append(b"")
                else:
                    words.append(line.strip().rsplit(None, dim)[0])
            yield words, lambda chosen: list(map(row_of, chosen))
            number += len(lines)
            reading.told(stream)


def read_binary(reading: Reading) -> Rows:
    """Read word2vec binary: a header, then records of word and numbers.

    A record has no fixed length, so the file must be walked record by record. One regular
    expression walks some 400 of them a call without touching the numbers, a set intersection
    finds the wanted ones. One small buffer, filled again and again, stays in the cache.
    """
    return gather(reading, _records(reading), "<f4", "record")


def _records(reading: Reading) -> Iterator[common.Block]:
    dim = reading.layout.dim
    record = rb"([^ ]*+) .{%d}+" % (4 * dim)
    # Sixteen at once take a quarter less time than one by one.
    patterns = [re.compile(record * times, re.DOTALL) for times in (_AT_ONCE, 1)]
    room = bytearray(max(_BLOCK, 16 * dim))
    view = memoryview(room)
    words: list[bytes] = []

    def rows_of(chosen: list[int]) -> list[Any]:
        ends = list(itertools.accumulate(map(len, words)))  # of words, without blanks and numbers
        return [np.frombuffer(room, "<f4", dim, ends[i] + 1 + i * (1 + 4 * dim)) for i in chosen]

    left = 0
    with reading.opened() as stream:
        while got := stream.readinto(view[left:]):  # type: ignore[attr-defined]
            words, walked, end = [], 0, left + got
            for pattern in patterns:
                while match := pattern.match(room, walked, end):
                    words += match.groups()
                    walked = match.end()
            yield words, rows_of
            left = end - walked
            view[:left] = view[walked:end]
            reading.told(stream)
    if bytes(view[:left]).strip():
        found = "a last record that is cut off"
        hint = "download or copy it again"
        raise InputError("expected whole records", where=reading.path, found=found, hint=hint)


def _layout_of_headed(head: Head, text: bool) -> Layout | None:
    """Return the layout of text (or binary) with a header of word2vec."""
    first, _, rest = head.start.partition(b"\n")
    header = _HEADER.match(first)
    if not header or not 0 < int(header[2]) <= common.MOST_DIMENSIONS:
        return None
    count, dim = int(header[1]), int(header[2])
    sample = rest[:4096].partition(b" ")[2]
    plain = sum(byte in b"0123456789.eE+- \t\r\n" for byte in sample)
    if text != (not _CONTROL.search(sample) and 2 * plain >= len(sample)):
        return None
    return Layout(dim, count, len(first) + 1)


def _layout_of_glove(head: Head) -> Layout | None:
    lines = head.start.split(b"\n")
    lines = lines[: min(max(1, len(lines) - 1), 100)]  # the last may be cut
    fields = [line.split() for line in lines if line.strip()]
    numbers = any(len(f) > 1 and is_number(f[-1]) for f in fields)
    if not numbers or _CONTROL.search(b"".join(lines)):
        return None
    # Numbers at the end of a line, most often: a word may hold blanks, but few end in a number.
    lengths = (sum(1 for _ in itertools.takewhile(is_number, reversed(f[1:]))) for f in fields)
    dim = collections.Counter(lengths).most_common(1)[0][0]
    return Layout(dim) if dim else None


def write_text(file: Opened, words: Sequence[str], vectors: np.ndarray) -> None:
    """Write text with a header, with every digit."""
    file.write(f"{len(words)} {vectors.shape[1]}\n".encode())
    for word, row in zip(words, vectors, strict=True):
        if row.dtype == np.float32:
            numbers = " ".join(f"{value:.9g}" for value in row.tolist())
        else:
            numbers = " ".join(map(repr, row.tolist()))
        file.write(f"{word} {numbers}\n".encode())


def write_binary(file: Opened, words: Sequence[str], vectors: np.ndarray) -> None:
    """Write records in single precision, behind a header."""
    file.write(f"{len(words)} {vectors.shape[1]}\n".encode())
    for word, row in zip(words, vectors, strict=True):
        file.write(word.encode() + b" " + row.astype("<f4").tobytes())


TEXT = Format(
    "word2vec text",
    (".txt", ".vec", ".w2v"),
    functools.partial(_layout_of_headed, text=True),
    read_text,
    writer=Writer(write_text),
)
BINARY = Format(
    "word2vec binary",
    (".bin", ".w2v"),
    functools.partial(_layout_of_headed, text=False),
    read_binary,
    sparse=True,
    writer=Writer(write_binary),
)
GLOVE = Format("GloVe text", (".txt",), _layout_of_glove, read_text)
