"""What is said of slopes on facts."""

from __future__ import annotations

import pytest
from helpers.fits import made_up, pairs
from helpers.tables import opinions, with_facts

from bayesbias.findings.slopes import sentences_of_slopes
from bayesbias.models.slopes import with_slopes


@pytest.mark.parametrize(
    ("slope", "said"), [(0.05, "it rises"), (-0.05, "it falls"), (0.0, "unclear which way")]
)
def test_the_first_contrast_is_said_with_its_direction(slope, said):
    spec = with_slopes("crossed", "year")
    values = {"slope_year_connection": lambda connection: slope if connection == "associated" else 0.0}
    scales = {name: 0.1 for name, about in spec.parameters.items() if about.positive}
    (sentence,) = sentences_of_slopes(made_up(with_facts(pairs()), spec, scales | values), 0.89)
    assert f"associated - different changes by {slope:+.2f}".rstrip("0") in sentence or slope == 0
    assert sentence.endswith(f": {said}), on average over new words.")


def test_of_classifiers_each_has_its_own_sentence():
    spec = with_slopes("sentiment", "pay")
    table = opinions().assign(pay=lambda own: own["profession"].str[1].astype(float) - 1.5)
    scales = {name: 0.1 for name, about in spec.parameters.items() if about.positive}
    values = {"slope_pay_classifier": lambda name: 0.2 if name == "a" else -0.2}
    said = sentences_of_slopes(made_up(table, spec, scales | values, sd=0.001), 0.89)
    assert [text.split(" changes by ")[0].rpartition(", ")[2] for text in said] == [
        "the difference of a",
        "the difference of b",
    ]
    assert ["it rises" in said[0], "it falls" in said[1]] == [True, True]
