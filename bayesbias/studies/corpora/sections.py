"""What is shown and said of vectors of several corpora."""

import itertools
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from bayesbias.core.formatting import as_percent
from bayesbias.core.sections import Column, Interpretation, Section
from bayesbias.inference.estimates import CONTRAST_COLUMNS, HPDI, MEAN, OBSERVED
from bayesbias.inference.posterior import BiasFit
from bayesbias.inference.view import TOO_CLOSE, Verdict, View, side
from bayesbias.studies import common
from bayesbias.studies.association import interpretation
from bayesbias.studies.corpora.comparing import Change, CorpusComparison
from bayesbias.studies.debiasing.geometry import Geometry, find_geometry
from bayesbias.studies.glossary import explain_distances
from bayesbias.studies.groups import sections as groups
from bayesbias.tables.joining import join_pairs

QUESTION = "What differs between the corpora?"
ONE_VERDICT = True
FILES_BEFORE = False
FIT_FILE = ""
TYPES: tuple[type, ...] = (CorpusComparison, Change)
glossary = explain_distances

MOST_ROWS = 6  # classes and attribute sets in the first table
CHANGE = Column("mean", "change", "signed")
LABELS = ("change", *common.KEYS)


def header(result: CorpusComparison, view: View) -> list[str]:
    """Return the lines over the first table."""
    pairs = len(next(iter(result.corpora.values())).table)
    also = ", also in SDs" if result.reported(view)[1] else ""
    return common.header_of(
        result,
        f"{result.provenance['name']} in {len(result.corpora)} corpora",
        f"{pairs:,} pairs in all of {', '.join(result.corpora)}",
        f"each corpus and each change{also}",
    )


def main_table(result: CorpusComparison, view: View) -> pd.DataFrame:
    """Return the changes overall, and of the first contrast by class and attribute set."""
    frame, _ = result.reported(view)
    fit = next(iter(result.corpora.values()))
    if fit.spec.results.between:  # groups are compared with each other
        return _table_of_groups(fit, frame)
    names = interpretation.own_names(fit)
    several = frame["change"].nunique() > 1
    doubted = _doubted(result, view)
    parts = []
    for change, own in frame.groupby("change", sort=False):
        first = own["contrast"] == own["contrast"].iloc[0]
        overall = own[(own["level"] == own["level"].iloc[0]) & (first | (not several))]
        of_groups = []
        for level in (*interpretation.LEVEL_NAMES, "between"):
            rows = own[(own["level"] == level) & first]
            least = 1 if level == "between" else 2
            shown = least <= len(rows) <= MOST_ROWS
            if level == "attribute_set" and (several or not shown):  # those that a warning names
                named = [row.name for name, _, row in doubted if name == change]
                rows = rows[rows["name"].isin(named)]
                shown = bool(len(rows))
            if shown:
                labels = [f"  {interpretation.label_of(names, row)}" for row in rows.itertuples()]
                of_groups.append(rows.assign(label=labels))
        if several:
            parts.append(common.heading(str(change)))
        parts.append(overall.assign(label=overall["contrast"]))
        if of_groups and not several:
            parts.append(common.heading(f"{own['contrast'].iloc[0]}:"))
        parts += of_groups
    return pd.concat(parts, ignore_index=True)


def importance(result: CorpusComparison, view: View, rows: pd.DataFrame) -> list[float]:
    """Return how important each row of the first table is, where there is no room for all.

    The first contrast comes first, then the sets that a warning names, the other sets, the other
    contrasts and classes. Of groups it is that of their own first table.
    """
    fit = next(iter(result.corpora.values()))
    if fit.spec.results.between:
        return groups.importance(fit, rows)
    doubted = [(change, row.name) for change, _, row in _doubted(result, view)]
    first = rows["contrast"].iloc[0]
    # The rows of a set compare classes; those of a class alone are no finding about it.
    of_level = {"class": 10.0, "between": 40.0, "attribute_set": 40.0}
    out = []
    for row in rows.itertuples():
        value = of_level.get(row.level, 100.0 if row.contrast == first else 20.0)
        if row.level == "attribute_set" and (row.change, row.name) in doubted:
            value = 60.0
        out.append(value + common.far_from_zero(row))
    return out


