"""Encoders by name, and what names none."""

from __future__ import annotations

import sys

import pytest
from helpers.encoders import SENTENCES, Fake, vector_of

from bayesbias.core.errors import InputError
from bayesbias.encoders.encoding import encode
from bayesbias.encoders.loading import load_encoder


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("minilm-sttic", "unknown encoder; found: 'minilm-sttic'; valid: minilm-static, .*did you mean 'minilm-static'"),
        ("transformer:bert", "unknown encoder; .*did you mean 'transformers'"),
        ("glove-wiki-gigaword-100", "the mean of its word vectors: cbow:glove-wiki-gigaword-100"),
        ("transformers:x?poling=cls", r"encoder 'transformers:x\?poling=cls': unknown option; found: 'poling'; .*'pooling'"),
        ("transformers:x?layer=two", "layer must be a whole number"),
        ("transformers:x?pooling=men", "unknown pooling; found: 'men'; .*did you mean 'mean'"),
        ("cbow:", "names no model"),
        (3, "cannot be used as an encoder; found: 'int'"),
    ],
)  # fmt: skip
def test_what_names_no_encoder(spec, said):
    with pytest.raises(InputError, match=said):
        load_encoder(spec)


def test_objects_with_encode_but_no_name():
    class Nameless:
        def encode(self, sentences):
            return [vector_of(s) for s in sentences]

        def __call__(self, sentences):
            raise AssertionError

    with pytest.raises(
        InputError, match=r"has a method encode, but no name.*load_encoder\(model\.encode, name="
    ):
        load_encoder(Nameless())
    assert encode(load_encoder(Nameless().encode, name="n"), SENTENCES, cache=False).shape == (
        10,
        3,
    )
    with pytest.raises(InputError, match="an encoder has a name of its own"):
        load_encoder(Fake(), name="other")


@pytest.mark.parametrize("kind", ["transformers", "sentence-transformers"])
def test_without_the_extra_it_says_how_to_install_it(monkeypatch, kind):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(
        InputError, match=rf"needs {kind} and torch, .*pip install 'bayesbias\[encoders\]'"
    ):
        load_encoder(f"{kind}:owner/name")
