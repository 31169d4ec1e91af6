"""Encoders that average vectors of words."""

from __future__ import annotations

import numpy as np
import pytest

from bayesbias.core.errors import InputError
from bayesbias.embeddings.loading import load_embedding
from bayesbias.embeddings.static import static_vectors
from bayesbias.encoders.averages import cbow_encoder, cbow_tokens
from bayesbias.encoders.encoder import describe_encoder
from bayesbias.encoders.encoding import encode
from bayesbias.encoders.loading import load_encoder


# --- CBoW -------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("sentence", "tokens"),
    [
        ("This is Katie.", "This is Katie ."),
        ("The person's name is Amy.", "The person 's name is Amy ."),
        ("It isn't, they're, I'd", "It is n't , they 're , I 'd"),
        ("short-term", "short-term"),
        ("New_York (again)", "New_York ( again )"),
        ("in the top 5% of", "in the top 5 % of"),
        ('a "stellar performer" here', 'a " stellar performer " here'),
        ("O'Brien's", "O'Brien 's"),
        ("...", ". . ."),
    ],
)
def test_tokens_as_the_penn_treebank_makes_them(sentence, tokens):
    assert cbow_tokens(sentence) == tokens.split()


def test_cbow_is_the_mean_of_the_vectors_found():
    vectors = {
        "This": [1, 0, 0],
        "is": [0, 2, 0],
        "Katie": [0, 0, 4],
        ".": [2, 2, 2],
        "love": [5.0, 5, 5],
    }
    encoder = cbow_encoder(vectors)
    made = encode(encoder, ["This is Katie.", "love", "This is is.", "This is Zoe."])
    expected = [[0.75, 1, 1.5], [5, 5, 5], [0.75, 1.5, 0.5], [1, 4 / 3, 2 / 3]]
    np.testing.assert_allclose(made, expected, rtol=1e-15)
    told = encoder.account(["This is Zoe.", "Zoe is Amy.", "love"])
    assert told["missing"] == {"Zoe": 2, "Amy": 1}
    assert told["lacking"] == {"This is Zoe.": ("Zoe",), "Zoe is Amy.": ("Zoe", "Amy")}
    assert told["matched"] == {}


def test_cbow_keeps_the_case_where_it_can():
    encoder = cbow_encoder({"this": [1.0, 0], "Love": [0.0, 1], "love": [0.0, 3]})
    np.testing.assert_array_equal(
        encode(encoder, ["This Love", "this love"]), [[0.5, 0.5], [0.5, 1.5]]
    )
    assert encoder.account(["This Love"])["matched"] == {"This": "this"}
    assert encoder.provenance["casing"].startswith("kept")


def test_cbow_over_glove_equals_its_words(shared):
    path = shared / "data" / "vectors" / "glove840B_union_300d.txt"
    encoder = load_encoder(f"cbow:{path}?name=CBoW")
    made = encode(encoder, ["rose", "The rose and the short-term tulip."])
    words = load_embedding(path, ["rose", "tulip", "short-term"])
    np.testing.assert_array_equal(made[0], words["rose"])
    np.testing.assert_allclose(made[1], words.vectors.mean(axis=0), rtol=1e-12)
    told = encoder.account(["The rose and the short-term tulip."])
    assert told["missing"] == {"The": 1, "and": 1, "the": 1, ".": 1}
    assert encoder.provenance["embedding"]["sha256"].startswith("41b15e30ea01f943")
    assert encoder.name == "CBoW"


def test_a_sentence_without_a_known_word_is_an_error_not_a_zero():
    encoder = cbow_encoder({"is": [1.0, 2], ".": [3.0, 4]}, name="tiny")
    with pytest.raises(InputError, match=r"sentence 'Zoe Amy\.': expected a word"):
        encode(encoder, ["Zoe is.", "Zoe Amy."])


def test_cbow_over_an_open_vocabulary():
    encoder = load_encoder("cbow:minilm-static")
    assert encoder.name == "CBoW minilm-static"
    made = encode(encoder, ["nurses heal"])
    np.testing.assert_allclose(made[0], static_vectors(["nurses", "heal"]).mean(axis=0), rtol=1e-6)


# --- the one in the package ---------------------------------------------------------------------------
def test_the_static_encoder_takes_sentences_as_a_whole(own_cache):
    encoder = load_encoder("minilm-static")
    made = encode(encoder, ["This is a nurse.", "THIS IS A NURSE."])
    np.testing.assert_array_equal(made, static_vectors(["This is a nurse.", "this is a nurse."]))
    facts = describe_encoder(encoder)["provenance"]
    assert facts["sha256"]["model.safetensors"].startswith("327f8303d7bf5bef")
    assert facts["made_from"] == "sentence-transformers/all-MiniLM-L6-v2"
    assert not own_cache.exists()  # looking up is quicker than keeping
