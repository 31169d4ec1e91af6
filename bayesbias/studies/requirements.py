"""Limits that a result must meet, for scripts.

Such as ``coverage>0.9, associated - different>-0.05``.

A limit is met where the whole interval meets it, by more than two Monte Carlo errors: an upper
limit is compared with the upper end, a lower limit with the lower end. Bars limit a size, as in
``|a - b| < 0.1``, and ``P(|a - b| > 0.1) < 0.05`` limits a probability. Capitals of names matter
only where they tell names apart.
"""

import math
import operator
import re
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from bayesbias.core import InputError, checks, join_words, some
from bayesbias.core.conventions import PROB
from bayesbias.core.files import plain
from bayesbias.core.result import opened
from bayesbias.inference.estimands import ESTIMANDS
from bayesbias.inference.measured import ENDS, Measure, Measured
from bayesbias.inference.view import few_draws, sure_ends
from bayesbias.studies import common

SIGNS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
_NUMBER = r"([-+]?[\d.]+(?:[eE][-+]?\d+)?)"
FORM = re.compile(rf"\s*(.+?)\s*(<=|>=|<|>)\s*{_NUMBER}\s*")
_BRACKETS = r"((?:\s*\(.+\))?)"
CHANCE = re.compile(rf"P\(\s*(.+?)\s*(<|>)\s*{_NUMBER}\s*\){_BRACKETS}")
SIZE = re.compile(rf"\|\s*(.+?)\s*\|{_BRACKETS}")
EVERY, ANY = (
    "each ",
    "any ",
)  # ahead of names of several contrasts; the second of probabilities alone
TOGETHER = "over "  # ahead of the models that a joint probability is about
CONVERGED = "converged"
OF_ALL = ("coverage", CONVERGED)  # names that limits on every result may have
UNCONVERGED = "the sampler has not converged"
MOST_NAMED = 3  # contrasts that do not meet a limit


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
class Quantity:
    """What the name of a requirement asks for.

    Attributes
    ----------
    name : str
        The contrast or other quantity, with what brackets say.
    is_size : bool
        Whether it stands in bars: its sign does not matter.
    sign, number : str, float
        Of a probability: it is that the quantity lies below (``<``) or above the number.
    whole : str
        The name as it is written.
    """

    name: str
    is_size: bool = False
    sign: str = ""
    number: float = math.nan
    whole: str = ""

    @property
    def is_probability(self) -> bool:
        """Whether it is the probability that a quantity lies beyond a number."""
        return bool(self.sign)


def quantity_of(name: str) -> Quantity:
    """Return what a name with bars or ``P(...)`` is about; brackets may stand behind these.

    Examples
    --------
    >>> quantity_of("|a - b| (new_words)").name, quantity_of("|a - b (m)|").is_size
    ('a - b (new_words)', True)
    >>> asked = quantity_of("P(|any difference| > 0.03)")
    >>> asked.name, asked.is_size, asked.sign, asked.number
    ('any difference', True, '>', 0.03)
    """
    inner, sign, number = name, "", math.nan
    if match := CHANCE.fullmatch(name):
        inner, sign, number = match[1], match[2], float(match[3])
        inner += f" {match[4].strip()}" if match[4] else ""
    is_size = False
    ahead, _, behind = inner.partition("|")  # a model may stand ahead, as in m: |a - b|
    if match := SIZE.fullmatch(f"|{behind}"):
        is_size = True
        inner = ahead + match[1] + (f" {match[2].strip()}" if match[2] else "")
    return Quantity(inner, is_size, sign, number, name)


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
        The class, or other contrast, that meets the requirement least.
    mean : float
        The estimate, NaN where there is none beside the interval.
    undecided : bool
        Whether it is not met although no interval lies wholly beyond the limit.
    others : tuple of str
        The further contrasts that do not meet it, with their intervals.

    Examples
    --------
    >>> Check("hard", Requirement("controls", ">", 0.7), value=0.93, met=True).line
    'hard: controls > 0.7 is met (0.93)'
    >>> print(Check("", Requirement("a - b", "<", 0.1), 0.3, False, low=0.2, high=0.3, mean=0.25).line)
    a - b < 0.1 is NOT met: +0.250 [+0.200, +0.300]
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
    mean: float = math.nan
    undecided: bool = False
    others: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        """Method, requirement, estimate and interval in one line, and what else does not meet it."""
        ahead = f"{self.method}: " if self.method else ""
        verdict = f"{ahead}{self.requirement} is {'met' if self.met else 'NOT met'}"
        also = ""
        if self.others and not self.met:
            also = f"also {some(self.others, MOST_NAMED - 1)}"
        about = "; ".join(filter(None, (self._estimate(), also, self.why)))
        if not about:
            return verdict
        return f"{verdict} ({about})" if self.met else f"{verdict}: {about}"

    def _estimate(self) -> str:
        """Return whose estimate it is, and the interval."""
        if math.isnan(self.value) or self.requirement.name == CONVERGED:
            return ""
        name = self.protected_class
        if not self.high > self.low:
            place = name if name.startswith(TOGETHER) else f"for {name}" if name else ""
            return f"{self.value:.4g} {place}".strip()
        interval = _interval(self.mean, self.low, self.high)
        return f"{name} is {interval}" if name else interval

    def as_dict(self) -> dict[str, Any]:
        """Return the fields, for JSON; None for what is not known."""
        wanted = self.requirement
        return plain({**asdict(self), **asdict(wanted), "requirement": str(wanted)})


