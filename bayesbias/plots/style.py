"""The look of all figures: colors, sizes, settings, and what stands around the Axes.

Colors are those of Okabe and Ito (2008). They can be told apart by color-blind readers and in gray
print, and every connection has a marker of its own. Words are drawn as they are written: a ``$``
starts no formula.
"""

import contextlib
import contextvars
import dataclasses
import functools
import io
import math
import textwrap
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, override

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib import font_manager
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.path import Path as MplPath
from matplotlib.ticker import AutoLocator
from matplotlib.transforms import Bbox, ScaledTranslation

from bayesbias.core import checks
from bayesbias.core.files import write_whole
from bayesbias.core.formatting import format_value, literal
from bayesbias.plots.glyphs import missing_glyphs_once

COLOR = {"associated": "#D55E00", "different": "#0072B2", "human": "#CC79A7", "neutral": "#404040"}
MARKER = {"associated": "o", "different": "s", "human": "^", "neutral": "D"}
INK, FAINT, SHADE, ROPE_GRAY = "#222222", "#767676", "#F3F3F3", "#D9D9D9"
DOTTED = (0, (1, 1.5))
HATCHED: dict[str, Any] = {"facecolor": "#E4E4E4", "edgecolor": "#B5B5B5", "hatch": "////"}
WIDTH = 7.0  # inches: two columns of a journal
AROUND = 1.4  # inches of height for title, legend and axis
DPI = 200
_PAGE = 9.4  # inches of height of a page
_FALLBACKS = (
    "DejaVu Sans", "Noto Sans", "Noto Sans CJK SC", "Noto Sans CJK JP", "PingFang SC",
    "Hiragino Sans", "Microsoft YaHei", "Malgun Gothic", "WenQuanYi Zen Hei", "Droid Sans Fallback",
    "Noto Sans Devanagari", "Arial Unicode MS",
)  # fmt: skip


@dataclasses.dataclass(frozen=True)
class FigureStyle:
    """What a figure is printed for.

    Attributes
    ----------
    width : float
        Millimeters.
    text : float
        Points of ordinary text.
    titled : bool
        Whether title and source stand above the figure. In a journal they belong in the caption.
    """

    width: float
    text: float
    titled: bool


STYLES = {
    "report": FigureStyle(177.8, 8.0, True),
    # One column of Nature: 89 mm wide, text of 5 to 7 points.
    "journal": FigureStyle(89.0, 7.0, False),
}
_NOW = contextvars.ContextVar("figure_style", default=STYLES["report"])


@contextlib.contextmanager
def figure_style(style: str | None = None, *, width: float | None = None) -> Iterator[FigureStyle]:
    """Draw all figures of a block for a report or a journal.

    Text keeps its size whatever the width, so print a figure as it is saved.

    Parameters
    ----------
    style : {"report", "journal"}, optional
        ``report`` is 178 mm wide with text of 8 points. ``journal`` is 89 mm wide with text of 7
        points, without title and source. Both are in ``ax.data.attrs`` for the caption. By default
        the style in force.
    width : float, optional
        Millimeters, from 40 to 2000; by default that of the style.

    Yields
    ------
    FigureStyle

    Raises
    ------
    InputError
        If the style is unknown or the width is out of range.

    Examples
    --------
    >>> import bayesbias as bb
    >>> with bb.plots.figure_style("journal", width=120):
    ...     ax = bb.plot_priors("crossed")
    ...     round(ax.figure.get_size_inches()[0] * 25.4)
    120
    """
    chosen = _NOW.get()
    if style is not None:
        chosen = STYLES[checks.choice(style, STYLES, "style")]
    if width is not None:
        checks.within(width, "width", 40.0, 2000.0)
        chosen = dataclasses.replace(chosen, width=float(width))
    token = _NOW.set(chosen)
    try:
        with mpl.rc_context({"pdf.fonttype": 42, "svg.fonttype": "none"}):
            yield chosen
    finally:
        _NOW.reset(token)


