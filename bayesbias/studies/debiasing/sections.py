"""What is shown of a comparison of debiased with original vectors."""

import math
from functools import partial
from types import SimpleNamespace
from typing import Any

import pandas as pd

import bayesbias as bb
from bayesbias.core import FitError
from bayesbias.core.formatting import as_percent
from bayesbias.core.sections import Column, Interpretation, Section
from bayesbias.inference.estimates import BELOW, HPDI, IN_ROPE, OBSERVED
from bayesbias.inference.view import View
from bayesbias.studies import common
from bayesbias.studies.debiasing.comparison import Comparison, Method
from bayesbias.studies.debiasing.geometry import Construction, control_changes, find_construction
from bayesbias.studies.glossary import explain_distances

QUESTION = "What does debiasing change, what does it leave, and what does it force?"
ONE_VERDICT = True
FILES_BEFORE = False
FIT_FILE = ""
TYPES: tuple[type, ...] = (Comparison, Method, Construction)
glossary = explain_distances

ROUNDING = 1e-4  # what vectors of four decimals move by when they are written

BEFORE, AFTER = Column("before", "before", "signed"), Column("after", "after", "signed")
ESTIMATES = (
    Column("before", "before", "estimate", 3, "before_high", "before_low"),
    Column("after", "after", "estimate", 3, "after_high", "after_low"),
    Column("mean", "change", "estimate", 3, "hpdi_high", "hpdi_low"),
)
MOST_ROWS = 6  # classes in the first table
ALL_OTHERS = "--neutralize all_others"
CHANGE = Column("mean", "change", "signed")
RANKING = (
    Column("rank", "rank", "count"),
    "method",
    Column("gap", "after", "signed"),
    Column("gap_low", "{prob} HPDI", "interval", upper="gap_high"),
    Column("change", "change", "signed"),
    Column("controls", "controls kept", "number", 2),
    Column("by_construction", "forced"),
)
GEOMETRY = (
    "method",
    "left",
    Column("correlation", "correlation", "number", 2),
    Column("relations", "without word means", "number", 2),
    Column("slope", "slope", "number", 2),
    Column("rms", "RMS change", "number"),
    Column("rms_unrelated", "RMS if unrelated", "number"),
)
CONTROLS = (
    "method",
    "controls",
    Column("mean_change", "mean change", "signed"),
    Column("rms_change", "RMS change", "number"),
    Column("max_change", "largest", "signed"),
    "protected_word",
    "attribute",
)


def header(result: Comparison, view: View) -> list[str]:
    """Return the lines over the first table."""
    pairs = len(next(iter(result.methods.values())).pairs)
    return common.header_of(
        result,
        f"{result.provenance['original']}, debiased",
        f"{pairs:,} pairs in all tables; methods: {', '.join(result.methods)}",
        "the original; after and change of each method",
    )


def main_table(result: Comparison, view: View) -> pd.DataFrame:
    """Return the contrasts overall, and the first also by class, each with its ``label``."""
    frame = result.contrasts(view.prob, view.rope, "population", detail=True)
    parts = []
    for _, rows in frame.groupby("method", sort=False):
        overall = rows[rows["level"] == "overall"]
        first = overall["contrast"].iloc[0]
        classes = rows[(rows["level"] == "class") & (rows["contrast"] == first)]
        if not 1 < len(classes) <= MOST_ROWS:
            classes = classes.head(0)
        parts += [
            overall.head(1).assign(label=first),
            classes.assign(label="  class " + classes["name"].astype(str)),
            overall.iloc[1:].assign(label=overall["contrast"].iloc[1:]),
        ]
    return pd.concat(parts, ignore_index=True)


def importance(rows: pd.DataFrame) -> list[float]:
    """Return how important each row of the first table is, where there is no room for all.

    The first contrast comes first, then its classes, then the other contrasts.
    """
    first = rows["contrast"].iloc[0]
    out = []
    for row in rows.itertuples():
        value = 100.0 if row.contrast == first else 0.0
        if row.level != "overall":
            value = 50.0
        out.append(value + common.far_from_zero(row))
    return out


def _check_figure(fit: bb.BiasFit) -> Any:
    return bb.plot_ppc(fit)


