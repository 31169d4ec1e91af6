"""The readers of arrays with a list of words: npz and safetensors."""

import json
import zipfile
import zlib
from collections.abc import Callable, Collection
from pathlib import Path

import numpy as np

from bayesbias.core.errors import InputError
from bayesbias.embeddings.readers.common import (
    CHUNK_BYTES,
    MOST_DIMENSIONS,
    Format,
    Head,
    Layout,
    Reading,
    Rows,
)

_VALID_NPZ = "an .npz file with the arrays 'words' (text, one per row) and 'vectors' (numbers, two dimensions)"
_VALID_TENSORS = (
    "the tensor 'vectors' with two dimensions and the metadata entry 'words', a JSON list"
)


def read_npz(reading: Reading) -> Rows:
    """Read the arrays ``words`` (text, (n,)) and ``vectors`` (numbers, (n, d)), a block of rows at a time."""
    path = reading.path
    try:
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as archive:
            words = archive["words"]
        if words.dtype.kind != "U" or words.ndim != 1:
            raise InputError("the array 'words' does not hold text", where=path, valid=_VALID_NPZ)
        with zipfile.ZipFile(path) as archive, archive.open("vectors.npy") as stream:
            version = np.lib.format.read_magic(stream)
            header = (
                np.lib.format.read_array_header_1_0
                if version[0] == 1
                else np.lib.format.read_array_header_2_0
            )
            shape, fortran, dtype = header(stream)
            _check_shape(path, shape, dtype.kind == "f", str(dtype), len(words))
            if fortran:  # the first index runs fastest, so that all of it is read
                whole = np.frombuffer(stream.read(), dtype).reshape(shape[::-1]).T
                return _wanted_rows(
                    words.tolist(), reading.wanted, shape[1], dtype.itemsize, whole.__getitem__
                )
            step = max(1, CHUNK_BYTES // (dtype.itemsize * shape[1]))
            block, first = np.empty((0, shape[1]), dtype), 0

            def row(i: int) -> np.ndarray:
                nonlocal block, first
                while i >= first + len(block):
                    first += len(block)
                    data = stream.read(min(step, shape[0] - first) * dtype.itemsize * shape[1])
                    block = np.frombuffer(data, dtype).reshape(-1, shape[1])
                    if not len(block):
                        raise EOFError("it is truncated")
                return block[i - first]

            return _wanted_rows(words.tolist(), reading.wanted, shape[1], dtype.itemsize, row)
    except (KeyError, ValueError, EOFError, OSError, zlib.error, zipfile.BadZipFile) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"cannot be read ({error})", where=path, valid=_VALID_NPZ) from None


def read_safetensors(reading: Reading) -> Rows:
    """Read the tensor ``vectors`` (n, d) and the metadata entry ``words``, a JSON list of n strings."""
    from safetensors import SafetensorError, safe_open

    path, sizes = reading.path, {"F16": 2, "F32": 4, "F64": 8}
    try:
        with safe_open(path, framework="numpy") as file:
            part = file.get_slice("vectors")
            shape, dtype = tuple(part.get_shape()), str(part.get_dtype())
            words = json.loads((file.metadata() or {}).get("words", "null"))
            if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
                raise InputError(
                    "the metadata entry 'words' is not a list", where=path, valid=_VALID_TENSORS
                )
            _check_shape(path, shape, dtype in sizes, dtype, len(words))
            rows = _wanted_rows(
                words, reading.wanted, shape[1], sizes[dtype], lambda i: part[i : i + 1][0]
            )
    except (SafetensorError, json.JSONDecodeError, OSError) as error:
        raise InputError(f"cannot be read ({error})", where=path, valid=_VALID_TENSORS) from None
    return rows


def _check_shape(path: Path, shape: tuple[int, ...], floats: bool, dtype: str, words: int) -> None:
    if len(shape) != 2 or not floats or shape[0] != words or not 1 <= shape[1] <= MOST_DIMENSIONS:
        raise InputError(
            "'vectors' does not fit 'words'",
            where=path,
            found=f"{words} words and an array of shape {shape}, type {dtype}",
            valid="one row of floating-point numbers (16, 32 or 64 bits) per word",
        )


def _wanted_rows(
    words: list[str],
    wanted: Collection[str] | None,
    dim: int,
    itemsize: int,
    row: Callable[[int], np.ndarray],
) -> Rows:
    """Gather the wanted rows, in the order of the source."""
    first: dict[str, int] = {}
    repeats: dict[str, int] = {}
    for i, word in enumerate(words):
        if (wanted is None or word in wanted) and first.setdefault(word, i) != i:
            repeats.setdefault(word, i + 1)
    # Half precision is stored, never calculated with.
    vectors = np.empty((len(first), dim), np.float64 if itemsize == 8 else np.float32)
    for at, i in enumerate(first.values()):
        vectors[at] = row(i)
    return Rows(list(first), vectors, [i + 1 for i in first.values()], len(words), repeats=repeats)


def _recognize_npz(head: Head) -> Layout | None:
    return Layout() if head.start[:4] == b"PK\x03\x04" and not head.compressed else None


def _recognize_safetensors(head: Head) -> Layout | None:
    length = int.from_bytes(head.start[:8], "little")  # of the JSON that follows
    known = head.start[8:9] == b"{" and length < head.path.stat().st_size and not head.compressed
    return Layout() if known else None


NPZ = Format(
    name="npz",
    described_as=".npz with the arrays 'words' and 'vectors'",
    suffixes=(".npz",),
    recognize=_recognize_npz,
    read=read_npz,
)
SAFETENSORS = Format(
    name="safetensors",
    described_as=".safetensors with the tensor 'vectors' and the metadata entry 'words'",
    suffixes=(".safetensors",),
    recognize=_recognize_safetensors,
    read=read_safetensors,
)
