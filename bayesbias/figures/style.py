"""The look of all figures: colours, sizes, settings, and texts as matplotlib must get them.

Fonts, sizes and colours are set for the artists drawn here and for nothing else. Colours are those of Okabe
and Ito (2008), which the colour-blind can tell apart; they also differ in grey, and every connection has a
marker of its own. Words are drawn as they are written: a ``$`` starts no formula.
"""

from __future__ import annotations

import contextlib
import functools
import warnings
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.basics.literal import literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito, Color Universal Design (2008): vermillion, blue, reddish purple; the fourth is a dark grey
# in place of their black. Their luminances (119, 87, 151, 64 of 255) keep neighbours apart in grey print.
COLOUR = {"associated": "#D55E00", "different": "#0072B2", "human": "#CC79A7", "neutral": "#404040"}
MARKER = {"associated": "o", "different": "s", "human": "^", "neutral": "D"}
INK = "#222222"
FAINT = "#767676"
WIDTH = 7.0  # inches: two columns of a journal
HEAD = 0.75  # height of a heading, in rows
PAGE = 9.4  # inches: the text of a page, with room for a caption
ROOM_AROUND = 1.4  # inches for title, legend and axis
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
    "xtick.color": INK,
    "xtick.labelsize": 8,
    "ytick.color": INK,
    "ytick.labelsize": 8,
    "hatch.linewidth": 0.5,
}


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
        with mpl.rc_context(SETTINGS), no_glyph_warnings():
            return function(*args, **kwargs)

    return inner


def size_ridges(n: int) -> tuple[float, float]:
    """Return width and height in inches of a figure of ``n`` ridges."""
    return WIDTH, 1.35 + 0.78 * n


def size_rows(rows: float, roomy: float, tight: float) -> tuple[float, float]:
    """Rows are roomy while a page lasts; then they shrink, and beyond that the figure grows."""
    return WIDTH, min(
        ROOM_AROUND + rows * float(np.clip((PAGE - ROOM_AROUND) / rows, tight, roomy)), _TALLEST
    )


def axes_or_new(ax: Axes | None, size: tuple[float, float]) -> Axes:
    """Return the Axes given, or those of a new pyplot figure, which a notebook shows and a script can `show`."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=size, layout="constrained")[1]


def panels_of(figure: Figure, n: int, *, sharey: bool = False) -> list[Axes]:
    """Return `n` Axes side by side."""
    return list(figure.subplots(1, n, squeeze=False, sharey=sharey and n > 1)[0])


def new_panels(size: tuple[float, float], n: int, *, sharey: bool = False) -> list[Axes]:
    """Return `n` Axes side by side on a new pyplot figure."""
    import matplotlib.pyplot as plt

    return panels_of(plt.figure(figsize=size, layout="constrained"), n, sharey=sharey)


def height_of(ax: Axes) -> float:
    """Height of the Axes in points, as far as it is known before the layout."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    return float(ax.get_position().height * figure.get_size_inches()[1] * 72)


@contextlib.contextmanager
def no_glyph_warnings() -> Iterator[None]:
    """Let a word in a script that the font lacks be drawn as boxes: no reason to draw nothing."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r"(?s).*missing from.*font", category=UserWarning)
        yield


def plain(text: str, longest: int = 32) -> str:
    """Return text that matplotlib draws as written: no formula, nothing that acts, no line breaks, not endlessly long."""
    text = literal(" ".join(text.split()))
    text = text if len(text) <= longest else text[: longest - 1] + "…"
    return text.replace("$", r"\$")


def as_percent(prob: float) -> str:
    """Write a probability as a percentage: 0.89 as 89%."""
    return f"{100 * prob:g}%"
