"""The command ``bayesbias seat``: what it prints, what it writes, and how it fails."""

from __future__ import annotations

import json
import sys

import numpy as np
import pandas as pd
import pytest
from helpers.seeds import shifted

from bayesbias import save_run, seat, sentence_test
from bayesbias.cli import main
from bayesbias.cli.sentence_tests import seat_json
from bayesbias.columns.table import p_cell
from bayesbias.core.errors import InputError
from bayesbias.findings.sentences import findings_of_sentences
from bayesbias.studies.seat_result import PUBLISHED_COLUMNS
from bayesbias.wordlists import list_tests, read_test

NINE = list(PUBLISHED_COLUMNS)
P = ["p_lower", "p_upper", "p_method", "p_holm"]
BAYES = [
    "contrast",
    "sd",
    "hpdi_low",
    "hpdi_high",
    "standardized",
    "superiority",
    "share_word",
    "share_template",
]
QUICK = ["--draws", "200", "--tune", "300", "--chains", "2"]


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("BAYESBIAS_CACHE", str(tmp_path / "cache"))


def run(monkeypatch, capsys, *arguments):
    """Run the command as from a shell; return exit code, standard output and standard error."""
    monkeypatch.setattr(sys, "argv", ["bayesbias", "seat", *map(str, arguments)])
    with pytest.raises(SystemExit) as end:
        main.main()
    said = capsys.readouterr()
    return end.value.code or 0, said.out, said.err


@pytest.fixture
def lacking(tmp_path):
    """Vectors of the words of weat6 and, of weat7, of the attributes alone."""
    words = [
        word
        for name, sets in (("weat6", ("targ1", "targ2", "attr1", "attr2")), ("weat7", ("attr1", "attr2")))
        for each in sets
        for word in sentence_test(name).sentences(each)
    ]
    rng = np.random.default_rng(0)
    path = tmp_path / "few.txt"
    lines = [f"{word} {' '.join(f'{x:.4f}' for x in rng.normal(size=8))}" for word in dict.fromkeys(words)]
    path.write_text("\n".join([f"{len(lines)} 8", *lines]) + "\n", encoding="utf-8")
    return f"cbow:{path}?name=few"


@pytest.mark.slow
def test_json_is_one_object_with_a_row_for_each_test(monkeypatch, capsys):
    code, out, err = run(monkeypatch, capsys, "--tests", "weat6,weat7", "--seed", shifted(1), "--json")
    said = json.loads(out)
    rows = said["tests"]
    assert (code, err) == (0, "")
    assert (said["schema"], said["failures"]) == ("bayesbias.seat/1", [])
    assert said["findings"] == findings_of_sentences(seat("weat6,weat7", seed=shifted(1))).as_dict()
    assert said["finding"] == said["findings"]["headline"]
    assert [row["test"] for row in rows] == ["weat6", "weat7"]
    result = seat("weat6,weat7", seed=shifted(1))
    assert said["provenance"] == dict(result.provenance)
    for row, expected in zip(rows, result.frame.to_dict("records"), strict=True):
        assert set(row) >= {*NINE, *P, "p_words", "level", "dropped"}
        assert row.pop("notes") == []
        assert row == expected


@pytest.mark.slow
def test_json_with_bayes(monkeypatch, capsys):
    arguments = [
        "--tests",
        "heilman_double_bind_competent_one_sentence",
        "--seed",
        shifted(1),
        "--bayes",
        "--prob",
        0.5,
    ]
    _, out, _ = run(monkeypatch, capsys, *arguments, *QUICK, "--json")
    (row,) = json.loads(out)["tests"]
    assert set(row) >= {*NINE, *P, *BAYES}
    assert row["hpdi_low"] < row["contrast"] < row["hpdi_high"]
    assert 0 < row["share_word"] < 1
    assert row["share_template"] is None  # one template to a set tells nothing of templates
    wide = seat(
        "heilman_double_bind_competent_one_sentence",
        seed=shifted(1),
        bayes=True,
        draws=200,
        tune=300,
        chains=2,
    )
    assert wide.frame["hpdi_high"].iloc[0] > row["hpdi_high"]


def test_small_p_values_survive_json_and_what_is_missing_is_null():
    result = seat("weat6", seed=shifted(1))
    frame = result.frame.assign(p_upper=1e-40, effect_size=np.nan)
    import dataclasses

    (row,) = seat_json(dataclasses.replace(result, frame=frame))["tests"]
    assert row["p_upper"] == 1e-40
    assert row["effect_size"] is None
    json.dumps(row, allow_nan=False)


