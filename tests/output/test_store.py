"""Folders of runs: what a foreign one may name, and what is left when a process is killed."""

import dataclasses
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import bayesbias as bb
from bayesbias.core import InputError
from bayesbias.output import replacing, store
from bayesbias.output.store import verify_run

JOURNAL = ".bayesbias-replacement"
KILLED = Path(__file__).with_name("killed.py")


@pytest.fixture(scope="module")
def results():
    """Return two results of one kind, told apart by the name of their classifier."""
    analysis = bb.sentiment_analysis(bb.list_predictions("m1"))
    provenance = analysis.provenance
    return [
        dataclasses.replace(analysis, provenance={**provenance, "mark": mark})
        for mark in ("old", "new")
    ]


@pytest.fixture(scope="module")
def saved(results, tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved") / "run"
    bb.save_run(results[0], folder)
    return folder


@pytest.fixture
def run(saved, tmp_path):
    """Return the folder of the old result, with a file that is the user's."""
    folder = tmp_path / "place" / "run"
    shutil.copytree(saved, folder)
    (folder / "notes.txt").write_text("mine")
    return folder


def mark(folder):
    return bb.load_run(folder).result.provenance["mark"]


def hidden(folder):
    return sorted(path.name for path in folder.parent.rglob(".*"))


def contents(folder):
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def change(folder, **keys):
    path = folder / "run.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **keys}))


def listed(folder, **names):
    change(folder, files={**json.loads((folder / "run.json").read_text())["files"], **names})


# -- run folders of others


@pytest.mark.parametrize("way", ["parent", "absolute", "link", "folder", "dots", "backslash"])
def test_a_run_that_names_files_outside_is_refused_and_they_stay(run, results, way):
    victim = run.parent / "victim.txt"
    victim.write_text("precious")
    name = {
        "parent": "../victim.txt",
        "absolute": str(victim),
        "link": "link.txt",
        "folder": "up/victim.txt",
        "dots": "figures/../../victim.txt",
        "backslash": "..\\victim.txt",
    }[way]
    (run / "link.txt").symlink_to(victim)
    (run / "up").symlink_to(run.parent)
    listed(run, **{name: hashlib.sha256(b"precious").hexdigest()})
    before = contents(run)
    for use in (bb.load_run, verify_run, bb.methods_paragraph):
        with pytest.raises(InputError, match=r"run\.json, files: expected names of files inside"):
            use(run)
    for force in (False, True):
        with pytest.raises(InputError, match=r"files inside.* delete run\.json"):
            bb.save_run(results[1], run, force=force)
    assert victim.read_text() == "precious"
    assert contents(run) == before


@pytest.mark.parametrize(
    ("keys", "problem"),
    [
        ({"files": ["result.json"]}, "files: expected a table"),
        ({"files": {}}, r"files: expected result\.json"),
        ({"files": {"result.json": 3}}, r"files, result\.json: expected a SHA-256.*got 3"),
        ({"view": {"rope": 0.9}}, "view: expected the key"),
        ({"view": {"prob": 0.9, "rope": "x", "standard_rope": 1}}, "view, rope: expected"),
        ({"view": []}, "view: expected a table"),
        ({"command": 3}, "command: expected a list of texts or null, got 3"),
        ({"command": [3]}, "command: expected a list of texts"),
        ({"kind": "novel"}, "kind: expected"),
        ({"kind": ["sweep"]}, "kind: expected"),
        ({"kind": "sweep"}, "_type: expected a result of a type that this version has"),
        ({"inputs": 3}, "inputs: expected a table"),
        ({"versions": 3}, "versions: expected a table"),
        ({"more": 3}, "key: expected"),
    ],
)
def test_wrong_types_name_file_and_key(run, keys, problem):
    change(run, **keys)
    with pytest.raises(InputError, match=rf"run/(run|result)\.json.*{problem}|{problem}") as error:
        bb.load_run(run)
    assert ".json" in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ({"_frame": "../../victim.parquet"}, "_frame: expected a file in the folder result"),
        ({"_fit": "/etc/passwd"}, "_fit: expected a file in the folder result"),
        ({"_fit": ["x"]}, "_fit: expected a file"),
        ({"_type": "os:system", "fields": {}}, "_type: expected a result of a type"),
        ({"_type": "bayesbias.none:X", "fields": {}}, "_type: expected a result of a type"),
        ({"_type": 3, "fields": {}}, "_type: expected a result of a type"),
        ({"_mapping": 3}, "expected the result of a run"),
        ({}, "expected the result of a run"),
        (3, "expected a result of the kind sentiment"),
        (None, "JSON"),
    ],
)
def test_a_corrupt_result_is_one_line(run, content, problem):
    text = "{" if content is None else json.dumps(content)
    (run / "result.json").write_text(text)
    listed(run, **{"result.json": hashlib.sha256(text.encode()).hexdigest()})
    with pytest.raises(InputError, match=rf"result\.json.*{problem}") as error:
        bb.load_run(run)
    assert "\n" not in str(error.value)


