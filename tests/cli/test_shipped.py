"""`bayesbias list`, `show`, `template` and `check-wordlist`."""

from __future__ import annotations

import json
import re
import tomllib

import pytest
from helpers.inputs import WORDS, classes, wordlist_text

import bayesbias


def test_list(run):
    code, out, err = run("list", "models")
    assert (code, err) == (0, "")
    assert [line.split()[0] for line in out.splitlines()] == bayesbias.models.list_models()
    for line in out.splitlines():
        assert bayesbias.load_model(line.split()[0]).description in line
    out = run("list", "wordlists")[1]
    names = [line.split()[0] for line in out.splitlines()]
    assert names[:-2] == bayesbias.wordlists.list_wordlists()
    assert out.splitlines()[-2:] == ["controls: 2021, 2022, none", "for `bayesbias sentiment`: occupations"]
    assert bayesbias.load_wordlist("weat3b").title in out
    out = run("list", "embeddings")[1]
    assert out.startswith("minilm-static")
    assert "word2vec" in out


@pytest.mark.slow
def test_show(run, files):
    assert "0.5 / sqrt(J + 4)" in run("show", "additive")[1]
    for name in bayesbias.models.list_models():
        out = run("show", name)[1]
        spec = bayesbias.load_model(name)
        assert out == spec.text  # so that `show NAME > mine.toml` is a model file
        assert tomllib.loads(out)["description"] == spec.description
    out = run("show", "religion")[1]
    words = bayesbias.load_wordlist("religion")
    for group in words.classes:
        assert f"{group.name} ({len(group.protected)}): {', '.join(group.protected)}" in out
        assert f"({len(group.attributes)}): {', '.join(group.attributes)}" in out
    assert "85 human, 226 neutral" in out
    out = run("show", "2021")[1]
    assert "human (27): " in out
    assert "neutral (242): " in out
    assert "Apache-2.0" in run("show", "minilm-static")[1]
    assert run("show", files / "own.toml")[1].startswith("schema = 1")
    assert run("show", files / "age.toml")[1].startswith("age: Age")
    code, out, err = run("show", "religon")
    assert (code, out) == (2, "")
    assert "did you mean 'religion'?" in err
    assert run("show", files / "pairs.csv")[0] == 2
    assert run("show", files)[0] == 2


@pytest.mark.slow
def test_what_a_prior_expects_stands_beside_the_file(run, files):
    from bayesbias.inference.expectation import prior_expectation

    for name in ("crossed", files / "own.toml"):
        code, _, err = run("show", name)
        assert code == 0
        assert err.splitlines() == prior_expectation(name).lines()
    assert "associated - different" in run("show", "crossed")[2]
    assert "depends on the table" in run("show", "sentiment")[2]


def test_every_shipped_list_can_be_shown(run):
    for name in bayesbias.wordlists.list_wordlists():
        code, out, err = run("show", name)
        assert (code, err) == (0, "")
        assert out.startswith(f"{name}: ")


def test_the_template_starts_a_list_of_ones_own(run, tmp_path):
    code, out, _ = run("show", "template")
    assert code == 0
    path = tmp_path / "mine.toml"
    path.write_text(out, encoding="utf-8")
    code, out, err = run("check-wordlist", path)
    assert (code, out) == (2, "")
    assert err.count("\n") > 3
    for name, (protected, attributes) in WORDS.items():
        text = path.read_text(encoding="utf-8").replace("protected = []", f"protected = {protected}", 1)
        text = text.replace("attributes = []", f"attributes = {attributes}", 1)
        at = text.index("[[class]]") if name == "young" else text.rindex("[[class]]")
        text = text[:at] + text[at:].replace('name = ""', f'name = "{name}"', 1)
        path.write_text(text, encoding="utf-8")
    text = path.read_text(encoding="utf-8")
    for key in ("name", "title", "language", "source"):
        text = text.replace(f'{key} = ""', f'{key} = "x"', 1)
    path.write_text(text, encoding="utf-8")
    code, out, err = run("check-wordlist", path)
    assert (code, err) == (0, "")
    assert "5 protected words, 5 stereotypes, 311 controls" in out


