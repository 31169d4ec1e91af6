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
        ("minilm-sttic", "got 'minilm-sttic'.*Did you mean 'minilm-static'"),
        ("transformer:bert", "expected an encoder.*Did you mean 'transformers'"),
        ("glove-wiki-gigaword-100", "The mean of its word vectors: cbow:glove-wiki-gigaword-100"),
        ("transformers:x?poling=cls", r"encoder 'transformers:x\?poling=cls', option: .*got 'poling'.*'pooling'"),
        ("transformers:x?layer=two", "expected a whole number, got 'two'"),
        ("transformers:x?pooling=men", "pooling: expected .*got 'men'.*Did you mean 'mean'"),
        ("cbow:", "expected the name of a model"),
        (3, "encoder: expected a callable.* got 3"),
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

    with pytest.raises(InputError, match=r"with a name.*load_encoder\(model\.encode, name="):
        load_encoder(Nameless())
    assert encode(load_encoder(Nameless().encode, name="n"), SENTENCES, cache=False).shape == (
        10,
        3,
    )
    with pytest.raises(InputError, match="expected no name"):
        load_encoder(Fake(), name="other")


@pytest.mark.parametrize("kind", ["transformers", "sentence-transformers"])
def test_without_the_extra_it_says_how_to_install_it(monkeypatch, kind):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(InputError, match=rf"needs {kind} and torch, .*pip install '.\[encoders\]'"):
        load_encoder(f"{kind}:owner/name")
