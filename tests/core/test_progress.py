"""Progress: on a terminal, in a notebook, and nowhere else."""

from __future__ import annotations

import io
import sys
import threading
from types import SimpleNamespace

import pytest

from bayesbias.core import progress
from bayesbias.core.progress import ticking


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
