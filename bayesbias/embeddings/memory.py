"""Word vectors that are in memory: mappings, data frames, words with a matrix, gensim objects."""

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from bayesbias.core.errors import InputError
from bayesbias.embeddings.readers.common import Reading, Rows
from bayesbias.embeddings.readers.tables import numbers, rows_of_matrix, stacked, words_and_vectors


def rows_in_memory(x: Any, reading: Reading) -> tuple[Rows, str, str, str]:
    """Return rows of what is in memory, its name, format and short name."""
    if isinstance(x, Mapping):
        where = "the mapping"
        return _from_mapping(x, _named(reading, where)), where, "mapping", "mapping"
    if hasattr(x, "columns"):
        where = "the data frame"
        frame = x.to_pandas() if hasattr(x, "to_pandas") else x
        rows = rows_of_matrix(_named(reading, where), *words_and_vectors(frame, where))
        return rows, where, "data frame", "frame"
    if isinstance(x, tuple) and len(x) == 2 and not isinstance(x[0], str | bytes):
        words, where = list(x[0]), "(words, matrix)"
        if words and np.ndim(words[0]) == 1:
            raise InputError(
                "expected (words, matrix), got them swapped", where=where, found="(matrix, words)"
            )
        rows = rows_of_matrix(_named(reading, where), words, numbers(x[1], where))
        return rows, where, "matrix", "matrix"
    vectors = getattr(x, "wv", x)
    if not hasattr(vectors, "key_to_index") or not hasattr(vectors, "get_vector"):
        raise InputError(
            "expected word vectors",
            found=type(x).__name__,
            valid=(
                "a name, the path of a file, a mapping, a data frame, (words, matrix), a gensim "
                "KeyedVectors"
            ),
            hint="an array has no words: pass (words, matrix)" if hasattr(x, "ndim") else None,
        )
    kind = type(vectors).__name__
    return _from_gensim(vectors, reading), f"a {type(x).__name__} object", f"gensim {kind}", kind


def _named(reading: Reading, where: str) -> Reading:
    return dataclasses.replace(reading, path=Path(where))


def _from_mapping(x: Mapping[Any, Any], reading: Reading) -> Rows:
    if not x:
        raise InputError(
            "expected vectors, got nothing", where=reading.path, valid="word -> vector"
        )
    keys = list(x)
    if reading.wanted is not None:
        keys = [key for key in reading.wanted if key in x] or list(x)[:1000]
    vectors = stacked([x[key] for key in keys], [f"{reading.path}, key {key!r}" for key in keys])
    rows = rows_of_matrix(reading, keys, vectors)
    rows.count = len(x)
    return rows


def _from_gensim(vectors: Any, reading: Reading) -> Rows:
    """Read a gensim KeyedVectors object; it may build words from subwords."""
    known, wanted = vectors.key_to_index, reading.wanted
    chosen = list(known) if wanted is None else [word for word in wanted if word in known]
    composed = []
    if wanted is not None and hasattr(vectors, "vectors_ngrams"):
        composed = [word for word in reading.unmatched(set(chosen)) if word in vectors]
    words = [*chosen, *composed]
    dtype = np.float64 if vectors.vectors.dtype.itemsize > 4 else np.float32
    table = np.array([vectors.get_vector(word) for word in words], dtype)
    places = [known[word] + 1 for word in chosen] + [0] * len(composed)
    rows = Rows(words, table.reshape(-1, vectors.vector_size), places, len(known))
    rows.composed, rows.sample = composed, list(known)[:1000]
    return rows
