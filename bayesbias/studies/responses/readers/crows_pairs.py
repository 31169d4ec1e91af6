"""Pairs of sentences, one more stereotyped than the other: columns ``sent_more``, ``sent_less``, ``bias_type`` and two scores."""

import pandas as pd

from bayesbias.studies.responses.readers.layout import Answers, Layout, Request, Source

SCORES = ("logp_more", "sent_more_score", "score_more")
PAIRS = [(name, name.replace("more", "less")) for name in SCORES]
NAMES = (["sent_more", "sent_less"], ["id"], ["line"])  # the first that are there tell pairs apart
GROUPS = ("more stereotyped", "less stereotyped")
TYPES = [  # by their number, which some copies of CrowS-Pairs have
    "race-color", "socioeconomic", "gender", "disability", "nationality", "sexual-orientation",
    "physical-appearance", "religion", "age",
]  # fmt: skip


def recognizes(source: Source) -> bool:
    """Say whether a table has both sentences and both scores."""
    return any(set(pair) <= source.columns for pair in PAIRS)


def read(source: Source, request: Request) -> Answers:
    """Return two rows a pair."""
    return pairs_of(source.rows)


def pairs_of(rows: pd.DataFrame) -> Answers:
    """Return two rows a pair, told apart by its sentences; the type of bias is a category."""
    scores = next(pair for pair in PAIRS if set(pair) <= set(rows.columns))
    numbered = {str(number): name for number, name in enumerate(TYPES)}
    rows = rows.assign(line=range(1, len(rows) + 1))
    names = next(names for names in NAMES if {*names} <= {*rows.columns})
    labels = {
        "item": rows.get("bias_type", pd.Series("", rows.index)).astype(str).replace(numbered),
        "word": rows[names].astype(str).agg(" / ".join, axis=1),
        "model": rows.get("model", ""),
    }
    parts = [
        pd.DataFrame({**labels, "group": group, "outcome": rows[score]})
        for group, score in zip(GROUPS, scores, strict=True)
    ]
    out = pd.concat(parts, ignore_index=True)
    outcome = "log likelihood" if "logp_more" in rows else "score"
    return Answers(out, LAYOUT.name, outcome, "sentence pair", {"item": "bias type"})


LAYOUT = Layout("crows_pairs", recognizes, read, published="share")
