"""Does the method keep its promises? Simulated tables with a known truth, and real vectors with none to find.

`calibrate` simulates tables from a model with chosen numbers of words and spreads, analyses each by every
method, and reports how often intervals cover the truth, how often a difference is called that is not
there, and how often one is called that is. `negative_controls` takes the meaning out of real vectors. `plan_words`
turns the same simulation round: how many words make an interval narrow enough?
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import json
import os
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import bayesbias
from bayesbias._resources import whole_file
from bayesbias._wording import number_of
from bayesbias.errors import InputError, nearest
from bayesbias.posterior import CONTRASTS, PROB, BiasFit, level_means
from bayesbias.spec import Design, ModelSpec, load_model, shipped_models

if TYPE_CHECKING:
    import pandas as pd

    from bayesbias.wordlist import WordList

__all__ = [
    "AVERAGED",
    "RELIGION_REDDIT",
    "Scenario",
    "calibrate",
    "negative_controls",
    "plan_words",
    "scenario_from_fit",
    "simulate_table",
]

AVERAGED = ("weat", "averages_t", "pairs_t")
"""The methods beside the models: WEAT's permutation test on the first two classes; the paired t-test over
pre-averaged values (one per protected word, after Manzini et al.); Welch's t-test over single pairs."""

RELIGION_REDDIT: Mapping[str, Any] = {
    "cbar": {"associated": 0.842, "different": 0.895, "human": 0.907, "neutral": 0.954},
    "csd": {"associated": 0.128, "different": 0.101, "human": 0.058, "neutral": 0.038},
    "ws": 0.137,
    "sigma": {"associated": 0.115, "different": 0.113, "human": 0.116, "neutral": 0.119},
}
"""Posterior means of the crossed model on the published religion/Reddit table of 2022 (4 x 1000 draws)."""

_BATCH = 20
_PLANNED = 1024  # draws behind a width at known spreads


@dataclass(frozen=True)
class Scenario:
    """What is simulated: a model, numbers of words, and the values of its population parameters.

    Attributes
    ----------
    model : str
        A shipped name or a path.
    words, attributes : tuple of int
        Protected words and stereotypes of each protected class; equally long.
    human, neutral : int
        Numbers of control words.
    values : Mapping
        Every parameter of the model that is not itself drawn around another: a number, or numbers by label.
    """

    model: str = "crossed"
    words: tuple[int, ...] = (5, 5, 5)
    attributes: tuple[int, ...] = (4, 3, 4)
    human: int = 85
    neutral: int = 226
    values: Mapping[str, Any] = dataclasses.field(default_factory=lambda: dict(RELIGION_REDDIT))

    def __post_init__(self) -> None:
        if len(self.words) != len(self.attributes) or not self.words:
            raise InputError(
                "words and attributes need one number for each protected class",
                found=f"{number_of(len(self.words), 'number')} of words, {len(self.attributes)} of attributes",
            )
        for name, numbers, least in (
            ("words", self.words, 1), ("attributes", self.attributes, 1), ("human", (self.human,), 0),
            ("neutral", (self.neutral,), 0),
        ):  # fmt: skip
            if any(isinstance(n, bool) or not isinstance(n, int) or n < least for n in numbers):
                raise InputError(f"`{name}` must hold whole numbers of at least {least}", found=numbers)
        object.__setattr__(self, "words", tuple(self.words))
        object.__setattr__(self, "attributes", tuple(self.attributes))
        object.__setattr__(self, "values", {name: _plain(value) for name, value in self.values.items()})

    def without_difference(self) -> Scenario:
        """Return the scenario with all connections at one mean: whatever is called in it is a false alarm."""
        values = dict(self.values)
        for name, value in self.values.items():
            if isinstance(value, Mapping) and not load_model(self.model).parameters[name].positive:
                values[name] = dict.fromkeys(value, float(np.mean(list(value.values()))))
        return dataclasses.replace(self, values=values)


def _plain(value: Any) -> Any:
    """Turn numbers of any kind into Python's own, which a file can hold."""
    if isinstance(value, Mapping):
        return {str(label): float(x) for label, x in value.items()}
    return np.asarray(value, dtype=float).tolist()


