"""Writers killed at random moments, and two at once: what stands there is whole, the old or the new."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.places import ROOT
from helpers.seeds import shifted

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
JOBS = ("run", "fit", "vectors", "cache", "sweep", "batches")


def counted(*arguments: object) -> list[int]:
    """Do it in a process that has one thread and may be forked."""
    places = os.pathsep.join((str(ROOT), str(ROOT / "tests")))
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-W", "ignore", str(ROOT / "tests" / "helpers" / "kills.py")]
    done = subprocess.run(
        [*command, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": places, **threads},
        capture_output=True, text=True, timeout=900,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return [int(number) for number in done.stdout.split()]


@pytest.mark.slow
def test_a_few_kills(tmp_path):
    """More below, of all that is written; before every call of the system in the tests of `files` and `transaction`."""
    assert counted("kill", "run", tmp_path, 10, shifted(1)) == [10, 10]


@pytest.mark.claim
@pytest.mark.parametrize("job", JOBS)
def test_dozens_of_kills(job, tmp_path):
    kills, there = counted("kill", job, tmp_path, 60, shifted(1))
    assert kills == 60
    assert there > 30


@pytest.mark.claim
@pytest.mark.parametrize("job", ["run", "fit", "cache"])
def test_two_writers_and_a_reader_at_once(job, tmp_path: Path):
    (reads,) = counted("both", job, tmp_path, 10)
    assert reads >= 5
