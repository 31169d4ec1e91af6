"""Every command shows what the loader of the vectors noted, once, and warns of misspelled words."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

import bayesbias as bb
from bayesbias.cli.main import cli

SPELLING = "ound under another spelling: US as us"
SKIPPED = "kipped 1 line (line 3)"
HEADER = "states 99 words"
QUICK = ["--engine", "quick", "--draws", "250", "--seed", "1"]
FIRST = ["US", "father", "uncle", "brother", "nephew", "son"]
SECOND = ["mother", "aunt", "sister", "niece", "daughter", "lady"]
WARM = ["warm", "kind", "friendly", "gentle", "sweet", "caring"]
COLD = ["cold", "rude", "hostile", "mean", "harsh", "cruel"]


def list_of_words(path, first=FIRST, warm=WARM):
    path.write_text(
        'schema = 1\nname = "toy"\nlanguage = "en"\ncontrols = "none"\n'
        'definitional_sets = [["father", "mother"], ["uncle", "aunt"]]\n'
        f'[[class]]\nname = "one"\nprotected = {json.dumps(first)}\nattributes = {json.dumps(warm)}\n'
        f'[[class]]\nname = "two"\nprotected = {json.dumps(SECOND)}\nattributes = {json.dumps(COLD)}\n'
    )
    return str(path)


def vectors(path, seed):
    """Write vectors of lower-case words, with a wrong header and a line that cannot be read."""
    rng = np.random.default_rng(seed)
    words = [word.lower() for word in [*FIRST, *SECOND, *WARM, *COLD]]
    lines = [f"{word} {' '.join(f'{x:.5f}' for x in rng.normal(size=20))}" for word in words]
    path.write_text("\n".join(["99 20", lines[0], "broken 1 2", *lines[1:]]) + "\n")
    return str(path)


@pytest.fixture
def files(tmp_path):
    return {
        "list": list_of_words(tmp_path / "toy.toml"),
        "misspelled": list_of_words(
            tmp_path / "wrong.toml", ["fathre", *FIRST[1:]], ["kinnd", *WARM[2:], "soft"]
        ),
        "vectors": vectors(tmp_path / "a.vec", 1),
        "others": vectors(tmp_path / "b.vec", 2),
        "third": vectors(tmp_path / "c.vec", 3),
        "out": tmp_path,
    }


def run(*arguments):
    """Return the screen in one line, and the object of JSON as text."""
    done = CliRunner().invoke(cli, [*arguments], catch_exceptions=False)
    assert done.exit_code in (0, 1), done.output
    return " ".join(done.stdout.split())


def noted(text, *notes):
    return {note: text.count(note) for note in notes}


ONCE = {SPELLING: 1, SKIPPED: 1, HEADER: 1}


def test_score(files):
    given = ["--embedding", files["vectors"], "--wordlist", files["list"], "--seed", "1"]
    assert noted(run("score", *given), *ONCE) == ONCE
    one = json.loads(run("score", *given, "--scores", "weat", "--json"))
    assert noted(" ".join(one["scores"][0]["notes"]), *ONCE) == ONCE


def test_describe_debias_and_check(files):
    embedding = ["--embedding", files["vectors"]]
    described = run("describe", *embedding, "--controls", "2021")
    assert noted(described, SKIPPED, HEADER) == {SKIPPED: 1, HEADER: 1}
    listed = [*embedding, "--wordlist", files["list"]]
    assert noted(run("debias", *listed, "--out", str(files["out"] / "d.vec")), *ONCE) == ONCE
    checked = run("wordlist", "check", files["list"], *embedding)
    assert noted(checked, *ONCE) == ONCE


def test_misspelled_words_in_commands_that_fit_nothing(files):
    embedding = ["--embedding", "minilm-static"]
    listed = [*embedding, "--wordlist", files["misspelled"]]
    warning = "Warning Perhaps misspelled: fathre (father?), kinnd (kind?)"
    for arguments in (
        ["score", *listed, "--scores", "weat"],
        ["score", *listed, "--scores", "weat", "--detail"],
        ["wordlist", "check", files["misspelled"]],
        ["wordlist", "check", files["misspelled"], *embedding],
        ["debias", *listed, "--words", "listed", "--out", str(files["out"] / "d.vec")],
    ):
        assert run(*arguments).count(warning) == 1, arguments
    for arguments in (
        ["score", *embedding, "--wordlist", files["list"], "--scores", "weat"],
        ["wordlist", "check", "gender", *embedding],
    ):
        assert "isspelled" not in run(*arguments), arguments


def test_a_list_of_another_language_is_not_held_to_english_words(files):
    path = files["out"] / "german.toml"
    text = (files["out"] / "wrong.toml").read_text()
    path.write_text(text.replace('language = "en"', 'language = "de"'))
    table = bb.distance_table("minilm-static", path)
    assert not any(group.misspelled for *_, group in table.coverage.groups())
    table = bb.distance_table("minilm-static", files["misspelled"])
    assert table.coverage.protected["one"].misspelled == {"fathre": "father"}
    again = type(table.coverage).from_dict(table.coverage.as_dict())
    assert again.attributes["one"].misspelled == {"kinnd": "kind"}


def test_seat_warns_of_misspelled_words(files):
    data = {
        "targ1": {"category": "One", "examples": ["fathre", "uncle", "brother"]},
        "targ2": {"category": "Two", "examples": ["mother", "aunt", "sister"]},
        "attr1": {"category": "Warm", "examples": WARM},
        "attr2": {"category": "Cold", "examples": COLD},
    }
    path = files["out"] / "own.jsonl"
    path.write_text(json.dumps(data))
    said = run("seat", "--tests", str(path), "--seed", "1", "--no-cache")
    assert said.count("erhaps misspelled: fathre (father?)") == 1
    assert "Warning" in said.partition("isspelled")[0][-40:]
    data["targ1"]["examples"] = ["US", "uncle", "brother"]
    path.write_text(json.dumps(data))
    cbow = [
        "--encoder",
        f"cbow:{files['vectors']}",
        "--tests",
        str(path),
        "--seed",
        "1",
        "--no-cache",
    ]
    assert noted(run("seat", *cbow), *ONCE) == ONCE


@pytest.mark.slow
def test_fit_compare_and_replicates(files):
    listed = ["--wordlist", files["list"], *QUICK]
    page = files["out"] / "page.html"
    folder = str(files["out"] / "run")
    fitted = run(
        "fit", "--embedding", files["vectors"], *listed, "--out", folder, "--figures", "none"
    )
    assert noted(fitted, *ONCE) == ONCE
    run("report", folder, "--out", str(page))
    assert SPELLING in page.read_text()
    both = ["compare", "--corpora", files["vectors"], files["others"], *listed[:2], "--seed", "1"]
    assert noted(run(*both), SPELLING, SKIPPED) == {SPELLING: 1, SKIPPED: 1}
    changed = ["compare", "--original", files["vectors"], "--debiased", files["others"]]
    assert noted(run(*changed, *listed[:2], "--seed", "1"), *ONCE)[SKIPPED] == 1
    sets = ["fit", "--embedding", files["vectors"], "--replicate", files["others"]]
    sets += ["--replicate", files["third"]]
    assert noted(run(*sets, *listed), SPELLING, SKIPPED) == {SPELLING: 1, SKIPPED: 1}
    wrong = ["fit", "--embedding", "minilm-static", "--wordlist", files["misspelled"], *QUICK]
    assert run(*wrong).count("Warning Perhaps misspelled: fathre (father?), kinnd (kind?)") == 1


@pytest.mark.slow
def test_sweep_and_wefat(files):
    plan = files["out"] / "plan.toml"
    plan.write_text(
        f'schema = 1\nembeddings = ["{files["vectors"]}"]\nwordlists = ["{files["list"]}"]\n'
        'controls = ["none"]\n[settings]\nseed = 1\n'
    )
    swept = run("sweep", str(plan), "--out", str(files["out"] / "sweep"), "--workers", "1")
    assert noted(swept, *ONCE) == ONCE
    numbers = files["out"] / "numbers.csv"
    words = ["nurse", "docotr", "engineer", "teacher", "secretary", "pilot", "lawyer", "cook"]
    numbers.write_text("word,women\n" + "".join(f"{w},{i * i}\n" for i, w in enumerate(words)))
    given = ["--embedding", "minilm-static", "--covariates", str(numbers), *QUICK]
    assert run("wefat", *given).count("Warning Perhaps misspelled: docotr (doctor?)") == 1
