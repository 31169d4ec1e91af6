"""Importance sampling of the scales: against quadrature, NUTS and ArviZ's own smoothing; and when it gives up."""

from __future__ import annotations

from dataclasses import replace

import arviz  # noqa: F401 - gives arrays the accessor
import numpy as np
import pytest
import xarray as xr
from helpers import monte_carlo as mc
from helpers.seeds import shifted
from helpers.tables import grid
from scipy import stats
from threadpoolctl import threadpool_limits

from bayesbias.inference import importance
from bayesbias.inference.collapsed import Collapsed, collapse
from bayesbias.inference.estimands import asked_rows, times_of
from bayesbias.inference.importance import best_proposal, pareto_smoothed, weigh_scales
from bayesbias.inference.proposals import adapted, at_mode
from bayesbias.inference.sampling import sample_collapsed, sample_theta, starting_point
from bayesbias.inference.straight import Straight
from bayesbias.models.design import Design
from bayesbias.models.loading import load_model, parse_model
from bayesbias.simulation.scenario import scenario_frame

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
    drawn, engine = weigh_scales(reduced, starting_point(reduced), 1000, 4, shifted(1))
    assert engine.name == "quick"
    assert engine.pareto_k < 0.7
    for of in (lambda x: x, np.exp, lambda x: np.exp(2 * x)):
        mc.assert_near(mc.mean(of(drawn)), weights @ of(theta))


@pytest.mark.parametrize("model", [pytest.param("default", marks=pytest.mark.claim), "shared"])
@pytest.mark.slow
def test_it_agrees_with_nuts(model):
    reduced = reduced_of(model)
    settings = {"draws": 500, "tune": 500, "chains": 4, "seed": shifted(2)}
    chains = sample_collapsed(reduced, dict(settings), 2)["posterior"]
    weighed = sample_collapsed(reduced, {**settings, "engine": "quick"}, 2)["posterior"]
    for name in reduced.scales:
        mc.assert_near(mc.mean(weighed[name]), mc.mean(chains[name]), name)
        mc.assert_near(mc.log_sd(weighed[name]), mc.log_sd(chains[name]), name)


@pytest.mark.slow
def test_effective_draws_of_the_chains_are_no_more_than_the_weights_are_worth():
    """A draw that is taken twice stands beside itself, so that ArviZ sees it."""
    reduced = reduced_of("default")
    drawn, engine = weigh_scales(reduced, starting_point(reduced), 1000, 4, shifted(3))
    worth = min(engine.effective, drawn.shape[0] * drawn.shape[1])
    assert np.median(mc.effective(drawn, "mean")) < 1.1 * worth
    repeats = (drawn[:, 1:] == drawn[:, :-1]).all(axis=2)
    everywhere = sum(len(chain) - len(np.unique(chain, axis=0)) for chain in drawn)
    assert repeats.sum() == everywhere > 0


def test_same_seed_same_draws():
    reduced = reduced_of("shared")
    first, again, other = (
        weigh_scales(reduced, starting_point(reduced), 50, 2, shifted(seed))[0]
        for seed in (4, 4, 5)
    )
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize(
    ("limit", "value", "why"),
    [
        ("MOST_PARETO_K", -np.inf, "pareto_k"),
        ("FEWEST_PER_CHAIN", np.inf, "effective"),
        ("_IN_REACH", -1.0, "modes"),
    ],
)
def test_where_weights_are_not_to_be_trusted_nuts_takes_over(monkeypatch, limit, value, why):
    monkeypatch.setattr(importance, limit, value)
    if limit == "FEWEST_PER_CHAIN":
        monkeypatch.setattr(importance, "effective_weights", lambda weights: 1.0)
    reduced = reduced_of("two")
    settings = {"draws": 20, "tune": 50, "chains": 2, "seed": 1, "engine": "quick"}
    idata = sample_collapsed(reduced, settings, 1)
    assert (settings["engine"]["name"], settings["engine"]["asked"]) == ("nuts", "quick")
    assert settings["engine"]["why_not"] == why
    assert "diverging" in idata["sample_stats"]


@pytest.mark.parametrize("tail", [2.0, 5.0, 1000.0])
def test_smoothing_is_that_of_arviz(tail):
    ratio = np.random.default_rng(6).standard_t(tail, 3000)
    found, k = pareto_smoothed(ratio)
    theirs, their_k = xr.DataArray(-ratio, dims="draw").azstats.psislw(dim="draw")
    assert k == pytest.approx(float(their_k), abs=1e-6)
    theirs = theirs.to_numpy()
    np.testing.assert_allclose(found - found.max(), theirs - theirs.max(), atol=1e-6)


