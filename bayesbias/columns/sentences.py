"""The tables of sentence tests."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bayesbias.columns.slopes import OF_ONE
from bayesbias.columns.table import Cell, Column, count, interval, number, p_value, share_cell, text
from bayesbias.core.digits import error_of, shares_printed
from bayesbias.core.wording import as_percent
from bayesbias.findings.sentences import named_encoder
from bayesbias.inference.scope import sure_ends
from bayesbias.inference.standard import unit_of_sides
from bayesbias.inference.verdicts import Verdict, side

if TYPE_CHECKING:
    import pandas as pd

    from bayesbias.studies.seat_result import SeatResult

_SHARES = ("share_word", "share_template", "share_sentence", "share_residual")


def encoder_column(several: bool) -> list[Column]:
    """Return the column that names the encoder, where there are several."""
    return [text("encoder", lambda row: named_encoder(row.model, row.options))] if several else []


def result_columns(several: bool) -> list[Column]:
    """Return the columns of every test: effect size and p-values, each after what it counts as independent."""
    return [
        text("test", "test"),
        text("asks", "title"),
        text("context", "context"),
        *encoder_column(several),
        number("effect size", "effect_size", 2, signed=True),
        p_value("p, published", "p_value", missing="none"),
        p_value("p, all partitions", "p_upper", missing="none"),
        p_value("p, Holm", "p_holm", missing="none"),
        p_value("p, each word once", "p_words", missing="words not known"),
    ]


IN_SDS = (
    f"Standard deviations are those of {unit_of_sides('associated - different').removeprefix('sd of ')}, since a sentence test "
    "has no neutral ones."
)


def contrast_columns(prob: float, several: bool, *, p_values: bool = False) -> list[Column]:
    """Return the columns of the hierarchical reading: the contrast, and where its variance lies.

    Where they are asked for, p-values stand beside it: that published and that with each word once.
    """
    return [
        text("test", "test"),
        text("asks", "title").on_the_page_only(),
        *encoder_column(several),
        _fitted(number("associated − different", "contrast", signed=True, screen="contrast")),
        _fitted(interval(f"{as_percent(prob)} HPDI", signed=True)),
        _fitted(
            number("in standard deviations", "standardized", 2, signed=True, screen="in sds", missing="–")
        ),
        _fitted(number("superiority", "superiority", 2, missing="–").on_the_page_only()),
        *([p_value("p", "p_value", missing="-").on_the_screen_only()] if p_values else []),
        *([p_value("p, words once", "p_words", missing="-").on_the_screen_only()] if p_values else []),
        *(
            _fitted(Column(f"variance, {kind}", functools.partial(_share_cell, field), True, kind))
            for kind, field in zip(("word", "template", "both", "rest"), _SHARES, strict=True)
        ),
        text("what it says", says_of_contrast).on_the_page_only(),
        text("note", _note).on_the_screen_only(),
    ]


def shares_of_variance(row: Any) -> dict[str, str]:
    """Write the shares of a test that there are, parts of a whole: with as many digits, or 80% stands beside 12%, 8% and 4%."""
    known = {field: value for field in _SHARES if (value := float(getattr(row, field))) == value}
    return dict(zip(known, shares_printed(list(known.values()), error_of(row, *_SHARES)), strict=True))


def _share_cell(field: str, row: Any) -> Cell:
    value = float(getattr(row, field))
    shares = shares_of_variance(row)
    return Cell(shares[field], True, repr(value)) if field in shares else share_cell(value)


def says_of_contrast(row: Any) -> str:
    """Say on which side of zero the interval lies, and whether it can be trusted."""
    if row.contrast != row.contrast:
        return "not fitted"
    if not row.converged:
        return "not to be trusted yet"
    return _SAYS[side(*sure_ends(row))]


_SAYS = {
    Verdict.BELOW: "as the test supposes",
    Verdict.OPEN: "unclear",
    Verdict.ABOVE: "against what it supposes",
}


def size_columns(several: bool, lacking: bool) -> list[Column]:
    """Return the columns of the tests themselves: how many examples stand in each set, and how many an encoder lacks."""
    return [
        text("test", "test"),
        text("context", "context"),
        *encoder_column(several),
        text("targets", "targets"),
        count("first", "num_targ1"),
        count("second", "num_targ2"),
        text("attributes", "attributes"),
        count("first", "num_attr1"),
        count("second", "num_attr2"),
        *([count("left out", "dropped")] if lacking else []),
    ]


def encoder_columns(prob: float | None) -> list[Column]:
    """Return the columns of the encoders, and how many of their tests are clear."""
    return [
        text("encoder", "name"),
        count("tests", "tests"),
        count("p < 0.01, published", "published"),
        count("after Holm", "holm"),
        count("sentence tests with p < 0.01", "by_sentence"),
        count("of these, each word once", "by_words"),
        *([text(f"{as_percent(prob)} HPDI, as supposed", "supposed")] if prob is not None else []),
    ]


def related_columns(several: bool) -> list[Column]:
    """Return the columns of related tests, and whether they agree."""
    return [
        text("tests", lambda row: ", ".join(row.tests)),
        text("about", "group"),
        *encoder_column(several),
        text("effect sizes", lambda row: _joined(row.effect_sizes, lambda x: f"{x:.2f}".replace("-", "−"))),
        text("p", lambda row: _joined(row.p_values, lambda x: f"{x:.1g}".replace("-", "−"))),
        text("one sign", lambda row: "yes" if row.same_sign else "no"),
        text("one verdict", lambda row: "yes" if row.same_verdict else "no"),
    ]


def dropped_columns(several: bool) -> list[Column]:
    """Return the columns of words that an encoder lacks."""
    return [
        text("word", "word"),
        *encoder_column(several),
        count("examples left out", "examples"),
        text("of the tests", "tests"),
    ]


def slopes_shown(result: SeatResult) -> pd.DataFrame:
    """Return the slopes of tests that are shown: overall, and below where slopes were asked that differ by more."""
    by = any(columns is not None for columns in result.provenance.get("slopes", {}).values())
    return result.slopes if by else result.slopes[result.slopes["level"].isin(["overall", *OF_ONE])]


def failure_columns(several: bool) -> list[Column]:
    """Return the columns of what could not be run."""
    return [text("test", "test"), *encoder_column(several), text("why", "reason")]


def _fitted(column: Column) -> Column:
    """Leave the cells of a test that was not fitted empty."""

    def cell(row: Any) -> Cell:
        return Cell("", True, screen="") if row.contrast != row.contrast else column.cell(row)

    return replace(column, cell=cell)


def _note(row: Any) -> str:
    if row.contrast != row.contrast:
        return "not fitted"
    return "" if row.converged else "not to be trusted yet"


def _joined(values: Sequence[float], form: Any) -> str:
    return ", ".join(map(form, values))
