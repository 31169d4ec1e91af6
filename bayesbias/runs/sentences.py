"""Sentence tests as a folder: tables, provenance and figures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesbias.core import checks
from bayesbias.core.errors import InputError
from bayesbias.core.ranges import NUMBER, SHARE, SIZE, Range, hold_to_ranges
from bayesbias.core.texts import read_json
from bayesbias.runs.layout import Content, Layout
from bayesbias.runs.manifest import Manifest
from bayesbias.runs.reading import read_table
from bayesbias.runs.words import versions_of
from bayesbias.studies.seat_result import PUBLISHED_COLUMNS
from bayesbias.studies.seat_tests import CONTEXTS

if TYPE_CHECKING:
    import pandas as pd

    from bayesbias.studies.seat_result import SeatResult

_TEXTS = (
    "model",
    "options",
    "test",
    "level",
    "p_method",
    "prior",
    "reason",
    "set",
    "word",
    "sentence",
    "note",
    "covariate",
    "name",
    "of",
    "estimand",
)
_RESULTS = (
    *PUBLISHED_COLUMNS, "level", "statistic", "p_lower", "p_upper", "p_method", "p_words", "p_holm", "dropped",
)  # fmt: skip
_FITTED = (  # and what later versions added
    "contrast", "sd", "hpdi_low", "hpdi_high", "share_word", "share_template", "share_sentence", "share_residual", "converged",
)  # fmt: skip
_RANGES = {
    "effect_size": Range(-2.001, 2.001),
    "statistic": NUMBER,
    **dict.fromkeys(("num_targ1", "num_targ2", "num_attr1", "num_attr2"), Range(1, 1e9, missing=False)),
    "dropped": Range(0, 1e9, missing=False),
    **dict.fromkeys(("contrast", "hpdi_low", "hpdi_high", "standardized"), NUMBER),
    **dict.fromkeys(("sd", "prior_shift"), SIZE),
}
_WHOLE = ("num_targ1", "num_targ2", "num_attr1", "num_attr2", "dropped")
_COLUMNS = {
    "failures": ("model", "options", "test", "reason"),
    "dropped": ("model", "options", "test", "set", "word", "sentence"),
    "notes": ("model", "options", "test", "note"),
    "slopes": ("model", "options", "test", "covariate", "level", "name", "of"),
    "classes": ("model", "options", "test", "name", "estimand", "mean", "hpdi_low", "hpdi_high"),
}


def _joined(frame: pd.DataFrame) -> pd.DataFrame | None:
    """Write tuples as texts joined by blanks."""
    return frame.map(lambda value: " ".join(map(str, value)) if isinstance(value, tuple) else value)


def _unless_empty(frame: pd.DataFrame) -> pd.DataFrame | None:
    return _joined(frame) if len(frame) else None


def _provenance(of: Content) -> dict[str, Any]:
    # An encoder may state whatever it likes of itself.
    return json.loads(json.dumps(of.result.provenance, default=str))


def _settings(of: Content) -> dict[str, float]:
    prob = of.result.provenance.get("prob")  # of the fits; without them there is no interval
    return {} if prob is None else {"prob": float(prob)}


def _read(folder: Path, manifest: Manifest | None) -> SeatResult:
    from bayesbias.studies.seat_result import SeatResult

    about = folder / "provenance.json"
    provenance = dict(checks.table(read_json(about, as_written=True), about))
    path = folder / "results.csv"
    frame = _table(path)
    checks.columns(frame, _RESULTS, path, "the results of sentence tests")
    if fitted := [name for name in _FITTED if name in frame]:
        checks.columns(frame, _FITTED, path, f"that of fits, where there are {fitted[0]} and others")
    shares = {
        name: SHARE
        for name in frame
        if name.startswith(("p_", "share_", "superiority")) and name not in _TEXTS
    }
    errors = {name: SIZE for name in frame if name.startswith("mcse_")}
    hold_to_ranges(
        frame,
        path,
        {**_RANGES, **shares, **errors},
        choices={"level": tuple(CONTEXTS), "p_method": ("exact", "bounds", "montecarlo", "normal", "")},
        texts=("model", "test"),
        ordered=(("p_lower", "p_upper"), ("hpdi_low", "contrast", "hpdi_high")),
        once=("model", "options", "test"),
    )
    _hold_provenance(provenance, about, bool(fitted))
    return SeatResult(frame=frame, provenance=provenance, **{name: _part(folder, name) for name in _COLUMNS})


def _hold_provenance(known: dict[str, Any], path: Path, fitted: bool) -> None:
    """Refuse what is no account of sentence tests."""
    for key in ("tests", "encoders"):
        items = known.get(key, [])
        if not isinstance(items, list):
            raise InputError("must be a list", where=f"{path}: {key}", found=items)
        for i, item in enumerate(items, start=1):
            where = f"{path}: {key}, number {i}"
            checks.text(checks.table(item, where).get("name"), f"{where}: name")
            if key == "tests":
                checks.text(item.get("sha256"), f"{where}: sha256")
                for side, called in checks.table(item.get("categories", {}), f"{where}: categories").items():
                    checks.text(called, f"{where}: categories: {side}")
                for side, words in checks.table(item.get("words", {}), f"{where}: words").items():
                    checks.texts(words, f"{where}: words: {side}")
            else:
                if not isinstance(item.get("options"), str):
                    raise InputError("must be a text", where=f"{where}: options", found=item.get("options"))
                checks.table(item.get("provenance"), f"{where}: provenance")
    for key in ("versions", "slopes", "covariates", "sampler"):
        checks.table(known.get(key, {}), f"{path}: {key}")
    if (model := known.get("model")) is not None:
        for key in ("name", "sha256"):
            checks.text(checks.table(model, f"{path}: model").get(key), f"{path}: model: {key}")
    if fitted or known.get("prob") is not None:
        checks.probability(known.get("prob"), f"{path}: prob")


def _part(folder: Path, name: str) -> pd.DataFrame:
    import pandas as pd

    if not (folder / f"{name}.csv").is_file():  # as there is none where there is nothing to say
        return pd.DataFrame(columns=list(_COLUMNS[name]))
    path = folder / f"{name}.csv"
    frame = _table(path)
    checks.columns(frame, _COLUMNS[name], path, f"the {name} of sentence tests")
    numbers = {column: NUMBER for column in frame if column not in _TEXTS}
    hold_to_ranges(
        frame, path, {**numbers, **{name: SIZE for name in numbers if name.startswith(("sd", "mcse_"))}}
    )
    return frame


def _table(path: Path) -> pd.DataFrame:
    return read_table(path, texts=_TEXTS, whole=_WHOLE)


LAYOUT = Layout(
    kind="sentences",
    files={
        "results.tsv": lambda of: of.result.published(),
        "results.csv": lambda of: _joined(of.result.frame),
        "table4.csv": lambda of: _joined(of.result.table().reset_index()),
        "consistency.csv": lambda of: _joined(of.result.consistency()),
        "dropped.csv": lambda of: _unless_empty(of.result.dropped),
        "failures.csv": lambda of: _unless_empty(of.result.failures),
        "notes.csv": lambda of: _unless_empty(of.result.notes),
        "slopes.csv": lambda of: _unless_empty(of.result.slopes),
        "classes.csv": lambda of: _unless_empty(of.result.classes),
        "provenance.json": _provenance,
    },
    figures=("seat", "seat_contrasts", "seat_contrasts_[0-9]*", "slopes"),
    known_by=("results.tsv", "results.csv", "table4.csv", "provenance.json"),
    read=_read,
    sources=("results.csv", "provenance.json", *(f"{name}.csv" for name in _COLUMNS)),
    settings=_settings,
    versions=versions_of,
)
