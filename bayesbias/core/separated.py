"""Rows of separated text, one to a line: a cell that runs over lines has swallowed rows, and is refused.

Tables that are written without quoting hold words such as ``"`` and ``"hello``. Read as CSV, such a mark opens a cell that
ends at the next one, and all rows between the two are gone.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator

from bayesbias.core.errors import InputError
from bayesbias.core.guarding import guarded

QUOTED = "a quotation mark that opens a cell also closes it, and one within a cell is written twice"
"""What to do about it."""


def separated(
    lines: Iterable[str], mark: str, where: object, problem: str = "is not a table", first: int = 1
) -> Iterator[tuple[int, list[str]]]:
    r"""Yield the rows of CSV, each with the number of its line; empty lines are passed over.

    Parameters
    ----------
    lines : iterable of str
        With or without what ends them.
    mark : str
        What separates cells.
    where : object
        The file, for messages.
    problem : str
        What is said of text that is no CSV.
    first : int
        The number of the first line.

    Raises
    ------
    InputError
        For a cell that goes on in the next line, and text that is no CSV.

    Examples
    --------
    >>> list(separated(["word,d1", "", '"a,b",2'], ",", "v.csv"))
    [(1, ['word', 'd1']), (3, ['a,b', '2'])]
    >>> list(separated(["word,d1\n", '"she,1\n', 'he,2\n', '",3\n'], ",", "v.csv"))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    bayesbias.InputError: v.csv, line 2: a cell goes on in the next line; found: 'she,1'; a quotation mark that opens ...
    """
    rows = csv.reader(lines, delimiter=mark, strict=True)
    before = 0
    while True:
        begins = f"{where}, line {first + before}"
        with guarded(begins, problem, hint=QUOTED):
            row = next(rows, None)
        if row is None:
            return
        if rows.line_num > before + 1:
            cell = next((cell for cell in row if "\n" in cell or "\r" in cell), "")
            found = cell.splitlines()[0] if cell else None
            raise InputError("a cell goes on in the next line", where=begins, found=found, hint=QUOTED)
        before = rows.line_num
        if row:
            yield first + before - 1, row
