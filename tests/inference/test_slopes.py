"""Slopes on covariates: held to dense algebra, to what is added to the mean, and to their units."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest
from helpers.draws import made_up_fit
from helpers.fits import made_up, pairs
from helpers.tables import grid, opinions, sentences, with_covariates

from bayesbias.inference import estimates
from bayesbias.inference.likelihood import collapse
from bayesbias.inference.linear import Rotated
from bayesbias.inference.slopes import contrasts_at, slope_quantities
from bayesbias.models.design import Design
from bayesbias.models.variants import slopes_for, with_slopes

CHANGES = with_covariates(grid()).assign(change=lambda own: own["distance"] - 0.9)
OPINIONS = opinions().assign(pay=lambda own: own["profession"].str[1].astype(float) - 1.4)
# Control words have no share of women: with_covariates_known makes it zero.
SHARES = with_covariates(grid()).assign(
    share=lambda own: own["age"].where(~own["attribute_kind"].isin(["human", "neutral"]), 0.0)
)


def table_of(name: str) -> tuple[str, pd.DataFrame, str]:
    return {
        "default": ("default", with_covariates(grid()), "frequency"),
        "cells, attributes without controls": ("default", SHARES, "share"),
        "change": ("change", CHANGES, "age"),
        "sentence": ("sentence", with_covariates(sentences()), "frequency"),
        "sentiment": ("sentiment", OPINIONS, "pay"),
    }[name]


def of_effects(
    design: Design, function, theta: dict[str, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Return what a function of all parameters is where effects are at their centre, and what each effect adds."""
    spec, names = design.spec, design.spec.location_parameters()
    sizes = [design.size(name) for name in names]
    own = np.concatenate([np.zeros((1, sum(sizes))), np.eye(sum(sizes))])
    draws, start = dict(theta), 0
    for name, size in zip(names, sizes, strict=True):
        mu = spec.parameters[name].args["mu"]
        centre = (
            draws[mu].reshape(len(own), -1)[:, design.parent[name, "mu"]]
            if isinstance(mu, str)
            else mu
        )
        draws[name] = (own[:, start : start + size] + centre).reshape(len(own), *design.shape(name))
        start += size
    values = function(draws)
    return values[0], (values[1:] - values[0]).T


@pytest.mark.parametrize(
    "name", ["default", "cells, attributes without controls", "change", "sentence", "sentiment"]
)
@pytest.mark.parametrize("contrasted", [False, True], ids=["means", "contrasts"])
@pytest.mark.slow
def test_slopes_are_those_of_dense_algebra(name, contrasted):
    """The posterior of normal effects given the scales, from the whole covariance of all rows, to 1e-8."""
    model, table, covariate = table_of(name)
    design = Design.of(slopes_for(model, table, covariate), table)
    spec, reduced = design.spec, collapse(design)
    theta = np.random.default_rng(4).normal(-2, 0.4, (1, reduced.n_theta))
    asked = slope_quantities(design, covariate, contrasted)
    assert asked.keys
    mean, variance = Rotated.of(reduced, asked.linear).moments(reduced, theta)

    n = 1 + sum(design.size(name) for name in spec.location_parameters())
    scales = reduced.scales_of(np.repeat(theta, n, axis=0))
    y0, to_rows = of_effects(
        design, lambda draws: np.stack([design.mean(at(draws, k)) for k in range(n)]), scales
    )
    s0, to_slopes = of_effects(design, lambda draws: asked.linear.draws(draws), scales)
    one = {name: values[0] for name, values in scales.items()}
    prior = []
    for parameter in spec.location_parameters():
        sigma = spec.parameters[parameter].args["sigma"]
        own = (
            np.ravel(one[sigma])[design.parent[parameter, "sigma"]]
            if isinstance(sigma, str)
            else sigma
        )
        prior.append(np.broadcast_to(own, design.size(parameter)) ** 2)
    d = np.concatenate(prior)
    noise = np.broadcast_to(design.noise(one, "sigma"), len(design.y)) ** 2
    whole = (to_rows * d) @ to_rows.T + np.diag(noise)
    gain = np.linalg.solve(whole, (to_rows * d) @ to_slopes.T).T
    np.testing.assert_allclose(mean[0], s0 + gain @ (design.y - y0), atol=1e-8)
    expected = ((to_slopes**2) * d).sum(axis=1) - np.einsum(
        "sr,sr->s", gain, (to_slopes * d) @ to_rows.T
    )
    np.testing.assert_allclose(variance[0], expected, atol=1e-8)


def at(draws, k):
    return {name: values[k] for name, values in draws.items()}


