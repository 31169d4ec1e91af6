"""Embeddings written as files, whole or not at all."""

from __future__ import annotations

import contextlib
import os
import re
from typing import Any

import numpy as np

from bayesbias.basics import checks
from bayesbias.basics.errors import InputError
from bayesbias.basics.files import whole_file
from bayesbias.basics.wording import some
from bayesbias.vectors.embedding import Embedding

__all__ = ["save_word2vec"]


def save_word2vec(embedding: Embedding, path: str | os.PathLike[str], binary: bool = False) -> None:
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
    ...     save_word2vec(e, f"{folder}/two.txt")
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
