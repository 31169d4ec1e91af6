"""What commands share: the options of every command, the record of what was given, numbers, and the screen."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import re
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from helpers.fits import made_up, pairs
from helpers.sweeps import made_up_sweep

import bayesbias as bb
from bayesbias.cli import options, screen
from bayesbias.cli.fitting import fit
from bayesbias.cli.main import cli
from bayesbias.core.errors import InputError
from bayesbias.core.settings import Setting


def test_a_command_knows_its_own_arguments():
    recorded = []

    @click.command()
    @click.argument("places", nargs=-1)
    @click.option("--name", multiple=True)
    @click.option("--on/--off", default=True)
    @click.option("--flag", is_flag=True)
    @click.option("--number", type=float, default=0.5)
    @options.classes("Two.")
    @click.option("--several", type=options.Numbers(float))
    @click.option("--out", "-o", type=options.Place())
    def sub(**_):
        recorded.append(options.given())

    group = click.Group(commands={"sub": sub})
    for words, wanted in (
        ([], ["sub"]),
        (["--number", "0.5"], ["sub", "--number", "0.5"]),  # given, though it is the default
        (["--number=1e-3", "-oX", "--flag"], ["sub", "--flag", "--number", "0.001", "--out", "X"]),
        (["--off", "--name", "a b", "--name=c"], ["sub", "--name", "a b", "--name", "c", "--off"]),
        (["--classes", "a, b", "--several=1,0.5"], ["sub", "--classes", "a,b", "--several", "1.0,0.5"]),
        (["p", "q", "--on"], ["sub", "--on", "p", "q"]),
        (["--", "-p"], ["sub", "--", "-p"]),
    ):
        for _ in range(2):  # what was recorded makes the same again
            done = CliRunner().invoke(group, ["sub", *words] if _ == 0 else recorded[-1], prog_name="program")
            assert done.exit_code == 0, done.output
            assert recorded[-1] == wanted


def test_an_option_of_every_command_is_one_row(monkeypatch):
    seen = []
    row = click.option(
        "--loud", is_flag=True, expose_value=False, callback=lambda context, _, value: seen.append(value)
    )
    monkeypatch.setattr(options, "EVERY_COMMAND", (*options.EVERY_COMMAND, row))

    @click.command()
    def sub():
        pass

    inner = click.Group("inner", commands={"sub": sub})
    group = click.Group(commands=options.on_every_command([inner]))
    done = CliRunner().invoke(group, ["inner", "sub", "--loud"])
    assert (done.exit_code, seen[-1]) == (0, True)
    assert "-h, --help" in CliRunner().invoke(group, ["inner", "sub", "-h"]).stdout


def _commands(group, path=()):
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from _commands(command, (*path, name))
        yield (*path, name), command


OPTIONS = [
    (path, parameter)
    for path, command in _commands(cli)
    for parameter in command.params
    if isinstance(parameter, click.Option) and parameter.expose_value
]


@pytest.mark.parametrize(
    ("path", "option"), OPTIONS, ids=[f"{' '.join(path)} {option.opts[0]}" for path, option in OPTIONS]
)
def test_what_is_said_of_an_argument_is_said_of_its_option(path, option):
    """Of every option of every command: by its own name, and by those it has in the functions that take it."""
    (command,) = (command for found, command in _commands(cli) if found == path)
    for name in (option.name, *getattr(option, "within", ())):
        with click.Context(command) as context:
            context.set_parameter_source(option.name, click.core.ParameterSource.COMMANDLINE)

            @options._of_options
            def refuses(name=name):
                raise InputError("is odd", where=f"{name}, number 2", found="x", valid="y", hint="z")

            with pytest.raises(InputError) as told:
                refuses()
            said = f"{option.opts[0]}, number 2: is odd; found: 'x'; valid: y; z"
            assert str(told.value) == said
            context.set_parameter_source(option.name, click.core.ParameterSource.DEFAULT)
            with pytest.raises(InputError, match=rf"^{name}, number 2: is odd"):
                refuses()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["simulate", "grid", "--words", "1", "--draws", "2"], "--words: must be a whole number of at least 2; found: 1"),
        (["simulate", "grid", "--attributes", "1", "--draws", "2"], "--attributes: must be a whole number of at"),
        (["simulate", "null", "--pair-sd", "0"], "--pair-sd: must lie from 1e-09 to 1e+09; found: 0.0"),
        (["plan", "--width", "-1"], "--width: must be a finite number above 0"),
        (["compare", "--require", "gap"], "--require: is no requirement; found: 'gap'"),
    ],
)  # fmt: skip
def test_errors_name_the_option_that_was_typed(words, said, run):
    code, out, err = run(*words)
    assert (code, out) == (2, "")
    assert err.startswith(f"bayesbias: {said}")


TEXTS = [
    (path, parameter)
    for path, command in _commands(cli)
    for parameter in command.params
    if isinstance(parameter.type, click.types.StringParamType | click.Path)
]


@pytest.mark.parametrize(
    ("path", "parameter"), TEXTS, ids=[f"{' '.join(path)} {each.opts[0]}" for path, each in TEXTS]
)
@pytest.mark.parametrize("empty", ["", " "])
def test_an_empty_text_is_no_path(path, parameter, empty, run):
    words = [empty] if isinstance(parameter, click.Argument) else [parameter.opts[0], empty]
    code, out, err = run(*path, *words)
    assert (code, out) == (2, "")
    assert re.search(r"Invalid value for '.*': the (path|value) is empty", err)


def test_numbers_with_commas():
    assert options.Numbers(int).convert("5,6", None, None) == (5, 6)
    assert options.Numbers(float).convert("0.5", None, None) == (0.5,)
    for text in ("5,x", "5,", "1.5"):
        with pytest.raises(InputError, match=r"not a number.*valid: whole numbers, with commas between"):
            options.Numbers(int).convert(text, None, None)


def test_words_are_printed_as_they_are(capsys):
    screen.table("a [b] title", ["word", "#n [1]"], [["[red]x", "1"], ["[/]y", "22"]])
    screen.lines(["[bold]z"])
    screen.written([Path("[a].csv")])
    rows = [line.split() for line in capsys.readouterr().out.splitlines() if line.strip("─ ")]
    assert rows[:2] == [["a", "[b]", "title"], ["word", "n", "[1]"]]
    assert rows[2:] == [["[red]x", "1"], ["[/]y", "22"], ["[bold]z"], ["written:"], ["[a].csv"]]
    screen.written([])
    assert capsys.readouterr().out == ""


@pytest.mark.slow
def test_an_option_of_every_command_is_not_recorded_with_a_run(monkeypatch, tmp_path):
    """Of the real command: an option that it does not take makes no other result."""
    heard = []
    rows = (
        click.option(
            "--quiet", is_flag=True, expose_value=False, callback=lambda _, __, value: heard.append(value)
        ),
        click.option("--log", expose_value=False, callback=lambda _, __, value: heard.append(value)),
    )
    monkeypatch.setattr(options, "EVERY_COMMAND", rows)
    monkeypatch.setattr(fit, "params", list(fit.params))
    result = made_up(pairs(), values={"c": 0.9}, sd=0.01)
    sampler = {**result.provenance["sampler"], "method": "made up"}
    result = dataclasses.replace(result, provenance={**result.provenance, "sampler": sampler})
    monkeypatch.setattr("bayesbias.fit", lambda *_, **__: result)
    monkeypatch.setattr("bayesbias.plots.saving.save_figures", lambda *_, **__: [])
    options.on_every_command([fit])
    table = tmp_path / "table.csv"
    pairs().to_csv(table, index=False)
    words = ["fit", "--quiet", "--log", "x", "--distances", str(table), "--out", str(tmp_path / "run")]
    done = CliRunner().invoke(cli, words, prog_name="bayesbias", catch_exceptions=False)
    assert (done.exit_code, heard) == (0, [True, "x"])
    recorded = bb.load_run(tmp_path / "run").command
    assert recorded == ("fit", "--distances", str(table), "--out", str(tmp_path / "run"))


def test_rows_that_share_a_setting_share_its_option():
    shared = Setting("keep", 0.5, "What is left.", least=0)

    @click.command()
    @options.of_settings(
        [shared, Setting("lam", 1.0, "A weight."), Setting("keep", 0.5, "What is left.", least=0)]
    )
    def command(**settings):
        click.echo(settings)

    assert [parameter.name for parameter in command.params] == ["keep", "lam"]
    assert CliRunner().invoke(command, ["--keep", "0.25"]).stdout == "{'keep': 0.25, 'lam': 1.0}\n"
    with pytest.raises(ValueError, match="settings of one name that are not equal: keep"):
        options.of_settings([shared, Setting("keep", 0.4, "What is left.")])


@pytest.mark.parametrize("text", ["", "  ", "-", "--json", "a\nb", "\u202ex", "a\x1b[1m"])
def test_a_place_that_nobody_means_is_refused(text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(cli, ["sentiment", "sentences", "--out", text])
    assert done.exit_code == 2
    assert "Invalid value for '--out'" in done.stderr
    assert not list(tmp_path.iterdir())


def test_a_home_is_meant_by_a_tilde(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert options.Place().convert("~/x", None, None) == tmp_path / "x"


def test_no_word_of_a_run_is_executed_where_that_is_asked_for(tmp_path, monkeypatch):
    monkeypatch.setattr("bayesbias.plots.saving.save_figures", lambda *_, **__: [])
    names = ["=1+1", "+x", "@SUM", "-p", "'=n", "plain"]
    result = made_up_sweep([{"embedding": name, "wordlist": f"{name}.toml"} for name in names])

    def executed(path):
        rows = csv.reader(io.StringIO(path.read_text(encoding="utf-8")))
        cells = [cell for row in rows for cell in row if cell.startswith(tuple("=+-@"))]
        return [cell for cell in cells if not re.fullmatch(r"-?\d[\d.e+-]*", cell)]

    for safe in (False, True):
        folder = tmp_path / str(safe)
        files = bb.save_run(result, folder, spreadsheet_safe=safe)
        assert any(executed(path) for path in files if path.suffix == ".csv") != safe
        covariates = json.loads((folder / "run.json").read_text(encoding="utf-8"))["covariates"]
        assert covariates.get("spreadsheet_safe", False) == safe


def test_a_table_is_read_back_with_its_own_words(tmp_path):
    words = {"x0": "=1+1", "x1": "+x", "y0": "@SUM", "p0": "-p", "n0": "'=n", "n1": "'tis"}
    table = bb.load_distances(pairs().replace({"protected_word": words, "attribute": words}))
    for safe in (False, True):
        table.save(tmp_path / "t.csv", spreadsheet_safe=safe)
        assert ("'=1+1," in (tmp_path / "t.csv").read_text(encoding="utf-8")) == safe
        assert bb.load_distances(tmp_path / "t.csv").frame.equals(table.frame)
