"""Does a method keep its promises? Tables with a known truth, each analyzed by every method.

`coverage_simulated` reports how often intervals cover the truth, how often a difference is called
that is not there, and how often one is called that is. `accounts` compares the answers with the
truth, here simulated and in `coverage_on_pools` that of a pool of real words.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import os
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.core import checks
from bayesbias.core.errors import InputError, nearest
from bayesbias.core.files import whole_file
from bayesbias.core.packages import own_version
from bayesbias.core.progress import ticking
from bayesbias.core.workers import Hands, Task, carry_out, with_version
from bayesbias.inference.estimands import CONTRASTS, PROB
from bayesbias.inference.laplace import ENGINES
from bayesbias.inference.repeated import Repeated, repeated
from bayesbias.models.loading import DEFAULT_MODEL, list_models, load_model
from bayesbias.scores.permutation import permutation_test
from bayesbias.simulation.grid import YARDSTICKS, Key, by_yardstick, contrast_weights, grid_of
from bayesbias.simulation.scenario import (
    Scenario,
    scenario_frame,
    simulate_table,
    sizes_of,
    true_contrasts,
)

if TYPE_CHECKING:
    import pandas as pd

    from bayesbias.inference.posterior import BiasFit

AVERAGED = ("weat", "averages_t", "pairs_t")
"""The methods beside the models: WEAT's permutation test on the first two classes; the paired t-test over
pre-averaged values (one per protected word, after Manzini et al.); Welch's t-test over single
pairs."""
WITHOUT_MODEL = (*AVERAGED, *YARDSTICKS)
_BATCH = 20  # tables that a worker takes at a time
_ANSWER = (
    "estimate",
    "low",
    "high",
    "p_value",
    "seconds",
    "converged",
    "quick",
)  # a test has a p-value and no interval
_COLUMNS = (
    "truth", "tables", "coverage", "coverage_se", "called", "called_se", "wrong_sign", "wrong_sign_se", "bias", "bias_se",
    "rmse", "rmse_se", "width", "width_se", "seconds", "converged", "quick",
)  # fmt: skip


def coverage_simulated(
    scenario: Scenario,
    *,
    tables: int = 1000,
    methods: Sequence[str] = (DEFAULT_MODEL, "crossed", "hierarchical", *AVERAGED, *YARDSTICKS),
    seed: int = 0,
    prob: float = PROB,
    draws: int = 500,
    tune: int = 500,
    chains: int = 2,
    engine: str = "quick",
    workers: int | None = None,
    dask: str | None = None,
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
        Models (names or paths), any of `AVERAGED` and any of `YARDSTICKS`.
    seed : int
    prob : float in (0, 1)
        Probability of the intervals. A difference is called where its interval leaves out zero; a
        test calls at ``p < 1 - prob``.
    draws, tune, chains : int
        Of each fit.
    engine : {"quick", "nuts"}
        What samples the fits, as of `fit`.
    workers : int, optional
        Processes; by default one per core. With 1 this process does the work itself.
    dask : str, optional
        The address of a Dask scheduler that does the work instead (extra ``dask``), as of
        `run_sweep`.
    out : path, optional
        A folder for finished batches, so that a run which was cut short can be resumed.
    resume : bool
        Go on with the batches in `out`.

    Returns
    -------
    DataFrame
        One row per method and contrast: ``method, contrast, truth, tables, coverage, coverage_se,
        called, called_se, wrong_sign, wrong_sign_se, bias, bias_se, width, width_se, quick``.
        `called` is the share of tables in which a difference is called: the false-alarm rate where
        `truth` is 0, the power elsewhere. `wrong_sign` is the part of it that is called in the
        wrong direction. WEAT has no interval and no direction: those columns are empty. `tables`
        counts those for which the method has an answer, `quick` is the share of them that the quick
        engine fitted, NUTS the others. Standard errors of shares are those of Agresti and Coull
        (1998), which are not zero at 0 and 1.

    Examples
    --------
    >>> import bayesbias as bb
    >>> small = bb.simulation.Scenario(human=10, neutral=10)
    >>> found = bb.coverage_simulated(small, tables=4, methods=["weat"], seed=1, workers=1, progress=False)
    >>> found["method"].unique().tolist(), int(found["tables"].max())
    (['weat'], 4)
    """
    methods = checked_methods(methods)
    checks.count(tables, "tables", most=checks.MOST_TABLES)
    settings = settings_of(prob, draws, tune, chains, engine)
    if "weat" in methods and len(scenario.words) < 2:
        raise InputError(
            "WEAT compares two classes",
            where="methods",
            found="a scenario with one",
            hint="leave out weat",
        )
    truth = {(contrast,): value for contrast, value in true_contrasts(scenario).items()}
    identity = {
        "scenario": dataclasses.asdict(scenario),
        "model_sha256": model_hashes([scenario.model, *methods]),
        "methods": list(methods),
        "seed": seed,
        "bayesbias": own_version(),
        **settings,
    }
    folder = batch_folder(out, identity, resume)
    work = functools.partial(analyse_batch, scenario, methods, seed, settings=settings)
    with Hands(workers, dask) as hands:
        rows = in_batches(work, tables, folder, hands, "simulated tables", progress, _BATCH)
    left_out = ["rmse", "rmse_se", "seconds", "converged"]
    return accounts(rows, truth, methods, prob, ["contrast"]).drop(columns=left_out)


