"""What every method, model or test, answers about one table: estimate, interval, p-value."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.inference.estimands import CONTRASTS
from bayesbias.inference.repeated import Repeated, repeated
from bayesbias.models.loading import load_model
from bayesbias.models.spec import ModelSpec
from bayesbias.simulation.grid import Key, contrast_weights, grid_of
from bayesbias.simulation.scenario import Scenario, scenario_frame, simulate_table, sizes_of
from bayesbias.simulation.yardsticks import YARDSTICKS, by_yardstick

if TYPE_CHECKING:
    import pandas as pd

    from bayesbias.inference.posterior import BiasFit

__all__ = ["AVERAGED"]

AVERAGED = ("weat", "averages_t", "pairs_t")
"""The methods beside the models: WEAT's permutation test on the first two classes; the paired t-test over
pre-averaged values (one per protected word, after Manzini et al.); Welch's t-test over single pairs."""


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
    from bayesbias.inference.fitting import fit

    sampling = {name: settings[name] for name in ("draws", "tune", "chains", "engine")}
    return fit(table, model, seed=seed, **sampling, pointwise=False, progress=False)


def answers_of_fit(fit: BiasFit, prob: float, levels: Sequence[str]) -> list[tuple[Key, dict[str, float]]]:
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
    from bayesbias.scores.permutation import permutation_test

    classes = list(dict.fromkeys(table["protected_class"]))[:2]
    if len(classes) < 2:
        return []
    # A list need not be called as the class is that it belongs to.
    associated = table[table["connection"].astype(str) == "associated"]
    a, b = (list(associated.loc[associated["protected_class"] == c, "attribute"].unique()) for c in classes)
    if not a or not b:
        return []
    # Straight from the simulated numbers, which no range check may refuse: normal noise knows no 0 and 2.
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
        elif (
            min(len(first), len(second)) < 2
        ):  # a single pair has no variance: no answer, and not the answer no
            continue
        else:
            test = stats.ttest_ind(first["distance"], second["distance"], equal_var=False)
            estimate = float(first["distance"].mean() - second["distance"].mean())
        interval = test.confidence_interval(prob)
        if not np.isfinite(interval.low):  # nor have pairs that are all alike
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


def analyse_batch(
    scenario: Scenario, methods: Sequence[str], seed: int, first: int, count: int, settings: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Simulate and analyse `count` tables; every table has its own seed, so batches may come in any order."""
    laid = {
        method: _laid(load_model(method), *sizes_of(scenario))
        for method in methods
        if method not in (*AVERAGED, *YARDSTICKS)
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


@functools.lru_cache(maxsize=8)
def _laid(
    spec: ModelSpec, words: tuple[int, ...], attributes: tuple[int, ...], human: int, neutral: int
) -> Repeated | None:
    """Return a model on the pairs of a scenario; None where each table must be fitted by itself."""
    return repeated(spec, scenario_frame(words, attributes, human, neutral), ["overall"])
