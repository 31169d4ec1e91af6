"""What figures of a fit ask of it: that it is one, its columns, its source.

Also how an outcome and an estimand are called on an axis, and the line where a cosine distance says "no similarity".
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from bayesbias.core.errors import InputError
from bayesbias.inference.posterior import BiasFit
from bayesbias.inference.scope import holds_for, words_scatter
from bayesbias.models.spec import ModelSpec
from bayesbias.plots.marks import line_handle
from bayesbias.plots.style import INK, pt

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

OUTCOME = {"distance": "cosine distance (0 = same direction, 1 = unrelated, 2 = opposite)"}
ESTIMAND = {"population": "population: new words like these", "listed_words": "these words only"}
ESTIMAND_OF_CHANGE = {**ESTIMAND, "population": "population: new words treated likewise"}


def estimand_said(spec: ModelSpec, level: str, estimand: str) -> str:
    """Say in a legend what an estimand holds for at a level of a model."""
    if level == "overall" and estimand == "population" and not words_scatter(spec):
        return f"population: {holds_for(spec)}"
    if level == "overall" or estimand != "population":
        return ESTIMAND.get(estimand, holds_for(spec, level, estimand))
    return f"population: {holds_for(spec, level)}"


def padded(low: float, high: float, spec: ModelSpec) -> tuple[float, float]:
    """Widen a range for drawing; one of distances always holds 1, no similarity."""
    if spec.outcome == "distance":
        low, high = min(low, 1.0), max(high, 1.0)
    return around(low, high)


def around(low: float, high: float) -> tuple[float, float]:
    """Widen a range by a margin."""
    pad = 0.03 * (high - low) or 0.1
    return low - pad, high + pad


def mark_one(ax: Axes, spec: ModelSpec) -> None:
    """Draw the line at distance 1, no similarity, where the outcome is a distance."""
    if spec.outcome == "distance":
        ax.axvline(1, color=INK, linewidth=pt(0.8), linestyle=(0, (1, 1.5)), zorder=1, label="_no similarity")


def one_handle(spec: ModelSpec) -> list[Any]:
    """Return the legend entry of that line, in a list that is empty for other outcomes."""
    return (
        [line_handle(INK, "1 = no similarity", width=0.8, style=(0, (1, 1.5)))]
        if spec.outcome == "distance"
        else []
    )


def outcome_label(spec: ModelSpec) -> str:
    """Name the outcome of a model as its axis does."""
    return OUTCOME.get(spec.outcome, spec.outcome.replace("_", " "))


def need_fit(fit: object) -> None:
    """Refuse what is not a fit."""
    if not isinstance(fit, BiasFit):
        raise InputError(
            "the figure is drawn from a fit",
            found=type(fit).__name__,
            valid="a BiasFit",
            hint="what fit() or load_fit() returns",
        )


def need_columns(frame: pd.DataFrame, columns: Iterable[str], spec: ModelSpec) -> None:
    """Refuse a table without the columns that the figure draws."""
    for column in columns:
        if column not in frame.columns:
            raise InputError(
                "the figure needs a column that the table lacks",
                where=f"model {spec.name}",
                found=[str(c) for c in frame.columns],
                valid=column,
            )


def table_name_of(fit: BiasFit) -> str:
    """Return the name of the table that was fitted, as its provenance has it."""
    return str(fit.provenance.get("table", {}).get("name", "a table"))


def source_of(fit: BiasFit) -> str:
    """Say which model on which table, for the line below a figure."""
    return f"Model {fit.spec.name} on {table_name_of(fit)}"
