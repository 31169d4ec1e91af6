"""Texts as they may be shown: what acts is written as its code, all else stays."""

from __future__ import annotations

import sys
import unicodedata

import pytest

from bayesbias.core.literal import encodable, in_order, literal

KEPT = [
    "König", "Ko\u0308nig", "שלום", "مرحبا", "नमस्ते", "می\u200cخواهم", "क\u094d\u200dष", "日本語",
    "👩\u200d🚀", "👩🏽\u200d🚀", "❤\ufe0f", "a\\x1bb",
]  # fmt: skip


def test_every_character_that_acts_is_written_as_its_code():
    """Of all planes in which there is something: what is left is printable, or a visible sign that Python calls a format."""
    planes = (*range(0x20000), *range(0xE0000, 0xE1000), *range(0x1FFF0, sys.maxunicode + 1, 0xFFFF))
    every = [c for c in map(chr, planes) if c not in "|\u200c\u200d"]
    left = {c for c, shown in zip(every, literal("|".join(every)).split("|"), strict=True) if shown == c}
    kinds = {unicodedata.category(c) for c in left}
    assert not kinds & {"Cc", "Cs", "Zl", "Zp"}
    # The signs of Arabic and Kaithi numbers, Egyptian joiners: they have a shape, or stand between two.
    formats = {c for c in left if unicodedata.category(c) == "Cf"}
    signs = {*range(0x600, 0x8E3), 0x110BD, 0x110CD, *range(0x13430, 0x13440)}
    assert set(map(ord, formats)) <= signs
    assert not left & set("\u200b\u2060\ufeff\u00ad\u3164\u202e\u2066\U000e0041\U0001fffe")
    assert all(
        literal(c).isprintable() and literal(c).isascii() for c in set("\x00\x1b\x9b\u202e\ud800\ufeff")
    )


@pytest.mark.parametrize("word", KEPT)
def test_words_of_every_script_stay_as_they_are(word):
    assert literal(word) == word
    assert literal(word, lines=True) == word


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred", r"\x1b[31mred"),
        ("a\tb\nc", r"a\x09b\x0ac"),
        ("\u202eesrever", r"\u202eesrever"),
        ("nur\u200bse\ufeff", r"nur\u200bse\ufeff"),
        ("a\u200db", r"a\u200db"),  # joins nothing in Latin
        ("\u200dא", r"\u200d" + "א"),
        ("\ud800", r"\ud800"),
        ("\U000e0041", r"\U000e0041"),
    ],
)
def test_what_acts_is_shown_as_its_code(text, shown):
    assert literal(text) == shown


def test_a_text_of_several_lines_keeps_them():
    assert literal("a\tb\n\x1bc\rd", lines=True) == "a\tb\n\\x1bc\\x0dd"


def test_numbers_beside_right_to_left_words_keep_their_places_on_a_terminal():
    assert in_order("שלום 0.5") == "\u200eשלום\u200e 0.5"
    assert in_order("nurse 0.5") == "nurse 0.5"


def test_what_an_encoding_lacks_is_written_in_ascii():
    assert encodable("−0.1 ± 0.2 – “x” …", "ascii") == '-0.1 +/- 0.2 - "x" ...'
    assert encodable("Köln שלום", "ascii") == r"K\xf6ln \u05e9\u05dc\u05d5\u05dd"
    assert encodable("Köln", "latin-1") == "Köln"
