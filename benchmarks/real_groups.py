"""Coverage of differences between groups on shared attribute sets: small tables from pools of words in real vectors.

Alone it takes the methods and the number of tables: ``python -m benchmarks.real_groups --tables 150``.
"""

from __future__ import annotations

import argparse
import gzip
from collections.abc import Sequence
from typing import Any

import pandas as pd

import bayesbias as bb
from benchmarks.real_coverage import POOLS, SITUATIONS, pool_of

DATA = POOLS.parent
GROUPS = ("asian", "hispanic", "russian", "white")
METHODS = ("groups", "averages_t", "moments")
SIZES = {"words": 6, "attributes": 10}


def pools() -> dict[str, tuple[bb.PairTable, dict[str, int]]]:
    """Return tables of all pairs of a pool, and how much is drawn from them."""
    found = {}
    for situation in SITUATIONS:
        table, sizes = pool_of(POOLS / f"{situation}.npz")
        sets = table.frame["connection"] != "neutral"
        frame = table.frame.assign(
            connection=table.frame["connection"].astype(str).where(~sets, "shared")
        )
        frame["attribute_class"] = frame["attribute_class"].where(
            ~sets, "of " + frame["attribute_class"]
        )
        found[situation] = bb.load_distances(frame, name=situation), sizes
    found["surnames_valence"] = surnames_by_valence(), SIZES
    return found


def surnames_by_valence(n: int = 60) -> bb.PairTable:
    """Return four groups of surnames by the most and the least pleasant words, in the shipped vectors."""
    with gzip.open(DATA / "norms/warriner_2013_valence.csv.gz", "rt") as lines:
        norms = pd.read_csv(lines)
    ordered = norms.sort_values("valence_mean")["word"].astype(str).tolist()
    names = {
        group: (DATA / f"names/garg_names_{group}.txt").read_text(encoding="utf-8").split()
        for group in GROUPS
    }
    listed: dict[str, Any] = {group: {"protected": words} for group, words in names.items()}
    listed["attribute_sets"] = {"pleasant": ordered[-n:], "unpleasant": ordered[:n]}
    return bb.distance_table("minilm-static", listed)


def main(arguments: Sequence[str] = ()) -> None:
    """Print a table for each pool."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--tables", type=int, default=150)
    parser.add_argument("--workers", type=int)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args(arguments)
    for name, (table, sizes) in pools().items():
        report = bb.coverage_on_pools(
            table,
            **sizes,
            tables=asked.tables,
            methods=asked.methods.split(","),
            workers=asked.workers,
            seed=asked.seed,
        )
        print(f"{name}: {asked.tables} tables of {sizes}, 89% intervals, value of the pool")
        keys = ["level", "name", "contrast"]
        columns = ["coverage", "flawless", "relative_width", "wrong_sign", "converged", "quick"]
        shown = report[[*keys, "method", *columns]]
        print(shown.to_string(index=False, float_format="%.3f", na_rep="-"))
        for method, part in shown.groupby("method", sort=False):
            gap, width = part["flawless"] - part["coverage"], part["relative_width"].mean()
            ends = part["coverage"].min(), part["coverage"].max()
            print(
                f"{method}: {len(part)} contrasts, coverage {ends[0]:.3f} to {ends[1]:.3f}, ",
                end="",
            )
            print(
                f"mean {part['coverage'].mean():.3f} (flawless {part['flawless'].mean():.3f}), ",
                end="",
            )
            print(f"at most {gap.max():.3f} below flawless, mean width {width:.2f}")


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
