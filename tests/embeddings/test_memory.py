"""Vectors that are in memory."""

import numpy as np
import pandas as pd
import pytest
from helpers.vector_files import WORDS

import bayesbias as bb
from bayesbias.core.errors import InputError
from bayesbias.embeddings.loading import load_embedding


def sources(vectors):
    """The same vectors in every shape."""
    indexed = pd.DataFrame(vectors, index=WORDS)
    return {
        "index": indexed,
        "column": indexed.rename_axis("Word").reset_index(),
        "vectors": pd.DataFrame({"word": WORDS, "vector": list(vectors), "model": "m"}),
        "lists": pd.DataFrame({"embedding": [row.tolist() for row in vectors]}, index=WORDS),
        "matrix": (WORDS, vectors),
        "array of words": (np.array(WORDS), vectors.tolist()),
        "mapping": {word: row.tolist() for word, row in zip(WORDS, vectors, strict=True)},
    }


@pytest.mark.parametrize("kind", sources(np.ones((len(WORDS), 2))))
def test_every_source_gives_the_same_vectors(vectors, kind):
    source = sources(vectors)[kind]
    some = load_embedding(source, ["imam", "Rabbi", "mosque"], name="mine")
    assert (some.name, some.words, some.missing) == ("mine", ("imam", "Rabbi"), ("mosque",))
    assert some.matched == {"Rabbi": "rabbi"}
    np.testing.assert_array_equal(some.vectors, vectors[[2, 0]])
    everything = load_embedding(source)
    assert everything.words == tuple(WORDS)
    np.testing.assert_array_equal(everything.vectors, vectors)
    assert everything.provenance["count"] == len(WORDS)


@pytest.mark.slow
def test_vectors_in_memory_go_wherever_vectors_are_taken():
    e = load_embedding("minilm-static", bb.load_wordlist("gender").words)
    frame = pd.DataFrame(e.vectors, index=list(e.words))
    right = bb.distance_table(e, "gender").frame["distance"]
    for given in (frame, (e.words, e.vectors)):
        np.testing.assert_array_equal(bb.distance_table(given, "gender").frame["distance"], right)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({}, "got nothing"),
        ({"a": [1, 2], "b": [1, 2, 3]}, "key 'b': expected a vector"),
        ((["a", "b"], np.ones((3, 2))), "one row for each word"),
        ((["a", 2], np.eye(2)), "row 2: expected a word, got 2"),
        ((np.eye(2), ["a", "b"]), "got them swapped"),
        (np.eye(3), r"An array has no words: pass \(words, matrix\)"),
        (pd.DataFrame({"remark": ["a"], "x": [1.0]}, index=["a"]), "got 'remark'"),
        (pd.DataFrame(np.ones((2, 3)), ["a", "b"], ["d1", "d2", "year"]), "got 'year'"),
    ],
)
def test_what_is_not_a_table_of_vectors_is_refused(given, says):
    with pytest.raises(InputError, match=says):
        load_embedding(given)
