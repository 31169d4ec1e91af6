"""Word vectors by way of gensim: its objects, its pickles, and the gensim-data collection."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np

from bayesbias.core.errors import InputError
from bayesbias.core.extras import needed
from bayesbias.core.opening import sha256_file
from bayesbias.embeddings.embedding import Embedding, embedding_from_rows
from bayesbias.embeddings.readers import formats
from bayesbias.embeddings.readers.rows import Rows
from bayesbias.embeddings.spelling import spellings_of, unmatched_words
from bayesbias.embeddings.static import list_embeddings

__all__ = ["GENSIM_DATA"]

GENSIM_DATA = (
    "conceptnet-numberbatch-17-06-300",
    "fasttext-wiki-news-subwords-300",
    "glove-twitter-100",
    "glove-twitter-200",
    "glove-twitter-25",
    "glove-twitter-50",
    "glove-wiki-gigaword-100",
    "glove-wiki-gigaword-200",
    "glove-wiki-gigaword-300",
    "glove-wiki-gigaword-50",
    "word2vec-google-news-300",
    "word2vec-ruscorpora-300",
)
"""The vectors of the gensim-data collection, which `load_embedding` can fetch by name."""


def from_gensim(x: Any, asked: list[str] | None, name: str | None, facts: dict[str, Any]) -> Embedding:
    """Read a gensim KeyedVectors object, or a model that has one."""
    vectors = getattr(x, "wv", x)
    if not hasattr(vectors, "key_to_index") or not hasattr(vectors, "get_vector"):
        raise InputError(
            "cannot be read as word vectors",
            found=type(x).__name__,
            valid="a name, the path of a file, a mapping, a data frame, (words, matrix), a gensim KeyedVectors object",
            hint="an array alone holds no words: hand over (words, matrix)"
            if hasattr(vectors, "ndim")
            else None,
        )
    kind = type(vectors).__name__
    known = vectors.key_to_index
    if asked is None:
        chosen = [word for word in known if isinstance(word, str)]
    else:
        chosen = list(dict.fromkeys(s for word in asked for s in spellings_of(word) if s in known))
    composed = []
    if asked is not None and hasattr(vectors, "vectors_ngrams"):
        composed = [word for word in unmatched_words(asked, set(chosen)) if word in vectors]
    dim = int(vectors.vector_size)
    stored = np.dtype(vectors.vectors.dtype)  # half precision is stored, never calculated with
    table = np.empty((len(chosen) + len(composed), dim), np.float64 if stored.itemsize > 4 else np.float32)
    for row, word in enumerate([*chosen, *composed]):
        table[row] = vectors.get_vector(word)
    places = [known[word] + 1 for word in chosen] + [0] * len(composed)
    rows = Rows([*chosen, *composed], table, places, "row", len(known), composed=composed)
    facts = {**facts, "format": f"gensim {kind}"}
    return embedding_from_rows(rows, asked, name or kind, facts["source"], facts)


def from_pickle(
    path: Path, asked: list[str] | None, name: str, allow_pickle: bool, facts: dict[str, Any]
) -> Embedding:
    if not allow_pickle:
        raise InputError(
            "is a pickle (as gensim's .kv and .model files are); loading it runs code from the file",
            where=path,
            found="a pickle",
            valid=formats.valid_formats(),
            hint="for a file you trust pass allow_pickle=True (--allow-pickle; in the [settings] of a sweep "
            "allow_pickle = true), or save it with save_embedding_format",
        )
    keyed = _import_gensim("a pickle of gensim").models.KeyedVectors
    try:
        loaded = keyed.load(str(path), mmap="r")
    except Exception as error:  # a pickle can raise anything
        raise InputError(
            f"cannot be loaded by gensim: {type(error).__name__}: {error}",
            where=path,
            valid="a file written by gensim's save(), beside its .npy files",
        ) from error
    return from_gensim(loaded, asked, name, {**facts, "sha256": sha256_file(path)})


def _import_gensim(what: str) -> Any:
    instead = f"{', '.join(list_embeddings())}, or a file of word2vec, GloVe or fastText"
    return needed("gensim", "gensim", "gensim.downloader", "gensim.models", purpose=what, instead=instead)[0]


def fetched_from_gensim(name: str, progress: bool | None) -> Path:
    """Return the file of a gensim-data name, downloading it where it is not there yet."""
    folder = Path(os.environ.get("GENSIM_DATA_DIR") or os.path.expanduser("~/gensim-data"))
    path = folder / name / f"{name}.gz"
    if os.path.isfile(path):
        return path
    import socket

    downloader = _import_gensim(f"the gensim-data name {name!r}").downloader
    before = socket.getdefaulttimeout()
    quiet = progress is False or (progress is None and not sys.stderr.isatty())
    try:
        socket.setdefaulttimeout(before or 30)  # gensim sets none: a dead line would hang for ever
        # gensim draws its bar on stdout, which may carry our result
        with contextlib.ExitStack() as stack:
            out = stack.enter_context(open(os.devnull, "w")) if quiet else sys.stderr
            stack.enter_context(contextlib.redirect_stdout(out))
            return Path(downloader.load(name, return_path=True))
    except Exception as error:  # gensim raises ValueError, OSError, URLError and AssertionError here
        raise InputError(
            f"{name!r} is not on this machine and could not be downloaded: {error}",
            valid=f"without a network: {', '.join(list_embeddings())}, or the path of a file",
            hint=f"or put the file of gensim-data at {path}",
        ) from error
    finally:
        socket.setdefaulttimeout(before)
