"""Figures on matplotlib.

Each `plot_*` takes a result, its settings by name and an optional Axes, and returns the Axes, which
hold the numbers they show: ``ax.data``, a data frame, with title and note in ``ax.data.attrs``.
Without Axes a pyplot figure of a fitting size is made. On your own Axes the legend stands below;
give the figure ``layout="constrained"``, so that it makes room.

`figure_style` draws for a journal, `save_figure` writes a file. `bayesbias.save_run` writes all
figures of a result.
"""

from bayesbias.core.packages import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
