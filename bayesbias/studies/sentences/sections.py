"""What is shown of sentence tests."""

from functools import partial
from typing import Any

import pandas as pd

from bayesbias.core.packages import own_version
from bayesbias.core.sections import Column, Section, Study
from bayesbias.inference.view import View
from bayesbias.studies.common import (
    BELOW,
    HPDI,
    IN_ROPE,
    MEAN,
    listing,
    plural,
    slope_sections,
    text,
)
from bayesbias.studies.sentences.interpretation import by_encoder, interpret_seat
from bayesbias.studies.sentences.result import SIGNIFICANT, SeatResult

MOST_ROWS = 12  # tests on the terminal; of more tests there is a summary
TEST = (text("model", "encoder"), text("options"), text("test"))
PUBLISHED = (
    Column("effect_size", "effect", "signed", 2),
    Column("p_value", "p", "p_value"),
    Column("p_words", "p_words", "p_value"),
    Column("p_holm", "p Holm", "p_value"),
)
FITTED = (
    Column("contrast", "difference", "signed", 3),
    Column("hpdi_low", "{prob} HPDI", "interval", 3, "hpdi_high"),
)
COUNTS = (
    Column("tests", "tests", "count"),
    Column("median_effect", "median effect", "signed", 2),
    Column("significant", "p Holm", "count"),
    Column("over_words", "p_words", "count"),
    Column("fitted", "HPDI below 0", "count"),
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
    about, encoders = result.provenance, list(by_encoder(result.frame))
    model = f"model {about['model']['name']}" if "model" in about else "published test"
    tests = plural(result.frame["test"].nunique(), "test")
    return [
        f"bayesbias {own_version()} | {model} | {tests} | seed {about['seed']}",
        f"{plural(len(encoders), 'encoder')}: {listing(encoders)}",
    ]


def main_table(result: SeatResult) -> pd.DataFrame:
    """Return the tests of each encoder; of many tests, counts by level."""
    groups = by_encoder(result.frame)
    parts = []
    for name, rows in groups.items():
        if len(groups) > 1:
            parts.append(pd.DataFrame({"label": [name], "is_heading": [True]}))
        if len(result.frame) > MOST_ROWS:
            found = rows.assign(
                significant=rows["p_holm"] < SIGNIFICANT, over_words=rows["p_words"] < SIGNIFICANT
            )
            if "hpdi_high" in rows:
                found["fitted"] = rows["hpdi_high"] < 0
            levels = found.groupby("level", sort=False)
            rows = levels[[c.name for c in COUNTS if c.name in found]].sum()
            rows["tests"], rows["median_effect"] = levels.size(), levels["effect_size"].median()
            rows = rows.reset_index().rename(columns={"level": "label"})
        else:
            rows = rows.rename(columns={"test": "label"})
        indent = "  " if len(groups) > 1 else ""
        parts.append(rows.assign(label=indent + rows["label"]))
    return pd.concat(parts, ignore_index=True)


def sections(result: SeatResult, view: View) -> list[Section]:
    """Return all tables and figures of sentence tests, in the order in which they are read."""
    import bayesbias as bb

    fitted, many = "contrast" in result.frame, len(result.frame) > MOST_ROWS
    title = (
        f"Tests with p below {SIGNIFICANT:g}"
        if many
        else "Effect size and one-sided p of each test"
    )
    also = "; fitted difference for new words" if fitted and not many else ""
    level, method = text("level"), text("p_method", "method")
    out = [
        Section(
            "result",
            title + also,
            partial(main_table, result),
            (text("label", ""), *COUNTS, *PUBLISHED, *FITTED),
            show_on=("terminal", "page"),
            note="All tests: --detail." if many else "p permutes sentences, p_words words.",
        ),
        Section(
            "tests",
            "All numbers of each test",
            lambda: result.frame,
            (*TEST, level, method, *PUBLISHED, Column("dropped", "missing", "count")),
            partial(bb.plots.plot_seat, result),
            show_on=("detail", "page", "files") if many else ("page", "files"),
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
