"""Importance sampling of the scales: against quadrature, NUTS and ArviZ's own smoothing; and when it gives up."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from helpers import monte_carlo as mc
from helpers.seeds import shifted
from helpers.tables import grid
from scipy import stats

from bayesbias.inference import sampling
from bayesbias.inference.estimands import asked_quantities
from bayesbias.inference.likelihood import Collapsed, collapse
from bayesbias.inference.sampling import sample_collapsed, weighted_theta
from bayesbias.models.design import Design
from bayesbias.models.spec import load_model, parse_model
from bayesbias.simulation.scenario import Scenario

TWO_SCALES = b"""
schema = 1
name = "two"
description = "for the test"
[likelihood]
outcome = "distance"
distribution = "Normal"
mu = ["g", "a"]
sigma = "sigma"
[parameter.g]
distribution = "Normal"
mu = 1
sigma = 0.3
[parameter.a]
dims = ["protected_class"]
distribution = "Normal"
mu = 0
sigma = "as"
[parameter.as]
distribution = "Exponential"
lam = 10
[parameter.sigma]
distribution = "Exponential"
lam = 10
"""


def reduced_of(model: str) -> Collapsed:
    spec = parse_model(TWO_SCALES, "two") if model == "two" else load_model(model)
    return collapse(Design.of(spec, grid()))


def test_two_scales_are_those_of_a_grid():
    """A spread of three classes is hardly known and skewed; its mean and sd, and those of its logarithm, by quadrature."""
    reduced = reduced_of("two")
    a, b = np.linspace(-14, 1.5, 600), np.linspace(-3.5, -0.5, 240)
    theta = np.stack(np.meshgrid(a, b, indexing="ij"), axis=-1).reshape(-1, 2)
    density = reduced.log_densities(theta)
    weights = np.exp(density - density.max())
    weights /= weights.sum()
    drawn, engine = weighted_theta(reduced, 1000, 4, shifted(1))[:2]
    assert engine.name == "quick"
    assert engine.pareto_k < 0.7
    for of in (lambda x: x, np.exp, lambda x: np.exp(2 * x)):
        mc.assert_near(mc.mean(of(drawn)), weights @ of(theta))


@pytest.mark.parametrize("model", [pytest.param("default", marks=pytest.mark.claim), "shared"])
@pytest.mark.slow
def test_it_agrees_with_nuts(model):
    reduced = reduced_of(model)
    settings = {"draws": 500, "tune": 500, "chains": 4, "seed": shifted(2)}
    chains = sample_collapsed(reduced, settings, 2).idata["posterior"]
    weighed = sample_collapsed(reduced, {**settings, "engine": "quick"}, 2).idata["posterior"]
    for name in reduced.scales:
        mc.assert_near(mc.mean(weighed[name]), mc.mean(chains[name]), name)
        mc.assert_near(mc.log_sd(weighed[name]), mc.log_sd(chains[name]), name)


def test_same_seed_same_draws():
    reduced = reduced_of("shared")
    first, again, other = (weighted_theta(reduced, 50, 2, shifted(seed))[0] for seed in (4, 4, 5))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_where_weights_are_not_to_be_trusted_nuts_takes_over(monkeypatch):
    monkeypatch.setattr(sampling, "MOST_PARETO_K", -np.inf)
    reduced = reduced_of("two")
    settings = {"draws": 20, "tune": 50, "chains": 2, "seed": 1, "engine": "quick"}
    asked = dict(settings)
    sampled = sample_collapsed(reduced, settings, 1)
    assert settings == asked
    assert (sampled.engine.name, sampled.engine.asked) == ("nuts", "quick")
    assert sampled.engine.why_not == "pareto_k"
    assert sampled.target_accept in sampling.COLLAPSED_TARGET_ACCEPT
    assert "diverging" in sampled.idata["sample_stats"]


@pytest.mark.full
@pytest.mark.claim
def test_ranks_of_the_truth_are_even():
    """Simulation-based calibration from the default model: scales and contrasts hold any rank among their draws alike."""
    frame = Scenario(words=(3, 4), attributes=(3, 4), human=3, neutral=4).frame
    design = Design.of(load_model("default"), frame)
    asked = asked_quantities(design, "population", contrasted=True)
    wanted = [
        place
        for place, key in enumerate(asked.keys)
        if key[0] in ("overall", "class", "attribute_set")
    ]
    linear = asked.chosen(wanted).linear
    tables, draws = 400, 99
    ranks, taken_over = [], 0
    for number in range(tables):
        seed = shifted(1000 + 7 * number)
        truth = design.prior_draws(1, seed)
        own = replace(design, y=design.outcome_draws(truth, seed + 1)[0])
        reduced = collapse(own)
        settings = {"draws": draws, "tune": 500, "chains": 1, "seed": seed}
        settings["engine"] = "quick"
        sampled = sample_collapsed(reduced, settings, 1)
        posterior = sampled.idata["posterior"]
        taken_over += sampled.engine.name == "nuts"
        scales = {name: posterior[name].to_numpy()[0] for name in reduced.scales}
        theta = reduced.theta_of(scales)
        effects = reduced.draw_effects(theta, np.random.default_rng([seed, 1]))
        found = linear.draws(scales | effects)
        true = linear.draws(truth)
        at = reduced.theta_of({name: np.asarray(truth[name]) for name in reduced.scales})
        ranks.append(np.concatenate([(theta < at).sum(axis=0), (found < true).sum(axis=0)]))
    counts = np.stack([np.bincount(column // 20, minlength=5) for column in np.array(ranks).T])
    chances = stats.chisquare(counts, axis=1).pvalue
    assert chances.min() > mc.CHANCE / len(counts)
    assert taken_over <= mc.most(tables, 0.02)


class Huge:
    """A log density in the millions. Four scales are hardly known, and two to a thousandth."""

    n_theta, usual_sd, costly = 6, 0.06, True
    mode = np.array([-8.0, -12.0, -6.5, -9.0, -3.01, -2.97])
    noise = np.array([4e5, 1.5e6])

    def log_density(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        square, away = np.exp(2 * (theta[:4] - self.mode[:4])), theta[4:] - self.mode[4:]
        value = 2e6 + float((square / 2 - theta[:4]).sum() + self.noise @ away**2 / 2)
        return -value, -np.concatenate([square - 1, self.noise * away])

    def gradients(self, thetas: np.ndarray) -> np.ndarray:
        return np.stack([self.log_density(theta)[1] for theta in thetas])


def test_the_mode_of_a_large_log_density_is_found():
    """L-BFGS stops where it changes by a billionth."""

    def minus(theta: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = Huge().log_density(theta)
        return -value, -gradient

    start = np.full(6, -3.5)
    near = sampling._lowest(minus, start, None, to_the_end=False)
    found = sampling._lowest(minus, start, None, to_the_end=True)
    assert np.abs(near - Huge.mode).max() > 0.5
    np.testing.assert_allclose(found, Huge.mode, atol=1e-4)


def test_a_costly_search_ends_near_enough_for_a_proposal(monkeypatch):
    def squared_distance() -> float:
        found = sampling.laplace(Huge(), near=True)
        gradient = found.slopes(Huge(), found.mode[None])[0]
        return float(((found.root.T @ gradient) ** 2).sum())

    assert squared_distance() < 0.01
    monkeypatch.setattr(sampling, "_NEWTON_STEPS", 1)
    assert squared_distance() > 0.1
