"""What a comparison must meet, such as ``gap<0.02, controls>0.9``: a question that a script can ask.

A requirement is a name, a comparison and a number; it is parsed and never evaluated. It is met where the whole interval
meets it: an upper limit is held against the upper end, a lower limit against the lower end, each with its Monte Carlo error.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bayesbias.basics import checks
from bayesbias.basics.digits import printed
from bayesbias.basics.errors import InputError, nearest
from bayesbias.basics.face import public_in
from bayesbias.basics.kinds import tells_kinds
from bayesbias.inference.contrasts import contrast_draws
from bayesbias.inference.diagnostics import describe_draws
from bayesbias.inference.estimands import PROB
from bayesbias.studies.comparison import Comparison
from bayesbias.studies.geometry import Related

__all__ = ["MEANINGS", "Check", "Requirement", "check_requirements", "read_requirements"]

_DIGITS = 4  # at most, after the point


class _Ends(NamedTuple):
    """The ends of an interval, and their Monte Carlo errors where they have any."""

    low: float
    high: float
    error_low: float = math.nan
    error_high: float = math.nan


_UNKNOWN = _Ends(math.nan, math.nan)


@public_in("bayesbias.studies")
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


@public_in("bayesbias.studies")
@dataclass(frozen=True)
class Check:
    """Whether a method meets a requirement.

    Attributes
    ----------
    method : str
    requirement : Requirement
    value : float
        The end of the interval that is held against the limit; not a number where it cannot be known.
    met : bool
        False also where the value cannot be known or believed.
    why : str
        Why it cannot be, or why that it is met says nothing, without a full stop; else empty.
    prob : float
        Probability of the interval.
    error : float
        Monte Carlo error of the value; not a number where it has none, or it is not known.
    by_construction : bool
        Whether the method makes the value zero whatever the vectors were: that a limit is met is no evidence then.

    Examples
    --------
    >>> from bayesbias.studies import Check, Requirement
    >>> Check("hard", Requirement("controls", ">", 0.7), value=0.93, met=True, why="", prob=0.89).line
    'hard: controls > 0.7 is met (0.93, lower end of the 89% interval)'
    """

    method: str
    requirement: Requirement
    value: float
    met: bool
    why: str
    prob: float
    error: float = math.nan
    by_construction: bool = False

    @property
    def line(self) -> str:
        """Method, requirement, value and limit in one line."""
        state = "met" if self.met else "NOT met"
        wanted = self.requirement
        if self.met and self.why:
            state += f" {self.why}"
        if self.why and not self.met:
            reason = self.why
        else:
            end = "upper" if wanted.sign.startswith("<") else "lower"
            of = f"{end} end of the {self.prob:.0%} interval" if wanted.name in _WITH_INTERVAL else "observed"
            known = not math.isnan(self.error)
            value = printed(self.value, self.error, _DIGITS) if known else f"{self.value:.4g}"
            reason = f"{value}, {of}"
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
            "by_construction": self.by_construction,
        }

    def __bool__(self) -> bool:
        return self.met


def _of_draws(draws: np.ndarray, prob: float) -> list[_Ends]:
    """Return the ends of the HPDI of the size of each thing drawn, shape (chain, draw, n), with their Monte Carlo errors."""
    described = describe_draws(np.abs(draws), prob)
    return [
        _Ends(row.hpdi_low, row.hpdi_high, row.mcse_low, row.mcse_high)
        for row in described.astype(float).itertuples(index=False)
    ]


def _gap(comparison: Comparison, method: str, prob: float, level: str = "overall") -> _Ends:
    means = comparison.methods[method].after.draws_of("means", level=level, estimand="population")
    gaps = contrast_draws(means, [("associated", "different")])
    ends = _of_draws(gaps.to_numpy(), prob) if gaps.sizes["row"] else []
    if not ends:
        return _UNKNOWN
    # The worst class for either sign.
    lowest, highest = min(ends, key=lambda each: each.low), max(ends, key=lambda each: each.high)
    return _Ends(lowest.low, highest.high, lowest.error_low, highest.error_high)


def _class_gap(comparison: Comparison, method: str, prob: float) -> _Ends:
    return _gap(comparison, method, prob, "class")


def _gap_in_sds(comparison: Comparison, method: str, prob: float) -> _Ends:
    sd = comparison.geometry_of(method, prob).sd_after
    return _Ends(*(each / sd for each in _gap(comparison, method, prob))) if sd > 0 else _UNKNOWN


def _moved_mean(connection: str) -> Callable[[Comparison, str, float], _Ends]:
    def ends(comparison: Comparison, method: str, prob: float) -> _Ends:
        changes = comparison.draws_of("changes", method=method, estimand="population")
        mine = (changes["level"] == "overall") & (changes["connection"] == connection)
        rows = np.flatnonzero(mine.to_numpy())
        return _of_draws(changes.to_numpy()[..., rows[:1]], prob)[0] if len(rows) else _UNKNOWN

    return ends


def _ends(related: Related) -> _Ends:
    return _Ends(related.low, related.high)


def _moved(comparison: Comparison, method: str, prob: float) -> _Ends:
    rms = comparison.methods[method].geometry.rms
    return _Ends(rms, rms)


@dataclass(frozen=True)
class _Quantity:
    meaning: str
    ends: Callable[[Comparison, str, float], _Ends]
    fits: tuple[str, ...] = ()  # those that must have converged
    unknown: str = "the tables hold no such control words"
    interval: bool = True
    of_gap: bool = False  # overall, which a method that equalises all sets of words makes zero


_FORCED = "by construction: no evidence"
_NO_GAP = "the tables hold no associated and different attributes to contrast"
_KNOWN: Mapping[str, _Quantity] = {
    "gap": _Quantity(
        "size of associated - different after, overall, for new words: HPDI of its draws",
        _gap,
        ("after",),
        _NO_GAP,
        of_gap=True,
    ),
    "gap_sd": _Quantity(
        "the same in standard deviations of the distances to control words after",
        _gap_in_sds,
        ("after",),
        "the tables hold no such gap, or no control words",
        of_gap=True,
    ),
    "class_gap": _Quantity(
        "as gap, of the class in which it is met least", _class_gap, ("after",), f"{_NO_GAP} in a class"
    ),
    "controls": _Quantity(
        "correlation of distances to control words before and after, the lower of the two in the table of the "
        "geometry, with its interval",
        lambda found, method, prob: _ends(found.geometry_of(method, prob).least),
        unknown="the tables hold no control words, or too few",
    ),
    "slope": _Quantity(
        "slope of distances to control words after on those before, with its interval",
        lambda found, method, prob: _ends(found.geometry_of(method, prob).slope),
        unknown="the tables hold no control words, or too few",
    ),
    "moved": _Quantity(
        "root mean square change of distances to control words, as observed", _moved, interval=False
    ),
    "human": _Quantity(
        "size of the mean change of distances to human control words, for new words: HPDI of its draws",
        _moved_mean("human"),
        ("change",),
    ),
    "neutral": _Quantity("the same of neutral control words", _moved_mean("neutral"), ("change",)),
}
_WITH_INTERVAL = frozenset(name for name, known in _KNOWN.items() if known.interval)

MEANINGS: Mapping[str, str] = {name: known.meaning for name, known in _KNOWN.items()}
"""What may be required, and what it means."""

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
            limit = float(number)
        except ValueError:
            limit = math.nan
        if not math.isfinite(limit):
            raise InputError(
                f"the limit of {name} is no number", where="requirement", found=number, valid="such as 0.02"
            )
        out.append(Requirement(name, sign, limit))
    return tuple(out)


@tells_kinds
def check_requirements(
    comparison: Comparison, requirements: str | tuple[Requirement, ...], prob: float = PROB
) -> tuple[Check, ...]:
    """Say which requirements each method of a comparison meets.

    A requirement is met where the whole interval meets it: an upper limit (``<``) is held against the upper end, a lower
    limit (``>``) against the lower end, and either by more than twice its Monte Carlo error. What cannot be known,
    and what comes from a fit that has not converged, is not met. A limit of ``gap`` or ``gap_sd`` is met *by construction*,
    and the check says so, where the method makes this gap zero whatever the vectors were (`Comparison.contrasts`): that is
    no evidence.

    Parameters
    ----------
    comparison : Comparison
    requirements : str or tuple of Requirement
        Such as ``"gap<0.02, controls>0.9"``. Names: ``gap`` (size of associated - different after, overall, for new
        words), ``gap_sd`` (the same in standard deviations of the distances to control words), ``class_gap`` (of the
        class in which it is met least), ``controls`` (correlation of distances to control words before and after, the
        lower of the two in `Comparison.geometry`), ``slope`` (of those distances), ``moved`` (their root mean square
        change, as observed), ``human`` and ``neutral`` (size of the mean change of distances to these control words).
        Intervals of what is modelled are HPDIs of its draws.
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
    ends = known.ends(comparison, method, prob)
    upper = wanted.sign.startswith("<")
    value, error = (ends.high, ends.error_high) if upper else (ends.low, ends.error_low)
    why = f"the sampler cannot be believed yet: {problems[0]}" if problems else ""
    if math.isnan(value):
        why = known.unknown
    meets = _SIGNS[wanted.sign]
    # An end that another seed might put on the other side of the limit meets nothing.
    doubt = 0.0 if math.isnan(error) else 2 * error if upper else -2 * error
    met = not why and meets(value + doubt, wanted.limit)
    if not met and not why and meets(value, wanted.limit):
        why = f"{printed(value, error, _DIGITS)} is nearer to the limit than twice its Monte Carlo error: draw longer"
    forced = known.of_gap and comparison.methods[method].construction.forces_gap
    if met and forced:
        why = _FORCED
    return Check(method, wanted, value, met, why, prob, error, forced)
