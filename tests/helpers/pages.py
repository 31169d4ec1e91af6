"""HTML pages in tests."""

from __future__ import annotations

import pytest


def without_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the drawing of the figures of a page, which takes most of the time."""
    from bayesbias.report import change, parts, sections, sentiment, words

    for room in (change, sections, sentiment, words):
        monkeypatch.setattr(room, "as_picture", lambda id_, *_: parts.Picture(f"figure-{id_}", "", ""))
