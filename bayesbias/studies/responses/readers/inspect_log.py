"""Logs of Inspect: ``.eval``, a zip of ``header.json`` and a JSON file a sample and epoch.

The outcome is the first score: C and I are 1 and 0. Metadata of a sample are columns by their own name.
"""

import zipfile
from pathlib import Path
from typing import Any

import pandas as pd

from bayesbias.core.files import MOST_TEXT, check_sizes, most_unpacked, parse_json

_VALUES = {"C": 1, "I": 0, "P": 0.5}


def samples(path: Path) -> pd.DataFrame:
    """Return a row a sample and epoch."""
    rows: list[dict[str, Any]] = []
    with zipfile.ZipFile(path) as log:
        wanted = [
            info
            for info in log.infolist()
            if info.filename == "header.json"
            or (info.filename.startswith("samples/") and info.filename.endswith(".json"))
        ]
        for info in wanted:  # what the zip states, before anything is unpacked
            check_sizes([info], MOST_TEXT, f"{path}, {info.filename}")
        check_sizes(wanted, most_unpacked(path.stat().st_size), path)
        header = _read(log, "header.json", path) if "header.json" in log.namelist() else {}
        about = header.get("eval", {})
        for info in wanted:
            if info.filename == "header.json":
                continue
            sample = _read(log, info.filename, path)
            scores = {
                name: _VALUES.get(str(score.get("value")), score.get("value"))
                for name, score in (sample.get("scores") or {}).items()
            }
            rows.append(
                {
                    "template": about.get("task", ""),
                    "item": str(sample.get("id")),
                    **{str(key): text for key, text in (sample.get("metadata") or {}).items()},
                    "model": about.get("model", ""),
                    "repeat": str(sample.get("epoch", 1)),
                    **scores,
                    "outcome": next(iter(scores.values()), None),
                }
            )
    return pd.DataFrame(rows)


def _read(log: zipfile.ZipFile, name: str, path: Path) -> Any:
    return parse_json(log.read(name), f"{path}, {name}")
