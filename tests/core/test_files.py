"""A file is written whole or not at all: killed at any step, with a full disk, by two at once."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from helpers.places import ROOT

from bayesbias.core.errors import InputError
from bayesbias.core.files import check_file, records, sum_beside, unfinished, whole_file
from bayesbias.core.seals import State, state_of_summed

CALLS = ("open", "fsync", "replace", "unlink", "mkdir", "close", "chmod")


def hidden(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if path.name.startswith(".")]


def state(path: Path) -> tuple[bytes, bool | None]:
    """Return the content, and whether the sum beside it is its own; None where there is none."""
    content, beside = path.read_bytes(), sum_beside(path)
    if not beside.exists():
        return content, None
    return content, beside.read_text() == f"{hashlib.sha256(content).hexdigest()}  {path.name}\n"


def write(path: Path, content: bytes) -> None:
    with whole_file(path, summed=True) as temporary:
        temporary.write_bytes(content)


def test_a_file_and_its_sum(tmp_path):
    path = tmp_path / "deep" / "file.txt"
    for content in (b"old", b"new"):
        write(path, content)
        assert state(path) == (content, True)
        assert path.stat().st_mode == sum_beside(path).stat().st_mode
    assert sorted(p.name for p in path.parent.iterdir()) == ["file.txt", "file.txt.sha256"]


def kill_at_every_step(path: Path) -> None:
    """What the test below says, in a process that has one thread and may be forked."""
    os.fsync = lambda handle: None  # it takes long, and matters only where the whole machine dies
    write(path, b"old")
    before = 0
    for at in range(1, 100):
        child = os.fork()
        if not child:
            count = 0

            def killing(real, at=at):
                def call(*arguments, **options):
                    nonlocal count
                    count += 1
                    if count == at:
                        os.kill(os.getpid(), signal.SIGKILL)
                    return real(*arguments, **options)

                return call

            for name in CALLS:
                setattr(os, name, killing(getattr(os, name)))
            write(path, b"new")
            os._exit(0)
        ended = os.waitpid(child, 0)[1]
        assert ended in (0, signal.SIGKILL), ended
        content, own = state(path)
        assert content in (b"old", b"new")
        assert own is not False  # never the sum of the other
        assert own or ended
        before += content == b"old"
        with whole_file(path) as temporary:  # the next writer removes what is left
            temporary.write_bytes(b"next")
        with whole_file(sum_beside(path)) as temporary:
            temporary.write_bytes(b"next")
        assert hidden(path.parent) == [], (at, hidden(path.parent))
        if not ended:
            break
        write(path, b"old")
    print(at, before)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.slow
def test_killed_at_any_step_it_is_the_old_file_or_the_new_one(tmp_path):
    code = "import pathlib, runpy, sys; runpy.run_path(sys.argv[1])['kill_at_every_step'](pathlib.Path(sys.argv[2]))"
    child = subprocess.run(
        [sys.executable, "-c", code, __file__, str(tmp_path / "file.txt")],
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "tests")))},
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert child.returncode == 0, child.stderr
    steps, before = map(int, child.stdout.split())
    assert steps > 10
    assert 5 < before < steps


def test_a_disk_that_fills_at_any_step_changes_nothing(tmp_path, monkeypatch):
    path = tmp_path / "file.txt"
    write(path, b"old")
    for name in ("fsync", "replace", "open", "mkdir"):
        real = getattr(os, name)
        for at in range(1, 20):
            count = 0

            def full(*arguments, real=real, at=at, **options):
                nonlocal count
                count += 1
                if count == at:
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                return real(*arguments, **options)

            with monkeypatch.context() as patch:
                patch.setattr(os, name, full)
                with contextlib.suppress(InputError):
                    write(path, b"new")
            content, own = state(path)
            assert content in (b"old", b"new")
            assert own is not False
            assert hidden(tmp_path) == []
            write(path, b"old")
            if count < at:
                break
    monkeypatch.setattr(os, "fsync", lambda handle: (_ for _ in ()).throw(OSError(errno.ENOSPC, "full")))
    with pytest.raises(
        InputError, match=r"file\.txt: cannot be written: full; nothing was left half-written"
    ):
        write(path, b"new")
    assert state(path) == (b"old", True)


def test_what_a_living_writer_is_at_is_left_alone(tmp_path):
    path = tmp_path / "file.txt"
    with whole_file(path) as slow:
        slow.write_bytes(b"slow")
        write(path, b"quick")
        assert slow.read_bytes() == b"slow"
        mine = tmp_path / f".{path.name}.of-mine{path.suffix}"
        mine.write_bytes(b"mine")  # of another form than ours
    assert path.read_bytes() == b"slow"
    write(path, b"last")
    assert hidden(tmp_path) == [mine.name]


WRITES = """
import sys
from pathlib import Path
from bayesbias.core.files import whole_file
for number in range(60):
    with whole_file(Path(sys.argv[1]), summed=True) as temporary:
        temporary.write_bytes(sys.argv[2].encode() * (number + 1))