def pt(points: float) -> float:
    """Scale a length in points from the text of 8 points to that of the style in force."""
    return points * _NOW.get().text / 8.0


def across() -> float:
    """Return the width of a figure in inches, as if its text had 8 points."""
    return _NOW.get().width / 25.4 / pt(1.0)


def settings() -> dict[str, Any]:
    """Return matplotlib's settings for the style in force."""
    known = set(font_manager.get_font_names())
    sizes = ("font.size", "legend.fontsize", "xtick.labelsize", "ytick.labelsize")
    inks = ("text", "xtick", "ytick", "axes.title", "axes.label", "axes.edge")
    return {
        "font.family": [*mpl.rcParams["font.family"], *(f for f in _FALLBACKS if f in known)],
        **dict.fromkeys(sizes, pt(8)),
        **{f"{of}{'' if '.' in of else '.'}color": INK for of in inks},
        **dict.fromkeys(("axes.facecolor", "figure.facecolor"), "white"),
        **dict.fromkeys(("axes.grid", "axes.spines.top", "axes.spines.right"), False),
        "axes.titlesize": pt(9.5),
        "axes.titleweight": "bold",
        "axes.labelsize": pt(8.5),
        "axes.linewidth": 0.7,
        "legend.frameon": False,
        "lines.solid_capstyle": "butt",
        "text.parse_math": True,  # `plain` escapes for it
        "text.usetex": False,
        "hatch.linewidth": 0.5,
    }


def styled[**P, T](function: Callable[P, T]) -> Callable[P, T]:
    """Run a function with our settings of matplotlib, and leave the caller's as they were."""

    @functools.wraps(function)
    def inner(*args: P.args, **kwargs: P.kwargs) -> T:
        if kwargs.get("ax") is None:
            import matplotlib.pyplot as plt

            # A notebook sets itself up when the backend first loads, which the context below would
            # undo.
            if not plt.get_fignums():
                plt.switch_backend(mpl.get_backend())
        with mpl.rc_context(settings()), missing_glyphs_once():
            return function(*args, **kwargs)

    return inner


def save_figure(figure: Figure, path: checks.FilePath) -> Path:
    """Write a figure to a file, atomically and with reproducible bytes.

    Parameters
    ----------
    figure : matplotlib Figure
        The figure to write.
    path : path
        Ends in ``.png`` (200 dpi), ``.pdf`` or ``.svg``, both with their text as text.

    Returns
    -------
    Path

    Raises
    ------
    InputError
        If the format is unknown or the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> import bayesbias as bb
    >>> ax = bb.plot_priors("crossed")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     bb.plots.save_figure(ax.figure, f"{folder}/priors.svg").name
    'priors.svg'
    """
    path = Path(checks.path(path, "path", "the path of a file"))
    undated: Any = {"png": "Software", "svg": "Date", "pdf": "CreationDate"}
    kind = checks.choice(path.suffix[1:], undated, "path, ending")
    fixed = {"svg.fonttype": "none", "svg.hashsalt": "bayesbias", "pdf.fonttype": 42}
    buffer = io.BytesIO()
    with mpl.rc_context(fixed), missing_glyphs_once():
        figure.savefig(buffer, format=kind, dpi=DPI, metadata={undated[kind]: None})
    write_whole(path, buffer.getvalue())
    return path


def axes_for(
    ax: Axes | None, height: float, width: float = WIDTH, n: int = 1, **shared: Any
) -> list[Axes]:
    """Return the caller's Axes, or `n` side by side on a new figure of a size in inches."""
    import matplotlib.pyplot as plt

    if ax is not None:
        return [checks.instance(ax, Axes, "ax", "Axes of matplotlib")]
    size = (width * across() / WIDTH * pt(1.0), min(height, 100) * pt(1.0))
    figure = plt.figure(figsize=size, layout="constrained")
    kind = {"axes_class": TitledAxes}
    return list(figure.subplots(1, n, squeeze=False, subplot_kw=kind, **shared)[0])


