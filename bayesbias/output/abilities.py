"""What results do by the help of this layer: print, plot, report, save.

`bayesbias.core.result.Abilities` states it, and ``bayesbias/__init__.py`` registers it.
"""

from pathlib import Path
from typing import Any

import pandas as pd

from bayesbias.core import checks
from bayesbias.core.sections import Interpretation
from bayesbias.inference.view import View
from bayesbias.output import page, registry, store
from bayesbias.output.store import load_run
from bayesbias.output.text import to_html, to_python

__all__ = [
    "draw", "interpret", "load_run", "save_run", "tables", "to_html", "to_python", "write_report",
]  # fmt: skip


def interpret(result: Any, **view: float | None) -> Interpretation:
    """Say in sentences what a result shows."""
    return registry.interpretation(result, View(**view))


def draw(result: Any, name: str | None, **view: float | None) -> Any:
    """Draw a figure of a result, by default the first, and return its axes."""
    study, shown, resolved = registry.shown(result, View(**view))
    figures = {
        section.name: section.figure
        for section in study.sections(shown, resolved)
        if section.figure is not None
    }
    chosen = next(iter(figures)) if name is None else checks.choice(name, figures, "figure")
    return figures[chosen]()


def tables(result: Any, **view: float | None) -> dict[str, pd.DataFrame]:
    """Return the tables of a result by the names that their files have in a run folder."""
    study, shown, resolved = registry.shown(result, View(**view))
    out = {}
    for section in study.sections(shown, resolved):
        if section.shown_on("files", "folder") and section.frame is not None:
            out[section.name] = section.frame
    return out


def write_report(result: Any, path: Any, **view: float | None) -> Path:
    """Write a page about a result."""
    return page.write_report(result, path, view=View(**view))


def save_run(result: Any, folder: Any) -> list[Path]:
    """Write a result to a folder."""
    return store.save_run(result, folder)
