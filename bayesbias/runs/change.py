"""A comparison of original and debiased vectors as a folder."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bayesbias.studies.comparison import Comparison


def write_comparison(found: Comparison, out: Path, prob: float, rope: float) -> list[Path]:
    """Write fits, tables and figures into a folder; files of an earlier run stay until all are made."""
    import tempfile

    from bayesbias.basics.files import whole_file
    from bayesbias.figures.saving import save_figures

    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".unfinished-", dir=out) as name:
        inner = Path(name)
        files = found.save(inner)
        frames = {"changes": found.changes(prob, rope), "contrasts": found.contrasts(prob, rope)}
        if {"associated", "different"} <= set(found.original.table["connection"]):
            frames["ranking"] = found.ranking(prob, rope)
        for stem, frame in frames.items():
            files.append(inner / f"{stem}.csv")
            with whole_file(files[-1]) as temporary:
                frame.to_csv(temporary, index=False)
        files.append(inner / "construction.json")
        with whole_file(files[-1]) as temporary:
            content = {key: item.construction.as_dict() for key, item in found.methods.items()}
            temporary.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
        files += save_figures(found, inner / "figures")
        written = [path.relative_to(inner) for path in files]
        for path in written:
            (out / path).parent.mkdir(exist_ok=True)
            os.replace(inner / path, out / path)
    return [out / path for path in written]
