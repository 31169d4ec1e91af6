"""Limits of a comparison, such as ``gap<0.02, controls>0.9``.

For sizes (gaps, changes of controls) the upper limit is compared with the end that lies farther
from zero, and the lower limit with the nearer one, or with zero where the interval includes it.
"""

import math

import pandas as pd

from bayesbias.core import checks
from bayesbias.inference.view import ROPE
from bayesbias.studies.debiasing.comparison import OF_INTEREST, Comparison, Method
from bayesbias.studies.debiasing.construction import Forced
from bayesbias.studies.requirements import Check, Ends, Requirement, passes, worst

MEANINGS = {
    "gap": "size of associated - different after debiasing, overall, for new words",
    "gap_sd": "the same in SDs of the distances to control words",
    "class_gap": "the same as gap in the class that meets it least",
    "controls": "correlation of distances to control words before and after",
    "slope": "slope of those distances, after on before",
    "moved": "root mean square change of those distances",
    "pairs": "share of the pairs of the original that are compared",
    "human": "size of the mean change of distances to human controls, for new words",
    "neutral": "the same for neutral controls",
}
SIZES = ("gap", "gap_sd", "class_gap", "human", "neutral")
GAPS = ("gap", "gap_sd", "class_gap")


def check_comparison(
    comparison: Comparison, wanted: tuple[Requirement, ...], prob: float
) -> tuple[Check, ...]:
    """Say which requirements each method of a comparison meets."""
    for each in wanted:
        if each.sign:
            checks.choice(each.name, [*MEANINGS, "converged"], "name", "requirement")
    return tuple(
        _check(comparison, name, each, prob) for name in comparison.methods for each in wanted
    )


def _check(comparison: Comparison, method: str, wanted: Requirement, prob: float) -> Check:
    item, name, upper = comparison.methods[method], wanted.name, wanted.sign.startswith("<")
    if not wanted.sign:
        fits = [fit for fit in (item.after, item.change) if fit is not None]
        met = all(fit.diagnostics()["ok"] for fit in fits)
        why = "" if met else "the sampler has not converged"
        return Check(method, wanted, float(met), met, why)
    found = [ends for ends in _intervals(comparison, item, name, prob) if not math.isnan(ends.low)]
    if not found:
        why = "it is not known: the tables have too few such words"
        return Check(method, wanted, math.nan, False, why)
    value, error, ends = worst(found, wanted, name in SIZES)
    forced = item.construction.forced if name in ("gap", "gap_sd") else Forced.NO
    met = passes(value, error, wanted)
    fit = item.after if name in GAPS else item.change if name in ("human", "neutral") else None
    why = ""
    if fit is not None and not fit.diagnostics()["ok"]:
        met, why = False, "the sampler has not converged"
    elif upper and name in GAPS and comparison.geometry_of(method, prob).left.destroyed:
        met, why = False, "noise has no gap either, and the vectors are destroyed"
    elif met and forced:
        why = "by construction: no evidence"
    elif not met and passes(value, 0.0, wanted):
        why = "too close to call: raise --draws"
    return Check(method, wanted, value, met, why, *ends[:2], forced.value, ends.protected_class)


def _intervals(comparison: Comparison, item: Method, name: str, prob: float) -> list[Ends]:
    """Return the interval of a quantity, or of ``class_gap`` one for each class."""
    geometry = comparison.geometry_of(item.name, prob)
    if name == "pairs":
        share = len(item.pairs) / (item.account["pairs"] + item.account["only_in_original"])
        return [Ends(share, share)]
    if name == "moved":
        return [Ends(geometry.rms, geometry.rms)]
    if name in ("controls", "slope"):
        related = geometry.least if name == "controls" else geometry.slope
        return [Ends(related.low, related.high)]
    if name in ("human", "neutral"):
        rows = comparison.changes(prob, ROPE, "population", item.name, "overall")
        return _ends(rows[rows["connection"] == name], "hpdi_low", "hpdi_high")
    if not comparison.has_gap:
        return []
    level = "class" if name == "class_gap" else "overall"
    rows = comparison.contrasts(prob, ROPE, "population", item.name, level)
    rows = rows[rows["contrast"] == OF_INTEREST]
    if name == "gap_sd":  # not known without controls
        ends = ["after_low", "after_high", "mcse_after_low", "mcse_after_high"]
        rows = rows.assign(**{end: rows[end] / (geometry.sd_after or math.nan) for end in ends})
    return _ends(rows, "after_low", "after_high")


def _ends(rows: pd.DataFrame, low: str, high: str) -> list[Ends]:
    ends = rows[[low, high]].assign(
        of=rows["name"].where(rows["level"] == "class", "") if "level" in rows else "",
        **{
            f"mcse_{end}": rows[f"mcse_{end.removeprefix('hpdi_')}"].fillna(0.0)
            for end in (low, high)
        },
    )
    return [Ends(*row) for row in ends.itertuples(index=False)]
