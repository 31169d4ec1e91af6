"""HTML pages in tests."""

from __future__ import annotations

import pytest


def without_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the drawing of the figures of a page, which takes most of the time."""
    from bayesbias.report import parts

    monkeypatch.setattr(
        parts, "as_picture", lambda plate, tag="": parts.Picture(f"figure-{plate.name}{tag}", "", "")
    )
