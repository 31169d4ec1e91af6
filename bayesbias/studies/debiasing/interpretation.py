"""What a comparison of debiased with original vectors says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bayesbias.core.sections import Interpretation
from bayesbias.inference.estimands import CONTRASTS
from bayesbias.inference.verdicts import Verdict
from bayesbias.inference.view import View
from bayesbias.studies.common import interval, missing_notes, not_converged, verdict_of
from bayesbias.studies.debiasing.construction import Forced, find_construction
from bayesbias.studies.debiasing.geometry import Left

if TYPE_CHECKING:
    import pandas as pd

    from bayesbias.studies.debiasing.comparison import Comparison

ROUNDING = 1e-4  # what vectors of four decimals move by when they are written
CHANGES = {
    Verdict.NEGLIGIBLE: "practically unchanged",
    Verdict.OPEN: "inconclusive",
}


def first_rows(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the first contrast."""
    return frame[frame["contrast"] == frame["contrast"].iloc[0]]


def interpret_comparison(result: Comparison, view: View) -> Interpretation:
    """Say what each method changed; nothing is concluded from fits that have not converged."""
    subject = f"{result.provenance['original']}, debiased"
    notes = [note for item in result.methods.values() for note in item.account["notes"]]
    notes += missing_notes(result.original.provenance.get("coverage"))
    state = result.diagnostics()
    if not state["ok"]:
        return not_converged(subject, state["problems"], notes)
    present = set(map(str, result.original.table["connection"].unique()))
    if not any({a, b} <= present for a, b in CONTRASTS):
        headline = "One kind of attributes only: there are changes, but no differences."
        return Interpretation(subject, headline, (), tuple(notes))
    frame = result.contrasts(view.prob, view.rope, "population")
    rows = first_rows(frame[frame["level"] == "overall"])
    headline = " ".join(_sentence(result, row) for row in rows.itertuples(index=False))
    warnings = [text for name in result.methods for text in _warnings(result, name, view)]
    return Interpretation(
        subject,
        headline,
        tuple(warnings),
        tuple(dict.fromkeys(notes)),
        tuple(_details(result, frame, view)),
    )


def _sentence(result: Comparison, row: Any) -> str:
    """Say how the first difference changed under one method, and what is left."""
    where = verdict_of(row)
    forced = result.methods[row.method].construction.forced
    changed = CHANGES.get(where, "moved toward 0" if abs(row.after) < abs(row.before) else "moved away from 0")
    if where is Verdict.OPEN:
        changed = f"inconclusive: {interval(row)} includes 0 and exceeds the ROPE"
    said = (
        f"{row.method}: {row.contrast} went from {row.before:+.3f} to {row.after:+.3f} ({changed})"
    )
    if forced is Forced.WHOLLY:
        return f"{said}; the method forces it to zero."
    return f"{said}{'; the method forces a part of it to zero' if forced else ''}."


def _warnings(result: Comparison, name: str, view: View) -> list[str]:
    item = result.methods[name]
    geometry = result.geometry_of(name, view.prob)
    out = []
    turned = item.pairs.rename(columns={"original": "debiased", "debiased": "original"})
    if find_construction(turned.assign(change=-turned["change"])).found:
        out.append(
            f"{name}: the original looks debiased and the other does not. Are the two exchanged?"
        )
    largest = float(item.pairs["change"].abs().max())
    if geometry.left is Left.IDENTICAL:
        out.append(f"{name}: no distance changed. Is it the same file?")
    elif largest <= ROUNDING:
        out.append(
            f"{name}: no distance changed by more than {largest:.1g}, which is rounding. Is the weight too small?"
        )
    elif geometry.left is Left.NO_CONTROLS:
        out.append(
            f"{name}: no control words, so that destroyed vectors would look like success. Add controls."
        )
    elif geometry.left is Left.TOO_FEW:
        out.append(
            f"{name}: too few control words to see whether the vectors are destroyed. Add controls."
        )
    elif geometry.left.destroyed:
        out.append(
            f"{name}: distances to control words hardly correlate with those before ({geometry.least.value:.2f}). The vectors are "
            "destroyed, and a small difference says nothing about the method."
        )
    if item.construction.found:
        words = "all" if item.construction.forces_gap else f"{item.construction.share:.0%} of the"
        out.append(
            f"{name}: the method makes associated and different distances of {words} words equal, whatever the vectors were. Test it "
            "with a word list that it was not given."
        )
    return out


def _details(result: Comparison, frame: pd.DataFrame, view: View) -> list[str]:
    """Return sentences about classes and controls."""
    out = []
    for name, item in result.methods.items():
        rows = (
            first_rows(frame[(frame["level"] == "class") & (frame["method"] == name)])
            if (frame["level"] == "class").any()
            else ()
        )
        if len(rows):
            each = ", ".join(
                f"{row.name} {row.after:+.3f} [{row.after_low:+.3f}, {row.after_high:+.3f}]"
                for row in rows.itertuples(index=False)
            )
            out.append(f"{name}, after, by class: {each}.")
        if "controls_moved" in item.construction.flags:
            worst = item.construction.controls.loc[
                item.construction.controls["max_change"].abs().idxmax()
            ]
            out.append(
                f"{name} moved distances to control words by up to {abs(worst['max_change']):.2f} "
                f"({worst['protected_word']} and {worst['attribute']})."
            )
    return out