def test_a_foreign_replacement_reaches_nothing_outside(run):
    victim = run.parent / "victim.txt"
    victim.write_text("precious")
    shutil.copytree(run, run / JOURNAL)
    listed(run / JOURNAL, **{"../../victim.txt": hashlib.sha256(b"precious").hexdigest()})
    before = contents(run)
    with pytest.raises(InputError, match="inside the folder"):
        bb.load_run(run)
    assert contents(run) == before
    shutil.rmtree(run / JOURNAL)
    (run / JOURNAL).symlink_to(run.parent)
    with pytest.raises(InputError, match="something else"):
        verify_run(run)
    assert victim.read_text() == "precious"


# -- replacing


def test_a_run_is_replaced_whole_and_other_files_stay(run, results):
    pictures = sorted((run / "figures").iterdir())
    assert pictures
    (run / "figures" / "mine.png").write_text("mine")
    bb.save_run(results[1], run, figures=["svg"])
    assert mark(run) == "new"
    assert not any(path.exists() for path in pictures)
    assert list((run / "figures").glob("*.svg"))
    assert (run / "notes.txt").read_text() == (run / "figures" / "mine.png").read_text() == "mine"
    bb.save_run(results[0], run, figures=[])
    assert [path.name for path in (run / "figures").iterdir()] == ["mine.png"]
    assert set(verify_run(run).values()) == {"ok"}
    assert hidden(run) == []


def test_a_file_of_the_user_with_the_name_of_a_new_one_stays(run, results):
    name = sorted((run / "figures").iterdir())[0].with_suffix(".svg")
    name.write_text("mine")
    before = contents(run)
    with pytest.raises(InputError, match="of no run"):
        bb.save_run(results[1], run, figures=["svg"])
    assert contents(run) == before
    assert hidden(run) == []
    bb.save_run(results[1], run, figures=["svg"], force=True)
    assert mark(run) == "new"
    assert name.read_text() != "mine"


def test_a_folder_in_the_way_is_named_before_anything_moves(run, results):
    name = sorted((run / "figures").iterdir())[0].with_suffix(".svg")
    name.mkdir()
    before = contents(run)
    with pytest.raises(InputError, match="expected no folder of this name"):
        bb.save_run(results[1], run, figures=["svg"], force=True)
    assert contents(run) == before
    assert hidden(run) == []


class Interrupted(BaseException):
    """What a signal becomes."""


@pytest.mark.parametrize("times", [1, 2, 6])
def test_an_interrupted_replacement_is_completed_or_leaves_the_old_run(
    run, results, monkeypatch, times
):
    real, calls = os.replace, []

    def replace(source, place):
        if JOURNAL in str(source):
            calls.append(source)
            if len(calls) == times:
                raise Interrupted
        return real(source, place)

    monkeypatch.setattr(os, "replace", replace)
    with pytest.raises(Interrupted):
        bb.save_run(results[1], run)
    assert mark(run) == "new"
    assert set(verify_run(run).values()) == {"ok"}
    assert hidden(run) == []


def test_an_interrupt_while_files_are_written_leaves_the_old_run(run, results, monkeypatch):
    def interrupted(*_, **__):
        raise Interrupted

    before = contents(run)
    monkeypatch.setattr(bb.plots, "save_figure", interrupted)
    for folder in (run, run.parent / "another"):
        with pytest.raises(Interrupted):
            bb.save_run(results[1], folder)
    assert contents(run) == before
    assert [path.name for path in run.parent.iterdir()] == ["run"]
    assert hidden(run) == []


def cut_short(folder, result, monkeypatch, moved=3):
    """Replace a run and stop after some files were moved, as a killed process does."""
    with monkeypatch.context() as patch:
        real, calls = os.replace, []

        def replace(source, place):
            if JOURNAL in str(source):
                calls.append(source)
                if len(calls) > moved:
                    raise Interrupted
            return real(source, place)

        patch.setattr(os, "replace", replace)
        with pytest.raises(Interrupted):
            bb.save_run(result, folder, figures=[])
    assert (folder / JOURNAL).is_dir()


