"""Intervals and diagnostics of draws, and trouble said in words."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from helpers.definitions import edited
from helpers.seeds import shifted
from scipy.signal import lfilter

import bayesbias as bb
from bayesbias.inference.diagnostics import diagnose, r_hat_and_ess, r_hat_by_chance
from bayesbias.inference.estimates import (
    describe_draws,
    end_to_mean,
    estimates,
    labeled_draws,
    shortest_interval,
)
from bayesbias.inference.fitting import fit
from bayesbias.inference.posterior import BiasFit
from bayesbias.inference.sampling import thinned


@pytest.mark.parametrize("prob", [0.01, 0.5, 0.89, 0.999])
def test_the_shortest_interval_is_that_of_arviz_to_the_last_digit(prob):
    import arviz as az

    rng = np.random.default_rng(3)
    x = np.stack(
        [rng.normal(size=(2, 203)), rng.exponential(size=(2, 203)), np.ones((2, 203))], axis=-1
    )
    expected = az.hdi(xr.Dataset({"x": (("chain", "draw", "row"), x)}), prob=prob)["x"].to_numpy()
    assert np.array_equal(np.stack(shortest_interval(x.reshape(-1, 3), prob), axis=-1), expected)
    assert shortest_interval(x[..., 0].ravel(), prob) == tuple(expected[0])


def test_effective_draws_and_r_hat_of_known_chains():
    rng = np.random.default_rng(4)
    independent = rng.normal(size=(4, 1000, 1))
    slow = np.repeat(rng.normal(size=(4, 100, 1)), 10, axis=1)
    apart = independent + np.array([0, 0, 0, 3])[:, None, None]
    frame = describe_draws(np.concatenate([independent, slow, apart], axis=-1), 0.89)
    assert frame["ess_bulk"][0] == pytest.approx(4000, rel=0.1)
    assert frame["ess_bulk"][1] == pytest.approx(400, rel=0.25)
    assert frame["r_hat"][0] == pytest.approx(1, abs=0.005)
    assert frame["r_hat"][2] > 1.3


# -- diagnostics -----------------------------------------------------------------------------------
@pytest.fixture(scope="session")
def good(pairs) -> BiasFit:
    return fit(pairs, "additive", draws=1000, tune=500, chains=4, seed=shifted(1), pointwise=False)


def test_a_good_fit_is_said_to_be_good(good):
    found = good.diagnostics()
    assert found["ok"] is True
    assert found["problems"] == []
    assert found["divergences"] == 0
    assert 0.99 < found["max_r_hat"] < 1.01
    assert 400 < found["min_ess_bulk"] < 8000
    assert "Converged: max R-hat 1.0" in repr(good)


def test_chains_that_disagree_are_said_in_words(good):
    def apart(values):
        values[0] += 0.5

    bad = edited(good, connection_mean=apart)
    found = bad.diagnostics()
    assert not found["ok"]
    assert found["max_r_hat"] > 1.1
    assert re.search(r"R-hat reaches \d\.\d{4} in connection_mean", found["problems"][0])
    assert "Not converged: R-hat reaches" in repr(bad)


@pytest.mark.parametrize(("chains", "draws"), [(1, 300), (2, 3), (2, 1), (1, 1)])
def test_too_few_chains_or_draws_are_said(good, chains, draws):
    idata = good.sampled.copy()
    for group in ("posterior", "sample_stats"):
        part = good.sampled[group].to_dataset().isel(chain=slice(chains), draw=slice(draws))
        idata[group] = xr.DataTree(part)
    result = dataclasses.replace(good, sampled=idata)
    found = result.diagnostics()
    assert not found["ok"]
    assert found["max_r_hat"] is None
    assert f"here are {chains} of {draws}" in found["problems"][0]
    assert "Not converged: R-hat needs at least two chains" in repr(result)
    assert result.summary()["r_hat"].isna().all()


# -- prose -----------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(("kept", "draws"), [(0.0, 200), (0.9, 200), (0.97, 400)])
def test_the_error_of_an_sd_is_no_smaller_than_how_far_it_moves(kept, draws):
    """Of draws that go together the batches do too: by those alone the error was a half, or a third."""
    noise = np.random.default_rng(shifted(9)).standard_normal((4, 200 + draws, 150))
    chains = lfilter([np.sqrt(1 - kept**2)], [1, -kept], noise, axis=1)[:, 200:]
    frame = describe_draws(chains, 0.89)
    moves, error = frame["sd"].std(), np.sqrt((frame["mcse_sd"] ** 2).mean())
    assert 0.45 < moves / error < 1.25


def test_errors_of_estimates_are_how_far_these_move():
    """Of 400 sets of independent draws of one normal; a quantile's error is that of its asymptotics."""
    rng = np.random.default_rng(shifted(10))
    names = {"name": [str(k) for k in range(400)]}
    draws = labeled_draws(rng.normal(0.01, 0.03, (4, 250, 400)), names)
    frame = estimates(draws, 0.89, 0.02)
    for name in ("mean", "sd", "p_below_zero", "p_in_rope"):
        error = np.sqrt((frame[f"mcse_{name}"] ** 2).mean())
        assert frame[name].std() / error == pytest.approx(1, abs=0.15), name
    for end in ("low", "high"):
        error = np.sqrt((frame[f"mcse_{end}"] ** 2).mean())
        assert 0.5 < frame[f"hpdi_{end}"].std() / error < 1.3
    ends = np.quantile(rng.standard_normal((1000, 3000)), 0.055, axis=0)
    assert ends.std() * np.sqrt(1000) == pytest.approx(end_to_mean(0.89), rel=0.06)


