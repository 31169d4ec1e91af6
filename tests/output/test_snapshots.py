"""What results of every kind print, in every output: wording, layout, columns and keys. Numbers are tested elsewhere.

Run with --refresh-snapshots to write the snapshots anew, and read the difference before you commit it.
"""

import html
import json
import re
from pathlib import Path

import pytest
from helpers.pages import unrendered

import bayesbias as bb
from bayesbias.output import text
from output.results import MAKERS, sweep

SNAPSHOTS = Path(__file__).parent / "snapshots"
MOST_LINES = 25  # of a screen
# A warning of lost answers and three notes leave no room for two tables.
LONGER = ("responses_with_missing",)
NUMBER = re.compile(r"[-+\N{MINUS SIGN}<>]?(\d[\d,]*\.?\d*|\.\d+)(e[-+]?\d+)?%?")

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", params=[*MAKERS, "sweep"])
def result(request, tmp_path_factory):
    name = request.param
    return name, sweep(str(tmp_path_factory.mktemp("sweep"))) if name == "sweep" else MAKERS[name]()


def without_numbers(text: str) -> str:
    """Replace numbers by # and runs of spaces by one, since draws differ between processors."""
    lines = (re.sub(r" +", " ", NUMBER.sub("#", line)).strip() for line in text.splitlines())
    return "\n".join(line for line in lines if line)


def without_repeats(text: str) -> str:
    """Leave out rows that differ from another row of their table in their numbers alone."""
    rows: set[str] = set()
    lines = []
    for line in text.splitlines():
        if "[#, #]" not in line:
            rows.clear()  # another table begins
        elif line in rows:
            continue
        rows.add(line)
        lines.append(line)
    return "\n".join(lines)


def shape_of(value: object) -> object:
    """Return the keys of objects and of the first row of lists."""
    if isinstance(value, dict):
        return {key: shape_of(part) for key, part in value.items()}
    if isinstance(value, list):
        return [shape_of(value[0])] if value and isinstance(value[0], dict) else []
    return type(value).__name__ if value is None or isinstance(value, str | bool) else "number"


def text_of_page(page: str) -> str:
    """Return what a reader of the page sees, without figures and the record of inputs."""
    page = re.sub(r"(?s)<(style|script|svg)\b.*?</\1>", "", page)
    page = re.sub(r"(?s)<pre>.*?</pre>", "", page)
    return html.unescape(re.sub(r"(?s)<[^>]+>", "\n", page))


def rows_in_lines(page: str) -> str:
    """Put the cells of a row of a table in one line."""

    def line_of(row: re.Match[str]) -> str:
        cells = re.findall(r"(?s)<t[dh]\b[^>]*>(.*?)</t[dh]>", row[0])
        texts = [" ".join(re.sub(r"(?s)<[^>]+>", " ", cell).split()) for cell in cells]
        return "\n" + " | ".join(texts) + "\n"

    return re.sub(r"(?s)<tr\b.*?</tr>", line_of, page)


def methods_of(result: object) -> str:
    """Return the paragraph for a paper, of results that have one."""
    try:
        return bb.methods_paragraph(result)
    except bb.InputError as error:
        return f"none: {error}"


def test_outputs_are_as_they_were(result, tmp_path, request, monkeypatch):
    name, made = result
    if name != "seat":
        unrendered(monkeypatch)
    files = bb.save_run(made, tmp_path / "run")
    terminal = bb.output.to_text(made)
    tables = {
        path.name: path.read_text(encoding="utf-8").splitlines()[0]
        for path in files
        if path.suffix == ".csv"
    }
    assert max(map(len, terminal.splitlines())) <= 80
    assert (len(terminal.splitlines()) > MOST_LINES) == (name in LONGER)
    detail = bb.output.to_text(made, detail=True)
    answer = bb.output.to_json(made)
    page = bb.write_report(made, tmp_path / "page.html").read_text("utf-8")
    shown = {
        "terminal": without_numbers(terminal),
        "detail": without_repeats(without_numbers(detail)),
        "methods": without_numbers(methods_of(made)),
        "json": json.dumps(shape_of(answer), indent=1),
        "files": "\n".join(path.relative_to(tmp_path / "run").as_posix() for path in files),
        "columns": "\n".join(f"{name}: {columns}" for name, columns in tables.items()),
        "page": without_repeats(without_numbers(text_of_page(rows_in_lines(page)))),
    }
    whole = "\n\n".join(f"===== {output} =====\n{content}" for output, content in shown.items())
    whole = whole.replace(str(tmp_path), "TMP")
    whole = re.sub(r"/\S*/sweep#\S*|\S*pytest-\S*", "FOLDER", whole)
    path = SNAPSHOTS / f"{name}.txt"
    if request.config.getoption("--refresh-snapshots"):
        path.write_text(whole + "\n", encoding="utf-8")
    assert whole + "\n" == path.read_text(encoding="utf-8")
    again = bb.load_run(tmp_path / "run")
    assert bb.output.to_text(again.result) == terminal
    assert methods_of(again.result) == methods_of(made)
    assert bb.output.to_json(again.result) == answer


def test_a_notebook_says_the_words_of_a_longer_terminal(result, monkeypatch):
    """With arguments of Python in place of options."""
    _, made = result
    shown = text_of_page(made._repr_html_()).split()
    monkeypatch.setattr(text, "MOST_LINES", text.MOST_LINES_OF_CELL)
    printed = text.to_python(made)
    assert sorted(shown) == sorted(printed.split())
    assert not re.search(r"(?<!\w)--\w", printed)
