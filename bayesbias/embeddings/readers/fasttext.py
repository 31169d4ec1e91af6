"""The reader of full fastText models (the official ``.bin``), with vectors composed of n-grams.

Source: Bojanowski et al. 2017, "Enriching word vectors with subword information", section 3.2.
"""

from __future__ import annotations

import os
import re
import struct
from collections.abc import Collection
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from bayesbias.core.errors import InputError
from bayesbias.core.unpacking import MOST_RATIO, believable
from bayesbias.embeddings.readers.headers import MOST_DIMENSIONS
from bayesbias.embeddings.readers.rows import (
    HEAD_BYTES,
    HOW_TO_SKIP,
    Format,
    Head,
    Kind,
    Reading,
    Rows,
    opened,
)

_MAGIC = 793712314
_LONGEST_NGRAM = 100
_LONGEST_WORD = 1 << 16  # bytes


def read_fasttext(asked: Reading) -> Rows:
    """Read a full fastText model (the official ``.bin``).

    A word's vector is the mean of its own row and the rows of its character n-grams; a word that is not in
    the dictionary is composed of its n-grams alone. `asked.unmatched` is told which wanted words the
    dictionary holds and answers with the words to compose.

    Source: Bojanowski et al. 2017, "Enriching word vectors with subword information", section 3.2; layout
    of the file: versions 11 and 12 of the reference implementation.
    """
    path, kind, wanted = asked.path, asked.kind, asked.wanted
    with opened(path, kind.compressed) as (file, position):

        def take(form: str) -> tuple[Any, ...]:
            data = file.read(struct.calcsize(form))
            if len(data) < struct.calcsize(form):
                raise _truncated_model(path, "its header")
            return struct.unpack(form, data)

        _, version = take("<2i")
        if version not in (11, 12):
            raise InputError(
                "unknown version of the fastText format", where=path, found=version, valid="11 or 12"
            )
        dim, _, _, _, _, _, _, model, bucket, minn, maxn, _ = take("<12i")
        take("<d")
        entries, nwords, _ = take("<3i")
        _check_header(path, dim, bucket, minn, maxn, entries, nwords)
        _, pruned = take("<2q")
        if pruned >= 0:
            raise _quantised_model(path)
        if version == 11 and model == 3:  # supervised models of that version wrote a maxn that was never used
            maxn = 0
        ids, listed, skipped, repeats = _dictionary(path, file, entries, nwords, wanted, asked.skip_invalid)
        (quantised,) = take("<?")
        if quantised:
            raise _quantised_model(path)
        height, width = take("<2q")
        if width != dim or height != nwords + bucket:
            raise InputError(
                "the input matrix does not fit the dictionary",
                where=path,
                found=f"{height} x {width}",
                valid=f"{nwords + bucket} x {dim} ({nwords} words and {bucket} n-gram buckets)",
            )
        base = file.tell()
        if not _can_hold(path, kind, base + 4 * height * width + 17):
            raise _truncated_model(path, "its input matrix")
        composed = asked.unmatched(ids.keys()) if asked.unmatched and wanted is not None and maxn else []
        parts = {
            word: [row, *([] if word == "</s>" else _subwords(word, minn, maxn, bucket, nwords))]
            for word, row in ids.items()
        }
        composed_of = {
            word: rows for word in composed if (rows := _subwords(word, minn, maxn, bucket, nwords))
        }
        parts |= composed_of
        needed = sorted({row for rows in parts.values() for row in rows})
        matrix = np.empty((len(needed), dim), dtype="<f4")
        for i, row in enumerate(needed):
            file.seek(base + 4 * dim * row)
            data = file.read(4 * dim)
            if len(data) < 4 * dim:
                raise _truncated_model(path, "its input matrix")
            matrix[i] = np.frombuffer(data, "<f4")
            if i % 1024 == 0:
                asked.tick(position())
        file.seek(base + 4 * height * width)
        (_, rows_out, columns_out) = take("<?2q")
        if min(rows_out, columns_out) < 1 or not _can_hold(
            path, kind, file.tell() + 4 * rows_out * columns_out
        ):
            raise _truncated_model(path, "its output matrix")
        file.seek(4 * rows_out * columns_out - 1, os.SEEK_CUR)
        if not file.read(1):
            raise _truncated_model(path, "its output matrix")
    at = {row: i for i, row in enumerate(needed)}
    words = list(parts)
    vectors = np.empty((len(words), dim), dtype="<f4")
    with np.errstate(all="ignore"):  # of what is not finite the sum is not either, and is refused by its word
        for i, rows in enumerate(parts.values()):
            vectors[i] = matrix[[at[row] for row in rows]].mean(axis=0, dtype=np.float64)
    places = [listed.get(word, 0) for word in words]
    return Rows(words, vectors, places, "dictionary entry", nwords, repeats, skipped, list(composed_of))


