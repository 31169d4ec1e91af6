"""Log probabilities of a sentence in the form of each group: columns ``sentid`` and ``GROUP_score``, as for Winogender."""

from pathlib import Path

import pandas as pd


def recognizes(rows: pd.DataFrame) -> bool:
    """Say whether a table has a sentence id and two or more columns of scores."""
    return "sentid" in rows.columns and len(rows.filter(regex="_score$").columns) > 1


def read(rows: pd.DataFrame, path: Path) -> pd.DataFrame:
    """Return a row a sentence and group; of an id ``occupation.participant.variant`` the occupation is the item."""
    parts = rows["sentid"].astype(str).str.split(".", n=1, expand=True).reindex(columns=[0, 1])
    rest = parts[1].fillna("").str.replace(r"^(?!someone)[^.]+", "participant", regex=True)
    frame = rows.assign(item=parts[0], template=rest, model=rows.get("model", ""))
    if frame.drop_duplicates("sentid").duplicated(["item", "template"]).any():
        frame["template"] = parts[1].fillna("")
    scores = rows.filter(regex="_score$").columns
    long = frame.melt(["item", "template", "model"], scores, "group", "outcome")
    long["group"] = long["group"].str.removesuffix("_score")
    long.attrs["outcome"] = "log probability"
    return long
