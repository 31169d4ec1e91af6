"""What is said of a fact that was joined: where it is from, and how much of it lies between classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd


def joined_once_more(facts: Mapping[str, Any], earlier: Mapping[str, Any]) -> dict[str, Any]:
    """Return the account of a fact that was joined before: where it is from, and what both times did to its numbers."""
    where = {key: earlier[key] for key in ("of", "source", "sha256", "unit") if key in earlier}
    out = {key: value for key, value in facts.items() if key != "unit"} | where
    if {facts["kind"], earlier.get("kind")} == {"number"}:
        by = float(earlier["scale"])
        out |= {key: float(earlier["center"]) + by * facts[key] for key in ("center", "least", "most")}
        out["scale"] = by * facts["scale"]
    return out


def share_between_classes(frame: pd.DataFrame, word: str, label: str, values: Mapping[str, float]) -> float:
    """Return the share of a fact's variance over words that lies between their classes; 0 for one class.

    `word` and `label` are the columns of words and of their classes.
    """
    if label not in frame.columns:
        return 0.0
    classes = frame[[word, label]].drop_duplicates(word).astype(str)
    groups: dict[str, list[float]] = {}
    for own, name in classes.itertuples(index=False):
        if own in values:
            groups.setdefault(name, []).append(values[own])
    every = [value for group in groups.values() for value in group]
    if len(groups) < 2 or len(groups) == len(every):
        return 0.0
    mean = float(np.mean(every))
    most = max(abs(value - mean) for value in every)
    if not most:
        return 0.0
    within = sum((value - float(np.mean(group))) ** 2 for group in groups.values() for value in group)
    return 1.0 - within / sum((value - mean) ** 2 for value in every)