def _check_header(path: Path, dim: int, bucket: int, minn: int, maxn: int, entries: int, nwords: int) -> None:
    """Refuse numbers that no model has, before anything is made after them."""
    checks = (
        ("dimensions", dim, 1, MOST_DIMENSIONS),
        ("buckets of n-grams", bucket, 0, None),
        ("letters of the shortest n-gram", minn, 0, _LONGEST_NGRAM),
        ("letters of the longest n-gram", maxn, 0, _LONGEST_NGRAM),
        ("entries of the dictionary", entries, 1, path.stat().st_size * MOST_RATIO),
        ("words", nwords, 0, entries),
    )
    for what, number, least, most in checks:
        if number < least or (most is not None and number > most):
            raise InputError(
                f"the header of the fastText model is damaged: its number of {what}",
                where=path,
                found=number,
                valid=f"{least} or more" if most is None else f"{least} to {most}",
            )


def _can_hold(path: Path, kind: Kind, needed: int) -> bool:
    """Whether a file can hold so many bytes; of a compressed one, what it may unpack to."""
    size = path.stat().st_size
    return believable(needed, size) if kind.compressed else needed <= size


def _dictionary(
    path: Path,
    file: BinaryIO,
    entries: int,
    nwords: int,
    wanted: Collection[str] | None,
    skip_invalid: bool,
) -> tuple[dict[str, int], dict[str, int], list[str], dict[str, int]]:
    keys = None if wanted is None else {word.encode() for word in wanted}
    entry = re.compile(rb"([^\0]*+)\0.{8}(.)", re.DOTALL)
    rows: dict[str, int] = {}
    places: dict[str, int] = {}
    skipped: list[str] = []
    repeats: dict[str, int] = {}
    held, done, row, start = b"", 0, 0, file.tell()
    while done < entries:
        chunk = file.read(HEAD_BYTES)
        held += chunk
        end = 0
        # Behind a zero with nine bytes after it there is one more entry. The search must not be asked for one where there
        # is none: it would look for it at every byte.
        last = held.rfind(b"\0", 0, max(0, len(held) - 9))
        for match in entry.finditer(held) if last >= 0 else ():
            end = match.end()
            done += 1
            word = match[1]
            if match[2] == b"\0":  # a word; 1 is a label of a supervised model
                if keys is None or word in keys or not word.isascii():
                    try:
                        text = word.decode()
                    except UnicodeDecodeError:
                        if not skip_invalid:
                            raise InputError(
                                "the word is not valid UTF-8",
                                where=f"{path}, dictionary entry {done}",
                                found=word[:60],
                                hint=HOW_TO_SKIP,
                            ) from None
                        skipped.append(f"dictionary entry {done}")
                    else:
                        if keys is None or word in keys:
                            if text in rows:
                                repeats.setdefault(text, done)
                            rows.setdefault(text, row)
                            places.setdefault(text, done)
                row += 1
            if done == entries or last < end:
                break
        start += end
        held = held[end:]
        if done < entries and (not chunk or len(held) > _LONGEST_WORD):
            raise _truncated_model(path, f"its dictionary (entry {done + 1} of {entries})")
    if row != nwords:
        raise InputError(
            "the dictionary does not fit its header",
            where=path,
            found=f"{row} words",
            valid=f"{nwords} words",
        )
    file.seek(start)
    return rows, places, skipped, repeats


def _subwords(word: str, minn: int, maxn: int, bucket: int, nwords: int) -> list[int]:
    """Return the rows of the character n-grams of ``<word>``, hashed into buckets by 32-bit FNV-1a."""
    if bucket < 1:
        return []
    text = f"<{word}>"
    rows = []
    for i in range(len(text)):
        for n in range(max(minn, 1), min(maxn, len(text) - i) + 1):
            if n == 1 and (i == 0 or i + n == len(text)):  # a boundary mark alone is no n-gram
                continue
            value = 2166136261
            for byte in text[i : i + n].encode():
                # the reference implementation widens each byte as a signed one
                value = ((value ^ (byte | 0xFFFFFF00 if byte > 127 else byte)) * 16777619) & 0xFFFFFFFF
            rows.append(nwords + value % bucket)
    return rows


def _truncated_model(path: Path, part: str) -> InputError:
    return InputError(
        f"the fastText model is truncated: it ends inside {part}",
        where=path,
        found=f"{path.stat().st_size} bytes",
        valid="a whole .bin file",
        hint="copy or download it again",
    )


def _quantised_model(path: Path) -> InputError:
    return InputError(
        "is a quantised fastText model: its vectors were replaced by rounded codes of pruned words, so that "
        "distances would carry an error of unknown size",
        where=path,
        found="a quantised model (.ftz)",
        valid="the full model (.bin) or its vectors (.vec)",
    )


def _tells(head: Head) -> Kind | None:
    return Kind(FASTTEXT.name, head.compressed) if head.start[:4] == struct.pack("<i", _MAGIC) else None


FASTTEXT = Format(
    name="fastText binary",
    told_as="fastText .bin",
    suffixes=(".bin",),
    tells=_tells,
    read=read_fasttext,
    magic=True,
)
