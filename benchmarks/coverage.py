"""Coverage of 1,000 simulated tables at the spreads of religion/Reddit, and 100 fits in one sweep."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from bayesbias.simulation.coverage import coverage_simulated
from bayesbias.simulation.scenario import Scenario, simulate_table


def main() -> None:
    start = time.perf_counter()
    report = coverage_simulated(Scenario(), tables=1000, methods=("crossed",), progress=False)
    seconds = time.perf_counter() - start
    print(f"1,000 tables simulated from crossed and fitted by it: {seconds:.0f} s")
    print(
        report[["contrast", "coverage", "coverage_se", "width"]].to_string(
            index=False, float_format="%.3f"
        )
    )
    others = ("hierarchical", "averages_t", "pairs_t", "moments")
    report = coverage_simulated(Scenario(), tables=1000, methods=others, progress=False)
    print(
        report[["method", "contrast", "coverage", "coverage_se", "width"]].to_string(
            index=False, float_format="%.3f"
        )
    )

    with tempfile.TemporaryDirectory() as folder:
        names = []
        rng = np.random.default_rng(0)
        for number in range(100):
            frame = simulate_table(Scenario(), int(rng.integers(2**31)))
            frame["distance"] = frame["distance"].clip(0, 2)
            names.append(f"table{number:03d}.csv")
            frame.to_csv(Path(folder) / names[-1], index=False)
        plan = Path(folder) / "plan.toml"
        plan.write_text(f"schema = 1\ndistances = {names!r}\nmodels = ['crossed']\n")
        start = time.perf_counter()
        command = [
            sys.executable,
            "-m",
            "bayesbias",
            "sweep",
            str(plan),
            "--out",
            str(Path(folder) / "run"),
        ]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        print(
            f"100 paper-sized fits in one sweep, whole process: {time.perf_counter() - start:.0f} s"
        )
