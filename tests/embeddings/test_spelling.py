"""Words are found in the spellings that were asked for, in the stated order."""

from __future__ import annotations

import pytest
from helpers.vector_files import text_file

from bayesbias.core.errors import InputError
from bayesbias.embeddings.loading import load_embedding


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
    assert e.notes == ("US/us/Us: spellings of one word, which share its vector",)


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
