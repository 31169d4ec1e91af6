"""View: how a result is looked at, and the default conventions."""

from __future__ import annotations

from dataclasses import dataclass

from bayesbias.core import checks

__all__ = ["PROB", "ROPE", "STANDARD_ROPE", "View"]

PROB = 0.89
"""The default probability of an HPDI: the convention of the papers."""
ROPE = 0.02
"""Half-width of the default region of practical equivalence, in cosine distance.

Single pairs of one connection have a standard deviation near 0.2 around their mean (0.17 to 0.22 on the published Reddit
tables). Half of a small standardized effect (0.1) is therefore about 0.02. For vectors with another spread, set your own.
"""
STANDARD_ROPE = 0.1
"""Half-width of the default region of practical equivalence of a standardized contrast, in standard deviations.

Half of a standardized difference of 0.2, the least that Cohen (1988, Statistical Power Analysis, 2nd ed., ch. 2) calls an
effect, as in Kruschke (2018, Advances in Methods and Practices in Psychological Science 1: 270-280).
"""


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
