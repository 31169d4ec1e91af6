"""What a debiasing method forces to come out, whatever the vectors were, found in the distances alone.

A method that makes the distances of two words equal makes *associated = different* true by construction: that
it holds afterwards is no evidence of success. What can still be learned is listed beside what cannot.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.core import checks
from bayesbias.core.files import records
from bayesbias.core.formatting import number_of
from bayesbias.inference.estimands import ROPE
from bayesbias.tables.change import check_joined
from bayesbias.wordlists.wordlist import CONTROLS

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Construction", "Forced", "control_changes", "find_construction"]

EXACT = 1e-6
"""Distances nearer to each other than this are one number: single precision rounds distances to about 1e-7."""
_LEAST_TIED = 2  # attributes that two words must share exactly; one may be chance
_NEARER_THAN = 0.9


class Forced(enum.StrEnum):
    """How much of a gap a method makes zero whatever the vectors were; of none it is false.

    Examples
    --------
    >>> import bayesbias as bb
    >>> [(forced.value, bool(forced)) for forced in bb.studies.Forced]
    [('no', False), ('partly', True), ('wholly', True)]
    """

    NO = "no"
    PARTLY = "partly"  # for some of the protected words
    WHOLLY = "wholly"

    def __bool__(self) -> bool:
        return self is not Forced.NO

    @property
    def label(self) -> str:
        """What is said of it beside a number; empty where nothing is forced."""
        return _LABELS[self]


_LABELS = {Forced.NO: "", Forced.PARTLY: "partly by construction", Forced.WHOLLY: "by construction"}


@dataclass(frozen=True, eq=False, repr=False)
class Construction:
    """What a debiasing method forces to come out, found in the distances alone.

    Attributes
    ----------
    flags : tuple of str
        ``equalized``: every protected word has, to rounding, the same distance to stereotypes as words of all
        other classes, so that associated = different holds whatever the vectors were. ``equalized_partly``: so for
        some words or classes. ``controls_moved``: words that were made equal also moved against control words.
        ``controls_untouched``: no distance to a control word changed, so that no drift could come out.
    sets : DataFrame
        One row per set of words made equal: ``words, classes, complete`` (holds every class),
        ``n_attributes`` (stereotypes met by all), ``n_equal`` (of them with one distance),
        ``gap_before, gap_after`` (largest difference within the set over those),
        ``control_gap_before, control_gap_after`` (the same over control words), ``control_gap_word``.
    controls : DataFrame
        Drift, one row per protected word and kind of control: ``protected_word, protected_class, connection,
        n_pairs, mean_change, rms_change, max_change`` (largest in size, with its sign) and its ``attribute``.
    attributes : DataFrame
        Stereotypes: ``attribute, attribute_class, before, after`` (mean distance to all protected words),
        ``nearer_than`` (share of control words that lie farther from everything than it does, afterwards) and
        ``near_everything`` (at least 0.9 of them).
    means : DataFrame
        Raw means per connection: ``connection, n_pairs, before, after``.
    share : float
        Share of protected words in complete sets.

    Examples
    --------
    >>> import bayesbias as bb
    >>> before = bb.distance_table("minilm-static", "religion")
    >>> same = before.frame.groupby("attribute")["distance"].transform("mean")  # for all protected words
    >>> after = before.frame.assign(distance=same)
    >>> found = bb.studies.find_construction(bb.tables.join_pairs(before, after)[0])
    >>> found.flags
    ('equalized', 'controls_moved')
    """

    flags: tuple[str, ...]
    sets: pd.DataFrame
    controls: pd.DataFrame
    attributes: pd.DataFrame
    means: pd.DataFrame
    share: float

    @property
    def found(self) -> bool:
        """Whether distances were made equal by construction, wholly or partly."""
        return bool({"equalized", "equalized_partly"} & set(self.flags))

    @property
    def forces_gap(self) -> bool:
        """Whether associated = different overall holds whatever the vectors were: all sets of words are equalized."""
        return self.forced is Forced.WHOLLY

    @property
    def forced(self) -> Forced:
        """How much of associated - different overall the method makes zero: of all sets of words, of some, of none."""
        if "equalized" in self.flags:
            return Forced.WHOLLY
        # A set that lacks a class draws no word to all others.
        return Forced.PARTLY if "equalized_partly" in self.flags and self.share else Forced.NO

    def __repr__(self) -> str:
        sets = f"; {number_of(len(self.sets), 'set')} of words" if len(self.sets) else ""
        return f"Construction: {', '.join(self.flags) or 'nothing found'}{sets}"

    def as_dict(self) -> dict[str, Any]:
        """Return flags and evidence as plain dictionaries and lists, for JSON."""
        return {
            "found": self.found,
            "flags": list(self.flags),
            "share_of_words": self.share,
            "evidence": {
                name: records(getattr(self, name)) for name in ("sets", "controls", "attributes", "means")
            },
        }


def find_construction(pairs: pd.DataFrame, rope: float = ROPE) -> Construction:
    """Find in joined pairs what a debiasing method forced.

    Nothing but the table is needed: two protected words belong to one set where at least two stereotypes have
    the same distance to both, within `EXACT`, and had not before. Unrelated vectors have no such words.

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
    import pandas as pd

    rope = checks.positive(rope, "rope")
    check_joined(pairs, "protected_class")
    pairs = pairs.drop_duplicates(["protected_word", "attribute"])
    control = pairs["connection"].isin(CONTROLS)
    word_class = dict(
        zip(pairs["protected_word"].astype(str), pairs["protected_class"].astype(str), strict=True)
    )
    classes = set(word_class.values())
    grids = {
        (kind, when): part.pivot(index="protected_word", columns="attribute", values=when)
        for kind, part in (("stereotype", pairs[~control]), ("control", pairs[control]))
        for when in ("original", "debiased")
    }
    rows = []
    for group in _tied(grids["stereotype", "original"], grids["stereotype", "debiased"]):
        before, after = (
            grids["stereotype", when].loc[group].dropna(axis=1) for when in ("original", "debiased")
        )
        gap = np.ptp(after.to_numpy(), axis=0)
        equal = gap <= EXACT
        row: dict[str, Any] = {
            "words": tuple(group),
            "classes": tuple(dict.fromkeys(word_class[word] for word in group)),
            "complete": {word_class[word] for word in group} == classes and bool(equal.all()),
            "n_attributes": len(gap),
            "n_equal": int(equal.sum()),
            "gap_before": float(np.ptp(before.to_numpy(), axis=0)[equal].max(initial=0.0)),
            "gap_after": float(gap[equal].max(initial=0.0)),
            "control_gap_before": 0.0,
            "control_gap_after": 0.0,
            "control_gap_word": "",
        }
        if control.any():
            was, now = (
                grids["control", when].reindex(group).dropna(axis=1) for when in ("original", "debiased")
            )
            if now.shape[1]:
                spread = np.ptp(now.to_numpy(), axis=0)
                row |= {
                    "control_gap_before": float(np.ptp(was.to_numpy(), axis=0).max()),
                    "control_gap_after": float(spread.max()),
                    "control_gap_word": str(now.columns[int(spread.argmax())]),
                }
        rows.append(row)
    columns = ["words", "classes", "complete", "n_attributes", "n_equal", "gap_before", "gap_after"]
    columns += ["control_gap_before", "control_gap_after", "control_gap_word"]
    sets = pd.DataFrame(rows, columns=columns)
    drift = _drift(pairs[control])
    bound = {word for row in rows if row["complete"] for word in row["words"]}
    share = len(bound) / len(word_class)
    flags = []
    if rows and len(classes) > 1:
        flags.append("equalized" if share == 1 else "equalized_partly")
        tied = {word for row in rows for word in row["words"]}
        if (drift.loc[drift["protected_word"].isin(tied), "max_change"].abs() > rope).any():
            flags.append("controls_moved")
    moved = pairs["change"].abs() > EXACT
    if control.any() and moved.any() and not moved[control].any():
        flags.append("controls_untouched")
    means = pairs.groupby("connection", observed=True, sort=True)[["original", "debiased"]]
    frame = means.mean().rename(columns={"original": "before", "debiased": "after"})
    frame.insert(0, "n_pairs", means.size())
    frame = frame.reset_index().astype({"connection": str})
    return Construction(tuple(flags), sets, drift, _nearness(pairs, control), frame, share)


