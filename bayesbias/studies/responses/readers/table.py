"""Any table with a row an answer: its columns are named by the user, or called what they usually are."""

from pathlib import Path

import pandas as pd

NAMES = {
    "group": ("group", "gender", "race", "religion", "class"),
    "word": ("pair", "word", "name", "person", "noun", "noun_pair"),
    "template": ("template", "prompt", "frame"),
    "item": ("item", "profession", "occupation", "emotion"),
    "model": ("model", "classifier", "llm"),
    "repeat": ("repeat", "epoch", "sample", "run"),
}


def recognizes(rows: pd.DataFrame) -> bool:
    """Say yes: every other table is read by this reader."""
    return True


def read(rows: pd.DataFrame, path: Path) -> pd.DataFrame:
    """Return the rows, with usual names of columns as ours where ours are missing."""
    out = rows.copy()
    for ours, usual in NAMES.items():
        found = next((name for name in usual if name in rows.columns), None)
        if found is not None:
            out[ours] = rows[found]
    return out
