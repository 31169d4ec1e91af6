"""Arrows of a comparison point where something moved, and the axis is as wide as the moves."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from helpers.changes import NONE, changed, table
from helpers.draws import made_up_comparison
from matplotlib.figure import Figure
from matplotlib.patches import ArrowStyle
from matplotlib.text import Annotation, Text

from bayesbias.plots.change import plot_changes, plot_ranking
from bayesbias.studies.debiasing.comparison import Comparison
from bayesbias.tables.reading import as_pair_table


def compared(before: pd.DataFrame, **after: pd.DataFrame) -> Comparison:
    return made_up_comparison(
        as_pair_table(before), {name: as_pair_table(frame) for name, frame in after.items()}, draws=100
    )


def heads(ax: Any) -> int:
    arrows = [text.arrow_patch for text in ax.texts if isinstance(text, Annotation) and text.arrow_patch]
    return sum(not isinstance(arrow.get_arrowstyle(), ArrowStyle.Curve) for arrow in arrows)


@pytest.fixture(scope="module")
def found() -> Comparison:
    before = table(words=2)
    far = changed(before, {**NONE, "associated": 0.3, "different": -0.1, "human": 0.2, "neutral": 0.2}, 1)
    still = before.assign(distance=before["distance"] + 1e-5)
    return compared(before, far=far, still=still)


def test_a_move_of_nearly_nothing_has_no_arrowhead(found):
    moved, still = (plot_changes(found, method=name, ax=Figure().subplots()) for name in ("far", "still"))
    assert heads(moved) > 0.8 * len(moved.data)
    assert heads(still) == 0
    ranked = plot_ranking(found, ax=Figure().subplots())
    assert heads(ranked) == 1


@pytest.mark.parametrize("by", [0.0, 0.6])
def test_the_distance_of_no_similarity_is_marked_where_it_lies_among_the_moves(by):
    before = table(words=2)
    before["distance"] = (before["distance"] - by).clip(lower=0)
    moved = before.assign(distance=before["distance"] + 0.01)
    ax = plot_changes(compared(before, a=moved), ax=Figure().subplots())
    lines = [line for line in ax.lines if line.get_label() == "_no similarity"]
    assert len(lines) == (by == 0.0)
    assert (ax.get_xlim()[1] > 1) == (by == 0.0)
    entries = [text.get_text() for text in ax.figure.findobj(Text)]
    assert ("1 = no similarity" in entries) == (by == 0.0)
