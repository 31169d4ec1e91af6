"""The reader of full fastText models (the official ``.bin``), with vectors built from n-grams.

Source: Bojanowski et al. 2017, "Enriching word vectors with subword information", section 3.2;
layout of the file: versions 11 and 12 of the reference implementation.
"""

import re
import struct
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from bayesbias.core.errors import InputError
from bayesbias.embeddings.readers.common import (
    MOST_DIMENSIONS,
    Format,
    Layout,
    Reading,
    Rows,
    check_utf8,
    opened,
    position,
)

_LONGEST = 1 << 24  # bytes of one entry
_MAGIC = struct.pack("<i", 793712314)
_ENTRY = re.compile(
    rb"([^\0]*+)\0.{8}(.)", re.DOTALL
)  # word, count, 0 for a word and 1 for a label


def read_fasttext(reading: Reading) -> Rows:
    """Read a full fastText model.

    A word's vector is the mean of its own row and the rows of its character n-grams. A word that
    is not in the dictionary is built from its n-grams alone. `reading.unmatched` takes the wanted
    words of the dictionary and returns the words to build.
    """
    path, wanted = reading.path, reading.wanted
    with opened(path) as file:

        def take(form: str) -> tuple[Any, ...]:
            data = file.read(struct.calcsize(form))
            if len(data) < struct.calcsize(form):
                raise _damaged(path)
            return struct.unpack(form, data)

        _, version = take("<2i")
        dim, _, _, _, _, _, _, model, bucket, minn, maxn, _ = take("<12i")
        take("<d")
        entries, nwords, _ = take("<3i")
        if (
            version not in (11, 12)
            or not 1 <= dim <= MOST_DIMENSIONS
            or min(bucket, minn, nwords) < 0
        ):
            raise _damaged(path)
        _, pruned = take("<2q")
        if version == 11 and model == 3:  # supervised models wrote a maxn that was never used
            maxn = 0
        rows = _dictionary(reading, file, entries, nwords)
        (quantized,) = take("<?")
        if pruned >= 0 or quantized:
            raise InputError(
                "is a quantized fastText model, whose vectors are rounded",
                where=path,
                found="a quantized model (.ftz)",
                valid="the full model (.bin) or its vectors (.vec)",
            )
        height, width = take("<2q")
        if width != dim or height != nwords + bucket:
            raise _damaged(path)
        base = file.tell()

        def subwords(word: str) -> list[int]:
            return [] if word == "</s>" else _subwords(word, minn, maxn, bucket, nwords)

        parts = {
            word: [row, *subwords(word)] for word, row in zip(rows.words, rows.places, strict=True)
        }
        unmatched = reading.unmatched(parts) if wanted is not None and maxn else []
        built = {word: found for word in unmatched if (found := subwords(word))}
        parts |= built
        needed = sorted({row for each in parts.values() for row in each})
        matrix = np.empty((len(needed), dim), "<f4")
        for i, row in enumerate(needed):
            file.seek(base + 4 * dim * row)
            data = file.read(4 * dim)
            if len(data) < 4 * dim:
                raise _damaged(path)
            matrix[i] = np.frombuffer(data, "<f4")
            if i % 1024 == 0:
                reading.tick(position(file))
    at = {row: i for i, row in enumerate(needed)}
    rows.vectors = np.empty((len(parts), dim), "<f4")
    for i, each in enumerate(parts.values()):
        rows.vectors[i] = matrix[[at[row] for row in each]].mean(axis=0, dtype=np.float64)
    rows.words, rows.composed = list(parts), list(built)
    rows.places = [place + 1 for place in rows.places] + [0] * len(built)
    return rows


def _dictionary(reading: Reading, file: BinaryIO, entries: int, nwords: int) -> Rows:
    """Return the wanted words of the dictionary and their rows in the matrix, as places from 0."""
    keys = None if reading.wanted is None else {word.encode() for word in reading.wanted}
    at: dict[str, int] = {}
    repeats: dict[str, int] = {}
    skipped: list[int] = []
    held, done, row, start = b"", 0, 0, file.tell()
    while done < entries:
        chunk = file.read(1 << 20)
        held += chunk
        if not chunk or len(held) > _LONGEST:
            raise _damaged(reading.path)
        end = 0
        # Beyond the last zero with nine bytes after it the search would try every byte.
        last = held.rfind(b"\0", 0, max(0, len(held) - 9))
        for match in _ENTRY.finditer(held) if last >= 0 else ():
            end, done = match.end(), done + 1
            word = match[1]
            if match[2] == b"\0":
                if not word.isascii() and (
                    bad := check_utf8(reading, [word], row + 1, "dictionary entry")
                ):
                    skipped += bad
                elif (keys is None or word in keys) and at.setdefault(word.decode(), row) != row:
                    repeats.setdefault(word.decode(), row + 1)
                row += 1
            if done == entries or last < end:
                break
        start += end
        held = held[end:]
    if row != nwords:
        raise _damaged(reading.path)
    file.seek(start)
    empty = np.empty((0, 0), "<f4")
    return Rows(list(at), empty, list(at.values()), nwords, "dictionary entry", 0, repeats, skipped)


def _subwords(word: str, minn: int, maxn: int, bucket: int, nwords: int) -> list[int]:
    """Return the rows of the character n-grams of ``<word>``, hashed into buckets by 32-bit FNV-1a."""
    if bucket < 1:
        return []
    text = f"<{word}>"
    rows = []
    for i in range(len(text)):
        for n in range(max(minn, 1), min(maxn, len(text) - i) + 1):
            if n == 1 and (i == 0 or i + n == len(text)):  # a boundary mark alone is not an n-gram
                continue
            value = 2166136261
            for byte in text[i : i + n].encode():
                # The reference implementation widens each byte as a signed one.
                value = (
                    (value ^ (byte | 0xFFFFFF00 if byte > 127 else byte)) * 16777619
                ) & 0xFFFFFFFF
            rows.append(nwords + value % bucket)
    return rows


def _damaged(path: Path) -> InputError:
    valid = "a whole .bin file of fastText, version 11 or 12"
    return InputError("the fastText model is damaged or truncated", where=path, valid=valid)


FORMAT = Format(
    name="fastText binary",
    described_as="fastText .bin",
    suffixes=(".bin",),
    recognize=lambda head: Layout() if head.start[:4] == _MAGIC else None,
    read=read_fasttext,
    sparse=True,
)
