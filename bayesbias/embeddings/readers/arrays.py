"""The readers of arrays and the words of their rows.

Npy, npz, safetensors, and text of numbers alone.
"""

import json
import zipfile
from typing import Any

import numpy as np

from bayesbias.core.errors import InputError
from bayesbias.core.files import guarded, opened
from bayesbias.core.formatting import some
from bayesbias.embeddings.readers.common import Format, Head, Layout, Reading, Rows, is_number
from bayesbias.embeddings.readers.tables import rows_of_matrix
from bayesbias.embeddings.readers.vocabulary import CONVERT, vocabulary_of, words_of_rows

_TENSORS = ("vectors", "embeddings", "embedding.weight", "embeddings.weight", "center_vectors")
_TYPES = {"F16": "f2", "F32": "f4", "F64": "f8", "I8": "i1"}


class _Slices:
    """A tensor on the disk, of which rows are read."""

    def __init__(self, part: Any) -> None:
        self.part, self.shape = part, tuple(part.get_shape())
        self.dtype = np.dtype(_TYPES.get(str(part.get_dtype()), "f4"))

    def __getitem__(self, rows: np.ndarray) -> np.ndarray:
        out = [self.part[i : i + 1][0] for i in rows.tolist()]
        return np.array(out, self.dtype).reshape(-1, self.shape[1])


def read_npy(reading: Reading) -> Rows:
    """Read a matrix of numpy, whose words lie in a file beside it."""
    with guarded(reading.path, valid="a matrix of numbers"):
        try:
            matrix = np.load(reading.path, mmap_mode="r", allow_pickle=False)
        except ValueError as error:
            if "Python objects" not in str(error):
                raise
            code = (
                f"import numpy as np; d = np.load('{reading.path.name}', "
                f"allow_pickle=True).item(); np.savez('vectors.npz', words=list(d), "
                f"vectors=list(d.values()))"
            )
            problem, hint = "is a pickle, which can run code", f"{CONVERT}: {code}"
            raise InputError(problem, where=reading.path, hint=hint) from None
    return _with_words(reading, matrix)


def read_npz(reading: Reading) -> Rows:
    """Read a matrix and its words from the arrays of an .npz file."""
    valid = (
        "an .npz file with the arrays 'words' (texts, one per row) and 'vectors' (numbers, two "
        "dimensions)"
    )
    with guarded(reading.path, valid=valid), np.load(reading.path, allow_pickle=False) as arrays:
        held = {name: arrays[name] for name in arrays.files}
    matrix = held.get("vectors", next((a for a in held.values() if a.ndim == 2), None))
    words = held.get("words", next((a for a in held.values() if a.dtype.kind in "US"), None))
    if matrix is None or matrix.dtype.kind not in "fiu":
        raise InputError("expected vectors", where=reading.path, found=some(held), valid=valid)
    if words is None:
        return _with_words(reading, matrix)
    return rows_of_matrix(reading, words.tolist(), matrix)


def read_safetensors(reading: Reading) -> Rows:
    """Read the matrix among the tensors, and its words."""
    from safetensors import safe_open

    valid = "one tensor of two dimensions, or one named 'vectors'"
    with guarded(reading.path, valid=valid), safe_open(reading.path, framework="numpy") as file:
        parts = {name: file.get_slice(name) for name in file.keys()}  # noqa: SIM118
        matrices = [name for name, part in parts.items() if len(part.get_shape()) == 2]
        named = [name for name in _TENSORS if name in matrices] or matrices
        if not named or (len(matrices) > 1 and named[0] not in _TENSORS):
            hint = "of a transformer use its sentence vectors: bayesbias seat --encoder FOLDER"
            problem, found = "expected one matrix of vectors", some(matrices or parts, 4)
            raise InputError(problem, where=reading.path, found=found, hint=hint)
        words = json.loads((file.metadata() or {}).get("words", "null"))
        matrix = _Slices(parts[named[0]])
        if words is None:
            return _with_words(reading, matrix)
        return rows_of_matrix(reading, words, matrix)


def read_numbers(reading: Reading) -> Rows:
    """Read text of numbers alone, whose words lie in a file beside it."""
    with (
        opened(reading.path, unpack=True) as stream,
        guarded(reading.path, valid="as many numbers in each line"),
    ):
        matrix = np.loadtxt(stream, delimiter=reading.layout.separator.strip() or None, ndmin=2)
    return _with_words(reading, matrix)


def _with_words(reading: Reading, matrix: Any) -> Rows:
    count = matrix.shape[0] if len(matrix.shape) == 2 else 0
    words = words_of_rows(reading.path, reading.vocab, count) if count else []
    return rows_of_matrix(reading, words, matrix)


def _recognize_safetensors(head: Head) -> Layout | None:
    length = int.from_bytes(head.start[:8], "little")  # of the JSON that follows
    known = head.start[8:9] == b"{" and not head.compressed
    return Layout() if known and length < head.path.stat().st_size else None


def _recognize_npz(head: Head) -> Layout | None:
    if head.compressed or head.start[:4] != b"PK\x03\x04":
        return None
    with guarded(head.path), zipfile.ZipFile(head.path) as archive:
        return Layout() if any(n.endswith(".npy") for n in archive.namelist()) else None


def _recognize_numbers(head: Head) -> Layout | None:
    """Recognize lines of numbers alone, where words are given or lie beside them."""
    lines = head.start[head.mark :].splitlines()[:5]
    for separator in ("\t", ",", " "):
        rows = [line.strip().split(separator.encode()) for line in lines]
        alike = len({len(row) for row in rows}) == 1 and len(rows[0]) > 2
        if alike and all(is_number(cell) for row in rows for cell in row):
            known = head.vocab or vocabulary_of(head.path)
            return Layout(separator=separator) if known else None
    return None


def _recognize_npy(head: Head) -> Layout | None:
    return Layout() if head.start[:6] == b"\x93NUMPY" and not head.compressed else None


NPY = Format("npy", (".npy",), _recognize_npy, read_npy)
NPZ = Format("npz", (".npz",), _recognize_npz, read_npz)
SAFETENSORS = Format("safetensors", (".safetensors",), _recognize_safetensors, read_safetensors)
NUMBERS = Format("text of numbers", (".tsv", ".txt"), _recognize_numbers, read_numbers)
