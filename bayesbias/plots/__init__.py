"""Figures on matplotlib.

Each `plot_*` takes a result, its settings by name and an optional Axes, and returns the Axes. Without Axes a figure of
a fitting size is made through pyplot, so that it shows in a notebook as any other; nothing else here touches pyplot,
and `save_figures` does without it. The Axes hold the numbers that they show: ``ax.data``, a data frame, with the heading in
``ax.data.attrs``.

`figure_style` draws for a journal, a talk or a report, at a width in millimetres. Where the font lacks a script, another
font of the machine stands in; where none has it, a warning names one. ``matplotlib.rcParams["font.family"]`` is respected.

Title and legend stand above the Axes, where they hide no data; give a figure of your own
``layout="constrained"``, so that it makes room for them.
"""

from bayesbias.core.packages import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
