"""What the benchmarks share: the table they fit, repeated timing, and lines of output."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bayesbias as bb

SHARED = Path(__file__).resolve().parents[2] / "shared/data/bayesbias_distances/with_controls_2022"


def paper_table() -> bb.PairTable:
    """Return religion on Reddit where the published table lies beside the checkout, else in the embedded vectors."""
    path = SHARED / "religion_group_reddit_dataset.csv"
    return (
        bb.load_distances(path)
        if path.is_file()
        else bb.distance_table("minilm-static", "religion")
    )


def timed(action: Callable[[], Any], runs: int = 3) -> tuple[list[float], Any]:
    """Run an action several times; return the seconds of each run and the last result."""
    seconds, result = [], None
    for _ in range(runs):
        start = time.perf_counter()
        result = action()
        seconds.append(time.perf_counter() - start)
    return seconds, result


def spread(values: list[float], unit: str = "s") -> str:
    """Say median and range."""
    if len(values) == 1:
        return f"{values[0]:.3g} {unit} (one run)"
    return f"median {statistics.median(values):.3g} {unit} ({min(values):.3g} to {max(values):.3g}, {len(values)} runs)"


def slowest_ess(fit_or_tree: Any) -> float:
    """Return the effective draws of the slowest population parameter (cbar)."""
    import arviz as az

    idata = fit_or_tree.idata if isinstance(fit_or_tree, bb.BiasFit) else fit_or_tree
    return float(
        az.ess(idata["posterior"].to_dataset()[["connection_mean"]], method="bulk")[
            "connection_mean"
        ].min()
    )
