"""The shipped embedding, and vectors with an open vocabulary."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from bayesbias.core.errors import InputError
from bayesbias.core.files import data_dir
from bayesbias.embeddings.embedding import Embedding
from bayesbias.embeddings.loading import load_embedding
from bayesbias.embeddings.static import static_vectors


def test_static_vectors_are_means_of_tokens():
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer

    folder = data_dir("embeddings") / "minilm-static"
    tensors = load_file(folder / "model.safetensors")
    rows = tensors["vectors"] * tensors["scales"][:, None]
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    texts = ["rabbi", "receptionist", "The nurse is very good.", "word " * 900]
    for text, vector in zip(texts, static_vectors(texts), strict=True):
        ids = tokenizer.encode(text, add_special_tokens=False).ids
        assert np.allclose(vector, rows[ids].mean(axis=0), atol=2e-6)


def test_static_vectors_are_those_of_model2vec():
    """Golden values: model2vec 0.10.0, StaticModel.encode, the float32 model before rounding to int8."""
    golden = json.loads((Path(__file__).parent / "golden" / "minilm_static.json").read_text())
    ours = static_vectors(list(golden))
    theirs = np.array(list(golden.values()))
    norms = np.linalg.norm(ours, axis=1) * np.linalg.norm(theirs, axis=1)
    assert np.abs(ours - theirs).max() < 0.012  # rows are rounded to 1/127 of their largest number
    assert ((ours * theirs).sum(axis=1) / norms).min() > 0.9999


@pytest.mark.slow
def test_static_embedding_is_open_and_says_what_it_did():
    e = load_embedding("minilm-static", ["Bill", "bill", "blue_bell", "rancher", "☃"])
    assert e.missing == ("☃",)
    assert e.matched == {"Bill": "bill", "blue_bell": "blue bell"}
    assert "blue_bell" in e.composed
    assert "bill" not in e.composed
    assert e.notes[0] == "Bill/bill: spellings of one word, which share its vector"
    assert "homemaker" in e  # never asked for
    assert "☃" not in e
    assert np.array_equal(e.vectors_of(["homemaker", "bill"])[0], static_vectors(["homemaker"])[0])
    whole = load_embedding("minilm-static")
    assert len(whole) > 15_000
    assert np.array_equal(whole["church"], e["church"])


def test_any_vectors_may_have_an_open_vocabulary():
    def lookup(words):
        found = [word for word in words or ["a"] if word.isascii()]
        table = np.array([[len(word), 1.0] for word in found]).reshape(-1, 2)
        return Embedding(
            "lengths", tuple(found), table, missing=tuple(w for w in words or () if w not in found)
        )

    e = Embedding("lengths", ("rabbi",), np.array([[5.0, 1.0]]), lookup=lookup)
    assert e.open_vocabulary
    assert "imam" in e
    assert "☃" not in e
    assert 3 not in e
    assert e.vectors_of(["imam", "rabbi", "imam", "at"]).tolist() == [
        [4, 1],
        [5, 1],
        [4, 1],
        [2, 1],
    ]
    with pytest.raises(
        InputError, match="'lengths': expected a vector for each word, got none for ☃"
    ):
        e.vectors_of(["imam", "☃"])
    chosen = load_embedding(e, ["to", "☃"], name="mine")
    assert (chosen.name, chosen.words, chosen.missing) == ("mine", ("to",), ("☃",))


@pytest.mark.parametrize("name", ["religion", "gender", "race"])
def test_static_embedding_orders_the_connections(name):
    from bayesbias.wordlists.listfile import load_wordlist, pairs

    words = load_wordlist(name)
    e = load_embedding("minilm-static", words.words)
    assert e.missing == ()
    columns = pairs(words)
    a, b = (
        e.vectors_of(list(columns[key])).astype(float) for key in ("protected_word", "attribute")
    )
    distance = 1 - (a * b).sum(axis=1) / (np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1))
    connection = np.asarray(columns["connection"])
    means = [
        distance[connection == kind].mean()
        for kind in ("associated", "different", "human", "neutral")
    ]
    assert means == sorted(means)
    assert means[-1] - means[0] > 0.05


def test_no_shipped_word_counts_as_misspelled():
    from bayesbias.embeddings.static import shipped_model
    from bayesbias.wordlists.listfile import list_wordlists, load_wordlist
    from bayesbias.wordlists.occupations import load_occupations
    from bayesbias.wordlists.sentence_tests import list_tests, sentence_test

    words = []
    for name in list_wordlists():
        listed = load_wordlist(name)
        words += [*listed.words, *sum(listed.definitional_sets, ())]
    for name in list_tests():
        words += sentence_test(name).frame["word"].unique().tolist()
    words += [
        word for sentence in load_occupations().sentences()["sentence"] for word in sentence.split()
    ]
    words = list(dict.fromkeys(words))
    e = load_embedding("minilm-static", words)
    assert len(e.composed) > 100
    assert e.misspelled == {}
    assert shipped_model().misspelled([*words, "fathre", "secratary"]) == {
        "fathre": "father",
        "secratary": "secretary",
    }
