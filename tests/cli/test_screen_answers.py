"""`--json`: on every command, and one object that names its layout."""

from __future__ import annotations

import json
import re

import click
import pytest
from click.testing import CliRunner
from helpers.places import ROOT

from bayesbias.cli import screen
from bayesbias.cli.main import cli


def every_command(group: click.Group, path: tuple[str, ...] = ()):
    for name, command in group.commands.items():
        yield (*path, name), command
        if isinstance(command, click.Group):
            yield from every_command(command, (*path, name))


COMMANDS = dict(every_command(cli))


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_every_command_has_it(path):
    options = {option for parameter in COMMANDS[path].params for option in parameter.opts}
    assert {"--json", "--help"} <= options


def test_every_layout_is_named_after_its_command_and_none_is_printed_by_hand():
    named = {}
    for room in (ROOT / "bayesbias" / "cli").glob("*.py"):
        text = room.read_text(encoding="utf-8")
        named |= {name: room.name for name in re.findall(r'screen\.answer\("([^"]+)"', text)}
        assert "screen.data(json" not in text
    commands = {".".join(path) for path in COMMANDS}
    # `demo` is a fit. Where one command answers several questions, each answer has a name below that of the command.
    below = {"coverage_simulated.pools", "coverage_simulated.negative-controls"}
    assert set(named) == commands - {"demo", "plan", "simulate"} | below | {
        "plan.width", "plan.reliability", "simulate.paper", "simulate.null", "simulate.grid",
    }  # fmt: skip


def test_the_layout_is_the_first_key(capsys):
    screen.answer("report", {"run": "a", "written": "b"})
    said = '{"schema": "bayesbias.report/1", "run": "a", "written": "b"}\n'
    assert capsys.readouterr().out == said
    about = {
        "model": "default",
        "tables": 1,
        "seed": 1,
        "prob": float("nan"),
        "engine": "quick",
        "rows": [],
        "doubts": [],
    }
    with pytest.raises(ValueError, match="not JSON compliant"):
        screen.answer("coverage_simulated.negative-controls", about)


def answer(*arguments: object, code: int = 0) -> dict:
    done = CliRunner().invoke(cli, [*map(str, arguments), "--json"])
    assert done.exit_code == code, done.output
    assert done.stderr == ""
    found = json.loads(done.stdout)
    assert done.stdout.count("\n") == 1
    assert next(iter(found)) == "schema"
    return found


@pytest.mark.slow
def test_what_is_shipped(tmp_path):
    for kind, name in {"wordlists": "religion", "models": "default", "embeddings": "minilm-static"}.items():
        found = answer("list", kind)
        assert (found["schema"], found["kind"]) == ("bayesbias.list/1", kind)
        assert name in [item["name"] for item in found["items"]]
        assert all(item["title"] for item in found["items"])
        text = CliRunner().invoke(cli, ["list", kind]).stdout.splitlines()
        assert [line.split()[0] for line in text[: len(found["items"])]] == [
            i["name"] for i in found["items"]
        ]
    found = answer("show", "religion")
    assert (found["kind"], found["classes"][0]["protected"][0]) == ("wordlist", "judaism")
    assert len(found["controls"]["human"]) == 85
    assert answer("show", "2022")["human"] == found["controls"]["human"]
    for name, kind in {
        "template": "template",
        "occupations": "occupations",
        "minilm-static": "embedding",
        "default": "model",
    }.items():
        found = answer("show", name)
        assert (found["schema"], found["kind"]) == ("bayesbias.show/1", kind)
        assert found["text"] == CliRunner().invoke(cli, ["show", name]).stdout
    assert found["prior"][0].startswith("Before any data")


def test_a_list_is_checked(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_bytes((ROOT / "wordlists" / "gender.toml").read_bytes())
    found = answer("check-wordlist", path)
    assert (found["ok"], found["problems"]) == (True, [])
    path.write_text(path.read_text(encoding="utf-8").replace("attributes", "atributes"), encoding="utf-8")
    found = answer("check-wordlist", path, code=2)
    assert not found["ok"]
    assert any("did you mean 'attributes'" in problem for problem in found["problems"])
    path.write_text(answer("show", "occupations")["text"], encoding="utf-8")
    assert answer("check-wordlist", path)["ok"]


def test_sentences(tmp_path):
    assert "weat6" in answer("seat", "sentences")["tests"]
    found = answer("seat", "sentences", "weat7")
    assert json.dumps(found["test"]) == json.dumps(
        json.loads(CliRunner().invoke(cli, ["seat", "sentences", "weat7"]).stdout)
    )
    assert found["written"] is None
    path = tmp_path / "weat7.jsonl"
    assert answer("seat", "sentences", "weat7", "--out", path) == {**found, "written": str(path)}
    path = tmp_path / "sentences.txt"
    found = answer("sentiment", "sentences", "--out", path)
    assert found == {"schema": "bayesbias.sentiment.sentences/1", "sentences": 800, "written": str(path)}
    assert len(path.read_text(encoding="utf-8").splitlines()) == 800
