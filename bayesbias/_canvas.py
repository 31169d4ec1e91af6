"""What all figures share: style, sizes, rows and their labels, headings, marks, and writing files.

Fonts, sizes and colours are set for the artists drawn here and for nothing else. Colours are those of Okabe
and Ito (2008), which the colour-blind can tell apart; they also differ in grey, and every connection has a
marker of its own. Words are drawn as they are written: a ``$`` starts no formula.
"""

from __future__ import annotations

import contextlib
import functools
import io
import os
import textwrap
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias._resources import whole_file
from bayesbias.errors import InputError, nearest
from bayesbias.spec import ModelSpec

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


# Okabe and Ito, Color Universal Design (2008): vermillion, blue, reddish purple; the fourth is a dark grey
# in place of their black. Their luminances (119, 87, 151, 64 of 255) keep neighbours apart in grey print.
COLOUR = {"associated": "#D55E00", "different": "#0072B2", "human": "#CC79A7", "neutral": "#404040"}
MARKER = {"associated": "o", "different": "s", "human": "^", "neutral": "D"}
INK = "#222222"
FAINT = "#767676"
_BAND = "#F3F3F3"
WIDTH = 7.0  # inches: two columns of a journal
HEAD = 0.75  # height of a heading, in rows
PAGE = 9.4  # inches: the text of a page, with room for a caption
ROOM_AROUND = 1.4  # inches for title, legend and axis
_TALLEST = 100.0  # inches; a PNG cannot hold more than 65,535 rows of pixels
# A plain dict of Any: matplotlib's own type of it lists every setting there is.
_STYLE: Any = {
    "font.size": 8,
    "axes.titlesize": 9.5,
    "axes.titleweight": "bold",
    "axes.titlecolor": INK,
    "axes.labelsize": 8.5,
    "axes.labelcolor": INK,
    "axes.edgecolor": INK,
    "axes.facecolor": "white",
    "axes.linewidth": 0.7,
    "axes.grid": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "figure.facecolor": "white",
    "legend.fontsize": 8,
    "legend.frameon": False,
    "text.color": INK,
    "text.parse_math": True,  # `plain` escapes for it, so it must not be off
    "text.usetex": False,
    "xtick.color": INK,
    "xtick.labelsize": 8,
    "ytick.color": INK,
    "ytick.labelsize": 8,
    "hatch.linewidth": 0.5,
}
_FORMATS = ("pdf", "png", "svg")
OUTCOME = {"distance": "cosine distance (0 = same direction, 1 = unrelated, 2 = opposite)"}
ESTIMAND = {"population": "population: new words like these", "these_words": "these words only"}
# At the level of classes and words the protected words keep their own effects; only attributes are new.
ESTIMAND_WITHIN = ESTIMAND | {"population": "population: new attributes like these"}


def styled[**P, T](function: Callable[P, T]) -> Callable[P, T]:
    """Run `function` under the style of the package, and leave matplotlib's settings as they were."""

    @functools.wraps(function)
    def inner(*args: P.args, **kwargs: P.kwargs) -> T:
        import matplotlib as mpl

        if kwargs.get("ax") is None and function.__name__.startswith("plot_"):
            import matplotlib.pyplot as plt

            # A notebook sets itself up when the backend is first loaded; within the context below that would be undone
            # and later figures not shown. With no figure open there is none that loading could close.
            if not plt.get_fignums():
                plt.switch_backend(mpl.get_backend())
        with mpl.rc_context(_STYLE):
            return function(*args, **kwargs)

    return inner


type Plot = tuple[Callable[[Figure], object], tuple[float, float]]  # what draws, and inches


# -- files -----------------------------------------------------------------------------------------


@styled
def write_figures(
    plots: Mapping[str, Plot], folder: str | os.PathLike[str], formats: str | Iterable[str]
) -> list[Path]:
    """Draw figures and write them into a folder, all or none; return the paths, figure by figure.

    Parameters
    ----------
    plots : mapping of str to (function, size)
        Name of the file -> what draws on the figure it is given, and its size in inches.
    folder : path
    formats : str or iterable of str
        Of ``pdf``, ``png`` and ``svg``.

    Raises
    ------
    InputError
        For an unknown format, or where the folder cannot be written.
    """
    from matplotlib.figure import Figure

    wanted = (formats,) if isinstance(formats, str) else tuple(dict.fromkeys(formats))
    for kind in wanted:
        if kind not in _FORMATS:
            hint = nearest(str(kind).strip("."), _FORMATS)
            raise InputError("unknown figure format", found=kind, valid=_FORMATS, hint=hint)
    folder = Path(folder)
    if folder.exists() and not folder.is_dir():
        raise InputError("is a file, not a folder", where=folder)
    made: dict[Path, bytes] = {}
    for name, (draw, size) in plots.items():
        figure = Figure(figsize=size, layout="constrained")
        draw(figure)
        # Laid out once, so that each format has the same places and takes half the time.
        engine = figure.get_layout_engine()
        assert engine is not None
        with _no_glyph_warnings():
            for _ in range(2):  # labels may take less room once the Axes have moved
                engine.execute(figure)
        figure.set_layout_engine("none")
        for kind in wanted:
            made[folder / f"{name}.{kind}"] = rendered(figure, kind)
    with _nothing_new_left(folder, made):
        for path, content in made.items():
            with whole_file(path) as temporary:
                temporary.write_bytes(content)
    return list(made)


