"""Doubts where intervals of the listed words exclude what was observed of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bayesbias.core.wording import as_percent
from bayesbias.findings.parts import Doubt
from bayesbias.inference.estimands import PROB
from bayesbias.inference.observed import excluded_observed
from bayesbias.inference.posterior import BiasFit

__all__ = ["drawn_together", "outside_doubts"]


def outside_doubts(
    fit: BiasFit,
    levels: Mapping[str, str],
    prob: float = PROB,
    groups: Sequence[str] | None = None,
) -> list[Doubt]:
    """Return a doubt for each level at which intervals for the listed words exclude the observed mean more than the model has it.

    Parameters
    ----------
    fit : BiasFit
    levels : mapping of str to str
        Levels to look at, and what a reader calls their labels, in the plural.
    prob : float in (0, 1)
    groups : sequence of str, optional
        Labels of what the model gives results for (classifiers), each looked at alone; by default all together.

    Returns
    -------
    list of Doubt
        Of the kind ``observed_excluded``; empty where nothing was found.

    Examples
    --------
    >>> import bayesbias as bb
    >>> fit = bb.fit(bb.distance_table("minilm-static", "religion"), "crossed", seed=1, draws=200)
    >>> outside_doubts(fit, {"word": "words"})
    []
    """
    out = []
    for level, called in levels.items():
        for group in groups or (None,):
            observed = excluded_observed(fit, level, prob, group)
            if not observed.too_alike:
                continue
            out.append(
                Doubt(
                    kind="observed_excluded",
                    text=f"{_lead(group)}the model takes {called} for more alike than they are: "
                    f"{observed.excluded} of {observed.rows} of its {as_percent(prob)} intervals for the listed words alone "
                    f"(listed_words) exclude the mean that was observed, where about {observed.expected:.0f} would if the model "
                    "held (it draws means together, which moves intervals away from them); "
                    "of the listed words read the observed means",
                    level=level,
                    group=group,
                )
            )
    return out


def drawn_together(fit: BiasFit, levels: Mapping[str, str], prob: float, group: str) -> list[str]:
    """Say at which levels many intervals exclude what was observed as the model has it: labels hardly differ beyond noise."""
    out = []
    for level, called in levels.items():
        observed = excluded_observed(fit, level, prob, group)
        if observed.far_too_often and not observed.too_alike:
            out.append(
                f"Of the listed {called} read what was observed: the model draws them together, since they differ by little "
                f"beyond the noise of their sentence pairs, and {observed.excluded} of {observed.rows} of its "
                f"{as_percent(prob)} intervals for these alone leave the observed mean out (by the model about "
                f"{observed.expected:.0f} would)."
            )
    return out


def _lead(group: str | None) -> str:
    return "" if group is None else f"{group}: "
