"""What is shown of a sweep."""

import re
from typing import Any

import pandas as pd

import bayesbias as bb
from bayesbias.core import number_of, some
from bayesbias.core.sections import Column, Interpretation, Section
from bayesbias.inference.estimates import CONTRAST_COLUMNS
from bayesbias.inference.view import TOO_CLOSE, Verdict, View, sides
from bayesbias.studies.association.interpretation import NARROW_ADVICE, NARROW_CLASSES
from bayesbias.studies.common import listing
from bayesbias.studies.glossary import explain_distances
from bayesbias.sweeps.plan import LABELS
from bayesbias.sweeps.result import SweepResult

QUESTION = "How does the result differ between embeddings, word lists and models?"
ONE_VERDICT = True
FILES_BEFORE = True
FIT_FILE = ""
TYPES: tuple[type, ...] = (SweepResult,)
glossary = explain_distances
FEW = 6  # cells, which the headline names
SAID = {  # verdicts in the headline
    Verdict.BELOW.value: "below 0 by more than the ROPE",
    Verdict.SLIGHTLY_BELOW.value: "below 0, perhaps by less than the ROPE,",
    Verdict.NEGLIGIBLE.value: "practically 0",
    Verdict.INCONCLUSIVE.value: "inconclusive",
    Verdict.SLIGHTLY_ABOVE.value: "above 0, perhaps by less than the ROPE,",
    Verdict.ABOVE.value: "above 0 by more than the ROPE",
    TOO_CLOSE: "inconclusive with so few draws (raise draws)",
}


def header(result: SweepResult, view: View) -> list[str]:
    """Return the lines over the first table."""
    cells, failed = len(result.cells), len(result.failures)
    before = f" ({result.reused} of them before)" if result.reused else ""
    return [
        f"bayesbias {bb.__version__} | sweep in {result.out}",
        f"{number_of(cells, 'cell')} (one fit each): {cells - failed} fitted{before}, {failed} failed",
    ]


def sections(result: SweepResult, view: View) -> list[Section]:
    """Return all tables and figures of a sweep, in the order in which they are read."""
    out = []
    if (result.frame["quantity"] == "contrast").any():
        first = result.compared()
        contrast, prob, rope = first[["contrast", "prob", "rope"]].iloc[0]
        shared = [name for name in LABELS if first[name].nunique(dropna=False) <= 1]
        hpdi = f"{prob:.0%} HPDI"
        out.append(
            Section(
                "compared",
                f"{contrast} of each cell, new words, in {_units(first)} and in cosine distance "
                f"(negative: the first kind is closer; ROPE ±{rope:g} SDs)",
                lambda: first.drop(columns=shared),
                (
                    *LABELS,
                    Column("standardized", "in SDs", "signed", 2),
                    Column("standardized_low", hpdi, "interval", 2, "standardized_high"),
                    Column("p_in_rope", "P(ROPE)", "probability"),
                    Column("distance", "distance", "signed"),
                ),
                figure=lambda: bb.plots.plot_sweep(result),
                show_on="terminal page files",
            )
        )
        if len(apart := result.differences(contrast)):
            same = [name for name in LABELS if name in apart and apart[name].nunique() <= 1]
            out.append(
                Section(
                    "differences",
                    f"{contrast}: difference between vectors, in {_units(apart)}",
                    lambda: apart.drop(columns=same),
                    ("vectors", "minus", *LABELS, *CONTRAST_COLUMNS),
                    note=(
                        "These intervals treat the vectors as independent. For the same words they "
                        "are too wide. `bayesbias compare --corpora` gives narrower ones, and "
                        "shows them in SDs where scales differ."
                    ),
                    show_on="terminal page files",
                )
            )
    return [
        *out,
        Section(
            "cells",
            "All cells: found words and diagnostics",
            lambda: result.cells,
            (
                *LABELS,
                "status",
                Column("protected_found", "words found", "count"),
                Column("protected_listed", "of", "count"),
                Column("max_r_hat", "max R-hat", "number", 3),
                Column("min_ess_bulk", "min ESS", "count"),
                "error",
            ),
        ),
    ]


def _units(frame: pd.DataFrame) -> str:
    """Name the units of standardized contrasts."""
    return listing([unit.replace("sd of", "SDs of") for unit in frame["unit"].dropna().unique()])


def _names(cells: pd.DataFrame) -> pd.Series:
    """Name cells, by number, by the labels in which they differ."""
    told = [name for name in LABELS if cells[name].nunique(dropna=False) > 1] or ["embedding"]
    labels = cells.set_index("cell")[told]
    return labels.apply(lambda row: ", ".join(map(str, row.dropna())), axis=1)


