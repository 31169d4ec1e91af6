"""Faults in a list are named with file and key."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from helpers.wordlists import GOOD, write

from bayesbias.core.errors import InputError
from bayesbias.wordlists.listfile import check_wordlist, load_wordlist

BAD = [
    ("schema = 1", "schema = 2", "schema: .*got 2"),
    ("language", "langage", "key: expected .*got 'langage'.*Did you mean 'language'"),
    ('name = "old"', 'name = "young"', "one class of each name, got 'young'"),
    ('["old", "elderly"]', '["old"]', "class 'old', protected: expected two words"),
    (
        '"wise"]',
        '"wise", "frail"]',
        "class 'old', attributes: expected each word once, got 'frail' 2",
    ),
    ('"elderly"]', '"youth"]', "each protected word in one class, got 'youth'"),
    ('"elderly"', "65", "class 'old', protected, word number 2: .*got 65"),
    ('["clock", "grass"]', '["clock"]', "controls, neutral: expected two words"),
    (
        "[controls]",
        '[published_spellings]\nelderley = "aged"\n[controls]',
        "expected a word of this list.*Did you mean 'elderly'",
    ),
]


@pytest.mark.parametrize(("old", "new", "message"), BAD)
def test_bad_lists_are_named_with_file_and_key(tmp_path: Path, old, new, message) -> None:
    path = write(tmp_path, GOOD.replace(old, new, 1))
    assert any(re.search(message, str(problem)) for problem in check_wordlist(path)[0])
    with pytest.raises(InputError, match=re.escape(str(path))):
        load_wordlist(path)


def test_all_problems_are_listed_at_once(tmp_path: Path) -> None:
    text = GOOD.replace("schema = 1", "schema = 9").replace('"wise"', '"wise "')
    path = write(tmp_path, text)
    assert len(check_wordlist(path)[0]) == 2
    with pytest.raises(InputError, match="`bayesbias wordlist check` lists 1 more problem"):
        load_wordlist(path)


@pytest.mark.parametrize(
    ("x", "message"),
    [
        ("religon", "Did you mean 'religion'"),
        ("nowhere/mine.toml", "expected a word list, got nothing"),
        ("minilm-static", "are the two exchanged"),
        ({}, "class: expected one class"),
        ({"man": ["he", "him"]}, "class 'man': expected a table"),
        (None, "word list: expected the name of a shipped .* got None"),
    ],
)
def test_what_is_no_word_list(x: object, message: str) -> None:
    assert any(re.search(message, str(problem)) for problem in check_wordlist(x)[0])  # type: ignore[arg-type]
    with pytest.raises(InputError):
        load_wordlist(x)  # type: ignore[arg-type]
