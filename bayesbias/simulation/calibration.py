"""Does the method keep its promises? Simulated tables with a known truth, each analysed by every method.

`calibrate` reports how often intervals cover the truth, how often a difference is called that is not
there, and how often one is called that is.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import os
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.basics import checks
from bayesbias.basics.errors import InputError, nearest
from bayesbias.basics.files import read_json_or_none, whole_file
from bayesbias.basics.versions import own_version
from bayesbias.inference.estimands import PROB
from bayesbias.models.loading import load_model, shipped_models
from bayesbias.simulation.answers import AVERAGED, analyse_batch, standard_error_of_share
from bayesbias.simulation.scenario import Scenario, true_contrasts

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["calibrate"]

_BATCH = 20


def calibrate(
    scenario: Scenario,
    *,
    tables: int = 1000,
    methods: Sequence[str] = ("crossed", "hierarchical", *AVERAGED),
    seed: int = 0,
    prob: float = PROB,
    draws: int = 500,
    tune: int = 500,
    chains: int = 2,
    workers: int | None = None,
    out: str | os.PathLike[str] | None = None,
    resume: bool = False,
    progress: bool | None = None,
) -> pd.DataFrame:
    """Simulate tables, analyse each by every method, and hold the answers to the truth.

    Parameters
    ----------
    scenario : Scenario
    tables : int
    methods : sequence of str
        Models (names or paths) and any of `AVERAGED`.
    seed : int
    prob : float in (0, 1)
        Probability of the intervals. A difference is called where its interval leaves out zero; a test calls at
        ``p < 1 - prob``.
    draws, tune, chains : int
        Of each fit.
    workers : int, optional
        Processes; by default one per core.
    out : path, optional
        A folder for finished batches, so that a run which was cut short can be resumed.
    resume : bool
        Go on with the batches in `out`.

    Returns
    -------
    DataFrame
        One row per method and contrast: ``method, contrast, truth, tables, coverage, coverage_se, called, called_se,
        wrong_sign, bias, bias_se, width``. `called` is the share of tables in which a difference is called: the
        false-alarm rate where `truth` is 0, the power elsewhere. `wrong_sign` is the part of it that is called in the
        wrong direction. WEAT has no interval and no direction: those columns are empty. `tables` counts those for
        which the method has an answer. Standard errors of shares are those of Agresti and Coull (1998), which are
        not zero at 0 and 1.
    """
    methods = _checked_methods(methods)
    for name, value in {"tables": tables, "draws": draws, "tune": tune, "chains": chains}.items():
        checks.count(value, name)
    if workers is not None:
        checks.count(workers, "workers")
    checks.seed(seed, most=None)
    checks.probability(prob)
    if "weat" in methods and len(scenario.words) < 2:
        raise InputError(
            "WEAT compares two classes", where="methods", found="a scenario with one", hint="leave out weat"
        )
    truth = true_contrasts(scenario)
    settings = {"prob": prob, "draws": draws, "tune": tune, "chains": chains}
    identity = {
        "scenario": dataclasses.asdict(scenario),
        "model_sha256": {m: load_model(m).sha256 for m in (scenario.model, *methods) if m not in AVERAGED},
        "methods": list(methods),
        "seed": seed,
        "bayesbias": own_version(),
        **settings,
    }
    folder = _batch_folder(out, identity, resume)
    rows = _all_batches(scenario, methods, seed, tables, settings, folder, workers, progress)
    return _report_of(rows, truth, methods, prob)


def _checked_methods(methods: Sequence[str]) -> list[str]:
    known = [*shipped_models(), *AVERAGED]
    for method in methods:
        if method not in known and not Path(method).is_file():
            raise InputError(
                "unknown method", found=method, valid=[*known, "or a model file"], hint=nearest(method, known)
            )
    return list(dict.fromkeys(methods))


def _batch_folder(
    out: str | os.PathLike[str] | None, identity: Mapping[str, Any], resume: bool
) -> Path | None:
    if out is None:
        if resume:
            raise InputError(
                "nothing to resume: no folder is named", valid="`out`, the folder of the finished batches"
            )
        return None
    folder = Path(out)
    text = json.dumps(identity, indent=2, sort_keys=True)
    state = folder / "calibration.json"
    if state.is_file():
        if not resume:
            raise InputError(
                "holds a calibration already", where=folder, hint="resume it, or name another folder"
            )
        if state.read_text(encoding="utf-8") != text:
            raise InputError(
                "holds a calibration with other settings", where=folder, hint="name another folder"
            )
    elif folder.is_dir() and any(folder.iterdir()):
        raise InputError("the output folder is not empty", where=folder, hint="name another folder")
    else:
        with whole_file(state) as temporary:
            temporary.write_text(text, encoding="utf-8")
    return folder


def _all_batches(
    scenario: Scenario,
    methods: Sequence[str],
    seed: int,
    tables: int,
    settings: Mapping[str, Any],
    folder: Path | None,
    workers: int | None,
    progress: bool | None,
) -> list[dict[str, Any]]:
    from bayesbias.basics.progress import ticking
    from bayesbias.basics.workers import Processes, Task, carry_out

    done: dict[int, list[dict[str, Any]]] = {}
    starts = range(0, tables, _BATCH)
    for first in starts:
        count = min(_BATCH, tables - first)
        file = folder / f"batch-{first:06d}-{count}.json" if folder else None
        if file is not None and (rows := _read_batch(file)):
            done[first] = rows
    with ticking("simulated tables", tables, progress) as tick:
        tick(sum(min(_BATCH, tables - first) for first in done))

        def finished(first: int, count: int, rows: list[dict[str, Any]]) -> None:
            if folder is not None:
                with whole_file(folder / f"batch-{first:06d}-{count}.json") as temporary:
                    temporary.write_text(json.dumps(rows), encoding="utf-8")
            done[first] = rows
            tick(count)

        def failed(error: str) -> None:
            raise InputError(f"a batch of the calibration failed: {error}")

        tasks = deque(
            Task(
                work=analyse_batch,
                arguments=(scenario, methods, seed, first, min(_BATCH, tables - first), settings),
                then=functools.partial(finished, first, min(_BATCH, tables - first)),
                fail=failed,
            )
            for first in starts
            if first not in done
        )
        count = max(1, min(workers or os.cpu_count() or 1, len(tasks)))
        if tasks and (workers == 1 or len(tasks) == 1):
            for task in tasks:
                task.then(task.work(*task.arguments))
        elif tasks:
            with Processes(count) as pool:
                carry_out(tasks, pool)
    return [row for first in starts for row in done[first]]


def _read_batch(file: Path) -> list[dict[str, Any]] | None:
    """Return a finished batch; None where it is not there, or was damaged since, so that it is made again."""
    rows = read_json_or_none(file)
    return rows if isinstance(rows, list) and all(isinstance(row, dict) for row in rows) else None


def _report_of(
    rows: list[dict[str, Any]], truth: Mapping[str, float], methods: Sequence[str], prob: float
) -> pd.DataFrame:
    import pandas as pd

    frame = pd.DataFrame(rows, columns=["method", "contrast", "estimate", "low", "high", "p_value"])
    out = []
    for method in methods:
        for contrast, true in truth.items():
            part = frame[(frame["method"] == method) & (frame["contrast"] == contrast)]
            if part.empty:
                continue
            n = len(part)
            row: dict[str, Any] = {"method": method, "contrast": contrast, "truth": true, "tables": n}
            if part["p_value"].isna().all():
                covered = ((part["low"] <= true) & (true <= part["high"])).mean()
                above, below = (part["low"] > 0).mean(), (part["high"] < 0).mean()
                called = above + below
                row |= {"coverage": covered, "coverage_se": standard_error_of_share(covered, n)}
                row |= {"wrong_sign": below if true > 0 else above} if true else {}
                row |= {
                    "bias": (part["estimate"] - true).mean(),
                    "width": (part["high"] - part["low"]).mean(),
                }
                row |= {"bias_se": part["estimate"].std(ddof=1) / np.sqrt(n)} if n > 1 else {}
            else:
                called = (part["p_value"] < 1 - prob).mean()
            out.append({**row, "called": called, "called_se": standard_error_of_share(called, n)})
    columns = [
        "method",
        "contrast",
        "truth",
        "tables",
        "coverage",
        "coverage_se",
        "called",
        "called_se",
        "wrong_sign",
        "bias",
        "bias_se",
        "width",
    ]
    return pd.DataFrame(out).reindex(columns=columns)
