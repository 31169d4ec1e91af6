"""What answers hold for follows what a model's file holds; a forced difference is found by the form of the model."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from helpers.fits import made_up, pairs

import bayesbias as bb
from bayesbias.inference.estimands import (
    asked_quantities,
    has_new_words,
    has_word_effects,
    holds_for,
    same_for_all_words,
)
from bayesbias.inference.priors import usual_pairs
from bayesbias.inference.view import sure_ends
from bayesbias.models.design import Design
from bayesbias.models.variants import with_slopes

MODELS = [
    name
    for name in bb.models.list_models()
    if bb.load_model(name).outcome == "distance"
    and usual_pairs(bb.load_model(name)) is not None
    and bb.load_model(name).results.group == "connection"
    and bb.load_model(name).results.levels["class"].population
]


@pytest.mark.parametrize("name", MODELS)
def test_one_difference_for_all_is_what_draws_from_the_prior_show(name):
    """Contrasts of the classes, from draws of the parameters: equal in every draw or not."""
    spec = bb.load_model(name)
    table = usual_pairs(spec)
    design = Design.of(spec, table)
    asked = asked_quantities(design, "population", contrasted=True)
    rng = np.random.default_rng(1)
    draws = {p: rng.uniform(0.5, 1.5, (3, *design.shape(p))) for p in spec.parameters}
    mine = [(key[0], key[2]) == ("class", "associated - different") for key in asked.keys]
    values = asked.linear.draws(draws)[:, mine]
    assert values.shape[1] == 3
    equal = bool(np.allclose(values, values[:, :1]))
    assert same_for_all_words(spec) is equal
    assert has_new_words(spec) is not equal


@pytest.mark.parametrize(
    ("model", "level", "estimand", "says"),
    [
        ("default", "overall", "population", "new words"),
        ("default", "class", "population", "new words of the class"),
        ("default", "attribute_set", "population", "new words, and new attributes of the list"),
        ("default", "word", "population", "new attributes"),
        ("crossed", "class", "population", "its listed words, new attributes"),
        ("shared", "word", "population", "new attributes"),
        ("default", "class", "listed_words", "listed words"),
        ("default", "class", "one_new_word", "one new word"),
        ("sentence", "overall", "new_templates", "new templates"),
        ("sentence", "template", "population", "new words"),
        ("additive", "overall", "population", "the listed words"),
        ("additive", "class", "population", "its listed words"),
        ("additive", "word", "population", "the listed attributes"),
    ],
)
def test_answers_hold_for_what_is_not_held(model, level, estimand, says):
    assert holds_for(bb.load_model(model), level, estimand) == says


def test_only_a_model_with_a_spread_of_words_speaks_of_new_ones():
    without = {
        name for name in bb.models.list_models() if not has_word_effects(bb.load_model(name))
    }
    assert without == {"additive"}
    assert has_word_effects(with_slopes("additive", "age", varying=["attribute"]))
    fit = made_up(pairs(), "additive")
    means = {
        estimand: fit.summary(estimand=estimand)["sd"].tolist()
        for estimand in ("population", "listed_words")
    }
    assert means["population"] == means["listed_words"]


def test_ends_are_known_to_twice_their_error_where_it_is_known():
    row = SimpleNamespace(hpdi_low=-0.1, hpdi_high=-0.001, mcse_low=0.01, mcse_high=0.002)
    assert np.allclose(sure_ends(row), (-0.12, 0.003))
    row = SimpleNamespace(
        hpdi_low=-0.1, hpdi_high=-0.001, mcse_low=float("nan"), mcse_high=float("nan")
    )
    assert sure_ends(row) == (-0.1, -0.001)
    assert sure_ends(SimpleNamespace(hpdi_low=1.0, hpdi_high=2.0)) == (1.0, 2.0)
