"""The long table of FMAT (Bao 2024): a row a query, word of the mask, target and attribute, with its probability.

Groups are the names of the mask (``MASK``), words its words (``M_word``), templates the queries. Items are
targets and attributes. The outcome is the log probability.
"""

import numpy as np
import pandas as pd

from bayesbias.studies.responses.readers.layout import Answers, Layout, Request, Source


def recognizes(source: Source) -> bool:
    """Say whether a table has the columns of FMAT."""
    return {"query", "MASK", "M_word", "prob"} <= source.columns


def read(source: Source, request: Request) -> Answers:
    """Return the rows with our names; words of a mask that come in pairs (``M_pair``) are one word."""
    rows = source.rows
    items = [rows[name].astype(str) for name in ("T_word", "A_word") if name in rows]
    item = items[0].str.cat(items[1:], sep=" ").str.strip() if items else ""
    prob = pd.to_numeric(rows["prob"], errors="coerce")
    out = rows.assign(item=item, model=rows.get("model", ""), outcome=np.log(prob.where(prob > 0)))
    out = out.rename(columns={"MASK": "group", "M_word": "word", "query": "template"})
    return Answers(out, outcome="log probability")


LAYOUT = Layout("fmat", recognizes, read)
