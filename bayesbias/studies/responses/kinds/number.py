"""Answers that are numbers, such as scores and probabilities: each answer is a row of the fit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from bayesbias.studies.responses import table as tables
from bayesbias.studies.responses.kinds.kind import Kind, rope_of
from bayesbias.studies.responses.table import Responses

if TYPE_CHECKING:
    from bayesbias.studies.responses.fitting import ResponsesResult


class Number(Kind):
    """Any numbers."""

    name = "number"
    model = "responses"

    def recognizes(self, table: Responses) -> bool:
        """Whether a table has answers of this kind."""
        return True

    def default_rope(self, table: Responses, rows: pd.DataFrame) -> float:
        """Return a tenth of the SD of the answers, or of differences where groups are matched.

        What all groups share moves answers from question to question, and no difference.
        """
        if table.matching is None:
            return rope_of(table.frame["outcome"])
        differences, _ = tables.differences(table)
        means = differences.groupby("series")["outcome"].transform("mean")
        return rope_of(differences["outcome"] - means)

    def tests(self, table: Responses, rows: pd.DataFrame) -> list[tuple[Any, ...]]:
        """Return the published tests: paired where each group has one answer to a question."""
        if table.matching is None:
            return tables.tests_of_all(table)
        differences, _ = tables.differences(table)
        return tables.paired_tests(table, differences)

    def rows_in_words(self, result: ResponsesResult) -> str:
        """Say what was modeled."""
        return f"the {result.responses.outcome} of {len(result._fitted().table):,} answers"