def _interval(mean: float, low: float, high: float) -> str:
    """Return an interval, with its estimate where it is known."""
    row = pd.Series({"mean": mean, "hpdi_low": low, "hpdi_high": high})
    return common.interval(row) if math.isnan(mean) else common.estimate(row)


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
        elif limit.strip().casefold() == CONVERGED:
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
        contrast has its ends turned. ``|NAME|`` is its size, and ``P(NAME < -0.1) < 0.05`` or
        ``P(|NAME| > 0.1) < 0.05`` limits a probability, of answers and of fits of word vectors. Of a fit also what `BiasFit.compare` finds:
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
    quantity = quantity_of(wanted.name)
    name = spelled(quantity.name, [*measured.other])
    if name in measured.other and not quantity.is_probability:
        measure = measured.other[name]()
        return _judge(wanted, replace(measure, is_size=measure.is_size or quantity.is_size), method)
    if measured.refused and measured.make_contrasts is None:
        return Check(method, wanted, math.nan, False, measured.refused)
    if measured.converged is None and (name == CONVERGED or measured.contrasts.empty):
        problem = "expected a result with a model, got none"
        raise InputError(problem, where="requirement", hint="add --bayes")
    if wanted.name == CONVERGED:
        converged = bool(measured.converged)
        return Check(method, wanted, float(converged), converged, "" if converged else UNCONVERGED)

    rows = _rows_of(quantity, measured)
    about: dict[str, Any] = {
        "converged": measured.converged is not False,
        "refused": measured.refused,
        "more": measured.more,
    }
    if quantity.is_probability:
        return _judge(wanted, Measure(_probabilities(quantity, rows, measured), **about), method)
    return _judge(wanted, Measure(rows, is_size=quantity.is_size, **about), method)


def _rows_of(quantity: Quantity, measured: Measured) -> pd.DataFrame:
    """Return the rows of the contrasts that a limit is about."""
    name = quantity.name
    if quantity.is_probability and name.casefold().startswith(ANY):
        name = EVERY + name[len(ANY) :]
    rows = measured.contrasts
    known = [*rows["contrast"].unique(), *measured.every, *measured.other, CONVERGED]
    try:
        return _rows_named(name, measured, known)
    except InputError:
        compared = None if quantity.is_probability else _row_compared(name, measured)
        if compared is None:
            raise
        return compared


def _probabilities(quantity: Quantity, rows: pd.DataFrame, measured: Measured) -> pd.DataFrame:
    """Return the probabilities that contrasts lie beyond a number, as exact rows.

    Of ``any`` and ``each`` it is one, of joint draws; of a named contrast one for each row.
    """
    if measured.draws is None:
        problem = "expected a result whose contrasts have joint draws"
        hint = f"Limit the interval: {quantity.name} {quantity.sign} {quantity.number:g}"
        raise InputError(problem, where="requirement", found=quantity.whole, hint=hint)
    rows = rows.dropna(subset=["hpdi_low"])
    if rows.empty:
        return rows
    values = measured.draws(rows)
    values = values * rows["sign"].to_numpy(float)
    if quantity.is_size:
        values = np.abs(values)
    beyond = SIGNS[quantity.sign](values, quantity.number)
    name = quantity.name.casefold()
    if name.startswith((ANY, EVERY)):
        together = beyond.any(axis=1) if name.startswith(ANY) else beyond.all(axis=1)
        models = checks.once(filter(None, rows["name"]))
        shares, shown = [float(together.mean())], [_together(models)]
    else:
        shares, shown = beyond.mean(axis=0).tolist(), rows["shown"].tolist()
    return pd.DataFrame({"hpdi_low": shares, "hpdi_high": shares, "shown": shown})


