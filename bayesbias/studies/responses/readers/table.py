"""Any table with a row an answer: its columns are named by the user, or called what they usually are."""

from pathlib import Path

import pandas as pd


def recognizes(rows: pd.DataFrame) -> bool:
    """Say yes: every other table is read by this reader."""
    return True


def read(rows: pd.DataFrame, path: Path) -> pd.DataFrame:
    """Return the rows as they are."""
    return rows
