"""What is killed and resumed ends as if nothing had happened, in processes and on a cluster."""

from __future__ import annotations

import json
import logging
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pandas as pd
import pytest
from helpers.clusters import local_cluster
from helpers.sweeps import cell_files, results, write_inputs, write_plan

from bayesbias.core.errors import FitError, InputError
from bayesbias.core.workers import _silent_log
from bayesbias.sweeps.plan import LABELS, load_plan
from bayesbias.sweeps.sweeping import run_sweep


@pytest.mark.claim  # beside it the whole sweep is killed, and resumed
def test_a_worker_killed_from_outside_loses_nothing(done, tmp_path):
    plan, out = done
    killed = []

    def kill_one() -> None:
        while not (tmp_path / "out" / "cells").exists() or not os.listdir(
            tmp_path / "out" / "cells"
        ):
            time.sleep(0.01)
        victim = multiprocessing.active_children()[0]
        killed.append(victim.pid)
        victim.kill()

    thread = threading.Thread(target=kill_one, daemon=True)
    thread.start()
    result = run_sweep(plan, tmp_path / "out", workers=2)
    thread.join(timeout=60)
    assert len(killed) == 1
    assert (result.cells["status"] == "ok").all()
    assert results(tmp_path / "out") == results(out)


@pytest.mark.slow
def test_a_script_without_the_guard_is_told_so(tmp_path):
    write_inputs(tmp_path)
    (tmp_path / "script.py").write_text(
        f"from bayesbias import run_sweep\nrun_sweep({str(tmp_path / 'plan.toml')!r}, {str(tmp_path / 'o')!r})\n",
        encoding="utf-8",
    )
    made = subprocess.run(
        [sys.executable, str(tmp_path / "script.py")], capture_output=True, text=True, timeout=600
    )
    assert made.returncode == 1
    assert '__name__ == "__main__"' in made.stderr
    assert FitError.__name__ in made.stderr


def _alive(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.full
@pytest.mark.claim
def test_killed_and_resumed_the_results_are_the_same(tmp_path):
    """`kill -9` at random moments: workers end with the sweep, no cell is torn, none is fitted twice."""
    kills, seeds = 10, 26
    plan, out = write_inputs(tmp_path), tmp_path / "out"
    write_plan(tmp_path, wordlists=["pets.toml"], settings={"seed": list(range(seeds))})
    run_sweep(plan, tmp_path / "undisturbed", workers=1)
    total = len(load_plan(plan))
    (tmp_path / "go.py").write_text(
        "import sys\nfrom bayesbias import run_sweep\n"
        'if __name__ == "__main__":\n    run_sweep(sys.argv[1], sys.argv[2], workers=2, resume=True)\n',
        encoding="utf-8",
    )

    def finished() -> dict[str, int]:
        files = cell_files(out) if (out / "cells").is_dir() else {}
        return {name: mark for name, mark in files.items() if not name.startswith(".")}

    random = np.random.default_rng(3)
    counts = [0]
    for turn in range(kills):
        before = finished()
        process = subprocess.Popen(
            [sys.executable, str(tmp_path / "go.py"), str(plan), str(out)], start_new_session=True
        )
        # Every third time while it starts; else some moments after it has begun to write.
        while turn % 3 and process.poll() is None and len(finished()) == len(before):
            time.sleep(0.005)
        time.sleep(random.uniform(0.2, 2.0) if turn % 3 == 0 else random.uniform(0.0, 0.4))
        os.kill(process.pid, signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL, "it was through before it could be killed"
        for _ in range(100):
            if not _alive(process.pid):
                break
            time.sleep(0.1)
        assert not _alive(process.pid), "a worker outlived the sweep"
        now = finished()
        assert all(now[name] == mark for name, mark in before.items()), (
            "a finished cell was fitted again"
        )
        assert all(
            json.loads((out / "cells" / name).read_text(encoding="utf-8"))["rows"] for name in now
        )
        counts.append(len(now))
    assert len(set(counts)) > kills // 2, counts  # it got further most times
    assert counts[-1] < total
    assert run_sweep(plan, out, workers=1, resume=True).reused == counts[-1]
    assert results(out) == results(tmp_path / "undisturbed")
    assert not list(out.glob("cells/.*"))


@pytest.fixture
def cluster(tmp_path):
    """Start a scheduler and two workers on loopback; return its address and the workers."""
    pytest.importorskip("distributed")
    with local_cluster(tmp_path) as started:
        yield started


@pytest.mark.full
@pytest.mark.claim  # a scheduler and two workers are started
def test_a_cluster_gives_the_same_results_and_survives_a_killed_worker(done, cluster, tmp_path):
    plan, out = done
    address, workers, _ = cluster
    fitted = []

    def kill_one() -> None:
        folder = tmp_path / "out" / "cells"
        while not folder.exists() or len(os.listdir(folder)) < 2:
            time.sleep(0.01)
        fitted.append(len(os.listdir(folder)))
        workers[0].kill()

    thread = threading.Thread(target=kill_one, daemon=True)
    thread.start()
    result = run_sweep(plan, tmp_path / "out", dask=address)
    thread.join(timeout=60)
    assert fitted[0] < 8
    assert workers[0].wait(timeout=60) == -signal.SIGKILL
    assert (result.cells["status"] == "ok").all()
    columns = ["cell", *LABELS, "quantity", "level", "name", "term", "estimand"]
    local = pd.read_parquet(out / "results.parquet")
    pd.testing.assert_frame_equal(result.frame[columns], local[columns])
    np.testing.assert_allclose(
        result.frame["mean"].astype(float), local["mean"].astype(float), rtol=1e-9
    )


@pytest.mark.full
@pytest.mark.claim  # a scheduler and two workers are started
def test_a_lost_scheduler_is_one_line_without_the_log_of_dask(tmp_path):
    pytest.importorskip("distributed")
    plan, out = write_inputs(tmp_path), tmp_path / "out"
    write_plan(tmp_path, models=["crossed"], settings={"seed": list(range(60))})
    with local_cluster(tmp_path) as (address, _, scheduler):
        command = [sys.executable, "-m", "bayesbias", "sweep", str(plan), "--out", str(out)]
        process = subprocess.Popen(
            [*command, "--dask", address],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        while process.poll() is None and not list(out.glob("cells/*.json")):
            time.sleep(0.02)
        scheduler.kill()
        _, said = process.communicate(timeout=120)
    assert process.returncode == 2
    assert said.splitlines() == [
        f"bayesbias: the Dask scheduler at {address} is gone; finished work is safe, and "
        "--resume goes on"
    ]


def test_logs_are_silent_for_a_while_and_then_as_before(caplog):
    client = logging.getLogger("distributed.client")
    other = logging.getLogger("elsewhere")
    level = client.level
    client.setLevel(logging.WARNING)  # as Dask sets it
    try:
        with _silent_log("distributed"):
            client.error("lost")
            logging.getLogger("distributed.later").error("lost too")
            other.error("heard")
        assert client.level == logging.WARNING
        assert logging.getLogger("distributed.later").isEnabledFor(logging.ERROR)
    finally:
        client.setLevel(level)
    assert caplog.messages == ["heard"]


@pytest.mark.slow
def test_without_distributed_the_message_says_how_to_get_it(done, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InputError, match=r"pip install '.\[dask\]'"):
        run_sweep(done[0], tmp_path / "out", dask="tcp://127.0.0.1:1")
