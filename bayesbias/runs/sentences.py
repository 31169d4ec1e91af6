"""Sentence tests as a folder: tables, provenance and figures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesbias.basics import checks
from bayesbias.border.opening import read_bytes
from bayesbias.border.texts import parse_json
from bayesbias.runs.layout import Content, Layout
from bayesbias.runs.manifest import Manifest
from bayesbias.runs.reading import read_table
from bayesbias.runs.words import versions_of

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
    "fact",
    "name",
    "of",
)
_WHOLE = ("num_targ1", "num_targ2", "num_attr1", "num_attr2", "dropped")
_COLUMNS = {
    "failures": ("model", "options", "test", "reason"),
    "dropped": ("model", "options", "test", "set", "word", "sentence"),
    "notes": ("model", "options", "test", "note"),
    "slopes": ("model", "options", "test", "fact", "level", "name", "of"),
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
    provenance = dict(checks.table(parse_json(read_bytes(about), about, as_written=True), about))
    frame = _table(folder / "results.csv")
    return SeatResult(frame=frame, provenance=provenance, **{name: _part(folder, name) for name in _COLUMNS})


def _part(folder: Path, name: str) -> pd.DataFrame:
    import pandas as pd

    if not (folder / f"{name}.csv").is_file():  # as there is none where there is nothing to say
        return pd.DataFrame(columns=list(_COLUMNS[name]))
    return _table(folder / f"{name}.csv")


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
        "provenance.json": _provenance,
    },
    figures=("seat", "seat_contrasts", "seat_contrasts_[0-9]*", "slopes"),
    known_by=("results.tsv", "results.csv", "table4.csv", "provenance.json"),
    read=_read,
    sources=("results.csv", "provenance.json", *(f"{name}.csv" for name in _COLUMNS)),
    settings=_settings,
    versions=versions_of,
)
