"""Tables to be drawn, and what stands on Axes."""

from __future__ import annotations

from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd

mpl.use("Agg")
from matplotlib.text import Text

from bayesbias.inference.posterior import BiasFit
from bayesbias.plots.plates import Plate
from bayesbias.plots.words import plates


def simulated(words: dict[str, list[str]], attributes: int = 4, seed: int = 0) -> pd.DataFrame:
    """Pairs of the words of each class with attributes of each class and two controls."""
    rng = np.random.default_rng(seed)
    mean = {"associated": 0.8, "different": 0.9, "human": 0.95, "neutral": 1.0}
    listed = [(f"{name} {i}", name) for name in [*words, "human", "neutral"] for i in range(attributes)]
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


def sixty() -> pd.DataFrame:
    return simulated({f"class {c}": [f"word {c}{i}" for i in range(12)] for c in "ABCDE"})


def drawn(ax: Any, label: str) -> list[Any]:
    return [line for line in ax.lines if str(line.get_label()) == label]


def plate(fit: BiasFit, name: str, **settings: Any) -> Plate:
    """Return one of the figures of a fit."""
    return next(plate for plate in plates(fit, **settings) if plate.name == name)


def heads_of(ax: Any) -> list[Any]:
    """Headings of classes inside the Axes."""
    return [t for t in ax.texts if t.get_fontweight() == "bold" and t.get_bbox_patch() is not None]


def row_of(ax: Any) -> dict[str, float]:
    return dict(zip([t.get_text() for t in ax.get_yticklabels()], ax.get_yticks(), strict=True))


def title_of(ax: Any) -> Any:
    return next(
        t for t in ax.get_children() if isinstance(t, Text) and t.get_text() == ax.get_title(loc="left")
    )
