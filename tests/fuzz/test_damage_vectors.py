"""Saved vectors that are damaged are refused, and so is what does not agree with the sum beside it."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.damage import flipped, harmed
from helpers.seeds import shifted

import bayesbias as bb
from bayesbias.core.errors import InputError
from bayesbias.core.seals import State
from bayesbias.embeddings.embedding import Embedding
from bayesbias.embeddings.file_index import index_path, read_indexed
from bayesbias.embeddings.readers import formats

COUNTS = [100, pytest.param(2000, marks=pytest.mark.claim)]
WORDS = tuple(f"word{i}" for i in range(30))


@pytest.fixture(params=["two.txt", "two.txt.gz", "two.bin", "two.bin.gz"])
def saved(request, tmp_path):
    vectors = np.random.default_rng(0).normal(size=(30, 8)).astype(np.float32)
    path = tmp_path / request.param
    bb.save_embedding(Embedding("mine", WORDS, vectors), path, binary=".bin" in request.param)
    return path


@pytest.mark.parametrize("count", COUNTS)
def test_no_damaged_vectors_are_read(saved, count):
    """Of the words that are read, and of all others too."""
    whole, rng = saved.read_bytes(), np.random.default_rng(shifted(1))
    first = bb.load_embedding(saved, ["word1"]).vectors
    for number in range(count):
        saved.write_bytes((harmed if number % 2 else flipped)(whole, rng))
        with pytest.raises(InputError, match=f"{saved.name}: is damaged: .*{saved.name}.sha256") as caught:
            bb.load_embedding(saved, ["word1"])
        assert "\n" not in str(caught.value)
        assert not bb.runs.verify_run(saved).ok
    saved.write_bytes(whole)
    np.testing.assert_array_equal(bb.load_embedding(saved, ["word1"]).vectors, first)
    assert bb.runs.verify_run(saved).ok


def test_the_sum_is_that_of_other_programs(saved):
    import hashlib

    beside = saved.with_name(f"{saved.name}.sha256")
    assert beside.read_text() == f"{hashlib.sha256(saved.read_bytes()).hexdigest()}  {saved.name}\n"


def test_a_sum_that_is_damaged_is_named_and_that_of_others_is_left_alone(saved):
    beside = saved.with_name(f"{saved.name}.sha256")
    text = beside.read_text()
    for bad in ("g" + text[1:], text[3:], f"#{text}"):
        beside.write_text(bad)
        with pytest.raises(InputError, match=f"{beside.name}: is damaged: .*remove it"):
            bb.load_embedding(saved, ["word1"])
    for other in ("", "\0", text.replace("two", "other")):
        beside.write_text(other)
        assert len(bb.load_embedding(saved, ["word1"])) == 1
        assert bb.runs.verify_run(saved).files[0].state is State.UNVERIFIED
    beside.write_text(text.replace("  ", " *"))  # as `sha256sum --binary` writes it
    assert bb.runs.verify_run(saved).ok
    beside.unlink()
    assert len(bb.load_embedding(saved, ["word1"])) == 1


@pytest.mark.parametrize("count", [100, pytest.param(4000, marks=pytest.mark.claim)])
@pytest.mark.parametrize("form", ["text", "records"])
def test_no_bit_of_an_index_may_change(form, count, tmp_path, monkeypatch):
    """A changed hash would make a word that is there a missing one, and a changed count another rank of frequency."""
    monkeypatch.setenv("BAYESBIAS_CACHE", str(tmp_path / "cache"))
    words = {f"word{i}": np.random.default_rng(i).normal(size=4).astype("f4") for i in range(60)}
    path = tmp_path / ("e.txt" if form == "text" else "e.bin")
    bb.save_embedding(bb.load_embedding(words), path)
    path.with_name(f"{path.name}.sha256").unlink(missing_ok=True)
    bb.load_embedding(path, ["word1"], index=True)
    at, rng = index_path(path), np.random.default_rng(shifted(7))
    whole, kind = at.read_bytes(), formats.recognise(path)[1]
    assert read_indexed(path, kind, ["word1", "word59"]) is not None
    spans = [(0, whole.index(b"  ")), (len(whole) - 16 * 60, len(whole)), (0, len(whole))]
    for number in range(count):
        bad = bytearray(whole)
        bad[rng.integers(*spans[number % 3])] ^= 1 << int(rng.integers(8))
        at.write_bytes(bad)
        assert read_indexed(path, kind, ["word1", "word59"]) is None
