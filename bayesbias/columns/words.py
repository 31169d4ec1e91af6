"""The tables of a fit to words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bayesbias.columns.table import Column, contrast, count, interval, number, probability, text
from bayesbias.inference.verdicts import contrast_verdict

MEASURES_SAID = {
    "word": "associated - different of a word",
    "class": "associated - different of a class",
    "stereotype": "own class - other classes, on a list",
    "weat": "WEAT of two classes",
    "mac": "MAC of a class",
}
"""What is measured, by the measures of `BiasFit.reliability`."""

COEFFICIENTS_SAID = {
    "relative": "others, by the same attributes",
    "absolute": "others",
    "against_zero": "zero",
}
"""What a score is held against, by the coefficients of `BiasFit.reliability`."""

_HOLDS_FOR = {"population": "new words", "these_words": "these words"}


def holds_for(estimand: str, within: bool) -> str:
    """Name what an estimand holds for; ``within`` a word it is new attributes."""
    return "new attributes" if within and estimand == "population" else _HOLDS_FOR[estimand]


def holding(within: bool) -> Column:
    """Return the column of what an estimand holds for; the terminal has it in the title of the table."""
    return text("holds for", lambda row: holds_for(row.estimand, within)).on_the_page_only()


def hpdi(
    prob: float, low: str = "hpdi_low", high: str = "hpdi_high", *, signed: bool = False, of: str = ""
) -> Column:
    """Return the column of the interval."""
    return interval(f"{of}{prob:.0%} HPDI", low, high, signed=signed)


def summary_columns(prob: float) -> list[Column]:
    """Return the columns of mean distances per connection."""
    return [
        text("connection", "connection"),
        holding(False),
        number("mean", "mean"),
        number("sd", "sd"),
        hpdi(prob),
        count("pairs", "n_pairs"),
    ]


def contrast_columns(prob: float, level: str = "") -> list[Column]:
    """Return the columns of differences between connections: overall, or of each class or word."""
    return [
        *([text(level, "name")] if level else []),
        contrast("difference", "contrast", screen="contrast"),
        holding(bool(level)),
        number("mean", "mean", signed=True),
        number("sd", "sd").on_the_screen_only(),
        hpdi(prob, signed=True),
        probability("P(below 0)", "p_below_zero", screen="P(<0)"),
        probability("P(in ROPE)", "p_in_rope", screen="in ROPE"),
        _verdict(lambda row: row.rope),
    ]


def model_columns(prob: float, within: bool = False) -> list[Column]:
    """Return the columns of one contrast under several models: overall, with LOO, or of each class."""
    about = [
        number("LOO, less than the best", "elpd_diff", 1, signed=True, screen="LOO diff."),
        number("standard error", "se_diff", 1, screen="se"),
        text("sampler", lambda row: "converged" if row.converged else "NOT CONVERGED"),
    ]
    return [
        *([text("class", "name")] if within else []),
        text("model", "model"),
        number("mean", "mean", signed=True),
        hpdi(prob, signed=True),
        *([text("over", lambda row: f"{row.words} words")] if within else about),
    ]


def standard_columns(prob: float, rope: float, units: int, level: str = "") -> list[Column]:
    """Return the columns of differences in standard deviations; with several units also that of each."""
    return [
        *([text(level, "name")] if level else []),
        contrast("difference", "contrast", screen="contrast"),
        holding(bool(level)),
        number("standard deviations", "mean", 2, signed=True, screen="in sds"),
        *([text("unit", "unit")] if units > 1 else []),
        hpdi(prob, signed=True),
        probability(f"P(in ±{rope:g})", "p_in_rope", screen=f"in ±{rope:g}"),
        probability("superiority", "superiority"),
        interval(f"superiority, {prob:.0%} HPDI", "superiority_low", "superiority_high").on_the_page_only(),
        _verdict(lambda row: row.rope),
    ]


def class_columns(prob: float) -> list[Column]:
    """Return the columns of one difference in each class, on the terminal, which names the difference in the title."""
    return [column for column in contrast_columns(prob, "class") if column.heading != "difference"]


def word_columns(prob: float, rope: float, name: str, class_of: dict[str, str]) -> list[Column]:
    """Return the columns of one difference for each protected word."""
    return [
        text("protected word", "name"),
        text("class", lambda row: class_of[str(row.name)]),
        number(name, "mean", signed=True),
        hpdi(prob, signed=True),
        probability("P(below 0)", "p_below_zero"),
        _verdict(lambda row: rope),
    ]


def mean_columns(prob: float) -> list[Column]:
    """Return the columns of the mean distance of each protected word."""
    return [
        text("protected word", "protected_word"),
        text("class", "protected_class"),
        text("connection", "connection"),
        number("mean", "mean"),
        number("sd", "sd"),
        hpdi(prob),
    ]


def parameter_columns(prob: float) -> list[Column]:
    """Return the columns of a model's parameters, with effective draws and R-hat."""
    return [
        text("parameter", "name"),
        text("of", "index"),
        number("mean", "mean"),
        number("sd", "sd"),
        hpdi(prob),
        count("effective draws", "ess_bulk"),
        number("R-hat", "r_hat"),
    ]


def reliability_columns(prob: float) -> list[Column]:
    """Return the columns of coefficients of reliability."""
    return [
        contrast("score", lambda row: MEASURES_SAID[row.measure]),
        number("words a class", "words", 1),
        number("attributes a list", "attributes", 1),
        text("held against", lambda row: COEFFICIENTS_SAID[row.coefficient]),
        number("coefficient", "mean"),
        hpdi(prob),
    ]


def _verdict(rope: Callable[[Any], float]) -> Column:
    return text(
        "the first is", lambda row: contrast_verdict(row.hpdi_low, row.hpdi_high, rope(row))
    ).on_the_page_only()
