"""Rows of a figure: words placed under the headings of their classes, labels, shading, ridges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.plots.style import FAINT, HEAD, across, height_of, plain, plain_names, pt

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_BAND = "#F3F3F3"
type Groups = dict[str, list[tuple[Any, str]]]


def by_class(table: pd.DataFrame) -> Groups:
    """Return the words of each class, both in the order of the table."""
    first = table.drop_duplicates("protected_word")
    by_class: Groups = {}
    for word, name in zip(
        first["protected_word"].astype(str), first["protected_class"].astype(str), strict=True
    ):
        by_class.setdefault(name, []).append((word, word))
    return by_class


def grouped(
    table: pd.DataFrame,
) -> tuple[dict[str, float], list[tuple[float, str]], list[tuple[float, str]]]:
    """Place words under the headings of their classes: row of each word, labels, headings."""
    return placed(by_class(table))


def placed(
    groups: Mapping[str, list[tuple[Any, str]]],
) -> tuple[dict[Any, float], list[tuple[float, str]], list[tuple[float, str]]]:
    """Place labelled rows under headed groups: the height of each key, of the labels, of the heads."""
    rows: dict[Any, float] = {}
    labels: list[tuple[float, str]] = []
    heads: list[tuple[float, str]] = []
    edge = 0.0
    for name, members in groups.items():
        heads.append((edge + HEAD / 2, name))
        edge += HEAD
        for key, label in members:
            rows[key] = edge + 0.5
            labels.append((edge + 0.5, label))
            edge += 1
    return rows, labels, heads


def ridge_axis(ax: Axes, names: Sequence[str], span: tuple[float, float]) -> None:
    """Set up an axis with one named ridge a row, the first on top."""
    ax.set_ylim(len(names) - 0.45, -0.55)
    ax.set_xlim(*span)
    name_rows(ax, range(len(names)), names)
    ax.tick_params(axis="y", length=0, labelsize=pt(8.5))
    ax.tick_params(axis="x", labelsize=pt(8))


def name_rows(ax: Axes, rows: Sequence[float], names: Sequence[str]) -> None:
    """Label rows with words as they are, without reading them as mathematics."""
    ax.set_yticks(rows, labels=plain_names(names, _longest_name()))
    for label in ax.get_yticklabels():  # ticks of a user's Axes may be older than our settings
        label.set_parse_math(True)
        label.set_usetex(False)


def _longest_name() -> int:
    """Return how many letters a name may have, so that names take some third of a narrow figure and no more."""
    return int(min(32.0, 0.36 * 72 * across() / 4.4))


def row_axis(
    ax: Axes,
    labels: list[tuple[float, str]],
    heads: list[tuple[float, str]],
    span: tuple[float, float],
    *,
    inside: bool = False,
    longest: float = 0.0,
) -> float:
    """Label the rows, heading by heading; return the height of a row in points of the style ``report``.

    Headings stand among the labels, or `inside` the Axes, where a long one takes no room from the data. The
    axis holds as many rows as `longest` says, or as there are.
    """
    ticks = sorted(
        [(at, label, False) for at, label in labels]
        + [(at, label, True) for at, label in heads if not inside]
    )
    n = max(len(labels) + HEAD * len(heads), longest)
    ax.set_ylim(n, 0)
    ax.set_xlim(*span)
    points = height_of(ax) / n
    size = float(np.clip(0.88 * points, 3.0, 8.5))
    name_rows(ax, [at for at, _, _ in ticks], [label for _, label, _ in ticks])
    ax.tick_params(axis="y", length=0, labelsize=pt(size))
    ax.tick_params(axis="x", labelsize=pt(8))
    for tick, (_, _, head) in zip(ax.get_yticklabels(), ticks, strict=True):
        if head:
            tick.set_fontweight("bold")
    for at, label in heads:
        if at > HEAD:
            ax.axhline(at - HEAD / 2, color=FAINT, linewidth=pt(0.6), zorder=0.5)
        if inside:
            _head_inside(ax, at, label, size)
    # Every other row below a heading is shaded, so that the eye finds its way from the word to its lanes.
    shaded, last = False, -1.0
    for at, _ in labels:
        shaded = not shaded or at - last > 1.01
        last = at
        if shaded:
            ax.axhspan(at - 0.5, at + 0.5, color=_BAND, linewidth=0, zorder=0)
    return points


def _head_inside(ax: Axes, at: float, label: str, size: float) -> None:
    ax.annotate(
        plain(label, 40),
        (0, at),
        (pt(4), 0),
        xycoords=ax.get_yaxis_transform(),
        textcoords="offset points",
        va="center",
        fontsize=pt(size),
        fontweight="bold",
        bbox={"facecolor": "white", "linewidth": 0, "pad": pt(1)},  # no dotted line through the name
        annotation_clip=False,
    )
