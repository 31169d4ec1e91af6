"""Fixtures of the tests in this folder."""

from __future__ import annotations

import pytest
from helpers.pages import unrendered


@pytest.fixture(autouse=True)
def _unrendered(monkeypatch):
    unrendered(monkeypatch)
