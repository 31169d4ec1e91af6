"""The look of all figures: for what they are printed, colours, sizes, settings, texts as matplotlib must get them.

Fonts, sizes and colours are set for the artists drawn here and for nothing else. Colours are those of Okabe
and Ito (2008), which the colour-blind can tell apart; they also differ in grey, and every connection has a
marker of its own. Words are drawn as they are written: a ``$`` starts no formula.

All lengths in the rooms of figures are those of the style ``report``: inches of a figure 7 inches wide, with text of
8 points. `pt` and `inches` bring them to the style at hand, so that no room knows what it is drawn for.
"""

from __future__ import annotations

import contextlib
import contextvars
import dataclasses
import functools
import warnings
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.core import checks
from bayesbias.core.errors import InputError
from bayesbias.core.formatting import literal
from bayesbias.plots import fonts

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["figure_style"]

# Okabe and Ito, Color Universal Design (2008): vermillion, blue, reddish purple; the fourth is a dark grey
# in place of their black. Their luminances (119, 87, 151, 64 of 255) keep neighbors apart in grey print.
COLOUR = {"associated": "#D55E00", "different": "#0072B2", "human": "#CC79A7", "neutral": "#404040"}
MARKER = {"associated": "o", "different": "s", "human": "^", "neutral": "D"}
INK = "#222222"
FAINT = "#767676"
WIDTH = 7.0  # inches: two columns of a journal
HEAD = 0.75  # height of a heading, in rows
ROOM_AROUND = 1.4  # inches for title, legend and axis
_ON_A_SLIDE = 0.09  # height of a row, which holds letters of 10 points
_LOWEST_RIDGE = 0.3
_TALLEST = 100.0  # inches; a PNG cannot hold more than 65,535 rows of pixels
# A plain dict of Any: matplotlib's own type of it lists every setting there is.
SETTINGS: Any = {
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
    **{
        f"{axis}tick.{key}": value
        for axis in "xy"
        for key, value in {
            "color": INK,
            "labelsize": 8,
            "major.size": 3.5,
            "major.width": 0.8,
            "major.pad": 3.5,
        }.items()
    },
    "axes.labelpad": 4.0,
    "hatch.linewidth": 0.5,
}


@dataclass(frozen=True)
class FigureStyle:
    """What a figure is printed for.

    Attributes
    ----------
    name : str
    width : float
        Millimetres; of a figure that has a width of its own where nobody asked for one.
    text : float
        Points of ordinary text; lines and marks go with it.
    page : float
        Millimetres of height that a page has for it.
    headed : bool
        Whether title and source stand above it. In a journal they stand in the caption.
    formats : tuple of str
        What it is saved as.
    asked : bool
        Whether a width was asked for.
    whole : float, optional
        Millimetres of height of the slide that a figure with its heading has to fit.
    """

    name: str
    width: float
    text: float
    page: float
    headed: bool = True
    formats: tuple[str, ...] = ("png", "svg")
    asked: bool = False
    whole: float | None = None


STYLES = {
    style.name: style
    for style in (
        FigureStyle("report", 177.8, 8.0, 238.76),
        # One column of Nature (89 mm; text of 5 to 7 points, at most 247 mm high with its legend).
        FigureStyle("journal", 89.0, 7.0, 200.0, headed=False, formats=("pdf", "svg"), asked=True),
        # A slide of 16 to 9, 10 inches wide, below its title.
        FigureStyle("talk", 254.0, 14.0, 127.0, asked=True, whole=142.875),
    )
}
_WIDTHS = (40.0, 2000.0)  # millimetres; less holds no labels
_NOW: contextvars.ContextVar[FigureStyle] = contextvars.ContextVar("figure_style", default=STYLES["report"])
_DRAWING: contextvars.ContextVar[bool] = contextvars.ContextVar("drawing", default=False)
# Figures made here, which may grow where a heading needs more lines; those of a user keep their size.
_OWN: weakref.WeakSet[Figure] = weakref.WeakSet()


