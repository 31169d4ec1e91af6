"""What all readers of vector files share.

A reader makes one pass and yields blocks of words; `gather` keeps the wanted ones. It knows
nothing of spelling variants, provenance or word lists.
"""

import contextlib
import gzip
import itertools
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from bayesbias.core import files
from bayesbias.core.encodings import LATIN, given_encoding, is_utf8, likely_encoding
from bayesbias.core.errors import InputError
from bayesbias.core.formatting import number_of, some
from bayesbias.embeddings.spelling import Marks

MOST_DIMENSIONS = 100_000
_MOST_SAMPLED = 50_000
_FEW_FOREIGN = 0.01  # share of words that are not UTF-8 below which they count as damaged

# Words, and a function that takes the places of some of them in the block and returns their rows.
type Block = tuple[Sequence[bytes], Callable[[list[int]], Any]]
type Opened = BinaryIO | gzip.GzipFile
"""A file that is open for writing, as it is or compressed."""


@dataclass(frozen=True)
class Head:
    """The first megabyte of a file, uncompressed and without a byte-order mark."""

    path: Path
    start: bytes
    compressed: bool
    vocab: Path | None = None


@dataclass(frozen=True)
class Layout:
    """What a reader needs to know of a file."""

    dim: int = 0
    count: int | None = None
    start: int = 0
    separator: str = " "
    header: bool = True
    columns: tuple[int, ...] = ()  # of the word, and of the numbers or the list of them
    width: int = 0


@dataclass(frozen=True, eq=False)
class Reading:
    """What a reader is asked for.

    Attributes
    ----------
    path : Path
    layout : Layout
    wanted : collection of str or None
        All keys that may be used later; None for the whole file.
    vocab : Path or None
        The file of words that the user named.
    strict : bool
        Whether a line that cannot be read is an error; by default it is skipped and counted.
    tick : callable
        Takes the number of bytes of the file read so far.
    asked : list of str
        The words themselves, to build from subwords where no key is there.
    skipped : list of str
        The places of the lines that were skipped.
    first : list of InputError
        What is wrong with the first of them.
    """

    path: Path = Path()
    layout: Layout = Layout()
    wanted: Collection[str] | None = None
    vocab: Path | None = None
    strict: bool = False
    tick: Callable[[int], None] = lambda _: None
    asked: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    first: list[InputError] = field(default_factory=list)

    @contextlib.contextmanager
    def opened(self) -> Iterator[BinaryIO]:
        """Open the file behind its header, unpacked if it is compressed."""
        with files.opened(self.path, unpack=True, kind="a file of vectors", buffering=0) as stream:
            stream.read(self.layout.start)
            yield stream

    def told(self, stream: BinaryIO) -> None:
        """Tell how many bytes of the file on the disk were read."""
        self.tick(int(getattr(stream, "fileobj", stream).tell()))

    def skip(self, place: str, expected: str, found: object) -> None:
        """Skip a line, or raise what is wrong with it if this reading is strict."""
        if not self.first:
            where = f"{self.path}, {place}"
            self.first.append(InputError(f"expected {expected}, got {found}", where=where))
        if self.strict:
            raise self.first[0]
        self.skipped.append(place)


@dataclass(eq=False)
class Rows:
    """Words and vectors as they are in a source.

    Attributes
    ----------
    words : list of str
        The wanted words that were found, in the order of the source; one with several vectors
        stands there several times.
    vectors : ndarray, shape (n, d)
        float64 if the source is text, else as stored.
    places : list of int
        The place of each among the words of the source, counted from 1; 0 if it has none.
    count : int
        Number of words in the source.
    composed : list of str
        Words that are not in the source and were built from subwords.
    known : list of str
        Where words were built, the first words of the source.
    notes : list of str
        What was skipped, and what else a reader should know.
    sample : list of str
        The first words of the source, if none of the wanted ones was found.
    marks : Marks
        How many of its keys have the form of a token.
    encoding : str or None
        The encoding that would read words that are not UTF-8, where none was named.
    """

    words: list[str]
    vectors: np.ndarray
    places: list[int]
    count: int
    composed: list[str] = field(default_factory=list)
    known: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    sample: list[str] = field(default_factory=list)
    marks: Marks = field(default_factory=Marks)
    encoding: str | None = None

    def by_word(self) -> tuple[dict[str, list[int]], list[str]]:
        """Return the rows of each word, and words whose vector is unusable."""
        with np.errstate(all="ignore"):
            sums = np.abs(self.vectors).sum(axis=1, dtype=np.float64)
        whole = np.isfinite(sums) & (sums > 0)
        at: dict[str, list[int]] = {}
        for row in np.flatnonzero(whole).tolist():
            at.setdefault(self.words[row], []).append(row)
        return at, [self.words[row] for row in np.flatnonzero(~whole).tolist()]


@dataclass(frozen=True)
class Writer:
    """How vectors are written in a format.

    Attributes
    ----------
    write : callable
        Takes an open file, the words, and the vectors, one row for each word.
    blanks : bool
        Whether words may contain blanks.
    compressed : bool
        Whether a file may also be written compressed, with ``.gz``.
    """

    write: Callable[[Opened, Sequence[str], np.ndarray], None]
    blanks: bool = False
    compressed: bool = True


@dataclass(frozen=True)
class Format:
    """A format of vector files.

    Attributes
    ----------
    name : str
        The format.
    suffixes : tuple of str
        Endings that are no part of a name. The content tells the format.
    recognize : callable
        `Head` -> `Layout`, or None if the file is of another format.
    read : callable
        `Reading` -> `Rows`.
    sparse : bool
        Whether reading skips most of a large file, so that hashing it would take longer.
    writer : Writer or None
        How vectors are written; None if the format is only read.
    """

    name: str
    suffixes: tuple[str, ...]
    recognize: Callable[[Head], Layout | None]
    read: Callable[[Reading], Rows]
    sparse: bool = False
    writer: Writer | None = None


