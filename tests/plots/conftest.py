"""Fixtures of the tests in this folder."""

from __future__ import annotations

from typing import Any

import matplotlib as mpl
import pytest

mpl.use("Agg")
from helpers.draws import made_up_fit
from helpers.figures import simulated
from matplotlib.figure import Figure

from bayesbias.inference.posterior import BiasFit
from bayesbias.tables.reading import load_distances


@pytest.fixture(scope="session")
def fit() -> BiasFit:
    words = {"men": ["he", "him", "his"], "women": ["she", "her", "hers"]}
    table = load_distances(simulated(words), name="simulated table")
    return made_up_fit(table)


@pytest.fixture
def ax() -> Any:
    return Figure(figsize=(7, 7), layout="constrained").subplots()
