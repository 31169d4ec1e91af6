"""What is shown and said of several sets of vectors."""

from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd

from bayesbias.core import number_of
from bayesbias.core.sections import Column, Interpretation, Section
from bayesbias.inference.estimates import CONTRAST_COLUMNS, HPDI, MEAN
from bayesbias.inference.posterior import BiasFit
from bayesbias.inference.view import View
from bayesbias.studies import common
from bayesbias.studies.association import interpretation
from bayesbias.studies.corpora.comparing import Change, CorpusComparison
from bayesbias.studies.corpora.sections import LABELS
from bayesbias.studies.glossary import explain_distances
from bayesbias.studies.replicates.pooling import ADVISED, Replicates

QUESTION = "What do several equally plausible sets of vectors show together?"
ONE_VERDICT = True
FILES_BEFORE = False
FIT_FILE = ""
TYPES: tuple[type, ...] = (Replicates, CorpusComparison, Change)
glossary = explain_distances

MOST_ROWS = 4  # classes, or pairs of groups, in the first table
SCOPES = {"population": "new words", "listed_words": "listed words"}
HEADS = ("estimand", "change")  # what each block of the first table is of
ORDER = (*SCOPES, "overall", "between", "class")
SHARES = (
    Column("sd_within", "within", "number"),
    Column("sd_between", "between", "number"),
    Column("share_between", "share", "percent"),
)


def header(result: Replicates, view: View) -> list[str]:
    """Return the lines over the first table."""
    sets = list(result.results)
    full = "all contexts" if result.provenance.get("contexts") else "the full text"
    around = "" if result.center is None else f", centered on {full}"
    subject = f"{result.provenance['name']} in {number_of(len(sets), 'set')}"
    size = f"{len(first_fit(result).table):,} pairs in each of {common.listing(sets, most=4)}"
    *lines, fits = common.header_of(result, subject, size)
    return [*lines, f"{fits}; pooled by Rubin's rules{around}"]


def first_fit(result: Replicates) -> BiasFit:
    """Return the fit of the center, or of the first set."""
    return next(iter(result.fits().values()))


def main_rows(result: Replicates, view: View) -> pd.DataFrame:
    """Return all contrasts overall, and the first by class and between groups."""
    frame = result.contrasts(view.prob, view.rope, detail=True)
    first = frame["contrast"] == frame["contrast"].iloc[0]
    by = [name for name in ("estimand", "change", "level", "contrast") if name in frame]
    few = frame.groupby(by)["name"].transform("size") <= MOST_ROWS
    overall = (frame["level"] == "overall") & (first | (frame["estimand"] == "population"))
    rows = frame[overall | (frame["level"].isin(["between", "class"]) & first & few)]

    def order(column: pd.Series) -> pd.Series:
        names = column.unique().tolist() if column.name == "change" else ORDER
        return column.map(names.index)

    return rows.sort_values(by[:-1], key=order, kind="stable", ignore_index=True)


def main_table(result: Replicates, view: View) -> pd.DataFrame:
    """Return the first table: ``label``, then the columns of `Replicates.pooled`."""
    rows = main_rows(result, view)
    names = interpretation.own_names(first_fit(result))
    parts = []
    for key, part in rows.groupby([name for name in HEADS if name in rows], sort=False):
        title = ", ".join([SCOPES[key[0]].capitalize(), *key[1:]])
        labels = [
            f"  {row.contrast if row.level == 'overall' else interpretation.label_of(names, row)}"
            for row in part.itertuples()
        ]
        parts += [common.heading(title), part.assign(label=labels)]
    return pd.concat(parts, ignore_index=True)


