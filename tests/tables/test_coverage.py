"""What is lost with missing words: named, and left out where it is all."""

import json

import numpy as np
import pandas as pd
import pytest
from helpers.places import ROOT

import bayesbias as bb
from bayesbias.core.errors import InputError
from bayesbias.tables.coverage import Coverage, GroupCoverage

WORDS = {
    name: {
        "protected": [f"{name}{i}" for i in range(4)],
        "attributes": [f"{name}-{i}" for i in range(5)],
    }
    for name in "abc"
}
CONTROLS = {"human": ["hand", "head", "neck", "foot"], "neutral": ["door", "lamp", "roof", "leaf"]}


def table_without(*gone: str):
    rng = np.random.default_rng(5)
    listed = [w for group in WORDS.values() for words in group.values() for w in words]
    listed += [w for words in CONTROLS.values() for w in words]
    held = {word: rng.normal(size=10) for word in listed}
    return bb.distance_table(
        {w: v for w, v in held.items() if w not in gone}, WORDS, controls=CONTROLS
    )


def test_classes_of_few_words_are_named_in_one_note():
    gone = [f"{name}{i}" for name in "ab" for i in (2, 3)]
    said = [note for note in table_without(*gone, "c3").coverage.notes if "few words" in note]
    assert said == ["few words: protected words of a (2) and 5 other sets"]


def test_the_note_on_few_words_has_the_rule_of_the_readme():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "**Fewer than six words in a set.**" in readme
    six = {"protected": [f"p{k}" for k in range(6)], "attributes": [f"q{k}" for k in range(6)]}
    five = {"protected": [f"r{k}" for k in range(6)], "attributes": [f"s{k}" for k in range(5)]}
    words = {"six": six, "five": five}
    listed = [word for group in words.values() for side in group.values() for word in side]
    rng = np.random.default_rng(3)
    table = bb.distance_table({word: rng.normal(size=8) for word in listed}, words, controls="none")
    (said,) = (note for note in table.coverage.notes if "few words" in note)
    assert said.endswith(": stereotypes of five (5)")


def test_control_words_that_are_not_there_take_their_contrasts_with_them():
    table = table_without(*CONTROLS["human"])
    assert set(table.frame["connection"]) == {"associated", "different", "neutral"}
    assert any(
        "no human control word was found (4 listed)" in note for note in table.coverage.notes
    )
    assert table.coverage.attributes["human"].as_dict() == {
        "listed": 4,
        "found": 0,
        "missing": CONTROLS["human"],
    }


def test_a_class_without_words_is_left_out_where_two_remain():
    table = table_without(*WORDS["c"]["protected"])
    assert sorted(table.frame["protected_class"].unique()) == ["a", "b"]
    # Its stereotypes are those of another class to the others.
    assert set(table.frame.loc[table.frame["attribute_class"] == "c", "connection"]) == {
        "different"
    }
    assert any(note.startswith("the class c is left out") for note in table.coverage.notes)
    assert table.coverage.protected["c"].left_out
    with pytest.raises(InputError, match="got no words of 'b'"):
        table_without(*WORDS["c"]["protected"], *WORDS["b"]["protected"])


def test_a_class_without_stereotypes_is_left_out_where_two_remain():
    table = table_without(*WORDS["c"]["attributes"])
    assert sorted(table.frame["protected_class"].unique()) == ["a", "b"]
    assert "c" not in set(table.frame["attribute_class"])
    assert any("none of its stereotypes was found" in note for note in table.coverage.notes)
    assert any("stereotypes" in note for note in bb.mac(table).notes)
    with pytest.raises(InputError, match="got no stereotypes of 'b'"):
        table_without(*WORDS["c"]["attributes"], *WORDS["b"]["attributes"])


def test_a_published_table_leaves_out_the_same():
    rows = [
        {
            "protected_word": word,
            "word_to_compare": attribute,
            "word_class": "neutral" if kind == "neutral" else f"{kind}_stereotype",
            "cosine_distance": -100.0 if attribute in ("loud", "door") else 0.5 + 0.01 * i,
            "connection": "none"
            if kind == "neutral"
            else "associated"
            if kind == of
            else "different",
        }
        for i, (of, word) in enumerate((of, f"{of}{k}") for of in "abc" for k in range(3))
        for kind, attribute in [("a", "kind"), ("b", "late"), ("c", "loud"), ("neutral", "door")]
    ]
    table = bb.load_distances(pd.DataFrame(rows))
    assert sorted(table.frame["protected_class"].unique()) == ["a", "b"]
    assert set(table.frame["connection"]) == {"associated", "different"}
    assert any(note.startswith("the class c is left out") for note in table.coverage.notes)
    assert any(
        note.startswith("no neutral control word was found") for note in table.coverage.notes
    )


def test_the_coverage_of_a_provenance_is_that_of_the_table():
    words = ["he", "He", "him", "she", "her", "math", "arts", "dance"]
    vectors = {word: np.random.default_rng([*word.encode()]).normal(size=4) for word in words}
    vectors["her"] = vectors["she"]
    listed = {
        "men": {"protected": ["he", "Him", "his"], "attributes": ["math", "logic"]},
        "women": {"protected": ["she", "her"], "attributes": ["arts", "dance"]},
    }
    coverage = bb.distance_table(vectors, listed, controls="none").coverage
    stored = json.loads(json.dumps(coverage.as_dict()))
    assert stored["protected"]["men"] == {
        "listed": 3,
        "found": 2,
        "missing": ["his"],
        "matched": {"Him": "him"},
    }
    assert stored["protected"]["women"]["same_vector"] == {"she": ["her"]}
    assert stored["missing"] == ["his", "logic"]
    assert Coverage.from_dict(stored) == coverage
    assert Coverage.from_dict(None) == Coverage({}, {})


def test_only_what_a_group_has_is_stored():
    whole = GroupCoverage(
        listed=4,
        missing=("a", "b", "c"),
        matched={"d": "D"},
        composed=("d",),
        left_out=True,
        same_vector={"d": ("e",)},
        not_in={"other": ("c",)},
    )
    assert (whole.found, whole.mostly_missing) == (1, True)
    assert whole.as_dict() == {
        "listed": 4,
        "found": 1,
        "missing": ["a", "b", "c"],
        "matched": {"d": "D"},
        "composed": ["d"],
        "left_out": True,
        "same_vector": {"d": ["e"]},
        "not_in": {"other": ["c"]},
    }
    assert GroupCoverage.from_dict(whole.as_dict()) == whole
    assert GroupCoverage(2, ("a",)).as_dict() == {"listed": 2, "found": 1, "missing": ["a"]}
    assert not GroupCoverage(2, ("a",)).mostly_missing