@contextlib.contextmanager
def figure_style(style: str | None = None, *, width: float | None = None) -> Iterator[FigureStyle]:
    """Draw all figures of a block for a journal, a talk or a report.

    Text keeps its size whatever the width, so that a figure is printed as it is saved and never scaled. Within the block
    matplotlib writes the letters of a PDF as text (Type 42) and those of an SVG as text too.

    Parameters
    ----------
    style : {"report", "journal", "talk"}, optional
        ``report`` has text of 8 points and is 178 mm wide; ``journal`` 7 points and 89 mm (one column), without
        title and source, which belong into its caption and are in ``ax.data.attrs``; ``talk`` 14 points and 254 mm,
        no higher than a slide of 16 to 9 unless there are more than some twenty rows.
        By default that in force, which outside of any block is ``report``.
    width : float, optional
        Millimetres, from 40 to 2000; by default that of the style.

    Yields
    ------
    FigureStyle

    Raises
    ------
    InputError
        For an unknown style, or a width that is none.

    Examples
    --------
    >>> import bayesbias as bb
    >>> with bb.plots.figure_style("journal", width=120):
    ...     ax = bb.plot_priors("crossed")
    ...     round(ax.figure.get_size_inches()[0] * 25.4)
    120
    """
    import matplotlib as mpl

    chosen = _NOW.get() if style is None else STYLES[checks.choice(style, list(STYLES), "figure style")]
    if width is not None:
        checks.positive(width, "width")
        if not _WIDTHS[0] <= width <= _WIDTHS[1]:
            raise InputError(
                "not the width of a figure", where="width", found=width, valid="millimetres, 40 to 2000"
            )
        chosen = dataclasses.replace(chosen, width=float(width), asked=True)
    with in_style(chosen), mpl.rc_context({"pdf.fonttype": 42, "svg.fonttype": "none"}):
        yield chosen


@contextlib.contextmanager
def in_style(style: FigureStyle) -> Iterator[None]:
    """Let a style be that in force within a block."""
    token = _NOW.set(style)
    try:
        yield
    finally:
        _NOW.reset(token)


def style_now() -> FigureStyle:
    """Return the style in force."""
    return _NOW.get()


def pt(points: float) -> float:
    """Return a length in points of the style in force: of text, a line, a mark, a gap."""
    return points * _NOW.get().text / 8.0


def across() -> float:
    """Return the width of a figure, in inches of the style ``report``: how much fits side by side."""
    return _NOW.get().width / 25.4 / pt(1.0)


def page() -> float:
    """Return the height of a page, in inches of the style ``report``."""
    return _NOW.get().page / 25.4 / pt(1.0)


def inches(width: float, height: float, *, grows: bool = False) -> tuple[float, float]:
    """Return a size in inches of the style in force; the width is that of the style where it or a user has one.

    On a slide it is no higher than that, unless it `grows` with what it shows.
    """
    style = _NOW.get()
    if style.whole is not None and not grows:
        height = min(height, page())
    return (style.width / 25.4 if style.asked else pt(width)), pt(height)


def square(width: float, around: float) -> tuple[float, float]:
    """Return the size of a figure with a square Axes, and room above and below it."""
    return inches(width, min(width, across()) + around)


def settings_now() -> Any:
    """Return the settings of matplotlib in the style in force."""
    sized = ("size", "width", "pad")
    return {
        key: pt(value) if key.endswith(sized) and not isinstance(value, bool) else value
        for key, value in SETTINGS.items()
    }


def styled[**P, T](function: Callable[P, T]) -> Callable[P, T]:
    """Run `function` under the style in force, and leave matplotlib's settings as they were."""

    @functools.wraps(function)
    def inner(*args: P.args, **kwargs: P.kwargs) -> T:
        import matplotlib as mpl

        if kwargs.get("ax") is None and function.__name__.startswith("plot_"):
            import matplotlib.pyplot as plt

            # A notebook sets itself up when the backend is first loaded; within the context below that would be undone
            # and later figures not shown. With no figure open there is none that loading could close.
            if not plt.get_fignums():
                plt.switch_backend(mpl.get_backend())
        if _DRAWING.get():
            return function(*args, **kwargs)
        with drawing():
            drawn = function(*args, **kwargs)
            missing = cover_figure(drawn)
        fonts.warn_of(missing)
        return drawn

    return inner


@contextlib.contextmanager
def drawing() -> Iterator[None]:
    """Have the settings of the style in force within a block that draws."""
    import matplotlib as mpl

    token = _DRAWING.set(True)
    try:
        with mpl.rc_context(settings_now()), no_glyph_warnings():
            yield
    finally:
        _DRAWING.reset(token)


def cover_figure(drawn: Any) -> set[str]:
    """Give all texts of a figure, or of that of some Axes, the fonts that they need; return what no font has."""
    from matplotlib.artist import Artist
    from matplotlib.text import Text

    if not isinstance(drawn, Artist):
        return set()
    figure = drawn.get_figure(root=True)
    return fonts.cover([] if figure is None else figure.findobj(Text))


def make_square(ax: Axes) -> None:
    """Make an Axes of two like quantities a square, but on a slide, which would have little room for one."""
    if _NOW.get().whole is None:
        ax.set_box_aspect(1)
        ax.set_anchor("S")  # what room is left stands above it, where headings are


