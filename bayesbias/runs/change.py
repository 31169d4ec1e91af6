"""A comparison of original and debiased vectors as a folder: fits, pairs, tables and figures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesbias.runs.layout import Content, Layout
from bayesbias.runs.manifest import Manifest
from bayesbias.runs.words import versions_of

if TYPE_CHECKING:
    import pandas as pd

    from bayesbias.studies.comparison import Comparison


def _ranking(of: Content) -> pd.DataFrame | None:
    ranked = {"associated", "different"} <= set(of.result.original.table["connection"])
    return of.result.ranking(of.prob, of.rope) if ranked else None


def _construction(of: Content) -> dict[str, Any]:
    from bayesbias.findings.change import construction_account

    return {name: construction_account(item.construction) for name, item in of.result.methods.items()}


def _read(folder: Path, manifest: Manifest | None) -> Comparison:
    from bayesbias.studies.comparison import load_comparison

    return load_comparison(folder)


LAYOUT = Layout(
    kind="change",
    files={
        "changes.csv": lambda of: of.result.changes(of.prob, of.rope),
        "contrasts.csv": lambda of: of.result.contrasts(of.prob, of.rope),
        "ranking.csv": _ranking,
        "construction.json": _construction,
    },
    own=lambda of, folder: of.result.save(folder),
    own_names=("comparison.json", "fit_[0-9]*.nc", "pairs_[0-9]*.csv"),
    figures=("changes", "changes_[0-9]*", "pairs", "pairs_[0-9]*", "ranking"),
    known_by=("comparison.json", "changes.csv", "construction.json"),
    read=_read,
    versions=versions_of,
)
