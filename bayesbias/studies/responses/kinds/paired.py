"""Numbers that each group answered to the same question: their differences are the rows of the fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from bayesbias.models.design import Design
from bayesbias.studies.responses import table as tables
from bayesbias.studies.responses.kinds.kind import Kind, Means, OneContrast, rope_of
from bayesbias.studies.responses.table import Responses

if TYPE_CHECKING:
    from bayesbias.studies.responses.fitting import ResponsesResult


class Paired(Kind):
    """Numbers of groups that answered the same questions, such as *he* and *she* in one sentence."""

    name = "paired"
    model = "responses_paired"
    row = "difference"
    zero = 0.0
    items_are = "Differences"
    question = ("question", "series")

    def recognizes(self, table: Responses) -> bool:
        """Whether a table has answers of this kind."""
        return table.pairing is not None

    def paired_by(self, table: Responses) -> Sequence[str] | None:
        """Return the columns by which answers of groups are paired."""
        return table.pairing

    def columns_of_questions(self, table: Responses) -> Sequence[str]:
        """Return the columns of labels that each model should have answered."""
        return tables.ASKED

    def shared_by_groups(self, table: Responses) -> list[str]:
        """Return no columns: questions that a group lacks have no difference, and are counted."""
        return []

    def rows(self, table: Responses, repeats: bool) -> tuple[pd.DataFrame, list[str]]:
        """Return differences of groups, and a note on the questions without one."""
        frame, lacking = tables.differences(table, repeats)
        if not lacking:
            return frame, []
        return frame, [f"{lacking} questions lack the answer of a group and are left out."]

    def tests(self, table: Responses, rows: pd.DataFrame) -> list[tuple[Any, ...]]:
        """Return paired t-tests."""
        return tables.paired_tests(table, self.questions(rows))

    def default_rope(self, table: Responses, rows: pd.DataFrame) -> float:
        """Return the half-width of the ROPE: a tenth of the SD of the differences."""
        questions = self.questions(rows)
        means = questions.groupby("series")["outcome"].transform("mean")
        return rope_of(questions["outcome"] - means)

    def center(self, y: np.ndarray) -> float:
        """Return zero: the prior is of no difference."""
        return 0.0

    def rows_in_common(
        self, result: ResponsesResult, pairs: list[tuple[str, str, dict[str, float]]] | None = None
    ) -> dict[str, np.ndarray]:
        """Return nothing: both sides answered every question that has a difference."""
        return {}

    def weights(self, design: Design, estimand: str) -> np.ndarray:
        """Return ones: both sides of a difference met the same prompt."""
        return np.ones(len(design.y))

    def contrasts(self, result: ResponsesResult, means: Means, prob: float) -> list[pd.DataFrame]:
        """Return the means of the differences, which are the contrasts."""
        if means.pairs is not None:
            return super().contrasts(result, means, prob)
        fit = result._fitted()
        frame = fit.describe(means.joined, means.estimand, "series", prob, result.rope)
        return [frame.assign(scale=self.scales[0])]

    def joint(self, result: ResponsesResult, estimand: str) -> tuple[list[str], np.ndarray]:
        """Return the series, and draws of their means, which the model has independent."""
        means = result._means(estimand, "overall").parts[""]
        answer = result._fitted().answer(means, estimand, "series")
        return [key[2] for key in means.keys], answer.draws.to_numpy()

    def contrast_of(self, result: ResponsesResult, model: str, name: str) -> OneContrast:
        """Return a contrast, which is one series of differences."""
        return OneContrast(model, name, {f"{name} | {model}": 1.0})

    def rows_in_words(self, result: ResponsesResult) -> str:
        """Say what was modeled."""
        return (
            f"{len(result._fitted().table):,} differences between answers to the same question, from "
            f"{len(result.responses.frame):,} answers"
        )
