"""``bayesbias verify``: what it prints, and its exit codes."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner
from helpers.damage import KINDS, made_up_run

from bayesbias.cli.main import cli
from bayesbias.runs.kinds import LAYOUTS


def run(*arguments):
    return CliRunner().invoke(cli, ["verify", *map(str, arguments)])


@pytest.mark.parametrize("kind", KINDS)
def test_a_whole_run_and_a_damaged_one(kind, tmp_path):
    folder = made_up_run(tmp_path / "run", LAYOUTS[kind])
    done = run(folder)
    count = sum(path.is_file() for path in folder.rglob("*"))
    assert done.exit_code == 0
    assert done.output == f"{folder}: run of {kind}, {count} files: {count} intact\n"
    (folder / "mine.txt").write_text("mine")  # which no run wrote
    first = sorted(path for path in folder.glob("*.csv"))[0]
    first.write_bytes(first.read_bytes()[:-1])
    figure = next((folder / "figures").iterdir())
    figure.unlink()
    done = run(folder)
    assert done.exit_code == 2
    assert done.output.splitlines() == [
        f"{folder}: run of {kind}, {count} files: {count - 2} intact, 1 missing, 1 damaged",
        f"  damaged: {first.name}",
        f"  missing: figures/{figure.name}",
    ]


def test_one_object_has_each_run(tmp_path):
    a, b = (made_up_run(tmp_path / name, LAYOUTS["words"]) for name in "ab")
    (b / "fit.nc").write_bytes((a / "fit.nc").read_bytes().replace(b"run", b"fun", 1))
    done = run(a, b, a / "fit.nc", b / "fit.nc", "--json")
    assert done.exit_code == 2
    said = json.loads(done.output)
    assert (said["schema"], said["ok"]) == ("bayesbias.verify/1", False)
    each = said["runs"]
    assert [(one["kind"], one["ok"], one["damaged"]) for one in each] == [
        ("words", True, 0),
        ("words", False, 1),
        ("words", True, 0),
        ("words", False, 1),
    ]
    assert each[1]["files"]["fit.nc"] == "damaged"
    assert set(each[0]) == {"path", "kind", "ok", "intact", "damaged", "missing", "unverified", "files"}
    assert run(a, a / "fit.nc").exit_code == 0


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda p: p.mkdir(), "holds no run"),
        (lambda p: p.write_text("x"), "is no run"),
        (lambda p: None, "no such file or folder"),
    ],
)
def test_what_is_no_run_is_said(make, says, tmp_path):
    make(tmp_path / "it")
    done = run(tmp_path / "it")
    assert done.exit_code == 2
    assert says in done.stderr


def test_what_is_no_run_does_not_hide_the_others(tmp_path):
    made_up_run(tmp_path / "whole", LAYOUTS[KINDS[0]])
    (tmp_path / "tables").mkdir()
    sums = tmp_path / "vectors.txt.sha256"
    (tmp_path / "vectors.txt").write_text("she 1 2\n")
    sums.write_text("0" * 64 + "  vectors.txt\n")
    done = run(tmp_path / "tables", tmp_path / "whole", sums)
    assert done.exit_code == 2
    assert f"{tmp_path / 'whole'}: run of" in done.stdout
    # The hash beside a file is asked for with the file, and is no run of its own.
    assert len(done.stderr.splitlines()) == 1
    assert "holds no run" in done.stderr
    answer = json.loads(run(tmp_path / "tables", tmp_path / "whole", "--json").stdout)
    assert (answer["ok"], [each["ok"] for each in answer["runs"]], len(answer["refused"])) == (
        False,
        [True],
        1,
    )
