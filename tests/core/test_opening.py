"""What bears a path: files, pipes, and what is neither."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import bayesbias as bb
from bayesbias.classifiers.training import read_labelled
from bayesbias.core.errors import InputError
from bayesbias.core.files import data_dir
from bayesbias.core.opening import as_plain_file, opened, path_of, read_bytes, sha256_file
from bayesbias.sweeps.plan import load_plan
from bayesbias.tables.reading_covariates import covariates_given
from bayesbias.wordlists.sentence_tests import published_json


def refused(path: Path | str, **kwargs) -> str:
    with pytest.raises(InputError) as caught:
        read_bytes(Path(path), **kwargs)
    assert str(path) in str(caught.value)
    return str(caught.value)


def test_a_file_is_read(tmp_path):
    path = tmp_path / "a.bin"
    path.write_bytes(b"abc" * 700_000)
    assert read_bytes(path) == path.read_bytes()
    with as_plain_file(path) as same:
        assert same == path


def test_a_missing_file_names_the_nearest(tmp_path):
    (tmp_path / "vectors.txt").touch()
    assert "no such file; did you mean 'vectors.txt'?" in refused(tmp_path / "vector.txt")
    assert "there is no folder" in refused(tmp_path / "no" / "vector.txt")
    assert "no such table" in refused(tmp_path / "x", noun="table")


def test_what_is_no_file_is_named(tmp_path):
    assert "is a folder" in refused(tmp_path)
    for device in ("/dev/zero", "/dev/null", "/dev/urandom"):
        assert "is a device" in refused(device)
    with socket.socket(socket.AF_UNIX) as made:
        here = os.getcwd()
        os.chdir(tmp_path)  # since the path of a socket must be short
        try:
            made.bind("s")
        finally:
            os.chdir(here)
        assert "is a socket" in refused(tmp_path / "s")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    assert "cannot be read" in refused(tmp_path / "loop")
    with pytest.raises(InputError, match="cannot be read: File name too long"):
        read_bytes(tmp_path / ("n" * 5000))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_named(tmp_path):
    path = tmp_path / "mine"
    path.touch(0)
    assert "Permission denied" in refused(path)


def test_the_system_refuses_in_our_words(tmp_path, monkeypatch):
    path = tmp_path / "mine"
    path.touch()

    def denied(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", denied)
    assert refused(path).endswith("cannot be read: Permission denied")


@pytest.mark.parametrize("path", ["a\0b", "", 7, b"x", "~nobody-of-this-name/x"])
def test_what_is_no_path_is_refused(path):
    with pytest.raises(InputError):
        path_of(path)


def test_a_file_larger_than_its_kind_is_refused(tmp_path):
    path = tmp_path / "large"
    with open(path, "wb") as file:
        file.truncate(1 << 40)  # a hole: nothing is written
    started = time.perf_counter()
    assert "at most 1,000,000 bytes" in refused(path, most=1_000_000)
    assert time.perf_counter() - started < 1


@pytest.mark.parametrize(
    ("read", "name"),
    [
        (bb.load_model, "m.toml"),
        (bb.load_wordlist, "w.toml"),
        (bb.load_wordlist, "w.json"),
        (bb.wordlists.load_occupations, "o.toml"),
        (load_plan, "p.toml"),
        (bb.sentence_test, "t.jsonl"),
    ],
)
def test_no_door_reads_what_is_larger_than_its_kind(read, name, tmp_path):
    """A model's file was read whole before it was called too large: a gigabyte for a hole of two."""
    with open(tmp_path / name, "wb") as file:
        file.truncate(1 << 40)
    started = time.perf_counter()
    with pytest.raises(InputError, match="is too large; valid: at most"):
        read(tmp_path / name)
    assert time.perf_counter() - started < 1


