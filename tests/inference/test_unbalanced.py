"""The likelihood of any table: against the grid, dense normals, differences, PyMC and quadrature."""

from __future__ import annotations

import math
import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from helpers import monte_carlo as mc
from helpers.seeds import shifted
from helpers.tables import grid
from inference.test_likelihood import CASES, TABLES, WITH_SLOPES, dense, spec_of
from scipy import special, stats

import bayesbias as bb
from bayesbias.core import FitError
from bayesbias.inference import unbalanced
from bayesbias.inference.estimands import asked_quantities
from bayesbias.inference.factorization import Factor
from bayesbias.inference.fitting import fit
from bayesbias.inference.importance import Gain, Proposal, Weighted, announce, sample_costly
from bayesbias.inference.likelihood import Collapsed, collapse, collapse_grid
from bayesbias.inference.linear import moments_of
from bayesbias.inference.sampling import ScaleApproximation, laplace, sample_collapsed, sample_theta
from bayesbias.inference.unbalanced import Unbalanced
from bayesbias.models.design import Design
from bayesbias.models.spec import load_model, parse_model

TWICE = b"""
schema = 1
name = "twice"
description = "for the test"
[likelihood]
outcome = "distance"
distribution = "Normal"
mu = ["by_class", "by_connection"]
sigma = "sigma"
[parameter.level]
distribution = "Normal"
mu = 0.5
sigma = 0.3
[parameter.by_class]
dims = ["protected_class"]
distribution = "Normal"
mu = "level"
sigma = 0.2
[parameter.by_connection]
dims = ["connection"]
distribution = "Normal"
mu = "level"
sigma = "connection_sd"
[parameter.connection_sd]
distribution = "Exponential"
lam = 5
[parameter.sigma]
dims = ["connection"]
distribution = "Exponential"
lam = 10
"""


def ragged(share: float = 0.5, seed: int = 1) -> pd.DataFrame:
    """A grid of which a share of the rows is left, with some rows twice."""
    table = grid((3, 4, 2), (3, 2, 4), 3, 4)
    rng = np.random.default_rng(seed)
    kept = table[rng.random(len(table)) < share]
    return pd.concat([kept, kept.iloc[:4]], ignore_index=True)


