"""A Dask cluster on loopback."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path


def _start(*arguments: str) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-m", "distributed.cli.dask_scheduler" if arguments[0] == "scheduler" else
         "distributed.cli.dask_worker", *arguments[1:]],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip


@contextlib.contextmanager
def local_cluster(
    folder: Path,
) -> Iterator[tuple[str, list[subprocess.Popen], subprocess.Popen]]:
    """Start a scheduler and two workers; yield its address, the workers and the scheduler."""
    port_file = folder / "scheduler.json"
    started = [
        _start(
            "scheduler",
            "--host",
            "127.0.0.1",
            "--port",
            "0",
            "--no-dashboard",
            "--scheduler-file",
            str(port_file),
        )
    ]
    try:
        limit = time.monotonic() + 300
        while not port_file.exists() or not port_file.read_text(encoding="utf-8"):
            assert time.monotonic() < limit, "the scheduler did not start"
            time.sleep(0.1)
        address = json.loads(port_file.read_text(encoding="utf-8"))["address"]
        for number in range(2):
            local = str(folder / f"worker{number}")
            started.append(
                _start(
                    "worker",
                    address,
                    "--nthreads",
                    "1",
                    "--no-nanny",
                    "--no-dashboard",
                    "--local-directory",
                    local,
                )
            )
        yield address, started[1:], started[0]
    finally:
        for process in reversed(started):
            process.kill()
            process.wait()
