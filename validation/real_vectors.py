"""Coverage on real vectors: small tables from pools of words, the value of the pool as truth."""

import bayesbias as bb
from benchmarks.real_coverage import POOLS, SITUATIONS, pool_of
from benchmarks.real_groups import pools

TABLES = {"default": 600, "groups": 250}
PIECES = tuple(TABLES)
LIMIT = 0.04


def run(share, piece):
    """Compare the mean coverage of all contrasts with the probability of the intervals."""
    if not POOLS.is_dir():
        return
    if piece == "groups":
        drawn = pools()
    else:
        drawn = {name: pool_of(POOLS / f"{name}.npz") for name in SITUATIONS}
    for situation, (table, sizes) in drawn.items():
        n = max(20, round(TABLES[piece] * share))
        report = bb.coverage_on_pools(table, **sizes, tables=n, methods=[piece], seed=0)
        mean, lowest = report["coverage"].mean(), report["coverage"].min()
        limit = max(LIMIT, 2 * (0.89 * 0.11 / n) ** 0.5)  # of few tables two standard errors
        yield (
            f"89 % intervals of `{piece}` include the value of the pool in 89 % of tables, on average over contrasts: {situation}.",
            f"{n} tables from the pool", f"{mean:.3f} (lowest contrast {lowest:.3f})", f".89 ± {limit:.2f}",
            bool(abs(mean - 0.89) <= limit),
        )  # fmt: skip
