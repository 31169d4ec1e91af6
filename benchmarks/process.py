"""``bayesbias fit --distances`` as a whole process: cold (empty caches) and warm."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks._common import paper_table, spread


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "table.csv"
        paper_table().save(file)

        def run(cache: str) -> float:
            environment = {
                **os.environ,
                "NUMBA_CACHE_DIR": cache,
                "BAYESBIAS_CACHE": cache,
                "MPLCONFIGDIR": cache,
            }
            command = [
                sys.executable,
                "-m",
                "bayesbias",
                "fit",
                "--distances",
                str(file),
                "--json",
                "--seed",
                "1",
            ]
            start = time.perf_counter()
            subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
            return time.perf_counter() - start

        cold = [run(tempfile.mkdtemp(dir=folder)) for _ in range(3)]
        kept = tempfile.mkdtemp(dir=folder)
        run(kept)
        warm = [run(kept) for _ in range(5)]
    print("bayesbias fit --distances on a paper-sized table, whole process")
    print(f"  cold (empty compile caches): {spread(cold)}")
    print(f"  warm:                        {spread(warm)}")
