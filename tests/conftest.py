"""Shared fixtures."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder of published data beside the checkout, or skip."""
    path = ROOT.parent / "shared"
    if not (path / "data").is_dir():
        pytest.skip("the folder ../shared with the published tables is not beside this checkout")
    return path
