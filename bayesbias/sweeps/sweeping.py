"""Many fits at once: embeddings by word lists by models, on local processes or a Dask cluster.

The folder of a sweep has one file for each finished cell, written whole, so that a sweep that was
killed can be resumed.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
import os
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from bayesbias.core import checks
from bayesbias.core.errors import InputError
from bayesbias.core.files import check_folder, plain, whole_file
from bayesbias.core.packages import own_version
from bayesbias.core.progress import ticking
from bayesbias.core.workers import Hands, Task
from bayesbias.models.spec import ModelSpec
from bayesbias.sweeps.cells import READING, CellGroup, SweepCell, group_cells
from bayesbias.sweeps.plan import SweepPlan, load_plan
from bayesbias.sweeps.result import SweepResult, collect_results
from bayesbias.sweeps.work import fit_cell, make_tables
from bayesbias.tables.pair_table import PairTable, keep_common

__all__ = ["run_sweep"]

MARKER = "sweep.json"
type _Made = tuple[PairTable, list[SweepCell], float]
"""A table, the cells that it is for, and the seconds it took."""


def run_sweep(
    plan: str | os.PathLike[str] | Mapping[str, Any] | SweepPlan,
    out: str | os.PathLike[str],
    *,
    workers: int | None = None,
    dask: str | None = None,
    resume: bool = False,
    progress: bool | None = None,
) -> SweepResult:
    """Fit every model of a plan to every table of it.

    Writes ``cells/KEY.json`` for each finished cell (summary, contrasts, diagnostics, coverage,
    provenance, timing) and ``draws/KEY.npz`` with the draws of its overall contrasts. At the end it
    writes the tidy table ``results.csv`` and ``results.parquet`` and the times ``timing.csv``. The
    results are in the order of the plan and do not depend on how the work was divided, killed or
    resumed.

    In a script of your own, call it under ``if __name__ == "__main__":`` unless `workers` is 1,
    since every worker process imports the script.

    Parameters
    ----------
    plan : path, mapping or SweepPlan
        See `load_plan`.
    out : path
        The folder; new or empty, unless `resume` is true.
    workers : int, optional
        Local processes; by default one per core, and no more than there are cells to fit. With 1
        this process does the work itself, which starts sooner; a cell that takes all memory, or is
        killed, then ends the sweep, which `resume` goes on with. From 2 on, or by default, such a
        cell fails alone.
    dask : str, optional
        The address of a Dask scheduler that does the fits instead (extra ``dask``), such as
        ``tcp://host:8786``. Its workers need this package, none of the files, and best one thread
        each.
    resume : bool
        Continue the sweep in `out`: finished cells are kept; cells that failed, or whose inputs or
        settings changed, are fitted.
    progress : bool, optional
        A progress bar on stderr from the second second on; by default where that is a terminal.

    Returns
    -------
    SweepResult
        ``frame`` has a row for each mean (``quantity`` ``mean``, ``term`` a connection; overall
        only), each contrast (``contrast``; ``level`` overall, class, attribute_set or word) and
        each contrast in standard deviations (``standardized``): the labels of the cell, its counts
        of words and diagnostics, and the columns of `bayesbias.inference.estimates`. A cell that
        failed is one row with ``status`` ``failed`` and its ``error``. ``compared()`` sets the
        cells against each other, in standard deviations.

    Raises
    ------
    InputError
        If the plan or the folder cannot be used; never because of a single cell.
    FitError
        If no worker can be started, or the Dask scheduler is lost.

    Examples
    --------
    >>> plan = {
    ...     "embeddings": ["minilm-static"],
    ...     "wordlists": ["religion", "gender"],
    ...     "models": ["crossed"],
    ...     "settings": {"seed": 1},
    ... }
    >>> result = run_sweep(plan, "sweep-out")  # doctest: +SKIP
    >>> overall = result.frame.query(
    ...     "level == 'overall' and quantity == 'contrast'"
    ... )  # doctest: +SKIP
    """
    plan, out = load_plan(plan), Path(checks.path(out, "out", "the path of a folder"))
    hands = Hands(workers, dask)
    _open_folder(out, plan, resume)
    groups = group_cells(plan)
    cells = [cell for group in groups for cell in group.cells]
    finished = {cell.key for cell in cells if (out / "cells" / f"{cell.key}.json").is_file()}
    failed = {cell.key: cell.error for cell in cells if cell.error is not None}
    wanted = {cell.key for cell in cells} - finished - set(failed)
    if wanted:
        with ticking("fits", len(wanted), progress) as tick, hands:
            tasks = _tasks(groups, wanted, plan, out, failed, tick)
            hands.carry_out(tasks, len(wanted))
    return collect_results(cells, out, failed, len(finished))


def _open_folder(out: Path, plan: SweepPlan, resume: bool) -> None:
    """Refuse a folder with something else in it, and mark it as that of a sweep."""
    check_folder(out)
    found = [path.name for path in out.iterdir() if path.name[0] != "."] if out.is_dir() else []
    begun = MARKER not in found or any((out / "cells").glob("*.json"))
    if found and begun and not resume:
        hint = "continue the sweep in it with --resume (resume=True), or name another folder"
        raise InputError("the output folder is not empty", where=out, found=found[:5], hint=hint)
    if found and MARKER not in found:
        raise InputError("the folder holds no sweep", where=out, found=found[:5], valid=MARKER)
    for name in ("cells", "draws"):
        (out / name).mkdir(parents=True, exist_ok=True)
    about = {**dataclasses.asdict(plan), "folder": str(plan.folder)}
    _write_json(out / MARKER, {"bayesbias": own_version(), "plan": about})


def _write_json(path: Path, value: Mapping[str, Any]) -> None:
    with whole_file(path) as temporary:
        temporary.write_text(json.dumps(plain(value), allow_nan=False) + "\n", encoding="utf-8")


def _tasks(
    groups: Sequence[CellGroup],
    wanted: Collection[str],
    plan: SweepPlan,
    out: Path,
    failed: dict[str, str],
    tick: Callable[[int], None],
) -> deque[Task]:
    """Return one task per file to read; each adds the fits of its tables when it is done."""
    tasks: deque[Task] = deque()
    shared: list[CellGroup] = []  # whose tables wait for each other, to keep the common words
    held: list[list[_Made]] = []

    def fail(cells: Sequence[SweepCell], error: str) -> None:
        mine = [cell for cell in cells if cell.key in wanted]
        failed.update({cell.key: error for cell in mine})
        tick(len(mine))

    def read_task(group: CellGroup, cells: list[SweepCell]) -> Task:
        by_list: dict[Any, list[SweepCell]] = {}
        for cell in cells:
            by_list.setdefault(cell.list_label, []).append(cell)
        lists = [own[0].words for own in by_list.values()]

        def then(result: tuple[list[PairTable | str], float]) -> None:
            made: list[_Made] = []
            for table, own in zip(result[0], by_list.values(), strict=True):
                if isinstance(table, str):
                    fail(own, table)
                else:
                    made.append((table, own, result[1]))
            arrived(group, made)

        def lost(error: str) -> None:
            fail(cells, error)
            arrived(group, [])

        options = {key: getattr(plan, key) for key in READING}
        arguments = (group.location, None if group.source == "distances" else lists, options)
        return Task(make_tables, arguments, then, lost, tables=True)

    def arrived(group: CellGroup, made: list[_Made]) -> None:
        if group not in shared:
            return start(made)
        held.append(made)
        by_list: dict[Any, list[_Made]] = {}
        for each in itertools.chain(*held) if len(held) == len(shared) else ():
            by_list.setdefault(each[1][0].list_label, []).append(each)
        for members in by_list.values():
            tables, own, seconds = zip(*members, strict=True)
            try:
                start(zip(keep_common(tables), own, seconds, strict=True))
            except InputError as error:
                fail(list(itertools.chain(*own)), str(error))

    def start(made: Iterable[_Made]) -> None:
        each = [(table, cell, seconds) for table, own, seconds in made for cell in own]
        fits = [fit_task(*asked) for asked in each if asked[1].key in wanted]
        tasks.extendleft(reversed(fits))

    def fit_task(table: PairTable, cell: SweepCell, load_s: float) -> Task:
        assert isinstance(cell.spec, ModelSpec)  # the others have failed already
        names = ("draws", "tune", "chains", "prob", "rope", "standard_rope")
        settings = {name: getattr(plan, name) for name in names}
        settings |= {"model": cell.labels["model"], "seed": cell.fit_seed}

        def then(result: dict[str, Any] | str) -> None:
            if isinstance(result, str):
                return fail([cell], result)
            version = result["provenance"]["versions"]["bayesbias"]
            if version != own_version():
                return fail([cell], f"the worker has bayesbias {version}, here is {own_version()}")
            result["timing"] = {"load_s": round(load_s, 4), **result["timing"]}
            if "draws" in result:
                with whole_file(out / "draws" / f"{cell.key}.npz") as temporary:
                    temporary.write_bytes(result.pop("draws"))
            about = {"cell": cell.key, **cell.labels, "fit_seed": cell.fit_seed}
            _write_json(out / "cells" / f"{cell.key}.json", {**about, **result})
            tick(1)

        arguments = (table, cell.spec.text, settings)
        return Task(fit_cell, arguments, then, lambda error: fail([cell], error))

    for group in groups:
        # Where words must be common, vectors whose cells are finished are read too.
        all_read = plan.common_words and group.source == "embedding"
        chosen = [c for c in group.cells if c.key in wanted or (all_read and not c.error)]
        if chosen:
            shared += [group] if all_read else []
            tasks.append(read_task(group, chosen))
    return tasks
