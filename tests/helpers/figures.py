"""Tables to be drawn, and what stands on Axes."""

from __future__ import annotations

from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd

mpl.use("Agg")


def simulated(words: dict[str, list[str]], attributes: int = 4, seed: int = 0) -> pd.DataFrame:
    """Pairs of the words of each class with attributes of each class and two controls."""
    rng = np.random.default_rng(seed)
    mean = {"associated": 0.8, "different": 0.9, "human": 0.95, "neutral": 1.0}
    listed = [
        (f"{name} {i}", name) for name in [*words, "human", "neutral"] for i in range(attributes)
    ]
    effect = rng.normal(0, 0.1, len(listed))
    rows = []
    for own, of_class in words.items():
        for word in of_class:
            for (attribute, other), shift in zip(listed, effect, strict=True):
                control = other in ("human", "neutral")
                connection = other if control else "associated" if other == own else "different"
                rows.append(
                    {
                        "protected_word": word,
                        "protected_class": own,
                        "attribute": attribute,
                        "attribute_class": other,
                        "attribute_kind": other if control else "stereotype",
                        "connection": connection,
                        "distance": mean[connection] + shift + rng.normal(0, 0.1),
                    }
                )
    return pd.DataFrame(rows)


def marks(ax: Any, label: str) -> list[float]:
    """Return the places along x of the marks with a label, or that begins with it."""
    lines = [line for line in ax.lines if str(line.get_label()).startswith(label)]
    return sorted(float(x) for line in lines for x in line.get_xdata())


def intervals(ax: Any) -> list[tuple[float, float]]:
    """Return the ends of all intervals."""
    drawn = [c for c in ax.collections if c.get_label() == "_interval"]
    return sorted((float(a[0]), float(b[0])) for c in drawn for a, b in c.get_segments())


def row_of(ax: Any) -> dict[str, float]:
    return dict(zip([t.get_text() for t in ax.get_yticklabels()], ax.get_yticks(), strict=True))
