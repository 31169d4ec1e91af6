"""Figures of what a fit predicts for pairs like the observed ones, beside the observed ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from bayesbias.core import checks
from bayesbias.core.formatting import number_of
from bayesbias.inference.posterior import BiasFit
from bayesbias.plots import headings, marks, outcomes
from bayesbias.plots.data import long
from bayesbias.plots.outcomes import need_columns, need_fit, source_of
from bayesbias.plots.plates import Plate, on_axes
from bayesbias.plots.rows import ridge_axis
from bayesbias.plots.style import INK, axes_or_new, pt, size_ridges, styled
from bayesbias.wordlists.pairing import CONNECTIONS

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["plot_ppc"]

REPLICATED = "#9A9A9A"
_SEEN = 0.05  # of the largest spread: where curves hardly differ, in the tails, a single pair would decide


@styled
def plot_ppc(fit: BiasFit, *, replicates: int = 50, ax: Axes | None = None) -> Axes:
    """Hold the observed distances of each connection against data the fitted model would make.

    Parameters
    ----------
    fit : BiasFit
        Without predictive draws in its idata they are made, with the same seed and so the same values.
    replicates : int
        How many replicated tables are drawn, at most 200.
    ax : matplotlib Axes, optional
        By default a new figure.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import bayesbias as bb
    >>> from matplotlib.figure import Figure
    >>> table = bb.distance_table("minilm-static", "religion")
    >>> result = bb.fit(table, seed=1, draws=200, tune=300, chains=2, pointwise=False)
    >>> ax = bb.plot_ppc(result, ax=Figure().subplots(), replicates=20)
    >>> len(ax.lines)  # four observed curves, each over twenty replicated ones
    84
    """
    checks.instance(fit, BiasFit, "fit", "what bayesbias.fit returns")
    need_fit(fit)
    need_columns(fit.table, ("connection",), fit.spec)
    names = [c for c in CONNECTIONS if (fit.table["connection"].astype(str) == c).any()]
    ax, n, curves = draw_ridges(
        fit, "connection", {name: marks.colour_of(name) for name in names}, replicates, ax
    )
    connection = fit.table["connection"].astype(str)
    for row, name in enumerate(names):
        headings.write_aside(ax, row, f"{(connection == name).sum():,} pairs")
    headings.name_x(ax, outcomes.outcome_label(fit.spec))
    handles = [
        marks.line_handle(INK, "observed pairs (coloured; density)", width=2),
        marks.line_handle(REPLICATED, f"{number_of(n, 'table')} made by the fitted model", width=0.8),
    ]
    headings.add_headings(ax, "Posterior predictive check", source_of(fit), handles, curves)
    return ax


def plate(fit: BiasFit) -> Plate:
    """Return the posterior predictive check as a figure."""
    return Plate(
        "predictive",
        on_axes(plot_ppc, fit),
        size_ridges(fit.table["connection"].nunique()),
        "The observed distances against tables that the fitted model would make: where the coloured curve leaves the grey "
        "ones, the model misses something.",
        "Densities of the observed distances per connection over those of replicated tables.",
    )


def unlike_replicated(fit: BiasFit, replicates: int = 50) -> tuple[list[str], int]:
    """Return the connections whose observed curve is farther from the average one than those of all replicated tables.

    The distance of a curve is the largest over all places, each in standard deviations of the replicated curves there, so that
    a curve that leaves the bundle at one place of many by chance is not counted: by chance one of ``replicates + 1`` is.

    Returns
    -------
    list of str, int
        The connections, and how many tables there were.
    """
    connection = fit.table["connection"].astype(str).to_numpy()
    observed = fit.table[fit.spec.outcome].to_numpy(dtype=float)
    replicated = _replicated_outcomes(fit, replicates)
    out = []
    for name in [c for c in CONNECTIONS if (connection == c).any()]:
        mine = connection == name
        tables = np.vstack([observed[mine], replicated[:, mine]])
        width = marks.bandwidth(observed[mine])
        grid = np.linspace(tables.min(), tables.max(), 101)
        curves = np.array([marks.density(table, grid, width) for table in tables])
        spread = curves.std(axis=0, ddof=1)
        seen = spread > _SEEN * spread.max()
        far = (np.abs(curves - curves.mean(axis=0))[:, seen] / spread[seen]).max(axis=1)
        if far[0] > far[1:].max():
            out.append(name)
    return out, len(replicated)


def draw_ridges(
    fit: BiasFit, column: str, colours: Mapping[str, str], replicates: int, ax: Axes | None
) -> tuple[Axes, int, pd.DataFrame]:
    """Draw the density of the observed over those of replicated tables, a row for each of some values of a column.

    Returns the Axes, the number of replicated tables, and the curves: a row for each place, with table 0 as observed.
    """
    checks.count(replicates, "replicates", 1, 200)
    observed = fit.table[fit.spec.outcome].to_numpy(dtype=float)
    replicated = _replicated_outcomes(fit, replicates)
    values = fit.table[column].astype(str).to_numpy()
    low, high = marks.value_range([observed, replicated.ravel()], 0.0005)
    margin = 0.15 * (high - low)
    # The tails of the replicated may be cut; what was observed is shown whole.
    grid = np.linspace(min(low - margin, observed.min()), max(high + margin, observed.max()), 301)
    ax = axes_or_new(ax, size_ridges(len(colours)))
    ridge_axis(ax, list(colours), (float(grid[0]), float(grid[-1])))
    drawn = []
    for row, (name, colour) in enumerate(colours.items()):
        mine = values == name
        width = marks.bandwidth(observed[mine])
        curve = marks.density(observed[mine], grid, width)
        others = [marks.density(table, grid, width) for table in replicated[:, mine]]
        drawn += [
            {column: name, "table": number, "x": grid, "density": each}
            for number, each in enumerate([curve, *others])
        ]
        scale = 0.84 / max(float(curve.max()), *(float(other.max()) for other in others))
        for other in others:
            ax.plot(
                grid,
                row + 0.42 - scale * other,
                color=REPLICATED,
                linewidth=pt(0.5),
                alpha=0.45,
                zorder=2,
                label="_replicated",
            )
        ax.plot(grid, row + 0.42 - scale * curve, color=colour, linewidth=pt(2), zorder=3, label="_observed")
    return ax, len(replicated), long(drawn)


def _replicated_outcomes(fit: BiasFit, replicates: int) -> np.ndarray:
    """Return replicated outcomes, shape (replicates, n_pairs)."""
    if "posterior_predictive" in fit.idata.children:
        values = (
            fit.idata["posterior_predictive"][fit.spec.outcome].transpose("chain", "draw", "pair").to_numpy()
        )
        values = values.reshape(-1, values.shape[-1])
    else:
        # As in `prediction.with_pointwise`, without the log-likelihood, which is large and not needed here.
        draws = fit.draws()
        total = len(next(iter(draws.values())))
        keep = np.linspace(0, total - 1, min(200, total)).astype(int)
        seed = fit.design.stream(int(fit.provenance["sampler"]["seed"]))
        values = fit.design.outcome_draws({name: values[keep] for name, values in draws.items()}, seed + 1)
    return values[np.linspace(0, len(values) - 1, min(replicates, len(values))).astype(int)]
