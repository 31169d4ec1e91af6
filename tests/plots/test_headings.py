"""Headings: legends that are read row by row, above the data."""

from __future__ import annotations

import matplotlib as mpl
import pandas as pd
import pytest

mpl.use("Agg")
from matplotlib.figure import Figure

from bayesbias.plots import headings, marks


@pytest.mark.parametrize("width", [2.0, 3.0, 4.0, 5.0, 9.0])
@pytest.mark.slow
def test_a_legend_in_several_rows_is_read_in_the_order_of_what_it_names(width: float) -> None:
    names = ["associated", "different", "human", "neutral", "1 = no similarity"]
    figure = Figure(figsize=(width, 4), layout="constrained")
    ax = figure.subplots()
    headings.add_headings(
        ax, "title", "source", [marks.line_handle("black", name) for name in names], pd.DataFrame({"x": [1]})
    )
    figure.draw_without_rendering()
    texts = ax.get_legend().get_texts()
    boxes = {text.get_text(): text.get_window_extent() for text in texts}
    as_read = sorted(boxes, key=lambda name: (-round(boxes[name].y0), boxes[name].x0))
    assert as_read == names
    rows = len({round(box.y0) for box in boxes.values()})
    assert rows > 1 or width == 9
    assert ax.get_legend().get_window_extent().y0 >= ax.bbox.y1 - 1
