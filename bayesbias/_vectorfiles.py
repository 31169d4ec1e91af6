"""Readers of vector files: one pass, and memory for the wanted words alone.

Every reader returns `Rows`. It is given the wanted words (all spellings that may be used later) or None
for the whole file, and knows nothing of spelling variants, provenance or word lists.
"""

from __future__ import annotations

import collections
import contextlib
import gzip
import io
import itertools
import json
import os
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from bayesbias.errors import InputError

FORMATS = (
    "word2vec text or binary, GloVe text, fastText .vec or .bin (each also gzipped), .npz with the arrays "
    "'words' and 'vectors', .safetensors with the tensor 'vectors' and the metadata entry 'words', or a "
    "gensim .kv or .model with allow_pickle=True"
)
HOW_TO_SKIP = "pass on_invalid_utf8='skip' to leave such lines out; they are counted and reported"

Tick = Callable[[int], None]

_HEAD = 1 << 20
_TEXT_CHUNK = 1 << 22
_AT_ONCE = 16
_BLOCK = 1 << 19  # of a binary file, read and walked at once: fits the cache
_FASTTEXT_MAGIC = 793712314
_MOST_DIMENSIONS = 100_000
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f]")
_HEADER = re.compile(rb"\s*(\d+)[ \t]+(\d+)\s*\Z")
_OTHER_FORMATS = {
    b"BZh": "bzip2; unpack it, or compress it with gzip",
    b"\xfd7zXZ": "xz; unpack it, or compress it with gzip",
    b"\x28\xb5\x2f\xfd": "Zstandard; unpack it, or compress it with gzip",
    b"\x89HDF": "HDF5",
    b"\x93NUMPY": "a single numpy array, which holds no words",
    b"PAR1": "Parquet",
    b"{": "JSON",
}


@dataclass
class Rows:
    """Words and vectors as they stand in a source.

    Attributes
    ----------
    words : list of str
        The wanted words that were found, in the order of the source.
    vectors : ndarray, shape (n, d)
        Their vectors; float64 where the source is text, else as stored.
    places : list of int
        The line, record or row of each, counted from 1.
    unit : str
        What `places` counts: ``"line"``, ``"record"`` or ``"row"``.
    count : int
        Number of words in the source.
    repeats : dict
        Words that occur again, with the place of the second occurrence.
    skipped : list of str
        Where words stand that are not valid UTF-8, as ``"line 7"``.
    composed : list of str
        Words that are not in the source and were put together from subwords.
    """

    words: list[str]
    vectors: np.ndarray
    places: list[int]
    unit: str
    count: int
    repeats: dict[str, int] = field(default_factory=dict)
    skipped: list[str] = field(default_factory=list)
    composed: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Kind:
    """What a file is, told from its content."""

    format: str
    compressed: bool
    dim: int = 0
    count: int | None = None
    start: int = 0


