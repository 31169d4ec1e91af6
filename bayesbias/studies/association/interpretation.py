"""What a fit of distances says: a headline, warnings about what may make it wrong, and notes."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from bayesbias.core import join_words, number_of
from bayesbias.core.sections import Interpretation
from bayesbias.inference import estimands, priors, variances
from bayesbias.inference.posterior import BiasFit
from bayesbias.inference.view import Verdict, View, side, sides, sure_ends
from bayesbias.studies import common
from bayesbias.studies.association.frequency import frequency_of
from bayesbias.wordlists.wordlist import CONNECTIONS, CONTROLS, SHARED

type Names = dict[tuple[str, str], str]

OF_INTEREST = "associated - different"  # the contrast that sets of a list have names for
LEVEL_NAMES = {"class": "class", "attribute_set": "attributes of"}
NAMES = {
    "associated": "Own-class stereotypes",
    "different": "stereotypes of other classes",
    "human": "human controls",
    "neutral": "neutral controls",
}
# Of residuals of class by attribute: from here on intervals of classes are too narrow.
VARIANCE_RATIO = 1.3
# Changes with priors of twice the weight; a result of priors alone has 0.35 for the SD.
PRIOR_MEAN, PRIOR_SD = 0.5, 0.3
# Of unrelated words, from which on cosines say little (Ethayarajh 2019); and of words that may be
# related.
MEAN_COSINE, MEAN_COSINE_RELATED = 0.3, 0.5
RARE = 1e-3  # a chance below which something is not one
MOST_WARNED = 2  # classes with a warning each; more share one
_TO = {"closer": "closer to", "farther": "farther from"}
_UNCLEAR = {
    "closer": "It is not clear that words of these classes are closer to their attributes than other "
    "words are",
    "farther": "It is not clear whether words of these classes or other words are closer to their "
    "attributes",
}
# The first and the last words of a warning on rows of classes.
NARROW_CLASSES, NARROW_ADVICE = "Intervals of classes are too narrow", "Use --model default."
LARGE_ROPE = 0.5  # SDs of single pairs: a medium difference (Cohen 1988, section 2.2)


def has_contrasts(fit: BiasFit) -> bool:
    """Say whether the table holds two kinds of attributes that are contrasted with each other."""
    if fit.spec.results.group != "connection":
        return True
    present = set(map(str, fit.table["connection"].unique()))
    return any(a in present and b in present for a, b in estimands.CONTRASTS)


def interpret_fit(fit: BiasFit, view: View) -> Interpretation:
    """Say what a fit shows; nothing is concluded from one that has not converged."""
    notes = common.missing_notes(fit.provenance.get("coverage"))
    if unsure := common.not_converged(fit.table_name, fit, notes):
        return unsure
    if not has_contrasts(fit):
        headline = "One kind of attributes only: there are means, but no differences."
        return Interpretation(fit.table_name, headline, (), notes)
    sets = rows_of_sets(fit, view)
    headline = _headline(fit, view, sets)
    by_factors = common.factors_in_words(shown_factors(fit, view), "stronger", "weaker")
    return Interpretation(
        fit.table_name,
        f"{headline} By factors, {by_factors}." if by_factors else headline,
        _warnings(fit, view),
        [*notes, *common.notes_on_factors(fit)],
        lambda: _details(fit, view),
    )


def shown_factors(fit: BiasFit, view: View) -> pd.DataFrame:
    """Return the first contrast by factors of classes: main effects and the largest interaction."""
    if not fit.crossed:
        return pd.DataFrame(columns=["name"])
    levels = ("main", "interaction")
    rows = pd.concat([rows_of(fit, view, level) for level in levels], ignore_index=True)
    return common.shown_factors(fit, rows)


def rows_of(fit: BiasFit, view: View, level: str, estimand: str = "population") -> pd.DataFrame:
    """Return the rows of one level and estimand, of the first contrast."""
    if level != "overall" and level in fit.contrast_levels:
        return fit.first_contrasts(level, estimand, view, in_sd=True)
    overall = fit.first_contrasts("overall", estimand, view, in_sd=True)
    chosen = overall["contrast"] == overall["contrast"].iloc[0]
    return overall[chosen & (level == "overall")]


def rows_of_sets(fit: BiasFit, view: View) -> dict[str, Any]:
    """Return the row of the attribute set of each class that has one set of its own."""
    rows = {row.name: row for row in rows_of(fit, view, "attribute_set").itertuples()}
    return {name: rows[listed] for name, listed in owned_sets(fit).items() if listed in rows}


def _standardized(fit: BiasFit, view: View) -> pd.Series:
    """Return the first contrast in SDs of single pairs."""
    frame = fit.standardized(view.prob, view.standard_rope, level="overall", estimand="population")
    return frame.iloc[0]


def _headline(fit: BiasFit, view: View, sets: Mapping[str, Any]) -> str:
    """Say what the first contrast shows, and for which classes it does not."""
    row: Any = next(rows_of(fit, view, "overall").itertuples())
    first, _, second = row.contrast.partition(" - ")
    if own_names(fit) and row.contrast == OF_INTEREST:
        first = " and ".join(f"{name} with {its}" for name, its in owned_sets(fit).items())
        second = "the opposite pairs"
    first, second = (NAMES.get(name, name) for name in (first, second))
    scope = f"for {scope_of(fit)}"
    rope = f"the ROPE (±{row.rope:g})"
    where, _, unsure = row.verdict.partition(", ")
    clear = where in ("below", "above")
    if clear:
        way = "closer" if where == "below" else "farther"
        far = "but perhaps by less than" if unsure else "by more than"
        said = f"{first} are {way} than {second} by {common.size(row)} {scope}, {far} {rope}."
    elif where == "negligible":
        said = (
            f"{first} and {second} are practically equal {scope}: {common.estimate(row)} lies "
            f"within {rope}."
        )
    else:
        what = row.contrast.replace(" - ", " minus ")
        said = f"Inconclusive {scope}: {what} is {common.estimate(row)}. "
        if unsure:
            said += "An end is too close to 0 or the ROPE for so few draws. Raise --draws."
        else:
            said += (
                f"The interval {common.zero_in(row)} and reaches beyond the ROPE (±{row.rope:g})."
            )
    return said + _of_classes(fit, view, sets, where if clear else "")


def scope_of(fit: BiasFit) -> str:
    """Return which words the first table is about."""
    return "new words" if estimands.has_word_effects(fit.spec) else "the listed words"


def _of_classes(fit: BiasFit, view: View, sets: Mapping[str, Any], where: str) -> str:
    """Say of which classes the result does not hold; `where` is its side of zero, if clear."""
    classes = rows_of(fit, view, "class")
    near, far = sides(classes)
    first = rows_of(fit, view, "overall")["contrast"].iloc[0]
    owned = owned_sets(fit) if first == OF_INTEREST else {}
    said = ""
    if near and far and len(owned) == 2:
        a, b = ("", "") if own_names(fit) else ("the attributes of ", "those of ")
        said += (
            f" Words of both classes are closer to {a}{owned[near[0]]} than to {b}{owned[far[0]]}."
        )
    elif near and far:
        closer, farther = common.listing(near), common.listing(far)
        said += f" Classes differ in direction: closer for {closer}, farther for {farther}."
    if not where:
        return said

    opposite = far if where == "below" else near
    if opposite and not (near and far):
        said += f" The other way for the {_classes(opposite)}."
    unclear = [name for name in classes["name"] if name not in (*near, *far)]
    clear_sets = [
        name
        for name in unclear
        if name in sets and side(*sure_ends(sets[name])) is not Verdict.INCONCLUSIVE
    ]
    alike = [name for name in unclear if name not in clear_sets]
    if alike and len(alike) == len(classes):
        said += " This is clear on average, but for no class by itself."
    elif alike:
        by_itself = "by itself" if len(alike) == 1 else "by themselves"
        said += f" It is not clear for the {_classes(alike)} {by_itself}."
    for name in clear_sets:
        label = label_of(own_names(fit), sets[name])
        said += f' It is not clear for the class {name} by itself, unlike the row "{label}".'
    return said


def _classes(names: Sequence[str]) -> str:
    return f"class{'es' * (len(names) > 1)} {join_words(names)}"


def _warnings(fit: BiasFit, view: View) -> list[str]:
    """Return what may make the result wrong, each with what to do about it."""
    out = [*data_warnings(fit), *_set_warnings(fit, view)]
    if ratio := _variance_ratio(fit):
        out.append(
            f"{NARROW_CLASSES}: words of a class have similar distances to the "
            f"same attribute (variance ratio {ratio:.1f}, expected 1), and the model "
            f"{fit.spec.name} has no term for it. {NARROW_ADVICE}"
        )
    out += [*prior_warning(fit), *_interval_warning(fit, view)]
    out += frequency_warnings(fit, view)
    if variances.has_variance(fit.spec):
        raw = rows_of(fit, view, "overall")["mean"].iloc[0]
        sds = view.rope * abs(_standardized(fit, view)["mean"] / raw) if raw else 0.0
        if sds > LARGE_ROPE:
            out.append(
                f"The ROPE (±{view.rope:g}) is large for these vectors: {sds:.1f} SDs of single "
                "pairs. Set a smaller one with --rope, or report the column d."
            )
    return out


def doubted_sets(fit: BiasFit, view: View) -> dict[str, str]:
    """Return classes that are closer or farther, as their attribute set does not show."""
    sets = rows_of_sets(fit, view)
    near, far = sides(rows_of(fit, view, "class"))
    out = {}
    for way, where, names in (("closer", Verdict.BELOW, near), ("farther", Verdict.ABOVE, far)):
        for name in names:
            if name in sets and side(sets[name].hpdi_low, sets[name].hpdi_high) is not where:
                out[name] = way
    return out


def _set_warnings(fit: BiasFit, view: View) -> list[str]:
    """Say where other classes may be as close to the attributes of a class as it is itself.

    Closeness of a class to its set may be that of all words; the row of the set compares classes.
    """
    sets = rows_of_sets(fit, view)
    unclear: dict[str, list[str]] = {}
    out = []
    for name, way in doubted_sets(fit, view).items():
        row = sets[name]
        label = label_of(own_names(fit), row)
        shown = f'row "{label}": {common.estimate(row)}'
        if side(row.hpdi_low, row.hpdi_high) is Verdict.INCONCLUSIVE:
            said = _unclear(fit, name, way)
            unclear.setdefault(way, []).append(shown)
        else:
            said = _compared(fit, name, way, reverse=True)
            said = f"{said[:1].upper()}{said[1:]}"
        brief = common.estimate(row) if label in said else shown  # the sentence has the row's name
        out.append((f"{said} ({brief}).", shown))
    if len(out) <= MOST_WARNED:
        return [said for said, _ in out]

    single = [said for said, _ in out if "not clear" not in said]
    joined = [f"{_UNCLEAR[way]}: {common.listing(rows)}." for way, rows in unclear.items()]
    return [*single, *joined]


def _unclear(fit: BiasFit, name: str, way: str) -> str:
    """Say that it is open whether a class or other classes are closer to its attributes.

    A class that is farther from its own set than from another may be so as all words are. The list
    expects it to be closer than other classes, and the sentence asks who is.
    """
    if way == "closer":
        return f"It is not clear that {_compared(fit, name, way)}"
    mine, theirs, target = _sides(fit, name)
    return f"It is not clear whether {mine} or {theirs} are closer to {target}"


def _compared(fit: BiasFit, name: str, way: str, reverse: bool = False) -> str:
    """Say that a class is closer to its attributes than other classes, or these than it."""
    mine, theirs, target = _sides(fit, name)
    first, second = (theirs, mine) if reverse else (mine, theirs)
    return f"{first} are {_TO[way]} {target} than {second} are"


def _sides(fit: BiasFit, name: str) -> tuple[str, str, str]:
    """Return the words of a class, those of the other classes, and the attributes of the class."""
    owned = owned_sets(fit)
    others = [other for other in owned if other != name]
    if own_names(fit):
        return name, others[0], owned[name]
    theirs = f"words of {others[0]}" if len(others) == 1 else "words of other classes"
    return f"words of {name}", theirs, f"attributes of {name}"


def frequency_warnings(fit: BiasFit, view: View) -> list[str]:
    """Say what word frequency may have to do with a result, where it was asked."""
    if (frequency := frequency_of(fit)) is None:
        return []
    out = [f"Model of frequency: {problem}" for problem in frequency.problems]
    far, error = frequency.contrasts["change"].abs(), frequency.contrasts["mcse_change"]
    moved = far[far > view.rope + 2 * error.fillna(0.0)]
    if len(moved):
        row = frequency.contrasts.loc[moved.idxmax()]
        of = "" if row["level"] == "overall" else f" of {row['name']}"
        out.append(
            f"At equal word frequency {row['contrast']}{of} moves from {row['without_mean']:+.3f} "
            f"to {row['with_mean']:+.3f}: report both, or match controls by frequency (--controls "
            "matched)."
        )
    if missing := frequency.missing:
        out.append(f"{number_of(len(missing), 'word')} without a count: {common.listing(missing)}.")
    return out


def data_warnings(fit: BiasFit) -> list[str]:
    """Return what may be wrong with the words and vectors of a table."""
    out, table = common.word_warnings(fit.provenance.get("coverage")), fit.table
    if fit.spec.outcome == "distance" and "connection" in table:
        means = 1 - table.groupby(table["connection"].astype(str))["distance"].mean()
        # Of the most neutral attributes: of stereotypes alone the mean is no sign.
        kind = next(name for name in (*reversed(CONNECTIONS), SHARED) if name in means)
        if means[kind] > (MEAN_COSINE if kind in CONTROLS else MEAN_COSINE_RELATED):
            out.append(
                f"Unrelated words have a mean cosine of {means[kind]:.2f}: all vectors point in "
                "one direction, which hides differences. Center them (--postprocess center)."
            )
    if {"protected_class", "protected_word"} <= set(table.columns):
        words = table.groupby("protected_class", observed=True)["protected_word"].nunique()
        out += [
            f"{name} has one word, so nothing is known about how much its words vary. Add words "
            "that the vectors have."
            for name in words[words == 1].index
        ]
    return out


def prior_warning(fit: BiasFit) -> list[str]:
    """Warn of a first difference that would be another with priors of twice the weight."""
    mean, sd = priors.prior_shift(fit)
    if abs(mean) < PRIOR_MEAN and abs(sd) < PRIOR_SD:
        return []
    return [
        "The result depends on the priors. With priors of twice the weight, its mean would move by "
        f"{abs(mean):.1f} SDs and its SD would {'fall' if sd < 0 else 'rise'} by {abs(sd):.0%}. "
        "Add words, or report the priors with the result."
    ]


def _interval_warning(fit: BiasFit, view: View) -> list[str]:
    """Warn where observed differences lie outside the intervals of the model too often."""
    from scipy import stats

    words = rows_of(fit, view, "word", "listed_words")
    if "observed" not in words:
        return []
    outside = int((~words["observed"].between(words["hpdi_low"], words["hpdi_high"])).sum())
    if stats.binom.sf(outside - 1, len(words), 1 - view.prob) > RARE:
        return []
    return [
        f"The model {fit.spec.name} does not fit single words: for {outside} of {len(words)} the "
        "observed difference lies outside the interval (expected: about "
        f"{len(words) * (1 - view.prob):.1f}). Compare other models (--compare-models)."
    ]


def owned_sets(fit: BiasFit) -> dict[str, str]:
    """Return the attribute set of each class that has one set of its own."""
    if not {"protected_class", "attribute_class", "connection"} <= set(fit.table.columns):
        return {}
    columns = ["protected_class", "attribute_class"]
    own = fit.table.loc[fit.table["connection"] == "associated", columns].drop_duplicates()
    own = own[~own["protected_class"].duplicated(keep=False)].astype(str)
    return dict(own.itertuples(index=False, name=None))


def own_names(fit: BiasFit) -> Names:
    """Return (level, name) -> the first contrast there in the words of the list.

    Such as ``family - career``.

    Only for two classes with a set each, whose names are others than those of the classes.
    """
    owned = owned_sets(fit)
    if len(owned) != 2 or len({*owned, *owned.values()}) != 4:
        return {}
    (one, its), (two, other) = owned.items()
    return {
        ("class", one): f"{its} - {other}",
        ("class", two): f"{other} - {its}",
        ("attribute_set", its): f"{one} - {two}",
        ("attribute_set", other): f"{two} - {one}",
    }


def label_of(names: Names, row: Any) -> str:
    """Return what a first table calls a row below overall."""
    own = names.get((row.level, row.name), row.contrast)
    return f"{row.name}: {own}" if own != OF_INTEREST else f"{LEVEL_NAMES[row.level]} {row.name}"


def in_names(names: Names, row: Any) -> str:
    """Return a contrast in the names of the list, such as ``women: family minus career``."""
    said = names.get((row.level, row.name), row.contrast).replace(" - ", " minus ")
    return said if row.level == "overall" else f"{row.name}: {said}"


def _variance_ratio(fit: BiasFit) -> float | None:
    """Return the residual variance between class by attribute over that within.

    Only where it is clearly above 1.

    Analysis of variance of the residuals; only for a model without a term for class and attribute.
    """
    from scipy import stats

    table = fit.table
    dims = [set(fit.spec.parameters[name].dims) - {"connection"} for name in fit.spec.mu]
    by = ["protected_class", "attribute"]
    if set(by) in dims or not set(by) <= set(table.columns):
        return None
    design = fit.design
    residual = design.y - design.mean(
        {name: values.mean(axis=0) for name, values in fit.parameter_draws().items()}
    )
    with_residual = table.assign(residual=residual)
    groups = with_residual.groupby(by, observed=True)["residual"]
    center = groups.transform("mean")
    # What is left of the effects of attributes, which the model shrinks, does not lie between
    # classes.
    away = center - with_residual.groupby("attribute", observed=True)["residual"].transform("mean")
    between, within = groups.ngroups - table["attribute"].nunique(), len(table) - groups.ngroups
    if between <= 0 or within <= 0:
        return None
    ratio = (float((away**2).sum()) / between) / (float(((residual - center) ** 2).sum()) / within)
    return ratio if ratio > VARIANCE_RATIO and stats.f.sf(ratio, between, within) < 1e-3 else None


def _details(fit: BiasFit, view: View) -> list[str]:
    """Return further sentences: chance of single pairs, of a new word, and words off zero."""
    out = []
    first = rows_of(fit, view, "overall")["contrast"].iloc[0]
    a, _, b = first.partition(" - ")
    if variances.has_variance(fit.spec):
        superiority = _standardized(fit, view)["probability_of_superiority"]
        out.append(
            f"Of two random pairs, one {a} and one {b}, the {a} one is closer with a probability "
            f"of {superiority:.2f} (0.50 is chance)."
        )
    if estimands.has_new_words(fit.spec):
        new = fit.new_words(view.prob)
        row = new[new["contrast"] == first].iloc[0]
        out.append(
            f"The difference of a single new word lies between {row['hpdi_low']:+.3f} and "
            f"{row['hpdi_high']:+.3f} with a probability of {view.prob:.0%}."
        )
    if estimands.same_for_all_words(fit.spec):
        out.append(f"The model {fit.spec.name} has one difference for all classes and words.")
        return out
    words = rows_of(fit, view, "word")
    if len(words) and estimands.has_word_effects(fit.spec):
        near, far = (
            f"{len(names)} ({common.listing(names)})" if names else "none" for names in sides(words)
        )
        chance = len(words) * (1 - view.prob) / 2
        out.append(
            f"{number_of(len(words), 'word')}: the interval lies below 0 for {near} and above 0 "
            f"for {far}. If no word differed, about {chance:.1f} on each side would be expected by "
            "chance."
        )
    return out
