"""The reader of vectors as a table: CSV or TSV with a header, one row a word, as pandas, R and spreadsheets write them."""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from bayesbias.core import checks
from bayesbias.core.errors import InputError
from bayesbias.core.lines import blocks_of_lines
from bayesbias.core.separated import separated
from bayesbias.embeddings.readers.rows import (
    CHUNK_BYTES,
    HOW_TO_SKIP,
    Format,
    Gathered,
    Head,
    Kind,
    Reading,
    Rows,
    is_number,
    opened,
    room_for_rows,
    skip_bytes,
)
from bayesbias.embeddings.readers.text import LONGEST_NUMBER, LONGEST_TOKEN

_WORD = ("word", "words", "token", "term", "item", "")
"""What the column of words is called; in what pandas and R write it may have no name."""
_MARKS = (",", "\t", ";")
_NO_DIMENSION = frozenset(
    (
        "count",
        "counts",
        "freq",
        "freqs",
        "frequency",
        "frequencies",
        "log_frequency",
        "rank",
        "ranks",
        "id",
        "ids",
        "index",
    )
)
_NUMBERED = re.compile(r"(.*?)(\d{1,9})", re.DOTALL)


def is_word_column(name: str) -> bool:
    """Whether a column of this name holds the words.

    Examples
    --------
    >>> is_word_column("Word"), is_word_column("d1")
    (True, False)
    """
    return name.strip().casefold() in _WORD


def check_dimensions(names: Sequence[str], where: object, how_to_drop: str) -> None:
    """Refuse columns that are no dimension: by their name, or as they stand outside of the one numbered series of the others.

    Parameters
    ----------
    names : sequence of str
        Of all columns but that of the words.
    where : object
    how_to_drop : str
        With the place ``{}`` for their names.

    Examples
    --------
    >>> check_dimensions(["d1", "d2"], "v.csv", "drop {}")
    >>> check_dimensions(["year", "d1", "d2"], "v.csv", "drop {} from the file")
    Traceback (most recent call last):
    ...
    bayesbias.InputError: v.csv: the column 'year' is no dimension beside d1 to d2; drop 'year' from the file
    """
    odd = [name for name in names if re.sub(r"[\s-]+", "_", name.strip().casefold()) in _NO_DIMENSION]
    series = _series(names)
    if not odd and series:
        inside = set(series)
        rest = [name for name in names if name not in inside]
        odd = [] if len(rest) >= len(series) or _series(rest) else rest
    if not odd:
        return
    others = [name for name in series if name not in odd]
    beside = f" beside {others[0]} to {others[-1]}" if others else " of a vector"
    raise InputError(
        f"the column {odd[0]!r} is no dimension{beside}",
        where=where,
        found=", ".join(odd) if len(odd) > 1 else None,
        hint=how_to_drop.format(repr(odd[0] if len(odd) == 1 else odd)),
    )


def _series(names: Sequence[str]) -> list[str]:
    """Return the longest run of names that are one text and the numbers from 0 or 1 on, if there is one of two or more."""
    runs: dict[str, dict[int, str]] = {}
    for name in names:
        found = _NUMBERED.fullmatch(name)
        if found and (not found[1] or not is_number(name.encode())):
            runs.setdefault(found[1], {})[int(found[2])] = name
    best = max(runs.values(), key=len, default={})
    numbers = sorted(best)
    if len(best) < 2 or numbers[0] not in (0, 1) or numbers[-1] - numbers[0] != len(best) - 1:
        return []
    return [best[number] for number in numbers]


