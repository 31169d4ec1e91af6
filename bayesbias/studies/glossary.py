"""Terms that pages explain, each with its meaning."""

from typing import Any

DISTANCES = (
    (
        "cosine distance",
        "1 minus the cosine similarity of two vectors, from 0 (same direction) to 2 (opposite).",
    ),
    (
        "associated, different",
        "Attributes that are stereotypes of the word's own class, and of another class.",
    ),
    ("human, neutral", "Control words: words about people, and words about things."),
    (
        "d, SDs of pairs",
        "The difference in standard deviations of single pairs, for comparison with other vectors.",
    ),
    (
        "change",
        "The difference in the second vectors minus that in the first, fitted to the change of "
        "each pair. So it may differ a little from the two differences.",
    ),
    (
        "weaker, stronger, reversed",
        "In the second corpus the difference is closer to zero, farther from zero, or has the "
        "other sign.",
    ),
    (
        "new words",
        "The mean over new words and attributes like the listed ones (in tables: population). Use "
        "it for any claim.",
    ),
    (
        "listed words",
        "These words only. The model shrinks the observed value, so its interval may leave that "
        "out.",
    ),
)
"""Terms of distances."""
ESTIMATES = (
    (
        "HPDI",
        "Highest posterior density interval: the shortest credible interval with the given "
        "probability.",
    ),
    ("P(<0)", "Posterior probability that a difference is below zero."),
    (
        "ROPE, P(ROPE)",
        "Region of practical equivalence: differences too small to matter, and the probability of "
        "being in it.",
    ),
)
"""Terms of all estimates."""


def explain_factors(name: str) -> tuple[str, str]:
    """Explain differences between levels of factors, by the name of one."""
    return (
        name,
        "A difference in the contrast above it, averaged over the other factors with equal weights. "
        "In brackets: within a level. After a colon: how far the difference differs between levels.",
    )


def explain_distances(result: Any) -> tuple[tuple[str, str], ...]:
    """Return the terms of distances: the glossary of most studies."""
    return DISTANCES
