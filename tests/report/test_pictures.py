"""Parts of a page in order, with the figures that none of them has taken, and a bar of how far it is."""

from __future__ import annotations

import contextlib

import pytest

from bayesbias.plots.plates import Plate
from bayesbias.report import pictures
from bayesbias.report.parts import Part
from bayesbias.report.pictures import Gallery, in_order


@pytest.mark.parametrize("of_a_part", [False, True])
def test_parts_are_counted_and_what_is_left_stands_last(monkeypatch, of_a_part):
    said = []

    @contextlib.contextmanager
    def ticking(*arguments):
        said.append(arguments)
        yield said.append

    monkeypatch.setattr(pictures, "ticking", ticking)
    gallery = Gallery([Plate("left", lambda figure: figure.subplots(), (3, 2), "seen", "not seen")])
    makers = [lambda study: Part(study), lambda study: None]
    parts = in_order(makers, "A", [] if of_a_part else [gallery])
    assert [part.title for part in parts] == (["A"] if of_a_part else ["A", "More figures"])
    assert said == [("making the page", 3, False if of_a_part else None), 1, 1, 1]