@pytest.mark.parametrize(
    "ratio",
    [
        np.full(1000, np.nan),
        np.full(1000, -np.inf),
        np.r_[np.zeros(3), np.full(997, -np.inf)],
        np.arange(9.0),
    ],
    ids=["nan", "nothing", "three", "few"],
)
def test_weights_without_a_tail_are_not_trusted(ratio):
    assert pareto_smoothed(ratio)[1] == np.inf


@pytest.mark.claim
def test_ranks_of_the_truth_are_even():
    """Simulation-based calibration from the default model: scales and contrasts hold any rank among their draws alike."""
    frame = scenario_frame((3, 4), (3, 4), 3, 4)
    design = Design.of(load_model("default"), frame)
    rows = asked_rows(design, frame, "population", contrasted=True)
    wanted = [
        place
        for place, key in enumerate(rows.keys)
        if key[0] in ("overall", "class", "attribute_set")
    ]
    linear = rows.chosen(wanted).linear
    tables, draws = 400, 99
    ranks, taken_over = [], 0
    for number in range(tables):
        seed = shifted(1000 + 7 * number)
        truth = design.prior_draws(1, seed)
        own = replace(design, y=design.outcome_draws(truth, seed + 1)[0])
        reduced = collapse(own)
        settings = {"draws": draws, "tune": 500, "chains": 1, "seed": seed}
        settings["engine"] = "quick"
        posterior = sample_collapsed(reduced, settings, 1)["posterior"]
        taken_over += settings["engine"]["name"] == "nuts"
        scales = {name: posterior[name].to_numpy()[0] for name in reduced.scales}
        theta = reduced.joined(scales)
        effects = reduced.draw_effects(theta, np.random.default_rng([seed, 1]))
        found = linear.draws(scales | effects, times_of(design))
        true = linear.draws(truth, times_of(design))
        at = reduced.joined({name: np.asarray(truth[name]) for name in reduced.scales})
        ranks.append(np.concatenate([(theta < at).sum(axis=0), (found < true).sum(axis=0)]))
    counts = np.stack([np.bincount(column // 20, minlength=5) for column in np.array(ranks).T])
    chances = stats.chisquare(counts, axis=1).pvalue
    assert chances.min() > mc.CHANCE / len(counts)
    assert taken_over <= mc.most(tables, 0.02)


@pytest.mark.parametrize("noise", [1e-8, 1e-9])
@pytest.mark.parametrize("model", ["crossed", "default"])
def test_where_there_is_hardly_any_noise_nothing_of_linear_algebra_gets_out(model, noise):
    """Beyond the range of floating point a gradient is no number: then there is no proposal, and NUTS says what it finds."""
    frame = grid((4, 4, 4), (5, 5, 5), 6, 6)
    plain = frame.groupby("connection")["distance"].transform("mean")
    plain += frame.groupby("attribute")["distance"].transform("mean")
    rng = np.random.default_rng(0)
    design = Design.of(
        load_model(model), frame.assign(distance=plain + rng.normal(0, noise, len(frame)))
    )
    reduced = collapse(design)
    proposal, _ = best_proposal(Straight(reduced), starting_point(reduced), shifted(1))
    draws, engine = weigh_scales(reduced, starting_point(reduced), 100, 2, shifted(1))
    assert (engine.name, draws.shape) == (
        "nuts",
        (2, 0, reduced.n_theta),
    )  # no draws, rather than wrong ones
    # Where there is no proposal, what climbs from elsewhere may still reach a place of its own.
    assert engine.why_not in (("no mode", "modes") if proposal is None else ("pareto_k",))
    if proposal is not None:
        assert np.isfinite(proposal.shapes).all()


def test_threads_of_linear_algebra_change_no_draw():
    design = Design.of(load_model("default"), grid((5, 4, 4), (8, 8, 8), 8, 8))
    drawn = []
    for threads in (1, 2):
        settings = {"draws": 50, "tune": 50, "chains": 2, "seed": 1, "engine": "quick"}
        with threadpool_limits(threads, user_api="blas"):
            drawn.append(sample_theta(collapse(design), settings, 1))
    np.testing.assert_array_equal(*drawn)


def test_one_draw_with_all_the_weight_shows_no_correlation():
    """Its scores are all zero, and a division by zero got out of it."""
    before = at_mode(
        lambda x: -0.5 * (x**2).sum(axis=1), np.zeros(2), np.array([[1.0, 0.5], [0.5, 1.0]]), 7.0
    )
    weights = np.zeros(50)
    weights[7] = 1.0
    after = adapted(before, np.random.default_rng(3).normal(size=(50, 2)), weights, (10.0, 10.0))
    np.testing.assert_allclose(after.correlation, before.correlation)
