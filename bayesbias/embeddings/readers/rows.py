"""What all readers of vector files share: rows under construction, the file opened, and small checks.

Every reader makes one pass, keeps in memory the wanted words alone, and returns `Rows`. It is given the
wanted words (all spellings that may be used later) or None for the whole file, and knows nothing of
spelling variants, provenance or word lists.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from bayesbias.core import opening as border
from bayesbias.core.progress import Tick
from bayesbias.core.unpacking import unpacked

HOW_TO_SKIP = "pass on_invalid_utf8='skip' to leave such lines out; they are counted and reported"
HEAD_BYTES = 1 << 20
CHUNK_BYTES = 1 << 22
# Vectors shrink to a third. Short lines of one letter, which shrink to a two-hundredth, are read by the million a second only.
MOST_RATIO, _ALWAYS_ALLOWED = 20, 1 << 22


@dataclass(eq=False)
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


@dataclass(frozen=True)
class Head:
    """The first bytes of a file, unpacked, from which its format is told."""

    path: Path
    start: bytes
    compressed: bool

    @property
    def mark(self) -> int:
        """The length of the byte-order mark at the start."""
        return 3 if self.start.startswith(b"\xef\xbb\xbf") else 0


@dataclass(frozen=True, eq=False)
class Reading:
    """What a reader is asked for.

    Attributes
    ----------
    path : Path
    kind : Kind
    wanted : collection of str or None
        All spellings that may be used later; None for the whole file.
    tick : callable
        Is told how many bytes of the file were read.
    skip_invalid : bool
        Whether words that are not valid UTF-8 are left out, or refused.
    listed : list, optional
        Collects words and offsets for the index, in the formats that have one.
    unmatched : callable, optional
        Is told which wanted words the file holds and answers with those that may be composed of parts.
    """

    path: Path
    kind: Kind
    wanted: Collection[str] | None
    tick: Tick
    skip_invalid: bool = False
    listed: list[Any] | None = None
    unmatched: Callable[[Collection[str]], list[str]] | None = None


@dataclass(frozen=True)
class Format:
    """A format of vector files: how it is named, how it is told, and who reads it.

    Attributes
    ----------
    name : str
    told_as : str
        How it stands in the list of valid formats.
    suffixes : tuple of str
        Endings of such files; a format is told from the content, an ending only names a path.
    tells : callable
        Whether a file is of this format, from its `Head`: its `Kind`, or None.
    read : callable or None
        Makes `Rows` of a `Reading`. None for pickles, which gensim reads for those who trust them.
    magic : bool
        Whether it is told by its first bytes for certain, so that it is asked before formats of text.
    gzipped : bool
        Whether such files may be gzipped.
    index : {"lines", "records"} or None
        Where words stand for an index of the file; None where there is none.
    """

    name: str
    told_as: str
    suffixes: tuple[str, ...]
    tells: Callable[[Head], Kind | None]
    read: Callable[[Reading], Rows] | None
    magic: bool = False
    gzipped: bool = True
    index: str | None = None


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
    with border.opened(path, noun="vector file", buffering=-1 if compressed else 0) as raw:
        if compressed:
            with unpacked(raw, path, chunk=CHUNK_BYTES, ratio=MOST_RATIO, always=_ALWAYS_ALLOWED) as stream:
                yield stream, raw.tell
        else:
            yield raw, raw.tell


def is_number(text: bytes) -> bool:
    """Whether the bytes spell a number; Python's own underscores between digits are none."""
    try:
        float(text)
    except ValueError:
        return False
    return b"_" not in text


def room_for_rows(path: Path, kind: Kind, wanted: Collection[Any] | None, least: int) -> int:
    """Return how many rows to make room for; a header is not believed beyond what the file can hold."""
    size = path.stat().st_size * (20 if kind.compressed else 1)
    most = size // (least * kind.dim) + 1
    return min(most, kind.count or 4096, len(wanted) if wanted is not None else most)


def invalid_utf8(tokens: list[bytes]) -> list[int]:
    """Return the positions of tokens that are not UTF-8."""
    bad = []
    for i, token in enumerate(tokens):
        try:
            token.decode()
        except UnicodeDecodeError:
            bad.append(i)
    return bad


def skip_bytes(stream: BinaryIO, count: int) -> None:
    """Read on by ``count`` bytes without keeping them; works on streams that cannot seek."""
    while count > 0 and (got := len(stream.read(min(count, CHUNK_BYTES)))):
        count -= got
