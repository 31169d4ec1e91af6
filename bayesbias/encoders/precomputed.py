"""Sentence vectors computed elsewhere, looked up in npz, HDF5 and Parquet files."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from bayesbias.core import checks
from bayesbias.core.errors import InputError, nearest, nearest_file
from bayesbias.core.files import sha256_file
from bayesbias.core.formatting import some
from bayesbias.encoders.encoder import BuiltEncoder, Encoder

__all__ = ["vectors_encoder"]

VECTOR_FILES = (".npz", ".h5", ".hdf5", ".parquet")


def vectors_encoder(
    path: str | os.PathLike[str], *, name: str | None = None, options: str = ""
) -> Encoder:
    """Return an encoder that looks sentences up in a file of vectors computed elsewhere.

    In every format the file holds n ``sentences`` and as many ``vectors``:

    * ``.npz``: arrays ``sentences``, shape (n,), of text, and ``vectors``, shape (n, d), of numbers;
      ``np.savez(path, sentences=np.array(sentences), vectors=vectors)``;
    * ``.h5``, ``.hdf5``: datasets of these names and shapes at the top, sentences as UTF-8;
    * ``.parquet``: a column ``sentences`` of text and a column ``vectors`` of lists of d numbers.

    Pickled arrays of objects are refused.

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
        Sentences must be in the file letter for letter. Not cached.

    Raises
    ------
    InputError
        If the file is not as stated, or a sentence occurs twice with different vectors; when
        encoding, if sentences are not in the file.

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
    path = Path(checks.path(path, "path")).expanduser()
    kind = path.suffix.lower()
    if kind not in VECTOR_FILES:
        hint = nearest(kind, VECTOR_FILES)
        raise InputError("is not a file of vectors", where=path, valid=VECTOR_FILES, hint=hint)
    if not path.is_file():
        beside = os.listdir(path.parent) if path.parent.is_dir() else []
        raise InputError(
            "no such file of vectors", where=path, hint=nearest_file(path.name, beside)
        )
    try:
        read = {".npz": _read_npz, ".parquet": _read_parquet}.get(kind, _read_hdf5)
        sentences, vectors = read(path)
    except Exception as error:  # numpy, h5py and pyarrow raise many kinds
        valid = "sentences as text, vectors as numbers of shape (n, d)"
        raise InputError(f"cannot be read as {kind} ({error})", where=path, valid=valid) from error
    if (
        vectors.ndim != 2
        or vectors.dtype.kind not in "fiu"
        or len(vectors) != len(sentences)
        or not all(isinstance(sentence, str) for sentence in sentences)
    ):
        raise InputError(
            "vectors do not fit the sentences",
            where=path,
            found=f"{len(sentences)} sentences, vectors of shape {vectors.shape} and type {vectors.dtype}",
            valid="sentences as text, vectors as numbers of shape (n, d)",
        )
    at: dict[str, int] = {}
    for row, sentence in enumerate(sentences):
        first = at.setdefault(sentence, row)
        if first != row and not np.array_equal(vectors[first], vectors[row], equal_nan=True):
            where = f"{path}, rows {first + 1} and {row + 1}"
            raise InputError(
                "a sentence occurs twice with different vectors", where=where, found=sentence
            )

    def run(asked: list[str]) -> np.ndarray:
        missing = [sentence for sentence in asked if sentence not in at]
        if missing:
            hint = nearest(missing[0], at) if len(at) < 20_000 else None
            raise InputError(
                f"has no vector of {some(map(repr, missing), 8)}", where=path, hint=hint
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


def _read_npz(path: Path) -> tuple[list[Any], np.ndarray]:
    with open(path, "rb") as file, np.load(file, allow_pickle=False) as arrays:
        return arrays["sentences"].tolist(), arrays["vectors"]


def _read_hdf5(path: Path) -> tuple[list[Any], np.ndarray]:
    import h5py

    with h5py.File(path, "r") as file:
        return list(file["sentences"].asstr()[:]), file["vectors"][:]


def _read_parquet(path: Path) -> tuple[list[Any], np.ndarray]:
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(path, columns=["sentences", "vectors"])
    rows: Iterable[Any] = table.column("vectors").to_pylist()
    column = table.column("vectors").combine_chunks()
    single = pyarrow.types.is_float32(column.type.value_type)
    return table.column("sentences").to_pylist(), np.array(
        rows, np.float32 if single else np.float64
    )
