"""The predictive figure: what was observed against what the model would have."""

from __future__ import annotations

import dataclasses
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")
from helpers.draws import prior_fit
from helpers.figures import drawn, simulated
from helpers.seeds import shifted
from matplotlib.figure import Figure

from bayesbias.core.errors import InputError
from bayesbias.inference.cross_validation import with_pointwise
from bayesbias.inference.posterior import BiasFit
from bayesbias.plots import marks
from bayesbias.plots.predictive import plot_ppc, unlike_replicated
from bayesbias.wordlists.pairing import CONNECTIONS


def test_predictive_is_the_same_with_and_without_stored_draws(fit: BiasFit) -> None:
    assert "posterior_predictive" not in fit.idata.children
    made = plot_ppc(fit, ax=Figure().subplots(), replicates=10)
    stored = plot_ppc(with_pointwise(fit), ax=Figure().subplots(), replicates=10)
    assert len(made.lines) == len(stored.lines) == 4 * 11
    for a, b in zip(made.lines, stored.lines, strict=True):
        np.testing.assert_allclose(np.asarray(a.get_ydata()), np.asarray(b.get_ydata()))


def test_predictive_shows_the_density_of_the_observed(fit: BiasFit, ax: Any) -> None:
    plot_ppc(fit, ax=ax, replicates=5)
    for row, (line, name) in enumerate(zip(drawn(ax, "_observed"), CONNECTIONS, strict=True)):
        values = fit.table.loc[fit.table["connection"].astype(str) == name, "distance"]
        x, height = np.asarray(line.get_xdata()), row + 0.42 - np.asarray(line.get_ydata())
        assert (x * height).sum() / height.sum() == pytest.approx(values.mean(), abs=0.01)
    with pytest.raises(InputError, match="from 1 to 200"):
        plot_ppc(fit, ax=ax, replicates=0)


def test_predictive_shows_all_that_was_observed(ax: Any) -> None:
    frame = simulated({"men": ["he", "him"], "women": ["she", "her"]})
    frame.loc[[3, 17], "distance"] = [-3.0, 5.0]  # far beyond what the made-up draws make
    plot_ppc(prior_fit(frame), ax=ax, replicates=3)
    low, high = ax.get_xlim()
    assert low <= -3.0
    assert high >= 5.0
    for line in drawn(ax, "_observed"):
        x = np.asarray(line.get_xdata())
        assert (x[0], x[-1]) == (low, high)


def test_density_agrees_with_scipy() -> None:
    from scipy.stats import gaussian_kde

    values = np.random.default_rng(2).gamma(3, 0.2, 500)
    grid = np.linspace(0, 3, 401)
    wanted = gaussian_kde(values, bw_method=0.05 / values.std(ddof=1))(grid)
    np.testing.assert_allclose(marks.density(values, grid, 0.05), wanted, atol=0.01 * wanted.max())


def test_a_curve_unlike_all_replicated_ones_is_named(fit: BiasFit) -> None:
    """One of 51 by chance; where half of the pairs were moved, always."""
    table = fit.table.copy()
    moved = (table["connection"].astype(str) == "neutral").to_numpy()
    odd = np.arange(len(table)) % 2 == 0
    changed = table["distance"].to_numpy() + np.where(moved, np.where(odd, 0.25, -0.25), 0.0)
    other = dataclasses.replace(fit, table=table.assign(distance=changed))
    named, tables = unlike_replicated(other)
    assert "neutral" in named
    assert tables == 50
    draws = fit.design.outcome_draws({k: v[:1] for k, v in fit.draws().items()}, shifted(3))[0]
    own, _ = unlike_replicated(dataclasses.replace(fit, table=table.assign(distance=draws)))
    assert len(own) < 4
