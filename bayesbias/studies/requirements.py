"""Limits that a result must meet, for scripts.

Such as ``coverage>0.9, associated - different>-0.05``.

A limit is met where the whole interval meets it, by more than two Monte Carlo errors: an upper
limit is compared with the upper end, a lower limit with the lower end.
"""

import math
import operator
import re
from collections.abc import Container, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import pandas as pd

from bayesbias.core import InputError, checks, join_words
from bayesbias.core.conventions import PROB
from bayesbias.core.files import plain
from bayesbias.core.result import opened
from bayesbias.inference.estimands import ESTIMANDS
from bayesbias.inference.measured import ENDS, Measure, Measured, exact
from bayesbias.inference.view import few_draws, sure_ends

SIGNS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
FORM = re.compile(r"\s*(.+?)\s*(<=|>=|<|>)\s*([-+]?[\d.]+(?:[eE][-+]?\d+)?)\s*")
CHANCE = re.compile(r"P\(\|any (difference|group - others|group - mean)\| > ([\d.eE+-]+)\)")
ANY = {"difference": "pairs", "group - others": "others", "group - mean": "mean"}
CONVERGED = "converged"
OF_ALL = ("coverage", CONVERGED)  # names that limits on every result may have
UNCONVERGED = "the sampler has not converged"


@dataclass(frozen=True)
class Requirement:
    """One requirement: a name, ``<``, ``<=``, ``>`` or ``>=``, and a number; or ``converged``.

    Examples
    --------
    >>> str(Requirement("controls", ">", 0.7))
    'controls > 0.7'
    """

    name: str
    sign: str = ""
    limit: float = math.nan

    def __str__(self) -> str:
        return f"{self.name} {self.sign} {self.limit:g}" if self.sign else self.name


