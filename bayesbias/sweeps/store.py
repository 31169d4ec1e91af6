"""The folder of a sweep: marked, locked, and one small file for each finished cell, whole or not at all.

A sweep that was killed is resumed by running it again: what is finished is recognised, what is not, what has
changed, or what is damaged, is fitted. Every file of JSON is sealed, and says the hashes of the files that belong to it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bayesbias.core.errors import InputError
from bayesbias.core.files import check_folder, parse_json, read_bytes, sha256_of, whole_file
from bayesbias.core.packages import own_version
from bayesbias.core.seals import (
    SEAL_KEY,
    State,
    about_file,
    damaged,
    seal_of_file,
    seal_of_json,
    sealed_json,
    state_of_file,
)
from bayesbias.sweeps.cells import SWEEP_FORMAT, SweepCell
from bayesbias.sweeps.plan import SweepPlan

_MARKER = "sweep.json"
TABLES = ("results.csv", "results.parquet", "timing.csv")
_RESUME = "`bayesbias sweep PLAN.toml --out DIR --resume` writes it again"
_HALF_WRITTEN = (
    *(f".{name}.*" for name in (_MARKER, "inputs.json", "results.csv", "results.parquet", "timing.csv")),
    "cells/.*.json.*",
    "fits/.*.nc.*",
)


@contextlib.contextmanager
def sweep_folder(out: Path, plan: SweepPlan, resume: bool) -> Iterator[None]:
    """Check the folder of a sweep, mark it as one, and keep a second run out of it."""
    from filelock import FileLock, Timeout

    check_folder(out)
    # Hidden files are no content: our lock and half-written files are, and so is what file managers leave.
    entries = sorted(path.name for path in out.iterdir() if path.name[0] != ".") if os.path.isdir(out) else []
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
        (out / "run.json").unlink(missing_ok=True)  # it vouches for tables that are about to be written anew
        mark_sweep(out, plan)
        yield


def mark_sweep(out: Path, plan: SweepPlan, tables: Sequence[str] = ()) -> None:
    """Mark a folder as that of a sweep, with the hashes of its tables and the keys of its cells once they are written."""
    about = {
        "format": SWEEP_FORMAT,
        "bayesbias": own_version(),
        "plan": {**dataclasses.asdict(plan), "folder": str(plan.folder)},
        "files": {name: about_file(out / name) for name in tables},
        **({"cells": [path.stem for path in records_in(out)]} if tables else {}),
    }
    write_json(out / _MARKER, about, indent=2)


def write_json(path: Path, value: Mapping[str, Any], indent: int | None = None) -> None:
    """Write a value as sealed JSON, whole or not at all; NaN is refused."""
    with whole_file(path) as temporary:
        temporary.write_bytes(sealed_json(value, indent=indent))


def read_json(path: Path) -> tuple[dict[str, Any], State]:
    """Return what a file of JSON holds, and whether it is as it was written; nothing where it is not."""
    if not path.is_file():
        return {}, State.MISSING
    content = read_bytes(path)
    state = seal_of_json(content)
    if state is not State.DAMAGED:
        try:
            value = parse_json(content, path)
        except InputError:  # told by its state
            value = None
        if isinstance(value, dict):
            return value, state
    return {}, State.DAMAGED


_RECORD_KEYS = {
    "n_pairs", "group", "outcome", "summary", "contrasts", "standardized", "diagnostics", "look_again", "coverage",
    "provenance", "timing",
}  # fmt: skip


def read_record(out: Path, cell: SweepCell, plan: SweepPlan) -> tuple[dict[str, Any] | None, State]:
    """Return what is written of a finished cell, and its state; None where it is not there, or not as it was written.

    A record without a seal, as first versions wrote it, is returned as unverified.
    """
    record, state = read_json(out / "cells" / f"{cell.key}.json")
    if state in (State.MISSING, State.DAMAGED):
        return None, state
    if record.get("identity") != json.loads(json.dumps(cell.identity)) or not set(record) >= _RECORD_KEYS:
        return None, State.DAMAGED
    if plan.keep_fits:
        kept = _state_of_fit(out, cell.key, record)
        if kept in (State.MISSING, State.DAMAGED):
            return None, kept
    return record, state


def _state_of_fit(out: Path, key: str, record: Mapping[str, Any]) -> State:
    path = out / "fits" / f"{key}.nc"
    if listed := record.get("fit"):
        return state_of_file(path, listed)
    return seal_of_file(path) if path.is_file() else State.MISSING


def write_record(out: Path, cell: SweepCell, result: dict[str, Any]) -> None:
    """Write what a cell gave: first its fit, then the record that says that it is finished."""
    fit_bytes = result.pop("netcdf", None)
    record = {"cell": cell.key, "identity": cell.identity, "fit_seed": cell.fit_seed, **result}
    if fit_bytes is not None:
        with whole_file(out / "fits" / f"{cell.key}.nc") as temporary:
            temporary.write_bytes(fit_bytes)
        record["fit"] = {"bytes": len(fit_bytes), "sha256": sha256_of(fit_bytes)}
    write_json(out / "cells" / f"{cell.key}.json", record)


def read_hashes(out: Path) -> dict[str, Any]:
    """Return the hashes of input files that an earlier sweep noted, by path; none if they are not as it wrote them."""
    known, state = read_json(out / "inputs.json")  # not there yet, or damaged: the files are hashed again
    return {path: of for path, of in known.items() if path != SEAL_KEY} if state is State.INTACT else {}


def records_in(out: Path) -> list[Path]:
    """Return the files of finished cells, and none that is half written."""
    return sorted(path for path in (out / "cells").glob("*.json") if path.name[0] != ".")


# -- what became of it -------------------------------------------------------------------------------


def states_of_sweep(folder: Path) -> dict[str, State]:
    """Return the state of every file that a sweep wrote into its folder, by name; nothing where there is no sweep."""
    marker, state = read_json(folder / _MARKER)
    if state is State.MISSING:
        return {}
    out: dict[str, State] = {_MARKER: state}
    if (folder / "inputs.json").is_file():
        out["inputs.json"] = read_json(folder / "inputs.json")[1]
    for path in records_in(folder):
        record, state = read_json(path)
        out[f"cells/{path.name}"] = State.DAMAGED if record.get("cell", path.stem) != path.stem else state
        fit = folder / "fits" / f"{path.stem}.nc"
        if "fit" in record or fit.is_file():
            out[f"fits/{fit.name}"] = _state_of_fit(folder, path.stem, record)
    listed_cells = marker.get("cells", [])
    if not isinstance(listed_cells, list) or not all(isinstance(key, str) for key in listed_cells):
        out[_MARKER], listed_cells = State.DAMAGED, []
    for key in listed_cells:
        out.setdefault(f"cells/{key}.json", State.MISSING)
    state_of_tables = marker.get("files")
    if state_of_tables and not isinstance(state_of_tables, dict):
        out[_MARKER] = State.DAMAGED
    elif state_of_tables:
        out |= {name: state_of_file(folder / name, listed) for name, listed in state_of_tables.items()}
    else:
        out |= {name: State.UNVERIFIED for name in TABLES if (folder / name).is_file()}
    return out


def check_tables(folder: Path) -> State:
    """Hold the tables of a sweep against the hashes in its marker.

    Raises
    ------
    InputError
        Where one was changed or damaged.
    """
    marker, state = read_json(folder / _MARKER)
    if state is State.DAMAGED or not isinstance(marker.get("files", {}), dict):
        raise damaged(folder / _MARKER, hint=_RESUME)
    for name, listed in marker.get("files", {}).items():
        if state_of_file(folder / name, listed) is State.DAMAGED:
            raise damaged(folder / name, hint=_RESUME)
    return State.INTACT if marker.get("files") else State.UNVERIFIED
