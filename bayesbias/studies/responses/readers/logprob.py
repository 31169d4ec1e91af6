"""Log probabilities of a sentence in the form of each group: columns ``sentid`` and ``GROUP_score``, as for Winogender."""

from pathlib import Path

import pandas as pd


def recognizes(rows: pd.DataFrame) -> bool:
    """Say whether a table has a sentence id and two or more columns of scores."""
    return "sentid" in rows.columns and len(_scores(rows)) > 1


def _scores(rows: pd.DataFrame) -> list[str]:
    return [str(name) for name in rows.columns if str(name).endswith("_score")]


def read(rows: pd.DataFrame, path: Path) -> pd.DataFrame:
    """Return a row a sentence and group; of an id ``occupation.participant.variant`` the occupation is the item."""
    parts = rows["sentid"].astype(str).str.split(".", n=1, expand=True).reindex(columns=[0, 1])
    rest = parts[1].fillna("").str.replace(r"^(?!someone)[^.]+", "participant", regex=True)
    frame = rows.assign(item=parts[0], template=rest, model=rows.get("model", ""))
    if frame.drop_duplicates("sentid").duplicated(["item", "template"]).any():
        frame["template"] = parts[1].fillna("")
    long = frame.melt(["item", "template", "model"], _scores(rows), "group", "outcome")
    long["group"] = long["group"].str.removesuffix("_score")
    long.attrs["outcome"] = "log probability"
    return long
