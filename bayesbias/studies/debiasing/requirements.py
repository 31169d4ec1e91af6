"""What a comparison must meet, such as ``gap<0.02, controls>0.9``: a question that a script can ask.

A requirement is met where the whole interval meets it, by more than two Monte Carlo errors: an
upper limit is compared with the upper end, a lower limit with the lower end. For sizes (gaps,
changes of controls) the upper limit is compared with the end that lies farther from zero, and the
lower limit with the nearer one, or with zero where the interval includes it.
"""

from __future__ import annotations

import math
import operator
import re
from dataclasses import dataclass
from typing import Any, NamedTuple

from bayesbias.core.errors import InputError, nearest
from bayesbias.inference.estimands import PROB, ROPE
from bayesbias.studies.debiasing.comparison import OF_INTEREST, Comparison
from bayesbias.studies.debiasing.construction import Forced

__all__ = ["Check", "Requirement", "check_requirements", "read_requirements"]

SIGNS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
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


class Ends(NamedTuple):
    """The ends of an interval with their Monte Carlo errors, and the class that it is of."""

    low: float
    high: float
    error_low: float = 0.0
    error_high: float = 0.0
    protected_class: str = ""


@dataclass(frozen=True)
class Requirement:
    """One requirement: a name, ``<``, ``<=``, ``>`` or ``>=``, and a number.

    Examples
    --------
    >>> import bayesbias as bb
    >>> str(bb.studies.Requirement("controls", ">", 0.7))
    'controls > 0.7'
    """

    name: str
    sign: str
    limit: float

    def __str__(self) -> str:
        return f"{self.name} {self.sign} {self.limit:g}"


@dataclass(frozen=True)
class Check:
    """Whether a method meets a requirement.

    Attributes
    ----------
    method : str
    requirement : Requirement
    value : float
        What is compared with the limit: an end of the interval. NaN where it is not known.
    met : bool
        False also where the value is not known, or its fit has not converged.
    why : str
        Why it is not met, or why that it is met is no evidence.
    low, high : float
        The interval.
    by_construction : Forced
        How much of the value the method forces to zero whatever the vectors were.
    protected_class : str
        The class that meets ``class_gap`` least.

    Examples
    --------
    >>> from bayesbias.studies import Check, Requirement
    >>> Check("hard", Requirement("controls", ">", 0.7), value=0.93, met=True).line
    'hard: controls > 0.7 is met (0.93)'
    """

    method: str
    requirement: Requirement
    value: float
    met: bool
    why: str = ""
    low: float = math.nan
    high: float = math.nan
    by_construction: Forced = Forced.NO
    protected_class: str = ""

    @property
    def line(self) -> str:
        """Method, requirement and value in one line."""
        of = f" for {self.protected_class}" if self.protected_class else ""
        parts = [
            *([] if math.isnan(self.value) else [f"{self.value:.4g}{of}"]),
            *([self.why] if self.why else []),
        ]
        return f"{self.method}: {self.requirement} is {'met' if self.met else 'NOT met'} ({'; '.join(parts)})"

    def as_dict(self) -> dict[str, Any]:
        """Return the fields, for JSON."""
        fields = {
            name: getattr(self, name) for name in ("method", "met", "why", "value", "low", "high")
        }
        fields |= {name: None for name in ("value", "low", "high") if math.isnan(fields[name])}
        wanted = self.requirement
        about = {
            "requirement": str(wanted),
            "name": wanted.name,
            "sign": wanted.sign,
            "limit": wanted.limit,
        }
        forced = {
            "by_construction": self.by_construction.value,
            "protected_class": self.protected_class or None,
        }
        return {**fields, **about, **forced}

    def __bool__(self) -> bool:
        return self.met


def read_requirements(text: str) -> tuple[Requirement, ...]:
    """Read requirements with commas between them.

    Raises
    ------
    InputError
        If one is not NAME, a sign and a number, or has an unknown name.

    Examples
    --------
    >>> [str(each) for each in read_requirements("gap<0.02, controls >= .9")]
    ['gap < 0.02', 'controls >= 0.9']
    """
    out = []
    for part in text.split(","):
        match = re.fullmatch(r"\s*(\w+)\s*(<=|>=|<|>)\s*([-+.\deE]+)\s*", part)
        try:
            limit = float(match[3]) if match else math.nan
        except ValueError:
            limit = math.nan
        if match is None or not math.isfinite(limit):
            valid = "NAME < NUMBER, with <, <=, > or >=, a decimal point, and commas between requirements"
            raise InputError(
                "not a requirement", where="requirement", found=part.strip(), valid=valid
            )
        if match[1] not in MEANINGS:
            names = list(MEANINGS)
            raise InputError(
                "unknown name",
                where="requirement",
                found=match[1],
                valid=", ".join(names),
                hint=nearest(match[1], names),
            )
        out.append(Requirement(match[1], match[2], limit))
    return tuple(out)


