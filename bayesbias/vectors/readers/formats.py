"""The formats of vector files, and how each is told from the first bytes of a file."""

from __future__ import annotations

import collections
import itertools
import re
import struct
from pathlib import Path

from bayesbias.basics.errors import InputError
from bayesbias.vectors.readers.rows import HEAD_BYTES, Kind, is_number, opened

FORMATS = (
    "word2vec text or binary, GloVe text, fastText .vec or .bin (each also gzipped), .npz with the arrays "
    "'words' and 'vectors', .safetensors with the tensor 'vectors' and the metadata entry 'words', or a "
    "gensim .kv or .model with allow_pickle=True"
)
_FASTTEXT_MAGIC = 793712314
_MOST_DIMENSIONS = 100_000
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f]")
_HEADER = re.compile(rb"\s*(\d+)[ \t]+(\d+)\s*\Z")
_OTHER_FORMATS = {
    b"BZh": "bzip2; unpack it, or compress it with gzip",
    b"\xfd7zXZ": "xz; unpack it, or compress it with gzip",
    b"\x28\xb5\x2f\xfd": "Zstandard; unpack it, or compress it with gzip",
    b"\x89HDF": "HDF5",
    b"\x93NUMPY": "a single numpy array, which holds no words",
    b"PAR1": "Parquet",
    b"{": "JSON",
}


def recognise(path: Path) -> Kind:
    """Tell the format of a file from its first bytes.

    Raises
    ------
    InputError
        Where the file is empty or its format is not one of `FORMATS`.
    """
    with opened(path, compressed=False) as (stream, _):
        compressed = stream.read(2) == b"\x1f\x8b"
    with opened(path, compressed) as (stream, _):
        head = stream.read(HEAD_BYTES)
    if not head.strip():
        raise InputError("is empty", where=path, found=f"{len(head)} bytes", valid=FORMATS)
    if head[:4] == struct.pack("<i", _FASTTEXT_MAGIC):
        return Kind("fastText binary", compressed)
    if head[:1] == b"\x80" and head[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05"):
        return Kind("pickle", compressed)
    if head[:4] == b"PK\x03\x04" and not compressed:
        return Kind("npz", compressed)
    if len(head) > 9 and int.from_bytes(head[:8], "little") < path.stat().st_size and head[8:9] == b"{":
        return Kind("safetensors", compressed)
    for magic, name in _OTHER_FORMATS.items():
        if head.startswith(magic) and not (magic == b"{" and head[1:2] == b" "):
            raise InputError(
                "is not a format of word vectors known here", where=path, found=name, valid=FORMATS
            )
    return _text_or_binary(path, head, compressed)


def _text_or_binary(path: Path, head: bytes, compressed: bool) -> Kind:
    bom = 3 if head.startswith(b"\xef\xbb\xbf") else 0
    first, _, rest = head[bom:].partition(b"\n")
    header = _HEADER.match(first)
    if header:
        count, dim = int(header[1]), int(header[2])
        start = bom + len(first) + 1
        if count < 1 or not 1 <= dim <= _MOST_DIMENSIONS:
            raise InputError(
                "the header names no vectors",
                where=f"{path}, line 1",
                found=first.decode("ascii").strip(),
                valid=f"how many words (1 or more) and how many dimensions (1 to {_MOST_DIMENSIONS})",
            )
        sample = rest[:4096].partition(b" ")[2]
        plain = sum(byte in b"0123456789.eE+- \t\r\n" for byte in sample)
        text = not _CONTROL.search(sample) and 2 * plain >= len(sample)
        return Kind("word2vec text" if text else "word2vec binary", compressed, dim, count, start)
    lines = head[bom:].split(b"\n")
    if len(lines) > 1:  # the last may be cut
        lines.pop()
    fields = [line.split() for line in lines[:100] if line.strip()]
    if _CONTROL.search(b"".join(lines[:100])) or not any(len(f) > 1 and is_number(f[-1]) for f in fields):
        raise InputError(
            "is not a format of word vectors known here",
            where=path,
            found=head[:40],
            valid=FORMATS,
        )
    # numbers at the end of a line, most often; a token may hold blanks, but most do not end in a number
    lengths = (sum(1 for _ in itertools.takewhile(is_number, reversed(f[1:]))) for f in fields)
    dim = collections.Counter(lengths).most_common(1)[0][0]
    return Kind("GloVe text", compressed, dim, None, bom)
