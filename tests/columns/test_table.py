"""One list of columns makes the table of the page and that of the terminal."""

from __future__ import annotations

import math
from types import SimpleNamespace

import pandas as pd

from bayesbias.columns import table as t
from bayesbias.columns.sweeps import compared_columns
from bayesbias.columns.words import contrast_columns, standard_columns
from bayesbias.core.digits import ends_as_known

ROW = pd.DataFrame(
    {
        "name": "a − b", "contrast": "associated - different", "estimand": "population", "mean": -0.0004, "sd": 0.5,
        "hpdi_low": -0.25, "hpdi_high": 0.125, "p_below_zero": 0.99999, "p_in_rope": 0.2, "rope": 0.02,
    },
    index=[0],
)  # fmt: skip


def texts(table: t.Table) -> dict[str, str]:
    (row,) = table.rows
    return {heading.text: cell.text for heading, cell in zip(table.head, row, strict=True)}


def test_page_and_terminal_show_one_list_of_columns_each_in_its_way():
    columns = contrast_columns(0.89, "word")
    page = t.page_table("id", "caption", columns, ROW.itertuples())
    screen = t.screen_table("caption", columns, ROW.itertuples())
    assert texts(page) == {
        "word": "a − b", "difference": "associated − different", "holds for": "new attributes", "mean": "0.000",
        "89% HPDI": "−0.250 to +0.125", "P(below 0)": "> 0.999", "P(in ROPE)": "0.200", "the first is": "unclear",
    }  # fmt: skip
    (typed,) = ([cell.typed for cell in row] for row in screen.rows)
    assert [heading.text for heading in screen.head] == [
        "word", "contrast", "mean", "sd", "89% HPDI", "P(<0)", "in ROPE",
    ]  # fmt: skip
    # A minus in a word is the user's; those of numbers and contrasts are ours.
    assert typed == [
        "a − b",
        "associated - different",
        "0.000",
        "0.500",
        "-0.250 to +0.125",
        "> 0.999",
        "0.200",
    ]
    assert [heading.number for heading in screen.head] == [False, False, True, True, True, True, True]


def test_a_unit_has_a_column_only_where_there_are_several():
    row = ROW.assign(
        unit="sd of neutral pairs", superiority=0.6, superiority_low=0.5, superiority_high=0.7, rope=0.1
    )
    one = texts(t.page_table("id", "", standard_columns(0.89, 0.1, 1), row.itertuples()))
    assert one == {
        "difference": "associated − different", "holds for": "new words", "standard deviations": "0.00",
        "89% HPDI": "−0.25 to +0.12", "P(in ±0.1)": "0.200", "superiority": "0.600",
        "superiority, 89% HPDI": "0.500 to 0.700", "the first is": "unclear",
    }  # fmt: skip
    several = texts(t.page_table("id", "", standard_columns(0.89, 0.1, 2, "class"), row.itertuples()))
    assert several.items() > {"unit": "sd of neutral pairs", "class": "a − b"}.items()


def test_numbers_are_sorted_by_all_their_digits_and_what_is_missing_says_so():
    assert t.number_cell(0.12345678).key == "0.12345678"
    assert t.interval_cell(0.1, 0.2).key == "0.1"
    for cell in (t.number_cell(None), t.number_cell(math.nan), t.interval_cell(math.nan, 1)):
        assert (cell.text, cell.typed, cell.key) == ("not known", "-", "")
    assert (t.p_cell(None).text, t.p_cell(math.nan, "none").text) == ("no test", "none")
    assert float(t.p_cell(None).key) > float(t.p_cell(1.0).key)
    assert (t.p_cell(1e-20).text, t.p_cell(1e-20).typed) == ("1e−20", "1e-20")
    assert (t.share_cell(0.254).text, t.share_cell(math.nan).typed) == ("25%", "-")


def test_a_sweep_has_the_digits_of_its_sentences():
    row = SimpleNamespace(
        standardized_low=-0.2,
        standardized_high=0.003,
        mcse_standardized_low=1e-4,
        mcse_standardized_high=1e-4,
    )
    column = compared_columns({}, 0.89, 1)[1]
    said = ends_as_known(row, "standardized_low", "standardized_high", 2, signed=True)
    assert column.cell(row).typed == " to ".join(said) == "-0.200 to +0.003"


def test_a_field_is_a_name_or_a_function_of_a_row_or_a_mapping():
    columns = [t.text("a", "x"), t.count("b", lambda row: row["n"] + 1)]
    assert texts(t.page_table("", "", columns, [{"x": "<i>", "n": 1233}])) == {"a": "<i>", "b": "1,234"}
