"""Fixtures of the tests in this folder."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.definitions import SETTINGS, edited

from bayesbias.inference.fitting import fit
from bayesbias.inference.posterior import BiasFit
from bayesbias.tables.distances import distance_table

WORDS = {
    "a": {"protected": ["a1", "a2", "a3"], "attributes": ["kind", "rude", "calm"]},
    "b": {"protected": ["b1", "b2"], "attributes": ["late", "loud"]},
}


CONTROLS = {"human": ["hand", "head", "neck"], "neutral": ["door", "lamp", "roof", "leaf"]}


@pytest.fixture(scope="session")
def pairs():
    """A small table in which stereotypes are nearer, one word is missing and classes differ in size."""
    rng = np.random.default_rng(8)
    names = [w for group in WORDS.values() for key in group.values() for w in key]
    names += [w for group in CONTROLS.values() for w in group]
    vectors = {word: rng.normal(size=12) for word in names if word != "roof"}
    for group in WORDS.values():
        for word in group["protected"]:
            for attribute in group["attributes"]:
                vectors[attribute] = vectors[attribute] + 0.3 * vectors[word]
    return distance_table(vectors, WORDS, controls=CONTROLS)


@pytest.fixture(scope="session")
def crossed(pairs) -> BiasFit:
    return fit(pairs, "crossed", **SETTINGS)


@pytest.fixture(scope="session")
def additive(pairs) -> BiasFit:
    return fit(pairs, "additive", **SETTINGS)


@pytest.fixture(scope="session")
def hierarchical(pairs) -> BiasFit:
    return fit(pairs, "hierarchical", **SETTINGS)


@pytest.fixture
def result(request) -> BiasFit:
    """A fit whose tables are those of its draws: intervals of the mixtures behind them have tests of their own."""
    return edited(request.getfixturevalue(request.param))
