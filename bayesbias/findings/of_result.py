"""What any result says: one verb for all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from bayesbias.core import checks
from bayesbias.core.errors import InputError
from bayesbias.findings.change import findings_of_change
from bayesbias.findings.parts import Findings
from bayesbias.findings.sentences import findings_of_sentences
from bayesbias.findings.sentiment import findings_of_sentiment
from bayesbias.findings.wefat import findings_of_wefat
from bayesbias.findings.words import findings_of_words
from bayesbias.inference.estimands import PROB, ROPE
from bayesbias.inference.posterior import BiasFit
from bayesbias.studies.comparison import Comparison
from bayesbias.studies.kinds import kind_of
from bayesbias.studies.seat_result import SeatResult
from bayesbias.studies.sentiment import SentimentAnalysis
from bayesbias.studies.wefat import WefatResult
from bayesbias.tables.pair_table import PairTable

__all__ = ["finding", "findings_of"]

# Kind -> what says it, of a result, a probability and a ROPE.
FINDINGS: Mapping[str, Callable[[Any, float, float], Findings]] = {
    "words": findings_of_words,
    "sentences": lambda result, prob, rope: findings_of_sentences(result),
    "sentiment": lambda result, prob, rope: findings_of_sentiment(result, prob),
    "change": findings_of_change,
    "wefat": lambda result, prob, rope: findings_of_wefat(result),
}


def findings_of(
    result: BiasFit | Comparison | SeatResult | SentimentAnalysis | WefatResult,
    prob: float = PROB,
    rope: float = ROPE,
) -> Findings:
    """Say what a result says: headline, sentences, doubts, problems and notes, each in its place.

    Parameters
    ----------
    result : BiasFit, Comparison, SeatResult, SentimentAnalysis or WefatResult
    prob : float in (0, 1)
        Probability of the HPDIs; of sentence and single-category tests it is that of the result.
    rope : float > 0
        Half-width of the region of practical equivalence, in cosine distance.

    Returns
    -------
    Findings
        ``lines()`` is what the command line prints and ``result.txt`` holds.

    Raises
    ------
    InputError
        For anything else.

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.distance_table("minilm-static", "religion", controls="none")
    >>> found = findings_of(bb.fit(table, "crossed", seed=1, draws=500, chains=2, pointwise=False))
    >>> [(doubt.kind, str(doubt.effect), doubt.model) for doubt in found.doubts]
    [('class_and_attribute', 'too narrow', 'default')]
    """
    kind = kind_of(result)
    if kind is None:
        raise InputError(
            "says nothing by itself",
            found=type(result).__name__,
            valid="a fit, a comparison, a sentiment analysis, or the result of sentence or single-category tests",
            hint="fit the table first: findings_of(fit(table))" if isinstance(result, PairTable) else None,
        )
    prob = checks.probability(prob)
    rope = checks.positive(rope, "rope")
    return FINDINGS[kind](result, prob, rope)


def finding(result: Any, prob: float = PROB, rope: float = ROPE) -> str:
    """Say the main result in one sentence: the headline of `findings_of`, whose parameters these are.

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.distance_table("minilm-static", "religion", controls="none")
    >>> fit = bb.fit(table, seed=1, draws=100, tune=100, chains=2)
    >>> bb.finding(fit).split(":")[0]
    'religion in minilm-static'
    """
    return findings_of(result, prob, rope).headline
