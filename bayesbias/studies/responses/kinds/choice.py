r"""Answers that are 0 or 1: counted by question, and modeled in log odds.

On the scale of probabilities, effects that are not held are integrated out: with :math:`v` the sum of
their variances, a mean over new words is :math:`E[\operatorname{logit}^{-1}(\eta + \sqrt v z)]`, by
Gauss-Hermite quadrature.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from bayesbias.core import FitError
from bayesbias.inference.description import outcomes_of_rows
from bayesbias.inference.estimands import levels_of, mean_probabilities
from bayesbias.inference.estimates import estimates, keyed_draws, labeled_draws
from bayesbias.inference.linear import Key
from bayesbias.inference.prediction import ESTIMAND, NewRows, NewUnits, new_rows
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
_FEWEST_PREDICTED, _MOST_PREDICTED = 2000, 4000  # draws of new answers
_LAYOUTS = 20  # of new units


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
        log_odds = linear.draws(fit.parameter_draws()) + shared
        keys, weights = result._combinations(means)

        def described(scale: str, draws: np.ndarray, rope: float) -> pd.DataFrame:
            labeled = keyed_draws(draws @ weights.toarray().T, keys, "series", means.estimand)
            return estimates(labeled, prob, rope).assign(scale=scale)

        return [
            described("probability", shares, result.rope),
            described("log_odds", log_odds.reshape(*fit.shape, -1), STEEPEST * result.rope),
        ]

    def predicted(self, result: ResponsesResult, new: Any, prob: float, seed: int) -> pd.DataFrame:
        """Return the contrasts that new units will show, in probability: ``series``, and the estimates."""
        fit = result._fitted()
        if fit.design.covariates:
            problem = "expected answers without covariates, which say nothing of those of new ones"
            raise FitError(f"predict_mean: {problem}. Fit without adjust")
        rng = np.random.default_rng([fit.stream, seed, 18])
        new_ones = result._new_units(new)
        size = int(np.prod(fit.shape))
        some = np.arange(size)[:: -(-size // _MOST_PREDICTED)]
        some = rng.permutation(np.repeat(some, -(-_FEWEST_PREDICTED // len(some))))

        both = self.rows_in_common(result)
        parts: dict[str, list[np.ndarray]] = {}
        for draws in np.array_split(some, _LAYOUTS):
            rows = new_rows(new_ones, rng)
            answers = PredictedAnswers.of(result, new_ones, rows, draws, rng)
            for label, values in answers.contrasts(result._pairs(), both).items():
                parts.setdefault(label, []).append(values)

        labels = [label for label, values in parts.items() if len(values) == _LAYOUTS]
        keys: list[Key] = [("overall", "all", label) for label in labels]
        columns = [np.concatenate(parts[label]) for label in labels]
        drawn = np.stack(columns, axis=-1)[None]
        return estimates(keyed_draws(drawn, keys, "series", ESTIMAND), prob)

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


@dataclass(frozen=True, eq=False)
class PredictedAnswers:
    """Draws of the share of answers that are 1, for rows about new units.

    Attributes
    ----------
    arm : ndarray of str, shape (rows,)
    source : ndarray of int, shape (rows,)
        The listed row that each row copies.
    shares : ndarray, shape (n, rows)
    """

    arm: np.ndarray
    source: np.ndarray
    shares: np.ndarray

    @classmethod
    def of(
        cls,
        result: ResponsesResult,
        new: Sequence[NewUnits],
        rows: NewRows,
        some: np.ndarray,
        rng: np.random.Generator,
    ) -> PredictedAnswers:
        """Draw effects of new units, and the answers about them, for some draws of the fit."""
        fit = result._fitted()
        questions, design = result._questions()
        draws, source = fit.parameter_draws(), rows.source
        n = int(np.prod(fit.shape))
        eta = np.zeros((len(some), len(source)))
        for name in design.spec.mu:
            parameter, entry = design.spec.parameters[name], design.index[name][source]
            kinds = [k for k, units in enumerate(new) if {*parameter.dims} & units.columns]
            if not kinds or not design.spec.is_random(name):
                eta += draws[name].reshape(n, -1)[some][:, entry]
                continue
            labels = np.stack([entry, *(rows.copies[k] for k in kinds)])
            cells, cell = np.unique(labels, axis=1, return_inverse=True)
            sd = str(parameter.args["sigma"])
            of_cell = design.parent[name, "sigma"][cells[0]]
            sds = draws[sd].reshape(n, -1)[some][:, of_cell]
            eta += (sds * rng.standard_normal(sds.shape))[:, cell.ravel()]

        # What replies share moves the rates of the table, and once more those of new replies.
        column, shared = result._shared_by_replies("overall", "listed_words")
        column = column[questions.index]
        if shared.shape[1] > 1:
            eta += shared[some][:, column[source]]
            eta += shared[rng.permutation(n)[some]][:, column[source]]
        assert design.trials is not None
        trials = design.trials[source].astype(int)
        shares = rng.binomial(trials, design.outcome_type.expected(eta)) / trials
        return cls(questions["arm"].astype(str).to_numpy()[source], source, shares)

    def contrasts(
        self, pairs: Sequence[tuple[str, str, Mapping[str, float]]], both: Mapping[str, np.ndarray]
    ) -> dict[str, np.ndarray]:
        """Return draws of contrasts by their labels, on the questions that both sides answered."""
        out = {}
        means: dict[str, dict[str, np.ndarray]] = {}
        for model, name, arms in pairs:
            label = f"{name} | {model}"
            part = label if label in both else ""
            if part not in means:
                chosen = both[part][self.source] if part else np.ones(len(self.source), dtype=bool)
                means[part] = self.means(chosen)
            if all(arm in means[part] for arm in arms):
                out[label] = sum(
                    (weight * means[part][arm] for arm, weight in arms.items()), np.zeros(1)
                )
        return out

    def means(self, chosen: np.ndarray) -> dict[str, np.ndarray]:
        """Return draws of the mean share of each arm, over some of the rows."""
        arms = dict.fromkeys(self.arm[chosen].tolist())
        return {arm: self.shares[:, chosen & (self.arm == arm)].mean(axis=1) for arm in arms}


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
    weights = np.zeros(len(group))
    weights[rows] = result.answer_kind.weights(design.of_rows(rows), estimand)
    means: Any = 0.0
    added = shared
    for share, shift in of_covariates(fit, draws):
        more = (column, shared + (shift + moved)[:, None])
        part, of_part = mean_probabilities(design, draws, kept, more, group, some.ravel(), weights)
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
