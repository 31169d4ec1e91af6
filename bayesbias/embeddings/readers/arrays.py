"""The readers of matrices whose words lie beside them, or in the same file.

Npy, npz (also written), HDF5, safetensors, and text of numbers alone. The words are a word a line, a table, JSON,
or a tokenizer.
"""

import re
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bayesbias.core import InputError, some
from bayesbias.core.files import check_archive, guarded, opened, parse_json, read_bytes
from bayesbias.embeddings.readers import common
from bayesbias.embeddings.readers.common import Format, Head, Layout, Opened, Reading, Rows, Writer
from bayesbias.embeddings.readers.pickles import pickled
from bayesbias.embeddings.readers.tables import rows_of_matrix

_STEMS = ("vocab", "words", "vocabulary", "tokens", "metadata")
_ENDINGS = (".txt", ".tsv", ".csv", ".json", ".npy", "", ".pkl")
# Lines of a word and numbers, of a number and a word, of a word and more.
_FORMS = (rb"(.+?)[\t, ][-+.\d\t, ]+", rb"\d+[\t, ](.+)", rb"([^\t]+)\t.*")
_TENSORS = ("vectors", "embeddings", "embedding.weight", "embeddings.weight", "center_vectors")
_ARRAYS = "arrays 'words' (texts, one per row) and 'vectors' (numbers, two dimensions)"


def read_npy(reading: Reading) -> Rows:
    """Read a matrix of numpy, whose words lie in a file beside it."""
    with guarded(reading.path, "a matrix of numbers"):
        try:
            matrix = np.load(reading.path, mmap_mode="r", allow_pickle=False)
        except ValueError as error:
            if "Python objects" not in str(error):
                raise
            raise pickled(reading.path, "array") from None
    return _with_words(reading, matrix)


def read_npz(reading: Reading) -> Rows:
    """Read a matrix and its words from the arrays of an .npz file."""
    with guarded(reading.path, _ARRAYS):
        check_archive(reading.path)
    with guarded(reading.path, _ARRAYS), np.load(reading.path, allow_pickle=False) as file:
        held = {name: file[name] for name in file.files}
        if {array.ndim for array in held.values()} == {1} and "words" not in held:
            return rows_of_matrix(reading, list(held), np.stack(list(held.values())))
    return _of_arrays(reading, held)


def write_npz(file: Opened, words: Sequence[str], vectors: np.ndarray) -> None:
    """Write the arrays ``words`` and ``vectors``."""
    np.savez(file, words=np.array(words, np.str_), vectors=vectors)


def read_hdf5(reading: Reading) -> Rows:
    """Read a matrix and its words from the datasets of an HDF5 file."""
    import h5py

    with guarded(reading.path, _ARRAYS), h5py.File(reading.path) as file:
        held = {}
        for name, part in file.items():
            text = h5py.check_string_dtype(part.dtype)
            held[name] = np.asarray(part.asstr()[:] if text else part[:])
    return _of_arrays(reading, held)


def _of_arrays(reading: Reading, held: dict[str, np.ndarray]) -> Rows:
    matrix = held.get("vectors", next((a for a in held.values() if a.ndim == 2), None))
    words = held.get("words", next((a for a in held.values() if a.dtype.kind in "USO"), None))
    if matrix is None or matrix.dtype.kind not in "fiu":
        raise InputError(f"expected vectors, got {some(held)}", where=reading.path, valid=_ARRAYS)
    return _with_words(reading, matrix, None if words is None else words.tolist())


def read_safetensors(reading: Reading) -> Rows:
    """Read the matrix among the tensors, and its words."""
    with guarded(reading.path, "one tensor of two dimensions, or one named 'vectors'"):
        with opened(reading.path) as stream:
            length = int.from_bytes(stream.read(8), "little")
            parts = parse_json(stream.read(length), reading.path)
        words = parse_json(parts.pop("__metadata__", {}).get("words", "null"), reading.path)
        matrices = [name for name, part in parts.items() if len(part["shape"]) == 2]
        named = [name for name in _TENSORS if name in matrices] or matrices
        if not named or (len(matrices) > 1 and named[0] not in _TENSORS):
            hint = "of a transformer use its sentence vectors: bayesbias seat --encoder FOLDER"
            problem = f"expected one matrix of vectors, got {some(matrices or parts, 4)}"
            raise InputError(problem, where=reading.path, hint=hint)
        part = parts[named[0]]
        kind, bits = part["dtype"][0], part["dtype"][1:]  # such as F32
        dtype = np.dtype({"F": "float", "I": "int", "U": "uint"}.get(kind, kind) + bits)
        start, shape = 8 + length + part["data_offsets"][0], tuple(part["shape"])
        matrix = np.memmap(reading.path, dtype.newbyteorder("<"), "r", start, shape)
        return _with_words(reading, matrix, words)


