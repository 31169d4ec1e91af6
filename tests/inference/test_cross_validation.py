"""Pointwise values, predictions, and models compared."""

import numpy as np
import pytest
from helpers import monte_carlo as mc
from helpers.definitions import FITS, SETTINGS, fitted
from helpers.draws import made_up_fit
from helpers.seeds import shifted
from helpers.tables import grid

from bayesbias.core.errors import FitError, InputError
from bayesbias.inference.cross_validation import (
    answers_by_model,
    compare_models,
    loo,
    misfit,
    replicated,
    with_pointwise,
)
from bayesbias.inference.fitting import fit

QUICK = {"draws": 200, "tune": 200, "chains": 2, "seed": shifted(1)}


@pytest.mark.parametrize("result", FITS, indirect=True)
def test_pointwise_values_and_predictions(result):
    idata, outcome = with_pointwise(result).idata, result.spec.outcome
    sigma = result.parameter_draws()["sigma"]
    if sigma.ndim > 1:
        sigma = sigma[
            :, [result.design.coords["connection"].index(k) for k in result.table["connection"]]
        ]
    else:
        sigma = np.repeat(sigma[:, None], 55, axis=1)
    y = result.table["distance"].to_numpy()
    z = (y - fitted(result)) / sigma
    expected = -0.5 * z**2 - np.log(sigma) - 0.5 * np.log(2 * np.pi)
    found = idata["log_likelihood"][outcome]
    assert found.dims == ("chain", "draw", "pair")
    np.testing.assert_allclose(found.values.reshape(400, 55), expected, atol=1e-10)
    new = idata["posterior_predictive"][outcome].values.reshape(-1, 55)
    assert len(new) == 200
    # Each row is predicted around its fitted mean; the noise of 200 draws allows this much.
    error = new.mean(axis=0) - fitted(result).mean(axis=0)
    assert np.abs(error / (new.std(axis=0) / np.sqrt(200))).max() < mc.limit(55)
    prior = idata["prior_predictive"][outcome].values.reshape(-1, 55)
    assert prior.std() > 2 * new.std()  # the priors expect variances of 1 and more


def test_misfit_is_the_distance_from_the_counts_of_replicated_tables():
    """Total variation between deciles, minus that of a replicated table; rows in two lumps fit no normal."""
    table = grid((3, 3), (4, 4), human=20, neutral=20)
    lumps = table["distance"].mean() + np.where(np.arange(len(table)) % 2, 0.5, -0.5)
    table["distance"] = np.where(table["connection"] == "neutral", lumps, table["distance"])
    result = fit(table, "hierarchical", **QUICK)
    found, tables = misfit(result), replicated(result, 50)
    assert "neutral" in found
    for name, rows in table.groupby("connection"):
        drawn, own = tables[:, rows.index], rows["distance"].to_numpy()
        cuts = [-np.inf, *np.quantile(drawn, np.arange(1, 10) / 10), np.inf]
        shares = np.array([np.histogram(x, cuts)[0] / len(rows) for x in (own, *drawn)])
        away = np.abs(shares - shares[1:].mean(axis=0)).sum(axis=1) / 2
        beyond = away[0] > away[1:].max()
        assert found.get(name) == (pytest.approx(away[0] - away[1:].mean()) if beyond else None)


def test_ratings_of_normal_data_are_no_misfit():
    table = grid((6, 6), (6, 6))
    rng = np.random.default_rng(0)
    table["distance"] = rng.normal(0.6, 0.15, len(table)).round(1)
    assert misfit(fit(table, "hierarchical", **QUICK)) == {}
    table["distance"] = 0.6 + 0.4 * rng.choice([-1, 0, 1], len(table), p=[0.45, 0.1, 0.45])
    assert misfit(fit(table, "hierarchical", **QUICK))


@pytest.mark.parametrize("result", FITS, indirect=True)
def test_loo_is_near_the_in_sample_density(result):
    found = loo(result)
    log_lik = with_pointwise(result).idata["log_likelihood"]["distance"].values.reshape(400, 55)
    lpd = np.log(np.exp(log_lik).mean(axis=0)).sum()
    assert found.elpd == pytest.approx(lpd - found.p, abs=1e-6)
    assert 0 < found.p < 55
    assert found.pareto_k.shape == (55,)


def test_models_of_one_table_are_compared_best_first(crossed, hierarchical, additive):
    fits = {"crossed": crossed, "hierarchical": hierarchical, "additive": additive}
    frame = compare_models(fits)
    elpd = {name: loo(result).elpd for name, result in fits.items()}
    assert list(frame.index) == sorted(elpd, key=elpd.__getitem__, reverse=True)
    for name, row in frame.iterrows():
        assert abs(row["elpd_diff"]) == pytest.approx(max(elpd.values()) - elpd[name], abs=1e-9)


def test_different_tables_and_few_draws_are_refused(crossed, pairs):
    fewer = fit(pairs.frame.iloc[:-1], "additive", **SETTINGS)
    with pytest.raises(FitError, match="different tables"):
        compare_models({"crossed": crossed, "fewer": fewer})
    with pytest.raises(InputError, match="at least two fits"):
        compare_models({"crossed": crossed})
    few = made_up_fit(grid(), "crossed", draws=12)
    for asked in (loo, lambda own: own.prior_sensitivity()):
        with pytest.raises(FitError, match="expected 25 draws"):
            asked(few)


def test_each_model_answers_as_a_fit_of_its_own():
    table = grid((3, 3), (3, 3), 4, 4)
    own = fit(table, "hierarchical", **QUICK)
    frame = answers_by_model(own, ["hierarchical", "crossed"], prob=0.8)
    assert frame["model"].unique().tolist() == ["hierarchical", "crossed"]
    alone = fit(table, "crossed", **QUICK)
    expected = alone.contrasts(0.8, estimand="population", detail=True)
    expected = expected[
        expected["level"].isin(["overall", "class"])
        & (expected["contrast"] == "associated - different")
    ]
    mine = frame[frame["model"] == "crossed"]
    numbers = ["mean", "sd", "hpdi_low", "hpdi_high"]
    np.testing.assert_allclose(mine[numbers], expected[numbers], rtol=1e-9)
    assert mine["words"].tolist() == ["new"]
    # Vehtari, Gelman & Gabry (2017), equation 24: pair by pair.
    apart = (loo(alone).elpd_i - loo(own).elpd_i).to_numpy()
    worse = frame[frame["elpd_diff"] < 0].iloc[0]
    assert abs(worse["elpd_diff"]) == pytest.approx(abs(apart.sum()), abs=1e-6)
    assert worse["se_diff"] == pytest.approx(np.sqrt(len(apart)) * apart.std(), abs=1e-6)
    with pytest.raises(InputError, match="expected a model of distance"):
        answers_by_model(own, ["change"])
