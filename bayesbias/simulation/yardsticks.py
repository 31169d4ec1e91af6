"""Intervals that no model is needed for: what words and attributes scatter, counted once for each.

Both take words and attributes for samples, and classes and lists for all there are, as the models do. They know no prior
and shrink nothing, so that a model whose intervals hold less often, or are wider, has something to explain.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from bayesbias.simulation.grid import Grid, Key, contrast_values, scatter

__all__ = ["YARDSTICKS"]

YARDSTICKS = ("moments", "bootstrap")
"""The two-way method of moments, and the multiway cluster bootstrap (pigeonhole bootstrap)."""
RESAMPLES = 1000


def by_yardstick(
    grid: Grid, method: str, weights: Mapping[Key, np.ndarray], prob: float, seed: int
) -> dict[Key, tuple[float, float, float]]:
    """Return estimate and interval of each contrast; none where a class or list has a single word."""
    if min(size.min() for size in grid.sizes()) < 2:
        return {}
    return (
        by_moments(grid, weights, prob)
        if method == "moments"
        else by_bootstrap(grid, weights, prob, seed, RESAMPLES)
    )


def by_moments(
    grid: Grid, weights: Mapping[Key, np.ndarray], prob: float
) -> dict[Key, tuple[float, float, float]]:
    """Return the simple estimates with intervals from the two-way random-effects analysis of variance.

    With R, C and E the mean squares (over the number of words, of attributes, of pairs) of the scores of words, of
    attributes and of what is left (`scatter`), the variance of a contrast is estimated without bias by R + C - E, since R
    and C hold the noise of pairs each (Searle, Casella and McCulloch 1992, ch. 4). A component that comes out negative is
    taken for zero, so that R and C count for E at least. The quantile is that of Student's t with Satterthwaite's (1946)
    degrees of freedom of this sum of mean squares.
    """
    from scipy import stats

    values = contrast_values(grid.means(), weights)
    out = {}
    for key, w in weights.items():
        variance, freedom = moments(grid, w)
        half = float(stats.t.ppf((1 + prob) / 2, freedom)) * np.sqrt(variance)
        out[key] = (values[key], values[key] - half, values[key] + half)
    return out


def moments(grid: Grid, weights: np.ndarray) -> tuple[float, float]:
    """Return the variance of a contrast by the method of moments, and its degrees of freedom."""
    words, attributes = grid.sizes()
    rows, columns, rest = (np.array(squares) for squares in scatter(grid, weights))
    of_words, of_attributes, of_pairs = rows / words, columns / attributes, rest / np.outer(words, attributes)
    noise = of_pairs.sum()
    counted = int(of_words.sum() > noise), int(of_attributes.sum() > noise)
    terms = np.concatenate(
        [counted[0] * of_words, counted[1] * of_attributes, (1 - sum(counted)) * of_pairs.ravel()]
    )
    freedom = np.concatenate([words - 1, attributes - 1, np.outer(words - 1, attributes - 1).ravel()])
    variance, squares = float(terms.sum()), float((terms**2 / freedom).sum())
    return variance, variance**2 / squares if squares > 0 else np.inf


def by_bootstrap(
    grid: Grid, weights: Mapping[Key, np.ndarray], prob: float, seed: int, resamples: int
) -> dict[Key, tuple[float, float, float]]:
    """Return the simple estimates with percentile intervals of the multiway cluster bootstrap.

    Each resample draws the words of each class and the attributes of each list anew, with replacement and apart from each
    other, and keeps the pairs of those drawn (the pigeonhole bootstrap of Owen 2007; with other weights Owen and Eckles
    2012). Its variance counts the noise of pairs about three times, which is too much, and leaves out what few words lose
    to their own mean, which is too little.
    """
    estimates = contrast_values(grid.means(), weights)
    drawn = resampled_means(grid, seed, resamples)
    out = {}
    for key, w in weights.items():
        values = np.einsum("bkl,kl->b", drawn, w)
        low, high = np.quantile(values, [(1 - prob) / 2, (1 + prob) / 2])
        out[key] = (estimates[key], float(low), float(high))
    return out


def resampled_means(grid: Grid, seed: int, resamples: int) -> np.ndarray:
    """Return the means of the blocks in each resample, shape (resamples, classes, lists)."""
    # A stream of its own: the table that is drawn from again may have been simulated with the same seed.
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(2,)))

    def shares(of: np.ndarray, groups: int) -> np.ndarray:
        out = np.zeros((resamples, groups, len(of)))
        for group in range(groups):
            mine = np.flatnonzero(of == group)
            out[:, group, mine] = rng.multinomial(
                len(mine), np.full(len(mine), 1 / len(mine)), resamples
            ) / len(mine)
        return out

    rows, columns = shares(grid.class_of, len(grid.classes)), shares(grid.list_of, len(grid.lists))
    return (rows @ grid.distances) @ columns.transpose(0, 2, 1)
