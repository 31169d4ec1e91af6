"""The readers of arrays with a list of words beside them: npz and safetensors."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection
from pathlib import Path

import numpy as np

from bayesbias.core.arrays import (
    check_list_of_texts,
    check_safetensors,
    checked_texts,
    opened_array,
    opened_arrays,
    read_exactly,
    texts_of,
)
from bayesbias.core.errors import InputError
from bayesbias.core.guarding import guarded
from bayesbias.core.texts import parse_json
from bayesbias.embeddings.readers.headers import MOST_DIMENSIONS
from bayesbias.embeddings.readers.rows import CHUNK_BYTES, Format, Gathered, Head, Kind, Reading, Rows


def read_npz(asked: Reading) -> Rows:
    """Read the arrays ``words`` (text, (n,)) and ``vectors`` (numbers, (n, d)), rows streamed."""
    path, wanted = asked.path, asked.wanted
    valid = "an .npz file with the arrays 'words' (text, one per row) and 'vectors' (numbers, two dimensions)"
    with opened_arrays(path, ("words", "vectors"), valid=valid) as archive:
        with opened_array(archive, "words", path, valid=valid) as (stream, header):
            if header.dtype.kind != "U" or len(header.shape) != 1:
                raise InputError(
                    "the array 'words' does not hold text",
                    where=path,
                    found=f"{header.dtype} {header.shape}",
                    valid="an array of strings, np.array(list_of_words)",
                )
            data = np.frombuffer(read_exactly(stream, header.size, path, valid=valid), header.dtype)
            words = texts_of(data, f"{path}, words")
        with opened_array(archive, "vectors", path, valid=valid) as (stream, header):
            shape, dtype = header.shape, header.dtype
            _check_tensor(path, shape, dtype.kind == "f" and dtype.itemsize <= 8, str(dtype), len(words))
            if header.fortran:
                read = read_exactly(stream, header.size, path, valid=valid)
                turned = np.frombuffer(read, dtype).reshape(shape[::-1]).T
                return _wanted_rows(words, wanted, shape[1], dtype.str, lambda i: turned[i])
            size = dtype.itemsize * shape[1]
            step = max(1, CHUNK_BYTES // size)
            block, first = np.empty((0, shape[1]), dtype), 0

            def row(i: int) -> np.ndarray:
                nonlocal block, first
                while i >= first + len(block):
                    first += len(block)
                    rows = min(step, shape[0] - first)
                    data = read_exactly(stream, rows * size, path, valid=valid)
                    block = np.frombuffer(data, dtype).reshape(-1, shape[1])
                    asked.tick(first * size)
                return block[i - first]

            chosen = _wanted_rows(words, wanted, shape[1], dtype.str, row)
            if len(words):
                row(len(words) - 1)  # to the end, where the checksum is looked at
            return chosen


def read_safetensors(asked: Reading) -> Rows:
    """Read the tensor ``vectors`` (n, d) and the metadata entry ``words``, a JSON list of n strings."""
    from safetensors import safe_open

    path, wanted = asked.path, asked.wanted
    valid = (
        "the tensor 'vectors' with two dimensions and the metadata entry 'words', a JSON list of its words"
    )
    types = {"F16": "<f2", "F32": "<f4", "F64": "<f8"}
    check_safetensors(path, valid=valid)
    with contextlib.ExitStack() as stack:
        with guarded(path, "the safetensors file is damaged", valid=valid):
            file = stack.enter_context(safe_open(path, framework="numpy"))
            names, facts = sorted(file.keys()), file.metadata() or {}
        if "vectors" not in names:
            raise InputError("holds no word vectors", where=path, found=names[:6], valid=valid)
        with guarded(path, "the safetensors file is damaged", valid=valid):
            part = file.get_slice("vectors")
            shape, dtype = tuple(part.get_shape()), str(part.get_dtype())
        listed, where = facts.get("words", "null"), f"{path}, the metadata entry 'words'"
        check_list_of_texts(listed, shape[0] if len(shape) == 2 and shape[1] else 0, where, valid=valid)
        words = parse_json(listed, where, as_written=True)
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            raise InputError("the metadata entry 'words' is no list of words", where=path, valid=valid)
        words = checked_texts(words, f"{path}, words")
        _check_tensor(path, shape, dtype in types, dtype, len(words))
        with guarded(path, "the safetensors file is damaged", valid=valid):
            rows = _wanted_rows(words, wanted, shape[1], types[dtype], lambda i: part[i : i + 1][0])
    asked.tick(path.stat().st_size)
    return rows


def _check_tensor(path: Path, shape: tuple[int, ...], floats: bool, dtype: str, words: int) -> None:
    if len(shape) != 2 or not floats or shape[0] != words or not 1 <= shape[1] <= MOST_DIMENSIONS:
        raise InputError(
            "'vectors' does not fit 'words'",
            where=path,
            found=f"{words} words and an array of shape {shape}, type {dtype}",
            valid="one row of floating-point numbers (16, 32 or 64 bits) per word",
        )


def _wanted_rows(
    words: list[str], wanted: Collection[str] | None, dim: int, dtype: str, row: Callable[[int], np.ndarray]
) -> Rows:
    """Gather the wanted rows of a source whose words are known, in their order."""
    keys = None if wanted is None else set(wanted)
    chosen = [i for i, word in enumerate(words) if keys is None or word in keys]
    # half precision is stored, never calculated with
    gathered = Gathered(dim, "<f8" if dtype.endswith("8") else "<f4", "row", len(chosen))
    for i in chosen:
        gathered.add(words[i], row(i), i + 1)
    return gathered.rows(len(words))


def _tells_npz(head: Head) -> Kind | None:
    return Kind(NPZ.name, False) if head.start[:4] == b"PK\x03\x04" and not head.compressed else None


def _tells_safetensors(head: Head) -> Kind | None:
    start = head.start
    length = int.from_bytes(start[:8], "little")  # of the JSON that follows
    known = len(start) > 9 and length < head.path.stat().st_size and start[8:9] == b"{"
    return Kind(SAFETENSORS.name, head.compressed) if known else None


NPZ = Format(
    name="npz",
    told_as=".npz with the arrays 'words' and 'vectors'",
    suffixes=(".npz",),
    tells=_tells_npz,
    read=read_npz,
    magic=True,
    gzipped=False,
)
SAFETENSORS = Format(
    name="safetensors",
    told_as=".safetensors with the tensor 'vectors' and the metadata entry 'words'",
    suffixes=(".safetensors",),
    tells=_tells_safetensors,
    read=read_safetensors,
    magic=True,
    gzipped=False,
)
