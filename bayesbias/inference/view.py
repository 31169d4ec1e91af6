"""View: how a result is looked at."""

from __future__ import annotations

from dataclasses import dataclass

from bayesbias.core import checks
from bayesbias.inference.estimands import PROB, ROPE, STANDARD_ROPE

__all__ = ["View"]


@dataclass(frozen=True)
class View:
    """Choose the interval and the regions of practical equivalence of all tables, figures and sentences of a result.

    Attributes
    ----------
    prob : float in (0, 1)
        Probability of the highest posterior density interval (HPDI).
    rope : float
        Half-width of the region of practical equivalence (ROPE), in units of the outcome.
    standard_rope : float
        The same for standardized contrasts, in standard deviations of pairs.

    Raises
    ------
    InputError
        If `prob` is not between 0 and 1, or a half-width is not positive.

    Examples
    --------
    >>> View(prob=0.95).prob
    0.95
    """

    prob: float = PROB
    rope: float = ROPE
    standard_rope: float = STANDARD_ROPE

    def __post_init__(self) -> None:
        checks.probability(self.prob)
        checks.positive(self.rope, "rope")
        checks.positive(self.standard_rope, "standard_rope")
