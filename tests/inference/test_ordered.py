"""Ordered levels on any table: the likelihood, Laplace and the bound against dense algebra, quadrature and PyMC."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from helpers.seeds import shifted
from scipy import integrate, optimize, stats

import bayesbias as bb
from bayesbias.core.errors import InputError
from bayesbias.inference.binomial import approximated
from bayesbias.inference.ordered import Ordered
from bayesbias.models.design import Design
from bayesbias.models.spec import parse_model
from bayesbias.models.variants import trimmed, with_levels

ONE = b"""
schema = 1
name = "one"
description = "for the test"
[likelihood]
outcome = "level"
distribution = "Ordered"
gap_2 = "gap"
units = ["question"]
mu = ["effect"]
[results]
group = "question"
[parameter.effect]
dims = ["question"]
distribution = "Normal"
mu = 0.3
sigma = "sd"
[parameter.sd]
distribution = "Exponential"
lam = 1
[parameter.gap]
distribution = "LogNormal"
mu = 0
sigma = 1
"""


def ratings(levels: int = 4, seed: int = 1, share: float = 0.7, repeats: int = 2) -> pd.DataFrame:
    """Return ratings of two groups under two models, without a part of the questions."""
    rng = np.random.default_rng(seed)
    rows = []
    for model, group, word, template, item in np.ndindex(2, 2, 2, 2, 3):
        labels = {
            "model": f"m{model}",
            "group": f"g{group}",
            "word": f"g{group}w{word}",
            "template": f"t{template}",
            "item": f"i{item}",
        }
        question = " | ".join(labels.values())
        more = {"arm": f"g{group} | m{model}", "question": question, "answer_pattern": "all"}
        if rng.random() < share:
            rows += [labels | more] * repeats
    frame = pd.DataFrame(rows)
    return frame.assign(level=rng.integers(0, levels, len(frame)).astype(float))


def laid(frame: pd.DataFrame) -> Ordered:
    counts = np.bincount(frame["level"].astype(int)).tolist()
    spec = with_levels(bb.load_model("responses_ordered"), counts)
    return Ordered.of(Design.of(trimmed(spec, frame), frame))


def probabilities(log_odds: np.ndarray, cuts: np.ndarray) -> np.ndarray:
    """Return the probability of each level, as differences of the logistic distribution."""
    ends = np.concatenate([[-np.inf], cuts, [np.inf]])
    return np.diff(stats.logistic.cdf(ends - log_odds[..., None]))


def test_laplace_is_that_of_dense_algebra():
    """By another way: the mode of all effects from SciPy, and the curvature from differences."""
    frame = ratings()
    reduced = laid(frame)
    design = reduced.answers
    theta = np.random.default_rng(shifted(2)).normal(-0.3, 0.4, reduced.n_theta)
    scales = reduced.scales_of(theta)
    cuts = np.cumsum([0.0, float(scales["gap_2"]), float(scales["gap_3"])])
    assert "question_effect" in design.spec.mu

    blocks, sds, center = [], [], 0.0
    for name in design.spec.mu:
        arguments = design.spec.parameters[name].args
        sigma = arguments["sigma"]
        codes = np.unique(design.index[name], return_inverse=True)[1]
        sd = np.broadcast_to(scales[sigma] if isinstance(sigma, str) else sigma, 1)
        assert len(sd) == 1
        blocks.append(np.eye(codes.max() + 1)[codes])
        sds += [float(sd[0])] * (codes.max() + 1)
        center += float(arguments["mu"])
    columns = np.hstack(blocks) * np.array(sds)
    level = design.y.astype(int)

    def minus(v: np.ndarray) -> float:
        p = probabilities(center + columns @ v, cuts)[np.arange(len(level)), level]
        return float(0.5 * v @ v - np.log(p).sum())

    def slope(v: np.ndarray) -> np.ndarray:
        log_odds = center + columns @ v
        ends = np.concatenate([[-np.inf], cuts, [np.inf]])
        density = stats.logistic.pdf(ends - log_odds[:, None])
        rows = np.arange(len(level))
        p = probabilities(log_odds, cuts)[rows, level]
        of_rows = (density[rows, level] - density[rows, level + 1]) / p
        return v - columns.T @ of_rows

    found = optimize.minimize(minus, np.zeros(len(sds)), jac=slope, tol=1e-12)
    step = 1e-4
    curvature = np.array(
        [(slope(found.x + by) - slope(found.x - by)) / (2 * step) for by in step * np.eye(len(sds))]
    )
    expected = -minus(found.x) - 0.5 * np.linalg.slogdet(curvature)[1]
    laplace = reduced.log_density(theta)[0] - reduced._log_prior(theta)[0]
    assert laplace == pytest.approx(expected, abs=1e-5)


def test_the_gradient_is_that_of_laplace():
    reduced = laid(ratings())
    theta = np.random.default_rng(shifted(3)).normal(-0.5, 0.5, reduced.n_theta)
    gradient = reduced.log_density(theta)[1]
    assert [name for name in reduced.scales if name.startswith("gap")] == ["gap_2", "gap_3"]
    for k in range(reduced.n_theta):
        step = np.zeros(reduced.n_theta)
        step[k] = 1e-3
        above, below = (reduced.log_density(theta + by * step)[0] for by in (1, -1))
        assert gradient[k] == pytest.approx((above - below) / 2e-3, abs=1e-4)


@pytest.mark.parametrize("levels", [[0, 1, 1, 2], [0, 0, 0], [2, 2, 1, 2]])
def test_one_effect_against_quadrature(levels):
    frame = pd.DataFrame({"question": ["q"] * len(levels), "level": np.array(levels, dtype=float)})
    reduced = Ordered.of(Design.of(parse_model(ONE, "one"), frame))
    theta = np.log(np.array([1.2, 1.7]))

    def joint(effect: float, power: int = 0) -> float:
        p = probabilities(np.array([effect]), np.array([0.0, 1.7]))[0]
        return float(effect**power * np.prod(p[levels]) * stats.norm.pdf(effect, 0.3, 1.2))

    whole, first = (integrate.quad(joint, -12, 12, args=(power,))[0] for power in (0, 1))
    bound = reduced.bounds(theta[None])[0] - reduced._log_prior(theta)[0]
    assert np.log(whole) - 0.02 < bound < np.log(whole)
    drawn = reduced.draw_effects(np.tile(theta, (4000, 1)), np.random.default_rng(shifted(4)))
    assert drawn["effect"].mean() == pytest.approx(first / whole, abs=0.07)


def test_a_gap_may_be_a_number_of_the_model_file():
    text = ONE.replace(b'gap_2 = "gap"', b"gap_2 = 1.7").partition(b"[parameter.gap]")[0]
    frame = pd.DataFrame({"question": ["q", "r", "r"], "level": [0.0, 1.0, 2.0]})
    fixed = Ordered.of(Design.of(parse_model(text, "one"), frame))
    free = Ordered.of(Design.of(parse_model(ONE, "one"), frame))
    theta = np.log(np.array([1.2, 1.7]))
    without_prior = [
        reduced.log_density(at)[0] - reduced._log_prior(at)[0]
        for reduced, at in ((fixed, theta[:1]), (free, theta))
    ]
    assert without_prior[0] == pytest.approx(without_prior[1])
    assert fixed.log_density(theta[:1])[1].shape == (1,)


def test_levels_above_the_gaps_and_gaps_with_a_break_are_refused():
    frame = pd.DataFrame({"question": ["q", "r"], "level": [0.0, 3.0]})
    with pytest.raises(InputError, match="level: expected levels that are numbered from 0"):
        Design.of(parse_model(ONE, "one"), frame)
    with pytest.raises(InputError, match="gaps numbered from 2 on, without a break"):
        parse_model(ONE.replace(b"gap_2 =", b"gap_3 ="), "one")


def test_searches_that_start_elsewhere_end_at_the_same_place():
    reduced = laid(ratings())
    first, second = np.random.default_rng(5).normal(-0.5, 0.7, (2, reduced.n_theta))
    alone = reduced.bounds(second[None])[0], reduced.log_densities(second[None])[0]
    reduced.started(first)
    assert reduced.bounds(second[None])[0] == pytest.approx(alone[0], abs=1e-3)
    assert reduced.log_densities(second[None])[0] == pytest.approx(alone[1], abs=1e-3)
    again = pickle.loads(pickle.dumps(reduced))
    assert again.log_densities(second[None])[0] == pytest.approx(alone[1], abs=1e-3)


def test_the_slopes_of_a_start_are_derivatives_of_the_mode():
    reduced = laid(ratings())
    theta = np.full(reduced.n_theta, -0.2)

    def effects(theta: np.ndarray) -> np.ndarray:
        sds = reduced._sds(theta)
        with reduced._factor() as factor:
            return sds * reduced._mode(theta, sds, factor, 1e-9).standard

    reduced.log_density(theta)
    slopes = reduced._starts["mode"].slopes
    place = reduced.scales.index("gap_2")
    for k in (0, place):
        step = np.zeros(reduced.n_theta)
        step[k] = 1e-4
        differences = (effects(theta + step) - effects(theta - step)) / 2e-4
        np.testing.assert_allclose(slopes[:, k], differences, atol=1e-3)


@pytest.mark.slow
def test_a_fit_that_is_read_again_says_the_same(tmp_path):
    frame = ratings()
    fitted = bb.fit(frame, laid(frame).design.spec, seed=1, draws=200, chains=2, progress=False)
    assert fitted.sampling.method in ("variational", "laplace")
    fitted.save(tmp_path / "fit.nc")
    again = bb.load_fit(tmp_path / "fit.nc")
    for name, values in fitted.parameter_draws().items():
        np.testing.assert_array_equal(again.parameter_draws()[name], values)
    reduced = approximated(fitted.ordered, "variational")
    other = reduced.of_outcome(reduced.answers.y[::-1])
    assert isinstance(other, Ordered)
    assert other.between.sum() == reduced.between.sum()


@pytest.mark.slow
def test_the_posterior_is_that_of_pymc_row_by_row():
    """Means within .2 SDs, SDs within a tenth: effects are taken as normal given SDs and gaps."""
    rng = np.random.default_rng(8)
    frame = ratings(levels=4, share=1.0, repeats=1, seed=8)
    log_odds = 0.9 * frame["group"].eq("g1") + frame["item"].map({"i0": -0.8, "i1": 0.2, "i2": 0.9})
    latent = log_odds.to_numpy() + rng.logistic(size=len(frame))
    frame["level"] = np.digitize(latent, [0.0, 0.9, 2.1]).astype(float)
    spec = laid(frame).design.spec
    ours = bb.fit(frame, spec, seed=1, draws=2000, progress=False)
    theirs = bb.fit(frame, spec, seed=1, draws=2000, sampler="pairwise", progress=False)
    assert (ours.sampling.method, theirs.sampling.method) == ("variational", "pairwise")

    def asked(fitted: bb.BiasFit) -> dict[str, np.ndarray]:
        draws = fitted.parameter_draws()
        means = draws["arm_mean"].reshape(-1, 4)
        contrast = means[:, 2:].mean(axis=1) - means[:, :2].mean(axis=1)
        return {"difference": contrast, "gap_2": draws["gap_2"], "gap_3": draws["gap_3"]}

    found, expected = asked(ours), asked(theirs)
    for name, draws in expected.items():
        assert found[name].mean() == pytest.approx(draws.mean(), abs=0.2 * draws.std()), name
        assert found[name].std() == pytest.approx(draws.std(), rel=0.1), name
