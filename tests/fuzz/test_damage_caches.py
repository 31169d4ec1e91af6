"""A cache that is damaged anywhere gives the right vectors or says so; never others."""

from __future__ import annotations

import contextlib
import sqlite3
import warnings

import numpy as np
import pytest
from helpers.damage import flipped, harmed
from helpers.seeds import shifted

import bayesbias as bb
from bayesbias.core.errors import InputError
from bayesbias.encoders.encoder import function_encoder

SENTENCES = [f"This is number {i}." for i in range(40)]
COUNTS = [100, pytest.param(3000, marks=pytest.mark.claim)]


def vectors_of(texts):
    return np.array(
        [np.random.default_rng(len(text) * 1000 + ord(text[-2])).normal(size=100) for text in texts]
    )


def named():
    return function_encoder(vectors_of, name="made up", version="1")


@pytest.fixture
def cache(tmp_path):
    path = tmp_path / "cache.sqlite"
    return path, bb.encode(named(), SENTENCES, cache=path)


@pytest.mark.parametrize("harm", [flipped, harmed])
@pytest.mark.parametrize("count", COUNTS)
def test_no_damaged_vector_is_used(cache, count, harm):
    path, good = cache
    whole, rng, seen = path.read_bytes(), np.random.default_rng(shifted(1)), 0
    for _ in range(count):
        path.write_bytes(harm(whole, rng))
        problems: list[str] = []
        made = None
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            try:
                made = bb.encode(named(), SENTENCES, cache=path)
            except InputError as error:
                problems.append(str(error))
        problems += [str(one.message) for one in said]
        assert all(str(path) in problem and "\n" not in problem for problem in problems)
        assert made is not None or problems
        if made is not None:
            np.testing.assert_array_equal(made, good)
        seen += bool(problems)
    assert (
        seen > count / 10
    )  # the rest is room that SQLite does not use, or keys of vectors that are then made again


def test_a_vector_of_another_sentence_is_not_taken(cache):
    path, good = cache
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        (other,) = connection.execute("SELECT vector FROM vectors WHERE rowid = 2").fetchone()
        connection.execute("UPDATE vectors SET vector = ? WHERE rowid = 1", (other,))
    with pytest.warns(UserWarning, match="1 vector in the cache damaged: made again"):
        np.testing.assert_array_equal(bb.encode(named(), SENTENCES, cache=path), good)
    np.testing.assert_array_equal(bb.encode(named(), SENTENCES, cache=path), good)


def test_vectors_without_a_hash_are_used_and_said_to_be_unverified(cache):
    """As first versions kept them."""
    path, good = cache
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE vectors SET vector = substr(vector, 1, length(vector) - 16), type = '<f8'")
    with pytest.warns(UserWarning, match="40 vectors in the cache written without a hash: used unverified"):
        made = bb.encode(named(), SENTENCES, cache=path)
    np.testing.assert_array_equal(made, good)


def test_a_cache_that_nobody_asked_for_and_that_is_damaged_costs_no_work(tmp_path, monkeypatch):
    monkeypatch.setenv("BAYESBIAS_CACHE", str(tmp_path))
    good = bb.encode(named(), SENTENCES)
    path = tmp_path / "encoders.sqlite"
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    with pytest.warns(UserWarning, match="vectors are not kept: .*is damaged.*delete it"):
        np.testing.assert_array_equal(bb.encode(named(), SENTENCES), good)
