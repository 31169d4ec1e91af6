"""Distances by hand, and the account of missing words."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from helpers.plane import CONTROLS, LIST, VECTORS

from bayesbias.core.errors import InputError
from bayesbias.tables.distances import distance_table
from bayesbias.tables.pair_table import COLUMNS

ROOT_HALF = np.sqrt(0.5)


# 1 - cosine, by hand. Columns: kind, rude, late, loud, hand, neck, door, lamp.
BY_HAND = {
    "a1": [0, 1 - ROOT_HALF, 1, 1 + ROOT_HALF, 0.2, 1, 1 - ROOT_HALF, 1],
    "a2": [0.4, 1 - 1.4 * ROOT_HALF, 1.8, 1 - 0.2 * ROOT_HALF, 0.04, 0.2, 1 + 0.2 * ROOT_HALF, 0.2],
    "b1": [1, 1 - ROOT_HALF, 2, 1 - ROOT_HALF, 0.4, 0, 1 + ROOT_HALF, 0],
    "b2": [2, 1 + ROOT_HALF, 1, 1 - ROOT_HALF, 1.8, 1, 1 + ROOT_HALF, 1],
}


def test_distances_equal_cosines_by_hand(hand):
    frame = hand.frame
    assert list(frame.columns) == list(COLUMNS)
    wide = frame.pivot(index="protected_word", columns="attribute", values="distance")
    columns = ["kind", "rude", "late", "loud", "hand", "neck", "door", "lamp"]
    np.testing.assert_allclose(
        wide.loc[list(BY_HAND), columns], list(BY_HAND.values()), rtol=0, atol=4e-16
    )
    assert frame["distance"].dtype == np.float64
    assert frame["distance"].between(0, 2).all()
    assert len(hand) == 32


def test_connections_are_derived(hand):
    found = hand.frame.set_index(["protected_word", "attribute"])
    row = found.loc[("a1", "late")]
    assert row["protected_class"] == "a"
    assert row["attribute_class"] == "b"
    assert row["attribute_kind"] == "stereotype"
    assert row["connection"] == "different"
    assert found.loc[("b2", "late"), "connection"] == "associated"
    assert found.loc[("b2", "hand"), ["connection", "attribute_kind"]].tolist() == [
        "human",
        "human",
    ]
    assert hand.frame["connection"].value_counts(sort=False).to_dict() == {
        "associated": 8,
        "different": 8,
        "human": 8,
        "neutral": 8,
    }
    assert hand.frame["connection"].dtype == "category"


def test_distances_are_double_precision_whatever_the_vectors():
    rng = np.random.default_rng(0)
    words = [*VECTORS]
    single = {word: rng.normal(size=300).astype(np.float32) for word in words}
    table = distance_table(single, LIST, controls=CONTROLS).frame.set_index(
        ["protected_word", "attribute"]
    )
    a, b = (single[word].astype(np.float64) for word in ("a2", "loud"))
    exact = 1 - a @ b / np.sqrt((a @ a) * (b @ b))
    assert table.loc[("a2", "loud"), "distance"] == pytest.approx(exact, abs=1e-15)


def test_vectors_are_centered_on_all_words_before_some_are_chosen():
    """On the mean of all words of the file, also those that the list does not have."""
    rng = np.random.default_rng(4)
    words = ["he", "him", "she", "her", "boss", "cook", "nurse", "maid", "moon", "sun"]
    vectors = rng.normal(size=(len(words), 5)) + 2.0
    listed = {
        "men": {"protected": words[:2], "attributes": words[4:6]},
        "women": {"protected": words[2:4], "attributes": words[6:8]},
    }
    frame = distance_table((words, vectors), listed, postprocess="center").frame
    moved = vectors - vectors.mean(axis=0)
    he, nurse = moved[0], moved[6]
    cosine = he @ nurse / np.linalg.norm(he) / np.linalg.norm(nurse)
    row = frame[frame["protected_word"].eq("he") & frame["attribute"].eq("nurse")]
    assert row["distance"].item() == pytest.approx(1 - cosine, abs=1e-12)
    with pytest.raises(InputError, match="postprocess: expected"):
        distance_table((words, vectors), listed, postprocess="middle")


def test_missing_words_make_no_row_and_are_accounted_for():
    vectors = {word: v for word, v in VECTORS.items() if word not in ("b1", "rude", "door")}
    table = distance_table(vectors, LIST, controls=CONTROLS)
    assert sorted(table.frame["protected_word"].unique()) == ["a1", "a2", "b2"]
    assert sorted(table.frame["attribute"].unique()) == [
        "hand",
        "kind",
        "lamp",
        "late",
        "loud",
        "neck",
    ]
    assert len(table) == 18
    assert not table.frame.isna().any().any()
    coverage = table.coverage
    assert set(coverage.missing) == {"b1", "rude", "door"}
    in_b = {"listed": 2, "found": 1, "missing": ["b1"]}
    assert coverage.protected["b"].as_dict() == in_b
    assert coverage.attributes["a"].missing == ("rude",)
    neutral = {"listed": 2, "found": 1, "missing": ["door"], "matched": {"lamp": "Lamp"}}
    assert coverage.attributes["neutral"].as_dict() == neutral
    assert coverage.matched == {"lamp": "Lamp"}
    frame = coverage.frame().set_index(["side", "class"])
    assert frame.loc[("attribute", "a")].tolist() == [2, 1, "rude", ""]
    assert frame.loc[("attribute", "neutral"), "matched"] == "lamp as Lamp"
    assert "3 words missing" in repr(table)


def test_one_vector_counts_once():
    """Words of one vector are one word: the first is kept, and the coverage names the others."""
    words = {
        "a": {"protected": ["a1", "a2"], "attributes": ["kind", "A1", "KIND"]},
        "b": {"protected": ["b1", "B1", "b2"], "attributes": ["late", "loud", "Kind"]},
    }
    once = {
        "a": {"protected": ["a1", "a2"], "attributes": ["kind", "A1"]},
        "b": {"protected": ["b1", "b2"], "attributes": ["late", "loud", "kind"]},
    }
    table, expected = distance_table(VECTORS, words), distance_table(VECTORS, once)
    key = ["protected_word", "attribute"]
    pd.testing.assert_frame_equal(
        table.frame.sort_values(key, ignore_index=True),
        expected.frame.sort_values(key, ignore_index=True),
    )
    coverage = table.coverage
    assert coverage.protected["b"].same_vector == {"b1": ("B1",)}
    assert coverage.attributes["a"].same_vector == {"kind": ("KIND",)}
    assert coverage.attributes["b"].same_vector == {"kind": ("Kind",)}
    assert coverage.protected["b"].listed == coverage.protected["b"].found == 3
    # An attribute with the vector of a protected word is at distance 0 of it, which is no observation.
    assert not ((table.frame["protected_word"] == "a1") & (table.frame["attribute"] == "A1")).any()
    assert "5 words with the same vector count once: b1/B1, kind/KIND/Kind" in coverage.notes
    kept = distance_table(VECTORS, words, duplicates="keep")
    assert len(kept) == 5 * 6 - 1
    assert "same_vector" not in kept.coverage.protected["b"].as_dict()


def test_protected_words_of_two_classes_with_one_vector_stay_in_both():
    shared = {**VECTORS, "unk1": [2.0, 1.0], "unk2": [2.0, 1.0], "unk3": [2.0, 1.0]}
    words = {
        "a": {"protected": ["a1", "unk1", "unk3"], "attributes": ["kind", "rude"]},
        "b": {"protected": ["b1", "unk2"], "attributes": ["late", "loud"]},
    }
    table = distance_table(shared, words)
    assert list(table.frame["protected_word"].unique()) == ["a1", "unk1", "b1", "unk2"]
    assert any("classes apart: unk1 and unk2" in note for note in table.coverage.notes)


def test_spellings_of_words_do_not_make_more_of_them(shared):
    """Three spellings of each word give the table of one spelling, and so the same intervals."""
    folder = shared / "data" / "cases" / "01_capitals_counted_as_words"
    if not folder.is_dir():
        pytest.skip("the cases of public bug reports are not beside this checkout")
    one, three = (
        distance_table(folder / "vectors.txt", folder / f"{name}.toml")
        for name in ("lower", "both")
    )
    pd.testing.assert_frame_equal(one.frame, three.frame)


def test_a_vector_of_unknown_words_counts_once_a_side(shared):
    folder = shared / "data" / "cases" / "02_one_vector_for_many_words"
    if not folder.is_dir():
        pytest.skip("the cases of public bug reports are not beside this checkout")
    table = distance_table(folder / "vectors.txt", folder / "list.toml")
    assert table.frame["distance"].min() > 1e-6
    assert table.coverage.attributes["female"].same_vector == {"profit": ("kids", "cousins")}
    assert set(table.frame["protected_class"][table.frame["attribute"] == "profit"]) == {
        "male",
        "female",
    }
    of_profit = table.frame[table.frame["attribute"] == "profit"]
    assert set(of_profit["connection"]) == {"associated"}


def test_an_attribute_of_two_classes_is_one_word():
    both = {
        "a": {"protected": ["a1", "a2"], "attributes": ["kind", "rude"]},
        "b": {"protected": ["b1", "b2"], "attributes": ["late", "rude"]},
        "c": {"protected": ["hand", "door"], "attributes": ["loud", "Lamp"]},
    }
    frame = distance_table(VECTORS, both).frame
    assert not frame.duplicated(["protected_word", "attribute"]).any()
    assert len(frame) == 6 * 5
    rude = frame[frame["attribute"] == "rude"].set_index("protected_word")
    assert rude["connection"].astype(str).to_dict() == {
        "a1": "associated",
        "a2": "associated",
        "b1": "associated",
        "b2": "associated",
        "hand": "different",
        "door": "different",
    }
    assert rude["attribute_class"].astype(str).to_dict() == dict(
        a1="a", a2="a", b1="b", b2="b", hand="a", door="a"
    )
