"""Tasks in this process and in others, and workers that die."""

from __future__ import annotations

import os
import signal
import time
import warnings
from collections import deque

import pytest
from helpers.tasks import dies, dies_once, interrupted, panics, threads, warned

from bayesbias.core.workers import Hands, Task


@pytest.mark.slow
def test_a_task_that_kills_its_worker_is_tried_again_alone_and_reported(tmp_path):
    """The other tasks are done, whichever worker they were on."""
    answers: dict[str, str] = {}

    def task(name, work, *arguments):
        return Task(
            work,
            arguments,
            lambda value: answers.update({name: value}),
            lambda error: answers.update({name: error}),
        )

    tasks = deque([task("deadly", dies)])
    tasks += [task(f"good {k}", str, k) for k in range(6)]
    tasks.append(task("wrong", int, "x"))
    with Hands(2) as hands:
        hands.carry_out(deque([task("first", os.getpid)]), expected=2)
        os.kill(int(answers.pop("first")), signal.SIGKILL)  # it dies while it has nothing to do
        time.sleep(0.2)
        hands.carry_out(tasks)
        hands.carry_out(deque([task("once", dies_once, str(tmp_path / "mark"))]))
    assert answers.pop("deadly").startswith("the worker process died 2 times")
    assert answers.pop("once") == "lived"
    assert answers.pop("wrong").startswith("ValueError: invalid literal")
    assert answers == {f"good {k}": str(k) for k in range(6)}


def _answers(*tasks: tuple) -> list[str]:
    """Return what each task gave, in the order in which this process came to it."""
    said: list[str] = []
    with Hands(1) as hands:
        hands.carry_out(deque(Task(work, rest, said.append, said.append) for work, *rest in tasks))
    return said


def test_without_workers_an_error_is_still_that_of_its_task_alone():
    said = _answers((int, "x"), (panics,), (str, 3))
    assert said[0].startswith("ValueError: invalid literal")
    assert said[1:] == ["BaseException: a compiled library panicked", "3"]
    with pytest.raises(KeyboardInterrupt):  # that is for the sweep, not for one cell
        _answers((interrupted,), (str, 3))


def test_without_workers_libraries_have_one_thread_and_warnings_fail_nothing():
    import scipy.linalg  # noqa: F401 - brings its own copy of the linear algebra

    before = threads()
    assert _answers((threads,)) == [1]
    assert threads() == before
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("error")
        assert _answers((warned,)) == ["lived"]
    assert [str(warning.message) for warning in shown] == ["a word to the user"]


def test_without_workers_what_a_task_adds_comes_before_the_next_task():
    """So that only the tables of one file at a time are held in memory."""
    order: list[str] = []
    tasks: deque[Task] = deque()

    def then(table: str) -> None:
        order.append(table)
        tasks.appendleft(Task(str, (f"fit of {table}",), order.append, order.append))

    tasks.extend(Task(str, (name,), then, order.append, tables=True) for name in "ab")
    with Hands(1) as hands:
        hands.carry_out(tasks)
    assert order == ["a", "fit of a", "b", "fit of b"]


def test_workers_are_told_to_use_one_thread():
    said: list[str] = []
    tasks = deque(
        Task(os.getenv, (name,), said.append, said.append) for name in ["OMP_NUM_THREADS"]
    )
    with Hands(2) as hands:
        hands.carry_out(tasks, expected=2)
    assert said == ["1"]
