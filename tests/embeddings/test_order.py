"""Ranks of words in a file of vectors."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from helpers.vector_files import binary_file, text_file

from bayesbias.core.errors import InputError
from bayesbias.embeddings.loading import load_embedding
from bayesbias.embeddings.order import ranks_of

WORDS = ["the", "of", "New_York", "rabbi", "apple", "imam"]


@pytest.fixture(params=["headed", "plain", "binary"])
def source(request, tmp_path):
    vectors = np.random.default_rng(0).normal(size=(len(WORDS), 4))
    path = tmp_path / "v.txt"
    if request.param == "binary":
        return binary_file(path, WORDS, vectors)
    rows = [(word, list(row.round(3))) for word, row in zip(WORDS, vectors, strict=True)]
    return text_file(path, rows, header=request.param == "headed")


def test_ranks_count_words_from_one(source):
    ranks, matched, about = ranks_of(source, ["imam", "Rabbi", "new york", "the", "absent"])
    assert ranks == {"imam": 6, "Rabbi": 4, "new york": 3, "the": 1}
    assert matched == {"Rabbi": "rabbi", "new york": "New_York"}
    assert about["source"] == str(source)
    assert len(about["sha256"]) == 64


def test_an_embedding_is_taken_for_its_file(source):
    """Which keeps the words in the order asked for, and not in that of the file."""
    embedding = load_embedding(source, ["imam", "the"])
    assert ranks_of(embedding, ["the", "imam"])[0] == {"the": 1, "imam": 6}


def test_the_order_of_a_gensim_object():
    keyed = SimpleNamespace(key_to_index={"the": 0, "of": 1, "rabbi": 7})
    assert ranks_of(keyed, ["Rabbi", "of"])[0] == {"Rabbi": 8, "of": 2}
    assert ranks_of(SimpleNamespace(wv=keyed), ["the"])[0] == {"the": 1}


def test_what_has_no_order_is_refused(tmp_path):
    shipped, given = load_embedding("minilm-static", ["rabbi"]), load_embedding({"a": [1.0, 2.0]})
    for none in ("minilm-static", shipped, given, {"a": [1.0]}):
        with pytest.raises(InputError, match="no order that could mean frequency"):
            ranks_of(none, ["rabbi"])
    with pytest.raises(InputError, match="no such"):
        ranks_of(tmp_path / "nowhere.txt", ["rabbi"])


def test_the_order_of_the_alphabet_is_refused(tmp_path):
    rows = [(word, [1.0, float(i)]) for i, word in enumerate(sorted(WORDS, key=str.casefold))]
    path = text_file(tmp_path / "v.txt", rows)
    with pytest.raises(InputError, match=r"order of the alphabet.*found: 'apple, imam, new_york"):
        ranks_of(path, WORDS)
    assert ranks_of(path, ["apple", "the"])[0] == {"apple": 1, "the": 6}  # of two words it means nothing
