"""The files of cells: what was cut, changed or swapped is told from what was written."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from helpers.sweeps import cell_files, results, write_inputs, write_plan

from bayesbias.core.errors import InputError
from bayesbias.output.store import verify_run
from bayesbias.sweeps.cells import read_cell, verify_sweep, write_cell, write_marker
from bayesbias.sweeps.sweeping import run_sweep

RECORD = {"rows": [{"mean": -0.0125, "name": "\u00e9"}], "warnings": [], "n": 3}
SHORT = bool(os.environ.get("BAYESBIAS_TEST_SHORT"))


def _cut(path):
    path.write_bytes(path.read_bytes()[:-20])


def _empty(path):
    path.write_bytes(b"")


def _change(path):
    """Flip one bit in the middle."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(bytes(content))


def _swap(path):
    """Exchange the file with its neighbor."""
    other = next(each for each in sorted(path.parent.iterdir()) if each != path)
    content = path.read_bytes()
    path.write_bytes(other.read_bytes())
    other.write_bytes(content)


def _spaces(path):
    """The same JSON in other bytes."""
    path.write_text(json.dumps(json.loads(path.read_bytes()), indent=1), encoding="utf-8")


def _without_hash(path):
    """As an earlier version wrote it."""
    record = json.loads(path.read_bytes())
    del record["sha256"]
    path.write_text(json.dumps(record), encoding="utf-8")


def _other_number(path):
    path.write_bytes(path.read_bytes().replace(b"-0.0125", b"-0.0126"))


def _no_object(path):
    path.write_text("[1, NaN]", encoding="utf-8")


@pytest.fixture
def folder(tmp_path):
    write_marker(tmp_path, {"plan": {}})
    for key in ("aa", "bb"):
        write_cell(tmp_path, key, RECORD, key.encode() * 50)
    write_cell(tmp_path, "cc", RECORD, None)
    return tmp_path


def test_a_whole_cell_is_read_as_it_was_written(folder):
    assert {name: read_cell(folder, "aa")[name] for name in RECORD} == RECORD
    assert read_cell(folder, "cc")["draws_sha256"] is None
    names = ["sweep.json", "cells/aa.json", "cells/bb.json", "cells/cc.json"]
    assert verify_run(folder) == dict.fromkeys([*names, "draws/aa.npz", "draws/bb.npz"], "ok")


@pytest.mark.parametrize(
    ("harm", "reason"),
    [
        (_cut, "cut or damaged"),
        (_empty, "an empty file"),
        (_swap, "that of another"),
        (_spaces, "a changed one"),
        (_without_hash, "an earlier version"),
        (_other_number, "a changed one"),
        (_no_object, "an earlier version"),
        (os.remove, "no file"),
    ],
)
def test_a_record_that_is_not_what_was_written_is_refused(folder, harm, reason):
    path = folder / "cells" / "aa.json"
    harm(path)
    with pytest.raises(InputError, match=reason) as refused:
        read_cell(folder, "aa")
    assert str(path) in str(refused.value)
    assert verify_sweep(folder).get("cells/aa.json") == (None if harm is os.remove else "changed")
    assert read_cell(folder, "cc")


@pytest.mark.parametrize("harm", [_cut, _empty, _change, _swap, os.remove])
def test_draws_that_are_not_those_of_the_record_are_refused(folder, harm):
    path = folder / "draws" / "aa.npz"
    harm(path)
    with pytest.raises(InputError, match="expected the draws") as refused:
        read_cell(folder, "aa")
    assert str(path) in str(refused.value)
    states = verify_sweep(folder)
    assert states["draws/aa.npz"] == ("missing" if harm is os.remove else "changed")
    assert states["cells/aa.json"] == "ok"


