"""What the tables of simulated tables are called, on the terminal; and the table of false alarms."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from bayesbias.columns.table import Cell, Column, count, interval_cell, number_cell
from bayesbias.core.digits import allowed
from bayesbias.simulation.accounting import standard_error_of_share

OF_TABLES = 2
"""Decimals of a share of tables, however few they are."""

_ITS_ERROR = "its error"

CALIBRATION: Mapping[str, str] = MappingProxyType(
    {
        "kind": "table",
        "coverage_se": _ITS_ERROR,
        "called_se": _ITS_ERROR,
        "bias_se": _ITS_ERROR,
        "wrong_sign": "wrong sign",
        "quick": "quick engine",
    }
)
"""What columns of calibrations are called, where that is not their name."""
PLAN: Mapping[str, str] = MappingProxyType(
    {
        "attributes": "stereotypes",
        "known_width": "known spreads",
        "simulated_width": "simulated",
        "simulated_se": _ITS_ERROR,
        "simulated_80": "80% below",
    }
)
"""The same of plans for a width."""


def grid_columns() -> list[Column]:
    """Return the columns of `bayesbias.simulation.simulate_grid`, to the digits that so many draws allow."""
    return [
        count("words", "n_words"),
        count("attributes", "n_attributes"),
        _given("sd of pairs", "pair_sd"),
        _given("sd of attributes", "attribute_sd"),
        Column("question", lambda row: Cell(row.question)),
        Column("method", lambda row: Cell(row.method.replace("_", " "))),
        Column("alarms", lambda row: number_cell(row.alarms, _decimals(row)), True),
        Column(
            "its 95% interval",
            lambda row: interval_cell(row.alarms_low, row.alarms_high, digits=_decimals(row)),
            True,
        ),
        Column("truth: sd", lambda row: _spread(row, "truth_sd"), True),
        Column("95% of truths", _truths, True),
        Column("claimed error", lambda row: _spread(row, "claimed_sd"), True),
    ]


def _given(heading: str, field: str) -> Column:
    return Column(heading, lambda row: Cell(f"{getattr(row, field):g}", True), True)


def _decimals(row: Any) -> int:
    return max(OF_TABLES, allowed(standard_error_of_share(row.alarms, row.draws)))


def _spread(row: Any, field: str) -> Cell:
    """Write a standard deviation of so many draws, whose error is that of one of normal draws."""
    value = getattr(row, field)
    return number_cell(value, 4, error=value / math.sqrt(2 * row.draws))


def _truths(row: Any) -> Cell:
    # A 2.5 % quantile of normal draws: sqrt(.025 * .975) over the density there.
    error = 2.67 * row.truth_sd / math.sqrt(row.draws)
    return interval_cell(row.truth_low, row.truth_high, digits=4, signed=True, errors=(error, error))