def scenario_from_fit(fit: BiasFit) -> Scenario:
    """Return the scenario a real fit suggests: its words, and posterior means of its population parameters."""
    if not os.path.exists(fit.spec.name) and fit.spec.name not in shipped_models():
        raise InputError(
            "only shipped models can be simulated from a fit", found=fit.spec.name, valid=shipped_models()
        )
    table = fit.table
    words = table.drop_duplicates("protected_word")["protected_class"].value_counts(sort=False)
    own = table[table["connection"] == "associated"].groupby("protected_class", sort=False, observed=True)
    attributes = own["attribute"].nunique()
    kinds = table.drop_duplicates("attribute")["attribute_kind"].value_counts()
    values: dict[str, Any] = {}
    draws = fit.draws()
    for name in _given(fit.spec):
        mean, dims = draws[name].mean(axis=0), fit.spec.parameters[name].dims
        if not dims:
            values[name] = float(mean)
        elif dims in (("connection",), ("attribute_kind",)):
            labels = fit.design.coords[dims[0]]
            values[name] = {label: float(x) for label, x in zip(labels, mean, strict=True)}
        else:
            raise InputError(
                "belongs to the words of the table, and cannot be carried over to simulated ones",
                where=f"{fit.spec.name}, {name}", found=f"dims {', '.join(dims)}", valid="connection, attribute_kind, or none",
                hint="fit crossed, or shared",
            )  # fmt: skip
    return Scenario(
        model=fit.spec.name,
        words=tuple(int(words[c]) for c in words.index),
        attributes=tuple(int(attributes[c]) for c in words.index),
        human=int(kinds.get("human", 0)),
        neutral=int(kinds.get("neutral", 0)),
        values=values,
    )


def _given(spec: ModelSpec) -> list[str]:
    """Return the population parameters: all but the random effects, which each table draws anew."""
    return [name for name in spec.parameters if spec.parameters[name].positive or not spec.is_random(name)]


@functools.lru_cache(maxsize=8)
def _frame(words: tuple[int, ...], attributes: tuple[int, ...], human: int, neutral: int) -> pd.DataFrame:
    import pandas as pd

    columns = [(f"a{k}.{i}", f"class{k}", "stereotype") for k, n in enumerate(attributes) for i in range(n)]
    columns += [
        (f"{kind}.{i}", kind, kind) for kind, n in (("human", human), ("neutral", neutral)) for i in range(n)
    ]
    right = pd.DataFrame(columns, columns=["attribute", "attribute_class", "attribute_kind"])
    rows = [(f"w{k}.{i}", f"class{k}") for k, n in enumerate(words) for i in range(n)]
    frame = pd.DataFrame(rows, columns=["protected_word", "protected_class"]).merge(right, how="cross")
    own = np.where(frame["attribute_class"] == frame["protected_class"], "associated", "different")
    frame["connection"] = np.where(frame["attribute_kind"] == "stereotype", own, frame["attribute_kind"])
    frame["distance"] = 0.0
    return frame


def _truth(scenario: Scenario) -> tuple[Design, dict[str, np.ndarray]]:
    """Lay the model over the scenario's grid, and put the given values in the order of its labels."""
    spec = load_model(scenario.model)
    frame = _frame(scenario.words, scenario.attributes, scenario.human, scenario.neutral)
    design = Design.of(spec, frame)
    wanted = _given(spec)
    for name in scenario.values:
        if name not in wanted:
            raise InputError(
                "no population parameter of the model",
                where=spec.name,
                found=name,
                valid=wanted,
                hint=nearest(name, wanted),
            )
    given = {}
    for name in wanted:
        if name not in scenario.values:
            raise InputError("a population parameter has no value", where=spec.name, found=name, valid=wanted)
        value, dims = scenario.values[name], spec.parameters[name].dims
        if isinstance(value, Mapping) and len(dims) == 1:
            labels = design.coords[dims[0]]
            lacking = [label for label in labels if label not in value]
            if lacking:
                raise InputError(
                    f"no value for {lacking[0]!r}", where=f"{spec.name}, {name}", found=list(value)
                )
            value = [value[label] for label in labels]
        given[name] = np.broadcast_to(np.asarray(value, dtype=float), design.shape(name))
        if spec.parameters[name].positive and not (given[name] > 0).all():
            raise InputError(
                "a spread must be positive", where=f"{spec.name}, {name}", found=scenario.values[name]
            )
    return design, given


