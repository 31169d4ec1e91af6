"""The index of a large file gives the same as the file."""

from __future__ import annotations

import os

import numpy as np
import pytest
from helpers.vector_files import GOOD, LINES, binary_file, text_file

from bayesbias.core.errors import InputError
from bayesbias.embeddings import file_index
from bayesbias.embeddings.loading import load_embedding


@pytest.mark.parametrize("form", ["binary", "newlines", "text", "glove"])
def test_index_gives_the_same_and_notices_changes(tmp_path, form):
    rng = np.random.default_rng(4)
    words = [f"wörd{i}" if i % 3 else f"word{i}" for i in range(500)] + ["new-york"]
    table = rng.standard_normal((501, 5)).astype(np.float32)
    path = tmp_path / "a.vec"

    def write(table):
        if form in ("binary", "newlines"):
            binary_file(path, words, table, newline=b"\n" if form == "newlines" else b"")
        else:
            text_file(
                path, [(w, v.tolist()) for w, v in zip(words, table, strict=True)], header=form == "text"
            )

    write(table)
    asked = ["Word3", "wörd4", "new_york", "word0", "absent"]
    first = load_embedding(path, asked, index=True)
    assert first.provenance["index"] == "written"
    second = load_embedding(path, asked)
    assert second.provenance["index"] == "used"
    assert np.array_equal(first.vectors, second.vectors)
    assert np.array_equal(second.vectors, table[[3, 4, 500, 0]])
    assert (second.matched, second.missing) == ({"Word3": "word3", "new_york": "new-york"}, ("absent",))
    same = ("sha256", "sha256_vectors", "count", "dim", "format")
    assert [first.provenance[key] for key in same] == [second.provenance[key] for key in same]
    assert "index" not in load_embedding(path, asked, index=False).provenance
    write(-table)
    os.utime(path, ns=(1, 1))
    third = load_embedding(path, asked, index=True)
    assert third.provenance["index"] == "written"
    assert np.array_equal(third.vectors, -table[[3, 4, 500, 0]])


def test_a_false_or_damaged_index_is_not_believed(tmp_path):
    path = text_file(
        tmp_path / "a.txt", [(w, [i + 1.0, 2.0]) for i, w in enumerate(["aa", "bb", "cc", "dd"])]
    )
    load_embedding(path, ["bb"], index=True)
    at = file_index.index_path(path)
    good = at.read_bytes()
    offsets = np.frombuffer(good[-32:], np.int64)
    for content in (
        good[:-32] + np.roll(offsets, 1).tobytes(),
        good[:-8],
        b"{}" + good[2:],
        b"",
        good.replace(b'"version": 2', b'"version": 1'),
    ):
        at.write_bytes(content)
        e = load_embedding(path, ["bb"])
        assert e["bb"].tolist() == [2.0, 2.0]
        assert "index" not in e.provenance
    at.write_bytes(good)
    assert load_embedding(path, ["bb"]).provenance["index"] == "used"


def test_an_index_that_cannot_be_written_does_no_harm(tmp_path, monkeypatch):
    (tmp_path / "blocked").write_text("a file where a folder should be")
    monkeypatch.setenv("BAYESBIAS_CACHE", str(tmp_path / "blocked"))
    path = text_file(tmp_path / "a.txt", GOOD)
    e = load_embedding(path, ["imam"], index=True)
    assert e.provenance["index"].startswith("not written: ")
    assert e["imam"].tolist() == [7, 8, 9]

    monkeypatch.setenv("BAYESBIAS_CACHE", str(tmp_path / ("long" * 100)))
    again = load_embedding(path, ["imam"], index=True)
    assert again.provenance["index"].startswith("not written: ")
    assert again["imam"].tolist() == [7, 8, 9]


def test_the_index_knows_repeats_and_skipped_words(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(LINES + b"imam 1 1 1\nb\xffd 1 2 3\n")
    assert (
        load_embedding(path, ["rabbi"], index=True, on_invalid_utf8="skip").provenance["index"] == "written"
    )
    assert "skipped (line 5)" in load_embedding(path, ["rabbi"], on_invalid_utf8="skip").notes[0]
    with pytest.raises(InputError, match="not valid UTF-8"):
        load_embedding(path, ["rabbi"])
    with pytest.raises(InputError, match="'imam' stands there twice"):
        load_embedding(path, ["imam"], on_invalid_utf8="skip")
