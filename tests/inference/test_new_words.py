"""What a single new word or pair shows: the variance it adds, by hand, and its mixture over classes."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.tables import grid

from bayesbias.core.errors import FitError
from bayesbias.inference.estimands import asked_quantities
from bayesbias.models.design import Design
from bayesbias.models.spec import load_model
from bayesbias.models.variants import with_slopes


def design_of(model, table):
    design = Design.of(load_model(model), table)
    return design, design.prior_draws(500, 7)


def added(design, table, draws, estimand, level, name, label, contrasted=True):
    asked = asked_quantities(design, estimand, contrasted)
    own = asked.chosen([asked.keys.index((level, name, label))])
    return own.linear.new_variance(draws)


def test_a_new_word_brings_its_own_gaps():
    table = grid((3, 2), (3, 2), 2, 3)
    design, x = design_of("default", table)
    label = design.coords["connection"].index
    c, m = (x[name] ** 2 for name in ("word_by_connection_sd", "word_to_stereotypes_sd"))
    for name in design.coords["protected_class"]:
        gap = added(design, table, x, "one_new_word", "class", name, "associated - different")
        by_hand = c[:, label("associated")] + c[:, label("different")]  # what is shared cancels
        np.testing.assert_allclose(gap[:, 0], by_hand, rtol=1e-12)
        gap = added(design, table, x, "one_new_word", "class", name, "associated - neutral")
        by_hand = c[:, label("associated")] + c[:, label("neutral")] + m
        np.testing.assert_allclose(gap[:, 0], by_hand, rtol=1e-12)


def test_a_new_pair_brings_attributes_and_noise_too():
    table = grid((3, 2), (3, 2), 2, 3)
    design, x = design_of("default", table)
    label, kind = design.coords["connection"].index, design.coords["attribute_kind"].index
    name = design.coords["protected_class"][1]
    word = added(design, table, x, "one_new_word", "class", name, "associated - neutral")
    pair = added(design, table, x, "one_new_pair", "class", name, "associated - neutral")
    more = sum(x["attribute_sd"][:, kind(k)] ** 2 for k in ("stereotype", "neutral"))
    more = more + sum(
        x["class_by_attribute_sd"][:, kind(k)] ** 2 for k in ("stereotype", "neutral")
    )
    more = more + x["class_by_own_attribute_sd"][:, 1] ** 2  # of the class's own list alone
    more = more + sum(x["sigma"][:, label(c)] ** 2 for c in ("associated", "neutral"))
    np.testing.assert_allclose((pair - word)[:, 0], more, rtol=1e-10)


def test_overall_a_new_word_is_of_one_of_the_classes():
    table = grid((3, 1), (3, 2), 0, 3)
    design, _ = design_of("default", table)
    asked = asked_quantities(design, "one_new_word", contrasted=True)
    assert {key[0] for key in asked.keys} == {"overall", "class"}
    overall = asked.chosen([asked.keys.index(("overall", "all", "associated - different"))])
    assert overall.weight.tolist() == [0.75, 0.25]
    # Two lists of unequal size are met by one new attribute in proportion to their sizes.
    pairs = asked_quantities(design, "one_new_pair", contrasted=False)
    own = pairs.chosen([pairs.keys.index(("overall", "all", "associated"))])
    assert own.weight.tolist() == [0.75, 0.25]


def test_noise_that_is_not_normal_has_no_new_pair():
    table = grid()
    design, _ = design_of("robust", table)
    assert asked_quantities(design, "one_new_word", contrasted=True).keys
    with pytest.raises(FitError, match="one_new_pair: expected normal noise"):
        asked_quantities(design, "one_new_pair", contrasted=True)


def test_slopes_of_a_new_attribute_scatter_by_the_square_of_the_covariate():
    table = grid((3, 2), (3, 2), 0, 0)
    # Below the mean, most of them.
    words = {word: x for x, word in enumerate(table["protected_word"].unique(), -3)}
    table["x"] = table["protected_word"].map(words).astype(float)
    design = Design.of(with_slopes("hierarchical", "x", (), varying=["attribute"]), table)
    draws = {name: 0 * values for name, values in design.prior_draws(3, 7).items()}
    draws["slope_x_attribute_sd"] = np.full(3, 0.1)
    for name in ("class0", "class1"):
        own = table["protected_class"] == name
        gap = added(design, table, draws, "one_new_pair", "class", name, "associated - different")
        np.testing.assert_allclose(gap[:, 0], 2 * 0.01 * (table["x"][own] ** 2).mean(), rtol=1e-12)