def _tied(before: pd.DataFrame, after: pd.DataFrame) -> list[list[str]]:
    """Group words that stereotypes no longer tell apart, though they did before; words in alphabetical order."""
    x, y = before.to_numpy(), after.to_numpy()
    words = [str(word) for word in before.index]
    group = list(range(len(words)))
    with np.errstate(invalid="ignore"):
        for i in range(len(words)):
            for j in range(i):
                same = (np.abs(y[i] - y[j]) <= EXACT) & (np.abs(x[i] - x[j]) > EXACT)
                if same.sum() >= min(_LEAST_TIED, y.shape[1]) and group[i] != group[j]:
                    old, new = group[i], group[j]
                    group = [new if g == old else g for g in group]
    members: dict[int, list[str]] = {}
    for word, g in zip(words, group, strict=True):
        members.setdefault(g, []).append(word)
    return [found for found in members.values() if len(found) > 1]


def control_changes(pairs: pd.DataFrame) -> pd.DataFrame:
    """Say how far the distances to control words moved: what a method costs those whom nobody meant to treat.

    Parameters
    ----------
    pairs : DataFrame
        As `join_pairs` returns it.

    Returns
    -------
    DataFrame
        ``controls`` (``all``, then each kind that the table holds), ``n_pairs, mean_change, rms_change, max_change``
        (largest in size, with its sign), and its ``protected_word`` and ``attribute``; empty without controls.
    """
    import pandas as pd

    mine = pairs[pairs["connection"].isin(CONTROLS)]
    kinds = [("all", mine), *((name, mine[mine["connection"] == name]) for name in CONTROLS)]
    rows = [
        {"controls": name, **_described_change(part), **_worst_pair(part)}
        for name, part in kinds
        if len(part)
    ]
    columns = ["controls", "n_pairs", "mean_change", "rms_change", "max_change"]
    return pd.DataFrame(rows, columns=[*columns, "protected_word", "attribute"])


