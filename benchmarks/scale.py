"""Sampling time at a million pairs against five thousand."""

from __future__ import annotations

import statistics
import time

import numpy as np
import pandas as pd

import bayesbias as bb
from benchmarks._common import spread


def grid(words: int, attributes: int, human: int, neutral: int) -> pd.DataFrame:
    """Return a complete grid with three classes of `words` words and `attributes` attributes each."""
    rng = np.random.default_rng(0)
    names = [(f"a{k}_{i}", f"class{k}", "stereotype") for k in range(3) for i in range(attributes)]
    names += [(f"h{i}", "human", "human") for i in range(human)] + [
        (f"n{i}", "neutral", "neutral") for i in range(neutral)
    ]
    columns = pd.DataFrame(names, columns=["attribute", "attribute_class", "attribute_kind"])
    columns["effect"] = rng.normal(0, 0.14, len(columns))
    rows = pd.DataFrame(
        [(f"w{k}_{i}", f"class{k}") for k in range(3) for i in range(words)],
        columns=["protected_word", "protected_class"],
    )
    table = rows.merge(columns, how="cross")
    own = np.where(table["attribute_class"] == table["protected_class"], "associated", "different")
    table["connection"] = np.where(
        table["attribute_kind"] == "stereotype", own, table["attribute_kind"]
    )
    table["distance"] = 0.95 + table["effect"] + rng.normal(0, 0.115, len(table))
    return table.drop(columns="effect")


def main() -> None:
    small, large = grid(5, 4, 85, 226), grid(333, 50, 250, 601)
    bb.fit(small, "crossed", seed=0, draws=10, tune=10, pointwise=False)
    times: dict[str, list[float]] = {
        "small": [],
        "large": [],
        "small_effects": [],
        "large_effects": [],
    }
    for seed in range(3):
        for name, table in (("small", small), ("large", large)):
            fit = bb.fit(table, "crossed", seed=seed, pointwise=False)
            timing = fit.provenance["timing"]
            times[name].append(timing["sample_s"])
            began = time.perf_counter()
            fit.parameter_draws()  # the effects are drawn where they are read
            times[f"{name}_effects"].append(time.perf_counter() - began)
    print(f"crossed model, 4 x 1000 draws, {len(small):,} and {len(large):,} pairs")
    for name, table in (("small", small), ("large", large)):
        effects = table["protected_word"].nunique() * 4 + table["attribute"].nunique()
        print(
            f"  {len(table):>9,} pairs: sampling {spread(times[name])}; drawing {effects:,} effects "
            f"{spread(times[f'{name}_effects'])}"
        )
    print(f"  preparing the larger table once more {timing['prepare_s']:.1f} s")
    print(
        f"  ratio of medians, sampling: {statistics.median(times['large']) / statistics.median(times['small']):.2f}"
    )
