"""What every method, model or test, answers about one table: estimate, interval, p-value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.inference.contrasts import contrast_draws, keys_of_rows
from bayesbias.inference.diagnostics import shortest_interval
from bayesbias.inference.estimands import CONTRASTS
from bayesbias.simulation.scenario import Scenario, simulate_table

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["AVERAGED"]

AVERAGED = ("weat", "averages_t", "pairs_t")
"""The methods beside the models: WEAT's permutation test on the first two classes; the paired t-test over
pre-averaged values (one per protected word, after Manzini et al.); Welch's t-test over single pairs."""


def analyse_table(
    table: pd.DataFrame, method: str, seed: int, settings: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Return estimate and interval of every contrast a method speaks about."""
    if method == "weat":
        return _by_weat(table)
    if method in AVERAGED:
        return _by_t(table, method, settings["prob"])
    from bayesbias.inference.fitting import fit

    result = fit(
        table,
        method,
        seed=seed,
        draws=settings["draws"],
        tune=settings["tune"],
        chains=settings["chains"],
        pointwise=False,
        progress=False,
    )
    draws = contrast_draws(result.draws_of("means", level="overall"))
    out = []
    for place, (contrast,) in enumerate(keys_of_rows(draws, "contrast")):
        values = draws.to_numpy()[..., place].ravel()
        low, high = shortest_interval(values, settings["prob"])
        mean = float(values.mean())
        out.append({"contrast": contrast, "estimate": mean, "low": float(low), "high": float(high)})
    return out


def _by_weat(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Test WEAT's statistic of the first two classes: X, Y are their words, A, B their stereotypes (eq. 2-3)."""
    from bayesbias.scores.permutation import permutation_test

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


def analyse_batch(
    scenario: Scenario, methods: Sequence[str], seed: int, first: int, count: int, settings: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Simulate and analyse `count` tables; every table has its own seed, so batches may come in any order."""
    rows = []
    for number in range(first, first + count):
        own = int(np.random.SeedSequence([seed, number]).generate_state(1)[0])
        table = simulate_table(scenario, own)
        for method in methods:
            rows += [
                {"table": number, "method": method, **row}
                for row in analyse_table(table, method, own, settings)
            ]
    return rows


def standard_error_of_share(share: float, n: int) -> float:
    """Return the standard error of a share after Agresti and Coull (1998), which is not zero at 0 and 1."""
    centre = (share * n + 2) / (n + 4)
    return float(np.sqrt(centre * (1 - centre) / (n + 4)))