def _table_of_groups(fit: BiasFit, frame: pd.DataFrame) -> pd.DataFrame:
    """Return the changes that `fit` has rows for, of several changes those of the first contrast."""
    several = frame["change"].nunique() > 1
    parts = []
    for change, rows in frame.groupby("change", sort=False):
        rows = groups.shown_rows(fit, rows)
        if several:
            rows = rows[rows["contrast"] == groups.labels(fit, rows)[0]]
            parts.append(common.heading(str(change)))
        parts.append(groups.under_headings(fit, rows))
    return pd.concat(parts, ignore_index=True)


def sections(result: CorpusComparison, view: View) -> list[Section]:
    """Return all tables and figures, in the order in which they are read."""
    import bayesbias as bb

    prob, rope = view.prob, view.rope
    names = list(result.corpora)
    in_sds = bool(result.reported(view)[1])
    near = view.standard_rope if in_sds else rope
    slope = result.has_slope
    first, last = (names[0], names[-1]) if len(result.changes) == 1 else ("first", "second")
    ends = (Column("first", first, "signed"), Column("last", last, "signed"))
    what = f"slope per step from {first} to {last}" if slope else "and its change"
    change = Column("mean", "slope" if slope else "change", "signed")
    estimates = (
        Column("first", first, "estimate", None, "first_high", "first_low"),
        Column("last", last, "estimate", None, "last_high", "last_low"),
        Column("mean", change.heading, "estimate", None, "hpdi_high", "hpdi_low"),
    )
    hpdi = f"with {as_percent(prob)} HPDI"
    out = [
        Section(
            "result",
            f"Difference in {'SDs of pairs' if in_sds else 'cosine distance'}, {what}, new words, {hpdi} "
            f"(negative {change.heading}: the first kind is closer in "
            f"{'the ' * (last == 'second')}{last})",
            partial(main_table, result, view),
            (Column("label", ""), *estimates),
            lambda: bb.plots.plot_corpora(result, prob=prob, rope=near, standardized=in_sds),
            note=partial(_along_path, result, view)
            if slope
            else f"Change is fitted pair by pair: it is not {last} minus {first}.",
            importance=partial(importance, result, view),
            show_on="terminal page",
        ),
        Section(
            "contrasts",
            "All changes, overall, by class, by attribute set and by word",
            partial(result.contrasts, prob, rope, detail=True),
            (*LABELS, *ends, CHANGE, *CONTRAST_COLUMNS[1:], OBSERVED),
            note=common.about_listed,
        ),
        Section(
            "standardized",
            "All changes in SDs of the pairs of each corpus",
            partial(result.standardized, prob, view.standard_rope) if result.in_sds else None,
            (*LABELS, *ends, CHANGE, *CONTRAST_COLUMNS[1:]),
        ),
        Section(
            "means",
            "Change of the mean distance of each kind of attribute, new words",
            partial(result.means, prob),
            ("change", "connection", "attribute_class", CHANGE, HPDI),
            show_on="detail page files",
        ),
        Section(
            "corpora",
            "The difference in each corpus by itself, new words",
            partial(result.by_corpus, prob, rope),
            ("corpus", *LABELS[1:4], *CONTRAST_COLUMNS),
        ),
        Section(
            "missing",
            "Words that are not in all corpora",
            lambda: pd.DataFrame(
                {"corpus": name, "n_missing": len(own), "words": ", ".join(own)}
                for name, own in result.provenance["missing"].items()
            ),
            ("corpus", Column("n_missing", "missing", "count"), "words"),
            show_on="detail page files",
        ),
    ]
    if slope:
        each = Section(
            "path",
            "The first difference in each corpus, new words",
            partial(path, result, view),
            ("corpus", MEAN, HPDI, Column("off_line", "off the line", "signed")),
            show_on="detail page files",
        )
        out.insert(1, each)
    return out


def _along_path(result: CorpusComparison, view: View, shown: pd.DataFrame) -> str:
    """Say what the first contrast is in each corpus; the intervals are in a table of their own."""
    corpora = path(result, view)
    means = [f"{row.corpus} {common.signed(row.mean)}" for row in corpora.itertuples()]
    return f"{corpora['contrast'].iloc[0]} in each corpus: {', '.join(means)}."


