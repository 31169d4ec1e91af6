"""A doubt where the region of practical equivalence is wide beside the scatter of single pairs."""

from __future__ import annotations

from bayesbias.findings.parts import Doubt
from bayesbias.inference.estimands import ROPE
from bayesbias.inference.posterior import BiasFit
from bayesbias.inference.standard import in_full, pair_sd

__all__ = ["rope_doubts", "wide_rope"]

_MOST = 0.5  # standard deviations; a difference of that size is a medium one (Cohen 1988, section 2.2)


def wide_rope(fit: BiasFit, contrast: str, rope: float = ROPE) -> str:
    """Say how wide the ROPE is where it is more than half a standard deviation of single pairs; else nothing.

    In some vectors all cosines are much alike, and 0.02 is more than any two pairs differ by: what is practically equal by such a
    ROPE may be far apart beside the scatter of pairs. The standard deviation is that of `BiasFit.standardized`, or that of the
    distances at hand where noise need have no variance.

    Parameters
    ----------
    fit : BiasFit
        One that has converged.
    contrast : str
    rope : float > 0
    """
    unit, sd = pair_sd(fit.design, fit.table, fit.draws(), contrast)
    ratio = float((rope / sd).mean())  # draw by draw, as contrasts are standardized
    if ratio <= _MOST:
        return ""
    return f"ROPE of {rope:g} is {ratio:.1f} {in_full(unit)} here"


def rope_doubts(wide: str, standard: bool = True) -> list[Doubt]:
    """Return the doubt that `wide_rope` words; none where that is empty. Not all models have standardized contrasts."""
    if not wide:
        return []
    read = ", or read the contrasts in standard deviations (standardized)" if standard else ""
    return [
        Doubt(
            "wide_rope",
            f"the {wide}, so that differences inside it may be large: set another one (rope){read}",
        )
    ]
