"""What a model expects before any data."""

from __future__ import annotations

import numpy as np
import pytest
from helpers import monte_carlo as mc
from helpers.fits import pairs
from helpers.seeds import shifted
from scipy import integrate, stats

from bayesbias.inference.priors import (
    predictive_of_pairs,
    prior_answers,
    usual_pairs,
)
from bayesbias.models.spec import DEFAULT_MODEL, load_model


def test_the_default_expects_few_impossible_pairs():
    """Distances outside [0, 2], which no data can show."""
    spec = load_model(DEFAULT_MODEL)
    drawn = np.stack(list(predictive_of_pairs(spec, usual_pairs(spec), shifted(3)).values()))
    assert ((drawn < 0) | (drawn > 2)).mean() <= 0.05


@pytest.mark.slow
def test_contrasts_of_crossed_by_hand():
    """Overall a difference of two N(1, .3); a word adds two N(0, s) with s of mean 1/2, so that E s^2 = 1/2."""
    spec = load_model("crossed")
    found = prior_answers(spec, usual_pairs(spec), True, 4000, shifted(3))
    overall = found["overall", "all", "associated - different"]
    mc.assert_near(mc.log_sd_of(overall), np.log(0.3 * np.sqrt(2)))
    mc.assert_near(mc.mean_of(overall), 0.0)
    words = [
        values
        for (level, _, contrast), values in found.items()
        if (level, contrast) == ("word", "associated - different")
    ]
    squares = np.square(words).mean(axis=0)
    mc.assert_near(mc.mean_of(squares), 2 * 0.3**2 + 2 * 0.5)


@pytest.mark.slow
def test_the_share_of_impossible_pairs_by_quadrature():
    """Of hierarchical: a normal with variance .09 + s^2 + t^2, both spreads exponential with mean 1/2."""
    grid, weights = np.polynomial.laguerre.laggauss(40)
    s, t = np.meshgrid(grid / 2, grid / 2)
    tail = 2 * stats.norm.sf(1 / np.sqrt(0.09 + s**2 + t**2))
    share = float((weights[:, None] * weights * tail).sum())
    assert share == pytest.approx(
        integrate.dblquad(
            lambda x, y: 4 * np.exp(-2 * (x + y)) * 2 * stats.norm.sf(1 / np.sqrt(0.09 + x * x + y * y)),
            0, 15, 0, 15, epsabs=1e-5,
        )[0],
        abs=1e-3,
    )  # fmt: skip
    spec = load_model("hierarchical")
    drawn = np.stack(
        list(predictive_of_pairs(spec, usual_pairs(spec), shifted(3)).values()), axis=1
    )
    outside = ((drawn < 0) | (drawn > 2)).mean(axis=1)
    mc.assert_near(mc.mean_of(outside), share)


def test_a_table_of_one_connection_has_no_contrasts():
    one = pairs()[lambda frame: frame["connection"] == "neutral"]
    assert prior_answers(load_model("crossed"), one, True, 10, 1) == {}
    assert usual_pairs(load_model("sentence")) is None
