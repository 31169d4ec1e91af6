"""The long table of FMAT (Bao 2024): a row a query, word of the mask, target and attribute, with its probability.

Groups are the names of the mask (``MASK``), words its words (``M_word``), templates the queries. Items are
targets and attributes. The outcome is the log probability.
"""

from pathlib import Path

import numpy as np
import pandas as pd


def recognizes(rows: pd.DataFrame) -> bool:
    """Say whether a table has the columns of FMAT."""
    return {"query", "MASK", "M_word", "prob"} <= set(rows.columns)


def read(rows: pd.DataFrame, path: Path) -> pd.DataFrame:
    """Return the rows with our names; words of a mask that come in pairs (``M_pair``) are one word."""
    items = [rows[name].astype(str) for name in ("T_word", "A_word") if name in rows]
    item = items[0].str.cat(items[1:], sep=" ").str.strip() if items else ""
    prob = pd.to_numeric(rows["prob"], errors="coerce")
    out = rows.assign(item=item, model=rows.get("model", ""), outcome=np.log(prob.where(prob > 0)))
    out.attrs["outcome"] = "log probability"
    return out.rename(columns={"MASK": "group", "M_word": "word", "query": "template"})
