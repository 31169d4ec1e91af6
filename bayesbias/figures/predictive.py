"""Figure of what a fit predicts for pairs like the observed ones, beside the observed ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayesbias.basics.errors import InputError
from bayesbias.figures import headings, marks, outcomes
from bayesbias.figures.outcomes import need_columns, need_fit, replicated_outcomes, source_of
from bayesbias.figures.rows import ridge_axis
from bayesbias.figures.style import INK, axes_or_new, size_ridges, styled
from bayesbias.inference.posterior import BiasFit
from bayesbias.words.pairing import CONNECTIONS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_predictive"]


@styled
def plot_predictive(fit: BiasFit, ax: Axes | None = None, *, replicates: int = 50) -> Axes:
    """Hold the observed distances of each connection against data the fitted model would make.

    Parameters
    ----------
    fit : BiasFit
        Without predictive draws in its tree they are made, with the same seed and so the same values.
    ax : matplotlib Axes, optional
        By default a new figure.
    replicates : int
        How many replicated tables are drawn, at most 200.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import bayesbias as bb
    >>> from matplotlib.figure import Figure
    >>> table = bb.distance_table(bb.load_embedding("minilm-static"), "religion")
    >>> result = bb.fit(table, seed=1, draws=200, pointwise=False)
    >>> ax = bb.plot_predictive(result, ax=Figure().subplots(), replicates=20)
    >>> len(ax.lines)  # four observed curves, each over twenty replicated ones
    84
    """
    need_fit(fit)
    need_columns(fit.table, ("connection",), fit.spec)
    if isinstance(replicates, bool) or not isinstance(replicates, int) or not 1 <= replicates <= 200:
        raise InputError("`replicates` must be a whole number from 1 to 200", found=replicates)
    observed = fit.table[fit.spec.outcome].to_numpy(dtype=float)
    drawn = replicated_outcomes(fit, replicates)
    connection = fit.table["connection"].astype(str).to_numpy()
    names = [c for c in CONNECTIONS if (connection == c).any()]
    low, high = marks.value_range([observed, drawn.ravel()], 0.0005)
    margin = 0.15 * (high - low)
    # The tails of the replicated may be cut; what was observed is shown whole.
    grid = np.linspace(min(low - margin, observed.min()), max(high + margin, observed.max()), 301)
    ax = axes_or_new(ax, size_ridges(len(names)))
    ridge_axis(ax, names, (float(grid[0]), float(grid[-1])))
    for row, name in enumerate(names):
        mine = connection == name
        width = marks.bandwidth(observed[mine])
        seen = marks.density(observed[mine], grid, width)
        made = [marks.density(values, grid, width) for values in drawn[:, mine]]
        scale = 0.84 / max(float(seen.max()), *(float(curve.max()) for curve in made))
        for curve in made:
            ax.plot(
                grid,
                row + 0.42 - scale * curve,
                color="#9A9A9A",
                linewidth=0.5,
                alpha=0.45,
                zorder=2,
                label="_replicated",
            )
        ax.plot(
            grid,
            row + 0.42 - scale * seen,
            color=marks.colour_of(name),
            linewidth=2,
            zorder=3,
            label="_observed",
        )
        headings.write_aside(ax, row, f"{mine.sum():,} pairs")
    headings.name_x(ax, outcomes.outcome_label(fit.spec))
    handles = [
        marks.line_handle(INK, "observed pairs (coloured; density)", width=2),
        marks.line_handle("#9A9A9A", f"{len(drawn)} tables made by the fitted model", width=0.8),
    ]
    headings.add_headings(ax, "Posterior predictive check", source_of(fit), handles)
    return ax
