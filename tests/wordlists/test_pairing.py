"""Which words are paired, and what connects them."""

from __future__ import annotations

import copy

from helpers.wordlists import AGE, rows

from bayesbias.wordlists.listfile import load_wordlist, pairs


def test_pairs_of_a_small_list_in_full() -> None:
    wordlist = load_wordlist(
        AGE, controls={"human": ["journey", "birthday"], "neutral": ["clock", "grass"]}
    )
    assert rows(wordlist)[:9] == [
        ("young", "young", "reckless", "young", "stereotype", "associated"),
        ("young", "young", "lively", "young", "stereotype", "associated"),
        ("young", "young", "loud", "young", "stereotype", "associated"),
        ("young", "young", "frail", "old", "stereotype", "different"),
        ("young", "young", "wise", "old", "stereotype", "different"),
        ("young", "young", "journey", "human", "human", "human"),
        ("young", "young", "birthday", "human", "human", "human"),
        ("young", "young", "clock", "neutral", "neutral", "neutral"),
        ("young", "young", "grass", "neutral", "neutral", "neutral"),
    ]
    assert len(rows(wordlist)) == 4 * 9


def test_an_attribute_of_two_classes_is_one_word_and_associated_with_both() -> None:
    three = {**AGE, "middle": {"protected": ["adult", "grown"], "attributes": ["busy", "steady"]}}
    wordlist = load_wordlist(three)
    loud = {row[0]: (row[3], row[5]) for row in rows(wordlist) if row[2] == "loud"}
    assert loud == {
        "young": ("young", "associated"),
        "youth": ("young", "associated"),
        "old": ("old", "associated"),
        "elderly": ("old", "associated"),
        "adult": ("young", "different"),  # the first class that lists it
        "grown": ("young", "different"),
    }
    assert len({row[:3:2] for row in rows(wordlist)}) == len(rows(wordlist)) == 6 * 7
    assert any("Stereotypes of several classes" in note for note in wordlist.notes)


def test_a_stereotype_is_no_control_and_human_comes_before_neutral() -> None:
    wordlist = load_wordlist(
        AGE,
        controls={
            "human": ["wise", "journey", "walk"],
            "neutral": ["frail", "clock", "walk", "grass"],
        },
    )
    assert wordlist.controls is not None
    assert wordlist.controls.human == ("journey", "walk")
    assert wordlist.controls.neutral == ("clock", "grass")
    kinds = {row[2]: row[4] for row in rows(wordlist)}
    assert (kinds["wise"], kinds["frail"], kinds["walk"]) == ("stereotype", "stereotype", "human")
    assert len({row[:3:2] for row in rows(wordlist)}) == len(rows(wordlist)) == 4 * 9


def test_a_word_is_not_paired_with_itself() -> None:
    data = copy.deepcopy(AGE)
    data["old"]["attributes"].append("youth")
    wordlist = load_wordlist(data, controls={"neutral": ["old", "clock"]})
    got = {(row[0], row[2]): row[5] for row in rows(wordlist)}
    assert ("youth", "youth") not in got
    assert ("old", "old") not in got
    assert got["young", "youth"] == "different"
    assert got["elderly", "youth"] == "associated"
    assert got["young", "old"] == "neutral"
    assert len(got) == 4 * 8 - 2
    columns = pairs(wordlist)
    assert {len(column) for column in columns.values()} == {30}


def test_classes_may_share_one_attribute_list_by_name() -> None:
    shared_list = {
        "ant": {
            "protected": ["ant", "flea"],
            "attribute_class": "bad",
            "attributes": ["filth", "stink"],
        },
        "wasp": {
            "protected": ["wasp", "bee"],
            "attribute_class": "bad",
            "attributes": ["stink", "filth"],
        },
    }
    wordlist = load_wordlist(shared_list)
    assert {row[5] for row in rows(wordlist)} == {"associated"}
    assert "All classes have the same attributes, so no pair is 'different'." in wordlist.notes
