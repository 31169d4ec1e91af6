"""Words are found in the spellings that were asked for, in the stated order."""

from __future__ import annotations

import itertools

import pytest
from helpers.vector_files import text_file

from bayesbias.core.errors import InputError
from bayesbias.embeddings.loading import load_embedding
from bayesbias.embeddings.spelling import KnownWords, edit_distance


def test_spellings_in_the_stated_order(tmp_path):
    order = ["new york City", "new york city", "New york city", "New York City", "NEW YORK CITY"]
    order += [word.replace(" ", "_") for word in order]
    order += ["new-york-City", "new-york-city"]
    for first in range(len(order)):
        table = {word: [float(i), 1.0] for i, word in enumerate(order) if i >= first}
        e = load_embedding(dict(reversed(table.items())), ["new york City"])
        assert e.vectors[0, 0] == first
        if first:
            assert e.matched == {"new york City": order[first]}


def test_an_exact_word_is_not_replaced_and_shared_vectors_are_noted(tmp_path):
    path = text_file(tmp_path / "a.txt", [("Bill", [1, 2]), ("bill", [3, 4]), ("us", [5, 6])])
    e = load_embedding(path, ["Bill", "bill", "US", "us", "Us"])
    assert e.matched == {"US": "us", "Us": "us"}
    assert e["Bill"].tolist() == [1, 2]
    assert e.notes == (
        "US/us/Us: spellings of one word, which share its vector",
        "found under another spelling: US as us, Us as us",
    )
    fewer = load_embedding(e, ["US", "bill"])
    assert fewer.notes == ("found under another spelling: US as us",)


def test_words_are_taken_once_and_checked(tmp_path):
    table = {"a": [1.0], "b": [2.0]}
    assert load_embedding(table, ["b", "a", "b"]).words == ("b", "a")
    with pytest.raises(InputError, match="expected words"):
        load_embedding(table, [])
    with pytest.raises(InputError, match=r"any of 2 words .*got words such as"):
        load_embedding(table, ["x", "y"])


def test_a_letter_with_a_mark_is_found_in_both_ways_to_write_it():
    composed, apart = "k\u00f6nig", "ko\u0308nig"
    for known, asked in ((composed, apart), (apart, composed)):
        assert load_embedding({known: [1.0, 0.0]}, [asked]).matched == {asked: known}
        assert load_embedding({known: [1.0, 0.0]}, [asked.capitalize()]).matched == {
            asked.capitalize(): known
        }


def one_edit_away(word, letters):
    """Return all texts that one edit makes of a word."""
    out = set()
    for i in range(len(word) + 1):
        out |= {word[:i] + letter + word[i:] for letter in letters}
        out |= {word[:i] + letter + word[i + 1 :] for letter in letters if i < len(word)}
        out.add(word[:i] + word[i + 1 :])
        out.add(word[:i] + word[i + 1 : i + 2] + word[i : i + 1] + word[i + 2 :])
    return out - {word}


def test_edit_distance_counts_the_edits_that_were_made():
    words = ["".join(letters) for n in range(4) for letters in itertools.product("abc", repeat=n)]
    for word in words:
        near = one_edit_away(word, "abc")
        for other in words:
            expected = 0 if other == word else 1 if other in near else 2
            assert edit_distance(word, other, 1) == expected
    assert edit_distance("secretary", "sercetray", 2) == 2
    assert edit_distance("secretary", "nurse", 2) == 3


@pytest.mark.parametrize(
    ("word", "known"),
    [
        ("fathre", "father"),  # swapped
        ("mothr", "mother"),  # missing
        ("doctror", "doctor"),  # too many
        ("nurce", "nurse"),  # another letter
        ("compasionte", "compassionate"),  # two, in a long word
        ("Musilm", "muslim"),  # a name only if its letters are swapped
        ("old fathre", "old father"),
        ("old_fathre", "old father"),
    ],
)
def test_a_misspelled_word_is_near_a_known_one(word, known):
    words = ["father", "mother", "doctor", "nurse", "old", "Muslim", "compassionate"]
    assert KnownWords(words).misspelled([word]) == {word: known}


@pytest.mark.parametrize(
    "word",
    [
        "fathers",  # another form
        "fathered",
        "mothering",
        "Mothar",  # names have many spellings
        "bother",  # the first letter
        "mo",  # too short to tell
        "fr2her",
        "colour",  # British
        "realise",
        "xylophone",
        "fother",  # see below: shipped
    ],
)
def test_other_words_are_not_taken_for_misspelled(word, monkeypatch):
    monkeypatch.setattr("bayesbias.embeddings.spelling._shipped_words", lambda: {"fother"})
    words = ["father", "mother", "color", "realize", "mom"]
    assert KnownWords(words).misspelled([word, *words]) == {}


def test_the_nearest_and_then_the_most_frequent_word_is_named():
    assert KnownWords(["mocher", "mother"]).near("mothir") == "mother"
    assert KnownWords(["cinder", "cindar"]).near("cindir") == "cinder"
    assert KnownWords(["cindar", "cinder"]).near("cindir") == "cindar"


@pytest.mark.parametrize(
    "word", ["welder", "spinner", "packer", "resent", "flounder", "contradict"]
)
def test_a_word_of_its_own_near_a_known_one_is_not_misspelled(word):
    """It differs in a stressed vowel or a letter that sounds different, or has a stem of its own."""
    words = ["wilder", "welded", "skinner", "spinning", "packet", "packing", "recess", "founding"]
    assert KnownWords([*words, "contract"]).near(word) == ""


def test_the_shipped_vectors_warn_of_misspelled_words_alone():
    """Trades that are no word of the vectors, and errors that people make in words that are."""
    trades = [
        "welder",
        "tiler",
        "hatter",
        "grocer",
        "loader",
        "picker",
        "sorter",
        "fitter",
        "herder",
    ]
    trades += ["roofer", "plumber", "glazier", "logger", "lifter", "drover", "paver", "sexton"]
    wrong = {
        "fathre": "father", "mothr": "mother", "docter": "doctor", "libarian": "librarian",
        "recieve": "receive", "freindly": "friendly", "competant": "competent",
        "familly": "family", "secratary": "secretary", "proffesional": "professional",
    }  # fmt: skip
    vectors = load_embedding("minilm-static", [*trades, *wrong, "father"])
    assert vectors.misspelled == wrong