def _drift(controls: pd.DataFrame) -> pd.DataFrame:
    import pandas as pd

    rows = [
        {
            "protected_word": str(word),
            "protected_class": str(part["protected_class"].iloc[0]),
            "connection": str(connection),
            **_described_change(part),
            "attribute": _worst_pair(part)["attribute"],
        }
        for (word, connection), part in controls.groupby(
            ["protected_word", "connection"], observed=True, sort=False
        )
    ]
    columns = ["protected_word", "protected_class", "connection", "n_pairs", "mean_change", "rms_change"]
    return pd.DataFrame(rows, columns=[*columns, "max_change", "attribute"])


def _described_change(part: pd.DataFrame) -> dict[str, Any]:
    change = part["change"].to_numpy()
    return {
        "n_pairs": len(part),
        "mean_change": float(change.mean()),
        "rms_change": float(np.sqrt(np.mean(change**2))),
        "max_change": float(change[np.abs(change).argmax()]),
    }


def _worst_pair(part: pd.DataFrame) -> dict[str, str]:
    worst = int(np.abs(part["change"].to_numpy()).argmax())
    return {name: str(part[name].iloc[worst]) for name in ("protected_word", "attribute")}


def _nearness(pairs: pd.DataFrame, control: pd.Series) -> pd.DataFrame:
    table = (
        pairs[~control]
        .groupby("attribute", sort=False, observed=True)
        .agg(
            attribute_class=("attribute_class", "first"),
            before=("original", "mean"),
            after=("debiased", "mean"),
        )
        .reset_index()
    )
    if control.any():
        others = pairs[control].groupby("attribute", observed=True)["debiased"].mean().to_numpy()
        table["nearer_than"] = [(others > value).mean() for value in table["after"]]
    else:
        table["nearer_than"] = 0.0
    table["near_everything"] = table["nearer_than"] >= _NEARER_THAN
    return table
