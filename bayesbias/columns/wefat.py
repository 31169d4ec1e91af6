"""The tables of a single-category test."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from bayesbias.columns.table import Cell, Column, interval, known_cell, known_interval_cell, number, text
from bayesbias.core.wording import as_percent, digits_of

if TYPE_CHECKING:
    from bayesbias.studies.wefat import WefatResult

_DIGITS = 3


def target_columns(covariate: str, prob: float) -> list[Column]:
    """Return the columns of targets: the covariate, the published score, the association, and what it is from the line."""
    return [
        text("target", "target"),
        Column(covariate, lambda row: Cell(f"{row.covariate:.4g}", True, repr(float(row.covariate))), True),
        number("published score", "score", 2, signed=True, screen="score"),
        number("association", "association", signed=True),
        interval(f"{as_percent(prob)} HPDI", signed=True),
        number("off the line by", "deviation", signed=True),
        interval(
            f"off the line, {as_percent(prob)} HPDI",
            "deviation_low",
            "deviation_high",
            signed=True,
            screen=f"its {as_percent(prob)} HPDI",
        ),
        # One interval for each of many targets: some exclude zero by chance.
        text("interval excludes 0", lambda row: "yes" if row.off_line else ""),
    ]


def quantity_columns(prob: float) -> list[Column]:
    """Return the columns of what the test estimates, for the rows of `quantities`."""
    return [
        text("what", "what"),
        Column("mean", lambda row: known_cell(row, "mean", row["digits"], signed=True), True),
        Column("sd", lambda row: known_cell(row, "sd", row["digits"], missing="none"), True),
        Column(
            f"{as_percent(prob)} interval",
            lambda row: (
                Cell("", True)
                if row["low"] is None
                else known_interval_cell(row, "low", "high", signed=True, digits=row["digits"])
            ),
            True,
        ),
        text("of", "of").on_the_page_only(),
    ]


def quantities(result: WefatResult) -> list[dict[str, Any]]:
    """Return the correlations, published and true, and the slopes, one a row."""
    known, first = result.published, result.sets[0]
    rows: list[dict[str, Any]] = [
        {
            "what": "r of average scores",
            "mean": known.r,
            "sd": None,
            "low": known.r_low,
            "high": known.r_high,
            "digits": _DIGITS,
            "of": "the published score; Fisher's z, scores taken for exact",
        }
    ]
    if not math.isnan(known.r_undivided):
        rows.append(
            {
                "what": "r of these, not divided",
                "mean": known.r_undivided,
                "sd": None,
                "low": None,
                "high": None,
                "digits": _DIGITS,
                "of": "the same averages, in cosine: not divided by each target's standard deviation",
            }
        )
    for what, of, which in (
        ("r of true associations", "new words and targets like these", result.true_correlation),
        (
            f"slope, one sd of {known.covariate}",
            f"cosine towards {first}; new words like these",
            result.slope,
        ),
        (
            f"slope, one unit of {known.covariate}",
            f"cosine towards {first}; new words like these",
            result.slope_per_unit,
        ),
    ):
        rows.append(
            {
                "what": what,
                "mean": which.mean,
                "sd": which.sd,
                "low": which.hpdi_low,
                "high": which.hpdi_high,
                "digits": digits_of(which.sd),
                "of": of,
                **{name: getattr(which, name) for name in ("mcse_mean", "mcse_sd", "mcse_low", "mcse_high")},
            }
        )
    return rows
