"""What answers about many tables come to, held to a known value: covers, width, sign, bias.

One account for `coverage_simulated`, whose truth is simulated, and `coverage_on_pools`, whose truth is a pool of real words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

ANSWER = ("estimate", "low", "high", "p_value", "seconds", "converged", "quick")
"""What one answer may hold beside its labels; a test has a p-value and no interval."""


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
        One for each table, method and quantity: ``method``, the labels, and any of `ANSWER`.
    truth : mapping of labels (a tuple of texts) to number
    methods : sequence of str
    prob : float in (0, 1)
        Of the intervals; a test calls at ``p < 1 - prob``.
    labels : sequence of str
        What the keys of `truth` are called.

    Returns
    -------
    DataFrame
        One row per method and quantity that it has answers about: ``method``, the labels, ``truth, tables, coverage,
        coverage_se, called, called_se, wrong_sign, wrong_sign_se, bias, bias_se, rmse, rmse_se, width, width_se, seconds,
        converged, quick``; ``_se`` are standard errors by the number of tables.
    """
    import pandas as pd

    columns = ["method", *labels, *ANSWER]
    frame = pd.DataFrame(rows, columns=columns).astype(dict.fromkeys(ANSWER, float))
    groups = {key: part for key, part in frame.groupby(["method", *labels], sort=False)}
    out = []
    for method in methods:
        for key, true in truth.items():
            part = groups.get((method, *key))
            if part is None:
                continue
            about = dict(zip(labels, key, strict=True))
            out.append({"method": method, **about, **_account(part, true, prob)})
    names = [
        "method", *labels, "truth", "tables", "coverage", "coverage_se", "called", "called_se", "wrong_sign",
        "wrong_sign_se", "bias", "bias_se", "rmse", "rmse_se", "width", "width_se", "seconds", "converged", "quick",
    ]  # fmt: skip
    return pd.DataFrame(out).reindex(columns=names)


def _account(part: pd.DataFrame, true: float, prob: float) -> dict[str, Any]:
    n = len(part)
    row: dict[str, Any] = {"truth": true, "tables": n}
    if part["p_value"].isna().all():
        covered = ((part["low"] <= true) & (true <= part["high"])).mean()
        above, below = (part["low"] > 0).mean(), (part["high"] < 0).mean()
        called = above + below
        off = part["estimate"] - true
        row |= {"coverage": covered, "coverage_se": standard_error_of_share(covered, n)}
        if true:
            wrong = below if true > 0 else above
            row |= {"wrong_sign": wrong, "wrong_sign_se": standard_error_of_share(wrong, n)}
        width, rmse = part["high"] - part["low"], float(np.sqrt((off**2).mean()))
        row |= {"bias": off.mean(), "rmse": rmse, "width": width.mean()}
        if n > 1:
            row |= {
                "bias_se": part["estimate"].std(ddof=1) / np.sqrt(n),
                "width_se": width.std(ddof=1) / np.sqrt(n),
            }
            # Of a root the error is that of the square over twice the root (delta method).
            row |= {"rmse_se": (off**2).std(ddof=1) / np.sqrt(n) / (2 * rmse)} if rmse > 0 else {}
    else:
        called = (part["p_value"] < 1 - prob).mean()
    seconds = part["seconds"].dropna()
    row |= {
        "seconds": seconds.median() if len(seconds) else float("nan"),
        "converged": part["converged"].mean(),
    }
    row["quick"] = part["quick"].mean()
    return {**row, "called": called, "called_se": standard_error_of_share(called, n)}


def engine_in_words(frame: pd.DataFrame, engine: str) -> str:
    """Say what sampled the fits of an account; empty where there are none.

    Parameters
    ----------
    frame : DataFrame
        With the columns ``method, tables, quick``.
    engine : {"quick", "nuts"}
        What was asked for.
    """
    fits = frame[frame["quick"].notna()].drop_duplicates("method")
    if fits.empty:
        return ""
    if engine == "nuts":
        return "Fits by NUTS."
    taken = [
        f"of {row.method} in {1 - row.quick:.1%} of {row.tables:,}"
        for row in fits.itertuples()
        if row.quick < 1
    ]
    rest = (
        f"where its weights were not to be trusted NUTS took over: {', '.join(taken)}"
        if taken
        else "in every one"
    )
    return f"Fits by the quick engine (importance sampling), {rest}."
