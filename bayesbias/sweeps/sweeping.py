"""Many fits at once: embeddings by word lists by models, on local processes or a Dask cluster.

The folder of a sweep has one file for each finished cell, written whole, so that a sweep that
was killed can be resumed. Each embedding is read once, for the words of all lists together.
Whatever goes wrong belongs to its cell and does not end the sweep.
"""

import dataclasses
import io
import itertools
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bayesbias import __version__
from bayesbias.core import FitError, InputError, checks, describe_error
from bayesbias.core.errors import warn_user
from bayesbias.core.files import check_folder, plain, records
from bayesbias.core.formatting import number_of
from bayesbias.core.progress import ticking
from bayesbias.core.workers import Hands, Task
from bayesbias.embeddings.loading import load_embedding
from bayesbias.inference.fitting import fit
from bayesbias.inference.variances import has_variance
from bayesbias.inference.view import View
from bayesbias.models.spec import ModelSpec
from bayesbias.studies.association.interpretation import interpret_fit
from bayesbias.sweeps import cells as cell_files, plan as plans
from bayesbias.sweeps.cells import MARKER
from bayesbias.sweeps.plan import CellGroup, SweepCell, SweepPlan, or_message
from bayesbias.sweeps.result import SweepResult, collect_results
from bayesbias.tables.distances import distance_table
from bayesbias.tables.joining import keep_common
from bayesbias.tables.pair_table import PairTable
from bayesbias.tables.reading import load_distances
from bayesbias.wordlists.wordlist import WordList

_MOST_NAMED = 5  # files in one warning
type _Made = tuple[PairTable, list[SweepCell]]
"""A table, and the cells that it is for."""


