"""Tables of several vectors, joined."""

import numpy as np

import bayesbias as bb
from bayesbias.tables.joining import join_tables

LIST = {
    "a": {"protected": ["he", "him", "his"], "attributes": ["nurse", "cook", "rare"]},
    "b": {"protected": ["she", "her"], "attributes": ["smith", "cop"]},
}


def table_without(*words):
    rng = np.random.default_rng(1)
    every = ["he", "him", "his", "nurse", "cook", "rare", "she", "her", "smith", "cop"]
    kept = [word for word in every if word not in words]
    return bb.distance_table((kept, rng.normal(size=(len(kept), 5))), LIST)


def test_a_missing_word_is_noted_once():
    """Tables that lack the same words share a note, which counts also what no table has."""
    tables = {
        "r1": table_without("rare"),
        "r2": table_without("rare", "his"),
        "r3": table_without("rare", "his"),
    }
    coverage = join_tables(tables).coverage
    assert "rare" in coverage.missing
    assert coverage.notes == ("2 of 10 words missing in r2, r3 and left out: his, rare",)
