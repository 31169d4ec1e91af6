"""Embeddings written as files, whole or not at all."""

from __future__ import annotations

import contextlib
import os
import re
from typing import Any

import numpy as np

from bayesbias.core import checks
from bayesbias.core.errors import InputError
from bayesbias.core.files import whole_file
from bayesbias.core.wording import some
from bayesbias.embeddings.embedding import Embedding

__all__ = ["save_embedding", "save_vectors"]

_BINARY, _ARRAYS, _TEXT = ".bin", ".npz", ".txt"
# Endings of forms that are not written here; any other is part of a name, such as that of glove.6B.50d.
_OTHERS = (
    ".npy", ".safetensors", ".parquet", ".feather", ".h5", ".hdf5", ".csv", ".tsv", ".json", ".pkl", ".pickle", ".kv",
    ".model", ".pt", ".pth", ".zip", ".bz2", ".xz", ".zst", ".toml", ".jsonl", ".nc", ".html", ".md",
)  # fmt: skip


def save_vectors(embedding: Embedding, path: str | os.PathLike[str]) -> None:
    """Write an embedding in the form that the ending of its path names, whole or not at all.

    Beside it goes its SHA-256, as by `bayesbias.save_embedding`, which writes the first two.

    Parameters
    ----------
    embedding : Embedding
    path : str or path
        ``.npz``: the arrays ``words`` and ``vectors``, with every digit, and words with blanks too. ``.bin``: word2vec
        binary, in single precision. Else, such as ``.txt`` or ``.vec``: word2vec text. Both also compressed, with ``.gz``.

    Raises
    ------
    InputError
        Where the ending is that of another form, such as ``.parquet``, the form cannot hold the words, or the file cannot
        be written.

    Examples
    --------
    >>> import tempfile
    >>> from bayesbias import load_embedding
    >>> e = load_embedding({"rabbi": [1.0, 0.1], "high priest": [0.8, 0.6]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_vectors(e, f"{folder}/two.npz")
    ...     load_embedding(f"{folder}/two.npz").words
    ('rabbi', 'high priest')
    """
    checks.instance(embedding, Embedding, "embedding", "an Embedding", "it comes first, then the path")
    form = form_of_ending(path)
    if form == _ARRAYS:
        _save_arrays(embedding, path)
    else:
        save_embedding(embedding, path, binary=form == _BINARY)


def form_of_ending(path: str | os.PathLike[str]) -> str:
    """Return the ending that says how vectors are written, before minutes are spent on them."""
    name = os.path.basename(checks.path(path, "path"))
    packed = name.removesuffix(".gz")
    ending = os.path.splitext(packed)[1].lower()
    if ending in _OTHERS or (ending == _ARRAYS and packed != name):
        raise InputError(
            "vectors are not written in this form",
            where=path,
            found=name[len(packed) - len(ending) :],
            valid=".txt, .vec or .bin (each also with .gz), or .npz",
        )
    return ending if ending in (_BINARY, _ARRAYS) else _TEXT


def _save_arrays(embedding: Embedding, path: str | os.PathLike[str]) -> None:
    import zipfile

    arrays = {"words": np.array(embedding.words, dtype=np.str_), "vectors": embedding.vectors}
    with whole_file(path, summed=True) as temporary, zipfile.ZipFile(temporary, "w") as archive:
        for name, array in arrays.items():
            # An entry made by its name alone would bear the time, and the same vectors have other bytes.
            with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as file:
                np.lib.format.write_array(file, np.ascontiguousarray(array), allow_pickle=False)


def save_embedding(embedding: Embedding, path: str | os.PathLike[str], binary: bool = False) -> None:
    """Write an embedding as word2vec text or binary, whole or not at all; gensim reads it back.

    Beside it goes its SHA-256, as ``PATH.sha256``: `load_embedding` refuses a file that does not agree with it, and
    ``sha256sum -c`` checks it too.

    Parameters
    ----------
    embedding : Embedding
    path : str or path
        A path that ends in ``.gz`` is compressed.
    binary : bool
        Binary holds single precision. Text holds every digit needed to read the same numbers back.

    Raises
    ------
    InputError
        Where a word is empty or holds blanks, which the format cannot hold, or the file cannot be written.

    Examples
    --------
    >>> from pathlib import Path
    >>> from bayesbias import load_embedding
    >>> import tempfile
    >>> e = load_embedding({"rabbi": [1.0, 0.1], "priest": [0.8, 0.6]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_embedding(e, f"{folder}/two.txt")
    ...     print(Path(folder, "two.txt").read_text(), end="")
    2 2
    rabbi 1.0 0.1
    priest 0.8 0.6
    """
    import gzip

    checks.path(path, "path")
    checks.instance(
        embedding,
        Embedding,
        "embedding",
        "an Embedding",
        "load_embedding makes one; it comes first, then the path",
    )
    bad = [word for word in embedding.words if not word or re.search(r"\s", word)]
    if bad:
        raise InputError(
            "word2vec files cannot hold these words",
            where=path,
            found=some(map(repr, bad)),
            valid="words without blanks",
            hint="write phrases with underscores",
        )
    with whole_file(path, summed=True) as temporary, contextlib.ExitStack() as stack:
        file: Any = stack.enter_context(open(temporary, "wb"))
        if os.fspath(path).endswith(".gz"):
            file = stack.enter_context(gzip.GzipFile("", "wb", fileobj=file, mtime=0))
        file.write(f"{len(embedding.words)} {embedding.vectors.shape[1]}\n".encode())
        for word, row in zip(embedding.words, embedding.vectors, strict=True):
            if binary:
                file.write(word.encode() + b" " + row.astype("<f4").tobytes())
            elif row.dtype == np.float32:
                file.write(f"{word} {' '.join(f'{v:.9g}' for v in row.tolist())}\n".encode())
            else:
                file.write(f"{word} {' '.join(map(repr, row.tolist()))}\n".encode())
