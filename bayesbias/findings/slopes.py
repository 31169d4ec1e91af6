"""What slopes on facts about words say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bayesbias.basics.wording import interval_text, signed_text
from bayesbias.inference.posterior import BiasFit

if TYPE_CHECKING:
    import pandas as pd


def said_of_slopes(fit: BiasFit, prob: float) -> list[str]:
    """Say what one standard deviation of each fact goes with, in the first contrast, or else in all that is asked of it."""
    if not fit.spec.facts():
        return []
    return _sentences_on(fit.slopes(prob), prob, fit.spec.outcome == "change")


def _sentences_on(frame: pd.DataFrame, prob: float, fit_of_changes: bool) -> list[str]:
    """Say it of a table of slopes."""
    out = []
    for fact, own in frame[frame["level"] == "overall"].groupby("fact", sort=False):
        contrasts = own[own["of"].str.contains(" - ", regex=False)]
        shown: Any = contrasts.head(1) if len(contrasts) else own
        for row in shown.itertuples():
            ends = f"{prob:.0%} HPDI {interval_text(row.hpdi_low, row.hpdi_high, signed=True)}"
            sure = _direction(row)
            what = f"the change of {row.of}" if fit_of_changes else row.of
            out.append(
                f"With one standard deviation more of {fact} ({row.scale:.3g}), {what} {sure} by {signed_text(row.mean)} "
                f"({ends}), on average over new words."
            )
    return out


def _direction(row: Any) -> str:
    if row.hpdi_low - 2 * row.mcse_low > 0:
        return "rises"
    if row.hpdi_high + 2 * row.mcse_high < 0:
        return "falls"
    return "is not shown to change: it moves"
