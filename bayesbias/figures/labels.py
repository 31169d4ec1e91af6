"""Names of points in a scatter, where there is room for them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bayesbias.figures.style import FAINT, INK, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_TIED = 1e-9  # values this near to each other are one
_LABEL = 7.5  # points
_ROUND = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1))  # places for a label


def label_points(
    ax: Axes,
    x: npt.NDArray[np.float64],
    y: npt.NDArray[np.float64],
    names: Sequence[str],
    *,
    panels: int,
    ends: tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]] | None = None,
    lead: Sequence[bool] | None = None,
) -> None:
    """Name points where a name meets neither another name nor another point; points that lie together share one.

    Where there is the choice, names also keep clear of the diagonal, or of intervals with these `ends`. Those in the
    `lead` are named first and in bold, wherever there is room for them at all; the others then fainter.
    """
    from matplotlib.transforms import Bbox

    figure = ax.get_figure(root=True)
    assert figure is not None
    # The layout is still to come: about the width and height that the Axes will have, in points.
    width = float(figure.get_size_inches()[0] * 72 / panels) - 55.0
    height = float(figure.get_size_inches()[1] * 72) - 95.0
    if ax.get_box_aspect() is not None:
        width = height = min(width, height)
    (x0, x1), (y0, y1) = ax.get_xlim(), ax.get_ylim()

    def placed(x: Any, y: Any) -> npt.NDArray[np.float64]:
        return np.column_stack([(x - x0) / (x1 - x0) * width, (y - y0) / (y1 - y0) * height])

    at = placed(x, y)
    groups: dict[int, list[int]] = {}
    for i in range(len(names)):
        same = next((j for j in groups if math.dist((x[i], y[i]), (x[j], y[j])) < _TIED), i)
        groups.setdefault(same, []).append(i)
    taken = [Bbox.from_extents(px - 4, py - 4, px + 4, py + 4) for px, py in at]
    if ends is None:
        steps = placed(np.linspace(x0, x1, 150), np.linspace(x0, x1, 150))
        better_not = [Bbox.from_extents(px - 1, py - 1, px + 1, py + 1) for px, py in steps]
    else:
        lines = zip(placed(x, ends[0]), placed(x, ends[1]), strict=True)
        better_not = [Bbox.from_extents(a[0] - 1, a[1], b[0] + 1, b[1]) for a, b in lines]
    # Those with the most room about them wait: a crowded point has fewer places for its name.
    crowd = {i: np.sort(np.hypot(*(at - at[i]).T))[: 4 + len(groups[i])].sum() for i in groups}
    leading = [False] * len(names) if lead is None else list(lead)
    for first in sorted(groups, key=lambda i: (not leading[i], crowd[i])):
        members = groups[first]
        text = names[first] + (f" and {len(members) - 1} more" if len(members) > 1 else "")
        wide, tall = (0.6 if leading[first] else 0.53) * _LABEL * len(text), 1.15 * _LABEL
        others = [box for i, box in enumerate(taken) if i not in members]
        possible = []
        for place, (dx, dy) in enumerate(_ROUND):
            reach = 6.0 if 0 in (dx, dy) else 4.5
            left = at[first][0] + dx * reach - (0.5 - 0.5 * dx) * wide
            low = at[first][1] + dy * reach - (0.5 - 0.5 * dy) * tall
            box = Bbox.from_bounds(left, low, wide, tall)
            inside = left >= 0 and low >= 0 and box.x1 <= width and box.y1 <= height
            if inside and not box.count_overlaps(others):
                possible.append((box.count_overlaps(better_not) > 0, place, (dx, dy), reach, box))
        if not possible:
            continue
        _, _, (dx, dy), reach, box = min(possible, key=lambda candidate: candidate[:2])
        ax.annotate(
            plain(text),
            (x[first], y[first]),
            (dx * reach, dy * reach),
            textcoords="offset points",
            ha={1: "left", 0: "center", -1: "right"}[dx],
            va={1: "bottom", 0: "center", -1: "top"}[dy],
            fontsize=_LABEL,
            fontweight="bold" if leading[first] else "normal",
            color=INK if lead is None or leading[first] else FAINT,
            zorder=4,
        )
        taken.append(box)
