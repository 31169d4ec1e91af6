"""Vectors that are in memory as tables."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from helpers.vector_files import WORDS

import bayesbias as bb
from bayesbias.core.errors import InputError
from bayesbias.embeddings.loading import load_embedding


def tables(vectors):
    """The same vectors in every shape of table."""
    indexed = pd.DataFrame(vectors, index=WORDS)
    columned = indexed.rename_axis("word").reset_index()
    return {
        "index": indexed,
        "column": columned,
        "vectors": pd.DataFrame({"word": WORDS, "vector": list(vectors), "model": "m"}),
        "lists": pd.DataFrame({"embedding": [row.tolist() for row in vectors]}, index=WORDS),
        "matrix": (WORDS, vectors),
        "array of words": (np.array(WORDS), vectors.tolist()),
        "index of a frame": (indexed.index, indexed.to_numpy()),
    }


@pytest.mark.parametrize("kind", tables(np.ones((len(WORDS), 2))))
def test_every_table_gives_the_vectors_of_a_mapping(vectors, kind):
    mapping = dict(zip(WORDS, vectors, strict=True))
    asked = ["imam", "Rabbi", "mosque"]
    for words in (asked, None):
        theirs, ours = (
            load_embedding(mapping, words),
            load_embedding(tables(vectors)[kind], words, name="mine"),
        )
        assert (ours.name, ours.words, ours.missing, ours.matched) == (
            "mine", theirs.words, theirs.missing, theirs.matched,
        )  # fmt: skip
        np.testing.assert_array_equal(ours.vectors, theirs.vectors)
    assert ours.provenance["count"] == len(WORDS)
    assert ours.vectors.dtype in (np.float32, np.float64)


@pytest.mark.slow
def test_a_table_goes_wherever_vectors_are_taken():
    e = load_embedding("minilm-static", bb.load_wordlist("gender").words)
    frame = pd.DataFrame(e.vectors, index=list(e.words))
    right = bb.distance_table(e, "gender").frame["distance"]
    for given in (frame, (e.words, e.vectors), dict(zip(e.words, e.vectors, strict=True))):
        np.testing.assert_array_equal(bb.distance_table(given, "gender").frame["distance"], right)
    listed = bb.load_wordlist("gender")
    score = bb.weat(e, listed, classes=("woman", "man"), samples=99, seed=1).effect_size
    assert bb.weat(frame, listed, classes=("woman", "man"), samples=99, seed=1).effect_size == score
    hard = bb.hard_debias(frame, listed).embedding
    mapping = dict(zip(e.words, e.vectors, strict=True))
    np.testing.assert_array_equal(hard.vectors, bb.hard_debias(mapping, listed).embedding.vectors)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (
            (["a", "b"], np.ones((3, 2))),
            r"do not fit the words; found: '2 words and an array of shape \(3, 2\)",
        ),
        ((["a", "b"], np.ones(2)), r"shape \(2,\)"),
        ((["a", "b"], [[1, 2], [3]]), "no words and a matrix"),
        ((["a", "b"], [["x", "y"], ["z", "w"]]), "one row of numbers for each word"),
        (([], np.ones((0, 2))), "0 words"),
        ((["a", 2], np.eye(2)), r"row 2: is not a word; found: 2; valid: strings"),
        ((["a", "a"], np.eye(2)), "'a' stands .*twice; found: 'rows 1 and 2'"),
        ((["a", "b"], np.array([[1, 0], [0, np.nan]])), "row 2: the vector of 'b' holds NaN"),
        (
            pd.DataFrame(np.eye(2)),
            "row 1: is not a word; found: 0; valid: strings, as the index or in a column 'word'",
        ),
        (
            pd.DataFrame({"remark": ["a"], "x": [1.0]}, index=["a"]),
            "columns that are no numbers; found: 'remark'",
        ),
        (pd.DataFrame({"word": ["a", "b"], "vector": [[1], [1, 2]]}), "column 'vector': .* several lengths"),
        (pd.DataFrame({"word": ["a", "b"]}), "do not fit the words"),
    ],
)
def test_what_is_no_table_of_vectors_is_refused(given, says):
    with pytest.raises(InputError, match=says):
        load_embedding(given)


def test_a_pair_of_texts_is_no_table():
    with pytest.raises(
        InputError, match=r"cannot be read as word vectors; found: 'tuple'.*\(words, matrix\)"
    ):
        load_embedding(("a.txt", "b.txt"))


def test_a_matrix_without_words_or_before_them_is_told_what_to_do():
    with pytest.raises(InputError, match=r"an array alone holds no words: hand over \(words, matrix\)$"):
        load_embedding(np.eye(3))
    for matrix in (np.eye(2), np.eye(2).tolist()):
        with pytest.raises(InputError, match=r"the two are swapped; found: '\(matrix, words\)'"):
            load_embedding((matrix, ["a", "b"]))


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        (
            ["count", 0, 1],
            r"column 'count' is no dimension beside 0 to 1; drop it, frame\.drop\(columns='count'\), or where it is a dimension",
        ),
        (["a", "Log Frequency", "b"], "column 'Log Frequency' is no dimension of a vector"),
        (
            ["rank", "freq", "a"],
            r"found: 'rank, freq'; drop it, frame\.drop\(columns=\['rank', 'freq'\]\), or where",
        ),
        (["d1", "d2", "year"], "column 'year' is no dimension beside d1 to d2"),
    ],
)
def test_a_column_beside_the_dimensions_is_refused_and_named(columns, says):
    with pytest.raises(InputError, match=says):
        load_embedding(pd.DataFrame(np.ones((2, 3)), ["a", "b"], columns))


@pytest.mark.parametrize("columns", [["a", "b", "c"], ["x1", "y2", "y3"], ["d1", "d2", "d5"], [7, 8, 9]])
def test_columns_that_may_be_dimensions_are_taken(columns):
    assert load_embedding(pd.DataFrame(np.ones((2, 3)), ["a", "b"], columns)).vectors.shape == (2, 3)


def test_words_stand_in_a_column_named_as_in_a_file():
    found = load_embedding(pd.DataFrame({"d1": [1.0, 2.0], "Word": ["a", "b"], "d2": [3.0, 4.0]}))
    assert (found.words, found.vectors.shape) == (("a", "b"), (2, 2))
