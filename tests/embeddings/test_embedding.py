"""The value that holds vectors, and how it is written."""

from __future__ import annotations

import io
import pickle
import sys
import tracemalloc

import numpy as np
import pytest
from helpers.vector_files import GOOD, WORDS, binary_file, text_file

from bayesbias.core.errors import InputError
from bayesbias.embeddings.embedding import Embedding
from bayesbias.embeddings.loading import load_embedding
from bayesbias.embeddings.writing import save_embedding, save_vectors


def test_embedding_value(vectors):
    e = Embedding("mine", tuple(WORDS), vectors)
    assert "imam" in e
    assert "Imam" not in e
    assert len(e) == 6
    assert np.array_equal(e.vectors_of(["imam", "rabbi", "imam"]), vectors[[2, 0, 2]])
    with pytest.raises(
        InputError, match=r"'mine': has no vector for some words; found: 'imma, x'; did you mean 'imam'"
    ):
        e.vectors_of(["imma", "rabbi", "x"])
    with pytest.raises(ValueError, match="read-only"):
        e.vectors[0, 0] = 1
    again = pickle.loads(pickle.dumps(e))
    assert np.array_equal(again["imam"], vectors[2])
    with pytest.raises(InputError, match="vectors do not fit the words"):
        Embedding("mine", ("a",), vectors)
    with pytest.raises(InputError, match="a word stands twice; found: 'imam'"):
        Embedding("mine", ("imam", "imam"), vectors[:2])


def test_repr_is_short_and_says_what_matters():
    e = load_embedding({"rabbi": [1.0, 2.0], "priest": [3.0, 4.0]}, ["Rabbi", "priest", "imam"], name="mine")
    assert repr(e) == (
        "<Embedding 'mine': 2 words, 2 dimensions, mapping; 1 missing (imam); 1 by another spelling (Rabbi)>"
    )


def test_choosing_from_an_embedding_keeps_the_record(tmp_path):
    whole = load_embedding({"rabbi": [1.0, 2.0], "priest": [3.0, 4.0]}, ["Rabbi", "priest"])
    e = load_embedding(whole, ["rabbi", "Priest", "imam"])
    assert e.words == ("rabbi", "Priest")
    assert e.matched == {"Priest": "priest"}
    assert e.missing == ("imam",)
    assert e["Priest"].tolist() == [3.0, 4.0]
    assert load_embedding(whole) is whole


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("suffix", ["", ".gz"])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_saved_files_come_back(tmp_path, vectors, binary, suffix, dtype):
    gensim = pytest.importorskip("gensim.models")
    table = vectors.astype(dtype) * np.pi
    path = tmp_path / f"out.vec{suffix}"
    save_embedding(Embedding("mine", tuple(WORDS), table), path, binary=binary)
    theirs = gensim.KeyedVectors.load_word2vec_format(str(path), binary=binary)
    assert theirs.index_to_key == WORDS
    assert np.array_equal(theirs.vectors, table.astype(np.float32))
    ours = load_embedding(path)
    assert np.array_equal(
        ours.vectors, table.astype(np.float32) if binary else table.astype(ours.vectors.dtype)
    ) or (dtype == "f4" and np.array_equal(ours.vectors.astype(np.float32), table))


def test_the_ending_says_how_vectors_are_written(tmp_path, vectors):
    words = (*WORDS[:5], "new york")
    mine = Embedding("mine", words, vectors.astype("f8") * np.pi)
    for name in ("a.npz", "b.npz"):
        save_vectors(mine, tmp_path / name)
    back = load_embedding(tmp_path / "a.npz")  # as numpy's own reader has it
    assert back.provenance["format"] == "npz"
    assert back.words == words
    assert np.array_equal(back.vectors, mine.vectors)
    with np.load(tmp_path / "b.npz") as arrays:
        assert arrays["words"].tolist() == list(words)
        assert np.array_equal(arrays["vectors"], mine.vectors)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    assert (tmp_path / "a.npz.sha256").read_text().split()[1] == "a.npz"
    with pytest.raises(InputError, match="cannot hold these words"):
        save_vectors(mine, tmp_path / "a.txt")
    plain = Embedding("mine", tuple(WORDS), vectors)
    forms = {}
    for name in ("c.txt", "c.vec.gz", "c.bin", "c.bin.gz", "glove.6B.50d", "C.NPZ"):
        save_vectors(plain, tmp_path / name)
        again = load_embedding(tmp_path / name)
        forms[name] = again.provenance["format"]
        np.testing.assert_allclose(again.vectors, plain.vectors, rtol=1e-7)
    assert list(forms.values()) == [
        "word2vec text", "word2vec text, gzipped", "word2vec binary", "word2vec binary, gzipped", "word2vec text", "npz",
    ]  # fmt: skip
    for name, found in {"d.npz.gz": r"\.npz\.gz", "d.parquet": r"\.parquet", "d.KV": r"\.KV"}.items():
        with pytest.raises(
            InputError, match=f"not written in this form; found: '{found}'; valid: .txt, .vec"
        ):
            save_vectors(plain, tmp_path / name)
    assert not [path for path in tmp_path.iterdir() if path.name.startswith("d.")]


def test_nothing_half_written(tmp_path, vectors):
    path = tmp_path / "out.txt"
    path.write_text("old")
    with pytest.raises(InputError, match=r"cannot hold these words; found: \"'new york'\""):
        save_embedding(Embedding("mine", ("a", "new york"), vectors[:2]), path)
    assert path.read_text() == "old"
    with pytest.raises(InputError, match="cannot be written"):
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


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress_goes_to_stderr_and_only_on_a_terminal(tmp_path, capsys, monkeypatch):
    from bayesbias.core import progress

    clock = iter(range(0, 10_000, 3))
    monkeypatch.setattr(progress.time, "perf_counter", lambda: next(clock))
    path = text_file(tmp_path / "slow.txt", GOOD)
    load_embedding(path, ["imam"], index=False)
    assert capsys.readouterr() == ("", "")
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    load_embedding(path, ["imam"], progress=False, index=False)
    assert terminal.getvalue() == ""
    load_embedding(path, ["imam"], index=False)
    assert "reading slow.txt" in terminal.getvalue()
    assert capsys.readouterr().out == ""


def test_words_without_an_order_have_no_rows(vectors):
    with pytest.raises(InputError, match="words: has no order"):
        Embedding("mine", tuple(WORDS), vectors).vectors_of({"rabbi", "imam"})


@pytest.mark.parametrize("held", ["K\u00f6nig", "Ko\u0308nig"])
def test_an_accent_may_be_a_mark_of_its_own_on_either_side(held):
    e = Embedding("e", ("she", held), np.eye(2))
    for asked in ("K\u00f6nig", "Ko\u0308nig"):
        assert asked in e
        assert e[asked].tolist() == e.vectors_of(["she", asked])[1].tolist() == [0, 1]
    assert "Konig" not in e
    assert 3 not in e
    both = Embedding("e", ("K\u00f6nig", "Ko\u0308nig"), np.eye(2))
    assert [both[w].tolist() for w in both.words] == [[1, 0], [0, 1]]


def test_words_with_the_same_vector_are_grouped_in_the_order_asked():
    e = load_embedding(
        {"a": [1.0, 0.0], "b": [0.0, 1.0], "c": [1.0, -0.0], "d": [1.0, 1e-12]}, ["c", "A", "a", "b", "d"]
    )
    assert e.same_vectors() == [("c", "A", "a")]
    assert e.same_vectors(["b", "a", "A"]) == [("a", "A")]
    assert e.same_vectors(["a", "b", "a"]) == []
