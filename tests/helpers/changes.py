"""Tables before and after a treatment, and comparisons of them with made-up draws."""

from __future__ import annotations

import functools

import numpy as np
import pandas as pd

from bayesbias.studies.debiasing.comparison import Comparison
from bayesbias.tables.reading import as_pair_table
from helpers.draws import made_up_comparison


def table(seed: int = 0, words: int = 4, attributes: int = 6) -> pd.DataFrame:
    """Distances of two classes of words to stereotypes and controls, with an effect of each attribute."""
    rng = np.random.default_rng(seed)
    mean = {"associated": 0.8, "different": 0.9, "human": 0.95, "neutral": 1.0}
    listed = [
        (f"{kind}{i}", kind) for kind in ("x", "y", "human", "neutral") for i in range(attributes)
    ]
    effect = rng.normal(0, 0.08, len(listed))
    rows = []
    for own in ("x", "y"):
        for w in range(words):
            for (attribute, kind), shift in zip(listed, effect, strict=True):
                control = kind in ("human", "neutral")
                connection = kind if control else "associated" if kind == own else "different"
                distance = np.clip(mean[connection] + shift + rng.normal(0, 0.05), 0, 2)
                rows.append((f"{own}-word{w}", own, attribute, kind, connection, distance))
    columns = [
        "protected_word",
        "protected_class",
        "attribute",
        "attribute_class",
        "connection",
        "distance",
    ]
    return pd.DataFrame(rows, columns=columns)


def changed(before: pd.DataFrame, shift: dict[str, float], seed: int) -> pd.DataFrame:
    """Move distances by a number per connection, with effects of words and attributes around it."""
    rng = np.random.default_rng(seed)
    out = before.copy()
    cell = before["protected_word"] + before["connection"]
    word = {name: rng.normal(0, 0.02) for name in cell.unique()}
    attribute = {name: rng.normal(0, 0.02) for name in before["attribute"].unique()}
    out["distance"] += (
        before["connection"].map(shift).astype(float)
        + cell.map(word)
        + before["attribute"].map(attribute)
        + rng.normal(0, 0.03, len(before))
    )
    return out


NONE = dict.fromkeys(("associated", "different", "human", "neutral"), 0.0)


def noisy(before: pd.DataFrame, share: float, seed: int = 9) -> pd.DataFrame:
    """Replace a share of what tells distances apart by noise of the same spread; no gap is left where all is."""
    rng = np.random.default_rng(seed)
    middle, sd = before["distance"].mean(), before["distance"].std()
    mixed = (1 - share) * (before["distance"] - middle) + share * rng.normal(0, sd, len(before))
    return before.assign(distance=middle + mixed)


@functools.cache
def destroyed_comparison() -> Comparison:
    """Compare noise, half noise, a copy, and vectors of which a little was treated."""
    before = table(attributes=20)
    kept = changed(before, {**NONE, "associated": 0.03}, 2)
    methods = {
        "noise": noisy(before, 1),
        "kept": kept,
        "mostly noise": noisy(before, 0.5),
        "copy": before,
    }
    return made_up_comparison(
        as_pair_table(before), {k: as_pair_table(v) for k, v in methods.items()}, draws=3000
    )
