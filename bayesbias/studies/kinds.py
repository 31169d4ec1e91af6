"""The kinds of results: told apart here and nowhere else.

A new study brings a row. Every folder that does something with any result has a table from these
names to what it does: `findings.of_result`, `figures.saving`, `runs.kinds` and `report.page`. A
test holds that none lacks a row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from bayesbias.inference.posterior import BiasFit
from bayesbias.studies.debiasing.comparison import Comparison
from bayesbias.studies.sentences.result import SeatResult
from bayesbias.studies.sentiment.analysis import SentimentAnalysis
from bayesbias.studies.sentiment.fitting import is_sentiment
from bayesbias.studies.wefat.result import WefatResult

__all__ = ["KINDS", "kind_of"]


def _is_fit_of_sentiment(result: object) -> bool:
    return isinstance(result, BiasFit) and is_sentiment(result)


# In the order of the columns of docs/architecture.md; each result is of one kind.
KINDS: Mapping[str, Callable[[object], bool]] = {
    "words": lambda result: (
        isinstance(result, BiasFit)
        and not is_sentiment(result)
        and "protected_word" in result.table
    ),
    "sentences": lambda result: isinstance(result, SeatResult),
    "sentiment": lambda result: (
        isinstance(result, SentimentAnalysis) or _is_fit_of_sentiment(result)
    ),
    "change": lambda result: isinstance(result, Comparison),
    "wefat": lambda result: isinstance(result, WefatResult),
}


def kind_of(result: object) -> str | None:
    """Return the kind of a result; None of what is none."""
    return next((kind for kind, holds in KINDS.items() if holds(result)), None)
