"""Readers of sentence vectors computed elsewhere: npz, HDF5 and Parquet. Nothing is unpickled."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from bayesbias.errors import InputError, nearest


def _lacks(path: Path, what: str, found: Iterable[str]) -> InputError:
    found = list(found)
    return InputError(
        f"lacks the {what}", where=path, found=", ".join(found), valid="sentences, vectors",
        hint=nearest(what.split()[-1], found),
    )  # fmt: skip


def _strings(values: Iterable[Any], path: Path) -> list[str]:
    out = []
    for row, value in enumerate(values, start=1):
        try:
            text = value.decode("utf-8") if isinstance(value, bytes) else value
        except UnicodeDecodeError:
            text = None
        if not isinstance(text, str):
            raise InputError(
                "is not a sentence", where=f"{path}, row {row} of sentences", found=value, valid="text"
            )
        out.append(str(text))
    return out


def read_npz(path: Path) -> tuple[list[str], np.ndarray]:
    import zipfile

    try:
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as arrays:
            for what in ("sentences", "vectors"):
                if what not in arrays.files:
                    raise _lacks(path, f"array {what}", arrays.files)
            sentences, vectors = arrays["sentences"], arrays["vectors"]
    except InputError:
        raise
    except (ValueError, OSError, EOFError, zipfile.BadZipFile) as error:
        if "pickle" in str(error).lower() or "object arrays" in str(error).lower():
            raise InputError(
                "holds an array of objects, which is a pickle; loading it could run code from the file",
                where=path,
                valid="sentences as text: np.array([...]) of str; vectors as numbers of shape (n, d)",
            ) from None
        raise InputError(f"cannot be read as .npz: {error}", where=path) from error
    except AttributeError:
        raise InputError(
            "is one array, not an .npz file", where=path, valid="arrays sentences and vectors"
        ) from None
    if sentences.ndim != 1 or sentences.dtype.kind not in "US":
        found = f"shape {sentences.shape}, type {sentences.dtype}"
        raise InputError("sentences are not text", where=path, found=found, valid="shape (n,), type str")
    return _strings(sentences.tolist(), path), vectors


def read_hdf5(path: Path) -> tuple[list[str], np.ndarray]:
    import h5py

    try:
        with h5py.File(path, "r") as file:
            for what in ("sentences", "vectors"):
                if not isinstance(file.get(what), h5py.Dataset):
                    raise _lacks(path, f"dataset {what}", file)
            sentences = file["sentences"]
            if sentences.ndim != 1 or h5py.check_string_dtype(sentences.dtype) is None:
                found = f"shape {sentences.shape}, type {sentences.dtype}"
                raise InputError(
                    "sentences are not text", where=path, found=found, valid="shape (n,), UTF-8 strings"
                )
            return _strings(sentences[:].tolist(), path), np.asarray(file["vectors"][...])
    except OSError as error:
        raise InputError(f"cannot be read as HDF5: {error}", where=path) from error


def read_parquet(path: Path) -> tuple[list[str], np.ndarray]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path)
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"cannot be read as Parquet: {error}", where=path) from error
    for what in ("sentences", "vectors"):
        if what not in table.column_names:
            raise _lacks(path, f"column {what}", table.column_names)
    sentences = _strings(table.column("sentences").to_pylist(), path)
    column = table.column("vectors").combine_chunks()
    nested = pa.types.is_list(column.type) or pa.types.is_large_list(column.type)
    nested = nested or pa.types.is_fixed_size_list(column.type)
    numbers = nested and (
        pa.types.is_floating(column.type.value_type) or pa.types.is_integer(column.type.value_type)
    )
    if not numbers or column.null_count:
        raise InputError("vectors are not lists of numbers", where=path, found=str(column.type))
    flat = column.flatten()
    lengths = {len(row) for row in column}
    if len(lengths) != 1 or flat.null_count:
        found = f"lengths {sorted(lengths)[:5]}, {flat.null_count} empty numbers"
        raise InputError("vectors are not all of one dimension", where=path, found=found)
    return sentences, flat.to_numpy(zero_copy_only=False).reshape(len(sentences), -1)
