"""What is said where intervals of the listed words exclude what was observed."""

from __future__ import annotations

import pytest
from helpers.fits import made_up, pairs
from helpers.seeds import shifted

import bayesbias as bb
from bayesbias.findings.outside import outside_doubts
from bayesbias.findings.words import findings_of_words


@pytest.mark.slow
def test_a_fit_that_misses_its_words_is_doubted():
    table = pairs()
    means = table.groupby(["protected_word", "connection"])["distance"].mean()
    cells = {"c": lambda word, connection: means[word, connection] + 0.1}
    far = made_up(table, "hierarchical", cells, sd=0.001)
    doubts = [doubt for doubt in findings_of_words(far).doubts if doubt.kind == "observed_excluded"]
    assert [doubt.level for doubt in doubts] == ["class", "word"]
    assert doubts[1].text.startswith(
        "the model takes protected words for more alike than they are: 24 of 24 of its 89% intervals"
    )
    near = made_up(table, "hierarchical", {"c": lambda *entry: means[entry]}, sd=0.001)
    assert not [doubt for doubt in findings_of_words(near).doubts if doubt.kind == "observed_excluded"]


@pytest.mark.slow
def test_the_professions_of_m1_are_drawn_together():
    """They differ by little beyond the noise of their pairs, as a model that holds would have it: that is said, and no doubt."""
    table = bb.sentiment_table(bb.list_predictions("m1"))
    fit = bb.fit(table, "sentiment", seed=shifted(1), draws=1000, tune=500)
    assert outside_doubts(fit, {"profession": "professions", "noun_pair": "noun pairs"}, groups=["m1"]) == []
    (said,) = [text for text in bb.findings_of(fit).parts[0].lines() if "draws them together" in text]
    found = bb.inference.excluded_observed(fit, "profession", group="m1")
    assert (found.far_too_often, found.too_alike) == (True, False)
    assert f"and {found.excluded} of 20 of its 89% intervals" in said
    assert f"(by the model about {found.expected:.0f} would)" in said
    assert found.expected == pytest.approx(found.excluded, abs=4)
