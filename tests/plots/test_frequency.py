"""Figures of frequency: what is drawn where."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pytest
from helpers.counted import counted, counts_of
from helpers.draws import made_up_fit
from helpers.tables import grid

mpl.use("Agg")
from matplotlib.figure import Figure

from bayesbias.core.errors import InputError
from bayesbias.plots.frequency import plates, plot_frequencies, plot_frequency_contrasts
from bayesbias.studies.association.frequency import frequency_of


@pytest.fixture(scope="module")
def fit():
    return counted(moved=0.03)


def test_every_word_is_drawn_at_its_frequency(fit):
    ax = plot_frequencies(fit, ax=Figure().subplots())
    drawn = np.sort(np.concatenate([line.get_xdata() for line in ax.lines if line.get_label() == "_words"]))
    np.testing.assert_allclose(drawn, np.sort(np.log10(list(counts_of(fit.table).values()))))
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert labels[:2] == ["Protected words", "class0"]
    assert "neutral" in labels
    means = [float(line.get_xdata()[0]) for line in ax.lines if line.get_label() == "_mean"]
    own = frequency_of(fit).words.groupby(["side", "group"], sort=False)["log_frequency"].mean()
    np.testing.assert_allclose(means, own)


def test_both_contrasts_stand_side_by_side(fit):
    ax = plot_frequency_contrasts(fit, ax=Figure().subplots())
    rows = frequency_of(fit).contrasts
    for which in ("without", "with"):
        drawn = [float(line.get_xdata()[0]) for line in ax.lines if line.get_label() == f"_{which}"]
        np.testing.assert_allclose(drawn, rows[f"{which}_mean"])
    assert sum(line.get_label() == "_interval" for line in ax.lines) == 2 * len(rows)


def test_a_fit_that_was_not_asked_has_no_such_figure(fit):
    plain = made_up_fit(grid())
    assert plates(plain) == []
    assert [plate.name for plate in plates(fit)] == ["frequencies", "frequency_contrasts"]
    for plot in (plot_frequencies, plot_frequency_contrasts):
        with pytest.raises(InputError, match="was not asked for frequency"):
            plot(plain)