@pytest.mark.parametrize(
    "use",
    [
        bb.load_run,
        verify_run,
        lambda run: bb.write_report(run, run.parent / "page.html"),
        lambda run: store.check_folder(run, "sentiment"),
    ],
)
def test_what_reads_or_writes_the_folder_completes_it_and_says_so(run, results, monkeypatch, use):
    cut_short(run, results[1], monkeypatch)
    with pytest.warns(UserWarning, match="now complete"):
        use(run)
    assert mark(run) == "new"
    assert set(verify_run(run).values()) == {"ok"}
    assert (run / "notes.txt").read_text() == "mine"
    assert hidden(run) == []


def test_a_folder_that_cannot_be_completed_is_named(run, results, monkeypatch):
    cut_short(run, results[1], monkeypatch)

    def read_only(*_):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(os, "replace", read_only)
    for use in (bb.load_run, verify_run):
        with pytest.raises(InputError, match=r"run: .*Read-only file system.*writable and try"):
            use(run)


def test_a_run_that_is_replaced_while_it_is_read_is_read_again(run, results, monkeypatch):
    calls = []
    real = store.read_json

    def read_json(path):
        if not calls:
            calls.append(path)
            bb.save_run(results[1], run, figures=[])
        return real(path)

    monkeypatch.setattr(store, "read_json", read_json)
    assert mark(run) == "new"
    assert calls


def test_the_folder_of_a_live_process_stays_and_that_of_a_dead_one_goes(run, results):
    dead = [run / ".bayesbias-run-dead", run.parent / ".bayesbias-run-dead"]
    with replacing.staging(run) as inside, replacing.staging(run.parent / "next") as beside:
        dead[1] = beside.with_name(beside.name[:-4] + "dead")
        for folder in dead:
            (folder / "result").mkdir(parents=True)
        bb.save_run(results[1], run, figures=[])
        bb.save_run(results[1], run.parent / "next", figures=[])
        assert inside.is_dir()
        assert beside.is_dir()
        assert not any(folder.exists() for folder in dead)
    assert hidden(run) == []


def test_a_second_process_may_have_written_the_new_folder_first(results, tmp_path):
    with replacing.staging(tmp_path / "run") as new:
        names = store._write(results[1], new, bb.View(), None, None, (), ())
        bb.save_run(results[0], tmp_path / "run")
        replacing.put_in_place(new, tmp_path / "run", lambda: False)
    assert mark(tmp_path / "run") == "new"
    assert verify_run(tmp_path / "run") == dict.fromkeys(names[:-1], "ok")
    assert hidden(tmp_path / "run") == []


@pytest.mark.slow
def test_thirty_kills_leave_the_old_run_or_the_new_one(tmp_path):
    done = subprocess.run(
        [sys.executable, str(KILLED), str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)
    kills = [row for row in rows if row["signal"] == signal.SIGKILL]
    assert len(kills) >= (5 if os.environ.get("BAYESBIAS_TEST_SHORT") else 30)
    for row in rows:
        assert row["mark"] in ("old", "new"), row
        assert row["states"] == ["ok"], row
        assert row["notes"] == "mine", row
        assert row["hidden_after"] == [], row
        assert row["mark_after"] == "new", row
    assert {row["mark"] for row in kills} == {"old", "new"}
    assert any(row["completed"] for row in kills)


# -- told before the work


def places_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("mine")
    yield tmp_path / "file"
    yield tmp_path / "file" / "run"
    yield tmp_path / ("x" * 300)
    if Path("/proc/self").exists():
        yield Path("/proc/run")


def test_both_checks_of_a_folder_refuse_the_same_and_name_the_path_of_the_user(results, tmp_path):
    for place in places_that_cannot_be_written(tmp_path):
        uses = (
            bb.core.files.check_folder,
            lambda out: store.check_folder(out, "sentiment"),
            lambda out: bb.save_run(results[0], out),
        )
        for use in uses:
            with pytest.raises(InputError) as error:
                use(place)
            assert str(error.value).startswith(f"{place}: expected a folder"[:90])
            assert ".bayesbias" not in str(error.value)
    assert sorted(os.listdir(tmp_path)) == ["file"]


def test_a_full_disk_names_the_folder_of_the_user(run, results, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    before = contents(run)
    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(InputError, match="No space left on device") as error:
        bb.save_run(results[1], run)
    assert str(run) in str(error.value)
    assert ".bayesbias" not in str(error.value)
    monkeypatch.undo()
    assert contents(run) == before
    assert hidden(run) == []
