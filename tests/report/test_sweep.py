"""The page on a sweep: the answer on the scale that travels, and what has to be known of its cells."""

from __future__ import annotations

import re

import pytest
from helpers.sweeps import made_up_sweep

import bayesbias as bb
from bayesbias.core.errors import InputError
from bayesbias.report.sweep import _glossary

CELLS = [
    {"embedding": "wide", "standardized": -0.05, "distance": -0.2, "look_again": "words go together"},
    {"embedding": "heavy", "standardized": None},
    {"embedding": "early", "standardized": -0.8, "trusted": False, "problems": "R-hat reaches 1.2"},
    {"embedding": "narrow", "standardized": -0.9, "distance": -0.02},
    {"embedding": "gone", "error": "no such <vector> file"},
]


@pytest.mark.slow
def test_the_page_says_what_the_cells_say(tmp_path):
    page = bb.write_report(made_up_sweep(CELLS), tmp_path / "page.html").read_text(encoding="utf-8")
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))
    assert "associated - different in 2 cells, judged in standard deviations of neutral pairs" in text
    assert "narrow −0.90 −1.20 to −0.60 nearer 0.64 −0.020 −0.070 to +0.030 0.875" in text
    assert "early −0.80 −1.10 to −0.50 not to be trusted 0.64" in text
    assert "heavy – – – – −0.050" in text
    assert "Not to be trusted yet early: R-hat reaches 1.2." in text
    assert "Not fitted gone: no such &lt;vector&gt; file." in text
    assert "Look again before you rely on it wide: words go together." in text
    assert 'id="figure-sweep"' in page
    assert "ROPE, ±0.1" in text


def test_a_sweep_that_failed_has_a_page_that_says_so(tmp_path):
    path = bb.write_report(made_up_sweep([CELLS[4]]), tmp_path / "page.html")
    page = path.read_text(encoding="utf-8")
    assert "there is nothing to compare" in page
    assert "No cell was fitted." in page
    assert "Inputs" not in page  # of a sweep they stand in its plan
    assert "`" not in page[page.index("<body") :].partition("<script")[0]


def test_its_intervals_are_made_with_it(tmp_path):
    with pytest.raises(
        InputError, match=r"the intervals of a sweep are made with it; found: 0.5; valid: 0.89"
    ):
        bb.write_report(made_up_sweep(CELLS), tmp_path / "page.html", prob=0.5)


def test_its_rope_is_that_of_its_plan(tmp_path):
    with pytest.raises(InputError, match="region of practical equivalence of its plan"):
        bb.write_report(made_up_sweep(CELLS), tmp_path / "page.html", rope=0.05)
    assert not (tmp_path / "page.html").exists()


@pytest.mark.parametrize("rope", [0.1, 0.3])
def test_only_the_usual_rope_is_called_half_of_a_small_effect(rope):
    frame = made_up_sweep([CELLS[3]]).compared().assign(rope=rope)
    (meaning,) = [entry.value for entry in _glossary(frame, 0.89) if entry.label == f"ROPE, ±{rope:g}"]
    assert ("small effect" in meaning) is (rope == 0.1)
