"""Names of points lie over nothing that is drawn."""

from __future__ import annotations

import itertools
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")
from helpers.seeds import shifted
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox

import bayesbias as bb
from bayesbias.plots.labels import label_points


def names_on(ax: Any, names: set[str]) -> dict[str, Bbox]:
    return {t.get_text(): t.get_window_extent() for t in ax.texts if t.get_text().split(" and ")[0] in names}


def crossed(box: Bbox, line: np.ndarray) -> bool:
    """Say whether a line of many points, in pixels, goes through a box."""
    return bool(((line > box.p0) & (line < box.p1)).all(axis=1).any())


@pytest.mark.parametrize("which", ["genders", "earnings"])
@pytest.mark.parametrize("width", [pytest.param(7.0, marks=pytest.mark.claim), 4.5])
@pytest.mark.slow
def test_names_of_professions_lie_over_no_interval_no_line_and_no_point(which: str, width: float) -> None:
    table = bb.sentiment_table(bb.list_predictions("m1"))
    figure = Figure(figsize=(width, 5.5), layout="constrained")
    ax = figure.subplots()
    {"genders": bb.plots.plot_genders, "earnings": bb.plots.plot_earnings}[which](table, ax=ax)
    figure.draw_without_rendering()
    if which == "earnings":
        (bars,) = ax.containers
        points, _, (intervals,) = bars.lines
        at = np.column_stack(points.get_data())
        lines = [np.linspace(*segment, 200) for segment in intervals.get_segments()]
        expected = set(bb.wordlists.load_occupations().earnings)
    else:
        (points,) = [line for line in ax.lines if line.get_label() == "_professions"]
        at = np.column_stack(points.get_data())
        lines = [np.linspace([ax.get_xlim()[0]] * 2, [ax.get_xlim()[1]] * 2, 2000)]
        expected = set(table["profession"])
    boxes = names_on(ax, expected)
    lines = [ax.transData.transform(line) for line in lines]
    for name, box in boxes.items():
        assert not any(crossed(box, line) for line in lines), name
        assert not crossed(box, ax.transData.transform(at)), name
        assert box.x0 >= ax.bbox.x0 - 1
        assert box.x1 <= ax.bbox.x1 + 2
    for (one, a), (other, b) in itertools.combinations(boxes.items(), 2):
        assert not a.overlaps(b), (one, other)
    named = sum(1 + int(name.split(" and ")[1].split()[0]) if " and " in name else 1 for name in boxes)
    if width == 7:
        assert named == len(expected)
    else:
        assert named >= 0.6 * len(expected)


@pytest.mark.slow
def test_a_name_without_a_place_is_left_out() -> None:
    rng = np.random.default_rng(shifted(1))
    ax = Figure(figsize=(3, 3)).subplots()
    at = rng.normal(size=(120, 2))
    ax.plot(*at.T, "s")
    label_points(ax, *at.T, [f"a long name {i}" for i in range(120)])
    boxes = [text.get_window_extent() for text in ax.texts if text.get_text()]
    assert 0 < len(boxes) < 120
    assert not any(a.overlaps(b) for a, b in itertools.combinations(boxes, 2))