def simulate_table(scenario: Scenario, seed: int) -> pd.DataFrame:
    """Simulate one table of pairs.

    Parameters
    ----------
    scenario : Scenario
    seed : int

    Returns
    -------
    DataFrame
        Columns as in a pair table. Distances are not cut off at 0 and 2: the truth would move.

    Examples
    --------
    >>> table = simulate_table(Scenario(words=(2, 2), attributes=(3, 3), human=0, neutral=0), seed=1)
    >>> len(table)
    24
    """
    design, given = _truth(scenario)
    drawn = {name: values[0] for name, values in design.prior_draws(1, seed, given).items()}
    frame = _frame(scenario.words, scenario.attributes, scenario.human, scenario.neutral)
    return frame.assign(
        distance=design.outcome_draws(drawn, seed=np.random.SeedSequence([seed, 1]).generate_state(1)[0])
    )


def true_contrasts(scenario: Scenario) -> dict[str, float]:
    """Return the true population contrasts of a scenario."""
    design, given = _truth(scenario)
    drawn = design.prior_draws(1, 0, given)
    frame = _frame(scenario.words, scenario.attributes, scenario.human, scenario.neutral)
    keys, means = level_means(design, frame, drawn, "population")
    at = {connection: means[0, i] for i, (level, _, connection) in enumerate(keys) if level == "overall"}
    # Averaging over the grid leaves 1e-15 where the difference is none at all.
    return {f"{a} - {b}": round(float(at[a] - at[b]), 12) + 0.0 for a, b in CONTRASTS if a in at and b in at}


