"""The picture of ranks, drawn from what the record holds."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure

WIDTH, HEIGHT = 7.0, 2.3  # inches
_SETTINGS = {"svg.fonttype": "none", "svg.hashsalt": "proof", "font.size": 8, "font.family": "sans-serif"}


def draw_ranks(every: Mapping[str, Mapping[str, Any]], file: Path) -> None:
    """Write a picture with a panel for each model: how far ranks are from uniform, all rows, and the band they may fill.

    Parameters
    ----------
    every : mapping of str to mapping
        Of each model ``at, lowest, highest, farthest, band``.
    file : Path
        An SVG.
    """
    reach = 1.25 * max(max(np.abs([*own["lowest"], *own["highest"], own["band"]])) for own in every.values())
    with rc_context(_SETTINGS):
        figure = Figure(figsize=(WIDTH, HEIGHT), layout="constrained")
        panels = figure.subplots(1, len(every), sharey=True, squeeze=False)[0]
        for ax, (model, own) in zip(panels, every.items(), strict=True):
            ax.fill_between(own["at"], own["lowest"], own["highest"], color="#9db8d2", linewidth=0)
            ax.plot(own["at"], own["farthest"], color="#1f4e79", linewidth=1)
            for side in (-1, 1):
                ax.axhline(side * own["band"], color="#444444", linewidth=0.8, linestyle=(0, (4, 2)))
            ax.axhline(0, color="#444444", linewidth=0.5)
            ax.set(
                title=model,
                xlim=(0, 1),
                ylim=(-reach, reach),
                xticks=(0, 0.5, 1),
                xticklabels=("0", ".5", "1"),
            )
            ax.spines[["top", "right"]].set_visible(False)
        panels[0].set_ylabel("distribution less diagonal")
        figure.supxlabel("rank of the true value, as a share", fontsize=8)
        figure.savefig(file, format="svg", metadata={"Date": None})