def sections(result: Comparison, view: View) -> list[Section]:
    """Return all tables and figures of a comparison, in the order in which they are read."""
    prob, rope = view.prob, view.rope
    several, gap = len(result.methods) > 1, result.has_gap
    hpdi = f"{as_percent(prob)} HPDI"
    shown = ("method", Column("label", "")) if several else (Column("label", ""),)
    geometry = result.geometry_of(next(iter(result.methods)), prob)
    kept = math.nan if several else geometry.least.value
    about = "correlation of distances to controls before and after."
    out = [
        Section(
            "result",
            f"Difference in cosine distance and its change, new words (mean, {hpdi})",
            partial(main_table, result, view),
            (*shown, *ESTIMATES),
            note="" if math.isnan(kept) else f"Controls kept: {kept:.2f} ({about[:-1]}).",
            importance=importance,
            show_on="detail page" if several and gap else "terminal page",
        ),
        Section(
            "ranking",
            "What each method leaves of associated - different, new words, smallest first",
            partial(result.ranking, prob, rope),
            RANKING,
            (lambda: bb.plots.plot_ranking(result, prob=prob, rope=rope)) if several else None,
            note=f"Controls kept: {about}",
            show_on="terminal page files" if several else "detail page files",
        ),
        Section(
            "contrasts",
            "Differences before and after, overall, by class, by attribute set and by word",
            partial(result.contrasts, prob, rope, detail=True),
            ("method", *common.KEYS, BEFORE, AFTER, CHANGE, HPDI, BELOW, IN_ROPE, OBSERVED),
            note="Change has its own fit, so it may differ a little from after minus before.",
        ),
        Section(
            "changes",
            "Change of the mean distance of each kind of attribute",
            partial(result.changes, prob, rope),
            ("method", "level", "name", "connection", "estimand", CHANGE, HPDI, BELOW, IN_ROPE),
            lambda: bb.plots.plot_changes(result, prob=prob),
            show_on="detail page files",
        ),
        Section(
            "geometry",
            "What each method leaves of the distances to control words",
            partial(result.geometry, prob),
            GEOMETRY,
            (lambda: bb.plots.plot_controls(result)) if geometry.n_pairs else None,
            show_on="detail page files",
        ),
        Section(
            "controls",
            "Change of distances to control words",
            lambda: common.stacked(
                {n: control_changes(m.pairs) for n, m in result.methods.items()}, "method"
            ),
            CONTROLS,
        ),
    ]
    out = [section for section in out if gap or section.name != "ranking"]
    if any(item.change and item.change.spec.covariates() for item in result.methods.values()):
        out += common.slope_sections(
            partial(result.slopes, prob),
            ("method",),
            lambda: bb.plots.plot_slopes(result, prob=prob),
        )
    out.append(
        Section(
            "raw_pairs",
            "Distance of every pair before and after",
            figure=lambda: bb.plots.plot_raw_pairs(result),
            show_on="fold",
        )
    )
    for number, (name, fit) in enumerate(result.fits().items()):
        out.append(
            Section(
                f"predictive-{number}",
                f"Posterior predictive check: {name}",
                figure=partial(_check_figure, fit),
                text="Distances that the model generates (lines) and the distances of the table."
                if fit.spec.outcome == "distance"
                else "Changes that the model generates (lines) and the changes of the tables.",
                show_on="fold",
            )
        )
    return out


def interpret(result: Comparison, view: View) -> Interpretation:
    """Say what each method changed; nothing is concluded from fits that have not converged."""
    subject = f"{result.provenance['original']}, debiased"
    notes = [
        common.sentence(note) for item in result.methods.values() for note in item.account["notes"]
    ]
    notes += common.missing_notes(result.original.provenance.get("coverage"))
    notes = list(dict.fromkeys(notes))
    if unsure := common.not_converged(subject, result, notes):
        return unsure
    try:
        frame = result.contrasts(view.prob, view.rope, "population", detail=True)
    except FitError:
        headline = "One kind of attributes only: there are changes, but no differences."
        return Interpretation(subject, headline, (), notes)
    rows = common.first_rows(frame[frame["level"] == "overall"])
    headline = " ".join(_sentence(result, row) for row in rows.itertuples())
    warnings = common.word_warnings(result.original.provenance.get("coverage"))
    warnings += [text for name in result.methods for text in _warnings(result, name, view)]
    return Interpretation(
        subject,
        headline,
        warnings,
        notes,
        lambda: _details(result, frame),
    )


# What a difference does that is stronger, weaker or reversed after than before.
_MOVED = {"stronger": "away from 0", "weaker": "toward 0", "reversed": "past 0"}
_FORCED = {
    "wholly": (
        " The method forces it to zero for the words of this list, which says nothing of other "
        "words."
    ),
    "partly": " The method forces a part of it to zero.",
}


