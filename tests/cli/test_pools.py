"""The command that holds intervals to pools of real words."""

from __future__ import annotations

import inspect
import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import bayesbias as bb
from bayesbias.basics.errors import InputError
from bayesbias.cli.main import cli
from bayesbias.simulation import shuffles

POOLS = """\
schema = 1
name = "names and jobs"
[[class]]
name = "women"
protected = ["mary", "anna", "emma", "laura", "julia", "sarah", "helen", "rose"]
attributes = ["nurse", "teacher", "secretary", "maid", "dancer", "nanny", "typist"]
[[class]]
name = "men"
protected = ["john", "peter", "paul", "mark", "david", "james", "robert", "thomas"]
attributes = ["engineer", "pilot", "soldier", "carpenter", "plumber", "judge", "boss"]
[controls]
neutral = ["table", "river", "stone", "cloud", "bread", "paper", "window", "rose"]
"""
ON = (
    "--embedding",
    "minilm-static",
    "--words",
    "3",
    "--attributes",
    "3,4",
    "--tables",
    "6",
    "--workers",
    "1",
)


@pytest.fixture
def file(tmp_path) -> str:
    path = tmp_path / "pools.toml"
    path.write_text(POOLS, encoding="utf-8")
    return str(path)


def run(*arguments: str):
    return CliRunner().invoke(cli, ["calibrate", *arguments])


@pytest.mark.slow
def test_pools_are_drawn_from_and_said(file):
    asked = ("--pools", file, *ON, "--methods", "moments,bootstrap,pairs_t", "--seed", "4")
    done = run(*asked, "--json")
    assert done.exit_code == 0, done.output
    said = json.loads(done.stdout)
    assert said["words"] == {"women": {"drawn": 3, "pool": 8}, "men": {"drawn": 3, "pool": 8}}
    assert said["attributes"]["men"] == {"drawn": 4, "pool": 7}
    assert said["attributes"]["neutral"] == {"drawn": 3, "pool": 7}
    assert said["left_out"] == ["rose"]  # a name, and no control for itself
    assert (said["tables"], said["seed"], said["prob"]) == (6, 4, 0.89)
    report = bb.calibrate_on(
        "minilm-static", file, words=3, attributes=[3, 4], tables=6, methods=["moments"], seed=4, workers=1
    )
    mine = [row for row in said["rows"] if row["method"] == "moments"]
    # JSON has 15 decimals.
    assert [row["coverage"] for row in mine] == pytest.approx(report["coverage"].tolist(), abs=1e-15)
    assert [row["width"] for row in mine] == pytest.approx(report["width"].tolist())
    text = run(*asked).stdout
    assert "6 tables drawn from names and jobs in minilm-static: words women 3 of" in text
    assert "left out, for want of a pair with every word: rose." in text
    for part in ("overall, associated - different", "class men, associated - neutral", "flawless"):
        assert part in text


@pytest.mark.slow
def test_a_table_of_pairs_takes_the_place_of_both(file, tmp_path):
    path = tmp_path / "pairs.csv"
    bb.distance_table("minilm-static", file).save(path)
    rest = ("--words", "3", "--attributes", "3", "--tables", "4", "--methods", "moments", "--workers", "1")
    of_table = run("--distances", str(path), *rest, "--json")
    assert of_table.exit_code == 0, of_table.output
    of_list = run("--pools", file, "--embedding", "minilm-static", *rest, "--json")
    values = [[row["truth"] for row in json.loads(done.stdout)["rows"]] for done in (of_table, of_list)]
    assert values[0] == pytest.approx(values[1])


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--pools", "{}"), "pools need vectors"),
        (("--pools", "{}", *ON, "--fit", "fit.nc"), "--fit has no meaning for pools"),
        (("--pools", "{}", *ON, "--wordlist", "gender"), "--wordlist has no meaning for pools"),
        (("--pools", "{}", *ON, "--words", "7,9"), "9 words of class men; found: 8"),
        (("--pools", "{}", *ON, "--distances", "x.csv"), "--distances stands alone"),
        (("--pools", "{}", *ON, "--methods", "momnts"), "did you mean 'moments'"),
        (("--pools", "religin", *ON), "unknown word list"),
        (("--pools", "{}", *ON, "--resume"), "nothing to resume"),
    ],
)
def test_what_has_no_meaning_is_refused(file, arguments, says):
    done = run(*(text.format(file) for text in arguments))
    assert isinstance(done.exception, InputError)
    assert says in str(done.exception)


def test_negative_controls_are_those_of_the_function(monkeypatch):
    seen = []

    def controls(*given, **settings):
        seen.append((given, settings))
        columns = ["kind", "tables", "called", "called_se", "mean", "sd", "width", "quick"]
        return pd.DataFrame([("real", 1, 1.0, np.nan, -0.1, np.nan, 0.1, 1.0)], columns=columns)

    usual = inspect.signature(shuffles.negative_controls).parameters
    monkeypatch.setattr(shuffles, "negative_controls", controls)
    done = run("--embedding", "minilm-static", "--wordlist", "religion")
    assert done.exit_code == 0, done.output
    ((given, settings),) = seen
    assert given == ("minilm-static", "religion", usual["model"].default)
    names = ("tables", "seed", "prob", "engine", "controls")
    assert {name: settings[name] for name in names} == {name: usual[name].default for name in names}
