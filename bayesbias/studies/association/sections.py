"""What is shown of a fit of distances: its header, its tables and figures."""

from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd

import bayesbias as bb
from bayesbias.core import number_of
from bayesbias.core.factors import LEVELS
from bayesbias.core.sections import Column, Section
from bayesbias.inference import cross_validation, estimands, variances
from bayesbias.inference.description import kinds_of
from bayesbias.inference.estimates import (
    CONTRAST_COLUMNS,
    CONVERGENCE_COLUMNS,
    HPDI,
    MEAN,
    MEAN_COLUMNS,
    OBSERVED,
)
from bayesbias.inference.posterior import BiasFit
from bayesbias.inference.view import View
from bayesbias.studies import common
from bayesbias.studies.association.frequency import frequency_of
from bayesbias.studies.association.interpretation import (
    LEVEL_NAMES,
    doubted_sets,
    has_contrasts,
    interpret_fit,
    label_of,
    own_names,
    owned_sets,
    rows_of,
    shown_factors,
)
from bayesbias.studies.glossary import explain_distances, explain_factors

QUESTION = (
    "Are words closer to the stereotypes of their own class than to other attributes, and how "
    "certain is that?"
)
ONE_VERDICT = True
FILES_BEFORE = False
FIT_FILE = ""
TYPES: tuple[type, ...] = ()
interpret, about = interpret_fit, common.about_fit

FIRST = (Column("label", ""), *CONTRAST_COLUMNS, Column("d", "d", "signed", 2))
MEANS = (*MEAN_COLUMNS, Column("n_pairs", "pairs", "count"))
NEW_WORD: tuple[Column | str, ...] = (
    *common.KEYS[:3],
    MEAN,
    HPDI,
    Column("opposite", "opposite", "percent"),
)
MOST_ROWS = 8  # classes and attribute sets in the first table


def glossary(fit: BiasFit) -> tuple[tuple[str, str], ...]:
    """Return the terms that the page explains."""
    of_factors = (explain_factors(fit.crossed[0].name),) if fit.crossed else ()
    return (*explain_distances(fit), *of_factors)


def header(fit: BiasFit, view: View) -> list[str]:
    """Return the lines over the first table."""
    size = f"{len(fit.table):,} rows of {fit.spec.outcome}"
    if kinds := kinds_of(fit.table):
        words = kinds.pop("protected word")
        n, each = sum(kinds.values()), ", ".join(map(number_of, kinds.values(), kinds))
        size = f"{len(fit.table):,} pairs: {words} words x {n} attributes ({each})"
    return common.header_of(fit, fit.table_name, size)


def main_table(fit: BiasFit, view: View) -> pd.DataFrame:
    """Return the first table.

    Each contrast for new words, the first contrast by class and attribute set, and the listed
    words.

    Returns
    -------
    DataFrame
        ``label``, then the columns of `BiasFit.contrasts` with ``detail``. ``is_heading`` marks a
        row without numbers.
    """
    overall = fit.contrasts(view.prob, view.rope, "population", "overall", detail=True)
    first, parts = overall["contrast"].iloc[0], [overall.assign(label=overall["contrast"])]
    groups = []
    for rows in group_rows(fit, view):
        groups.append(rows.assign(label="  " + rows["label"]))
    if fit.crossed:
        factors = shown_factors(fit, view)
        groups.append(factors.assign(label="  " + factors["name"]))
    if estimands.has_word_effects(fit.spec):
        listed = rows_of(fit, view, "overall", "listed_words")
        groups.append(listed.assign(label="  listed words only"))
    if groups:
        parts += [common.heading(f"{first}:"), *groups]
    return pd.concat(parts, ignore_index=True)


def group_rows(fit: BiasFit, view: View) -> list[pd.DataFrame]:
    """Return the first contrast by class and by attribute set, with the ``label`` of each row.

    Of many classes, only the rows that a warning names.
    """
    names = own_names(fit)
    out = []
    for level in LEVEL_NAMES:
        rows = rows_of(fit, view, level)
        if len(rows) < 2:
            continue
        if len(rows) > MOST_ROWS:
            owned = owned_sets(fit)
            named = [owned[name] for name in doubted_sets(fit, view)]
            rows = rows[rows["name"].isin(named) & (level == "attribute_set")].head(MOST_ROWS)
        out.append(rows.assign(label=[label_of(names, row) for row in rows.itertuples()]))
    return [rows for rows in out if len(rows)]


