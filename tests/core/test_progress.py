"""Progress: on a terminal, in a notebook, and nowhere else."""

from __future__ import annotations

import io
import sys
import threading
from types import SimpleNamespace

import pytest

import bayesbias as bb
from bayesbias.cli import inspect
from bayesbias.cli.main import cli
from bayesbias.core import progress
from bayesbias.core.progress import ticking, without_bars, working


@pytest.fixture
def time_of(monkeypatch):
    """A clock of ten seconds a look."""
    now = iter(range(0, 10_000, 10))
    monkeypatch.setattr(progress.time, "perf_counter", lambda: float(next(now)))


@pytest.fixture
def notebook(monkeypatch):
    """What a kernel shows: all that was displayed, with the last of each display."""
    shown = []

    def display(data, raw, display_id):
        assert (raw, display_id) == (True, True)
        shown.append(data)
        return SimpleNamespace(update=lambda data, raw: shown.append(data))

    kernel = SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=object()))
    monkeypatch.setitem(sys.modules, "IPython", kernel)
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=display))
    monkeypatch.delenv("BAYESBIAS_PROGRESS", raising=False)
    return shown


def test_a_notebook_gets_a_bar_that_leaves_nothing(notebook, time_of):
    with ticking("fits of <b>", 4) as tick:
        for _ in range(4):
            tick(1)
    first, *_, last = notebook
    text = "fits of <b>: 1 of 4"
    page = '<progress value="1" max="4"></progress> <small>fits of &lt;b&gt;: 1 of 4</small>'
    assert first == {"text/html": page, "text/plain": text}
    assert [each["text/plain"][-6:] for each in notebook[:-1]] == [
        f"{n} of 4" for n in (1, 2, 3, 4)
    ]
    assert last == {"text/html": "", "text/plain": ""}


def test_bytes_are_told_by_the_place_in_the_file(notebook, time_of):
    with ticking("reading", 40_000_000, of_bytes=True) as tick:
        for place in (10_000_000, 30_000_000):
            tick(place)
    assert [each["text/plain"] for each in notebook] == [
        "reading: 10 of 40 MB", "reading: 30 of 40 MB", "",
    ]  # fmt: skip


def test_quick_work_has_no_bar(notebook):
    with ticking("fits", 4) as tick:
        tick(4)
    assert notebook == []


@pytest.mark.parametrize(
    "how", ["not wished", "by the environment", "in a terminal of IPython", "in a script"]
)
def test_where_nobody_looks_there_is_none(notebook, time_of, monkeypatch, capsys, how):
    wished = False if how == "not wished" else None
    if how == "by the environment":
        monkeypatch.setenv("BAYESBIAS_PROGRESS", "off")
    if how == "in a terminal of IPython":
        monkeypatch.setitem(
            sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: SimpleNamespace())
        )
    if how == "in a script":
        monkeypatch.delitem(sys.modules, "IPython")
    with ticking("fits", 4, wished) as tick:
        tick(4)
    assert notebook == []
    assert capsys.readouterr() == ("", "")


def test_a_terminal_has_one_on_standard_error(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: None))
    with ticking("[b]fits", 4, True) as tick:
        tick(3)
        said = sys.stderr.getvalue()
    assert "[b]fits" in said
    assert "3/4" in said


def test_a_terminal_has_a_bar_before_a_long_first_step_is_done(monkeypatch):
    shown, closed = threading.Event(), []
    bar = (lambda done: shown.set() if done == 0 else None), lambda: closed.append(shown.is_set())
    monkeypatch.setattr(progress, "_terminal_bar", lambda *_: bar)
    monkeypatch.setattr(progress, "_PATIENCE", 0.01)
    with ticking("fits", 1, True, long_steps=True):
        assert shown.wait(timeout=60)
    assert closed == [True]


class Terminal(io.StringIO):
    def isatty(self):
        return True


def a_terminal(monkeypatch):
    """Make standard error a terminal, where all work takes long."""
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("BAYESBIAS_PROGRESS", raising=False)
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: None))
    monkeypatch.setattr(progress, "_PATIENCE", 0.01)
    return sys.stderr


def shown_after(terminal, words):
    """Wait until words are shown that were not there before."""
    begin = len(terminal.getvalue())
    for _ in range(1500):
        if words in terminal.getvalue()[begin:]:
            return True
        threading.Event().wait(0.02)
    return False


def test_work_without_steps_is_shown_as_long_as_no_other_bar_is(monkeypatch):
    terminal = a_terminal(monkeypatch)
    with working("all of it"):
        assert shown_after(terminal, "all of it")
        with ticking("a part", 2, True) as tick:
            tick(1)
            assert shown_after(terminal, "a part")
            assert [bar.live.is_started for bar in progress._BARS] == [False, True]
        assert [bar.live.is_started for bar in progress._BARS] == [True]
        assert shown_after(terminal, "all of it")
    assert progress._BARS == []


def test_no_bar_is_shown_while_results_are_printed(monkeypatch):
    terminal = a_terminal(monkeypatch)
    with working("all of it"):
        assert shown_after(terminal, "all of it")
        with without_bars():
            assert not progress._BARS[0].live.is_started
            with ticking("a part", 2, True) as tick:
                tick(1)
            assert "a part" not in terminal.getvalue()
        assert progress._BARS[0].live.is_started


@pytest.mark.parametrize(("arguments", "shown"), [((), True), (("--json",), False)])
def test_a_long_command_shows_that_it_works_but_not_beside_json(monkeypatch, arguments, shown):
    terminal = a_terminal(monkeypatch)

    def long_work(**given):
        if shown:
            assert shown_after(terminal, "bayesbias describe")
        else:
            threading.Event().wait(0.3)

    monkeypatch.setattr(inspect.describe, "callback", long_work)
    cli.main(["describe", *arguments], prog_name="bayesbias", standalone_mode=False)
    assert ("bayesbias describe" in terminal.getvalue()) == shown


def test_the_bar_of_a_sampler_follows_its_draws(monkeypatch):
    """The last picture that nutpie's chains give is of all draws of both chains."""
    ticks = []
    table = bb.distance_table("minilm-static", "weat6", controls="none")
    bar = ticks.append, lambda: None
    monkeypatch.setattr(progress, "_terminal_bar", lambda *_: bar)
    bb.fit(table, seed=1, draws=300, tune=200, chains=2, progress=True)
    assert ticks == sorted(ticks)
    assert 0 < ticks[-1] <= 1000
