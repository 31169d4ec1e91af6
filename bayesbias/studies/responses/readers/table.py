"""Any table with a row an answer: its columns are named by the user, or called what they usually are."""

from pathlib import Path

import pandas as pd

from bayesbias.studies.responses.table import usual_names


def recognizes(rows: pd.DataFrame) -> bool:
    """Say yes: every other table is read by this reader."""
    return True


def read(rows: pd.DataFrame, path: Path) -> pd.DataFrame:
    """Return the rows, with usual names of columns as ours where ours are missing."""
    out = rows.copy()
    for ours, theirs in usual_names(rows).items():
        if ours != "outcome":
            out[ours] = rows[theirs]
    return out
