"""Mean and variance of linear quantities given the scales: against draws of the effects, which another path makes."""

from __future__ import annotations

import numpy as np
import pytest
from helpers import monte_carlo as mc
from helpers.models import slopes_model
from helpers.seeds import shifted
from helpers.tables import grid, with_covariates

from bayesbias.inference.estimands import asked_quantities
from bayesbias.inference.likelihood import collapse
from bayesbias.inference.linear import Rotated
from bayesbias.models.design import Design
from bayesbias.models.spec import load_model

HOLES = grid().drop(index=[0, 17, 40]).reset_index(drop=True)


@pytest.mark.parametrize("contrasted", [False, True], ids=["means", "contrasts"])
@pytest.mark.parametrize("estimand", ["population", "listed_words"])
@pytest.mark.parametrize(
    ("model", "table"),
    [
        ("default", grid()),
        ("default", HOLES),
        ("crossed", grid()),
        ("shared", HOLES),
        ("additive", grid()),
        pytest.param(slopes_model(), with_covariates(HOLES), marks=pytest.mark.claim),
    ],
    ids=[
        "default",
        "cells with holes",
        "crossed",
        "shared with holes",
        "additive",
        "slopes with holes",
    ],
)
@pytest.mark.slow
def test_moments_are_those_of_the_drawn_effects(model, table, estimand, contrasted):
    design = Design.of(load_model(model), table)
    reduced = collapse(design)
    theta = np.random.default_rng(2).normal(-2, 0.3, (1, reduced.n_theta))
    asked = asked_quantities(design, estimand, contrasted)
    mean, variance = (
        values[0] for values in Rotated.of(reduced, asked.linear).moments(reduced, theta)
    )
    n = 3_000
    each = np.repeat(theta, n, axis=0)
    drawn = reduced.scales_of(each) | reduced.draw_effects(each, np.random.default_rng(shifted(3)))
    values = asked.linear.draws(drawn)
    known = variance < 1e-12  # such as a mean over new words that is a number of the model file
    np.testing.assert_allclose(
        values[:, known], np.broadcast_to(mean[known], values[:, known].shape), atol=1e-7
    )
    sd = np.sqrt(variance[~known])
    limit = mc.limit(2 * len(asked.keys))
    assert (np.abs(values[:, ~known].mean(axis=0) - mean[~known]) / (sd / np.sqrt(n))).max(
        initial=0
    ) < limit
    assert (np.abs(values[:, ~known].std(axis=0) / sd - 1) * np.sqrt(2 * n)).max(initial=0) < limit


def test_levels_follow_what_the_model_holds():
    """In cells the class has means of its own and its words are new; in crossed the listed words of a class are held."""
    table = grid((2, 3), (2, 2), 0, 2)
    for model, names in (
        ("default", {"intercept", "connection_mean", "set_mean", "class_by_set"}),
        ("hierarchical", {"word_by_connection"}),
    ):
        asked = asked_quantities(
            Design.of(load_model(model), table), "population", contrasted=False
        )
        of_classes = asked.chosen([k for k, key in enumerate(asked.keys) if key[0] == "class"])
        assert {name for name, own in of_classes.linear.weights.items() if own.nnz} == names
