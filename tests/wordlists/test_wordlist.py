"""The value that holds a list, and what is noted of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers.wordlists import AGE, GOOD, write

from bayesbias.core.errors import InputError
from bayesbias.wordlists.listfile import load_wordlist


def test_words_are_distinct_and_in_order() -> None:
    wordlist = load_wordlist(
        AGE, controls={"human": ["journey", "walk"], "neutral": ["clock", "old"]}
    )
    assert wordlist.protected_words == ("young", "youth", "old", "elderly")
    assert wordlist.attribute_words == ("reckless", "lively", "loud", "frail", "wise")
    assert wordlist.control_words == ("journey", "walk", "clock", "old")
    assert wordlist.words == (
        *wordlist.protected_words,
        *wordlist.attribute_words,
        "journey",
        "walk",
        "clock",
    )


def test_one_class_needs_controls_and_says_what_it_lacks() -> None:
    one = {"young": {"protected": ["a", "b", "c", "d"], "attributes": ["e", "f", "g", "h"]}}
    assert load_wordlist(one, "2022").notes == (
        "The list has one class, so no pair is 'different'.",
    )
    with pytest.raises(InputError, match="expected two classes or more, or control words"):
        load_wordlist(one)


def test_controls_in_another_language_are_noted(tmp_path: Path) -> None:
    path = write(tmp_path, GOOD.replace('"en"', '"pl"'))
    assert (
        "The word list is in language 'pl', the controls 2022 in 'en'."
        in load_wordlist(path, "2022").notes
    )
    assert not any("language" in note for note in load_wordlist(path).notes)


def test_notes_say_what_is_unusual() -> None:
    notes = load_wordlist("religion").thin
    assert notes[1].startswith("The class 'christianity' has 5 protected words and 3 attributes")
    (note,) = load_wordlist("gender", "none").notes
    assert note.startswith("There are no control words")
