"""The tables of an analysis of sentiment."""

from __future__ import annotations

from collections.abc import Mapping

from bayesbias.columns.table import Column, contrast, count, interval, number, p_value, probability, text
from bayesbias.core.wording import as_percent
from bayesbias.studies.sentiment_fit import SENTIMENT_ESTIMANDS

_METHODS = {"pearson": "Pearson", "spearman": "Spearman"}


def test_columns(units: Mapping[str, str]) -> list[Column]:
    """Return the columns of paired t-tests, by what is taken as the unit."""
    return [
        text("classifier", "classifier").on_the_page_only(),
        text("one observation is", lambda row: units[row["unit"]]).on_the_page_only(),
        text("one observation is", lambda row: row["unit"].replace("_", " ")).on_the_screen_only(),
        count("n", "n"),
        number("female − male", "f_minus_m", 4, signed=True, screen="female - male"),
        number("t (male − female)", "t", 2, signed=True, screen="t (male - female)", missing="no test"),
        p_value("p", "p_value"),
        p_value("p, Bonferroni", "p_bonferroni").on_the_page_only(),
    ]


def contrast_columns(prob: float) -> list[Column]:
    """Return the columns of differences between classifiers."""
    return [
        contrast("difference of female − male", "contrast"),
        text("holds for", lambda row: SENTIMENT_ESTIMANDS[row.estimand]),
        number("mean", "mean", signed=True),
        interval(f"{as_percent(prob)} HPDI", signed=True),
        probability("P(below 0)", "p_below_zero"),
    ]


def control_columns() -> list[Column]:
    """Return the columns of sentences that name no profession."""
    return [
        text("classifier", "classifier"),
        count("pairs", "n"),
        number("male", "p_male"),
        number("female", "p_female"),
        number("female − male", "f_minus_m", signed=True),
        number("t (male − female)", "t", 2, signed=True, missing="no test"),
        p_value("p", "p_value"),
    ]


def earnings_columns(level: str) -> list[Column]:
    """Return the columns of correlations of sentiment with earnings."""
    return [
        text("classifier", "classifier"),
        text("correlation", lambda row: _METHODS[str(row.method)]),
        number("r", "r", 2, signed=True),
        interval(f"{level} interval", "low", "high", signed=True),
        p_value("p", "p_value"),
        count("professions", "n"),
    ]
