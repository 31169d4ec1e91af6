"""`bayesbias sweep`: what it prints, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner
from helpers.sweeps import write_inputs, write_plan

from bayesbias.basics.errors import InputError
from bayesbias.cli.sweeping import _middle_out, _print_sweep, _short_names, sweep
from bayesbias.sweeps.result import _CELL_COLUMNS, _ROW_COLUMNS, SweepResult


@pytest.mark.slow
def test_the_command_prints_results_and_exits_with_one_where_a_cell_failed(tmp_path):
    write_inputs(tmp_path)
    write_plan(tmp_path, embeddings=["e0.npz", "gone.npz"], wordlists=["pets.toml"], models=["additive"])
    arguments = [str(tmp_path / "plan.toml"), "--out", str(tmp_path / "out"), "--workers", "1"]
    made = CliRunner().invoke(sweep, arguments)
    assert made.exit_code == 1
    assert "2 cells: 1 fitted, 1 failed, " in made.stdout
    assert "failed (1 cell): no such vector file" in made.stdout
    assert str(tmp_path / "out" / "results.csv") in made.stdout
    refused = CliRunner().invoke(sweep, arguments)
    assert isinstance(refused.exception, InputError)
    resumed = CliRunner().invoke(sweep, [*arguments, "--resume", "--json"])
    payload = json.loads(resumed.stdout)
    assert (payload["cells"], payload["failed"], payload["reused"]) == (2, 1, 1)
    assert payload["failures"][0]["embedding"] == "gone.npz"
    write_plan(tmp_path, embeddings=["e0.npz"], wordlists=["pets.toml"], models=["additive"])
    assert CliRunner().invoke(sweep, [*arguments, "--resume"]).exit_code == 0


def _made_up(names: list[str], trusted: list[bool]) -> SweepResult:
    """Return a result of one fitted cell per embedding, with numbers that must not be cut."""
    rows = [
        {
            "cell": str(i), "embedding": name, "wordlist": "pets.toml", "model": "crossed", "seed": 7,
            "status": "ok", "trusted": ok, "level": "overall", "term": "associated - different",
            "estimand": "population", "mean": -0.123, "hpdi_low": -0.456, "hpdi_high": 0.789, "prob": 0.89,
            "p_below_zero": 0.875,
        }
        for i, (name, ok) in enumerate(zip(names, trusted, strict=True))
    ]  # fmt: skip
    columns = {**_CELL_COLUMNS, **_ROW_COLUMNS}
    frame = pd.DataFrame({c: pd.array([row.get(c) for row in rows], dtype=k) for c, k in columns.items()})
    return SweepResult(frame, pd.DataFrame(), Path("out"), 0)


def test_the_printed_table_cuts_names_and_never_numbers(capsys, monkeypatch):
    long = [f"/data/vectors/{c}{'x' * 60}-{c}.txt" for c in "abc"]
    result = _made_up(long, [True, False, True])
    _print_sweep(result, [])
    piped = capsys.readouterr().out
    for name in long:  # whole in a pipe, without its folder
        assert f"{Path(name).name} " in piped
    assert "/data/vectors" not in piped
    assert [line.split()[0][0] for line in piped.splitlines() if "not to be trusted" in line][:-2] == ["b"]
    assert piped.splitlines()[-1] == (
        "3 cells: 3 fitted, 1 not to be trusted (see the columns problems and look_again of the results)"
    )
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    for width in (80, 30):
        monkeypatch.setenv("COLUMNS", str(width))
        _print_sweep(result, [])
        rows = [line for line in capsys.readouterr().out.splitlines() if "-0.456 to +0.789" in line]
        assert [row.split()[0][0] for row in rows] == ["a", "b", "c"]
        assert all("..." in row and "-0.123" in row and "0.875" in row for row in rows)
        assert all(row.split()[0].endswith(f"-{c}.txt"[-3:]) for row, c in zip(rows, "abc", strict=True))
        assert width == 30 or max(map(len, rows)) <= 80


def test_paths_of_one_name_stay_apart():
    assert _short_names(["a/v.txt", "b/v.txt", "c/w.txt", "c/w.txt"]) == [
        "a/v.txt",
        "b/v.txt",
        "w.txt",
        "w.txt",
    ]
    assert _middle_out("abcdefghijklmnop", 10) == "abcd...nop"


def test_the_command_is_there():
    from bayesbias.cli.main import cli

    shown = CliRunner().invoke(cli, ["sweep", "--help"]).stdout
    assert "Exit codes: 0 all cells were fitted; 1" in shown
    assert 'embeddings = ["minilm-static", "vectors/glove.txt"]' in shown