@pytest.mark.slow
def test_the_screen_has_the_table_and_what_to_know_beside_it(monkeypatch, capsys):
    code, out, err = run(
        monkeypatch, capsys, "--tests", "weat7,sent-weat7,weat3b,weat5b", "--seed", shifted(1), "--no-cache"
    )
    assert (code, err) == (0, "")
    lines = [" ".join(line.split()) for line in out.splitlines()]
    said = next(
        number
        for number, line in enumerate(lines)
        if "sentence test with p below 0.01 loses that when" in line
    )
    assert said < lines.index("C7: Math/Arts, M/F Terms word 1.37**")  # what it says before the table
    assert "C7: Math/Arts, M/F Terms word 1.37**" in lines
    assert "sent 0.86**" in lines
    assert any(
        "sentence test with p below 0.01 loses that when" in line and "0.05 over words" in line
        for line in lines
    )
    assert "see the notes above" not in out  # there are none
    assert any(line.startswith("weat3b, weat5b") and "opposite sign" in line for line in lines)


@pytest.mark.slow
def test_a_test_that_fails_is_said_and_the_others_are_printed(lacking, tmp_path, monkeypatch, capsys):
    folder = tmp_path / "run"
    arguments = [
        "--encoder",
        lacking,
        "--encoder",
        "minilm-static",
        "--tests",
        "weat6,weat7",
        "--seed",
        shifted(1),
    ]
    code, out, err = run(monkeypatch, capsys, *arguments, "--json", "--out", folder)
    assert code == 1
    said = json.loads(out)
    assert [(row["model"], row["test"]) for row in said["tests"]] == [
        ("few", "weat6"),
        ("minilm-static", "weat6"),
        ("minilm-static", "weat7"),
    ]
    assert [(row["model"], row["test"]) for row in said["failures"]] == [("few", "weat7")]
    assert err.startswith("bayesbias: few, weat7: ")
    assert "no word of targ1 (Math) is known to the encoder" in err
    failures = pd.read_csv(folder / "failures.csv")
    assert failures["test"].tolist() == ["weat7"]
    # A later run in the folder, in which nothing fails, leaves none of it.
    code, *_ = run(monkeypatch, capsys, "--tests", "weat6", "--seed", shifted(1), "--out", folder)
    assert code == 0
    assert not (folder / "failures.csv").exists()
    assert len(pd.read_csv(folder / "results.csv")) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--tests", "weat77"], "did you mean 'weat7'"),
        (["--encoder", "minilm-statik"], "did you mean 'minilm-static'"),
        (["--encoder", "minilm-static", "--encoder", "minilm-static"], "two encoders have one name"),
        (["sentences", "weat77"], "did you mean 'weat7'"),
    ],
)
@pytest.mark.slow
def test_what_cannot_be_used_exits_with_two(arguments, message, monkeypatch, capsys):
    code, out, err = run(monkeypatch, capsys, *arguments)
    assert (code, out) == (2, "")
    assert message in err


@pytest.mark.slow
def test_a_folder_holds_all_tables(tmp_path, monkeypatch, capsys):
    folder = tmp_path / "new" / "run"
    arguments = ["--tests", "weat6,weat7,weat8", "--seed", shifted(1), "--out", folder]
    code, out, _ = run(monkeypatch, capsys, *arguments)
    assert code == 0
    result = seat("weat6,weat7,weat8", seed=shifted(1))
    names = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    assert names == [
        "consistency.csv", "figures/seat.png", "figures/seat.svg", "provenance.json", "results.csv", "results.tsv",
        "run.json", "table4.csv",
    ]  # fmt: skip
    assert f"written: {len(names)} files in {folder} (" in out
    tsv = (folder / "results.tsv").read_text(encoding="utf-8").splitlines()
    assert tsv[0].split("\t") == NINE
    assert len(tsv) == 4
    table = pd.read_csv(folder / "results.csv", keep_default_na=False)
    assert list(table.columns) == list(result.frame.columns)
    # Older versions of pandas read the last bit of a number differently.
    np.testing.assert_allclose(table["p_holm"], result.frame["p_holm"], rtol=1e-14)
    assert pd.read_csv(folder / "table4.csv")["minilm-static"].tolist()[0].startswith("0.95")
    assert pd.read_csv(folder / "consistency.csv")["tests"].tolist() == ["weat7 weat8"]
    covariates = json.loads((folder / "provenance.json").read_text(encoding="utf-8"))
    assert covariates["seed"] == shifted(1)
    assert [test["name"] for test in covariates["tests"]] == ["weat6", "weat7", "weat8"]
    assert covariates["tests"][0]["sha256"] == sentence_test("weat6").sha256
    assert covariates["encoders"][0]["name"] == "minilm-static"


