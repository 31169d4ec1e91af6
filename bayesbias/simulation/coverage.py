"""Does a method keep its promises? Tables with a known truth, each analyzed by every method.

`coverage_simulated` reports how often intervals cover the truth, how often a difference is called
that is not there, and how often one is called that is. `accounts` compares the answers with the
truth, here simulated and in `coverage_on_pools` that of a pool of real words.
"""

import functools
import os
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from bayesbias.core import InputError, ResourceError, checks, describe_error
from bayesbias.core.conventions import PROB
from bayesbias.core.errors import as_resource_error
from bayesbias.core.progress import ticking
from bayesbias.core.workers import Hands, Task
from bayesbias.inference.estimands import CONTRASTS
from bayesbias.inference.fitting import Prepared, fit as fit_model, prepare
from bayesbias.inference.linear import Key
from bayesbias.inference.posterior import BiasFit
from bayesbias.inference.sampling import ENGINES
from bayesbias.models.spec import BETWEEN, DEFAULT_MODEL, list_models, load_model
from bayesbias.scores.association import weat
from bayesbias.simulation import grid as grids
from bayesbias.simulation.grid import MOMENTS
from bayesbias.simulation.scenario import LEVELS, Scenario, simulate_table, true_contrasts
from bayesbias.wordlists.wordlist import SHARED

AVERAGED = ("weat", "averages_t", "pairs_t")
"""The methods beside the models: WEAT's permutation test on the first two classes; the paired
t-test over pre-averaged values (one per protected word, after Manzini et al.); Welch's t-test over
single pairs."""
WITHOUT_MODEL = (*AVERAGED, MOMENTS)
LABELS = ["level", "name", "contrast"]
_BATCH, _BATCHES = 10, 40  # tables that a worker takes at a time, at least; batches of many tables
_ANSWER = ["estimate", "low", "high", "p_value", "seconds", "converged", "quick"]
_COLUMNS = (
    "truth", "tables", "coverage", "coverage_se", "called", "called_se", "wrong_sign", "wrong_sign_se", "bias", "bias_se",
    "rmse", "rmse_se", "width", "width_se", "seconds", "converged", "quick",
)  # fmt: skip

type Draw = Callable[[int], tuple[pd.DataFrame, int]]
"""Makes the table of a number, and the seed of its analysis; can be pickled."""


def coverage_simulated(
    scenario: Scenario,
    *,
    tables: int = 1000,
    methods: Sequence[str] = (DEFAULT_MODEL, "crossed", "hierarchical", *AVERAGED, MOMENTS),
    seed: int = 0,
    prob: float = PROB,
    workers: int | None = None,
    dask: str | None = None,
    progress: bool | None = None,
    **sampling: Any,
) -> pd.DataFrame:
    """Simulate tables and measure how often each method covers the truth.

    Parameters
    ----------
    scenario : Scenario
        What to simulate.
    tables : int
        Number of tables.
    methods : sequence of str
        Models (names or paths), any of `AVERAGED`, and ``moments``.
    seed : int
        Seed of all random numbers.
    prob : float in (0, 1)
        Probability of the intervals. A difference is called where its interval leaves out zero; a
        test calls at ``p < 1 - prob``.
    workers : int, optional
        Processes; by default one per core. With 1 this process does the work itself.
    dask : str, optional
        The address of a Dask scheduler that does the work instead (extra ``dask``), as of
        `run_sweep`.
    progress : bool, optional
        Whether to show a bar; by default on a terminal.
    **sampling
        Of each fit, as of `fit`: ``draws`` and ``tune`` (500), ``chains`` (2), ``engine``
        (``"quick"``).

    Returns
    -------
    DataFrame
        One row per method and contrast: ``method, contrast`` (of groups also ``level, name``)``,
        truth, tables, coverage, coverage_se, called, called_se, wrong_sign, wrong_sign_se, bias, bias_se, width, width_se, quick``.
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
    >>> found = bb.coverage_simulated(
    ...     small, tables=4, methods=["weat"], seed=1, workers=1, progress=False
    ... )
    >>> found["method"].unique().tolist(), int(found["tables"].max())
    (['weat'], 4)
    """
    methods = checked_methods(methods)
    settings = settings_of(prob, **sampling)
    with Hands(workers, dask) as hands:
        rows = analyse_tables(
            functools.partial(simulated, scenario, seed), tables, methods, settings, hands,
            label="simulated tables", progress=progress, pairs=scenario.frame,
        )  # fmt: skip
    left_out = ["rmse", "rmse_se", "seconds", "converged"]
    left_out += [] if scenario.sets else ["level", "name"]
    return accounts(rows, true_contrasts(scenario), methods, prob).drop(columns=left_out)


def simulated(scenario: Scenario, seed: int, number: int) -> tuple[pd.DataFrame, int]:
    """Return the table of a number and its seed.

    Every table has its own, so they may come in any order.
    """
    own = checks.derived_seed(seed, number)
    return simulate_table(scenario, own), own


