"""A fit of distances as a folder: pairs, fit, summaries, what the screen says, and figures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesbias.runs.layout import Content, Layout
from bayesbias.runs.manifest import Manifest

if TYPE_CHECKING:
    import pandas as pd

    from bayesbias.inference.posterior import BiasFit


def _coverage(of: Content) -> pd.DataFrame | None:
    from bayesbias.tables.coverage import Coverage

    account = of.result.provenance.get("coverage") or {}
    if "protected" not in account:  # of a frame, which has no account of what is missing
        return None
    return Coverage(account["protected"], account["attributes"]).frame()


def _standardized(of: Content) -> pd.DataFrame | None:
    from bayesbias.inference.spreads import has_variance

    return of.result.standardized(of.prob, of.standard_rope) if has_variance(of.result.spec) else None


def _new_words(of: Content) -> pd.DataFrame | None:
    from bayesbias.inference.scope import has_new_words

    return of.result.new_words(of.prob) if has_new_words(of.result.spec) else None


def _frequency(of: Content) -> pd.DataFrame | None:
    from bayesbias.studies.frequency import frequency_of

    frequency = frequency_of(of.result)
    return None if frequency is None else frequency.contrasts


def _in_words(of: Content) -> str:
    from bayesbias.findings.words import findings_of_words

    return "\n".join(findings_of_words(of.result, of.prob, of.rope).lines()) + "\n"


def _read(folder: Path, manifest: Manifest | None) -> BiasFit:
    from bayesbias.inference.fitting import load_fit

    return load_fit(folder / "fit.nc")


def versions_of(of: Content) -> dict[str, Any]:
    """Return program -> version, of those that made a result."""
    return dict(of.result.provenance.get("versions", {}))


LAYOUT = Layout(
    kind="words",
    files={
        "pairs.csv": lambda of: of.result.table,
        "fit.nc": lambda of: of.result,
        "summary.csv": lambda of: of.result.summary(of.prob),
        "words.csv": lambda of: of.result.words(of.prob),
        "contrasts.csv": lambda of: of.result.contrasts(of.prob, of.rope),
        "standardized.csv": _standardized,
        "new_words.csv": _new_words,
        "models.csv": lambda of: of.models,
        "frequency.csv": _frequency,
        "slopes.csv": lambda of: of.result.slopes(of.prob) if of.result.spec.covariates() else None,
        "parameters.csv": lambda of: of.result.parameters(of.prob),
        "coverage.csv": _coverage,
        "provenance.json": lambda of: dict(of.result.provenance),
        "result.txt": _in_words,
    },
    figures=(
        "connections",
        "contrasts",
        "contrasts_*",
        "frequencies",
        "frequency_contrasts",
        "predictive",
        "priors",
        "slopes",
        "words",
    ),
    known_by=("fit.nc", "summary.csv", "parameters.csv", "provenance.json"),
    read=_read,
    sources=("fit.nc",),
    settings=lambda of: {"prob": of.prob, "rope": of.rope, "standard_rope": of.standard_rope},
    versions=versions_of,
)
