"""What is shown of a comparison of debiased with original vectors."""

from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd

from bayesbias.core.packages import own_version
from bayesbias.core.sections import Column, Section, Study
from bayesbias.inference.view import View
from bayesbias.studies.common import BELOW, HPDI, IN_ROPE, about_fit, slope_sections, text
from bayesbias.studies.debiasing.comparison import Comparison
from bayesbias.studies.debiasing.construction import control_changes
from bayesbias.studies.debiasing.interpretation import interpret_comparison

BEFORE, AFTER = Column("before", "before", "signed"), Column("after", "after", "signed")
CHANGE = Column("mean", "change", "signed")
METHOD, ESTIMAND = text("method"), text("estimand")
GROUPS = (METHOD, text("level"), text("name"))
RANKING = (
    Column("rank", "rank", "count"),
    METHOD,
    Column("gap", "after", "signed", 3),
    Column("gap_low", "{prob} HPDI", "interval", 3, "gap_high"),
    Column("change", "change", "signed", 3),
    Column("controls", "controls kept", "number", 2),
    text("by_construction"),
)
GEOMETRY = (
    METHOD,
    text("left"),
    Column("correlation", "correlation", "number", 2),
    Column("relations", "without word means", "number", 2),
    Column("slope", "slope", "number", 2),
    Column("rms", "RMS change", "number", 3),
    Column("rms_unrelated", "RMS if unrelated", "number", 3),
)
CONTROLS = (
    METHOD,
    text("controls"),
    Column("mean_change", "mean change", "signed", 3),
    Column("rms_change", "RMS change", "number", 3),
    Column("max_change", "largest", "signed", 3),
    text("protected_word"),
    text("attribute"),
)


def header(result: Comparison, view: View) -> list[str]:
    """Return the lines over the first table."""
    about = result.provenance
    seed = about["sampler"].get("seed")
    pairs = len(next(iter(result.methods.values())).pairs)
    fits = result.fits().values()
    good = "all converged" if result.diagnostics()["ok"] else "not all converged"
    names = f"model {about['model']['name']} | {about['original']}, debiased"
    return [
        f"bayesbias {own_version()} | {names} | seed {seed}",
        f"{pairs:,} pairs in all tables; methods: {', '.join(result.methods)}",
        f"{len(fits)} fits, {good}",
    ]


def sections(result: Comparison, view: View) -> list[Section]:
    """Return all tables and figures of a comparison, in the order in which they are read."""
    import bayesbias as bb

    prob, rope = view.prob, view.rope
    several, gap = len(result.methods) > 1, result.has_gap
    shown = (METHOD, text("contrast"), BEFORE, AFTER, CHANGE, HPDI, IN_ROPE)
    out = [
        Section(
            "result",
            "Difference in cosine distance before and after, and its change, new words",
            partial(result.contrasts, prob, rope, "population", level="overall"),
            [replace(column, digits=3) for column in shown],
            show_on=("detail" if several and gap else "terminal", "page"),
        ),
        Section(
            "ranking",
            "What each method leaves of associated - different, new words, smallest first",
            partial(result.ranking, prob, rope),
            RANKING,
            partial(bb.plots.plot_ranking, result, prob=prob, rope=rope) if several else None,
            note="Controls kept: correlation of distances to control words before and after.",
            show_on=("terminal" if several else "detail", "page", "files"),
        ),
        Section(
            "contrasts",
            "Differences before and after, overall, by class, by attribute set and by word",
            partial(result.contrasts, prob, rope),
            (*GROUPS, text("contrast"), ESTIMAND, BEFORE, AFTER, CHANGE, HPDI, BELOW, IN_ROPE),
        ),
        Section(
            "changes",
            "Change of the mean distance of each kind of attribute",
            partial(result.changes, prob, rope),
            (*GROUPS, text("connection"), ESTIMAND, CHANGE, HPDI, BELOW, IN_ROPE),
            partial(bb.plots.plot_changes, result, prob=prob),
            show_on=("detail", "page", "files"),
        ),
        Section(
            "geometry",
            "What each method leaves of the distances to control words",
            partial(result.geometry, prob),
            GEOMETRY,
            partial(bb.plots.plot_controls, result),
            show_on=("detail", "page", "files"),
        ),
        Section(
            "controls", "Change of distances to control words", partial(_controls, result), CONTROLS
        ),
    ]
    out = [section for section in out if gap or section.name != "ranking"]
    if result.has_slopes:
        out += slope_sections(
            partial(result.slopes, prob),
            (METHOD,),
            partial(bb.plots.plot_slopes, result, prob=prob),
        )
    out.append(
        Section(
            "raw_pairs",
            "Distance of every pair before and after",
            figure=partial(bb.plots.plot_raw_pairs, result),
            show_on=("fold",),
        )
    )
    return out


def _controls(result: Comparison) -> pd.DataFrame:
    """Return what control words moved, for each method."""
    found = {name: control_changes(item.pairs) for name, item in result.methods.items()}
    return pd.concat(found, names=["method"]).reset_index("method").reset_index(drop=True)


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
    question="What does debiasing change, what does it leave, and what does it force?",
    header=header,
    sections=sections,
    interpret=interpret_comparison,
    about=about,
    fits=lambda result: result.fits(),
)
