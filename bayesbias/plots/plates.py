"""A figure as a value: what draws it, how large it is, and what is said of it.

Each room of figures lists its own: `plates` of a result. They are drawn alone (`plot_*`), saved (`save_figures`) and
put on the page of a report, so that a new figure is made in one place.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bayesbias.plots import fonts
from bayesbias.plots.style import (
    FigureStyle,
    cover_figure,
    drawing,
    in_style,
    no_glyph_warnings,
    own,
    settings_now,
    style_now,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Plate"]

DPI = 200  # letters have whole dots of width, so that a layout made for other dots would cut names


@dataclass(frozen=True)
class Plate:
    """One figure of a result, not yet drawn.

    Attributes
    ----------
    name : str
        Of its file, without an ending, and of its place on a page.
    draw : callable
        Takes an empty matplotlib Figure and fills it.
    size : (float, float)
        Inches; a figure grows where its heading needs more lines than that reckons with.
    caption : str
        What is to be seen, in a sentence or two.
    alt : str
        What it shows, for those who do not see it.
    style : FigureStyle
        That in which the plate was listed, and is drawn.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> import bayesbias as bb
    >>> from bayesbias.plots.saving import plates_of
    >>> table = bb.distance_table("minilm-static", "religion", controls="none")
    >>> fit = bb.fit(table, seed=1, draws=100, tune=100, chains=2)
    >>> plate = plates_of(fit)[0]
    >>> plate.name, bool(plate.alt), type(plate.figure()).__name__
    ('priors', True, 'Figure')
    """

    name: str
    draw: Callable[[Figure], object]
    size: tuple[float, float]
    caption: str
    alt: str
    style: FigureStyle = field(default_factory=style_now)

    def figure(self) -> Figure:
        """Return the figure, drawn and laid out, so that each format has the same places."""
        from matplotlib.figure import Figure

        with in_style(self.style), drawing():
            figure = own(Figure(figsize=self.size, dpi=DPI, layout="constrained"))
            self.draw(figure)
            missing = cover_figure(figure)
            engine = figure.get_layout_engine()
            assert engine is not None
            for _ in range(2):  # labels may take less room once the Axes have moved
                engine.execute(figure)
            figure.set_layout_engine("none")
        fonts.warn_of(missing)
        return figure


def on_axes(plot: Callable[..., Axes], data: Any, **settings: Any) -> Callable[[Figure], Axes]:
    """Return what draws with a `plot_*` function on the only Axes of a figure."""
    return lambda figure: plot(data, **settings, ax=figure.subplots())


def rendered(figure: Figure, kind: str) -> bytes:
    """Return the bytes of a figure: the same for the same figure, on any day."""
    import matplotlib as mpl

    settings: Any = {"svg.fonttype": "none", "svg.hashsalt": "bayesbias", "pdf.fonttype": 42}
    undated = {"png": {"Software": None}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}
    buffer = io.BytesIO()
    with mpl.rc_context(settings_now() | settings), no_glyph_warnings():
        figure.savefig(buffer, format=kind, dpi=DPI, facecolor="white", metadata=undated[kind])
    return buffer.getvalue()
