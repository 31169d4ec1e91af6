"""The readers of arrays with a list of words: npz and safetensors."""

import json
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np

from bayesbias.core.errors import InputError
from bayesbias.core.files import guarded
from bayesbias.embeddings.readers.common import (
    MOST_DIMENSIONS,
    Format,
    Head,
    Layout,
    Reading,
    Rows,
    gather,
)

_VALID_NPZ = "an .npz file with the arrays 'words' (text, one per row) and 'vectors' (numbers, two dimensions)"
_VALID_TENSORS = (
    "the tensor 'vectors' with two dimensions and the metadata entry 'words', a JSON list"
)


def read_npz(reading: Reading) -> Rows:
    """Read the arrays ``words`` (text, (n,)) and ``vectors`` (numbers, (n, d)), row by row."""
    formats = np.lib.format
    valid = guarded(reading.path, valid=_VALID_NPZ)
    with valid, zipfile.ZipFile(reading.path) as archive:
        with archive.open("words.npy") as file:
            words = formats.read_array(file, allow_pickle=False).tolist()
        with archive.open("vectors.npy") as file:
            first = formats.read_magic(file)[0] == 1
            header = formats.read_array_header_1_0 if first else formats.read_array_header_2_0
            shape, by_column, dtype = header(file)
            start, size = file.tell(), dtype.itemsize * shape[-1]
            whole = np.frombuffer(file.read() if by_column else b"", dtype)

            def row(i: int) -> np.ndarray:
                if by_column:
                    return whole[i :: shape[0]]
                file.seek(start + i * size)
                return np.frombuffer(file.read(size), dtype)

            return _rows(reading, words, shape, dtype, row)


def read_safetensors(reading: Reading) -> Rows:
    """Read the tensor ``vectors`` (n, d) and the metadata entry ``words``, a JSON list of n strings."""
    from safetensors import safe_open

    valid = guarded(reading.path, valid=_VALID_TENSORS)
    with valid, safe_open(reading.path, framework="numpy") as file:
        words = json.loads(file.metadata()["words"])
        part = file.get_slice("vectors")
        dtype = {"F16": "f2", "F32": "f4", "F64": "f8"}.get(str(part.get_dtype()), "i8")
        shape = tuple(part.get_shape())
        return _rows(reading, words, shape, np.dtype(dtype), lambda i: part[i : i + 1][0])


def _rows(
    reading: Reading,
    words: list[Any],
    shape: tuple[int, ...],
    dtype: np.dtype,
    row: Callable[[int], np.ndarray],
) -> Rows:
    fits = len(shape) == 2 and shape[0] == len(words) and 1 <= shape[1] <= MOST_DIMENSIONS
    if not fits or dtype.kind != "f" or not all(isinstance(word, str) for word in words):
        raise InputError(
            "'vectors' does not fit 'words'",
            where=reading.path,
            found=f"{len(words)} words and an array of shape {shape}, type {dtype}",
            valid="one row of floating-point numbers per word",
        )
    block = ([word.encode() for word in words], lambda chosen: [row(i) for i in chosen])
    # Half precision is stored, never calculated with.
    return gather(reading, [block], "<f8" if dtype.itemsize == 8 else "<f4", dim=shape[1])


def _recognize_safetensors(head: Head) -> Layout | None:
    length = int.from_bytes(head.start[:8], "little")  # of the JSON that follows
    known = head.start[8:9] == b"{" and length < head.path.stat().st_size and not head.compressed
    return Layout() if known else None


NPZ = Format(
    name="npz",
    described_as=".npz with the arrays 'words' and 'vectors'",
    suffixes=(".npz",),
    recognize=lambda head: (
        Layout() if head.start[:4] == b"PK\x03\x04" and not head.compressed else None
    ),
    read=read_npz,
)
SAFETENSORS = Format(
    name="safetensors",
    described_as=".safetensors with the tensor 'vectors' and the metadata entry 'words'",
    suffixes=(".safetensors",),
    recognize=_recognize_safetensors,
    read=read_safetensors,
)
