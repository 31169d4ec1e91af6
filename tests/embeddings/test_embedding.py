"""The value that holds vectors, and how it is written."""

from __future__ import annotations

import dataclasses
import json
import pickle
import tracemalloc

import numpy as np
import pytest
from gensim.models import KeyedVectors
from helpers.vector_files import WORDS, binary_file

from bayesbias.core.errors import InputError
from bayesbias.embeddings import readers
from bayesbias.embeddings.embedding import Embedding, save_embedding
from bayesbias.embeddings.loading import load_embedding
from bayesbias.embeddings.readers import tables
from bayesbias.embeddings.readers.common import Writer


def test_embedding_value(vectors):
    e = Embedding("mine", tuple(WORDS), vectors)
    assert "imam" in e
    assert "Imam" not in e
    assert len(e) == 6
    assert np.array_equal(e.vectors_of(["imam", "rabbi", "imam"]), vectors[[2, 0, 2]])
    with pytest.raises(InputError, match=r"got none for imma, x\. Did you mean 'imam'"):
        e.vectors_of(["imma", "rabbi", "x"])
    with pytest.raises(ValueError, match="read-only"):
        e.vectors[0, 0] = 1
    again = pickle.loads(pickle.dumps(e))
    assert np.array_equal(again["imam"], vectors[2])
    with pytest.raises(InputError, match="row of floats for each word"):
        Embedding("mine", ("a",), vectors)
    with pytest.raises(InputError, match="expected each word once, got 'imam'"):
        Embedding("mine", ("imam", "imam"), vectors[:2])


def test_choosing_from_an_embedding_keeps_the_record(tmp_path):
    whole = load_embedding({"rabbi": [1.0, 2.0], "priest": [3.0, 4.0]}, ["Rabbi", "priest"])
    e = load_embedding(whole, ["rabbi", "Priest", "imam"])
    assert e.words == ("rabbi", "Priest")
    assert e.matched == {"Priest": "priest"}
    assert e.missing == ("imam",)
    assert e["Priest"].tolist() == [3.0, 4.0]
    assert load_embedding(whole) is whole


@pytest.mark.parametrize("ending", [".vec", ".vec.gz", ".bin", ".bin.gz"])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_saved_files_come_back_and_gensim_reads_them(tmp_path, vectors, ending, dtype):
    table = vectors.astype(dtype) * np.pi
    path = tmp_path / f"out{ending}"
    save_embedding(Embedding("mine", tuple(WORDS), table), path)
    theirs = KeyedVectors.load_word2vec_format(str(path), binary="bin" in ending)
    assert theirs.index_to_key == WORDS
    assert np.array_equal(theirs.vectors, table.astype(np.float32))
    ours = load_embedding(path)
    exact = "vec" in ending and dtype == "f8"
    assert np.array_equal(
        ours.vectors if exact else ours.vectors.astype("f4"), table if exact else theirs.vectors
    )


def test_the_ending_says_how_vectors_are_written(tmp_path, vectors):
    mine = Embedding("mine", (*WORDS[:5], "new york"), vectors.astype("f8") * np.pi)
    save_embedding(mine, tmp_path / "a.npz")
    back = load_embedding(tmp_path / "a.npz")
    assert (back.provenance["format"], back.words) == ("npz", mine.words)
    assert np.array_equal(back.vectors, mine.vectors)
    with np.load(tmp_path / "a.npz") as arrays:
        assert np.array_equal(arrays["vectors"], mine.vectors)
    save_embedding(Embedding("mine", tuple(WORDS), vectors), tmp_path / "glove.6B.50d")
    assert load_embedding(tmp_path / "glove.6B.50d").provenance["format"] == "word2vec text"
    with pytest.raises(InputError, match=r"expected .txt.* got .parquet"):
        save_embedding(mine, tmp_path / "d.parquet")


def test_nothing_half_written(tmp_path, vectors):
    path = tmp_path / "out.txt"
    path.write_text("old")
    with pytest.raises(InputError, match="words without blanks, got 'new york'"):
        save_embedding(Embedding("mine", ("a", "new york"), vectors[:2]), path)
    assert path.read_text() == "old"
    with pytest.raises(InputError, match="can be written"):
        save_embedding(Embedding("mine", tuple(WORDS), vectors), tmp_path / "out.txt" / "x.txt")
    assert [p.name for p in tmp_path.iterdir()] == ["out.txt"]


@pytest.mark.slow
def test_memory_is_used_for_the_wanted_words_alone(tmp_path):
    table = np.ones((20_000, 300), dtype=np.float32)
    path = binary_file(tmp_path / "big.bin", [f"w{i}" for i in range(20_000)], table)
    del table
    load_embedding(path, ["w5"])
    tracemalloc.start()
    try:
        load_embedding(path, [f"w{i}" for i in range(0, 20_000, 100)])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert path.stat().st_size > 24_000_000
    assert peak < 4_000_000


def test_words_with_the_same_vector_are_grouped_in_the_order_asked():
    e = load_embedding(
        {"a": [1.0, 0.0], "b": [0.0, 1.0], "c": [1.0, -0.0], "d": [1.0, 1e-12], "e": [1.0, 1e-4]},
        ["c", "A", "a", "b", "d", "e"],
    )
    assert e.same_vectors() == [("c", "A", "a", "d")]
    assert e.same_vectors(["b", "a", "A"]) == [("a", "A")]
    assert e.same_vectors(["a", "b", "a"]) == []


@pytest.mark.parametrize("ending", [".feather", ".arrow", ".jsonl", ".pickle", ".xz", ".npz.gz"])
def test_a_format_that_is_only_read_is_not_written_as_another(tmp_path, vectors, ending):
    mine = Embedding("mine", tuple(WORDS), vectors)
    with pytest.raises(InputError, match=r"expected .txt, .vec, .w2v or .bin .*, or .npz, got"):
        save_embedding(mine, tmp_path / f"out{ending}")
    assert not list(tmp_path.iterdir())


def test_a_format_with_a_writer_is_written_by_its_ending(tmp_path, vectors, monkeypatch):
    def write(file, words, matrix):
        file.write(json.dumps(dict(zip(words, matrix.tolist(), strict=True))).encode())

    known = [
        dataclasses.replace(form, writer=Writer(write)) if form is tables.JSON else form
        for form in readers.KNOWN
    ]
    monkeypatch.setattr(readers, "KNOWN", tuple(known))
    save_embedding(Embedding("mine", tuple(WORDS), vectors), tmp_path / "out.json.gz")
    back = load_embedding(tmp_path / "out.json.gz")
    assert (back.words, back.provenance["format"]) == (tuple(WORDS), "JSON, compressed")
    assert np.array_equal(back.vectors, vectors)
