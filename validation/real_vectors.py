"""Coverage on real vectors: small lists from pools of words, the value of the pool as truth."""

import bayesbias as bb
from benchmarks.real_coverage import POOLS, SITUATIONS, pool_of

TABLES = 600
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
