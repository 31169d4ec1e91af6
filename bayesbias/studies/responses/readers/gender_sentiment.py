"""Predictions of sentiment for sentences about women and men, in any layout of `bayesbias.load_predictions`."""

from pathlib import Path

import pandas as pd

from bayesbias.classifiers.top_label import positive_scores

NEEDED = {"noun_pair", "profession", "gender", "probability"}
SENTENCES = (800, 840)  # without and with control sentences


def recognizes(rows: pd.DataFrame) -> bool:
    """Say whether a table has the columns of the sentences, or is predictions alone, without a header."""
    first = pd.to_numeric(pd.Series(rows.columns, dtype=object), errors="coerce")
    alone = bool(first.notna().all()) and len(rows) + 1 in SENTENCES
    return set(rows.columns) >= NEEDED or alone


def read(rows: pd.DataFrame, path: Path) -> pd.DataFrame:
    """Return a row a sentence: pairs of nouns are words, and professions are items."""
    if set(rows.columns) >= NEEDED:
        frame = rows.assign(probability=positive_scores(rows, "probability", where=path)[0])
    else:
        from bayesbias.classifiers.predictions import load_predictions

        frame = load_predictions(path).frame
    if "control" in frame:
        frame = frame[frame["control"].astype(str).str.lower().ne("true")]
    names = {
        "noun_pair": "word", "profession": "item", "gender": "group", "probability": "outcome",
        "classifier" if "classifier" in frame else "model": "model",
    }  # fmt: skip
    out = frame.filter(list(names)).rename(columns=names)
    out.attrs |= {"outcome": "probability", "noun": "noun pair"}
    return out
