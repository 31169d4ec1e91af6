"""What is shown of responses: published scores beside the model's estimates, contrasts, variance, and what they say."""

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd

from bayesbias.core import join_words, number_of, some
from bayesbias.core.conventions import ALPHA
from bayesbias.core.formatting import in_one_line
from bayesbias.core.sections import Column, Interpretation, Section
from bayesbias.inference.estimates import CONTRAST_COLUMNS, HPDI, MEAN, OBSERVED
from bayesbias.inference.view import View
from bayesbias.studies import common
from bayesbias.studies.responses import agreement, factorial
from bayesbias.studies.responses.fitting import MOST_SAID, ResponsesResult
from bayesbias.studies.responses.hidden_words import REST, WORD
from bayesbias.studies.responses.kinds.kind import LITTLE_PROBABILITY
from bayesbias.studies.responses.table import ASKED, LABELS, Responses
from bayesbias.studies.responses.template_scores import answers_by_group, template_scores

QUESTION = "Do answers differ between groups, for these words and prompts and for new ones?"

MOST_ROWS = 16
MOST_LOST = 0.05  # difference in the shares of answers left out
MOST_SHORT = 12  # rows of a short table
MOST_PUBLISHED = 6  # published scores on one screen
ALIKE = 1.1  # ratio of two standard errors up to which they are about the same
SHORT = {"population": "new", "listed_words": "these"}  # beside a column of labels
DETAIL = "detail fold files"
IN_WORDS = {
    "below": "below 0 by more than the ROPE",
    "below, size uncertain": "below 0, but perhaps by less than the ROPE",
    "negligible": "within the ROPE",
    "above, size uncertain": "above 0, but perhaps by less than the ROPE",
    "above": "above 0 by more than the ROPE",
}
"""Verdicts in sentences."""
SCORES = (
    "name", "score", Column("n", "rows", "count"), Column("mean_score", "mean", "signed"),
    Column("t", "t", "signed", 2), Column("p_value", "p", "p_value"),
    Column("se", "SE", "number"), Column("model_sd", "model SD", "number"),
)  # fmt: skip
RATES = (
    "group", "model", Column("rate", "mean", "number"),
    Column("rate_low", "{prob} HPDI", "range", upper="rate_high"), Column("ratio", "ratio", "number", 2),
    Column("ratio_low", "{prob} HPDI", "range", 2, "ratio_high"),
    Column("p_highest", "P(highest)", "probability"), Column("p_lowest", "P(lowest)", "probability"),
    Column("used", "answers", "count"), Column("missing", "missing", "count"), Column("refusals", "refused", "count"),
)  # fmt: skip
TEMPLATE_COLUMNS = (
    Column("rows", "rows", "count"), Column("templates", "templates", "count"),
    Column("value", "score", "signed", 2), Column("se", "SE", "number", 2),
    Column("low", "{prob} interval", "interval", 2, "high"),
    Column("equal_weights", "equal", "signed", 2),
)  # fmt: skip
ANSWER_COLUMNS = (
    Column("rows", "rows", "count"), Column("biased", "biased", "number", 1),
    Column("counter_biased", "counter-biased", "number", 1), Column("unknown", "unknown", "number", 1),
)  # fmt: skip
ANSWERS, INDEPENDENT = Column("answers", "answers", "count"), Column("mean", "independent", "count")
AGREEMENT = (
    "raters", "group", Column("rows", "answers", "count"), Column("mean_difference", "mean difference", "signed"),
    Column("equal", "equal", "percent"), Column("kappa", "kappa", "number", 2), Column("pearson", "r", "number", 2),
    Column("icc", "ICC", "number", 2),
)  # fmt: skip
SHARES = Column("hpdi_low", "{prob} HPDI", "range", 2, "hpdi_high")
FACTORIAL = "main effects (each cell counts alike) and the largest interaction"
ONE_VERDICT = False
FILES_BEFORE = False
FIT_FILE = "result/result.fit.nc"
TYPES: tuple[type, ...] = (ResponsesResult, Responses)
GLOSSARY = (
    (
        "outcome, difference",
        "The outcome is the answer: 0 or 1, a probability or any number. In the difference a - b, "
        "negative means that the answers about a are lower, positive that they are higher.",
    ),
    (
        "group, word, prompt, item",
        "Whom the question is about, the word that stands for the group (such as a name), the "
        "sentence frame (template), and what is asked about (such as an emotion).",
    ),
    (
        "new or these words, prompts and items",
        "New: the difference to expect with others like the listed ones (the estimand population). "
        "These: the listed ones are kept, and nothing is said about others.",
    ),
    ("scale", "0/1 answers are compared as probabilities and as log odds."),
    (
        "independent answers",
        "How many independent answers have the same information about the difference. What groups "
        "share, such as items, cancels and counts for neither.",
    ),
)


