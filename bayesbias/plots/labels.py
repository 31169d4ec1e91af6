"""Names of points in a scatter, where they lie over nothing that is drawn."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bayesbias.plots.style import FAINT, INK, plain, pt

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.transforms import Bbox

_TIED = 1e-9  # values this near to each other are one
_LABEL = 7.5  # points
_MARK = 4.0  # half of the width of a point, with a little air
_REACHES = (
    6.0,
    12.0,
    18.0,
    26.0,
    36.0,
    48.0,
    64.0,
    84.0,
)  # from a point to its name; beyond the first a line leads there
_ROUND = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1))
_ASIDE = ((1, 0.5), (-1, 0.5), (1, -0.5), (-1, -0.5), (0.5, 1), (-0.5, 1), (0.5, -1), (-0.5, -1))
_ALIGNED: dict[float, tuple[Any, Any]] = {
    1: ("left", "bottom"),
    0: ("center", "center"),
    -1: ("right", "top"),
}
_WIDER = 1.04  # letters are rounded to whole dots, and so are wider in one resolution than in another
type Values = npt.NDArray[np.float64]


def label_points(
    ax: Axes,
    x: Values,
    y: Values,
    names: Sequence[str],
    *,
    intervals: tuple[Values, Values] | None = None,
    lines: Sequence[tuple[Values, Values]] = (),
    lead: Sequence[bool] | None = None,
) -> None:
    """Name points so that no name lies over a point, an interval, another name or one of the `lines`; tied points share a name.

    A name without a place beside its point stands farther off, at the end of a thin line; one that finds none there
    either is left out. Those in the `lead` are named first and in bold; the others then fainter, and beside their points
    alone.
    """
    from matplotlib.transforms import Bbox

    figure = ax.get_figure(root=True)
    assert figure is not None
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)  # names are placed where the points will be
    ax.apply_aspect()
    ax.get_xlim(), ax.get_ylim()  # limits that wait for the drawing are made now
    dot = figure.dpi / 72 * pt(1.0)
    at = ax.transData.transform(np.column_stack([x, y]))
    frame = ax.bbox
    groups: dict[int, list[int]] = {}
    for i in range(len(names)):
        same = next((j for j in groups if math.dist((x[i], y[i]), (x[j], y[j])) < _TIED), i)
        groups.setdefault(same, []).append(i)
    taken = [_around(point, _MARK * dot) for point in at]

    def drawn(line: tuple[Any, Any]) -> list[Bbox]:
        steps = _along(ax.transData.transform(np.column_stack(line)), 2 * dot)
        return [_around(step, 1.5 * dot) for step in steps]

    bars = {
        i: drawn(([x[i], x[i]], [ends[0][i], ends[1][i]]))
        for ends in [intervals]
        if ends
        for i in range(len(x))
    }
    always = [box for line in lines for box in drawn(line)]
    # Those with the most room about them wait: a crowded point has fewer places for its name.
    crowd = {i: np.sort(np.hypot(*(at - at[i]).T))[: 4 + len(groups[i])].sum() for i in groups}
    leading = [False] * len(names) if lead is None else list(lead)
    for first in sorted(groups, key=lambda i: (not leading[i], crowd[i])):
        members = groups[first]
        shown = names[first] + (f" and {len(members) - 1} more" if len(members) > 1 else "")
        label = ax.annotate(
            plain(shown, len(shown)),
            (x[first], y[first]),
            (0, 0),
            textcoords="offset points",
            fontsize=pt(_LABEL),
            fontweight="bold" if leading[first] else "normal",
            color=INK if lead is None or leading[first] else FAINT,
            zorder=4,
        )
        wide, tall = label.get_window_extent().size
        wide *= _WIDER
        others = [box for i, box in enumerate(taken) if i not in members]
        others += [box for i, boxes in bars.items() if i not in members for box in boxes]
        # A line to a name may leave along the point's own interval, and cross a line.
        mine = always + [box for i, boxes in bars.items() if i in members for box in boxes]
        reaches = _REACHES if lead is None or leading[first] else _REACHES[:1]
        for reach, (dx, dy) in ((reach, way) for reach in reaches for way in (*_ROUND, *_ASIDE)):
            near = reach == _REACHES[0]
            far = dot * (reach if 0 in (dx, dy) else 0.75 * reach)
            left = at[first][0] + dx * far - (0.5 - 0.5 * np.sign(dx)) * wide
            low = at[first][1] + dy * far - (0.5 - 0.5 * np.sign(dy)) * tall
            box = Bbox.from_bounds(left, low, wide, tall)
            inside = left >= frame.x0 and low >= frame.y0 and box.x1 <= frame.x1 and box.y1 <= frame.y1
            if not inside or box.count_overlaps(others) or box.count_overlaps(mine):
                continue
            end = at[first] + far * np.array([dx, dy])
            begin = at[first] + 1.5 * _MARK * dot / math.hypot(dx, dy) * np.array([dx, dy])
            path = [] if near else [_around(step, 0.5) for step in _along(np.array([begin, end]), 2 * dot)]
            if any(step.count_overlaps(others) for step in path):
                continue
            label.set_position(tuple(far * np.array([dx, dy]) * 72 / figure.dpi))
            label.set(ha=_ALIGNED[np.sign(dx)][0], va=_ALIGNED[np.sign(dy)][1])
            if not near:
                _lead(ax, (x[first], y[first]), end, at[first])
            taken += [box.padded(dot), *path]
            break
        else:
            label.remove()


def _lead(ax: Axes, point: tuple[float, float], end: Any, begin: Any) -> None:
    figure = ax.get_figure(root=True)
    assert figure is not None
    ax.annotate(
        "",
        point,
        tuple((end - begin) * 72 / figure.dpi),
        textcoords="offset points",
        zorder=2.5,
        arrowprops={"arrowstyle": "-", "color": FAINT, "linewidth": pt(0.5), "shrinkA": 0, "shrinkB": pt(3)},
    )


def _around(point: Any, half: float) -> Bbox:
    from matplotlib.transforms import Bbox

    return Bbox.from_extents(point[0] - half, point[1] - half, point[0] + half, point[1] + half)


def _along(line: Values, step: float) -> Values:
    """Return points along a line of several, at most so far apart."""
    parts = [line[:1]]
    for a, b in itertools.pairwise(line):
        n = max(1, math.ceil(math.dist(a, b) / step))
        parts.append(a + (b - a) * np.linspace(0, 1, n + 1)[1:, None])
    return np.concatenate(parts)
