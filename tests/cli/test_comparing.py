"""The limits of ``bayesbias compare --require``, and its exit code."""

from __future__ import annotations

import json
from typing import Any

import pytest
from click.testing import CliRunner
from helpers.changes import destroyed_comparison, table

from bayesbias.basics.errors import InputError
from bayesbias.cli.main import cli
from bayesbias.studies.requirements import MEANINGS


def run(*arguments: str) -> Any:
    return CliRunner().invoke(cli, list(arguments), catch_exceptions=True)


@pytest.fixture
def fast_compare(monkeypatch):
    """Answer the command with a comparison that is there."""
    destroyed = destroyed_comparison()
    monkeypatch.setattr("bayesbias.studies.change.compare", lambda *_, **__: destroyed)


@pytest.mark.slow  # many draws are made
def test_limits_give_an_exit_code(fast_compare, tmp_path):
    table().to_csv(tmp_path / "pairs.csv", index=False)
    inputs = [
        "--original-distances",
        str(tmp_path / "pairs.csv"),
        "--debiased-distances",
        str(tmp_path / "pairs.csv"),
    ]
    done = run("compare", *inputs, "--require", "gap<1, moved<1")
    assert (done.exit_code, done.stderr) == (0, ""), done.exception
    assert done.stdout.count(" is met (") == 8
    done = run("compare", *inputs, "--require", "gap<1, controls>0.6", "--json")
    assert done.exit_code == 1
    payload = json.loads(done.stdout)["requirements"]
    assert [(each["method"], each["met"]) for each in payload if each["name"] == "controls"] == [
        ("noise", False), ("kept", True), ("mostly noise", False), ("copy", True),
    ]  # fmt: skip
    lines = done.stderr.splitlines()
    assert [line.split(": ")[1] for line in lines] == ["noise", "mostly noise"]
    value = next(each["value"] for each in payload if not each["met"])
    assert f"controls > 0.6 is NOT met ({value:.4g}, lower end" in lines[0]


@pytest.mark.parametrize("text", ["gap", "contols>0.9", "gap<x", ""])
def test_limits_that_cannot_be_read_stop_the_command_before_it_fits(text, tmp_path):
    done = run("compare", "--original-distances", "a", "--debiased-distances", "b", "--require", text)
    assert isinstance(done.exception, InputError)
    assert "requirement" in str(done.exception)


def test_the_help_explains_every_name_that_may_be_required():
    text = run("compare", "--help").stdout
    for name in MEANINGS:
        assert any(line.split()[:1] == [name] for line in text.splitlines()), name
