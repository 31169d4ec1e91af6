"""The formats of vector files, one row each, and how a file is told from its first bytes.

A new format is one file beside this one, with its reader and its `Format`, and one row of `KNOWN`.
"""

from __future__ import annotations

import codecs
import os
import re
from pathlib import Path

from bayesbias.core.errors import InputError
from bayesbias.core.wording import Shortened
from bayesbias.embeddings.readers.arrays import NPZ, SAFETENSORS
from bayesbias.embeddings.readers.binary import WORD2VEC_BINARY
from bayesbias.embeddings.readers.fasttext import FASTTEXT
from bayesbias.embeddings.readers.pickles import PICKLE
from bayesbias.embeddings.readers.rows import HEAD_BYTES, Format, Head, Kind, opened
from bayesbias.embeddings.readers.tables import TABLE
from bayesbias.embeddings.readers.text import GLOVE, WORD2VEC_TEXT

# In the order in which they are asked and named; those told by their first bytes are asked before the others.
KNOWN: tuple[Format, ...] = (
    WORD2VEC_TEXT,
    WORD2VEC_BINARY,
    TABLE,
    GLOVE,
    FASTTEXT,
    NPZ,
    SAFETENSORS,
    PICKLE,
)
_ARRAY = "a single numpy array, which holds no words"
_WITH_WORDS = "an .npz file with the arrays 'words' and 'vectors'; in Python load_embedding((words, matrix))"
_JSON = "JSON"
_OTHER_FORMATS = {
    b"BZh": "bzip2; unpack it, or compress it with gzip",
    b"\xfd7zXZ": "xz; unpack it, or compress it with gzip",
    b"\x28\xb5\x2f\xfd": "Zstandard; unpack it, or compress it with gzip",
    b"\x89HDF": "HDF5",
    b"\x93NUMPY": _ARRAY,
    b"PAR1": "Parquet",
    b"{\\rtf": "RTF; save it as plain text",
    b"{": _JSON,
}


def valid_formats() -> str:
    """Name the formats that are read, for messages."""
    packed = ", ".join(form.told_as for form in KNOWN if form.gzipped)
    *others, last = (form.told_as for form in KNOWN if not form.gzipped)
    return f"{packed} (each also gzipped), {', '.join(others)}, or {last}"


def suffixes() -> tuple[str, ...]:
    """Return the endings that vector files bear."""
    return (*dict.fromkeys(suffix for form in KNOWN for suffix in form.suffixes), ".gz")


def short_name(path: str | os.PathLike[str]) -> str:
    """Return the name of a vector file without its endings.

    Examples
    --------
    >>> short_name("data/glove.6B.50d.txt.gz")
    'glove.6B.50d'
    """
    endings = "|".join(map(re.escape, suffixes()))
    name = Path(path).name
    return re.sub(f"({endings})+$", "", name) or name


def form_named(name: str) -> Format:
    """Return the row of a format."""
    return next(form for form in KNOWN if form.name == name)


def recognise(path: Path) -> tuple[Format, Kind]:
    """Tell the format of a file from its first bytes.

    Raises
    ------
    InputError
        Where the file is empty or its format is none of `KNOWN`.
    """
    with opened(path, compressed=False) as (stream, _):
        compressed = stream.read(2) == b"\x1f\x8b"
    with opened(path, compressed) as (stream, _):
        start = stream.read(HEAD_BYTES)
    if not start.strip():
        raise InputError("is empty", where=path, found=f"{len(start)} bytes", valid=valid_formats())
    head = Head(path, start, compressed)
    for magic in (True, False):
        for form in KNOWN:
            if form.magic == magic and (kind := form.tells(head)):
                return form, kind
        if magic:
            _refuse_others(head)
    is_table = os.fspath(path).casefold().endswith((".csv", ".tsv"))
    raise InputError(
        "is not a format of word vectors known here",
        where=path,
        found=_beginning(start),
        valid="a table whose header is word, d1, d2 ... and whose rows are a word and a number for each"
        if is_table
        else valid_formats(),
    )


def _beginning(start: bytes) -> object:
    """Return how a file begins: text as text, other bytes as they are."""
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(start).removeprefix("\ufeff")
    except UnicodeDecodeError:
        return start[:40]
    first = text.lstrip("\r\n").partition("\n")[0].rstrip("\r")
    return Shortened(first) if first.replace("\t", "").isprintable() else start[:40]


def _refuse_others(head: Head) -> None:
    for magic, name in _OTHER_FORMATS.items():
        if head.start.startswith(magic):
            # A word may begin with a brace; then its line is one of a vector, and no JSON has such.
            if name == _JSON and any(form.tells(head) for form in KNOWN if not form.magic):
                return
            raise InputError(
                "is not a format of word vectors known here",
                where=head.path,
                found=name,
                valid=_WITH_WORDS if name is _ARRAY else valid_formats(),
            )