def path(result: CorpusComparison, view: View) -> pd.DataFrame:
    """Return the first contrast in each corpus, and how far it lies off the straight line."""
    unit = result.reported(view)[1]
    near = view.standard_rope if unit else view.rope
    frame = result.by_corpus(view.prob, near, standardized=bool(unit))
    keys = frame[common.KEYS]
    own = frame[(keys == keys.iloc[0]).all(axis=1)]
    steps = np.arange(len(own))
    off = own["mean"] - np.polyval(np.polyfit(steps, own["mean"], 1), steps)
    return own.assign(off_line=off, unit=unit)


def interpret(result: CorpusComparison, view: View) -> Interpretation:
    """Say what changed; nothing is concluded from fits that have not converged."""
    subject = f"{result.provenance['name']} in {', '.join(result.corpora)}"
    coverage = result.provenance["coverage"]
    notes = common.missing_notes({"notes": coverage["notes"]})
    if unsure := common.not_converged(subject, result, notes):
        return unsure
    notes.append(
        "The intervals are for other words in these vectors. Other documents may give another "
        "change: train on resampled documents too."
    )
    frame, unit = result.reported(view)
    fit = next(iter(result.corpora.values()))
    names = interpretation.own_names(fit)
    first = frame.groupby("change", sort=False).head(1)
    of_groups = frame["level"].isin(["class", "between"])
    of_groups &= frame["contrast"].isin(first["contrast"])
    said, details = (
        [_sentence(result, names, row, unit) for row in rows.itertuples()]
        for rows in (first, frame[of_groups])
    )
    if fit.spec.results.between:  # groups are compared with each other
        said = []
        for _, rows in frame.groupby("change", sort=False):
            rows = groups.shown_rows(fit, rows)
            rows = rows[rows["contrast"] == groups.labels(fit, rows)[0]]
            said += _changes_of_groups(result, rows, unit)
    return Interpretation(subject, " ".join(said), _warnings(result, view), notes, lambda: details)


def _changes_of_groups(result: CorpusComparison, rows: pd.DataFrame, unit: str) -> list[str]:
    """Say how groups changed by one contrast, those that did so clearly first.

    The mean over groups is no answer: it depends on which groups are in the list.
    """
    start, end = result.changes[rows["change"].iloc[0]].ends
    clear = rows[rows["verdict"].str.startswith(("below", "above"))]
    said = [_sentence(result, {}, row, unit) for row in clear.itertuples()]
    said = [f"{text[:1].upper()}{text[1:]}" for text in said]
    what = rows["contrast"].iloc[0].replace(" - ", " minus ")
    rope = f"the ROPE (±{rows['rope'].iloc[0]:.2g}{unit})"
    ways = {
        "negligible": f"Changed by less than {rope}",
        "inconclusive": "Inconclusive",
        TOO_CLOSE: "Inconclusive with so few draws (raise --draws)",
    }
    for verdict, way in ways.items():
        alike = rows[rows["verdict"] == verdict]
        if alike.empty:
            continue
        each = [f"{row.name} {common.estimate(row)}" for row in alike.itertuples()]
        of = f"change of {what} from {start} to {end}, new words"
        said.append(f"{way} ({of}): {common.listing(each)}.")
    return said


def _sentence(result: CorpusComparison, names: interpretation.Names, row: Any, unit: str) -> str:
    """Say how one contrast changed.

    Such as ``women: family minus career is weaker in 1980s than in 1930s: change +0.04``.
    """
    change = result.changes[row.change]
    start, end = change.ends
    step = " per step" if change.steps > 1 else ""
    size = common.estimate(row, unit + step)
    what = interpretation.in_names(names, row)
    moved = f"{what} differs by {size} from {start} to {end} for new words"
    rope = f"the ROPE (±{row.rope:.2g}{unit}{step})"
    where, _, unsure = row.verdict.partition(", ")
    if where == "negligible":
        return f"No difference by more than {rope}: {moved}."
    if where == "inconclusive":
        if unsure:
            return f"Inconclusive with so few draws: {moved}. Raise --draws."
        return (
            f"Inconclusive: {moved}. The interval {common.zero_in(row)} and reaches beyond {rope}."
        )
    if way := common.direction(row):
        than = "compared with" if way == "reversed" else "than in"
        moved = f"{what} is {way} in {end} {than} {start}: change {size} for new words"
    else:
        moved += " (weaker or stronger: inconclusive)"
    near = "but perhaps less than" if unsure else "by more than"
    if row.level == "overall":
        moved = f"{moved[0].upper()}{moved[1:]}"
    return f"{moved}, {near} {rope}."


