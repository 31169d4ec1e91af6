"""Replace runs in processes that are killed; print what is left as JSON. Run as a program."""

import dataclasses
import json
import os
import random
import shutil
import signal
import sys
import time
import warnings
from pathlib import Path

from matplotlib.figure import Figure

import bayesbias as bb
from bayesbias.core.sections import Section
from bayesbias.output.store import verify_run

CALLS = ("mkdir", "rename", "replace", "unlink", "rmdir")
POINTS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34, 36, 38, 40)
RANDOM_KILLS = 12
if os.environ.get("BAYESBIAS_TEST_SHORT"):
    POINTS, RANDOM_KILLS = POINTS[::4], 2


def kill_at(number: int) -> None:
    """Kill this process before the given call that changes a folder."""
    count = [0]

    def counted(real):
        def call(*args, **kwargs):
            count[0] += 1
            if count[0] == number:
                os.kill(os.getpid(), signal.SIGKILL)
            return real(*args, **kwargs)

        return call

    for name in CALLS:
        setattr(os, name, counted(getattr(os, name)))


def forked(action) -> int:
    """Run an action in a copy of this process; return the id of it."""
    process = os.fork()
    if process:
        return process
    try:
        action()
        os._exit(0)
    except BaseException:
        os._exit(1)


def state_of(folder: Path, status: int) -> dict:
    """Describe a folder as the next reader finds it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = bb.load_run(folder).result.provenance["mark"]
    return {
        "signal": os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0,
        "mark": found,
        "states": sorted(set(verify_run(folder).values())),
        "notes": (folder / "notes.txt").read_text(),
        "completed": any("now complete" in str(warning.message) for warning in caught),
    }


def main(place: Path) -> None:
    """Kill replacements at chosen calls, and at random times."""
    warnings.simplefilter("ignore", DeprecationWarning)  # fork of a process with threads
    Section.draw = lambda section: Figure(figsize=(1, 1))  # drawing takes most of the time
    analysis = bb.sentiment_analysis(bb.list_predictions("m1"))
    provenance = analysis.provenance
    old, new = (
        dataclasses.replace(analysis, provenance={**provenance, "mark": mark})
        for mark in ("old", "new")
    )
    first = place / "first"
    bb.save_run(old, first, figures=["png"])
    (first / "notes.txt").write_text("mine")

    def replace(folder: Path) -> None:
        bb.save_run(new, folder, figures=["svg"])

    start = time.perf_counter()
    shutil.copytree(first, place / "timed" / "run")
    replace(place / "timed" / "run")
    seconds = time.perf_counter() - start

    rng = random.Random(1)
    rows = []
    for number in range(len(POINTS) + RANDOM_KILLS):
        folder = place / f"kill-{number}" / "run"
        shutil.copytree(first, folder)

        def action(folder=folder, number=number) -> None:
            if number < len(POINTS):
                kill_at(POINTS[number])
            replace(folder)

        process = forked(action)
        if number >= len(POINTS):
            time.sleep(rng.uniform(0, seconds))
            os.kill(process, signal.SIGKILL)
        _, status = os.waitpid(process, 0)
        row = {"number": number, **state_of(folder, status)}

        replace(folder)
        row["mark_after"] = bb.load_run(folder).result.provenance["mark"]
        row["hidden_after"] = sorted(path.name for path in folder.parent.rglob(".*"))
        rows.append(row)
    print(json.dumps(rows))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
