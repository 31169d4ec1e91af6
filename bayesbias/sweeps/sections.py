"""What is shown of a sweep."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bayesbias.core.packages import own_version
from bayesbias.core.sections import Column, Interpretation, Section, Study
from bayesbias.inference.view import View
from bayesbias.studies.common import listing, plural, text

if TYPE_CHECKING:
    import pandas as pd

    from bayesbias.sweeps.result import SweepResult

LABELS = ("embedding", "wordlist", "controls", "distances", "model", "seed")


def header(result: SweepResult, view: View) -> list[str]:
    """Return the lines over the first table."""
    cells, failed = len(result.cells), len(result.failures)
    before = f" ({result.reused} of them before)" if result.reused else ""
    return [
        f"bayesbias {own_version()} | sweep in {result.out}",
        f"{plural(cells, 'cell')}: {cells - failed} fitted{before}, {failed} failed",
    ]


def compared(result: SweepResult) -> pd.DataFrame:
    """Return the cells with the first contrast in SDs, without labels that all cells share."""
    frame = result.compared()
    same = [name for name in LABELS if name in frame and frame[name].nunique(dropna=False) <= 1]
    return frame.drop(columns=same)


def sections(result: SweepResult, view: View) -> list[Section]:
    """Return all tables and figures of a sweep, in the order in which they are read."""
    import bayesbias as bb

    labels = tuple(text(name) for name in LABELS)
    has_contrast = bool((result.frame["quantity"] == "contrast").any())
    out = []
    if has_contrast:
        contrast = result.compared()["contrast"].iloc[0]
        out.append(
            Section(
                "compared",
                f"{contrast} of each cell, new words, in SDs of single pairs and in cosine distance",
                lambda: compared(result),
                (
                    *labels,
                    Column("standardized", "in SDs", "signed", digits=2),
                    Column(
                        "standardized_low",
                        "{prob} HPDI",
                        "interval",
                        digits=2,
                        upper="standardized_high",
                    ),
                    Column("p_in_rope", "P(ROPE)", "probability"),
                    Column("distance", "distance", "signed", digits=3),
                ),
                figure=lambda: bb.plots.plot_sweep(result),
                show_on=("terminal", "page", "files"),
            )
        )
    return [
        *out,
        Section(
            "cells",
            "All cells: found words and diagnostics",
            lambda: result.cells,
            (
                *labels,
                text("status"),
                Column("protected_found", "words found", "count"),
                Column("protected_listed", "of", "count"),
                Column("max_r_hat", "max R-hat", "number", digits=3),
                Column("min_ess_bulk", "min ESS", "count"),
                text("error"),
            ),
            show_on=("detail", "fold", "files"),
        ),
    ]


def interpret_sweep(result: SweepResult, view: View) -> Interpretation:
    """Say how many cells are below, above or near zero, and which have failed or not converged."""
    cells = result.cells
    subject = f"sweep of {plural(len(cells), 'cell')}"
    warnings = []
    for error, count in result.failures["error"].value_counts(sort=False).items():
        warnings.append(f"{plural(int(count), 'cell')} failed: {error}")
    doubtful = cells[~cells["trusted"].fillna(True).astype(bool)]
    if len(doubtful):
        warnings.append(f"{plural(len(doubtful), 'cell')} did not converge: raise draws and tune.")
    noted = cells["warnings"].dropna()
    if len(noted):
        warnings.append(f"{plural(len(noted), 'cell')} with a warning, such as: {noted.iloc[0]}")
    if not (result.frame["quantity"] == "contrast").any():
        return Interpretation(subject, "No cell has a contrast.", tuple(warnings))
    frame = result.compared()
    counts = frame["verdict"].dropna().value_counts()
    said = listing([f"{verdict} in {count}" for verdict, count in counts.items()])
    notes = (
        [f"{plural(result.others, 'cell')} of earlier plans kept in the folder."]
        if result.others
        else []
    )
    headline = f"{frame['contrast'].iloc[0]}: {said} of {plural(len(frame), 'cell')}."
    return Interpretation(subject, headline, tuple(warnings), tuple(notes))


def about(result: SweepResult) -> dict[str, Any]:
    """Return what JSON says beside the tables."""
    return {
        "failed": len(result.failures),
        "reused": result.reused,
        "of_other_plans": result.others,
        "results": [str(result.out / "results.csv"), str(result.out / "results.parquet")],
    }


STUDY = Study(
    kind="sweep",
    question="How does the result differ between embeddings, word lists and models?",
    header=header,
    sections=sections,
    interpret=interpret_sweep,
    about=about,
)
