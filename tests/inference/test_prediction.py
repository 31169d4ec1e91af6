"""Pointwise values, predictions, and models compared."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from helpers import monte_carlo as mc
from helpers.definitions import FITS, SETTINGS, fitted
from helpers.draws import made_up_fit
from helpers.seeds import shifted
from helpers.tables import grid

from bayesbias.core.errors import FitError, InputError
from bayesbias.inference.fitting import fit
from bayesbias.inference.power import power_scaling
from bayesbias.inference.prediction import compare_models, error_of_elpd, loo, with_pointwise


@pytest.mark.parametrize("result", FITS, indirect=True)
def test_pointwise_values_and_predictions(result):
    idata, outcome = with_pointwise(result).idata, result.spec.outcome
    sigma = result.draws()["sigma"]
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
    np.testing.assert_array_equal(idata["observed_data"][outcome].values, y)
    new = idata["posterior_predictive"][outcome].values.reshape(-1, 55)
    assert len(new) == 200
    # Each row is predicted around its fitted mean; the noise of 200 draws allows this much.
    error = new.mean(axis=0) - fitted(result).mean(axis=0)
    assert np.abs(error / (new.std(axis=0) / np.sqrt(200))).max() < mc.limit(55)
    prior = idata["prior_predictive"][outcome].values.reshape(-1, 55)
    assert (
        prior.std() > 2 * new.std()
    )  # the priors expect variances of 1 and more, known to 5 % from 200 draws


def test_a_fit_may_be_asked_to_hold_them(pairs, crossed):
    held = fit(pairs, "crossed", **SETTINGS, pointwise=True).idata
    for group in ("log_likelihood", "posterior_predictive", "prior_predictive"):
        assert held[group].equals(with_pointwise(crossed).idata[group])


@pytest.mark.parametrize("result", FITS, indirect=True)
def test_loo_runs_without_warnings_and_is_near_the_in_sample_density(result):
    found = loo(result)
    assert "log_likelihood" not in result.idata.children  # made for the question, and not kept
    log_lik = with_pointwise(result).idata["log_likelihood"]["distance"].values.reshape(400, 55)
    lpd = np.log(np.exp(log_lik).mean(axis=0)).sum()
    assert found.elpd < lpd
    assert found.elpd == pytest.approx(lpd - found.p, abs=1e-6)
    assert 0 < found.p < 55
    assert found.pareto_k.shape == (55,)


def test_models_of_one_table_are_compared_best_first(crossed, hierarchical, additive):
    fits = {"crossed": crossed, "hierarchical": hierarchical, "additive": additive}
    frame = compare_models(fits)
    elpd = {name: loo(result).elpd for name, result in fits.items()}
    assert list(frame.index) == sorted(elpd, key=elpd.__getitem__, reverse=True)
    for name, row in frame.iterrows():
        assert row["elpd"] == pytest.approx(elpd[name])
        assert abs(row["elpd_diff"]) == pytest.approx(max(elpd.values()) - elpd[name], abs=1e-9)
    assert frame["rank"].tolist() == [0, 1, 2]
    pd.testing.assert_frame_equal(compare_models(pd.Series(fits)), frame)


def test_different_tables_are_not_compared(crossed, pairs):
    other = fit(pairs.frame.iloc[::-1], "additive", **SETTINGS)
    with pytest.raises(FitError, match="other and crossed were fitted to different tables"):
        compare_models({"crossed": crossed, "other": other})
    fewer = fit(pairs.frame.iloc[:-1], "additive", **SETTINGS)
    with pytest.raises(FitError, match="different tables"):
        compare_models({"crossed": crossed, "fewer": fewer})
    with pytest.raises(InputError, match=r"at least two fits; found: \['crossed'\]"):
        compare_models({"crossed": crossed})


def test_few_draws_are_not_weighed():
    few = made_up_fit(grid(), "crossed", draws=12)
    for asked in (loo, power_scaling, lambda fit: compare_models({"a": fit, "b": fit})):
        with pytest.raises(
            FitError, match="needs 25 draws or more, of all chains, and here are 24"
        ):
            asked(few)
    assert set(few.prior_sensitivity()["how"]) == {"not_refitted"}


@pytest.mark.slow
def test_an_effect_of_class_and_attribute_says_nothing_of_new_attributes():
    """In shared the population contrast of a class is one of its words' cell means alone; m cancels."""
    table = grid((3, 3), (3, 3), 4, 4)
    result = fit(table, "shared", seed=shifted(1), draws=200, tune=200, chains=2, pointwise=False)
    c, words = result.draws()["word_by_connection"], result.design.coords["protected_word"]
    own = [i for i, word in enumerate(words) if word.startswith("w0")]
    by_hand = c[:, own, 0].mean(axis=1) - c[:, own, 1].mean(axis=1)
    own = result.draws_of("contrasts", estimand="population", level="class")
    row = np.flatnonzero((own["name"] == "class0") & (own["contrast"] == "associated - different"))[
        0
    ]
    np.testing.assert_allclose(own.to_numpy()[..., row].ravel(), by_hand, atol=1e-12)


def test_the_error_of_elpd_is_how_much_it_moves_with_the_draws():
    """Draws of a mean from its posterior, of observations that all share them: held to the spread over other draws."""
    rng = np.random.default_rng(shifted(8))
    y = np.array([-0.5, 0.1, 0.4, 1.0, 1.4])
    found, errors = [], []
    for _ in range(120):
        mu = rng.normal(y.mean(), 1 / np.sqrt(len(y)), size=(2, 200))
        log_p = -0.5 * (y - mu[..., None]) ** 2 - 0.5 * np.log(2 * np.pi)
        log_w = -log_p
        weights = np.exp(log_w) / np.exp(log_w).sum(axis=(0, 1))
        elpd_i = np.log((weights * np.exp(log_p)).sum(axis=(0, 1)))
        found.append(elpd_i.sum())
        errors.append(error_of_elpd(log_p, log_w, elpd_i))
    ratio = np.mean(errors) / np.std(found, ddof=1)
    # The spread is known to 1 / sqrt(2 * 120) of itself; effective draws by ranks are counted rather too low.
    assert np.exp(-5 / np.sqrt(240)) < ratio < 1.5 * np.exp(5 / np.sqrt(240))


@pytest.mark.parametrize("name", ["", "a\tb", 3])
def test_names_of_compared_fits_are_texts_of_one_line(name, crossed):
    with pytest.raises(InputError, match=r"^fit number 2: "):
        compare_models({"a": crossed, name: crossed})