class Gathered:
    """Rows under construction; room grows where the number of rows is not known."""

    def __init__(self, dim: int, dtype: str, unit: str, room: int) -> None:
        self._vectors = np.empty((max(room, 1), dim), dtype=dtype)
        self._at: dict[str, int] = {}
        self.places: list[int] = []
        self.repeats: dict[str, int] = {}
        self.skipped: list[str] = []
        self.unit = unit

    def add(self, word: str, values: Any, place: int) -> None:
        """Keep one row, or note that the word was there already."""
        row = len(self.places)
        if self._at.setdefault(word, row) != row:
            self.repeats.setdefault(word, place)
            return
        if row == len(self._vectors):
            grown = np.empty((row + row // 2 + 1, self._vectors.shape[1]), dtype=self._vectors.dtype)
            grown[:row] = self._vectors
            self._vectors = grown
        self._vectors[row] = values
        self.places.append(place)

    def rows(self, count: int) -> Rows:
        """Return what was gathered out of a source of `count` words."""
        vectors = self._vectors[: len(self.places)]
        return Rows(list(self._at), vectors, self.places, self.unit, count, self.repeats, self.skipped)


@contextlib.contextmanager
def opened(path: Path, compressed: bool) -> Iterator[tuple[BinaryIO, Callable[[], int]]]:
    """Open a file, through gzip where it is compressed, and say in words what goes wrong.

    Yields the stream and a function that tells how many bytes of the file on the disk were read.
    """
    try:
        with open(path, "rb", buffering=-1 if compressed else 0) as raw:
            if compressed:
                with gzip.GzipFile(fileobj=raw) as stream:
                    yield io.BufferedReader(stream, _TEXT_CHUNK), raw.tell
            else:
                yield raw, raw.tell
    except EOFError:
        raise InputError(
            "the gzip file is truncated: it ends before its end mark",
            where=path,
            found=f"{path.stat().st_size} bytes",
            valid="a whole .gz file",
            hint="copy or download it again",
        ) from None
    except (zlib.error, gzip.BadGzipFile) as error:
        raise InputError(f"the gzip file is damaged: {error}", where=path, valid="a whole .gz file") from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", where=path) from None


def recognise(path: Path) -> Kind:
    """Tell the format of a file from its first bytes.

    Raises
    ------
    InputError
        Where the file is empty or its format is not one of `FORMATS`.
    """
    with opened(path, compressed=False) as (stream, _):
        compressed = stream.read(2) == b"\x1f\x8b"
    with opened(path, compressed) as (stream, _):
        head = stream.read(_HEAD)
    if not head.strip():
        raise InputError("is empty", where=path, found=f"{len(head)} bytes", valid=FORMATS)
    if head[:4] == struct.pack("<i", _FASTTEXT_MAGIC):
        return Kind("fastText binary", compressed)
    if head[:1] == b"\x80" and head[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05"):
        return Kind("pickle", compressed)
    if head[:4] == b"PK\x03\x04" and not compressed:
        return Kind("npz", compressed)
    if len(head) > 9 and int.from_bytes(head[:8], "little") < path.stat().st_size and head[8:9] == b"{":
        return Kind("safetensors", compressed)
    for magic, name in _OTHER_FORMATS.items():
        if head.startswith(magic) and not (magic == b"{" and head[1:2] == b" "):
            raise InputError(
                "is not a format of word vectors known here", where=path, found=name, valid=FORMATS
            )
    return _text_or_binary(path, head, compressed)


def _text_or_binary(path: Path, head: bytes, compressed: bool) -> Kind:
    bom = 3 if head.startswith(b"\xef\xbb\xbf") else 0
    first, _, rest = head[bom:].partition(b"\n")
    header = _HEADER.match(first)
    if header:
        count, dim = int(header[1]), int(header[2])
        start = bom + len(first) + 1
        if count < 1 or not 1 <= dim <= _MOST_DIMENSIONS:
            raise InputError(
                "the header names no vectors",
                where=f"{path}, line 1",
                found=first.decode("ascii").strip(),
                valid=f"how many words (1 or more) and how many dimensions (1 to {_MOST_DIMENSIONS})",
            )
        sample = rest[:4096].partition(b" ")[2]
        plain = sum(byte in b"0123456789.eE+- \t\r\n" for byte in sample)
        text = not _CONTROL.search(sample) and 2 * plain >= len(sample)
        return Kind("word2vec text" if text else "word2vec binary", compressed, dim, count, start)
    lines = head[bom:].split(b"\n")
    if len(lines) > 1:  # the last may be cut
        lines.pop()
    fields = [line.split() for line in lines[:100] if line.strip()]
    if _CONTROL.search(b"".join(lines[:100])) or not any(len(f) > 1 and _number(f[-1]) for f in fields):
        raise InputError(
            "is not a format of word vectors known here",
            where=path,
            found=head[:40],
            valid=FORMATS,
        )
    # numbers at the end of a line, most often; a token may hold blanks, but most do not end in a number
    lengths = (sum(1 for _ in itertools.takewhile(_number, reversed(f[1:]))) for f in fields)
    dim = collections.Counter(lengths).most_common(1)[0][0]
    return Kind("GloVe text", compressed, dim, None, bom)


def _number(text: bytes) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


# --- word2vec and GloVe text ------------------------------------------------------------------------


def read_text(
    path: Path,
    kind: Kind,
    wanted: Collection[str] | None,
    *,
    skip_invalid: bool,
    tick: Tick,
    listed: list[tuple[bytes, np.ndarray]] | None = None,
) -> Rows:
    """Read word2vec text (with a header) or GloVe text (without one).

    The number of fields is checked on every line, numbers are read on wanted lines only. A token may hold
    spaces (some of GloVe 840B do): a line is split from the right. `listed` collects words and offsets
    for the index.
    """
    keys = None if wanted is None else {word.encode() for word in wanted}
    headed = kind.count is not None
    gathered = Gathered(kind.dim, "<f8", "line", _room(path, kind, keys, 2))
    dim, number, blank, offset = kind.dim, int(headed), 0, kind.start
    count = 0
    with opened(path, kind.compressed) as (stream, position):
        _discard(stream, kind.start)
        left = b""
        while True:
            chunk = stream.read(_TEXT_CHUNK)
            lines = (left + chunk).split(b"\n")
            left = lines.pop() if chunk else b""
            if not chunk and lines == [b""]:
                break
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
                        gathered.add(token.decode(), _numbers_of(path, number, line, dim), number)
            count += len(tokens) - tokens.count(b"")
            blob = b"\n".join(tokens)
            if not blob.isascii():
                bad = _invalid(tokens)
                if bad and not skip_invalid:
                    place = number - len(tokens) + bad[0] + 1
                    raise InputError(
                        "the word is not valid UTF-8",
                        where=f"{path}, line {place}",
                        found=tokens[bad[0]],
                        hint=HOW_TO_SKIP,
                    )
                gathered.skipped += [f"line {number - len(tokens) + i + 1}" for i in bad]
            if listed is not None:
                starts = np.cumsum([offset, *(len(line) + 1 for line in lines)])
                listed.append((blob, starts[:-1]))
                offset = int(starts[-1])
            tick(position())
            if not chunk:
                break
    if headed and count != kind.count:
        raise _wrong_count(path, kind, count, "line 1")
    return gathered.rows(count)


def _room(path: Path, kind: Kind, wanted: Collection[Any] | None, least: int) -> int:
    """Return how many rows to make room for; a header is not believed beyond what the file can hold."""
    size = path.stat().st_size * (20 if kind.compressed else 1)
    most = size // (least * kind.dim) + 1
    return min(most, kind.count or 4096, len(wanted) if wanted is not None else most)


def _token_of(path: Path, number: int, line: bytes, dim: int, headed: bool) -> bytes:
    fields = line.split()
    surplus = len(fields) - dim - 1
    # more fields than numbers: a token with spaces, unless they are numbers all
    if surplus < 0 or (surplus > 0 and all(map(_number, fields[1:]))):
        raise _wrong_length(path, number, dim, len(fields) - 1, headed)
    if surplus == 0:
        return fields[0]
    token = line.strip()
    for _ in range(dim):
        token = token.rsplit(None, 1)[0]
    return token


def _numbers_of(path: Path, number: int, line: bytes, dim: int) -> list[float]:
    fields = line.split()[-dim:]
    try:
        return [float(text) for text in fields]
    except ValueError:
        bad = next(text for text in fields if not _number(text))
        raise InputError(
            "is not a number",
            where=f"{path}, line {number}",
            found=bad.decode("utf-8", "replace"),
            valid="numbers",
        ) from None


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


def _invalid(tokens: list[bytes]) -> list[int]:
    bad = []
    for i, token in enumerate(tokens):
        try:
            token.decode()
        except UnicodeDecodeError:
            bad.append(i)
    return bad


def _discard(stream: BinaryIO, count: int) -> None:
    while count > 0 and (got := len(stream.read(min(count, _TEXT_CHUNK)))):
        count -= got


# --- word2vec binary --------------------------------------------------------------------------------


class _Blocks:
    """A plain file, read block by block into the same memory, or a stream, buffered: `at` gives what follows a position."""

    def __init__(self, stream: BinaryIO, start: int, seekable: bool, least: int) -> None:
        self._stream = stream
        # One small room, filled again and again, stays in the processor's cache: the walk over a block then costs a
        # fraction of what it would on memory fresh from the file.
        self._room = bytearray(max(_BLOCK, least)) if seekable else None
        self._held, self._from = b"", start
        if not seekable:
            _discard(stream, start)

    def at(self, pos: int) -> tuple[Any, int]:
        """Return a buffer that begins at `pos`, and its end, which is 0 at the end of the file."""
        if self._room is None:
            self._held = self._held[pos - self._from :] + self._stream.read(_TEXT_CHUNK)
            self._from = pos
            return self._held, len(self._held)
        self._stream.seek(pos)
        return self._room, self._stream.readinto(self._room)  # type: ignore[attr-defined]


def read_binary(
    path: Path,
    kind: Kind,
    wanted: Collection[str] | None,
    *,
    skip_invalid: bool,
    tick: Tick,
    listed: list[tuple[bytes, int]] | None = None,
) -> Rows:
    """Read word2vec binary: a header line, then records of word, blank, `dim` single-precision numbers.

    A record has no fixed length, so the file must be walked record by record. One regular expression
    walks some 400 of them per call without touching the numbers, a set intersection finds the wanted.
    """
    assert kind.count is not None
    payload = 4 * kind.dim
    expected = f"{kind.count} records of a word and {kind.dim} single-precision numbers, as the header says"
    keys = None if wanted is None else {word.encode() for word in wanted if " " not in word}
    newlines = False
    gathered = Gathered(kind.dim, "<f4", "record", _room(path, kind, wanted, 4))
    record = rb"([^ ]*+) .{%d}+" % payload
    find = re.compile(record, re.DOTALL).findall
    find_many = re.compile(record * _AT_ONCE, re.DOTALL).findall  # a quarter less time than one by one
    pos, done = kind.start, 0
    with opened(path, kind.compressed) as (stream, position):
        blocks = _Blocks(stream, pos, not kind.compressed, 4 * payload)
        while done < kind.count:
            buffer, end = blocks.at(pos)
            walked = 0
            while done < kind.count and end - walked > payload:  # room for a record
                stop = min(walked + _BLOCK, end)
                words = list(itertools.chain.from_iterable(find_many(buffer, walked, stop)))
                words = words or find(buffer, walked, stop) or find(buffer, walked, end)
                if not words:
                    break
                del words[kind.count - done :]
                blob = b" ".join(words)
                if not blob.isascii() and (bad := _invalid(words)):
                    if not skip_invalid:
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
                for i, at in _hits(words, keys, payload + 1):
                    with contextlib.suppress(UnicodeDecodeError):  # counted above
                        word = words[i].lstrip(b"\n").decode()
                        gathered.add(word, np.frombuffer(buffer, "<f4", kind.dim, walked + at), done + i + 1)
                done += len(words)
                walked += len(blob) + 1 + len(words) * payload
            if walked == 0:
                break
            pos += walked
            tick(position() if kind.compressed else pos)
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


def _hits(words: list[bytes], keys: set[bytes] | None, tail: int) -> Iterator[tuple[int, int]]:
    """Give index and offset of the numbers of every wanted record of a block."""
    if keys is None:
        at = 0
        for i, word in enumerate(words):
            yield i, at + len(word) + 1
            at += len(word) + tail
        return
    if not keys.isdisjoint(words):
        found = keys.intersection(words)
        for i in [i for i, word in enumerate(words) if word in found]:
            yield i, sum(map(len, words[: i + 1])) + i * tail + 1


# --- fastText binary --------------------------------------------------------------------------------


def read_fasttext(
    path: Path,
    kind: Kind,
    wanted: Collection[str] | None,
    unresolved: Callable[[Collection[str]], list[str]],
    *,
    skip_invalid: bool,
    tick: Tick,
) -> Rows:
    """Read a full fastText model (the official ``.bin``).

    A word's vector is the mean of its own row and the rows of its character n-grams; a word that is not in
    the dictionary is composed of its n-grams alone. `unresolved` is told which wanted words the dictionary
    holds and answers with the words to compose.

    Source: Bojanowski et al. 2017, "Enriching word vectors with subword information", section 3.2; layout
    of the file: versions 11 and 12 of the reference implementation.
    """
    with opened(path, kind.compressed) as (file, position):

        def take(form: str) -> tuple[Any, ...]:
            data = file.read(struct.calcsize(form))
            if len(data) < struct.calcsize(form):
                raise _short_model(path, "its header")
            return struct.unpack(form, data)

        _, version = take("<2i")
        if version not in (11, 12):
            raise InputError(
                "unknown version of the fastText format", where=path, found=version, valid="11 or 12"
            )
        dim, _, _, _, _, _, _, model, bucket, minn, maxn, _ = take("<12i")
        take("<d")
        entries, nwords, _ = take("<3i")
        _, pruned = take("<2q")
        if pruned >= 0:
            raise _quantised(path)
        if version == 11 and model == 3:  # supervised models of that version wrote a maxn that was never used
            maxn = 0
        ids, listed, skipped, repeats = _dictionary(path, file, entries, nwords, wanted, skip_invalid)
        (quantised,) = take("<?")
        if quantised:
            raise _quantised(path)
        height, width = take("<2q")
        if width != dim or height != nwords + bucket:
            raise InputError(
                "the input matrix does not fit the dictionary",
                where=path,
                found=f"{height} x {width}",
                valid=f"{nwords + bucket} x {dim} ({nwords} words and {bucket} n-gram buckets)",
            )
        composed = [] if wanted is None or not maxn else unresolved(ids.keys())
        parts = {word: [row, *([] if word == "</s>" else _subwords(word, minn, maxn, bucket, nwords))]
                 for word, row in ids.items()}  # fmt: skip
        made = {word: rows for word in composed if (rows := _subwords(word, minn, maxn, bucket, nwords))}
        parts |= made
        base = file.tell()
        if not kind.compressed and path.stat().st_size < base + 4 * height * width + 17:
            raise _short_model(path, "its input matrix")
        needed = sorted({row for rows in parts.values() for row in rows})
        matrix = np.empty((len(needed), dim), dtype="<f4")
        for i, row in enumerate(needed):
            file.seek(base + 4 * dim * row)
            data = file.read(4 * dim)
            if len(data) < 4 * dim:
                raise _short_model(path, "its input matrix")
            matrix[i] = np.frombuffer(data, "<f4")
            if i % 1024 == 0:
                tick(position())
        file.seek(base + 4 * height * width)
        (_, rows_out, columns_out) = take("<?2q")
        file.seek(4 * rows_out * columns_out - 1, os.SEEK_CUR)
        if not file.read(1):
            raise _short_model(path, "its output matrix")
    at = {row: i for i, row in enumerate(needed)}
    words = list(parts)
    vectors = np.empty((len(words), dim), dtype="<f4")
    for i, rows in enumerate(parts.values()):
        vectors[i] = matrix[[at[row] for row in rows]].mean(axis=0, dtype=np.float64)
    places = [listed.get(word, 0) for word in words]
    return Rows(words, vectors, places, "dictionary entry", nwords, repeats, skipped, list(made))


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
        chunk = file.read(_HEAD)
        held += chunk
        end = 0
        for match in entry.finditer(held):
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
                                found=word,
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
            if done == entries:
                break
        start += end
        held = held[end:]
        if not chunk and done < entries:
            raise _short_model(path, f"its dictionary (entry {done + 1} of {entries})")
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
        for n in range(minn, min(maxn, len(text) - i) + 1):
            if n == 1 and (i == 0 or i + n == len(text)):  # a boundary mark alone is no n-gram
                continue
            value = 2166136261
            for byte in text[i : i + n].encode():
                # the reference implementation widens each byte as a signed one
                value = ((value ^ (byte | 0xFFFFFF00 if byte > 127 else byte)) * 16777619) & 0xFFFFFFFF
            rows.append(nwords + value % bucket)
    return rows


def _short_model(path: Path, part: str) -> InputError:
    return InputError(
        f"the fastText model is truncated: it ends inside {part}",
        where=path,
        found=f"{path.stat().st_size} bytes",
        valid="a whole .bin file",
        hint="copy or download it again",
    )


def _quantised(path: Path) -> InputError:
    return InputError(
        "is a quantised fastText model: its vectors were replaced by rounded codes of pruned words, so that "
        "distances would carry an error of unknown size",
        where=path,
        found="a quantised model (.ftz)",
        valid="the full model (.bin) or its vectors (.vec)",
    )


# --- npz and safetensors ----------------------------------------------------------------------------


def read_npz(path: Path, wanted: Collection[str] | None, *, tick: Tick) -> Rows:
    """Read the arrays ``words`` (text, (n,)) and ``vectors`` (numbers, (n, d)), rows streamed."""
    valid = "an .npz file with the arrays 'words' (text, one per row) and 'vectors' (numbers, two dimensions)"
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            if not {"words.npy", "vectors.npy"} <= set(names):
                raise InputError(
                    "is a zip file without word vectors", where=path, found=names[:6], valid=valid
                )
            with archive.open("words.npy") as member:
                shape, _, dtype = _array_header(member)
                if dtype.kind != "U" or len(shape) != 1:
                    raise InputError(
                        "the array 'words' does not hold text"
                        + (" (arrays of objects are pickles)" if dtype.hasobject else ""),
                        where=path,
                        found=f"{dtype} {shape}",
                        valid="an array of strings, np.array(list_of_words)",
                    )
                words = np.frombuffer(member.read(), dtype).reshape(shape).tolist()
            with archive.open("vectors.npy") as member:
                shape, fortran, dtype = _array_header(member)
                _check_tensor(path, shape, dtype.kind == "f", str(dtype), len(words))
                if fortran:
                    data = np.frombuffer(member.read(), dtype).reshape(shape[::-1]).T
                    return _picked(words, wanted, shape[1], dtype.str, lambda i: data[i])
                size = dtype.itemsize * shape[1]
                step = max(1, _TEXT_CHUNK // size)
                block, first = np.empty((0, shape[1]), dtype), 0

                def row(i: int) -> np.ndarray:
                    nonlocal block, first
                    while i >= first + len(block):
                        first += len(block)
                        data = member.read(step * size)
                        if len(data) < min(step, shape[0] - first) * size:
                            raise InputError("the array 'vectors' is truncated", where=path, valid=valid)
                        block = np.frombuffer(data, dtype).reshape(-1, shape[1])
                    return block[i - first]

                return _picked(words, wanted, shape[1], dtype.str, row)
    except InputError:
        raise
    except (zipfile.BadZipFile, zlib.error, EOFError, ValueError) as error:
        raise InputError(f"the .npz file is damaged: {error}", where=path, valid=valid) from None
    finally:
        tick(path.stat().st_size)


def _array_header(member: Any) -> tuple[tuple[int, ...], bool, np.dtype]:
    form = np.lib.format
    version = form.read_magic(member)
    return (form.read_array_header_1_0 if version == (1, 0) else form.read_array_header_2_0)(member)


def read_safetensors(path: Path, wanted: Collection[str] | None, *, tick: Tick) -> Rows:
    """Read the tensor ``vectors`` (n, d) and the metadata entry ``words``, a JSON list of n strings."""
    from safetensors import SafetensorError, safe_open

    valid = (
        "the tensor 'vectors' with two dimensions and the metadata entry 'words', a JSON list of its words"
    )
    try:
        with safe_open(path, framework="numpy") as file:
            if "vectors" not in file.keys():  # noqa: SIM118 - not a mapping
                raise InputError(
                    "holds no word vectors", where=path, found=sorted(file.keys())[:6], valid=valid
                )
            try:
                words = json.loads((file.metadata() or {}).get("words", "null"))
            except json.JSONDecodeError as error:
                raise InputError(
                    f"the metadata entry 'words' is not JSON: {error}", where=path, valid=valid
                ) from None
            if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
                raise InputError("the metadata entry 'words' is no list of words", where=path, valid=valid)
            part = file.get_slice("vectors")
            types = {"F16": "<f2", "F32": "<f4", "F64": "<f8"}
            _check_tensor(
                path, tuple(part.get_shape()), part.get_dtype() in types, part.get_dtype(), len(words)
            )
            dim = part.get_shape()[1]
            return _picked(words, wanted, dim, types[part.get_dtype()], lambda i: part[i : i + 1][0])
    except SafetensorError as error:
        raise InputError(f"the safetensors file is damaged: {error}", where=path, valid=valid) from None
    finally:
        tick(path.stat().st_size)


def _check_tensor(path: Path, shape: tuple[int, ...], floats: bool, dtype: str, words: int) -> None:
    if len(shape) != 2 or not floats or shape[0] != words:
        raise InputError(
            "'vectors' does not fit 'words'",
            where=path,
            found=f"{words} words and an array of shape {shape}, type {dtype}",
            valid="one row of floating-point numbers (16, 32 or 64 bits) per word",
        )


def _picked(
    words: list[str], wanted: Collection[str] | None, dim: int, dtype: str, row: Callable[[int], np.ndarray]
) -> Rows:
    """Gather the wanted rows of a source whose words are known, in their order."""
    keys = None if wanted is None else set(wanted)
    chosen = [i for i, word in enumerate(words) if keys is None or word in keys]
    # half precision is stored, never calculated with
    gathered = Gathered(dim, "<f8" if dtype.endswith("8") else "<f4", "row", len(chosen))
    for i in chosen:
        gathered.add(words[i], row(i), i + 1)
    return gathered.rows(len(words))