class TitledAxes(Axes):
    """Axes made here: their title stands at the left, above legend and source."""

    above = 6.0  # points of the title over the Axes

    def __repr__(self) -> str:
        title = self.get_title(loc="left").replace(r"\$", "$")
        if not title and hasattr(self, "data"):  # one of several, or in a journal
            title = self.data.attrs["title"]
        return f"Axes: {' '.join(title.split())}" if title else "Axes"

    @override
    def set_title(
        self, label: str, fontdict: Any = None, loc: Any = None, pad: Any = None, **kwargs: Any
    ) -> Any:
        """Set the title in the place of ours, so that one set later replaces it."""
        return super().set_title(
            label, fontdict, loc or "left", self.above if pad is None else pad, **kwargs
        )


def rows_height(rows: float, roomy: float, tight: float) -> float:
    """Return the height of a figure of rows: roomy while a page lasts, then down to tight ones."""
    return AROUND + rows * min(max((_PAGE - AROUND) / rows, tight), roomy)


def points_per(ax: Axes, rows: float) -> float:
    """Return the height of a row in points, as far as it is known before the layout."""
    figure = ax.get_figure(root=True)
    height = figure.get_size_inches()[1] * 72 / pt(1.0)
    axes_height = (
        height - 72 * AROUND if isinstance(ax, TitledAxes) else height * ax.get_position().height
    )
    return float(max(axes_height, 20) / rows)


def show_x(ax: Axes, *values: float) -> None:
    """Let the limits of x show all that is drawn, and some values."""
    ax.update_datalim([(value, 0.0) for value in values], updatey=False)
    ax.autoscale_view(scaley=False)  # of shared Axes it looks at all


def plain(text: str, longest: int = 32) -> str:
    """Return text that matplotlib draws as written, cut in the middle where it is too long."""
    clean = literal(" ".join(text.split()))
    if len(clean) > longest:
        half = longest // 2
        clean = f"{clean[: longest - 1 - half].rstrip()}…{clean[-half:].lstrip()}"
    return clean.replace("$", r"\$")


def name_rows(
    ax: Axes, rows: Sequence[float], names: Sequence[str], size: float, lines: int = 1
) -> None:
    """Label rows with words as they are; long names take more lines, or are cut in the middle.

    Names that would be the same when cut take as many lines as they need, if one row has room for
    several.
    """
    longest = int(min(32.0, 0.36 * 72 * across() / 4.4))
    wrapped = [textwrap.wrap(name, longest) for name in names]
    short = [
        "\n".join(plain(part, longest) for part in (parts if len(parts) <= lines else [name]))
        for name, parts in zip(names, wrapped, strict=True)
    ]
    if len(set(short)) < len(set(names)):  # cut words must still be told apart
        whole = ["\n".join(plain(part, longest) for part in parts) for parts in wrapped]
        short = whole if lines > 1 else [plain(name, 200) for name in names]
    ax.set_yticks(list(rows), labels=short)
    ax.tick_params(axis="y", length=0, labelsize=pt(size))


def line_handle(color: str, label: str, marker: str | None = None, **look: Any) -> Any:
    """Make a legend entry with a line, a marker, or both."""
    look = {"linewidth": 1.2, "markersize": 5} | look
    return Line2D([], [], color=color, marker=marker, label=_entry(label), **look)


def patch_handle(label: str, **look: Any) -> Any:
    """Make a legend entry with a filled area."""
    return Patch(label=_entry(label), **{"linewidth": 0, **look})


def _entry(label: str) -> str:
    """Return the text of an entry; matplotlib leaves out entries that begin with an underscore."""
    text = plain(label, len(label))
    return f" {text}" if text.startswith("_") else text


def number(value: float, digits: int = 3, *, signed: bool = False) -> str:
    """Write a number with a true minus."""
    return format_value(value, "signed" if signed else "number", digits).replace("-", "−")


