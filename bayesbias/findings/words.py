"""What a fit of distances says: made from its draws, for a reader who sees no table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bayesbias.basics.wording import conjoined, probability_text
from bayesbias.findings.outside import outside_doubts
from bayesbias.findings.parts import Doubt, Findings, said_of_losses
from bayesbias.findings.residuals import word_doubts
from bayesbias.findings.trust import AGREED, no_conclusion
from bayesbias.inference.estimands import CONTRASTS, PROB, ROPE
from bayesbias.inference.posterior import BiasFit
from bayesbias.inference.spreads import has_variance
from bayesbias.inference.standard import in_full
from bayesbias.inference.verdicts import Verdict, contrast_phrase, side
from bayesbias.tables.coverage import losses

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["findings_of_words"]

_CALLED = {
    "protected_class": "classes",
    "attribute_class": "lists of stereotypes",
    "protected_word": "protected words",
}


def findings_of_words(fit: BiasFit, prob: float = PROB, rope: float = ROPE) -> Findings:
    """Say the main result, what it holds for, what the model leaves out, and whether the sampler can be believed.

    Nothing is concluded from a fit that has not converged. The headline is about new words like the listed ones
    (the ``population``, on average): whether protected words lie nearer to the stereotypes of their own class than to those of
    other classes.
    """
    name = str(fit.provenance.get("table", {}).get("name", "this table"))
    state = fit.diagnostics()
    doubts = (*word_doubts(fit), *_outside(fit, prob))
    sentences: tuple[str, ...] = ()
    coverage = fit.provenance.get("coverage", {})
    lost = losses(coverage)
    if not _has_contrasts(fit):
        headline = f"{name}: the table holds no two connections to hold against each other, only their mean distances."
    elif not state["ok"]:
        headline = f"{name}: {no_conclusion(state['problems'][0])}"
    else:
        frame = _with_sure_ends(fit.contrasts(prob=prob, rope=rope))
        main = _main_result(frame, prob, rope, _in_standard_deviations(fit))
        missing = said_of_losses(lost, frame["contrast"].iloc[0].split(" - "))
        headline = f"{name}: {main}{missing}{_disagreement(frame)}{_caveat(doubts)}"
        sentences = (*_superiority(fit, prob), *_sentences(fit, frame, prob))
    return Findings(
        subject=name,
        headline=headline,
        sentences=sentences,
        doubts=doubts,
        problems=tuple(state["problems"]),
        losses=lost,
        notes=(*map(str, coverage.get("notes", ())), *_missing_words(coverage)),
        trust=AGREED,
    )


def _outside(fit: BiasFit, prob: float) -> list[Doubt]:
    """Doubt intervals of the listed words that leave out what was observed of them."""
    levels = {
        level: _CALLED.get(about.by, f"labels of {about.by}")
        for level, about in fit.spec.results.levels.items()
    }
    return outside_doubts(fit, levels, prob) if _has_contrasts(fit) and fit.diagnostics()["ok"] else []


def _has_contrasts(fit: BiasFit) -> bool:
    if fit.spec.results.group != "connection":
        return True  # what cannot be contrasted is refused by `contrasts`, with a reason
    present = set(fit.table["connection"].astype(str))
    return any(a in present and b in present for a, b in CONTRASTS)


def _main_result(frame: pd.DataFrame, prob: float, rope: float, beside: str) -> str:
    row: Any = next(iter(_rows(frame, "overall", "population").itertuples()))
    first, second = row.contrast.split(" - ")
    return (
        f"on average over new words like these, {_WHAT[first]} are {contrast_phrase(row.sure_low, row.sure_high, rope)} "
        f"{_WHAT[second]} ({row.mean:+.3f} in cosine distance, {prob:.0%} HPDI {row.hpdi_low:+.3f} to "
        f"{row.hpdi_high:+.3f}{beside}; P(nearer) {_probability_in_words(row.p_below_zero)})."
    )


def _in_standard_deviations(fit: BiasFit) -> str:
    """Give the contrast of the headline on the scale that other vectors share; empty where pairs need have none."""
    if not has_variance(fit.spec):
        return ""
    row = fit.standardised(level="overall", estimand="population").iloc[0]
    return f", or {row['mean']:+.2f} {in_full(row['unit'])}"


def _superiority(fit: BiasFit, prob: float) -> list[str]:
    """Say how often a random pair of the first connection is nearer."""
    if not has_variance(fit.spec):
        return []
    row = fit.standardised(prob, level="overall", estimand="population").iloc[0]
    first, second = row["contrast"].split(" - ")
    return [
        f"Of two random pairs, one {first} and one {second}, the {first} one is nearer {100 * row['superiority']:.0f} times in "
        f"100 ({prob:.0%} HPDI {100 * row['superiority_low']:.0f} to {100 * row['superiority_high']:.0f}; 50 is chance)."
    ]


def _disagreement(frame: pd.DataFrame) -> str:
    """Say so where the mean over classes hides that they clearly point different ways."""
    nearer, farther = _clear(_first_contrast(frame, "class"))
    if not (nearer and farther):
        return ""
    return f" The classes disagree: nearer for {', '.join(nearer)}, farther for {', '.join(farther)}."


def _caveat(doubts: tuple[Doubt, ...]) -> str:
    """Say in the headline what concerns it: what the model leaves out, and what that does to the interval overall."""
    doubts = tuple(doubt for doubt in doubts if doubt.model is not None)
    if not doubts:
        return ""
    effects = {doubt.effect for doubt in doubts if doubt.level in (None, "overall")} - {None}
    how = f", and this interval is {next(iter(effects))}" if len(effects) == 1 else ""
    models = dict.fromkeys(str(doubt.model) for doubt in doubts)
    return f" Its residuals show something that this model leaves out{how}: fit the model {conjoined(models)} as well."


def _with_sure_ends(frame: pd.DataFrame) -> pd.DataFrame:
    """Add the ends as far as they are known: nothing is concluded within twice their Monte Carlo error."""
    by = 2 * frame[["mcse_low", "mcse_high"]].fillna(0.0)
    return frame.assign(
        sure_low=frame["hpdi_low"] - by["mcse_low"], sure_high=frame["hpdi_high"] + by["mcse_high"]
    )


def _sentences(fit: BiasFit, frame: pd.DataFrame, prob: float) -> list[str]:
    row: Any = next(iter(_rows(frame, "overall", "these_words").itertuples()))
    out = [
        f"For the listed words alone the same difference is {row.mean:+.3f} "
        f"({prob:.0%} HPDI {row.hpdi_low:+.3f} to {row.hpdi_high:+.3f}); their distances are known exactly, and that width is "
        "the model's noise.",
        *_new_word(fit, frame, prob),
    ]
    classes, lists = _first_contrast(frame, "class"), _first_contrast(frame, "stereotype")
    held = fit.spec.results.levels["class"].held if "class" in fit.spec.results.levels else ()
    whose = (
        "its listed words and new attributes"
        if "protected_word" in held
        else "on average over new words of it"
    )
    if len(classes) > 1:
        out.append(f"By class, own stereotypes less others, {whose}: {_each(classes)}.")
    if len(lists) > 1:
        out.append(f"By list of stereotypes, words of its own class less words of others: {_each(lists)}.")
    out += _carried_by_a_list(classes, lists)
    words = _first_contrast(frame, "word")
    nearer, farther = _clear(words)
    if len(words):
        out.append(
            f"Of {len(words)} protected words {len(nearer)} have an interval below zero"
            + (f" ({', '.join(nearer)})" if nearer else "")
            + f" and {len(farther)} one above"
            + (f" ({', '.join(farther)})." if farther else ".")
        )
    return out


def _each(rows: Any) -> str:
    return ", ".join(
        f"{c.name} {c.mean:+.3f} ({c.hpdi_low:+.3f} to {c.hpdi_high:+.3f})" for c in rows.itertuples()
    )


def _new_word(fit: BiasFit, frame: pd.DataFrame, prob: float) -> list[str]:
    """Say how far a single new word may lie from the mean over new words, and how many go the other way."""
    if not {"protected_word", "attribute"} <= set(fit.spec.units):
        return []
    row = fit.new_words(prob).iloc[0]
    return [
        f"A single new word: {row['mean']:+.3f} ({prob:.0%} of them between {row['hpdi_low']:+.3f} and {row['hpdi_high']:+.3f}); "
        f"{100 * row['opposite']:.0f} of 100 new words go the other way ({prob:.0%} HPDI {100 * row['opposite_low']:.0f} to "
        f"{100 * row['opposite_high']:.0f})."
    ]


def _carried_by_a_list(classes: pd.DataFrame, lists: pd.DataFrame) -> list[str]:
    """Say so where a class's contrast is clear, and that of its stereotypes between words of different classes is not."""
    carried = []
    for c in classes.itertuples():
        own = lists[lists["name"] == c.name]
        where = side(c.sure_low, c.sure_high)
        if where is not Verdict.OPEN and any(
            side(r.sure_low, r.sure_high) is not where for r in own.itertuples()
        ):
            carried.append((str(c.name), "near to" if where is Verdict.BELOW else "far from"))
    return [
        f"The difference of {name} is carried by its list: the stereotypes of {name} are {how} words of other classes as well."
        for name, how in carried
    ]