def test_independent_draws_are_not_doubted_for_the_largest_of_many_r_hats():
    """Of 300 numbers with 2 x 250 independent draws each the largest R-hat passes 1.01, and means nothing."""
    rng = np.random.default_rng(0)
    draws = rng.normal(size=(2, 250, 300))
    idata = one_parameter(draws[..., 0])
    rows = described(draws).assign(mcse_low=0.0, mcse_high=0.0)
    for pareto_k in (None, 0.3):
        found = diagnose(idata, ["sd"], rows, pareto_k=pareto_k)
        assert found["max_r_hat_of_rows"] > 1.01
        assert (found["ok"], found["problems"]) == (True, [])


def test_chains_that_lie_apart_in_one_of_many_rows_are_a_problem():
    rng = np.random.default_rng(0)
    draws = rng.normal(size=(2, 250, 300))
    draws[0, :, 17] += 1.0
    rows = described(draws).assign(mcse_low=0.0, mcse_high=0.0)
    found = diagnose(one_parameter(draws[..., 0]), ["sd"], rows)
    assert "R-hat reaches" in found["problems"][0]
    assert "in the row r17" in found["problems"][0]


def one_parameter(values: np.ndarray, diverging: int = 0) -> xr.DataTree:
    """A sampled parameter, shape (chain, draw), with some divergent transitions."""
    steps = np.zeros(values.shape, dtype=bool)
    steps.ravel()[:diverging] = True
    posterior = xr.Dataset({"sd": (("chain", "draw"), values)})
    stats = xr.Dataset({"diverging": (("chain", "draw"), steps)})
    return xr.DataTree.from_dict({"posterior": posterior, "sample_stats": stats})


def described(draws: np.ndarray) -> pd.DataFrame:
    """Rows of draws, shape (chain, draw, row), called r0, r1 and so on."""
    frame = describe_draws(draws, 0.89)
    return frame.assign(row=[f"r{k}" for k in range(len(frame))])


def chains_apart(by: float) -> np.ndarray:
    """Independent draws of four chains, the first of which lies `by` SDs from the others."""
    draws = np.random.default_rng(shifted(12)).standard_normal((4, 1000))
    draws[0] += by
    return draws


@pytest.mark.parametrize(("by", "limit"), [(0.4, 1.01), (0.8, 1.05)])
def test_an_sd_may_mix_less_well_than_what_is_printed(by, limit):
    """Between both limits of R-hat an SD is accepted, and a row is not; above the wider one neither is."""
    good = described(chains_apart(0.0)[..., None])
    slow = chains_apart(by)
    found = diagnose(one_parameter(slow), ["sd"], good)
    assert found["max_r_hat"] > limit
    assert found["ok"] == (limit < 1.05)
    of_row = diagnose(one_parameter(chains_apart(0.0)), ["sd"], described(slow[..., None]))
    assert of_row["max_r_hat_of_rows"] == pytest.approx(found["max_r_hat"])
    assert "in the row r0 (it should be at most 1.01)" in of_row["problems"][0]


