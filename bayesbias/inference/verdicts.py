"""What an interval of a difference means. The one place where these words are defined.

An interval lies in one of six ways against zero and the region of practical equivalence (`Verdict`). What that is
called depends on what differs: a contrast, a change, a gap that is left, two methods, or a rating of two genders.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

from bayesbias.core import checks
from bayesbias.inference.estimands import ROPE
from bayesbias.inference.scope import sure_ends

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "LEFT_OVER",
    "Verdict",
    "change_verdict",
    "contrast_phrase",
    "contrast_verdict",
    "disagreement",
    "gap_verdict",
    "hidden_disagreement",
    "method_verdict",
    "place",
    "sentiment_verdict",
    "side",
    "sides",
]


class Verdict(enum.Enum):
    """Where an interval lies against zero and the region of practical equivalence (ROPE)."""

    BELOW = "below"  # beyond the ROPE
    SLIGHTLY_BELOW = "slightly below"  # excludes zero, reaches into the ROPE
    NEGLIGIBLE = "negligible"  # inside the ROPE
    OPEN = "open"  # holds zero, and more than the ROPE
    SLIGHTLY_ABOVE = "slightly above"
    ABOVE = "above"


def place(low: float, high: float, rope: float = ROPE) -> Verdict:
    """Say where an interval lies.

    Parameters
    ----------
    low, high : float
        Ends of the HPDI, in cosine distance.
    rope : float > 0
        Half-width of the region of practical equivalence.

    Examples
    --------
    >>> [place(*ends).value for ends in ((-0.09, -0.03), (-0.09, -0.01), (-0.01, 0.01), (-0.09, 0.03))]
    ['below', 'slightly below', 'negligible', 'open']
    """
    rope = checks.positive(rope, "rope")
    if high < -rope:
        return Verdict.BELOW
    if low > rope:
        return Verdict.ABOVE
    if -rope <= low and high <= rope:
        return Verdict.NEGLIGIBLE
    return side(low, high, Verdict.SLIGHTLY_BELOW, Verdict.SLIGHTLY_ABOVE)


def side(low: float, high: float, below: Verdict = Verdict.BELOW, above: Verdict = Verdict.ABOVE) -> Verdict:
    """Say on which side of zero an interval lies, whatever the ROPE; open where it holds zero."""
    return below if high < 0 else above if low > 0 else Verdict.OPEN


def sides(rows: pd.DataFrame, low: str = "hpdi_low", high: str = "hpdi_high") -> tuple[list[str], list[str]]:
    """Return the names of rows whose intervals lie below zero, and of those above, by more than ends are uncertain.

    Parameters
    ----------
    rows : DataFrame
        With ``name``, the ends, and their Monte Carlo errors where they have some.
    low, high : str
        The columns of the ends.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = pd.DataFrame(
    ...     {"name": ["a", "b", "c"], "hpdi_low": [-0.2, -0.1, 0.1], "hpdi_high": [-0.1, 0.1, 0.2]}
    ... )
    >>> sides(rows), disagreement(rows)
    ((['a'], ['c']), 'nearer for a, farther for c')
    """
    found = [side(*sure_ends(row, low, high)) for row in rows.itertuples()]
    below, above = (
        [str(name) for name, own in zip(rows["name"], found, strict=True) if own is which]
        for which in (Verdict.BELOW, Verdict.ABOVE)
    )
    return below, above


def disagreement(rows: pd.DataFrame, low: str = "hpdi_low", high: str = "hpdi_high") -> str:
    """Say which rows of a contrast clearly point different ways, so that a mean over them hides it; empty where none do."""
    nearer, farther = sides(rows, low, high)
    return f"nearer for {', '.join(nearer)}, farther for {', '.join(farther)}" if nearer and farther else ""


LISTS_AGREE = "list by list they do not"


def lists_agree(lists: pd.DataFrame, low: str = "hpdi_low", high: str = "hpdi_high") -> bool:
    """Whether of several lists, words of each list's own class against others', none clearly goes against another."""
    return len(lists) > 1 and not disagreement(lists, low, high)


def hidden_disagreement(
    classes: pd.DataFrame,
    listed: pd.DataFrame,
    low: str = "hpdi_low",
    high: str = "hpdi_high",
    when: str = "",
    lists: tuple[pd.DataFrame, pd.DataFrame] | None = None,
) -> str:
    """Say of which classes a mean hides that they point different ways: those of new words, or else of the listed ones.

    Parameters
    ----------
    classes, listed : DataFrame
        The contrast by class, for new words and for the listed ones, as `sides` takes it.
    low, high : str
        The columns of the ends.
    when : str
        Put after what is said to disagree.
    lists : pair of DataFrame, optional
        The same contrast list by list, words of the list's own class against those of others, for new words and the listed
        ones. Where these do not disagree it may be the lists that do: one that is near to everyone, or far, draws its own
        class one way and the others the other.

    Returns
    -------
    str
        A sentence; empty where neither disagree.

    Examples
    --------
    >>> import pandas as pd
    >>> unsure = pd.DataFrame({"name": ["a", "b"], "hpdi_low": [-0.2, -0.1], "hpdi_high": [0.1, 0.2]})
    >>> sure = unsure.assign(hpdi_low=[-0.2, 0.1], hpdi_high=[-0.1, 0.2])
    >>> hidden_disagreement(unsure, sure)
    'Of the listed words alone the classes disagree: nearer for a, farther for b.'
    >>> hidden_disagreement(sure, sure, when=", after")
    'The classes disagree, after: nearer for a, farther for b.'
    >>> hidden_disagreement(sure, sure, lists=(unsure, unsure))  # doctest: +ELLIPSIS
    'The classes disagree: nearer for a, farther for b. List by list they do not: a list that is near to everyone, or far, ...
    """
    for i, (of, rows) in enumerate(
        (
            ("The classes", classes),
            ("Of the listed words alone the classes", listed),
        )
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


def contrast_verdict(low: float, high: float, rope: float = ROPE) -> str:
    """Say, for a table, what an interval of a contrast of two connections means; negative: the first is nearer.

    Examples
    --------
    >>> [contrast_verdict(*ends) for ends in ((-0.09, -0.03), (-0.09, -0.01), (-0.01, 0.01), (-0.09, 0.03))]
    ['nearer', 'nearer, perhaps by little', 'practically equal', 'unclear']
    """
    return _CONTRAST[place(low, high, rope)][0]


def contrast_phrase(low: float, high: float, rope: float = ROPE, *, wide: bool = False) -> str:
    """Say the same in a sentence, between the two things that are contrasted.

    Parameters
    ----------
    low, high, rope
        As in `place`.
    wide : bool
        Whether the ROPE is wide beside the scatter of single pairs: what lies inside may then be much, and is not
        called equal.

    Examples
    --------
    >>> contrast_phrase(-0.09, -0.01)
    'nearer, though perhaps by little, than'
    >>> contrast_phrase(-0.015, -0.01), contrast_phrase(-0.015, -0.01, wide=True)
    ('practically as near as', 'nearer, by less than the ROPE, than')
    """
    where = place(low, high, rope)
    return _INSIDE[side(low, high)] if wide and where is Verdict.NEGLIGIBLE else _CONTRAST[where][1]


def change_verdict(low: float, high: float, rope: float = ROPE) -> str:
    """Say what an interval of a change means.

    Parameters
    ----------
    low, high, rope
        As in `place`.

    Returns
    -------
    str
        ``moved``: the interval lies outside the ROPE. ``practically unchanged``: it lies inside.
        ``moved, perhaps by little``: it excludes zero but reaches into the ROPE. ``no evidence of change``: it
        holds zero, and more than the ROPE.

    Examples
    --------
    >>> [change_verdict(*ends) for ends in ((0.03, 0.09), (-0.01, 0.01), (0.01, 0.05), (-0.03, 0.05))]
    ['moved', 'practically unchanged', 'moved, perhaps by little', 'no evidence of change']
    """
    return _CHANGE[place(low, high, rope)]


LEFT_OVER = ("still nearer", "farther")
"""What the verdicts on a gap begin with that is there."""


def gap_verdict(low: float, high: float, rope: float = ROPE) -> str:
    """Say what an interval of a contrast after debiasing means: of any contrast in the same words.

    Parameters
    ----------
    low, high, rope
        As in `place`.

    Returns
    -------
    str
        ``still nearer`` where the interval lies below the ROPE: what the contrast names first lies nearer. ``farther``
        where it lies above. Both with ``, perhaps by little`` where the interval excludes zero but reaches into the ROPE.
        ``practically no gap`` where it lies inside, ``no evidence of a gap`` where it holds zero and more than the ROPE.
        Whether an association is a bias is not for a distance to say.

    Examples
    --------
    >>> [gap_verdict(*ends) for ends in ((-0.09, -0.03), (-0.09, 0.03), (-0.01, 0.0), (0.01, 0.05))]
    ['still nearer', 'no evidence of a gap', 'practically no gap', 'farther, perhaps by little']
    """
    return _GAP[place(low, high, rope)]


def method_verdict(low: float, high: float, rope: float = ROPE) -> str:
    """Say what an interval of a difference of two gaps' sizes means for the first of two methods.

    Examples
    --------
    >>> [method_verdict(*ends) for ends in ((-0.09, -0.03), (-0.09, -0.01), (-0.01, 0.01), (0.03, 0.09))]
    ['nearer to zero', 'nearer to zero, perhaps by little', 'practically the same', 'farther from zero']
    >>> method_verdict(-0.03, 0.09)
    'no evidence of a difference'
    """
    return _METHOD[place(low, high, rope)]


def sentiment_verdict(low: float, high: float, rope: float | None = None) -> str:
    """Say what an interval of female - male means.

    Parameters
    ----------
    low, high : float
    rope : float > 0, optional
        Half-width of what is little beside the scatter of ratings; without it the sign alone is said.

    Examples
    --------
    >>> [sentiment_verdict(*ends) for ends in ((-0.2, -0.1), (0.1, 0.2), (-0.1, 0.2))]
    ['female lower', 'female higher', 'the sign is open']
    >>> [sentiment_verdict(*ends, rope=0.01) for ends in ((-0.2, -0.1), (0.001, 0.2), (-0.003, 0.002))]
    ['female lower', 'female higher, perhaps by little', 'practically alike']
    """
    return _SENTIMENT[side(low, high) if rope is None else place(low, high, rope)]


_CONTRAST = {
    Verdict.BELOW: ("nearer", "nearer than"),
    Verdict.SLIGHTLY_BELOW: ("nearer, perhaps by little", "nearer, though perhaps by little, than"),
    Verdict.NEGLIGIBLE: ("practically equal", "practically as near as"),
    Verdict.OPEN: ("unclear", "not clearly nearer or farther than"),
    Verdict.SLIGHTLY_ABOVE: ("farther, perhaps by little", "farther, though perhaps by little, than"),
    Verdict.ABOVE: ("farther", "farther than"),
}
_INSIDE = {
    Verdict.BELOW: "nearer, by less than the ROPE, than",
    Verdict.OPEN: "not clearly nearer or farther than",
    Verdict.ABOVE: "farther, by less than the ROPE, than",
}
_CHANGE = {
    Verdict.BELOW: "moved",
    Verdict.SLIGHTLY_BELOW: "moved, perhaps by little",
    Verdict.NEGLIGIBLE: "practically unchanged",
    Verdict.OPEN: "no evidence of change",
    Verdict.SLIGHTLY_ABOVE: "moved, perhaps by little",
    Verdict.ABOVE: "moved",
}
_GAP = {
    Verdict.BELOW: "still nearer",
    Verdict.SLIGHTLY_BELOW: "still nearer, perhaps by little",
    Verdict.NEGLIGIBLE: "practically no gap",
    Verdict.OPEN: "no evidence of a gap",
    Verdict.SLIGHTLY_ABOVE: "farther, perhaps by little",
    Verdict.ABOVE: "farther",
}
_METHOD = {
    Verdict.BELOW: "nearer to zero",
    Verdict.SLIGHTLY_BELOW: "nearer to zero, perhaps by little",
    Verdict.NEGLIGIBLE: "practically the same",
    Verdict.OPEN: "no evidence of a difference",
    Verdict.SLIGHTLY_ABOVE: "farther from zero, perhaps by little",
    Verdict.ABOVE: "farther from zero",
}
_SENTIMENT = {
    Verdict.BELOW: "female lower",
    Verdict.SLIGHTLY_BELOW: "female lower, perhaps by little",
    Verdict.NEGLIGIBLE: "practically alike",
    Verdict.OPEN: "the sign is open",
    Verdict.SLIGHTLY_ABOVE: "female higher, perhaps by little",
    Verdict.ABOVE: "female higher",
}
