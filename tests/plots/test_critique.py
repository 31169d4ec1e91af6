"""Figures of false alarms and of the draws of the paper."""

from __future__ import annotations

from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from helpers.seeds import shifted

mpl.use("Agg")
from helpers.figures import drawn
from matplotlib.figure import Figure


@pytest.mark.slow
def test_rates_near_the_level_are_not_blown_up() -> None:
    from bayesbias.plots.critique import _SHOWN, plot_false_alarms
    from bayesbias.simulation.false_alarms import simulate_grid

    grid = simulate_grid([2, 8, 32], attribute_sd=[0.0, 0.06], draws=300, seed=shifted(2))
    calm = plot_false_alarms(grid, ax=Figure().subplots(), attribute_sd=0)
    assert grid.loc[grid["attribute_sd"] == 0, "alarms_high"].max() < 0.2
    assert calm.get_ylim() == (0, 0.2)
    loud = plot_false_alarms(grid, ax=Figure().subplots(), attribute_sd=0.06)
    shown = grid[(grid["attribute_sd"] == 0.06) & (grid["pair_sd"] == grid["pair_sd"].max())]
    keys = pd.Series(list(zip(shown["question"], shown["method"], strict=True)), index=shown.index)
    top = shown.loc[keys.isin(_SHOWN), "alarms_high"].max()
    assert loud.get_ylim()[1] > top > 0.2
    bars = {str(c.get_label()): c for c in loud.collections}
    weat = shown[(shown["question"] == "classes") & (shown["method"] == "weat")].sort_values("n_words")
    ends = np.array([path.vertices for path in bars["_interval classes weat"].get_paths()], dtype=float)
    np.testing.assert_allclose(ends[:, :, 0], np.array([[2, 2], [8, 8], [32, 32]]))
    np.testing.assert_allclose(ends[:, :, 1], weat[["alarms_low", "alarms_high"]])
    # Methods that agree stand side by side on paper.
    places = [
        round(float(line.get_transform().transform([(2, 0.1)])[0, 0]), 3)
        for line in loud.lines
        if len(np.asarray(line.get_xdata())) == 3
    ]
    assert len(set(places)) == len(places) == 4


def test_the_two_draws_of_the_paper_differ_without_colour(ax: Any) -> None:
    from bayesbias.plots.critique import plot_paper

    plot_paper("no difference, sd 0.05", ax=ax)
    (printed,), (same,) = (drawn(ax, f"_single draw, {name}") for name in ("as coded", "as intended"))
    assert same.get_markerfacecolor() == "white"
    assert printed.get_markerfacecolor() != "white"
