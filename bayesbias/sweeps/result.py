"""What a sweep found: its tidy table, collected from the folder in the order of the plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bayesbias.core import InputError, checks, files
from bayesbias.core.progress import ticking
from bayesbias.core.result import Result
from bayesbias.inference.difference import difference
from bayesbias.inference.estimands import CONTRASTS
from bayesbias.inference.estimates import COLUMNS, beside, estimates, labeled_draws
from bayesbias.inference.view import View
from bayesbias.studies.common import sentence
from bayesbias.sweeps.cells import draws_file, read_cell, recorded_keys
from bayesbias.sweeps.plan import LABELS, SweepCell
from bayesbias.tables.coverage import Coverage
from bayesbias.wordlists.wordlist import CONTROLS

_COUNTS = (
    "n_pairs", "missing_words", "protected_listed", "protected_found", "stereotypes_listed", "stereotypes_found",
)  # fmt: skip
CELL_COLUMNS = (
    "cell", *LABELS, "fit_seed", "status", "error", *_COUNTS, "classes_left_out", "method", "divergences", "max_r_hat",
    "min_ess_bulk", "trusted", "problems", "warnings", "notes",
)  # fmt: skip
_VIEWED = [
    "hpdi_low", "hpdi_high", "mcse_low", "mcse_high", "prob", "p_in_rope", "mcse_p_in_rope", "rope",
    "verdict",
]  # fmt: skip
"""Columns that depend on the probability of the intervals and on the ROPE."""
_SUPERIORITY = [f"probability_of_superiority{end}" for end in ("", "_low", "_high")]
_NUMBERS = (
    *(name for name in COLUMNS if name != "verdict"),
    *_SUPERIORITY,
    *(f"mcse_{name}" for name in _SUPERIORITY),
)
COLUMN_TYPES = {
    **dict.fromkeys(
        (*CELL_COLUMNS, "quantity", "level", "name", "term", "estimand", "unit"), "string"
    ),
    **dict.fromkeys((*_NUMBERS, "max_r_hat", "min_ess_bulk"), "Float64"),
    **dict.fromkeys(("seed", "fit_seed", "divergences", *_COUNTS), "Int64"),
    "trusted": "boolean",
    "verdict": "string",
}
"""The columns of the table of a sweep, in their order."""


@dataclass(frozen=True, eq=False, repr=False)
class SweepResult(Result):
    """What a sweep found.

    Attributes
    ----------
    frame : pandas.DataFrame
        The tidy table, as in ``results.csv``: one row per cell, quantity and estimand; of a failed
        cell one row with its error. See `run_sweep`.
    out : Path
        The folder.
    reused : int
        Cells that were finished before and were not fitted again.
    others : int
        Finished cells in the folder that belong to no cell of this plan: those of earlier plans.
    apart : DataFrame, optional
        The differences of all contrasts, see `differences`.

    Examples
    --------
    >>> import tempfile
    >>> import bayesbias as bb
    >>> plan = {
    ...     "embeddings": ["minilm-static"],
    ...     "wordlists": ["religion"],
    ...     "controls": ["none"],
    ...     "settings": {"draws": 100, "tune": 100},
    ... }
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = bb.run_sweep(plan, folder, workers=1, progress=False)
    >>> found.cells["wordlist"].tolist(), len(found.failures)
    (['religion'], 0)
    """

    study = "sweep"  # whose sections show it, see bayesbias.output
    MACHINERY = Result.MACHINERY | {"apart"}

    frame: pd.DataFrame
    out: Path
    reused: int
    others: int = 0
    apart: pd.DataFrame | None = None

    def shown_with(self, view: View) -> tuple[SweepResult, View]:
        """Return the result with interval and ROPEs of a view, by default those of the plan.

        The overall contrasts for new words are described again from the draws in the folder.

        Raises
        ------
        InputError
            If the draws are no longer there.
        """
        rows = self.frame[self.frame["prob"].notna()]
        own: dict[str, float] = {"prob": float(rows["prob"].iloc[0])} if len(rows) else {}
        for quantity, name in (("contrast", "rope"), ("standardized", "standard_rope")):
            ropes = rows.loc[rows["quantity"] == quantity, "rope"]
            own |= {name: float(ropes.iloc[0])} if len(ropes) else {}
        view = view.resolved(**own)
        if own == {name: getattr(view, name) for name in own}:
            return self, view
        return self.cached(view, lambda: self._described(view)), view

    def _described(self, view: View) -> SweepResult:
        """Return the result with the overall contrasts described again from their draws."""
        frame = self.frame.copy()
        overall = (frame["level"] == "overall") & (frame["estimand"] == "population")
        drawn = frame[overall.fillna(False) & frame["quantity"].isin(["contrast", "standardized"])]
        for (cell, quantity), rows in drawn.groupby(["cell", "quantity"], sort=False):
            file = draws_file(self.out, str(cell))
            if not file.is_file():
                problem = "expected the draws of the sweep, got nothing at this path"
                hint = "an interval or ROPE other than that of the plan is computed from them"
                raise InputError(problem, where=str(file), hint=hint)
            rope = view.rope if quantity == "contrast" else view.standard_rope
            described = estimates(_Cell(rows, file).table_draws(), view.prob, rope)
            described = described.set_index("contrast").loc[rows["term"]]
            frame.loc[rows.index, _VIEWED] = described[_VIEWED].to_numpy()
        apart = subtract_cells(frame, self.out)
        return replace(self, frame=frame.astype(COLUMN_TYPES), apart=apart)

    @property
    def cells(self) -> pd.DataFrame:
        """One row per cell: labels, status, error, counts and diagnostics."""
        return self.frame.drop_duplicates("cell")[list(CELL_COLUMNS)].reset_index(drop=True)

    @property
    def failures(self) -> pd.DataFrame:
        """The failed cells: their labels and errors."""
        cells = self.cells
        return cells[cells["status"] == "failed"].reset_index(drop=True)

    def compared(
        self, contrast: str | None = None, *, level: str = "overall", estimand: str = "population"
    ) -> pd.DataFrame:
        """Compare one contrast over all cells, in standard deviations of single pairs.

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
        >>> plan = {
        ...     "embeddings": ["minilm-static"],
        ...     "wordlists": ["religion", "gender"],
        ...     "models": ["crossed"],
        ...     "settings": {"draws": 200, "chains": 2, "seed": 1},
        ... }
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     frame = bb.run_sweep(plan, folder, workers=1, progress=False).compared()
        >>> frame["wordlist"].tolist(), set(frame["unit"])
        (['gender', 'religion'], {'sd of neutral pairs'})
        """
        frame = self.frame
        present = frame[frame["quantity"] == "contrast"]
        contrast = _usual(present["term"].unique().tolist()) if contrast is None else contrast
        asked = {"contrast": contrast, "level": level, "estimand": estimand}
        for name, value in asked.items() if len(present) else ():
            known = present["term" if name == "contrast" else name].unique().tolist()
            checks.choice(value, known, name)
        chosen = (frame["term"] == contrast) & (frame["level"] == level)
        chosen = (chosen & (frame["estimand"] == estimand)).fillna(False)
        raw, standard = (
            frame[chosen & (frame["quantity"] == name)] for name in ("contrast", "standardized")
        )
        labels = ["cell", *LABELS, "trusted", "level", "name", "estimand", "p_below_zero", "prob"]
        shares = [name for name in frame if "probability_of_superiority" in name]
        right = standard[["cell", "name", "unit", "p_in_rope", "rope", "verdict", *shares]]
        out = (
            raw[labels]
            .assign(contrast=contrast, **beside(raw, "distance"))
            .merge(
                right.assign(**beside(standard, "standardized")), on=["cell", "name"], how="left"
            )
            .sort_values("standardized", kind="stable", na_position="last", ignore_index=True)
        )
        # Nothing is concluded from a cell that has not converged.
        out["verdict"] = out["verdict"].where(out["trusted"].fillna(False).astype(bool))
        return out

    def differences(self, contrast: str | None = None) -> pd.DataFrame:
        """Subtract the first vectors of the plan from the others.

        The list, the model and the seed are the same.

        The draws of two fits are subtracted (`bayesbias.difference`), in standard deviations of
        single pairs where both have them. Cells that have not converged are left out.

        Parameters
        ----------
        contrast : str, optional
            As in `compared`.

        Returns
        -------
        DataFrame
            ``vectors, minus, wordlist, controls, model, seed, contrast, unit``, and the columns of
            `bayesbias.inference.estimates`.

        Notes
        -----
        Vectors count as independent. For the same words the intervals are too wide, since what
        words have in common does not cancel: `bayesbias.compare` cancels it.

        Examples
        --------
        >>> import tempfile
        >>> import bayesbias as bb
        >>> plan = {
        ...     "embeddings": ["minilm-static"],
        ...     "wordlists": ["religion"],
        ...     "models": ["crossed"],
        ...     "settings": {"draws": 200, "chains": 2, "seed": 1},
        ... }
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     len(bb.run_sweep(plan, folder, workers=1, progress=False).differences())
        0
        """
        found = pd.DataFrame(columns=["contrast"]) if self.apart is None else self.apart
        if contrast is None:
            contrast = _usual(found["contrast"].unique().tolist())
        return found[found["contrast"] == contrast].reset_index(drop=True)


def _usual(present: Sequence[str]) -> str:
    """Return the contrast that is shown first."""
    usual = [f"{a} - {b}" for a, b in CONTRASTS]
    return next((name for name in [*usual, *present] if name in present), "")


@dataclass(frozen=True)
class _Cell:
    """The overall contrasts of new words of one cell, as `difference` asks for them."""

    rows: pd.DataFrame
    file: Path

    def table_draws(self, *_: Any, **__: Any) -> Any:
        with np.load(self.file, allow_pickle=False) as kept:
            draws, terms = kept[self.rows["quantity"].iloc[0]].astype(float), kept["terms"]
        return labeled_draws(draws, {"contrast": terms.tolist()})

    def contrasts(self, *_: Any, **__: Any) -> pd.DataFrame:
        return self.rows


def subtract_cells(frame: pd.DataFrame, out: Path, progress: bool | None = None) -> pd.DataFrame:
    """Return the differences of all contrasts from a sweep's table and draws."""
    same, rows = ["wordlist", "controls", "model", "seed"], []
    frame = frame[frame["quantity"].isin(["contrast", "standardized"])]
    overall = (frame["level"] == "overall") & (frame["estimand"] == "population")
    frame = frame[overall & frame["trusted"].fillna(False).astype(bool)]
    frame = frame.assign(vectors=frame["embedding"].fillna(frame["distances"]))
    pairs = []
    for _, own in frame.groupby(same, sort=False, dropna=False):
        first, *others = own["cell"].drop_duplicates()
        pairs += [(own, cell, first) for cell in others]

    with ticking("subtracting cells", len(pairs), progress) as tick:
        for own, cell, first in pairs:
            both = own[own["cell"].isin([cell, first])]
            standard = both[both["quantity"] == "standardized"]
            # In standard deviations, where both cells have the same ones.
            alike = standard["cell"].nunique() == 2 and standard["unit"].nunique() == 1
            both = standard if alike else both[both["quantity"] == "contrast"]
            pair = [_Cell(both[both["cell"] == key], draws_file(out, key)) for key in (cell, first)]
            if all(each.file.is_file() and len(each.rows) for each in pair):
                one, other = (each.rows.iloc[0] for each in pair)
                found = difference(*pair, prob=float(one["prob"]), rope=float(one["rope"])).table
                labels = one[["vectors", *same, "unit"]].to_dict()
                rows.append(found.assign(**labels, minus=other["vectors"]))
            tick(1)

    columns = ["vectors", "minus", *same, "contrast", "unit"]
    whole = pd.concat(rows, ignore_index=True) if rows else pd.DataFrame(columns=columns)
    return whole[[*columns, *(name for name in COLUMNS if name in whole)]]


