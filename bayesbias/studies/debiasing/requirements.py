"""What a comparison must meet, such as ``gap<0.02, controls>0.9``: a question that a script can ask.

A requirement is a name, a comparison and a number; it is parsed and never evaluated. It is met where the whole interval
meets it: an upper limit is held against the upper end, a lower limit against the lower end, each with its Monte Carlo error.
What is asked for by its size, such as a gap, has the interval that every table prints: an upper limit is held against the end
that lies farther from zero, a lower limit against the nearer one, or zero where the interval holds it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from bayesbias.core import checks
from bayesbias.core.digits import allowed, error_of, printed
from bayesbias.core.errors import InputError, nearest
from bayesbias.core.formatting import as_percent
from bayesbias.inference.estimands import PROB, ROPE
from bayesbias.studies.debiasing.comparison import OF_INTEREST, Comparison
from bayesbias.studies.debiasing.construction import Forced
from bayesbias.studies.debiasing.geometry import Related

__all__ = ["Check", "Requirement", "check_requirements", "read_requirements"]

_DIGITS = 4  # at most, after the point, where they tell a value from its limit
_MOST_DIGITS = 17


class _Ends(NamedTuple):
    """The ends of an interval, and their Monte Carlo errors where they have any."""

    low: float
    high: float
    error_low: float = math.nan
    error_high: float = math.nan
    protected_class: str = ""

    def held(self, upper: bool, size: bool) -> tuple[float, float]:
        """Return what a limit is held against, and its Monte Carlo error."""
        if not size:
            return (self.high, self.error_high) if upper else (self.low, self.error_low)
        sizes = abs(self.low), abs(self.high)
        nearest = 0.0 if self.low <= 0 <= self.high else min(sizes)
        # Another seed might exchange which of the ends is the farther, so that the larger of the errors counts.
        return (max(sizes) if upper else nearest), max(self.error_low, self.error_high)


_UNKNOWN = _Ends(math.nan, math.nan)


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
        return f"{self.name} {self.sign} {float(self.limit)!r}".removesuffix(".0")


@dataclass(frozen=True)
class Check:
    """Whether a method meets a requirement.

    Attributes
    ----------
    method : str
    requirement : Requirement
    value : float
        What is held against the limit, an end of the interval; of a size the distance of that end from zero, or zero where
        a lower limit is asked for and the interval holds zero. Not a number where it cannot be known.
    met : bool
        False also where the value cannot be known or believed.
    why : str
        Why it cannot be, or why that it is met says nothing, without a full stop; else empty.
    prob : float
        Probability of the interval.
    error : float
        Monte Carlo error of the value; not a number where it has none, or it is not known.
    by_construction : Forced
        How much of the value the method makes zero whatever the vectors were: that a limit is met is no evidence then.
    low, high : float
        The ends of the interval; not a number where there is none, or it cannot be known.
    protected_class : str
        The class in which the limit is met least, of ``class_gap``; else empty.

    Examples
    --------
    >>> from bayesbias.studies import Check, Requirement
    >>> Check("hard", Requirement("controls", ">", 0.7), value=0.93, met=True, why="", prob=0.89).line
    'hard: controls > 0.7 is met (0.93, lower end of the 89% interval)'
    >>> Check("soft", Requirement("gap", "<", 0.02), 0.035, False, "", 0.89, low=-0.006, high=0.035).line
    'soft: gap < 0.02 is NOT met (0.035, the end farther from zero of the 89% interval -0.006 to +0.035)'
    """

    method: str
    requirement: Requirement
    value: float
    met: bool
    why: str
    prob: float
    error: float = math.nan
    by_construction: Forced = Forced.NO
    low: float = math.nan
    high: float = math.nan
    protected_class: str = ""

    @property
    def line(self) -> str:
        """Method, requirement, value and limit in one line."""
        state = "met" if self.met else "NOT met"
        wanted = self.requirement
        if self.met and self.why:
            state += f" {self.why}"
        reason = self.why if self.why and not self.met else f"{_shown(self)}, {_end_said(self)}"
        return f"{self.method}: {wanted} is {state} ({reason})"

    def as_dict(self) -> dict[str, Any]:
        """Return the fields, for JSON."""
        return {
            "method": self.method,
            "requirement": str(self.requirement),
            "name": self.requirement.name,
            "sign": self.requirement.sign,
            "limit": self.requirement.limit,
            "value": None if math.isnan(self.value) else self.value,
            "met": self.met,
            "why": self.why,
            "prob": self.prob,
            "by_construction": self.by_construction.value,
            "low": None if math.isnan(self.low) else self.low,
            "high": None if math.isnan(self.high) else self.high,
            "protected_class": self.protected_class or None,
        }

    def __bool__(self) -> bool:
        return self.met


def _shown(check: Check) -> str:
    """Write the value, on that side of the limit on which it lies however many digits that takes, and its class."""
    value, limit = check.value, check.requirement.limit
    texts = (
        (f"{value:.{digits}g}" for digits in range(_DIGITS, _MOST_DIGITS))
        if math.isnan(check.error)
        else (printed(value, usual=digits) for digits in range(allowed(check.error, _DIGITS), _MOST_DIGITS))
    )
    on_its_side = (text for text in texts if np.sign(float(text) - limit) == np.sign(value - limit))
    of = f" for {check.protected_class}" if check.protected_class else ""
    return f"{next(on_its_side, repr(value))}{of}"


def _end_said(check: Check) -> str:
    known, upper = _KNOWN[check.requirement.name], check.requirement.sign.startswith("<")
    if not known.interval:
        return "counted" if check.requirement.name == "pairs" else "observed"
    of = f"the {as_percent(check.prob)} interval"
    if not known.size or math.isnan(check.low):
        return f"{'upper' if upper else 'lower'} end of {of}"
    decimals = len(_shown(check).partition(" ")[0].partition(".")[2])
    ends = " to ".join(printed(end, usual=decimals, signed=True) for end in (check.low, check.high))
    if not upper and check.low <= 0 <= check.high:
        return f"which {of} {ends} holds"
    return f"the end {'farther from' if upper else 'nearer to'} zero of {of} {ends}"


def _interval(row: Any, low: str, high: str, protected_class: str = "") -> _Ends:
    """Take the ends of an interval from a table of results, so that what is held is what is printed."""
    return _Ends(row[low], row[high], error_of(row, low), error_of(row, high), protected_class)


def _gap(comparison: Comparison, method: str, prob: float, level: str = "overall") -> list[_Ends]:
    if not {"associated", "different"} <= set(
        map(str, comparison.methods[method].pairs["connection"].unique())
    ):
        return []
    rows = [
        row
        for row in comparison.contrasts(prob, ROPE, "population", method).to_dict("records")
        if (row["level"], row["contrast"]) == (level, OF_INTEREST)
    ]
    return [
        _interval(row, "after_low", "after_high", str(row["name"]) if level == "class" else "")
        for row in rows
    ]


def _class_gap(comparison: Comparison, method: str, prob: float) -> list[_Ends]:
    return _gap(comparison, method, prob, "class")


def _gap_in_sds(comparison: Comparison, method: str, prob: float) -> list[_Ends]:
    row = comparison.geometry(prob, method).to_dict("records")[0]
    return [_interval(row, "gap_after_low", "gap_after_high")]


def _moved_mean(connection: str) -> Callable[[Comparison, str, float], list[_Ends]]:
    def ends(comparison: Comparison, method: str, prob: float) -> list[_Ends]:
        changes = comparison.changes(prob, ROPE, "population", method)
        mine = changes[(changes["level"] == "overall") & (changes["connection"] == connection)]
        return [_interval(row, "hpdi_low", "hpdi_high") for row in mine.to_dict("records")]

    return ends


def _ends(related: Related) -> list[_Ends]:
    return [_Ends(related.low, related.high)]


def _moved(comparison: Comparison, method: str, prob: float) -> list[_Ends]:
    rms = comparison.methods[method].geometry.rms
    return [_Ends(rms, rms)]


def _share_of_pairs(comparison: Comparison, method: str, prob: float) -> list[_Ends]:
    item = comparison.methods[method]
    share = len(item.pairs) / (item.account["pairs"] + item.account["only_in_original"])
    return [_Ends(share, share)]


@dataclass(frozen=True, eq=False)
class _Quantity:
    ends: Callable[[Comparison, str, float], list[_Ends]]  # one, or one for each class
    fits: tuple[str, ...] = ()  # those that must have converged
    unknown: str = "the tables hold no such control words"
    interval: bool = True
    size: bool = False  # without its sign
    of_gap: bool = False  # overall, which a method that equalizes all sets of words makes zero
    least: float = -math.inf
    most: float = math.inf


_NO_GAP = "the tables hold no associated and different attributes to contrast"
_KNOWN: Mapping[str, _Quantity] = {
    "gap": _Quantity(_gap, ("after",), _NO_GAP, size=True, of_gap=True, least=0.0),
    "gap_sd": _Quantity(
        _gap_in_sds,
        ("after",),
        "the tables hold no such gap, or no control words",
        size=True,
        of_gap=True,
        least=0.0,
    ),
    "class_gap": _Quantity(_class_gap, ("after",), f"{_NO_GAP} in a class", size=True, least=0.0),
    "controls": _Quantity(
        lambda found, method, prob: _ends(found.geometry_of(method, prob).least),
        unknown="the tables hold no control words, or too few",
        least=-1.0,
        most=1.0,
    ),
    "slope": _Quantity(
        lambda found, method, prob: _ends(found.geometry_of(method, prob).slope),
        unknown="the tables hold no control words, or too few",
    ),
    "moved": _Quantity(_moved, interval=False, least=0.0),
    "pairs": _Quantity(_share_of_pairs, interval=False, least=0.0, most=1.0),
    "human": _Quantity(_moved_mean("human"), ("change",), size=True, least=0.0),
    "neutral": _Quantity(_moved_mean("neutral"), ("change",), size=True, least=0.0),
}
"""How each name of `limits.MEANINGS` is told."""

_GAPS = ("gap", "gap_sd", "class_gap")  # which vectors that are destroyed have none of
_SIGNS: Mapping[str, Callable[[float, float], bool]] = {
    "<": lambda value, limit: value < limit,
    "<=": lambda value, limit: value <= limit,
    ">": lambda value, limit: value > limit,
    ">=": lambda value, limit: value >= limit,
}
_FORM = re.compile(r"([^<>=\s]+)\s*(<=|>=|<|>)\s*(\S+)", re.ASCII)


def read_requirements(text: str) -> tuple[Requirement, ...]:
    """Read requirements with commas between them.

    Examples
    --------
    >>> [str(each) for each in read_requirements("gap<0.02, controls >= .9")]
    ['gap < 0.02', 'controls >= 0.9']

    Raises
    ------
    InputError
        Where one is no requirement or has an unknown name.
    """
    if comma := re.search(r"\d,\d", text):
        found = f"{text[: comma.end()].split(',')[-2]},{text[comma.end() - 1 :].split(',')[0]}".strip()
        raise InputError(
            "is no requirement",
            where="requirement",
            found=found,
            valid="numbers with a decimal point; commas stand between requirements",
            hint=f"did you mean {found.replace(',', '.')!r}?",
        )
    out = []
    for part in text.split(","):
        match = _FORM.fullmatch(part.strip())
        if match is None:
            raise InputError(
                "is no requirement",
                where="requirement",
                found=part.strip(),
                valid="NAME < NUMBER, with <, <=, > or >=, and commas between several",
                hint=f"the names are {', '.join(_KNOWN)}",
            )
        name, sign, number = match.groups()
        if name not in _KNOWN:
            raise InputError(
                "unknown name",
                where="requirement",
                found=name,
                valid=", ".join(_KNOWN),
                hint=nearest(name, _KNOWN),
            )
        try:
            limit = float(number) if checks.is_typed_number(number) else math.nan
        except ValueError:
            limit = math.nan
        if not math.isfinite(limit):
            raise InputError(
                f"the limit of {name} is no number", where="requirement", found=number, valid="such as 0.02"
            )
        _refuse_beyond(name, sign, limit, part.strip())
        out.append(Requirement(name, sign, limit))
    return tuple(out)


def _refuse_beyond(name: str, sign: str, limit: float, found: str) -> None:
    """Refuse a limit that lies where the quantity cannot be, such as one below zero for a size."""
    least, most = _KNOWN[name].least, _KNOWN[name].most
    if (
        least < limit < most
        or (limit == least and sign in ("<=", ">"))
        or (limit == most and sign in (">=", "<"))
    ):
        return
    low = limit <= least
    raise InputError(
        f"{name} is {'a correlation' if least < 0 else 'a share' if most == 1 else 'a size'}, so that the limit would "
        f"{'never' if low == sign.startswith('<') else 'always'} be met",
        where="requirement",
        found=found,
        valid=f"a limit above {least:g}" if low else f"a limit below {most:g}",
    )


def check_requirements(
    comparison: Comparison, requirements: str | tuple[Requirement, ...], prob: float = PROB
) -> tuple[Check, ...]:
    """Say which requirements each method of a comparison meets.

    A requirement is met where the whole interval meets it: an upper limit (``<``) is held against the upper end, a lower
    limit (``>``) against the lower end, and either by more than twice its Monte Carlo error. Of what is asked for by its
    size (``gap``, ``gap_sd``, ``class_gap``, ``human``, ``neutral``) the interval is that of the difference itself, as
    tables print it: an upper limit is held against the end that lies farther from zero, a lower one against the nearer
    end, and against zero where the interval holds it. What cannot be known,
    and what comes from a fit that has not converged, is not met; nor is an upper limit of a gap where the geometry of the
    control words is destroyed, since noise has no gap either. A limit of ``gap`` or ``gap_sd`` is met *by construction*,
    and the check says so, where the method makes this gap zero whatever the vectors were, for all protected words or for
    some (`Comparison.contrasts`): that is no evidence.

    Parameters
    ----------
    comparison : Comparison
    requirements : str or tuple of Requirement
        Such as ``"gap<0.02, controls>0.9"``. Names: ``gap`` (size of associated - different after, overall, for new
        words), ``gap_sd`` (the same in standard deviations of the distances to control words), ``class_gap`` (of the
        class in which it is met least), ``controls`` (correlation of distances to control words before and after, the
        lower of the two in `Comparison.geometry`), ``slope`` (of those distances), ``moved`` (their root mean square
        change, as observed), ``pairs`` (share of the pairs of the original that are compared), ``human`` and ``neutral``
        (size of the mean change of distances to these control words). Intervals of what is modelled are HPDIs.
    prob : float in (0, 1)
        Probability of the intervals.

    Returns
    -------
    tuple of Check
        Method by method, in the order of the requirements; a check is true where it is met.

    Raises
    ------
    InputError
        Where a requirement cannot be read.

    Examples
    --------
    >>> import bayesbias as bb
    >>> before = bb.distance_table("minilm-static", "religion")
    >>> after = bb.distance_table(bb.hard_debias("minilm-static", "religion").embedding, "religion")
    >>> found = bb.compare(before, after, draws=100, tune=100, chains=2, seed=1)
    >>> [check.met for check in check_requirements(found, "controls>0.7, moved<0.001")]
    [True, False]
    """
    prob = checks.probability(prob)
    wanted = read_requirements(requirements) if isinstance(requirements, str) else requirements
    for each in wanted:
        checks.choice(each.name, _KNOWN, "name", "requirements")
        checks.choice(each.sign, _SIGNS, "sign", "requirements")
        checks.finite(each.limit, f"requirements, limit of {each.name}")
    return tuple(_checked(comparison, method, each, prob) for method in comparison.methods for each in wanted)


def _checked(comparison: Comparison, method: str, wanted: Requirement, prob: float) -> Check:
    known = _KNOWN[wanted.name]
    fits = {"after": comparison.methods[method].after, "change": comparison.methods[method].change}
    needed = [fit for name in known.fits if (fit := fits[name]) is not None]
    problems = [problem for fit in needed for problem in fit.diagnostics()["problems"]]
    upper = wanted.sign.startswith("<")
    meets = _SIGNS[wanted.sign]

    def surely(value: float, error: float) -> bool:
        # An end that another seed might put on the other side of the limit meets nothing.
        return meets(value + (0.0 if math.isnan(error) else 2 * error if upper else -2 * error), wanted.limit)

    held = {ends: ends.held(upper, known.size) for ends in known.ends(comparison, method, prob) or [_UNKNOWN]}
    missed = [ends for ends, each in held.items() if not surely(*each)]
    ends = (max if upper else min)(missed or held, key=lambda each: held[each][0])
    value, error = held[ends]
    why = f"the sampler cannot be believed yet: {problems[0]}" if problems else ""
    if math.isnan(value):
        why = known.unknown
    elif upper and wanted.name in _GAPS and comparison.geometry_of(method, prob).left.destroyed:
        why = "noise has no gap either, and the geometry of the control words is destroyed"
    met = not why and not missed
    forced = comparison.methods[method].construction.forced if known.of_gap else Forced.NO
    check = Check(
        method, wanted, value, met, why, prob, error, forced, ends.low, ends.high, ends.protected_class
    )
    if met and forced:
        return replace(check, why=f"{forced.label}: no evidence")
    if not met and not why and meets(value, wanted.limit):
        near = f"{_shown(check)} is nearer to the limit than twice its Monte Carlo error: draw longer"
        return replace(check, why=near)
    return check
