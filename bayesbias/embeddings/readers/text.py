"""The reader of word2vec text and GloVe text."""

from __future__ import annotations

import collections
import contextlib
import itertools
import re
from pathlib import Path

import numpy as np

from bayesbias.core.errors import InputError
from bayesbias.core.lines import blocks_of_lines
from bayesbias.embeddings.readers.headers import CONTROL, kind_of_headed
from bayesbias.embeddings.readers.rows import (
    CHUNK_BYTES,
    HOW_TO_SKIP,
    Format,
    Gathered,
    Head,
    Kind,
    Reading,
    Rows,
    invalid_utf8,
    is_number,
    opened,
    room_for_rows,
    skip_bytes,
)

LONGEST_TOKEN = 1 << 16  # bytes
LONGEST_NUMBER = 64
_BLANKS = re.compile(rb"[\t\r\v\f]")


def read_text(asked: Reading) -> Rows:
    """Read word2vec text (with a header) or GloVe text (without one).

    The number of fields is checked on every line, numbers are read on wanted lines only. A token may hold
    spaces (some of GloVe 840B do): a line is split from the right. `asked.listed` collects words and offsets
    for the index.
    """
    path, kind, wanted, listed = asked.path, asked.kind, asked.wanted, asked.listed
    keys = None if wanted is None else {word.encode() for word in wanted}
    headed = kind.count is not None
    gathered = Gathered(kind.dim, "<f8", "line", room_for_rows(path, kind, keys, 2))
    dim, number, blank, offset = kind.dim, int(headed), 0, kind.start
    count = 0
    with opened(path, kind.compressed) as (stream, position):
        skip_bytes(stream, kind.start)
        longest = LONGEST_TOKEN + LONGEST_NUMBER * dim
        for lines in blocks_of_lines(stream, path, most=longest, chunk=CHUNK_BYTES, before=int(headed)):
            tokens: list[bytes] = []
            for line in lines:
                number += 1
                # a trailing blank is how word2vec.c and fastText write
                if line.count(b" ") - line.endswith(b" ") == dim and not line.startswith(b" ") and not blank:
                    token = line[: line.find(b" ")]
                elif not line.strip():
                    blank = blank or number
                    token = b""
                else:
                    if blank:
                        raise _wrong_length(path, blank, dim, 0, headed)
                    token = _token_of(path, number, line, dim, headed)
                tokens.append(token)
                if token and (keys is None or token in keys):
                    with contextlib.suppress(UnicodeDecodeError):  # reported for the whole chunk below
                        gathered.add(
                            token.decode(), _numbers_of(path, number, line, token, dim, headed), number
                        )
            count += len(tokens) - tokens.count(b"")
            blob = b"\n".join(tokens)
            if _BLANKS.search(blob):  # a line whose first separator is another than that of the rest
                for place, token in enumerate(tokens):
                    if _BLANKS.search(token):
                        _token_of(path, number - len(tokens) + place + 1, lines[place], dim, headed)
            if not blob.isascii():
                bad = invalid_utf8(tokens)
                if bad and not asked.skip_invalid:
                    place = number - len(tokens) + bad[0] + 1
                    raise InputError(
                        "the word is not valid UTF-8",
                        where=f"{path}, line {place}",
                        found=tokens[bad[0]][:60],
                        hint=HOW_TO_SKIP,
                    )
                gathered.skipped += [f"line {number - len(tokens) + i + 1}" for i in bad]
            if listed is not None:
                starts = np.cumsum([offset, *(len(line) + 1 for line in lines)])
                listed.append((blob, starts[:-1]))
                offset = int(starts[-1])
            asked.tick(position())
    if headed and count != kind.count:
        raise _wrong_count(path, kind, count, "line 1")
    return gathered.rows(count)


def _token_of(path: Path, number: int, line: bytes, dim: int, headed: bool) -> bytes:
    if b"\r" in line.rstrip(b"\r"):
        raise InputError(
            "a line holds a carriage return",
            where=f"{path}, line {number}",
            found=line[:60].decode("utf-8", "replace"),
            hint="files of old Macs end their lines with it alone: save the file with line feeds",
        )
    fields = line.split()
    surplus = len(fields) - dim - 1
    # more fields than numbers: a token with spaces, unless they are numbers all
    if surplus < 0 or (surplus > 0 and all(map(is_number, fields[1:]))):
        raise _wrong_length(path, number, dim, len(fields) - 1, headed)
    if surplus == 0:
        return fields[0]
    token = line.strip()
    for _ in range(dim):
        token = token.rsplit(None, 1)[0]
    return token


def _numbers_of(path: Path, number: int, line: bytes, token: bytes, dim: int, headed: bool) -> list[float]:
    fields = line.lstrip()[len(token) :].split()
    # Two blanks for one, or a tab within a number: as many blanks, and fewer or more numbers.
    if len(fields) != dim:
        raise _wrong_length(path, number, dim, len(fields), headed)
    try:
        values = [float(text) for text in fields]
    except ValueError:
        values = []
    if values and b"_" not in line:
        return values
    if bad := [text for text in fields if not is_number(text)]:
        raise InputError(
            "is not a number",
            where=f"{path}, line {number}",
            found=bad[0][:60].decode("utf-8", "replace"),
            valid="numbers",
        )
    return values


def _wrong_length(path: Path, number: int, dim: int, found: int, headed: bool) -> InputError:
    source = "the header says" if headed else "the other lines hold"
    return InputError(
        "wrong dimension",
        where=f"{path}, line {number}",
        found=f"{found} numbers" if found else "no numbers",
        valid=f"a word and {dim} numbers, as {source}",
        hint="a last line that is too short means a truncated file",
    )


def _wrong_count(path: Path, kind: Kind, found: int, where: str) -> InputError:
    return InputError(
        "the header does not fit the file",
        where=f"{path}, {where}",
        found=f"{found} words",
        valid=f"{kind.count} words of {kind.dim} numbers, as the header says",
        hint="the file is truncated, or its header is wrong",
    )


def _tells_glove(head: Head) -> Kind | None:
    lines = head.start[head.mark :].split(b"\n")
    if len(lines) > 1:  # the last may be cut
        lines.pop()
    fields = [line.split() for line in lines[:100] if line.strip()]
    if CONTROL.search(b"".join(lines[:100])) or not any(len(f) > 1 and is_number(f[-1]) for f in fields):
        return None
    # numbers at the end of a line, most often; a token may hold blanks, but most do not end in a number
    lengths = (sum(1 for _ in itertools.takewhile(is_number, reversed(f[1:]))) for f in fields)
    dim = collections.Counter(lengths).most_common(1)[0][0]
    return Kind(GLOVE.name, head.compressed, dim, None, head.mark) if dim else None


WORD2VEC_TEXT: Format = Format(
    name="word2vec text",
    told_as="word2vec text as also in fastText .vec",
    suffixes=(".txt", ".vec", ".w2v"),
    tells=lambda head: kind_of_headed(head, WORD2VEC_TEXT.name, text=True),
    read=read_text,
    index="lines",
)
GLOVE = Format(
    name="GloVe text",
    told_as="GloVe text",
    suffixes=(".txt",),
    tells=_tells_glove,
    read=read_text,
    index="lines",
)
