"""The readers of word2vec text and GloVe text."""

import collections
import itertools
import re

from bayesbias.core.errors import InputError
from bayesbias.core.files import blocks_of_lines
from bayesbias.embeddings.readers.common import (
    MOST_DIMENSIONS,
    Format,
    Gathered,
    Head,
    Layout,
    Reading,
    Rows,
    check_utf8,
    is_number,
    misfit,
    opened,
    position,
    skip_bytes,
)

_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f]")
_HEADER = re.compile(rb"\s{0,16}(\d{1,15})[ \t]{1,16}(\d{1,15})\s{0,16}\Z")


def read_text(reading: Reading) -> Rows:
    """Read word2vec text (with a header) or GloVe text (without one).

    The number of fields is checked on every line, numbers are read on wanted lines only. A word
    may hold spaces (some of GloVe 840B do): a line is split from the right.
    """
    path, layout = reading.path, reading.layout
    keys = None if reading.wanted is None else {word.encode() for word in reading.wanted}
    gathered = Gathered(reading, "<f8", 2)
    dim, before, count = layout.dim, int(layout.count is not None), 0
    with opened(path) as stream:
        skip_bytes(stream, layout.start)
        for lines in blocks_of_lines(stream, path):
            words: list[bytes] = []
            for line in lines:
                # A trailing blank is how word2vec.c and fastText write.
                if line.count(b" ") - line.endswith(b" ") == dim and not line.startswith(b" "):
                    word = line[: line.find(b" ")]
                elif line.strip():
                    word = _word_of(reading, line, count + len(words) + 1 + before)
                else:
                    continue
                words.append(word)
                if (keys is None or word in keys) and (text := _decoded(word)) is not None:
                    place = count + len(words)
                    gathered.add(text, _numbers_of(reading, line, word, place + before), place)
            if not b"".join(words).isascii():
                gathered.skipped += check_utf8(reading, words, count + 1, "line", before)
            count += len(words)
            reading.tick(position(stream))
    if layout.count not in (None, count):
        raise misfit(path, f"{count:,} words", layout)
    return gathered.rows(count, "line", before)


def _decoded(word: bytes) -> str | None:
    """Return a word as text, or None if it is not UTF-8, which `check_utf8` reports."""
    try:
        return word.decode()
    except UnicodeDecodeError:
        return None


def _word_of(reading: Reading, line: bytes, number: int) -> bytes:
    """Return the word of a line with spaces in its word, tabs, or spaces around it."""
    fields, dim = line.split(), reading.layout.dim
    surplus = len(fields) - dim - 1
    # More fields than numbers: a word with spaces, unless all of them are numbers.
    if surplus < 0 or (surplus > 0 and all(map(is_number, fields[1:]))):
        raise _wrong_length(reading, number, len(fields) - 1)
    return line.strip().rsplit(None, dim)[0] if surplus else fields[0]


def _numbers_of(reading: Reading, line: bytes, word: bytes, number: int) -> list[float]:
    fields = line.lstrip()[len(word) :].split()
    if len(fields) != reading.layout.dim:
        raise _wrong_length(reading, number, len(fields))
    if bad := [text for text in fields if not is_number(text)]:
        found = bad[0][:60].decode("utf-8", "replace")
        where = f"{reading.path}, line {number}"
        raise InputError("is not a number", where=where, found=found, valid="numbers")
    return list(map(float, fields))


def _wrong_length(reading: Reading, number: int, found: int) -> InputError:
    source = "the other lines hold" if reading.layout.count is None else "the header says"
    return InputError(
        "wrong dimension",
        where=f"{reading.path}, line {number}",
        found=f"{found} numbers",
        valid=f"a word and {reading.layout.dim} numbers, as {source}",
        hint="a last line that is too short means a truncated file",
    )


def layout_of_headed(head: Head, text: bool) -> Layout | None:
    """Return the layout of a file with a header of word2vec, if what follows is text (or is not)."""
    first, _, rest = head.start[head.mark :].partition(b"\n")
    header = _HEADER.match(first)
    if not header:
        return None
    count, dim = int(header[1]), int(header[2])
    if count < 1 or not 1 <= dim <= MOST_DIMENSIONS:
        raise InputError(
            "the header names no vectors",
            where=f"{head.path}, line 1",
            found=first.decode("ascii").strip(),
            valid=f"how many words (1 or more) and how many dimensions (1 to {MOST_DIMENSIONS})",
        )
    sample = rest[:4096].partition(b" ")[2]
    plain = sum(byte in b"0123456789.eE+- \t\r\n" for byte in sample)
    if text != (not _CONTROL.search(sample) and 2 * plain >= len(sample)):
        return None
    return Layout(dim, count, head.mark + len(first) + 1)


def _layout_of_glove(head: Head) -> Layout | None:
    lines = head.start[head.mark :].split(b"\n")
    if len(lines) > 1:  # the last may be cut
        lines.pop()
    fields = [line.split() for line in lines[:100] if line.strip()]
    if _CONTROL.search(b"".join(lines[:100])) or not any(
        len(f) > 1 and is_number(f[-1]) for f in fields
    ):
        return None
    # Numbers at the end of a line, most often: a word may hold blanks, but few end in a number.
    lengths = (sum(1 for _ in itertools.takewhile(is_number, reversed(f[1:]))) for f in fields)
    dim = collections.Counter(lengths).most_common(1)[0][0]
    return Layout(dim, None, head.mark) if dim else None


WORD2VEC = Format(
    name="word2vec text",
    described_as="word2vec or fastText text",
    suffixes=(".txt", ".vec", ".w2v"),
    recognize=lambda head: layout_of_headed(head, text=True),
    read=read_text,
)
GLOVE = Format(
    name="GloVe text",
    described_as="GloVe text",
    suffixes=(".txt",),
    recognize=_layout_of_glove,
    read=read_text,
)
