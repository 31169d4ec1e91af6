"""Embeddings written as files."""

import gzip
import os
import re
from pathlib import Path
from typing import Any

import numpy as np

from bayesbias.core import checks
from bayesbias.core.errors import InputError
from bayesbias.core.files import whole_file
from bayesbias.core.formatting import some
from bayesbias.embeddings.embedding import Embedding

__all__ = ["save_embedding"]

# Endings of formats that are not written here; any other is part of a name, as in glove.6B.50d.
_OTHERS = (
    *(".npy", ".safetensors", ".parquet", ".h5", ".hdf5", ".csv", ".tsv", ".json"),
    *(".pkl", ".kv", ".model", ".pt", ".zip"),
)


def save_embedding(embedding: Embedding, path: str | os.PathLike[str]) -> None:
    """Write an embedding in the format that the ending of the path names.

    Parameters
    ----------
    embedding : Embedding
    path : str or path
        ``.npz``: the arrays ``words`` and ``vectors``, with every digit, and words with blanks too.
        ``.bin``: word2vec binary, in single precision. Others, such as ``.txt`` or ``.vec``:
        word2vec text, with every digit. Both also compressed, with ``.gz``.

    Raises
    ------
    InputError
        If the ending is that of another format, a word2vec file cannot hold the words, or the file
        cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from bayesbias import load_embedding
    >>> e = load_embedding({"rabbi": [1.0, 0.1], "priest": [0.8, 0.6]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_embedding(e, f"{folder}/two.txt")
    ...     print(Path(folder, "two.txt").read_text(), end="")
    2 2
    rabbi 1.0 0.1
    priest 0.8 0.6
    """
    embedding = getattr(embedding, "embedding", embedding)  # of `hard_debias`
    checks.instance(embedding, Embedding, "embedding", "an Embedding")
    name = Path(checks.path(path, "path")).name
    zipped = name.endswith(".gz")
    ending = os.path.splitext(name.removesuffix(".gz"))[1].lower()
    if ending in _OTHERS or (ending == ".npz" and zipped):
        problem = f"expected .txt, .vec or .bin (each also with .gz), or .npz, got {ending}"
        raise InputError(problem, where=path)
    if ending == ".npz":
        with whole_file(path) as temporary, open(temporary, "wb") as raw:
            np.savez(raw, words=np.array(embedding.words, np.str_), vectors=embedding.vectors)
        return
    if bad := [word for word in embedding.words if not word or re.search(r"\s", word)]:
        problem = f"expected words without blanks, got {some(map(repr, bad))}"
        hint = "write phrases with underscores, or write .npz"
        raise InputError(problem, where=path, hint=hint)
    with whole_file(path) as temporary, open(temporary, "wb") as raw:
        out: Any = gzip.GzipFile("", "wb", fileobj=raw, mtime=0) if zipped else raw
        out.write(f"{len(embedding.words)} {embedding.vectors.shape[1]}\n".encode())
        for word, row in zip(embedding.words, embedding.vectors, strict=True):
            if ending == ".bin":
                out.write(word.encode() + b" " + row.astype("<f4").tobytes())
            elif row.dtype == np.float32:
                out.write(f"{word} {' '.join(f'{v:.9g}' for v in row.tolist())}\n".encode())
            else:
                out.write(f"{word} {' '.join(map(repr, row.tolist()))}\n".encode())
        if zipped:
            out.close()
