"""The folder of a sweep: marked, locked, and one small file for each finished cell, whole or not at all.

A sweep that was killed is resumed by running it again: what is finished is recognised, what is not, or what has
changed, is fitted.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bayesbias.basics.errors import InputError
from bayesbias.basics.files import whole_file
from bayesbias.basics.versions import own_version
from bayesbias.border.texts import read_json_or_none
from bayesbias.sweeps.cells import SWEEP_FORMAT, SweepCell
from bayesbias.sweeps.plan import SweepPlan

_MARKER = "sweep.json"
_HALF_WRITTEN = (
    *(f".{name}.*" for name in (_MARKER, "inputs.json", "results.csv", "results.parquet", "timing.csv")),
    "cells/.*.json.*",
    "fits/.*.nc.*",
)


@contextlib.contextmanager
def sweep_folder(out: Path, plan: SweepPlan, resume: bool) -> Iterator[None]:
    """Check the folder of a sweep, mark it as one, and keep a second run out of it."""
    from filelock import FileLock, Timeout

    if out.exists() and not out.is_dir():
        raise InputError("the output must be a folder", where=out, found="a file")
    # Hidden files are no content: our lock and half-written files are, and so is what file managers leave.
    entries = sorted(path.name for path in out.iterdir() if path.name[0] != ".") if out.exists() else []
    # A sweep that ended before its first fit leaves nothing that could be lost.
    unbegun = _MARKER in entries and set(entries) <= {_MARKER, "inputs.json"}
    if entries and not resume and not unbegun:
        raise InputError(
            "the output folder is not empty",
            where=out,
            found=", ".join(entries[:5]),
            hint="--resume (resume=True) goes on with the sweep in it; or name another folder",
        )
    if entries and _MARKER not in entries:
        raise InputError(
            "holds no sweep that could be resumed", where=out, found=", ".join(entries[:5]), valid=_MARKER
        )
    try:
        out.mkdir(parents=True, exist_ok=True)
        held = FileLock(out / ".lock").acquire(timeout=0)
    except Timeout:
        raise InputError(
            "another sweep is running in this folder", where=out, hint="wait for it to end"
        ) from None
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", where=out) from None
    with held:
        for pattern in _HALF_WRITTEN:  # what a killed run had not renamed yet
            for stale in out.glob(pattern):
                stale.unlink()
        about = {
            "format": SWEEP_FORMAT,
            "bayesbias": own_version(),
            "plan": {**dataclasses.asdict(plan), "folder": str(plan.folder)},
        }
        (out / "run.json").unlink(missing_ok=True)  # it vouches for tables that are about to be written anew
        write_json(out / _MARKER, about, indent=2)
        yield


def write_json(path: Path, value: Any, indent: int | None = None) -> None:
    """Write a value as JSON, whole or not at all; NaN is refused."""
    with whole_file(path) as temporary:
        temporary.write_text(json.dumps(value, indent=indent, allow_nan=False) + "\n", encoding="utf-8")


_RECORD_KEYS = {
    "n_pairs", "group", "outcome", "summary", "contrasts", "standardised", "diagnostics", "look_again", "coverage",
    "provenance", "timing",
}  # fmt: skip


def read_record(out: Path, cell: SweepCell, plan: SweepPlan) -> dict[str, Any] | None:
    """Return what is written of a finished cell; None where it is not, or not all of it."""
    record = read_json_or_none(out / "cells" / f"{cell.key}.json")  # damaged: the cell is fitted again
    if not isinstance(record, dict) or record.get("identity") != json.loads(json.dumps(cell.identity)):
        return None
    if not set(record) >= _RECORD_KEYS:
        return None
    return None if plan.keep_fits and not (out / "fits" / f"{cell.key}.nc").is_file() else record


def write_record(out: Path, cell: SweepCell, made: dict[str, Any]) -> None:
    """Write what a cell gave: first its fit, then the record that says that it is finished."""
    fit_bytes = made.pop("netcdf", None)
    if fit_bytes is not None:
        with whole_file(out / "fits" / f"{cell.key}.nc") as temporary:
            temporary.write_bytes(fit_bytes)
    record = {"cell": cell.key, "identity": cell.identity, "fit_seed": cell.fit_seed, **made}
    write_json(out / "cells" / f"{cell.key}.json", record)


def read_hashes(out: Path) -> dict[str, Any]:
    """Return the hashes of input files that an earlier sweep noted, by path; none if damaged."""
    known = read_json_or_none(out / "inputs.json")  # not there yet, or damaged: the files are hashed again
    return known if isinstance(known, dict) else {}