def settings_of(prob: float, draws: int, tune: int, chains: int, engine: str) -> dict[str, Any]:
    """Return the settings of every fit of a simulation, checked."""
    checks.sampling(draws, tune, chains)
    checks.choice(engine, ENGINES, "engine")
    return {
        "prob": checks.probability(prob),
        "draws": draws,
        "tune": tune,
        "chains": chains,
        "engine": engine,
    }


def model_hashes(methods: Sequence[str]) -> dict[str, str]:
    """Return the hashes of the models among some methods."""
    return {m: load_model(m).sha256 for m in methods if m not in WITHOUT_MODEL}


def checked_methods(methods: Sequence[str | os.PathLike[str]]) -> list[str]:
    """Return methods, each once; every one is a model, or one of those that need none."""
    known = [*list_models(), *WITHOUT_MODEL]
    names = [str(method) for method in checks.several(methods, "method", "methods")]
    for name in names:
        if name not in known and not os.path.isfile(name):
            raise InputError(
                "unknown method",
                found=name,
                valid=[*known, "or a model file"],
                hint=nearest(name, known),
            )
    return list(dict.fromkeys(names))


def analyse_table(
    table: pd.DataFrame,
    method: str,
    seed: int,
    settings: Mapping[str, Any],
    laid: Repeated | None = None,
) -> list[dict[str, Any]]:
    """Return estimate and interval of every contrast a method speaks about.

    `laid` is the model on the pairs of the table, where many tables have the same.
    """
    if method == "weat":
        return _by_weat(table)
    if method in AVERAGED:
        return _by_t(table, method, settings["prob"])
    if method in YARDSTICKS:
        return _by_yardstick(table, method, settings["prob"], seed)
    if laid is not None:
        sampling = {name: settings[name] for name in ("draws", "tune", "chains", "engine")}
        outcome = table[laid.reduced.design.spec.outcome].to_numpy()
        quick = laid.intervals(outcome, {**sampling, "seed": seed}, settings["prob"])
        if quick is not None:
            contrasts, engine = quick
            return [
                {"contrast": key[2], **answer, "quick": float(engine.name == "quick")}
                for key, answer in contrasts
            ]
    result = fit_of(table, method, seed, settings)
    if not any({a, b} <= set(map(str, table["connection"].unique())) for a, b in CONTRASTS):
        return []
    return [
        {"contrast": key[2], **answer, "quick": float(result.engine.name == "quick")}
        for key, answer in answers_of_fit(result, settings["prob"], ["overall"])
    ]


def fit_of(table: pd.DataFrame, model: str, seed: int, settings: Mapping[str, Any]) -> BiasFit:
    """Fit a model with the settings of a simulation."""
    from bayesbias.inference.fitting import fit

    sampling = {name: settings[name] for name in ("draws", "tune", "chains", "engine")}
    return fit(table, model, seed=seed, **sampling, pointwise=False, progress=False)


def answers_of_fit(
    fit: BiasFit, prob: float, levels: Sequence[str]
) -> list[tuple[Key, dict[str, float]]]:
    """Return what a fit says of the population: the very intervals that its table of contrasts prints."""
    out = []
    for level in levels:
        frame = fit.contrasts(prob=prob, estimand="population", level=level)
        for row in frame.to_dict("records"):
            answer = {"estimate": row["mean"], "low": row["hpdi_low"], "high": row["hpdi_high"]}
            key = (level, str(row["name"]), str(row["contrast"]))
            out.append((key, {name: float(value) for name, value in answer.items()}))
    return out


def _by_yardstick(table: pd.DataFrame, method: str, prob: float, seed: int) -> list[dict[str, Any]]:
    grid = grid_of(table, "the simulated table")
    weights = contrast_weights(grid, *grid.sizes())
    overall = {key: w for key, w in weights.items() if key[0] == "overall"}
    answers = by_yardstick(grid, method, overall, prob, seed)
    return [
        {"contrast": contrast, "estimate": estimate, "low": low, "high": high}
        for (_, _, contrast), (estimate, low, high) in answers.items()
    ]


