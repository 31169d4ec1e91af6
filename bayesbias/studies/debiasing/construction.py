"""What a debiasing method forces, whatever the vectors were, found in the distances alone.

A method that makes the distances of two words equal makes *associated = different* true by
construction, so that this is no evidence of success.
"""

import enum
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from bayesbias.core import checks
from bayesbias.inference.view import ROPE
from bayesbias.tables.change import check_joined
from bayesbias.wordlists.wordlist import CONTROLS

__all__ = ["Construction", "Forced", "control_changes", "find_construction"]

EXACT = 1e-6
"""Distances closer than this are one number: single precision rounds them to about 1e-7."""
_LEAST_TIED = 2  # attributes that two words must share exactly; one may be chance
_SETS = ("words", "classes", "complete", "gap_before", "gap_after")
_MOVED = ("n_pairs", "mean_change", "rms_change", "max_change")


class Forced(enum.StrEnum):
    """How much of a gap a method makes zero whatever the vectors were; of none it is false.

    Examples
    --------
    >>> import bayesbias as bb
    >>> [(forced.value, bool(forced)) for forced in Forced]
    [('no', False), ('partly', True), ('wholly', True)]
    """

    NO = "no"
    PARTLY = "partly"  # for some of the protected words
    WHOLLY = "wholly"

    def __bool__(self) -> bool:
        return self is not Forced.NO


@dataclass(frozen=True, eq=False, repr=False)
class Construction:
    """What a debiasing method forces to come out, found in the distances alone.

    Attributes
    ----------
    flags : tuple of str
        ``equalized``: every protected word has, to rounding, the same distance to stereotypes as
        words of all other classes, so that associated = different holds whatever the vectors were.
        ``equalized_partly``: so for some words or classes. ``controls_moved``: words that were made
        equal also moved against control words. ``controls_untouched``: no distance to a control
        word changed, so that no drift could come out.
    sets : DataFrame
        One row per set of words made equal: ``words, classes, complete`` (holds every class, and
        has one distance to all stereotypes), ``gap_before, gap_after`` (largest difference within
        the set over stereotypes with one distance).
    share : float
        Share of protected words in complete sets.

    Examples
    --------
    >>> import bayesbias as bb
    >>> before = bb.distance_table("minilm-static", "religion")
    >>> same = before.frame.groupby("attribute")["distance"].transform(
    ...     "mean"
    ... )  # for all protected words
    >>> after = before.frame.assign(distance=same)
    >>> found = bb.studies.find_construction(bb.tables.join_pairs(before, after)[0])
    >>> found.flags
    ('equalized', 'controls_moved')
    """

    flags: tuple[str, ...]
    sets: pd.DataFrame
    share: float

    @property
    def found(self) -> bool:
        """Whether distances were made equal by construction, wholly or partly."""
        return bool({"equalized", "equalized_partly"} & set(self.flags))

    @property
    def forced(self) -> Forced:
        """How much of associated - different overall the method makes zero."""
        if "equalized" in self.flags:
            return Forced.WHOLLY
        # A set that lacks a class draws no word to all others.
        return Forced.PARTLY if "equalized_partly" in self.flags and self.share else Forced.NO

    def __repr__(self) -> str:
        return f"Construction({', '.join(self.flags) or 'nothing found'})"