def read_table(asked: Reading) -> Rows:
    """Read a table with the words in its first column and a number in each of the others."""
    path, kind, wanted = asked.path, asked.kind, asked.wanted
    gathered = Gathered(kind.dim, "<f8", "line", room_for_rows(path, kind, wanted, 2))
    count, skipped = 0, []
    with opened(path, kind.compressed) as (stream, position):
        skip_bytes(stream, kind.start)
        for line, row in separated(_texts(stream, path, kind.dim), _mark_of(kind), path):
            if line == 1:
                checks.distinct([cell.strip() for cell in row[1:]], "a column", path)
                continue
            if not any(cell.strip() for cell in row):
                continue
            where = f"{path}, line {line}"
            if len(row) != kind.dim + 1:
                valid = f"{kind.dim + 1}, as in the header"
                raise InputError("wrong number of cells", where=where, found=len(row), valid=valid)
            word = row[0]
            if "\udc80" <= max(word, default="") <= "\udcff":  # bytes that are no UTF-8
                if not asked.skip_invalid:
                    raise InputError("the word is not valid UTF-8", where=where, hint=HOW_TO_SKIP)
                skipped.append(f"line {line}")
                continue
            if not word.strip(" \t\r\n"):  # other blanks are words: crawled text holds such tokens
                raise InputError("the word is missing", where=where, valid="a word and its numbers")
            count += 1
            if wanted is None or word in wanted:
                gathered.add(word, _numbers(row[1:], where), line)
            if count % 1000 == 0:
                asked.tick(position())
    out = gathered.rows(count)
    out.skipped = skipped
    return out


def _texts(stream: BinaryIO, path: Path, dim: int) -> Iterator[str]:
    longest = LONGEST_TOKEN + LONGEST_NUMBER * (dim + 1)
    for lines in blocks_of_lines(stream, path, most=longest, chunk=CHUNK_BYTES):
        for line in lines:
            yield line.decode("utf-8", "surrogateescape") + "\n"


def _numbers(cells: Iterable[str], where: str) -> list[float]:
    out = []
    for cell in cells:
        if not is_number(cell.encode("utf-8", "replace")):
            hint = "decimal comma? write it with a point" if "," in cell else None
            raise InputError("is not a number", where=where, found=cell[:60], valid="numbers", hint=hint)
        out.append(float(cell))
    return out


def _mark_of(kind: Kind) -> str:
    return next(mark for mark in _MARKS if kind.format == _called(mark))


def _called(mark: str) -> str:
    return {",": "CSV", "\t": "TSV", ";": "CSV with semicolons"}[mark]


def _tells(head: Head) -> Kind | None:
    """Tell a table by its header, whose first cell names the words, and by the numbers in its next row."""
    lines = head.start[head.mark :].split(b"\n")
    if len(lines) < 2 or b"\0" in lines[0]:
        return None
    for mark in _MARKS:
        if mark.encode() not in lines[0]:
            continue
        rows = csv.reader(
            io.StringIO(b"\n".join(lines[:2]).decode("utf-8", "replace"), newline=""), delimiter=mark
        )
        try:
            header, *rest = itertools.islice(rows, 2)
        except (csv.Error, ValueError):
            continue
        # A lone carriage return ends a row, too: one of nothing, or of the word alone.
        if not rest or len(header) < 2 or not is_word_column(header[0]):
            continue
        names, cells = header[1:], rest[0][1:]
        # A header as of a table of vectors is one: what is wrong with the first row is said when that is read.
        clear = bool(header[0].strip()) and len(_series(names)) == len(names) > 1
        if not clear and (
            len(cells) != len(names)
            or not all(is_number(cell.strip().replace(",", ".").encode()) for cell in cells)
        ):
            continue
        check_dimensions(names, head.path, "drop {} from the file")
        # Columns may be numbered, as pandas does; a header that holds other numbers is a row of vectors.
        numbered = names in ([str(i + first) for i in range(len(names))] for first in (0, 1))
        if not numbered and any(is_number(name.encode()) for name in names):
            continue
        return Kind(_called(mark), head.compressed, len(names), None, head.mark)
    return None


TABLE: Format = Format(
    name="table of vectors",
    told_as="CSV or TSV with a header word, d1, d2",
    suffixes=(".csv", ".tsv"),
    tells=_tells,
    read=read_table,
)
