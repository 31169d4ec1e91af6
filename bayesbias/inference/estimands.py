"""What is asked of a posterior: the estimands, the contrasts, and the conventions of an answer.

The estimands are never mixed, always named:

``population``
    The mean over new words and attributes like the listed ones: random effects that are not held are set to the mean of
    their population. Overall nothing is held; what each level holds, says the model (`Level.held`): the class, or
    the listed words of the class, so that only attributes are new.
``listed_words``
    Every effect is the one of the words on the list, averaged over the pairs at hand: the answer for
    this list and no other. The listed distances are known exactly, so that its width is the model's noise.
``one_new_word``, ``one_new_pair``
    What a single new protected word, on average over new attributes, or a single new pair of each connection, may
    show: predictive intervals, at the levels that a word belongs to (overall and its class).

Means are over pairs: where classes have unequal numbers of attributes, a word counts in each connection as
often as it has pairs there, so ``listed_words`` compares connections with slightly different mixes of words.

Effects with a spread that is a number, not a parameter (the shifts of the additive model), have no
population to generalise to; they are averaged over the listed words under both estimands.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayesbias.core.errors import FitError
from bayesbias.inference.cells import combinations
from bayesbias.inference.linear import Linear, Part, joined
from bayesbias.inference.mixtures import parts_of_rows
from bayesbias.models.design import Design, labels_of

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["CONTRASTS", "ESTIMANDS", "PROB", "ROPE", "STANDARD_ROPE"]

PROB = 0.89
"""The default probability of an HPDI: the convention of the papers; any other can be asked for."""
ROPE = 0.02
"""Half-width of the default region of practical equivalence, in cosine distance.

Single pairs of one connection scatter with a standard deviation near 0.2 around their mean (0.17 to 0.22
on the published Reddit tables). A standardized difference of 0.1, half of what is by convention called a
small effect, is therefore about 0.02 in cosine distance; a difference inside +-0.02 is lost among the pairs
even for someone who looks for it. On vectors whose distances scatter otherwise, set your own.

Examples
--------
>>> import bayesbias as bb
>>> bb.inference.ROPE
0.02
"""
STANDARD_ROPE = 0.1
"""Half-width of the default region of practical equivalence of a standardized contrast, in standard deviations.

Half of a standardized difference of 0.2, the least that Cohen (1988, Statistical Power Analysis, 2nd ed., ch. 2)
calls an effect, as Kruschke (2018, Advances in Methods and Practices in Psychological Science 1: 270-280) takes it
where nothing better is known of a field. Of two groups that lie 0.1 apart, a random member of the one is nearer than a
random member of the other 53 times in 100, where 50 is chance. It holds for any vectors, which `ROPE` does not.

