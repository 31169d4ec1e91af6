"""What sentence tests say."""

import pandas as pd

from bayesbias.core.sections import Interpretation
from bayesbias.inference.view import Verdict, View, side, sure_ends
from bayesbias.studies.common import listing, plural
from bayesbias.studies.sentences.result import KEY, SIGNIFICANT, SeatResult
from bayesbias.tables.sentences import encoder_label

BELOW_ALPHA = f"p < {SIGNIFICANT:g}"


def interpret_seat(result: SeatResult, view: View) -> Interpretation:
    """Say how many tests are significant, over sentences and over words."""
    groups = by_encoder(result.frame)
    return Interpretation(
        subject=f"sentence tests on {', '.join(groups)}",
        headline=" ".join(
            [
                *_once({name: _significant(rows) for name, rows in groups.items()}),
                *_once({name: _fitted(rows) for name, rows in groups.items()}),
            ]
        ),
        warnings=tuple(_warnings(result)),
        notes=tuple(_notes(result)),
    )


def by_encoder(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the rows of each encoder, by its label."""
    groups = frame.groupby(["model", "options"], sort=False)
    return {encoder_label(*key): rows for key, rows in groups}


def _once(said: dict[str, str]) -> list[str]:
    """Say what holds for all encoders once, and name the encoders of what does not."""
    texts = dict.fromkeys(filter(None, said.values()))
    if len(set(said.values())) == 1:
        return list(texts)
    return [f"{', '.join(n for n, x in said.items() if x == text)}: {text}" for text in texts]


def _significant(rows: pd.DataFrame) -> str:
    """Say of how many tests p is below 0.01."""
    n = int((rows["p_holm"] < SIGNIFICANT).sum())
    if len(rows) == 1:
        return f"{'Significant' if n else 'Inconclusive'} at {BELOW_ALPHA}."
    which = f"{n} of {plural(len(rows), 'test')} significant (Holm-corrected {BELOW_ALPHA})"
    return f"{which}, {len(rows) - n} inconclusive." if n < len(rows) else f"{which}."


def _fitted(rows: pd.DataFrame) -> str:
    """Say in how many tests the interval of the fitted difference excludes zero."""
    known = rows[rows["contrast"].notna() & _converged(rows)] if "contrast" in rows else rows[:0]
    if known.empty:
        return ""
    sides = [side(*sure_ends(row)) for row in known.itertuples()]
    counts = {
        "as expected": sides.count(Verdict.BELOW),
        "opposite": sides.count(Verdict.ABOVE),
        "inconclusive": sides.count(Verdict.INCONCLUSIVE),
    }
    return f"For new words: {', '.join(f'{n} {name}' for name, n in counts.items() if n)}."


def _warnings(result: SeatResult) -> list[str]:
    words: dict[str, str] = {}
    fits: dict[str, str] = {}
    for name, rows in by_encoder(result.frame).items():
        sure = (rows["level"] == "sentence") & (rows["p_upper"] < SIGNIFICANT)
        lost = rows.loc[sure & (rows["p_words"] >= SIGNIFICANT), "test"].tolist()
        words[name] = fits[name] = ""
        if lost:
            words[name] = (
                f"{listing(lost)}: {BELOW_ALPHA} over sentences, but not over words. Report "
                "p_words: sentences with the same word are not independent."
            )
        if "contrast" in rows:
            failed = rows.loc[rows["contrast"].notna() & ~_converged(rows), "test"].tolist()
            fits[name] = f"Not converged: {listing(failed)}. Raise --draws." if failed else ""
    out = [*_once(words), *_once(fits)]
    tested = result.frame.merge(result.dropped.groupby(KEY).size().rename("lost"), on=KEY)
    kept = tested[["num_targ1", "num_targ2", "num_attr1", "num_attr2"]].sum(axis=1)
    half = by_encoder(tested[tested["lost"] > kept])
    for name, rows in half.items():
        out.append(f"{name} lacks more than half of the examples of {listing(list(rows['test']))}.")
    if len(result.failures):
        reason = result.failures["reason"].iloc[0]
        out.append(f"{plural(len(result.failures), 'test')} could not be run: {reason}")
    return out


def _converged(rows: pd.DataFrame) -> pd.Series:
    return rows["converged"].fillna(False).astype(bool)


def _notes(result: SeatResult) -> list[str]:
    out = []
    for name, rows in by_encoder(result.dropped).items():
        words = list(dict.fromkeys(rows["word"]))
        out.append(f"{name} has no vector for {plural(len(words), 'word')}: {listing(words)}.")
    for note, rows in result.notes.groupby("note", sort=False):
        out.append(f"{listing(list(dict.fromkeys(rows['test'])))}: {note}.")
    return out
