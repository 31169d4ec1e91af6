"""Fits in words: how many rows of which outcome, for a methods paragraph."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import pandas as pd

from bayesbias.core import number_of
from bayesbias.wordlists.wordlist import CONTROLS, SHARED

if TYPE_CHECKING:
    from bayesbias.inference.posterior import BiasFit

OUTCOMES = {  # and what a row of the table is
    "distance": ("cosine distance", "pairs"),
    "change": ("change in cosine distance", "pairs"),
    "difference": ("difference in sentiment (female minus male)", "sentence pairs"),
    "logit_difference": (
        "difference in log odds of positive sentiment (female minus male)",
        "sentence pairs",
    ),
}


def outcome_in_words(outcome: str) -> str:
    """Return an outcome as a sentence names it.

    Examples
    --------
    >>> outcome_in_words("distance"), outcome_in_words("reading_time")
    ('cosine distance', 'reading time')
    """
    return OUTCOMES.get(outcome, (outcome.replace("_", " "), "rows"))[0]


def outcomes_of_rows(fit: BiasFit) -> str:
    """Say what the rows of a fit are, such as ``the cosine distance of 165 pairs``."""
    table, spec = fit.table, fit.spec
    if template := spec.outcome_type.rows_words:
        trials = int(table[spec.trials].sum()) if spec.trials else len(table)
        return template.format(trials=trials, rows=len(table))
    _, noun = OUTCOMES.get(spec.outcome, ("", "rows"))
    return f"the {outcome_in_words(spec.outcome)} of {len(table):,} {noun}"


def units_of_rows(fit: BiasFit) -> str:
    """Count the units of the rows of a fit in brackets, such as ``(15 protected words)``."""
    table = fit.table
    sizes = {c: table[c].nunique() for c in fit.spec.units if c in table and c != "series"}
    if kinds := kinds_of(table):
        sizes = kinds | {c: k for c, k in sizes.items() if c not in ("protected_word", "attribute")}
    counts = [number_of(k, c.replace("_", " ")) for c, k in sizes.items() if 1 < k < len(table)]
    return f" ({', '.join(counts)})" if counts else ""


def rows_of_fits(fits: Mapping[str, BiasFit], name: str | None = None) -> str:
    """Say what was modeled, from the first of some fits, and of which table.

    The name of the word list in that of the table stands in quotes. See `Result.rows_in_words`.
    """
    first = next(iter(fits.values()))
    name = first.table_name if name is None else name
    for fit in fits.values():
        about = fit.provenance.get("table", {}).get("wordlist") or {}
        if listed := about.get("name"):
            if name.startswith(listed):
                name = f'"{listed}"{name.removeprefix(listed)}'
            break
    return f"{outcomes_of_rows(first)}{units_of_rows(first)} of {name}"


def kinds_of(table: pd.DataFrame) -> dict[str, int]:
    """Count the words of pairs: protected, stereotypes (or attributes of no class), controls."""
    if not {"protected_word", "attribute", "connection"} <= set(table.columns):
        return {}
    kinds = table.drop_duplicates("attribute")["connection"].astype(str)
    controls = int(kinds.isin(CONTROLS).sum())
    own = "attribute" if SHARED in set(kinds) else "stereotype"
    found = {own: len(kinds) - controls} | ({"control": controls} if controls else {})
    return {"protected word": table["protected_word"].nunique()} | found
