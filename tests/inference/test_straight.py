"""Coordinates for importance sampling: their volume, gradient and mode, against differences and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.tables import grid
from scipy import stats

from bayesbias.inference.collapsed import collapse
from bayesbias.inference.straight import Straight, same_rows
from bayesbias.models.design import Design
from bayesbias.models.loading import load_model, parse_model

# Three spreads of one and the same effect of a word: the data see the sum of their squares.
THRICE = b"""
schema = 1
name = "thrice"
description = "for the test"
[likelihood]
outcome = "distance"
distribution = "Normal"
mu = ["g", "a", "b", "word_by_connection"]
sigma = "sigma"
[parameter.g]
distribution = "Normal"
mu = 1
sigma = 0.3
[parameter.a]
dims = ["protected_word"]
distribution = "Normal"
mu = 0
sigma = "as"
[parameter.b]
dims = ["protected_word"]
distribution = "Normal"
mu = 0
sigma = "bs"
[parameter.word_by_connection]
dims = ["protected_word"]
distribution = "Normal"
mu = 0
sigma = "cs"
[parameter.as]
distribution = "Exponential"
lam = 10
[parameter.bs]
distribution = "Exponential"
lam = 10
[parameter.cs]
distribution = "HalfNormal"
sigma = 0.1
[parameter.sigma]
distribution = "Exponential"
lam = 10
"""


@pytest.fixture(scope="module", params=["default", "shared", "thrice"])
def straight(request) -> Straight:
    spec = parse_model(THRICE, "thrice") if request.param == "thrice" else load_model(request.param)
    return Straight(collapse(Design.of(spec, grid())))


def points(straight: Straight, n: int = 4) -> np.ndarray:
    size = straight.reduced.n_theta
    start = straight.at(np.random.default_rng(1).normal(-2, 0.4, (n, size)))
    assert np.isfinite(start).all()
    return start


def test_spreads_of_the_same_rows_are_found(straight):
    reduced = straight.reduced
    names = [f"{name}{k}" for name in reduced.scales for k in range(reduced.design.size(name))]
    pairs = {(names[a], names[b]) for a, b in same_rows(reduced)}
    connections, kinds = (
        reduced.design.coords.get(dim, []) for dim in ("connection", "attribute_kind")
    )
    word_gaps = {
        (f"csd{connections.index(kind)}", f"ms{kinds.index(kind)}")
        for kind in kinds
        if kind != "stereotype"
    }
    expected = {"default": set(), "shared": word_gaps, "thrice": {("as0", "bs0"), ("as0", "cs0")}}
    assert pairs == expected[reduced.design.spec.name]


def test_there_and_back(straight):
    at = points(straight)
    theta, _ = straight.theta(at)
    np.testing.assert_allclose(straight.at(theta), at, atol=1e-10)


def test_volume_is_the_determinant(straight):
    at = points(straight, 1)
    size = straight.reduced.n_theta
    step = 1e-6 * np.eye(size)
    ends = [straight.theta(at + sign * step)[0] for sign in (1, -1)]
    numeric = np.linalg.slogdet((ends[0] - ends[1]) / 2e-6)[1]
    assert straight.theta(at)[1][0] == pytest.approx(numeric, abs=1e-6)


def test_gradient_equals_differences(straight):
    at = points(straight, 1)
    step = 1e-5 * np.eye(straight.reduced.n_theta)
    numeric = (straight.log_density(at + step) - straight.log_density(at - step)) / 2e-5
    np.testing.assert_allclose(straight.gradient(at)[0], numeric, atol=1e-4, rtol=1e-5)


def test_a_fraction_of_variance_under_even_priors_is_flat():
    """Of two spreads of the same rows, small beside a flat prior of each, every angle is as likely: a standard normal."""
    flat = THRICE.replace(b'"b", "word_by_connection"]', b'"b"]').replace(
        b"lam = 10", b"lam = 0.001"
    )
    for third in (
        b'[parameter.word_by_connection]\ndims = ["protected_word"]\ndistribution = "Normal"\nmu = 0\nsigma = "cs"\n',
        b'[parameter.cs]\ndistribution = "HalfNormal"\nsigma = 0.1\n',
    ):
        assert third in flat
        flat = flat.replace(third, b"")
    spec = parse_model(flat, "twice")
    straight = Straight(collapse(Design.of(spec, grid())))
    ((size, angle),) = straight.pairs
    at = np.repeat(points(straight, 1), 9, axis=0)
    at[:, size], at[:, angle] = np.log(0.05), np.linspace(-4, 4, 9)
    found = straight.log_density(at)
    np.testing.assert_allclose(
        found - found[4], stats.norm.logpdf(at[:, angle]) - stats.norm.logpdf(0), atol=1e-3
    )


def test_the_mode_is_flat_and_high(straight):
    start = np.where(straight.reduced.factor_places(), 0.0, np.log(0.05))
    mode, height = straight.mode(straight.at(start[None])[0])
    assert np.abs(straight.gradient(mode[None])).max() < 0.05
    covariance = straight.covariance(mode)
    assert (np.linalg.eigvalsh(covariance) > 0).all()
    around = mode + 0.1 * np.linalg.cholesky(covariance).T
    assert (straight.log_density(around) < height).all()


def test_no_start_has_no_mode(straight):
    assert straight.mode(np.full(straight.reduced.n_theta, 1e4))[1] == -np.inf


def test_who_comes_near_a_known_mode_need_not_climb(straight):
    start = straight.at(np.where(straight.reduced.factor_places(), 0.0, np.log(0.05))[None])[0]
    mode, height = straight.mode(start)
    sd = np.sqrt(np.diag(straight.covariance(mode)))
    near, its = straight.mode(start - 1.0, mode, 0.5 * sd)
    assert its <= height + 1e-4
    assert (np.abs(near - mode) < 0.5 * sd).all()