def glossary(result: ResponsesResult) -> tuple[tuple[str, str], ...]:
    """Return the terms that the page explains."""
    if not result.answer_kind.second_scale(result.responses)[0]:
        return GLOSSARY
    return (
        *GLOSSARY,
        (
            "ordered ratings",
            "They are compared as mean ratings, as probabilities of at least each rating, and as log odds.",
        ),
    )


def header(result: ResponsesResult, view: View) -> list[str]:
    """Return the lines over the first table."""
    table = result.responses
    raters = ["rater"] * table.rated
    found = table.frame[["group", "word", "template", "item", "model", *raters]].nunique()
    found = found.rename({"word": table.noun, "template": "prompt", **table.categories})
    counts = ", ".join(number_of(n, noun) for noun, n in found.items() if n > 1)
    size = f"{_answers_to_questions(table)}: {counts}"
    subject = " and ".join(model for model in table.models if model) or "responses"
    return common.header_of(result.fit, subject, size, "published scores")


def _answers_to_questions(table: Responses) -> str:
    """Say how many answers are used, and of repeated ones how many questions they answer."""
    n, read = len(table.frame), table.coverage["rows_read"]
    answers = f"{n:,} answers" if n == read else f"{n:,} of {read:,} answers"
    labels = [*LABELS, *table.beside]
    times = table.frame.groupby(labels, observed=True).size()
    if len(times) == n or table.frame[ASKED].eq("").all(axis=None):
        return answers if n < read else f"{n:,} of {read:,} answers"
    same = f", {times.iloc[0]} times each" if times.nunique() == 1 else ""
    return f"{answers} to {len(times):,} questions{same}"


def overall(
    result: ResponsesResult, view: View, short: bool = True, scale: str = ""
) -> pd.DataFrame:
    """Return the overall contrasts on a scale, by default the first, for all estimands, models compared last.

    Of many contrasts a short table has the highest and the lowest.

    The label is the model, the contrast or both: what there are several of.
    """
    frame = result.contrasts(view.prob, level="overall", detail=True, families=False)
    frame = frame[frame["scale"] == (scale or result.main_scale)]
    parts = [frame[name] for name in ("model", "contrast") if frame[name].nunique() > 1]
    labels = parts[0] if len(parts) == 1 else frame["model"] + ": " + frame["contrast"]
    names = SHORT if parts else result.estimands
    holds_for = frame["estimand"].map(lambda name: names.get(name, name.replace("_", " ")))
    frame = frame.assign(label=labels if parts else "", holds_for=holds_for)
    order = list(dict.fromkeys(frame["label"]))
    if result.responses.factors:
        return _of_factors(result, frame)
    if len(order) > MOST_ROWS and short:
        return _short(frame, result.responses.models)
    if len(order) > 2:
        shown = ("population", *(["listed_words"] if len(order) <= MOST_ROWS else []))
        frame = frame[frame["estimand"].isin(shown)]
    return frame.sort_values("label", key=lambda of: of.map(order.index), kind="stable")


def _rate_columns(result: ResponsesResult) -> tuple[Column | str, ...]:
    """Return the columns of the rates of groups, with those of another scale that a screen has."""
    scale, words = result.answer_kind.second_scale(result.responses)
    if not scale:
        return RATES
    interval = Column(f"{scale}_low", "{prob} HPDI", "range", 3, f"{scale}_high")
    return (*RATES[:4], Column(scale, words, "probability"), interval, *RATES[4:])


def _second_scale(
    result: ResponsesResult, view: View, labels: Sequence[Column | str]
) -> list[Section]:
    """Return a section with the differences on another scale that a screen has."""
    scale, words = result.answer_kind.second_scale(result.responses)
    if not scale:
        return []

    def rows() -> pd.DataFrame:
        frame = overall(result, view, scale=scale)
        return frame[frame["estimand"] == "population"]

    new = result.estimands["population"]
    title = f"Differences in {words} (ROPE ±{LITTLE_PROBABILITY:g}), for {new}"
    more = "--detail, or contrasts(), has the other levels, and log odds."
    return [
        Section(
            "second",
            title,
            rows,
            (*labels, *CONTRAST_COLUMNS),
            more=more,
            importance=partial(importance, True),
            show_on="terminal page",
        )
    ]


