"""Lines of a stream, none of them longer than such files have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from bayesbias.core.errors import InputError

MOST_LINE = 1 << 24  # bytes
_CHUNK = 1 << 22


def blocks_of_lines(
    stream: BinaryIO, where: object, *, most: int = MOST_LINE, chunk: int = _CHUNK, before: int = 0
) -> Iterator[list[bytes]]:
    r"""Give the lines of a stream, some megabytes of them at a time, without their newlines.

    Parameters
    ----------
    stream : binary stream
    where : object
        The file, for messages.
    most : int
        Bytes that a line may have. What is read of a longer one is little more than that.
    chunk : int
        Bytes that are read at a time.
    before : int
        How many lines of the file were read before, for messages.

    Raises
    ------
    InputError
        Where a line is longer.

    Examples
    --------
    >>> import io
    >>> list(blocks_of_lines(io.BytesIO(b"a\nb\n"), "x"))
    [[b'a', b'b']]
    """
    left, number = b"", before
    while part := stream.read(chunk):
        lines = (left + part).split(b"\n")
        left = lines.pop()
        number += len(lines)
        if len(left) > most:
            raise too_long(f"{where}, line {number + 1}", most)
        if len(part) > most and (long := [i for i, line in enumerate(lines) if len(line) > most]):
            raise too_long(f"{where}, line {number - len(lines) + long[0] + 1}", most)
        if lines:
            yield lines
    if left:
        yield [left]


def too_long(where: object, most: int) -> InputError:
    """Return the error for a line that no such file has."""
    return InputError(
        "the line is longer than any of such a file", where=where, valid=f"at most {most:,} bytes"
    )
