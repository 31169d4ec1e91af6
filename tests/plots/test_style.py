"""Settings of matplotlib are used and left alone."""

from __future__ import annotations

from typing import Any

import matplotlib as mpl

mpl.use("Agg")
import pytest
from helpers.draws import prior_fit
from helpers.figures import heads_of, simulated, title_of
from matplotlib import pyplot as plt
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

import bayesbias as bb
from bayesbias.core.errors import InputError
from bayesbias.inference.posterior import BiasFit
from bayesbias.plots.priors import plot_priors
from bayesbias.plots.words import plot_connections, plot_words


@pytest.mark.slow
def test_settings_stay_and_axes_are_made_only_when_none_are_given(fit: BiasFit, ax: Any) -> None:
    before = dict(mpl.rcParams)
    open_figures = plt.get_fignums()
    plot_words(fit, ax=ax)
    plot_priors("crossed", ax=ax)
    assert plt.get_fignums() == open_figures
    shown = plot_connections(fit)
    try:
        assert plt.get_fignums() != open_figures
        assert shown.get_figure() is plt.gcf()
    finally:
        plt.close(plt.gcf())
    assert dict(mpl.rcParams) == before


def test_user_settings_do_not_leak_in() -> None:
    fit = prior_fit(simulated({"$a$": ["$x_1$"], "b": ["y"]}))
    with mpl.rc_context({"text.parse_math": False, "text.color": "white", "font.size": 30}):
        own = Figure().subplots()
        own.get_yticklabels()  # ticks made under the user's settings
        ax = plot_words(fit, ax=own)
    title = title_of(ax)
    assert to_hex(title.get_color()) == "#222222"
    assert title.get_fontsize() == 9.5
    # Dollars are escaped, which is undone only where formulas are looked for.
    assert ax.get_yticklabels()[0].get_text() == r"\$x_1\$"
    assert heads_of(ax)[0].get_text() == r"\$a\$"
    assert heads_of(ax)[0].get_parse_math()
    assert all(label.get_parse_math() for label in ax.get_yticklabels())


@pytest.mark.parametrize("plot", [bb.plot_words, bb.plot_contrasts, bb.plot_ppc, bb.plots.plot_ranking])
def test_what_is_no_fit_and_what_are_no_axes_are_named(plot):
    with pytest.raises(
        InputError, match=r"(fit|comparison): is none of what is taken here; found: 'religion'"
    ):
        plot("religion")
    with pytest.raises(
        InputError, match="ax: is none of what is taken here; found: 'x'; valid: Axes of matplotlib"
    ):
        plot_priors("crossed", ax="x")
