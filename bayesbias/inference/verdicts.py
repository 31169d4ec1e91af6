"""What an interval means, in words. The one place where these words are defined."""

from __future__ import annotations

from bayesbias.basics import checks
from bayesbias.inference.estimands import ROPE

__all__ = ["change_verdict", "gap_verdict"]


def change_verdict(low: float, high: float, rope: float = ROPE) -> str:
    """Say what an interval of a change means. The one place where these words are defined.

    Parameters
    ----------
    low, high : float
        Ends of the HPDI, in cosine distance.
    rope : float > 0
        Half-width of the region of practical equivalence.

    Returns
    -------
    str
        ``moved``: the interval lies outside the ROPE. ``practically unchanged``: it lies inside.
        ``moved, perhaps by little``: it excludes zero but reaches into the ROPE. ``no evidence of change``: it
        holds zero, and more than the ROPE.

    Examples
    --------
    >>> [change_verdict(*ends) for ends in ((0.03, 0.09), (-0.01, 0.01), (0.01, 0.05), (-0.03, 0.05))]
    ['moved', 'practically unchanged', 'moved, perhaps by little', 'no evidence of change']
    """
    return ("no evidence of change", "practically unchanged", "moved, perhaps by little", "moved")[
        place_to_rope(low, high, rope)
    ]


def gap_verdict(low: float, high: float, rope: float = ROPE, contrast: str = "associated - different") -> str:
    """Say what an interval of a contrast after debiasing means. The one place where these words are defined.

    Parameters
    ----------
    low, high, rope
        As in `change_verdict`.
    contrast : str
        Only ``associated - ...`` is about bias: there a negative contrast says that stereotypes lie nearer.

    Returns
    -------
    str
        Of ``associated - ...``: ``still biased`` where the interval lies below the ROPE, ``reversed`` above, both
        with ``, perhaps by little`` where it excludes zero but reaches into the ROPE; ``practically no gap`` inside
        it; ``no evidence of bias`` where it holds zero and more than the ROPE. Of other contrasts ``apart`` stands
        for both directions, and ``no evidence of a gap``.

    Examples
    --------
    >>> [gap_verdict(*ends) for ends in ((-0.09, -0.03), (-0.09, 0.03), (-0.01, 0.0), (0.01, 0.05))]
    ['still biased', 'no evidence of bias', 'practically no gap', 'reversed, perhaps by little']
    >>> gap_verdict(-0.09, -0.03, contrast="human - neutral")
    'apart'
    """
    about_bias = contrast.startswith("associated")
    word = ("still biased" if high < 0 else "reversed") if about_bias else "apart"
    nothing = "no evidence of bias" if about_bias else "no evidence of a gap"
    return (nothing, "practically no gap", f"{word}, perhaps by little", word)[place_to_rope(low, high, rope)]


def place_to_rope(low: float, high: float, rope: float) -> int:
    """0: holds zero and more than the ROPE; 1: inside it; 2: excludes zero, not the ROPE; 3: outside it."""
    checks.positive(rope, "rope")
    if low > rope or high < -rope:
        return 3
    if -rope <= low and high <= rope:
        return 1
    return 2 if low > 0 or high < 0 else 0
