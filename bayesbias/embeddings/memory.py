"""Word vectors that are in memory: mappings, data frames, words with a matrix, gensim objects."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from bayesbias.core.errors import InputError
from bayesbias.core.formatting import Shortened
from bayesbias.embeddings.embedding import Embedding, embedding_from_rows
from bayesbias.embeddings.readers.common import Rows
from bayesbias.embeddings.readers.tables import check_dimensions, is_word_column
from bayesbias.embeddings.spelling import spellings_of, unmatched_words

_VECTOR = ("vector", "embedding")


def is_words_and_matrix(x: Any) -> bool:
    """Whether a value is a pair of words and a matrix."""
    return isinstance(x, tuple) and len(x) == 2 and not isinstance(x[0], str | bytes)


def from_mapping(x: Mapping[Any, Any], asked: list[str] | None, name: str | None) -> Embedding:
    """Read a mapping word -> vector."""
    if not x:
        raise InputError("is empty", where="the mapping", valid="word -> vector")
    keys = list(x) if asked is None else [s for word in asked for s in spellings_of(word) if s in x]
    keys = list(dict.fromkeys(keys)) or [next(iter(x))]
    vectors = _stacked([x[key] for key in keys], [f"the mapping, key {key!r}" for key in keys])
    facts = {"source": "a mapping", "format": "mapping"}
    return _chosen(keys, vectors, asked, name or "mapping", "the mapping", facts, len(x))


def from_matrix(x: tuple[Any, Any], asked: list[str] | None, name: str | None) -> Embedding:
    """Read words, and a matrix with one row for each."""
    words, where = list(x[0]), "(words, matrix)"
    if words and np.ndim(words[0]) == 1 and all(isinstance(word, str) for word in x[1]):
        raise InputError(
            "the two are swapped", where=where, found="(matrix, words)", valid="(words, matrix)"
        )
    facts = {"source": "words and a matrix", "format": "matrix"}
    return _chosen(words, _numbers(x[1], where), asked, name or "matrix", where, facts)


def from_frame(x: Any, asked: list[str] | None, name: str | None) -> Embedding:
    """Read a data frame: words as its index or in a column; a column a dimension, or one of whole vectors."""
    where = "the data frame"
    x = x.to_pandas() if hasattr(x, "to_pandas") else x
    words, rest = list(x.index), x
    texts = [
        column for column in x.columns if str(column) == "word" or x[column].dtype.kind not in "fiu"
    ]
    named = [column for column in texts if str(column).strip() and is_word_column(str(column))]
    if named:
        words, rest = list(x[named[0]]), x.drop(columns=named[0])
    if whole := [column for column in _VECTOR if column in rest.columns]:
        places = [f"{where}, column {whole[0]!r}, row {row}" for row in range(1, len(words) + 1)]
        rows = _stacked(list(rest[whole[0]]), places)
    else:
        odd = [
            str(column)
            for column in rest.columns
            if getattr(rest[column].dtype, "kind", "O") not in "fiu"
        ]
        if odd:
            raise InputError(
                "some columns hold no numbers",
                where=where,
                found=", ".join(odd[:6]),
                valid="words as the index or in a column 'word'; a column a dimension, or a column 'vector'",
            )
        check_dimensions([str(column) for column in rest.columns], where)
        rows = rest.to_numpy()
    facts = {"source": "a data frame", "format": "data frame"}
    return _chosen(words, rows, asked, name or "frame", where, facts)


def from_gensim(
    x: Any, asked: list[str] | None, name: str | None, facts: dict[str, Any]
) -> Embedding:
    """Read a gensim KeyedVectors object, or a model that has one."""
    vectors = getattr(x, "wv", x)
    if not hasattr(vectors, "key_to_index") or not hasattr(vectors, "get_vector"):
        raise InputError(
            "cannot be read as word vectors",
            found=type(x).__name__,
            valid="a name, the path of a file, a mapping, a data frame, (words, matrix), a gensim KeyedVectors",
            hint="an array has no words: pass (words, matrix)"
            if hasattr(vectors, "ndim")
            else None,
        )
    known = vectors.key_to_index
    if asked is None:
        chosen = list(known)
    else:
        chosen = list(dict.fromkeys(s for word in asked for s in spellings_of(word) if s in known))
    composed = []
    if asked is not None and hasattr(vectors, "vectors_ngrams"):
        composed = [word for word in unmatched_words(asked, set(chosen)) if word in vectors]
    words = [*chosen, *composed]
    dtype = np.float64 if vectors.vectors.dtype.itemsize > 4 else np.float32
    table = np.array([vectors.get_vector(word) for word in words], dtype).reshape(
        -1, vectors.vector_size
    )
    places = [known[word] + 1 for word in chosen] + [0] * len(composed)
    kind = type(vectors).__name__
    rows = Rows(words, table, places, len(known), composed=composed)
    return embedding_from_rows(
        rows, asked, name or kind, facts["source"], {**facts, "format": f"gensim {kind}"}
    )


def _numbers(values: Any, where: str) -> np.ndarray:
    try:
        array = np.asarray(values)
    except ValueError:  # rows of several lengths
        array = np.empty(0, object)
    if array.dtype.kind not in "fiu":
        raise InputError("holds no numbers, or rows of several lengths", where=where)
    return array


def _stacked(vectors: list[Any], places: list[str]) -> np.ndarray:
    """Return vectors as the rows of a matrix."""
    arrays = [_numbers(vector, place) for vector, place in zip(vectors, places, strict=True)]
    for array, place in zip(arrays, places, strict=True):
        if array.ndim != 1 or array.shape != arrays[0].shape or not array.size:
            valid = (
                f"{arrays[0].size} numbers, as in the first" if arrays[0].ndim == 1 else "numbers"
            )
            raise InputError(
                "is not a vector", where=place, found=f"shape {array.shape}", valid=valid
            )
    return np.stack(arrays)


def _chosen(
    words: list[Any],
    matrix: np.ndarray,
    asked: list[str] | None,
    name: str,
    where: str,
    facts: dict[str, Any],
    count: int | None = None,
) -> Embedding:
    if matrix.ndim != 2 or len(matrix) != len(words) or not matrix.size:
        raise InputError(
            "the vectors do not fit the words",
            where=where,
            found=f"{len(words)} words and an array of shape {matrix.shape}",
            valid="one row of numbers for each word",
        )
    first: dict[str, int] = {}
    repeats: dict[str, int] = {}
    for row, word in enumerate(words):
        if not isinstance(word, str):
            raise InputError(
                "is not a word",
                where=f"{where}, row {row + 1}",
                found=Shortened(word),
                valid="strings",
            )
        if first.setdefault(word, row) != row:
            repeats.setdefault(word, row + 1)
    wanted = (
        first
        if asked is None
        else {s: first[s] for w in asked for s in spellings_of(w) if s in first}
    )
    chosen = list(wanted.values())
    vectors = np.array(
        matrix[chosen], np.float32 if matrix.dtype in (np.float16, np.float32) else np.float64
    )
    rows = Rows(
        list(wanted), vectors, [row + 1 for row in chosen], count or len(words), repeats=repeats
    )
    return embedding_from_rows(rows, asked, name, where, facts)
