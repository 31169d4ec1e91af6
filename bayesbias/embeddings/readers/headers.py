"""The header of word2vec files, text and binary: how many words, and of how many dimensions."""

from __future__ import annotations

import re

from bayesbias.core.errors import InputError
from bayesbias.embeddings.readers.rows import Head, Kind

CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f]")
_HEADER = re.compile(rb"\s{0,16}(\d{1,15})[ \t]{1,16}(\d{1,15})\s{0,16}\Z")
MOST_DIMENSIONS = 100_000


def kind_of_headed(head: Head, name: str, text: bool) -> Kind | None:
    """Return what a file with a header is, if what follows the header is text (or is not)."""
    first, _, rest = head.start[head.mark :].partition(b"\n")
    header = _HEADER.match(first)
    if not header:
        return None
    count, dim = int(header[1]), int(header[2])
    if count < 1 or not 1 <= dim <= MOST_DIMENSIONS:
        raise InputError(
            "the header names no vectors",
            where=f"{head.path}, line 1",
            found=first.decode("ascii").strip(),
            valid=f"how many words (1 or more) and how many dimensions (1 to {MOST_DIMENSIONS})",
        )
    sample = rest[:4096].partition(b" ")[2]
    plain = sum(byte in b"0123456789.eE+- \t\r\n" for byte in sample)
    if text != (not CONTROL.search(sample) and 2 * plain >= len(sample)):
        return None
    return Kind(name, head.compressed, dim, count, head.mark + len(first) + 1)
