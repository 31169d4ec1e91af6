"""What sentence tests say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from bayesbias.core.sections import Interpretation
from bayesbias.inference.view import Verdict, View, side, sure_ends
from bayesbias.studies.common import listing, p_text, plural

if TYPE_CHECKING:
    from bayesbias.studies.sentences.result import SeatResult

ALPHA = 0.01  # of the paper


def encoder_name(model: str, options: str) -> str:
    """Return the name of an encoder with the options that set it apart from others of its model."""
    return f"{model} ({options})" if options else model


def interpret_seat(result: SeatResult, view: View) -> Interpretation:
    """Say how many tests are significant, over sentences and over words, and what a reader of the table should know."""
    groups = [
        (encoder_name(*key), rows)
        for key, rows in result.frame.groupby(["model", "options"], sort=False)
    ]
    several = len(groups) > 1
    said = [_significant(rows, f" on {name}" if several else "") for name, rows in groups]
    if "contrast" in result.frame:
        said += [
            text
            for name, rows in groups
            if (text := _fitted(rows, f" on {name}" if several else ""))
        ]
    return Interpretation(
        subject=f"sentence tests on {', '.join(name for name, _ in groups)}",
        headline=" ".join(said) if said else "No test was run.",
        warnings=tuple(_warnings(result, groups, several)),
        notes=tuple(_notes(result, several)),
        details=tuple(_related(result, several)),
    )


def _significant(rows: pd.DataFrame, on: str) -> str:
    """Say of how many tests p is below 0.01, and of one test how large its effect is."""
    if len(rows) == 1:
        row = rows.iloc[0]
        p = "no p-value" if pd.isna(row["p_value"]) else p_text(row["p_value"])
        return f"{row['test']}{on}: effect size {row['effect_size']:+.2f}, {p}."
    n = int((rows["p_holm"] < ALPHA).sum())
    return f"{n} of {plural(len(rows), 'test')}{on} {'has' if n == 1 else 'have'} p < {ALPHA:g} (Holm-corrected)."


def _fitted(rows: pd.DataFrame, on: str) -> str:
    """Say in how many tests the interval of the fitted difference excludes zero."""
    known = rows[rows["contrast"].notna() & rows["converged"].fillna(False).astype(bool)]
    if known.empty:
        return ""
    sides = [side(*sure_ends(row)) for row in known.itertuples()]
    below, above = sides.count(Verdict.BELOW), sides.count(Verdict.ABOVE)
    open_ = len(sides) - below - above
    parts = [
        f"below 0 (as the test supposes) in {below}",
        *([f"above 0 in {above}"] if above else []),
    ]
    return f"Fitted difference{on}: {', '.join(parts)}, inconclusive in {open_}, of {plural(len(known), 'test')}."


def _warnings(
    result: SeatResult, groups: list[tuple[str, pd.DataFrame]], several: bool
) -> list[str]:
    out = []
    for name, rows in groups:
        on = f"{name}: " if several else ""
        sentences = rows[
            (rows["level"] == "sentence") & rows["p_words"].notna() & (rows["p_upper"] < ALPHA)
        ]
        lost = sentences[sentences["p_words"] >= ALPHA]
        if len(lost):
            of = (
                "The sentence test"
                if len(sentences) == 1
                else f"{len(lost)} of {len(sentences)} sentence tests"
            )
            out.append(
                f"{on}{of} with p < {ALPHA:g} {'is' if len(lost) == 1 else 'are'} not significant when words are permuted instead "
                "of sentences (p_words). Sentences built from one word are not independent: report p_words."
            )
        if "converged" in rows:
            failed = rows[rows["contrast"].notna() & ~rows["converged"].fillna(False).astype(bool)]
            if len(failed):
                out.append(
                    f"{on}{plural(len(failed), 'fit')} did not converge ({listing(list(failed['test']))}): raise --draws."
                )
    lost_words = result.dropped.groupby(["model", "options", "test"], sort=False).size()
    for (model, options, test), n in lost_words.items():
        row: Any = result.frame[
            (result.frame["model"] == model)
            & (result.frame["options"] == options)
            & (result.frame["test"] == test)
        ]
        if len(row) and n > row[["num_targ1", "num_targ2", "num_attr1", "num_attr2"]].iloc[0].sum():
            out.append(
                f"More than half of the examples of {test} are missing on {encoder_name(model, options)}."
            )
    if len(result.failures):
        reasons = result.failures["reason"].iloc[0]
        out.append(f"{plural(len(result.failures), 'test')} could not be run: {reasons}")
    return out


def _notes(result: SeatResult, several: bool) -> list[str]:
    out = []
    for (model, options), rows in result.dropped.groupby(["model", "options"], sort=False):
        words = list(dict.fromkeys(rows["word"]))
        out.append(
            f"{encoder_name(model, options)} has no vector for {plural(len(words), 'word')}: {listing(words)}."
        )
    for row in result.notes.itertuples():
        on = f"{encoder_name(row.model, row.options)}, " if several else ""
        out.append(f"{on}{row.test}: {row.note}.")
    return out


def _related(result: SeatResult, several: bool) -> list[str]:
    """Say which tests of the same question disagree."""
    out = []
    for row in result.consistency(ALPHA).itertuples():
        faults = [
            *([] if row.same_sign else ["effects of opposite sign"]),
            *([] if row.same_verdict else [f"p < {ALPHA:g} in some only"]),
        ]
        if faults:
            on = f"{encoder_name(row.model, row.options)}: " if several else ""
            sizes = ", ".join(f"{size:.2f}" for size in row.effect_sizes)
            out.append(
                f"{on}{', '.join(row.tests)} disagree: {'; '.join(faults)} (effect sizes {sizes})."
            )
    return out
