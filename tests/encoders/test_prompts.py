"""A prompt before each sentence: of one encoder, or of all."""

from __future__ import annotations

import types

import numpy as np
import pytest
from helpers.encoders import SENTENCES, Fake, vector_of

import bayesbias as bb
from bayesbias.core.errors import InputError
from bayesbias.encoders.encoding import encode
from bayesbias.encoders.loading import load_encoder
from bayesbias.encoders.pretrained import _prompt_of


def test_a_prompt_stands_before_each_sentence():
    for encoder in (
        load_encoder("minilm-static?prompt=query:%20"),
        load_encoder("minilm-static", prompt="query: "),
    ):
        plain = load_encoder("minilm-static")
        prompted = encode(plain, [f"query: {sentence}" for sentence in SENTENCES], cache=False)
        np.testing.assert_array_equal(encode(encoder, SENTENCES, cache=False), prompted)
        assert encoder.provenance["prompt"] == "query: "
        assert encoder.options == "prompt=query:"
        assert encoder.name == plain.name
        assert encoder.fingerprint != plain.fingerprint or plain.fingerprint is None


def test_prompts_of_functions_and_objects_and_their_cache(tmp_path):
    fake = Fake()
    encoder = load_encoder(fake, prompt="passage: ")
    path = tmp_path / "kept.sqlite"
    encode(fake, SENTENCES, cache=path)
    fake.asked.clear()
    vectors = encode(encoder, SENTENCES, cache=path)  # kept under another fingerprint
    assert fake.asked[0][0] == f"passage: {SENTENCES[0]}"
    np.testing.assert_array_equal(vectors, [vector_of(f"passage: {s}") for s in SENTENCES])

    def lengths(sentences):
        return [[len(sentence), 1.0] for sentence in sentences]

    assert encode(load_encoder(lengths, prompt="q: "), ["he"], cache=False)[0, 0] == 5


def test_the_prompt_of_an_encoder_counts_before_that_of_all():
    encoder = load_encoder("cbow:minilm-static?prompt=a:%20", prompt="b: ")
    assert encoder.provenance["prompt"] == "a: "


def test_files_of_sentence_vectors_take_no_prompt(tmp_path):
    path = tmp_path / "v.csv"
    path.write_text("sentence,d1,d2\nThis is he.,1,2\n")
    with pytest.raises(InputError, match=r"prompt: expected a model.*were made with their prompt"):
        load_encoder(path, prompt="query: ")
    with pytest.raises(InputError, match="option: expected"):
        load_encoder(f"{path}?prompt=query:")


def test_seat_records_the_prompt():
    result = bb.seat("weat6", ["minilm-static", "cbow:minilm-static"], samples=99, prompt="query: ")
    assert set(result.frame["options"].str.contains("prompt=query:")) == {True}
    other = bb.seat("weat6", "minilm-static?prompt=query: ", samples=99)
    of_static = result.frame[result.frame["model"] == other.frame["model"][0]]
    assert of_static["effect_size"].tolist() == other.frame["effect_size"].tolist()


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"prompt": "query: "}, ("query: ", True)),
        ({"prompt_name": "query"}, ("Q: ", True)),
    ],
)
def test_prompts_that_a_model_has(given, expected):
    model = types.SimpleNamespace(prompts={"query": "Q: ", "document": ""})
    assert (
        _prompt_of(model, "some/model", **{"prompt": None, "prompt_name": None, **given})
        == expected
    )


def test_a_warning_where_a_model_has_prompts_and_none_is_used():
    model = types.SimpleNamespace(prompts={"query": "Q: ", "document": ""})
    with pytest.warns(
        UserWarning, match=r"has prompts \(query\), and none is used.*prompt_name=query"
    ):
        assert _prompt_of(model, "some/model", None, None) == (None, False)
    model.default_prompt_name = "query"
    assert _prompt_of(model, "some/model", None, None) == ("Q: ", False)
    with pytest.raises(InputError, match="prompt_name: expected query"):
        _prompt_of(model, "some/model", None, "qery")
    empty = types.SimpleNamespace(prompts={"query": "", "document": ""})
    assert _prompt_of(empty, "some/model", None, None) == (None, False)
    with pytest.raises(InputError, match="expected a prompt of the model named 'query', got none"):
        _prompt_of(empty, "some/model", None, "query")
