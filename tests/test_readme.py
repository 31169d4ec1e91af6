"""Every command and every line of Python in the README runs as printed."""

from __future__ import annotations

import contextlib
import functools
import io
import os
import re
import subprocess
import sys
from pathlib import Path

import matplotlib
import pytest
from helpers.documents import FEWER, blocks_of, run_line
from helpers.pages import without_figures, without_pictures
from helpers.places import ROOT

import bayesbias as bb

README = ROOT / "README.md"


def blocks(language: str) -> list[str]:
    return [block.code for block in blocks_of(README) if block.language == language]


def test_the_readme_has_what_is_run():
    assert len(blocks("python")) >= 1
    assert sum("bayesbias" in block for block in blocks("sh")) >= 4
    inline = set(re.findall(r"`(bayesbias [^`]+)`", README.read_text(encoding="utf-8")))
    assert "bayesbias show cells > mymodel.toml" in inline


# A reader's numbers of draws and tables are long for a test: as printed the lines are a claim.
SAMPLING = (
    "bayesbias fit",
    "bayesbias compare",
    "bayesbias seat --encoder",
    "bayesbias sentiment --predictions",
)


@pytest.mark.slow
@pytest.mark.parametrize("as_printed", [False, pytest.param(True, marks=pytest.mark.claim)])
def test_every_line_runs(tmp_path, monkeypatch, as_printed):
    """One folder, in the order of the README, as a reader would; installing is left out."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("matplotlib.rcParams", matplotlib.rcParams.copy())
    for code in blocks("python"):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), monkeypatch.context() as patched:
            if not as_printed:
                patched.setattr(bb, "fit", functools.partial(bb.fit, **FEWER))
            exec(compile(code, "README.md", "exec"), {"__name__": "__main__"})
        assert "hpdi" in printed.getvalue().lower()  # no result without its uncertainty
        assert (tmp_path / "gender.png").stat().st_size > 10_000
    commands = [
        line for block in blocks("sh") for line in block.splitlines() if line.startswith("bayesbias ")
    ]
    assert commands[0] == "bayesbias demo"
    assert "bayesbias calibrate --tables 50" in commands
    assert all(any(command.startswith(start) for command in commands) for start in SAMPLING)
    if not as_printed:
        commands = [command.replace("--tables 50", "--tables 2") for command in commands]
        fewer = "".join(f" --{name} {number}" for name, number in FEWER.items())
        commands = [command + fewer if command.startswith(SAMPLING) else command for command in commands]
    commands += ["bayesbias show template > mylist.toml"]
    commands += [
        "bayesbias fit --distances religion-run/pairs.csv --model mymodel.toml --draws 200 --chains 2"
    ]
    # One of them as the reader's own shell runs it: the command is on the path, and `>` writes what it prints.
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        "bayesbias show cells > mymodel.toml",
        shell=True, env={**os.environ, "PATH": path}, capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.startswith("Before any data")  # beside the file, for the reader
    assert (tmp_path / "mymodel.toml").read_text(encoding="utf-8") == run_line("bayesbias show cells")[0]
    for command in commands:
        if not as_printed:
            without_figures(monkeypatch)
            without_pictures(monkeypatch)
        stdout, stderr = run_line(command)
        assert "Traceback" not in stderr
        if command == "bayesbias demo":
            assert stderr == ""
            said = stdout.rstrip().splitlines()
            assert "4,830 pairs of 15 protected words" in said[0]
            assert any("converged" in line for line in said)
            answer = "religion in minilm-static: on average over new words like these"
            assert any(line.startswith(answer) for line in said)
            assert len(list(tmp_path.glob("*demo*/**/*.png"))) == (8 if as_printed else 0)
    assert (tmp_path / "religion-run/fit.nc").is_file()
    assert (tmp_path / "gender-debiased.txt").is_file()
