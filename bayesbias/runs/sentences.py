"""Sentence tests as a folder: tables, provenance and figures, all or none of them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesbias.basics.errors import BayesbiasError, InputError

if TYPE_CHECKING:
    from bayesbias.studies.seat_result import SeatResult


def write_seat(result: SeatResult, out: Path) -> list[Path]:
    """Write tables, provenance and figures into a folder, all or none of them; return the paths.

    Files of an earlier run stay as they are until all is made; those that this run has no use for are then removed.
    """
    import tempfile

    made = not out.exists()
    out.mkdir(parents=True, exist_ok=True)
    try:
        with tempfile.TemporaryDirectory(prefix=".unfinished-", dir=out) as name:
            inner = Path(name)
            written = [path.relative_to(inner) for path in _write_files(result, inner)]
            for path in written:
                (out / path).parent.mkdir(exist_ok=True)
                os.replace(inner / path, out / path)
        ours = [
            Path("dropped.csv"),
            Path("failures.csv"),
            Path("notes.csv"),
            *(p.relative_to(out) for p in out.glob("figures/seat*")),
        ]
        for path in ours:
            if path not in written:
                (out / path).unlink(missing_ok=True)
    except BayesbiasError as error:
        raise InputError(str(error).replace(name, str(out))) from error
    finally:
        if made and not any(out.iterdir()):
            out.rmdir()
    return [out / path for path in written]


def _write_files(result: SeatResult, out: Path) -> list[Path]:
    from bayesbias.basics.files import whole_file
    from bayesbias.figures.saving import save_figures

    files = [result.write_tsv(out / "results.tsv")]
    frames = {
        "results": result.frame,
        "table4": result.table().reset_index(),
        "consistency": result.consistency(),
        **{
            name: frame
            for name, frame in (
                ("dropped", result.dropped),
                ("failures", result.failures),
                ("notes", result.notes),
            )
            if len(frame)
        },
    }
    for name, frame in frames.items():
        files.append(out / f"{name}.csv")
        with whole_file(files[-1]) as temporary:
            _joined(frame).to_csv(temporary, index=False)
    files.append(out / "provenance.json")
    with whole_file(files[-1]) as temporary:
        # An encoder may state whatever it likes of itself.
        text = json.dumps(result.provenance, indent=2, default=str) + "\n"
        temporary.write_text(text, encoding="utf-8")
    return [*files, *save_figures(result, out / "figures")]


def _joined(frame: Any) -> Any:
    """Write tuples as texts joined by blanks."""
    return frame.map(lambda value: " ".join(map(str, value)) if isinstance(value, tuple) else value)
