"""What a fit of distances says: made from its draws, for a reader who sees no table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bayesbias.basics.wording import conjoined, probability_text
from bayesbias.findings.parts import Doubt, Effect, Findings, said_of_losses
from bayesbias.findings.priors import prior_doubts
from bayesbias.findings.trust import AGREED, no_conclusion
from bayesbias.inference.estimands import CONTRASTS, PROB, ROPE
from bayesbias.inference.posterior import BiasFit
from bayesbias.inference.spreads import has_variance
from bayesbias.inference.standard import in_full
from bayesbias.inference.verdicts import Verdict, contrast_phrase, side
from bayesbias.tables.coverage import losses

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["findings_of_words", "word_doubts"]


def findings_of_words(fit: BiasFit, prob: float = PROB, rope: float = ROPE) -> Findings:
    """Say the main result, what it holds for, what the model leaves out, and whether the sampler can be believed.

    Nothing is concluded from a fit that has not converged. The headline is about new words like the listed ones
    (the ``population``): whether protected words lie nearer to the stereotypes of their own class than to those of
    other classes.
    """
    name = str(fit.provenance.get("table", {}).get("name", "this table"))
    state = fit.diagnostics()
    doubts = tuple(word_doubts(fit))
    sentences: tuple[str, ...] = ()
    coverage = fit.provenance.get("coverage", {})
    lost = losses(coverage)
    if not _has_contrasts(fit):
        headline = f"{name}: the table holds no two connections to hold against each other, only their mean distances."
    elif not state["ok"]:
        headline = f"{name}: {no_conclusion(state['problems'][0])}"
    else:
        frame = fit.contrasts(prob=prob, rope=rope)
        main = _main_result(frame, prob, rope, _in_standard_deviations(fit))
        missing = said_of_losses(lost, frame["contrast"].iloc[0].split(" - "))
        headline = f"{name}: {main}{missing}{_disagreement(frame)}{_caveat(doubts)}"
        sentences = (*_superiority(fit, prob), *_sentences(frame, prob))
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


def _has_contrasts(fit: BiasFit) -> bool:
    if fit.spec.results.group != "connection":
        return True  # what cannot be contrasted is refused by `contrasts`, with a reason
    present = set(fit.table["connection"].astype(str))
    return any(a in present and b in present for a, b in CONTRASTS)


def _main_result(frame: pd.DataFrame, prob: float, rope: float, beside: str) -> str:
    row: Any = next(iter(_rows(frame, "overall", "population").itertuples()))
    first, second = row.contrast.split(" - ")
    return (
        f"for new words like these, {_WHAT[first]} are {contrast_phrase(row.hpdi_low, row.hpdi_high, rope)} "
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
    doubts = tuple(doubt for doubt in doubts if doubt.effect is not None)
    if not doubts:
        return ""
    effects = {doubt.effect for doubt in doubts}
    how = (
        "partly too narrow, partly too wide"
        if effects >= set(Effect)
        else "too narrow"
        if Effect.TOO_NARROW in effects
        else "wider than need be"
    )
    models = dict.fromkeys(doubt.model for doubt in doubts if doubt.model is not None)
    advice = f": fit the model {conjoined(models)} as well" if models else ""
    return f" Its residuals show something that this model leaves out, and intervals are {how}{advice}."


def _sentences(frame: pd.DataFrame, prob: float) -> list[str]:
    row: Any = next(iter(_rows(frame, "overall", "these_words").itertuples()))
    out = [
        f"For the listed words alone the same difference is {row.mean:+.3f} "
        f"({prob:.0%} HPDI {row.hpdi_low:+.3f} to {row.hpdi_high:+.3f})."
    ]
    classes: Any = _first_contrast(frame, "class")
    if len(classes) > 1:
        each = [
            f"{c.name} {c.mean:+.3f} ({c.hpdi_low:+.3f} to {c.hpdi_high:+.3f})" for c in classes.itertuples()
        ]
        out.append(f"By class, for new words: {', '.join(each)}.")
    words = _first_contrast(frame, "word")
    nearer, farther = _clear(words)
    out.append(
        f"Of {len(words)} protected words {len(nearer)} have an interval below zero"
        + (f" ({', '.join(nearer)})" if nearer else "")
        + f" and {len(farther)} one above"
        + (f" ({', '.join(farther)})." if farther else ".")
    )
    return out


def _rows(frame: pd.DataFrame, level: str, estimand: str) -> pd.DataFrame:
    return frame[(frame["level"] == level) & (frame["estimand"] == estimand)]


def _first_contrast(frame: pd.DataFrame, level: str) -> pd.DataFrame:
    """Return the rows of the contrast of the headline, at another level."""
    rows = _rows(frame, level, "population")
    return rows[rows["contrast"] == _rows(frame, "overall", "population")["contrast"].iloc[0]]


def _clear(rows: pd.DataFrame) -> tuple[list[str], list[str]]:
    """Return the names whose intervals lie below zero, and those whose lie above."""
    sides = [side(r.hpdi_low, r.hpdi_high) for r in rows.itertuples()]
    nearer, farther = (
        [str(name) for name, own in zip(rows["name"], sides, strict=True) if own is which]
        for which in (Verdict.BELOW, Verdict.ABOVE)
    )
    return nearer, farther


def word_doubts(fit: BiasFit) -> list[Doubt]:
    """Return what pairs share that the model does not name, as far as residuals show it, and priors that results rest on.

    Two things that make the intervals of a model wrong, each looked for only where the model has no term for it:

    - residuals of one protected class and one attribute go together (words of a class are close in meaning).
      Analysis of variance of the residuals by class and attribute: doubted where the variance between is more than
      1.3 times that within and p < 0.001. Such intervals are too narrow, above all those of single classes.
    - a protected word's distances to associated and to different attributes go together over words. Doubted where
      their correlation over words has p < 0.01. Such intervals of ``associated - different`` are too wide.

    And what `bayesbias.findings.priors.prior_doubts` finds.

    Returns
    -------
    list of Doubt
        Empty where nothing was found; without the first two where the table has no classes to look at.
    """
    if not {"protected_word", "protected_class", "attribute", "connection"} <= set(fit.table.columns):
        return prior_doubts(fit)
    terms = {frozenset(fit.spec.parameters[name].dims) for name in fit.spec.mu}
    out = []
    if frozenset({"protected_class", "attribute"}) not in terms:
        ratio = _ratio_of_cells(fit)
        if ratio is not None:
            out.append(
                Doubt(
                    kind="class_and_attribute",
                    text=f"pairs of one class and attribute go together (variance ratio {ratio:.1f}, where the model expects "
                    "about 1): intervals are too narrow, above all those of single classes; "
                    f"compare with the model {_WITH_ALL_TERMS}",
                    effect=Effect.TOO_NARROW,
                    level="class",
                    model=_WITH_ALL_TERMS,
                )
            )
    if not terms & {frozenset({"protected_word", "attribute_kind"}), frozenset({"protected_word"})}:
        together = _correlation_over_words(fit)
        if together is not None:
            correlation, words = together
            out.append(
                Doubt(
                    kind="word",
                    text="words near to associated attributes are near to different ones too (correlation "
                    f"{correlation:.2f} over {words} words): intervals of associated - different are wider than "
                    f"they need be; compare with the model {_WITH_ALL_TERMS}",
                    effect=Effect.TOO_WIDE,
                    contrast="associated - different",
                    model=_WITH_ALL_TERMS,
                )
            )
    return [*out, *prior_doubts(fit)]


def _ratio_of_cells(fit: BiasFit) -> float | None:
    """Return the variance of residuals between class x attribute over that within, where it is clearly too large."""
    from scipy import stats

    table, design = fit.table, fit.design
    residual = design.y - design.mean({name: values.mean(axis=0) for name, values in fit.draws().items()})
    groups = table.assign(residual=residual).groupby(["protected_class", "attribute"], observed=True)[
        "residual"
    ]
    size, centre = groups.transform("size"), groups.transform("mean")
    # The effects of the attributes have already taken their share of what lies between.
    between_df = groups.ngroups - table["attribute"].nunique()
    within_df = len(table) - groups.ngroups
    if size.max() <= 1 or between_df <= 0 or within_df <= 0:
        return None
    within = float(((residual - centre) ** 2).sum()) / within_df
    ratio = float((centre**2).sum()) / between_df / within
    return ratio if ratio > _TOGETHER and stats.f.sf(ratio, between_df, within_df) < 1e-3 else None


def _correlation_over_words(fit: BiasFit) -> tuple[float, int] | None:
    """Correlate the words' mean distances to associated and to different attributes, where they clearly do."""
    from scipy import stats

    average = fit.table.assign(left=fit.design.y - _attribute_part(fit)).pivot_table(
        index="protected_word", columns="connection", values="left", observed=True
    )
    if not {"associated", "different"} <= set(average.columns):
        return None
    both = average[["associated", "different"]].dropna()
    if len(both) <= 3:
        return None
    test = stats.pearsonr(both["associated"], both["different"])
    return (float(test.statistic), len(both)) if test.pvalue < 0.01 and test.statistic > 0 else None


def _attribute_part(fit: BiasFit) -> Any:
    """Return what the effects of attributes, at their posterior mean, add to each row."""
    draws = fit.draws()
    names = [name for name in fit.spec.mu if "attribute" in fit.spec.parameters[name].dims]
    return sum(draws[name].mean(axis=0).ravel()[fit.design.index[name]] for name in names) if names else 0.0


_TOGETHER = 1.3
_WITH_ALL_TERMS = "shared"  # the shipped model that has a term for either
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
