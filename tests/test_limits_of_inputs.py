"""Inputs that are too large are refused by what they state; an output is never an input; keys come once."""

import bz2
import gzip
import io
import json
import lzma
import os
import tracemalloc
import zipfile

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import bayesbias as bb
from bayesbias.cli.main import cli
from bayesbias.core import InputError, checks, files
from bayesbias.core.frames import read_rows
from bayesbias.embeddings.readers import arrays
from bayesbias.studies.responses.readers import load_responses
from bayesbias.wordlists.listfile import pairs

WORDS = [
    "judaism", "christianity", "islam", "jew", "christian", "muslim",
    "synagogue", "church", "mosque", "torah", "bible", "quran",
    "rabbi", "priest", "imam", "greedy", "violent", "critical",
    "table",
]  # fmt: skip
VECTORS = np.random.default_rng(0).normal(size=(len(WORDS), 20)).astype("f4")


def peak_of(call):
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def zeros_in_zip(path, name, megabytes, head=b""):
    """Write a zip of one member that unpacks to so many megabytes of zeros."""
    with (
        zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive,
        archive.open(name, "w") as out,
    ):
        out.write(head)
        for _ in range(megabytes):
            out.write(bytes(1 << 20))


@pytest.fixture
def small_limits(monkeypatch):
    monkeypatch.setattr(files, "MOST_BYTES", 1 << 20)


# -- pairs


