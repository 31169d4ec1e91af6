"""Every bit of the numbers in an .npz file is under its checksum, whichever words are asked for."""

from __future__ import annotations

import zipfile

import numpy as np
import pytest
from helpers.seeds import shifted

import bayesbias as bb
from bayesbias.core.errors import InputError

WORDS = [f"word{i}" for i in range(50)]
SENTENCES = [f"This is number {i}." for i in range(50)]


def span_of(path, member: str) -> tuple[int, int]:
    """Return where the bytes of a member lie: after its own header, whose lengths stand at 26 and 28."""
    with zipfile.ZipFile(path) as archive:
        about = archive.getinfo(member)
    content = path.read_bytes()
    lengths = (
        int.from_bytes(content[about.header_offset + at : about.header_offset + at + 2], "little")
        for at in (26, 28)
    )
    start = about.header_offset + 30 + sum(lengths)
    return start, start + about.compress_size


def flips(path, count: int):
    """Flip a random bit of the arrays each time, and take it back."""
    whole, rng = path.read_bytes(), np.random.default_rng(shifted(1))
    spans = [span_of(path, member) for member in zipfile.ZipFile(path).namelist()]
    for number in range(count):
        start, end = spans[number % len(spans)]
        bad = bytearray(whole)
        bad[rng.integers(start, end)] ^= 1 << int(rng.integers(8))
        path.write_bytes(bad)
        yield
    path.write_bytes(whole)


def vectors_or_error(path, wanted):
    """Return the vectors of some words, or the error in their place."""
    try:
        return bb.load_embedding(path, wanted).vectors
    except InputError as error:
        return error


@pytest.mark.parametrize("count", [100, pytest.param(4000, marks=pytest.mark.claim)])
@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("wanted", [["word1"], ["word1", "word49"], None])
def test_vectors_of_words(save, wanted, count, tmp_path, monkeypatch):
    monkeypatch.setattr(
        "bayesbias.embeddings.readers.arrays.CHUNK_BYTES", 512
    )  # several parts, as large files have
    path = tmp_path / "e.npz"
    save(path, words=np.array(WORDS), vectors=np.random.default_rng(0).normal(size=(50, 200)))
    good = bb.load_embedding(path, wanted).vectors
    unseen = 0
    for _ in flips(path, count):
        found = vectors_or_error(path, wanted)
        assert "\n" not in str(found) or not isinstance(found, InputError)
        if not isinstance(found, InputError):
            # Of a packed member some bits say nothing: those that fill its last byte.
            assert save is np.savez_compressed
            np.testing.assert_array_equal(found, good)
            unseen += 1
    assert unseen <= 3 + count / 100
    np.testing.assert_array_equal(bb.load_embedding(path, wanted).vectors, good)


@pytest.mark.parametrize("count", [100, pytest.param(4000, marks=pytest.mark.claim)])
def test_vectors_of_sentences(count, tmp_path):
    path = tmp_path / "e.npz"
    np.savez(path, sentences=np.array(SENTENCES), vectors=np.random.default_rng(0).normal(size=(50, 8)))
    for _ in flips(path, count):
        with pytest.raises(InputError) as caught:
            bb.encode(str(path), SENTENCES[:2])
        assert "\n" not in str(caught.value)
