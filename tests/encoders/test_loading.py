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
        ("sentence-transformers:x?pooling=cls", "unknown option; found: 'pooling'; valid: max_length, device"),
        ("cbow:x?layer=2", "unknown option; found: 'layer'; valid: name"),
        ("transformers:x?layer=two", "layer must be a whole number; found: 'two'"),
        ("transformers:x?pooling=", "the option has no value; found: 'pooling'; valid: pooling=VALUE"),
        ("transformers:x?pooling=men", "unknown pooling; found: 'men'; valid: cls, mean, max, last; did you mean 'mean'"),
        ("transformers:x?special_tokens=no", "unknown value of special_tokens; found: 'no'; valid: include, exclude"),
        ("transformers:", "names no model"),
        ("cbow:", "names no embedding"),
        (3, "cannot be used as an encoder; found: 'int'"),
    ],
)  # fmt: skip
def test_what_names_no_encoder(spec, said):
    with pytest.raises(InputError, match=said):
        load_encoder(spec)


def test_folders_and_other_files_say_how_to_name_them(tmp_path):
    with pytest.raises(
        InputError, match=f"a model in a folder: transformers:{tmp_path} or sentence"
    ):
        load_encoder(tmp_path)
    (tmp_path / "glove.txt").write_text("a 1 2\n")
    with pytest.raises(
        InputError, match=f"the mean of its word vectors: cbow:{tmp_path}/glove.txt"
    ):
        load_encoder(tmp_path / "glove.txt")


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


def test_settings_that_do_not_apply():
    with pytest.raises(InputError, match="device: only models run on a device; found: 'cuda'"):
        load_encoder("minilm-static", device="cuda")
    with pytest.raises(InputError, match="version: is for callables"):
        load_encoder("minilm-static", version="1")


@pytest.mark.parametrize("kind", ["transformers", "sentence-transformers"])
def test_without_the_extra_it_says_how_to_install_it(monkeypatch, kind):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(
        InputError, match=rf"needs {kind} and torch, .*pip install 'bayesbias\[encoders\]'"
    ):
        load_encoder(f"{kind}:owner/name")
