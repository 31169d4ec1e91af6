"""The readers of arrays with a list of words beside them: npz and safetensors."""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import numpy as np

from bayesbias.basics.errors import InputError
from bayesbias.vectors.readers.rows import CHUNK_BYTES, Format, Gathered, Head, Kind, Reading, Rows


def read_npz(asked: Reading) -> Rows:
    """Read the arrays ``words`` (text, (n,)) and ``vectors`` (numbers, (n, d)), rows streamed."""
    path, wanted = asked.path, asked.wanted
    valid = "an .npz file with the arrays 'words' (text, one per row) and 'vectors' (numbers, two dimensions)"
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            if not {"words.npy", "vectors.npy"} <= set(names):
                raise InputError(
                    "is a zip file without word vectors", where=path, found=names[:6], valid=valid
                )
            with archive.open("words.npy") as member:
                shape, _, dtype = _array_header(member)
                if dtype.kind != "U" or len(shape) != 1:
                    raise InputError(
                        "the array 'words' does not hold text"
                        + (" (arrays of objects are pickles)" if dtype.hasobject else ""),
                        where=path,
                        found=f"{dtype} {shape}",
                        valid="an array of strings, np.array(list_of_words)",
                    )
                words = np.frombuffer(member.read(), dtype).reshape(shape).tolist()
            with archive.open("vectors.npy") as member:
                shape, fortran, dtype = _array_header(member)
                _check_tensor(path, shape, dtype.kind == "f", str(dtype), len(words))
                if fortran:
                    data = np.frombuffer(member.read(), dtype).reshape(shape[::-1]).T
                    return _wanted_rows(words, wanted, shape[1], dtype.str, lambda i: data[i])
                size = dtype.itemsize * shape[1]
                step = max(1, CHUNK_BYTES // size)
                block, first = np.empty((0, shape[1]), dtype), 0

                def row(i: int) -> np.ndarray:
                    nonlocal block, first
                    while i >= first + len(block):
                        first += len(block)
                        data = member.read(step * size)
                        if len(data) < min(step, shape[0] - first) * size:
                            raise InputError("the array 'vectors' is truncated", where=path, valid=valid)
                        block = np.frombuffer(data, dtype).reshape(-1, shape[1])
                    return block[i - first]

                return _wanted_rows(words, wanted, shape[1], dtype.str, row)
    except InputError:
        raise
    except (zipfile.BadZipFile, zlib.error, EOFError, ValueError) as error:
        raise InputError(f"the .npz file is damaged: {error}", where=path, valid=valid) from None
    finally:
        asked.tick(path.stat().st_size)


def _array_header(member: Any) -> tuple[tuple[int, ...], bool, np.dtype]:
    form = np.lib.format
    version = form.read_magic(member)
    return (form.read_array_header_1_0 if version == (1, 0) else form.read_array_header_2_0)(member)


def read_safetensors(asked: Reading) -> Rows:
    """Read the tensor ``vectors`` (n, d) and the metadata entry ``words``, a JSON list of n strings."""
    from safetensors import SafetensorError, safe_open

    path, wanted = asked.path, asked.wanted
    valid = (
        "the tensor 'vectors' with two dimensions and the metadata entry 'words', a JSON list of its words"
    )
    try:
        with safe_open(path, framework="numpy") as file:
            if "vectors" not in file.keys():  # noqa: SIM118 - not a mapping
                raise InputError(
                    "holds no word vectors", where=path, found=sorted(file.keys())[:6], valid=valid
                )
            try:
                words = json.loads((file.metadata() or {}).get("words", "null"))
            except json.JSONDecodeError as error:
                raise InputError(
                    f"the metadata entry 'words' is not JSON: {error}", where=path, valid=valid
                ) from None
            if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
                raise InputError("the metadata entry 'words' is no list of words", where=path, valid=valid)
            part = file.get_slice("vectors")
            types = {"F16": "<f2", "F32": "<f4", "F64": "<f8"}
            _check_tensor(
                path, tuple(part.get_shape()), part.get_dtype() in types, part.get_dtype(), len(words)
            )
            dim = part.get_shape()[1]
            return _wanted_rows(words, wanted, dim, types[part.get_dtype()], lambda i: part[i : i + 1][0])
    except SafetensorError as error:
        raise InputError(f"the safetensors file is damaged: {error}", where=path, valid=valid) from None
    finally:
        asked.tick(path.stat().st_size)


def _check_tensor(path: Path, shape: tuple[int, ...], floats: bool, dtype: str, words: int) -> None:
    if len(shape) != 2 or not floats or shape[0] != words:
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
