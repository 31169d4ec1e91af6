"""Any result written as a folder, whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bayesbias.core import checks
from bayesbias.core.errors import InputError
from bayesbias.inference.estimands import PROB, ROPE, STANDARD_ROPE
from bayesbias.inference.posterior import BiasFit
from bayesbias.runs.kinds import LAYOUTS, check_run_folder, files_of_run
from bayesbias.runs.layout import Content
from bayesbias.runs.manifest import write_manifest
from bayesbias.runs.transaction import whole_folder
from bayesbias.studies.comparison import Comparison
from bayesbias.studies.seat_result import SeatResult
from bayesbias.studies.sentiment import SentimentAnalysis
from bayesbias.studies.wefat import WefatResult
from bayesbias.sweeps.kinds import kind_of_any
from bayesbias.sweeps.result import SweepResult

if TYPE_CHECKING:
    import pandas as pd

    from bayesbias.classifiers.prediction_files import Predictions

__all__ = ["save_run"]


def save_run(
    result: BiasFit | Comparison | SeatResult | SentimentAnalysis | WefatResult | SweepResult,
    folder: str | os.PathLike[str],
    *,
    prob: float = PROB,
    rope: float = ROPE,
    standard_rope: float = STANDARD_ROPE,
    predictions: Sequence[Predictions] = (),
    problem: str | None = None,
    models: pd.DataFrame | None = None,
    command: Sequence[str] | None = None,
    spreadsheet_safe: bool = False,
) -> list[Path]:
    """Write a result as a folder: tables, figures, what is needed to open it again, and ``run.json``.

    All is written or nothing, whatever happens on the way. A run that was in the folder is replaced as a whole; files
    in it that no run wrote stay untouched.

    Parameters
    ----------
    result : BiasFit, Comparison, SeatResult, SentimentAnalysis, WefatResult or SweepResult
        A fit is one of distances or of sentiment. Of a sweep the tables are written; its cells stay in its own folder.
    folder : path
        Made where it does not exist.
    prob : float in (0, 1)
        Probability of the intervals in the tables. SEAT, single-category tests and sweeps have theirs already.
    rope : float > 0
        Half-width of the region of practical equivalence, in cosine distance.
    standard_rope : float > 0
        The same in standard deviations, of a fit of distances.
    predictions : sequence of Predictions
        Of an analysis of sentiment: what it was made of, to be written beside it.
    problem : str, optional
        Of an analysis of sentiment: why no model was fitted.
    models : DataFrame, optional
        Of a fit of distances: what `bayesbias.inference.answers_by_model` returned, to be written beside it.
    command : sequence of str, optional
        The arguments of ``bayesbias`` that made the result, to be found in the manifest and in the report.
    spreadsheet_safe : bool
        Whether an apostrophe is to stand before each text in a CSV or TSV file that a spreadsheet would take for a
        formula. ``covariates`` in ``run.json`` says so, and what reads the files here takes it away again.

    Returns
    -------
    list of Path
        Of the files, ``run.json`` last.

    Raises
    ------
    InputError
        Where the folder cannot be written, or holds a file that no run wrote under the name of a file of this run.

    See Also
    --------
    load_run : opens it again.

    Examples
    --------
    >>> import tempfile
    >>> import bayesbias as bb
    >>> analysis = bb.sentiment_analysis(bb.list_predictions("m1"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     files = bb.save_run(analysis, f"{folder}/run")
    ...     run = bb.load_run(f"{folder}/run")
    >>> run.kind, len(files) == len(run.files) + 1
    ('sentiment', True)
    """
    kind = _kind_of(result, swapped=kind_of_any(folder) is not None)
    target = Path(checks.path(folder, "folder", "the path of a folder"))
    prob = checks.probability(prob)
    rope = checks.positive(rope, "rope")
    standard_rope = checks.positive(standard_rope, "standard_rope")
    if models is not None:
        checks.columns(models, (), "models", "what bayesbias.inference.answers_by_model returns")
    layout = LAYOUTS[kind]
    check_run_folder(target, layout.kind)
    content = Content(
        result,
        float(prob),
        float(rope),
        float(standard_rope),
        tuple(checks.several(predictions, "Predictions", "predictions")),
        problem,
        models,
        spreadsheet_safe,
    )
    with whole_folder(target, files_of_run) as new:
        layout.write(content, new)
        names = [path.relative_to(new) for path in _in_order(new, layout.files)]
        manifest = write_manifest(
            new,
            layout.kind,
            settings=layout.settings(content),
            command=command,
            covariates={
                **layout.covariates(content),
                **({"spreadsheet_safe": True} if spreadsheet_safe else {}),
            },
            versions=layout.versions(content),
        )
    return [*(target / name for name in names), target / manifest.name]


def _kind_of(result: object, swapped: bool = False) -> str:
    kind = kind_of_any(result)
    if kind is None:
        raise InputError(
            "is no result",
            where="result",
            found=type(result).__name__,
            valid=_RESULTS,
            hint="the result comes first, save_run(result, folder)" if swapped else None,
        )
    if isinstance(result, BiasFit) and kind == "words":
        spec = result.spec
        if spec.outcome != "distance" or spec.results.group != "connection":
            raise InputError(
                "a fit of this kind is no run",
                where=f"model {spec.name}",
                found=spec.outcome,
                valid="distance, difference, logit_difference",
                hint="save its comparison instead" if spec.outcome == "change" else None,
            )
    return kind


_RESULTS = "BiasFit, Comparison, SeatResult, SentimentAnalysis, WefatResult, SweepResult"


def _in_order(folder: Path, first: Iterable[str]) -> list[Path]:
    """Return the files of a folder: those that are named, in their order, then the others."""
    order = {name: place for place, name in enumerate(first)}
    paths = [path for path in folder.rglob("*") if path.is_file()]
    return sorted(
        paths,
        key=lambda path: (
            order.get(path.relative_to(folder).as_posix(), len(order)),
            path.parent != folder,
            str(path),
        ),
    )