@contextlib.contextmanager
def _nothing_new_left(folder: Path, files: Iterable[Path]) -> Iterator[None]:
    """Where the block fails, remove the files and folders that were not there before it."""
    new = [path for path in files if not path.exists()]
    made = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        yield
    except BaseException:
        for path in new:
            path.unlink(missing_ok=True)
        for path in made:
            # Not there, or something else has been put in since: then it is not ours to remove.
            with contextlib.suppress(OSError):
                path.rmdir()
        raise


def rendered(figure: Figure, kind: str) -> bytes:
    """Return the bytes of a figure: the same for the same figure, on any day."""
    import matplotlib as mpl

    settings: Any = {**_STYLE, "svg.fonttype": "none", "svg.hashsalt": "bayesbias", "pdf.fonttype": 42}
    undated = {"png": {"Software": None}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}
    buffer = io.BytesIO()
    with mpl.rc_context(settings), _no_glyph_warnings():
        figure.savefig(buffer, format=kind, dpi=200, facecolor="white", metadata=undated[kind])
    return buffer.getvalue()


# -- sizes, in inches ------------------------------------------------------------------------------


def size_ridges(n: int) -> tuple[float, float]:
    return WIDTH, 1.35 + 0.78 * n


def size_rows(rows: float, roomy: float, tight: float) -> tuple[float, float]:
    """Rows are roomy while a page lasts; then they shrink, and beyond that the figure grows."""
    return WIDTH, min(
        ROOM_AROUND + rows * float(np.clip((PAGE - ROOM_AROUND) / rows, tight, roomy)), _TALLEST
    )


# -- rows ------------------------------------------------------------------------------------------


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
    ax.set_ylim(len(names) - 0.45, -0.55)
    ax.set_xlim(*span)
    name_rows(ax, range(len(names)), names)
    ax.tick_params(axis="y", length=0, labelsize=8.5)
    ax.tick_params(axis="x", labelsize=8)


def name_rows(ax: Axes, rows: Sequence[float], names: Sequence[str]) -> None:
    ax.set_yticks(rows, labels=[plain(name) for name in names])
    for label in ax.get_yticklabels():  # ticks of a user's Axes may be older than our settings
        label.set_parse_math(True)
        label.set_usetex(False)


def row_axis(
    ax: Axes,
    labels: list[tuple[float, str]],
    heads: list[tuple[float, str]],
    span: tuple[float, float],
    *,
    inside: bool = False,
    longest: float = 0.0,
) -> float:
    """Label the rows, heading by heading; return the height of a row in points.

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
    ax.tick_params(axis="y", length=0, labelsize=size)
    ax.tick_params(axis="x", labelsize=8)
    for tick, (_, _, head) in zip(ax.get_yticklabels(), ticks, strict=True):
        if head:
            tick.set_fontweight("bold")
    for at, label in heads:
        if at > HEAD:
            ax.axhline(at - HEAD / 2, color=FAINT, linewidth=0.6, zorder=0.5)
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
        (4, 0),
        xycoords=ax.get_yaxis_transform(),
        textcoords="offset points",
        va="center",
        fontsize=size,
        fontweight="bold",
        bbox={"facecolor": "white", "linewidth": 0, "pad": 1},  # no dotted line through the name
        annotation_clip=False,
    )


# -- axes and headings -----------------------------------------------------------------------------


def axes_or_new(ax: Axes | None, size: tuple[float, float]) -> Axes:
    """Return the Axes given, or those of a new pyplot figure, which a notebook shows and a script can `show`."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=size, layout="constrained")[1]