def _together(models: Sequence[str]) -> str:
    """Return the words for the models that a joint probability is about; none for one model.

    Examples
    --------
    >>> _together(["m1", "m2"]), _together(["m1"])
    ('over m1 and m2 together', '')
    """
    if len(models) < 2:
        return ""
    listed = f"all {len(models)} models" if len(models) > MOST_NAMED else join_words(models)
    return f"{TOGETHER}{listed} together"


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


def _judge(wanted: Requirement, measure: Measure, method: str) -> Check:
    """Compare the intervals of a quantity with a limit.

    Of sizes (gaps, changes of controls) the upper limit is compared with the end that lies farther
    from zero, and the lower limit with the nearer one, or with zero where the interval includes it.
    """
    rows = measure.rows.dropna(subset=["hpdi_low"])
    if rows.empty:
        why = "it is not known: the tables have too few such words"
        return Check(method, wanted, math.nan, False, why)
    upper, sign = wanted.sign.startswith("<"), SIGNS[wanted.sign]

    def ends_of(low: float, high: float) -> tuple[float, float]:
        """Return the end to be compared, and the one nearest to meeting the limit."""
        smallest, largest = low, high
        if measure.is_size:
            smallest, largest = sorted((abs(low), abs(high)))
            smallest = 0.0 if low <= 0 <= high else smallest
        return (largest, smallest) if upper else (smallest, largest)

    # The end farthest on the wrong side. It has to be right by more than two Monte Carlo errors.
    table = [*rows.itertuples()]
    table.sort(key=lambda row: ends_of(row.hpdi_low, row.hpdi_high)[0], reverse=upper)
    row = table[0]
    ends, outer = (row.hpdi_low, row.hpdi_high), sure_ends(row)
    value, why = ends_of(*ends)[0], ""
    failing = [row for row in table if not sign(ends_of(*sure_ends(row))[0], wanted.limit)]
    decided = [
        row for row in failing if not sign(ends_of(row.hpdi_low, row.hpdi_high)[1], wanted.limit)
    ]
    met, undecided = not failing, False
    refused = measure.refused or (measure.refused_below if upper else "")
    if not measure.converged or refused:
        met, why = False, refused if measure.converged else UNCONVERGED
    elif met and measure.by_construction != "no":
        why = "by construction: no evidence"
    elif not met and sign(value, wanted.limit):
        why = "the interval ends at the limit (within Monte Carlo error)"
        if few_draws(ends, outer):
            why = "inconclusive with so few draws: raise --draws"
    elif not met and not decided and ends[0] < ends[1] and measure.by_construction == "no":
        undecided = True
        intervals = "the interval does" if len(failing) == 1 else "the intervals do"
        why = f"{intervals} not decide: more {measure.more} are needed"

    others: tuple[str, ...] = ()
    if decided and decided[0] is not row:  # the first that is named is beyond the limit for sure
        row = decided[0]
        ends = row.hpdi_low, row.hpdi_high
        value = ends_of(*ends)[0]
    if failing:
        order = [*decided, *(row for row in failing if row not in decided)]
        others = tuple(_in_words(other) for other in order if other is not row)
    mean = getattr(row, "mean", math.nan)
    return Check(
        method, wanted, value, met, why, *ends, measure.by_construction, row.shown, mean, undecided, others
    )  # fmt: skip


