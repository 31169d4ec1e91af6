"""The page on several classifiers: every bullet says whose it is."""

from __future__ import annotations

import pytest
from helpers.classifiers import toy
from helpers.draws import made_up_fit

import bayesbias as bb
from bayesbias.findings.sentiment import findings_of_sentiment
from bayesbias.report.sentiment import _named


@pytest.mark.parametrize("several", [False, True])
def test_beside_those_of_another_classifier_a_sentence_names_its_own(several):
    """Two bullets of one wording could not be told apart."""
    given = [bb.list_predictions("m1"), *([toy("other")] if several else [])]
    table = bb.sentiment_table(*given)
    fit = bb.studies.with_analysis(made_up_fit(table, "sentiment"), bb.sentiment_analysis(*given))
    parts = findings_of_sentiment(fit).parts
    assert [part.subject for part in parts] == ["m1", "other"][: 1 + several]
    for part in parts:
        sentences = _named(part, several)
        assert any("paired t-test" in text for text in sentences)
        assert all(text.startswith(f"{part.subject}: ") for text in sentences) == several
