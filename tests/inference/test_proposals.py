"""Proposals: their density is that of their draws, and they follow weighted draws."""

from __future__ import annotations

import numpy as np
import pytest
from helpers import monte_carlo as mc
from helpers.seeds import shifted
from scipy import stats

from bayesbias.inference.proposals import Proposal, adapted, at_mode, effective_weights, fitted_shapes

PLACES = np.linspace(-2.6, 2.6, 27)


def skewed(degrees: float = 20.0) -> Proposal:
    """Two coordinates: the logarithm of a uniform number, and a normal one, correlated."""
    shapes = fitted_shapes(np.array([stats.norm.logcdf(PLACES), 3 + 0.5 * PLACES]))
    return Proposal(shapes, np.array([[1, 0.5], [0.5, 1]]), degrees)


def test_quantile_functions_are_followed_and_rise():
    shapes = fitted_shapes(np.array([stats.norm.logcdf(PLACES), 3 + 0.5 * PLACES]))
    draws, _ = Proposal(shapes, np.eye(2), 1e6).draw(4000, np.random.default_rng(shifted(1)))
    below = stats.kstest(draws[:, 0], lambda y: np.exp(np.minimum(y, 0))).statistic
    assert below < 0.02 + 2.4 / np.sqrt(4000)  # two in a hundred for the shape, the rest for chance
    assert shapes[1, :2] == pytest.approx([3, 0.5], abs=1e-6)
    assert (shapes[:, 1:] >= 0).all()


@pytest.mark.parametrize("degrees", [3.0, 20.0])
def test_density_is_that_of_the_draws(degrees):
    """Another density over it has mean one: a normal that is narrower, so that no few draws carry the mean."""
    proposal = skewed(degrees)
    draws, log_density = proposal.draw(20_000, np.random.default_rng(shifted(2)))
    other = stats.multivariate_normal([-0.8, 3.1], [[0.06, -0.02], [-0.02, 0.03]])
    mc.assert_near(mc.mean_of(np.exp(other.logpdf(draws) - log_density)), 1.0)


def test_it_moves_to_weighted_draws():
    rng = np.random.default_rng(shifted(3))
    draws, log_density = skewed().draw(20_000, rng)
    goal = stats.multivariate_normal([-0.8, 3.1], [[0.1, -0.04], [-0.04, 0.05]])
    weights = np.exp(goal.logpdf(draws) - log_density)
    weights /= weights.sum()
    nearer = adapted(skewed(), draws, weights, (10.0, 10.0))
    again, its = nearer.draw(4000, rng)
    better = np.exp(goal.logpdf(again) - its)
    assert effective_weights(better) / 4000 > 0.8 > 2 * effective_weights(weights) / 20_000
    assert nearer.correlation[0, 1] == pytest.approx(-0.04 / np.sqrt(0.1 * 0.05), abs=0.15)


def test_a_normal_posterior_is_met_at_its_mode():
    covariance = np.array([[0.5, 0.3], [0.3, 0.4]])
    goal = stats.multivariate_normal([1.0, -2.0], covariance)
    proposal = at_mode(goal.logpdf, np.array([1.0, -2.0]), covariance, 30.0)
    draws, log_density = proposal.draw(2000, np.random.default_rng(shifted(4)))
    efficiency = effective_weights(np.exp(goal.logpdf(draws) - log_density)) / 2000
    assert efficiency > 0.5  # slices at a fixed other coordinate are too narrow


def test_weights_count_as_kish_says():
    assert effective_weights(np.array([1.0, 1.0, 1.0, 1.0])) == 4
    assert effective_weights(np.array([3.0, 1.0])) == pytest.approx(1.6)
