"""Which engine gave the draws of a fit, which one was asked for, and how it went."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

__all__ = ["Engine"]

ENGINES = ("nuts", "quick")
_WHY_NOT = {
    "pareto_k": "its weights could not be trusted (Pareto k {k})",
    "modes": "it found two modes",
    "effective": "too few of its draws counted ({effective:.0f} of {proposed:,})",
    "no mode": "it found no mode",
    "pairwise": "the model has no exact reduction",
}


@dataclass(frozen=True)
class Engine:
    """How the posterior of a fit was sampled.

    Attributes
    ----------
    name : {"nuts", "quick"}
        What gave the draws. ``quick``: importance sampling of the scales of a collapsed model.
    asked : {"nuts", "quick"}
        What was asked for; where it is another one, `why_not` says why.
    pareto_k : float or None
        Of importance sampling: the shape of the tail of the weights; up to 0.7 they can be trusted. None where nothing was
        weighted, or where the tail has no such shape.
    effective : float
        How many even draws the weights are worth.
    proposed : int
        How many draws were weighted for them.
    rounds : int
        How often the distribution they were drawn from was adapted.
    why_not : str
        ``""``, ``"pareto_k"``, ``"modes"``, ``"effective"``, ``"no mode"`` or ``"pairwise"``.

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.distance_table("minilm-static", "religion", controls="none")
    >>> fit = bb.fit(table, "crossed", seed=1, draws=100, chains=2, engine="quick")
    >>> fit.engine.asked, fit.engine.name in ("quick", "nuts")
    ('quick', True)
    """

    name: str = "nuts"
    asked: str = "nuts"
    pareto_k: float | None = None
    effective: float = 0.0
    proposed: int = 0
    rounds: int = 0
    why_not: str = ""

    @classmethod
    def of(cls, sampler: Mapping[str, Any]) -> Engine:
        """Return the engine that stands in the provenance of a fit, under ``sampler``."""
        return cls(**sampler.get("engine", {}))

    def as_dict(self) -> dict[str, Any]:
        """Return what stands in the provenance."""
        return asdict(self)

    def in_words(self) -> str:
        """Say what is to be said of it; empty where NUTS was asked for."""
        k = "without bound" if self.pareto_k is None else f"{self.pareto_k:.2f}"
        if self.name == "quick":
            drawn = f"{self.effective:,.0f} effective of {self.proposed:,} draws"
            return f"the quick engine: importance sampling, {drawn}, Pareto k {k}"
        if self.asked == "quick":
            why = _WHY_NOT[self.why_not].format(k=k, effective=self.effective, proposed=self.proposed)
            return f"NUTS in place of the quick engine, since {why}"
        return ""


def finite_or_none(k: float) -> float | None:
    """Return a Pareto k as it is kept: None where it is no number."""
    return float(k) if math.isfinite(k) else None
