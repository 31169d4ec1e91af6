"""The reader of vectors as a table: CSV or TSV with a header and one row a word."""

import csv
import re
from collections.abc import Iterator, Sequence
from typing import Any

from bayesbias.core.errors import InputError
from bayesbias.core.files import blocks_of_lines
from bayesbias.embeddings.readers.common import (
    HOW_TO_SKIP,
    Format,
    Gathered,
    Head,
    Layout,
    Reading,
    Rows,
    is_number,
    opened,
    position,
    skip_bytes,
)

_WORD = ("word", "words", "token", "term", "item", "")  # "" as pandas and R write an index
_NO_DIMENSION = re.compile(
    r"(log[ _-])?freq(uenc(y|ies)|s)?|counts?|ranks?|ids?|index", re.IGNORECASE
)


def is_word_column(name: str) -> bool:
    """Whether a column of this name holds the words.

    Examples
    --------
    >>> is_word_column("Word"), is_word_column("d1")
    (True, False)
    """
    return name.strip().casefold() in _WORD


def check_dimensions(names: Sequence[str], where: object) -> None:
    """Refuse columns that are no dimension, such as a count, or *year* beside d1, d2, d3.

    Examples
    --------
    >>> check_dimensions(["d1", "d2"], "v.csv")
    >>> check_dimensions(["year", "d1", "d2"], "v.csv")
    Traceback (most recent call last):
    ...
    bayesbias.InputError: v.csv: some columns are not dimensions; found: 'year'; drop or rename them
    """
    odd = [name for name in names if _NO_DIMENSION.fullmatch(name.strip())]
    stems = [re.sub(r"\d+$", "", name) for name in names]
    usual = max(stems, key=stems.count, default="")
    numbered = [name for name, stem in zip(names, stems, strict=True) if stem == usual != name]
    if not odd and len(numbered) > 1 and 2 * len(numbered) > len(names):
        odd = [name for name in names if name not in numbered]
    if odd:
        found = ", ".join(odd)
        raise InputError(
            "some columns are not dimensions", where=where, found=found, hint="drop or rename them"
        )


def read_table(reading: Reading) -> Rows:
    """Read a table with the words in its first column and a number in each of the others."""
    layout = reading.layout
    gathered, count = Gathered(reading, "<f8", 2), 0
    with opened(reading.path) as stream:
        skip_bytes(stream, layout.start)
        blocks = blocks_of_lines(stream, reading.path)
        lines = (
            line.decode("utf-8", "surrogateescape") + "\n" for block in blocks for line in block
        )
        rows = csv.reader(lines, delimiter=layout.separator)
        next(rows)
        for row in _checked(rows, reading):
            if not any(row):
                continue
            count += 1
            where = f"{reading.path}, line {rows.line_num}"
            if len(row) != layout.dim + 1 or not row[0].strip(" \t\r\n"):
                valid = f"a word and {layout.dim} numbers, as in the header"
                raise InputError("wrong number of cells", where=where, found=len(row), valid=valid)
            word = row[0]
            if any("\udc80" <= letter <= "\udcff" for letter in word):  # bytes that are not UTF-8
                if not reading.skip_invalid:
                    raise InputError("the word is not valid UTF-8", where=where, hint=HOW_TO_SKIP)
                gathered.skipped.append(count)
            elif reading.wanted is None or word in reading.wanted:
                for cell in row[1:]:
                    if not is_number(cell.encode("utf-8", "replace")):
                        hint = "write decimals with a point" if "," in cell else None
                        raise InputError("is not a number", where=where, found=cell[:60], hint=hint)
                gathered.add(word, list(map(float, row[1:])), count)
            if count % 1000 == 0:
                reading.tick(position(stream))
    return gathered.rows(count, "line", 1)


def _checked(rows: Any, reading: Reading) -> Iterator[list[str]]:
    try:
        yield from rows
    except csv.Error as error:
        hint = "is a quotation mark left open?"
        where = f"{reading.path}, line {rows.line_num}"
        raise InputError(f"cannot be read ({error})", where=where, hint=hint) from None


def _recognize(head: Head) -> Layout | None:
    """Recognize a header whose first cell names the words, and a row of as many numbers."""
    lines = head.start[head.mark :].decode("utf-8", "replace").splitlines()[:2]
    for separator in (",", "\t", ";"):
        if len(lines) < 2 or separator not in lines[0]:
            continue
        header, first = csv.reader(lines, delimiter=separator)
        names = header[1:]
        if not is_word_column(header[0]) or not names:
            continue
        # Columns may be numbered, as pandas does; a header that holds other numbers is a row of vectors.
        numbered = names in ([str(i + start) for i in range(len(names))] for start in (0, 1))
        if not numbered and all(is_number(name.encode()) for name in names):
            continue
        cells = [cell.strip().replace(",", ".").encode() for cell in first[1:]]
        if len(cells) == len(names) and all(map(is_number, cells)):
            check_dimensions(names, head.path)
            return Layout(len(names), None, head.mark, separator)
    return None


FORMAT = Format(
    name="CSV or TSV",
    described_as="CSV or TSV with a header word, d1, d2 (text, binary and tables also gzipped)",
    suffixes=(".csv", ".tsv"),
    recognize=_recognize,
    read=read_table,
)