def _sentence(result: Comparison, row: Any) -> str:
    """Say how the first difference changed under one method, and what is left."""
    forced = result.methods[row.method].construction.forced
    before, after = (common.estimate(_end(row, when)) for when in ("before", "after"))
    said = f"{row.method}: {row.contrast} went from {before} to {after}"
    if forced != "wholly":
        said += " for new words"
    part = _FORCED.get(forced, "")
    where, _, unsure = row.verdict.partition(", ")
    change, rope = common.estimate(row), f"the ROPE (±{row.rope:g})"
    if where == "negligible":
        return f"{said}. Practically unchanged: the change {change} lies within {rope}.{part}"
    if where == "inconclusive":
        why = f"the change {change} {common.zero_in(row)} and reaches beyond {rope}."
        if unsure:
            why = f"an end of the change {change} is too close to 0 or the ROPE. Raise --draws."
        return f"{said}. Inconclusive: {why}{part}"
    far = f"but perhaps by less than {rope}" if unsure else f"by more than {rope}"
    if forced == "wholly":
        return f"{said}, {far}.{part}"
    way = common.direction(row, "before", "after")
    moved = f"It moved {_MOVED[way]}" if way else "It changed"
    size = common.size(row) if way else change
    return f"{said}. {moved} by {size}, {far}.{part}"


def _end(row: Any, when: str) -> SimpleNamespace:
    """Return mean and interval before or after as a row of estimates."""
    low, high = (getattr(row, f"{when}_{end}") for end in ("low", "high"))
    return SimpleNamespace(mean=getattr(row, when), hpdi_low=low, hpdi_high=high)


def _warnings(result: Comparison, name: str, view: View) -> list[str]:
    item, geometry = result.methods[name], result.geometry_of(name, view.prob)
    out = []
    turned = item.pairs.rename(columns={"original": "debiased", "debiased": "original"})
    if find_construction(turned.assign(change=-turned["change"])).found:
        out.append("the original looks debiased and the other does not. Check their order.")
    if geometry.left == "identical":
        out.append(
            "no distance changed. `bayesbias debias` changes the words of its list only: add "
            f"{ALL_OTHERS}, or check that the files differ."
        )
    elif geometry.largest <= ROUNDING:
        out.append(
            f"no distance changed by more than {geometry.largest:.1g}, which is rounding. "
            "Choose stronger settings, such as a larger --lam."
        )
    elif geometry.left == "no_controls":
        out.append(
            "without control words, destroyed vectors would look like success. Add controls."
        )
    elif geometry.left == "too_few":
        out.append("too few control words to see whether the vectors are destroyed. Add controls.")
    elif geometry.destroyed:
        out.append(
            "distances to control words hardly correlate with those before "
            f"({geometry.least.value:.2f}). The vectors are destroyed, and a small difference says "
            "nothing about the method."
        )
    made = item.construction
    if made.forced != "no":
        words = "all" if made.forced == "wholly" else f"{made.share:.0%} of the"
        out.append(
            f"the method makes associated and different distances of {words} words equal. Test it "
            f"with another --wordlist, on vectors of `bayesbias debias {ALL_OTHERS}`."
        )
    return [f"{name}: {text}" for text in out]


def _details(result: Comparison, frame: pd.DataFrame) -> list[str]:
    """Return sentences about classes and controls."""
    out = []
    for name, item in result.methods.items():
        rows = frame[(frame["level"] == "class") & (frame["method"] == name)]
        if len(rows):
            first = common.first_rows(rows)
            each = ", ".join(
                f"{row.name} {row.after:+.3f} [{row.after_low:+.3f}, {row.after_high:+.3f}]"
                for row in first.itertuples()
            )
            out.append(f"{name} leaves of {first['contrast'].iloc[0]}, by class: {each}.")
        if "controls_moved" in item.construction.flags:
            worst = control_changes(item.pairs).iloc[0]
            out.append(
                f"{name} moved distances to control words by up to {abs(worst['max_change']):.2f} "
                f"({worst['protected_word']} and {worst['attribute']})."
            )
    return out


def about(result: Comparison) -> dict[str, Any]:
    """Return what JSON says beside the tables."""
    methods = {
        name: {
            "pairs": item.account,
            "construction": {
                "flags": list(item.construction.flags),
                "forced": item.construction.forced,
            },
            "geometry": item.geometry.left,
        }
        for name, item in result.methods.items()
    }
    return common.about_fits(result, result.original.provenance.get("coverage"), methods=methods)
