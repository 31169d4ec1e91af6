"""What residuals of a fit of distances show that its model leaves out, and what results rest on its priors."""

from __future__ import annotations

from typing import Any

from bayesbias.findings.parts import Doubt, Effect
from bayesbias.findings.priors import prior_doubts
from bayesbias.inference.posterior import BiasFit

__all__ = ["word_doubts"]

_TOGETHER = 1.3
_WITH_ALL_TERMS = "default"  # the shipped model that has a term for either


def word_doubts(fit: BiasFit) -> list[Doubt]:
    """Return what pairs share that the model does not name, as far as residuals show it, and priors that results rest on.

    Two things that make the intervals of a model wrong, each looked for only where the model has no term for it:

    - residuals of one protected class and one attribute go together (words of a class are close in meaning).
      Analysis of variance of the residuals by class and attribute: doubted where the variance between is more than
      1.3 times that within and p < 0.001. Such intervals of single classes are too narrow.
    - a protected word's distances to associated and to different attributes go together over words. Doubted where
      their correlation over words has p < 0.01. Such an interval of ``associated - different`` overall is too wide.

    Where both are found, which of the two weighs more is left open.

    And what `bayesbias.findings.priors.prior_doubts` finds.

    Returns
    -------
    list of Doubt
        Empty where nothing was found; without the first two where the table has no classes to look at.
    """
    if not {"protected_word", "protected_class", "attribute", "connection"} <= set(fit.table.columns):
        return prior_doubts(fit)
    terms = {frozenset(fit.spec.parameters[name].dims) for name in fit.spec.mu}
    named = terms & {frozenset({"protected_word", "attribute_kind"}), frozenset({"protected_word"})}
    # A class and an attribute mostly have one connection, so that a term for the three is one for the two.
    shared = {dims - {"connection"} for dims in terms}
    ratio = None if frozenset({"protected_class", "attribute"}) in shared else _ratio_of_cells(fit)
    together = None if named else _correlation_over_words(fit)
    # The one makes intervals too narrow, the other too wide: what both do, only a fit with both terms shows.
    sure = ratio is None or together is None
    compare = f"; compare with the model {_WITH_ALL_TERMS}"
    out = []
    if ratio is not None:
        does = ": intervals of single classes are too narrow" if sure else ""
        out.append(
            Doubt(
                kind="class_and_attribute",
                text=f"pairs of one class and attribute go together (variance ratio {ratio:.1f}, where the model expects "
                f"about 1){does}{compare}",
                effect=Effect.TOO_NARROW if sure else None,
                level="class",
                model=_WITH_ALL_TERMS,
            )
        )
    if together is not None:
        correlation, words = together
        does = ": the interval of associated - different overall is wider than it need be" if sure else ""
        out.append(
            Doubt(
                kind="word",
                text="words near to associated attributes are near to different ones too (correlation "
                f"{correlation:.2f} over {words} words){does}{compare}",
                effect=Effect.TOO_WIDE if sure else None,
                level="overall",
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
    # What is left of the effects of attributes, which the model shrinks, is no part of what lies between classes.
    of_attribute = table.assign(residual=residual).groupby("attribute", observed=True)["residual"]
    away = centre - of_attribute.transform("mean")
    between_df = groups.ngroups - table["attribute"].nunique()
    within_df = len(table) - groups.ngroups
    if size.max() <= 1 or between_df <= 0 or within_df <= 0:
        return None
    within = float(((residual - centre) ** 2).sum()) / within_df
    ratio = float((away**2).sum()) / between_df / within
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
    out: Any = 0.0
    for name in names:
        times, lever = fit.spec.parameters[name].times, fit.design.lever(name)
        factor: Any = 1.0 if times is None else draws[times].mean(axis=0).ravel()[fit.design.index[times]]
        factor = factor if lever is None else factor * lever
        out = out + factor * draws[name].mean(axis=0).ravel()[fit.design.index[name]]
    return out
