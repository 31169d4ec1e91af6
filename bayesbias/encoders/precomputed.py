"""Sentence vectors made elsewhere, in npz, HDF5 and Parquet files."""

import os
from pathlib import Path
from typing import Any

import numpy as np

from bayesbias.core import checks, files
from bayesbias.core.errors import InputError, nearest
from bayesbias.core.formatting import some
from bayesbias.encoders.encoder import BuiltEncoder, Encoder

__all__ = ["vectors_encoder"]

VECTOR_FILES = (".npz", ".h5", ".hdf5", ".parquet")


def vectors_encoder(
    path: str | os.PathLike[str], *, name: str | None = None, options: str = ""
) -> Encoder:
    """Return an encoder that looks sentences up in a file of vectors.

    In every format the file holds n ``sentences`` and as many ``vectors``:

    * ``.npz``: arrays ``sentences``, shape (n,), of text, and ``vectors``, shape (n, d), of
      numbers; ``np.savez(path, sentences=np.array(sentences), vectors=vectors)``;
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
        endings, hint = ", ".join(VECTOR_FILES), nearest(kind, VECTOR_FILES)
        raise InputError(f"expected a file with {endings}, got {path.name}", where=path, hint=hint)
    files.state_of(path, noun="file of vectors")
    wanted = "expected sentences as text and vectors as numbers of shape (n, d)"
    with files.guarded(path, f"{wanted}, got a file that cannot be read as {kind}"):
        sentences, vectors = _READERS[kind](path)
    texts = all(isinstance(sentence, str) for sentence in sentences)
    numbers = vectors.ndim == 2 and vectors.dtype.kind in "fiu"
    if not texts or not numbers or len(vectors) != len(sentences):
        got = f"{len(sentences)} sentences and vectors of shape {vectors.shape}"
        raise InputError(f"{wanted}, got {got}", where=path)
    at: dict[str, int] = {}
    for row, sentence in enumerate(sentences):
        first = at.setdefault(sentence, row)
        if first != row and not np.array_equal(vectors[first], vectors[row], equal_nan=True):
            problem = f"expected one vector for each sentence, got two for {sentence!r}"
            raise InputError(problem, where=f"{path}, row {row + 1}")

    def run(asked: list[str]) -> np.ndarray:
        if missing := [sentence for sentence in asked if sentence not in at]:
            problem = (
                f"expected vectors of all sentences, got none of {some(map(repr, missing), 8)}"
            )
            raise InputError(problem, where=path)
        return vectors[[at[sentence] for sentence in asked]]

    facts = {
        "source": str(path),
        "sha256": files.sha256_file(path),
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
    single = pyarrow.types.is_float32(table.schema.field("vectors").type.value_type)
    rows = np.array(table["vectors"].to_pylist(), np.float32 if single else np.float64)
    return table["sentences"].to_pylist(), rows


_READERS = {".npz": _read_npz, ".h5": _read_hdf5, ".hdf5": _read_hdf5, ".parquet": _read_parquet}