def _cells(result: ResponsesResult, view: View) -> list[Section]:
    """Return a section with each cell against the mean of all cells, where groups cross factors."""
    import bayesbias as bb

    if not result.responses.factors:
        return []

    def rows() -> pd.DataFrame:
        frame = result.contrasts(view.prob, "population", factorial.CELL, detail=True)
        return frame[frame["scale"] == result.main_scale]

    models = ["model"] * (len(result.responses.models) > 1)
    return [
        Section(
            "cells",
            f"Each cell and the mean of all cells, for {result.estimands['population']}",
            rows,
            (*models, "contrast", *CONTRAST_COLUMNS),
            figure=lambda: bb.plots.plot_response_models(result, prob=view.prob, level="cell"),
            show_on="fold",
        )
    ]


def _short(frame: pd.DataFrame, models: Sequence[str]) -> pd.DataFrame:
    """Return the largest difference of two groups, and the highest and lowest against the others."""
    frame = frame[frame["estimand"] == "population"]
    against_others = frame["contrast"].str.endswith(" - others")
    others = frame[against_others] if against_others.any() else frame
    others = others.sort_values("mean", ascending=False, kind="stable")
    if len(others) > MOST_SHORT:
        half = MOST_SHORT // 2
        others = pd.concat([others[:half], others[-half:]])
    if not against_others.any():
        return others
    pairs = frame[~against_others & frame["model"].isin(models)]
    largest = pairs["mean"].abs().sort_values(ascending=False, kind="stable").index[:1]
    return pd.concat([pairs.loc[largest], others])


