"""The files of finished cells: each says by hashes whether it is what was written.

A cell is ``cells/KEY.json``, its record, and ``draws/KEY.npz`` if it has contrasts. The record holds
the hash of its draws, its key, and last the hash of all else that it holds. The draws are written
first, and both whole, so that a sweep that is killed leaves whole cells and others that are fitted
again.
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from bayesbias.core.errors import InputError
from bayesbias.core.files import plain, read_bytes, sha256_file, sha256_of, write_whole

MARKER = "sweep.json"
TABLES = ("results.csv", "results.parquet")
HASH, HASH_OF_DRAWS = "sha256", "draws_sha256"


def record_file(out: Path, key: str) -> Path:
    """Return where the record of a cell is."""
    return out / "cells" / f"{key}.json"


def draws_file(out: Path, key: str) -> Path:
    """Return where the draws of a cell are, if it has any."""
    return out / "draws" / f"{key}.npz"


def recorded_keys(out: Path) -> list[str]:
    """Return the keys of all cells that have a record, whole or not."""
    files = (out / "cells").glob("*.json")
    return sorted(path.stem for path in files if not path.name.startswith("."))


def remove_unfinished(out: Path) -> None:
    """Remove what a sweep that was killed had not finished writing."""
    for folder in ("cells", "draws"):
        for path in (out / folder).glob(".bayesbias-*"):
            path.unlink(missing_ok=True)


def write_cell(out: Path, key: str, record: Mapping[str, Any], draws: bytes | None) -> None:
    """Write a finished cell: its draws first, then the record that makes it count."""
    digest = None
    if draws is not None:
        digest = sha256_of(draws)
        write_whole(draws_file(out, key), draws)
    content = plain({"cell": key, **record, HASH_OF_DRAWS: digest})
    write_whole(record_file(out, key), _sealed(content))


def read_cell(out: Path, key: str) -> dict[str, Any]:
    """Return the record of a cell whose files are what was written.

    Raises
    ------
    InputError
        If one of them is missing, cut or changed, or is that of another cell.
    """
    path = record_file(out, key)
    record = _read_record(path)
    if record["cell"] != key:
        raise InputError("expected the record of this cell, got that of another", where=path)

    digest, draws = record[HASH_OF_DRAWS], draws_file(out, key)
    if digest is None:
        return record
    if not draws.is_file():
        raise InputError("expected the draws of the cell, got no file", where=draws)
    if sha256_file(draws) != digest:
        raise InputError("expected the draws that were written, got others", where=draws)
    return record


def _read_record(path: Path) -> dict[str, Any]:
    """Return what a record holds, if all of it is as it was written."""
    if not path.is_file():
        raise InputError("expected the record of a cell, got no file", where=path)
    content = read_bytes(path)
    if not content:
        raise InputError("expected the record of a cell, got an empty file", where=path)

    try:
        record = json.loads(content)
    except (ValueError, RecursionError):
        problem = "expected the record of a cell, got one that is cut or damaged"
        raise InputError(problem, where=path) from None
    if not isinstance(record, dict) or HASH not in record:
        problem = "expected a record with its hash, got one without, as an earlier version wrote it"
        raise InputError(problem, where=path)

    if not _is_sealed(content, record):
        raise InputError("expected the record that was written, got a changed one", where=path)
    return record


def _sealed(content: Mapping[str, Any]) -> str:
    """Return the text of a record: what it holds, and last the hash of that."""
    return _line({**content, HASH: sha256_of(_line(content))})


def _is_sealed(content: bytes, record: Mapping[str, Any]) -> bool:
    """Say whether the bytes of a record are those that were written."""
    rest = {name: value for name, value in record.items() if name != HASH}
    return content == _sealed(rest).encode()


def _line(value: Any) -> str:
    return json.dumps(value) + "\n"


def write_marker(
    out: Path, about: Mapping[str, Any], finished: Iterable[str] | None = None
) -> None:
    """Write what a sweep is of; at its end also which cells it has, and the hashes of its tables."""
    content = dict(about)
    if finished is not None:
        content["files"] = {name: sha256_file(out / name) for name in TABLES}
        content["cells"] = list(finished)
    write_whole(out / MARKER, _sealed(plain(content)))


def verify_sweep(folder: Path) -> dict[str, str]:
    """Compare the cells and the tables of a sweep, finished or not, with their hashes.

    Parameters
    ----------
    folder : Path
        Any folder; one without a sweep has no such files.

    Returns
    -------
    dict of str to {"ok", "changed", "missing"}
        The state of each file, by name.
    """
    if not (folder / MARKER).is_file():
        return {}
    about, state = _read_marker(folder / MARKER)
    states = {MARKER: state}
    for name, digest in about.get("files", {}).items():
        states[name] = _state_of(folder / name, digest)
    for key in sorted({*about.get("cells", []), *recorded_keys(folder)}):
        states |= _states_of_cell(folder, key)
    return states


def _read_marker(path: Path) -> tuple[Mapping[str, Any], str]:
    """Return what a sweep says of itself, nothing where that cannot be relied on, and its state."""
    content = read_bytes(path)
    try:
        about = json.loads(content)
    except (ValueError, RecursionError):
        return {}, "changed"
    if isinstance(about, dict) and _is_sealed(content, about):
        return about, "ok"
    return {}, "changed"


def _states_of_cell(folder: Path, key: str) -> dict[str, str]:
    """Return the states of a record and, where it can be relied on, of its draws."""
    path, draws = record_file(folder, key), draws_file(folder, key)
    names = {file: file.relative_to(folder).as_posix() for file in (path, draws)}
    if not path.is_file():
        return {names[path]: "missing"}
    try:
        record = _read_record(path)
    except InputError:
        return {names[path]: "changed"}

    states = {names[path]: "ok" if record["cell"] == key else "changed"}
    if record[HASH_OF_DRAWS] is not None:
        states[names[draws]] = _state_of(draws, record[HASH_OF_DRAWS])
    return states


def _state_of(path: Path, digest: str) -> str:
    if not path.is_file():
        return "missing"
    return "ok" if sha256_file(path) == digest else "changed"
