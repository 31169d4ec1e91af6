"""What stands around the Axes: title, source and legend above, clear of the data; texts below and beside."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bayesbias.figures.style import no_glyph_warnings, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def _room(ax: Axes) -> float:
    """Return the width that the Axes will have, in points.

    Where a layout engine is still to make room for labels, they are measured.
    """
    figure = ax.get_figure(root=True)
    assert figure is not None
    width = float(figure.get_size_inches()[0] * 72)
    if figure.get_layout_engine() is None or len(figure.axes) > 1:
        return width * float(ax.get_position().width)
    with no_glyph_warnings():
        around = ax.get_tightbbox()
    assert around is not None
    return max(0.4 * width, width - (around.width - ax.bbox.width) * 72 / figure.dpi - 8)


def _room_across(axes: Sequence[Axes]) -> float:
    """Return the width from the left edge of the first Axes to the right edge of the figure, in points."""
    figure = axes[0].get_figure(root=True)
    assert figure is not None
    with no_glyph_warnings():
        labels = axes[0].get_tightbbox()
    assert labels is not None
    beside = max(0.0, axes[0].bbox.x0 - labels.x0) * 72 / figure.dpi
    return float(figure.get_size_inches()[0] * 72 - beside - 8)


def add_headings(ax: Axes, title: str, said: str, handles: list[Any], *, across: Sequence[Axes] = ()) -> None:
    """Put title, source and legend above the Axes, each below the other, clear of the data.

    They may reach `across` the Axes at its right.
    """
    room = _room(ax) if len(across) < 2 else _room_across(across)
    for columns in range(len(handles), 0, -1):
        legend = ax.legend(
            handles=handles,
            loc="lower left",
            bbox_to_anchor=(0, 1),
            ncols=columns,
            borderaxespad=0.2,
            borderpad=0.1,
            columnspacing=1.4,
            handlelength=2.2,
            handletextpad=0.6,
        )
        figure = ax.get_figure(root=True)
        assert figure is not None
        if legend.get_window_extent().width * 72 / figure.dpi <= room + 4:
            break
    lines = -(-len(handles) // columns)
    above = 4 + 12.5 * lines
    wrapped = textwrap.wrap(said, max(20, int(room / 4.3))) or [""]
    note = ax.annotate(
        "\n".join(plain(line, len(line)) for line in wrapped),
        (0, 1),
        (0, above + 3),
        xycoords="axes fraction",
        textcoords="offset points",
        ha="left",
        va="bottom",
        fontsize=8,
        linespacing=1.25,
        annotation_clip=False,
    )
    titled = "\n".join(textwrap.wrap(plain(title, len(title)), max(20, int(room / 5.4))))
    ax.set_title(titled, loc="left", pad=above + 6 + 11.5 * len(wrapped))
    # Long names of rows leave a narrow Axes, and layouts make no room for the width of a label below it.
    ax.set_xlabel("\n".join(textwrap.wrap(ax.get_xlabel(), max(20, int(room / 4.3)))))
    if len(across) > 1:
        # The title makes room above; in the width the layout would push the neighbour away.
        for artist in (legend, note):
            artist.set_in_layout(False)


def name_x(ax: Axes, text: str) -> None:
    """Write the name of the x-axis in the size that all figures use."""
    ax.set_xlabel(plain(text, len(text)), fontsize=8.5)


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
    """Write right of the Axes, `shift` points away: beside a row, or `up` points above the Axes."""
    ax.annotate(
        text,
        (1, 1 if row is None else row),
        (shift, up),
        xycoords="axes fraction" if row is None else ax.get_yaxis_transform(),
        textcoords="offset points",
        va="bottom" if row is None else "center",
        fontsize=size,
        annotation_clip=False,
        **{"ha": "left"} | style,
    )
