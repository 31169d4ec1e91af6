"""Sentence vectors computed elsewhere, looked up in npz, HDF5 and Parquet files. Nothing is unpickled."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from bayesbias.basics.errors import InputError, nearest
from bayesbias.basics.wording import some
from bayesbias.border.opening import sha256_file
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
    path = Path(path).expanduser()
    kind = path.suffix.lower()
    if kind not in VECTOR_FILES:
        raise InputError(
            "is not a file of vectors", where=path, valid=VECTOR_FILES, hint=nearest(kind, VECTOR_FILES)
        )
    if not path.is_file():
        problem = "is a folder, not a file of vectors" if path.is_dir() else "no such file of vectors"
        beside = [other.name for other in path.parent.glob("*")] if path.parent.is_dir() else []
        raise InputError(problem, where=path, hint=nearest(path.name, beside))
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


def _lacks(path: Path, what: str, found: Iterable[str]) -> InputError:
    found = list(found)
    return InputError(
        f"lacks the {what}",
        where=path,
        found=", ".join(found),
        valid="sentences, vectors",
        hint=nearest(what.split()[-1], found),
    )


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


def _is_pickled(path: Path) -> bool:
    """Whether a file holds an array of objects, told by the headers of its arrays; or is a pickle as a whole."""
    import zipfile

    try:
        if not zipfile.is_zipfile(path):
            with open(path, "rb") as file:
                return file.read(1) == b"\x80"  # the first opcode of a pickle of protocol 2 or later
        with zipfile.ZipFile(path) as members:
            for name in members.namelist():
                with members.open(name) as member:
                    version = np.lib.format.read_magic(member)
                    read = (
                        np.lib.format.read_array_header_1_0
                        if version == (1, 0)
                        else np.lib.format.read_array_header_2_0
                    )
                    if read(member)[2].hasobject:
                        return True
    except (ValueError, OSError, EOFError, zipfile.BadZipFile):
        return False
    return False


def _read_npz(path: Path) -> tuple[list[str], np.ndarray]:
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
        if _is_pickled(path):
            raise InputError(
                "holds an array of objects, which is a pickle; loading it could run code from the file",
                where=path,
                valid="sentences as text: np.array([...]) of str; vectors as numbers of shape (n, d)",
            ) from None
        # What NumPy says of a file without a format is how to load it unsafely.
        reason = str(error) if zipfile.is_zipfile(path) else "it is no such file, or was cut short"
        raise InputError(f"cannot be read as .npz: {reason}", where=path) from error
    except AttributeError:
        raise InputError(
            "is one array, not an .npz file", where=path, valid="arrays sentences and vectors"
        ) from None
    if sentences.ndim != 1 or sentences.dtype.kind not in "US":
        shape_text = f"shape {sentences.shape}, type {sentences.dtype}"
        raise InputError("sentences are not text", where=path, found=shape_text, valid="shape (n,), type str")
    return _strings(sentences.tolist(), path), vectors


def _read_hdf5(path: Path) -> tuple[list[str], np.ndarray]:
    import h5py

    try:
        with h5py.File(path, "r") as file:
            for what in ("sentences", "vectors"):
                if not isinstance(file.get(what), h5py.Dataset):
                    raise _lacks(path, f"dataset {what}", file)
            sentences = file["sentences"]
            if sentences.ndim != 1 or h5py.check_string_dtype(sentences.dtype) is None:
                shape_text = f"shape {sentences.shape}, type {sentences.dtype}"
                raise InputError(
                    "sentences are not text", where=path, found=shape_text, valid="shape (n,), UTF-8 strings"
                )
            return _strings(sentences[:].tolist(), path), np.asarray(file["vectors"][...])
    except OSError as error:
        raise InputError(f"cannot be read as HDF5: {error}", where=path) from error


def _read_parquet(path: Path) -> tuple[list[str], np.ndarray]:
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
        lengths_text = f"lengths {sorted(lengths)[:5]}, {flat.null_count} empty numbers"
        raise InputError("vectors are not all of one dimension", where=path, found=lengths_text)
    return sentences, flat.to_numpy(zero_copy_only=False).reshape(len(sentences), -1)
