"""Fixtures of the tests in this folder."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("BAYESBIAS_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "encoders.sqlite"
