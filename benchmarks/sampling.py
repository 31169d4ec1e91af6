"""Effective draws per second of the slowest population parameter: collapsed against plain PyMC with nutpie."""

from __future__ import annotations

import statistics
import time

import bayesbias as bb
from benchmarks._common import paper_table, slowest_ess, spread


def main() -> None:
    import nutpie

    table = paper_table()
    settings = {"draws": 1000, "tune": 1000, "chains": 4, "cores": 2}
    print(
        f"crossed model on {table.provenance['name']}, {len(table):,} pairs, 4 x 1000 draws after 1000 of tuning"
    )
    plain = bb.inference.build("crossed", table)
    start = time.perf_counter()
    compiled = nutpie.compile_pymc_model(plain)
    print(f"  plain PyMC, compilation (not counted): {time.perf_counter() - start:.1f} s")
    bb.fit(
        table, "crossed", seed=0, draws=10, tune=10, pointwise=False
    )  # warm: compilation not counted either
    theirs, ours = [], []
    for seed in range(3):
        start = time.perf_counter()
        idata = nutpie.sample(
            compiled, **settings, seed=seed, progress_bar=False, target_accept=0.9
        )
        theirs.append(slowest_ess(idata) / (time.perf_counter() - start))
        start = time.perf_counter()
        fit = bb.fit(table, "crossed", seed=seed, pointwise=False)
        ours.append(slowest_ess(fit) / (time.perf_counter() - start))
    print(f"  plain PyMC with nutpie: {spread(theirs, 'effective draws/s')}")
    print(f"  bayesbias, collapsed:   {spread(ours, 'effective draws/s')}")
    print(f"  ratio of medians: {statistics.median(ours) / statistics.median(theirs):.0f}")
