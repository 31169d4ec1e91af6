"""The reader of full fastText models (the official ``.bin``), with vectors built from n-grams.

Source: Bojanowski et al. 2017, "Enriching word vectors with subword information", section 3.2;
layout of the file: versions 11 and 12 of the reference implementation.
"""

import re
import struct
from collections.abc import Iterator
from typing import Any, BinaryIO

import numpy as np

from bayesbias.core import InputError
from bayesbias.embeddings.readers import common
from bayesbias.embeddings.readers.common import Format, Reading, Rows, gather, starting_with
from bayesbias.embeddings.spelling import MOST_KNOWN, unmatched_words

_LONGEST = 1 << 24  # bytes of one entry
_MAGIC = struct.pack("<i", 793712314)
# Word, count, 0 for a word and 1 for a label.
_ENTRY = re.compile(rb"([^\0]*+)\0.{8}(.)", re.DOTALL)


def read_fasttext(reading: Reading) -> Rows:
    """Read a full fastText model.

    A word's vector is the mean of its own row and the rows of its character n-grams. A word that
    is not in the dictionary is built from its n-grams alone.
    """
    from gensim.models.fasttext import ft_ngram_hashes

    damaged = InputError(
        "expected a whole fastText model of version 11 or 12, got a damaged or truncated one",
        where=reading.path,
    )
    with reading.opened() as file:

        def read(size: int) -> bytes:
            if len(data := file.read(size)) < size:
                raise damaged
            return data

        def take(form: str) -> tuple[Any, ...]:
            return struct.unpack(form, read(struct.calcsize(form)))

        _, version = take("<2i")
        dim, _, _, _, _, _, _, model, bucket, minn, maxn, _ = take("<12i")
        take("<d")
        entries, nwords, _ = take("<3i")
        _, pruned = take("<2q")
        whole = version in (11, 12) and 1 <= dim <= common.MOST_DIMENSIONS
        if not whole or min(bucket, minn, nwords) < 0:
            raise damaged
        if version == 11 and model == 3:  # supervised models wrote a maxn that was never used
            maxn = 0
        first_words: list[bytes] = []

        def dictionary() -> Iterator[common.Block]:
            """Yield the words of the dictionary, and keep the first of them."""
            for words, rows_of in _entries(reading, file, entries):
                first_words.extend(words[: MOST_KNOWN - len(first_words)])
                yield words, rows_of

        rows = gather(reading, dictionary(), "u1", "dictionary entry", dim=1)
        (quantized,) = take("<?")
        if pruned >= 0 or quantized:
            problem = "expected a full fastText model (.bin), got a quantized one (.ftz)"
            raise InputError(problem, where=reading.path, hint="use its vectors (.vec)")
        height, width = take("<2q")
        if (rows.count, width, height) != (nwords, dim, nwords + bucket):
            raise damaged
        base = file.tell()

        def subwords(word: str) -> list[int]:
            if word == "</s>" or not bucket:
                return []
            return [nwords + i for i in ft_ngram_hashes(word, minn, maxn, bucket)]

        places = dict(zip(rows.words, rows.places, strict=True))
        parts = {word: [place - 1, *subwords(word)] for word, place in places.items()}
        lacking = unmatched_words(reading.asked, parts) if maxn else []
        built = {word: found for word in lacking if (found := subwords(word))}
        parts |= built
        matrix = {}
        for row in sorted({row for each in parts.values() for row in each}):
            file.seek(base + 4 * dim * row)
            matrix[row] = np.frombuffer(read(4 * dim), "<f4")
            if row % 1024 == 0:
                reading.told(file)
    rows.vectors = np.empty((len(parts), dim), "<f4")
    for i, each in enumerate(parts.values()):
        rows.vectors[i] = np.mean([matrix[row] for row in each], axis=0, dtype=float)
    rows.words, rows.composed = list(parts), list(built)
    if built:
        rows.known = [common.decoded(word) for word in first_words]
    rows.places = [*places.values(), *[0] * len(built)]
    return rows


def _entries(reading: Reading, file: BinaryIO, entries: int) -> Iterator[common.Block]:
    """Yield the words of the dictionary, without labels."""
    held, done, start = b"", 0, file.tell()
    while done < entries and (chunk := file.read(1 << 20)) and len(held) < _LONGEST:
        held += chunk
        end, words = 0, []
        # Beyond the last zero with nine bytes after it the search would try every byte.
        last = held.rfind(b"\0", 0, max(0, len(held) - 9))
        for match in _ENTRY.finditer(held) if last >= 0 else ():
            end, done = match.end(), done + 1
            if match[2] == b"\0":
                words.append(match[1])
            if done == entries or last < end:
                break
        yield words, lambda chosen: np.zeros((len(chosen), 1))
        start += end
        held = held[end:]
    file.seek(start)


FORMAT = Format(
    "fastText binary",
    (".bin",),
    starting_with(_MAGIC, packed=True),
    read_fasttext,
    sparse=True,
)