"""


@pytest.mark.slow
def test_two_writers_at_once_leave_the_file_of_one_with_its_sum(tmp_path):
    path = tmp_path / "file.txt"
    both = [
        subprocess.Popen(
            [sys.executable, "-c", WRITES, str(path), name], env={**os.environ, "PYTHONPATH": str(ROOT)}
        )
        for name in ("a", "b")
    ]
    assert [writer.wait(120) for writer in both] == [0, 0]
    content, own = state(path)
    assert content in (b"a" * 60, b"b" * 60)
    assert own
    assert hidden(tmp_path) == []


def test_what_is_no_file_is_never_replaced(tmp_path):
    """Renaming would put a plain file in the place of a device or a pipe."""
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    (tmp_path / "folder").mkdir()
    for path, kind in ((pipe, "a device or a pipe"), (tmp_path / "folder", "a folder")):
        problem = f"is {kind}, and no file can be written in its place"
        with pytest.raises(InputError, match=problem), whole_file(path):
            pass
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert sorted(item.name for item in tmp_path.iterdir()) == ["folder", "pipe.csv"]


@pytest.mark.parametrize("name", [b" a", b"*a", b"a\\b", b"a\nb", "a\u2028b".encode(), b"a  b", b"a\xff"])
def test_a_file_of_any_name_is_held_to_its_sum(name, tmp_path):
    path = tmp_path / os.fsdecode(name)
    write(path, b"whole")
    assert state_of_summed(path) is State.INTACT
    if shutil.which("sha256sum"):
        checked = subprocess.run(
            ["sha256sum", "-c", sum_beside(path).name], cwd=tmp_path, capture_output=True
        )
        assert checked.returncode == 0, checked.stderr
    path.write_bytes(b"other")
    assert state_of_summed(path) is State.DAMAGED


@pytest.mark.parametrize("ending", [".txt", f".{'e' * 240}"])
def test_a_name_may_be_as_long_as_the_file_system_takes(ending, tmp_path):
    path = tmp_path / f"{'y' * (255 - len(ending))}{ending}"
    for content in ("one", "other"):
        with whole_file(path) as temporary:
            temporary.write_text(content)
            assert len(unfinished(path)) == 1  # by which that of a killed writer is found
        assert path.read_text() == content
    assert hidden(tmp_path) == []


def test_a_link_is_followed_and_stays(tmp_path):
    """As it is where a result is a folder."""
    (tmp_path / "there").mkdir()
    for name in ("old", "new"):
        (tmp_path / "there" / "old").write_text("old")
        (tmp_path / f"{name}.txt").symlink_to(Path("there") / name)
        with whole_file(tmp_path / f"{name}.txt", summed=True) as temporary:
            temporary.write_text(name)
        assert (tmp_path / f"{name}.txt").is_symlink()
        assert (tmp_path / "there" / name).read_text() == name
        assert sum_beside(tmp_path / "there" / name).exists()
    assert hidden(tmp_path) == hidden(tmp_path / "there") == []


def test_a_place_is_refused_before_the_work(tmp_path):
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "file").write_text("old")
    for place, said in {
        "loop/x.html": "cannot be written: Too many levels of symbolic links",
        "file/x.html": "cannot be written: Not a directory",
        f"{'x' * 300}.html": "cannot be written: File name too long",
        ".": "is a folder",
    }.items():
        with pytest.raises(InputError, match=said) as caught:
            check_file(tmp_path / place)
        assert str(tmp_path) in str(caught.value)
    for place in ("file", "new", "new/newer/x.html"):
        check_file(tmp_path / place)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "loop"]


def test_rows_for_json_keep_all_digits_and_what_does_not_exist_is_null():
    frame = pd.DataFrame(
        {
            "p": [1.23456789012e-9, np.nan, np.inf],
            "n": pd.array([1, None, 3], dtype="Int64"),
            "ok": [True, False, True],
            "name": pd.Categorical(["a", None, "b"]),
            "pair": [("x", np.int64(1)), None, ("y", 2)],
        }
    )
    assert json.loads(json.dumps(records(frame), allow_nan=False)) == [
        {"p": 1.23456789012e-9, "n": 1, "ok": True, "name": "a", "pair": ["x", 1]},
        {"p": None, "n": None, "ok": False, "name": None, "pair": None},
        {"p": None, "n": 3, "ok": True, "name": "b", "pair": ["y", 2]},
    ]


def test_folders_made_for_a_file_that_was_not_written_are_gone(tmp_path):
    (tmp_path / "there").mkdir()
    with pytest.raises(InputError, match="full"), whole_file(tmp_path / "there" / "new" / "deep" / "x.txt"):
        raise OSError(28, "the disk is full")
    assert [p.name for p in tmp_path.rglob("*")] == ["there"]
    with whole_file(tmp_path / "new" / "x.txt") as temporary:
        temporary.write_text("x")
    assert (tmp_path / "new" / "x.txt").read_text() == "x"
