"""A single-category test as a folder: the published half, the fit, targets, the line, and figures."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.basics.errors import InputError
from bayesbias.border.opening import read_bytes
from bayesbias.border.texts import parse_json
from bayesbias.runs.layout import Content, Layout
from bayesbias.runs.manifest import Manifest
from bayesbias.runs.reading import read_table

if TYPE_CHECKING:
    import pandas as pd

    from bayesbias.studies.single_category import SingleCategory

_FORMAT = 1
_FILE, _SCORES = "single_category.json", "scores.csv"
_LINE = 41  # facts at which the line is written
_TUPLES = ("dropped", "notes", "classes", "missing", "a", "b")


def _summary(of: Content) -> dict[str, Any]:
    known = of.result.published.as_dict()
    return {
        "bayesbias_single_category": _FORMAT,
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
    fact = of.result.frame["fact"]
    return of.result.predict(np.linspace(fact.min(), fact.max(), _LINE).tolist())


def _in_words(of: Content) -> str:
    from bayesbias.findings.single_category import findings_of_single_category

    return "\n".join(findings_of_single_category(of.result).lines()) + "\n"


def _read(folder: Path, manifest: Manifest | None) -> SingleCategory:
    from bayesbias.inference.fitting import load_fit
    from bayesbias.scores.factual import WefatResult
    from bayesbias.studies.single_category import of_fit

    path = folder / _FILE
    try:
        content = parse_json(read_bytes(path), path, as_written=True)
        if content["bayesbias_single_category"] != _FORMAT:
            raise InputError(
                "is a test in a form that this version does not know",
                where=path,
                found=content["bayesbias_single_category"],
                valid=str(_FORMAT),
            )
        known: dict[str, Any] = {
            name: tuple(v) if name in _TUPLES else v for name, v in content["published"].items()
        }
        pairs = read_table(folder / _SCORES, texts=("word",))
        published = WefatResult(**known, _pairs=pairs)
        targets, prob, seed = content["targets"], float(content["prob"]), int(content["seed"])
        about: Mapping[str, Any] = content["provenance"]
    except InputError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"is damaged ({error})", where=path) from None
    return of_fit(published, load_fit(folder / "fit.nc"), targets, prob=prob, seed=seed, provenance=about)


def _versions(of: Content) -> dict[str, Any]:
    return dict(of.result.fit.provenance.get("versions", {}))


LAYOUT = Layout(
    kind="single_category",
    files={
        _FILE: _summary,
        "targets.csv": lambda of: of.result.frame,
        "line.csv": _line,
        _SCORES: lambda of: of.result.published.pairs(),
        "pairs.csv": lambda of: of.result.fit.table,
        "fit.nc": lambda of: of.result.fit,
        "parameters.csv": lambda of: of.result.fit.parameters(of.result.prob),
        "result.txt": _in_words,
    },
    figures=("fact", "correlations"),
    read=_read,
    sources=(_FILE, _SCORES, "fit.nc"),
    settings=lambda of: {"prob": of.result.prob},
    versions=_versions,
)
