"""Samples of lm-evaluation-harness: ``samples_TASK_DATE.jsonl``, as ``--log_samples`` writes them, a line a question.

The model is the name of the folder that the harness writes for it. Fields of the question are columns
by their own name (``--columns group=gender``), and so is each metric.
"""

import re
from pathlib import Path

import pandas as pd

from bayesbias.studies.responses.readers import crows_pairs

METRICS = ("outcome", "acc", "exact_match", "pct_stereotype", "acc_norm", "likelihood_diff")


def recognizes(rows: pd.DataFrame) -> bool:
    """Say whether lines hold a question and its answers."""
    return "doc_id" in rows.columns and "filtered_resps" in rows.columns


def read(rows: pd.DataFrame, path: Path) -> pd.DataFrame:
    """Return a row a question; of CrowS-Pairs a row a sentence, with its log likelihood."""
    rows = rows.rename(columns=lambda name: str(name).removeprefix("doc."))
    rows = rows.loc[:, ~rows.columns.duplicated()]
    model = path.parent.name
    task = re.sub(r"_\d{4}-\d\d-\d\dT.*$", "", path.stem.removeprefix("samples_"))
    if {"sent_more", "sent_less"} <= set(rows.columns):
        scores = [[float(one[0]) for one in answers] for answers in rows["filtered_resps"]]
        more, less = zip(*scores, strict=True)
        pairs = rows.assign(logp_more=more, logp_less=less, model=model)
        return crows_pairs.read(pairs, path)
    usual = {"item": rows["doc_id"].astype(str), "template": task, "model": model}
    metrics = [rows[name] for name in METRICS if name in rows]
    usual |= {"outcome": metrics[0]} if metrics else {}
    return rows.assign(**{name: own for name, own in usual.items() if name not in rows})