def test_check_wordlist_names_every_problem_at_once(run, tmp_path):
    text = wordlist_text(
        classes=classes(young=(["teen"], ["rash"]), old=(["elder", "elder"], ["slow", "wise"]))
    )
    path = tmp_path / "bad.toml"
    path.write_text(text, encoding="utf-8")
    code, out, err = run("check-wordlist", path)
    assert (code, out) == (2, "")
    assert len([line for line in err.splitlines() if "note: " not in line]) == 3
    path.write_text(wordlist_text(), encoding="utf-8")
    code, out, err = run("check-wordlist", path)
    assert (code, err) == (0, "")
    assert "no errors: 5 protected words, 5 stereotypes, 7 controls" in out


def test_what_is_worth_knowing_is_said_beside_what_is_wrong(run, tmp_path):
    listed = classes(young=(["teen", "Youth"], ["rash", "wise"]), old=(["elder", "youth"], ["slow", "wise"]))
    path = tmp_path / "bad.toml"
    path.write_text(wordlist_text(classes=listed) + 'controls = "2022"\n', encoding="utf-8")
    text = path.read_text(encoding="utf-8").replace("[[class]]", "colour = 1\n[[class]]", 1)
    path.write_text(text, encoding="utf-8")
    code, out, err = run("check-wordlist", path)
    assert (code, out) == (2, "")
    for said in (
        "unknown key; found: 'colour'",
        "move it above the first class",
        "note: The attribute 'wise' is a stereotype of 'young' and 'old'",
        "note: 'Youth' and 'youth' differ only in capitals",
    ):
        assert said in err
    found = json.loads(run("check-wordlist", path, "--json")[1])
    assert (found["ok"], len(found["problems"]), len(found["notes"])) == (False, 2, 4)


def test_words_that_vectors_lack_are_named_beside_what_is_wrong(run, tmp_path):
    path = tmp_path / "bad.toml"
    listed = classes(
        young=(["teen", "youth"], ["rash", "wokman"]), old=(["elder", "youth"], ["slow", "wise"])
    )
    path.write_text(wordlist_text(classes=listed), encoding="utf-8")
    code, _, err = run("check-wordlist", path, "--embedding", "minilm-static")
    assert code == 2
    assert "stands in two classes" in err
    assert "note: made of pieces in minilm-static, as a misspelt word would be: wokman\n" in err


def test_a_left_out_class_is_not_called_thin_and_found_words_are_counted(tmp_path):
    vectors = {word: [1.0, float(i), i % 3] for i, word in enumerate("abcdefghijklm")}
    words = {
        "x": {"protected": ["a", "b", "c"], "attributes": ["gone", "lost"]},
        "y": {"protected": ["d", "e", "f", "absent"], "attributes": ["g", "h"]},
        "z": {"protected": ["i", "j", "k"], "attributes": ["l", "m"]},
    }
    notes = bayesbias.distance_table(bayesbias.load_embedding(vectors), words).coverage.notes
    thin = [note for note in notes if "weakly known" in note]
    assert thin == [
        "y has 3 protected words and 2 stereotypes: how far they vary is weakly known",
        "z has 3 protected words and 2 stereotypes: how far they vary is weakly known",
    ]
    assert "LEFT OUT: the class x, since none of its stereotypes was found" in notes


def test_check_wordlist_names_words_that_vectors_lack_or_make_of_pieces(run, files, tmp_path):
    words = tmp_path / "mine.toml"
    lists = classes(
        young=(["teen", "Youth"], ["rash", "energtic"]), old=(["elder", "senior"], ["wise", "slow"])
    )
    words.write_text(wordlist_text(classes=lists), encoding="utf-8")
    code, out, err = run("check-wordlist", words)
    assert (code, err) == (0, "")
    assert "note: made of pieces in minilm-static, as a misspelt word would be: energtic\n" in out
    held = {
        word: [1.0, float(i)] for i, word in enumerate(["teen", "youth", "rash", "elder", "wise", "slow"])
    }
    bayesbias.save_embedding(bayesbias.load_embedding(held), tmp_path / "own.txt")
    code, out, err = run("check-wordlist", words, "--embedding", tmp_path / "own.txt")
    assert (code, err) == (0, "")
    assert "note: not in own: senior, energtic, hand" in out
    assert "note: spelt otherwise in own: Youth as youth\n" in out
    code, out, err = run("check-wordlist", words, "--embedding", tmp_path / "own.txt", "--json")
    found = json.loads(out)["vectors"]
    assert (found["name"], found["matched"], found["composed"]) == ("own", {"Youth": "youth"}, [])


