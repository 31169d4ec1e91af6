"""What is shown of sentence tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bayesbias.core.packages import own_version
from bayesbias.core.sections import Column, Section, Study
from bayesbias.inference.view import View
from bayesbias.studies.common import BELOW, HPDI, IN_ROPE, MEAN, slope_sections, text
from bayesbias.studies.sentences.interpretation import interpret_seat

if TYPE_CHECKING:
    import pandas as pd

    from bayesbias.studies.sentences.result import SeatResult

TEST = (text("model", "encoder"), text("options"), text("test"))


def header(result: SeatResult, view: View) -> list[str]:
    """Return the lines over the first table."""
    about = result.provenance
    tests, encoders = (
        result.frame["test"].nunique(),
        result.frame.groupby(["model", "options"]).ngroups,
    )
    fitted = (
        f"model {about['model']['name']}"
        if "contrast" in result.frame and "model" in about
        else "published test"
    )
    return [
        f"bayesbias {own_version()} | {fitted} | {', '.join(map(str, dict.fromkeys(result.frame['model'])))} | seed "
        f"{about.get('seed')}",
        f"{tests} tests x {encoders} encoders",
    ]


def main_table(result: SeatResult) -> pd.DataFrame:
    """Return the tests with their p-values; encoders are named where there are several."""
    frame = result.frame
    return (
        frame
        if frame.groupby(["model", "options"]).ngroups > 1
        else frame.drop(columns=["model", "options"])
    )


def sections(result: SeatResult, view: View) -> list[Section]:
    """Return all tables and figures of sentence tests, in the order in which they are read."""
    import bayesbias as bb

    fitted = "contrast" in result.frame
    published = (
        Column("effect_size", "effect size", "signed", digits=2),
        Column("p_value", "p", "p_value"),
        Column("p_words", "p_words", "p_value"),
        Column("p_holm", "p Holm", "p_value"),
    )
    model = (
        Column("contrast", "difference", "signed", digits=3),
        Column("hpdi_low", "{prob} HPDI", "interval", digits=3, upper="hpdi_high"),
    )
    out = [
        Section(
            "result",
            "Effect size and one-sided p of each test; fitted difference in distance for new words"
            if fitted
            else "Effect size and one-sided p of each test",
            lambda: main_table(result),
            (*TEST, *published, *(model if fitted else ())),
            show_on=("terminal", "page"),
            note="p permutes sentences, p_words permutes words.",
        ),
        Section(
            "tests",
            "All numbers of each test",
            lambda: result.frame,
            (
                *TEST,
                text("level"),
                text("p_method", "method"),
                *published,
                Column("dropped", "missing", "count"),
            ),
            figure=lambda: bb.plots.plot_seat(result),
            show_on=("page", "files"),
        ),
        Section(
            "published",
            "The nine columns of the published results",
            result.published,
            show_on=("folder",),
        ),
    ]
    if fitted:
        shares = ("word", "template", "sentence", "residual")
        out += [
            Section(
                "variance",
                "Share of the variance of distances",
                lambda: result.frame,
                (*TEST, *(Column(f"share_{name}", name, "percent") for name in shares)),
                figure=lambda: bb.plots.plot_seat_contrasts(result),
                show_on=("detail", "page"),
            ),
            Section(
                "classes",
                "Difference of each set of targets",
                lambda: result.classes,
                (*TEST, text("name"), text("estimand"), MEAN, HPDI, BELOW, IN_ROPE),
            ),
        ]
    if len(result.slopes):
        out += slope_sections(lambda: result.slopes, TEST, lambda: bb.plots.plot_slopes(result))
    return [
        *out,
        Section(
            "consistency",
            "Tests that ask the same question",
            result.consistency,
            (*TEST[:2], text("group"), text("level")),
        ),
        Section(
            "failures",
            "Tests that could not be run",
            lambda: result.failures,
            (*TEST, text("reason")),
        ),
        Section(
            "dropped",
            "Examples without a vector",
            lambda: result.dropped,
            (*TEST, text("set"), text("word"), text("sentence")),
        ),
        Section("notes", "Notes on single tests", lambda: result.notes, (*TEST, text("note"))),
    ]


def about(result: SeatResult) -> dict[str, Any]:
    """Return what JSON says beside the tables."""
    return {"provenance": dict(result.provenance)}


STUDY = Study(
    kind="sentences",
    question="Are sentences about the targets closer to one set of attributes, and does that hold for other words?",
    header=header,
    sections=sections,
    interpret=interpret_seat,
    about=about,
)
