"""What is shown and said of vectors of several corpora."""

from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from bayesbias.core.sections import Column, Interpretation, Section
from bayesbias.inference.view import View
from bayesbias.studies.association.interpretation import LEVEL_NAMES, Names, own_names
from bayesbias.studies.common import (
    CONTRAST_COLUMNS,
    HPDI,
    IN_ROPE,
    MEAN,
    about_fits,
    convergence_of_all,
    coverage_groups,
    heading,
    interval,
    missing_notes,
    not_converged,
    title_line,
)
from bayesbias.studies.corpora.comparing import CorpusComparison

QUESTION = "What changed from one corpus to another?"

MOST_ROWS = 6  # classes and attribute sets in the first table
FAR = 0.1  # by which mean distances of controls move where corpora or training are unequal
CHANGE = Column("mean", "change", "signed")
LABELS = ("change", "level", "name", "contrast", "estimand")


def header(result: CorpusComparison, view: View) -> list[str]:
    """Return the lines over the first table."""
    pairs = len(next(iter(result.corpora.values())).table)
    return [
        title_line(result, f"{result.provenance['name']} in {len(result.corpora)} corpora"),
        f"{pairs:,} pairs in all of {', '.join(result.corpora)}",
        convergence_of_all(result, "each corpus and each change"),
    ]


def in_names(names: Names, row: Any) -> str:
    """Return a contrast in the names of the list, such as ``women: family minus career``."""
    own = names.get((row.level, row.name)) if row.contrast == "associated - different" else None
    said = (own or row.contrast).replace(" - ", " minus ")
    return said if row.level == "overall" else f"{row.name}: {said}"


def label_of(names: Names, row: Any) -> str:
    """Return what a first table calls a row below overall."""
    plain = row.contrast == "associated - different" and not names and row.level in LEVEL_NAMES
    return f"  {LEVEL_NAMES[row.level]} {row.name}" if plain else f"  {in_names(names, row)}"


def main_table(result: CorpusComparison, view: View) -> pd.DataFrame:
    """Return the changes overall, and of the first contrast by class and attribute set."""
    frame = result.contrasts(view.prob, view.rope, "population")
    names = own_names(next(iter(result.corpora.values())))
    several = frame["change"].nunique() > 1
    parts = []
    for change, own in frame.groupby("change", sort=False):
        first = own["contrast"] == own["contrast"].iloc[0]
        overall = own[(own["level"] == own["level"].iloc[0]) & (first | (not several))]
        groups = []
        for level in (*LEVEL_NAMES, "between"):
            rows = own[(own["level"] == level) & first]
            least = 1 if level == "between" else 2
            if least <= len(rows) <= MOST_ROWS and not (several and level == "attribute_set"):
                labels = [label_of(names, row) for row in rows.itertuples()]
                groups.append(rows.assign(label=labels))
        if several:
            parts.append(heading(str(change)))
        parts.append(overall.assign(label=overall["contrast"]))
        if groups and not several:
            parts.append(heading(f"{own['contrast'].iloc[0]}, by"))
        parts += groups
    return pd.concat(parts, ignore_index=True)


