"""Reading and fitting millions of pairs: time and peak memory of a process of its own, beside pandas alone."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

WORDS, ATTRIBUTES, CLASSES = 2500, 2000, 5

READ = """
import pyarrow.csv, pyarrow.parquet, pandas, bayesbias as bb
begin()
table = bb.load_distances(path)
"""
FIT = f"{READ}end(); begin(); bb.fit(table, seed=1)\n"
PANDAS = "import pandas\nbegin()\ntable = pandas.read_csv(path, dtype=str, keep_default_na=False)\n"
CLOCK = """
import resource, sys, time
path = sys.argv[1]
def begin():
    global start
    start = time.perf_counter(), time.process_time()
def end():
    wall, cpu = time.perf_counter() - start[0], time.process_time() - start[1]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{wall:.1f} s ({cpu:.1f} s of processor), at most {peak:.2f} GiB so far", flush=True)
"""


def write_pairs(path: Path) -> None:
    """Write a grid of pairs as CSV, without bayesbias."""
    import pandas as pd

    rng = np.random.default_rng(0)
    words, attributes = np.arange(WORDS), np.arange(ATTRIBUTES)
    lists = np.array([*(f"class{k}" for k in range(CLASSES)), "human", "neutral"])
    columns = pd.DataFrame(
        {
            "attribute": [f"a{i}" for i in attributes],
            "attribute_class": lists[attributes % len(lists)],
        }
    )
    control = columns["attribute_class"].isin(["human", "neutral"])
    columns["attribute_kind"] = columns["attribute_class"].where(control, "stereotype")
    effect = rng.normal(0, 0.05, ATTRIBUTES)
    for word in words:
        own = f"class{word % CLASSES}"
        connection = np.where(columns["attribute_class"] == own, "associated", "different")
        connection = np.where(control, columns["attribute_class"], connection)
        distance = (
            0.8 + effect - 0.03 * (connection == "associated") + rng.normal(0, 0.05, ATTRIBUTES)
        )
        part = columns.assign(
            protected_word=f"w{word}", protected_class=own, connection=connection, distance=distance
        )
        part.to_csv(path, mode="a" if word else "w", header=not word, index=False)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pairs.csv"
        write_pairs(path)
        print(f"{WORDS * ATTRIBUTES:,} pairs, CSV of {path.stat().st_size / 2**20:.0f} MiB")
        for name, code in (
            ("pandas.read_csv, texts", PANDAS),
            ("load_distances", READ),
            ("load_distances, then fit", FIT),
        ):
            done = subprocess.run(
                [sys.executable, "-c", f"{CLOCK}{code}end()", str(path)],
                check=True,
                capture_output=True,
                text=True,
            )
            print(f"  {name}: {'; then '.join(done.stdout.splitlines())}")


if __name__ == "__main__":
    main()
