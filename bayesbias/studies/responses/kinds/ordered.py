r"""Answers that are ratings in order: a cumulative logit with the same cuts for all answers.

With the levels :math:`v_0 < v_1 < \ldots`, the mean rating is :math:`v_0 + \sum_k (v_k - v_{k-1}) P(y \ge
v_k)`. Each probability is that of a 0/1 answer whose log odds are lower by the cut. So effects that are not
held are integrated out as in `bayesbias.studies.responses.kinds.choice`.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from bayesbias.core import FitError, InputError
from bayesbias.inference.estimates import estimates, keyed_draws, labeled_draws
from bayesbias.inference.linear import Key
from bayesbias.models.outcomes import MOST_LEVELS, cuts_of
from bayesbias.models.spec import ModelSpec
from bayesbias.models.variants import with_levels
from bayesbias.studies.responses import table as tables
from bayesbias.studies.responses.kinds.choice import STEEPEST, probabilities
from bayesbias.studies.responses.kinds.kind import LITTLE_PROBABILITY, Kind, Means
from bayesbias.studies.responses.table import Responses

if TYPE_CHECKING:
    from bayesbias.studies.responses.fitting import ResponsesResult


class Ordered(Kind):
    """Ratings of a few levels in order; only where its model is asked for."""

    name = "ordered"
    model = "responses_ordered"
    modeled = "level"
    values = "ordered ratings"
    words_by_group = False  # the model has an effect of group by word

    def recognizes(self, table: Responses) -> bool:
        """Whether a table has answers of this kind: numbers are the default for ratings."""
        return False

    def check(self, table: Responses) -> None:
        """Refuse answers that are not a few levels."""
        if table.levels:
            return
        values = table.frame["outcome"].unique()
        problem = f"expected 3 to {MOST_LEVELS} whole numbers as levels"
        if table.weighted:
            raise InputError(
                f"{problem}, got means of several answers",
                where=table.outcome,
                hint="leave out weight",
            )
        shown = ", ".join(f"{value:g}" for value in np.sort(values)[:5])
        raise InputError(
            f"{problem}, got {len(values)} ({shown}{', ...' if len(values) > 5 else ''})",
            where=table.outcome,
            hint="leave out --model ordered (model=)",
        )

    def levels(self, table: Responses) -> Sequence[float]:
        """Return the ratings in order."""
        return table.levels

    def rows(self, table: Responses, repeats: bool) -> tuple[pd.DataFrame, list[str]]:
        """Return one row an answer, with its level, from 0 on."""
        rows = tables.answers(table, words_by_group=self.words_by_group)
        level = np.searchsorted(table.levels, rows["outcome"])
        return rows.assign(level=level.astype(float)), []

    def averages_repeats(self, table: Responses) -> bool:
        """Return False: each answer is a row."""
        return False

    def questions(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Return one row a question, with the mean rating."""
        return tables.means_of_questions(rows.drop(columns=self.modeled))

    def nothing_to_fit(self, table: Responses, rows: pd.DataFrame) -> str:
        """Say nothing: levels have a model whatever the answers are."""
        return ""

    def in_units(self, spec: ModelSpec, rows: pd.DataFrame) -> ModelSpec:
        """Return the model with the cuts of the table, and its priors around those of all answers."""
        return with_levels(spec, np.bincount(rows[self.modeled].astype(int)).tolist())

    def contrasts(self, result: ResponsesResult, means: Means, prob: float) -> list[pd.DataFrame]:
        """Return the contrasts of a level, in mean ratings, in P(at least) and in log odds."""
        fit = result._fitted()
        above: dict[str, list[np.ndarray]] = {}
        added = []
        for name, rows in means.rows.items():
            keys = means.parts[name].keys
            shares, shared = shares_at_least(result, means.estimand, means.level, keys, rows)
            for scale, draws in shares.items():
                above.setdefault(scale, []).append(draws)
            added.append(shared)
        joined = {scale: np.concatenate(parts, axis=-1) for scale, parts in above.items()}
        linear = means.joined.linear
        log_odds = linear.draws(fit.parameter_draws())
        log_odds = (log_odds + np.concatenate(added, axis=-1)).reshape(*fit.shape, -1)

        keys, weights = result._combinations(means)

        def described(scale: str, draws: np.ndarray, rope: float) -> pd.DataFrame:
            labeled = keyed_draws(draws @ weights.toarray().T, keys, "series", means.estimand)
            return estimates(labeled, prob, rope).assign(scale=scale)

        ratings = mean_ratings(result.responses, joined)
        frames = [described(self.scales[0], ratings, result.rope)]
        frames += [described(scale, draws, LITTLE_PROBABILITY) for scale, draws in joined.items()]
        return [*frames, described("log_odds", log_odds, STEEPEST * LITTLE_PROBABILITY)]

    def predicted(self, result: ResponsesResult, new: Any, prob: float, seed: int) -> pd.DataFrame:
        """Refuse: the mean rating of few new answers is no mean of 0/1 answers."""
        problem = "expected numbers or 0/1 answers, got ordered ratings"
        raise FitError(f"predict_mean: {problem}. Fit them as numbers")

    def joint(self, result: ResponsesResult, estimand: str) -> tuple[list[str], np.ndarray]:
        """Return the groups under models, and joint draws of their mean ratings."""
        keys = result._means(estimand, "overall").parts[""].keys
        shares, _ = shares_at_least(result, estimand, "overall", keys)
        return [key[2] for key in keys], mean_ratings(result.responses, shares)

    def shares(self, result: ResponsesResult, estimand: str) -> Mapping[str, np.ndarray]:
        """Return joint draws of P(at least) of the groups under models, by level."""
        keys = result._means(estimand, "overall").parts[""].keys
        return shares_at_least(result, estimand, "overall", keys)[0]

    def second_scale(self, table: Responses) -> tuple[str, str]:
        """Return the scale that a screen has too, P(at least) nearest to one half, and its words."""
        outcomes = table.frame["outcome"].to_numpy()
        middle = min(table.levels[1:], key=lambda level: abs((outcomes >= level).mean() - 0.5))
        return scale_of(middle), f"P({table.outcome} at least {middle:g})"

    def items(self, result: ResponsesResult, level: str, prob: float) -> pd.DataFrame:
        """Return the mean rating of each arm by item or template, for new words and prompts."""
        fit = result._fitted()
        quantities = fit.quantities(level, "population", "arm")
        keys = [quantities.keys[k] for k in fit.order_of(quantities)]
        shares, _ = shares_at_least(result, "population", level, keys)
        draws = mean_ratings(result.responses, shares)
        _, names, arms = zip(*keys, strict=True)
        return estimates(labeled_draws(draws, {"name": names, "arm": arms}), prob)

    def scale_in_words(self, outcome: str) -> str:
        """Return what differs: the mean rating."""
        return f"mean {outcome}"

    def rows_in_words(self, result: ResponsesResult) -> str:
        """Say what was modeled."""
        table = result.responses
        n = len(result._fitted().table)
        return f"the {table.outcome} of {n:,} answers, in {len(table.levels)} ordered levels"


def scale_of(level: float) -> str:
    """Return the name of the scale of P(at least a level)."""
    return f"at_least_{level:g}"


def shares_at_least(
    result: ResponsesResult, estimand: str, level: str, keys: list[Key], rows: Any = slice(None)
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Return draws of the mean probability of each level or more, and what is added to log odds.

    Parameters and shapes are those of `probabilities`; the lowest level is left out.
    """
    fit = result._fitted()
    draws = fit.parameter_draws()
    gaps = {}
    for name, gap in fit.spec.noise.items():
        gaps[name] = draws[gap].reshape(-1) if isinstance(gap, str) else gap

    out: dict[str, np.ndarray] = {}
    for value, cut in zip(result.responses.levels[1:], cuts_of(gaps), strict=True):
        shares, moved = probabilities(result, estimand, level, keys, rows, -cut)
        out[scale_of(value)] = shares
        if len(out) == 1:  # the first cut is at zero
            added = moved
    return out, added


def mean_ratings(table: Responses, shares: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return mean ratings from the probabilities of each level or more."""
    levels = table.levels
    total: Any = levels[0]
    for lower, upper in itertools.pairwise(levels):
        total = total + (upper - lower) * shares[scale_of(upper)]
    return np.asarray(total)
