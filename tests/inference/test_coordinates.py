"""The coordinates of NUTS: the density with the volume of the change, and a posterior near a standard normal in them."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from helpers.seeds import shifted
from helpers.tables import grid

from bayesbias.inference import coordinates as room, sampling
from bayesbias.inference.collapsed import collapse
from bayesbias.inference.coordinates import plain_coordinates, shaped_coordinates
from bayesbias.inference.sampling import CAREFUL, TARGETS, sample_theta, starting_point
from bayesbias.models.design import Design
from bayesbias.models.loading import load_model

POINTER = ctypes.POINTER(ctypes.c_double)


@pytest.fixture(scope="module", params=["default", "crossed"])
def reduced(request):
    return collapse(Design.of(load_model(request.param), grid()))


def called(reduced, coordinates):
    """Return functions of what is sampled: density and gradient, and the logarithms of the scales."""
    from bayesbias.inference.kernel_sampling import expand_callback, logp_callback, packed

    n, data = reduced.n_theta, packed(reduced.arrays, coordinates)
    density = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_uint64, POINTER, POINTER, POINTER, ctypes.c_void_p)(
        logp_callback.address
    )
    expand = ctypes.CFUNCTYPE(
        ctypes.c_int64, ctypes.c_uint64, ctypes.c_uint64, POINTER, POINTER, ctypes.c_void_p
    )(expand_callback.address)

    def value(at):
        grad, out = np.empty(n), np.empty(1)
        parts = (x.ctypes.data_as(POINTER) for x in (at, grad, out))
        assert density(n, *parts, data.ctypes.data) == 0
        return out[0], grad

    def theta(at):
        out = np.empty(n)
        assert expand(n, n, *(x.ctypes.data_as(POINTER) for x in (at, out)), data.ctypes.data) == 0
        return out

    return value, theta


@pytest.mark.parametrize("shaped", [False, True], ids=["plain", "shaped"])
def test_density_is_that_of_the_model_with_the_volume_of_the_change(reduced, shaped):
    start = starting_point(reduced)
    own = shaped_coordinates(reduced, start, 1) if shaped else plain_coordinates(reduced)
    assert own.shaped == shaped
    value, theta = called(reduced, own)
    at = np.random.default_rng(3).normal(0, 0.7, reduced.n_theta)
    at = at if shaped else np.linalg.solve(own.turn, start) + at
    step = 1e-6 * np.eye(reduced.n_theta)
    jacobian = np.array([(theta(at + by) - theta(at - by)) / 2e-6 for by in step])
    volume = np.linalg.slogdet(jacobian)[1]
    found, grad = value(at)
    constant = np.log(np.diag(own.root)).sum()  # which the sampler does without
    assert found + constant == pytest.approx(reduced.log_density(theta(at))[0] + volume, abs=1e-5)
    slope = np.array([(value(at + 10 * by)[0] - value(at - 10 * by)[0]) / 2e-5 for by in step])
    np.testing.assert_allclose(grad, slope, rtol=1e-4, atol=1e-4)


def test_the_posterior_is_near_a_standard_normal(reduced):
    value, _ = called(reduced, shaped_coordinates(reduced, starting_point(reduced), 1))
    at = np.random.default_rng(4).standard_normal((300, reduced.n_theta))
    apart = np.array([value(row)[0] for row in at]) + 0.5 * (at**2).sum(axis=1)
    plain = np.array([value(row)[0] for row in at])
    assert apart.std() < 0.5 * plain.std()


@pytest.mark.slow
def test_where_nothing_fits_plain_coordinates_are_sampled(reduced, monkeypatch):
    start = starting_point(reduced)
    assert shaped_coordinates(reduced, start, 1).shaped
    monkeypatch.setattr(room, "_LEAST_EFFICIENCY", 2.0)
    assert shaped_coordinates(reduced, start, 1) is None
    settings = {"draws": 20, "tune": 50, "chains": 2, "seed": shifted(1)}
    assert np.isfinite(sample_theta(reduced, settings, 1)).all()
    assert (settings["coordinates"], settings["target_accept"]) == ("plain", TARGETS["plain"])


@pytest.mark.parametrize("asked", [None, 0.85])
def test_steps_are_as_large_as_the_coordinates_allow_or_as_is_asked(reduced, asked):
    settings = {"draws": 20, "tune": 50, "chains": 2, "seed": shifted(1), "target_accept": asked}
    sample_theta(reduced, settings, 1)
    assert (settings["coordinates"], settings["target_accept"]) == ("shaped", asked or TARGETS["shaped"])
    assert settings["target_asked"] == asked


@pytest.mark.parametrize(("asked", "used"), [(None, CAREFUL), (0.6, 0.6)])
def test_where_a_step_diverged_smaller_ones_are_taken_unless_their_size_was_asked_for(
    reduced, asked, used, monkeypatch
):
    """As if every first run had one divergence."""
    settings = {"draws": 20, "tune": 50, "chains": 2, "seed": shifted(1), "target_accept": asked}
    sampled, targets = sampling._sample_scales, []

    def astray(reduced, settings, *others):
        targets.append(settings["target_accept"])
        found = sampled(reduced, settings, *others)
        found["sample_stats"]["diverging"][0, 3] = len(targets) == 1
        return found

    monkeypatch.setattr(sampling, "_sample_scales", astray)
    _, stats = sampling._sampled(reduced, settings, 1)
    assert settings["target_accept"] == used == targets[-1]
    assert int(stats["diverging"].sum()) == (asked is not None)
    assert len(targets) == (1 if asked else 2)