def interpret(result: SweepResult, view: View) -> Interpretation:
    """Say how many cells are below, above or near zero, and which have failed or not converged."""
    cells = result.cells
    subject = f"sweep of {number_of(len(cells), 'cell')}"
    warnings = []
    for error, count in result.failures["error"].value_counts(sort=False).items():
        warnings.append(f"{number_of(int(count), 'cell')} failed: {error}")
    trusted = cells["trusted"].fillna(True).astype(bool)
    if doubtful := list(_names(cells)[~trusted.to_numpy()]):
        which = f"{number_of(len(doubtful), 'cell')} did not converge ({some(doubtful, 5)})"
        warnings.append(f"{which}: raise draws and tune.")
    noted = cells.loc[trusted, "warnings"].dropna().map(_without_classes)
    noted = noted[noted != ""]
    if len(noted):
        warnings += _warnings_of_cells(_names(cells), cells.loc[noted.index, "cell"], noted)
    if not (result.frame["quantity"] == "contrast").any():
        return Interpretation(subject, "No cell has a contrast.", warnings)
    frame = result.compared()
    known = frame[frame["verdict"].notna()]
    contrast = frame["contrast"].iloc[0].replace(" - ", " minus ")
    verdicts = []
    for verdict, rows in known.groupby("verdict", sort=False):
        named = f" ({some(list(_names(cells)[rows['cell']]), 3)})" if len(frame) <= FEW else ""
        verdicts.append(f"{SAID[str(verdict)]} in {len(rows)}{named}")
    said = "; ".join(verdicts)
    headline = f"Of {number_of(len(frame), 'cell')}, {contrast} is {said}."
    if known.empty:
        headline = "No conclusion: no cell has converged."
    if known["unit"].nunique() > 1:
        units = ", ".join(known["unit"].unique())
        warnings.append(f"Cells have several units ({units}): compare those of one unit only.")
    notes = []
    noted = cells[cells["notes"].notna()]
    for text, rows in noted.groupby("notes", sort=False):
        notes.append(f"{some(_names(cells)[rows['cell']], 3)}: {text}")
    if len(known) > 2:
        chance = len(known) * (1 - known["prob"].iloc[0])
        notes.append(
            f"If all differences were 0, about {chance:.1f} of "
            f"{number_of(len(known), 'interval')} would exclude 0 by chance."
        )
    if lacking := len(cells) - len(result.failures) - frame["cell"].nunique():
        notes.append(f"{number_of(lacking, 'cell')} without this contrast.")
    if result.others:
        notes.append(f"{number_of(result.others, 'cell')} of earlier plans kept in the folder.")
    return Interpretation(
        subject,
        headline,
        warnings,
        notes,
        lambda: _classes_differ(result, known),
    )


def _warnings_of_cells(names: pd.Series, numbers: pd.Series, warnings: pd.Series) -> list[str]:
    """Return the warning of the first cell that has one, with its name, and name the others."""
    with_warning = [names[number] for number in numbers]
    said = [f"{with_warning[0]}: {warnings.iloc[0]}"]
    if others := with_warning[1:]:
        said.append(f"{number_of(len(others), 'other cell')} with a warning: {some(others, 5)}.")
    return said


def _without_classes(warnings: str) -> str:
    """Return the warnings of a cell without that on rows of classes, which a sweep does not show."""
    kept = re.sub(rf"{re.escape(NARROW_CLASSES)}.*?{re.escape(NARROW_ADVICE)}", "", warnings)
    return kept.strip()


def _classes_differ(result: SweepResult, known: pd.DataFrame) -> list[str]:
    """Name the cells whose classes clearly point different ways, which their mean hides."""
    if "class" not in set(result.frame["level"].dropna()) or known.empty:
        return []
    names = _names(known)
    classes = result.compared(known["contrast"].iloc[0], level="class")
    classes = classes[classes["cell"].isin(known["cell"])]
    classes = classes.astype({name: float for name in classes if "distance_" in name})
    said = []
    for cell, rows in classes.groupby("cell", sort=False):
        closer, farther = map(", ".join, sides(rows, "distance_low", "distance_high"))
        if closer and farther:
            said.append(f"{names[cell]} (closer for {closer}, farther for {farther})")
    text = f"Classes differ in direction in {number_of(len(said), 'cell')}: {listing(said)}."
    return [text] if said else []


def about(result: SweepResult) -> dict[str, Any]:
    """Return what JSON says beside the tables."""
    return {
        "failed": len(result.failures),
        "reused": result.reused,
        "of_other_plans": result.others,
        "results": [str(result.out / "results.csv"), str(result.out / "results.parquet")],
    }
