"""The tables of a fit to words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bayesbias.columns.table import (
    Cell,
    Column,
    contrast,
    count,
    interval,
    number,
    probability,
    share_cell,
    text,
)
from bayesbias.core.digits import error_of, shares_printed
from bayesbias.core.wording import as_percent
from bayesbias.inference.scope import holds_for, level_said, sure_ends
from bayesbias.inference.verdicts import contrast_verdict
from bayesbias.models.spec import RESULTS_OF_PAIRS, ModelSpec, Results

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


def holding(level: str = "overall", model: ModelSpec | Results = RESULTS_OF_PAIRS) -> Column:
    """Return the column of what an estimand holds for; the terminal has it in the title of the table."""
    return text("holds for", lambda row: holds_for(model, level, row.estimand)).on_the_page_only()


def hpdi(
    prob: float, low: str = "hpdi_low", high: str = "hpdi_high", *, signed: bool = False, of: str = ""
) -> Column:
    """Return the column of the interval."""
    return interval(f"{of}{as_percent(prob)} HPDI", low, high, signed=signed)


def summary_columns(prob: float, model: ModelSpec | Results = RESULTS_OF_PAIRS) -> list[Column]:
    """Return the columns of mean distances per connection."""
    return [
        text("connection", "connection"),
        holding(model=model),
        number("mean", "mean"),
        number("sd", "sd"),
        hpdi(prob),
        count("pairs", "n_pairs"),
    ]


def contrast_columns(
    prob: float, level: str = "", model: ModelSpec | Results = RESULTS_OF_PAIRS
) -> list[Column]:
    """Return the columns of differences between connections: overall, or of each class, list or word."""
    return [
        *([text(level_said(model, level), "name")] if level else []),
        contrast("difference", "contrast", screen="contrast"),
        holding(level or "overall", model),
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


def standard_columns(
    prob: float, rope: float, units: int, level: str = "", model: ModelSpec | Results = RESULTS_OF_PAIRS
) -> list[Column]:
    """Return the columns of differences in standard deviations; with several units also that of each."""
    return [
        *([text(level_said(model, level), "name")] if level else []),
        contrast("difference", "contrast", screen="contrast"),
        holding(level or "overall", model),
        number("standard deviations", "mean", 2, signed=True, screen="in sds"),
        *([text("unit", "unit")] if units > 1 else []),
        interval(f"{as_percent(prob)} HPDI", signed=True, digits=2),
        probability(f"P(in ±{rope:g})", "p_in_rope", screen=f"in ±{rope:g}"),
        probability("superiority", "superiority"),
        interval(
            f"superiority, {as_percent(prob)} HPDI", "superiority_low", "superiority_high"
        ).on_the_page_only(),
        _verdict(lambda row: row.rope),
    ]


def one_contrast_columns(
    prob: float, level: str, model: ModelSpec | Results = RESULTS_OF_PAIRS
) -> list[Column]:
    """Return the columns of one difference in each class or list, on the terminal, which names the difference in the title."""
    return [column for column in contrast_columns(prob, level, model) if column.heading != "difference"]


def side_columns(prob: float, named: bool = False) -> list[Column]:
    """Return the columns of a class beside its list of stereotypes, named or not; fields of the list end in ``_list``."""
    words, lists = "own stereotypes − others", "own words − others"
    return [
        text("class", "name"),
        number(words, "mean", signed=True),
        interval(f"{as_percent(prob)} HPDI", signed=True),
        text("own stereotypes are", lambda row: contrast_verdict(*sure_ends(row), row.rope)),
        *([text("its list", "name_list")] if named else []),
        number(lists, "mean_list", signed=True),
        interval(f"{as_percent(prob)} HPDI", "hpdi_low_list", "hpdi_high_list", signed=True),
        text("own words are", "verdict_list"),
    ]


def new_word_columns(prob: float) -> list[Column]:
    """Return the columns of what a single new word may show, overall and of each class."""
    return [
        text("a new word of", lambda row: "any class" if row.level == "overall" else row.name),
        contrast("difference", "contrast", screen="contrast"),
        number("expected", "mean", signed=True),
        interval(f"with {as_percent(prob)} probability", signed=True),
        probability("P(below 0)", "p_below_zero"),
        Column("of new words above 0", _share_above, True),
        Column("share, " + f"{as_percent(prob)} HPDI", _share_ends, True),
    ]


def _share_above(row: Any) -> Cell:
    """Write which share of new words lies above zero, whatever the row; `opposite` is of the side that the mean is not on."""
    return share_cell(row.opposite if row.mean < 0 else 1 - row.opposite, error=error_of(row, "opposite"))


def _share_ends(row: Any) -> Cell:
    error = error_of(row, "opposite_low", "opposite_high")
    ends = row.opposite_low, row.opposite_high
    low, high = ends if row.mean < 0 else (1 - ends[1], 1 - ends[0])
    return Cell(" to ".join(shares_printed([low, high], error)), True, repr(float(low)))


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
    return text("the first is", lambda row: contrast_verdict(*sure_ends(row), rope(row))).on_the_page_only()
