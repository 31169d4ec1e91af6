"""What a fit says, in sentences made from its draws, for a reader who sees no table."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from bayesbias.inference.diagnostics import MAX_R_HAT, MIN_ESS_PER_CHAIN
from bayesbias.inference.estimands import PROB, ROPE
from bayesbias.inference.posterior import BiasFit

__all__ = ["convergence", "finding", "in_words", "shortcomings", "verdict"]


def finding(fit: BiasFit, prob: float = PROB, rope: float = ROPE) -> str:
    """Say the main result in one sentence.

    Nothing is concluded from a fit that has not converged. The sentence is about new words like the listed ones
    (the ``population``): whether protected words lie nearer to the stereotypes of their own class than to those of
    other classes.
    """
    frame = fit.contrasts(prob=prob, rope=rope, estimand="population")
    frame = frame[frame["level"] == "overall"]
    row: Any = next(iter(frame.itertuples()))
    first, second = row.contrast.split(" - ")
    name = fit.provenance.get("table", {}).get("name", "this table")
    interval = (
        f"{row.mean:+.3f} in cosine distance, {prob:.0%} HPDI {row.hpdi_low:+.3f} to {row.hpdi_high:+.3f}"
    )
    if not fit.diagnostics()["ok"]:
        return f"{name}: no conclusion, since the sampler cannot be believed yet: {fit.diagnostics()['problems'][0]}."
    caveat = ""
    if doubts := shortcomings(fit):
        narrow, wide = (
            any(text in doubt for doubt in doubts) for text in ("too narrow", "wider than they need be")
        )
        how = (
            "partly too narrow, partly too wide"
            if narrow and wide
            else "too narrow"
            if narrow
            else "wider than need be"
        )
        caveat = (
            f" Its residuals show something that this model leaves out, and intervals are {how}: "
            "fit the model shared as well."
        )
    return (
        f"{name}: for new words like these, {_WHAT[first]} are {_verdict_of_row(row, rope)} "
        f"{_WHAT[second]} ({interval}; P(nearer) {_probability_in_words(row.p_below_zero)})."
        f"{_disagreement(fit, row.contrast, prob)}{caveat}"
    )


def _disagreement(fit: BiasFit, contrast: str, prob: float) -> str:
    """Say so where the mean over classes hides that they clearly point different ways."""
    rows = _of_classes(fit, contrast, prob, ROPE)
    nearer = rows.loc[rows["hpdi_high"] < 0, "name"].tolist()
    farther = rows.loc[rows["hpdi_low"] > 0, "name"].tolist()
    if not (nearer and farther):
        return ""
    return f" The classes disagree: nearer for {', '.join(nearer)}, farther for {', '.join(farther)}."


def _of_classes(fit: BiasFit, contrast: str, prob: float, rope: float) -> Any:
    frame = fit.contrasts(prob=prob, rope=rope, estimand="population")
    return frame[(frame["level"] == "class") & (frame["contrast"] == contrast)]


def in_words(fit: BiasFit, prob: float = PROB, rope: float = ROPE) -> list[str]:
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
    classes: Any = _of_classes(fit, row.contrast, prob, rope)
    if len(classes) > 1:
        each = [
            f"{c.name} {c.mean:+.3f} ({c.hpdi_low:+.3f} to {c.hpdi_high:+.3f})" for c in classes.itertuples()
        ]
        out.append(f"By class, for new words: {', '.join(each)}.")
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
    out += [f"Look again: {sentence}." for sentence in shortcomings(fit)]
    out += fit.diagnostics()["problems"] or ["The chains agree and no transition diverged."]
    return out


def shortcomings(fit: BiasFit) -> list[str]:
    """Say what pairs share that the model does not name, as far as its residuals show it.

    Two things that make the intervals of a model wrong, each looked for only where the model has no term for it:

    - residuals of one protected class and one attribute go together (words of a class are close in meaning).
      Analysis of variance of the residuals by class and attribute: said where the variance between is more than
      1.3 times that within and p < 0.001. Such intervals are too narrow, above all those of single classes.
    - a protected word's distances to associated and to different attributes go together over words. Said where
      their correlation over words has p < 0.01. Such intervals of ``associated - different`` are too wide.

    Returns
    -------
    list of str
        Empty where nothing was found, or where the table has no classes to look at.
    """
    from scipy import stats

    table, design = fit.table, fit.design
    terms = {frozenset(fit.spec.parameters[name].dims) for name in fit.spec.mu}
    if not {"protected_word", "protected_class", "attribute", "connection"} <= set(table.columns):
        return []
    out = []
    mean = design.mean({name: values.mean(axis=0) for name, values in fit.draws().items()})
    residual = design.y - mean
    if frozenset({"protected_class", "attribute"}) not in terms:
        groups = table.assign(residual=residual).groupby(["protected_class", "attribute"], observed=True)[
            "residual"
        ]
        size, centre = groups.transform("size"), groups.transform("mean")
        # The effects of the attributes have already taken their share of what lies between.
        between_df = groups.ngroups - table["attribute"].nunique()
        within_df = len(table) - groups.ngroups
        if size.max() > 1 and between_df > 0 and within_df > 0:
            within = float(((residual - centre) ** 2).sum()) / within_df
            ratio = float((centre**2).sum()) / between_df / within
            if ratio > _TOGETHER and stats.f.sf(ratio, between_df, within_df) < 1e-3:
                out.append(
                    f"pairs of one class and attribute go together (variance ratio {ratio:.1f}, where the model expects "
                    "about 1): intervals are too narrow, above all those of single classes; compare with the model shared"
                )
    words = frozenset({"protected_word", "attribute_kind"})
    if words not in terms and frozenset({"protected_word"}) not in terms:
        average = table.assign(left=design.y - _attribute_part(fit)).pivot_table(
            index="protected_word", columns="connection", values="left", observed=True
        )
        if {"associated", "different"} <= set(average.columns):
            both = average[["associated", "different"]].dropna()
            if len(both) > 3:
                test = stats.pearsonr(both["associated"], both["different"])
                if test.pvalue < 0.01 and test.statistic > 0:
                    out.append(
                        "words near to associated attributes are near to different ones too (correlation "
                        f"{test.statistic:.2f} over {len(both)} words): intervals of associated - different are wider than "
                        "they need be; compare with the model shared"
                    )
    return out


def verdict(low: float, high: float, rope: float = ROPE) -> str:
    """Say in a few words, for a table, what `finding` says of an interval of a contrast.

    Examples
    --------
    >>> [verdict(*ends) for ends in ((-0.09, -0.03), (-0.09, -0.01), (-0.01, 0.01), (-0.09, 0.03))]
    ['nearer', 'nearer, perhaps by little', 'practically equal', 'unclear']
    """
    return _IN_TABLES[_verdict_of_row(SimpleNamespace(hpdi_low=low, hpdi_high=high), rope)]


def convergence(fit: BiasFit) -> str:
    """Say how the fit was sampled and what its diagnostics are, beside what they should be.

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.distance_table("minilm-static", "religion", controls="none")
    >>> text = convergence(bb.fit(table, seed=1, draws=200, chains=2, pointwise=False))
    >>> text.split(":")[0]
    '2 chains of 200 draws each'
    """
    found = fit.diagnostics()
    sizes = fit.tree["posterior"].sizes
    r_hat = (
        "R-hat cannot be told"
        if found["max_r_hat"] is None
        else f"R-hat is at most {found['max_r_hat']:.3f} (chains agree below {MAX_R_HAT})"
    )
    ess = (
        "the number of effective draws cannot be told"
        if found["min_ess_bulk"] is None
        else f"every parameter has at least {found['min_ess_bulk']:,.0f} effective draws "
        f"({MIN_ESS_PER_CHAIN * sizes['chain']:,} are wanted)"
    )
    count = found["divergences"]
    return (
        f"{sizes['chain']} chains of {sizes['draw']:,} draws each: {r_hat}, {ess}, and "
        f"{'no transition' if not count else f'{count:,} transitions'} diverged."
    )


def _attribute_part(fit: BiasFit) -> Any:
    """Return what the effects of attributes, at their posterior mean, add to each row."""
    draws = fit.draws()
    names = [name for name in fit.spec.mu if "attribute" in fit.spec.parameters[name].dims]
    return sum(draws[name].mean(axis=0).ravel()[fit.design.index[name]] for name in names) if names else 0.0


_TOGETHER = 1.3
_WHAT = {
    "associated": "the stereotypes of a word's own class",
    "different": "the stereotypes of other classes",
    "human": "human control words",
    "neutral": "neutral control words",
}
_IN_TABLES = {
    "nearer than": "nearer",
    "farther than": "farther",
    "practically as near as": "practically equal",
    "nearer, though perhaps by little, than": "nearer, perhaps by little",
    "farther, though perhaps by little, than": "farther, perhaps by little",
    "not clearly nearer or farther than": "unclear",
}


def _verdict_of_row(row: Any, rope: float) -> str:
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


def _probability_in_words(p: float) -> str:
    return "> 0.999" if p > 0.999 else "< 0.001" if p < 0.001 else f"= {p:.3f}"


def coverage_sentences(coverage: dict[str, Any]) -> list[str]:
    """Say how many words of each side are missing, and which; all of them stand in coverage.csv."""
    out = []
    for side in ("protected", "attributes"):
        for name, group in coverage.get(side, {}).items():
            if group["missing"]:
                shown = ", ".join(group["missing"][:8]) + (" ..." if len(group["missing"]) > 8 else "")
                noun = "protected words" if side == "protected" else "attributes"
                out.append(f"missing: {len(group['missing'])} of {group['listed']} {noun} of {name}: {shown}")
    matched = coverage.get("matched", {})
    if matched:
        noun = "word" if len(matched) == 1 else "words"
        shown = ", ".join(f"{asked} as {found}" for asked, found in list(matched.items())[:8])
        out.append(
            f"{len(matched)} {noun} found in another spelling: {shown}{' ...' if len(matched) > 8 else ''}"
        )
    return out
