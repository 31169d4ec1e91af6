"""Many tables analysed in batches, by workers, and kept in a folder so that a run that was cut short goes on."""

from __future__ import annotations

import functools
import json
import os
from collections import Counter, deque
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesbias.core import checks
from bayesbias.core.errors import InputError, warn_user
from bayesbias.core.files import parse_json, read_bytes, whole_file
from bayesbias.core.formatting import number_of
from bayesbias.core.packages import own_version
from bayesbias.core.seals import State, damaged, seal_of_json, sealed_json

if TYPE_CHECKING:
    from bayesbias.core.workers import Hands

_BATCH = 20


def _is_a_table(written: bytes) -> bool:
    try:
        return isinstance(json.loads(written), dict)
    except (ValueError, RecursionError):
        return False


def batch_folder(
    out: str | os.PathLike[str] | None, identity: Mapping[str, Any], resume: bool
) -> Path | None:
    """Return the folder for finished batches, which says in ``calibration.json`` what they are batches of.

    Raises
    ------
    InputError
        Where it holds other things, or batches that nobody asked to go on with.
    """
    if out is None:
        if resume:
            raise InputError(
                "nothing to resume: no folder is named", valid="`out`, the folder of the finished batches"
            )
        return None
    folder = Path(checks.path(out, "out", "the path of a folder"))
    plain = json.dumps(identity, indent=2, sort_keys=True)
    text = sealed_json(json.loads(plain), indent=2)
    state = folder / "calibration.json"
    if state.is_file():
        if not resume:
            raise InputError(
                "holds a calibration already", where=folder, hint="resume it, or name another folder"
            )
        written = read_bytes(state)
        if seal_of_json(written) is State.DAMAGED or not _is_a_table(written):
            raise damaged(state)
        if written not in (text, plain.encode()):  # the latter of first versions
            raise InputError(
                "holds a calibration with other settings", where=folder, hint="name another folder"
            )
    elif folder.is_dir() and any(folder.iterdir()):
        raise InputError("the output folder is not empty", where=folder, hint="name another folder")
    else:
        with whole_file(state) as temporary:
            temporary.write_bytes(text)
    return folder


def in_batches(
    work: Callable[[int, int], list[dict[str, Any]]],
    tables: int,
    folder: Path | None,
    hands: Hands,
    label: str,
    progress: bool | None,
    size: int | None = None,
) -> list[dict[str, Any]]:
    """Return the rows of all tables, in their order.

    Parameters
    ----------
    work : callable
        Takes the number of the first table and how many; can be pickled, and needs no other state.
    tables : int
    folder : Path, optional
        Where batches are kept.
    hands : Hands
        Who works; other batches may be handed to them after these.
    label : str
        Of the bar.
    progress : bool, optional
    size : int, optional
        Tables in a batch; fewer where a table takes long, so that the bar moves.
    """
    from bayesbias.core.progress import ticking
    from bayesbias.core.workers import Task, carry_out, with_version

    done: dict[int, list[dict[str, Any]]] = {}
    size = _BATCH if size is None else size
    starts = range(0, tables, size)
    states: Counter[State] = Counter()
    for first in starts:
        if folder is not None:
            rows, state = _read_batch(folder / f"batch-{first:06d}-{min(size, tables - first)}.json")
            states[state] += 1
            if rows:
                done[first] = rows
    for state, sentence in (
        (State.DAMAGED, "damaged: made again"),
        (State.UNVERIFIED, "written without a hash: used unverified"),
    ):
        if states[state]:
            count_of = number_of(states[state], "batch", "batches")
            warn_user(f"{folder}: {count_of} {sentence}")
    with ticking(label, tables, progress) as tick:
        tick(sum(min(size, tables - first) for first in done))

        def finished(first: int, count: int, rows: list[dict[str, Any]]) -> None:
            if folder is not None:
                with whole_file(folder / f"batch-{first:06d}-{count}.json") as temporary:
                    temporary.write_bytes(sealed_json({"rows": rows}))
            done[first] = rows
            tick(count)

        def answered(first: int, count: int, result: tuple[str, list[dict[str, Any]]]) -> None:
            version, rows = result
            if version != own_version():
                failed(f"the worker has bayesbias {version}, here is {own_version()}")
            finished(first, count, rows)

        def failed(error: str) -> None:
            raise InputError(f"a batch of {label} failed: {error}")

        tasks = deque(
            Task(
                work=with_version,
                arguments=(work, first, min(size, tables - first)),
                then=functools.partial(answered, first, min(size, tables - first)),
                fail=failed,
            )
            for first in starts
            if first not in done
        )
        if hands.alone(len(tasks)):
            for task in tasks:
                task.then(task.work(*task.arguments))
        elif tasks:
            carry_out(tasks, hands.started(len(tasks)))
    return [row for first in starts for row in done[first]]


def _read_batch(file: Path) -> tuple[list[dict[str, Any]], State]:
    """Return a finished batch and its state; nothing where it is not there, or not as it was written."""
    if not file.is_file():
        return [], State.MISSING
    content = read_bytes(file)
    state = seal_of_json(content)
    if state is State.DAMAGED:
        return [], state
    try:
        value = parse_json(content, file)
    except InputError:  # told by its state
        return [], State.DAMAGED
    rows = value.get("rows") if isinstance(value, dict) else value
    if isinstance(rows, list) and rows and all(isinstance(row, dict) for row in rows):
        return rows, state
    return [], State.DAMAGED
