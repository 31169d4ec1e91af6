"""What limits on one debiasing method are compared with, such as ``gap<0.02, controls>0.9``."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import pandas as pd

from bayesbias.core.conventions import ROPE
from bayesbias.inference.measured import ENDS, Measure, Measured, exact, share_found
from bayesbias.wordlists.wordlist import CONTROLS

if TYPE_CHECKING:
    from bayesbias.studies.debiasing.comparison import Comparison

OF_INTEREST = "associated - different"  # the contrast whose size is the gap
NOISE = "noise has no gap either, and the vectors are destroyed"


def measured_method(comparison: Comparison, method: str, prob: float) -> Measured:
    """Return what limits on a method are compared with.

    An upper limit of a gap is not met where the vectors are destroyed, since noise has no gap.
    """
    item = comparison.methods[method]
    geometry = comparison.geometry_of(method, prob)
    noise = NOISE if geometry.destroyed else ""
    pairs = item.account["pairs"] + item.account["only_in_original"]
    lost = len(item.account["words_only_in_original"])
    coverage = share_found(comparison.original.provenance.get("coverage"), lost)

    def contrasts() -> pd.DataFrame:
        rows = comparison.contrasts(prob, method=method, detail=True)
        return rows.assign(shown=rows["name"].where(rows["level"] != "overall", ""))

    other: dict[str, Callable[[], Measure]] = {
        name: partial(_gap, comparison, method, prob, name, noise)
        for name in ("gap", "gap_sd", "class_gap")
    }
    other |= {
        "controls": lambda: exact(geometry.least.low, geometry.least.high),
        "slope": lambda: exact(geometry.slope.low, geometry.slope.high),
        "moved": lambda: exact(geometry.rms),
        "pairs": lambda: exact(len(item.pairs) / pairs),
    }
    other |= {name: partial(_moved, comparison, method, prob, name) for name in CONTROLS}
    other["coverage"] = lambda: exact(coverage)

    converged = all(fit.diagnostics()["ok"] for fit in (item.after, item.change) if fit)
    return Measured(contrasts, converged, other, refused=noise)


def _gap(comparison: Comparison, method: str, prob: float, name: str, noise: str) -> Measure:
    """Return the gap after a method: its size overall, in SDs of control pairs, or by class."""
    item = comparison.methods[method]
    about = {
        "converged": item.after.diagnostics()["ok"],
        "is_size": True,
        "by_construction": "no" if name == "class_gap" else item.construction.forced,
        "refused_below": noise,
    }
    if not comparison.has_gap:
        return exact(math.nan, **about)

    level = "class" if name == "class_gap" else "overall"
    rows = comparison.contrasts(prob, ROPE, "population", method, level, detail=True)
    rows = rows[rows["contrast"] == OF_INTEREST]
    ends = rows[["after_low", "after_high", "mcse_after_low", "mcse_after_high"]]
    if name == "gap_sd":  # without controls their SD is not known
        ends = ends / (comparison.geometry_of(method, prob).sd_after or math.nan)
    shown = rows["name"] if level == "class" else ""
    return Measure(ends.set_axis(ENDS, axis=1).assign(shown=shown), **about)


def _moved(comparison: Comparison, method: str, prob: float, controls: str) -> Measure:
    """Return the size of the mean change of the pairs with one kind of controls."""
    change = comparison.methods[method].change
    rows = comparison.changes(prob, estimand="population", method=method, level="overall")
    rows = rows[rows["connection"] == controls].assign(shown="")
    converged = change is None or change.diagnostics()["ok"]
    return Measure(rows, converged=converged, is_size=True)
