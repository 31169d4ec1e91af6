"""The interval and ROPE that results are shown with (`View`), and their verdicts."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bayesbias.core import checks
from bayesbias.core.conventions import PROB, ROPE, STANDARD_ROPE

if TYPE_CHECKING:
    import pandas as pd

_DEFAULTS = {"prob": PROB, "rope": ROPE, "standard_rope": STANDARD_ROPE}


@dataclass(frozen=True, init=False)
class View:
    """Choose the interval and the ROPEs of all tables, figures and sentences.

    What is not given is as the result has it: see `resolved`.

    Attributes
    ----------
    prob : float in (0, 1)
        Probability of the highest posterior density interval (HPDI).
    rope : float
        Half-width of the region of practical equivalence (ROPE), in units of the outcome. What is
        not chosen is that of the result (`BiasFit.default_rope`); 0.02 before it is resolved.
    standard_rope : float
        The same for standardized contrasts, in standard deviations of pairs.
    given : frozenset of str
        Which of these were chosen, and are not defaults.

    Raises
    ------
    InputError
        If `prob` is not between 0 and 1, or a half-width is not positive.

    Examples
    --------
    >>> View(prob=0.95).prob, sorted(View(prob=0.95).given)
    (0.95, ['prob'])
    """

    prob: float
    rope: float
    standard_rope: float
    given: frozenset[str] = field(init=False, compare=False, repr=False)

    def __init__(
        self,
        prob: float | None = None,
        rope: float | None = None,
        standard_rope: float | None = None,
    ) -> None:
        chosen = {"prob": prob, "rope": rope, "standard_rope": standard_rope}
        chosen = {name: value for name, value in chosen.items() if value is not None}
        self._set({**_DEFAULTS, **chosen}, frozenset(chosen))

    def _set(self, values: Mapping[str, Any], given: frozenset[str]) -> None:
        object.__setattr__(self, "prob", checks.probability(values["prob"]))
        for name in ("rope", "standard_rope"):
            object.__setattr__(self, name, checks.positive(values[name], name))
        object.__setattr__(self, "given", given)

    def chosen(self) -> dict[str, float]:
        """Return what was chosen, by its name.

        Examples
        --------
        >>> View(rope=0.03).chosen()
        {'rope': 0.03}
        """
        return {name: getattr(self, name) for name in _DEFAULTS if name in self.given}

    def changed(self, **changes: float | None) -> View:
        """Return a view with other choices; what is None stays as it is.

        Examples
        --------
        >>> View(rope=0.03).changed(prob=0.5, rope=None).chosen()
        {'prob': 0.5, 'rope': 0.03}
        """
        known = {name: value for name, value in changes.items() if value is not None}
        return View(**{**self.chosen(), **known})

    def resolved(self, **defaults: float) -> View:
        """Return a view with a result's own defaults in place of what was not given.

        Examples
        --------
        >>> View(rope=0.03).resolved(prob=0.95, rope=0.1)
        View(prob=0.95, rope=0.03, standard_rope=0.1)
        """
        out = View()
        out._set({**_DEFAULTS, **defaults, **self.chosen()}, self.given)
        return out


def sure_ends(row: Any, low: str = "hpdi_low", high: str = "hpdi_high") -> tuple[float, float]:
    """Return the ends of an interval, each moved outward by twice its Monte Carlo error."""
    errors = (getattr(row, f"mcse_{end.removeprefix('hpdi_')}", 0.0) for end in (low, high))
    by_low, by_high = (2 * float(error) if error == error else 0.0 for error in errors)
    return float(getattr(row, low)) - by_low, float(getattr(row, high)) + by_high


class Verdict(enum.Enum):
    """Where an interval lies against zero and the ROPE."""

    BELOW = "below"  # beyond the ROPE
    SLIGHTLY_BELOW = "below, size uncertain"  # excludes zero, reaches into the ROPE
    NEGLIGIBLE = "negligible"  # inside the ROPE
    INCONCLUSIVE = "inconclusive"  # includes zero, and more than the ROPE
    SLIGHTLY_ABOVE = "above, size uncertain"
    ABOVE = "above"


TOO_CLOSE = "inconclusive, raise draws"
"""The verdict of too few draws: the Monte Carlo error of an end could change it."""
ROUNDING = 1e-9  # nearer to zero than this, an end is zero
SMALL_ERROR = 0.02  # of the width of an interval; more draws then hardly move its ends
VERDICTS = (*(each.value for each in Verdict), TOO_CLOSE)


def verdict(low: float, high: float, rope: float, errors: Sequence[float] = (0.0, 0.0)) -> str:
    """Return the word for an interval, as in the column ``verdict`` of all tables.

    If the Monte Carlo errors decide it, small ones count as part of the interval.

    Parameters
    ----------
    low, high : float
        Ends of the HPDI.
    rope : float > 0
        Half-width of the region of practical equivalence.
    errors : two floats
        Monte Carlo errors of the ends; NaN counts as none.

    Examples
    --------
    >>> (
    ...     verdict(-0.09, -0.03, 0.02),
    ...     verdict(-0.09, -0.01, 0.02),
    ...     verdict(-0.01, 0.01, 0.02),
    ...     verdict(-0.09, 0.03, 0.02),
    ... )
    ('below', 'below, size uncertain', 'negligible', 'inconclusive')
    >>> [verdict(-0.09, -0.001, 0.02, (error, error)) for error in (0.0001, 0.001, 0.01)]
    ['below, size uncertain', 'inconclusive', 'inconclusive, raise draws']
    """
    by_low, by_high = (2 * error if error == error else 0.0 for error in errors)
    found = {
        place(a, b, rope).value.partition(",")[0]
        for a in (low - by_low, low + by_low)
        for b in (high - by_high, high + by_high)
    }
    outer = low - by_low, high + by_high
    unsure = len(found) > 1 and few_draws((low, high), outer)
    return TOO_CLOSE if unsure else place(*outer, rope).value


def few_draws(ends: tuple[float, float], outer: tuple[float, float]) -> bool:
    """Say whether ends moved outward by their Monte Carlo errors lie too far from an interval."""
    most = 2 * SMALL_ERROR * (ends[1] - ends[0])
    return max(ends[0] - outer[0], outer[1] - ends[1]) > most


def place(low: float, high: float, rope: float) -> Verdict:
    """Say where an interval lies against zero and the ROPE.

    Examples
    --------
    >>> place(-0.09, -0.03, 0.02), place(-0.01, 0.01, 0.02)
    (<Verdict.BELOW: 'below'>, <Verdict.NEGLIGIBLE: 'negligible'>)
    """
    if high < -rope:
        return Verdict.BELOW
    if low > rope:
        return Verdict.ABOVE
    if -rope <= low and high <= rope:
        return Verdict.NEGLIGIBLE
    if high < -ROUNDING:
        return Verdict.SLIGHTLY_BELOW
    return Verdict.SLIGHTLY_ABOVE if low > ROUNDING else Verdict.INCONCLUSIVE


def side(low: float, high: float) -> Verdict:
    """Say on which side of zero an interval lies; inconclusive if it includes zero.

    Examples
    --------
    >>> side(-0.2, -0.1), side(-0.2, 0.0), side(-0.2, -1e-16)
    (<Verdict.BELOW: 'below'>, <Verdict.INCONCLUSIVE: 'inconclusive'>, <Verdict.INCONCLUSIVE: 'inconclusive'>)
    """
    if high < -ROUNDING:
        return Verdict.BELOW
    return Verdict.ABOVE if low > ROUNDING else Verdict.INCONCLUSIVE


def sure_side(row: Any) -> Verdict | None:
    """Say on which side of zero an interval lies; None if more draws could change that."""
    ends, outer = (float(row.hpdi_low), float(row.hpdi_high)), sure_ends(row)
    found = side(*outer)
    same = found is side(*(2 * end - moved for end, moved in zip(ends, outer, strict=True)))
    return found if same or not few_draws(ends, outer) else None


def sides(
    rows: pd.DataFrame, low: str = "hpdi_low", high: str = "hpdi_high"
) -> tuple[list[str], list[str]]:
    """Return the names of rows below zero, and above, by more than two Monte Carlo errors."""
    out: dict[Verdict, list[str]] = {each: [] for each in Verdict}
    for row in rows.itertuples():
        out[side(*sure_ends(row, low, high))].append(str(row.name))
    return out[Verdict.BELOW], out[Verdict.ABOVE]
