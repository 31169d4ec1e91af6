r"""Answers that are 0 or 1: counted by question, and modeled in log odds.

On the scale of probabilities, effects that are not held are integrated out: with :math:`v` the sum of
their variances, a mean over new words is :math:`E[\operatorname{logit}^{-1}(\eta + \sqrt v z)]`, by
Gauss-Hermite quadrature.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from bayesbias.inference.description import outcomes_of_rows
from bayesbias.inference.estimands import levels_of, mean_probabilities
from bayesbias.inference.estimates import estimates, keyed_draws, labeled_draws
from bayesbias.inference.linear import Key
from bayesbias.models.spec import ModelSpec
from bayesbias.models.variants import centered
from bayesbias.studies.responses import table as tables
from bayesbias.studies.responses.kinds.kind import LITTLE_PROBABILITY, Kind, Means
from bayesbias.studies.responses.table import Responses

if TYPE_CHECKING:
    from bayesbias.inference.posterior import BiasFit
    from bayesbias.models.design import Arrays
    from bayesbias.studies.responses.fitting import ResponsesResult

STEEPEST = 4  # slope of log odds on a probability of one half
MOST_PATTERNS = 30  # of covariates
_DRAWS = 1000  # that probabilities are computed for


class Choice(Kind):
    """Answers that are 0 or 1."""

    name = "choice"
    model = "responses_choice"
    modeled = "chosen"
    values = "0/1"
    scales = ("probability", "log_odds")
    words_by_group = False  # the model has an effect of group by word

    def recognizes(self, table: Responses) -> bool:
        """Whether a table has answers of this kind."""
        return table.is_choice

    def levels(self, table: Responses) -> Sequence[float]:
        """Return 0 and 1."""
        return (0.0, 1.0)

    def rows(self, table: Responses, repeats: bool) -> tuple[pd.DataFrame, list[str]]:
        """Return counts of answers by question."""
        return tables.cells(table, words_by_group=self.words_by_group), []

    def averages_repeats(self, table: Responses) -> bool:
        """Return False: all answers to a question are counted."""
        return False

    def questions(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Return the rows: each is a question."""
        return rows

    def default_rope(self, table: Responses, rows: pd.DataFrame) -> float:
        """Return the half-width of the ROPE: a probability of .02."""
        return LITTLE_PROBABILITY

    def nothing_to_fit(self, table: Responses, rows: pd.DataFrame) -> str:
        """Say nothing: rates have a model whatever the answers are."""
        return ""

    def in_units(self, spec: ModelSpec, rows: pd.DataFrame) -> ModelSpec:
        """Return the model with the means of groups around the log odds of all answers.

        Around a rate of one half, rare answers of many groups would count as an effect of the items,
        since one effect costs less than a mean for each group. A mean over new items would then lie
        near one half.
        """
        chosen, answers = rows["chosen"].sum(), rows["answers"].sum()
        return centered(spec, float(np.log((chosen + 0.5) / (answers - chosen + 0.5))))

    def contrasts(self, result: ResponsesResult, means: Means, prob: float) -> list[pd.DataFrame]:
        """Return the contrasts of a level, in probabilities and in log odds."""
        fit = result._fitted()
        parts = []
        for name, rows in means.rows.items():
            keys = means.parts[name].keys
            parts.append(probabilities(result, means.estimand, means.level, keys, rows))
        shares = np.concatenate([part[0] for part in parts], axis=-1)
        shared = np.concatenate([part[1] for part in parts], axis=-1)
        linear = means.joined.linear
        log_odds = linear.draws(fit.scales_and_effects(linear.weights)) + shared
        keys, weights = result._combinations(means)

        def described(scale: str, draws: np.ndarray, rope: float) -> pd.DataFrame:
            labeled = keyed_draws(draws @ weights.toarray().T, keys, "series", means.estimand)
            return estimates(labeled, prob, rope).assign(scale=scale)

        return [
            described("probability", shares, result.rope),
            described("log_odds", log_odds.reshape(*fit.shape, -1), STEEPEST * result.rope),
        ]

    def joint(self, result: ResponsesResult, estimand: str) -> tuple[list[str], np.ndarray]:
        """Return the groups under models, and joint draws of their mean probabilities."""
        keys = result._means(estimand, "overall").parts[""].keys
        draws, _ = probabilities(result, estimand, "overall", keys)
        return [key[2] for key in keys], draws

    def items(self, result: ResponsesResult, level: str, prob: float) -> pd.DataFrame:
        """Return the probability of each arm by item or template, for new words and prompts."""
        fit = result._fitted()
        quantities = fit.quantities(level, "population", "arm")
        keys = [quantities.keys[k] for k in fit.order_of(quantities)]
        draws, _ = probabilities(result, "population", level, keys)
        _, names, arms = zip(*keys, strict=True)
        return estimates(labeled_draws(draws, {"name": names, "arm": arms}), prob)

    def scale_in_words(self, outcome: str) -> str:
        """Return what differs: the probability of the outcome."""
        return "probability" if outcome == "outcome" else f"probability of {outcome}"

    def headline(self, sentence: str, outcome: str) -> str:
        """Return the sentence of the result, with what the probability is of."""
        return sentence if outcome == "outcome" else f"Probability of {outcome}: {sentence}"

    def rows_in_words(self, result: ResponsesResult) -> str:
        """Say what was modeled: answers and questions."""
        return outcomes_of_rows(result._fitted())


