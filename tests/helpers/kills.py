"""Jobs that write again and again, for tests that kill them; each says how it is checked.

Run as a program: ``python kills.py kill JOB FOLDER KILLS SEED`` forks writers one by one, and kills each at a random moment.
"""

from __future__ import annotations

import functools
import itertools
import os
import random
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from bayesbias.runs.kinds import LAYOUTS, files_of_run
from bayesbias.runs.transaction import whole_folder
from bayesbias.runs.verifying import verify_run

from bayesbias.core.seals import State
from bayesbias.core.workers import Hands
from bayesbias.embeddings.embedding import Embedding
from bayesbias.embeddings.loading import load_embedding
from bayesbias.embeddings.writing import save_embedding
from bayesbias.encoders.encoder import function_encoder
from bayesbias.encoders.encoding import encode
from bayesbias.inference.fitting import load_fit
from bayesbias.simulation.batches import batch_folder, in_batches
from bayesbias.sweeps import sweeping
from helpers.damage import made_up_run
from helpers.fits import made_up, pairs
from helpers.sweeps import made_up_cell, write_inputs

SENTENCES = [f"This is number {number}." for number in range(3000)]


class Job:
    """Writes into a folder for ever, and checks what stands there; `finished` counts what was written before the kill."""

    alone = True  # whether nobody writes while it is checked

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, number: int) -> None:
        """Write once."""
        raise NotImplementedError

    def check(self) -> bool:
        """Check all; return whether anything is there."""
        raise NotImplementedError


class RunJob(Job):
    """Runs of two kinds that replace each other; in every second writer beside a file of somebody else."""

    def write(self, number: int) -> None:
        target = self.folder / "run"
        with whole_folder(target, files_of_run) as new:
            made_up_run(new, LAYOUTS[("words", "change")[number % 2]])

    def check(self) -> bool:
        target = self.folder / "run"
        if not target.exists():
            return False
        if (target / "mine.txt").exists():
            assert (target / "mine.txt").read_text() == "mine"
        elif random.random() < 0.3:
            (target / "mine.txt").write_text("mine")
        found = verify_run(target)
        assert found.ok, found
        assert found.kind in ("words", "change")
        assert found.count(State.UNVERIFIED) == 0
        left = {p.relative_to(target).as_posix() for p in target.rglob("*") if p.is_file()}
        left = {name for name in left if not name.startswith(".unfinished-")}
        assert not self.alone or left - {"mine.txt"} == {file.name for file in found.files}
        return True


class FitJob(Job):
    """Two fits under one name."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.fits = [made_up(pairs(), values={"c": value}) for value in (0.8, 0.9)]
        self.means = [float(fit.idata["posterior"]["c"].mean()) for fit in self.fits]

    def write(self, number: int) -> None:
        self.fits[number % 2].save(self.folder / "fit.nc")

    def check(self) -> bool:
        path = self.folder / "fit.nc"
        if not path.exists():
            return False
        assert float(load_fit(path).idata["posterior"]["c"].mean()) in self.means
        return True


class VectorsJob(Job):
    """Two sets of vectors under one name."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        words = tuple(f"w{number}" for number in range(400))
        draw = np.random.default_rng(0).normal
        self.sets = [Embedding("mine", words, draw(size=(400, 20)).astype(np.float32)) for _ in range(2)]

    def write(self, number: int) -> None:
        save_embedding(self.sets[number % 2], self.folder / "two.txt")

    def check(self) -> bool:
        path = self.folder / "two.txt"
        if not path.exists():
            return False
        read = load_embedding(path).vectors
        assert any(np.array_equal(read.astype(np.float32), one.vectors) for one in self.sets)
        return True


def vectors_of(texts: list[str]) -> np.ndarray:
    return np.array([[len(text), ord(text[-2]), 1.5] for text in texts])


class CacheJob(Job):
    """One cache, more sentences each time."""

    def write(self, number: int) -> None:
        part = SENTENCES[: 40 * (number % 70 + 1)]
        encode(function_encoder(vectors_of, name="t", version="1"), part, cache=self.folder / "cache.sqlite")

    def check(self) -> bool:
        if not (self.folder / "cache.sqlite").exists():
            return False
        encoder = function_encoder(vectors_of, name="t", version="1")
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # no vector is damaged
            made = encode(encoder, SENTENCES[:2000:7], cache=self.folder / "cache.sqlite")
        np.testing.assert_array_equal(made, vectors_of(SENTENCES[:2000:7]))
        return True


