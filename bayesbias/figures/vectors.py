"""Figures of the shape of vectors: the cosines of all pairs of words, and the dimensions that carry them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.figures.data import give_data, long
from bayesbias.figures.plates import Plate, on_axes
from bayesbias.figures.style import COLOUR, FAINT, WIDTH, axes_or_new, inches, plain, pt, styled
from bayesbias.vectors.shape import EDGES, VectorShape

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_cosines", "plot_dimensions"]

_LOOKS = (("associated", "-"), ("different", "--"), ("human", "-."), ("neutral", ":"))


def plates(shapes: Mapping[str, VectorShape]) -> list[Plate]:
    """List the figures of some shapes."""
    first = next(iter(shapes.values()))
    means = ", ".join(f"{name} {shape.mean_cosine:.3f}" for name, shape in shapes.items())
    return [
        Plate(
            "cosines",
            on_axes(plot_cosines, shapes),
            _size(),
            f"Cosines of pairs of words of {first.name}. The mark below is the mean: how near two words lie that have nothing to "
            "do with each other.",
            f"Densities of the cosines of pairs of words; means: {means}.",
        ),
        Plate(
            "dimensions",
            on_axes(plot_dimensions, shapes),
            _size(),
            "What the leading dimensions add to the mean cosine, the largest first. Of a curve that is steep at the left a few "
            "dimensions carry most.",
            f"Mean cosine by number of leading dimensions; all of them: {means}.",
        ),
    ]


@styled
def plot_cosines(shapes: VectorShape | Mapping[str, VectorShape], *, ax: Axes | None = None) -> Axes:
    """Show the cosines of all pairs of words of one set of vectors, or of several.

    Parameters
    ----------
    shapes : VectorShape, or a mapping of names to them
        At most four, such as vectors before and after postprocessing.
    ax : matplotlib Axes, optional
        By default a new figure.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from bayesbias import load_wordlist
    >>> from bayesbias.figures import plot_cosines
    >>> from bayesbias.vectors import describe_vectors
    >>> ax = plot_cosines(describe_vectors("minilm-static", load_wordlist("religion").words), ax=Figure().subplots())
    >>> ax.get_xlabel()
    'cosine of a pair of words'
    """
    ax = axes_or_new(ax, _size())
    lowest, highest = 1.0, -1.0
    drawn = []
    for (name, shape), look in zip(_named(shapes).items(), _LOOKS, strict=False):
        total, width = shape.histogram.sum(), EDGES[1] - EDGES[0]
        middles = (EDGES[:-1] + EDGES[1:]) / 2
        density = shape.histogram / (total * width)
        drawn.append({"vectors": name, "cosine": middles, "density": density, "mean": shape.mean_cosine})
        ax.plot(middles, density, label=plain(name), **_style(look))
        ax.plot(
            [shape.mean_cosine],
            [0],
            marker=2,
            markersize=pt(9),
            clip_on=False,
            color=COLOUR[look[0]],
            label="_mean",
        )
        shares = np.cumsum(shape.histogram) / total
        lowest = min(lowest, float(middles[np.searchsorted(shares, 0.0005)]))
        highest = max(highest, float(middles[np.searchsorted(shares, 0.9995)]))
    ax.axvline(0, color=FAINT, linewidth=pt(0.6), zorder=0, label="_zero")
    ax.set_xlim(lowest - 0.02, highest + 0.02)
    ax.set_ylim(0, None)
    ax.set_xlabel("cosine of a pair of words")
    ax.set_ylabel("density")
    if isinstance(shapes, Mapping):
        ax.legend(loc="upper right")
    give_data([ax], long(drawn), "Cosines of pairs of words", "")
    return ax


@styled
def plot_dimensions(shapes: VectorShape | Mapping[str, VectorShape], *, ax: Axes | None = None) -> Axes:
    """Show what the leading dimensions add to the mean cosine of two words.

    Parameters
    ----------
    shapes : VectorShape or mapping of str to VectorShape
        As in `plot_cosines`.
    ax : matplotlib Axes, optional
        As in `plot_cosines`.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from bayesbias import load_wordlist
    >>> from bayesbias.figures import plot_dimensions
    >>> from bayesbias.vectors import describe_vectors
    >>> ax = plot_dimensions(describe_vectors("minilm-static", load_wordlist("religion").words), ax=Figure().subplots())
    >>> ax.get_ylabel()
    'mean cosine they carry'
    """
    ax = axes_or_new(ax, _size())
    drawn = []
    for (name, shape), look in zip(_named(shapes).items(), _LOOKS, strict=False):
        carried = np.cumsum(np.sort(shape.contributions)[::-1])
        dimensions = np.arange(1, shape.dim + 1)
        drawn.append({"vectors": name, "dimensions": dimensions, "mean cosine": carried})
        ax.plot(dimensions, carried, label=plain(name), **_style(look))
        if shape.words.share_top is not None and shape.mean_cosine > 0.01:
            ax.plot(
                [shape.top],
                [carried[shape.top - 1]],
                marker="o",
                markersize=pt(5),
                color=COLOUR[look[0]],
                label="_top",
            )
            ax.annotate(
                f"{shape.words.share_top:.0%} of it in {shape.top}",
                (shape.top, carried[shape.top - 1]),
                xytext=(pt(7), pt(-11)),
                textcoords="offset points",
                color=COLOUR[look[0]],
                fontsize=pt(8),
            )
    ax.axhline(0, color=FAINT, linewidth=pt(0.6), zorder=0, label="_zero")
    ax.set_xscale("log")
    ax.xaxis.set_major_formatter("{x:g}")
    ax.set_xlabel("leading dimensions")
    ax.set_ylabel("mean cosine they carry")
    if isinstance(shapes, Mapping):
        ax.legend(loc="best")
    give_data([ax], long(drawn), "Mean cosine by leading dimensions", "")
    return ax


def _size() -> tuple[float, float]:
    return inches(WIDTH, 3.0)


def _named(shapes: VectorShape | Mapping[str, VectorShape]) -> Mapping[str, VectorShape]:
    return shapes if isinstance(shapes, Mapping) else {shapes.name: shapes}


def _style(look: tuple[str, str]) -> dict[str, Any]:
    return {"color": COLOUR[look[0]], "linestyle": look[1], "linewidth": pt(1.3)}