def _rows(frame: pd.DataFrame, level: str, estimand: str) -> pd.DataFrame:
    return frame[(frame["level"] == level) & (frame["estimand"] == estimand)]


def _first_contrast(frame: pd.DataFrame, level: str) -> pd.DataFrame:
    """Return the rows of the contrast of the headline, at another level."""
    rows = _rows(frame, level, "population")
    return rows[rows["contrast"] == _rows(frame, "overall", "population")["contrast"].iloc[0]]


def _clear(rows: pd.DataFrame) -> tuple[list[str], list[str]]:
    """Return the names whose intervals lie below zero, and those whose lie above."""
    sides = [side(r.sure_low, r.sure_high) for r in rows.itertuples()]
    nearer, farther = (
        [str(name) for name, own in zip(rows["name"], sides, strict=True) if own is which]
        for which in (Verdict.BELOW, Verdict.ABOVE)
    )
    return nearer, farther


_WHAT = {
    "associated": "the stereotypes of a word's own class",
    "different": "the stereotypes of other classes",
    "human": "human control words",
    "neutral": "neutral control words",
}


def _probability_in_words(p: float) -> str:
    text = probability_text(p)
    return f"= {text}" if 0.001 <= p <= 0.999 else text


def _missing_words(coverage: dict[str, Any]) -> list[str]:
    """Say how many words of each side are missing, and which; all of them stand in coverage.csv."""
    out = []
    for part, noun in (("protected", "protected words"), ("attributes", "attributes")):
        for name, group in coverage.get(part, {}).items():
            if group["missing"]:
                shown = ", ".join(group["missing"][:8]) + (" ..." if len(group["missing"]) > 8 else "")
                out.append(f"missing: {len(group['missing'])} of {group['listed']} {noun} of {name}: {shown}")
    matched = coverage.get("matched", {})
    if matched:
        noun = "word" if len(matched) == 1 else "words"
        shown = ", ".join(f"{asked} as {taken}" for asked, taken in list(matched.items())[:8])
        out.append(
            f"{len(matched)} {noun} found in another spelling: {shown}{' ...' if len(matched) > 8 else ''}"
        )
    return out
