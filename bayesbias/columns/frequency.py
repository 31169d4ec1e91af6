"""The tables on frequency: of classes, lists and connections, and of contrasts without and with it."""

from __future__ import annotations

from typing import Any

from bayesbias.columns.table import Column, contrast, count, interval, number, text
from bayesbias.core.digits import error_of
from bayesbias.core.wording import as_percent
from bayesbias.inference.scope import farther_than
from bayesbias.studies.frequency import Crossing, crossing

_OF = {
    ("protected_class", "protected"): "class",
    ("attribute_class", "attribute"): "list",
    ("connection", "protected"): "pairs, protected words",
    ("connection", "attribute"): "pairs, attributes",
}


def unequal_columns(prob: float) -> list[Column]:
    """Return the columns of `Frequency.unequal`."""
    return [
        text("of", lambda row: _OF.get((row.of, row.side), row.of)),
        text("name", "group"),
        count("words", "n_words"),
        number("log frequency", "mean", 2, screen="log freq."),
        number("sd", "sd", 2),
        text("less that of", lambda row: row.versus or "–", screen="less that of"),
        number("difference", "difference", 2, signed=True, missing="–"),
        Column(
            f"{as_percent(prob)} interval",
            interval("", "low", "high", signed=True, digits=2).cell,
            True,
        ),
        text("unequal", _unequal),
    ]


def frequency_columns(prob: float, rope: float, *, whole: bool = True) -> list[Column]:
    """Return the columns of `Frequency.contrasts`; what is not of the `whole` table, since words lack a count, is called so."""
    as_it_is = "as it is" if whole else "as it is (counted words)"
    return [
        text("for", lambda row: "all" if row.level == "overall" else f"{_LEVEL[row.level]}{row.name}"),
        contrast("difference", "contrast", screen="contrast"),
        number(as_it_is, "without_mean", signed=True),
        interval(f"{as_percent(prob)} HPDI", "without_low", "without_high", signed=True),
        number("at equal frequency", "with_mean", signed=True, screen="equal freq."),
        interval(f"{as_percent(prob)} HPDI", "with_low", "with_high", signed=True),
        number("moves by", "change", signed=True),
        text(
            f"more than {rope:g}", lambda row: _MOVES[farther_than(rope, row.change, error_of(row, "change"))]
        ),
        text(
            "leaves out zero",
            lambda row: _CROSSES[crossing(row)],
            screen="zero",
        ),
    ]


_CROSSES = {
    Crossing.KEPT: "as before",
    Crossing.LOST: "no more",
    Crossing.WON: "only now",
    Crossing.TURNED: "on the other side",
    Crossing.UNKNOWN: "not clear",
}
_MOVES = {True: "yes", False: "no", None: "not clear"}
_LEVEL = {"class": "", "stereotype": "list "}


def _unequal(row: Any) -> str:
    if row.unequal:
        return "yes"
    if _unknown(row.low):
        return "–"
    return "no" if row.low == row.high else "not clear"  # the same words with the same weights


def _unknown(value: Any) -> bool:
    return value is None or value != value
