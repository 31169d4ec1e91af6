"""What is shown of sentence tests."""

from collections.abc import Mapping
from functools import partial
from types import SimpleNamespace
from typing import Any

import pandas as pd

import bayesbias as bb
from bayesbias.core import number_of, some
from bayesbias.core.formatting import format_value
from bayesbias.core.sections import Column, Interpretation, Section
from bayesbias.embeddings.spelling import MISSPELLED
from bayesbias.inference.estimates import BELOW, HPDI, IN_ROPE, MEAN
from bayesbias.inference.view import Verdict, View, side, sure_ends
from bayesbias.studies.common import (
    MISFIT,
    at_level,
    estimate,
    heading,
    level_text,
    listing,
    p_text,
    slope_sections,
)
from bayesbias.studies.glossary import explain_distances
from bayesbias.studies.sentences.result import KEY, SeatResult
from bayesbias.tables.sentences import encoder_label
from bayesbias.wordlists.sentence_tests import SETS

QUESTION = "Do sentences about one set of targets lean more to one set of attributes?"
ONE_VERDICT = False
FILES_BEFORE = False
FIT_FILE = ""
TYPES: tuple[type, ...] = (SeatResult,)
glossary = explain_distances

MOST_QUESTIONS = 3  # of tests that a note names
MOST_ROWS = 12  # tests on the terminal; of more tests there is a summary
TEST = (Column("model", "encoder"), "options", "test")
PUBLISHED = (
    Column("effect_size", "effect", "signed", 2),
    Column("p_value", "p", "p_value"),
    Column("p_words", "p_words", "p_value"),
    Column("p_holm", "p Holm", "p_value"),
    Column("p_words_holm", "p_words Holm", "p_value"),
)
FITTED = (
    Column("contrast", "difference", "signed", 3),
    Column("hpdi_low", "{prob} HPDI", "interval", 3, "hpdi_high"),
)
COUNTS = (
    Column("tests", "tests", "count"),
    Column("median_effect", "median effect", "signed", 2),
    Column("significant", "p Holm", "count"),
    Column("over_words", "p_words Holm", "count"),
    Column("fitted", "HPDI below 0", "count"),
)
AGREEMENT = (
    "same_sign",
    "same_verdict",
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
    tests = number_of(result.frame["test"].nunique(), "test")
    return [
        f"bayesbias {bb.__version__} | {model} | {tests} | seed {about['seed']}",
        f"{number_of(len(encoders), 'encoder')}: {listing(encoders)}",
    ]


def main_table(result: SeatResult) -> pd.DataFrame:
    """Return the tests of each encoder; of many tests, counts by level."""
    groups = by_encoder(result.frame)
    parts = []
    for name, rows in groups.items():
        if len(groups) > 1:
            parts.append(heading(name))
        if len(result.frame) > MOST_ROWS:
            found = rows.assign(
                significant=rows["p_holm"] <= result.alpha,
                over_words=rows["p_words_holm"] <= result.alpha,
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
    fitted, many = "contrast" in result.frame, len(result.frame) > MOST_ROWS
    title = (
        f"Tests with one-sided p up to {level_text(result.alpha)}, corrected by Holm's method"
        if many
        else "Effect size (positive: as expected) and one-sided p of each test"
    )
    also = "; fitted difference, new words (negative: as expected)" if fitted and not many else ""
    out = [
        Section(
            "result",
            title + also,
            partial(main_table, result),
            (Column("label", ""), *COUNTS, *PUBLISHED, *FITTED),
            show_on="terminal page",
            note="p permutes sentences, p_words words. All tests: --detail."
            if many
            else "p permutes sentences, p_words words. Holm: corrected for all tests.",
        ),
        Section(
            "tests",
            "All numbers of each test",
            lambda: result.frame,
            (
                *TEST,
                "level",
                Column("p_method", "method"),
                *PUBLISHED,
                Column("dropped", "missing", "count"),
            ),
            lambda: bb.plots.plot_seat(result),
            show_on="detail page files" if many else "page files",
        ),
        Section("published", "The published columns", result.published, show_on="folder"),
        Section(
            "table_4",
            "Effect sizes in the layout of the paper's Table 4",
            lambda: result.table().reset_index(),
            show_on="folder",
        ),
    ]
    if fitted:
        out += [
            Section(
                "variance",
                "Share of the variance of distances",
                lambda: result.frame,
                (*TEST, *SHARES),
                lambda: bb.plots.plot_seat_contrasts(result),
                show_on="detail page",
            ),
            Section(
                "classes",
                "Difference of each set of targets",
                lambda: result.classes,
                (*TEST, "name", "estimand", MEAN, HPDI, BELOW, IN_ROPE),
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
            (*TEST[:2], "group", "level", *AGREEMENT),
        ),
        Section(
            "failures", "Tests that could not be run", lambda: result.failures, (*TEST, "reason")
        ),
        Section(
            "dropped",
            "Examples without a vector",
            lambda: result.dropped,
            (*TEST, "set", "word", "sentence"),
        ),
        Section("notes", "Notes on single tests", lambda: result.notes, (*TEST, "note")),
    ]


def about(result: SeatResult) -> dict[str, Any]:
    """Return what JSON says beside the tables."""
    return {"alpha": result.alpha, "provenance": dict(result.provenance)}


def interpret(result: SeatResult, view: View) -> Interpretation:
    """Say how many tests are significant, over sentences and over words."""
    groups = by_encoder(result.frame)
    said = []
    for name, rows in groups.items():
        said += [f"{name}:"] * (len(groups) > 1) + [
            _significant(rows, result.alpha),
            *_fitted(rows),
        ]
    questions = _questions(result)
    notes = []
    if questions:
        notes.append(f"d above 0, as expected, is a greater leaning {_first_questions(questions)}.")
    for name, rows in by_encoder(result.dropped).items():
        words = list(dict.fromkeys(rows["word"]))
        notes.append(f"{name} has no vector for {number_of(len(words), 'word')}: {listing(words)}.")
    warnings: list[str] = []
    for note, rows in result.notes.groupby("note", sort=False):
        kind = warnings if note.startswith(MISSPELLED) else notes
        kind.append(f"{listing(rows['test'])}: {note}.")
    return Interpretation(
        subject=f"sentence tests on {', '.join(groups)}",
        headline=" ".join(said),
        warnings=[*warnings, *_warnings(result)],
        notes=notes,
        make_details=lambda: [
            f"{which}: a greater leaning {asked}." for asked, which in questions.items()
        ],
    )


def _questions(result: SeatResult) -> dict[str, str]:
    """Return what a positive effect of tests means, with the names of these tests."""
    run = set(result.frame["test"])
    tests: dict[str, list[str]] = {}
    for about in result.provenance["tests"]:
        categories = about.get("categories")
        if about["name"] in run and categories:
            x, y, a, b = (categories[name] for name in SETS)
            asked = f"of {x} than of {y} to {a} over {b}"  # whatever single distances are
            tests.setdefault(asked, []).append(about["name"])
    return {asked: listing(dict.fromkeys(names)) for asked, names in tests.items()}


def _first_questions(questions: Mapping[str, str]) -> str:
    """Name what the first tests ask, and how many others there are."""
    if len(questions) == 1:
        return next(iter(questions))
    said = [f"{asked} ({which})" for asked, which in questions.items()]
    left = len(said) - MOST_QUESTIONS
    more = f"; {left} more: --detail" if left > 0 else ""
    return "; ".join(said[:MOST_QUESTIONS]) + more


def by_encoder(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the rows of each encoder, by its label."""
    groups = frame.groupby(["model", "options"], sort=False)
    return {encoder_label(*key): rows for key, rows in groups}


def _significant(rows: pd.DataFrame, alpha: float) -> str:
    """Say of how many tests p is below the level, over sentences and over words, and of which.

    A one-sided p near 1 is an effect in the opposite direction, which is named apart.
    """
    low = (rows["p_holm"] <= alpha) & ~(rows["p_words_holm"] > alpha)
    opposite = (rows["p_value"] >= 1 - alpha) & ~(rows["p_words"] < 1 - alpha)
    opposite &= rows["effect_size"] < 0  # of few partitions or equal scores p is 1, too
    n = int(low.sum())
    if len(rows) == 1:
        row = rows.iloc[0]
        # Of both p the larger one decides, where there are two.
        tested = "Opposite direction" if opposite.any() else at_level(0.0 if n else 1.0, alpha)
        of_words = f" over sentences, {p_text(row['p_words_holm'])} over words"
        two = row["p_words_holm"] == row["p_words_holm"] and row["p_words_holm"] != row["p_holm"]
        p_values = f"one-sided {p_text(row['p_holm'])}{of_words if two else ''}"
        return f"{tested}: effect size {format_value(row['effect_size'], 'signed', 2)}, {p_values}."
    limit = "p and p_words after Holm's correction"
    tests = number_of(len(rows), "test")
    which = f"{n} of {tests} significant at {level_text(alpha)} ({limit})"
    if 0 < n < len(rows):
        which += f": {some(rows.loc[low, 'test'], 5)}"
    said = [which]
    if others := int((~low & ~opposite).sum()):
        said.append(f"{others} not significant by both")
    if opposite.any():
        named = some(rows.loc[opposite, "test"], 5)
        limit = f"one-sided p {level_text(1 - alpha)} or more"
        said.append(f"{int(opposite.sum())} in the opposite direction ({limit}): {named}")
    return f"{'; '.join(said)}."


def _fitted(rows: pd.DataFrame) -> list[str]:
    """Say in how many tests the interval of the fitted difference excludes zero, if any."""
    known = rows[rows["contrast"].notna() & _converged(rows)] if "contrast" in rows else rows[:0]
    if known.empty:
        return []
    sides = [side(*sure_ends(row)) for row in known.itertuples()]
    counts = {
        "as expected": sides.count(Verdict.BELOW),
        "opposite": sides.count(Verdict.ABOVE),
        "inconclusive": sides.count(Verdict.INCONCLUSIVE),
    }
    if len(known) == 1:
        row: Any = next(known.itertuples())
        fitted = SimpleNamespace(mean=row.contrast, hpdi_low=row.hpdi_low, hpdi_high=row.hpdi_high)
        (name,) = (name for name, n in counts.items() if n)
        return [f"For new words: {name}, difference {estimate(fitted)}."]
    return [f"For new words: {', '.join(f'{n} {name}' for name, n in counts.items() if n)}."]


def _warnings(result: SeatResult) -> list[str]:
    frame = result.frame
    level = level_text(result.alpha)
    over_sentences = (frame["level"] == "sentence") & (frame["p_holm"] <= result.alpha)
    unsure = {
        f"{{}}: significant at {level} over sentences, but not over words. Report p_words: sentences "
        "with the same word are not independent.": over_sentences
        & (frame["p_words_holm"] > result.alpha)
    }
    if "contrast" in frame:
        unsure["Not converged: {}. Raise --draws."] = frame["contrast"].notna() & ~_converged(frame)
        unsure[
            "Posterior predictive check failed: {}. The model does not reproduce the distribution "
            "of these distances. Report it."
        ] = frame["misfit"] > MISFIT
    encoders = list(map(encoder_label, frame["model"], frame["options"]))
    several = len(set(encoders)) > 1
    names = frame["test"] + ([f" on {name}" for name in encoders] if several else "")
    out = [said.format(listing(names[which])) for said, which in unsure.items() if which.any()]
    tested = result.frame.merge(result.dropped.groupby(KEY).size().rename("lost"), on=KEY)
    kept = tested[["num_targ1", "num_targ2", "num_attr1", "num_attr2"]].sum(axis=1)
    half = by_encoder(tested[tested["lost"] > kept])
    for name, rows in half.items():
        out.append(f"{name} lacks more than half of the examples of {listing(rows['test'])}.")
    if len(result.failures):
        reason = result.failures["reason"].iloc[0]
        out.append(f"{number_of(len(result.failures), 'test')} could not be run: {reason}")
    return out


def _converged(rows: pd.DataFrame) -> pd.Series:
    return rows["converged"].fillna(False).astype(bool)
