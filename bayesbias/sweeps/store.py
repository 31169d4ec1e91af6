"""The folder of a sweep: marked, locked, and one small file for each finished cell, whole or not at all.

A sweep that was killed is resumed by running it again: finished cells are kept, all others are
fitted.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from bayesbias.core.errors import InputError
from bayesbias.core.files import check_folder, read_json, sha256_file, sha256_of, whole_file
from bayesbias.core.packages import own_version
from bayesbias.sweeps.cells import SWEEP_FORMAT, SweepCell
from bayesbias.sweeps.plan import SweepPlan

try:
    import fcntl
except ImportError:  # Windows, where nothing keeps a second sweep out of the folder
    fcntl = None  # type: ignore[assignment]

_MARKER = "sweep.json"
TABLES = ("results.csv", "results.parquet", "timing.csv")


@contextlib.contextmanager
def sweep_folder(out: Path, plan: SweepPlan, resume: bool) -> Iterator[None]:
    """Check the folder of a sweep, mark it as one, and keep a second run out of it."""
    check_folder(out)
    # Hidden files are no content: our lock and half-written files are, and so is what file managers leave.
    entries = (
        sorted(path.name for path in out.iterdir() if path.name[0] != ".")
        if os.path.isdir(out)
        else []
    )
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
            "holds no sweep that could be resumed",
            where=out,
            found=", ".join(entries[:5]),
            valid=_MARKER,
        )
    try:
        out.mkdir(parents=True, exist_ok=True)
        lock = open(out / ".lock", "w")  # noqa: SIM115 - held as long as the sweep runs
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", where=out) from None
    with lock:
        if not _locked(lock):
            raise InputError(
                "another sweep is running in this folder", where=out, hint="wait for it to end"
            )
        for stale in out.rglob(".bayesbias-*"):  # what a killed run had not renamed yet
            stale.unlink(missing_ok=True)
        (out / "run.json").unlink(missing_ok=True)  # its tables are about to be written anew
        mark_sweep(out, plan)
        yield


def _locked(lock: IO[str]) -> bool:
    """Lock a file for as long as it is open; say whether nobody else had."""
    if fcntl is not None:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


def mark_sweep(out: Path, plan: SweepPlan, tables: Sequence[str] = ()) -> None:
    """Mark a folder as that of a sweep, with the hashes of its tables and the keys of its cells once they are written."""
    about = {
        "format": SWEEP_FORMAT,
        "bayesbias": own_version(),
        "plan": {**dataclasses.asdict(plan), "folder": str(plan.folder)},
        "files": {name: sha256_file(out / name) for name in tables},
        **({"cells": [path.stem for path in records_in(out)]} if tables else {}),
    }
    write_json(out / _MARKER, about, indent=2)


def write_json(path: Path, value: Mapping[str, Any], indent: int | None = None) -> None:
    """Write a value as JSON, whole or not at all; NaN is refused."""
    with whole_file(path) as temporary:
        temporary.write_text(
            json.dumps(value, indent=indent, allow_nan=False) + "\n", encoding="utf-8"
        )


def read_json_or_nothing(path: Path) -> dict[str, Any]:
    """Return what a file of JSON holds; nothing where it is not there, or damaged."""
    try:
        value = read_json(path)
    except InputError:
        return {}
    return value if isinstance(value, dict) else {}


_RECORD_KEYS = {
    "n_pairs", "group", "outcome", "summary", "contrasts", "standardized", "diagnostics", "warnings", "coverage",
    "provenance", "timing",
}  # fmt: skip


def read_record(out: Path, cell: SweepCell, plan: SweepPlan) -> dict[str, Any] | None:
    """Return what is written of a finished cell; None where it is not there, or of other inputs."""
    record = read_json_or_nothing(out / "cells" / f"{cell.key}.json")
    if (
        record.get("identity") != json.loads(json.dumps(cell.identity))
        or not set(record) >= _RECORD_KEYS
    ):
        return None
    if plan.keep_fits:
        fit = out / "fits" / f"{cell.key}.nc"
        if not fit.is_file() or sha256_file(fit) != record.get("fit"):
            return None
    return record


def write_record(out: Path, cell: SweepCell, result: dict[str, Any]) -> None:
    """Write what a cell gave: first its fit, then the record that says that it is finished."""
    fit_bytes = result.pop("netcdf", None)
    record = {"cell": cell.key, "identity": cell.identity, "fit_seed": cell.fit_seed, **result}
    if fit_bytes is not None:
        with whole_file(out / "fits" / f"{cell.key}.nc") as temporary:
            temporary.write_bytes(fit_bytes)
        record["fit"] = sha256_of(fit_bytes)
    write_json(out / "cells" / f"{cell.key}.json", record)


def read_hashes(out: Path) -> dict[str, Any]:
    """Return the hashes of input files that an earlier sweep noted, by path."""
    return read_json_or_nothing(out / "inputs.json")


def records_in(out: Path) -> list[Path]:
    """Return the files of finished cells, and none that is half written."""
    return sorted(path for path in (out / "cells").glob("*.json") if path.name[0] != ".")
