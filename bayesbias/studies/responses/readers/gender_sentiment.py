"""Predictions of sentiment for sentences about women and men, in any layout of `bayesbias.load_predictions`."""

import pandas as pd

from bayesbias.classifiers.top_label import positive_scores
from bayesbias.studies.responses.readers.layout import Answers, Layout, Request, Source

NEEDED = {"noun_pair", "profession", "gender", "probability"}
SENTENCES = (800, 840)  # without and with control sentences


def recognizes(source: Source) -> bool:
    """Say whether a table has the columns of the sentences, or is predictions alone, without a header."""
    first = pd.to_numeric(pd.Series(source.rows.columns, dtype=object), errors="coerce")
    alone = bool(first.notna().all()) and len(source.rows) + 1 in SENTENCES
    return source.columns >= NEEDED or alone


def read(source: Source, request: Request) -> Answers:
    """Return a row a sentence: pairs of nouns are words, and professions are items."""
    if source.columns >= NEEDED:
        probability, _ = positive_scores(source.rows, "probability", where=source.path)
        frame = source.rows.assign(probability=probability)
    else:
        from bayesbias.classifiers.predictions import load_predictions

        frame = load_predictions(source.path).frame
    if "control" in frame:
        frame = frame[frame["control"].astype(str).str.lower().ne("true")]
    names = {
        "noun_pair": "word", "profession": "item", "gender": "group", "probability": "outcome",
        "classifier" if "classifier" in frame else "model": "model",
    }  # fmt: skip
    out = frame.filter(list(names)).rename(columns=names)
    return Answers(out, outcome="probability", noun="noun pair")


LAYOUT = Layout("gender_sentiment", recognizes, read)