def probabilities(
    result: ResponsesResult,
    estimand: str,
    level: str,
    keys: list[Key],
    rows: Any = slice(None),
    moved: np.ndarray | float = 0.0,
) -> tuple[np.ndarray, np.ndarray]:
    """Return draws of mean probabilities, and what replies add to log odds.

    Parameters
    ----------
    result : ResponsesResult
    estimand, level : str
    keys : list of Key
        The means: level, name and arm.
    rows : mask or slice
        The questions that the means are over; by default all.
    moved : ndarray of shape (n,), optional
        What is added to the log odds of all rows.

    Returns
    -------
    (ndarray of shape (chains, draws, keys), ndarray of shape (n, keys))
        Probabilities are computed for some of the draws.
    """
    fit = result._fitted()
    draws = fit.parameter_draws()
    questions, design = result._questions()
    labels, codes, _ = levels_of(design, estimand)[level]

    chains, n = fit.shape
    places = np.arange(chains * n).reshape(chains, n)
    some = places[:, :: min(-(-chains * n // _DRAWS), 4)]

    place = {key[1:]: k for k, key in enumerate(keys)}
    arms = questions["arm"].astype(str).to_numpy()
    names = np.array(labels)[codes[rows]]
    group = np.full(len(codes), -1)
    group[rows] = [place[name, arm] for name, arm in zip(names, arms[rows], strict=True)]

    kept = result._held(level, estimand)
    column, shared = result._shared_by_replies(level, estimand)
    column = column[questions.index]
    means: Any = 0.0
    added = shared
    for share, shift in of_covariates(fit, draws):
        more = (column, shared + (shift + moved)[:, None])
        part, of_part = mean_probabilities(design, draws, kept, more, group, some.ravel())
        means, added = means + share * part, of_part - (shift + moved)[:, None]
    return np.reshape(means, (*some.shape, len(keys))), added


def of_covariates(fit: BiasFit, draws: Arrays) -> list[tuple[float, np.ndarray]]:
    """Return what covariates add to log odds, as shares of the answers and draws.

    Groups are compared on the covariates of all answers. Of many different ones some are taken, from
    the lowest sum to the highest.
    """
    design = fit.design
    slopes = [name for name in design.spec.mu if design.spec.parameters[name].covariate]
    n = int(np.prod(fit.shape))
    if not slopes:
        return [(1.0, np.zeros(n))]
    levers = np.stack([design.covariates[str(design.spec.parameters[s].covariate)] for s in slopes])
    counts = design.trials if design.trials is not None else np.ones(levers.shape[1])
    patterns, pattern = np.unique(levers, axis=1, return_inverse=True)
    shares = np.bincount(pattern.ravel(), counts) / counts.sum()
    values = np.stack([draws[name].reshape(n) for name in slopes], axis=1)
    if len(shares) > MOST_PATTERNS:
        order = np.argsort(values.mean(axis=0) @ patterns)
        middles = (np.arange(MOST_PATTERNS) + 0.5) / MOST_PATTERNS
        taken = order[np.searchsorted(np.cumsum(shares[order]), middles)]
        patterns, shares = patterns[:, taken], np.full(MOST_PATTERNS, 1 / MOST_PATTERNS)
    added = values @ patterns
    return [(float(share), shift) for share, shift in zip(shares, added.T, strict=True)]