Examples
--------
>>> import bayesbias as bb
>>> bb.inference.STANDARD_ROPE
0.1
"""
CONTRASTS = (
    ("associated", "different"),
    ("associated", "human"),
    ("associated", "neutral"),
    ("different", "neutral"),
    ("human", "neutral"),
)
ESTIMANDS = ("population", "listed_words")
PREDICTIVE = ("one_new_word", "one_new_pair")


@dataclass(frozen=True, eq=False)
class Rows:
    """What is asked for, row by row; a row is a mixture where a new word may be of several classes.

    Attributes
    ----------
    keys : list of (level, name, label)
        The label is a connection, or of contrasts ``a - b``.
    linear : Linear
        The parts of the mixtures.
    row : ndarray of int, shape (parts,)
        The row that each part belongs to, in order.
    weight : ndarray, shape (parts,)
        Weights of the parts; those of a row add up to one.
    """

    keys: list[tuple[str, str, str]]
    linear: Linear
    row: np.ndarray
    weight: np.ndarray

    def chosen(self, rows: Sequence[int]) -> Rows:
        """Return some rows, in this order."""
        at, row = parts_of_rows(self.row, rows)
        return Rows([self.keys[row] for row in rows], self.linear.taken(at), row, self.weight[at])


def mean_rows(design: Design, table: pd.DataFrame, estimand: str) -> Rows:
    """Return the mean of the outcome per (level, name, connection), as functions of the effects.

    Parameters
    ----------
    design : Design
    table : DataFrame
        The rows the design was laid over.
    estimand : {"population", "listed_words"}
        Or one that the model declares.
    """
    levels = levels_of(design, table, estimand)
    present, group = labels_of(table[design.spec.results.group], design.spec.results.group)
    keys: list[tuple[str, str, str]] = []
    parts = []
    for level, (labels, codes, held) in levels.items():
        cells, rows = combinations([codes, group])
        keys += [(level, labels[at], present[which]) for at, which in cells.T.tolist()]
        parts.append(averaged(design, held | set(design.spec.results.fixed), rows, np.bincount(rows)))
    return Rows(keys, joined(parts), np.arange(len(keys)), np.ones(len(keys)))


def contrast_rows(means: Rows, pairs: Sequence[tuple[str, str]]) -> Rows:
    """Return the differences between labels wherever both stand, from rows that are no mixtures."""
    at = {key: row for row, key in enumerate(means.keys)}
    keys, first, second = [], [], []
    for level, name in dict.fromkeys((level, name) for level, name, _ in means.keys):
        for a, b in pairs:
            if (level, name, a) in at and (level, name, b) in at:
                keys.append((level, name, f"{a} - {b}"))
                first.append(at[level, name, a])
                second.append(at[level, name, b])
    linear = means.linear.taken(first).minus(means.linear.taken(second))
    return Rows(keys, linear, np.arange(len(keys)), np.ones(len(keys)))


def sides_of(contrast: str, labels: Collection[str]) -> tuple[str, str]:
    """Return the two labels whose contrast is called ``a - b``; a label may hold such a stroke itself.

    Examples
    --------
    >>> sides_of("m1 - small - m2", ["m1 - small", "m2"])
    ('m1 - small', 'm2')
    """
    parts = contrast.split(" - ")
    cuts = ((" - ".join(parts[:k]), " - ".join(parts[k:])) for k in range(1, len(parts)))
    return next(both for both in cuts if set(both) <= set(labels))


def level_means(
    design: Design, table: pd.DataFrame, draws: Mapping[str, np.ndarray], estimand: str
) -> tuple[list[tuple[str, str, str]], np.ndarray]:
    """Return the mean distance per (level, name, connection) that given parameter values imply.

    Parameters
    ----------
    design : Design
    table : DataFrame
        The rows the design was laid over.
    draws : Mapping of str to ndarray, shape (n, *shape of the parameter)
    estimand : {"population", "listed_words"}
        Or one that the model declares.

    Returns
    -------
    keys : list of (level, name, connection)
    means : ndarray, shape (n, len(keys))
    """
    rows = mean_rows(design, table, estimand)
    return rows.keys, rows.linear.draws(draws, times_of(design))


def times_of(design: Design) -> dict[str, str | None]:
    """Return what multiplies each parameter."""
    return {name: parameter.times for name, parameter in design.spec.parameters.items()}


def levels_of(
    design: Design, table: pd.DataFrame, estimand: str
) -> dict[str, tuple[list[str], np.ndarray, set[str]]]:
    """Return for each level the labels, the code of each row of the table, and the dimensions that are held."""
    results = design.spec.results
    for column in (results.group, *(level.by for level in results.levels.values())):
        if column not in table.columns:
            raise FitError(f"means per {results.group} need the column {column!r}, which the table lacks")
    given = set(design.coords) if estimand == "listed_words" else set(results.estimands.get(estimand, ()))
    levels = {"overall": (["all"], np.zeros(len(table), dtype=np.int64), given)}
    for level, about in results.levels.items():
        levels[level] = (*labels_of(table[about.by], about.by), given | set(about.held))
    return levels


def averaged(design: Design, held: set[str], group: np.ndarray, counts: np.ndarray) -> Linear:
    """Return the average of the mean over the pairs of each group.

    Parameters
    ----------
    design : Design
    held : set of str
        Dimensions whose effects are kept; a random effect over any other is averaged away, to what it is centred on.
    group : ndarray of int, shape (n_pairs,)
        The group of each row of the table, or -1.
    counts : ndarray of int, shape (groups,)
        How many rows each has.
    """
    from scipy import sparse

    spec = design.spec
    constant = np.zeros(len(counts))
    parts: list[Part] = []
    for term in spec.mu:
        name, idx = term, design.index[term]
        lever = design.lever(term)
        each = (1.0 if lever is None else lever) / counts[group]  # rows of no group are not used
        # An effect is known only where all that it was sampled over is held: the effect of a class on a listed attribute
        # says nothing of the class and a new attribute.
        while spec.is_random(name) and not set(spec.parameters[name].dims) <= held:
            mu = spec.parameters[name].args["mu"]
            if not isinstance(mu, str):
                used = group >= 0
                constant += float(mu) * np.bincount(group[used], each[used], minlength=len(counts))
                break
            name, idx = mu, design.parent[name, "mu"][idx]
        else:
            times = spec.parameters[name].times
            factor = np.zeros(len(group), dtype=np.int64) if times is None else design.index[times]
            for value in np.flatnonzero(np.bincount(factor[group >= 0])):
                mine = np.flatnonzero((group >= 0) & (factor == value))
                weights = sparse.csr_array(
                    (each[mine], (group[mine], idx[mine])),
                    shape=(len(counts), design.size(name)),
                )
                parts.append(Part(name, None if times is None else int(value), weights))
    return Linear(constant, tuple(parts))
