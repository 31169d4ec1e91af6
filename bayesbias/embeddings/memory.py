"""Word vectors that are in memory: mappings, data frames, words with a matrix, gensim objects."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from bayesbias.core.errors import InputError
from bayesbias.core.formatting import Shortened
from bayesbias.embeddings.embedding import Embedding, embedding_from_rows
from bayesbias.embeddings.readers.common import Layout, Reading, Rows, gather
from bayesbias.embeddings.readers.tables import check_dimensions, is_word_column
from bayesbias.embeddings.spelling import spellings_of, unmatched_words


def is_words_and_matrix(x: Any) -> bool:
    """Whether a value is a pair of words and a matrix."""
    return isinstance(x, tuple) and len(x) == 2 and not isinstance(x[0], str | bytes)


def from_mapping(x: Mapping[Any, Any], asked: list[str] | None, name: str | None) -> Embedding:
    """Read a mapping word -> vector."""
    where = "the mapping"
    if not x:
        raise InputError("is empty", where=where, valid="word -> vector")
    keys = list(x) if asked is None else [s for word in asked for s in spellings_of(word) if s in x]
    keys = list(dict.fromkeys(keys)) or [next(iter(x))]
    vectors = _stacked([x[key] for key in keys], [f"{where}, key {key!r}" for key in keys])
    return _chosen(keys, vectors, asked, name or "mapping", where, "mapping", len(x))


def from_matrix(x: tuple[Any, Any], asked: list[str] | None, name: str | None) -> Embedding:
    """Read words, and a matrix with one row for each."""
    words, where = list(x[0]), "(words, matrix)"
    if words and np.ndim(words[0]) == 1:
        raise InputError("the two are swapped", where=where, found="(matrix, words)")
    return _chosen(words, _numbers(x[1], where), asked, name or "matrix", where, "matrix")


def from_frame(x: Any, asked: list[str] | None, name: str | None) -> Embedding:
    """Read a data frame: words as its index or in a column; a column a dimension, or one of whole vectors."""
    where = "the data frame"
    x = x.to_pandas() if hasattr(x, "to_pandas") else x
    words = list(x.index)
    texts = [c for c in x.columns if str(c) == "word" or x[c].dtype.kind not in "fiu"]
    if named := [c for c in texts if str(c).strip() and is_word_column(str(c))]:
        words, x = list(x[named[0]]), x.drop(columns=named[0])
    if whole := [c for c in ("vector", "embedding") if c in x.columns]:
        places = [f"{where}, column {whole[0]!r}, row {i}" for i in range(1, len(words) + 1)]
        rows = _stacked(list(x[whole[0]]), places)
    else:
        if odd := [str(c) for c in x.columns if x[c].dtype.kind not in "fiu"]:
            found, valid = ", ".join(odd[:6]), "a column a dimension, or a column 'vector'"
            raise InputError("some columns hold no numbers", where=where, found=found, valid=valid)
        check_dimensions([str(column) for column in x.columns], where)
        rows = x.to_numpy()
    return _chosen(words, rows, asked, name or "frame", where, "data frame")


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
            hint="an array has no words: pass (words, matrix)" if hasattr(x, "ndim") else None,
        )
    known = vectors.key_to_index
    composed = []
    if asked is None:
        chosen = list(known)
    else:
        chosen = list(dict.fromkeys(s for word in asked for s in spellings_of(word) if s in known))
        if hasattr(vectors, "vectors_ngrams"):
            composed = [word for word in unmatched_words(asked, set(chosen)) if word in vectors]
    words = [*chosen, *composed]
    dtype = np.float64 if vectors.vectors.dtype.itemsize > 4 else np.float32
    table = np.array([vectors.get_vector(word) for word in words], dtype)
    places = [known[word] + 1 for word in chosen] + [0] * len(composed)
    kind = type(vectors).__name__
    table = table.reshape(-1, vectors.vector_size)
    rows = Rows(words, table, places, len(known), composed=composed)
    facts = {**facts, "format": f"gensim {kind}"}
    return embedding_from_rows(rows, asked, name or kind, facts["source"], facts)


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
            found, valid = f"shape {array.shape}", f"{arrays[0].size} numbers, as in the first"
            raise InputError("is not a vector", where=place, found=found, valid=valid)
    return np.stack(arrays)


def _chosen(
    words: list[Any],
    matrix: np.ndarray,
    asked: list[str] | None,
    name: str,
    where: str,
    form: str,
    count: int | None = None,
) -> Embedding:
    if matrix.ndim != 2 or len(matrix) != len(words) or not matrix.size:
        found = f"{len(words)} words and an array of shape {matrix.shape}"
        raise InputError("the vectors do not fit the words", where=where, found=found)
    for row, word in enumerate(words, start=1):
        if not isinstance(word, str):
            place = f"{where}, row {row}"
            raise InputError("is not a word", where=place, found=Shortened(word), valid="strings")
    wanted = None if asked is None else {s for word in asked for s in spellings_of(word)}
    single = matrix.dtype in (np.float16, np.float32)
    block = ([word.encode("utf-8", "surrogatepass") for word in words], matrix.__getitem__)
    reading = Reading(Path(where), Layout(matrix.shape[1]), wanted)
    rows = gather(reading, [block], np.float32 if single else np.float64)
    rows.count = count or len(words)
    return embedding_from_rows(rows, asked, name, where, {"source": where, "format": form})
