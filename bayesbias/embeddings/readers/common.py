"""What all readers of vector files share.

A reader makes one pass and yields blocks of words; `gather` keeps the wanted ones. It knows
nothing of spelling variants, provenance or word lists.
"""

import contextlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from bayesbias.core import files
from bayesbias.core.errors import InputError

MOST_DIMENSIONS = 100_000

# Words, and a function that takes the places of some of them in the block and returns their rows.
type Block = tuple[Sequence[bytes], Callable[[list[int]], Any]]


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

    @contextlib.contextmanager
    def opened(self) -> Iterator[BinaryIO]:
        """Open the file behind its header, unpacked if it is compressed."""
        with files.opened(self.path, unpack=True, noun="vector file", buffering=0) as stream:
            stream.read(self.layout.start)
            yield stream

    def told(self, stream: BinaryIO) -> None:
        """Tell how many bytes of the file on the disk were read."""
        self.tick(int(getattr(stream, "fileobj", stream).tell()))


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


def gather(
    reading: Reading,
    blocks: Iterable[Block],
    dtype: Any,
    unit: str = "row",
    before: int = 0,
    dim: int = 0,
) -> Rows:
    """Keep the wanted words of a source, each with its first row.

    Parameters
    ----------
    reading : Reading
    blocks : iterable of Block
    dtype : dtype
    unit : str
        What a place is called.
    before : int
        Lines before the first word.
    dim : int
        Length of a row, where it is not that of the layout.
    """
    keys = None
    if reading.wanted is not None:
        keys = {word.encode("utf-8", "surrogatepass") for word in reading.wanted}
        keys |= {b"\n" + word for word in keys}  # word2vec.c ends a binary record with a newline
    at: dict[str, int] = {}
    repeats: dict[str, int] = {}
    skipped: list[int] = []
    vectors, count = np.empty((0, dim or reading.layout.dim), dtype), 0
    for words, rows_of in blocks:
        bad: set[int] = set()
        if not b"".join(words).isascii():
            bad = _not_utf8(reading, words, count + 1, unit, before)
            skipped += sorted(bad)
        fresh = []
        for i, word in enumerate(words) if keys is None or not keys.isdisjoint(words) else ():
            place = count + i + 1
            if place not in bad and (keys is None or word in keys):
                text = word.lstrip(b"\n").decode()
                if at.setdefault(text, place) != place:
                    repeats.setdefault(text, place)
                else:
                    fresh.append(i)
        if fresh:
            vectors.resize((len(at), vectors.shape[1]), refcheck=False)
            vectors[-len(fresh) :] = rows_of(fresh)
        count += len(words)
    if reading.layout.count not in (None, count):
        raise InputError(
            "the header does not fit the file",
            where=reading.path,
            found=f"{count:,} whole {unit}s",
            valid=f"{reading.layout.count:,} {unit}s of {reading.layout.dim} numbers",
            hint="the file is truncated, or its header is wrong",
        )
    return Rows(list(at), vectors, list(at.values()), count, unit, before, repeats, skipped)


def _not_utf8(
    reading: Reading, words: Sequence[bytes], first: int, unit: str, before: int
) -> set[int]:
    """Return the places of words that are not UTF-8, or raise if these are not to be skipped."""
    bad = set()
    for place, word in enumerate(words, first):
        try:
            word.decode()
        except UnicodeDecodeError:
            bad.add(place)
    if bad and not reading.skip_invalid:
        raise InputError(
            "the word is not valid UTF-8",
            where=f"{reading.path}, {unit} {min(bad) + before}",
            found=words[min(bad) - first][:40],
            hint="pass on_invalid_utf8='skip' to leave such words out; they are counted",
        )
    return bad


def is_number(text: bytes) -> bool:
    """Whether the bytes spell a number; 1_000 does not."""
    try:
        float(text)
    except ValueError:
        return False
    return b"_" not in text
