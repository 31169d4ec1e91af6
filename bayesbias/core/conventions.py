"""The defaults of intervals, ROPEs and tests: a probability, a half-width for each scale, a level."""

PROB = 0.89
"""The default probability of an HPDI: the convention of the papers."""
ALPHA = 0.05
"""The default level of significance of a test."""
PUBLISHED_ALPHA = 0.01
"""That of sentence tests, as in their paper (May et al. 2019)."""
ROPE = 0.02
"""Half-width of the default region of practical equivalence, in cosine distance.

Single pairs of one connection have a standard deviation near 0.2 around their mean (0.17 to 0.22 on
the published Reddit tables). Half of a small standardized effect (0.1) is therefore about 0.02. For
vectors with another spread, set your own.
"""
STANDARD_ROPE = 0.1
"""Half-width of the default ROPE of a standardized contrast, in SDs.

Half of a standardized difference of 0.2, the least that Cohen (1988, Statistical Power Analysis,
2nd ed., ch. 2) calls an effect, as in Kruschke (2018, Advances in Methods and Practices in
Psychological Science 1: 270-280).
"""