def _in_words(row: Any) -> str:
    """Return a row of estimates with its name."""
    if not row.hpdi_high > row.hpdi_low:
        return f"{row.shown} {row.hpdi_high:.4g}".strip()
    interval = _interval(getattr(row, "mean", math.nan), row.hpdi_low, row.hpdi_high)
    return f"{row.shown} {interval}".strip()


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
    >>> contrast_named("m: B - a", ["a - b"])
    ('a - b', ['m'], True)
    """
    for form, contrast, brackets in _forms_in(name, known, str):
        return contrast, brackets, form != contrast
    in_any_capitals = [*_forms_in(name, known, str.casefold)]
    if in_any_capitals:
        form, contrast, brackets = in_any_capitals[0]
        alike = {other for spelling, other, _ in in_any_capitals if len(spelling) == len(form)}
        if len(alike) == 1:
            return contrast, brackets, form != contrast

    unknown = name.split(" (")[0].strip()
    hint = f"to limit one row, write {known[0]} ({unknown})" if unknown in names else None
    model, _, rest = unknown.partition(": ")
    with_model = [f"{model}: {contrast}" for contrast in known] if rest else []
    hint = hint or checks.nearest(unknown, [*known, *with_model])
    raise checks.unknown(unknown, known, "requirement", hint)


def _forms_in(
    name: str, known: Sequence[str], spelling: Callable[[str], str]
) -> Iterator[tuple[str, str, list[str]]]:
    """Yield the forms that a name begins with, their contrasts, and what is ahead and in brackets.

    Names are first read as they are, and then with a model ahead; long contrasts come first.
    """
    longest = sorted(known, key=len, reverse=True)
    model, _, rest = name.partition(": ")
    readings = [(name, []), (rest, [model])] if rest else [(name, [])]
    for whole, ahead in readings:
        for contrast in longest:
            for form in (contrast, *reversals(contrast)):
                begins, behind = whole[: len(form)], whole[len(form) :]
                if spelling(begins) == spelling(form) and (not behind or behind.startswith(" (")):
                    brackets = [part.strip(" )") for part in behind.split(" (")[1:]]
                    yield form, contrast, [*ahead, *brackets]


def spelled(name: str, valid: Sequence[str]) -> str:
    """Return the valid name that differs from a name by capitals only, if there is one; else the name.

    Examples
    --------
    >>> spelled("M1", ["m1", "m2"]), spelled("A", ["a", "A"]), spelled("Ab", ["ab", "aB"])
    ('m1', 'A', 'Ab')
    """
    if name in valid:
        return name
    alike = checks.once(other for other in valid if other.casefold() == name.casefold())
    return alike[0] if len(alike) == 1 else name


def _rows_named(name: str, measured: Measured, known: list[str]) -> pd.DataFrame:
    """Return the rows of a contrast: for new words and overall, or as the brackets say.

    The column ``sign`` says whether they are turned.
    """
    every = measured.contrasts
    contrast, of, turned = contrast_named(name, known, set(every["name"]))
    of = [spelled(part, every["estimand"].unique().tolist()) for part in of]
    if contrast in measured.every:
        rows = measured.every[contrast](every)
        shown = (rows["contrast"] + " " + rows["shown"]).str.strip()
        rows = rows.assign(shown=shown)
    else:
        rows = every[every["contrast"] == contrast]
    estimands, names = rows["estimand"].unique(), checks.once(filter(None, rows["name"]))
    estimand = next((part for part in of if part in estimands), "population")
    classes = [part for part in of if part not in estimands]
    if len(classes) > 1:
        problem = f"expected one name in brackets, got {join_words(classes)}"
        raise InputError(problem, where="requirement")
    if not classes:
        rows = _where(rows, "level", "overall")
    for label in classes:
        named, _, back = contrast_named(label, [*estimands, *names])
        turned ^= back
        # An attribute set may have the name of its class.
        rows = _where(rows[rows["name"] == named], "level", "class")
    rows = _where(rows, "estimand", estimand).assign(sign=-1.0 if turned else 1.0)
    if turned:
        high_first = [ENDS[at] for at in (1, 0, 3, 2)]
        rows = rows.rename(columns=dict(zip(ENDS, high_first, strict=True)))
        rows[ENDS[:2]] *= -1
        if "mean" in rows:
            rows["mean"] *= -1
    return rows


def _where(rows: pd.DataFrame, column: str, value: str) -> pd.DataFrame:
    """Return the rows with a value, or all where none has it."""
    chosen = rows[column] == value
    return rows[chosen] if chosen.any() else rows
