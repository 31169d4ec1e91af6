"""The formats of vector files: one reader a format, and how a format is told from the first bytes.

A new format is one file beside this one and one line in `KNOWN`.
"""

import io
import os
import re
from pathlib import Path

from bayesbias.core.errors import InputError
from bayesbias.core.files import opened
from bayesbias.core.formatting import Shortened
from bayesbias.embeddings.readers import arrays, binary, fasttext, tables, text
from bayesbias.embeddings.readers.common import Format, Head, Layout

PICKLE = Format(
    name="pickle",
    described_as="a gensim .kv or .model with allow_pickle=True",
    suffixes=(".kv", ".model"),
    recognize=lambda head: Layout() if re.match(b"\x80[\2-\5]", head.start) else None,
    read=None,  # by gensim, for those who trust the file
)

# In the order in which they are tried.
KNOWN: tuple[Format, ...] = (
    fasttext.FORMAT,
    arrays.NPZ,
    arrays.SAFETENSORS,
    PICKLE,
    text.WORD2VEC,
    binary.FORMAT,
    tables.FORMAT,
    text.GLOVE,
)
_OTHERS = {
    b"\x28\xb5\x2f\xfd": "Zstandard; unpack it, or compress it with gzip",
    b"\x89HDF": "HDF5",
    b"\x93NUMPY": "a numpy array without words; pass (words, matrix)",
    b"PAR1": "Parquet; pass pandas.read_parquet(file)",
    b"{": "JSON",
}
_HEAD_BYTES = 1 << 20


def valid_formats() -> str:
    """Name the formats, for messages."""
    return ", ".join(form.described_as for form in KNOWN)


def suffixes() -> tuple[str, ...]:
    """Return the usual endings of vector files."""
    return (*dict.fromkeys(suffix for form in KNOWN for suffix in form.suffixes), ".gz")


def short_name(path: str | os.PathLike[str]) -> str:
    """Return the name of a vector file without its endings.

    Examples
    --------
    >>> short_name("data/glove.6B.50d.txt.gz")
    'glove.6B.50d'
    """
    name = Path(path).name
    return re.sub(f"({'|'.join(map(re.escape, suffixes()))})+$", "", name) or name


def recognized(path: Path) -> tuple[Format, Layout, bool]:
    """Return the format of a file, its layout, and whether it is compressed."""
    with opened(path, unpack=True, noun="vector file", buffering=0) as stream:
        head = Head(path, stream.read(_HEAD_BYTES), compressed=not isinstance(stream, io.RawIOBase))
    if not head.start.strip():
        raise InputError("is empty", where=path, valid=valid_formats())
    for form in KNOWN:
        if layout := form.recognize(head):
            return form, layout, head.compressed
    first = head.start.partition(b"\n")[0].decode("utf-8", "replace").strip()
    other = next((name for magic, name in _OTHERS.items() if head.start.startswith(magic)), None)
    raise InputError(
        "is not a known format of word vectors",
        where=path,
        found=other or (Shortened(first) if first.isprintable() else head.start[:20]),
        valid=valid_formats(),
    )
