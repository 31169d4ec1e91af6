"""Tasks in this process and in others, and workers that die."""

from __future__ import annotations

import os
import signal
import time
from collections import deque

import pytest
from helpers.tasks import dies, dies_once, interrupted, panics, threads, warns

from bayesbias.core import describe_error
from bayesbias.core.errors import format_warning
from bayesbias.core.workers import Hands, Task


def _answers(hands: Hands, *tasks: tuple) -> dict[str, str]:
    """Return what each task gave, an answer or an error, in the order in which they were done."""
    queue = deque(Task(name, work, tuple(rest)) for name, work, *rest in tasks)
    answers = {}
    for key, answer, error in hands.answers(queue, expected=2):
        answers[key] = answer if error is None else describe_error(error)
    return answers


@pytest.mark.slow
def test_a_task_that_kills_its_worker_is_tried_again_alone_and_reported(tmp_path):
    """The other tasks are done, whichever worker they were on."""
    good = [(f"good {k}", str, k) for k in range(6)]
    with Hands(2) as hands:
        first = _answers(hands, ("first", os.getpid))["first"]
        os.kill(int(first), signal.SIGKILL)  # it dies while it has nothing to do
        time.sleep(0.2)
        answers = _answers(hands, ("deadly", dies), *good, ("wrong", int, "x"))
        once = _answers(hands, ("once", dies_once, str(tmp_path / "mark")))
    assert once == {"once": "lived"}
    assert answers.pop("deadly").startswith("the worker process died 2 times")
    assert answers.pop("wrong").startswith("ValueError: invalid literal")
    assert answers == {f"good {k}": str(k) for k in range(6)}


def test_without_workers_an_error_is_still_that_of_its_task_alone():
    with Hands(1) as hands:
        said = list(_answers(hands, (0, int, "x"), (1, panics), (2, str, 3)).values())
        assert said[0].startswith("ValueError: invalid literal")
        assert said[1:] == ["BaseException: a compiled library panicked", "3"]
        with pytest.raises(KeyboardInterrupt):  # that is for the sweep, not for one cell
            _answers(hands, (0, interrupted), (1, str, 3))


def test_without_workers_libraries_have_one_thread():
    import scipy.linalg  # noqa: F401 - brings its own copy of the linear algebra

    before = threads()
    with Hands(1) as hands:
        assert _answers(hands, ("n", threads)) == {"n": 1}
    assert threads() == before


def test_without_workers_what_a_task_adds_comes_before_the_next_task():
    """So that only the tables of one file at a time are held in memory."""
    order: list[str] = []
    tasks = deque(Task(name, str, (name,), tables=True) for name in "ab")
    with Hands(1) as hands:
        for key, answer, _ in hands.answers(tasks):
            order.append(answer)
            if key in "ab":
                tasks.appendleft(Task("fit", str, (f"fit of {key}",)))
    assert order == ["a", "fit of a", "b", "fit of b"]


def test_workers_are_told_to_use_one_thread():
    with Hands(2) as hands:
        assert _answers(hands, ("n", os.getenv, "OMP_NUM_THREADS")) == {"n": "1"}


def test_warnings_of_workers_look_as_those_of_the_command(monkeypatch, capfd):
    for formatted in (True, False):
        formatter = format_warning if formatted else str
        monkeypatch.setattr("warnings.formatwarning", formatter)
        with Hands(2) as hands:
            _answers(hands, ("w", warns))
        lines = capfd.readouterr().err.splitlines()
        assert (lines == ["Warning  a warning of a task"]) == formatted
        assert "a warning of a task" in lines[0]
