"""What all readers of vector files share.

A reader makes one pass, keeps the wanted words only, and returns `Rows`. It knows nothing of
spelling variants, provenance or word lists.
"""

import contextlib
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from bayesbias.core import files
from bayesbias.core.errors import InputError

CHUNK_BYTES = 1 << 22
MOST_DIMENSIONS = 100_000
HOW_TO_SKIP = "pass on_invalid_utf8='skip' to leave such words out; they are counted and reported"


@dataclass(frozen=True)
class Head:
    """The first megabyte of a file, uncompressed, from which its format is told."""

    path: Path
    start: bytes
    compressed: bool

    @property
    def mark(self) -> int:
        """The length of the byte-order mark at the start."""
        return 3 if self.start.startswith(b"\xef\xbb\xbf") else 0


@dataclass(frozen=True)
class Layout:
    """What a reader needs to know of a file: dimensions, words if stated, first byte, separator."""

    dim: int = 0
    count: int | None = None
    start: int = 0
    separator: str = " "


@dataclass(frozen=True, eq=False)
class Reading:
    """What a reader is asked for.

    Attributes
    ----------
    path : Path
    layout : Layout
    wanted : collection of str or None
        All spellings that may be used later; None for the whole file.
    tick : callable
        Takes the number of bytes of the file read so far.
    skip_invalid : bool
        Whether to leave out words that are not valid UTF-8.
    unmatched : callable
        Takes the wanted words that the file holds; returns those to build from subwords.
    """

    path: Path
    layout: Layout
    wanted: Collection[str] | None
    tick: Callable[[int], None] = lambda _: None
    skip_invalid: bool = False
    unmatched: Callable[[Collection[str]], list[str]] = lambda _: []


@dataclass(eq=False)
class Rows:
    """Words and vectors as they are in a source.

    Attributes
    ----------
    words : list of str
        The wanted words that were found, in the order of the source.
    vectors : ndarray, shape (n, d)
        float64 if the source is text, else as stored.
    places : list of int
        The place of each among the words of the source, counted from 1; 0 if it has none.
    count : int
        Number of words in the source.
    unit : str
        What a place is called: line, record, row.
    before : int
        Lines before the first word, such as a header.
    repeats : dict
        Words that occur again, with the second place.
    skipped : list of int
        Places of words that are not valid UTF-8.
    composed : list of str
        Words that are not in the source and were built from subwords.
    """

    words: list[str]
    vectors: np.ndarray
    places: list[int]
    count: int
    unit: str = "row"
    before: int = 0
    repeats: dict[str, int] = field(default_factory=dict)
    skipped: list[int] = field(default_factory=list)
    composed: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Format:
    """A format of vector files.

    Attributes
    ----------
    name : str
    described_as : str
        In the list of valid formats.
    suffixes : tuple of str
        Endings that are no part of a name. The content tells the format.
    recognize : callable
        `Head` -> `Layout`, or None if the file is of another format.
    read : callable or None
        `Reading` -> `Rows`. None for pickles, which gensim reads.
    sparse : bool
        Whether reading skips most of a large file, so that hashing it would take longer.
    """

    name: str
    described_as: str
    suffixes: tuple[str, ...]
    recognize: Callable[[Head], Layout | None]
    read: Callable[[Reading], Rows] | None
    sparse: bool = False


class Gathered:
    """Rows under construction."""

    def __init__(self, reading: Reading, dtype: str, least_bytes: int) -> None:
        # A header is not believed beyond what the file can hold, compressed or not.
        size = reading.path.stat().st_size * 20
        most = size // (least_bytes * reading.layout.dim) + 1
        wanted = most if reading.wanted is None else len(reading.wanted)
        room = max(1, min(most, wanted, reading.layout.count or 4096))
        self._vectors = np.empty((room, reading.layout.dim), dtype)
        self._at: dict[str, int] = {}
        self._places: list[int] = []
        self._repeats: dict[str, int] = {}
        self.skipped: list[int] = []

    def add(self, word: str, values: Any, place: int) -> None:
        """Keep one row, or note that the word was there already."""
        row = len(self._places)
        if self._at.setdefault(word, row) != row:
            self._repeats.setdefault(word, place)
            return
        if row == len(self._vectors):
            more = np.empty((row // 2 + 1, self._vectors.shape[1]), self._vectors.dtype)
            self._vectors = np.concatenate([self._vectors, more])
        self._vectors[row] = values
        self._places.append(place)

    def rows(self, count: int, unit: str, before: int = 0) -> Rows:
        """Return what was gathered from a source of `count` words."""
        vectors = self._vectors[: len(self._places)]
        words = list(self._at)
        return Rows(words, vectors, self._places, count, unit, before, self._repeats, self.skipped)


def opened(path: Path) -> contextlib.AbstractContextManager[BinaryIO]:
    """Open a vector file, unpacked if it is gzipped."""
    return files.opened(path, unpack=True, noun="vector file", buffering=0)


def position(stream: BinaryIO) -> int:
    """Return how many bytes of the file on the disk were read."""
    return int(getattr(stream, "fileobj", stream).tell())


def skip_bytes(stream: BinaryIO, count: int) -> None:
    """Skip the first bytes of a stream."""
    while count > 0 and (part := stream.read(min(count, CHUNK_BYTES))):
        count -= len(part)


def is_number(text: bytes) -> bool:
    """Whether the bytes spell a number; 1_000 does not."""
    try:
        float(text)
    except ValueError:
        return False
    return b"_" not in text


def check_utf8(
    reading: Reading, words: list[bytes], first: int, unit: str, before: int = 0
) -> list[int]:
    """Return the places of words that are not UTF-8, or raise if these are not to be skipped."""
    bad = []
    for place, word in enumerate(words, first):
        try:
            word.decode()
        except UnicodeDecodeError:
            bad.append(place)
            if not reading.skip_invalid:
                raise InputError(
                    "the word is not valid UTF-8",
                    where=f"{reading.path}, {unit} {place + before}",
                    found=word[:40],
                    hint=HOW_TO_SKIP,
                ) from None
    return bad


def misfit(path: Path, found: str, layout: Layout) -> InputError:
    """Return the error for a header that does not fit its file."""
    return InputError(
        "the header does not fit the file",
        where=path,
        found=found,
        valid=f"{layout.count:,} words of {layout.dim} numbers, as the header says",
        hint="the file is truncated, or its header is wrong",
    )