def estimate(row: Any, digits: int = 3, *, signed: bool = False, between: str = "\n") -> str:
    """Write mean and interval of a row of estimates."""
    mean, low, high = (
        number(each, digits, signed=signed) for each in (row.mean, row.hpdi_low, row.hpdi_high)
    )
    return f"{mean}{between}[{low}, {high}]"


def write_aside(
    ax: Axes,
    row: float | None,
    text: str,
    size: float = 8.0,
    *,
    x: float = 1.0,
    shift: float = 6.0,
    up: float = 4.0,
    **look: Any,
) -> None:
    """Write beside the Axes, some points from an edge (1: right), at a row or above (None)."""
    above = row is None
    ax.annotate(
        text,
        (x, 1 if row is None else row),
        (pt(shift), pt(up) if above else 0),
        xycoords="axes fraction" if above else ax.get_yaxis_transform(),
        textcoords="offset points",
        va="bottom" if above else "center",
        fontsize=pt(size),
        annotation_clip=False,
        **{"ha": "left"} | look,
    )


def finish(
    axes: Sequence[Axes], title: str, note: str, handles: list[Any], data: pd.DataFrame
) -> Axes:
    """Attach the data, and write title, source and legend.

    They stand above the Axes of a figure that was made here. On the caller's Axes the title is
    matplotlib's own, so that ``ax.set_title`` replaces it, and the legend stands below.
    """
    first, titled, alone = axes[0], _NOW.get().titled, len(axes) == 1
    figure = first.get_figure(root=True)
    ours = isinstance(first, TitledAxes)
    data = data.reset_index(drop=True)
    data.attrs = {"title": title, "note": note}
    room = _room(axes)
    each = room / len(axes)

    def wrapped(text: str, width: float, letter: float = 4.3) -> str:
        return "\n".join(textwrap.wrap(plain(text, len(text)), max(20, int(width / letter))))

    for ax in axes:
        ax.data = data
        automatic = isinstance(ax.xaxis.get_major_locator(), AutoLocator)
        if automatic and each < (250 if ours else 330):
            ax.locator_params(axis="x", nbins=max(2, int(each / 45)))
        ax.set_xlabel(wrapped(ax.get_xlabel().replace(r"\$", "$"), each))
    title = wrapped(title, room, 5.4)
    legend, lines = _legend(first, handles, room, below=not ours)
    if not isinstance(first, TitledAxes):
        first.set_title(title)
        return first
    above = 4 + 12.5 * lines
    if titled:
        note = wrapped(note, room)
        place = (0, 1), (0, pt(above + 3)), "axes fraction", "offset points"
        source = first.annotate(note, *place, va="bottom", linespacing=1.25, annotation_clip=False)
        source.set_in_layout(alone)
        above += 17.5 + 11.5 * note.count("\n")
    first.above = pt(above)
    if titled:
        first.set_title(title)
        above += 13 * (title.count("\n") + 1)
    legend.set_in_layout(alone)  # or the layout would push the neighbors away
    width, height = figure.get_size_inches()
    below = max(len(ax.get_xlabel().splitlines()) for ax in axes)
    grow = above - 66 + 11.5 * (below - 1)  # sizes of figures reckon with 66 points
    if grow > 0 or not titled:
        height += pt(grow) / 72
        figure.set_size_inches(width, height)
    if not (alone or titled):  # nothing else keeps room for the legend
        figure.get_layout_engine().set(rect=(0, 0, 1, 1 - pt(above) / 72 / height))
    return first


def _room(axes: Sequence[Axes]) -> float:
    """Return the width for title and legend in points.

    That of the Axes, or up to the right edge.
    """
    figure = axes[0].get_figure(root=True)
    width = float(figure.get_size_inches()[0] * 72) / pt(1.0)
    scale = 72 / figure.dpi / pt(1.0)
    box = axes[0].get_tightbbox()
    left = max(0.0, axes[0].bbox.x0 - box.x0) * scale
    if not isinstance(axes[0], TitledAxes):
        return axes[0].bbox.width * scale
    right = max(0.0, box.x1 - axes[0].bbox.x1) * scale if len(axes) == 1 else 0.0
    return max(0.4 * width, width - left - right - 8)


