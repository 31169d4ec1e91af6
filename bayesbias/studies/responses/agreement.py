r"""How far raters agree, such as a person and a model that judges, on the answers that both rated.

Of levels it is the share of equal ratings and Cohen's kappa, :math:`1 - \sum w_{ij} o_{ij} / \sum w_{ij}
e_{ij}`: o are the shares of pairs of ratings, e those by chance, and w is 0 for equal ratings. Else it is 1,
or of levels in order the squared distance of their numbers. Of numbers it is Pearson's r and the intraclass
correlation ICC(2, 1), which also counts that one rater rates higher.

Notes
-----
Sources: Cohen (1960, 1968); Shrout & Fleiss (1979).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from bayesbias.studies.responses.columns import RATER
from bayesbias.studies.responses.table import LABELS, Responses

if TYPE_CHECKING:
    from bayesbias.studies.responses.fitting import ResponsesResult

ALL = "all"  # groups
COLUMNS = ("raters", "group", "rows", "mean_difference")
_FEWEST = 2  # answers for a correlation


def agreement(result: ResponsesResult) -> pd.DataFrame:
    """Return how far each two raters agree, over all answers that both rated and by group.

    Returns
    -------
    DataFrame
        ``raters, group, rows, mean_difference``, and ``equal, kappa`` of levels or ``pearson, icc`` of
        numbers. The difference is that of the first rater from the second.
    """
    table = result.responses
    levels = result.answer_kind.levels(table)
    rows = []
    for first, second in itertools.combinations(table.raters, 2):
        both = rated_by_both(table, first, second)
        parts = [(ALL, both), *both.groupby("group")]
        for group, part in parts:
            a, b = part["first"].to_numpy(), part["second"].to_numpy()
            row = {
                "raters": f"{first} - {second}",
                "group": group,
                "rows": len(part),
                "mean_difference": float((a - b).mean()) if len(part) else np.nan,
            }
            rows.append(row | _measures(a, b, levels))
    more = ["equal", "kappa"] if levels else ["pearson", "icc"]
    return pd.DataFrame(rows, columns=[*COLUMNS, *more])


def rated_by_both(table: Responses, first: str, second: str) -> pd.DataFrame:
    """Return the answers that two raters rated: labels, number of the repeat and covariates, and ratings.

    A covariate that has one value for each rater is what their ratings are adjusted for.
    """
    of_raters = table.frame.groupby(RATER)[[*table.adjust]].nunique().max()
    key = [*LABELS, "repeat", *of_raters.index[of_raters > 1]]
    ratings = []
    for rater in (first, second):
        of_rater = table.frame[table.frame[RATER] == rater]
        ratings.append(of_rater.groupby(key, sort=False)["outcome"].first())
    both = pd.concat(ratings, axis=1, keys=["first", "second"], join="inner")
    return both.reset_index()


def _measures(a: np.ndarray, b: np.ndarray, levels: Sequence[float]) -> dict[str, float]:
    """Return the measures of agreement of two raters."""
    if levels:
        equal = float((a == b).mean()) if len(a) else np.nan
        return {"equal": equal, "kappa": kappa(a, b, levels)}
    return {"pearson": pearson(a, b), "icc": intraclass(a, b)}


def kappa(a: np.ndarray, b: np.ndarray, levels: Sequence[float]) -> float:
    """Return Cohen's kappa; of three levels and more with squared distances as weights.

    Examples
    --------
    >>> yes, no = [1, 1, 0, 0, 1], [1, 0, 0, 0, 1]
    >>> round(kappa(np.array(yes), np.array(no), [0, 1]), 3)
    0.615
    """
    k = len(levels)
    observed = np.zeros((k, k))
    np.add.at(observed, (np.searchsorted(levels, a), np.searchsorted(levels, b)), 1.0)
    by_chance = np.outer(observed.sum(axis=1), observed.sum(axis=0))
    far = np.subtract.outer(np.arange(k), np.arange(k)) ** 2
    expected = float((far * by_chance).sum())
    if not expected:  # all ratings are one level
        return np.nan
    return 1.0 - len(a) * float((far * observed).sum()) / expected


def pearson(a: np.ndarray, b: np.ndarray) -> float:
    """Return Pearson's correlation; NaN where a rater gave one number."""
    if len(a) <= _FEWEST or not a.std() or not b.std():
        return np.nan
    return float(np.corrcoef(a, b)[0, 1])


def intraclass(a: np.ndarray, b: np.ndarray) -> float:
    """Return ICC(2, 1): the share of answers in the variance of single ratings by new raters."""
    n = len(a)
    if n <= _FEWEST:
        return np.nan
    ratings = np.stack([a, b], axis=1)
    grand = ratings.mean()
    of_answers = 2 * float(((ratings.mean(axis=1) - grand) ** 2).sum()) / (n - 1)
    of_raters = n * float(((ratings.mean(axis=0) - grand) ** 2).sum())
    rest = ratings - ratings.mean(axis=1, keepdims=True) - ratings.mean(axis=0) + grand
    error = float((rest**2).sum()) / (n - 1)
    total = of_answers + error + 2 * (of_raters - error) / n
    return (of_answers - error) / total if total else np.nan


def in_words(rows: pd.DataFrame) -> str:
    """Say how far raters agree, for a note."""
    rows = rows[rows["group"] == ALL]
    both = rows[rows["rows"] > 0]
    if both.empty:
        return "No two raters rated the same answer, so that their agreement is not known."
    if len(rows) > 1:
        return _of_pairs_in_words(both)

    row = both.iloc[0]
    about = f"{row['raters']}: on the {row['rows']:,} answers that both rated"
    if "equal" in row:
        said = f"{row['equal']:.0%} are equal (kappa {row['kappa']:.2f})"
    else:
        said = f"r is {row['pearson']:.2f}, and the intraclass correlation {row['icc']:.2f}"
    return f"{about}, {said}. The mean difference is {row['mean_difference']:+.3g}."


def _of_pairs_in_words(both: pd.DataFrame) -> str:
    """Say between which values the agreement of several pairs lies."""
    names = {"equal": "equal ratings", "kappa": "kappa", "pearson": "r", "icc": "intraclass correlation"}  # fmt: skip
    said = []
    for measure, name in names.items():
        if measure in both:
            low, high = both[measure].min(), both[measure].max()
            said.append(f"{name} {low:.2f} to {high:.2f}")
    return f"Agreement of {len(both)} pairs of raters: {', '.join(said)}."
