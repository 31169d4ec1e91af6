"""What a comparison of debiased with original vectors says."""

from typing import Any

import pandas as pd

from bayesbias.core.errors import FitError
from bayesbias.core.sections import Interpretation
from bayesbias.inference.view import TOO_CLOSE, Verdict, View
from bayesbias.studies.common import interval, missing_notes, not_converged
from bayesbias.studies.debiasing.comparison import Comparison
from bayesbias.studies.debiasing.construction import (
    Forced,
    control_changes,
    find_construction,
)
from bayesbias.studies.debiasing.geometry import Left

ROUNDING = 1e-4  # what vectors of four decimals move by when they are written


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
    try:
        frame = result.contrasts(view.prob, view.rope, "population")
    except FitError:
        headline = "One kind of attributes only: there are changes, but no differences."
        return Interpretation(subject, headline, (), tuple(notes))
    rows = first_rows(frame[frame["level"] == "overall"])
    headline = " ".join(_sentence(result, row) for row in rows.itertuples(index=False))
    warnings = [text for name in result.methods for text in _warnings(result, name, view)]
    return Interpretation(
        subject,
        headline,
        tuple(warnings),
        tuple(dict.fromkeys(notes)),
        lambda: _details(result, frame),
    )


def _sentence(result: Comparison, row: Any) -> str:
    """Say how the first difference changed under one method, and what is left."""
    forced = result.methods[row.method].construction.forced
    said = f"{row.method}: {row.contrast} went from {row.before:+.3f} to {row.after:+.3f}"
    if forced is Forced.WHOLLY:
        return f"{said}: the method forces it to zero, whatever the vectors were."
    if row.verdict == Verdict.NEGLIGIBLE.value:
        changed = "practically unchanged"
    elif row.verdict == Verdict.INCONCLUSIVE.value:
        changed = f"inconclusive: the change {interval(row)} includes 0 and exceeds the ROPE"
    elif row.verdict == TOO_CLOSE:
        changed = "too close to call: raise --draws"
    else:
        changed = f"moved {'toward' if abs(row.after) < abs(row.before) else 'away from'} 0"
    return f"{said} ({changed}){'; the method forces a part of it to zero' if forced else ''}."


def _warnings(result: Comparison, name: str, view: View) -> list[str]:
    item, geometry = result.methods[name], result.geometry_of(name, view.prob)
    out = []
    turned = item.pairs.rename(columns={"original": "debiased", "debiased": "original"})
    if find_construction(turned.assign(change=-turned["change"])).found:
        out.append("the original looks debiased and the other does not. Are the two exchanged?")
    if geometry.left is Left.IDENTICAL:
        out.append("no distance changed. Is it the same file?")
    elif geometry.largest <= ROUNDING:
        out.append(
            f"no distance changed by more than {geometry.largest:.1g}, as by rounding. "
            "Is the weight too small?"
        )
    elif geometry.left is Left.NO_CONTROLS:
        out.append(
            "no control words, so that destroyed vectors would look like success. Add controls."
        )
    elif geometry.left is Left.TOO_FEW:
        out.append("too few control words to see whether the vectors are destroyed. Add controls.")
    elif geometry.left.destroyed:
        out.append(
            f"distances to control words hardly correlate with those before "
            f"({geometry.least.value:.2f}). The vectors are destroyed, and a small difference says "
            "nothing about the method."
        )
    made = item.construction
    if made.found:
        words = "all" if made.forced is Forced.WHOLLY else f"{made.share:.0%} of the"
        out.append(
            f"the method makes associated and different distances of {words} words equal. Test it "
            "with a word list that it was not given."
        )
    return [f"{name}: {text}" for text in out]


def _details(result: Comparison, frame: pd.DataFrame) -> list[str]:
    """Return sentences about classes and controls."""
    out = []
    for name, item in result.methods.items():
        rows = frame[(frame["level"] == "class") & (frame["method"] == name)]
        if len(rows):
            each = ", ".join(
                f"{row.name} {row.after:+.3f} [{row.after_low:+.3f}, {row.after_high:+.3f}]"
                for row in first_rows(rows).itertuples(index=False)
            )
            out.append(f"{name}, after, by class: {each}.")
        if "controls_moved" in item.construction.flags:
            worst = control_changes(item.pairs).iloc[0]
            out.append(
                f"{name} moved distances to control words by up to {abs(worst['max_change']):.2f} "
                f"({worst['protected_word']} and {worst['attribute']})."
            )
    return out