def check_requirements(
    comparison: Comparison, requirements: str | tuple[Requirement, ...], prob: float = PROB
) -> tuple[Check, ...]:
    """Say which requirements each method of a comparison meets.

    An upper limit of a gap is not met where the vectors are destroyed, since noise has no gap.
    Where the method forces the gap to zero whatever the vectors were, the check says so: that it is
    met is no evidence.

    Parameters
    ----------
    comparison : Comparison
    requirements : str or tuple of Requirement
        Such as ``"gap<0.02, controls>0.9"``. Names: ``gap, gap_sd, class_gap, controls, slope,
        moved, pairs, human, neutral``.
    prob : float in (0, 1)
        Probability of the intervals.

    Returns
    -------
    tuple of Check
        Method by method, in the order of the requirements; a check is true where it is met.

    Raises
    ------
    InputError
        If a requirement cannot be read.

    Examples
    --------
    >>> import bayesbias as bb
    >>> before = bb.distance_table("minilm-static", "religion")
    >>> after = bb.distance_table(bb.hard_debias("minilm-static", "religion").embedding, "religion")
    >>> found = bb.compare(before, after, draws=100, tune=100, chains=2, seed=1)
    >>> [check.met for check in check_requirements(found, "controls>0.7, moved<0.001")]
    [True, False]
    """
    wanted = read_requirements(requirements) if isinstance(requirements, str) else requirements
    return tuple(
        _checked(comparison, method, each, prob) for method in comparison.methods for each in wanted
    )


def _checked(comparison: Comparison, method: str, wanted: Requirement, prob: float) -> Check:
    item, name, upper = comparison.methods[method], wanted.name, wanted.sign.startswith("<")
    intervals = _intervals(comparison, method, name, prob)
    compared = [(_compared(ends, upper, name in SIZES), ends) for ends in intervals]
    if not compared:
        return Check(
            method, wanted, math.nan, False, "it is not known: the tables hold too few such words"
        )
    (value, error), ends = (max if upper else min)(compared, key=lambda each: each[0][0])
    forced = item.construction.forced if name in ("gap", "gap_sd") else Forced.NO
    about: dict[str, Any] = {
        "low": ends.low,
        "high": ends.high,
        "by_construction": forced,
        "protected_class": ends.protected_class,
    }
    fit = item.after if name in GAPS else item.change if name in ("human", "neutral") else None
    if fit is not None and not fit.diagnostics()["ok"]:
        return Check(method, wanted, value, False, "the sampler has not converged", **about)
    if upper and name in GAPS and comparison.geometry_of(method, prob).left.destroyed:
        return Check(
            method,
            wanted,
            value,
            False,
            "noise has no gap either, and the vectors are destroyed",
            **about,
        )
    meets = SIGNS[wanted.sign]
    met = meets(value + (2 if upper else -2) * error, wanted.limit)
    why = "by construction: no evidence" if met and forced else ""
    if not met and meets(value, wanted.limit):
        why = "too close to call: raise --draws"
    return Check(method, wanted, value, met, why, **about)


def _compared(ends: Ends, upper: bool, is_size: bool) -> tuple[float, float]:
    """Return what is compared with a limit, and its Monte Carlo error."""
    if not is_size:
        return (ends.high, ends.error_high) if upper else (ends.low, ends.error_low)
    sizes, error = (abs(ends.low), abs(ends.high)), max(ends.error_low, ends.error_high)
    return max(sizes) if upper else 0.0 if ends.low <= 0 <= ends.high else min(sizes), error


def _intervals(comparison: Comparison, method: str, name: str, prob: float) -> list[Ends]:
    """Return the interval of a quantity, or of ``class_gap`` one for each class; none where it is not known."""
    item, geometry = comparison.methods[method], comparison.geometry_of(method, prob)
    if name in ("gap", "class_gap"):
        if not {"associated", "different"} <= set(map(str, item.pairs["connection"].unique())):
            return []
        rows = comparison.contrasts(prob, ROPE, "population", method)
        rows = rows[
            (rows["level"] == ("overall" if name == "gap" else "class"))
            & (rows["contrast"] == OF_INTEREST)
        ]
        ends = [
            _row(row, "after_low", "after_high", name == "class_gap")
            for row in rows.to_dict("records")
        ]
    elif name == "gap_sd":
        ends = [
            _row(row, "gap_after_low", "gap_after_high")
            for row in comparison.geometry(prob, method).to_dict("records")
        ]
    elif name in ("human", "neutral"):
        rows = comparison.changes(prob, ROPE, "population", method)
        rows = rows[(rows["level"] == "overall") & (rows["connection"] == name)]
        ends = [_row(row, "hpdi_low", "hpdi_high") for row in rows.to_dict("records")]
    elif name == "pairs":
        share = len(item.pairs) / (item.account["pairs"] + item.account["only_in_original"])
        ends = [Ends(share, share)]
    elif name == "moved":
        ends = [Ends(item.geometry.rms, item.geometry.rms)]
    else:
        related = geometry.least if name == "controls" else geometry.slope
        ends = [Ends(related.low, related.high)]
    return [each for each in ends if not math.isnan(each.low)]


def _row(row: dict[Any, Any], low: str, high: str, of_class: bool = False) -> Ends:
    errors = (row.get(f"mcse_{end.removeprefix('hpdi_')}", 0.0) for end in (low, high))
    first, second = (0.0 if math.isnan(error) else error for error in errors)
    name = str(row["name"]) if of_class else ""
    return Ends(row[low], row[high], first, second, protected_class=name)