@dataclass(frozen=True)
class Check:
    """Whether a method meets a requirement.

    Attributes
    ----------
    method : str
        Of a comparison, else "".
    requirement : Requirement
    value : float
        What is compared with the limit: an end of the interval. NaN where it is not known.
    met : bool
        False also where the value is not known, or its fit has not converged.
    why : str
        Why it is not met, or why that it is met is no evidence.
    low, high : float
        The interval.
    by_construction : str
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
    by_construction: str = "no"
    protected_class: str = ""

    @property
    def line(self) -> str:
        """Method, requirement and value in one line."""
        of = f" for {self.protected_class}" if self.protected_class else ""
        unknown = math.isnan(self.value) or self.requirement.name == CONVERGED
        value = "" if unknown else f"{self.value:.4g}{of}"
        about = "; ".join(filter(None, (value, self.why)))
        ahead = f"{self.method}: " if self.method else ""
        said = f"{ahead}{self.requirement} is {'met' if self.met else 'NOT met'}"
        return f"{said} ({about})" if about else said

    def as_dict(self) -> dict[str, Any]:
        """Return the fields, for JSON; None for what is not known."""
        wanted = self.requirement
        return plain({**asdict(self), **asdict(wanted), "requirement": str(wanted)})


def read_requirements(text: str) -> tuple[Requirement, ...]:
    """Read requirements with commas between them; names may have commas too.

    Raises
    ------
    InputError
        If one is neither ``converged`` nor a name, a sign and a number.

    Examples
    --------
    >>> [str(limit) for limit in read_requirements("gap<0.02, human - neutral >= .9, converged")]
    ['gap < 0.02', 'human - neutral >= 0.9', 'converged']
    >>> [str(limit) for limit in read_requirements("converged, asian, female - mean > -1")]
    ['converged', 'asian, female - mean > -1']
    """
    out: list[Requirement] = []
    begun: list[str] = []  # parts of a name with commas, such as "asian, female - mean"
    for part in text.split(","):
        begun.append(part)
        limit = ",".join(begun)
        match = FORM.fullmatch(limit)
        if match is not None:
            out.append(Requirement(match[1], match[2], float(match[3])))
        elif limit.strip() == CONVERGED:
            out.append(Requirement(CONVERGED))
        else:
            continue
        begun = []
    if begun:
        unread = ",".join(begun).strip()
        problem = f"expected NAME < NUMBER (or <=, >, >=) or {CONVERGED}, got {unread!r}"
        raise InputError(problem, where="requirement", hint="separate several with commas")
    return tuple(out)


def check_requirements(
    result: Any, requirements: str | tuple[Requirement, ...], prob: float = PROB
) -> tuple[Check, ...]:
    """Check whether a result meets limits.

    An upper limit of a gap is not met where the vectors are destroyed, since noise has no gap.
    Where a method forces the gap to zero whatever the vectors were, the check says so.

    Parameters
    ----------
    result : result, Run or path
        What a study or `load_run` returned, or the folder of a run.
    requirements : str or tuple of Requirement
        Such as ``"gap<0.02, controls>0.9"``. Names of a comparison: ``gap`` (size of *associated -
        different* after debiasing, for new words), ``gap_sd`` (the same in SDs of the distances to
        control words), ``class_gap`` (of the class that meets it least), ``controls``, ``slope``
        and ``moved`` (correlation, slope and root mean square change of these distances),
        ``pairs`` (share that is compared), ``human`` and ``neutral`` (size of the mean change).
        Names of all results: ``converged``, ``coverage`` (share of the listed words that were
        found, or of the answers that are used) and contrasts as they are printed, for new words;
        ``NAME (listed_words)`` is another estimand, and ``NAME (man)`` a class. A reversed
        contrast has its ends turned. Of a fit also what `BiasFit.compare` finds:
        ``different (women - men)`` compares two classes. Of a comparison
        a contrast is its change. Sentence tests without a model have their effect sizes.
    prob : float in (0, 1)
        Probability of the intervals.

    Returns
    -------
    tuple of Check
        Method by method, in the order of the requirements; ``met`` says whether each is met.

    Raises
    ------
    InputError
        If a requirement cannot be read, or the result has nothing of that name.

    Examples
    --------
    >>> import bayesbias as bb
    >>> fit = bb.fit(bb.distance_table("minilm-static", "religion"), seed=1)
    >>> limits = "converged, coverage>0.9, associated - different>-0.05"
    >>> [check.met for check in bb.studies.check_requirements(fit, limits)]
    [True, True, False]
    """
    wanted = read_requirements(requirements) if isinstance(requirements, str) else requirements
    result = opened(result)
    checks_of_all = []
    for method, measured in result.measured(prob).items():
        checks_of_all += [_checked(requirement, measured, method) for requirement in wanted]
    return tuple(checks_of_all)


def _checked(wanted: Requirement, measured: Measured, method: str) -> Check:
    """Compare what was measured with a limit."""
    name = wanted.name
    if chance := CHANCE.fullmatch(name):
        return _judge(wanted, _measure_of_chance(chance, measured), method)
    if name in measured.other:
        return _judge(wanted, measured.other[name](), method)
    if measured.refused and measured.make_contrasts is None:
        return Check(method, wanted, math.nan, False, measured.refused)
    if measured.converged is None and (name == CONVERGED or measured.contrasts.empty):
        problem = "expected a result with a model, got none"
        raise InputError(problem, where="requirement", hint="add --bayes")
    if name == CONVERGED:
        converged = bool(measured.converged)
        return Check(method, wanted, float(converged), converged, "" if converged else UNCONVERGED)
    rows = measured.contrasts
    known = [*rows["contrast"].unique(), *measured.other, CONVERGED]
    try:
        named = _rows_named(name, rows, known)
    except InputError:
        compared = _row_compared(name, measured)
        if compared is None:
            raise
        named = compared
    measure = Measure(
        named,
        converged=measured.converged is not False,
        refused=measured.refused,
    )
    return _judge(wanted, measure, method)


def _row_compared(name: str, measured: Measured) -> pd.DataFrame | None:
    """Return the row of a contrast that no table has; None where its names are unknown."""
    if measured.compare is None:
        return None
    names, *brackets = [part.strip(" )") for part in name.split(" (")]
    estimands = [part for part in brackets if part in ESTIMANDS]
    on = [part for part in brackets if part not in ESTIMANDS]
    if len(estimands) > 1 or len(on) > 1:
        return None
    estimand = estimands[0] if estimands else ESTIMANDS[0]
    try:
        return measured.compare(names, on[0] if on else None, estimand)
    except InputError:
        return None


def _measure_of_chance(match: re.Match[str], measured: Measured) -> Measure:
    """Return the probability that any difference is larger than a limit."""
    if measured.chance is None:
        problem = "expected a result of groups whose differences are drawn together"
        raise InputError(problem, where="requirement", found=match[0])
    value = measured.chance(float(match[2]), ANY[match[1]])
    return exact(value, converged=measured.converged is not False, refused=measured.refused)


def _judge(wanted: Requirement, measure: Measure, method: str) -> Check:
    """Compare the intervals of a quantity with a limit.

    Of sizes (gaps, changes of controls) the upper limit is compared with the end that lies farther
    from zero, and the lower limit with the nearer one, or with zero where the interval includes it.
    """
    rows = measure.rows.dropna(subset=["hpdi_low"])
    if rows.empty:
        why = "it is not known: the tables have too few such words"
        return Check(method, wanted, math.nan, False, why)
    upper = wanted.sign.startswith("<")

    def compared(low: float, high: float) -> float:
        if not measure.is_size:
            return high if upper else low
        sizes = abs(low), abs(high)
        if upper:
            return max(sizes)
        return 0.0 if low <= 0 <= high else min(sizes)

    # The end farthest on the wrong side. It has to be right by more than two Monte Carlo errors.
    value, row = (max if upper else min)(
        ((compared(row.hpdi_low, row.hpdi_high), row) for row in rows.itertuples()),
        key=operator.itemgetter(0),
    )
    sign, why = SIGNS[wanted.sign], ""
    ends, outer = (row.hpdi_low, row.hpdi_high), sure_ends(row)
    met = bool(sign(compared(*outer), wanted.limit))
    refused = measure.refused or (measure.refused_below if upper else "")
    if not measure.converged or refused:
        met, why = False, refused if measure.converged else UNCONVERGED
    elif met and measure.by_construction != "no":
        why = "by construction: no evidence"
    elif not met and sign(value, wanted.limit):
        why = "the interval ends at the limit (within Monte Carlo error)"
        if few_draws(ends, outer):
            why = "inconclusive with so few draws: raise --draws"
    return Check(method, wanted, value, met, why, *ends, measure.by_construction, row.shown)


def reversals(contrast: str) -> list[str]:
    """Return the names of a contrast the other way round, also of one within a level or by levels.

    Examples
    --------
    >>> reversals("a - b"), reversals("a - b (old)")
    (['b - a'], ['b - a (old)', 'b (old) - a'])
    >>> reversals("(a - b): old - young")
    ['(b - a): old - young', '(a - b): young - old']
    """

    def turned(pair: str) -> str:
        return " - ".join(pair.split(" - ")[::-1])

    if match := re.fullmatch(r"\((.+)\): (.+)", contrast):
        return [f"({turned(match[1])}): {match[2]}", f"({match[1]}): {turned(match[2])}"]
    if match := re.fullmatch(r"(.+?)( \(.+\))", contrast):
        return [f"{turned(match[1])}{match[2]}", turned(contrast)]
    return [turned(contrast)] if " - " in contrast else []


def contrast_named(
    name: str, known: Sequence[str], names: Container[str] = ()
) -> tuple[str, list[str], bool]:
    """Return the contrast that a limit names, what brackets say, and whether it is reversed.

    ``m: a - b``, as it is printed, is ``a - b (m)``. `names` are those of classes, for the error.

    Examples
    --------
    >>> contrast_named("m: b - a", ["a - b"])
    ('a - b', ['m'], True)
    """
    longest = sorted(known, key=len, reverse=True)
    for model, whole in (("", name), name.split(": ", 1) if ": " in name else ("", name)):
        ahead = [model] * bool(model)
        for contrast in longest:
            for form in (contrast, *reversals(contrast)):
                if whole != form and not whole.startswith(f"{form} ("):
                    continue
                of = [part.strip(" )") for part in whole[len(form) :].split(" (")[1:]]
                return contrast, [*ahead, *of], form != contrast
    contrast = name.split(" (")[0].strip()
    if contrast not in known:
        hint = f"to limit one row, write {known[0]} ({contrast})" if contrast in names else None
        raise checks.unknown(contrast, known, "requirement", hint)
    return contrast, of, False


def _rows_named(name: str, rows: pd.DataFrame, known: list[str]) -> pd.DataFrame:
    """Return the rows of a contrast: for new words and overall, or as the brackets say."""
    contrast, of, turned = contrast_named(name, known, set(rows["name"]))
    rows = rows[rows["contrast"] == contrast]
    estimands, names = rows["estimand"].unique(), checks.once(filter(None, rows["name"]))
    estimand = next((each for each in of if each in estimands), "population")
    classes = [each for each in of if each not in estimands]
    if len(classes) > 1:
        problem = f"expected one name in brackets, got {join_words(classes)}"
        raise InputError(problem, where="requirement")
    if not classes:
        rows = _where(rows, "level", "overall")
    for each in classes:
        own, _, back = contrast_named(each, [*estimands, *names])
        turned ^= back
        # An attribute set may have the name of its class.
        rows = _where(rows[rows["name"] == own], "level", "class")
    rows = _where(rows, "estimand", estimand)
    if turned:
        high_first = [ENDS[at] for at in (1, 0, 3, 2)]
        rows = rows.rename(columns=dict(zip(ENDS, high_first, strict=True)))
        rows[ENDS[:2]] *= -1
    return rows


def _where(rows: pd.DataFrame, column: str, value: str) -> pd.DataFrame:
    """Return the rows with a value, or all where none has it."""
    chosen = rows[column] == value
    return rows[chosen] if chosen.any() else rows