def _legend(ax: Axes, handles: list[Any], room: float, below: bool = False) -> tuple[Any, int]:
    """Put the legend outside, with as many columns as there is room for.

    Return it and its lines.
    """
    figure = ax.get_figure(root=True)
    low = ax.get_tightbbox().y0 - ax.bbox.y0  # what stands below the Axes
    down = ScaledTranslation(0, (low - 4) / figure.dpi, figure.dpi_scale_trans)
    place = {
        "loc": "upper left" if below else "lower left",
        "bbox_to_anchor": (0, 0) if below else (0, 1),
        "bbox_transform": ax.transAxes + down if below else ax.transAxes,
    }
    space = {"borderaxespad": 0.2, "borderpad": 0.1, "columnspacing": 1.4, "handlelength": 2.2}
    for columns in range(len(handles), 0, -1):
        if columns == 1:
            for handle in handles:
                text = handle.get_label().replace(r"\$", "$")
                wrapped = "\n".join(textwrap.wrap(text, max(16, int((room - 24) / 4.3))))
                handle.set_label(wrapped.replace("$", r"\$"))
        # matplotlib fills column after column; this reads row by row.
        ordered = [handle for start in range(columns) for handle in handles[start::columns]]
        legend = ax.legend(handles=ordered, ncols=columns, handletextpad=0.6, **space, **place)
        if legend.get_window_extent().width * 72 / figure.dpi <= pt(room - 2):
            break
    lines = [handle.get_label().count("\n") + 1 for handle in handles]
    return legend, sum(lines) if columns == 1 else math.ceil(len(handles) / columns)


def label_points(
    ax: Axes,
    x: Sequence[float],
    y: Sequence[float],
    names: Sequence[str],
    *,
    lines: Sequence[tuple[Any, Any]] = (),
    lead: Sequence[bool] | None = None,
) -> None:
    """Name points beside them, over no other point, name or line.

    Names without a place are left out.

    Tied points share a name. Those in the `lead` come first, in bold.
    """
    figure = ax.get_figure(root=True)
    figure.draw_without_rendering()  # names are placed where the points will be
    dot = pt(figure.dpi / 72)
    points = ax.transData.transform(np.column_stack([x, y]))
    taken = [Bbox([at, at]).padded(4 * dot) for at in points]
    paths = [MplPath(ax.transData.transform(np.column_stack(line))) for line in lines]
    frame = pd.DataFrame({"x": x, "y": y, "name": names, "bold": lead is not None and lead})
    place = [frame["x"].round(9), frame["y"].round(9)]
    frame["more"] = frame.groupby(place)["name"].transform("size") - 1
    frame = frame[~pd.DataFrame(place).T.duplicated()]
    for point in frame.sort_values("bold", ascending=False, kind="stable").itertuples():
        more = f" and {point.more} more" if point.more else ""
        label = ax.annotate(
            plain(f"{point.name}{more}", 60),
            (point.x, point.y),
            (0, 0),
            textcoords="offset points",
            fontsize=pt(7.5),
            fontweight="bold" if point.bold else "normal",
            color=INK if lead is None or point.bold else FAINT,
            zorder=4,
        )
        for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1)):
            label.set_position((pt(6) * dx, pt(6) * dy * (1 if dx == 0 else 0.75)))
            label.set_ha(("center", "left", "right")[dx])
            label.set_va(("center", "bottom", "top")[dy])
            box = label.get_window_extent().padded(0.5 * dot)
            inside = ax.bbox.x0 <= box.x0 and box.x1 <= ax.bbox.x1
            inside &= ax.bbox.y0 <= box.y0 and box.y1 <= ax.bbox.y1
            near = box.padded(dot)
            crossed = any(path.intersects_bbox(near, filled=False) for path in paths)
            if inside and not crossed and not box.count_overlaps(taken):
                taken.append(box)
                break
        else:
            if not point.bold:
                label.remove()
