"""Fixtures of the tests in this folder."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.vector_files import WORDS


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("BAYESBIAS_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def vectors():
    return np.random.default_rng(1).standard_normal((len(WORDS), 7)).astype(np.float32)


@pytest.fixture
def keyed(vectors):
    gensim = pytest.importorskip("gensim.models")
    out = gensim.KeyedVectors(vector_size=7)
    out.add_vectors(WORDS, vectors)
    return out
