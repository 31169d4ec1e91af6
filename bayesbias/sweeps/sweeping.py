"""Many fits at once: embeddings by word lists by models, on local processes or a Dask cluster.

A sweep is a plan and a folder.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from bayesbias.core import checks
from bayesbias.core.packages import own_version
from bayesbias.core.progress import ticking
from bayesbias.core.workers import Hands, Task, carry_out
from bayesbias.models.spec import ModelSpec
from bayesbias.sweeps.cells import (
    CellGroup,
    PlanInputs,
    SweepCell,
    digest_of,
    group_cells,
    read_inputs,
)
from bayesbias.sweeps.plan import SweepPlan, load_plan
from bayesbias.sweeps.result import SweepResult, collect_results, find_finished
from bayesbias.sweeps.store import read_hashes, sweep_folder, write_json, write_record
from bayesbias.sweeps.work import fit_cell, make_tables
from bayesbias.tables.pair_table import PairTable

__all__ = ["run_sweep"]


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
    provenance, timing) and, at the end, the tidy table ``results.csv`` and ``results.parquet`` and
    the times ``timing.csv``. The results are in the order of the plan and do not depend on how the
    work was divided, killed or resumed.

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
        Go on with the sweep in `out`: finished cells are kept, cells that failed, whose inputs or
        settings changed, or whose files were damaged since, are fitted.
    progress : bool, optional
        A progress bar on stderr from the second second on; by default where that is a terminal.

    Returns
    -------
    SweepResult
        ``frame`` has a row for each mean (``quantity`` ``mean``, ``term`` a connection; overall
        only), each contrast (``contrast``; ``level`` overall, class or word) and each contrast in
        standard deviations (``standardized``; none for a model whose pairs need have no variance):
        ``cell, embedding, wordlist, controls, distances, model, seed, fit_seed, status, error,
        n_pairs, missing_words, protected_listed, protected_found (and used), stereotypes_listed,
        stereotypes_found, classes_left_out, method, divergences, max_r_hat, min_ess_bulk, trusted,
        problems (why not), warnings (what a fit of the cell is doubted for, see `Findings`),
        quantity, level, name, term, estimand, unit, mean, sd, hpdi_low, hpdi_high, prob, ess_bulk,
        r_hat, p_below_zero, p_in_rope, rope, probability_of_superiority`` with ``_low`` and
        ``_high`` (the last three as in `BiasFit.standardized`). Distances are in [0, 2].
        ``compared()`` sets the cells against each other, in standard deviations. A cell that failed
        is one row with ``status`` ``failed`` and its ``error``.

    Raises
    ------
    InputError
        For a plan or a folder that cannot be used; never for a single cell.
    FitError
        Where no worker can be started, or the Dask scheduler is lost.

    Examples
    --------
    >>> plan = {"embeddings": ["minilm-static"], "wordlists": ["religion", "gender"], "models": ["crossed"],
    ...         "settings": {"seed": 1}}
    >>> result = run_sweep(plan, "sweep-out")  # doctest: +SKIP
    >>> overall = result.frame.query("level == 'overall' and quantity == 'contrast'")  # doctest: +SKIP
    """
    checked, out = load_plan(plan), Path(checks.path(out, "out", "the path of a folder"))
    hands = Hands(workers, dask)
    with sweep_folder(out, checked, resume):
        inputs = read_inputs(checked)
        known = read_hashes(out)
        groups = group_cells(checked, inputs, lambda location: digest_of(location, known))
        write_json(out / "inputs.json", known)
        finished = find_finished(groups, checked, out)
        failed = {
            cell.key: cell.error
            for group in groups
            for cell in group.cells
            if cell.error is not None
        }
        wanted = [
            cell.key
            for group in groups
            for cell in group.cells
            if cell.key not in finished | set(failed)
        ]
        if wanted:
            with ticking("fits", len(wanted), progress) as tick, hands:
                tasks = _tasks(groups, set(wanted), inputs, checked, out, failed, tick)
                carry_out(tasks, hands.started(len(wanted)))
        return collect_results(groups, checked, out, failed, finished)


def _tasks(
    groups: Sequence[CellGroup],
    wanted: set[str],
    inputs: PlanInputs,
    plan: SweepPlan,
    out: Path,
    failed: dict[str, str],
    tick: Callable[[int], None],
) -> deque[Task]:
    """Return one task per file to read; each adds the fits of its tables when it is done."""
    tasks: deque[Task] = deque()
    options = {key: getattr(plan, key) for key in ("repeats", "allow_pickle", "invalid_utf8")}

    def fail(cells: Sequence[SweepCell], error: str) -> None:
        for cell in cells:
            failed[cell.key] = error
        tick(len(cells))

    def add(group: CellGroup) -> None:
        cells = [cell for cell in group.cells if cell.key in wanted]
        if not cells:
            return
        by_list: dict[Any, list[SweepCell]] = {}
        for cell in cells:
            by_list.setdefault((cell.labels["wordlist"], cell.labels["controls"]), []).append(cell)
        lists = None if group.source == "distances" else [inputs.wordlists[key] for key in by_list]

        def then(result: tuple[list[PairTable | str], float]) -> None:
            fits = []
            for table, members in zip(result[0], by_list.values(), strict=True):
                if isinstance(table, str):
                    fail(members, table)
                else:
                    fits += [_fit_task(table, cell, result[1]) for cell in members]
            tasks.extendleft(reversed(fits))

        arguments = (group.location, group.sha256, lists, options)
        tasks.append(
            Task(make_tables, arguments, then, lambda error: fail(cells, error), tables=True)
        )

    def _fit_task(table: PairTable, cell: SweepCell, load_s: float) -> Task:
        spec = inputs.models[cell.labels["model"]]
        assert isinstance(spec, ModelSpec)  # the others have failed already
        settings = {
            **{
                key: getattr(plan, key)
                for key in ("draws", "tune", "chains", "prob", "rope", "standard_rope", "keep_fits")
            },
            "model": cell.labels["model"],
            "fit_seed": cell.fit_seed,
        }

        def then(result: dict[str, Any]) -> None:
            if "error" in result:
                return fail([cell], result["error"])
            version = result["provenance"]["versions"]["bayesbias"]
            if version != own_version():
                return fail([cell], f"the worker has bayesbias {version}, here is {own_version()}")
            result["timing"] = {"load_s": round(load_s, 4), **result["timing"]}
            write_record(out, cell, result)
            tick(1)

        return Task(fit_cell, (table, spec.text, settings), then, lambda error: fail([cell], error))

    for group in groups:
        add(group)
    return tasks
