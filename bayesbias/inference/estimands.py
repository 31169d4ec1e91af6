"""What is asked of a posterior: two estimands, the contrasts, and the conventions of an answer.

The estimands are never mixed, always named:

``population``
    Random effects that are not held are set to the mean of their population: the answer for *new* words
    like the listed ones. Overall nothing is held. At the levels ``class`` and ``word`` the named
    protected words keep their own effects, and only the attributes are new.
``these_words``
    Every effect is the one of the words on the list, averaged over the pairs at hand: the answer for
    this list and no other.

Means are over pairs: where classes have unequal numbers of attributes, a word counts in each connection as
often as it has pairs there, so ``these_words`` compares connections with slightly different mixes of words.

Effects with a spread that is a number, not a parameter (the shifts of the additive model), have no
population to generalise to; they are averaged over the listed words under both estimands.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.basics.errors import FitError
from bayesbias.models.design import Design, labels_of

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["CONTRASTS", "ESTIMANDS", "PROB", "ROPE", "STANDARD_ROPE"]

PROB = 0.89
"""The default probability of an HPDI: the convention of the papers; any other can be asked for."""
ROPE = 0.02
"""Half-width of the default region of practical equivalence, in cosine distance.

Single pairs of one connection scatter with a standard deviation near 0.2 around their mean (0.17 to 0.22
on the published Reddit tables). A standardised difference of 0.1, half of what is by convention called a
small effect, is therefore about 0.02 in cosine distance; a difference inside +-0.02 is lost among the pairs
even for someone who looks for it. On vectors whose distances scatter otherwise, set your own.
"""
STANDARD_ROPE = 0.1
"""Half-width of the default region of practical equivalence of a standardised contrast, in standard deviations.

Half of a standardised difference of 0.2, the least that Cohen (1988, Statistical Power Analysis, 2nd ed., ch. 2)
calls an effect, as Kruschke (2018, Advances in Methods and Practices in Psychological Science 1: 270-280) takes it
where nothing better is known of a field. Of two groups that lie 0.1 apart, a random member of the one is nearer than a
random member of the other 53 times in 100, where 50 is chance. It holds for any vectors, which `ROPE` does not.
"""
CONTRASTS = (
    ("associated", "different"),
    ("associated", "human"),
    ("associated", "neutral"),
    ("different", "neutral"),
    ("human", "neutral"),
)
ESTIMANDS = ("population", "these_words")


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
    estimand : {"population", "these_words"}
        Or one that the model declares.

    Returns
    -------
    keys : list of (level, name, connection)
    means : ndarray, shape (n, len(keys))
    """
    from scipy import sparse

    results = design.spec.results
    for column in (results.group, *(level.by for level in results.levels.values())):
        if column not in table.columns:
            raise FitError(f"means per {results.group} need the column {column!r}, which the table lacks")
    present, group = labels_of(table[results.group], results.group)
    every = set(design.coords)
    given = every if estimand == "these_words" else set(results.estimands.get(estimand, ()))
    levels = {"overall": (["all"], np.zeros(len(table), dtype=np.int64), given)}
    for level, about in results.levels.items():
        levels[level] = (*labels_of(table[about.by], about.by), given | set(about.held))
    keys: list[tuple[str, str, str]] = []
    blocks = []
    for level, (labels, codes, held) in levels.items():
        cells, rows, counts = np.unique(codes * len(present) + group, return_inverse=True, return_counts=True)
        keys += [(level, labels[c // len(present)], present[c % len(present)]) for c in cells]
        average = functools.partial(
            _average_term, design, draws, held | set(results.fixed), sparse, rows, counts
        )
        mean = sum(average(name, design.index[name]) for name in design.spec.mu)
        # Where every effect is averaged away to a number of the model file, all draws are that number.
        blocks.append(np.broadcast_to(mean, (len(draws[design.spec.mu[0]]), len(cells))))
    return keys, np.concatenate(blocks, axis=-1)


def _average_term(
    design: Design,
    draws: Mapping[str, np.ndarray],
    held: set[str],
    sparse: Any,
    group: np.ndarray,
    counts: np.ndarray,
    name: str,
    idx: np.ndarray,
) -> Any:
    """Average one term of the mean over the pairs of each group; see the module's docstring."""
    parameter = design.spec.parameters[name]
    # An effect is known only where all that it was sampled over is held: the effect of a class on a listed attribute
    # says nothing of the class and a new attribute.
    if design.spec.is_random(name) and not set(parameter.dims) <= held:
        mu = parameter.args["mu"]
        if not isinstance(mu, str):
            return np.full((1, len(counts)), float(mu))
        return _average_term(design, draws, held, sparse, group, counts, mu, design.parent[name, "mu"][idx])
    weights = sparse.csr_array((1.0 / counts[group], (group, idx)), shape=(len(counts), design.size(name)))
    flat = draws[name].reshape(len(draws[name]), -1)
    return (weights @ flat.T).T