def _by_weat(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Test WEAT's statistic of the first two classes: X, Y are their words, A, B their stereotypes (eq. 2-3)."""
    classes = list(dict.fromkeys(table["protected_class"]))[:2]
    if len(classes) < 2:
        return []
    # A list need not be called as the class is that it belongs to.
    associated = table[table["connection"].astype(str) == "associated"]
    a, b = (
        list(associated.loc[associated["protected_class"] == c, "attribute"].unique())
        for c in classes
    )
    if not a or not b:
        return []
    # Straight from the simulated numbers, which no range check may refuse: normal noise knows no 0
    # and 2.
    own = table[table["attribute"].isin([*a, *b]) & table["protected_class"].isin(classes)]
    near, far = (
        own[own["attribute"].isin(side)].groupby("protected_word", observed=True)["distance"].mean()
        for side in (a, b)
    )
    score = far - near
    group = own.drop_duplicates("protected_word").set_index("protected_word")["protected_class"]
    x, y = (score[group[score.index] == c].to_numpy() for c in classes)
    # WEAT gives no interval of a distance; the contrast it stands for is associated - different.
    p_value = permutation_test(x, y, sides=2, seed=0).p_value
    return [{"contrast": "associated - different", "p_value": float(p_value)}]


def _by_t(table: pd.DataFrame, method: str, prob: float) -> list[dict[str, Any]]:
    """Return the t interval of each contrast; none where there is no variance to go by."""
    from scipy import stats

    out = []
    for a, b in CONTRASTS:
        one, two = table[table["connection"] == a], table[table["connection"] == b]
        if method == "averages_t":
            means = [
                part.groupby("protected_word", observed=True)["distance"].mean()
                for part in (one, two)
            ]
            difference = (means[0] - means[1]).dropna()
            if len(difference) < 2:
                continue
            test, estimate = stats.ttest_1samp(difference, 0.0), float(difference.mean())
        else:
            if min(len(one), len(two)) < 2:
                continue
            test = stats.ttest_ind(one["distance"], two["distance"], equal_var=False)
            estimate = float(one["distance"].mean() - two["distance"].mean())
        low, high = map(float, test.confidence_interval(prob))
        if np.isfinite(low):  # pairs that are all alike have no interval
            out.append({"contrast": f"{a} - {b}", "estimate": estimate, "low": low, "high": high})
    return out


def analyse_batch(
    scenario: Scenario,
    methods: Sequence[str],
    seed: int,
    first: int,
    count: int,
    settings: Mapping[str, Any],
) -> list[dict[str, Any]]:
    """Simulate and analyse `count` tables.

    Every table has its own seed, so batches may come in any order.
    """
    laid = {
        method: repeated(load_model(method), scenario_frame(*sizes_of(scenario)), ["overall"])
        for method in methods
        if method not in WITHOUT_MODEL
    }
    rows = []
    for number in range(first, first + count):
        own = int(np.random.SeedSequence([seed, number]).generate_state(1)[0])
        table = simulate_table(scenario, own)
        for method in methods:
            rows += [
                {"table": number, "method": method, **row}
                for row in analyse_table(table, method, own, settings, laid.get(method))
            ]
    return rows


def standard_error_of_share(share: float, n: int) -> float:
    """Return the standard error of a share after Agresti and Coull (1998), which is not zero at 0 and 1."""
    centre = (share * n + 2) / (n + 4)
    return float(np.sqrt(centre * (1 - centre) / (n + 4)))


def accounts(
    rows: Sequence[Mapping[str, Any]],
    truth: Mapping[Any, float],
    methods: Sequence[str],
    prob: float,
    labels: Sequence[str],
) -> pd.DataFrame:
    """Hold answers to the truth.

    Parameters
    ----------
    rows : sequence of mappings
        One for each table, method and quantity: ``method``, the labels, and any of ``estimate, low,
        high, p_value, seconds, converged, quick``.
    truth : mapping of labels (a tuple of texts) to number
    methods : sequence of str
    prob : float in (0, 1)
        Of the intervals; a test calls at ``p < 1 - prob``.
    labels : sequence of str
        What the keys of `truth` are called.

    Returns
    -------
    DataFrame
        One row per method and quantity that it has answers about: ``method``, the labels, ``truth,
        tables, coverage, coverage_se, called, called_se, wrong_sign, wrong_sign_se, bias, bias_se,
        rmse, rmse_se, width, width_se, seconds, converged, quick``; ``_se`` are standard errors by
        the number of tables.
    """
    import pandas as pd

    frame = pd.DataFrame(rows, columns=["method", *labels, *_ANSWER]).astype(
        dict.fromkeys(_ANSWER, float)
    )
    groups = dict(iter(frame.groupby(["method", *labels], sort=False)))
    names = ["method", *labels]
    keys = [(method, *key) for method in methods for key in truth if (method, *key) in groups]
    out = [
        dict(zip(names, key, strict=True)) | _account(groups[key], truth[key[1:]], prob)
        for key in keys
    ]
    return pd.DataFrame(out).reindex(columns=[*names, *_COLUMNS])


def _account(part: pd.DataFrame, true: float, prob: float) -> dict[str, Any]:
    n = len(part)
    row = {
        "truth": true,
        "tables": n,
        **part[["converged", "quick"]].mean(),
        "seconds": part["seconds"].median(),
    }
    if part["p_value"].notna().any():
        row["called"] = (part["p_value"] < 1 - prob).mean()
    else:
        low, high, off = part["low"], part["high"], part["estimate"] - true
        above, below = (low > 0).mean(), (high < 0).mean()
        rmse = float(np.sqrt((off**2).mean()))
        row |= {"called": above + below, "coverage": ((low <= true) & (true <= high)).mean()}
        row |= {"bias": off.mean(), "width": (high - low).mean(), "rmse": rmse}
        row |= {"wrong_sign": below if true > 0 else above} if true else {}
        if n > 1:
            # Of a root the error is that of the square over twice the root (delta method).
            sds = {
                "bias": off.std(),
                "width": (high - low).std(),
                "rmse": (off**2).std() / (2 * rmse or np.nan),
            }
            row |= {f"{name}_se": sd / np.sqrt(n) for name, sd in sds.items()}
    shares = [name for name in ("called", "coverage", "wrong_sign") if name in row]
    return row | {f"{name}_se": standard_error_of_share(row[name], n) for name in shares}


def batch_folder(
    out: str | os.PathLike[str] | None, identity: Mapping[str, Any], resume: bool
) -> Path | None:
    """Return the folder for finished batches, which says in ``coverage.json`` what they are batches of.

    Raises
    ------
    InputError
        If it holds other things, or batches that nobody asked to resume.
    """
    if out is None:
        return None
    folder, text = Path(out), json.dumps(identity, indent=2, sort_keys=True)
    state = folder / "coverage.json"
    if state.is_file():
        if not resume:
            raise InputError(
                "holds a run already", where=folder, hint="resume it, or name another folder"
            )
        if state.read_text(encoding="utf-8") != text:
            raise InputError(
                "holds a run with other settings", where=folder, hint="name another folder"
            )
    elif folder.is_dir() and any(folder.iterdir()):
        raise InputError("the output folder is not empty", where=folder, hint="name another folder")
    else:
        with whole_file(state) as temporary:
            temporary.write_text(text, encoding="utf-8")
    return folder


def in_batches(
    work: Callable[[int, int], list[dict[str, Any]]],
    tables: int,
    folder: Path | None,
    hands: Hands,
    label: str,
    progress: bool | None,
    size: int,
) -> list[dict[str, Any]]:
    """Return the rows of all tables, in their order.

    Parameters
    ----------
    work : callable
        Takes the number of the first table and how many; can be pickled, and needs no other state.
    tables : int
    folder : Path, optional
        Where batches are kept, and found again.
    hands : Hands
        Who works; other batches may be handed to them after these.
    label : str
        Of the bar.
    progress : bool, optional
    size : int
        Tables in a batch.
    """
    counts = {first: min(size, tables - first) for first in range(0, tables, size)}
    done: dict[int, list[dict[str, Any]]] = {}

    def file_of(first: int) -> Path | None:
        return None if folder is None else folder / f"batch-{first:06d}-{counts[first]}.json"

    for first in counts:
        file = file_of(first)
        if file is not None and file.is_file():
            done[first] = json.loads(file.read_text(encoding="utf-8"))
    with ticking(label, tables, progress) as tick:
        tick(sum(counts[first] for first in done))

        def finished(first: int, answer: tuple[str, list[dict[str, Any]]]) -> None:
            version, done[first] = answer
            if version != own_version():
                failed(f"the worker has bayesbias {version}, here is {own_version()}")
            file = file_of(first)
            if file is not None:
                with whole_file(file) as temporary:
                    temporary.write_text(json.dumps(done[first]), encoding="utf-8")
            tick(counts[first])

        def failed(error: str) -> None:
            raise InputError(f"a batch of {label} failed: {error}")

        tasks = deque(
            Task(
                with_version,
                (work, first, count),
                then=functools.partial(finished, first),
                fail=failed,
            )
            for first, count in counts.items()
            if first not in done
        )
        if hands.alone(len(tasks)):
            for task in tasks:
                task.then(task.work(*task.arguments))
        elif tasks:
            carry_out(tasks, hands.started(len(tasks)))
    return [row for first in counts for row in done[first]]
