"""The pages of a Parquet file, by their own headers: what they say to unpack to, and how many values.

The footer of a file can say anything; room is made for what the header of each page says, and as many values come out as it says.
Source of the layout: the Parquet format, ``FileMetaData`` and ``PageHeader`` in ``parquet.thrift``, in Thrift's compact protocol.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

_STEP = 1 << 10  # bytes read of a header at first
_LARGEST = 1 << 20  # bytes of a header, which may hold the least and the greatest text of its page
_MOST_DEPTH, _MOST_FIELDS = 8, 100
_MANY, _SMALLEST = 10_000, 512  # pages of any file, and bytes of the file for each of the others
_SIZES = 2, 3  # fields of a header: bytes unpacked, bytes as they lie there
_DATA, _DATA_2 = 5, 8  # fields that hold the header of a page of data, of either version
_VALUES = 1
_GROUPS, _COLUMNS, _COLUMN_FACTS = 4, 1, 3  # fields of the footer, of a group of rows, of a column
_COLUMN_VALUES, _STORED, _FIRST_PAGE, _DICTIONARY = 5, 7, 9, 11  # fields of the facts of a column
_ENCODING = {_DATA: 2, _DATA_2: 4}
_BY_PREFIX = 7  # texts that repeat the beginning of the one before: a byte may be any number of bytes


@dataclass(frozen=True)
class Pages:
    """What the pages of a file say of themselves.

    Attributes
    ----------
    unpacked : int
        Bytes.
    values : int
    """

    unpacked: int
    values: int


def measured_pages(file: BinaryIO, size: int, footer: int) -> Pages:
    """Add up what the headers of all pages say; raise ValueError where they make no sense.

    Parameters
    ----------
    file : binary stream
    size : int
        Bytes of the file.
    footer : int
        Bytes of the list of columns at its end, which says where the pages of each begin.
    """
    unpacked = values = count = 0
    for column in _columns(file, size, footer):
        if column.get(_COLUMN_VALUES) == 0:  # nothing of it is read, and its places may be those of none
            continue
        at, stored = column.get(_FIRST_PAGE, -1), column.get(_STORED, -1)
        at = min(at, column.get(_DICTIONARY) or at)
        end = at + stored
        if not 0 <= at <= end <= size:
            raise ValueError("a column lies outside of the file")
        while at < end:
            count += 1
            if count > _MANY + size // _SMALLEST:
                raise ValueError("it has more pages than it has room for")
            header, length = _header(file, at, end)
            room, stored = (header.get(name, -1) for name in _SIZES)
            if min(room, stored) < 0 or at + length + stored > end:
                raise ValueError("a page is larger than the file has room for")
            for field, encoding in _ENCODING.items():
                data = header.get(field)
                if data is None:
                    continue
                if data.get(_VALUES, -1) < 0:
                    raise ValueError("a page holds fewer values than none")
                if data.get(encoding) == _BY_PREFIX:
                    raise ValueError(
                        "its texts are written by what they share, DELTA_BYTE_ARRAY, which is not read"
                    )
                values += data[_VALUES]
            unpacked += room
            at += length + stored
    return Pages(unpacked, values)


def _columns(file: BinaryIO, size: int, footer: int) -> Iterator[dict[int, Any]]:
    """Yield what the footer says of each column of each group of rows (``ColumnMetaData``).

    It is read here, since the library ends the process where a column's own facts contradict each other.
    """
    file.seek(size - 8 - footer)
    try:
        facts, _ = _struct(file.read(footer), 0, 0)
    except IndexError:
        raise ValueError("its list of columns is cut short") from None
    for group in facts.get(_GROUPS) or []:
        for column in (group or {}).get(_COLUMNS) or []:
            own = (column or {}).get(_COLUMN_FACTS)
            if not isinstance(own, dict):
                raise ValueError("it does not say where its columns lie")
            yield own


def _header(file: BinaryIO, at: int, end: int) -> tuple[dict[int, Any], int]:
    """Return the numbers of the header at a place, by their fields, and how many bytes it has."""
    step = _STEP
    while True:
        file.seek(at)
        content = file.read(min(step, end - at))
        try:
            return _struct(content, 0, 0)
        except IndexError:
            if len(content) < step or step >= _LARGEST:
                raise ValueError("a page has no whole header") from None
            step *= 32


def _struct(content: bytes, at: int, depth: int) -> tuple[dict[int, Any], int]:
    if depth > _MOST_DEPTH:
        raise ValueError("the header of a page is nested too deeply")
    out: dict[int, Any] = {}
    field = 0
    for _ in range(_MOST_FIELDS):
        start = content[at]
        at += 1
        if start == 0:
            return out, at
        if start >> 4:
            field += start >> 4
        else:
            field, at = _whole(content, at)
        out[field], at = _value(content, at, start & 15, depth)
    raise ValueError("the header of a page has very many fields")


def _value(content: bytes, at: int, kind: int, depth: int) -> tuple[Any, int]:
    """Return a number, a struct or a list of the compact protocol, None for anything else, and where it ends."""
    if kind in (1, 2):  # a truth value, which is its kind
        return None, at
    if kind == 3:
        return None, at + 1
    if kind in (4, 5, 6):
        return _whole(content, at)
    if kind == 7:
        return None, at + 8
    if kind == 8:
        length, at = _unsigned(content, at)
        if at + length > len(content):
            raise IndexError
        return None, at + length
    if kind == 9:
        return _several(content, at, depth + 1)
    if kind == 12:
        return _struct(content, at, depth + 1)
    raise ValueError("the header of a page holds what no such header does")


def _several(content: bytes, at: int, depth: int) -> tuple[list[Any], int]:
    if depth > _MOST_DEPTH:
        raise ValueError("the header of a page is nested too deeply")
    count, kind = content[at] >> 4, content[at] & 15
    at += 1
    if count == 15:
        count, at = _unsigned(content, at)
    if count > len(content) - at:  # each has a byte at least
        raise IndexError
    out = []
    for _ in range(count):
        value, at = (None, at + 1) if kind in (1, 2) else _value(content, at, kind, depth)
        out.append(value)
    return out, at


def _whole(content: bytes, at: int) -> tuple[int, int]:
    number, at = _unsigned(content, at)
    return (number >> 1) ^ -(number & 1), at


def _unsigned(content: bytes, at: int) -> tuple[int, int]:
    number = 0
    for shift in range(0, 70, 7):
        byte = content[at]
        at += 1
        number |= (byte & 127) << shift
        if byte < 128:
            return number, at
    raise ValueError("the header of a page holds a number of no width")
