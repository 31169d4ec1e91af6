"""What a debiasing method forces and what it leaves, found in the distances alone.

A method that makes the distances of two words equal makes *associated = different* true by
construction, so that this is no evidence of success. A method that turns vectors into noise closes
every gap. Distances of the protected words to control words, which nobody meant to treat, say
whether the rest is still there: they hardly move where only the association is taken out, and are
unrelated to those before where the vectors are.
"""

import operator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from bayesbias.core import checks
from bayesbias.core.conventions import PROB, ROPE
from bayesbias.tables.joining import JOINED
from bayesbias.wordlists.wordlist import CONTROLS

EXACT = 1e-6
"""Distances closer than this are one number: single precision rounds them to about 1e-7."""
_LEAST_TIED = 2  # attributes that two words must share exactly; one may be chance
UNRELATED = 0.1
"""A correlation whose interval reaches down to this is none."""
DESTROYED = 0.5
"""Below this less than a quarter of what told control distances apart is left."""
KEPT = 0.7
"""Above this half of the variance is shared, and what is left outweighs what is new."""


# -- what is forced -------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
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
    def forced(self) -> str:
        """How much of associated - different overall it makes zero: ``no, partly, wholly``."""
        if "equalized" in self.flags:
            return "wholly"
        # A set that lacks a class draws no word to all others.
        return "partly" if "equalized_partly" in self.flags and self.share else "no"

    def __repr__(self) -> str:
        return f"Construction({', '.join(self.flags) or 'nothing found'})"


