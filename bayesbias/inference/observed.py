"""Whether intervals of the listed words hold what was observed of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayesbias.basics import checks
from bayesbias.basics.face import public_in
from bayesbias.basics.kinds import tells_kinds
from bayesbias.inference.estimands import PROB
from bayesbias.inference.posterior import BiasFit

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Excluded", "excluded_observed", "observed_means"]

_CLEARLY = 1e-3  # p of a binomial test; a fit has three or four levels to look at


@public_in("bayesbias.inference")
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

    Examples
    --------
    >>> import bayesbias as bb
    >>> found = bb.inference.Excluded("word", None, excluded=30, rows=90, prob=0.89, p_value=1e-8)
    >>> found.far_too_often
    True
    """

    level: str
    group: str | None
    excluded: int
    rows: int
    prob: float
    p_value: float

    @property
    def far_too_often(self) -> bool:
        """Whether it is clearly more than ``1 - prob``: p below 0.001."""
        return self.p_value < _CLEARLY


def observed_means(fit: BiasFit, level: str) -> pd.Series:
    """Return the observed mean of each row of ``fit.means(level)``.

    Returns
    -------
    Series
        Indexed by name and by what the model gives results for, in the order in which they come in the table, which need
        not be that of ``fit.means``. They are known exactly, without an interval.
    """
    frame, group = fit.table, fit.spec.results.group
    by = np.full(len(frame), "all")
    if level != "overall":
        by = frame[fit.spec.results.levels[level].by].astype(str).to_numpy()
    label = frame[group].astype(str).to_numpy()
    return frame[fit.spec.outcome].astype(float).groupby([by, label], sort=False).mean()


@tells_kinds
def excluded_observed(fit: BiasFit, level: str, prob: float = PROB, group: str | None = None) -> Excluded:
    """Count intervals for the listed words alone (``these_words``) that exclude the mean observed of those rows.

    The listed outcomes are known. Such an interval is one of the mean under the model, which shrinks labels of a level
    towards each other: where it takes them for more alike than they are, it leaves out what was observed, and is no
    interval of these words. Where the model holds, it excludes the observed mean less often than in ``1 - prob`` of
    rows, since rows are part of what the model was fitted to.

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
    means = fit.means(level, prob, "these_words")
    label = fit.spec.results.group
    if group is not None:
        checks.choice(group, list(dict.fromkeys(means[label].astype(str))), label.replace("_", " "))
        means = means[means[label].astype(str) == group]
    keys = list(zip(means["name"].astype(str), means[label].astype(str), strict=True))
    observed = observed_means(fit, level)[keys].to_numpy()
    outside = int(((observed < means["hpdi_low"]) | (observed > means["hpdi_high"])).sum())
    p_value = float(binomtest(outside, len(keys), 1 - prob, alternative="greater").pvalue)
    return Excluded(level, group, outside, len(keys), float(prob), p_value)