def test_a_list_of_too_many_pairs_is_refused_before_vectors_are_read(tmp_path):
    n = 6000
    words = {
        side: {
            "protected": [f"{side}{i}" for i in range(n // 2)],
            "attributes": [f"{side}-{i}" for i in range(n // 2)],
        }
        for side in ("x", "y")
    }
    message = "expected at most 25,000,000 pairs, got 36,000,000 "
    with pytest.raises(InputError, match=message):
        bb.distance_table(tmp_path / "no-such-file.txt", words)
    with pytest.raises(InputError, match=message):
        pairs(words)


def test_five_million_pairs_are_below_the_limit():
    checks.number_of_pairs(1_000, 5_000, "list")


# -- sizes


def test_an_npz_is_refused_by_the_sizes_that_it_states(tmp_path, small_limits):
    path = tmp_path / "words.npz"
    head = io.BytesIO()
    header = {"descr": "<U1000", "fortran_order": False, "shape": (16 << 20,)}
    np.lib.format.write_array_header_1_0(head, header)
    zeros_in_zip(path, "words.npy", 64, head.getvalue())

    def load():
        with pytest.raises(InputError, match=r"expected at most .* bytes when unpacked, got 67,"):
            bb.load_embedding(path)

    assert peak_of(load) < 16 << 20


def test_a_large_npz_that_is_not_packed_much_is_read(tmp_path, small_limits):
    path = tmp_path / "vectors.npz"
    vectors = np.random.default_rng(1).normal(size=(10_000, 50)).astype("f4")  # 2 MB
    np.savez_compressed(path, words=np.array([f"w{i}" for i in range(10_000)]), vectors=vectors)
    assert path.stat().st_size > 1 << 20
    assert len(bb.load_embedding(path)) == 10_000


@pytest.mark.parametrize("name", ["header.json", "samples/1_epoch_1.json"])
def test_an_inspect_log_is_refused_by_the_sizes_that_it_states(tmp_path, name):
    path = tmp_path / "log.eval"
    zeros_in_zip(path, name, 65)

    def load():
        with pytest.raises(InputError, match=f"{name}: expected at most 67,108,864 bytes"):
            load_responses(path)

    assert peak_of(load) < 16 << 20


def test_the_samples_of_an_inspect_log_are_limited_together(tmp_path, small_limits):
    path = tmp_path / "log.eval"
    for number in range(8):
        zeros_in_zip(path, f"samples/{number}_epoch_1.json", 1)
    with pytest.raises(InputError, match=r"log.eval: expected at most .* got 8,388,608"):
        load_responses(path)


def read_whole(stream):
    stream.read()


def read_pieces(stream):
    while stream.readinto(bytearray(1 << 18)):
        pass


def read_lines(stream):
    while stream.readline():
        pass


@pytest.mark.parametrize("read", [read_whole, read_pieces, read_lines])
@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_packed_streams_are_read_up_to_the_limit(tmp_path, small_limits, pack, read):
    path = tmp_path / "packed.csv"
    path.write_bytes(pack(bytes(128 << 20)))

    def load():
        with (
            files.opened(path, unpack=True) as stream,
            pytest.raises(InputError, match=r"expected (at most|a line of at most)"),
        ):
            read(stream)

    assert peak_of(load) < 64 << 20


def test_a_zip_of_text_is_refused_by_the_size_that_it_states(tmp_path, small_limits):
    path = tmp_path / "vectors.zip"
    zeros_in_zip(path, "vectors.txt", 8)
    with pytest.raises(InputError, match=r"bytes when unpacked, got 8,388,608"):
        bb.load_embedding(path)


# -- an output is never an input


@pytest.fixture
def mine(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = (f"{word} {' '.join(map(str, row))}\n" for word, row in zip(WORDS, VECTORS, strict=True))
    path = tmp_path / "mine.txt"
    path.write_text("".join(rows))
    return path


def refused(*arguments):
    done = CliRunner().invoke(cli, list(arguments))
    return "expected a file that is no input" in str(done.exception)


def test_debias_does_not_write_over_its_input(mine):
    before = mine.read_bytes()
    os.symlink(mine, "symlink.txt")
    os.link(mine, "hardlink.txt")
    os.symlink(mine.parent, "folder")
    for out in ("mine.txt", "./mine.txt", "symlink.txt", "hardlink.txt", "folder/mine.txt"):
        command = ["debias", "--embedding", str(mine), "--wordlist", "religion", "--out", out]
        assert refused(*command), out
    assert mine.read_bytes() == before
    assert CliRunner().invoke(cli, [*command[:-1], "new.txt"]).exit_code == 0


def test_debias_does_not_write_over_the_words_of_a_matrix(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("matrix.npy", VECTORS)
    (tmp_path / "vocab.txt").write_text("\n".join(WORDS) + "\n")
    assert arrays.vocabulary_of(tmp_path / "matrix.npy").name == "vocab.txt"
    command = ["debias", "--embedding", "matrix.npy", "--wordlist", "religion"]
    assert refused(*command, "--out", "vocab.txt")
    assert refused(*command, "--vocab", "vocab.txt", "--out", "./vocab.txt")


def test_other_commands_do_not_write_over_their_inputs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    bb.wordlists.write_test(bb.sentence_test("weat7"), "test.json")
    assert refused("seat", "sentences", "test.json", "--out", "./test.json")
    words = tmp_path / "words.csv"
    words.write_text("x\n")
    for group in ("responses", "sentiment"):
        assert refused(group, "sentences", "--words", "words.csv", "--out", str(words))
    vectors = {word: row.tolist() for word, row in zip(WORDS, VECTORS, strict=True)}
    (tmp_path / "shape.json").write_text(json.dumps(vectors))
    assert refused("describe", "--embedding", "shape.json", "--out", ".")
    data = tmp_path / "classifier.json"
    data.write_text("good\t1\nbad\t0\n")
    command = ("sentiment", "train", "--model", "bow", "--data", "classifier.json", "--out", ".")
    assert refused(*command)


# -- a key twice


def test_a_key_twice_is_refused_in_lines_of_json(tmp_path):
    path = tmp_path / "answers.jsonl"
    path.write_text('{"group": "a", "outcome": 1}\n{"group": "b", "group": "c", "outcome": 0}\n')
    with pytest.raises(InputError, match=r"line 2: expected each key once, got 'group' twice"):
        load_responses(path)
    path.write_text('[{"group": "a", "group": "b", "outcome": 1}]')
    with pytest.raises(InputError, match="expected each key once, got 'group' twice"):
        load_responses(path)
    nested = '{"doc_id": 1, "doc": {"name": "a", "name": "b"}, "acc": 1}\n'
    path.write_text(nested)
    with pytest.raises(InputError, match="line 1: expected each key once, got 'name' twice"):
        load_responses(path)


def test_a_key_twice_is_refused_in_vectors_and_logs(tmp_path):
    path = tmp_path / "vectors.json"
    path.write_text('{"he": [1.0, 0.0], "she": [0.0, 1.0], "he": [0.5, 0.5]}')
    with pytest.raises(InputError, match="expected each key once, got 'he' twice"):
        bb.load_embedding(path)
    path.write_text(
        '{"word": "he", "vector": [1, 0]}\n{"word": "she", "word": "a", "vector": [1, 0]}'
    )
    with pytest.raises(InputError, match="line 2: expected each key once, got 'word' twice"):
        bb.load_embedding(path)
    log = tmp_path / "log.eval"
    with zipfile.ZipFile(log, "w") as archive:
        archive.writestr("samples/1_epoch_1.json", '{"id": 1, "id": 2, "scores": {}}')
    with pytest.raises(
        InputError, match=r"1_epoch_1\.json: expected each key once, got 'id' twice"
    ):
        load_responses(log)


def test_lines_of_json_are_read_as_before(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"a": 1, "b": {"c": "x"}}\n\n{"a": 2, "b": {"c": "y"}}\n')
    expected = pd.DataFrame({"a": [1, 2], "b.c": ["x", "y"]})
    pd.testing.assert_frame_equal(read_rows(path), expected)


# -- permissions


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="needs a user with permissions")
@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.jsonl", "t.eval", "t.npz", "t.txt"])
def test_a_file_that_may_not_be_read_is_named(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(b"PK\3\4")
    path.chmod(0)
    read = bb.load_embedding if name in ("t.npz", "t.txt") else load_responses
    with pytest.raises(InputError, match=f"{name}: expected .*Permission denied"):
        read(path)