def _analysed(
    table: pd.DataFrame, method: str, seed: int, settings: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Return estimate and interval of every contrast a method speaks about."""
    if method == "weat":
        return _by_weat(table)
    if method in AVERAGED:
        return _by_t(table, method, settings["prob"])
    from bayesbias.model import fit

    result = fit(
        table, method, seed=seed, draws=settings["draws"], tune=settings["tune"], chains=settings["chains"],
        pointwise=False, progress=False,
    )  # fmt: skip
    keys, means = result._levels("population")
    at = {
        connection: means[..., i].ravel()
        for i, (level, _, connection) in enumerate(keys)
        if level == "overall"
    }
    out = []
    for a, b in CONTRASTS:
        if a in at and b in at:
            low, high = _hpdi(at[a] - at[b], settings["prob"])
            out.append(
                {
                    "contrast": f"{a} - {b}",
                    "estimate": float((at[a] - at[b]).mean()),
                    "low": low,
                    "high": high,
                }
            )
    return out


def _hpdi(draws: np.ndarray, prob: float) -> tuple[float, float]:
    """Return the shortest interval; one contrast at a time this is all of what ArviZ's would do, without its overhead."""
    ordered = np.sort(draws)
    inside = int(np.floor(prob * len(ordered)))
    first = int(np.argmin(ordered[inside:] - ordered[: len(ordered) - inside]))
    return float(ordered[first]), float(ordered[first + inside])


def _by_weat(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Test WEAT's statistic of the first two classes: X, Y are their words, A, B their stereotypes (eq. 2-3)."""
    from bayesbias.permutation import permutation_test

    classes = list(dict.fromkeys(table["protected_class"]))[:2]
    if len(classes) < 2:
        return []
    # Straight from the simulated numbers, which no range check may refuse: normal noise knows no 0 and 2.
    own = table[table["attribute_class"].isin(classes) & table["protected_class"].isin(classes)]
    mean = own.pivot_table(
        index="protected_word", columns="attribute_class", values="distance", observed=True
    )
    score = mean[classes[1]] - mean[classes[0]]
    group = own.drop_duplicates("protected_word").set_index("protected_word")["protected_class"]
    x, y = (score[group[score.index] == c].to_numpy() for c in classes)
    # WEAT gives no interval of a distance; the contrast it stands for is associated - different.
    p_value = permutation_test(x, y, sides=2, seed=0).p_value
    return [{"contrast": "associated - different", "p_value": float(p_value)}]


def _by_t(table: pd.DataFrame, method: str, prob: float) -> list[dict[str, Any]]:
    from scipy import stats

    out = []
    for a, b in CONTRASTS:
        first, second = table[table["connection"] == a], table[table["connection"] == b]
        if first.empty or second.empty:
            continue
        if method == "averages_t":
            one = first.groupby("protected_word", sort=False, observed=True)["distance"].mean()
            two = second.groupby("protected_word", sort=False, observed=True)["distance"].mean()
            difference = (one - two).dropna()
            if len(difference) < 2:
                continue
            test = stats.ttest_1samp(difference, 0.0)
            estimate = float(difference.mean())
        else:
            test = stats.ttest_ind(first["distance"], second["distance"], equal_var=False)
            estimate = float(first["distance"].mean() - second["distance"].mean())
        interval = test.confidence_interval(prob)
        if not np.isfinite(interval.low):  # a single pair has no variance: no answer, and not the answer no
            continue
        out.append(
            {
                "contrast": f"{a} - {b}",
                "estimate": estimate,
                "low": float(interval.low),
                "high": float(interval.high),
            }
        )
    return out


def _batch(
    scenario: Scenario, methods: Sequence[str], seed: int, first: int, count: int, settings: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Simulate and analyse `count` tables; every table has its own seed, so batches may come in any order."""
    rows = []
    for number in range(first, first + count):
        own = int(np.random.SeedSequence([seed, number]).generate_state(1)[0])
        table = simulate_table(scenario, own)
        for method in methods:
            rows += [
                {"table": number, "method": method, **row} for row in _analysed(table, method, own, settings)
            ]
    return rows


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
    methods = _methods(methods)
    _check_numbers(
        seed=seed, prob=prob, workers=workers, tables=tables, draws=draws, tune=tune, chains=chains
    )
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
        "bayesbias": bayesbias.__version__,
        **settings,
    }
    folder = _folder(out, identity, resume)
    rows = _batches(scenario, methods, seed, tables, settings, folder, workers, progress)
    return _report(rows, truth, methods, prob)


def _check_numbers(*, seed: int, prob: float, workers: int | None, **counts: int) -> None:
    counts = counts if workers is None else {**counts, "workers": workers}
    for least, numbers in ((1, counts), (0, {"seed": seed})):
        for name, value in numbers.items():
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise InputError(f"`{name}` must be a whole number of at least {least}", found=value)
    if not 0 < prob < 1:
        raise InputError("the probability of an interval must lie between 0 and 1", found=prob)


def _methods(methods: Sequence[str]) -> list[str]:
    known = [*shipped_models(), *AVERAGED]
    for method in methods:
        if method not in known and not Path(method).is_file():
            raise InputError(
                "unknown method", found=method, valid=[*known, "or a model file"], hint=nearest(method, known)
            )
    return list(dict.fromkeys(methods))


def _folder(out: str | os.PathLike[str] | None, identity: Mapping[str, Any], resume: bool) -> Path | None:
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


def _batches(
    scenario: Scenario, methods: Sequence[str], seed: int, tables: int, settings: Mapping[str, Any],
    folder: Path | None, workers: int | None, progress: bool | None,
) -> list[dict[str, Any]]:  # fmt: skip
    from bayesbias._progress import ticking
    from bayesbias._workers import Processes, Task, carry_out

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
                work=_batch,
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
    try:
        rows = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return rows if isinstance(rows, list) and all(isinstance(row, dict) for row in rows) else None


def _report(
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
                row |= {"coverage": covered, "coverage_se": _standard_error(covered, n)}
                row |= {"wrong_sign": below if true > 0 else above} if true else {}
                row |= {
                    "bias": (part["estimate"] - true).mean(),
                    "width": (part["high"] - part["low"]).mean(),
                }
                row |= {"bias_se": part["estimate"].std(ddof=1) / np.sqrt(n)} if n > 1 else {}
            else:
                called = (part["p_value"] < 1 - prob).mean()
            out.append({**row, "called": called, "called_se": _standard_error(called, n)})
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


def _standard_error(share: float, n: int) -> float:
    """Return the standard error of a share after Agresti and Coull (1998), which is not zero at 0 and 1."""
    centre = (share * n + 2) / (n + 4)
    return float(np.sqrt(centre * (1 - centre) / (n + 4)))


CONTROLS = ("random_vectors", "shuffled_classes", "shuffled_attributes")


def negative_controls(
    embedding: Any,
    wordlist: Any,
    model: str = "crossed",
    *,
    kinds: Sequence[str] = CONTROLS,
    tables: int = 50,
    seed: int = 0,
    prob: float = PROB,
    draws: int = 500,
    tune: int = 500,
    chains: int = 2,
    controls: Any = None,
    progress: bool | None = None,
) -> pd.DataFrame:
    """Take the meaning out of real vectors and see what the model still calls.

    ``random_vectors`` replaces every vector by a random one of the same length; ``shuffled_classes`` deals the
    protected words to the classes anew; ``shuffled_attributes`` deals the stereotypes. In each there is no difference
    between associated and different, beyond what the particular shuffle happens to hold.

    Returns
    -------
    DataFrame
        One row per kind: ``kind, tables, called, called_se, mean, sd, width`` of ``associated - different``, and one row
        ``real`` for the list as it is. `called` is the share of tables whose interval leaves out zero, which should
        be no more than about ``1 - prob`` in all but the real ones; `mean` and `sd` are those of the posterior means.
    """
    import pandas as pd

    from bayesbias._progress import ticking
    from bayesbias.distance import distance_table
    from bayesbias.embedding import load_embedding
    from bayesbias.wordlist import load_wordlist

    _check_numbers(seed=seed, prob=prob, workers=None, tables=tables, draws=draws, tune=tune, chains=chains)
    if model in AVERAGED:
        raise InputError("negative controls are of a model", found=model, valid=shipped_models())
    for kind in kinds:
        if kind not in CONTROLS:
            raise InputError(
                "unknown negative control", found=kind, valid=CONTROLS, hint=nearest(kind, CONTROLS)
            )
    words = load_wordlist(wordlist, controls=controls)
    vectors = load_embedding(embedding, words=words.words)
    real = distance_table(vectors, words).frame
    if not {"associated", "different"} <= set(real["connection"].astype(str)):
        raise InputError(
            "negative controls need stereotypes of two classes or more", where=words.name,
            found=f"connections {', '.join(real['connection'].astype(str).unique())}",
        )  # fmt: skip
    settings = {"prob": prob, "draws": draws, "tune": tune, "chains": chains}
    out = []
    with ticking("negative controls", 1 + tables * len(kinds), progress) as tick:
        for kind in ("real", *kinds):
            rows = []
            for number in range(1 if kind == "real" else tables):
                rng = np.random.default_rng([seed, CONTROLS.index(kind) if kind != "real" else 9, number])
                table = _without_meaning(real, words, vectors, kind, rng)
                row = next(
                    r
                    for r in _analysed(table, model, number, settings)
                    if r["contrast"] == "associated - different"
                )
                rows.append(row)
                tick(1)
            part = pd.DataFrame(rows)
            called = ((part["low"] > 0) | (part["high"] < 0)).mean()
            out.append(
                {
                    "kind": kind, "tables": len(part), "called": called,
                    "called_se": _standard_error(called, len(part)) if kind != "real" else np.nan,
                    "mean": part["estimate"].mean(), "sd": part["estimate"].std(ddof=1),
                    "width": (part["high"] - part["low"]).mean(),
                }
            )  # fmt: skip
    return pd.DataFrame(out)


def _without_meaning(
    real: pd.DataFrame, words: WordList, vectors: Any, kind: str, rng: np.random.Generator
) -> pd.DataFrame:
    if kind == "real":
        return real
    table = real.copy()
    if kind == "random_vectors":
        names = list(dict.fromkeys([*table["protected_word"], *table["attribute"]]))
        random = rng.standard_normal((len(names), np.asarray(vectors.vectors_of(names[:1])).shape[1]))
        random /= np.linalg.norm(random, axis=1, keepdims=True)
        at = {name: i for i, name in enumerate(names)}
        one, two = random[table["protected_word"].map(at)], random[table["attribute"].map(at)]
        return table.assign(distance=1 - np.einsum("ij,ij->i", one, two))
    stereotype = (table["attribute_kind"] == "stereotype").to_numpy()
    owners: dict[str, list[str]] = {}  # the classes that a word is a stereotype of: one, or more
    for group in words.classes:
        for attribute in group.attributes:
            owners.setdefault(attribute, []).append(group.name)
    if kind == "shuffled_classes":
        each = table.drop_duplicates("protected_word")
        dealt = rng.permutation(each["protected_class"].to_numpy())
        table["protected_class"] = table["protected_word"].map(
            dict(zip(each["protected_word"], dealt, strict=True))
        )
    else:
        # Word by word, so that every class keeps its number of stereotypes, and of those it shares.
        listed = table.loc[stereotype, "attribute"].drop_duplicates().to_numpy()
        given = [owners[attribute] for attribute in listed]
        owners = {str(new): classes for new, classes in zip(rng.permutation(listed), given, strict=True)}
    called = {group.name: group.attribute_class for group in words.classes}
    connection, label = (table[column].to_numpy(dtype=object) for column in ("connection", "attribute_class"))
    for row in np.flatnonzero(stereotype):
        of, own = owners[table["attribute"].iloc[row]], table["protected_class"].iloc[row]
        connection[row] = "associated" if own in of else "different"
        label[row] = called[own if own in of else of[0]]
    return table.assign(connection=connection, attribute_class=label)


class _EvenNormals:
    """Standard normals whose sample means, variances and covariances are exactly 0, 1 and 0, where they are few.

    In place of a generator: moments of linear functions of such draws are those of the distribution, without noise.
    """

    def __init__(self, seed: Sequence[int]) -> None:
        self._random = np.random.default_rng(seed)
        self._used = np.full(
            (_PLANNED, 1), _PLANNED**-0.5
        )  # a constant: what is orthogonal to it has mean zero

    def standard_normal(self, shape: tuple[int, ...]) -> np.ndarray:
        drawn = self._random.standard_normal((shape[0], int(np.prod(shape[1:]))))
        many = drawn.shape[1] > _PLANNED // 8 or self._used.shape[1] + drawn.shape[1] > _PLANNED // 2
        if len(drawn) == _PLANNED and not many:
            new = np.linalg.qr(drawn - self._used @ (self._used.T @ drawn))[0]
            self._used = np.hstack([self._used, new])
            drawn = new * np.sqrt(_PLANNED)
        return drawn.reshape(shape)


def plan_words(
    width: float,
    *,
    contrast: str = "associated - different",
    scenario: Scenario | None = None,
    prob: float = PROB,
    words: Sequence[int] = (3, 4, 5, 6, 8, 10, 12, 15, 20, 30),
    attributes: Sequence[int] = (3, 4, 5, 6, 8, 10, 12, 15, 20, 30, 50),
    check: int = 20,
    seed: int = 0,
    progress: bool | None = None,
) -> pd.DataFrame:
    """Say how many words make the interval of a population contrast narrow enough.

    For each combination of words and attributes per class the width follows from the exact conditional posterior, were
    the scenario's spreads known. A real study has to learn them, which makes its interval wider: so combinations that
    reach `width` are checked, leanest first (fewest words and attributes per class), by fits of the scenario's model to
    simulated tables, until one passes. Control words are as many as the scenario has.

    Parameters
    ----------
    width : float > 0
        Wanted width of the HPDI, in cosine distance.
    contrast : str
    scenario : Scenario, optional
        Number of classes, controls and spreads; by default those of religion/Reddit.
    prob : float in (0, 1)
        Probability of the interval.
    words, attributes : sequence of int
        Numbers per class to try.
    check : int
        Simulated tables for each check; 0 leaves it out.
    seed : int

    Returns
    -------
    DataFrame
        ``words, attributes, pairs, known_width, enough, simulated_width, simulated_se, simulated_80``, leanest first
        among those that are enough. `known_width` is the width at known spreads; the last three, mean width of the
        simulated tables, its standard error, and the width that 80 % of them stay below, stand only where tables
        were simulated. `enough` goes by `simulated_width` where there is one, else by `known_width`.
    """
    import pandas as pd
    from scipy import stats

    from bayesbias._progress import ticking

    scenario = scenario or Scenario()
    if not width > 0:
        raise InputError("the width must be positive", found=width)
    _check_numbers(seed=seed, prob=prob, workers=None)
    for name, numbers in (("words", words), ("attributes", attributes)):
        if not numbers:
            raise InputError(f"`{name}` holds no number to try", found=numbers)
        _check_numbers(seed=0, prob=prob, workers=None, **{name: min(numbers)})
    known = true_contrasts(scenario)
    if contrast not in known:
        raise InputError("unknown contrast", found=contrast, valid=list(known), hint=nearest(contrast, known))
    z = 2 * stats.norm.ppf(0.5 + prob / 2)
    classes = len(scenario.words)
    settings = {"prob": prob, "draws": 500, "tune": 500, "chains": 2}
    rows: list[dict[str, Any]] = []
    with ticking("combinations", len(words) * len(attributes), progress) as tick:
        for n_words, n_attributes in itertools.product(words, attributes):
            sized = dataclasses.replace(
                scenario, words=(n_words,) * classes, attributes=(n_attributes,) * classes
            )
            pairs, spread = _spread_of(sized, contrast, [seed, n_words, n_attributes])
            row = {"words": n_words, "attributes": n_attributes, "pairs": pairs, "known_width": z * spread}
            rows.append({**row, "enough": z * spread <= width, "sized": sized})
            tick(1)
    # A lean design is little work to set up, whichever of its words are hard to find.
    rows.sort(key=lambda row: (row["words"] + row["attributes"], row["known_width"]))
    for row in (row for row in rows if row["enough"] and check):
        widths = []
        with ticking(f"simulating {row['words']} x {row['attributes']}", check, progress) as tick:
            for number in range(check):
                found = _batch(row["sized"], [scenario.model], seed, number, 1, settings)
                widths += [r["high"] - r["low"] for r in found if r["contrast"] == contrast]
                tick(1)
        row["simulated_width"] = float(np.mean(widths))
        row["simulated_80"] = float(np.quantile(widths, 0.8))
        if check > 1:
            row["simulated_se"] = float(np.std(widths, ddof=1) / np.sqrt(check))
        row["enough"] = row["simulated_width"] <= width
        if row["enough"]:
            break
    columns = ["words", "attributes", "pairs", "known_width", "enough"]
    columns += ["simulated_width", "simulated_se", "simulated_80"]
    rows.sort(key=lambda row: not row["enough"])
    return pd.DataFrame(rows).reindex(columns=columns)


def _spread_of(scenario: Scenario, contrast: str, seed: Sequence[int]) -> tuple[int, float]:
    """Return the number of pairs, and the posterior sd of a contrast were the spreads known."""
    from bayesbias.collapsed import NotCollapsible, collapse

    design, given = _truth(scenario)
    try:
        reduced = collapse(design)
    except NotCollapsible as error:
        raise InputError(
            f"widths can be told in advance for normal models only: {error}", where=scenario.model,
            valid="crossed, hierarchical, shared", hint="plan with crossed",
        ) from None  # fmt: skip
    theta = np.log(np.concatenate([np.ravel(given[name]) for name in reduced.scales]))
    drawn = reduced.draw_effects(np.tile(theta, (_PLANNED, 1)), _EvenNormals(seed))
    frame = _frame(scenario.words, scenario.attributes, scenario.human, scenario.neutral)
    keys, means = level_means(design, frame, drawn, "population")
    at = {connection: i for i, (level, _, connection) in enumerate(keys) if level == "overall"}
    a, b = contrast.split(" - ")
    return len(frame), float((means[:, at[a]] - means[:, at[b]]).std())
