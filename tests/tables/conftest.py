"""Fixtures of the tests in this folder."""

from __future__ import annotations

import pytest
from helpers.plane import CONTROLS, LIST, VECTORS

from bayesbias.tables.distances import distance_table
from bayesbias.tables.pair_table import PairTable


@pytest.fixture(scope="session")
def hand() -> PairTable:
    return distance_table(VECTORS, LIST, controls=CONTROLS)