def sections(result: CorpusComparison, view: View) -> list[Section]:
    """Return all tables and figures, in the order in which they are read."""
    import bayesbias as bb

    prob, rope = view.prob, view.rope
    names = list(result.corpora)
    slope = next(iter(result.changes.values())).steps > 1
    first, last = (names[0], names[-1]) if len(result.changes) == 1 else ("first", "second")
    ends = (Column("first", first, "signed"), Column("last", last, "signed"))
    what = f"slope per step from {first} to {last}" if slope else "and its change"
    change = Column("mean", "slope" if slope else "change", "signed")
    out = [
        Section(
            "result",
            f"Difference in cosine distance, {what}, new words "
            "(negative change: the first kind came closer)",
            partial(main_table, result, view),
            (Column("label", ""), *ends, change, HPDI, IN_ROPE),
            partial(bb.plots.plot_corpora, result, prob=prob, rope=rope),
            show_on="terminal page",
        ),
        Section(
            "contrasts",
            "All changes, overall, by class, by attribute set and by word",
            partial(result.contrasts, prob, rope),
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
            show_on="terminal page files",
        )
        out.insert(1, each)
    return out


def path(result: CorpusComparison, view: View) -> pd.DataFrame:
    """Return the first contrast in each corpus, and how far it lies off the straight line."""
    frame = result.by_corpus(view.prob, view.rope)
    keys = ["level", "name", "contrast"]
    own = frame[(frame[keys] == frame[keys].iloc[0]).all(axis=1)]
    steps = np.arange(len(own))
    return own.assign(off_line=own["mean"] - np.polyval(np.polyfit(steps, own["mean"], 1), steps))


def interpret(result: CorpusComparison, view: View) -> Interpretation:
    """Say what changed; nothing is concluded from fits that have not converged."""
    subject = f"{result.provenance['name']} in {', '.join(result.corpora)}"
    coverage = result.provenance["coverage"]
    notes = missing_notes({"notes": coverage["notes"]})
    if unsure := not_converged(subject, result, notes):
        return unsure
    notes.append(
        "The intervals are for other words in these vectors. Other documents may give another "
        "change: train on resampled documents too."
    )
    frame = result.contrasts(view.prob, view.rope, "population")
    names = own_names(next(iter(result.corpora.values())))
    first = frame.groupby("change", sort=False).head(1)
    said = [_sentence(result, names, row) for row in first.itertuples()]
    wanted = frame["level"].isin(["class", "between"]) & frame["contrast"].isin(first["contrast"])
    classes = frame[wanted]
    details = [_sentence(result, names, row) for row in classes.itertuples()]
    return Interpretation(subject, " ".join(said), _warnings(result, view), notes, lambda: details)


def _sentence(result: CorpusComparison, names: Names, row: Any) -> str:
    """Say how one contrast changed.

    Such as ``women: family minus career moved by -0.04 from 1930s to 1980s``.
    """
    change = result.changes[row.change]
    start, end = change.ends
    step = " per step" if change.steps > 1 else ""
    moved = (
        f"{in_names(names, row)} moved by {row.mean:+.3f}{step} {interval(row)} from {start} to "
        f"{end}"
    )
    rope = f"the ROPE (±{row.rope:.2g}{step})"
    where, _, unsure = row.verdict.partition(", ")
    if where == "negligible":
        return f"No change by more than {rope}: {moved}."
    if where == "inconclusive":
        if unsure:
            return f"Inconclusive with so few draws: {moved}. Raise --draws."
        return f"Inconclusive: {moved}. The interval includes 0 and reaches beyond {rope}."
    size = "but perhaps less than" if unsure else "by more than"
    if row.level == "overall":
        moved = f"{moved[0].upper()}{moved[1:]}"
    return f"{moved}, {size} {rope}."


def _warnings(result: CorpusComparison, view: View) -> list[str]:
    """Return what may make the result wrong, each with what to do about it."""
    out = [
        f"More than half of the words of {name} are not in all corpora. Add words that are."
        for _, name, group in coverage_groups(result.provenance["coverage"])
        if 2 * len(group["missing"]) > group["listed"]
    ]
    if next(iter(result.changes.values())).steps > 1:
        each = path(result, view)
        worst = each.loc[each["off_line"].abs().idxmax()]
        if abs(worst["off_line"]) > view.rope:
            out.append(
                f"The path bends: {worst['corpus']} lies {worst['off_line']:+.3f} off the straight "
                "line. Compare the corpora in pairs, without --ordered."
            )
    means = pd.Series({n: each.table["distance"].mean() for n, each in result.corpora.items()})
    low, high = means.idxmin(), means.idxmax()
    if means[high] - means[low] > FAR:
        out.append(
            f"The mean distance of all pairs is {means[low]:.2f} in {low} and {means[high]:.2f} in "
            f"{high}. "
            "Train on corpora of equal size, with equal settings."
        )
    return out


def about(result: CorpusComparison) -> dict[str, Any]:
    """Return what JSON says beside the tables."""
    changes = {
        name: {"weights": dict(each.weights), "scale": each.scale, "steps": each.steps}
        for name, each in result.changes.items()
    }
    return about_fits(result, result.provenance["coverage"], changes=changes)
