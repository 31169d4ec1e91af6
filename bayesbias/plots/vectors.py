"""Figures of the shape of vectors: the cosines of all pairs of words, and the dimensions that carry them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.embeddings.shape import EDGES, VectorShape
from bayesbias.plots import headings, marks
from bayesbias.plots.data import long
from bayesbias.plots.plates import Plate, on_axes
from bayesbias.plots.style import COLOUR, FAINT, INK, WIDTH, axes_or_new, inches, plain, pt, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_cosines", "plot_dimensions"]

_LOOKS = (("associated", "-"), ("different", "--"), ("human", "-."), ("neutral", ":"))
_TICK = 9.0  # points: of the mean


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
    >>> from bayesbias.plots import plot_cosines
    >>> from bayesbias.embeddings import describe_vectors
    >>> ax = plot_cosines(describe_vectors("minilm-static", load_wordlist("religion").words), ax=Figure().subplots())
    >>> ax.get_xlabel()
    'cosine of a pair of words'
    """
    ax = axes_or_new(ax, _size())
    lowest, highest = 1.0, -1.0
    drawn = []
    width = EDGES[1] - EDGES[0]
    middles = (EDGES[:-1] + EDGES[1:]) / 2
    for name, shape, look in _looks(shapes):
        total = shape.histogram.sum()
        density = shape.histogram / (total * width)
        drawn.append({"vectors": name, "cosine": middles, "density": density, "mean": shape.mean_cosine})
        ax.plot(middles, density, label=plain(name), **look)
        ax.plot(
            [shape.mean_cosine],
            [0],
            marker=2,
            clip_on=False,
            label="_mean",
            color=look["color"],
            markersize=pt(_TICK),
        )
        shares = np.cumsum(shape.histogram) / total
        lowest = min(lowest, float(middles[np.searchsorted(shares, 0.0005)]))
        highest = max(highest, float(middles[np.searchsorted(shares, 0.9995)]))
    ax.axvline(0, color=FAINT, linewidth=pt(0.6), zorder=0, label="_zero")
    ax.set_xlim(lowest - 0.02, highest + 0.02)
    ax.set_ylim(0, None)
    mean = marks.line_handle(INK, "mean", marker="|", width=0, size=_TICK)
    _name(ax, shapes, "cosine of a pair of words", "density", "Cosines of pairs of words", [mean], drawn)
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
    >>> from bayesbias.plots import plot_dimensions
    >>> from bayesbias.embeddings import describe_vectors
    >>> ax = plot_dimensions(describe_vectors("minilm-static", load_wordlist("religion").words), ax=Figure().subplots())
    >>> ax.get_ylabel()
    'mean cosine they carry'
    """
    ax = axes_or_new(ax, _size())
    drawn = []
    for name, shape, look in _looks(shapes):
        carried = np.cumsum(np.sort(shape.contributions)[::-1])
        dimensions = np.arange(1, shape.dim + 1)
        drawn.append({"vectors": name, "dimensions": dimensions, "mean cosine": carried})
        ax.plot(dimensions, carried, label=plain(name), **look)
        if shape.words.share_top is not None and shape.mean_cosine > 0.01:
            at = (shape.top, carried[shape.top - 1])
            ax.plot(
                *([value] for value in at), marker="o", markersize=pt(5), color=look["color"], label="_top"
            )
            ax.annotate(
                f"{shape.words.share_top:.0%} of it in {shape.top}",
                at,
                xytext=(pt(7), pt(-11)),
                textcoords="offset points",
                color=look["color"],
                fontsize=pt(8),
            )
    ax.axhline(0, color=FAINT, linewidth=pt(0.6), zorder=0, label="_zero")
    ax.set_xscale("log")
    ax.xaxis.set_major_formatter("{x:g}")
    _name(
        ax,
        shapes,
        "leading dimensions",
        "mean cosine they carry",
        "Mean cosine by leading dimensions",
        [],
        drawn,
    )
    return ax


def _size() -> tuple[float, float]:
    return inches(WIDTH, 3.0)


def _named(shapes: VectorShape | Mapping[str, VectorShape]) -> Mapping[str, VectorShape]:
    return shapes if isinstance(shapes, Mapping) else {shapes.name: shapes}


def _looks(
    shapes: VectorShape | Mapping[str, VectorShape],
) -> Iterator[tuple[str, VectorShape, dict[str, Any]]]:
    """Yield each shape with its name and the look of its curve: another colour and another line."""
    for (name, shape), (colour, line) in zip(_named(shapes).items(), _LOOKS, strict=False):
        yield name, shape, {"color": COLOUR[colour], "linestyle": line, "linewidth": pt(1.3)}


def _name(
    ax: Axes,
    shapes: VectorShape | Mapping[str, VectorShape],
    x: str,
    y: str,
    title: str,
    more: list[Any],
    drawn: list[dict[str, Any]],
) -> None:
    """Name the axes, and put title, source and legend above them."""
    headings.name_x(ax, x)
    ax.set_ylabel(y, fontsize=pt(8.5))
    known = _named(shapes)
    handles = [
        marks.line_handle(look["color"], name, width=1.3, style=look["linestyle"])
        for name, _, look in _looks(shapes)
    ]
    headings.add_headings(ax, title, next(iter(known.values())).name, [*handles, *more], long(drawn))