def read_numbers(reading: Reading) -> Rows:
    """Read text of numbers alone, whose words lie in a file beside it."""
    with (
        opened(reading.path, unpack=True) as stream,
        guarded(reading.path, "as many numbers in each line"),
    ):
        matrix = np.loadtxt(stream, delimiter=reading.layout.separator.strip() or None, ndmin=2)
    return _with_words(reading, matrix)


def _with_words(reading: Reading, matrix: Any, words: list[Any] | None = None) -> Rows:
    """Return the wanted rows; without words, those of the file given or of one beside it."""
    file = reading.vocab or vocabulary_of(reading.path)
    if words is None and file is None:
        hint = "name it with --vocab FILE (vocab=), or call it vocab.txt and put it beside"
        raise InputError("expected a file with its words, got none", where=reading.path, hint=hint)
    if words is None and file is not None:
        count, words = len(matrix), _words_in(file)
        if len(words) == count + 1 and file.suffix not in (".json", ".npy"):
            words = words[1:]  # a header
        if len(words) != count:
            problem = f"expected {count:,} words, one for each row of {reading.path.name}"
            raise InputError(f"{problem}, got {len(words):,}", where=file)
    return rows_of_matrix(reading, words or [], matrix)


def vocabulary_of(path: Path) -> Path | None:
    """Return the file of words that lies beside a matrix."""
    stem = path.stem
    bare = re.sub(r"(\.words|-w|[-_.]vectors?)$", "", stem)
    names = [f"{stem}.vocab", f"{bare}.vocab"]
    for start in (f"{bare}-", f"{bare}_", f"{bare}.", ""):
        names += [f"{start}{kind}{ending}" for kind in _STEMS for ending in _ENDINGS]
    names += [f"{stem}{ending}" for ending in _ENDINGS] + ["tokenizer.json"]
    every = (path.with_name(name) for name in names)
    return next((file for file in every if file != path and file.is_file()), None)


def _words_in(file: Path) -> list[Any]:
    content = read_bytes(file, kind="a file of words")
    if re.match(rb"\x80[\2-\5]|\(l|\(d|[\]}]", content) and file.suffix not in (".txt", ".tsv"):
        raise pickled(file, "words")
    if content.startswith(b"\x93NUMPY"):
        with guarded(file, "an array of texts"):
            return np.load(file, allow_pickle=False).tolist()
    if content.lstrip()[:1] in (b"{", b"[") and file.suffix == ".json":
        return _words_of_json(parse_json(content, file), file)
    lines = content.removeprefix(b"\xef\xbb\xbf").splitlines()
    for form in _FORMS:
        found = [re.fullmatch(form, line) for line in lines]
        if any(found[-1:]) and all(found[1:]):  # the first may be a header
            return [match[1] if match else b"" for match in found]
    return lines


def _words_of_json(data: Any, file: Path) -> list[Any]:
    """Return the words of a list, of a table of places, or of a tokenizer."""
    with guarded(file, "a list of words, or a table word -> row"):
        if isinstance(data, dict) and isinstance(data.get("model"), dict):
            data = data["model"]["vocab"]
        if isinstance(data, list):
            return [entry[0] if isinstance(entry, list) else entry for entry in data]
        if all(isinstance(word, str) for word in data.values()):
            data = {word: int(row) for row, word in data.items()}
        rows = {row: word for word, row in data.items()}
        return [rows[row] for row in range(len(data))]


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
    lines = head.start.splitlines()[:5]
    for separator in ("\t", ",", " "):
        rows = [line.strip().split(separator.encode()) for line in lines]
        alike = len({len(row) for row in rows}) == 1 and len(rows[0]) > 2
        if alike and all(common.is_number(cell) for row in rows for cell in row):
            known = head.vocab or vocabulary_of(head.path)
            return Layout(separator=separator) if known else None
    return None


NPY = Format("npy", (".npy",), common.starting_with(b"\x93NUMPY"), read_npy)
NPZ = Format(
    "npz",
    (".npz",),
    _recognize_npz,
    read_npz,
    writer=Writer(write_npz, blanks=True, compressed=False),
)
HDF5 = Format("HDF5", (".h5", ".hdf5"), common.starting_with(b"\x89HDF"), read_hdf5)
SAFETENSORS = Format("safetensors", (".safetensors",), _recognize_safetensors, read_safetensors)
NUMBERS = Format("text of numbers", (".tsv", ".txt"), _recognize_numbers, read_numbers)
WORDS_BESIDE = (NPY.name, SAFETENSORS.name, NUMBERS.name)
"""Formats whose words may lie in a file beside the matrix."""
