"""What is shown of sentence tests."""

from functools import partial
from typing import Any

import pandas as pd

from bayesbias.core.packages import own_version
from bayesbias.core.sections import Column, Section, Study
from bayesbias.inference.view import View
from bayesbias.studies.common import BELOW, HPDI, IN_ROPE, MEAN, plural, slope_sections, text
from bayesbias.studies.sentences.interpretation import interpret_seat
from bayesbias.studies.sentences.result import SeatResult

TEST = (text("model", "encoder"), text("options"), text("test"))
PUBLISHED = (
    Column("effect_size", "effect size", "signed", 2),
    Column("p_value", "p", "p_value"),
    Column("p_words", "p_words", "p_value"),
    Column("p_holm", "p Holm", "p_value"),
)
FITTED = (
    Column("contrast", "difference", "signed", 3),
    Column("hpdi_low", "{prob} HPDI", "interval", 3, "hpdi_high"),
)
AGREEMENT = (
    text("same_sign"),
    text("same_verdict"),
    Column("spread", "spread of effects", "number", 2),
)
SHARES = tuple(
    Column(f"share_{name}", name, "percent")
    for name in ("word", "template", "sentence", "residual")
)


def header(result: SeatResult, view: View) -> list[str]:
    """Return the lines over the first table."""
    frame, about = result.frame, result.provenance
    model = f"model {about['model']['name']}" if "model" in about else "published test"
    encoders = frame.groupby(["model", "options"]).ngroups
    names = ", ".join(frame["model"].unique())
    sizes = f"{plural(frame['test'].nunique(), 'test')} x {plural(encoders, 'encoder')}"
    return [f"bayesbias {own_version()} | {model} | {names} | seed {about['seed']}", sizes]


def main_table(result: SeatResult) -> pd.DataFrame:
    """Return the tests with their p-values; encoders are named if there are several."""
    encoder = ["model", "options"]
    several = result.frame.groupby(encoder).ngroups > 1
    return result.frame if several else result.frame.drop(columns=encoder)


def sections(result: SeatResult, view: View) -> list[Section]:
    """Return all tables and figures of sentence tests, in the order in which they are read."""
    import bayesbias as bb

    fitted = "contrast" in result.frame
    also = "; fitted difference in distance for new words" if fitted else ""
    level, method = text("level"), text("p_method", "method")
    out = [
        Section(
            "result",
            f"Effect size and one-sided p of each test{also}",
            partial(main_table, result),
            (*TEST, *PUBLISHED, *(FITTED if fitted else ())),
            show_on=("terminal", "page"),
            note="p permutes sentences, p_words permutes words.",
        ),
        Section(
            "tests",
            "All numbers of each test",
            lambda: result.frame,
            (*TEST, level, method, *PUBLISHED, Column("dropped", "missing", "count")),
            partial(bb.plots.plot_seat, result),
            show_on=("page", "files"),
        ),
        Section("published", "The published columns", result.published, show_on=("folder",)),
        Section(
            "table_4",
            "Effect sizes in the layout of the paper's Table 4",
            lambda: result.table().reset_index(),
            show_on=("folder",),
        ),
    ]
    if fitted:
        out += [
            Section(
                "variance",
                "Share of the variance of distances",
                lambda: result.frame,
                (*TEST, *SHARES),
                partial(bb.plots.plot_seat_contrasts, result),
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
        figure = partial(bb.plots.plot_slopes, result)
        out += slope_sections(lambda: result.slopes, TEST, figure)
    rest = (
        (
            "consistency",
            "Tests that ask the same question",
            (*TEST[:2], text("group"), level, *AGREEMENT),
        ),
        ("failures", "Tests that could not be run", (*TEST, text("reason"))),
        (
            "dropped",
            "Examples without a vector",
            (*TEST, text("set"), text("word"), text("sentence")),
        ),
        ("notes", "Notes on single tests", (*TEST, text("note"))),
    )
    frames = {"consistency": result.consistency}
    return out + [
        Section(name, title, frames.get(name, partial(getattr, result, name)), columns)
        for name, title, columns in rest
    ]


def about(result: SeatResult) -> dict[str, Any]:
    """Return what JSON says beside the tables."""
    return {"provenance": dict(result.provenance)}


STUDY = Study(
    kind="sentences",
    question="Are sentences about the targets closer to one set of attributes?",
    header=header,
    sections=sections,
    interpret=interpret_seat,
    about=about,
)
