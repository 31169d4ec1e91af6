"""Tables of the terminal and of a notebook."""

import html
import re

import pandas as pd
from helpers.draws import made_up_fit
from helpers.tables import grid

import bayesbias as bb
from bayesbias.core.sections import Column, Interpretation, Section
from bayesbias.output import text
from bayesbias.output.text import MOST_LINES, WIDTH, _fit_on_screen, _Table, table_lines
from bayesbias.studies.association.sections import main_table

COLUMNS = (
    Column("name", "method"),
    Column("mean", "change", "signed"),
    Column("low", "{prob} HPDI", "interval", 3, "high"),
    Column("kind", "kind"),
)
LONG = "hard debiasing with all equalized sets, then centered and normalized"


def test_a_table_with_long_names_fits_the_terminal() -> None:
    frame = pd.DataFrame({"name": [LONG, "soft"], "kind": [LONG, "no"]})
    frame = frame.assign(mean=[-0.1, 0.2], low=[-0.2, 0.1], high=[0.0, 0.3])
    lines = table_lines(frame, COLUMNS)
    assert max(map(len, lines)) <= WIDTH
    first = [line[: lines[0].index("change")].strip() for line in lines[1:-1]]
    assert " ".join(filter(None, first)) == LONG
    assert lines[-1].split() == ["soft", "+0.200", "[+0.100,", "+0.300]", "no"]


def test_a_table_of_numbers_that_does_not_fit_is_not_cut() -> None:
    wide = pd.DataFrame({f"x{k}": [1.0] for k in range(30)}).assign(name=LONG)
    columns = [Column("name", "method"), *(Column(f"x{k}", f"x{k}", "number") for k in range(30))]
    _, row = table_lines(wide, columns)
    assert row.startswith(LONG)
    assert row.count("1.000") == 30


def test_a_name_is_broken_after_an_underscore() -> None:
    name = "hard_debiased_all_words_equalized_2026"
    frame = pd.DataFrame({"name": [name], "kind": [LONG]})
    frame = frame.assign(mean=[-0.1], low=[-0.2], high=[0.0])
    lines = table_lines(frame, COLUMNS)
    assert max(map(len, lines)) <= WIDTH
    parts = [line[: lines[0].index("change")].strip() for line in lines[1:]]
    assert "".join(parts) == name
    assert all(part.endswith("_") for part in list(filter(None, parts))[:-1])


def fitted_on_screen(n_rows: int, n_below: int, more: str = "") -> str:
    """Return a table as it stands on a screen, over some lines."""
    frame = pd.DataFrame({"name": [f"row {k}" for k in range(n_rows)]}).assign(mean=0.5)
    section = Section("t", "Title", lambda: frame, COLUMNS[:2], more=more)
    table = _Table(section, frame)
    _fit_on_screen([table], 0.89, "\n".join(["header", "", *["said"] * n_below]), MOST_LINES)
    return table.text(0.89, detail=False)


def test_a_screen_leaves_out_rows_and_says_once_that_there_are_more() -> None:
    more = "More in contrasts()."
    complete = fitted_on_screen(n_rows=6, n_below=5, more=more).splitlines()
    assert complete[:2] == ["Title", ""]
    assert complete[-1] == more
    assert sum(line.startswith("row") for line in complete) == 6

    shortened = fitted_on_screen(n_rows=30, n_below=5, more=more).splitlines()
    # Header, two empty lines, and five lines below.
    assert len(shortened) + 8 <= MOST_LINES
    n_shown = sum(line.startswith("row") for line in shortened)
    assert shortened[-1] == f"{30 - n_shown} more rows: --detail."


def test_a_single_row_is_shown_rather_than_counted() -> None:
    lines = fitted_on_screen(n_rows=4, n_below=30).splitlines()
    assert sum(line.startswith("row") for line in lines) == 4
    assert not any("more row" in line for line in lines)


def test_a_table_follows_its_title_where_there_is_no_room() -> None:
    """Three rows take title, empty line, heading, three rows and how many are left out: seven."""
    room = MOST_LINES - 3 - 7
    assert fitted_on_screen(n_rows=9, n_below=room).splitlines()[1] == ""
    dense = fitted_on_screen(n_rows=9, n_below=room + 1).splitlines()
    assert dense[1].split() == ["method", "change"]
    assert dense[-1] == "6 more rows: --detail."


def test_brief_json_has_no_verdict_without_convergence() -> None:
    table = bb.distance_table("minilm-static", "gender", controls="2021")
    few = bb.fit(table, draws=4, tune=4, chains=2, seed=1, pointwise=False, progress=False)
    answer = bb.output.to_json(few, brief=True)
    assert answer["converged"] is False
    assert answer["verdict"] is None
    assert len(answer["contrasts"]) > 1
    assert {row["verdict"] for row in answer["contrasts"]} == {None}


def test_names_of_rows_are_at_the_left_in_a_notebook():
    shown = made_up_fit(grid())._repr_html_()
    rows = re.findall(r"<tr>(.*?)</tr>", shown, re.DOTALL)
    assert len(rows) > 5
    for row in rows:
        cells = re.findall(r"<td[^>]*>", row)
        assert "left" in cells[0]
        assert set(cells[1:]) == {"<td>"}


def test_a_cell_has_all_rows_and_a_terminal_one_screen(monkeypatch):
    """The screen is made shorter than the table; a cell of a notebook scrolls."""
    fit = made_up_fit(grid())
    monkeypatch.setattr(text, "MOST_LINES", 12)
    rows = main_table(fit, bb.View())
    shown = text.to_html(fit)
    labels = rows["label"].str.strip()
    assert shown.count("<tr") == 1 + len(rows)
    assert all(f"{label}</td>" in shown for label in labels)
    assert "more row" not in shown


def test_python_prints_advice_in_its_words_and_a_terminal_in_options():
    advice = "Center them (--postprocess center), or raise --draws."
    said = Interpretation("toy", "Inconclusive.", (advice,), ("All tests: --detail.",))
    for printed in (repr(said), html.unescape(said._repr_html_())):
        assert 'load_embedding(path, postprocess="center")' in printed
        assert "raise draws" in printed
        assert "--" not in printed
    assert "--postprocess center" in text.interpretation_text(said)


def test_what_python_prints_of_a_result_names_no_option(monkeypatch):
    result = made_up_fit(grid())
    warned = Interpretation("toy", "Result.", ("Fit --model robust too.",))
    monkeypatch.setattr(text.registry, "interpretation", lambda *_: warned)
    monkeypatch.setattr(text, "MOST_LINES", 12)
    for printed in (text.to_python(result), text.to_html(result)):
        assert "--" not in printed
    assert "more rows: bb.output.to_text(result, detail=True)" in " ".join(
        text.to_python(result).split()
    )
    assert "--detail" in text.to_text(result)
    assert "--model robust" in text.to_text(result)