def sections(result: Replicates, view: View) -> list[Section]:
    """Return all tables and figures, in the order in which they are read."""
    import bayesbias as bb

    prob, rope = view.prob, view.rope
    fit = first_fit(result)
    changes = "change" in result.contrasts(prob, rope)
    note = "within, between: SD within and between sets. share: between, in the variance."
    what = "change of a difference" if changes else "difference"
    sign = "came closer" if changes else "is closer"
    out = [
        Section(
            "result",
            f"{what.capitalize()} in cosine distance, pooled (negative: the first {sign})",
            partial(main_table, result, view),
            (Column("label", ""), MEAN, HPDI, *SHARES),
            figure=lambda: bb.plots.plot_replicates(result, prob=prob, rope=rope),
            note=note,
            show_on="terminal page",
        ),
        Section(
            "contrasts",
            "All differences, pooled",
            partial(result.contrasts, prob, rope, detail=True),
            (*LABELS, *CONTRAST_COLUMNS, *SHARES, Column("df", "df", "number", 0)),
        ),
    ]
    if not changes:
        out += [
            Section(
                "means",
                "Mean distance of each kind of attributes, pooled, new words",
                partial(result.pooled, "means", prob, level="class"),
                ("name", fit.spec.results.group, MEAN, HPDI, *SHARES),
            ),
            Section(
                "words",
                "Mean distance of each word to each kind of attributes, pooled",
                partial(result.pooled, "words", prob),
                (Column("protected_word", "word"), fit.spec.results.group, MEAN, HPDI, *SHARES),
            ),
        ]
    out.append(
        Section(
            "sets",
            "The differences in each set by itself",
            partial(result.by_set, prob, rope),
            ("set", *LABELS, *CONTRAST_COLUMNS),
        )
    )
    return out


def interpret(result: Replicates, view: View) -> Interpretation:
    """Say what the sets show together; nothing is concluded from fits that have not converged."""
    subject = f"{result.provenance['name']} in {len(result.results)} sets of vectors"
    notes = common.missing_notes(result.provenance["coverage"])
    if unsure := common.not_converged(subject, result, notes):
        return unsure
    rows = main_rows(result, view)
    names = interpretation.own_names(first_fit(result))
    heads = rows.groupby([name for name in HEADS if name in rows], sort=False).head(1)
    others = rows[rows["level"] != "overall"]
    said, details = (
        [_sentence(names, row) for row in frame.itertuples()] for frame in (heads, others)
    )
    if result.center is not None:
        row, sets = heads.iloc[0], replace(result, center=None)
        alone = sets.contrasts(view.prob, view.rope, row["estimand"], row["level"])["mean"].iloc[0]
        if (nearer := 1 - alone / row["mean"]) >= 0.01:
            notes.append(
                f"In the resampled sets the first difference is {nearer:.0%} closer to zero than in the "
                "vectors on which the result is centered."
            )
    if contexts := result.provenance.get("contexts"):
        notes.append(
            f"Words have several vectors. Those of each word were resampled {contexts} times. "
            "--contexts 0 fits their means instead."
        )
    warnings = interpretation.data_warnings(first_fit(result))
    if len(result.results) < ADVISED:
        warnings.append(
            f"{len(result.results)} sets are too few to estimate the SD between sets. Use five or "
            "more."
        )
    tables = [own.table for own in result.fits().values()]
    words = [{*own["protected_word"], *own["attribute"]} for own in tables]
    if lacking := set.union(*words) - set.intersection(*words):
        warnings.append(
            "The sets have different words. Leave those that some lack out of the list: "
            f"{common.listing(sorted(lacking), most=20)}."
        )
    return Interpretation(subject, " ".join(said), warnings, notes, lambda: details)


def _sentence(names: interpretation.Names, row: Any) -> str:
    """Say what one pooled row means, such as ``New words: family minus career -0.06 [...]``."""
    change = getattr(row, "change", None)
    sides = ("decreased", "increased") if change else ("closer", "farther")
    scope = SCOPES[row.estimand].capitalize() + (f", {change}" if change else "")
    moved = " moved by" if change else ""
    said = common.in_words(row, *sides)
    ends = "" if "[" in said else f" {common.interval(row)}"
    return f"{scope}: {interpretation.in_names(names, row)}{moved} {common.signed(row.mean)}{ends}, {said}."


def about(result: Replicates) -> dict[str, Any]:
    """Return what JSON says beside the tables."""
    return common.about_fits(result, result.provenance["coverage"], replicates=result.kind)