def _doubted(result: CorpusComparison, view: View) -> list[tuple[str, Any, Any]]:
    """Return changes of classes that exclude zero, where those of their attribute sets do not.

    Each as the name of the change, the row of the class and that of its set.
    """
    frame, _ = result.reported(view)
    frame = frame[frame["contrast"] == interpretation.OF_INTEREST]
    rows = {(row.change, row.level, row.name): row for row in frame.itertuples()}
    owned = interpretation.owned_sets(next(iter(result.corpora.values())))
    out = []
    for change, (name, listed) in itertools.product(result.changes, owned.items()):
        of_class = rows.get((change, "class", name))
        of_set = rows.get((change, "attribute_set", listed))
        if of_class is None or of_set is None:
            continue
        sides = [side(row.hpdi_low, row.hpdi_high) for row in (of_class, of_set)]
        if sides[0] is not Verdict.INCONCLUSIVE and sides[1] is Verdict.INCONCLUSIVE:
            out.append((change, of_class, of_set))
    return out


def _warnings(result: CorpusComparison, view: View) -> list[str]:
    """Return what may make the result wrong, each with what to do about it."""
    out = []
    if thin := common.listing(common.mostly_missing(result.provenance["coverage"])):
        advice = "Add words that are in all corpora, or choose other controls (--controls)."
        out.append(f"More than half of these words are not in all corpora: {thin}. {advice}")
    out += common.misspelled_warnings(result.provenance["coverage"])
    names = interpretation.own_names(next(iter(result.corpora.values())))
    for change, of_class, of_set in _doubted(result, view):
        when = f"{change}: it" if len(result.changes) > 1 else "It"
        out.append(
            f"{when} is not clear that {interpretation.label_of(names, of_class)} changed more than "
            f'other classes (row "{interpretation.label_of(names, of_set)}": '
            f"{common.estimate(of_set)})."
        )
    out += _unrelated_warnings(result)
    if result.has_slope:
        each = path(result, view)
        worst = each.loc[each["off_line"].abs().idxmax()]
        if abs(worst["off_line"]) > (view.standard_rope if worst["unit"] else view.rope):
            out.append(
                f"The path bends: {worst['corpus']} lies {worst['off_line']:+.3f}{worst['unit']} off "
                "the straight line. Compare the corpora in pairs, without --ordered."
            )
    if result.scales_differ:
        means = pd.Series({n: each.table["distance"].mean() for n, each in result.corpora.items()})
        (low, high), (less, more) = (
            (of.idxmin(), of.idxmax()) for of in (means, pd.Series(result.sds))
        )
        in_sds = "Report the change in SDs, as above. " if result.in_sds else ""
        out.append(
            f"Distances are not on one scale: the mean is {means[low]:.2f} in {low} and "
            f"{means[high]:.2f} in {high}, the SD of pairs {result.sds[less]:.3f} in {less} and "
            f"{result.sds[more]:.3f} in {more}. {in_sds}If you trained the vectors, train again on "
            "corpora of equal size, with equal settings."
        )
    return out


def _unrelated_warnings(result: CorpusComparison) -> list[str]:
    """Warn of corpora whose distances to control words hardly have anything in common."""
    out = []
    for first, last in itertools.pairwise(result.corpora):
        geometry = result.cached(("geometry", first, last), partial(_geometry, result, first, last))
        if geometry.destroyed:
            out.append(
                f"Distances to control words in {first} do not agree with those in {last} "
                f"(correlation {geometry.least.value:.2f}). A change may be noise of the vectors: "
                "check the files, or train on more text."
            )
    return out


def _geometry(result: CorpusComparison, first: str, last: str) -> Geometry:
    """Compare the distances to control words in two corpora."""
    pairs, _ = join_pairs(result.corpora[first].table, result.corpora[last].table)
    return find_geometry(pairs)


def about(result: CorpusComparison) -> dict[str, Any]:
    """Return what JSON says beside the tables."""
    changes = {
        name: {"weights": dict(each.weights), "scale": each.scale, "steps": each.steps}
        for name, each in result.changes.items()
    }
    return common.about_fits(
        result, result.provenance["coverage"], changes=changes, sds=dict(result.sds)
    )
