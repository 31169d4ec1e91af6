"""What a comparison must meet, such as ``gap<0.02, controls>0.9``, for scripts.

A requirement is met where the whole interval meets it, by more than two Monte Carlo errors: an
upper limit is compared with the upper end, a lower limit with the lower end. For sizes (gaps,
changes of controls) the upper limit is compared with the end that lies farther from zero, and the
lower limit with the nearer one, or with zero where the interval includes it.
"""

import math
import operator
import re
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import pandas as pd

from bayesbias.core import checks
from bayesbias.core.errors import InputError
from bayesbias.inference.view import PROB, ROPE
from bayesbias.studies.debiasing.comparison import OF_INTEREST, Comparison, Method
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
    """The ends of an interval, the class that it is of, and the Monte Carlo errors of the ends."""

    low: float
    high: float
    protected_class: str = ""
    error_low: float = 0.0
    error_high: float = 0.0


@dataclass(frozen=True)
class Requirement:
    """One requirement: a name, ``<``, ``<=``, ``>`` or ``>=``, and a number.

    Examples
    --------
    >>> import bayesbias as bb
    >>> str(Requirement("controls", ">", 0.7))
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
        value = "" if math.isnan(self.value) else f"{self.value:.4g}{of}"
        about = "; ".join(filter(None, (value, self.why)))
        return f"{self.method}: {self.requirement} is {'met' if self.met else 'NOT met'} ({about})"

    def as_dict(self) -> dict[str, Any]:
        """Return the fields, for JSON; None for what is not known."""
        fields = {**asdict(self), **asdict(self.requirement), "requirement": str(self.requirement)}
        fields["by_construction"] = self.by_construction.value
        return {
            name: None if isinstance(value, float) and math.isnan(value) else value
            for name, value in fields.items()
        }


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
        match = re.fullmatch(r"\s*(\w+)\s*(<=|>=|<|>)\s*([-+]?[\d.]+(?:[eE][-+]?\d+)?)\s*", part)
        if match is None:
            raise InputError(
                "requirement: expected NAME < NUMBER (or <=, >, >=), several with commas",
                found=part.strip(),
            )
        checks.choice(match[1], MEANINGS, "name", "requirement")
        out.append(Requirement(match[1], match[2], float(match[3])))
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
        _check(comparison, name, each, prob) for name in comparison.methods for each in wanted
    )


def _check(comparison: Comparison, method: str, wanted: Requirement, prob: float) -> Check:
    item, name, upper = comparison.methods[method], wanted.name, wanted.sign.startswith("<")
    compared = [
        (*_compared(ends, upper, name in SIZES), ends)
        for ends in _intervals(comparison, item, name, prob)
        if not math.isnan(ends.low)
    ]
    if not compared:
        why = "it is not known: the tables have too few such words"
        return Check(method, wanted, math.nan, False, why)
    value, error, ends = (max if upper else min)(compared, key=operator.itemgetter(0))
    forced = item.construction.forced if name in ("gap", "gap_sd") else Forced.NO
    meets = SIGNS[wanted.sign]
    met = meets(value + (2 if upper else -2) * error, wanted.limit)
    fit = item.after if name in GAPS else item.change if name in ("human", "neutral") else None
    why = ""
    if fit is not None and not fit.diagnostics()["ok"]:
        met, why = False, "the sampler has not converged"
    elif upper and name in GAPS and comparison.geometry_of(method, prob).left.destroyed:
        met, why = False, "noise has no gap either, and the vectors are destroyed"
    elif met and forced:
        why = "by construction: no evidence"
    elif not met and meets(value, wanted.limit):
        why = "too close to call: raise --draws"
    return Check(method, wanted, value, met, why, *ends[:2], forced, ends.protected_class)


def _compared(ends: Ends, upper: bool, is_size: bool) -> tuple[float, float]:
    """Return what is compared with a limit, and its Monte Carlo error."""
    if not is_size:
        return (ends.high, ends.error_high) if upper else (ends.low, ends.error_low)
    sizes, error = (abs(ends.low), abs(ends.high)), max(ends.error_low, ends.error_high)
    return max(sizes) if upper else 0.0 if ends.low <= 0 <= ends.high else min(sizes), error


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
