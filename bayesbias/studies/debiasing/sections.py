"""What is shown of a comparison of debiased with original vectors."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from bayesbias.core.packages import own_version
from bayesbias.core.sections import Column, Section, Study
from bayesbias.inference.view import View
from bayesbias.studies.common import BELOW, HPDI, IN_ROPE, MEAN, about_fit, slope_sections, text
from bayesbias.studies.debiasing.construction import control_changes
from bayesbias.studies.debiasing.interpretation import first_rows, interpret_comparison

if TYPE_CHECKING:
    import pandas as pd

    from bayesbias.studies.debiasing.comparison import Comparison

BEFORE, AFTER = Column("before", "before", "signed"), Column("after", "after", "signed")
CHANGE = Column("mean", "change", "signed")
GROUPS = (text("method"), text("level"), text("name"))


def header(result: Comparison, view: View) -> list[str]:
    """Return the lines over the first table."""
    about = result.provenance
    seed = about["sampler"].get("seed")
    pairs = len(next(iter(result.methods.values())).pairs)
    fits = result.fits().values()
    good = "all converged" if result.diagnostics()["ok"] else "not all converged"
    return [
        f"bayesbias {own_version()} | model {about['model']['name']} | {about['original']}, debiased | seed {seed}",
        f"{pairs:,} pairs in all tables; methods: {', '.join(result.methods)}",
        f"{len(fits)} fits, {good}",
    ]


def main_table(result: Comparison, view: View) -> pd.DataFrame:
    """Return the differences before and after debiasing, overall and for new words; with many methods the first only."""
    frame = result.contrasts(view.prob, view.rope, "population")
    frame = frame[frame["level"] == "overall"]
    return frame if len(result.methods) <= 3 else first_rows(frame)


def sections(result: Comparison, view: View) -> list[Section]:
    """Return all tables and figures of a comparison, in the order in which they are read."""
    import bayesbias as bb

    prob, rope = view.prob, view.rope
    several = len(result.methods) > 1
    has_gap = {"associated", "different"} <= set(
        map(str, result.original.table["connection"].unique())
    )
    contrast_columns = (BEFORE, AFTER, CHANGE, HPDI, BELOW, IN_ROPE)
    out = [
        Section(
            "result",
            "Difference in cosine distance before and after, and its change, new words",
            lambda: main_table(result, view),
            tuple(
                replace(column, digits=3)
                for column in (*GROUPS[:1], text("contrast"), BEFORE, AFTER, CHANGE, HPDI, IN_ROPE)
            ),
            show_on=("terminal", "page"),
        ),
    ]
    if has_gap:
        out.append(
            Section(
                "ranking",
                "Methods by the size of associated - different after debiasing",
                lambda: result.ranking(prob, rope),
                (
                    Column("rank", "rank", "count"),
                    text("method"),
                    Column("gap", "after", "signed", digits=3),
                    Column("gap_low", "{prob} HPDI", "interval", digits=3, upper="gap_high"),
                    Column("controls", "controls kept", "number", digits=2),
                    text("by_construction", "by construction"),
                ),
                figure=(lambda: bb.plots.plot_ranking(result, prob=prob, rope=rope))
                if several
                else None,
                note="Controls kept: correlation of distances to control words before and after.",
                show_on=("terminal" if several else "detail", "page", "files"),
            )
        )
    out += [
        Section(
            "contrasts",
            "Differences before and after, overall, by class, by attribute set and by word",
            partial(result.contrasts, prob, rope),
            (*GROUPS, text("contrast"), text("estimand"), *contrast_columns),
        ),
        Section(
            "changes",
            "Change of the mean distance of each kind of attribute",
            partial(result.changes, prob, rope),
            (*GROUPS, text("connection"), text("estimand"), CHANGE, HPDI, BELOW, IN_ROPE),
            figure=lambda: bb.plots.plot_changes(result, prob=prob),
            show_on=("detail", "page", "files"),
        ),
        Section(
            "geometry",
            "What each method leaves of the distances to control words",
            partial(result.geometry, prob),
            (
                text("method"),
                text("left"),
                Column("correlation", "correlation", "number", digits=2),
                Column("relations", "without word means", "number", digits=2),
                Column("slope", "slope", "number", digits=2),
                Column("rms", "RMS change", "number", digits=3),
                Column("rms_unrelated", "RMS if unrelated", "number", digits=3),
            ),
            figure=lambda: bb.plots.plot_controls(result),
            show_on=("detail", "page", "files"),
        ),
        Section(
            "controls",
            "Change of distances to control words",
            lambda: _of_methods(result, control_changes),
            (
                text("method"),
                text("controls"),
                Column("mean_change", "mean change", "signed", digits=3),
                Column("rms_change", "RMS change", "number", digits=3),
                Column("max_change", "largest", "signed", digits=3),
                text("protected_word"),
                text("attribute"),
            ),
        ),
    ]
    if several and has_gap:
        out.append(
            Section(
                "between_methods",
                "Each method against the next: how much farther from zero it leaves associated - different",
                partial(result.between_methods, prob, rope),
                (
                    text("method"),
                    text("next", "against"),
                    MEAN,
                    HPDI,
                    Column("p_nearer_zero", "P(nearer 0)", "probability"),
                ),
            )
        )
    if result.has_slopes:
        out += slope_sections(
            partial(result.slopes, prob),
            GROUPS[:1],
            lambda: bb.plots.plot_slopes(result, prob=prob),
        )
    out.append(
        Section(
            "raw_pairs",
            "Distance of every pair before and after",
            figure=lambda: bb.plots.plot_raw_pairs(result),
            show_on=("fold",),
        )
    )
    return out


def _of_methods(result: Comparison, table: Any) -> pd.DataFrame:
    """Return a table of joined pairs for every method, one after the other."""
    import pandas as pd

    frames = [table(item.pairs).assign(method=name) for name, item in result.methods.items()]
    return pd.concat(frames, ignore_index=True)


def about(result: Comparison) -> dict[str, Any]:
    """Return what JSON says beside the tables."""
    return {
        "model": result.provenance["model"]["name"],
        "methods": {
            name: {
                "pairs": item.account,
                "construction": {
                    "flags": list(item.construction.flags),
                    "forced": item.construction.forced.value,
                },
                "geometry": item.geometry.left.value,
            }
            for name, item in result.methods.items()
        },
        "diagnostics": result.diagnostics(),
        "coverage": about_fit(result.original)["coverage"],
        "provenance": dict(result.provenance),
    }


STUDY = Study(
    kind="debiasing",
    question="What does debiasing change, what does it leave, and what does it force whatever the vectors were?",
    header=header,
    sections=sections,
    interpret=interpret_comparison,
    about=about,
    fits=lambda result: result.fits(),
)
