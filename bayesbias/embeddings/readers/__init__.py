"""The formats of vector files: one reader a format, and how a format is told from the first bytes.

A format that is also written has a `Writer`, and is chosen by the ending of the path. A new format
is one file beside this one and one line in `KNOWN`.
"""

import dataclasses
import io
import re
from pathlib import Path

from bayesbias.core import InputError, checks, files, join_words
from bayesbias.core.formatting import literal
from bayesbias.embeddings.readers import arrays, fasttext, pickles, refused, tables, word2vec
from bayesbias.embeddings.readers.common import Format, Head, Layout, Writer

# In the order in which they are tried.
KNOWN: tuple[Format, ...] = (
    fasttext.FORMAT,
    arrays.NPY,
    arrays.NPZ,
    arrays.HDF5,
    arrays.SAFETENSORS,
    tables.COLUMNAR,
    pickles.FORMAT,
    word2vec.TEXT,
    word2vec.BINARY,
    tables.JSON,
    arrays.NUMBERS,
    tables.FORMAT,
    word2vec.GLOVE,
)
_HEAD_BYTES = 1 << 20


def suffixes() -> tuple[str, ...]:
    """Return the usual endings of vector files."""
    own = dict.fromkeys(suffix for form in KNOWN for suffix in form.suffixes)
    return (*own, ".gz", ".bz2", ".xz", ".zip")


def writer_for(path: checks.FilePath) -> tuple[Writer, bool]:
    """Return the writer of the format that an ending names, and whether to compress.

    An ending of no format is part of a name, as in ``glove.6B.50d``: that is word2vec text.

    Raises
    ------
    InputError
        If the ending is that of a format that is only read.
    """
    name = Path(path).name
    zipped = name.endswith(".gz")
    ending = Path(name.removesuffix(".gz")).suffix.lower()
    if ending not in suffixes():
        assert word2vec.TEXT.writer is not None
        return word2vec.TEXT.writer, zipped
    for form in KNOWN:
        if form.writer and ending in form.suffixes and (form.writer.compressed or not zipped):
            return form.writer, zipped
    problem = f"expected {_written_endings()}, got {ending}"
    raise InputError(problem, where=path)


def _written_endings() -> str:
    """Return the endings that vectors can be written with, in words."""
    packed: dict[str, None] = {}
    plain: dict[str, None] = {}
    for form in KNOWN:
        if form.writer is not None:
            endings = packed if form.writer.compressed else plain
            endings.update(dict.fromkeys(form.suffixes))
    return f"{join_words(packed, 'or')} (each also with .gz), or {join_words(plain, 'or')}"


def short_name(path: checks.FilePath) -> str:
    """Return the name of a vector file without its endings.

    Examples
    --------
    >>> short_name("data/glove.6B.50d.txt.gz"), short_name("glove.zip:glove.6B.50d.txt")
    ('glove.6B.50d', 'glove.6B.50d')
    """
    name = Path(files.split_member(Path(path))[1] or path).name
    return literal(re.sub(f"({'|'.join(map(re.escape, suffixes()))})+$", "", name) or name)


def recognized(path: Path, vocab: Path | None) -> tuple[Format, Layout, bool]:
    """Return the format of a file, its layout, and whether it is compressed."""
    with files.opened(path, unpack=True, kind="a file of vectors", buffering=0) as stream:
        packed = not isinstance(stream, io.RawIOBase)
        start = stream.read(_HEAD_BYTES)
    head = Head(path, start.removeprefix(b"\xef\xbb\xbf"), packed, vocab)
    if not head.start.strip():
        raise InputError("expected word vectors, got an empty file", where=path)
    refused.refuse_if_known(head)
    for form in KNOWN:
        if layout := form.recognize(head):
            mark = len(start) - len(head.start)
            return form, dataclasses.replace(layout, start=layout.start + mark), packed
    first = head.start.partition(b"\n")[0].decode("utf-8", "replace").strip()
    files.refuse_binary(start, path, "word vectors")
    if error := refused.unknown_file(head):
        raise error
    found = first if first.isprintable() else head.start[:20]
    names = ", ".join(dict.fromkeys(form.name for form in KNOWN if form is not pickles.FORMAT))
    raise InputError("expected word vectors", where=path, found=found, valid=names)
