"""Coverage of intervals on real vectors: small tables drawn from pools of words, by models and by the method of moments.

Alone it takes the models and the number of tables: ``python -m benchmarks.real_coverage --models crossed,own.toml``.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

import bayesbias as bb
from bayesbias.simulation.grid import MOMENTS

POOLS = Path(__file__).resolve().parents[2] / "shared/data/real_coverage"
SITUATIONS = ("gender_jobs", "names_valence")
MODELS = ("default", "crossed", "shared")


def pool_of(file: Path) -> tuple[bb.PairTable, dict[str, int]]:
    """Return all pairs of a pool, and how many words, attributes and neutral words a usual table has."""
    with np.load(file, allow_pickle=False) as content:
        data = {name: content[name] for name in content.files}
    meta = json.loads(str(data["meta"]))
    lists = [*meta["keys"], "neutral"]
    parts = []
    for k, own in enumerate(meta["keys"]):
        for j, name in enumerate(lists):
            distances = data[f"d_{k}_{j}"].astype(float)
            words, attributes = data[f"words_{k}"], data[f"attrs_{j}"]
            columns = {
                "protected_word": np.repeat(words, len(attributes)),
                "protected_class": own,
                "attribute": np.tile(attributes, len(words)),
                "attribute_class": name,
                "connection": name
                if name == "neutral"
                else "associated"
                if name == own
                else "different",
                "distance": distances.ravel(),
            }
            parts.append(pd.DataFrame(columns))
    table = bb.load_distances(pd.concat(parts, ignore_index=True), name=meta["name"])
    return table, {"words": meta["nw"], "attributes": meta["na"], "neutral": meta["nn"]}


def summary(report: pd.DataFrame) -> pd.DataFrame:
    """Return coverage, widths and wrong signs by method, with the width over that of the method of moments."""
    keys = ["level", "name", "contrast"]
    moments = report[report["method"] == "moments"].set_index(keys)["width"]
    out = report[report["level"] != "attribute_set"].copy()
    out["of_moments"] = out["width"].to_numpy() / moments.loc[out.set_index(keys).index].to_numpy()
    columns = [
        "coverage",
        "coverage_se",
        "flawless",
        "relative_width",
        "of_moments",
        "wrong_sign",
        "bias",
        "rmse",
    ]
    return out[[*keys, "method", *columns, "seconds", "converged"]]


def main(arguments: Sequence[str] = ()) -> None:
    """Print a table for each situation."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--tables", type=int, default=200)
    parser.add_argument("--workers", type=int)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args(arguments)
    if not POOLS.is_dir():
        print(f"coverage on real vectors: skipped, there is no folder {POOLS}")
        return
    methods = [*asked.models.split(","), MOMENTS]
    for situation in SITUATIONS:
        table, sizes = pool_of(POOLS / f"{situation}.npz")
        report = bb.coverage_on_pools(
            table,
            **sizes,
            tables=asked.tables,
            methods=methods,
            workers=asked.workers,
            seed=asked.seed,
        )
        print(
            f"{table.provenance['name']}: {asked.tables} tables of {sizes}, 89% intervals, value of the pool"
        )
        for (level, name, contrast), part in summary(report).groupby(
            ["level", "name", "contrast"], sort=False
        ):
            print(f"{level} {name}, {contrast}")
            shown = part.drop(columns=["level", "name", "contrast"])
            print(shown.to_string(index=False, float_format="%.3f", na_rep="-"))
        print()


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
