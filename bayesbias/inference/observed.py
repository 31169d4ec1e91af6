"""Whether intervals of the listed words hold what was observed of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.core import checks
from bayesbias.inference.estimands import PROB
from bayesbias.inference.posterior import BiasFit

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Excluded", "excluded_observed", "observed_means"]

_CLEARLY = 1e-3  # p of a binomial test; a fit has three or four levels to look at


@dataclass(frozen=True)
class Excluded:
    """How many intervals of a level exclude the mean that was observed of their rows.

    Attributes
    ----------
    level : str
    group : str or None
        The label of what the model gives results for (a classifier), where one alone was looked at.
    excluded, rows : int
    prob : float
        Probability of the intervals.
    p_value : float
        That so many or more of `rows` intervals exclude it where each does with probability ``1 - prob`` (binomial).
    expected : float
        How many of `rows` would where the model holds: one that draws alike labels together leaves out the noise of their
        pairs, and with it often the mean that was observed.
    p_model : float
        That so many or more exclude it where the model holds.

    Examples
    --------
    >>> import bayesbias as bb
    >>> found = bb.inference.Excluded("word", None, 30, 90, 0.89, p_value=1e-8, expected=28.0, p_model=0.4)
    >>> found.far_too_often, found.too_alike
    (True, False)
    """

    level: str
    group: str | None
    excluded: int
    rows: int
    prob: float
    p_value: float
    expected: float
    p_model: float

    @property
    def far_too_often(self) -> bool:
        """Whether it is clearly more than ``1 - prob``: p below 0.001."""
        return self.p_value < _CLEARLY

    @property
    def too_alike(self) -> bool:
        """Whether the model takes the labels for more alike than they are: too many for it, too, with p below 0.001."""
        return self.far_too_often and self.p_model < _CLEARLY


def observed_means(fit: BiasFit, level: str) -> pd.Series:
    """Return the observed mean of each row of ``fit.means(level)``.

    Returns
    -------
    Series
        Indexed by name and by what the model gives results for, in the order in which they come in the table, which need
        not be that of ``fit.means``. They are known exactly, without an interval.
    """
    return _grouped(fit, level, fit.table[fit.spec.outcome].to_numpy(dtype=float)).mean()


def _grouped(fit: BiasFit, level: str, values: np.ndarray) -> Any:
    """Return a number of each row, grouped by the rows of a level."""
    import pandas as pd

    frame, group = fit.table, fit.spec.results.group
    by = np.full(len(frame), "all")
    if level != "overall":
        by = frame[fit.spec.results.levels[level].by].astype(str).to_numpy()
    label = frame[group].astype(str).to_numpy()
    return pd.Series(values, index=frame.index).groupby([by, label], sort=False)


def excluded_observed(fit: BiasFit, level: str, prob: float = PROB, group: str | None = None) -> Excluded:
    """Count intervals for the listed words alone (``listed_words``) that exclude the mean observed of those rows.

    The listed outcomes are known. Such an interval is one of the mean under the model, without the noise of single pairs, and
    the model shrinks labels of a level towards each other: what was observed may lie outside, and the interval is then none
    of these words. Where labels do not differ beyond the noise of their pairs, it often does, and rightly; where it does
    more often than the model itself would have it, the model takes labels for more alike than they are.

    Parameters
    ----------
    fit : BiasFit
    level : str
        ``overall`` or a level of the model.
    prob : float in (0, 1)
    group : str, optional
        One label of what the model gives results for, to look at its rows alone.

    Returns
    -------
    Excluded

    Notes
    -----
    For a normal model with given scales the observed mean of n pairs less its posterior mean has the variance
    ``sigma**2 / n - v``, with v the posterior variance of the mean without noise: of outcomes y with covariance V the fitted
    values lack ``sigma**2 V^-1 y``, whose covariance is ``sigma**4 V^-1``, and theirs given y is
    ``sigma**2 I - sigma**4 V^-1``. So a row's chance of exclusion is that of a normal number beyond the interval, and
    the count is a sum of such chances (Poisson-binomial). Scales are taken at their posterior means.

    Examples
    --------
    >>> import bayesbias as bb
    >>> fit = bb.fit(bb.distance_table("minilm-static", "religion"), "crossed", seed=1, draws=200)
    >>> found = excluded_observed(fit, "word")
    >>> found.rows, found.far_too_often
    (60, False)
    """
    from scipy.stats import binomtest

    checks.instance(fit, BiasFit, "fit", "what bayesbias.fit returns")
    means = fit.means(level, prob, "listed_words")
    label = fit.spec.results.group
    if group is not None:
        checks.choice(group, list(dict.fromkeys(map(str, means[label].unique()))), label.replace("_", " "))
        means = means[means[label].astype(str) == group]
    keys = list(zip(means["name"].astype(str), means[label].astype(str), strict=True))
    observed = observed_means(fit, level)[keys].to_numpy()
    outside = int(((observed < means["hpdi_low"]) | (observed > means["hpdi_high"])).sum())
    p_value = float(binomtest(outside, len(keys), 1 - prob, alternative="greater").pvalue)
    chances = _chances(means, _noise_of_means(fit, level)[keys].to_numpy())
    counts = np.ones(1)
    for chance in chances:
        counts = np.convolve(counts, [1 - chance, chance])
    p_model = min(1.0, float(counts[outside:].sum()))
    return Excluded(level, group, outside, len(keys), float(prob), p_value, float(np.sum(chances)), p_model)


def _noise_of_means(fit: BiasFit, level: str) -> pd.Series:
    """Return the variance that the noise of single pairs has in each observed mean."""
    named = {name for name in fit.spec.noise.values() if isinstance(name, str)}
    typical = {
        name: np.sqrt((values**2).mean(axis=0)) for name, values in fit.draws().items() if name in named
    }
    variance = np.broadcast_to(np.square(fit.design.noise(typical, "sigma")), len(fit.table))
    if "nu" in fit.spec.noise:  # of Student's t, as far as it has a variance
        nu = fit.design.noise(typical, "nu")
        variance = variance * (nu / np.maximum(np.asarray(nu) - 2, 0.5))
    groups = _grouped(fit, level, variance)
    return groups.mean() / groups.size()


def _chances(means: pd.DataFrame, noise: np.ndarray) -> np.ndarray:
    """Return with what probability the model leaves out each observed mean where it holds."""
    from scipy.stats import norm

    away = np.sqrt(np.maximum(noise - means["sd"].to_numpy() ** 2, 0.0))
    middle = means["mean"].to_numpy()
    below, above = middle - means["hpdi_low"].to_numpy(), means["hpdi_high"].to_numpy() - middle
    moves = away > 0
    away = np.where(moves, away, 1.0)
    return np.where(moves, norm.sf(below / away) + norm.sf(above / away), 0.0)