def height_of(ax: Axes) -> float:
    """Height of the Axes in points, as far as it is known before the layout."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    return float(ax.get_position().height * figure.get_size_inches()[1] * 72)


def _room(ax: Axes) -> float:
    """Return the width that the Axes will have, in points.

    Where a layout engine is still to make room for labels, they are measured.
    """
    figure = ax.get_figure(root=True)
    assert figure is not None
    width = float(figure.get_size_inches()[0] * 72)
    if figure.get_layout_engine() is None or len(figure.axes) > 1:
        return width * float(ax.get_position().width)
    with _no_glyph_warnings():
        around = ax.get_tightbbox()
    assert around is not None
    return max(0.4 * width, width - (around.width - ax.bbox.width) * 72 / figure.dpi - 8)


def _room_across(axes: Sequence[Axes]) -> float:
    """Return the width from the left edge of the first Axes to the right edge of the figure, in points."""
    figure = axes[0].get_figure(root=True)
    assert figure is not None
    with _no_glyph_warnings():
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


@contextlib.contextmanager
def _no_glyph_warnings() -> Iterator[None]:
    """Let a word in a script that the font lacks be drawn as boxes: no reason to draw nothing."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r"(?s).*missing from.*font", category=UserWarning)
        yield


def name_x(ax: Axes, text: str) -> None:
    ax.set_xlabel(text, fontsize=8.5)


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


def padded(low: float, high: float, spec: ModelSpec) -> tuple[float, float]:
    if spec.outcome == "distance":
        low, high = min(low, 1.0), max(high, 1.0)
    pad = 0.03 * (high - low) or 0.1
    return low - pad, high + pad


# -- marks and their handles in a legend -----------------------------------------------------------


def colour_of(connection: str) -> str:
    return COLOUR.get(connection, FAINT)


def draw_interval(ax: Axes, ends: tuple[float, float], y: float, connection: str, width: float) -> None:
    """Draw an interval with a white edge, to be seen above a cloud of points of its colour."""
    ax.plot(
        ends, (y, y), color="white", linewidth=width + 0.9, zorder=3, solid_capstyle="butt", label="_edge"
    )
    ax.plot(
        ends,
        (y, y),
        color=colour_of(connection),
        linewidth=width,
        zorder=3.1,
        solid_capstyle="butt",
        label="_interval",
    )


def draw_point(ax: Axes, x: float, y: float, connection: str, size: float) -> None:
    ax.plot(
        [x],
        [y],
        marker=MARKER.get(connection, "o"),
        # A triangle covers about half of the square around it and looks small beside the others.
        markersize=1.25 * size if MARKER.get(connection) == "^" else size,
        color=colour_of(connection),
        markeredgecolor="white",
        markeredgewidth=min(0.7, 0.15 * size),
        linestyle="none",
        zorder=4,
        label=f"_mean {connection}",
    )


def mark_one(ax: Axes, spec: ModelSpec) -> None:
    if spec.outcome == "distance":
        ax.axvline(1, color=INK, linewidth=0.8, linestyle=(0, (1, 1.5)), zorder=1, label="_no similarity")


def one_handle(spec: ModelSpec) -> list[Any]:
    return (
        [line_handle(INK, "1 = no similarity", width=0.8, style=(0, (1, 1.5)))]
        if spec.outcome == "distance"
        else []
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
    from matplotlib.lines import Line2D

    look: dict[str, Any] = {"color": colour, "marker": marker, "markersize": size} | marker_style
    return Line2D([], [], **look | {"linestyle": style, "linewidth": width, "label": label})


def patch_handle(
    colour: str, label: str, alpha: float = 1.0, hatch: str | None = None, edge: str = "none"
) -> Any:
    from matplotlib.patches import Patch

    return Patch(facecolor=colour, label=label, alpha=alpha, hatch=hatch, edgecolor=edge, linewidth=0)


def contrast_colour(estimand: str) -> str:
    return COLOUR["different"] if estimand == "population" else COLOUR["associated"]


def contrast_marker(estimand: str, size: float) -> dict[str, Any]:
    population = estimand == "population"
    return {
        "marker": "o" if population else "D",
        "markersize": size if population else 0.85 * size,
        "color": contrast_colour(estimand),
        "markerfacecolor": contrast_colour(estimand) if population else "white",
        "markeredgewidth": 1.1,
        "linestyle": "none",
    }


# -- densities -------------------------------------------------------------------------------------


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
    low = min(float(np.quantile(values, tail)) for values in arrays)
    high = max(float(np.quantile(values, 1 - tail)) for values in arrays)
    return (low, high) if high > low else (low - 0.5, high + 0.5)


# -- words -----------------------------------------------------------------------------------------


def plain(text: str, longest: int = 32) -> str:
    """Return text that matplotlib draws as written: no formula, no line breaks, not endlessly long."""
    text = " ".join(text.split())
    text = text if len(text) <= longest else text[: longest - 1] + "…"
    return text.replace("$", r"\$")


def minus(contrast: str) -> str:
    return contrast.replace(" - ", " − ")


def as_percent(prob: float) -> str:
    return f"{100 * prob:g}%"


def outcome_label(spec: ModelSpec) -> str:
    return OUTCOME.get(spec.outcome, spec.outcome.replace("_", " "))
