"""Fixtures of the tests in this folder."""

from __future__ import annotations

import numpy as np
import pytest
from gensim.models import KeyedVectors
from helpers.vector_files import WORDS


@pytest.fixture
def vectors():
    return np.random.default_rng(1).standard_normal((len(WORDS), 7)).astype(np.float32)


@pytest.fixture
def keyed(vectors):
    out = KeyedVectors(vector_size=7)
    out.add_vectors(WORDS, vectors)
    return out
