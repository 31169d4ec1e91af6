"""What an interval of a difference means: one of a few fixed words.

An interval (HPDI) lies in one of six ways against zero and the region of practical equivalence
(ROPE), see `place`. Where an end is so close to a line that the Monte Carlo error decides, there is
no verdict.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import TYPE_CHECKING

from bayesbias.core import checks
from bayesbias.inference.scope import sure_ends
from bayesbias.inference.view import ROPE

if TYPE_CHECKING:
    import pandas as pd


class Verdict(enum.Enum):
    """Where an interval lies against zero and the ROPE."""

    BELOW = "below"  # beyond the ROPE
    SLIGHTLY_BELOW = "below, size uncertain"  # excludes zero, reaches into the ROPE
    NEGLIGIBLE = "negligible"  # inside the ROPE
    OPEN = "inconclusive"  # includes zero, and more than the ROPE
    SLIGHTLY_ABOVE = "above, size uncertain"
    ABOVE = "above"


TOO_CLOSE = "too close to call"
"""The verdict where an end lies within two Monte Carlo errors of a line that decides."""
VERDICTS = (*(each.value for each in Verdict), TOO_CLOSE)


def verdict(low: float, high: float, rope: float, errors: Sequence[float] = (0.0, 0.0)) -> str:
    """Return the word for an interval, as in the column ``verdict`` of all tables.

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
    >>> verdict(-0.09, -0.03, 0.02), verdict(-0.09, -0.01, 0.02), verdict(-0.01, 0.01, 0.02), verdict(-0.09, 0.03, 0.02)
    ('below', 'below, size uncertain', 'negligible', 'inconclusive')
    >>> verdict(-0.09, -0.021, 0.02, (0.001, 0.001))
    'too close to call'
    """
    by_low, by_high = (2 * error if error == error else 0.0 for error in errors)
    found = {
        place(a, b, rope)
        for a in (low - by_low, low + by_low)
        for b in (high - by_high, high + by_high)
    }
    return found.pop().value if len(found) == 1 else TOO_CLOSE


def place(low: float, high: float, rope: float = ROPE) -> Verdict:
    """Say where an interval lies against zero and the ROPE.

    Examples
    --------
    >>> place(-0.09, -0.03), place(-0.01, 0.01)
    (<Verdict.BELOW: 'below'>, <Verdict.NEGLIGIBLE: 'negligible'>)
    """
    rope = checks.positive(rope, "rope")
    if high < -rope:
        return Verdict.BELOW
    if low > rope:
        return Verdict.ABOVE
    if -rope <= low and high <= rope:
        return Verdict.NEGLIGIBLE
    return side(low, high, Verdict.SLIGHTLY_BELOW, Verdict.SLIGHTLY_ABOVE)


def side(
    low: float, high: float, below: Verdict = Verdict.BELOW, above: Verdict = Verdict.ABOVE
) -> Verdict:
    """Say on which side of zero an interval lies, whatever the ROPE; open where it includes zero."""
    return below if high < 0 else above if low > 0 else Verdict.OPEN


def sides(
    rows: pd.DataFrame, low: str = "hpdi_low", high: str = "hpdi_high"
) -> tuple[list[str], list[str]]:
    """Return the names of rows whose intervals lie below zero, and of those above, Monte Carlo errors aside."""
    found = [side(*sure_ends(row, low, high)) for row in rows.itertuples()]
    below, above = (
        [str(name) for name, own in zip(rows["name"], found, strict=True) if own is which]
        for which in (Verdict.BELOW, Verdict.ABOVE)
    )
    return below, above


def disagreement(rows: pd.DataFrame, low: str = "hpdi_low", high: str = "hpdi_high") -> str:
    """Say which rows of a contrast clearly point different ways, so that a mean over them hides it; else empty."""
    nearer, farther = sides(rows, low, high)
    return (
        f"nearer for {', '.join(nearer)}, farther for {', '.join(farther)}"
        if nearer and farther
        else ""
    )


LISTS_AGREE = "list by list they do not"


def lists_agree(lists: pd.DataFrame, low: str = "hpdi_low", high: str = "hpdi_high") -> bool:
    """Whether of several attribute sets none clearly points against another."""
    return len(lists) > 1 and not disagreement(lists, low, high)