def importance(fit: BiasFit, view: View, rows: pd.DataFrame) -> list[float]:
    """Return how important each row of the first table is, where there is no room for all.

    The first contrast comes first, then the sets that a warning names or that differ clearly, then
    the other contrasts of own-class stereotypes, classes, listed words and sets.
    """
    owned = owned_sets(fit)
    doubted = [owned[name] for name in doubted_sets(fit, view)]
    first = rows["contrast"].iloc[0]
    side = f"{first.partition(' - ')[0]} - "
    out = []
    for row in rows.itertuples():
        clear = row.verdict.startswith(("below", "above"))
        if row.level == "attribute_set":
            value = 60.0 if clear or row.name in doubted else 10.0
        elif row.level in LEVELS:
            value = 70.0
        elif row.level != "overall":
            value = 30.0
        elif row.estimand != "population":
            value = 20.0
        elif row.contrast == first:
            value = 100.0
        else:
            value = 40.0 if row.contrast.startswith(side) else 0.0
        out.append(value + common.far_from_zero(row))
    return out


def group_figure(fit: BiasFit, view: View) -> list[Section]:
    """Return the figure of the rows by class and attribute set, in the names of the first table."""
    groups = group_rows(fit, view)
    if fit.crossed:
        factors = shown_factors(fit, view)
        groups.append(factors.assign(label=factors["name"]))
    if not groups:
        return []
    rows = pd.concat(groups, ignore_index=True)
    labels = {(row.level, row.name): row.label for row in rows.itertuples()}

    def draw() -> Any:
        return bb.plot_contrasts(
            fit,
            prob=view.prob,
            rope=view.rope,
            level=list(dict.fromkeys(rows["level"])),
            contrasts=[rows["contrast"].iloc[0]],
            labels=labels,
        )

    return [Section("groups", "The first difference by class", figure=draw, show_on="page")]


def sections(fit: BiasFit, view: View) -> list[Section]:
    """Return all tables and figures of a fit, in the order in which they are read."""
    prob = view.prob
    out = []
    if has_contrasts(fit):
        scope = "new words" if estimands.has_word_effects(fit.spec) else "listed words"
        out += [
            Section(
                "result",
                f"Difference in cosine {fit.spec.outcome}, {scope} (negative: the first kind is "
                "closer)",
                lambda: main_table(fit, view),
                FIRST,
                figure=lambda: bb.plot_contrasts(fit, prob=prob, rope=view.rope),
                importance=partial(importance, fit, view),
                show_on="terminal page",
            ),
            *group_figure(fit, view),
            Section(
                "contrasts",
                "All differences, overall, by class, by attribute set and by word",
                lambda: fit.contrast_rows(prob, view.rope),
                (*common.KEYS, *CONTRAST_COLUMNS, OBSERVED),
                note=common.about_listed,
            ),
        ]
    out.append(
        Section(
            "summary",
            "Mean distance of each kind of pair, new words",
            lambda: fit.summary(prob),
            ("connection", *MEANS),
            figure=lambda: bb.plot_connections(fit, prob=prob),
        )
    )
    if has_contrasts(fit) and variances.has_variance(fit.spec):
        out.append(standardized_section(fit, view))
    if estimands.has_new_words(fit.spec):
        out.append(
            Section(
                "new_words",
                "One new word: predictive interval over new attributes, and how many have the opposite sign",
                lambda: fit.new_words(prob),
                NEW_WORD,
            )
        )
    out += covariate_sections(fit, view)
    if "word" in fit.spec.results.levels and "protected_word" in fit.table:
        out.append(
            Section(
                "words",
                "Mean distance of each word to each kind of attribute",
                lambda: fit.words(prob),
                ("protected_word", "protected_class", "connection", *MEAN_COLUMNS),
                figure=lambda: bb.plot_words(fit, prob=prob),
            )
        )
    return [*out, *closing_sections(fit, view)]


