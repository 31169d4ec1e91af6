"""Faults in a list are named with file and key."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers.wordlists import AGE, GOOD, write

from bayesbias.core.errors import InputError
from bayesbias.wordlists.listfile import check_wordlist, load_wordlist

BAD = {
    "wrong schema": ("schema = 1", "schema = 2", ["schema", "found: 2", "valid: 1"]),
    "no schema": ("schema = 1\n", "", ["schema: is missing", "valid: 1"]),
    "unknown key": (
        "language",
        "langage",
        ["unknown key; found: 'langage'", "did you mean 'language'?"],
    ),
    "unknown key of a class": (
        'attributes = ["frail"',
        'atributes = ["frail"',
        ["class 'old': unknown key; found: 'atributes'", "did you mean 'attributes'?"],
    ),
    "empty name": ('name = "age"', 'name = " "', ["name: must be a text of one line"]),
    "class without a name": ('name = "old"\n', "", ["class number 2, name: is missing"]),
    "class name twice": (
        'name = "old"',
        'name = "young"',
        ["two classes have one name", "'young'"],
    ),
    "empty class": ('["old", "elderly"]', "[]", ["class 'old', protected: the list is empty"]),
    "one-word class": (
        '["old", "elderly"]',
        '["old"]',
        ["class 'old', protected: a class needs at least two protected words", "found: ['old']"],
    ),
    "word twice in a class": (
        '["frail", "wise"]',
        '["frail", "wise", "frail"]',
        ["class 'old', attributes: the word is listed 2 times", "found: 'frail'"],
    ),
    "protected word in two classes": (
        '["old", "elderly"]',
        '["old", "youth"]',
        ["a protected word is in two classes", "'young' and 'old'", "found: 'youth'"],
    ),
    "not a text": ('"elderly"', "65", ["class 'old', protected, word number 2", "found: 65"]),
    "blank at the end": (
        '"elderly"',
        '"elderly "',
        ["begins or ends with a blank", "found: 'elderly '"],
    ),
    "a text for a list": (
        '["old", "elderly"]',
        '"old"',
        ["must be a list of words", "found: 'old'"],
    ),
    "reserved attribute class": (
        'name = "old"',
        'name = "old"\nattribute_class = "neutral"',
        ["class 'old', attribute_class: is the name of a control group"],
    ),
    "one attribute class, two lists": (
        'name = "old"',
        'name = "old"\nattribute_class = "young"',
        ["the classes 'young' and 'old' give one name to two sets"],
    ),
    "one control word": (
        '["clock", "grass"]',
        '["clock"]',
        ["controls, neutral: a neutral control list needs at least two words"],
    ),
    "empty controls": (
        'human = ["breakfast", "journey"]\nneutral = ["clock", "grass"]\n',
        "",
        ["controls: has no control words", "valid: human, neutral"],
    ),
    "unknown controls": (
        '[controls]\nhuman = ["breakfast", "journey"]\nneutral = ["clock", "grass"]\n',
        'controls = "2023"\n',
        ["controls: unknown control list", "found: '2023'", "2021, 2022", "did you mean '2022'?"],
    ),
    "definitional sets are words": (
        'language = "en"',
        'definitional_sets = ["young", "old"]',
        ["definitional_sets, set number 1: must be a list of words", "found: 'young'"],
    ),
    "spelling of an unknown word": (
        "[controls]",
        '[published_spellings]\nelderley = "aged"\n[controls]',
        [
            "published_spellings: is not a word of this list",
            "'elderley'",
            "did you mean 'elderly'?",
        ],
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_lists_are_named_with_file_and_key(tmp_path: Path, case: str) -> None:
    old, new, expected = BAD[case]
    assert old in GOOD
    path = write(tmp_path, GOOD.replace(old, new, 1))
    problems = check_wordlist(path)
    message = problems[0]
    assert str(path) in message
    for part in expected:
        assert any(part in problem for problem in problems), problems
    with pytest.raises(InputError) as error:
        load_wordlist(path)
    assert str(error.value).startswith(message)


def test_all_problems_are_listed_at_once(tmp_path: Path) -> None:
    text = (
        GOOD.replace("schema = 1", "schema = 9")
        .replace('"wise"', '"wise "')
        .replace('["clock", "grass"]', "[]")
    )
    path = write(tmp_path, text)
    problems = check_wordlist(path)
    assert len(problems) == 3
    assert [
        key for key in ("schema", "attributes", "neutral") if any(key in p for p in problems)
    ] == ["schema", "attributes", "neutral"]
    with pytest.raises(
        InputError, match=r"and 2 more problems, which `bayesbias wordlist check` lists$"
    ):
        load_wordlist(path)


@pytest.mark.parametrize(
    ("x", "expected"),
    [
        ("religon", ["unknown word list", "did you mean 'religion'?"]),
        ("nowhere/mine.toml", ["no such word list file"]),
        ({}, ["class: the list has no class"]),
        ({"class": []}, ["class: the list has no class"]),
        ({"schema": 1, "class": {"name": "a"}}, ["must be a list of tables"]),
        ({"class": ["young"]}, ["class number 1: must be a table", "found: 'young'"]),
        ({"man": ["he", "him"]}, ["class 'man': must be a mapping", "['he', 'him']"]),
        ({1: AGE["old"], "b": AGE["young"]}, ["class number 1, name: must be a text"]),
        (3.5, ["cannot be read as a word list", "'float'"]),
        (None, ["cannot be read as a word list", "'NoneType'"]),
    ],
)
def test_what_is_no_word_list(x: object, expected: list[str]) -> None:
    problems = check_wordlist(x)  # type: ignore[arg-type]
    for part in expected:
        assert any(part in problem for problem in problems), problems
    with pytest.raises(InputError):
        load_wordlist(x)  # type: ignore[arg-type]
