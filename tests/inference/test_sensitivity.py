"""Power scaling of the priors: ArviZ's on densities by hand, and what it must say."""

import arviz as az
import numpy as np
import pytest
import xarray as xr
from helpers.seeds import shifted
from helpers.tables import grid
from scipy import stats

import bayesbias as bb
from bayesbias.core.errors import FitError
from bayesbias.inference import priors as sensitivity
from bayesbias.inference.cross_validation import with_pointwise
from bayesbias.inference.fitting import fit

QUICK = {"draws": 250, "tune": 500, "seed": shifted(1)}


@pytest.fixture(scope="module")
def small():
    return fit(grid((2, 2), (2, 2), human=2, neutral=2, seed=3), "crossed", **QUICK)


def test_equal_to_arviz_on_densities_by_hand(small):
    frame = small.prior_sensitivity()
    posterior = small.idata["posterior"]
    prior = {
        "connection_mean": xr.zeros_like(posterior["connection_mean"])
        + stats.norm(1, 0.3).logpdf(posterior["connection_mean"])
    }
    for name in ("word_by_connection_sd", "attribute_sd", "sigma"):
        prior[name] = xr.zeros_like(posterior[name]) + stats.expon(scale=0.5).logpdf(
            posterior[name]
        )
    contrasts = small.table_draws("contrasts", estimand="population")
    labels = zip(
        *(contrasts[name].to_numpy() for name in ("level", "name", "contrast")), strict=True
    )
    rows = {key: k for k, key in enumerate(labels)}
    at = [rows[tuple(key)] for key in frame[["level", "name", "contrast"]].to_numpy()]
    idata = xr.DataTree.from_dict(
        {
            "posterior": xr.Dataset(
                {"x": (("chain", "draw", "row"), contrasts.to_numpy()[..., at])}
            ),
            "log_prior": xr.Dataset(prior),
            "log_likelihood": with_pointwise(small).idata["log_likelihood"].to_dataset(),
        }
    )
    for group in ("prior", "likelihood"):
        np.testing.assert_allclose(
            frame[group], az.psense(idata, group=group)["x"], rtol=1e-6, atol=1e-9
        )
    assert set(frame["level"]) == {"overall"}


def test_priors_of_twice_the_weight_shift_a_contrast_by_their_derivative(small):
    """Of weighted draws, whose priors are raised to a power just above one."""
    draws = small.scales_and_effects(
        {"connection_mean", "word_by_connection_sd", "attribute_sd", "sigma"}
    )
    log_prior = stats.norm(1, 0.3).logpdf(draws["connection_mean"]).sum(axis=1)
    for name in ("word_by_connection_sd", "attribute_sd", "sigma"):
        log_prior += stats.expon(scale=0.5).logpdf(draws[name]).reshape(len(log_prior), -1).sum(1)
    labels = small.design.coords["connection"]
    near, far = (labels.index(name) for name in ("associated", "different"))
    value = draws["connection_mean"][:, near] - draws["connection_mean"][:, far]
    step = 1e-5
    weights = np.exp(step * (log_prior - log_prior.mean()))
    mean = np.average(value, weights=weights)
    sd = np.sqrt(np.average((value - mean) ** 2, weights=weights))
    expected = [(mean - value.mean()) / value.std(), sd / value.std() - 1]
    found = sensitivity.prior_shift(small)
    np.testing.assert_allclose(found, np.array(expected) / step * np.log(2), rtol=1e-3, atol=1e-4)


def test_few_words_depend_on_the_prior_and_many_do_not():
    table = grid((2, 1), (1, 1), human=0, neutral=0, seed=2)
    table = table.assign(distance=table["distance"] + 0.8 * (table["connection"] == "different"))
    row = fit(table, "crossed", **QUICK).prior_sensitivity().iloc[0]
    assert row["prior"] > sensitivity.SENSITIVE
    assert row["parameter"] == "connection_mean"
    assert row["diagnosis"] in ("strong prior", "prior-data conflict")
    many = fit(grid((6, 6), (12, 12), 20, 20), "crossed", **QUICK).prior_sensitivity()
    assert (many["prior"] < sensitivity.SENSITIVE).all()
    assert set(many["diagnosis"]) == {""}


def test_it_is_unknown_where_weights_fail(small, monkeypatch):
    monkeypatch.setattr(sensitivity, "MOST_PARETO_K", -np.inf)
    frame = sensitivity.prior_sensitivity(small)
    assert set(frame["diagnosis"]) == {"unknown"}
    assert frame["prior"].isna().all()


def test_of_sentiment_the_means_are_asked_for_and_no_contrast_is_refused():
    frame = fit(
        bb.sentiment_table(bb.list_predictions("m1")), "sentiment", **QUICK
    ).prior_sensitivity()
    assert frame["contrast"].tolist() == ["m1"]
    one = (
        grid((2, 2), (2, 2), human=2, neutral=2)
        .query("connection == 'associated'")
        .reset_index(drop=True)
    )
    with pytest.raises(FitError, match="two connections that are contrasted"):
        fit(one, "hierarchical", **QUICK).prior_sensitivity()