def closing_sections(fit: BiasFit, view: View) -> list[Section]:
    """Return what is shown last of any fit: checks, priors, parameters, words found, and pairs."""
    priors = Section(
        "priors", "Prior and posterior", figure=lambda: bb.plot_priors(fit), show_on="fold"
    )
    counts = ("listed", "found", "missing")
    found = [
        (side, name, group.listed, group.found, ", ".join(group.missing))
        for side, name, group, _ in common.coverage_groups(fit.provenance.get("coverage"))
    ]
    return [
        Section(
            "predictive",
            "Posterior predictive check",
            figure=lambda: bb.plot_ppc(fit),
            text="Distances that the model generates (lines) and the distances of the table.",
            show_on="fold",
        ),
        *[priors] * (fit.spec.results.group == "connection"),
        Section(
            "parameters",
            "Parameters of the model",
            lambda: fit.parameters(view.prob),
            ("name", "index", Column("mean", "mean", "number"), HPDI, *CONVERGENCE_COLUMNS),
            show_on="fold files",
        ),
        Section(
            "coverage",
            "Words found in the vectors",
            lambda: pd.DataFrame(found, columns=["side", "group", *counts]) if found else None,
            (
                "side",
                "group",
                Column("listed", "listed", "count"),
                Column("found", "found", "count"),
                "missing",
            ),
        ),
        Section("pairs", "All pairs", lambda: fit.table, show_on="folder"),
    ]


def models_section(fit: BiasFit, prob: float) -> Section:
    """Return the first difference under each shipped model of distances.

    All are fitted to the same pairs.
    """
    return Section(
        "models",
        "The first difference under other models",
        lambda: cross_validation.answers_by_model(fit, prob=prob),
        (
            "model",
            "name",
            "words",
            replace(MEAN, digits=3),
            replace(HPDI, digits=3),
            Column("elpd_diff", "elpd diff", "signed", 1),
            Column("se_diff", "SE", "number", 1),
        ),
        note=(
            "Look at what the models have in common. elpd compares predictions of pairs, not "
            "intervals."
        ),
        show_on="terminal files",
    )


def standardized_section(fit: BiasFit, view: View) -> Section:
    """Return the section of differences in standard deviations of single pairs."""
    return Section(
        "standardized",
        "The same differences in standard deviations of single pairs",
        lambda: fit.standardized(view.prob, view.standard_rope),
        (*common.KEYS, *CONTRAST_COLUMNS),
    )


def covariate_sections(fit: BiasFit, view: View) -> list[Section]:
    """Return slopes on covariates, and what frequency does, where the fit has them.

    Of frequency: differences at equal frequency, and frequencies of classes and sets.
    """
    out = []
    if fit.spec.covariates():
        out += common.slope_sections(
            partial(fit.slopes, view.prob),
            (),
            lambda: bb.plots.plot_slopes(fit, prob=view.prob),
        )
    if (frequency := frequency_of(fit)) is None:
        return out
    columns: list[Column | str] = ["level", "name", "contrast"]
    for name in ("without", "with"):
        ends = replace(HPDI, name=f"{name}_low", upper=f"{name}_high")
        columns += [Column(f"{name}_mean", name, "signed"), ends]
    return [
        *out,
        Section(
            "frequency_first",
            f"The first difference without and with slopes on log frequency ({frequency.source})",
            lambda: common.first_rows(frequency.contrasts),
            (*columns[:2], *columns[3:]),
            figure=lambda: bb.plots.plot_frequency_contrasts(fit, rope=view.rope),
            show_on="terminal page",
        ),
        Section(
            "frequency", "All differences at equal frequency", lambda: frequency.contrasts, columns
        ),
        Section(
            "frequency_groups",
            "Log frequency (powers of ten) of classes and attribute sets",
            lambda: frequency.groups,
            (
                "side",
                "group",
                Column("n_words", "words", "count"),
                Column("mean", "mean", "number", 2),
                Column("sd", "SD", "number", 2),
            ),
            figure=lambda: bb.plots.plot_frequencies(fit),
        ),
    ]
