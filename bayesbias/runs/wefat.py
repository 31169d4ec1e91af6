"""A single-category test as a folder: the published half, the fit, targets, the line, and figures."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.runs.layout import Content, Layout
from bayesbias.runs.reading_wefat import FILE, FORMAT, SCORES, read_wefat

if TYPE_CHECKING:
    import pandas as pd


_LINE = 41  # covariates at which the line is written


def _summary(of: Content) -> dict[str, Any]:
    known = of.result.published.as_dict()
    return {
        "bayesbias_wefat": FORMAT,
        "published": known,
        "targets": of.result.frame["target"].tolist(),
        "prob": of.result.prob,
        "seed": of.result.seed,
        "slope": vars(of.result.slope),
        "slope_per_unit": vars(of.result.slope_per_unit),
        "true_correlation": vars(of.result.true_correlation),
        "provenance": json.loads(json.dumps(of.result.provenance, default=str)),
    }


def _line(of: Content) -> pd.DataFrame:
    covariate = of.result.frame["covariate"]
    return of.result.predict(np.linspace(covariate.min(), covariate.max(), _LINE).tolist())


def _in_words(of: Content) -> str:
    from bayesbias.findings.wefat import findings_of_wefat

    return "\n".join(findings_of_wefat(of.result).lines()) + "\n"


def _versions(of: Content) -> dict[str, Any]:
    return dict(of.result.fit.provenance.get("versions", {}))


LAYOUT = Layout(
    kind="wefat",
    files={
        FILE: _summary,
        "targets.csv": lambda of: of.result.frame,
        "line.csv": _line,
        SCORES: lambda of: of.result.published.pairs(),
        "pairs.csv": lambda of: of.result.fit.table,
        "fit.nc": lambda of: of.result.fit,
        "parameters.csv": lambda of: of.result.fit.parameters(of.result.prob),
        "result.txt": _in_words,
    },
    figures=("covariate", "correlations"),
    read=lambda folder, manifest: read_wefat(folder),
    sources=(FILE, SCORES, "fit.nc"),
    settings=lambda of: {"prob": of.result.prob},
    versions=_versions,
)
