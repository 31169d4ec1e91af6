"""What a file is that is no text in UTF-8, told from its first bytes: a spreadsheet, an archive, a pickle."""

from __future__ import annotations

import codecs
import re
from typing import NamedTuple

from bayesbias.core.unpacking import compression_of

# The marks that UTF-16 and UTF-32 begin with; of the latter first, since it begins with the former.
_OTHER_MARKS = (
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)
_WIDE = re.compile(rb"([\t\n\r -~]\0){4}|(\0[\t\n\r -~]){4}")  # UTF-16 that has no mark
_KINDS = (
    (re.compile(rb"\x80[\x02-\x05]"), "a pickle", "pickles can run code and are not read; save it as text"),
    (re.compile(rb"\x89HDF|CDF[\x01\x02\x05]"), "netCDF", "a fit is read with load_fit"),
    (re.compile(rb"ARROW1"), "a Feather file", "save it as text"),
    (re.compile(rb"PAR1"), "Parquet by its content", "save it as text"),
    (re.compile(rb"\xd0\xcf\x11\xe0"), "an old Excel file", "save it as text"),
    (re.compile(rb"\x93NUMPY"), "a NumPy array", "save it as text"),
    (re.compile(rb"SQLite format 3\0"), "an SQLite database", "save it as text"),
    (re.compile(rb"%PDF-"), "a PDF", "save it as text"),
)


class NoText(NamedTuple):
    """What a file is, and what to do."""

    kind: str
    hint: str


def no_text(start: bytes) -> NoText | None:
    r"""Return what a file is whose first bytes say that it is no text in UTF-8; None where they do not say so.

    Examples
    --------
    >>> no_text(b"PK\x03\x04")
    NoText(kind='a zip archive (such as .xlsx or .npz)', hint='save it as text')
    >>> no_text(b"rabbi 1")
    """
    for mark, name in _OTHER_MARKS:
        if start.startswith(mark):
            return NoText(f"{name} text", "save it as UTF-8")
    if _WIDE.match(start[:8]):
        return NoText("UTF-16 text", "save it as UTF-8")
    packed = compression_of(start)
    if packed == "zip":
        return NoText("a zip archive (such as .xlsx or .npz)", "save it as text")
    if packed is not None:
        return NoText(f"packed with {packed}", "unpack it")
    return next((NoText(kind, hint) for mark, kind, hint in _KINDS if mark.match(start)), None)
