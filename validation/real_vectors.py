"""Coverage on real vectors: small lists from pools of words, the value of the pool as truth."""

import bayesbias as bb
from benchmarks.real_coverage import POOLS, SITUATIONS, pool_of
from benchmarks.real_groups import pools

TABLES, TABLES_OF_GROUPS = 600, 150
LIMIT = 0.04


def run(share):
    """Compare the coverage of the default model with that of a flawless method."""
    for situation in SITUATIONS if POOLS.is_dir() else ():
        table, sizes = pool_of(POOLS / f"{situation}.npz")
        n = max(20, round(TABLES * share))
        report = bb.coverage_on_pools(table, **sizes, tables=n, methods=["default"], seed=0)
        report = report[report["level"].isin(["overall", "class"])]
        gap = float((report["flawless"] - report["coverage"]).max())
        yield (
            f"Intervals of the default include the value of the pool as often as a flawless method: {situation}.",
            f"{n} lists from the pool", f"{gap:.3f} less often", f"{LIMIT}", gap <= LIMIT,
        )  # fmt: skip
    for situation, (table, sizes) in (pools() if POOLS.is_dir() else {}).items():
        n = max(20, round(TABLES_OF_GROUPS * share))
        report = bb.coverage_on_pools(table, **sizes, tables=n, methods=["groups"], seed=0)
        gap = float((report["flawless"] - report["coverage"]).max())
        yield (
            f"Intervals of the model groups include the value of the pool as often as a flawless method: {situation}.",
            f"{n} lists from the pool", f"{gap:.3f} less often", f"{LIMIT}", gap <= LIMIT,
        )  # fmt: skip
