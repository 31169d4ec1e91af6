"""The reader of vectors as a table: CSV or TSV with a header and one row a word."""

import csv
import itertools
import re
from collections.abc import Iterator, Sequence

from bayesbias.core.errors import InputError
from bayesbias.core.files import blocks_of_lines, guarded
from bayesbias.embeddings.readers.common import (
    Block,
    Format,
    Head,
    Layout,
    Reading,
    Rows,
    gather,
    is_number,
)

_WORD = ("word", "words", "token", "term", "item", "")  # "" as pandas and R write an index
_NO_DIMENSION = re.compile(r"(?i)(log[ _-])?freq(uenc(y|ies)|s)?|counts?|ranks?|ids?|index")


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
        problem, hint = "some columns are not dimensions", "drop or rename them"
        raise InputError(problem, where=where, found=", ".join(odd), hint=hint)


def read_table(reading: Reading) -> Rows:
    """Read a table with the words in its first column and a number in each of the others."""
    return gather(reading, _blocks(reading), "<f8", "line", 1)


def _blocks(reading: Reading) -> Iterator[Block]:
    dim = reading.layout.dim
    rows: list[tuple[int, list[str]]] = []

    def rows_of(chosen: list[int]) -> list[list[float]]:
        for number, row in map(rows.__getitem__, chosen):
            for cell in row[1:]:
                if not is_number(cell.encode("utf-8", "replace")):
                    where = f"{reading.path}, line {number}"
                    hint = "write decimals with a point" if "," in cell else None
                    raise InputError("is not a number", where=where, found=cell[:60], hint=hint)
        return [list(map(float, rows[i][1][1:])) for i in chosen]

    with reading.opened() as stream, guarded(reading.path, hint="is a quotation mark left open?"):
        lines = (
            line.decode("utf-8", "surrogateescape") + "\n"  # a word that is not UTF-8 is met later
            for block in blocks_of_lines(stream, reading.path)
            for line in block
        )
        table = csv.reader(lines, delimiter=reading.layout.separator)
        next(table)
        numbered = ((table.line_num, row) for row in table if any(row))
        while rows := list(itertools.islice(numbered, 1000)):
            for number, row in rows:
                if len(row) != dim + 1 or not row[0].strip():
                    where, valid = f"{reading.path}, line {number}", f"a word and {dim} numbers"
                    problem = "wrong number of cells"
                    raise InputError(problem, where=where, found=len(row), valid=valid)
            yield [row[0].encode("utf-8", "surrogateescape") for _, row in rows], rows_of
            reading.told(stream)


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
