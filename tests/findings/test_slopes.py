"""What is said of slopes on covariates."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pytest
from helpers.draws import made_up_comparison
from helpers.fits import made_up, pairs
from helpers.tables import grid, opinions, with_covariates

import bayesbias as bb
from bayesbias.findings.of_result import findings_of
from bayesbias.findings.slopes import sentences_of_slopes
from bayesbias.findings.words import findings_of_words
from bayesbias.models.slopes import with_slopes
from bayesbias.tables.covariates import with_covariates_known


@pytest.mark.parametrize(
    ("slope", "said"), [(0.05, "it rises"), (-0.05, "it falls"), (0.0, "unclear which way")]
)
def test_the_first_contrast_is_said_with_its_direction(slope, said):
    spec = with_slopes("crossed", "year")
    values = {"slope_year_connection": lambda connection: slope if connection == "associated" else 0.0}
    scales = {name: 0.1 for name, about in spec.parameters.items() if about.positive}
    sentence, at = sentences_of_slopes(made_up(with_covariates(pairs()), spec, scales | values), 0.89)
    assert at.startswith("All differences above are of words with the year that the listed ones have")
    found = re.search(r"associated - different changes by ([-+]?[\d.]+) \(", sentence)
    assert found, sentence
    assert abs(float(found[1]) - slope) < 0.005
    assert sentence.endswith(f": {said}), on average over new words.")


def test_of_classifiers_each_has_its_own_sentence():
    spec = with_slopes("sentiment", "pay")
    table = opinions().assign(pay=lambda own: own["profession"].str[1].astype(float) - 1.5)
    scales = {name: 0.1 for name, about in spec.parameters.items() if about.positive}
    values = {"slope_pay_classifier": lambda name: 0.2 if name == "a" else -0.2}
    fit = made_up(table, spec, scales | values, sd=0.001)
    said = sentences_of_slopes(fit, 0.89)
    assert all(text.startswith("With one more of pay, in the unit of the table's column, ") for text in said)
    joined = {"table": {"covariates": {"pay": {"scale": 3.21}}}}
    known = dataclasses.replace(fit, provenance={**fit.provenance, **joined})
    assert "(3.21 in its own unit)" in sentences_of_slopes(known, 0.89)[0]
    of_table = {"table": {"covariates": {"pay": {"unit": "euros an hour", "scale": 3.21}}}}
    known = dataclasses.replace(fit, provenance={**fit.provenance, **of_table})
    assert "(3.21 euros an hour)" in sentences_of_slopes(known, 0.89)[0]
    assert [text.split(" changes by ")[0].rpartition(", ")[2] for text in said] == [
        "the difference of a",
        "the difference of b",
    ]
    assert ["it rises" in said[0], "it falls" in said[1]] == [True, True]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("known", "said"), [(5, "only 5 of 12 stereotypes of x have the covariate age."), (8, None)]
)
def test_the_headline_says_of_which_list_few_words_have_the_covariate(known, said):
    groups = {
        name: {
            "protected": [f"{name}{i}" for i in range(4)],
            "attributes": [f"{name}-{i}" for i in range(12)],
        }
        for name in "xy"
    }
    rng = np.random.default_rng(1)
    words = [word for group in groups.values() for own in group.values() for word in own]
    ages = {f"y-{i}": i for i in range(12)} | {f"x-{i}": i for i in range(known)}
    vectors = {word: rng.normal(size=8) for word in words}
    table = bb.distance_table(vectors, groups, controls="none", covariates={"age": ages})
    spec = with_slopes("default", "age")
    left = with_covariates_known(table, ["age"])
    scales = {name: 0.1 for name, about in spec.parameters.items() if about.positive}
    fit = made_up(left.frame, spec, scales, seed=2)
    fit = dataclasses.replace(fit, provenance={**fit.provenance, "coverage": left.coverage.as_dict()})
    found = findings_of_words(fit)
    assert (said is not None) == ("Many words are missing" in found.headline)
    assert said is None or said in found.headline
    covariates = [
        {"kind": "most", "side": "attribute", "name": "x", "listed": 12, "found": 5, "covariate": "age"}
    ]
    assert found.as_dict()["losses"] == (covariates if said else [])
    (sentence,) = [line for line in found.lines() if "50 is chance" in line]
    assert sentence.endswith("; 50 is chance; of words whose age is spread as among those fitted here).")
    if said is None:
        return
    # Of a comparison those that the debiased vectors lack are not those without the covariate.
    fewer = bb.distance_table(
        {word: vectors[word] + 0.1 for word in words if word not in [f"y-{i}" for i in range(9)]},
        groups,
        controls="none",
    )
    both = made_up_comparison(table, {"few": fewer}, model=with_slopes("change", "age"))
    (part,) = findings_of(both).parts
    gone = {"kind": "most", "side": "attribute", "name": "y", "listed": 12, "found": 3}
    assert [loss.as_dict() for loss in part.losses] == [gone, *covariates]
    without = ", ".join(f"x-{i}" for i in range(known, 12))
    assert part.notes[0] == f"left out of the fit, since they have no age: {without}"
    assert not any("only in few" in note for note in part.notes)


def test_a_slope_by_class_alone_says_that_no_contrast_of_a_class_has_one():
    spec = with_slopes("default", "year", ["protected_class"])
    scales = {name: 0.1 for name, about in spec.parameters.items() if about.positive}
    own = {"slope_year_protected_class": lambda name: 0.1 if name == "class0" else -0.1}
    fit = made_up(with_covariates(grid()), spec, scales | own, sd=1e-5)
    sizes, said, _ = sentences_of_slopes(fit, 0.89)
    assert sizes.startswith(
        "With one more of year, in the unit of the table's column, all mean distances of a class differ by: "
    )
    assert "class0 +0.1" in sizes
    assert "class1 -0.1" in sizes
    assert said.startswith("All connections of a class have one slope on year, by the form of the model")
    assert "(year:protected_class,connection)" in said