def run_sweep(
    plan: checks.FilePath | Mapping[str, Any] | SweepPlan,
    out: checks.FilePath,
    *,
    workers: int | None = None,
    dask: str | None = None,
    resume: bool = False,
    progress: bool | None = None,
) -> SweepResult:
    """Fit every model of a plan to every table of it.

    Writes ``cells/KEY.json`` for each finished cell (summary, contrasts, diagnostics, and
    provenance with the coverage) and ``draws/KEY.npz`` with the draws of its overall contrasts. At
    the end it writes the tidy table ``results.csv`` and ``results.parquet``. The
    results are in the order of the plan and do not depend on how the work was divided, killed or
    resumed. Each cell has the hashes of its files, which ``bayesbias verify`` compares.

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
        settings changed, are fitted. So are cells of which a file is empty, cut, changed, missing
        or that of another cell; a warning names them.
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
    plan, out = plans.load_plan(plan), Path(checks.path(out, "out", "the path of a folder"))
    hands = Hands(workers, dask)
    check_folder(out)
    found = [path.name for path in out.iterdir() if path.name[0] != "."] if out.is_dir() else []
    begun = MARKER not in found or bool(cell_files.recorded_keys(out))
    if found and begun and not resume:
        hint = "continue the sweep in it with --resume (resume=True), or name another folder"
        raise InputError("expected an empty folder", where=out, found=found[:5], hint=hint)
    if found and MARKER not in found:
        raise InputError("expected the folder of a sweep", where=out, found=found[:5], valid=MARKER)
    for name in ("cells", "draws"):
        (out / name).mkdir(parents=True, exist_ok=True)
    cell_files.remove_unfinished(out)
    settings = {**dataclasses.asdict(plan), "folder": str(plan.folder)}
    about = {"bayesbias": __version__, "plan": settings}
    cell_files.write_marker(out, about)

    groups = plans.group_cells(plan, progress)
    cells = [cell for group in groups for cell in group.cells]
    finished = _finished_cells(cells, out, progress)
    failed = {cell.key: cell.error for cell in cells if cell.error is not None}
    wanted = {cell.key for cell in cells} - finished - set(failed)
    if wanted:
        with ticking("fits", len(wanted), progress, long_steps=True) as tick, hands:
            _fit_cells(groups, wanted, plan, out, failed, hands, tick)

    result = collect_results(cells, out, failed, len(finished), progress)
    cell_files.write_marker(out, about, [cell.key for cell in cells if cell.key not in failed])
    return result


def _finished_cells(cells: Sequence[SweepCell], out: Path, progress: bool | None) -> set[str]:
    """Return the keys of the cells that need no fit, and warn of those whose files are not whole."""
    recorded = set(cell_files.recorded_keys(out))
    finished = set()
    problems = []
    with ticking("checking finished cells", len(recorded), progress) as tick:
        for key in dict.fromkeys(cell.key for cell in cells if cell.key in recorded):
            try:
                cell_files.read_cell(out, key)
            except InputError as error:
                problems.append(str(error).removesuffix("."))
            else:
                finished.add(key)
            tick(1)

    if problems:
        named = "; ".join(problems[:_MOST_NAMED])
        rest = len(problems) - _MOST_NAMED
        more = f"; and {rest:,} more" if rest > 0 else ""
        warn_user(f"{number_of(len(problems), 'cell')} fitted again: {named}{more}.")
    return finished


def _fit_cells(
    groups: Sequence[CellGroup],
    wanted: Collection[str],
    plan: SweepPlan,
    out: Path,
    failed: dict[str, str],
    hands: Hands,
    tick: Callable[[int], None],
) -> None:
    """Read each file and fit its tables, before the next file is read where there is one worker."""
    reading = {name: getattr(plan, name) for name in plans.READING}
    settings = {name: getattr(plan, name) for name in plans.SETTINGS}
    tasks: deque[Task] = deque()
    waiting = 0  # files whose tables wait for each other, to keep the common words
    met: dict[Any, list[_Made]] = {}  # the tables that do, by word list

    def fail(cells: Iterable[SweepCell], error: str) -> None:
        mine = [cell.key for cell in cells if cell.key in wanted]
        failed.update(dict.fromkeys(mine, error))
        tick(len(mine))

    def start(made: Iterable[_Made]) -> None:
        each = [(table, cell) for table, own in made for cell in own if cell.key in wanted]
        for table, cell in reversed(each):
            arguments = (fit_cell, table, cell.spec, cell.fit_seed, settings)
            tasks.appendleft(Task(cell, or_message, arguments))

    for group in groups:
        # Where words must be common, vectors whose cells are finished are read too.
        shared = plan.common_words and group.source == "embedding"
        by_list = checks.grouped(
            (cell.list_label, cell)
            for cell in group.cells
            if cell.key in wanted or (shared and not cell.error)
        )
        if by_list:
            waiting += shared
            lists = [own[0].words for own in by_list.values()]
            given = (group.location, None if group.source == "distances" else lists, reading)
            tasks.append(Task((shared, by_list), make_tables, given, tables=True))
    for key, answer, problem in hands.answers(tasks, len(wanted)):
        error = None if problem is None else describe_error(problem)
        if isinstance(key, SweepCell):
            if error or isinstance(answer, str):
                fail([key], error or answer)
            else:
                draws = answer.pop("draws", None)
                record = {**key.labels, "fit_seed": key.fit_seed, **answer}
                cell_files.write_cell(out, key.key, record, draws)
                tick(1)
            continue
        shared, by_list = key
        made = []
        # What fails the whole file fails each of its tables.
        for table, own in zip(answer or [error] * len(by_list), by_list.values(), strict=True):
            if isinstance(table, str):
                fail(own, table)
            else:
                made.append((table, own))
        if not shared:
            start(made)
            continue
        waiting -= 1
        for each in made:
            met.setdefault(each[1][0].list_label, []).append(each)
        for members in () if waiting else met.values():
            found, cells = zip(*members, strict=True)
            try:
                start(zip(keep_common(found), cells, strict=True))
            except InputError as refusal:
                fail(itertools.chain(*cells), str(refusal))


def make_tables(
    location: str, wordlists: Sequence[WordList] | None, options: Mapping[str, Any]
) -> list[PairTable | str]:
    """Make the table of distances, or one of each word list; a text where that fails."""
    known = dict(options)
    repeats, known["on_bad_lines"] = known.pop("repeats"), known.pop("bad_lines")

    def load(words: Sequence[str]) -> Any:
        return load_embedding(location, words=words, progress=False, **known)

    if wordlists is None:
        return [or_message(load_distances, location, repeats=repeats)]
    every = or_message(load, checks.once(w for words in wordlists for w in words.words))
    if isinstance(every, str):  # one list may ask for a word whose vector is broken
        return [or_message(lambda of: distance_table(load(of.words), of), of) for of in wordlists]
    return [or_message(distance_table, every, words) for words in wordlists]


def fit_cell(
    table: PairTable, spec: ModelSpec, seed: int, settings: Mapping[str, Any]
) -> dict[str, Any]:
    """Fit one cell and return all that is kept of it."""
    sampling = {name: settings[name] for name in ("draws", "tune", "chains")}
    # One core: there are as many workers as cores already.
    result = fit(table, spec, seed=seed, cores=1, progress=False, **sampling)
    prob, rope = settings["prob"], settings["rope"]
    unit = "cosine distance" if spec.outcome == "distance" else spec.outcome
    rows = []
    drawn, overall = {}, {"level": "overall", "estimand": "population"}
    for estimand in ("population", "listed_words"):
        means = result.summary(prob, estimand=estimand).rename(columns={spec.results.group: "term"})
        rows += records(means.assign(quantity="mean", level="overall", name="all", unit=unit))
    try:
        contrasts = result.contrast_rows(prob, rope).rename(columns={"contrast": "term"})
        rows += records(contrasts.assign(quantity="contrast", unit=unit))
        drawn["contrast"] = result.table_draws("contrasts", **overall)
        if has_variance(spec):
            standard = result.standardized(prob, settings["standard_rope"])
            standard = standard.rename(columns={"contrast": "term"})
            rows += records(standard.assign(quantity="standardized"))
            drawn["standardized"] = result.table_draws("standardized", **overall)
    except FitError:  # no two connections to contrast; the means stand for themselves
        pass
    out = {
        "n_pairs": len(table),
        "rows": rows,
        "diagnostics": plain(result.diagnostics()),
        "warnings": list(interpret_fit(result, View(prob, rope)).warnings),
        "provenance": dict(result.provenance),
    }
    if drawn:
        buffer = io.BytesIO()
        arrays: Any = {name: each.to_numpy().astype(np.float32) for name, each in drawn.items()}
        np.savez_compressed(buffer, terms=drawn["contrast"]["contrast"].to_numpy(), **arrays)
        out["draws"] = buffer.getvalue()
    return out
