"""What is shown of responses: published scores beside the model's estimates, contrasts, variance, and what they say."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from bayesbias.core.packages import own_version
from bayesbias.core.sections import Column, Interpretation, Section, Study
from bayesbias.inference.view import Verdict, View
from bayesbias.studies.common import (
    BELOW,
    HPDI,
    IN_ROPE,
    MEAN,
    about_fit,
    convergence,
    not_converged,
    p_text,
    plural,
    text,
    title_line,
    verdict_of,
)
from bayesbias.studies.responses.fitting import ESTIMANDS, ResponsesResult

if TYPE_CHECKING:
    import pandas as pd

ALPHA = 0.05
MOST_ROWS = 12
DETAIL = ("detail", "fold", "files")
SCORES = (
    text("name"), text("score"), Column("n", "n", "count"), Column("mean_score", "mean", "signed"),
    Column("t", "t", "signed", digits=2), Column("p_value", "p", "p_value"),
)  # fmt: skip
SCALES = {"probability": "probability", "log_odds": "log odds", "outcome": "the outcome"}


def header(result: ResponsesResult, view: View) -> list[str]:
    """Return the lines over the first table."""
    table = result.responses
    frame = table.frame
    counts = [
        plural(frame[column].nunique(), column)
        for column in ("group", "word", "template", "item", "model")
        if frame[column].nunique() > 1
    ]
    size = f"{len(frame):,} of {table.coverage['rows_read']:,} answers: {', '.join(counts)}"
    subject = " and ".join(model for model in table.models if model) or "responses"
    if result.fit is None:
        return [f"bayesbias {own_version()} | published scores | {subject}", size]
    return [title_line(result.fit, subject), size, convergence(result.fit)]


def overall(result: ResponsesResult, view: View) -> pd.DataFrame:
    """Return the overall contrasts on the first scale, for all estimands, models compared last."""
    frame = result.contrasts(view.prob, level="overall")
    frame = frame[frame["scale"] != "log_odds"]
    labels = (
        frame["contrast"]
        if frame["model"].nunique() < 2
        else frame["model"] + ": " + frame["contrast"]
    )
    frame = frame.assign(label=labels, for_=frame["estimand"].map(ESTIMANDS))
    shown = (
        frame[frame["estimand"].isin(("population", "listed_words"))]
        if frame["label"].nunique() > 2
        else frame
    )
    return shown.sort_values(
        "label", key=lambda s: s.map({v: k for k, v in enumerate(dict.fromkeys(s))}), kind="stable"
    )


def sections(result: ResponsesResult, view: View) -> list[Section]:
    """Return all tables and figures, in the order in which they are read."""
    import bayesbias as bb

    few = len(result.published) <= MOST_ROWS
    out = []
    if result.fit is not None:
        scale = result.contrasts(view.prob, "population", "overall")["scale"].iloc[0]
        shown = (
            text("model"),
            text("contrast"),
            text("level"),
            text("name"),
            text("estimand"),
            text("scale"),
        )
        several = len(result.responses.models) > 1
        out += [
            Section(
                "result",
                f"Differences in {SCALES[scale]}",
                lambda: overall(result, view),
                (text("label", ""), text("for_", "for"), MEAN, HPDI, BELOW, IN_ROPE),
                figure=(lambda: bb.plots.plot_response_models(result, prob=view.prob))
                if several
                else None,
                show_on=("terminal", "page"),
            ),
            Section(
                "contrasts",
                "All differences, overall, by item and by template",
                partial(result.contrasts, view.prob),
                (*shown, MEAN, HPDI, BELOW, IN_ROPE),
                figure=lambda: bb.plots.plot_response_templates(result, prob=view.prob),
                show_on=DETAIL,
            ),
            Section(
                "groups",
                "Each group by item, these words and prompts",
                partial(result.items, view.prob),
                (text("name"), text("group"), text("model"), MEAN, HPDI),
                figure=lambda: bb.plots.plot_response_items(result, prob=view.prob),
                show_on=("detail", "page", "files"),
            ),
        ]
    out.append(
        Section(
            "published",
            "Published scores, which treat their rows as independent",
            lambda: result.published,
            SCORES,
            show_on=("terminal", "page", "files") if few or result.fit is None else DETAIL,
        )
    )
    if result.fit is None:
        return out
    return [
        *out,
        Section(
            "independent",
            "Independent answers that all answers amount to",
            partial(result.independent, view.prob),
            (
                text("contrast"),
                Column("answers", "answers", "count"),
                Column("mean", "independent", "count"),
                HPDI,
            ),
        ),
        Section(
            "variance",
            "Share of the variance of single answers",
            partial(result.variance, view.prob),
            (
                text("source"),
                Column("mean", "share", "percent"),
                Column("hpdi_low", "{prob} HPDI", "range", 2, "hpdi_high"),
            ),
            show_on=("detail", "page", "files"),
        ),
        Section(
            "questions",
            "All questions",
            lambda: result.fit.table if result.fit else None,
            show_on=("folder",),
        ),
    ]


def interpret_responses(result: ResponsesResult, view: View) -> Interpretation:
    """Say for which words and prompts the difference holds, and what the published test takes for granted."""
    table = result.responses
    subject = f"responses of {' and '.join(m for m in table.models if m) or 'a model'}"
    notes = list(result.notes)
    dropped = {why: n for why, n in table.coverage["dropped"].items() if n}
    if dropped:
        notes.append(
            "Answers left out: " + ", ".join(f"{n:,} {why}" for why, n in dropped.items()) + "."
        )
    if result.fit is None:
        return Interpretation(
            subject, f"No fit. {notes[-1] if not dropped else notes[-2]}", (), tuple(notes)
        )
    if not (state := result.fit.diagnostics())["ok"]:
        return not_converged(subject, state["problems"], notes)
    frame = result.contrasts(view.prob, level="overall")
    frame = frame[frame["scale"] != "log_odds"]
    said, warnings = [], []
    for (model, contrast), rows in list(frame.groupby(["model", "contrast"], sort=False))[:4]:
        name = contrast if len(table.models) < 2 else f"{model}: {contrast}"
        rows = rows.set_index("estimand")
        said.append(f"{name}: {_in_words(rows)}.")
    first = result.published.iloc[0] if len(result.published) else None
    open_ = frame[frame["estimand"] == "population"]["verdict"].iloc[0] in (
        Verdict.INCONCLUSIVE.value,
    )
    if first is not None and first["p_value"] < ALPHA and open_:
        warnings.append(
            f"{first['name']}: the published test ({p_text(first['p_value'])}) treats its {first['n']:,.0f} rows as independent. "
            "For new words and prompts the difference is inconclusive."
        )
    words = table.frame.groupby("group", sort=False)["word"].nunique()
    if (words < 2).any() and table.frame["word"].ne("").any():
        warnings.append("A group has one word, so that nothing is known about other words.")
    alone = result.independent(view.prob).iloc[0]
    details = [
        f"{alone['contrast']}: {alone['answers']:,} answers amount to {alone['mean']:,.0f} independent ones, for new words and prompts."
    ]
    return Interpretation(subject, " ".join(said), tuple(warnings), (*notes, *details))


def _in_words(rows: pd.DataFrame) -> str:
    """Say how far a difference holds: for new words and prompts, or for these alone."""
    found = {name: verdict_of(row) for name, row in zip(rows.index, rows.itertuples(), strict=True)}
    whole = found["population"]
    row = rows.loc["population"]
    if whole is Verdict.NEGLIGIBLE:
        return "practically equal for new words and prompts"
    if whole is not Verdict.INCONCLUSIVE:
        return f"{row['mean']:+.3f}, {'higher' if row['mean'] > 0 else 'lower'} for new words and prompts too"
    ends = f"[{row['hpdi_low']:+.3f}, {row['hpdi_high']:+.3f}]"
    if found["listed_words"] not in (Verdict.INCONCLUSIVE, Verdict.NEGLIGIBLE):
        way = "higher" if rows.loc["listed_words", "mean"] > 0 else "lower"
        return f"inconclusive for new words and prompts ({ends}), {way} for these alone"
    return f"inconclusive ({ends})"


def about(result: ResponsesResult) -> dict[str, Any]:
    """Return what JSON says beside the tables."""
    out: dict[str, Any] = {
        "coverage": dict(result.responses.coverage),
        "groups": result.responses.groups,
    }
    if result.fit is None:
        return {**out, "contrasts": [], "variance": [], "diagnostics": None}
    made = about_fit(result.fit)
    return {
        **out,
        **{name: made[name] for name in ("model", "diagnostics", "provenance", "timing")},
    }


STUDY = Study(
    kind="responses",
    question="Do answers differ between groups, for these words and prompts and for new ones?",
    header=header,
    sections=sections,
    interpret=interpret_responses,
    about=about,
    fits=lambda result: {} if result.fit is None else {"": result.fit},
)
