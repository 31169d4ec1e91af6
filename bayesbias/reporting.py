"""What a fit says, in sentences made from its draws, for a reader who sees no table."""

from __future__ import annotations

from typing import Any

from bayesbias.posterior import PROB, ROPE, BiasFit

__all__ = ["finding", "sentences"]


def finding(fit: BiasFit, prob: float = PROB, rope: float = ROPE) -> str:
    """Say the main result in one sentence.

    The sentence is about new words like the listed ones (the ``population``): whether protected words lie
    nearer to the stereotypes of their own class than to those of other classes.
    """
    frame = fit.contrasts(prob=prob, rope=rope, estimand="population")
    frame = frame[frame["level"] == "overall"]
    row: Any = next(iter(frame.itertuples()))
    first, second = row.contrast.split(" - ")
    name = fit.provenance.get("table", {}).get("name", "this table")
    interval = (
        f"{row.mean:+.3f} in cosine distance, {prob:.0%} HPDI {row.hpdi_low:+.3f} to {row.hpdi_high:+.3f}"
    )
    return (
        f"{name}: for new words like these, {_WHAT[first]} are {_verdict(row, rope)} "
        f"{_WHAT[second]} ({interval}; P(nearer) = {_probability(row.p_below_zero)})."
    )


def sentences(fit: BiasFit, prob: float = PROB, rope: float = ROPE) -> list[str]:
    """Say the result, what it holds for, and whether the sampler can be believed."""
    frame = fit.contrasts(prob=prob, rope=rope)
    overall = frame[frame["level"] == "overall"]
    out = [finding(fit, prob, rope)]
    these = overall[overall["estimand"] == "these_words"]
    row: Any = next(iter(these.itertuples()))
    out.append(
        f"For the listed words alone the same difference is {row.mean:+.3f} "
        f"({prob:.0%} HPDI {row.hpdi_low:+.3f} to {row.hpdi_high:+.3f})."
    )
    words = frame[
        (frame["level"] == "word") & (frame["contrast"] == row.contrast) & (frame["estimand"] == "population")
    ]
    clear = words[(words["hpdi_high"] < 0) | (words["hpdi_low"] > 0)]
    nearer = clear[clear["mean"] < 0]["name"].tolist()
    farther = clear[clear["mean"] > 0]["name"].tolist()
    out.append(
        f"Of {len(words)} protected words {len(nearer)} have an interval below zero"
        + (f" ({', '.join(nearer)})" if nearer else "")
        + f" and {len(farther)} one above"
        + (f" ({', '.join(farther)})." if farther else ".")
    )
    out += fit.diagnostics()["problems"] or ["The chains agree and no transition diverged."]
    return out


_WHAT = {
    "associated": "the stereotypes of a word's own class",
    "different": "the stereotypes of other classes",
    "human": "human control words",
    "neutral": "neutral control words",
}


def _verdict(row: Any, rope: float) -> str:
    if row.hpdi_high < -rope:
        return "nearer than"
    if row.hpdi_low > rope:
        return "farther than"
    if -rope < row.hpdi_low and row.hpdi_high < rope:
        return "practically as near as"
    if row.hpdi_high < 0:
        return "nearer, though perhaps by little, than"
    if row.hpdi_low > 0:
        return "farther, though perhaps by little, than"
    return "not clearly nearer or farther than"


def _probability(p: float) -> str:
    return "> 0.999" if p > 0.999 else "< 0.001" if p < 0.001 else f"{p:.3f}"
