"""Logs of Inspect: ``.eval``, a zip of ``header.json`` and a JSON file a sample and epoch.

The outcome is the first score: C and I are 1 and 0. Metadata of a sample are columns by their own name.
"""

import json
import zipfile
from pathlib import Path
from typing import Any

import pandas as pd

_MOST = 64 * 2**20  # bytes of one sample
_VALUES = {"C": 1, "I": 0, "P": 0.5}


def samples(path: Path) -> pd.DataFrame:
    """Return a row a sample and epoch."""
    rows: list[dict[str, Any]] = []
    with zipfile.ZipFile(path) as log:
        header = json.loads(log.read("header.json")) if "header.json" in log.namelist() else {}
        about = header.get("eval", {})
        for info in log.infolist():
            if not (info.filename.startswith("samples/") and info.filename.endswith(".json")):
                continue
            if info.file_size > _MOST:
                raise ValueError(f"{info.filename} is larger than {_MOST} bytes")
            sample = json.loads(log.read(info))
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