def frame_of(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Return rows as the table of a sweep."""
    return pd.DataFrame(rows, columns=list(COLUMN_TYPES)).astype(COLUMN_TYPES)


def collect_results(
    cells: Sequence[SweepCell],
    out: Path,
    failed: Mapping[str, str],
    reused: int,
    progress: bool | None = None,
) -> SweepResult:
    """Read all cells back in the order of the plan, and write the tables."""
    rows = []
    with ticking("collecting cells", len(cells), progress) as tick:
        for cell in cells:
            about = {"cell": cell.key, **cell.labels, "fit_seed": cell.fit_seed}
            if cell.key in failed:
                rows.append({**about, "status": "failed", "error": failed[cell.key]})
            else:
                rows += _rows_of(about, read_cell(out, cell.key))
            tick(1)

    frame = frame_of(rows)
    with files.whole_file(out / "results.csv") as temporary:
        files.write_csv(frame, temporary)
    with files.whole_file(out / "results.parquet") as temporary:
        frame.to_parquet(temporary, index=False)
    others = set(recorded_keys(out)) - {cell.key for cell in cells}
    return SweepResult(frame, out, reused, len(others), subtract_cells(frame, out, progress))


def _notes_of_vectors(record: Mapping[str, Any]) -> list[str]:
    table = record["provenance"].get("table") or {}
    return list((table.get("embedding") or {}).get("notes", ()))


def _rows_of(about: Mapping[str, Any], record: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of a fitted cell, each with what holds for the whole cell."""
    coverage = Coverage.from_dict(record["provenance"]["coverage"])
    state = record["diagnostics"]
    # Words that a result rests on: no controls, no class that was left out.
    protected = coverage.protected
    kept = [group for group in protected.values() if not group.left_out]
    left_out = [name for name, group in protected.items() if group.left_out]
    stereotypes = [group for name, group in coverage.attributes.items() if name not in CONTROLS]
    whole = {
        **about,
        "status": "ok",
        "n_pairs": record["n_pairs"],
        "missing_words": len(coverage.missing),
        "protected_listed": sum(group.listed for group in protected.values()),
        "protected_found": sum(group.found for group in kept),
        "stereotypes_listed": sum(group.listed for group in stereotypes),
        "stereotypes_found": sum(group.found for group in stereotypes),
        "classes_left_out": ", ".join(left_out) or None,
        "method": record["provenance"]["sampler"]["method"],
        **{key: state[key] for key in ("divergences", "max_r_hat", "min_ess_bulk")},
        "trusted": state["ok"],
        "problems": "; ".join(state["problems"]) or None,
        "warnings": " ".join(record["warnings"]) or None,
        "notes": " ".join(map(sentence, _notes_of_vectors(record))) or None,
    }
    return [{**row, **whole} for row in record["rows"]]
