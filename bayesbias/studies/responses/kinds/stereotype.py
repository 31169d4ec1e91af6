"""Answers that follow a stereotype or go against it, as in BBQ: a difference for each context.

Its published scores pool rows. `bayesbias.studies.responses.template_scores` has their intervals.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from bayesbias.studies.responses.kinds.kind import LITTLE_PROBABILITY
from bayesbias.studies.responses.kinds.paired import Paired
from bayesbias.studies.responses.table import Responses
from bayesbias.studies.responses.template_scores import template_scores

if TYPE_CHECKING:
    from bayesbias.studies.responses.fitting import ResponsesResult


class Stereotype(Paired):
    """Answers to contexts that do not decide a question, of which some follow a stereotype."""

    name = "stereotype"
    scores_have_t = False

    def recognizes(self, table: Responses) -> bool:
        """Whether a table has counts of answers by template."""
        return table.answer_counts is not None

    def default_rope(self, table: Responses, rows: pd.DataFrame) -> float:
        """Return the half-width of the ROPE: a share of .02."""
        return LITTLE_PROBABILITY

    def published(self, table: Responses, rows: pd.DataFrame) -> pd.DataFrame:
        """Return the scores that are pooled over rows, in percent."""
        assert table.answer_counts is not None
        frame = template_scores(table.answer_counts, 0.5)
        several = len(table.models) > 1
        names = frame["category"] + ", " + frame["model"] if several else frame["category"]
        pooled: dict[str, Any] = {
            "name": names,
            "score": frame["score"],
            "n": frame["rows"],
            "mean_score": frame["value"],
            "t": np.nan,
            "p_value": np.nan,
        }
        return pd.DataFrame(pooled)[~frame["model"].str.contains(" - ", regex=False)]

    def rows_in_words(self, result: ResponsesResult) -> str:
        """Say what was modeled."""
        return (
            f"the share of stereotyped minus that of counter-stereotyped answers to "
            f"{len(result._fitted().table):,} ambiguous contexts"
        )
