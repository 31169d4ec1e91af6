"""Fixtures of the tests in this folder."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest


@pytest.fixture(scope="session")
def table() -> pd.DataFrame:
    """A ragged table in no particular order; the control words come first."""
    rng = np.random.default_rng(11)
    kinds = {"n1": "neutral", "n2": "neutral", "h1": "human", "sa": "a", "ta": "a", "sb": "b"}
    rows = [
        {
            "protected_word": word,
            "protected_class": word[0],
            "attribute": attribute,
            "attribute_class": kind,
            "attribute_kind": kind if kind in ("human", "neutral") else "stereotype",
            "connection": {"a": "associated", "b": "different"}.get(kind, kind)
            if word[0] == "a"
            else {"b": "associated", "a": "different"}.get(kind, kind),
            "distance": rng.normal(1, 0.2),
        }
        for word in ("b1", "a1", "a2")
        for attribute, kind in kinds.items()
    ]
    frame = pd.DataFrame(rows).sample(frac=0.9, random_state=3).reset_index(drop=True)
    return frame
