"""What an interval of a difference means: one of a few fixed words, and how each study says it.

An interval (HPDI) lies in one of six ways against zero and the region of practical equivalence (ROPE), see `place`. Where an end
is so close to a line that the Monte Carlo error decides, there is no verdict.
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


def hidden_disagreement(
    classes: pd.DataFrame,
    listed: pd.DataFrame,
    low: str = "hpdi_low",
    high: str = "hpdi_high",
    when: str = "",
    lists: tuple[pd.DataFrame, pd.DataFrame] | None = None,
) -> str:
    """Say of which classes a mean hides that they point different ways; empty where none do.

    Parameters
    ----------
    classes, listed : DataFrame
        The contrast by class, for new words and for the listed ones, as `sides` takes it.
    low, high : str
        The columns of the ends.
    when : str
        Put after what is said to disagree.
    lists : pair of DataFrame, optional
        The same contrast by attribute set, for new words and the listed ones.

    Examples
    --------
    >>> import pandas as pd
    >>> unsure = pd.DataFrame({"name": ["a", "b"], "hpdi_low": [-0.2, -0.1], "hpdi_high": [0.1, 0.2]})
    >>> hidden_disagreement(unsure, unsure.assign(hpdi_low=[-0.2, 0.1], hpdi_high=[-0.1, 0.2]))
    'Of the listed words alone the classes disagree: nearer for a, farther for b.'
    """
    for i, (of, rows) in enumerate(
        (("The classes", classes), ("Of the listed words alone the classes", listed))
    ):
        if how := disagreement(rows, low, high):
            agree = lists is not None and lists_agree(lists[i], low, high)
            why = (
                f" {LISTS_AGREE[0].upper()}{LISTS_AGREE[1:]}: a list that is near to everyone, or far, may make it."
                if agree
                else ""
            )
            return f"{of} disagree{when}: {how}.{why}"
    return ""


# How each study says a verdict; `_said` makes the six from the words for the sides, the ROPE and the rest.


def _said(below: str, above: str, negligible: str, inconclusive: str) -> dict[Verdict, str]:
    return {
        Verdict.BELOW: below,
        Verdict.SLIGHTLY_BELOW: f"{below}, perhaps by little",
        Verdict.NEGLIGIBLE: negligible,
        Verdict.OPEN: inconclusive,
        Verdict.SLIGHTLY_ABOVE: f"{above}, perhaps by little",
        Verdict.ABOVE: above,
    }


_CONTRAST = _said("nearer", "farther", "practically equal", "unclear")
_CHANGE = _said("moved", "moved", "practically unchanged", "no evidence of change")
_GAP = _said("still nearer", "farther", "practically no gap", "no evidence of a gap")
_METHOD = _said(
    "nearer to zero", "farther from zero", "practically the same", "no evidence of a difference"
)
_SENTIMENT = _said("female lower", "female higher", "practically alike", "the sign is open")
_PHRASE = {
    Verdict.BELOW: "nearer than",
    Verdict.SLIGHTLY_BELOW: "nearer, though perhaps by little, than",
    Verdict.NEGLIGIBLE: "practically as near as",
    Verdict.OPEN: "not clearly nearer or farther than",
    Verdict.SLIGHTLY_ABOVE: "farther, though perhaps by little, than",
    Verdict.ABOVE: "farther than",
}
_INSIDE = {
    Verdict.BELOW: "nearer, by less than the ROPE, than",
    Verdict.OPEN: "not clearly nearer or farther than",
    Verdict.ABOVE: "farther, by less than the ROPE, than",
}
LEFT_OVER = ("still nearer", "farther")
"""What `gap_verdict` begins with where a gap is left."""


def contrast_verdict(low: float, high: float, rope: float = ROPE) -> str:
    """Say what an interval of a contrast of two connections means; negative: the first is nearer."""
    return _CONTRAST[place(low, high, rope)]


def contrast_phrase(low: float, high: float, rope: float = ROPE, *, wide: bool = False) -> str:
    """Say the same between the two things that are contrasted; of a wide ROPE, what lies inside is not called equal."""
    where = place(low, high, rope)
    return _INSIDE[side(low, high)] if wide and where is Verdict.NEGLIGIBLE else _PHRASE[where]


def change_verdict(low: float, high: float, rope: float = ROPE) -> str:
    """Say what an interval of a change means."""
    return _CHANGE[place(low, high, rope)]


def gap_verdict(low: float, high: float, rope: float = ROPE) -> str:
    """Say what an interval of a contrast after debiasing means."""
    return _GAP[place(low, high, rope)]


def method_verdict(low: float, high: float, rope: float = ROPE) -> str:
    """Say what an interval of a difference of two gaps' sizes means for the first of two methods."""
    return _METHOD[place(low, high, rope)]


def sentiment_verdict(low: float, high: float, rope: float | None = None) -> str:
    """Say what an interval of female - male means; without a ROPE the sign alone."""
    return _SENTIMENT[side(low, high) if rope is None else place(low, high, rope)]
