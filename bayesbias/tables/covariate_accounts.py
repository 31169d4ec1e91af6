"""What is said of a covariate that was joined: where it is from, and how much of it lies between classes."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.core.formatting import closest, some

if TYPE_CHECKING:
    import pandas as pd

    from bayesbias.tables.reading_covariates import Given, Value

_LEAST_LETTERS = 5
_MOST_NOTED, _MOST_HELD_AGAINST = 10, 500  # rows of covariates that may be meant otherwise


def joined_once_more(covariates: Mapping[str, Any], earlier: Mapping[str, Any]) -> dict[str, Any]:
    """Return the account of a covariate that was joined before: where it is from, and what both times did to its numbers."""
    where = {key: earlier[key] for key in ("of", "source", "sha256", "unit") if key in earlier}
    out = {key: value for key, value in covariates.items() if key != "unit"} | where
    if {covariates["kind"], earlier.get("kind")} == {"number"}:
        by = float(earlier["scale"])
        out |= {key: float(earlier["center"]) + by * covariates[key] for key in ("center", "least", "most")}
        out["scale"] = by * covariates["scale"]
    return out


def share_between_classes(frame: pd.DataFrame, word: str, label: str, values: Mapping[str, float]) -> float:
    """Return the share of a covariate's variance over words that lies between their classes; 0 for one class.

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


def values_of(given: Given, words: list[str]) -> dict[str, Value]:
    """Return the value of each word that has one, by its spelling, or by a looser one that only one word has."""
    loose: dict[str, set[Value]] = {}
    for word, value in given.values.items():
        loose.setdefault(_loosely(word), set()).add(value)
    out: dict[str, Value] = {}
    for word in words:
        if word in given.values:
            out[word] = given.values[word]
        elif len(near := loose.get(_loosely(word), set())) == 1:
            out[word] = next(iter(near))
    return out


def otherwise_spelt(given: Given, words: Collection[str]) -> list[str]:
    """Say which rows of the covariates may be meant for words of the table, and are not taken for them."""
    notes = []
    near: dict[str, list[str]] = {}
    for word in given.values:
        if word not in words:
            near.setdefault(_loosely(word), []).append(word)
    for word in words:
        others = [w for w in near.get(_loosely(word), []) if given.values[w] != given.values.get(word)]
        if word in given.values and others:
            notes.append(
                f"{given.name} of {word} is that of its own spelling ({_shown(given.values[word])}), "
                f"not that of {others[0]} ({_shown(given.values[others[0]])})"
            )
        elif len({given.values[w] for w in others}) > 1:
            notes.append(
                f"{word} has no {given.name}, since {some(others)} have several; a row for {word} would say which"
            )
    unknown = [w for own in near.values() for w in own][:_MOST_HELD_AGAINST]
    for word in words:
        if word in given.values or word in given.without or _loosely(word) in near or not unknown:
            continue
        meant = closest(word, unknown)
        if meant is not None and _is_slip(word, meant):
            notes.append(f"{word} has no {given.name}; may the row of {meant!r} be meant for it?")
    return notes[:_MOST_NOTED]


def _is_slip(word: str, other: str) -> bool:
    """Say whether two words differ by a slip: one letter more, less, another or two exchanged, of five letters or more."""
    a, b = _loosely(word), _loosely(other)
    if min(len(a), len(b)) < _LEAST_LETTERS or abs(len(a) - len(b)) > 1:
        return False
    begin = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    a, b = a[begin:], b[begin:]
    return a[1:] == b[1:] or a[1:] == b or a == b[1:] or (a[:2] == b[1::-1] and a[2:] == b[2:])


def _shown(value: Value) -> str:
    return value if isinstance(value, str) else f"{value:g}"


def _loosely(word: str) -> str:
    return re.sub(r"[ _-]+", " ", word).casefold().strip()