@pytest.mark.slow
def test_a_named_pipe_without_a_writer_is_refused_soon(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    started = time.perf_counter()
    assert "nobody wrote to" in refused(pipe)
    with pytest.raises(InputError, match="read more than once"), opened(pipe):
        pass
    assert time.perf_counter() - started < 4


@pytest.fixture
def piped():
    """Return what makes the path of a pipe that holds some bytes, as process substitution hands one over."""
    handles, writers = [], []

    def make(content: bytes) -> Path:
        out, into = os.pipe()
        handles.append(out)

        def write() -> None:
            with contextlib.suppress(BrokenPipeError), open(into, "wb", buffering=0) as file:
                file.write(content)

        writers.append(threading.Thread(target=write))
        writers[-1].start()
        return Path(f"/dev/fd/{out}")

    yield make
    for handle in handles:
        os.close(handle)
    for writer in writers:
        writer.join()


def test_a_small_pipe_that_was_handed_over_may_be_read_again(piped, tmp_path, monkeypatch):
    """Word lists, facts, counts, tests and predictions are read twice, once for their hash."""
    content = os.urandom(300_000)
    for whole in (True, False):
        pipe = piped(content)
        assert not whole or read_bytes(pipe) == content
        for _ in range(2):
            with opened(pipe) as file:
                assert file.read() == content
        assert sha256_file(pipe) == hashlib.sha256(content).hexdigest()
    monkeypatch.setattr("bayesbias.core.opening._MOST_KEPT", 1000)
    with pytest.raises(InputError, match="read more than once"), opened(piped(content)):
        pass


def test_what_is_read_twice_comes_by_a_pipe_too(piped):
    listed = (data_dir("wordlists") / "weat7.toml").read_bytes()
    assert bb.load_wordlist(piped(listed)).words == bb.load_wordlist("weat7").words
    test = published_json(bb.sentence_test("weat7"), True).encode()
    assert bb.sentence_test(str(piped(test))).sizes == bb.sentence_test("weat7").sizes
    as_json = json.dumps({"a": {"protected": ["x", "y"], "attributes": ["b", "c"]}, "d": {"protected": ["z", "w"],
                          "attributes": ["e", "f"]}}).encode()  # fmt: skip
    assert [c.name for c in bb.load_wordlist(piped(as_json)).classes] == ["a", "d"]
    sentences = bb.predict(lambda all_of: [0.5] * len(all_of), name="m", check=False).frame
    numbers = "".join(f"{0.4 + 0.001 * (i % 9):.3f}\n" for i in range(len(sentences))).encode()
    assert len(bb.load_predictions(piped(numbers)).frame) == len(sentences)


def test_a_named_pipe_is_read_to_its_end(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    content = os.urandom(300_000)

    def write() -> None:
        with open(pipe, "wb", buffering=0) as file:
            time.sleep(0.05)
            file.write(content[:10])
            time.sleep(0.05)
            file.write(content[10:])

    writer = threading.Thread(target=write)
    writer.start()
    assert read_bytes(pipe) == content
    writer.join()


def test_a_pipe_is_put_aside_where_it_is_read_twice():
    read, write = os.pipe()
    content = os.urandom(20_000)
    try:
        os.write(write, content)
        os.close(write)
        with as_plain_file(Path(f"/dev/fd/{read}")) as path:
            assert path.read_bytes() == path.read_bytes() == content
            assert len(sha256_file(path)) == 64
        assert not path.exists()
    finally:
        os.close(read)


def test_standard_input_is_read_and_a_closed_one_is_empty():
    code = "from bayesbias.core.opening import *; print(len(read_bytes(Path('/dev/stdin'))))"
    for given in (b"x" * 100_000, b""):
        done = subprocess.run([sys.executable, "-c", code], input=given, capture_output=True, check=True)
        assert int(done.stdout) == len(given)


DOORS = {
    "word list": bb.load_wordlist,
    "controls": lambda path: bb.load_wordlist("religion", controls=path),
    "model": bb.load_model,
    "vectors": bb.load_embedding,
    "vectors, moved": lambda path: bb.load_embedding(path, postprocess="center"),
    "distances": bb.load_distances,
    "encoder": bb.load_encoder,
    "averages": lambda path: bb.load_encoder(f"cbow:{path}"),
    "classifier": bb.load_classifier,
    "predictions": bb.load_predictions,
    "labelled": read_labelled,
    "cache": lambda path: bb.encode(bb.load_encoder(len, name="x", version="1"), ["a"], cache=path),
    "plan": load_plan,
    "run": bb.load_run,
    "verified": bb.runs.verify_run,
    "test": bb.sentence_test,
    "tests": bb.seat,
    "facts": lambda path: covariates_given(path),
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("path", ["~nobody.at.all/x.npz", "a" * 300, "b" * 5000, "c/" * 60 + "d" * 300])
def test_whatever_bears_no_file_is_refused_at_every_door(door, path):
    with pytest.raises(InputError):
        DOORS[door](path)


@pytest.mark.parametrize("door", [door for door in DOORS if door not in ("averages", "cache", "tests")])
def test_a_folder_that_is_closed_is_said_to_be(door, tmp_path, monkeypatch):
    """As the system answers whoever may not look into it, root apart."""

    def closed(ask):
        def asked(path, *rest, **more):
            if isinstance(path, str | os.PathLike) and "closed" in os.fspath(path):
                raise PermissionError(errno.EACCES, "Permission denied", os.fspath(path))
            return ask(path, *rest, **more)

        return asked

    for name in ("stat", "lstat", "scandir", "listdir"):
        monkeypatch.setattr(os, name, closed(getattr(os, name)))
    with pytest.raises(InputError, match="Permission denied"):
        DOORS[door](
            str(
                tmp_path
                / "closed"
                / ("x.npz" if door == "encoder" else "x.csv" if door == "facts" else "x.toml")
            )
        )


@pytest.mark.parametrize("load", [bb.predict, lambda path: bb.encode(path, ["a"])])
def test_a_path_of_bytes_is_refused(load, tmp_path, monkeypatch):
    (tmp_path / "x").touch()
    monkeypatch.chdir(tmp_path)
    with os.scandir(b".") as found, pytest.raises(InputError, match=r"\./x"):
        load(next(found))
