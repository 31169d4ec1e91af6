"""What stands around the Axes: title, source and legend above, clear of the data; texts below and beside.

Lengths are points of the style ``report``, as everywhere; in a journal title and source are left out.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bayesbias.plots import fonts
from bayesbias.plots.data import give_data
from bayesbias.plots.style import make_room, no_glyph_warnings, plain, pt, style_now

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.legend import Legend
    from matplotlib.text import Text


_HEAD = 66.0  # points that sizes of figures reckon with for title, source and legend
_LETTER, _TITLE_LETTER = 4.3, 5.4  # points of width, on average


def _room(ax: Axes) -> float:
    """Return the width that the Axes will have.

    Where a layout engine is still to make room for labels, they are measured.
    """
    figure = ax.get_figure(root=True)
    assert figure is not None
    width = float(figure.get_size_inches()[0] * 72) / pt(1.0)
    if figure.get_layout_engine() is None or len(figure.axes) > 1:
        return width * float(ax.get_position().width)
    with no_glyph_warnings():
        around = ax.get_tightbbox()
    assert around is not None
    return max(0.4 * width, width - (around.width - ax.bbox.width) * 72 / figure.dpi / pt(1.0) - 8)


def _room_across(axes: Sequence[Axes]) -> float:
    """Return the width from the left edge of the first Axes to the right edge of the figure."""
    figure = axes[0].get_figure(root=True)
    assert figure is not None
    with no_glyph_warnings():
        labels = axes[0].get_tightbbox()
    assert labels is not None
    beside = max(0.0, axes[0].bbox.x0 - labels.x0) * 72 / figure.dpi
    return float(figure.get_size_inches()[0] * 72 - beside) / pt(1.0) - 8


def add_headings(
    ax: Axes,
    title: str,
    subtitle: str,
    handles: list[Any],
    data: pd.DataFrame,
    *,
    across: Sequence[Axes] = (),
) -> None:
    """Put title, source and legend above the Axes, each below the other, clear of the data.

    They may reach `across` the Axes at its right. A figure that was made here grows where they need more lines than its
    size reckons with. The Axes get the `data` that they show.
    """
    give_data(across or [ax], data, title, subtitle)
    figure = ax.get_figure(root=True)
    assert figure is not None
    if len(across) < 2:
        fonts.cover(ax.get_yticklabels())  # their width is measured
    room = _room(ax) if len(across) < 2 else _room_across(across)
    legend, lines = _add_legend(ax, handles, room)
    around: list[Any] = [legend]
    above = 4 + 12.5 * lines
    if style_now().headed:
        wrapped = textwrap.wrap(subtitle, max(20, int(room / _LETTER))) or [""]
        note = ax.annotate(
            "\n".join(plain(line, len(line)) for line in wrapped),
            (0, 1),
            (0, pt(above + 3)),
            xycoords="axes fraction",
            textcoords="offset points",
            ha="left",
            va="bottom",
            fontsize=pt(8),
            linespacing=1.25,
            annotation_clip=False,
        )
        titled = textwrap.wrap(plain(title, len(title)), max(20, int(room / _TITLE_LETTER)))
        above += 6 + 11.5 * len(wrapped)
        ax.set_title("\n".join(titled), loc="left", pad=pt(above))
        above += 13 * len(titled)
        around.append(note)
    _space_ticks(ax, room)
    # Long names of rows leave a narrow Axes, and layouts make no room for the width of a label below it.
    below = textwrap.wrap(ax.get_xlabel(), max(20, int(room / _LETTER)))
    ax.set_xlabel("\n".join(below))
    make_room(figure, pt(above - _HEAD + 11.5 * max(len(below) - 1, 0)))
    if len(across) > 1:
        # The title makes room above; in the width the layout would push the neighbour away.
        for artist in around:
            artist.set_in_layout(False)


def _space_ticks(ax: Axes, room: float) -> None:
    """Leave out ticks of a narrow Axes, whose numbers would run together."""
    from matplotlib.ticker import AutoLocator, MaxNLocator

    if room < 250 and isinstance(ax.xaxis.get_major_locator(), AutoLocator):
        ax.xaxis.set_major_locator(MaxNLocator(max(2, int(room / 32)), steps=[1, 2, 2.5, 5, 10]))


def _add_legend(ax: Axes, handles: list[Any], room: float) -> tuple[Legend, int]:
    """Put the legend above the Axes, with as many columns as there is room for, to be read row by row.

    Return it, and how many rows it has.
    """
    figure = ax.get_figure(root=True)
    assert figure is not None
    for columns in range(len(handles), 0, -1):
        legend = ax.legend(
            # matplotlib fills column after column.
            handles=[handle for first in range(columns) for handle in handles[first::columns]],
            loc="lower left",
            bbox_to_anchor=(0, 1),
            ncols=columns,
            borderaxespad=0.2,
            borderpad=0.1,
            columnspacing=1.4,
            handlelength=2.2,
            handletextpad=0.6,
        )
        fonts.cover(legend.get_texts())
        if legend.get_window_extent().width * 72 / figure.dpi <= pt(room + 4):
            break
    else:
        return legend, sum(_wrap(text, room) for text in legend.get_texts())
    return legend, -(-len(handles) // columns)


def _wrap(text: Text, room: float) -> int:
    """Break the text of a legend of one column where it is too long for that; return how many lines it has."""
    # A sign of dollars is escaped again: a break between it and its stroke would begin a formula.
    lines = textwrap.wrap(text.get_text().replace(r"\$", "$"), max(16, int((room - 24) / _LETTER)))
    text.set_text("\n".join(lines).replace("$", r"\$"))
    return len(lines)


def name_x(ax: Axes, text: str) -> None:
    """Write the name of the x-axis in the size that all figures use."""
    ax.set_xlabel(plain(text, len(text)), fontsize=pt(8.5))


def write_aside(
    ax: Axes,
    row: float | None,
    text: str,
    size: float = 8.0,
    *,
    shift: float = 6.0,
    up: float = 0.0,
    **style: Any,
) -> None:
    """Write right of the Axes in letters of `size`, `shift` points away: beside a row, or `up` points above the Axes."""
    ax.annotate(
        text,
        (1, 1 if row is None else row),
        (pt(shift), pt(up)),
        xycoords="axes fraction" if row is None else ax.get_yaxis_transform(),
        textcoords="offset points",
        va="bottom" if row is None else "center",
        fontsize=pt(size),
        annotation_clip=False,
        **{"ha": "left"} | style,
    )
