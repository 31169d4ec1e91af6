"""Samples of lm-evaluation-harness: ``samples_TASK_DATE.jsonl``, as ``--log_samples`` writes them, a line a question.

The model is the name of the folder that the harness writes for it. Fields of the question are columns
by their own name (``--columns group=gender``), and so is each metric. A task with several filters has
a line for each filter of an answer, of which one is taken.
"""

import re
from collections.abc import Collection
from pathlib import Path

import pandas as pd

from bayesbias.core import InputError
from bayesbias.studies.responses.readers import crows_pairs

METRICS = ("outcome", "acc", "exact_match", "pct_stereotype", "acc_norm", "likelihood_diff")
FILTER = "filter"  # the column, and what chooses one
_NO_FILTER = "none"  # what the harness calls answers as they are


def recognizes(rows: pd.DataFrame) -> bool:
    """Say whether lines hold a question and its answers."""
    return "doc_id" in rows.columns and "filtered_resps" in rows.columns


def filter_of(rows: pd.DataFrame, path: Path, wanted: str | None, taken: Collection[str]) -> str:
    """Return the filter whose scores are taken: the wanted one, or one that other files are read with.

    Else it is ``none``, or the first in the file. It is an empty text where lines name no filter.
    """
    filters = list(rows[FILTER].dropna().astype(str).unique()) if FILTER in rows else []
    if wanted is not None and wanted not in filters:
        problem = f"expected samples with the filter {wanted!r}, got none"
        raise InputError(problem, where=str(path), valid=filters)
    preferred = [wanted] if wanted is not None else [*taken, _NO_FILTER, *filters]
    return next((name for name in preferred if name in filters), "")


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
    scored = [name for name in METRICS if name in rows and rows[name].notna().any()]
    usual |= {"outcome": rows[scored[0]]} if scored else {}
    out = rows.assign(**{name: own for name, own in usual.items() if name not in rows})
    out.attrs["metrics"] = scored
    return out