def starting_with(*magic: bytes, packed: bool = False) -> Callable[[Head], Layout | None]:
    """Recognize a file by its first bytes, if need be also a compressed one."""

    def recognize(head: Head) -> Layout | None:
        known = head.start.startswith(magic) and (packed or not head.compressed)
        return Layout() if known else None

    return recognize


def gather(
    reading: Reading,
    blocks: Iterable[Block],
    dtype: Any,
    unit: str = "row",
    dim: int = 0,
) -> Rows:
    """Keep the wanted words of a source.

    Parameters
    ----------
    reading : Reading
    blocks : iterable of Block
        A line to skip has b"" in place of its word, and None in place of its row.
    dtype : dtype
    unit : str
        What a place is called.
    dim : int
        Length of a row, where it is not that of the layout.
    """
    keys = None
    encoding = given_encoding() or LATIN
    if reading.wanted is not None:
        keys = {word.encode() for word in reading.wanted}
        keys |= {word.encode(encoding, "replace") for word in reading.wanted}  # of old files
        keys |= {b"\n" + word for word in keys}  # word2vec.c ends a binary record with a newline
    is_wanted = bool if keys is None else (keys - {b""}).__contains__
    found: list[str] = []
    places: list[int] = []
    sample: list[bytes] = []
    tried = False
    marks = Marks()
    foreign = _ForeignWords()
    vectors, place, empty = np.empty((0, dim or reading.layout.dim), dtype), 0, 0
    for words, rows_of in blocks:
        marks.count(word.removeprefix(b"\n") for word in words)
        foreign.count(words)
        if not found and len(sample) < _MOST_SAMPLED:
            sample += words
        chosen = []
        if keys is None or not keys.isdisjoint(words):
            chosen = list(itertools.compress(range(len(words)), map(is_wanted, words)))
        tried = tried or bool(chosen)
        rows = rows_of(chosen) if chosen else []
        kept = [(i, row) for i, row in zip(chosen, rows, strict=True) if row is not None]
        if kept:
            chosen_words = [words[i].removeprefix(b"\n") for i, _ in kept]
            found += [decoded(word, encoding) for word in chosen_words]
            foreign.read += [word for word in chosen_words if not is_utf8(word)]
            places += [place + i + 1 for i, _ in kept]
            vectors.resize((len(found), vectors.shape[1]), refcheck=False)
            vectors[-len(kept) :] = [row for _, row in kept] if len(kept) < len(rows) else rows
        place += len(words)
        empty += 0 if unit == "record" else words.count(b"")  # no record is skipped
    count, skipped = place - empty, reading.skipped
    if reading.first and ((tried and not found) or len(skipped) > count):
        hint = "if the header is wrong, delete line 1" if reading.layout.count else None
        raise reading.first[0].retold(hint=hint)
    notes = [f"skipped {number_of(len(skipped), unit)} ({some(skipped, 4)})"] if skipped else []
    if reading.layout.count not in (None, count):
        stated = f"states {reading.layout.count:,} words, and the file has {count:,}"
        if reading.strict:
            problem = f"expected as many words as its header states, got others: it {stated}"
            raise InputError(problem, where=reading.path)
        notes.append(f"the header of {reading.path.name} {stated}")
    likely = None
    if foreign.words and given_encoding() is None:
        likely = likely_encoding(foreign.words, reading.asked)
        notes += foreign.notes(likely)
    shown_in = likely or encoding
    keys_of_file = [] if found else [decoded(word, shown_in) for word in sample if word]
    return Rows(
        found, vectors, places, count, notes=notes, sample=keys_of_file, marks=marks,
        encoding=likely,
    )  # fmt: skip


@dataclass
class _ForeignWords:
    """The words of a source that are not UTF-8.

    Attributes
    ----------
    seen : int
        How many words were looked at.
    words : list of bytes
        Those among them that are not UTF-8.
    read : list of bytes
        The wanted words that are not UTF-8.
    """

    seen: int = 0
    words: list[bytes] = field(default_factory=list)
    read: list[bytes] = field(default_factory=list)

    def count(self, words: Sequence[bytes]) -> None:
        """Look at a block of words, until enough were seen."""
        if self.seen >= _MOST_SAMPLED:
            return
        self.seen += len(words)
        if not is_utf8(b" ".join(words)):
            self.words += [word for word in words if not is_utf8(word)]

    def notes(self, likely: str | None) -> list[str]:
        """Say in which encoding words were read, or that another one reads them."""
        if likely not in (None, LATIN) and len(self.words) >= _FEW_FOREIGN * self.seen:
            example = self.words[0].decode(likely, "replace")
            return [
                f"{number_of(len(self.words), 'word')} are not UTF-8, and --encoding {likely} "
                f"(encoding=) would read them ({example})"
            ]
        if not self.read:
            return []
        count, words = number_of(len(self.read), "word"), [decoded(word) for word in self.read]
        are = "is" if len(self.read) == 1 else "are"
        return [f"{count} {are} not UTF-8, and read as Latin-1 (Windows-1252): {some(words, 4)}"]


def decoded(word: bytes, encoding: str = LATIN) -> str:
    """Return a word; one that is not UTF-8 is read in another encoding."""
    try:
        return word.decode()
    except UnicodeDecodeError:
        return word.decode(encoding, "replace")


def is_number(text: str | bytes) -> bool:
    """Whether a text spells a number; 1_000 does not."""
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in str(text)
