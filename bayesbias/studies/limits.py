"""What may be required of a comparison, and what it means: read by the help of the command, which must not wait for more."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

__all__ = ["MEANINGS"]

MEANINGS: Mapping[str, str] = MappingProxyType(
    {
        "gap": "size of associated - different after, overall, for new words (HPDI of the difference, as in tables)",
        "gap_sd": "the same in standard deviations of distances to control words after",
        "class_gap": "the same as gap, of the class in which it is met least",
        "controls": "correlation of distances to control words before and after: of the distances, or of what is left of them "
        "without the means of words, whichever is lower",
        "slope": "slope of those distances, after on before",
        "moved": "their root mean square change, as observed",
        "pairs": "share of the pairs of the original that are compared, as counted",
        "human": "size of the mean change of distances to human control words, for new words (HPDI of the change, as in tables)",
        "neutral": "the same of neutral control words",
    }
)
