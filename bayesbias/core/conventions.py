"""The defaults of intervals, ROPEs and tests: a probability, a half-width for each scale, a level."""

PROB = 0.89
"""The default probability of an HPDI: the convention of the papers."""
ALPHA = 0.05
"""The default level of significance of a test."""
PUBLISHED_ALPHA = 0.01
"""That of sentence tests, as in their paper (May et al. 2019)."""
ROPE = 0.02
"""Half-width of the default region of practical equivalence (ROPE) at most, in cosine distance.

Single pairs of one connection have a standard deviation near 0.2 around their mean (0.17 to 0.22 on
the published Reddit tables). Half of a small standardized effect (0.1) is therefore about 0.02.
"""
ROPE_IN_SDS = 0.2
"""The same in SDs of single pairs, where vectors lie closer together (`default_rope`).

A standardized difference of 0.2 is the least that Cohen (1988, Statistical Power Analysis, 2nd ed.,
ch. 2) calls an effect.
"""
STANDARD_ROPE = 0.1
"""Half-width of the default ROPE of a standardized contrast, in SDs.

Half of a standardized difference of 0.2, the least that Cohen (1988, Statistical Power Analysis,
2nd ed., ch. 2) calls an effect, as in Kruschke (2018, Advances in Methods and Practices in
Psychological Science 1: 270-280).
"""


def default_rope(sd: float) -> float:
    """Return the default ROPE of cosine distances: the smaller of 0.02 and 0.2 SDs of pairs.

    It has two significant digits, so that what is printed is what is used.

    Examples
    --------
    >>> default_rope(0.17), default_rope(0.0914), default_rope(0.0171)
    (0.02, 0.018, 0.0034)
    """
    return min(ROPE, float(f"{ROPE_IN_SDS * sd:.2g}") or ROPE)