def settings_of(
    prob: float, draws: int = 500, tune: int = 500, chains: int = 2, engine: str = "quick"
) -> dict[str, Any]:
    """Return the settings of every fit of a simulation, checked."""
    checks.sampling(draws, tune, chains)
    checks.choice(engine, ENGINES, "engine")
    sampling = {"draws": draws, "tune": tune, "chains": chains, "engine": engine}
    return {"prob": checks.probability(prob), **sampling}


def checked_methods(methods: Sequence[checks.FilePath]) -> list[str]:
    """Return methods, each once; every one is a model, or one of those that need none."""
    known = [*list_models(), *WITHOUT_MODEL]
    names = [str(method) for method in checks.several(methods, "methods")]
    for name in names:
        if name not in known and not os.path.isfile(name):
            raise checks.unknown(name, [*known, "a model file"], "methods")
    return checks.once(names)


def analyse_table(
    table: pd.DataFrame,
    method: str,
    seed: int,
    settings: Mapping[str, Any],
    laid: Prepared | None = None,
) -> list[dict[str, Any]]:
    """Return estimate and interval of every contrast a method speaks about.

    `laid` is the model on the pairs of the table, where many tables have the same.
    """
    sampling = {**settings, "seed": seed}
    prob = sampling.pop("prob")
    shared = bool((table["connection"] == SHARED).any())
    if shared and method in ("weat", "pairs_t"):
        return []
    if method == "weat":
        classes = checks.once(map(str, table["protected_class"]))[:2]
        # WEAT gives no interval of a distance; the contrast it stands for is associated -
        # different.
        key = ("overall", "all", "associated - different")
        return [_row(key, p_value=weat(table, classes=classes, sides=2, seed=0).p_value)]
    if method in AVERAGED and not shared:
        return _by_t(table, method, prob)
    if method in (MOMENTS, "averages_t"):
        grid = grids.grid_of(table, "the simulated table")
        if min(size.min() for size in grid.sizes()) < 2:
            return []  # a single word says nothing of how words vary
        weights = grids.contrast_weights(grid, *grid.sizes())
        spread = grids.moments if method == MOMENTS else grids.averages
        ends = grids.t_intervals(grid, weights, prob, spread)
        return [_row(key, estimate=x, low=low, high=high) for key, (x, low, high) in ends.items()]
    if laid is not None:
        quick = laid.intervals(table[laid.reduced.design.spec.outcome].to_numpy(), sampling, prob)
        if quick is not None:
            answers, engine = quick
            return [_row(key, **own, quick=engine.name == "quick") for key, own in answers]
    fit = fit_model(table, method, **sampling, progress=False)
    levels = [
        level
        for level, about in fit.spec.results.levels.items()
        if level in grids.LEVEL_COLUMNS and about.population
    ]
    if fit.spec.results.between:
        levels += BETWEEN if table["protected_class"].nunique() > 2 else BETWEEN[:1]
    about = {"converged": fit.diagnostics()["ok"], "quick": fit.engine.name == "quick"}
    answers = answers_of_fit(fit, prob, ["overall", *levels])
    return [_row(key, **answer, **about) for key, answer in answers]


def _row(key: Key, **answer: Any) -> dict[str, Any]:
    names = dict(zip(LABELS, key, strict=True))
    return names | {name: float(value) for name, value in answer.items()}


def answers_of_fit(
    fit: BiasFit, prob: float, levels: Sequence[str]
) -> list[tuple[Key, dict[str, float]]]:
    """Return what a fit says of the population.

    The very intervals that its table of contrasts prints.
    """
    return [
        (
            (level, str(row["name"]), str(row["contrast"])),
            {"estimate": row["mean"], "low": row["hpdi_low"], "high": row["hpdi_high"]},
        )
        for level in levels
        for row in fit.contrast_rows(prob, estimand="population", level=level).to_dict("records")
    ]


def _by_t(table: pd.DataFrame, method: str, prob: float) -> list[dict[str, Any]]:
    """Return the t interval of each contrast; none where there is no variance to go by."""
    from scipy import stats

    means = table.pivot_table(
        index="protected_word", columns="connection", values="distance", observed=True
    )
    out = []
    for a, b in CONTRASTS:
        one, two = (table.loc[table["connection"] == c, "distance"] for c in (a, b))
        if method == "averages_t" and {a, b} <= set(means):
            one, two = (means[a] - means[b]).dropna(), np.zeros(2)
            test = stats.ttest_1samp(one, 0.0) if len(one) > 1 else None
        else:
            enough = method == "pairs_t" and min(len(one), len(two)) > 1
            test = stats.ttest_ind(one, two, equal_var=False) if enough else None
        if test is not None and np.isfinite((ends := test.confidence_interval(prob)).low):
            key = ("overall", "all", f"{a} - {b}")  # pairs that are all alike have no interval
            out.append(_row(key, estimate=one.mean() - two.mean(), low=ends.low, high=ends.high))
    return out