def _of_factors(result: ResponsesResult, frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of a factorial table that a screen has: main effects and the largest interaction.

    A factor of two levels has one main effect, and any other one of each level against the others.
    The column ``factor`` tells them apart.
    """
    table = result.responses
    factors = {contrast.name: contrast.factor for contrast in factorial.main_effects(table)}
    frame = frame[frame["estimand"] == "population"]
    interactions = frame[frame["level"] == "interaction"]
    within = interactions[interactions["model"].isin(table.models)]
    largest = (within["mean"] / within["sd"]).abs().sort_values(ascending=False).index[:1]
    shown = frame[frame["contrast"].isin(list(factors))]
    if len(shown) > MOST_ROWS:
        kept = importance_of_factors(shown.assign(factor=shown["contrast"].map(factors)))
        order = pd.Series(kept, index=shown.index).sort_values(ascending=False, kind="stable")
        shown = shown.loc[shown.index.isin(order.index[:MOST_ROWS])]
    rows = pd.concat([shown, frame.loc[largest]])
    return rows.assign(factor=rows["contrast"].map(factors).fillna(""))


def importance_of_factors(rows: pd.DataFrame) -> list[float]:
    """Return how important each row of a factorial table is, where there is no room for all.

    First comes the largest main effect of each factor, then the largest interaction.
    """
    far = rows.apply(common.far_from_zero, axis=1)
    rank = far.groupby(rows["factor"]).rank(method="first", ascending=False)
    first = rank.eq(1) & rows["factor"].ne("")
    return [*(far + 100.0 * first + 50.0 * rows["factor"].eq(""))]


def importance(several: bool, rows: pd.DataFrame) -> list[float]:
    """Return how important each row of the first table is, where there is no room for all.

    Rows for what is new come first, of `several` contrasts the largest, those with others last.
    """
    sizes = rows["mean"].abs() / rows["mean"].abs().max()
    out = []
    for row, size in zip(rows.itertuples(), sizes, strict=True):
        value = 100.0 if row.estimand == "population" else 0.0
        if several:
            value += size
        if row.contrast.endswith(" - others"):
            value -= 50.0
        out.append(value)
    return out


def published_table(result: ResponsesResult, view: View) -> pd.DataFrame:
    """Return the published scores with their standard errors, and the SD that the model has.

    Both are of the same difference; that of the model is for new words, prompts and items.
    """
    frame = result.published
    if result.fit is None:
        return frame
    differences = frame["score"].str.contains("t-test|paired t", regex=True)
    se = (frame["mean_score"] / frame["t"]).abs().where(differences & frame["t"].ne(0))
    rows = result.contrasts(view.prob, "population", "overall", detail=True, families=False)
    rows = rows[rows["scale"] == result.main_scale]
    sds = dict(zip(rows["contrast"] + ", " + rows["model"], rows["sd"], strict=True))
    if len(result.responses.models) < 2:
        sds = dict(zip(rows["contrast"], rows["sd"], strict=True))
    return frame.assign(se=se, model_sd=frame["name"].map(sds).astype(float).where(se.notna()))


def whole_scores(result: ResponsesResult) -> pd.DataFrame:
    """Return the published scores of all items together, of very many the first of each contrast."""
    published = result.published
    if len(published) <= MOST_ROWS:
        return published
    names = published["name"]
    of_all = names.str.startswith("all")
    parts = names.str.count(", ")
    whole = published[of_all if of_all.any() else parts.eq(parts.min())]
    if len(whole) > MOST_ROWS:
        whole = whole.drop_duplicates("name").head(MOST_ROWS)
    return whole


def sharpness(frame: pd.DataFrame, new: str) -> str:
    """Say whether tests of rows as independent are too sharp or too weak, beside the model."""
    if "se" not in frame:
        return ""
    known = frame.dropna(subset=["se", "model_sd"])
    if known.empty:
        return ""
    sharp = known["model_sd"] > ALIKE * known["se"]
    weak = known["se"] > ALIKE * known["model_sd"]
    if sharp.all():
        return f"Too sharp for {new}: the SE is below the SD of the model."
    if weak.all():
        return (
            f"Too weak for {new}: what groups share counts as noise, so the SE is above the SD of "
            "the model."
        )
    if not (sharp | weak).any():
        return f"The SE is about the SD that the model has for {new}."
    return f"For {new}, an SE below the model SD is too sharp, one above it too weak."


def sections(result: ResponsesResult, view: View) -> list[Section]:
    """Return all tables and figures, in the order in which they are read."""
    import bayesbias as bb

    few = len(result.published) <= MOST_ROWS
    on_screen = result.fit is None or len(whole_scores(result)) <= MOST_PUBLISHED
    asked = result.responses.frame.groupby("item")["group"].nunique().max()
    shared = asked == len(result.responses.groups)  # items that every group is asked about
    out = []
    if result.fit is not None:
        shown = ("model", "contrast", "level", "name", "estimand", "scale")
        first, new = overall(result, view), result.estimands["population"]
        contrast, *others = first["contrast"].unique()
        title = "Differences" if others else f"{contrast}: difference"
        title = f"{title} in {result.scale} (ROPE ±{result.rope:g})"
        labels = [Column("holds_for", "for")]
        if labelled := first["label"].any():
            one = first["estimand"].eq("population").all()
            title += f", for {new}" if one else f"; new: {new}, these: the listed ones"
            if result.responses.factors:
                title += f"; {FACTORIAL}"
            labels = [Column("label", ""), *([] if one else labels)]
        out += [
            Section(
                "result",
                title,
                lambda: first,
                (*labels, *CONTRAST_COLUMNS),
                more="--detail, or contrasts(), has all." if labelled else "",
                figure=lambda: bb.plots.plot_response_models(result, prob=view.prob),
                importance=importance_of_factors
                if result.responses.factors
                else partial(importance, len(first["label"].unique()) > MOST_SAID),
                show_on="terminal page",
            ),
            *_second_scale(result, view, labels[:1]),
            *_cells(result, view),
            Section(
                "contrasts",
                "All differences, overall, by item and by template",
                partial(result.contrasts, view.prob, detail=True),
                (*shown, *CONTRAST_COLUMNS, OBSERVED),
                figure=lambda: bb.plots.plot_response_templates(result, prob=view.prob),
                show_on=DETAIL,
            ),
            Section(
                "rates",
                result.rates_title,
                partial(result.rates, view.prob),
                _rate_columns(result),
                show_on="folder" if result.kind == "paired" else "detail page files",
            ),
            Section(
                "groups",
                result.items_title,
                partial(result.items, view.prob),
                ("name", "group", "model", MEAN, HPDI),
                figure=lambda: bb.plots.plot_response_items(result, prob=view.prob),
                show_on="detail page files" if shared else "folder",
            ),
        ]
    counts = result.responses.answer_counts
    if counts is not None:
        out += _sections_of_templates(counts, view)
    title = "Published scores, which treat their rows as independent"
    published = published_table(result, view)
    of_rows = partial(sharpness, new="" if result.fit is None else result.estimands["population"])
    where = DETAIL
    if few or result.fit is None:
        where = "terminal page files" if on_screen else "detail page files"
    if counts is not None:  # the section above has them
        few, where = True, DETAIL
    crowded = result.fit is not None and first["label"].nunique() >= MOST_SHORT
    if crowded or (result.responses.factors and result.fit is not None):
        few, where = True, DETAIL  # the screen is full of differences
    out.append(Section("published", title, lambda: published, SCORES, note=of_rows, show_on=where))
    if not few:
        whole = published.loc[whole_scores(result).index]
        note = "A t over items allows for new items, over pairs for nothing new."
        note = note if "paired t over items" in set(whole["score"]) else ""
        note = f"{of_rows(whole)} {note}".strip()
        more = "--detail, or published, has the others."
        where = "brief page" if on_screen else "page"
        out.append(Section("whole", title, lambda: whole, SCORES, None, "", note, more, where))
    if result.responses.rated:
        out.append(
            Section(
                "agreement",
                "Agreement of raters, on the answers that both rated",
                result.agreement,
                AGREEMENT,
                show_on="detail page files",
            )
        )
    if result.fit is None:
        return out
    return [
        *out,
        Section(
            "independent",
            "How many independent answers carry the same information as all answers",
            partial(result.independent, view.prob),
            ("contrast", ANSWERS, INDEPENDENT, HPDI),
        ),
        Section(
            "variance",
            "Share of the variance of single answers",
            partial(result.variance, view.prob),
            ("source", Column("mean", "share", "percent"), SHARES),
            show_on="detail page files",
        ),
        Section(
            "predictive",
            "Posterior predictive check",
            figure=lambda: bb.plot_ppc(result),
            text="Answers that the model generates (lines) and those of the table.",
            show_on="fold",
        ),
        Section(
            "questions",
            "All questions",
            lambda: result.answer_kind.questions(result._fitted().table),
            show_on="folder",
        ),
    ]


def _sections_of_templates(counts: pd.DataFrame, view: View) -> list[Section]:
    """Return the scores of BBQ with intervals for new templates, and the answers by group."""
    scores = template_scores(counts, view.prob)
    over_categories = scores["category"] == scores["category"].iloc[0]
    first = scores[over_categories & scores["score"].str.startswith("s_")]
    labels = [name for name in ("model", "category") if counts[name].nunique() > 1]
    columns: list[Column | str] = [*labels, "score", *TEMPLATE_COLUMNS]
    of_groups: list[Column | str] = ["group", *ANSWER_COLUMNS]
    if "model" in labels:
        of_groups.insert(0, "model")
    title = "Published scores of BBQ in percent, pooled over rows, with intervals for new templates"
    note = "Equal: the mean of the scores of single templates, which the rows of a template do not weight."
    return [
        Section(
            "bbq",
            title,
            lambda: first,
            columns,
            note=note,
            more="--detail has accuracies and categories.",
            show_on="terminal page",
        ),
        Section("bbq_scores", title, lambda: scores, columns, note=note, show_on=DETAIL),
        Section(
            "bbq_answers",
            "Answers in ambiguous contexts by stereotyped group, in percent",
            lambda: answers_by_group(counts),
            of_groups,
            show_on="detail page files",
        ),
    ]


def interpret(result: ResponsesResult, view: View) -> Interpretation:
    """Say for which words and prompts the difference holds, and what the published test takes for granted."""
    table = result.responses
    subject = result.subject
    items = {*table.frame["item"]}
    of_data = [note for note in table.notes if note.partition(": ")[0] in items]
    if len(of_data) <= MOST_SAID:
        of_data = []
    notes = [note for note in result.notes if note not in of_data[1:]]
    if of_data:
        first = notes.index(of_data[0])
        notes.insert(first + 1, f"The details say this of the {len(of_data) - 1} others.")
    if table.published == "answers":
        notes.append("Score per reply: from -1 to 1; above 0 follows the stereotype.")
    counts = ", ".join(
        number_of(n, "refusal") if why == "refusals" else f"{n:,} {why}"
        for why, n in table.coverage["dropped"].items()
        if n
    )
    if counts:
        texts = [repr(in_one_line(text, 40)) for text in table.coverage["examples"]]
        such = f", such as {join_words(texts)}" if texts else ""
        notes.append(f"Answers left out: {counts}{such}.")
    if table.rated:
        notes.append(agreement.in_words(result.agreement()))
    of_filters, is_warning = _by_filter(table.coverage.get("filters"))
    notes += [] if is_warning else of_filters
    warnings = [*(of_filters if is_warning else []), *_lost(table.coverage["groups"])]
    warnings += _refusals_scored(table.coverage.get("refusals_scored"))
    apart = table.coverage["apart"]
    if hidden := table.coverage.get("hidden"):
        warnings.append(
            f"Prompts of a group differ by a word ({some(hidden, 4)}). All prompts with one word share "
            f"what it does, so that intervals are too narrow. Name both: --columns word={WORD},"
            f"template={REST}."
        )
    missing = [f"{name}=NAME" for name in ASKED if table.frame[name].nunique() < 2]
    rows = table.coverage["repeats"]
    differing = apart or table.coverage["distinct"]
    if rows and not (missing and differing):
        notes.append(f"{rows:,} rows have the labels of another row, and count as repeats.")
    elif rows:
        (warnings if apart else notes).append(
            f"{rows:,} rows count as repeats. If a column ({some(differing)}) tells them "
            f"apart, intervals are too narrow. Name it: --columns {','.join(missing)}, or adjust=NAME "
            "if it describes whom or what was rated."
        )
    if result.fit is None:
        why = result.notes[-1]
        notes.remove(why)
        return Interpretation(subject, f"No fit. {why}", warnings, notes, lambda: of_data[1:])
    if unsure := common.not_converged(subject, result.fit, notes):
        return unsure
    frame, new = overall(result, view, short=False), result.estimands["population"]
    said = _sentences(result, frame, new)
    notes += common.several_differences(*_compared(table))
    if absent := factorial.missing_cells(table) if table.factors else []:
        notes.append(
            f"No answers about {join_words(absent)}: main effects are over the levels that have all."
        )
    if len(result.published):
        scores, main = published_table(result, view), result._leading(view.prob)
        names = [main["contrast"], f"{main['contrast']}, {main['model']}"]
        same = scores[scores["name"].isin(names)]
        score = (scores if same.empty else same).iloc[0]
        warnings += _disagreement(score, main["verdict"], new)
    words = table.frame.groupby("group", sort=False)["word"].nunique()
    if (words < 2).any() and table.frame["word"].ne("").any():
        warnings.append("A group has one word, so that nothing is known about other words.")
    asked = table.frame.drop_duplicates(["item", "template", "word"])
    several = asked.groupby(["item", "word"])["template"].transform("nunique") > 1
    alone = several.groupby(asked["template"], sort=False).mean() < 0.5
    if several.any() and alone.any():
        warnings.append(
            f"Prompt {join_words(alone.index[alone])} has mostly words of its own: what they change "
            f"counts as a change of the prompt. Report the row for {new}."
        )
    if any(result.fit.spec.is_random(name) for name in result.fit.spec.mu):
        # Else the model treats all answers as independent.
        alone = result.independent(view.prob).iloc[0]
        kind = result.answer_kind
        if round(alone["hpdi_low"]) < alone["answers"]:
            notes.append(
                f"For {new}, the {alone['answers']:,} {kind.row}s tell as much about "
                f"{alone['contrast']} as {alone['mean']:,.0f} [{alone['hpdi_low']:,.0f}, "
                f"{alone['hpdi_high']:,.0f}] independent ones."
            )
    said = result.answer_kind.headline(said, table.outcome)
    return Interpretation(subject, said, warnings, notes, lambda: _by_item(result, view, of_data))


def _by_filter(filters: Mapping[str, Any] | None) -> tuple[list[str], bool]:
    """Say which filter of the answers is taken, and whether it is a warning: the others differ."""
    if not filters:
        return [], False
    taken, others = some(filters["taken"]), some(filters["others"])
    about = f"Filters score the same answers: {taken} (taken) and {others}."
    differ, of = filters["differ"], filters["of"]
    if not of:
        return [f"{about} --columns filter=NAME takes another."], False
    if not differ:
        return [f"{about} Their scores are equal."], False
    about = f"{about} They differ in {differ:,} of {of:,} answers."
    if filters.get("named"):
        return [about], False
    name, other = filters["others"][0], "another" if len(filters["others"]) > 1 else "the other"
    return [f"{about} Report which; --columns filter={name} takes {other}."], True


def _refusals_scored(scored: Mapping[str, Any] | None) -> list[str]:
    """Warn that answers that look like refusals have a score, which group they are about, and which score."""
    if not scored:
        return []
    groups = [f"{name} {number:,}" for name, number in scored["groups"].items()]
    by_group = f" ({some(groups)})" if len(groups) > 1 else ""
    one = scored["number"] == 1
    looks, count = (
        ("looks like a refusal", "It counts") if one else ("look like refusals", "They count")
    )
    as_number = f"as {scored['value']:g}" if scored["value"] is not None else "by their score"
    return [
        f"{scored['number']:,} of {scored['of']:,} answers {looks}{by_group}. {count} {as_number} in "
        f"{scored['score']}. Compare the refusals themselves too: --outcome refused."
    ]


def _compared(table: Responses) -> tuple[int, str]:
    """Return how many differences are compared, and what they are called."""
    groups, models = len(table.groups), len(table.models)
    pairs = [each for each in factorial.contrasts_of(table) if each.against == "pairs"]
    if groups < 2:
        return math.comb(models, 2), "pairs of models are compared"
    sets = models + math.comb(models, 2)
    number = len(pairs) * sets
    if table.factors:
        levels = [each.level for each in factorial.contrasts_of(table) if each.against != "mean"]
        nouns = {"main": "main effect", "simple": "simple effect", "interaction": "interaction"}
        parts = [number_of(levels.count(name) * sets, noun) for name, noun in nouns.items()]
        return len(levels) * sets, f"differences are compared ({', '.join(parts)})"
    if models > 1:
        return number, "differences are compared"
    return number, "pairs of groups are compared"


def _disagreement(row: pd.Series, verdict: str, new: str) -> list[str]:
    """Warn where the first published test and the model disagree, and say which is the sharper."""
    p_value, se, sd = row["p_value"], row.get("se", math.nan), row.get("model_sd", math.nan)
    if math.isnan(p_value):
        return []
    tested = f"{row['name']}: the published test ({common.p_text(p_value)}) treats its "
    tested += f"{row['n']:,.0f} rows as independent"
    errors = f"its SE is {common.plain(se)}, the SD of the model {common.plain(sd)}"
    if p_value <= ALPHA and verdict == "inconclusive":
        sharp = f" and is too sharp for {new}: {errors}" if sd > ALIKE * se else ""
        where = "There" if sharp else f"For {new}"
        return [f"{tested}{sharp}. {where} the difference is inconclusive."]
    if p_value > ALPHA and verdict.startswith(("below", "above")) and se > ALIKE * sd:
        return [f"{tested} and is too weak, since what groups share counts as noise: {errors}."]
    return []


def _sentences(result: ResponsesResult, frame: pd.DataFrame, new: str) -> str:
    """Say what some contrasts are, or of many how many exclude 0 and which are the largest."""
    table = result.responses
    of_groups = len(table.groups) > 1
    models = frame["model"] + ": " if of_groups and len(table.models) > 1 else ""
    frame = frame.assign(label=models + frame["contrast"])
    if table.factors:
        return _of_factors_in_words(table, frame, new)
    pairs = frame[~frame["contrast"].str.endswith(" - others")]
    if pairs["label"].nunique() <= MOST_SAID:
        by_label = pairs.set_index("estimand").groupby("label", sort=False)
        if sentence := _all_inconclusive(pairs, new):
            return sentence
        return " ".join(f"{_in_words(rows, new)}." for _, rows in by_label)
    pairs = pairs[pairs["estimand"] == "population"]
    within = pairs["model"].isin(["", *table.models])
    parts = {"groups" if of_groups else "models": pairs[within], "models in these": pairs[~within]}
    return " ".join(_largest(rows, what, new) for what, rows in parts.items() if len(rows))


def _of_factors_in_words(table: Responses, frame: pd.DataFrame, new: str) -> str:
    """Say what main effects are, of several levels those that differ most, and the largest interaction."""
    by_factor: dict[str, list[str]] = {}
    for contrast in factorial.main_effects(table):
        by_factor.setdefault(contrast.factor, []).append(contrast.name)
    said = []
    for factor, names in by_factor.items():
        rows = frame[frame["contrast"].isin(names)]
        if rows.empty:  # of an item to which a cell has no answer
            continue
        if len(names) > 1:
            said.append(_levels_in_words(rows, factor, new))
            continue
        by_label = rows.set_index("estimand").groupby("label", sort=False)
        said += [f"{_in_words(own, new)}." for _, own in by_label]
    levels = [contrast.level for contrast in factorial.contrasts_of(table)]
    number = levels.count("interaction") * len(table.models)
    largest = f"Largest of {number} interactions" if number > 1 else "Interaction"
    for row in frame[frame["level"] == "interaction"].itertuples():
        verdict = IN_WORDS.get(str(row.verdict), row.verdict)
        said.append(f"{largest}: {row.label} {common.estimate(row)}, {verdict}.")
    return " ".join(said)


def _levels_in_words(rows: pd.DataFrame, factor: str, new: str) -> str:
    """Say how many levels of a factor differ from the others, and which differ most."""
    rows = rows.sort_values("mean", key=abs, ascending=False)
    decided = rows[rows["verdict"].str.startswith(("below", "above"))]
    if decided.empty:
        row = rows.iloc[0]
        about = f"no difference of a level from the others excludes 0 for {new}"
        return f"{factor}: {about}. Largest: {row['label']} {common.estimate(row)}."
    listed = [f"{row.label} {common.estimate(row)}" for row in decided[:MOST_SAID].itertuples()]
    about = f"{len(decided)} of {len(rows)} differences of a level from the others exclude 0"
    return f"{factor}: {about} for {new}. Largest: {join_words(listed)}."


def _all_inconclusive(pairs: pd.DataFrame, new: str) -> str:
    """Say of one contrast of several models that it is inconclusive in all; else nothing."""
    of_new = pairs[pairs["estimand"] == "population"]
    if len(of_new) < 2 or pairs["contrast"].nunique() > 1:
        return ""
    if not of_new["model"].is_unique or (pairs["verdict"] != "inconclusive").any():
        return ""
    models = [f"{row.model} {common.estimate(row)}" for row in of_new.itertuples()]
    return f"{of_new['contrast'].iloc[0]}: inconclusive for {new}: {', '.join(models)}."


def _by_item(result: ResponsesResult, view: View, notes: Sequence[str]) -> list[str]:
    """Say of each item what differs, and what an answer is where notes say it."""
    if result.responses.frame["item"].nunique() < 2:
        return []
    frame = result.contrasts(view.prob, "population", "item", detail=True)
    if result.responses.factors:
        frame = frame.assign(level="main")
    new = result.items_title.partition(", for ")[2] or result.estimands["population"]
    also = {note.partition(": ")[0]: f" In {note.replace(': ', ', ', 1)}" for note in notes}
    rows_of = frame[frame["scale"] == result.main_scale].groupby("name", sort=False)
    return [
        f"{name}: {_sentences(result, rows, new)}{also.get(name, '')}" for name, rows in rows_of
    ]


def _largest(rows: pd.DataFrame, what: str, new: str) -> str:
    """Say of many differences how many exclude 0, and which are the largest of these."""
    decided = rows[rows["verdict"].str.startswith(("below", "above"))]
    largest = decided.sort_values("mean", key=abs, ascending=False)[:MOST_SAID]
    said = f"{len(decided)} of {len(rows)} differences between {what} exclude 0 for {new}."
    each = (f"{row.label} {common.estimate(row)}" for row in largest.itertuples())
    return f"{said} Largest: {join_words(each)}." if len(largest) else said


def _lost(groups: dict[str, dict[str, int]]) -> list[str]:
    """Warn where one group lost clearly more of its answers than another, and say what to do.

    Of more than two groups the one that lost most and the one that lost least are named.
    """
    lost = {name: own["read"] - own["used"] for name, own in groups.items()}
    shares = pd.Series({name: lost[name] / own["read"] for name, own in groups.items()})
    if shares.max() - shares.min() <= MOST_LOST:
        return []
    names = list(groups) if len(groups) <= 2 else [shares.idxmax(), shares.idxmin()]
    counts = [f"{name} {lost[name]:,} of {groups[name]['read']:,}" for name in names]
    between = "; " if any(factorial.JOIN in name for name in names) else ", "
    said = (
        f"Groups lost unequal shares of their answers ({between.join(counts)}), which can bias the "
        "difference."
    )
    refusals = sum(own.get("refusals", 0) for own in groups.values())
    unparseable = sum(own.get("unparseable", 0) for own in groups.values())
    if refusals:
        said += " Compare the refusals themselves too: --outcome refused."
    if unparseable:
        said += " If texts stand for a number, name it: --map."
    return [said]


def _in_words(rows: pd.DataFrame, new: str) -> str:
    """Say how far a difference holds: for what is new, or for these words and prompts alone."""
    row = rows.loc["population"]
    where, _, unsure = row["verdict"].partition(", ")
    model, sides = row["label"].removesuffix(row["contrast"]), row["contrast"].split(" - ")

    def higher(difference: pd.Series) -> str:
        way = "higher" if difference["verdict"].startswith("above") else "lower"
        # Of two models their difference of the difference is meant.
        one = len(sides) == 2 and " - " not in model
        said = f"{sides[0]} is {way} than {sides[1]}" if one else f"{row['contrast']} is {way}"
        return f"{said} by {common.size(difference)}"

    if where == "negligible":
        return (
            f"{row['label']}: practically equal for {new}: {common.estimate(row)} lies within the "
            "ROPE"
        )
    if where != "inconclusive":
        far = "but perhaps by less" if unsure else "by more"
        return f"{model}{higher(row)} for {new}, {far} than the ROPE"
    said = f"{row['label']}: inconclusive for {new} ({common.estimate(row)})"
    if unsure:
        said = f"{said}: an end is too close to 0 or the ROPE for so few draws. Raise --draws"
    if rows["verdict"].get("listed_words", where).startswith(("below", "above")):
        return f"{said}. For these alone, {higher(rows.loc['listed_words'])}"
    return said


def about(result: ResponsesResult) -> dict[str, Any]:
    """Return what JSON says beside the tables."""
    table = result.responses
    out: dict[str, Any] = {"coverage": dict(table.coverage), "groups": table.groups}
    if result.fit is None:
        return {**out, "contrasts": [], "variance": [], "diagnostics": None}
    return common.about_fit(result.fit) | out | {"rope": result.rope}
