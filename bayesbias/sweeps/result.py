"""What a sweep found: its tidy table, collected from the folder in the order of the plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesbias.core.errors import InputError
from bayesbias.core.files import read_bytes, whole_file
from bayesbias.core.formatting import number_of
from bayesbias.core.frames import read_parquet, write_csv
from bayesbias.sweeps.cells import CellGroup, SweepCell
from bayesbias.sweeps.comparing import ERRORS, compared_cells
from bayesbias.sweeps.plan import SweepPlan
from bayesbias.sweeps.store import TABLES, mark_sweep, read_record, records_in
from bayesbias.wordlists.wordlist import CONTROLS

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["SweepResult"]


@dataclass(frozen=True, eq=False, repr=False)
class SweepResult:
    """What a sweep found.

    Attributes
    ----------
    frame : pandas.DataFrame
        The tidy table, as in ``results.csv``: one row per cell, quantity and estimand; of a failed
        cell one row with its error. See `run_sweep`, and `compared` for the cells set against each
        other.
    timing : pandas.DataFrame
        ``cell, load_s, sample_s, fit_s, summarise_s`` in seconds, one row per fitted cell;
        ``load_s`` is shared by all cells of one embedding.
    out : Path
        The folder.
    reused : int
        Cells that were finished before and were not fitted again.
    others : int
        Finished cells in the folder that belong to no cell of this plan: those of earlier plans.

    Examples
    --------
    >>> import tempfile
    >>> import bayesbias as bb
    >>> plan = {"embeddings": ["minilm-static"], "wordlists": ["religion"], "controls": ["none"],
    ...         "settings": {"draws": 100, "tune": 100}}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = bb.run_sweep(plan, folder, workers=1, progress=False)
    >>> found.cells["wordlist"].tolist(), len(found.failures)
    (['religion'], 0)
    """

    study = "sweep"  # whose sections show it, see bayesbias.output

    frame: pd.DataFrame
    timing: pd.DataFrame
    out: Path
    reused: int
    others: int = 0

    @property
    def cells(self) -> pd.DataFrame:
        """One row per cell: labels, status, error, counts and diagnostics."""
        return self.frame.drop_duplicates("cell")[list(_CELL_COLUMNS)].reset_index(drop=True)

    @property
    def failures(self) -> pd.DataFrame:
        """The failed cells: their labels and errors."""
        cells = self.cells
        return cells[cells["status"] == "failed"].reset_index(drop=True)

    def compared(
        self, contrast: str | None = None, *, level: str = "overall", estimand: str = "population"
    ) -> pd.DataFrame:
        """Set one contrast of every cell against those of the others, in standard deviations of single pairs.

        Cosine distances of one set of vectors scatter more than those of another: a contrast of
        -0.02 is small in one and not in another. So cells are sorted and judged by the standardized
        contrast (`BiasFit.standardized`), with the cosine distance beside it.

        Parameters
        ----------
        contrast : str, optional
            By default ``associated - different``, or the first that there is.
        level, estimand : str
            As in `frame`.

        Returns
        -------
        DataFrame
            One row per fitted cell (and class or word, at such a level), the lowest standardized
            contrast first and those without one last: ``cell``, the labels, ``trusted, contrast,
            level, name, estimand, unit, standardized, standardized_low, standardized_high,
            p_in_rope, rope, verdict`` (of the interval against the ROPE in standard deviations;
            missing where the cell is not to be trusted), ``probability_of_superiority`` with
            ``_low`` and ``_high``, ``distance, distance_low, distance_high`` (the contrast as it
            is, in cosine distance), ``p_below_zero, prob``.

        Raises
        ------
        InputError
            For a contrast, level or estimand that no cell has.

        Examples
        --------
        >>> import tempfile
        >>> import bayesbias as bb
        >>> plan = {"embeddings": ["minilm-static"], "wordlists": ["religion", "gender"],
        ...         "models": ["crossed"], "settings": {"draws": 200, "chains": 2, "seed": 1}}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     frame = bb.run_sweep(plan, folder, workers=1, progress=False).compared()
        >>> frame["wordlist"].tolist(), set(frame["unit"])
        (['gender', 'religion'], {'sd of neutral pairs'})
        """
        return compared_cells(self.frame, contrast, level, estimand)

    def __repr__(self) -> str:
        cells, failures = self.cells, self.failures
        doubtful = int((cells["trusted"] == False).sum())  # noqa: E712 - missing for failed cells
        lines = [
            f"SweepResult: {number_of(len(cells), 'cell')} in {self.out}, {len(cells) - len(failures)} fitted "
            f"({self.reused} of them before), {len(failures)} failed, {doubtful} not to be trusted yet"
        ]
        for row in failures.head(4).itertuples():
            lines.append(f"  failed: {_cell_label(row)}: {row.error}")
        if len(failures) > 4:
            lines.append(f"  and {len(failures) - 4} more")
        return "\n".join(lines)


def _cell_label(row: Any) -> str:
    import pandas as pd

    parts = [row.embedding, row.wordlist, row.distances, row.model]
    return ", ".join(str(part) for part in parts if not pd.isna(part))


_CELL_COLUMNS = {
    "cell": "string",
    "embedding": "string",
    "wordlist": "string",
    "controls": "string",
    "distances": "string",
    "model": "string",
    "seed": "Int64",
    "fit_seed": "Int64",
    "status": "string",
    "error": "string",
    "n_pairs": "Int64",
    "missing_words": "Int64",
    "protected_listed": "Int64",
    "protected_found": "Int64",
    "stereotypes_listed": "Int64",
    "stereotypes_found": "Int64",
    "classes_left_out": "string",
    "method": "string",
    "divergences": "Int64",
    "max_r_hat": "Float64",
    "min_ess_bulk": "Float64",
    "trusted": "boolean",
    "problems": "string",
    "warnings": "string",
}
_ROW_COLUMNS = {
    "quantity": "string",
    "level": "string",
    "name": "string",
    "term": "string",
    "estimand": "string",
    "unit": "string",
    "mean": "Float64",
    "sd": "Float64",
    "hpdi_low": "Float64",
    "hpdi_high": "Float64",
    "prob": "Float64",
    "ess_bulk": "Float64",
    "r_hat": "Float64",
    "p_below_zero": "Float64",
    "p_in_rope": "Float64",
    "rope": "Float64",
    "probability_of_superiority": "Float64",
    "probability_of_superiority_low": "Float64",
    "probability_of_superiority_high": "Float64",
}
_ERRORS = dict.fromkeys(ERRORS, "Float64")


def collect_results(
    groups: Sequence[CellGroup],
    plan: SweepPlan,
    out: Path,
    failed: Mapping[str, str],
    finished: frozenset[str],
) -> SweepResult:
    """Read all cells back in the order of the plan, and write the tables."""
    import pandas as pd

    rows: list[dict[str, Any]] = []
    times: list[dict[str, Any]] = []
    for cell in (cell for group in groups for cell in group.cells):
        record = None if cell.key in failed else read_record(out, cell, plan)
        if record is None:
            error = (
                failed.get(cell.key)
                or "the file of the cell was removed or damaged while the sweep ran"
            )
            rows.append({**_about(cell), "status": "failed", "error": error})
            continue
        rows += _rows_of(cell, record)
        times.append({"cell": cell.key, **record["timing"]})
    frame = _frame_of(rows)
    timing = pd.DataFrame(times, columns=["cell", "load_s", "sample_s", "fit_s", "summarise_s"])
    for name, table in (("results", frame), ("timing", timing)):
        with whole_file(out / f"{name}.csv") as temporary:
            write_csv(table, temporary)
    with whole_file(out / "results.parquet") as temporary:
        frame.to_parquet(temporary, index=False, write_page_checksum=True)
    mark_sweep(out, plan, TABLES)
    mine = {cell.key for group in groups for cell in group.cells}
    others = sum(path.stem not in mine for path in records_in(out))
    return SweepResult(frame, timing, out, len(finished), others)


def find_finished(groups: Sequence[CellGroup], plan: SweepPlan, out: Path) -> frozenset[str]:
    """Return the keys of cells that are finished, and can be used again."""
    cells = (cell for group in groups for cell in group.cells)
    return frozenset(cell.key for cell in cells if read_record(out, cell, plan) is not None)


def _about(cell: SweepCell) -> dict[str, Any]:
    return {"cell": cell.key, **cell.labels, "fit_seed": cell.fit_seed}


def _rows_of(cell: SweepCell, record: Mapping[str, Any]) -> list[dict[str, Any]]:
    diagnostics = record["diagnostics"]
    about = {
        **_about(cell),
        "status": "ok",
        "n_pairs": record["n_pairs"],
        "missing_words": len(record["coverage"]["missing"]),
        **_word_counts(record["coverage"]),
        "method": record["provenance"]["sampler"]["method"],
        **{key: diagnostics[key] for key in ("divergences", "max_r_hat", "min_ess_bulk")},
        "trusted": diagnostics["ok"],
        "problems": "; ".join(diagnostics["problems"]) or None,
        "warnings": "; ".join(record["warnings"]) or None,
    }
    unit = {"unit": "cosine distance" if record["outcome"] == "distance" else record["outcome"]}
    mean = {**unit, "quantity": "mean", "level": "overall", "name": "all"}
    rows = [{**row, **mean, "term": row[record["group"]], **about} for row in record["summary"]]
    for quantity, more in (("contrast", unit), ("standardized", {})):
        of = record["contrasts" if quantity == "contrast" else quantity]
        rows += [
            {**row, **more, "quantity": quantity, "term": row["contrast"], **about} for row in of
        ]
    return rows


def _frame_of(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    import pandas as pd

    columns = {**_CELL_COLUMNS, **_ROW_COLUMNS, **_ERRORS}
    return pd.DataFrame(
        {
            name: pd.array([row.get(name) for row in rows], dtype=kind)
            for name, kind in columns.items()
        }
    )


def load_sweep(folder: Path, *, reused: int = 0, others: int = 0) -> SweepResult:
    """Read the tables of a sweep that has ended.

    Raises
    ------
    InputError
        Where it has not, or its tables are damaged.
    """
    import io

    import pandas as pd

    path = folder / "results.parquet"
    if not path.is_file():
        hint = f"`bayesbias sweep PLAN.toml --out {folder} --resume` goes on with it"
        raise InputError("holds a sweep that has not ended", where=folder, hint=hint)
    columns = {**_CELL_COLUMNS, **_ROW_COLUMNS}
    try:
        whole = read_parquet(path).to_pandas()
        # Sweeps of earlier versions have no Monte Carlo errors, and name no classes that are left out.
        later = {**_ERRORS, "classes_left_out": "string"}
        older = [name for name in columns if name not in later]
        frame = whole[older].astype({name: columns[name] for name in older})
        frame = frame.join(whole.reindex(columns=list(later)).astype(later))[[*columns, *_ERRORS]]
        path = folder / "timing.csv"
        timing = pd.read_csv(io.BytesIO(read_bytes(path)), dtype=str)
        timing = timing.astype({name: float for name in timing.columns if name != "cell"})
    except InputError:
        raise
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"is damaged ({str(error).splitlines()[0]})", where=path) from None
    return SweepResult(frame, timing, folder, reused, others)


def _word_counts(coverage: Mapping[str, Any]) -> dict[str, Any]:
    """Count the words that a result hangs on, and name the classes left out; missing control words are many and matter little.

    Words of a class that is left out were not used, whether they were found or not.
    """
    left_out = [name for name, group in coverage["protected"].items() if group.get("left_out")]
    stereotypes = {
        name: group for name, group in coverage["attributes"].items() if name not in CONTROLS
    }
    counts = {
        f"{side}_{what}": sum(group[what] for group in groups.values())
        for side, groups in (("protected", coverage["protected"]), ("stereotypes", stereotypes))
        for what in ("listed", "found")
    }
    counts["protected_found"] -= sum(coverage["protected"][name]["found"] for name in left_out)
    return {**counts, "classes_left_out": ", ".join(left_out) or None}