def _analyse_batch(
    draw: Draw,
    methods: Sequence[str],
    settings: Mapping[str, Any],
    pairs: pd.DataFrame | None,
    first: int,
    count: int,
) -> list[dict[str, Any]]:
    laid = {
        method: prepare(load_model(method), pairs, LEVELS)
        for method in methods
        if pairs is not None and method not in WITHOUT_MODEL
    }
    rows = []
    for number in range(first, first + count):
        table, seed = draw(number)
        for method in methods:
            start = time.perf_counter()
            answers = analyse_table(table, method, seed, settings, laid.get(method))
            about = {"table": number, "method": method, "seconds": time.perf_counter() - start}
            rows += [about | answer for answer in answers]
    return rows


def standard_error_of_share(share: Any, n: Any) -> Any:
    """Return the standard error of a share after Agresti and Coull (1998).

    It is not zero at 0 and 1.
    """
    center = (share * n + 2) / (n + 4)
    return np.sqrt(center * (1 - center) / (n + 4))


def accounts(
    rows: Sequence[Mapping[str, Any]],
    truth: Mapping[Key, float],
    methods: Sequence[str],
    prob: float,
) -> pd.DataFrame:
    """Compare answers with the truth.

    Parameters
    ----------
    rows : sequence of mappings
        One for each table, method and quantity: ``method, level, name, contrast``, and any of
        ``estimate, low, high, p_value, seconds, converged, quick``.
    truth : mapping of (level, name, contrast) to number
    methods : sequence of str
        Methods to apply to each table.
    prob : float in (0, 1)
        Of the intervals; a test calls at ``p < 1 - prob``.

    Returns
    -------
    DataFrame
        One row per method and quantity that it has answers about: ``method, level, name, contrast,
        truth, tables, coverage, coverage_se, called, called_se, wrong_sign, wrong_sign_se, bias,
        bias_se, rmse, rmse_se, width, width_se, seconds, converged, quick``; ``_se`` are standard
        errors by the number of tables.
    """
    names = ["method", *LABELS]
    frame = pd.DataFrame(rows, columns=[*names, *_ANSWER]).astype(dict.fromkeys(_ANSWER, float))
    true = pd.Series(
        [truth.get(key, np.nan) for key in zip(*(frame[x] for x in LABELS), strict=True)]
    )
    low, high, off = frame["low"], frame["high"], frame["estimate"] - true
    is_test = frame["p_value"].notna()
    above, below = (low > 0) * 1.0, (high < 0) * 1.0
    each = frame[[*names, "seconds", "converged", "quick"]].assign(
        truth=true,
        called=(above + below).where(~is_test, (frame["p_value"] < 1 - prob) * 1.0),
        coverage=((low <= true) & (true <= high)).astype(float).where(~is_test),
        wrong_sign=below.where(true > 0, above).where(~is_test & (true != 0)),
        bias=off,
        square=off**2,
        width=high - low,
    )
    groups = each.groupby(names, sort=False)
    out, errors = groups.mean(), groups[["bias", "square", "width"]].sem()
    out["truth"], out["tables"] = groups["truth"].first(), groups.size()
    out["seconds"] = groups["seconds"].median()
    out["rmse"] = np.sqrt(out["square"])
    out["bias_se"], out["width_se"] = errors["bias"], errors["width"]
    # Of a root the error is that of the square over twice the root (delta method).
    out["rmse_se"] = errors["square"] / (2 * out["rmse"]).replace(0, np.nan)
    for name in ("called", "coverage", "wrong_sign"):
        out[f"{name}_se"] = standard_error_of_share(out[name], out["tables"])
    keys = [(method, *key) for method in methods for key in truth if (method, *key) in out.index]
    index = pd.MultiIndex.from_tuples(keys, names=names)
    return out.reindex(index).reset_index()[[*names, *_COLUMNS]]


def analyse_tables(
    draw: Draw,
    tables: int,
    methods: Sequence[str],
    settings: Mapping[str, Any],
    hands: Hands,
    *,
    label: str,
    progress: bool | None,
    pairs: pd.DataFrame | None = None,
) -> list[dict[str, Any]]:
    """Analyze the tables 0, 1, ... by every method, and return the rows of all in their order.

    Parameters
    ----------
    draw : callable
        Makes a table from its number.
    tables : int
        Number of tables.
    methods : sequence of str
        Methods to apply to each table.
    settings : Mapping
    hands : Hands
        Who works; other tables may be handed to them after these.
    label : str
        Of the bar.
    progress : bool, optional
        Whether to show progress; by default on a terminal.
    pairs : DataFrame, optional
        The pairs of every table, where all have the same.
    """
    checks.count(tables, "tables")
    batch = max(_BATCH, tables // _BATCHES)
    counts = {first: min(batch, tables - first) for first in range(0, tables, batch)}
    done = {}
    work = functools.partial(_analyse_batch, draw, methods, settings, pairs)
    tasks = deque(Task(first, work, (first, count)) for first, count in counts.items())
    with ticking(label, tables, progress) as tick:
        for first, answer, error in hands.answers(tasks):
            if error is not None:
                problem = f"a batch of {label} failed: {describe_error(error)}"
                kind = InputError if as_resource_error(error) is None else ResourceError
                raise kind(problem) from error
            done[first] = answer
            tick(counts[first])
    return [row for first in counts for row in done[first]]
