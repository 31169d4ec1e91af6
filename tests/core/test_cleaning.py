"""Text from outside, cleaned."""

from __future__ import annotations

import unicodedata

import pytest

from bayesbias.core.cleaning import checked_label, checked_text, cleaned, in_one_line
from bayesbias.core.errors import InputError
from bayesbias.wordlists.listfile import load_wordlist


def test_every_control_character_and_surrogate_is_removed_and_nothing_else():
    odd = [i for i in map(chr, range(0x110000)) if unicodedata.category(i) in ("Cc", "Cs")]
    assert cleaned("".join(set(odd) - set("\t\n\r"))) == ""
    kept = "a\tb\nc\rd é 日本 \u200d \u202e"
    assert cleaned(kept) == kept


@pytest.mark.parametrize("odd", ["\x00", "\x1b", "\x85", "\ud800"])
def test_every_control_character_is_refused(odd):
    with pytest.raises(InputError, match=r"list.toml, line 3: holds"):
        checked_text(f"a{odd}b", "list.toml, line 3")


def test_letters_typed_in_two_ways_are_one():
    typed = unicodedata.normalize("NFD", "König")
    assert typed != "König"
    assert cleaned(typed) == checked_text(typed, "x") == "König"


def test_long_text_is_cut_in_time():
    assert in_one_line("word " * 10_000_000, 20) == "word word word wo..."
    assert in_one_line("a\u2028b\x85c\nd") == "a b c d"


@pytest.mark.parametrize(
    "word", ["she\u200b", "\ufeffshe", "s\u00adhe", "she\u200d", "\u200eshe", "sh\u2060e"]
)
def test_what_cannot_be_seen_makes_no_second_word(word):
    for label in (
        checked_label,
        lambda text, where: load_wordlist({"x": {"protected": [text, "b"], "attributes": ["c", "d"]}}),
    ):
        with pytest.raises(InputError, match=r"holds what cannot be seen \(U\+.*'she'"):
            label(word, "there")


@pytest.mark.parametrize("word", ["می\u200cخواهم", "क\u094d\u200dष", "שלום", "a\u200eb"])
def test_joiners_and_marks_of_direction_stand_between_letters(word):
    assert checked_label(word, "there") == word