def size_ridges(n: int) -> tuple[float, float]:
    """Return width and height in inches of a figure of ``n`` ridges."""
    each = 0.78 if _NOW.get().whole is None else float(np.clip((page() - 1.35) / n, _LOWEST_RIDGE, 0.78))
    return inches(WIDTH, 1.35 + each * n, grows=True)


def size_rows(rows: float, roomy: float, tight: float) -> tuple[float, float]:
    """Rows are roomy while a page lasts; then they shrink, and beyond that the figure grows."""
    if _NOW.get().whole is not None:
        tight = min(tight, _ON_A_SLIDE)
    height = ROOM_AROUND + rows * float(np.clip((page() - ROOM_AROUND) / rows, tight, roomy))
    return inches(WIDTH, min(height, _TALLEST / pt(1.0)), grows=True)


def axes_or_new(ax: Axes | None, size: tuple[float, float]) -> Axes:
    """Return the Axes given, or those of a new pyplot figure, which a notebook shows and a script can `show`."""
    from matplotlib.axes import Axes

    if ax is None:
        return new_figure(size).subplots()
    return checks.instance(ax, Axes, "ax", "Axes of matplotlib")


def new_figure(size: tuple[float, float]) -> Figure:
    """Return a new pyplot figure."""
    import matplotlib.pyplot as plt

    return own(plt.figure(figsize=size, layout="constrained"))


def own(figure: Figure) -> Figure:
    """Note that a figure was made here, and may grow with its heading."""
    _OWN.add(figure)
    return figure


def make_room(figure: Figure, points: float) -> None:
    """Let a figure that was made here take some points more in height, and one for a width of its own also fewer.

    One of a user keeps its size. A figure of a report has room for usual headings, and grows with longer ones.
    """
    style = _NOW.get()
    if figure in _OWN and (style.asked or points > 0):
        width, height = figure.get_size_inches()
        wanted = height + points / 72
        if style.whole is not None:  # what fits a slide still does with its heading
            wanted = min(wanted, max(height, style.whole / 25.4))
        figure.set_size_inches(width, wanted)


def panels_of(figure: Figure, n: int, *, sharey: bool = False) -> list[Axes]:
    """Return `n` Axes side by side."""
    return list(figure.subplots(1, n, squeeze=False, sharey=sharey and n > 1)[0])


def new_panels(size: tuple[float, float], n: int, *, sharey: bool = False) -> list[Axes]:
    """Return `n` Axes side by side on a new pyplot figure."""
    return panels_of(new_figure(size), n, sharey=sharey)


def height_of(ax: Axes) -> float:
    """Height of the Axes in points of the style ``report``, as far as it is known before the layout."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    whole = float(figure.get_size_inches()[1] * 72) / pt(1.0)
    height = ax.get_position().height * whole
    # A slide is low, and what stands around the Axes takes much of it.
    return float(height if _NOW.get().whole is None else min(height, whole - 72 * ROOM_AROUND))


@contextlib.contextmanager
def no_glyph_warnings() -> Iterator[None]:
    """Let a word in a script that the font lacks be drawn as boxes: no reason to draw nothing."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r"(?s).*missing from.*font", category=UserWarning)
        yield


def plain(text: str, longest: int = 32) -> str:
    """Return text that matplotlib draws as written: no formula, nothing that acts, no line breaks, not endlessly long.

    What is too long is cut in the middle, since words of a list often differ at their ends.
    """
    return _cut(_clean(text), longest, longest // 2).replace("$", r"\$")


def plain_names(names: Sequence[str], longest: int = 32) -> list[str]:
    """Return names as `plain` does, so that those which differ still do.

    All are cut at the same place, the one nearest to the middle at which no two become the same; where there is none they
    are cut later.
    """
    clean = {name: _clean(name) for name in names}
    shown = _distinct(list(dict.fromkeys(clean.values())), longest)
    return [shown[clean[name]].replace("$", r"\$") for name in names]


def _clean(text: str) -> str:
    return literal(" ".join(text.split()))


def _distinct(texts: list[str], longest: int) -> dict[str, str]:
    for length in range(longest, max(map(len, texts), default=0) + 1, 4):
        middle = length // 2
        for tail in sorted(range(3, length - 3), key=lambda tail: abs(tail - middle)):
            cut = {text: _cut(text, length, tail) for text in texts}
            if len(set(cut.values())) == len(texts):
                return cut
    return {text: text for text in texts}


def _cut(text: str, longest: int, tail: int) -> str:
    """Cut a text in the middle; of what stays, `tail` letters are its end."""
    return text if len(text) <= longest else text[: longest - 1 - tail].rstrip() + "…" + text[-tail:].lstrip()
