"""The page on several classifiers: every bullet says whose it is."""

from __future__ import annotations

import pytest
from helpers.classifiers import toy
from helpers.draws import made_up_fit

import bayesbias as bb
from bayesbias.report.sentiment import of_sentiment


@pytest.mark.parametrize("several", [False, True])
def test_beside_those_of_another_classifier_a_sentence_names_its_own(several):
    """Two bullets of one wording could not be told apart."""
    given = [bb.shipped_predictions("m1"), *([toy("other")] if several else [])]
    table = bb.sentiment_table(*given)
    fit = bb.studies.with_analysis(made_up_fit(table, "sentiment"), bb.published_analysis(*given))
    bullets = of_sentiment(fit, 0.89).answer.sentences
    assert len(bullets) > 4
    assert any(text.startswith("The paired t-test") for text in bullets) == (not several)
    if several:
        assert [text for text in bullets if not text.startswith(("m1", "other"))] == []
