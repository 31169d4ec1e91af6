"""Sentence vectors computed elsewhere, looked up in npz, HDF5 and Parquet files. Nothing is unpickled."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from bayesbias.core.arrays import names_of_arrays, read_array
from bayesbias.core.errors import InputError, nearest
from bayesbias.core.guarding import guarded
from bayesbias.core.hdf5 import read_datasets
from bayesbias.core.opening import opened, path_of, sha256_file, state_of
from bayesbias.core.parquet import read_columns
from bayesbias.core.unpacking import compression_of, opened_zip
from bayesbias.core.wording import some
from bayesbias.encoders.encoder import BuiltEncoder, Encoder

__all__ = ["vectors_encoder"]

VECTOR_FILES = (".npz", ".h5", ".hdf5", ".parquet")


def vectors_encoder(path: str | os.PathLike[str], *, name: str | None = None, options: str = "") -> Encoder:
    """Return an encoder that looks sentences up in a file of vectors computed elsewhere.

    For encoders that live in frameworks nobody installs any more. In every format the file holds n
    ``sentences`` and as many ``vectors``:

    * ``.npz``: arrays ``sentences``, shape (n,), of text, and ``vectors``, shape (n, d), of numbers;
      ``np.savez(path, sentences=np.array(sentences), vectors=vectors)``;
    * ``.h5``, ``.hdf5``: datasets of these names and shapes at the top, sentences as UTF-8;
    * ``.parquet``: a column ``sentences`` of text and a column ``vectors`` of lists of d numbers.

    Nothing is unpickled: arrays of objects are refused.

    Parameters
    ----------
    path : str or path
    name : str, optional
        Short name; by default that of the file without its ending.
    options : str
        Settings of the encoder that made the vectors, for tables.

    Returns
    -------
    Encoder
        Sentences must stand in the file letter for letter. Not cached.

    Raises
    ------
    InputError
        Where the file is not as stated, or a sentence stands there twice with different vectors; when
        encoding, where sentences are not in the file, naming them.

    Examples
    --------
    >>> from bayesbias import encode
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = Path(folder.name) / "elmo.npz"
    >>> np.savez(path, sentences=np.array(["This is Katie.", "There is love."]), vectors=np.eye(2))
    >>> encode(path, ["There is love."])
    array([[0., 1.]])
    >>> folder.cleanup()
    """
    path = path_of(path)
    kind = path.suffix.lower()
    if kind not in VECTOR_FILES:
        raise InputError(
            "is not a file of vectors", where=path, valid=VECTOR_FILES, hint=nearest(kind, VECTOR_FILES)
        )
    state_of(path, noun="file of vectors")
    read = {".npz": _read_npz, ".parquet": _read_parquet}.get(kind, _read_hdf5)
    sentences, vectors = read(path)
    if vectors.ndim != 2 or vectors.dtype.kind not in "fiu" or len(vectors) != len(sentences):
        raise InputError(
            "vectors do not fit the sentences",
            where=path,
            found=f"{len(sentences)} sentences, vectors of shape {vectors.shape} and type {vectors.dtype}",
            valid="numbers of shape (n, d), one row per sentence",
        )
    at: dict[str, int] = {}
    for row, sentence in enumerate(sentences):
        first = at.setdefault(sentence, row)
        if first != row and not np.array_equal(vectors[first], vectors[row], equal_nan=True):
            raise InputError(
                "a sentence stands twice with different vectors",
                where=f"{path}, rows {first + 1} and {row + 1}",
                found=sentence,
            )

    def run(asked: list[str]) -> np.ndarray:
        missing = [sentence for sentence in asked if sentence not in at]
        if missing:
            raise InputError(
                f"has no vector of {some(map(repr, missing), 8)}",
                where=path,
                hint=nearest(missing[0], at) if len(at) < 20_000 else None,
            )
        return vectors[[at[sentence] for sentence in asked]]

    facts = {
        "source": str(path),
        "sha256": sha256_file(path),
        "sentences": len(at),
        "dim": int(vectors.shape[1]),
        "pooling": "as in the file",
    }
    return BuiltEncoder(name or path.stem, run, options, facts, batch_size=None)


def _lacks(path: Path, what: str, names: Iterable[str]) -> InputError:
    names = list(names)
    return InputError(
        f"lacks the {what}",
        where=path,
        found=", ".join(names),
        valid="sentences, vectors",
        hint=nearest(what.split()[-1], names),
    )


def _strings(values: Iterable[Any], path: Path) -> list[str]:
    out = []
    for row, value in enumerate(values, start=1):
        try:
            text = value.decode("utf-8") if isinstance(value, bytes) else value
            if isinstance(text, str):
                text.encode()  # half a surrogate pair is no text
        except UnicodeError:
            text = None
        if not isinstance(text, str):
            raise InputError(
                "is not a sentence", where=f"{path}, row {row} of sentences", found=value, valid="text"
            )
        out.append(str(text))
    return out


def _read_npz(path: Path) -> tuple[list[str], np.ndarray]:
    with opened(path) as file:
        start = file.read(6)
    if compression_of(start) != "zip":
        what = "it is one array" if start == b"\x93NUMPY" else "it is no such file, or was cut short"
        raise InputError(f"cannot be read as .npz: {what}", where=path, valid="arrays sentences and vectors")
    valid = "sentences as text: np.array([...]) of str; vectors as numbers of shape (n, d)"
    with opened_zip(path, valid=valid) as archive:
        held = names_of_arrays(archive)
        for what in ("sentences", "vectors"):
            if what not in held:
                raise _lacks(path, f"array {what}", held)
        sentences = read_array(archive, "sentences", path, valid=valid)
        if sentences.ndim != 1 or sentences.dtype.kind not in "US":
            shape_text = f"shape {sentences.shape}, type {sentences.dtype}"
            raise InputError(
                "sentences are not text", where=path, found=shape_text, valid="shape (n,), type str"
            )
        vectors = read_array(archive, "vectors", path, valid=valid)
    with guarded(path, "the sentences are no text"):
        values = sentences.tolist()
    return _strings(values, path), vectors


def _read_hdf5(path: Path) -> tuple[list[str], np.ndarray]:
    arrays, as_text = read_datasets(path, ("sentences", "vectors"))
    sentences, vectors = arrays["sentences"], arrays["vectors"]
    if sentences.ndim != 1 or not as_text["sentences"]:
        shape_text = f"shape {sentences.shape}, type {sentences.dtype}"
        raise InputError(
            "sentences are not text", where=path, found=shape_text, valid="shape (n,), UTF-8 strings"
        )
    return _strings(sentences.tolist(), path), vectors


def _read_parquet(path: Path) -> tuple[list[str], np.ndarray]:
    import pyarrow as pa
    import pyarrow.compute as pc

    table = read_columns(path, ("sentences", "vectors"))
    with guarded(path, "cannot be read as Parquet"):
        texts = table.column("sentences").to_pylist()
        column = table.column("vectors").combine_chunks()
    sentences = _strings(texts, path)
    nested = pa.types.is_list(column.type) or pa.types.is_large_list(column.type)
    nested = nested or pa.types.is_fixed_size_list(column.type)
    numbers = nested and (
        pa.types.is_floating(column.type.value_type) or pa.types.is_integer(column.type.value_type)
    )
    if not numbers or column.null_count:
        raise InputError("vectors are not lists of numbers", where=path, found=str(column.type))
    with guarded(path, "cannot be read as Parquet"):
        flat = column.flatten()
        lengths = set(pc.list_value_length(column).to_pylist())
    if len(lengths) != 1 or flat.null_count:
        lengths_text = f"lengths {sorted(lengths)[:5]}, {flat.null_count} empty numbers"
        raise InputError("vectors are not all of one dimension", where=path, found=lengths_text)
    with guarded(path, "cannot be read as Parquet"):
        return sentences, flat.to_numpy(zero_copy_only=False).reshape(len(sentences), -1)