@pytest.mark.parametrize(("model", "table"), CASES + WITH_SLOPES)
def test_it_is_the_likelihood_of_the_grid(model, table):
    design = Design.of(spec_of(model), TABLES[table])
    by_grid, by_rows = collapse_grid(design), Unbalanced.of(design)
    thetas = np.random.default_rng(shifted(1)).normal(-2, 0.7, (3, by_grid.n_theta))
    for theta in thetas:
        expected, slope = by_grid.log_density(theta)
        value, gradient = by_rows.log_density(theta)
        assert value == pytest.approx(expected, rel=1e-10)
        np.testing.assert_allclose(gradient, slope, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(
        by_rows.log_densities(thetas), by_grid.log_densities(thetas), rtol=1e-10
    )

    other = by_grid.design.y[::-1].copy()
    assert by_rows.of_outcome(other).log_density(thetas[0])[0] == pytest.approx(
        by_grid.of_outcome(other).log_density(thetas[0])[0], rel=1e-10
    )


@pytest.mark.parametrize("model", ["default", "crossed", "shared", "groups", "own"])
def test_quantities_and_effects_are_those_of_the_grid(model):
    design = Design.of(spec_of(model), TABLES["holes"]).ordered()
    by_grid, by_rows = collapse_grid(design), Unbalanced.of(design)
    thetas = np.random.default_rng(shifted(2)).normal(-2, 0.5, (4, by_grid.n_theta))[[0, 1, 1, 2]]
    if model != "own":
        linear = asked_quantities(design, "population", contrasted=True).linear
        solved = moments_of(by_rows, linear)
        assert (solved.mixing is None) == (model == "default")
        theirs = moments_of(by_grid, linear).moments(by_grid, thetas)
        # The second time from factors that were kept.
        for ours in (solved.moments(by_rows, thetas), solved.moments(by_rows, thetas)):
            np.testing.assert_allclose(ours[0], theirs[0], rtol=1e-8, atol=1e-12)
            np.testing.assert_allclose(ours[1], theirs[1], rtol=1e-8, atol=1e-12)

    theta = np.repeat(thetas[:1], 4000, axis=0)
    drawn = by_rows.draw_effects(theta, np.random.default_rng(shifted(3)))
    expected = by_grid.draw_effects(theta, np.random.default_rng(shifted(4)))
    assert {*drawn} == {*expected}
    for name in drawn:
        ours, theirs = drawn[name].reshape(4000, -1), expected[name].reshape(4000, -1)
        sd = theirs.std(axis=0)
        assert np.abs(ours.mean(axis=0) - theirs.mean(axis=0)).max() < 0.12 * sd.max() + 1e-12
        np.testing.assert_allclose(ours.std(axis=0), sd, rtol=0.09)


@pytest.mark.parametrize("model", ["default", "crossed", "own"])
def test_a_ragged_table_has_the_density_of_a_dense_normal(model):
    design = Design.of(spec_of(model), ragged()).ordered()
    reduced = Unbalanced.of(design)
    rng = np.random.default_rng(shifted(5))
    first, again = rng.normal(-2, 0.7, (2, reduced.n_theta))

    def expected(theta: np.ndarray) -> float:
        scales = reduced.scales_of(theta)
        mean, cov, noise = dense(design, scales)
        return stats.multivariate_normal.logpdf(design.y, mean, cov + np.diag(noise))

    def prior(theta: np.ndarray) -> float:
        return unbalanced._log_prior(theta, *reduced.priors, np.empty(len(theta)))

    for theta in (first, again):
        value = reduced.log_density(theta)[0] - prior(theta)
        assert value == pytest.approx(expected(theta), rel=1e-10)

    step = 1e-5 * np.eye(reduced.n_theta)
    differences = reduced.log_densities(first + step) - reduced.log_densities(first - step)
    gradient = reduced.log_density(first)[1]
    np.testing.assert_allclose(gradient, differences / 2e-5, atol=2e-6, rtol=2e-6)


def test_a_scale_of_zero_has_a_density():
    reduced = Unbalanced.of(Design.of(load_model("crossed"), ragged()))
    theta = np.full(reduced.n_theta, -2.0)
    theta[0] = -40.0
    value, gradient = reduced.log_density(theta)
    assert np.isfinite(value)
    assert np.isfinite(gradient).all()
    assert reduced.log_density(np.full(reduced.n_theta, 200.0))[0] == -np.inf


def test_a_mean_that_is_reached_twice():
    """Two terms centered on one parameter: the mean has it twice."""
    design = Design.of(parse_model(TWICE, "twice"), ragged()).ordered()
    reduced = collapse(design)
    assert isinstance(reduced, Unbalanced)
    theta = np.array([-1.5, *np.linspace(-2.5, -2, reduced.n_theta - 1)])
    scales = reduced.scales_of(theta)
    n = len(design.y)
    classes, connections = (
        np.eye(k)[c]
        for k, c in (
            (len(design.coords[name]), design.codes[name])
            for name in ("protected_class", "connection")
        )
    )
    cov = 4 * 0.3**2 * np.ones((n, n)) + 0.2**2 * classes @ classes.T
    cov += scales["connection_sd"] ** 2 * connections @ connections.T
    cov += np.diag(scales["sigma"][design.codes["connection"]] ** 2)
    expected = stats.multivariate_normal.logpdf(design.y, np.full(n, 1.0), cov)
    prior = unbalanced._log_prior(theta, *reduced.priors, np.empty(len(theta)))
    assert reduced.log_density(theta)[0] - prior == pytest.approx(expected, rel=1e-10)


def test_the_mean_of_repeated_rows_counts_as_many():
    """A row of weight n is the mean of n rows, up to the noise within."""
    table = ragged(0.6)
    spec = load_model("hierarchical")
    design = Design.of(spec, table.drop_duplicates(["protected_word", "attribute"])).ordered()
    n, times = len(design.y), 3
    repeated = design.of_rows(np.repeat(np.arange(n), times))
    by_rows = Unbalanced.of(repeated)
    means = Unbalanced.of(design, np.full(n, float(times)))
    # y has no spread within the repeats, whose density is normal for each degree of freedom.
    for theta in np.random.default_rng(shifted(6)).normal(-2, 0.5, (3, means.n_theta)):
        noise = np.exp(theta[[*means.of_rows]])
        within = -(times - 1) * np.log(np.sqrt(2 * np.pi) * noise).sum() - n / 2 * np.log(times)
        expected = means.log_density(theta)[0] + within
        assert by_rows.log_density(theta)[0] == pytest.approx(expected, rel=1e-10)


def test_weights_of_rows_may_change():
    design = Design.of(load_model("default"), ragged()).ordered()
    layout = Unbalanced.of(design).layout
    weights = np.random.default_rng(shifted(7)).uniform(0.2, 3, len(design.y))
    z = layout.incidence.toarray()
    expected = (z.T * weights) @ z
    pattern = layout.pattern
    np.testing.assert_allclose(
        layout.cross_products(weights), expected[pattern.rows, pattern.columns], rtol=1e-12
    )
    np.testing.assert_allclose(layout.products(weights), z.T @ weights)


def test_further_questions_take_no_factorization(monkeypatch):
    design = Design.of(spec_of("crossed"), TABLES["holes"]).ordered()
    by_rows = Unbalanced.of(design)
    solved = moments_of(by_rows, asked_quantities(design, "population", contrasted=True).linear)
    thetas = np.random.default_rng(shifted(2)).normal(-2, 0.5, (4, by_rows.n_theta))
    first = solved.moments(by_rows, thetas)
    monkeypatch.setattr(Factor, "update", None)
    for ours, before in zip(solved.moments(by_rows, thetas), first, strict=True):
        np.testing.assert_array_equal(ours, before)


def test_which_way_is_taken():
    """A grid keeps its reduction, a ragged table takes this one."""
    assert isinstance(collapse(Design.of(load_model("default"), grid())), Collapsed)
    table = grid((20, 20, 20), (10, 10, 10), 30, 30)
    table = table[np.random.default_rng(0).random(len(table)) < 0.6].reset_index(drop=True)
    assert isinstance(collapse(Design.of(load_model("crossed"), table)), Unbalanced)


def test_what_has_no_noise_is_refused():
    table = ragged(0.7).drop_duplicates(["protected_word", "attribute"])
    design = Design.of(load_model("crossed"), table)
    assert not Unbalanced.of(design).without_noise()
    by_word = pd.factorize(table["protected_word"])[0] * 0.013
    exact = by_word + pd.factorize(table["attribute"])[0] * 0.007 + 0.5
    assert Unbalanced.of(replace(design, y=exact)).without_noise()


def test_what_is_too_large_is_refused(monkeypatch):
    monkeypatch.setattr(unbalanced, "MOST_BYTES", 1000)
    with pytest.raises(FitError, match="Fit fewer rows or units, or a model with"):
        Unbalanced.of(Design.of(load_model("default"), ragged()))


def test_a_costly_fit_says_how_long_it_takes(monkeypatch, capsys):
    reduced = Unbalanced.of(Design.of(load_model("crossed"), ragged()))
    announce(100, reduced, None)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(Unbalanced, "seconds", 0.5)
    announce(100, reduced, None)
    rows = f"{len(reduced.design.y):,} rows"
    assert capsys.readouterr().err == f"Sampling the model of {rows} takes about 50 seconds.\n"
    announce(1000, reduced, None)
    assert "about 8 minutes" in capsys.readouterr().err
    announce(1000, reduced, False)
    assert capsys.readouterr().err == ""


def test_the_reduction_can_be_sent_to_a_worker():
    reduced = Unbalanced.of(Design.of(load_model("crossed"), ragged()))
    theta = np.full(reduced.n_theta, -2.0)
    expected = reduced.log_density(theta)[0]
    assert pickle.loads(pickle.dumps(reduced)).log_density(theta)[0] == expected


def test_halves_of_the_proposal_are_drawn_in_proportion():
    """Its density has no step, so that weights of a target of the same form are equal."""
    proposal = Proposal(np.zeros(1), np.eye(1), np.array([1.5]), np.array([0.75]))
    uniform = (np.arange(20000) + 0.5) / 20000
    points = proposal.points(np.stack([uniform, np.full(20000, 0.5)], axis=1))
    assert (points > 0).mean() == pytest.approx(2 / 3, abs=1e-3)
    density = np.histogram(points, bins=[-0.2, 0, 0.2])[0]
    assert density[0] / density[1] == pytest.approx(1, abs=0.1)
    assert points.mean() == pytest.approx(proposal.offset[0], rel=0.05)


def test_the_density_of_a_proposal_is_that_of_its_points():
    """Its integral is one, and it gives two boxes the share of points that they have."""
    root = np.array([[0.8, 0.3], [0.0, 0.5]])
    up, down = np.array([1.6, 0.9]), np.array([0.7, 1.2])
    proposal = Proposal(np.array([0.4, -0.2]), root, up, down, 30.0)
    side = np.linspace(-12, 12, 1201)
    grid_points = np.stack(np.meshgrid(side, side, indexing="ij"), axis=-1).reshape(-1, 2)
    density = np.exp(proposal.log_density(grid_points)) * (side[1] - side[0]) ** 2
    assert density.sum() == pytest.approx(1, abs=2e-3)

    points = proposal.points(np.random.default_rng(shifted(3)).random((40_000, 3)))
    for box in (lambda u: u[:, 0] > 1.0, lambda u: (u[:, 0] < 0) & (u[:, 1] > -0.2)):
        share = density[box(grid_points)].sum()
        error = math.sqrt(share * (1 - share) / len(points))
        assert box(points).mean() == pytest.approx(share, abs=4 * error + 5e-3)


def test_points_of_all_rounds_count():
    """Of a normal target far from the first proposal, later rounds find mean and covariance."""
    mean, sds = np.array([1.5, -1.0, 0.0]), np.array([1.6, 0.6, 1.0])
    proposal = Proposal(np.zeros(3), np.eye(3), np.ones(3), np.ones(3))
    rng = np.random.default_rng(shifted(5))

    def target(u: np.ndarray) -> np.ndarray:
        return -0.5 * (((u - mean) / sds) ** 2).sum(axis=-1)

    u = proposal.points(rng.random((400, 4)))[None]
    found = Weighted.of((proposal,), (400,), u, target(u))
    first_share = found.effective / found.number
    for _ in range(3):
        later = found.next_proposal()
        u = later.points(rng.random((400, 4)))[None]
        found = found.joined(later, u, target(u))
    assert found.number == 1600
    assert found.effective / found.number > max(2 * first_share, 0.5)
    weights, flat = found.weights.ravel(), found.u.reshape(-1, 3)
    error = 5 * sds / math.sqrt(found.effective)
    assert (np.abs(weights @ flat - mean) < error).all()
    spread = np.sqrt(weights @ (flat - weights @ flat) ** 2)
    assert (np.abs(spread - sds) < error).all()


class Bounded:
    """A density that a bound exceeds, by what is quadratic in the coordinates, and rough or not."""

    n_theta = 8

    def __init__(self, start: ScaleApproximation, roughness: float) -> None:
        self.start, self.roughness, self.asked = start, roughness, 0

    def gain(self, u: np.ndarray) -> np.ndarray:
        smooth = 2 + 0.3 * u[:, 0] - 0.1 * u[:, 1] ** 2
        return smooth + self.roughness * np.sin(40 * u[:, 2])

    def bounds(self, theta: np.ndarray) -> np.ndarray:
        self.asked += len(theta)
        u = -special.ndtri(np.exp(-np.exp(theta - self.start.log_m)))
        return -0.5 * (u * u).sum(axis=1) + self.gain(u) - self.start.theta(u)[2].sum(axis=1)


@pytest.mark.parametrize(("roughness", "asked"), [(0.0, 34), (0.5, 68)])
def test_bounds_of_few_points_tell_those_of_the_others(roughness, asked):
    rng = np.random.default_rng(shifted(6))
    start = ScaleApproximation(np.zeros(8), np.zeros(8), np.eye(8))
    u = rng.standard_normal((4, 200, 8))
    density = -0.5 * (u * u).sum(axis=2)
    proposal = Proposal(np.zeros(8), np.eye(8), np.ones(8), np.ones(8))
    found = Weighted.of((proposal,), (200,), u, density)
    reduced = Bounded(start, roughness)
    gain = Gain.of(found, reduced, start, seed=1)
    assert reduced.asked <= asked
    assert reduced.asked > 0.8 * asked
    if not roughness:
        inside = ((u >= gain.low) & (u <= gain.high)).all(axis=2)
        expected = reduced.gain(u.reshape(-1, 8)).reshape(4, 200)
        np.testing.assert_allclose(gain(u)[inside], expected[inside], atol=1e-6)


def test_no_effects_take_no_factorization(monkeypatch):
    reduced = Unbalanced.of(Design.of(load_model("crossed"), ragged()))

    def refused(*_):
        raise AssertionError

    monkeypatch.setattr(unbalanced.Factor, "update", refused)
    theta = np.full((3, reduced.n_theta), -2.0)
    assert reduced.draw_effects(theta, np.random.default_rng(0), ()) == {}


@pytest.mark.slow
def test_scales_and_results_agree_with_nuts():
    """Weighted points against chains of NUTS, whose density is that of the grid."""
    design = Design.of(load_model("shared"), grid())
    settings = {"draws": 1000, "tune": 500, "chains": 4, "seed": shifted(8)}
    chains = sample_collapsed(collapse_grid(design), settings, 2).idata["posterior"]
    sampled = sample_collapsed(Unbalanced.of(design), {**settings, "engine": "auto"}, 2)
    weighed = sampled.idata["posterior"]
    assert sampled.engine.name == "quick"
    for name in Unbalanced.of(design).scales:
        mc.assert_near(mc.mean(weighed[name]), mc.mean(chains[name]), name)
        mc.assert_near(mc.log_sd(weighed[name]), mc.log_sd(chains[name]), name)


TWO_CROSSED = b"""
schema = 1
name = "two"
description = "for the test"
[likelihood]
outcome = "distance"
distribution = "Normal"
mu = ["connection_mean", "word_effect", "attribute_effect"]
sigma = "sigma"
[results]
group = "connection"
[parameter.connection_mean]
dims = ["connection"]
distribution = "Normal"
mu = 0
sigma = 1
[parameter.word_effect]
dims = ["protected_word"]
distribution = "Normal"
mu = 0
sigma = "word_sd"
[parameter.attribute_effect]
dims = ["attribute"]
distribution = "Normal"
mu = 0
sigma = "attribute_sd"
[parameter.word_sd]
distribution = "Exponential"
lam = 2
[parameter.attribute_sd]
distribution = "Exponential"
lam = 2
[parameter.sigma]
distribution = "Exponential"
lam = 2
"""


@pytest.mark.full
@pytest.mark.parametrize(
    "tables",
    [pytest.param(40, marks=pytest.mark.slow), pytest.param(300, marks=pytest.mark.claim)],
)
def test_ranks_of_the_truth_are_uniform(tables):
    """Simulation-based calibration (Talts et al. 2018) of one unbalanced design."""
    reduced = Unbalanced.of(Design.of(parse_model(TWO_CROSSED, "two"), ragged(0.4)))
    design, rng = reduced.design, np.random.default_rng(shifted(11))
    settings = {"draws": 250, "tune": 250, "chains": 2, "engine": "auto", "progress": False}
    below = []
    for k in range(tables):
        scales = dict(zip(reduced.scales, rng.exponential(0.5, 3), strict=True))
        means = rng.normal(0, 1, design.size("connection_mean"))
        y = means[design.index["connection_mean"]] + scales["sigma"] * rng.normal(
            size=len(design.y)
        )
        for name, sd in (("word_effect", "word_sd"), ("attribute_effect", "attribute_sd")):
            effects = rng.normal(0, scales[sd], design.size(name))
            y += effects[design.index[name]]

        again = reduced.of_outcome(y)
        theta = sample_theta(again, {**settings, "seed": k}, 1).theta.reshape(-1, 3)
        drawn = again.draw_effects(theta, rng, ["connection_mean"])["connection_mean"]
        shares = (theta < np.log([scales[name] for name in reduced.scales])).mean(axis=0)
        contrast = (drawn[:, 0] - drawn[:, 1] < means[0] - means[1]).mean()
        below.append([*shares, contrast])
    for name, ranks in zip([*reduced.scales, "contrast"], np.array(below).T, strict=True):
        assert stats.kstest(ranks, "uniform").pvalue > 1e-3, name


@pytest.mark.slow
def test_nuts_takes_its_place(monkeypatch):
    from bayesbias.inference import importance

    reduced = Unbalanced.of(Design.of(load_model("crossed"), ragged()))
    monkeypatch.setattr(importance, "MOST_PARETO_K", -np.inf)
    settings = {"draws": 60, "tune": 100, "chains": 2, "seed": 1, "engine": "auto"}
    sampled = sample_collapsed(reduced, settings, 2)
    idata, engine = sampled.idata, sampled.engine
    assert (engine.name, engine.asked, engine.why_not) == ("nuts", "auto", "pareto_k")
    theta = reduced.theta_of(
        {name: idata["posterior"][name].to_numpy()[0] for name in reduced.scales}
    )
    np.testing.assert_allclose(reduced.log_densities(theta), idata["sample_stats"]["logp"][0])


@pytest.mark.slow
def test_points_without_a_density_do_not_end_nuts(monkeypatch):
    reduced = Unbalanced.of(Design.of(load_model("crossed"), ragged()))
    mode = laplace(reduced).log_m
    whole = Unbalanced.log_density

    def part(self: Unbalanced, theta: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = whole(self, theta)
        return (-math.inf if theta[0] > mode[0] + 0.3 else value), gradient

    monkeypatch.setattr(Unbalanced, "log_density", part)
    settings = {"draws": 20, "tune": 40, "chains": 2, "seed": 1, "engine": "nuts"}
    theta = sample_theta(reduced, settings, 2).theta
    assert theta.shape[:2] == (2, 20)
    assert theta[..., 0].max() <= mode[0] + 0.3


def test_same_seed_same_draws():
    reduced = Unbalanced.of(Design.of(load_model("crossed"), ragged()))
    first, again, other = (sample_costly(reduced, 50, 2, shifted(seed)) for seed in (4, 4, 5))
    np.testing.assert_array_equal(first[0], again[0])
    assert not np.array_equal(first[0], other[0])
    np.testing.assert_allclose(reduced.log_densities(first[0][0]), first[1][0])


@pytest.mark.slow
def test_a_fit_of_a_ragged_table_has_all_tables(tmp_path):
    table = grid((6, 6, 6), (6, 6, 6), 8, 8)
    table = table[np.random.default_rng(1).random(len(table)) < 0.7].reset_index(drop=True)
    result = fit(table, "default", seed=shifted(9), draws=200, chains=2)
    assert result.provenance["sampler"]["method"] == "collapsed"
    assert (result.engine.asked, result.engine.name) == ("auto", "quick")
    assert "importance sampling" in str(result)
    for made in (result.summary(), result.contrasts(), result.words(), result.standardized()):
        assert np.isfinite(made["mean"]).all()
    assert np.isfinite(result.variance_partition()["mean"]).all()
    result.save(tmp_path / "fit.nc")
    again = bb.load_fit(tmp_path / "fit.nc")
    pd.testing.assert_frame_equal(again.contrasts(), result.contrasts())
    assert bb.inference.loo(result).se > 0


@pytest.mark.slow
def test_a_table_that_lacks_a_fifth_of_its_pairs_is_fitted_by_the_quick_engine():
    whole = grid((4, 4), (5, 5), 6, 8, seed=3)
    kept = np.random.default_rng(shifted(6)).random(len(whole)) > 0.2
    result = fit(whole[kept], engine="quick", draws=200, seed=shifted(1))
    assert result.engine.name == "quick"
    assert result.diagnostics()["ok"]
    # The raw means of the pairs that are there are within reach of the estimate.
    row = result.contrasts().iloc[0]
    means = whole[kept].groupby("connection")["distance"].mean()
    assert row["hpdi_low"] < means["associated"] - means["different"] < row["hpdi_high"]
