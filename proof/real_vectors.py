"""Coverage on real vectors: small lists from pools of words, the value of the pool as truth."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

import bayesbias as bb
from bayesbias.models.loading import DEFAULT_MODEL
from benchmarks.real_coverage import POOLS, SITUATIONS, pool_of
from proof.evidence import Evidence, Known

TABLES = 600
SEED = 0
FROM_FLAWLESS = 0.04


def run(share: float, known: Known) -> Iterator[Evidence]:
    """Hold the default model to what a flawless method would show."""
    claim = "89 % intervals by the default hold the value of the pool, overall and by class, as often as a flawless method: {}."
    n = max(20, round(TABLES * share))
    for situation in SITUATIONS:
        if not POOLS.is_dir():
            why = "the pools do not lie beside the checkout"
            yield Evidence(
                "real vectors",
                situation,
                claim.format(situation),
                "not run",
                0,
                "lists",
                None,
                "",
                SEED,
                0.0,
                reason=why,
            )
            continue
        if known("real vectors", situation, n):
            continue
        began = time.perf_counter()
        table, sizes = pool_of(POOLS / f"{situation}.npz")
        report = bb.coverage_on_pools(table, **sizes, tables=n, methods=[DEFAULT_MODEL], seed=SEED)
        report = report[report["level"].isin(["overall", "class"])]
        gap = (report["coverage"] - report["flawless"]).to_numpy()
        error = report["coverage_se"].to_numpy()
        low = int(np.argmin(gap))
        row = report.iloc[low]
        yield Evidence(
            "real vectors",
            situation,
            claim.format(table.provenance["name"]),
            "held" if gap[low] >= -FROM_FLAWLESS else "failed",
            n,
            "lists drawn from the pool",
            float(gap[low]),
            f"no more than {FROM_FLAWLESS} below the flawless method (known to {error[low]:.3f})",
            SEED,
            time.perf_counter() - began,
            {
                "lowest": f"{row['level']} {row['name']}, {row['contrast']}",
                "width_of_the_lowest": float(row["relative_width"]),
                "widest_of_ideal": float(report["relative_width"].max()),
                "most_wrong_signs": float(report["wrong_sign"].max()),
                "highest_above_flawless": float(gap.max()),
            },
            ""
            if gap[low] >= -FROM_FLAWLESS
            else f"{row['level']} {row['name']}, {row['contrast']}: {row['coverage']:.3f} where a flawless method shows "
            f"{row['flawless']:.3f}; its intervals are {row['relative_width']:.2f} times as wide as the ideal",
        )
