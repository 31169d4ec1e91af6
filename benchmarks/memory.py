"""What fits hold that are kept: one, and a hundred in one process."""

from __future__ import annotations

import gc
import platform
import time
from pathlib import Path

import bayesbias as bb
from benchmarks._common import spread

KEPT = 100


def resident() -> float:
    """Return the resident memory of this process in MB."""
    if platform.system() != "Linux":
        raise bb.InputError(
            "the benchmark of memory reads /proc", found=platform.system(), valid="Linux"
        )
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    import resource

    return pages * resource.getpagesize() / 1e6


def main() -> None:
    table = bb.distance_table("minilm-static", "religion")
    bb.fit(table, seed=0, draws=10, tune=10).summary()
    gc.collect()
    before = resident()
    fits, seconds = [], []
    sizes = {}
    for seed in range(KEPT):
        start = time.perf_counter()
        fits.append(bb.fit(table, seed=seed))
        seconds.append(time.perf_counter() - start)
        fits[-1].summary()
        if len(fits) in (1, 10, KEPT // 2, KEPT):
            gc.collect()
            sizes[len(fits)] = resident()
    print(
        f"model {fits[0].spec.name} on religion in minilm-static, {len(table):,} pairs, 4 x 1000 draws"
    )
    print(f"  before the first fit {before:.0f} MB resident")
    for n, size in sizes.items():
        print(f"  {n:>4} fits kept, each asked for its summary: {size:.0f} MB")
    print(f"  a fit {spread(seconds)}")
    start = time.perf_counter()
    fits[0].parameter_draws()
    print(f"  all draws of the first fit again {time.perf_counter() - start:.2f} s")