@pytest.mark.parametrize("harm", [_cut, _empty, _change])
def test_a_finished_sweep_knows_its_cells_and_tables(folder, harm):
    for name in ("results.csv", "results.parquet"):
        (folder / name).write_bytes(b"a table")
    write_marker(folder, {"plan": {}}, ["aa", "bb", "cc"])
    assert set(verify_sweep(folder).values()) == {"ok"}
    (folder / "cells" / "aa.json").unlink()
    harm(folder / "results.csv")
    wrong = {name: state for name, state in verify_sweep(folder).items() if state != "ok"}
    assert wrong == {"results.csv": "changed", "cells/aa.json": "missing"}
    harm(folder / "sweep.json")
    assert verify_sweep(folder)["sweep.json"] == "changed"


@pytest.mark.slow
def test_damaged_cells_are_named_and_fitted_again(done, tmp_path):
    plan, undisturbed = done
    out = tmp_path / "out"
    shutil.copytree(undisturbed, out)
    records, draws = (sorted((out / name).iterdir()) for name in ("cells", "draws"))
    before = cell_files(out)
    _empty(records[0])
    _swap(records[1])
    _without_hash(records[3 if records[1].exists() else 0])
    _change(draws[4])
    draws[5].unlink()
    harmed = {path.stem for path in (*records, *draws)}
    harmed -= {key for key in harmed if _is_whole(out, key)}
    assert len(harmed) >= 5

    with pytest.warns(UserWarning, match=f"{len(harmed)} cells fitted again: ") as warned:
        again = run_sweep(plan, out, workers=1, resume=True)
    assert str(draws[5]) in str(warned[0].message) or "more" in str(warned[0].message)
    assert again.reused == 8 - len(harmed)
    unharmed = {name: mark for name, mark in before.items() if name[:-5] not in harmed}
    assert {name: cell_files(out)[name] for name in unharmed} == unharmed
    assert results(out) == results(undisturbed)
    assert all(
        path.read_bytes() == (undisturbed / "draws" / path.name).read_bytes() for path in draws
    )
    assert set(verify_run(out).values()) == {"ok"}


def _is_whole(out, key):
    try:
        return bool(read_cell(out, key))
    except InputError:
        return False


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "killpg"), reason="there are no process groups")
def test_killed_ten_times_the_command_ends_as_if_nothing_had_happened(tmp_path):
    """SIGKILL of the command and all its workers, while it starts and while it writes."""
    plan, out = write_inputs(tmp_path), tmp_path / "out"
    write_plan(
        tmp_path,
        wordlists=["pets.toml"],
        models=["crossed"],
        settings={"seed": [*range(8 if SHORT else 20)]},
    )
    run_sweep(plan, tmp_path / "undisturbed", workers=1)
    sweep = [sys.executable, "-m", "bayesbias", "sweep", str(plan), "--out", str(out)]
    sweep += ["--resume", "--workers", "2", "--figures", "none"]
    random = np.random.default_rng(5)

    def names() -> set[str]:
        return {path.name for path in out.glob("*/*")}

    kills = 2 if SHORT else 10
    for turn in range(kills):
        before = names()
        process = subprocess.Popen(
            sweep, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        if turn % 3 == 0:
            time.sleep(random.uniform(0.1, 3.0))
        else:
            while process.poll() is None and not names() - before:
                time.sleep(0.001)
            time.sleep(random.uniform(0.0, 0.1))
        assert process.poll() is None, "it was through before it could be killed"
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if out.is_dir():
            assert set(verify_sweep(out).values()) <= {"ok"}

    assert len(cell_files(out)) < 40
    subprocess.run(sweep, check=True, capture_output=True)
    assert results(out) == results(tmp_path / "undisturbed")
    kept = sorted((tmp_path / "undisturbed").glob("draws/*"))
    assert [path.name for path in kept] == sorted(path.name for path in out.glob("draws/*"))
    assert all(path.read_bytes() == (out / "draws" / path.name).read_bytes() for path in kept)
    assert set(verify_run(out).values()) == {"ok"}
    assert not list(out.glob("*/.bayesbias-*"))
