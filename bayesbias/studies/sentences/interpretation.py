"""What sentence tests say."""

import pandas as pd

from bayesbias.core.sections import Interpretation
from bayesbias.inference.view import Verdict, View, sure_side
from bayesbias.studies.common import listing, p_text, plural
from bayesbias.studies.sentences.result import KEY, SeatResult
from bayesbias.tables.sentences import encoder_label

ALPHA = 0.01  # of the paper


def interpret_seat(result: SeatResult, view: View) -> Interpretation:
    """Say how many tests are significant, over sentences and over words."""
    by_encoder = result.frame.groupby(["model", "options"], sort=False)
    groups = [(encoder_label(*key), rows) for key, rows in by_encoder]
    several = len(groups) > 1
    said = [_significant(rows, f" on {name}" if several else "") for name, rows in groups]
    if "contrast" in result.frame:
        said += [_fitted(rows, f" on {name}" if several else "") for name, rows in groups]
    return Interpretation(
        subject=f"sentence tests on {', '.join(name for name, _ in groups)}",
        headline=" ".join(filter(None, said)),
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
    has = "has" if n == 1 else "have"
    return f"{n} of {plural(len(rows), 'test')}{on} {has} p < {ALPHA:g} (Holm-corrected)."


def _fitted(rows: pd.DataFrame, on: str) -> str:
    """Say in how many tests the interval of the fitted difference excludes zero."""
    known = rows[rows["contrast"].notna() & _converged(rows)]
    if known.empty:
        return ""
    sides = [sure_side(row) for row in known.itertuples()]
    above, close = sides.count(Verdict.ABOVE), sides.count(None)
    parts = [
        f"below 0 (as the test supposes) in {sides.count(Verdict.BELOW)}",
        *([f"above 0 in {above}"] if above else []),
        f"inconclusive in {sides.count(Verdict.INCONCLUSIVE)}",
        *([f"too close to call in {close} (raise --draws)"] if close else []),
    ]
    return f"Fitted difference{on}: {', '.join(parts)}, of {plural(len(known), 'test')}."


def _warnings(
    result: SeatResult, groups: list[tuple[str, pd.DataFrame]], several: bool
) -> list[str]:
    out = []
    for name, rows in groups:
        on = f"{name}: " if several else ""
        known = (rows["level"] == "sentence") & rows["p_words"].notna()
        sentences = rows[known & (rows["p_upper"] < ALPHA)]
        lost = int((sentences["p_words"] >= ALPHA).sum())
        if lost:
            of = f"{lost} of {plural(len(sentences), 'sentence test')}"
            out.append(
                f"{on}Significant over sentences (p < {ALPHA:g}), but not over words (p_words): "
                f"{of}. Sentences built from one word are not independent: report p_words."
            )
        if "converged" in rows:
            failed = rows.loc[rows["contrast"].notna() & ~_converged(rows), "test"].tolist()
            if failed:
                fits = f"{plural(len(failed), 'fit')} did not converge ({listing(failed)})"
                out.append(f"{on}{fits}: raise --draws.")
    lost_words = result.dropped.groupby(KEY).size().rename("lost")
    tested = result.frame.merge(lost_words, on=KEY)
    kept = tested[["num_targ1", "num_targ2", "num_attr1", "num_attr2"]].sum(axis=1)
    for row in tested[tested["lost"] > kept].itertuples():
        encoder = encoder_label(row.model, row.options)
        out.append(f"More than half of the examples of {row.test} are missing on {encoder}.")
    if len(result.failures):
        reason = result.failures["reason"].iloc[0]
        out.append(f"{plural(len(result.failures), 'test')} could not be run: {reason}")
    return out


def _converged(rows: pd.DataFrame) -> pd.Series:
    return rows["converged"].fillna(False).astype(bool)


def _notes(result: SeatResult, several: bool) -> list[str]:
    out = []
    for (model, options), rows in result.dropped.groupby(["model", "options"], sort=False):
        words = list(dict.fromkeys(rows["word"]))
        lost = f"{plural(len(words), 'word')}: {listing(words)}"
        out.append(f"{encoder_label(model, options)} has no vector for {lost}.")
    for row in result.notes.itertuples():
        on = f"{encoder_label(row.model, row.options)}, " if several else ""
        out.append(f"{on}{row.test}: {row.note}.")
    return out


def _related(result: SeatResult, several: bool) -> list[str]:
    """Say which tests of the same question disagree."""
    out = []
    for row in result.consistency(ALPHA).itertuples():
        faults = [] if row.same_sign else ["effects of opposite sign"]
        faults += [] if row.same_verdict else [f"p < {ALPHA:g} in some only"]
        if faults:
            on = f"{encoder_label(row.model, row.options)}: " if several else ""
            sizes = ", ".join(f"{size:.2f}" for size in row.effect_sizes)
            said = f"{'; '.join(faults)} (effect sizes {sizes})"
            out.append(f"{on}{', '.join(row.tests)} disagree: {said}.")
    return out