def find_construction(pairs: pd.DataFrame, rope: float = ROPE) -> Construction:
    """Find in joined pairs what a debiasing method forced.

    Nothing but the table is needed: two protected words belong to one set where at least two
    stereotypes have the same distance to both, within `EXACT`, and had not before. Unrelated
    vectors have no such words.

    Parameters
    ----------
    pairs : DataFrame
        As `join_pairs` of `comparison` returns it.
    rope : float > 0
        A control word moved where its distance changed by more.

    Examples
    --------
    >>> import bayesbias as bb
    >>> before = bb.distance_table("minilm-static", "religion")
    >>> after = bb.distance_table(bb.hard_debias("minilm-static", "religion").embedding, "religion")
    >>> found = find_construction(bb.tables.join_pairs(before, after)[0])
    >>> found.flags, len(found.sets)
    (('equalized', 'controls_moved'), 5)
    >>> find_construction(bb.tables.join_pairs(before, before)[0]).found
    False
    """
    rope = checks.positive(rope, "rope")
    check_joined(pairs, "protected_class")
    pairs = pairs.drop_duplicates(["protected_word", "attribute"])
    control = pairs["connection"].isin(CONTROLS)
    class_of = pairs.astype({"protected_class": str}).set_index("protected_word")["protected_class"]
    class_of = {str(word): own for word, own in class_of.items()}
    classes = set(class_of.values())
    before, after = (
        pairs[~control].pivot(index="protected_word", columns="attribute", values=when)
        for when in ("original", "debiased")
    )
    rows = []
    for group in _tied(before, after):
        was, gap = _gaps(before, group), _gaps(after, group)
        equal = gap <= EXACT
        own_classes = tuple(dict.fromkeys(class_of[word] for word in group))
        complete = set(own_classes) == classes and bool(equal.all())
        gaps = (max(own[equal], default=0.0) for own in (was, gap))
        rows.append((tuple(group), own_classes, complete, *gaps))
    sets = pd.DataFrame(rows, columns=_SETS)
    complete_words = {word for words in sets.loc[sets["complete"], "words"] for word in words}
    share = len(complete_words) / len(class_of)
    flags = []
    if rows and len(classes) > 1:
        flags.append("equalized" if share == 1 else "equalized_partly")
        tied = (
            pairs["protected_word"]
            .astype(str)
            .isin({word for own in sets["words"] for word in own})
        )
        if (pairs.loc[control & tied, "change"].abs() > rope).any():
            flags.append("controls_moved")
    moved = pairs["change"].abs() > EXACT
    if control.any() and moved.any() and not moved[control].any():
        flags.append("controls_untouched")
    return Construction(tuple(flags), sets, share)


def _gaps(grid: pd.DataFrame, words: list[str]) -> pd.Series:
    """Return the largest difference between words, for each attribute that all of them have."""
    own = grid.reindex(words).dropna(axis=1)
    return own.max() - own.min()


def _tied(before: pd.DataFrame, after: pd.DataFrame) -> list[list[str]]:
    """Group words that stereotypes no longer tell apart, though they did before."""
    from scipy.sparse.csgraph import connected_components

    x, y = before.to_numpy(), after.to_numpy()
    with np.errstate(invalid="ignore"):
        same = [
            ((np.abs(y - y[i]) <= EXACT) & (np.abs(x - x[i]) > EXACT)).sum(axis=1)
            for i in range(len(x))
        ]
    tied = np.reshape(same, (len(x), len(x))) >= min(_LEAST_TIED, y.shape[1])
    groups = pd.Series(before.index.astype(str)).groupby(connected_components(tied)[1])
    return [list(words) for _, words in groups if len(words) > 1]


def control_changes(pairs: pd.DataFrame) -> pd.DataFrame:
    """Describe how far the distances to control words moved.

    Parameters
    ----------
    pairs : DataFrame
        As `join_pairs` returns it.

    Returns
    -------
    DataFrame
        ``controls`` (``all``, then each kind that the table has), ``n_pairs, mean_change,
        rms_change, max_change`` (largest in size, with its sign), and its ``protected_word`` and
        ``attribute``; empty without controls.
    """
    mine = pairs[pairs["connection"].isin(CONTROLS)]
    kinds = {"all": mine, **{name: mine[mine["connection"] == name] for name in CONTROLS}}
    rows = [{"controls": name, **_moved(part)} for name, part in kinds.items() if len(part)]
    return pd.DataFrame(rows, columns=["controls", *_MOVED, "protected_word", "attribute"])


def _moved(part: pd.DataFrame) -> dict[str, Any]:
    """Describe the changes of some pairs, and name the pair that changed most."""
    change = part["change"].to_numpy()
    most = int(np.abs(change).argmax())
    described = (
        len(part),
        float(change.mean()),
        float(np.sqrt(np.mean(change**2))),
        float(change[most]),
    )
    words = {name: str(part[name].iloc[most]) for name in ("protected_word", "attribute")}
    return {**dict(zip(_MOVED, described, strict=True)), **words}
