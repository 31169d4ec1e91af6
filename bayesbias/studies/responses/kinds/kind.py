"""What a kind of answers knows, `Kind`, with what crossed answers have in common.

Of crossed answers each is a row of the fit, and groups are compared after it. A kind says what else
it does: see `bayesbias.studies.responses.kinds.paired`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from bayesbias.core import some
from bayesbias.inference.estimands import combinations, held_overall
from bayesbias.inference.estimates import estimates
from bayesbias.inference.linear import Quantities
from bayesbias.inference.prediction import ESTIMAND, predicted_means
from bayesbias.models.design import Design
from bayesbias.models.spec import ModelSpec
from bayesbias.models.variants import scaled
from bayesbias.studies.responses import table as tables
from bayesbias.studies.responses.table import Responses
from bayesbias.studies.responses.together import joint_draws

if TYPE_CHECKING:
    from bayesbias.studies.responses.fitting import ResponsesResult

LITTLE = 0.1  # of a difference, in SDs of all answers
LITTLE_PROBABILITY = 0.02
_FEWEST = 4  # rows of a fit


@dataclass(frozen=True)
class Means:
    """The means of arms at one level, under one estimand.

    Attributes
    ----------
    estimand, level : str
        Of `bayesbias.fit_responses`.
    parts : Mapping of str to Quantities
        Means over all rows under the name ``""``. Under the name of a contrast, those over the
        rows that both of its sides answered.
    rows : Mapping of str to mask or slice
        The rows of each part.
    pairs : list, optional
        What is compared: model, label, and the weight of each arm. By default what is printed.
    """

    estimand: str
    level: str
    parts: Mapping[str, Quantities]
    rows: Mapping[str, Any]
    pairs: list[tuple[str, str, dict[str, float]]] | None = None

    @property
    def joined(self) -> Quantities:
        """The means of all parts, in a row."""
        joined = Quantities.joined([*self.parts.values()])
        if self.level != "overall":  # few answers: the mean of the model, as its interval
            joined = replace(joined, observed=None)
        return joined


@dataclass(frozen=True)
class OneContrast:
    """The contrast whose independent answers are counted.

    Attributes
    ----------
    model, name : str
        The model, or an empty string where models are what differs, and the contrast.
    weights : Mapping of str to float
        The weight of each label of the fit's group.
    rows : ndarray of bool, optional
        The questions that are compared; by default all.
    """

    model: str
    name: str
    weights: Mapping[str, float]
    rows: np.ndarray | None = None


class Kind(ABC):
    """A kind of answers.

    By default the linear predictor is in the unit of the answers. A kind whose model has another,
    such as log odds or a logarithm, overrides `in_units`, which scales priors by the SD of answers,
    and `default_rope`. It also overrides what is asked of the fit: `contrasts`, `predicted`, `joint`
    and `items`. `Choice` is an example.

    Attributes
    ----------
    name : str
        What ``ResponsesResult.kind`` is.
    model : str
        The shipped model that fits it.
    modeled : str
        The column of the rows of the fit that is the outcome of this model. By it a model asks for a
        kind in `ASKED`.
    values : str
        What answers are, in the first line of a table.
    row : str
        What one row of the fit is, in sentences.
    scales : tuple of str
        The scales of its contrasts, first the one of the ROPE and the sentences.
    zero : float, optional
        Where a figure of `items` has its line.
    items_are : str
        What `items` has, at the start of a title.
    question : tuple of str
        The columns that together tell the questions of the fit apart.
    scores_have_t : bool
        Whether a published score without a t is worth a note.
    words_by_group : bool
        Whether a word of two groups is two words, since effects of words are not by group.
    """

    name: str
    model: str
    modeled: str = "outcome"
    values: str = "numbers"
    row: str = "answer"
    scales: tuple[str, ...] = ("outcome",)
    zero: float | None = None
    items_are: str = "Each group"
    question: tuple[str, ...] = ("question",)
    scores_have_t: bool = True
    words_by_group: bool = True

    # -- the table ---------------------------------------------------------------------------------

    @abstractmethod
    def recognizes(self, table: Responses) -> bool:
        """Whether a table has answers of this kind."""

    def check(self, table: Responses) -> None:
        """Refuse a table whose answers a model that was asked for cannot be about."""
        return

    def paired_by(self, table: Responses) -> Sequence[str] | None:
        """Return the columns by which answers of groups are paired; None if they are not."""
        return None

    def columns_of_questions(self, table: Responses) -> Sequence[str]:
        """Return the columns of labels that each model should have answered."""
        return ["template", "item"]

    def shared_by_groups(self, table: Responses) -> list[str]:
        """Return the columns of labels that each group should have been asked about."""
        return tables.shared_labels(table)

    def rows(self, table: Responses, repeats: bool) -> tuple[pd.DataFrame, list[str]]:
        """Return the rows of the fit, and notes on them.

        Parameters
        ----------
        table : Responses
        repeats : bool
            Whether the table repeats questions, and the model has an effect of the question.
        """
        if repeats or table.beside:
            return tables.answers(table), []
        return tables.cells(table, words_by_group=self.words_by_group), []

    def averages_repeats(self, table: Responses) -> bool:
        """Return whether `rows` has the mean of each question's answers, unless repeats are kept."""
        return not table.beside

    def questions(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Return one row a question from the rows of the fit."""
        return tables.means_of_questions(rows)

    def published(self, table: Responses, rows: pd.DataFrame) -> pd.DataFrame:
        """Return what audits publish, a row a score: ``name, score, n, mean_score, t, p_value``.

        All treat their rows as independent.
        """
        if table.published == "answers":
            scores = tables.reply_scores(table)
        else:
            scores = self.tests(table, rows)
        frame = pd.DataFrame(scores, columns=list(tables.SCORES))
        if table.published_scores is None:
            return frame
        first = table.published_scores.reindex(columns=[*tables.SCORES])
        return pd.concat([first, frame], ignore_index=True)

    def tests(self, table: Responses, rows: pd.DataFrame) -> list[tuple[Any, ...]]:
        """Return the published tests of this kind of answers."""
        return tables.tests_of_all(table)

    # -- the model ---------------------------------------------------------------------------------

    def default_rope(self, table: Responses, rows: pd.DataFrame) -> float:
        """Return the half-width of the ROPE: a tenth of the SD of the answers."""
        return rope_of(table.frame["outcome"])

    def nothing_to_fit(self, table: Responses, rows: pd.DataFrame) -> str:
        """Say why there is nothing to fit; empty if there is."""
        y = rows["outcome"].to_numpy()
        if table.frame[tables.ASKED].eq("").all(axis=None):
            others = f" Other columns: {some(table.unused)}." if table.unused else ""
            return (
                "The columns word, template and item are missing, so that all answers about a group "
                "count as one. Name a column that tells them apart: --columns item=NAME, or "
                f"template=NAME of prompts, or word=NAME of names.{others}"
            )
        if len(rows) < _FEWEST:
            return f"There are too few answers for a fit ({len(rows)})."
        if np.ptp(y) <= 1e-12 * max(1.0, np.abs(y).max()):
            return f"All answers agree ({y[0]:.3g}), so that there is nothing to fit."
        return ""

    def in_units(self, spec: ModelSpec, rows: pd.DataFrame) -> ModelSpec:
        """Return a shipped model with its priors in units of the answers, or of their link."""
        y = rows["outcome"].to_numpy()
        center = self.center(y)
        return scaled(spec, center, float(np.sqrt(np.mean((y - center) ** 2))))

    def center(self, y: np.ndarray) -> float:
        """Return the number that the prior of the mean is around."""
        return float(y.mean())

    # -- what is asked of the fit --------------------------------------------------------------------

    def rows_in_common(
        self, result: ResponsesResult, pairs: list[tuple[str, str, dict[str, float]]] | None = None
    ) -> dict[str, np.ndarray]:
        """Return the questions that both sides of a contrast answered, where one answered more."""
        return result._rows_of_both(pairs)

    def weights(self, design: Design, estimand: str) -> np.ndarray:
        """Return the weight of each question in the mean of its group.

        Each prompt with its item has the same weight in all groups, so that groups which met the same
        prompts unequally often are compared on one mix of these. Where prompts and items are new, their
        mix has no effect.
        """
        held = held_overall(design, estimand)
        asked = [column for column in ("template", "item") if column in held & design.codes.keys()]
        if not asked:
            return np.ones(len(design.y))
        columns = [design.spec.results.group, *asked]
        _, cell = combinations([design.codes[column] for column in columns])
        return 1.0 / np.bincount(cell)[cell]

    def contrasts(self, result: ResponsesResult, means: Means, prob: float) -> list[pd.DataFrame]:
        """Return the contrasts of a level, one table a scale."""
        keys, weights = result._combinations(means)
        combined = means.joined.combined(keys, weights)
        answer = result._fitted().answer(combined, means.estimand, "series")
        frame = estimates(answer.draws, prob, result.rope, answer.mixtures, answer.observed)
        return [frame.assign(scale=self.scales[0])]

    def predicted(self, result: ResponsesResult, new: Any, prob: float, seed: int) -> pd.DataFrame:
        """Return the contrasts that new units will show: ``series``, and the estimates."""
        design = result._questions()[1]
        noise = result._noise_of_questions()
        rows: dict[str, Any] = {"": slice(None), **self.rows_in_common(result)}
        parts: dict[str, Quantities] = {}
        for name, chosen in rows.items():
            if name and not chosen.any():  # nothing to compare
                parts[name] = parts[""].chosen([])
                continue
            units = result._new_units(new, chosen)
            part = design.of_rows(chosen)
            effects = result._fitted().scales_and_effects
            parts[name] = predicted_means(part, units, effects, noise[chosen], ["overall"])
        (frame,) = self.contrasts(result, Means(ESTIMAND, "overall", parts, rows), prob)
        return frame

    def joint(self, result: ResponsesResult, estimand: str) -> tuple[list[str], np.ndarray]:
        """Return the groups under models, and joint draws of their means, on the first scale."""
        means = result._means(estimand, "overall").parts[""]
        labels = [key[2] for key in means.keys]
        return labels, joint_draws(result._fitted(), means, estimand)

    def levels(self, table: Responses) -> Sequence[float]:
        """Return the levels of answers, by which raters agree; empty of numbers."""
        return ()

    def shares(self, result: ResponsesResult, estimand: str) -> Mapping[str, np.ndarray]:
        """Return joint draws of more than the means that `joint` has, by name; by default none."""
        return {}

    def second_scale(self, table: Responses) -> tuple[str, str]:
        """Return another scale that a screen has, and its words; empty where there is none."""
        return "", ""

    def items(self, result: ResponsesResult, level: str, prob: float) -> pd.DataFrame:
        """Return the mean of each arm by item or template: ``name, arm``, and the estimates."""
        fit = result._fitted()
        if result.responses.adjust:
            means = result._means("population", level).parts[""]
            return fit.describe(means, "population", "arm", prob)
        return fit.means(level, prob).rename(columns={fit.spec.results.group: "arm"})

    def contrast_of(self, result: ResponsesResult, model: str, name: str) -> OneContrast:
        """Return a contrast as weights, whose independent answers are counted."""
        pairs = [pair for pair in result._pairs() if pair[:2] == (model, name)]
        weights = pairs[0][2]
        rows = result._rows_of_both().get(f"{name} | {model}")
        if rows is not None and not rows.any():
            rows = None
        return OneContrast(model, name, weights, rows)

    # -- words -------------------------------------------------------------------------------------

    def scale_in_words(self, outcome: str) -> str:
        """Return what differs."""
        return outcome

    def headline(self, sentence: str, outcome: str) -> str:
        """Return the sentence of the result, with what it is about where that is not plain."""
        return sentence

    @abstractmethod
    def rows_in_words(self, result: ResponsesResult) -> str:
        """Say what was modeled, such as ``the score of 480 answers``."""


def rope_of(outcomes: pd.Series) -> float:
    """Return a tenth of the SD of numbers, in two digits."""
    return float(f"{LITTLE * outcomes.std(ddof=0):.2g}") or LITTLE_PROBABILITY
