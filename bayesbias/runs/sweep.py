"""A sweep as a folder: its tables. Its cells are kept by the sweep itself while it runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesbias.core import checks
from bayesbias.runs.layout import Content, Layout
from bayesbias.runs.manifest import MANIFEST, Manifest

if TYPE_CHECKING:
    import pandas as pd

    from bayesbias.sweeps.result import SweepResult


def _covariates(of: Content) -> dict[str, Any]:
    return {"reused": of.result.reused, "others": of.result.others}


def _settings(of: Content) -> dict[str, float]:
    # Of contrasts in cosine distance, as everywhere; those in standard deviations have a ROPE of their own.
    frame = of.result.frame
    frame = frame[(frame["quantity"] != "standardized").fillna(True)]
    return {
        name: float(frame[name].dropna().iloc[0]) for name in ("prob", "rope") if frame[name].notna().any()
    }


def _read(folder: Path, manifest: Manifest | None) -> SweepResult:
    from bayesbias.sweeps.result import load_sweep
    from bayesbias.sweeps.store import check_tables

    if manifest is None:
        check_tables(folder)
    covariates = {} if manifest is None else manifest.covariates
    counts = {
        name: checks.count(covariates.get(name, 0), f"{folder / MANIFEST}: covariates: {name}", 0)
        for name in ("reused", "others")
    }
    return load_sweep(folder, **counts)


def _compared(of: Content) -> pd.DataFrame | None:
    frame = of.result.compared()
    return frame if len(frame) else None


LAYOUT = Layout(
    kind="sweep",
    files={
        "results.csv": lambda of: of.result.frame,
        "results.parquet": lambda of: of.result.frame,
        "timing.csv": lambda of: of.result.timing,
        "compared.csv": _compared,
    },
    figures=("sweep",),
    known_by=("sweep.json",),
    read=_read,
    sources=("results.parquet", "timing.csv"),
    settings=_settings,
    covariates=_covariates,
)
