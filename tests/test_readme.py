"""Every command and every line of Python in the README runs as printed."""

from __future__ import annotations

import contextlib
import functools
import io
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import matplotlib
import pytest
from click.testing import CliRunner
from helpers.documents import blocks_of, run_line
from helpers.places import ROOT

import bayesbias as bb
from bayesbias.cli.main import cli

README = ROOT / "README.md"


def blocks(language: str) -> list[str]:
    return [block.code for block in blocks_of(README) if block.language == language]


def test_the_readme_has_what_is_run():
    assert len(blocks("python")) >= 1
    assert sum("bayesbias" in block for block in blocks("sh")) >= 4
    inline = set(re.findall(r"`(bayesbias [^`]+)`", README.read_text(encoding="utf-8")))
    assert "bayesbias show cells > mymodel.toml" in inline


SAMPLING = (
    "bayesbias fit",
    "bayesbias compare",
    "bayesbias seat --encoder",
    "bayesbias sentiment --predictions",
)


def commands() -> list[str]:
    """Return the commands in the order of the README; installing is left out."""
    return [line for block in blocks("sh") for line in block.splitlines() if line.startswith("bayesbias ")]


def test_every_command_and_option_is_there():
    """As far as a command is read before anything is done; that every line does what is said of it is a claim."""
    found = commands()
    assert found[0] == "bayesbias demo"
    assert "bayesbias coverage_simulated --tables 50" in found
    assert all(any(command.startswith(start) for command in found) for start in SAMPLING)
    for line in found:
        read_line(line)
    with pytest.raises(click.UsageError, match="--wordlists"):
        read_line("bayesbias fit --embedding minilm-static --wordlists religion")


def test_the_test_that_is_written_has_the_lists_that_are_named(tmp_path):
    """The README names them beside the command that writes them."""
    (line,) = [line for line in commands() if line.startswith("bayesbias seat sentences")]
    _, *arguments = shlex.split(line)
    out = tmp_path / "mytest.jsonl"
    arguments[arguments.index("--out") + 1] = str(out)
    assert CliRunner().invoke(cli, arguments).exit_code == 0
    for part in json.loads(out.read_text(encoding="utf-8")).values():
        assert {"examples", "words", "templates"} <= set(part)


def read_line(line: str) -> None:
    """Read a command with its options, and do not carry it out."""
    _, *arguments = shlex.split(line.partition(" > ")[0])
    here: click.Command = cli
    context = cli.make_context("bayesbias", arguments)
    while isinstance(here, click.Group) and (rest := [*context._protected_args, *context.args]):
        name, command, rest = here.resolve_command(context, rest)
        if command is None:
            raise click.UsageError(f"no command {rest}")
        here, context = command, command.make_context(name, rest, parent=context)


def test_every_name_is_there():
    """Each line of Python is code, and each name that it takes from the package exists."""
    for code in blocks("python"):
        compile(code, "README.md", "exec")
        names = re.findall(r"\bbb\.([\w.]+)", code)
        assert names
        for name in names:
            assert functools.reduce(getattr, name.split("."), bb) is not None


@pytest.mark.claim
def test_every_line_runs_as_printed(tmp_path, monkeypatch):
    """One folder, in the order of the README, as a reader would."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("matplotlib.rcParams", matplotlib.rcParams.copy())
    for code in blocks("python"):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, "README.md", "exec"), {"__name__": "__main__"})
        assert "hpdi" in printed.getvalue().lower()  # no result without its uncertainty
        assert (tmp_path / "gender.png").stat().st_size > 10_000
    more = [
        "bayesbias show template > mylist.toml",
        "bayesbias fit --distances religion-run/pairs.csv --model mymodel.toml --draws 200 --chains 2",
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
    for command in [*commands(), *more]:
        stdout, stderr = run_line(command)
        assert "Traceback" not in stderr
        if command == "bayesbias demo":
            assert stderr == ""
            said = stdout.rstrip().splitlines()
            assert "4,830 pairs of 15 protected words" in said[0]
            assert any("converged" in line for line in said)
            answer = "religion in minilm-static: on average over new words like these"
            assert any(line.startswith(answer) for line in said)
            assert len(list(tmp_path.glob("*demo*/**/*.png"))) == 8
    assert (tmp_path / "religion-run/fit.nc").is_file()
    assert (tmp_path / "gender-debiased.txt").is_file()
