"""Word vectors that are in memory as tables: a data frame, or words and a matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bayesbias.core import checks
from bayesbias.core.errors import InputError
from bayesbias.core.frames import plain_frame, plain_numbers
from bayesbias.core.guarding import guarded
from bayesbias.core.wording import Shortened
from bayesbias.embeddings.embedding import Embedding, embedding_from_rows
from bayesbias.embeddings.readers.rows import Rows
from bayesbias.embeddings.readers.tables import check_dimensions, is_word_column
from bayesbias.embeddings.spelling import spellings_of

_WORD, _VECTOR = "word", ("vector", "embedding")


def is_words_and_matrix(x: Any) -> bool:
    """Say whether a value is meant as words with a matrix: a pair whose second part has rows."""
    return isinstance(x, tuple) and len(x) == 2 and not isinstance(x[0], str | bytes)


def from_matrix(x: tuple[Any, Any], asked: list[str] | None, name: str | None) -> Embedding:
    """Read words, and a matrix with one row for each."""
    where = f"the vectors {name!r}" if name else "(words, matrix)"
    with guarded(where, "are no words and a matrix"):
        words = list(x[0])
        if words and all(np.ndim(word) == 1 for word in words) and all(isinstance(w, str) for w in x[1]):
            raise InputError(
                "the two are swapped", where=where, found="(matrix, words)", valid="(words, matrix)"
            )
        matrix = x[1] if hasattr(x[1], "dtype") else np.asarray(x[1])
    rows = plain_numbers(matrix, where, "one row of numbers for each word")
    facts = {"source": "words and a matrix", "format": "matrix"}
    return _of_matrix(words, rows, asked, name or "matrix", where, facts, "strings")


def from_frame(x: Any, asked: list[str] | None, name: str | None) -> Embedding:
    """Read a data frame: words as its index or in a column ``word``; a column a dimension, or one of whole vectors."""
    import pandas as pd

    where = f"the frame {name!r}" if name else "the frame"
    if not isinstance(x, pd.DataFrame):
        plain_frame(x, where)  # which says what to do
    checks.distinct(list(map(str, x.columns)), "a column", where)
    words, rest = list(x.index), x
    if (named := _column_of_words(x)) is not None:
        words, rest = list(x[named]), x.drop(columns=named)
    whole = [column for column in _VECTOR if column in rest.columns]
    if whole:
        here, valid = f"{where}, column {whole[0]!r}", "one list of numbers a word, all of one length"
        vectors = [
            plain_numbers(vector, f"{here}, row {row}", valid) for row, vector in enumerate(rest[whole[0]], 1)
        ]
        if len({vector.shape for vector in vectors}) != 1:
            raise InputError(
                "holds what are no vectors, or vectors of several lengths", where=here, valid=valid
            )
        rows = np.array(vectors)
    else:
        rest = plain_frame(rest, where)
        odd = [
            str(column) for column in rest.columns if getattr(rest[column].dtype, "kind", "O") not in "fiu"
        ]
        if odd:
            raise InputError(
                "holds columns that are no numbers",
                where=where,
                found=", ".join(odd[:6]),
                valid="words as the index or in a column 'word'; else one column a dimension, or a column 'vector'",
            )
        check_dimensions(
            [str(column) for column in rest.columns],
            where,
            "drop it, frame.drop(columns={}), or where it is a dimension rename it",
        )
        rows = rest.to_numpy()
    facts = {"source": "a data frame", "format": "data frame"}
    valid = "strings, as the index or in a column 'word'"
    return _of_matrix(words, rows, asked, name or "frame", where, facts, valid)


def _column_of_words(x: Any) -> Any:
    """Return the name of the column that holds the words, as in a file; None where they are the index."""
    if _WORD in x.columns:
        return _WORD
    return next(
        (
            name
            for name in x.columns
            if isinstance(name, str)
            and name.strip()
            and is_word_column(name)
            and x[name].dtype.kind not in "fiu"
        ),
        None,
    )


def _of_matrix(
    words: list[Any],
    matrix: npt.NDArray[Any],
    asked: list[str] | None,
    name: str,
    where: str,
    facts: dict[str, Any],
    valid_words: str,
) -> Embedding:
    if matrix.ndim != 2 or matrix.dtype.kind not in "fiu" or len(matrix) != len(words) or not matrix.size:
        raise InputError(
            "the vectors do not fit the words",
            where=where,
            found=f"{len(words)} words and an array of shape {matrix.shape}, type {matrix.dtype}",
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
                valid=valid_words,
            )
        if word in first:
            repeats.setdefault(word, row + 1)
        first.setdefault(word, row)
    wanted = first
    if asked is not None:
        wanted = {s: first[s] for word in asked for s in spellings_of(word) if s in first}
    chosen = list(wanted.values())
    dtype = np.float32 if matrix.dtype in (np.float16, np.float32) else np.float64
    rows = Rows(
        list(wanted),
        np.array(matrix[chosen] if chosen else np.empty((0, matrix.shape[1])), dtype=dtype),
        [row + 1 for row in chosen],
        "row",
        len(words),
        repeats,
    )
    return embedding_from_rows(rows, asked, name, where, facts)