def thrown_away(folder: Path) -> None:
    """Put a folder out of the way, in one step, so that nobody is killed while it is half there."""
    folder.rename(folder.with_name(f"rest-{os.getpid()}-{time.monotonic_ns()}"))


class SweepJob(Job):
    """A sweep of made-up numbers, resumed after each kill."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        sweeping.fit_cell = made_up_cell  # type: ignore[assignment]
        self.plan = {
            "embeddings": [str(folder / "e0.npz"), str(folder / "e1.npz")],
            "wordlists": [str(folder / "pets.toml"), str(folder / "meals.toml")],
            "models": ["additive", "crossed", "default"],
            "settings": {"seed": [1, 2, 3], "keep_fits": True},
        }
        write_inputs(folder)
        self.whole = sweeping.run_sweep(self.plan, folder / "undisturbed", workers=1).frame

    def write(self, number: int) -> None:
        if number:
            thrown_away(self.folder / "out")
        sweeping.run_sweep(self.plan, self.folder / "out", workers=1, resume=True)

    def check(self) -> bool:
        out = self.folder / "out"
        if not (out / "sweep.json").exists():
            return False
        found = verify_run(out)
        assert found.ok, found
        result = sweeping.run_sweep(self.plan, out, workers=1, resume=True)
        assert not result.damaged
        assert result.frame.equals(self.whole)
        assert verify_run(out).ok
        return True


def rows_of(first: int, count: int) -> list[dict[str, Any]]:
    return [{"table": number, "value": number / 3} for number in range(first, first + count)]


class BatchesJob(Job):
    """Batches of a calibration."""

    def write(self, number: int) -> None:
        if number:
            thrown_away(self.folder / "batches")
        self._all()

    def _all(self) -> list[dict[str, Any]]:
        folder = batch_folder(self.folder / "batches", {"a": 1}, (self.folder / "batches").exists())
        return in_batches(rows_of, 200, folder, Hands(1), "tables", False, size=4)

    def check(self) -> bool:
        if not (self.folder / "batches" / "calibration.json").exists():
            return False
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # no batch is damaged
            assert self._all() == rows_of(0, 200)
        return True


JOBS: dict[str, Callable[[Path], Job]] = {
    "run": RunJob,
    "fit": FitJob,
    "vectors": VectorsJob,
    "cache": CacheJob,
    "sweep": SweepJob,
    "batches": BatchesJob,
}


def write_for_ever(job: Job) -> None:
    """Write until the end of this process, which is no other than to be killed."""
    try:
        for number in itertools.count():
            job.write(number)
    except BaseException:
        traceback.print_exc()
    os._exit(1)


def kill_at_random(name: str, folder: Path, kills: int, seed: int) -> None:
    """Print how many writers were killed, and after how many of them something was there."""
    random.seed(seed)
    os.fsync = lambda handle: None  # it takes long, and matters only where the whole machine dies
    job = JOBS[name](folder)
    started = time.perf_counter()
    job.write(0)
    once = time.perf_counter() - started
    there = 0
    for _ in range(kills):
        child = os.fork()
        if not child:
            write_for_ever(job)
        time.sleep(random.uniform(0, 3 * once))
        os.kill(child, signal.SIGKILL)
        ended = os.waitpid(child, 0)[1]
        assert ended == signal.SIGKILL, f"the writer ended by itself: {ended}"
        there += job.check()
    print(kills, there)


def write_at_once(name: str, folder: Path, seconds: float) -> None:
    """Two writers and a reader at once, on one place; print how often it was read."""
    job = JOBS[name](folder)
    job.alone = False
    job.write(0)
    writers = []
    for _ in range(2):
        child = os.fork()
        if not child:
            write_for_ever(job)
        writers.append(child)
    end, reads = time.monotonic() + seconds, 0
    try:
        while time.monotonic() < end:
            reads += job.check()
    finally:
        for child in writers:
            os.kill(child, signal.SIGKILL)
        ended = [os.waitpid(child, 0)[1] for child in writers]
    assert ended == [signal.SIGKILL] * 2, f"a writer ended by itself: {ended}"
    job.check()
    print(reads)


if __name__ == "__main__":
    what, kind, place, *numbers = sys.argv[1:]
    act: dict[str, Callable[..., None]] = {
        "kill": functools.partial(kill_at_random, kind, Path(place)),
        "both": functools.partial(write_at_once, kind, Path(place)),
    }
    act[what](*map(int, numbers))