def test_a_list_in_another_language_is_not_held_to_english_vectors(run, tmp_path):
    words = tmp_path / "mine.toml"
    words.write_text(wordlist_text().replace('language = "en"', 'language = "de"'), encoding="utf-8")
    assert 'language = "de"' in words.read_text(encoding="utf-8")
    assert "vectors" not in json.loads(run("check-wordlist", words, "--json")[1])


def without_controls(listed: str) -> str:
    return re.sub(r"\[controls\]\nhuman.*\nneutral.*\n", 'controls = "none"\n', wordlist_text(classes=listed))


def test_words_that_vectors_lack_come_with_what_may_be_meant(run, tmp_path):
    path, vectors = tmp_path / "own.toml", tmp_path / "v.txt"
    listed = classes(young=(["teen", "youth"], ["rahs", "lively"]), old=(["elder", "aged"], ["slow", "wise"]))
    path.write_text(without_controls(listed), encoding="utf-8")
    known = ["teen", "youth", "rash", "lively", "elder", "aged", "slow", "arise"]
    vectors.write_text("".join(f"{word} {i + 1} 1\n" for i, word in enumerate(known)), encoding="utf-8")
    said = "not in v: rahs (did you mean 'rash'?), wise"
    code, out, _ = run("check-wordlist", path, "--embedding", vectors)
    assert code == 0
    assert f"note: {said}\n" in out
    code, out, _ = run("check-wordlist", path, "--embedding", vectors, "--json")
    found = json.loads(out)
    assert (code, found["ok"]) == (0, True)
    assert said in found["notes"]
    assert found["vectors"]["missing"] == ["rahs", "wise"]


def test_a_list_without_controls_works_and_is_not_called_good(run, tmp_path):
    path = tmp_path / "own.toml"
    listed = classes(young=(["teen", "youth"], ["rash", "lively"]), old=(["elder", "aged"], ["slow", "wise"]))
    path.write_text(without_controls(listed), encoding="utf-8")
    code, out, _ = run("check-wordlist", path)
    assert code == 0
    assert "a list that works: 4 protected words, 4 stereotypes, 0 controls; without them" in out
    assert "a good list" not in out


@pytest.mark.parametrize("lacking", [3, 200])
def test_control_words_that_vectors_lack_are_counted_by_kind(run, tmp_path, lacking):
    """Shipped ones as well; a few are named."""
    path, vectors = tmp_path / "own.toml", tmp_path / "v.txt"
    listed = classes(young=(["teen", "youth"], ["rash", "lively"]), old=(["elder", "aged"], ["slow", "wise"]))
    text = without_controls(listed).replace('controls = "none"', 'controls = "2022"')
    path.write_text(text, encoding="utf-8")
    words = bayesbias.load_wordlist(path)
    human, neutral = words.controls.human, words.controls.neutral
    known = [*words.protected_words, *words.attribute_words, *human[1:], *neutral[lacking:]]
    vectors.write_text(
        "".join(f"{word} {i + 1} 1\n" for i, word in enumerate(dict.fromkeys(known))), encoding="utf-8"
    )
    code, out, _ = run("check-wordlist", path, "--embedding", vectors)
    assert code == 0
    assert (
        f"{len(human) + len(neutral)} controls, of which v has {len(human) + len(neutral) - 1 - lacking}\n"
        in out
    )
    named = f" ({', '.join(neutral[:3])})" if lacking == 3 else ""
    assert (
        f"not in v: 1 of {len(human)} human control words ({human[0]}); {lacking} of {len(neutral)} neutral "
        f"control words{named}\n" in out
    )
    found = json.loads(run("check-wordlist", path, "--embedding", vectors, "--json")[1])["vectors"]
    assert found["missing"] == []
    assert found["missing_controls"] == {"human": [human[0]], "neutral": list(neutral[:lacking])}
    assert "of which" not in run("check-wordlist", path)[1]
