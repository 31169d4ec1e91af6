"""The command wefat."""

from __future__ import annotations

import json

import pytest
from helpers.seeds import shifted


@pytest.fixture
def occupations(tmp_path):
    rows = [
        "word,women,pay",
        "nurse,88,1",
        "engineer,12,2",
        "teacher,80,3",
        "plumber,2,4",
        "lawyer,35,5",
        "zzxqy,50,6",
    ]
    file = tmp_path / "occupations.csv"
    file.write_text("\n".join(rows) + "\n")
    return str(file)


COMMON = ["wefat", "--embedding", "minilm-static", "--draws", "200", "--tune", "200", "--chains", "2"]


@pytest.mark.slow
def test_one_object_and_the_same_in_lines(run, occupations):
    arguments = [*COMMON, "--covariates", occupations, "--covariate", "women", "--seed", str(shifted(1))]
    arguments += ["--sets", "religion", "--classes", "islam,judaism"]
    code, out, _ = run(*arguments, "--json")
    found = json.loads(out)
    assert code == 0
    assert {"r", "p_value", "n", "missing", "scores", "slope", "true_correlation"} <= set(found)
    assert {"mean", "sd", "hpdi_low", "hpdi_high", "mcse_mean"} <= set(found["slope"])
    rows = {row["target"]: row for row in found["targets"]}
    assert set(rows) == {"nurse", "engineer", "teacher", "plumber", "lawyer", "zzxqy"}
    assert all(row["hpdi_low"] < row["association"] < row["hpdi_high"] for row in rows.values())
    assert {name for name, row in rows.items() if row["off_line"]} == set(found["off_line"])
    assert found["finding"] == found["findings"]["headline"]
    assert found["provenance"]["embedding"]["name"] == "minilm-static"
    assert found["classes"] == found["provenance"]["wordlist"]["classes"] == ["islam", "judaism"]
    lines = run(*arguments)[1].splitlines()
    (head,) = [line for line in lines if line.split()[:1] == ["target"]]
    names = [name.strip() for name in head.split("  ") if name.strip()]
    assert len(set(names)) == len(names) == 8
    assert {"89% HPDI", "its 89% HPDI", "off the line by", "interval excludes 0"} <= set(names)
    assert any(f"r = {found['r']:.4f}" in line for line in lines)
    assert any("true association" in line for line in lines)


def test_a_covariate_that_is_not_there_is_said(run, occupations):
    code, _, err = run(*COMMON, "--covariates", occupations, "--covariate", "womem")
    assert code == 2
    assert "did you mean 'women'?" in err
    code, _, err = run(*COMMON, "--covariates", occupations)
    assert code == 2
    assert "occupations.csv: name the covariate, of 2; valid: women, pay; --covariate COLUMN" in err
    code, out, err = run(*COMMON, "--covariates", occupations, "--covariate", "women", "--covariate", "pay")
    assert (code, out) == (2, "")
    assert "--covariate: one covariate a call; found: ['women', 'pay']" in err
    code, _, err = run(*COMMON, "--covariates", occupations, "--covariate", "women", "--sets", "religion")
    assert code == 2
    assert "name two with --classes X,Y" in err
    several = [
        *COMMON,
        "--covariates",
        occupations,
        "--covariate",
        "women",
        "--sets",
        "religion",
        "--classes",
        "islam, judaim",
    ]
    code, _, err = run(*several)
    assert code == 2
    assert "did you mean 'judaism'?" in err
