"""Marks and their handles in a legend: points, intervals, densities. Lengths are points of the style ``report``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.plots.style import COLOUR, FAINT, MARKER, plain, pt

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_HEAD_LENGTH = 0.4  # of an arrow, beside its scale


def colour_of(connection: str) -> str:
    """Return the colour of a connection, the same in every figure; grey for an unknown one."""
    return COLOUR.get(connection, FAINT)


def draw_interval(ax: Axes, ends: tuple[float, float], y: float, connection: str, width: float) -> None:
    """Draw an interval with a white edge, to be seen above a cloud of points of its colour."""
    ax.plot(
        ends, (y, y), color="white", linewidth=pt(width + 0.9), zorder=3, solid_capstyle="butt", label="_edge"
    )
    ax.plot(
        ends,
        (y, y),
        color=colour_of(connection),
        linewidth=pt(width),
        zorder=3.1,
        solid_capstyle="butt",
        label="_interval",
    )


def draw_point(ax: Axes, x: float, y: float, connection: str, size: float) -> None:
    """Draw one mean with the connection's own symbol, ``size`` points wide."""
    ax.plot(
        [x],
        [y],
        marker=MARKER.get(connection, "o"),
        # A triangle covers about half of the square around it and looks small beside the others.
        markersize=pt(1.25 * size if MARKER.get(connection) == "^" else size),
        color=colour_of(connection),
        markeredgecolor="white",
        markeredgewidth=pt(min(0.7, 0.15 * size)),
        linestyle="none",
        zorder=4,
        label=f"_mean {connection}",
    )


def draw_move(
    ax: Axes, begin: float, end: float, y: float, *, colour: str, width: float, scale: float, above: float
) -> None:
    """Draw an arrow from one place to another; a move hardly longer than its head as a line.

    The head has a length of its own, and would point far beyond such a move. How wide the Axes will be after the layout is
    known to a fifth.

    Parameters
    ----------
    ax : matplotlib Axes
        Whose limits are set.
    begin, end, y : float
    colour : str
    width, scale : float
        Of the line, and what the head is scaled by.
    above : float
        The order of drawing.
    """
    figure = ax.get_figure(root=True)
    assert figure is not None
    low, high = ax.get_xlim()
    points = ax.get_position().width * float(figure.get_size_inches()[0]) * 72
    long = abs(end - begin) / abs(high - low) * points > 1.25 * _HEAD_LENGTH * pt(scale)
    ax.annotate(
        "",
        (end, y),
        (begin, y),
        zorder=above,
        arrowprops={
            "arrowstyle": f"-|>,head_length={_HEAD_LENGTH}" if long else "-",
            "color": colour,
            "linewidth": pt(width),
            "capstyle": "butt",
            "shrinkA": 0,
            "shrinkB": 0,
            "mutation_scale": pt(scale),
        },
    )


def line_handle(
    colour: str,
    label: str,
    *,
    marker: str | None = None,
    width: float = 1.2,
    size: float = 5.0,
    style: Any = "-",
    **marker_style: Any,
) -> Any:
    """Make a legend entry with a line, a marker, or both."""
    from matplotlib.lines import Line2D

    look: dict[str, Any] = {"color": colour, "marker": marker, "markersize": pt(size)} | marker_style
    return Line2D([], [], **look | {"linestyle": style, "linewidth": pt(width), "label": _entry(label)})


def patch_handle(
    colour: str, label: str, alpha: float = 1.0, hatch: str | None = None, edge: str = "none"
) -> Any:
    """Make a legend entry with a filled area."""
    from matplotlib.patches import Patch

    return Patch(facecolor=colour, label=_entry(label), alpha=alpha, hatch=hatch, edgecolor=edge, linewidth=0)


def _entry(label: str) -> str:
    """Return the text of an entry as it is; matplotlib leaves out entries that begin with an underscore."""
    text = plain(label, len(label))
    return f" {text}" if text.startswith("_") else text


def contrast_colour(estimand: str) -> str:
    """Return the colour of an estimand in figures of contrasts."""
    return COLOUR["different"] if estimand == "population" else COLOUR["associated"]


def contrast_marker(estimand: str, size: float) -> dict[str, Any]:
    """Return the marker of an estimand: a full circle for new words, an open diamond for these words."""
    population = estimand == "population"
    return {
        "marker": "o" if population else "D",
        "markersize": pt(size if population else 0.85 * size),
        "color": contrast_colour(estimand),
        "markerfacecolor": contrast_colour(estimand) if population else "white",
        "markeredgewidth": pt(1.1),
        "linestyle": "none",
    }


def bandwidth(values: np.ndarray) -> float:
    """Silverman's rule, with the quartiles so that a heavy tail does not flatten the curve."""
    spread = [float(np.std(values)), float(np.subtract(*np.percentile(values, (75, 25)))) / 1.34]
    positive = [s for s in spread if s > 0]
    return 1.06 * min(positive, default=0.01) * len(values) ** -0.2


def density(values: np.ndarray, grid: np.ndarray, width: float | None = None) -> np.ndarray:
    """Estimate a density with a Gaussian kernel on an even grid, from a fine histogram."""
    step = float(grid[1] - grid[0])
    width = max(bandwidth(values) if width is None else width, step)
    reach = int(np.ceil(4 * width / step))
    edges = grid[0] + step * (np.arange(-reach, len(grid) + reach + 1) - 0.5)
    counts, _ = np.histogram(values, edges)
    kernel = np.exp(-0.5 * (np.arange(-reach, reach + 1) * step / width) ** 2)
    return np.convolve(counts / (len(values) * step), kernel / kernel.sum(), mode="valid")


def value_range(arrays: Sequence[np.ndarray], tail: float) -> tuple[float, float]:
    """Return the span of all arrays, without a share ``tail`` of each at either end."""
    low = min(float(np.quantile(values, tail)) for values in arrays)
    high = max(float(np.quantile(values, 1 - tail)) for values in arrays)
    return (low, high) if high > low else (low - 0.5, high + 0.5)