def find_construction(pairs: pd.DataFrame) -> Construction:
    """Find in joined pairs what a debiasing method forced.

    Nothing but the table is needed: two protected words belong to one set where at least two
    stereotypes have the same distance to both, within `EXACT`, and had not before. Unrelated
    vectors have no such words.

    Parameters
    ----------
    pairs : DataFrame
        As `join_pairs` returns it.

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
    needed = ["protected_word", "protected_class", "attribute", "connection", *JOINED]
    checks.columns(pairs, needed, "pairs", "the first that bayesbias.tables.join_pairs returns")
    pairs = pairs.drop_duplicates(["protected_word", "attribute"])
    control, words = pairs["connection"].isin(CONTROLS), pairs["protected_word"].astype(str)
    class_of = dict(zip(words, pairs["protected_class"].astype(str), strict=True))
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
    columns = ["words", "classes", "complete", "gap_before", "gap_after"]
    sets = pd.DataFrame(rows, columns=columns)
    share = sets.loc[sets["complete"].astype(bool), "words"].explode().nunique() / len(class_of)
    flags = []
    if rows and len(classes) > 1:
        flags.append("equalized" if share == 1 else "equalized_partly")
        tied = words.isin(sets["words"].explode())
        if (pairs.loc[control & tied, "change"].abs() > ROPE).any():
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
    mine, rows = pairs[pairs["connection"].isin(CONTROLS)], []
    for name in ("all", *CONTROLS):
        own = mine if name == "all" else mine[mine["connection"] == name]
        if len(own):
            change = own["change"]
            most = own.loc[change.abs().idxmax()]
            words = str(most["protected_word"]), str(most["attribute"])
            rms = float(np.sqrt((change**2).mean()))
            rows.append((name, len(own), change.mean(), rms, most["change"], *words))
    columns = ["controls", "n_pairs", "mean_change", "rms_change", "max_change"]
    return pd.DataFrame(rows, columns=[*columns, "protected_word", "attribute"])


# -- what is left ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Related:
    """A correlation or slope, after on before, with its interval; NaN if it is not known.

    Examples
    --------
    >>> import bayesbias as bb
    >>> Related(value=0.9, low=0.85, high=0.94)
    Related(value=0.9, low=0.85, high=0.94)
    """

    value: float
    low: float
    high: float


UNKNOWN = Related(np.nan, np.nan, np.nan)


@dataclass(frozen=True)
class Geometry:
    """What a method leaves of the distances of protected words to control words.

    Attributes
    ----------
    n_words, n_attributes, n_pairs : int
        Protected words, control words, and pairs of them (a repeated pair counts once).
    correlation, slope : Related
        Of distances after on those before.
    relations : Related
        The correlation of what is left of distances once the mean of each protected word and of
        each control word is taken out: which word lies near which. Some control words lie near
        everything, and a correlation that rests on them survives protected words that were
        exchanged or made one.
    rms : float
        Root mean square change.
    rms_unrelated : float
        What it would be if distances after had nothing to do with those before, but the means and
        spreads that both have: ``sqrt(shift**2 + sd_before**2 + sd_after**2)``, where `shift` is
        the mean change.
    sd_before, sd_after : float
        Standard deviation of the distances.
    largest : float
        Largest change of any pair of the table in size, stereotypes included.

    Examples
    --------
    >>> import bayesbias as bb
    >>> before = bb.distance_table("minilm-static", "religion")
    >>> after = before.frame.assign(
    ...     distance=(1 + before.frame["distance"]) / 2
    ... )  # every cosine halved
    >>> found = find_geometry(bb.tables.join_pairs(before, after)[0])
    >>> found.left, found.n_pairs == found.n_words * found.n_attributes
    ('kept', True)
    """

    n_words: int
    n_attributes: int
    n_pairs: int
    correlation: Related
    relations: Related
    slope: Related
    rms: float
    rms_unrelated: float
    sd_before: float
    sd_after: float
    largest: float

    @property
    def least(self) -> Related:
        """The lower of the two correlations: that by which is decided."""
        both = (self.correlation, self.relations)
        known = [each for each in both if not np.isnan(each.value)]
        return min(known, key=operator.attrgetter("value"), default=self.correlation)

    @property
    def left(self) -> str:
        """What is left of the geometry; see `left_of`."""
        return left_of(self.least, self.largest, self.n_pairs)

    @property
    def destroyed(self) -> bool:
        """Whether the method is ranked with no other: what closed its gap closed everything."""
        return self.left in ("mostly_destroyed", "unrelated")

    def as_row(self) -> dict[str, Any]:
        """Return the fields as columns of a table."""
        row: dict[str, Any] = {"left": self.left}
        for name, value in vars(self).items():
            if isinstance(value, Related):
                row |= {name: value.value, f"{name}_low": value.low, f"{name}_high": value.high}
            else:
                row[name] = value
        return row


def find_geometry(pairs: pd.DataFrame, prob: float = PROB) -> Geometry:
    """Say how much of the geometry of control words is left.

    Parameters
    ----------
    pairs : DataFrame
        As `join_pairs` returns it.
    prob : float in (0, 1)
        Probability of the intervals.

    Notes
    -----
    Pairs that share a word go together, and so do pairs that share an attribute. The variance is
    that of a two-way jackknife, ``V = V_words + V_attributes - V_pairs``, each part from leaving
    out one word, one attribute or one pair (the sum over the ways of sharing of Cameron, Gelbach &
    Miller 2011, each part a jackknife as in Efron & Stein 1981), and at least `V_pairs`. The
    interval is that of Student's t with one degree of freedom less than there are words or
    attributes, whichever are fewer; for correlations on the scale of Fisher's z.

    Examples
    --------
    >>> import bayesbias as bb
    >>> before = bb.distance_table("minilm-static", "religion")
    >>> after = bb.distance_table(bb.hard_debias("minilm-static", "religion").embedding, "religion")
    >>> found = find_geometry(bb.tables.join_pairs(before, after)[0])
    >>> found.left, found.n_words, found.n_attributes
    ('kept', 15, 311)
    """
    prob = checks.probability(prob)
    controls = pairs[pairs["connection"].isin(CONTROLS)]
    controls = controls.drop_duplicates(["protected_word", "attribute"])
    before, after = (
        controls.pivot(index="protected_word", columns="attribute", values=when).to_numpy(float)
        for when in ("original", "debiased")
    )
    sd_before, sd_after = (float(controls[when].std(ddof=0)) for when in ("original", "debiased"))
    return Geometry(
        n_words=before.shape[0],
        n_attributes=before.shape[1],
        n_pairs=len(controls),
        correlation=_related(before, after, prob),
        relations=_related(before, after, prob, centred=True),
        slope=_related(before, after, prob, slope=True),
        rms=float(np.sqrt((controls["change"] ** 2).mean())),
        rms_unrelated=float(np.hypot(controls["change"].mean(), np.hypot(sd_before, sd_after))),
        sd_before=sd_before,
        sd_after=sd_after,
        largest=float(pairs["change"].abs().max()),
    )


def left_of(least: Related, largest: float, n_pairs: int) -> str:
    """Decide what is left of a geometry.

    Parameters
    ----------
    least : Related
        The lower of the two correlations of control distances before and after.
    largest : float
        Largest change of any pair.
    n_pairs : int
        Of control words.

    Returns
    -------
    {"identical", "kept", "partly_kept", "mostly_destroyed", "unrelated", "too_few", "no_controls"}

    Examples
    --------
    >>> ends = (
    ...     (0.96, 0.9, 0.98),
    ...     (0.8, 0.65, 0.9),
    ...     (0.42, 0.37, 0.47),
    ...     (0.05, -0.1, 0.2),
    ...     (0.3, -0.5, 0.8),
    ... )
    >>> [left_of(Related(*three), 0.3, 600) for three in ends]
    ['kept', 'partly_kept', 'mostly_destroyed', 'unrelated', 'too_few']
    """
    if largest <= EXACT:
        return "identical"
    if not n_pairs:
        return "no_controls"
    if np.isnan(least.low):
        return "too_few"
    if least.low <= UNRELATED:
        return "unrelated" if least.high < DESTROYED else "too_few"
    if least.value < DESTROYED:
        return "mostly_destroyed"
    return "kept" if least.low >= KEPT else "partly_kept"


def _statistic(sums: np.ndarray, slope: bool) -> np.ndarray:
    """Return the slope, or the correlation: 0 if all distances after are one number.

    NaN if those before are.
    """
    n, x, y, xx, yy, xy = sums
    xx, yy, xy = xx / n - (x / n) ** 2, yy / n - (y / n) ** 2, xy / n - x * y / n**2
    known = np.where(xx > EXACT**2, xx, np.nan)
    if slope:
        return xy / known
    flat = yy <= EXACT**2
    r = xy / np.sqrt(known * np.where(flat, 1.0, yy))
    return np.where(flat & ~np.isnan(r), 0.0, np.clip(r, -1.0, 1.0))


def _related(
    x: np.ndarray, y: np.ndarray, prob: float, *, slope: bool = False, centred: bool = False
) -> Related:
    """Return the correlation or the slope with its interval; `centred` takes out means of words."""
    scaled = np.array if slope else _fisher
    if min(x.shape) < (3 if centred else 1) or max(x.shape) < 3:
        return UNKNOWN
    # About the mean, so that no digits are lost in the sums of squares.
    x, y = x - np.nanmean(x), y - np.nanmean(y)

    def of_table(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Return, pair by pair, what a correlation is made of; nothing where there is no pair."""
        if centred:
            x, y = _without_means(x), _without_means(y)
        parts = np.stack([np.ones_like(x), x, y, x * x, y * y, x * y])
        return np.where(np.isnan(x), 0.0, parts)

    sums = of_table(x, y)
    whole = sums.sum(axis=(1, 2))
    value = float(_statistic(whole, slope))
    without = []
    for axis, size in enumerate(x.shape):  # means are taken out of what is left
        if size > 1:
            tables = (of_table(np.delete(x, i, axis), np.delete(y, i, axis)) for i in range(size))
            without.append(np.stack([table.sum(axis=(1, 2)) for table in tables], axis=1))
    without.append(whole[:, None] - sums[:, sums[0] > 0])
    # The variance of a jackknife, from values with one left out each.
    parts = [
        (len(z) - 1) * np.var(z) for z in (scaled(_statistic(each, slope)) for each in without)
    ]
    variance = max(parts[0] + parts[1] - parts[2], parts[2]) if len(parts) == 3 else parts[0]
    fewest = min(size for size in x.shape if size > 1)
    middle = float(scaled(np.array(value)))
    half = stats.t.ppf((1 + prob) / 2, fewest - 1) * np.sqrt(variance)
    if np.isnan(value + half):
        return Related(value, np.nan, np.nan)
    low, high = (end if slope else np.tanh(end) for end in (middle - half, middle + half))
    return Related(value, float(low), float(high))


def _without_means(x: np.ndarray) -> np.ndarray:
    """Take out the means of rows and columns; in turns if pairs are missing."""
    holes = bool(np.isnan(x).any())
    for _ in range(50 if holes else 1):
        x = x - np.nanmean(x, axis=1, keepdims=True)
        x = x - np.nanmean(x, axis=0, keepdims=True)
        if np.abs(np.nanmean(x, axis=1)).max() <= EXACT / 100:
            break
    return x


def _fisher(values: np.ndarray) -> np.ndarray:
    # A correlation of one to the last digit has no z; this one is 18.7.
    return np.arctanh(np.clip(values, -1 + 1e-16, 1 - 1e-16))
