"""Placebo comparisons: the words of one group, split at random into two halves.

Halves differ by chance only, so that intervals for new words should exclude 0 as often as their
probability allows.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from bayesbias.core import InputError, checks
from bayesbias.core.conventions import PROB
from bayesbias.core.progress import ticking
from bayesbias.studies.responses.fitting import fit_responses
from bayesbias.studies.responses.table import Responses

HALVES = ("half 1", "half 2")
LEAST = 4  # words: two of each half
RANGE = 0.95  # probability of the range of counts
SAMPLING = {"draws": 250, "chains": 2, "engine": "quick"}


def fit_placebo(
    table: Responses,
    group: str,
    *,
    splits: int = 20,
    seed: int = 0,
    prob: float = PROB,
    progress: bool | None = None,
    **sampling: Any,
) -> pd.DataFrame:
    """Fit the difference of two random halves of the words of one group, again and again.

    Parameters
    ----------
    table : Responses
        From `bayesbias.responses_table` or `load_responses`.
    group : str
        A group with four words or more. Of crossed factors it is a cell, such as ``female, asian``.
    splits : int
        How many random splits are fitted.
    seed : int
        Seed of the splits and the fits.
    prob : float in (0, 1)
        Probability of the intervals.
    progress : bool, optional
        Whether to show a bar; by default on a terminal.
    **sampling
        Options of `bayesbias.fit`: ``draws, tune, chains, engine``. By default two chains of 250 draws
        by the quick engine.

    Returns
    -------
    DataFrame
        One row a split and model: ``split, model, mean, hpdi_low, hpdi_high, excludes_zero``, for new
        words, prompts and items. ``attrs`` have ``group, words, prob``; ``excluded`` (how many intervals
        exclude 0), ``expected`` (how many should) and ``range``, which has as many with a probability
        of 95 % if splits are independent.

    Raises
    ------
    InputError
        If the group is unknown or has too few words, or halves cannot be compared.

    Examples
    --------
    >>> import bayesbias as bb
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> rows = [("a", f"w{w}", f"t{t}", rng.normal()) for w in range(8) for t in range(4)]
    >>> rows += [("b", f"v{w}", f"t{t}", rng.normal()) for w in range(8) for t in range(4)]
    >>> answers = dict(zip(("group", "word", "template", "outcome"), zip(*rows)))
    >>> found = bb.studies.fit_placebo(bb.responses_table(answers), "a", splits=2, progress=False)
    >>> found["split"].tolist(), found.attrs["expected"]
    ([1, 2], 0.22)
    """
    checks.instance(table, Responses, "table", "what responses_table or load_responses returns")
    checks.choice(group, table.groups, "group")
    checks.count(splits, "splits")
    checks.probability(prob)
    frame = table.frame[table.frame["group"] == group]
    words = frame["word"][frame["word"].ne("")].unique()
    if len(words) < LEAST:
        problem = f"expected a group with {LEAST} {table.noun}s or more, got {len(words)}"
        raise InputError(problem, where=group, hint="name their column: --columns word=NAME")

    rows = []
    with ticking("fitting splits", splits, progress, long_steps=True) as tick:
        for split in range(1, splits + 1):
            own = checks.derived_seed(checks.seed(seed), split)
            halves = split_in_two(table, frame, words, own)
            result = fit_responses(halves, seed=own, progress=False, **{**SAMPLING, **sampling})
            if result.fit is None:
                raise InputError(f"split {split}: {result.notes[-1]}", where=group)
            found = result.contrasts(prob, "population", "overall", families=False)
            found = found[found["scale"].eq(result.main_scale) & found["model"].isin(table.models)]
            found = found[found["contrast"] == " - ".join(HALVES)]
            ends = found[["model", "mean", "hpdi_low", "hpdi_high"]]
            rows.append(ends.assign(split=split))
            tick(1)

    out = pd.concat(rows, ignore_index=True)
    out = out[["split", "model", "mean", "hpdi_low", "hpdi_high"]]
    out["excludes_zero"] = (out["hpdi_low"] > 0) | (out["hpdi_high"] < 0)
    out.attrs |= {"group": group, "words": len(words), "prob": prob}
    out.attrs |= expected_by_chance(int(out["excludes_zero"].sum()), len(out), prob)
    return out


def split_in_two(table: Responses, frame: pd.DataFrame, words: np.ndarray, seed: int) -> Responses:
    """Return a table of two groups: random halves of the words of one group."""
    shuffled = np.random.default_rng(seed).permutation(len(words))
    half = dict(zip(words, np.where(shuffled < len(words) // 2, *HALVES), strict=True))
    frame = frame[frame["word"].ne("")]
    frame = frame.assign(group=frame["word"].map(half)).reset_index(drop=True)
    counts = frame["group"].value_counts()
    groups = {name: {"read": int(counts[name]), "used": int(counts[name])} for name in HALVES}
    return replace(
        table,
        frame=frame,
        coverage={**table.coverage, "groups": groups},
        factors={},
        published="",
        published_scores=None,
        answer_counts=None,
        notes=(),
    )


def expected_by_chance(excluded: int, n: int, prob: float) -> dict[str, Any]:
    """Return how many of n intervals exclude 0, how many are expected to, and their range.

    Examples
    --------
    >>> expected_by_chance(3, 20, 0.89)
    {'excluded': 3, 'expected': 2.2, 'range': (0, 5)}
    """
    from scipy import stats

    low, high = stats.binom.interval(RANGE, n, 1 - prob)
    expected = round(n * (1 - prob), 6)
    return {"excluded": excluded, "expected": expected, "range": (int(low), int(high))}