def test_few_effective_draws_of_an_sd_alone_are_no_problem():
    """Chains that agree have fewer than the 400 effective draws that were asked of every SD once."""
    noise = np.random.default_rng(shifted(13)).standard_normal((4, 1500))
    slow = lfilter([np.sqrt(1 - 0.85**2)], [1, -0.85], noise, axis=1)[:, 500:]
    found = diagnose(one_parameter(slow), ["sd"], described(chains_apart(0.0)[..., None]))
    assert found["min_ess_bulk"] < 600
    assert found["max_r_hat"] < 1.05
    assert found["ok"], found["problems"]


@pytest.mark.parametrize(
    ("diverging", "pareto_k", "mcse", "said"),
    [
        (3, None, 0.0, "3 divergent transitions"),
        (0, 0.8, 0.0, r"Pareto k is 0\.80 \(it should be at most 0\.7\)"),
        (0, None, 0.06, r"an end of r0 has a Monte Carlo error of 6% of the interval \(at most 5%"),
    ],
)
def test_what_is_refused_says_what_to_do(diverging, pareto_k, mcse, said):
    draws = chains_apart(0.0)
    rows = described(draws[..., None])
    rows["mcse_high"] = mcse * (rows["hpdi_high"] - rows["hpdi_low"])
    rows["mcse_low"] = 0.0
    found = diagnose(one_parameter(draws, diverging), ["sd"], rows, pareto_k)
    assert found["max_mcse"] == pytest.approx(mcse)
    (problem,) = found["problems"]
    assert re.search(said, problem)
    assert "; take " in problem


@pytest.mark.slow
def test_ends_of_an_accepted_short_fit_are_those_of_a_long_one():
    """Fits with too few effective draws of some SD for the former rule, but ends that are known."""
    table = bb.distance_table("minilm-static", "gender", controls="none")
    long = fit(table, seed=shifted(1), draws=4000)
    accepted, fewest = 0, []
    for seed in range(20, 24):
        short = fit(table, seed=shifted(seed), draws=300, tune=300)
        found = short.diagnostics()
        fewest.append(found["min_ess_bulk"])
        if not found["ok"]:
            continue
        accepted += 1
        for estimand in ("population", "listed_words"):
            a, b = (
                each.contrast_rows(estimand=estimand, level="overall") for each in (short, long)
            )
            width = a["hpdi_high"] - a["hpdi_low"]
            for end in ("low", "high"):
                error = np.hypot(a[f"mcse_{end}"], b[f"mcse_{end}"])
                assert (error <= 0.06 * width).all()
                assert ((a[f"hpdi_{end}"] - b[f"hpdi_{end}"]).abs() < 5 * error).all(), (seed, end)
    assert accepted >= 3
    assert min(fewest) < 400


def test_divergences_of_draws_that_are_left_out_count():
    """Of a longer run each fourth draw is kept, and says whether one of its four diverged."""
    diverging = np.zeros((2, 12), dtype=bool)
    diverging[0, 3], diverging[1, 8], diverging[1, 11] = True, True, True
    theta = np.arange(24.0).reshape(2, 12)
    drawn = xr.Dataset(
        {"theta": (("chain", "draw"), theta), "diverging": (("chain", "draw"), diverging)}
    )
    kept = thinned(drawn, 4)
    np.testing.assert_array_equal(kept["theta"], theta[:, ::4])
    np.testing.assert_array_equal(kept["diverging"], [[1, 0, 0], [0, 0, 1]])
    assert kept["draw"].to_numpy().tolist() == [0, 1, 2]


@pytest.mark.slow
def test_r_hat_of_independent_draws_seldom_passes_its_limit():
    """The largest of 28 rows, in 1,000 fits of 4 x 250 draws; 1.01 alone is passed far more often."""
    rng, limit = np.random.default_rng(4), r_hat_by_chance(4, 250, 28)
    largest = [r_hat_and_ess(rng.standard_normal((4, 250, 28)))[0].max() for _ in range(1000)]
    assert np.mean(np.array(largest) > limit) <= 0.005
    assert np.mean(np.array(largest) > 1.01) >= 0.01
