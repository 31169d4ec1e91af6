"""An index of a vector file in the user's cache: the second load of the same file is immediate.

One file per vector file: a line of JSON, then the sorted 64-bit hashes of all words, then the offset of
each word's line or record. It is never needed, and never believed without a look at the word that stands at the
offset. A changed file (size, time of change, inode) makes it void, and so does a changed bit of its own: a damaged hash
would make a word that is there a missing one. Its checksums (CRC-32) are those of the head, and of all that follows.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np

from bayesbias.core.errors import InputError
from bayesbias.core.files import cache_dir, sha256_of, whole_file
from bayesbias.core.opening import fingerprint, opened
from bayesbias.core.texts import parse_json
from bayesbias.embeddings.readers.formats import form_named
from bayesbias.embeddings.readers.rows import Gathered, Kind, Rows, is_number
from bayesbias.embeddings.readers.text import LONGEST_NUMBER, LONGEST_TOKEN

_VERSION = 2
_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # odd, so that no byte is lost modulo 2**64
_HEADER_BYTES = 4096
_WORDS_AT_ONCE = 1 << 16


def index_path(path: Path) -> Path:
    """Return where the index of a vector file lies or would lie."""
    real = os.path.realpath(path)
    return cache_dir() / "vectors" / f"{sha256_of(os.fsencode(real))[:32]}.index"


def _crc_of(head: dict[str, Any]) -> int:
    return zlib.crc32(json.dumps(head, sort_keys=True).encode())


def hashes_of(words: bytes, separator: bytes) -> np.ndarray:
    """Return the 64-bit hash of every word, shape (n,), uint64: a polynomial of its bytes, modulo 2**64.

    Examples
    --------
    >>> a, b, c = hashes_of(b"rabbi priest rabbi", b" ")
    >>> bool(a == c), bool(a == b)
    (True, False)
    """
    data = np.frombuffer(words + separator, np.uint8)
    ends = np.flatnonzero(data == separator[0])
    starts = np.concatenate([[0], ends[:-1] + 1])
    lengths = ends - starts + 1  # the separator is hashed too, so that no word is empty
    powers = np.cumprod(np.full(int(lengths.max()), _FACTOR, np.uint64), dtype=np.uint64)
    out = np.empty(len(starts), np.uint64)
    for first in range(0, len(starts), _WORDS_AT_ONCE):
        part = slice(first, first + _WORDS_AT_ONCE)
        low, high = starts[part][0], ends[part][-1] + 1
        place = np.arange(low, high) - np.repeat(starts[part], lengths[part])
        terms = (data[low:high].astype(np.uint64) + np.uint64(1)) * powers[place]
        out[part] = np.add.reduceat(terms, starts[part] - low)
    return out ^ (out >> np.uint64(29))


def write_index(
    path: Path,
    kind: Kind,
    listed: list[tuple[bytes, Any]],
    before: dict[str, int],
    facts: dict[str, Any],
) -> str:
    """Write the index of a file that was just read from end to end; returns what became of it.

    `listed` holds, block by block, the words and where they stand: the offset of each line of a text file,
    or of the first record of a block of a binary one.
    """
    hashes, offsets = [], []
    binary = form_named(kind.format).index == "records"
    for words, where in listed:
        if binary:
            data = np.frombuffer(words + b" ", np.uint8)
            starts = np.concatenate([[0], np.flatnonzero(data == 32)[:-1] + 1])
            hashes.append(hashes_of(words.replace(b" \n", b" ").removeprefix(b"\n"), b" "))
            offsets.append(where + starts + np.arange(len(starts)) * 4 * kind.dim)
        else:
            hashes.append(hashes_of(words, b"\n"))
            offsets.append(where)
    all_hashes, all_offsets = np.concatenate(hashes), np.concatenate(offsets).astype(np.int64)
    order = np.argsort(all_hashes, kind="stable")
    head = {
        "version": _VERSION,
        "path": os.path.realpath(path),
        "words": len(order),
        "format": kind.format,
        "dim": kind.dim,
        **before,
        **facts,
    }
    content = all_hashes[order].tobytes() + all_offsets[order].tobytes()
    head["crc"] = zlib.crc32(content)
    line = json.dumps({**head, "head_crc": _crc_of(head)}).encode()
    if len(line) >= _HEADER_BYTES:
        return "not written: its header is too long"
    if fingerprint(path) != before:
        return "not written: the file changed while it was read"
    try:
        with whole_file(index_path(path)) as temporary, open(temporary, "wb") as file:
            file.write(line.ljust(_HEADER_BYTES - 1) + b"\n")
            file.write(content)
    except InputError as error:  # a cache that cannot be written must not stop the load
        return f"not written: {error}"
    return "written"


def read_indexed(path: Path, kind: Kind, wanted: Collection[str]) -> tuple[Rows, dict[str, Any]] | None:
    """Read wanted words through the index, or return None where there is none that fits the file.

    Returns
    -------
    Rows, dict
        The rows, `places` holding the byte offset of each, and what the index says about the file.
    """
    at = index_path(path)
    if not os.path.isfile(at):  # nor where the folder of the cache is closed
        return None
    try:
        with opened(at) as file:
            head = parse_json(file.read(_HEADER_BYTES), at, as_written=True)
        count, stated = head["words"], head.pop("head_crc")
        fits = (
            head["version"] == _VERSION
            and stated == _crc_of(head)
            and head["path"] == os.path.realpath(path)
            and fingerprint(path) == {key: head[key] for key in ("size", "mtime_ns", "inode", "device")}
            and (head["format"], head["dim"]) == (kind.format, kind.dim)
            and at.stat().st_size == _HEADER_BYTES + 16 * count
        )
        if not fits:
            return None
        content = np.memmap(at, np.uint8, "r", _HEADER_BYTES, (16 * count,))
        if zlib.crc32(content) != head["crc"]:
            return None
        hashes, offsets = content[: 8 * count].view(np.uint64), content[8 * count :].view(np.int64)
        fits = isinstance(head["skipped"], list) and isinstance(head["count"], int) and "sha256" in head
    except (
        OSError,
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        OverflowError,
    ):  # damaged: the file itself is read
        return None
    if not fits:
        return None
    binary = form_named(kind.format).index == "records"
    separator = " " if binary else "\n"
    words = [word for word in wanted if separator not in word]  # no word of such a file holds it
    sought = hashes_of(separator.join(words).encode(), separator.encode())
    first, last = np.searchsorted(hashes, sought, "left"), np.searchsorted(hashes, sought, "right")
    hits = sorted(
        (int(offset), words[i])
        for i in np.flatnonzero(last > first)
        for offset in offsets[first[i] : last[i]]
    )
    gathered = Gathered(kind.dim, "<f4" if binary else "<f8", "byte", len(hits))
    with opened(path, buffering=1 << 16 if not binary else 0) as file:
        size = path.stat().st_size
        for offset, word in hits:
            if not 0 <= offset < size:
                return None
            file.seek(offset)
            raw = word.encode()
            if binary:
                record = file.read(len(raw) + 2 + 4 * kind.dim)
                record = record[1:] if record.startswith(b"\n") else record
                if not record.startswith(raw + b" ") or len(record) < len(raw) + 1 + 4 * kind.dim:
                    return None
                gathered.add(word, np.frombuffer(record, "<f4", kind.dim, len(raw) + 1), offset)
            else:
                line = file.readline(LONGEST_TOKEN + LONGEST_NUMBER * kind.dim).strip()
                if line[: len(raw)] != raw or not line[len(raw) : len(raw) + 1].isspace():
                    return None
                numbers = line[len(raw) :].split()
                if len(numbers) != kind.dim:
                    return None
                if not all(map(is_number, numbers)):
                    return None
                gathered.add(word, [float(number) for number in numbers], offset)
    return gathered.rows(head["count"]), head
