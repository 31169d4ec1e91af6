"""A folder is replaced whole or not at all: killed anywhere, with a full disk, beside files of others, in any place."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.places import ROOT

from bayesbias import InputError
from bayesbias.runs import transaction
from bayesbias.runs.transaction import settle, whole_folder

OLD = {"a.csv": "old a", "b.csv": "old b", "figures/1.svg": "old 1", "figures/2.svg": "old 2"}
NEW = {"a.csv": "new a", "c.csv": "new c", "figures/1.svg": "new 1"}
NAMES = {*OLD, *NEW}


def ours(folder: Path) -> set[str]:
    """Known by name here; a run reads them from its manifest."""
    return {name for name in NAMES if (folder / name).is_file()}


def fill(folder: Path, content: dict[str, str]) -> None:
    for name, text in content.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def content(folder: Path, *, hidden: bool = False) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        and (hidden or not any(p.startswith(".unf") for p in path.relative_to(folder).parts))
    }


def replace(folder: Path, files: dict[str, str] = NEW) -> None:
    with whole_folder(folder, ours) as new:
        fill(new, files)


def hidden(folder: Path) -> list[str]:
    return sorted(p.name for place in (folder, folder.parent) for p in place.glob(".*unfinished*"))


@pytest.fixture(params=["exchanged", "one by one", "beside files of others"])
def run(request, tmp_path, monkeypatch) -> Path:
    """A folder with an earlier run, for each of the ways in which it is replaced."""
    folder = tmp_path / "run"
    fill(folder, OLD)
    if request.param == "one by one":  # as on a system that cannot exchange
        monkeypatch.setattr(transaction, "_exchange", lambda *_: False)
    elif request.param == "beside files of others":
        fill(folder, {"mine.txt": "mine", "figures/mine.png": "mine", "cells/x.json": "{}"})
    elif not sys.platform.startswith("linux"):
        pytest.skip("only Linux exchanges folders")
    return folder


def others(folder: Path) -> dict[str, str]:
    return {name: text for name, text in content(folder).items() if name not in NAMES}


def test_a_new_folder_is_made_with_its_parents(tmp_path):
    folder = tmp_path / "deep" / "er" / "run"
    replace(folder)
    assert content(folder, hidden=True) == NEW
    assert hidden(folder) == []
    assert folder.stat().st_mode & 0o777 == (tmp_path / "deep").stat().st_mode & 0o777


def test_an_earlier_run_is_replaced_as_a_whole_and_nothing_else(run):
    before = others(run)
    replace(run)
    assert content(run, hidden=True) == NEW | before
    assert hidden(run) == []
    replace(run, {"a.csv": "third"})
    assert content(run, hidden=True) == {"a.csv": "third"} | before
    assert (run / "figures").exists() == ("figures/mine.png" in before)


def test_where_writing_fails_all_stays_as_it_was(run, tmp_path):
    before = content(run)

    def write(folder, error):
        with whole_folder(folder, ours) as new:
            fill(new, NEW)
            raise InputError("no", where=new / "c.csv") if error is InputError else error

    with pytest.raises(InputError, match=f"{run}/c.csv: no$"):
        write(run, InputError)
    for folder in (run, tmp_path / "deep" / "new"):
        with pytest.raises(KeyboardInterrupt):
            write(folder, KeyboardInterrupt)
    assert content(run, hidden=True) == before
    assert hidden(run) == []
    assert not (tmp_path / "deep").exists()


def test_a_disk_that_fills_at_any_moment_changes_nothing(run, monkeypatch):
    before, count = content(run), 0

    def real(handle):
        pass  # it takes long, and matters only where the whole machine dies

    def full(at):
        def fsync(handle):
            nonlocal count
            count += 1
            if count == at:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            real(handle)

        return fsync

    for at in range(1, 100):
        count = 0
        monkeypatch.setattr(os, "fsync", full(at))
        with contextlib.suppress(InputError):  # which says so, as is tested below
            replace(run)
        monkeypatch.setattr(os, "fsync", real)
        settle(run, clean=True)
        now = content(run, hidden=True)
        assert now in (before, NEW | others(run))
        assert hidden(run) == []
        if count < at:
            break
        replace(run, OLD)
    assert 6 < at < 30  # every file and folder was reached
    assert now == NEW | others(run)
    monkeypatch.setattr(os, "fsync", full(1))
    count = 0
    with pytest.raises(InputError, match="cannot be written: No space left on device"):
        replace(run)


CALLS = ("fsync", "replace", "rename", "unlink", "rmdir", "mkdir")


def killed_before(at: int, folder: Path) -> bool:
    """Replace the run in a process of its own; say whether it was killed before its call number `at`."""
    child = os.fork()
    if child:
        status = os.waitpid(child, 0)[1]
        assert status in (0, signal.SIGKILL), status
        return status != 0
    count = 0

    def killing(real):
        def call(*arguments, **options):
            nonlocal count
            count += 1
            if count == at:
                os.kill(os.getpid(), signal.SIGKILL)
            return real(*arguments, **options)

        return call

    for name in CALLS:
        setattr(os, name, killing(getattr(os, name)))
    transaction._exchange = killing(transaction._exchange)
    replace(folder)
    os._exit(0)


def kill_at_every_step(folder: Path, way: str) -> None:
    """What the test below says, in a process that has one thread and may be forked."""
    if way == "one by one":
        transaction._exchange = lambda *_: False
    os.fsync = lambda handle: None  # it takes long, and matters only where the whole machine dies
    before, foreign, states = content(folder), others(folder), []
    for at in range(1, 200):
        killed = killed_before(at, folder)
        assert others(folder) == foreign
        if way == "exchanged":  # even for who looks before anybody has tidied up
            assert content(folder) in (before, NEW)
        settle(folder)  # as opening a run does
        now = content(folder)
        assert now in (before, NEW | foreign)
        states.append(now == NEW | foreign)
        if not killed:
            break
        replace(folder, OLD)
        assert content(folder, hidden=True) == before
        assert hidden(folder) == []
    assert states == sorted(states)
    print(states.count(False), states.count(True))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.slow
def test_killed_at_any_step_it_is_the_old_run_or_the_new_one(run, request):
    """Before every call that changes a file system."""
    way = request.node.callspec.params["run"]
    code = "import pathlib, runpy, sys; runpy.run_path(sys.argv[1])['kill_at_every_step'](pathlib.Path(sys.argv[2]), sys.argv[3])"
    child = subprocess.run(
        [sys.executable, "-c", code, __file__, str(run), way],
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "tests")))},
        capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert child.returncode == 0, child.stderr
    old, new = map(int, child.stdout.split())
    assert old > 5  # kills that leave the old run, and
    assert new > 3  # kills that leave the new one


def test_what_a_living_writer_is_at_is_left_alone(run):
    with whole_folder(run, ours) as new:
        fill(new, NEW)
        settle(run, clean=True)
        replace(run, {"a.csv": "quicker"})
        assert content(run) == {"a.csv": "quicker"} | others(run)
        assert content(new) == NEW
    assert content(run, hidden=True) == NEW | others(run)
    assert hidden(run) == []


def test_two_writers_of_a_new_folder(tmp_path):
    folder = tmp_path / "run"
    with whole_folder(folder, ours) as new:
        fill(new, NEW)
        replace(folder, OLD)
    assert content(folder, hidden=True) == NEW
    assert hidden(folder) == []


def test_a_file_that_is_not_ours_is_never_replaced(tmp_path):
    folder = tmp_path / "run"
    fill(folder, {"a.csv": "mine"})
    with (
        pytest.raises(InputError, match=r"holds a\.csv, which no run wrote"),
        whole_folder(folder, lambda _: set()) as new,
    ):
        fill(new, NEW)
    assert content(folder, hidden=True) == {"a.csv": "mine"}
    os.unlink(folder / "a.csv")
    (folder / "a.csv").symlink_to(tmp_path / "nowhere")
    with pytest.raises(InputError, match="no run wrote"), whole_folder(folder, lambda _: set()) as new:
        fill(new, NEW)


def test_here_is_the_same_folder_afterwards(tmp_path, monkeypatch):
    fill(tmp_path, OLD)
    monkeypatch.chdir(tmp_path)
    before = tmp_path.stat().st_ino
    for place in (".", tmp_path, tmp_path / "x" / ".."):
        if str(place).endswith(".."):
            (tmp_path / "x").mkdir()
        replace(Path(place), NEW)
        assert content(tmp_path, hidden=True) == NEW
        assert tmp_path.stat().st_ino == before
        assert Path.cwd() == tmp_path


def test_a_link_is_followed_and_stays(tmp_path):
    fill(tmp_path / "real", OLD)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "ahead").symlink_to(tmp_path / "later")
    for link, real in (("link", "real"), ("ahead", "later")):
        replace(tmp_path / link)
        assert (tmp_path / link).is_symlink()
        assert content(tmp_path / real, hidden=True) == NEW
    assert hidden(tmp_path / "real") == []


def test_a_mount_point_is_filled_where_it_is(tmp_path, monkeypatch):
    folder = tmp_path / "run"
    fill(folder, OLD)
    before = folder.stat().st_ino
    monkeypatch.setattr(os.path, "ismount", lambda path: os.fspath(path) == str(folder))
    replace(folder)
    assert content(folder, hidden=True) == NEW
    assert folder.stat().st_ino == before


@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="the root user may write anywhere")
def test_folders_that_cannot_be_written(tmp_path):
    folder = tmp_path / "closed" / "run"
    fill(folder, OLD)
    (tmp_path / "closed").chmod(0o555)  # cannot be renamed, but filled
    try:
        replace(folder)
        assert content(folder, hidden=True) == NEW
        with pytest.raises(InputError, match="cannot be written: Permission denied"):
            replace(tmp_path / "closed" / "other")
        folder.chmod(0o555)
        with pytest.raises(InputError, match="cannot be written: Permission denied"):
            replace(folder)
        folder.chmod(0o755)
        (folder / "figures").chmod(0o555)
        with pytest.raises(InputError, match="figures: cannot be written into"):
            replace(folder)
        (folder / "figures").chmod(0o755)
        assert content(folder, hidden=True) == NEW
    finally:
        for path in (tmp_path / "closed", folder, folder / "figures"):
            path.chmod(0o755)


def test_who_may_read_it_may_still(tmp_path):
    folder = tmp_path / "run"
    fill(folder, OLD)
    folder.chmod(0o750)
    replace(folder)
    assert folder.stat().st_mode & 0o777 == 0o750


def test_one_by_one_it_goes_on_where_it_could_not(tmp_path, monkeypatch):
    folder = tmp_path / "run"
    fill(folder, OLD | {"mine": "mine"})
    real, moved = os.replace, []

    def fails(a, b):
        if str(b).endswith("c.csv"):
            raise OSError(errno.EIO, "Input/output error")
        moved.append(b)
        real(a, b)

    monkeypatch.setattr(os, "replace", fails)
    with pytest.raises(InputError, match="who opens or writes it next goes on"):
        replace(folder)
    assert len(moved) == 2  # the list, and a.csv
    with pytest.raises(InputError, match="cannot be finished: Input/output error"):
        settle(folder)
    monkeypatch.setattr(os, "replace", real)
    settle(folder)
    assert content(folder, hidden=True) == NEW | {"mine": "mine"}


@pytest.mark.skipif(sys.platform == "win32", reason="a folder one stands in cannot be removed there")
def test_it_is_written_from_a_folder_that_was_removed(run, tmp_path, monkeypatch):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    replace(run, NEW)
    assert content(run).items() >= NEW.items()


@pytest.mark.parametrize("name", ["run[1]", "ru*", "\u8d70" * 80])
def test_a_folder_of_any_name_is_written_and_what_the_dead_left_beside_it_removed(name, tmp_path):
    folder = tmp_path / name
    replace(folder)
    left = tmp_path / f"{transaction._beside(folder)}dead"
    other = tmp_path / ".run2.unfinished-dead"
    left.mkdir()
    other.mkdir()
    replace(folder, OLD)
    assert (left.exists(), other.exists()) == (False, True)
    assert content(folder) == OLD
