"""`bayesbias sweep`: what it prints, and how it ends."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from helpers.sweeps import made_up_sweep, write_inputs, write_plan

from bayesbias.cli import screen
from bayesbias.cli.sweeping import _print_sweep, sweep
from bayesbias.core.errors import InputError


@pytest.mark.slow
def test_the_command_prints_results_and_exits_with_one_where_a_cell_failed(tmp_path):
    write_inputs(tmp_path)
    write_plan(tmp_path, embeddings=["e0.npz", "gone.npz"], wordlists=["pets.toml"], models=["additive"])
    arguments = [str(tmp_path / "plan.toml"), "--out", str(tmp_path / "out"), "--workers", "1"]
    made = CliRunner().invoke(sweep, arguments)
    assert made.exit_code == 1
    assert "2 cells: 1 fitted, 1 failed, " in made.stdout
    assert "failed (1 cell): no such vector file" in made.stdout
    assert re.search(rf"written: \d+ files in {re.escape(str(tmp_path / 'out'))} \(", made.stdout)
    refused = CliRunner().invoke(sweep, arguments)
    assert isinstance(refused.exception, InputError)
    resumed = CliRunner().invoke(sweep, [*arguments, "--resume", "--json"])
    payload = json.loads(resumed.stdout)
    assert (payload["cells"], payload["failed"], payload["reused"]) == (2, 1, 1)
    assert payload["failures"][0]["embedding"] == "gone.npz"
    write_plan(tmp_path, embeddings=["e0.npz"], wordlists=["pets.toml"], models=["additive"])
    assert CliRunner().invoke(sweep, [*arguments, "--resume"]).exit_code == 0


@pytest.mark.slow
def test_the_printed_table_cuts_names_and_never_numbers(capsys, monkeypatch):
    long = [f"/data/vectors/{c}{'x' * 60}-{c}.txt" for c in "abc"]
    result = made_up_sweep(
        [
            {"embedding": name, "trusted": ok, "standardized": mean, "distance": -0.123}
            for name, ok, mean in zip(long, [True, False, True], [-0.9, -0.8, -0.7], strict=True)
        ]
    )
    _print_sweep(result)
    piped = capsys.readouterr().out
    for name in long:  # whole in a pipe, without its folder
        assert f"{Path(name).name} " in piped
    assert "/data/vectors" not in piped
    said, _, table = piped.partition("\n\n")
    assert "not to be trusted (1 cell), such as" in said
    assert [line.split()[0][0] for line in table.splitlines() if "not to be trusted" in line] == ["b"]
    assert piped.splitlines()[0] == (  # how it went is said first
        "3 cells: 3 fitted, 1 not to be trusted (see the columns problems and look_again of the results)"
    )
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    _print_sweep(result)
    shown = capsys.readouterr().out.splitlines()
    rows = [line for line in shown if re.search(r"-\d\.\d\d to -\d\.\d\d +0\.64 +-0\.123", line)]
    assert [row.split()[0][0] for row in rows] == ["a", "b", "c"]
    assert ["nearer" in row for row in rows] == [True, False, True]
    assert all("..." in row for row in rows)
    assert all(row.split()[0].endswith(f"-{c}.txt"[-3:]) for row, c in zip(rows, "abc", strict=True))
    assert max(map(len, rows)) <= 80
    monkeypatch.setenv("COLUMNS", "30")  # too narrow for a row: each cell is a paragraph
    _print_sweep(result)
    shown = capsys.readouterr().out.splitlines()
    assert max(map(len, shown)) <= 30
    assert all(Path(name).name in "".join(shown) for name in long)  # whole, in several lines
    assert sum(bool(re.fullmatch(r"  89% HPDI +-\d\.\d\d to -\d\.\d\d", line)) for line in shown) == 3
    assert sum(bool(re.fullmatch(r"  cosine +-0\.123", line)) for line in shown) == 3


def test_the_lowest_standardized_contrast_is_printed_first_whatever_its_cosine_distance(capsys):
    cells = [
        {"embedding": "wide", "standardized": -0.2, "distance": -0.09},
        {"embedding": "heavy", "standardized": None, "distance": -0.5},
        {"embedding": "narrow", "standardized": -0.9, "distance": -0.02},
        {"embedding": "gone", "error": "no such vector file"},
    ]
    _print_sweep(made_up_sweep(cells))
    lines = capsys.readouterr().out.partition("\n\n")[2].splitlines()
    assert "in standard deviations of neutral pairs; sup.: superiority; cosine:" in lines[0]
    rows = [
        line.split()
        for line in lines
        if line.split()[:1] and line.split()[0] in {c["embedding"] for c in cells}
    ]
    assert [row[0] for row in rows] == ["narrow", "wide", "heavy", "gone"]
    assert rows[0][1:] == ["-0.90", "-1.20", "to", "-0.60", "0.64", "-0.020", "nearer"]
    assert rows[1][1:] == ["-0.20", "-0.50", "to", "+0.10", "0.64", "-0.090", "unclear"]
    assert rows[2][1:] == ["-0.500"]
    assert rows[3][1:] == ["failed"]


def test_cells_of_another_unit_are_marked(capsys):
    bare = {"embedding": "bare", "standardized": -0.4, "unit": "sd of associated and different pairs"}
    _print_sweep(made_up_sweep([{"embedding": "a"}, {"embedding": "b"}, bare]))
    lines = capsys.readouterr().out.partition("\n\n")[2].splitlines()
    assert (
        "in standard deviations of neutral pairs (* standard deviations of associated and different pairs);"
        in lines[0]
    )
    assert [line.split()[:2] for line in lines if re.search(r"-0\.\d\d.* to ", line)][:3] == [
        ["a", "-0.50"], ["b", "-0.50"], ["bare", "-0.40*"],
    ]  # fmt: skip


@pytest.mark.slow
def test_columns_give_way_before_a_cell_takes_a_paragraph(capsys, monkeypatch):
    names = ("glove-wiki-gigaword-300", "fasttext-wiki-news-subwords-300")
    lists = ("religion", "gender-occupations")
    result = made_up_sweep([{"embedding": f"{n}.txt", "wordlist": w} for n in names for w in lists])
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("TERM", "dumb")  # no codes for colours in the lines
    heads = {200: ["sup.", "cosine"], 100: ["sup.", "cosine"], 85: ["sup."], 80: [], 70: []}
    for width, kept in heads.items():
        monkeypatch.setenv("COLUMNS", str(width))
        _print_sweep(result)
        shown = capsys.readouterr().out
        assert max(map(len, shown.splitlines())) <= width
        (head,) = (line for line in shown.splitlines() if "in sds" in line)
        assert [name for name in ("sup.", "cosine") if name in head.split()] == kept
        gone = [name for name in ("sup.", "cosine") if name not in kept]
        assert (f"left out at this width: {', '.join(gone)} (see results.csv)" in shown) == bool(gone)
        assert ("sup.: superiority" in " ".join(shown.split())) == ("sup." in kept)
        assert shown.partition("\n\n")[2].count("-0.80 to -0.20") == 4  # no number is cut
    assert not any(f"{name}.txt" in shown.partition("\n\n")[2] for name in names)
    monkeypatch.setenv("COLUMNS", "55")  # a paragraph for each cell holds it whole
    _print_sweep(result)
    shown = capsys.readouterr().out.partition("\n\n")[2]
    assert all(shown.count(f"{name}.txt\n") == 2 for name in names)
    assert shown.count("  cosine ") == 4


def test_a_long_name_keeps_its_ends():
    assert screen.middle_out("abcdefghijklmnop", 10) == "abcd...nop"


def test_the_command_is_there():
    from bayesbias.cli.main import cli

    shown = CliRunner().invoke(cli, ["sweep", "--help"]).stdout
    assert "Exit codes: 0 all cells were fitted; 1" in shown
    assert 'embeddings = ["minilm-static", "vectors/glove.txt"]' in shown
