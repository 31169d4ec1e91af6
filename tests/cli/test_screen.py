"""What is printed: on terminals of any width and any encoding, words do nothing and no number is cut."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from helpers.places import ROOT
from rich.cells import cell_len

from bayesbias.cli import main, screen
from bayesbias.simulation import calibration

HOSTILE = [
    "[/]x", "[bold]y[/bold]", ":door:", "\\[red]", "a\\", "\x1b[2Jz", "\x9b31m", "\u202eesrever", "a\u200bb", "$x_1$",
    "שלום", "日本語", "👩\u200d🚀", "{0}%s", "\ud800", "tab\there", "line\nbreak", "\u2028", "<b>&amp;", "=1+1", "a\0b",
]  # fmt: skip


class Terminal(io.TextIOWrapper):
    """A standard output with an encoding, which may be a terminal."""

    def __init__(self, encoding: str = "utf-8", terminal: bool = True) -> None:
        super().__init__(io.BytesIO(), encoding=encoding, newline="\n")
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal

    def text(self) -> str:
        self.flush()
        self.seek(0)
        return self.read()


@pytest.fixture
def on(monkeypatch):
    """Print into a terminal of some width and encoding, without colours."""

    def make(width: int = 80, encoding: str = "utf-8", terminal: bool = True) -> Terminal:
        stream = Terminal(encoding, terminal)
        monkeypatch.setattr(sys, "stdout", stream)
        for name, value in (("COLUMNS", str(width)), ("TERM", "dumb"), ("NO_COLOR", "1")):
            monkeypatch.setenv(name, value)
        return stream

    return make


def print_all(words=HOSTILE) -> None:
    rows = [[word, "-0.123", f"{i}.000 to +1.000"] for i, word in enumerate(words)]
    screen.table(f"title {words[0]}", ["word [b]", "#mean", "#89% HPDI"], rows)
    screen.lines(f"The word {word} is one." for word in words)
    for word in words:
        if "\0" not in word:
            screen.written([Path(f"/tmp/{word}")])
    for word in words:
        screen.say(f"said: {word}")


@pytest.mark.parametrize("terminal", [True, False])
@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "latin-1", "cp437"])
@pytest.mark.parametrize("width", [200, 80, 40, 20])
def test_words_do_nothing_and_numbers_are_whole(on, width, encoding, terminal):
    stream = on(width, encoding, terminal)
    print_all()
    text = stream.text()
    # `say` takes texts with lines of their own; on a terminal marks around right-to-left words keep numbers in place.
    marks = {"\u200e"} if terminal else set()
    assert {c for c in text if not c.isprintable()} <= {"\n", "\t", "\u200d", *marks}
    assert text.count("-0.123") == len(HOSTILE)
    assert re.findall(r"\d+\.000 to \+1\.000", " ".join(text.split())) == [
        f"{i}.000 to +1.000" for i in range(len(HOSTILE))
    ]
    assert "\u2026" not in text
    if terminal:
        lines = [line for line in text.splitlines() if not line.startswith("  /tmp/")]
        assert max(map(cell_len, lines)) <= width
    if width == 200:
        for word in (
            "[/]x",
            "[bold]y[/bold]",
            ":door:",
            "\\[red]",
            r"\x1b[2Jz",
            r"\u202eesrever",
            "<b>&amp;",
        ):
            assert text.count(word) >= 4


def test_a_table_in_ascii_has_ascii_lines(on):
    stream = on(80, "ascii")
    screen.table("a – b", ["word", "#±"], [["x", "−1"]])
    assert [line.split() for line in stream.text().splitlines() if line.strip()] == [
        ["a", "-", "b"], ["word", "+/-"], ["----------"], ["x", "-1"],
    ]  # fmt: skip


def test_a_narrow_terminal_gets_rows_one_below_the_other(on):
    stream = on(30)
    screen.table(
        "t",
        ["test", "word", "#mean", "#interval"],
        [["a", "x", "1.000", "0.9 to 1.1"], ["", "y", "2.000", ""]],
    )
    assert stream.text().splitlines() == [
        "t", "", "a", "  word      x", "  mean      1.000", "  interval  0.9 to 1.1", "a", "  word      y",
        "  mean      2.000", "",
    ]  # fmt: skip


def test_a_pipe_has_no_width_and_a_path_is_never_broken(on):
    stream = on(20, terminal=False)
    screen.lines(["word " * 40])
    assert stream.text() == "word " * 40 + "\n"
    stream = on(20)
    screen.written([Path("/a/path/that is longer/than the terminal.csv")])
    assert "  /a/path/that is longer/than the terminal.csv\n" in stream.text()


def test_many_files_are_counted_and_a_page_of_a_run_is_a_line_to_copy(capsys):
    run = Path("my runs/a")
    files = [run / f"{name}.csv" for name in "abc"]
    screen.written([*files, run / "figures/a.png", run / "README"], run=run)
    assert capsys.readouterr().out.splitlines() == [
        "written: 5 files in my runs/a (1 without an ending, 3 .csv, 1 .png)",
        "a page of it: bayesbias report 'my runs/a' --out 'my runs/a.html'",
    ]
    screen.written(files)
    assert capsys.readouterr().out.split("\n") == ["written:", *(f"  my runs/a/{n}.csv" for n in "abc"), ""]


def test_a_frame_is_a_table_with_dashes_for_what_is_not_there(on):
    import pandas as pd

    stream = on(80)
    values = {
        "method": ["[/]m", "n"],
        "n": [1, 2000],
        "mean_of": [0.12345, float("nan")],
        "enough": [True, False],
    }
    screen.frame(pd.DataFrame(values), headings={"mean_of": "average"})
    rows = [line.split() for line in stream.text().splitlines() if line.strip("─ ")]
    assert rows[0] == ["method", "n", "average", "enough"]
    assert rows[1:] == [["[/]m", "1", "0.123", "yes"], ["n", "2,000", "-", "no"]]


def test_shares_of_few_tables_are_not_rounded_to_their_opposite(monkeypatch):
    import pandas as pd

    rows = pd.DataFrame(
        {"method": ["default", "moments"], "coverage": [0.7, 0.3], "coverage_se": [0.125, 0.125]}
    )
    rows = rows.assign(wrong_sign=0.4, wrong_sign_se=0.13, bias=[-0.0049, -0.0071], bias_se=0.013)
    rows = rows.assign(width=0.17, width_se=0.2, quick=float("nan"))
    monkeypatch.setattr(calibration, "coverage_simulated", lambda *_, **__: rows)
    done = CliRunner().invoke(main.cli, ["coverage_simulated", "--tables", "10"])
    assert done.exit_code == 0, done.output
    cells = [
        line.split() for line in done.stdout.splitlines() if line.lstrip().startswith(("default", "moments"))
    ]
    assert "_" not in done.stdout.split("where connections differ", 1)[1]
    assert [line[1:-1] for line in cells[:2]] == [
        ["0.70", "0.125", "0.40", "0.00", "0.013", "0.17"],
        ["0.30", "0.125", "0.40", "-0.01", "0.013", "0.17"],
    ]
    last = done.stdout.splitlines()[-1]
    assert "where 0.89 is asked for: cells 0.70, moments 0.30 (standard errors up to 0.12)" in last


def test_data_are_written_as_they_are_and_on_a_terminal_do_nothing(on):
    stream = on(80)
    screen.data('name = "\u009b31m"\n\tx', end="")
    assert stream.text() == 'name = "\\x9b31m"\n\tx'
    for encoding in (
        "utf-8",
        "latin-1",
        "cp1252",
    ):  # what is read by programs is in UTF-8, whatever the stream is
        stream = on(80, encoding, terminal=False)
        screen.data('{"word": "König, 走"}')
        assert stream.buffer.getvalue().decode() == '{"word": "König, 走"}\n'


def environment(**more: str) -> dict[str, str]:
    plain = {
        name: value for name, value in os.environ.items() if not name.startswith(("LC_", "LANG", "PYTHON"))
    }
    return {**plain, "PYTHONPATH": str(ROOT), **more}


@pytest.mark.parametrize(
    "settings",
    [
        {"PYTHONIOENCODING": "ascii"},
        {"LANG": "C", "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"},
    ],
    ids=["PYTHONIOENCODING=ascii", "LANG=C"],
)
@pytest.mark.slow
def test_an_ascii_terminal_is_no_reason_to_fail(settings, tmp_path):
    file = tmp_path / "list.toml"
    file.write_text('schema = 1\n[[class]]\nname = "Köln – שלום"\nprotected = ["ä", "b"]\n', encoding="utf-8")
    command = [sys.executable, "-m", "bayesbias", "check-wordlist", str(file)]
    done = subprocess.run(command, capture_output=True, env=environment(**settings), check=False, timeout=600)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.isascii()
    assert b"K\\xf6ln - \\u05e9\\u05dc\\u05d5\\u05dd" in done.stderr


def test_what_was_typed_does_nothing_either(monkeypatch, capsys):
    for words in (["fit", "--repeats", "\x1b[31m"], ["show", "\x1b[31m"], ["\x1b[31m"], ["fit", "--\u202ex"]):
        monkeypatch.setattr(sys, "argv", ["bayesbias", *words])
        with pytest.raises(SystemExit) as ended:
            main.main()
        out, err = capsys.readouterr()
        assert (ended.value.code, out) == (2, "")
        assert not {c for c in err if not c.isprintable()} - {"\n"}
        assert ("\\x1b[31m" in err) == ("\x1b[31m" in words)


def test_helps_are_in_ascii():
    """They are printed by click, which knows nothing of the terminal."""

    def all_of(command: click.Command):
        yield command
        for each in getattr(command, "commands", {}).values():
            yield from all_of(each)

    for command in all_of(main.cli):
        context = click.Context(command, info_name="x")
        assert command.get_help(context).isascii(), command.name
