"""A comparison of original and debiased vectors as a folder: fits, pairs, tables and figures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesbias.core.files import whole_file
from bayesbias.core.sheets import write_csv
from bayesbias.runs.layout import Content, Layout
from bayesbias.runs.reading_change import FILE, FORMAT, read_comparison
from bayesbias.runs.words import versions_of

if TYPE_CHECKING:
    import pandas as pd

    from bayesbias.studies.comparison import Comparison


def write_comparison(comparison: Comparison, folder: Path, *, spreadsheet_safe: bool = False) -> None:
    """Write fits, pairs and account into a folder, for `read_comparison`; texts as `bayesbias.core.sheets` says."""
    stems = {}
    for number, (name, fit) in enumerate(comparison.fits().items()):
        stems[name] = f"fit_{number}.nc"
        fit.save(folder / stems[name])
    methods = []
    for number, (name, item) in enumerate(comparison.methods.items()):
        path = folder / f"pairs_{number}.csv"
        with whole_file(path) as temporary:
            write_csv(item.pairs, temporary, spreadsheet_safe=spreadsheet_safe)
        methods.append(
            {
                "name": name,
                "pairs": path.name,
                "account": dict(item.account),
                "exact": dict(item.exact),
                "change": stems.get(f"{name}, change"),
                "after": stems[f"{name}, after"],
            }
        )
    content = {
        "bayesbias_comparison": FORMAT,
        "original": stems["original"],
        "methods": methods,
        "between": [
            {"first": a, "second": b, "exact": dict(changes.exact), "fit": stems.get(f"{a} against {b}")}
            for (a, b), changes in comparison.between.items()
        ],
        "provenance": dict(comparison.provenance),
    }
    with whole_file(folder / FILE) as temporary:
        temporary.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def _ranking(of: Content) -> pd.DataFrame | None:
    ranked = {"associated", "different"} <= set(of.result.original.table["connection"])
    return of.result.ranking(of.prob, of.rope) if ranked else None


def _construction(of: Content) -> dict[str, Any]:
    from bayesbias.findings.change import construction_account

    return {name: construction_account(item.construction) for name, item in of.result.methods.items()}


def _in_words(of: Content) -> str:
    from bayesbias.findings.change import findings_of_change

    return "\n".join(findings_of_change(of.result, of.prob, of.rope).lines()) + "\n"


LAYOUT = Layout(
    kind="change",
    files={
        "changes.csv": lambda of: of.result.changes(of.prob, of.rope),
        "contrasts.csv": lambda of: of.result.contrasts(of.prob, of.rope),
        "slopes.csv": lambda of: of.result.slopes(of.prob) if of.result.has_slopes else None,
        "geometry.csv": lambda of: of.result.geometry(of.prob),
        "ranking.csv": _ranking,
        "construction.json": _construction,
        "result.txt": _in_words,
    },
    own=lambda of, folder: write_comparison(of.result, folder, spreadsheet_safe=of.spreadsheet_safe),
    own_names=("comparison.json", "fit_[0-9]*.nc", "pairs_[0-9]*.csv"),
    figures=("changes", "changes_[0-9]*", "controls", "pairs", "pairs_[0-9]*", "ranking", "slopes"),
    known_by=("comparison.json", "changes.csv", "construction.json"),
    read=lambda folder, manifest: read_comparison(folder),
    sources=("comparison.json", "fit_[0-9]*.nc", "pairs_[0-9]*.csv"),
    versions=versions_of,
)
