"""What a table shows of itself at the prompt and in a notebook."""

import dataclasses

import pandas as pd

import bayesbias as bb

ANSWERS = pd.DataFrame(
    {"group": ["a", "b"] * 4, "prompt": ["x <b>", "x <b>", "y", "y"] * 2, "score": [0.25, 0.5] * 4}
)


def test_a_table_of_pairs_shows_its_size_its_coverage_and_its_first_rows():
    table = bb.distance_table("minilm-static", "religion", controls="none")
    first, coverage, blank, head, *rows, more = repr(table).splitlines()
    assert first == (
        "PairTable: religion in minilm-static, 165 pairs of 15 protected words and 11 attributes"
    )
    assert coverage == "55 associated, 110 different; 0 words missing"
    assert (blank, more) == ("", "...")
    assert head.split() == list(table.frame)
    shown = [row.split() for row in rows]
    assert [row[:2] for row in shown] == table.frame.iloc[:5, :2].to_numpy().tolist()

    page = table._repr_html_()
    assert first in page
    assert page.count("<tr") == 1 + 5
    assert all(f"<td>{word}</td>" in page for word in table.frame["attribute"].head())


def test_a_short_table_is_shown_whole():
    table = bb.distance_table("minilm-static", "religion", controls="none")
    short = dataclasses.replace(table, frame=table.frame.head(3))
    assert len(repr(short).splitlines()) == 3 + 1 + 3


def test_responses_show_the_columns_that_they_have():
    table = bb.responses_table(ANSWERS, outcome="score")
    first, blank, head, *rows = repr(table).splitlines()
    assert first.startswith("Responses: 8 of 8 answers, 2 groups, numbers")
    assert (blank, head.split()) == ("", ["group", "template", "repeat", "outcome"])
    assert len(rows) == 5 + 1
    assert "x &lt;b&gt;" in table._repr_html_()
