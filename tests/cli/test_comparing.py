"""The limits of ``bayesbias compare --require``, and its exit code."""

from __future__ import annotations

import json
from typing import Any

import pytest
from click.testing import CliRunner
from helpers.changes import NONE, changed, destroyed_comparison, table
from helpers.draws import made_up_comparison

from bayesbias.cli.main import cli
from bayesbias.core.errors import InputError
from bayesbias.studies.limits import MEANINGS
from bayesbias.tables.reading import as_pair_table


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
    done = run("compare", *inputs, "--require", "slope>-9, moved<1")
    assert (done.exit_code, done.stderr) == (0, ""), done.exception
    assert done.stdout.count(" is met (") == 8
    done = run("compare", *inputs, "--require", "moved<1, gap<1")
    assert done.exit_code == 1
    assert [line.split(" is NOT met (")[1][:24] for line in done.stderr.splitlines()] == [
        "noise has no gap either,"
    ] * 2
    done = run("compare", *inputs, "--require", "moved<1, controls>0.6", "--json")
    assert done.exit_code == 1
    payload = json.loads(done.stdout)["requirements"]
    assert [(each["method"], each["met"]) for each in payload if each["name"] == "controls"] == [
        ("noise", False), ("kept", True), ("mostly noise", False), ("copy", True),
    ]  # fmt: skip
    lines = done.stderr.splitlines()
    assert [line.split(": ")[1] for line in lines] == ["noise", "mostly noise"]
    value = next(each["value"] for each in payload if not each["met"])
    assert f"controls > 0.6 is NOT met ({value:.4g}, lower end" in lines[0]


@pytest.mark.parametrize("text", ["gap", "contols>0.9", "gap<x", ","])
def test_limits_that_cannot_be_read_stop_the_command_before_it_fits(text, tmp_path):
    done = run("compare", "--original-distances", "a", "--debiased-distances", "b", "--require", text)
    assert isinstance(done.exception, InputError)
    assert str(done.exception).startswith("--require: ")


def test_the_help_explains_every_name_that_may_be_required():
    text = run("compare", "--help").stdout
    for name, meaning in MEANINGS.items():
        assert any(line.split()[:1] == [name] for line in text.splitlines()), name
        assert f" {name} {meaning} " in " ".join(text.split())


@pytest.mark.slow  # many draws are made
@pytest.mark.claim
def test_a_gap_that_a_method_forces_is_marked_wherever_it_is_held_against_others(tmp_path, monkeypatch):
    before = table()
    before.to_csv(tmp_path / "pairs.csv", index=False)
    stereotype = ~before["connection"].isin(["human", "neutral"])
    mean = before.groupby("attribute")["distance"].transform("mean")
    after = {
        "equal": before.assign(distance=before["distance"].where(~stereotype, mean)),
        "kept": changed(before, {**NONE, "associated": 0.03}, 2),
    }
    found = made_up_comparison(
        as_pair_table(before), {name: as_pair_table(frame) for name, frame in after.items()}, draws=300
    )
    monkeypatch.setattr("bayesbias.studies.change.compare", lambda *_, **__: found)
    file = str(tmp_path / "pairs.csv")
    arguments = ["compare", "--original-distances", file, "--debiased-distances", file, "--require", "gap<9"]
    out = " ".join(run(*arguments).stdout.split())
    assert "equal: gap < 9 is met by construction: no evidence (" in out
    assert "kept: gap < 9 is met (" in out
    ranking = out[out.index("Methods, by what they leave") :]
    (next_to,) = found.ranking()["verdict_next"].dropna()
    for mark in (
        f"{next_to}, by construction",
        f"{found.ranking().set_index('method').loc['equal', 'verdict_after']}, by",
    ):
        assert mark in ranking
    payload = json.loads(run(*arguments, "--json").stdout)
    for rows in (payload["requirements"], payload["ranking"]):
        assert {row["method"]: row["by_construction"] for row in rows} == {"equal": "wholly", "kept": "no"}
    (against,) = [text for text in payload["findings"]["sentences"] if " against " in text]
    assert "that of equal is zero by construction, which is no evidence" in against
