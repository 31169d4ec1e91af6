"""R-hat and effective draws of many quantities at once: those of ArviZ, which takes them one by one."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import xarray as xr

from bayesbias.inference import diagnostics
from bayesbias.inference.diagnostics import r_hat_and_ess


def quantities(chains: int, length: int) -> np.ndarray:
    """Draws of many kinds, shape (chain, draw, n)."""
    rng = np.random.default_rng([chains, length])
    normal = rng.normal(size=(chains, length))
    slow = np.empty_like(normal)
    slow[:, 0] = normal[:, 0]
    for t in range(1, length):
        slow[:, t] = 0.95 * slow[:, t - 1] + normal[:, t]
    swinging = normal * np.where(np.arange(length) % 2, 1, -1) + 3 * np.where(
        np.arange(length) % 2, 1, -1
    )
    missing = normal.copy()
    missing[0, -1] = np.nan
    kinds = [
        normal,
        slow,
        swinging,
        normal + np.arange(chains)[:, None],  # chains apart
        normal * (1 + np.arange(chains))[:, None],  # of different width
        np.round(normal, 1),  # ties
        np.repeat(normal, 3, axis=1)[:, :length],  # steps refused
        rng.standard_cauchy(size=(chains, length)),
        np.cumsum(normal, axis=1),
        np.full((chains, length), 0.25),
        np.where(np.arange(length) < length // 2, 0.0, 1.0) * np.ones((chains, 1)),
        missing,
    ]
    return np.stack(kinds, axis=-1)


@pytest.mark.parametrize(
    ("chains", "length"),
    [(4, 1000), (4, 333), (2, 50), (1, 200), (3, 9), (2, 8), (2, 7), (4, 5), (2, 4)],
)
def test_they_are_those_of_arviz(chains, length, monkeypatch):
    import arviz as az

    draws = quantities(chains, length)
    data = xr.Dataset({"x": (("chain", "draw", "row"), draws)})
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = az.rhat(data)["x"].to_numpy(), az.ess(data, method="bulk")["x"].to_numpy()
    for numbers in (diagnostics._NUMBERS_AT_A_TIME, 1):  # all at once, and one by one
        monkeypatch.setattr(diagnostics, "_NUMBERS_AT_A_TIME", numbers)
        r_hat, ess = r_hat_and_ess(draws)
        np.testing.assert_allclose(r_hat, expected[0], rtol=1e-10)
        np.testing.assert_allclose(ess, expected[1], rtol=1e-7)


def test_of_too_few_draws_nothing_is_known():
    draws = np.random.default_rng(0).normal(size=(4, 3, 2))
    assert np.isnan([*r_hat_and_ess(draws)]).all()
    assert [x.shape for x in r_hat_and_ess(np.empty((4, 100, 0)))] == [(0,), (0,)]