@pytest.fixture(scope="module")
def sloped():
    """Draws by hand: the slope is 0.05, of pairs with own stereotypes 0.02 more."""
    table = with_covariates(pairs()).drop(columns=["age"])
    values = {
        "slope_year": 0.05,
        "slope_year_connection": lambda connection: 0.02 if connection == "associated" else 0.0,
    }
    fit = made_up(table, with_slopes("crossed", "year", varying=["attribute"]), values, sd=1e-5)
    about = {"year": {"of": "year", "scale": 20.0, "center": 1900.0}}
    return dataclasses.replace(
        fit, provenance={**fit.provenance, "table": {"name": "t", "covariates": about}}
    )


def test_the_table_adds_the_terms_up_and_gives_both_units(sloped):
    frame = sloped.slopes(0.5).set_index("of")
    assert set(frame["level"]) == {"overall"}
    assert frame.loc["associated", "mean"] == pytest.approx(0.07, abs=1e-4)
    assert frame.loc["neutral", "mean"] == pytest.approx(0.05, abs=1e-4)
    assert frame.loc["associated - different", "mean"] == pytest.approx(0.02, abs=1e-4)
    assert frame.loc["associated", "p_below_zero"] == 0
    np.testing.assert_allclose(frame["per_unit"] * 20, frame["mean"])
    np.testing.assert_allclose(frame["per_unit_high"] * 20, frame["hpdi_high"])
    assert set(frame["prob"]) == {0.5}
    draws = sloped.table_draws("slopes")
    assert draws["of"].to_numpy().tolist() == list(frame.index)
    np.testing.assert_allclose(draws.mean(("chain", "draw")), frame["mean"], atol=1e-5)


def test_levels_whose_slopes_are_all_those_overall_are_left_out():
    spec = with_slopes("default", "year", ["protected_class"])
    values = {"slope_year_protected_class": lambda name: 0.1 if name == "class0" else -0.1}
    scales = {name: 0.1 for name, about in spec.parameters.items() if about.positive}
    frame = made_up(with_covariates(grid()), spec, scales | values, sd=1e-5).slopes()
    assert set(frame["level"]) == {"overall", "class", "attribute_set"}
    of_first = frame.query("level == 'class' and name == 'class0' and of == 'associated'")
    assert of_first["mean"].item() == pytest.approx(0.1, abs=1e-4)
    # All connections of a class have the slope of the class, so that its contrasts have none by the form of the model.
    contrasts = frame[frame["of"].str.contains(" - ", regex=False)]
    assert "class" not in set(contrasts["level"])
    of_lists = contrasts[contrasts["level"] == "attribute_set"]
    assert of_lists.set_index("name")["mean"]["class0"] == pytest.approx(0.2, abs=1e-4)


@pytest.fixture(scope="module")
def made():
    model = with_slopes("default", "frequency", ["attribute_kind"], varying=["attribute"])
    return made_up_fit(with_covariates(grid()), with_slopes(model, "age", ["protected_class"]))


def mean_under(fit, **covariates):
    """Contrast of associated and different pairs, for these words: means of rows under changed covariates."""
    mean = Design.of(fit.spec, fit.table.assign(**covariates)).mean(fit.parameter_draws())
    connection = fit.table["connection"].to_numpy()
    return mean[:, connection == "associated"].mean(axis=1) - mean[
        :, connection == "different"
    ].mean(axis=1)


@pytest.mark.parametrize(
    "covariates", [{"frequency": 0}, {"age": 0.0}, {"frequency": 1.5, "age": -2}]
)
def test_contrasts_at_are_those_of_a_table_with_these_covariates(made, covariates):
    row = contrasts_at(made, covariates, estimand="listed_words", level="overall").iloc[0]
    held = mean_under(made, **covariates)
    assert row["contrast"] == "associated - different"
    assert row["mean"] == pytest.approx(held.mean(), abs=1e-12)
    assert row["sd"] == pytest.approx(held.std(ddof=1), rel=1e-9)
    frame, own = contrasts_at(made, covariates), made.contrast_rows(estimand="population")
    keys = ["level", "name", "contrast"]
    assert frame[keys].to_numpy().tolist() == own[keys].to_numpy().tolist()
    assert list(frame.columns) == list(own.columns)


def test_a_new_column_of_estimates_stays_out_of_slopes_and_new_words(monkeypatch):
    table = with_covariates(grid())
    spec = with_slopes("default", "frequency", ["attribute_kind"])
    before = made_up_fit(table, spec)
    tables = {"slopes": list(before.slopes()), "new_words": list(before.new_words())}
    described = estimates.estimates

    def with_another_column(*arguments, **named):
        return described(*arguments, **named).assign(median=0.0)

    monkeypatch.setattr(estimates, "estimates", with_another_column)
    fit = made_up_fit(table, spec)
    assert "median" in fit.contrasts()
    assert {name: list(getattr(fit, name)()) for name in tables} == tables