@pytest.mark.slow
def test_an_older_run_is_kept_until_the_new_one_is_made(tmp_path, monkeypatch):
    result = seat("weat6", seed=shifted(1))
    files = save_run(result, tmp_path / "run")
    before = {path: path.read_bytes() for path in files}

    def full(*_, **__):
        raise InputError("no space left on device")

    monkeypatch.setattr("bayesbias.plots.saving.save_figures", full)
    with pytest.raises(InputError, match="no space left"):
        save_run(seat("weat7", seed=shifted(1)), tmp_path / "run")
    assert {path: path.read_bytes() for path in files} == before
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == sorted(
        {path.relative_to(tmp_path / "run").parts[0] for path in files}
    )
    with pytest.raises(InputError, match="no space left"):
        save_run(result, tmp_path / "fresh")
    assert not (tmp_path / "fresh").exists()


def test_an_output_that_is_a_file_is_refused_before_the_work(tmp_path, monkeypatch, capsys):
    path = tmp_path / "file"
    path.write_text("mine")
    code, _, err = run(monkeypatch, capsys, "--tests", "weat6", "--out", path)
    assert code == 2
    assert "must be a folder" in err
    assert path.read_text() == "mine"


@pytest.mark.slow
def test_a_test_is_written_in_the_published_format(tmp_path, monkeypatch, capsys):
    path = tmp_path / "sent-weat9.jsonl"
    code, out, err = run(monkeypatch, capsys, "sentences", "sent-weat9", "--out", path)
    assert (code, out) == (0, "")
    assert "targ" not in err
    assert "written" in err
    assert read_test(path).sizes["targ2"] == 73
    code, out, _ = run(monkeypatch, capsys, "sentences", "sent-weat9", "--published-cut")
    data = json.loads(out)
    assert list(data) == ["targ1", "targ2", "attr1", "attr2"]
    assert len(data["targ2"]["examples"]) == 18
    # And runs by its path.
    code, out, _ = run(monkeypatch, capsys, "--tests", path, "--seed", shifted(1), "--json")
    assert json.loads(out)["tests"][0]["num_targ2"] == 73


def test_the_table_says_what_its_contexts_are(monkeypatch, capsys):
    _, out, _ = run(monkeypatch, capsys, "--tests", "heilman_double_bind_likable_one_sentence", "--seed", 1)
    assert "Context: sent (u), a sentence for each word (in published tests such as" in out
    assert "say little" not in out
    _, out, _ = run(monkeypatch, capsys, "--tests", "weat6", "--seed", 1)
    assert "Context:" not in out


def test_the_names_of_tests_are_listed(monkeypatch, capsys):
    _, out, _ = run(monkeypatch, capsys, "sentences")
    assert out.split() == list_tests()


def test_the_published_cut_can_be_run(monkeypatch, capsys):
    _, out, _ = run(
        monkeypatch,
        capsys,
        "--tests",
        "sent-weat9",
        "--published-cut",
        "--seed",
        1,
        "--json",
        "--samples",
        999,
    )
    (row,) = json.loads(out)["tests"]
    assert (row["num_targ1"], row["num_targ2"]) == (18, 18)
    assert row["p_value"] * 1000 == pytest.approx(round(row["p_value"] * 1000))


@pytest.mark.slow
def test_p_values_stand_beside_the_contrast_where_the_terminal_is_wide_enough(monkeypatch, capsys):
    arguments = ("--tests", "weat7", "--bayes", "--seed", shifted(1), *QUICK)
    row = json.loads(run(monkeypatch, capsys, *arguments, "--json")[1])["tests"][0]
    out = run(monkeypatch, capsys, *arguments)[1]
    (head,) = [line for line in out.splitlines() if "in sds" in line]
    assert "p   p, words once" in head
    (line,) = [line for line in out.splitlines() if line.lstrip().startswith("weat7") and " to " in line]
    assert {p_cell(row["p_value"]).typed, p_cell(row["p_words"]).typed} <= set(line.split())
    assert "Standard deviations are those of associated and different pairs" in out
    shown = {}
    for width in (140, 110):
        monkeypatch.setattr("bayesbias.cli.screen.sys.stdout.isatty", lambda: True)
        monkeypatch.setenv("COLUMNS", str(width))
        shown[width] = run(monkeypatch, capsys, *arguments)[1]
    assert ["p, words once" in shown[width] for width in (140, 110)] == [True, False]
    assert all("in sds" in text for text in shown.values())
