"""Contrasts at given values of a covariate, against the mean of the model computed by hand."""

from __future__ import annotations

import numpy as np
import pytest
from helpers import monte_carlo as mc
from helpers.draws import made_up_fit
from helpers.seeds import shifted
from helpers.tables import grid, with_covariates

import bayesbias as bb
from bayesbias.core.errors import InputError
from bayesbias.inference.held_covariates import contrasts_at
from bayesbias.models.slopes import with_slopes


def model():
    return with_slopes(
        with_slopes("default", "frequency", ["attribute_kind"], varying=["attribute"]),
        "age",
        ["protected_class"],
    )


@pytest.fixture(scope="module")
def made():
    return made_up_fit(with_covariates(grid()), model())


def by_hand(fit, **covariates):
    """Contrast of associated and different pairs, for these words: means of rows under changed covariates."""
    table = fit.table.assign(**covariates)
    design = type(fit.design).of(fit.spec, table)
    mean = design.mean(fit.draws())
    connection = fit.table["connection"].to_numpy()
    return mean[:, connection == "associated"].mean(axis=1) - mean[:, connection == "different"].mean(axis=1)


@pytest.mark.parametrize("covariates", [{"frequency": 0}, {"age": 0.0}, {"frequency": 1.5, "age": -2}])
def test_contrasts_at_are_those_of_a_table_with_these_covariates(made, covariates):
    row = contrasts_at(made, covariates, estimand="listed_words", level="overall").iloc[0]
    assert row["contrast"] == "associated - different"
    assert row["mean"] == pytest.approx(by_hand(made, **covariates).mean(), abs=1e-12)
    assert row["sd"] == pytest.approx(by_hand(made, **covariates).std(ddof=1), rel=1e-9)
    carried = contrasts_at(made, covariates, carried=True, estimand="listed_words", level="overall").iloc[0]
    assert carried["mean"] == pytest.approx((by_hand(made) - by_hand(made, **covariates)).mean(), abs=1e-12)
    own = made.contrasts(estimand="listed_words", level="overall").iloc[0]
    assert carried["mean"] == pytest.approx(own["mean"] - row["mean"], abs=1e-12)


def test_all_levels_and_their_rows_as_contrasts_has_them(made):
    frame = contrasts_at(made, {"frequency": 0})
    own = made.contrasts(estimand="population")
    keys = ["level", "name", "contrast"]
    assert set(map(tuple, frame[keys].to_numpy())) == set(map(tuple, own[keys].to_numpy()))
    assert list(frame.columns) == list(own.columns)


@pytest.mark.slow
def test_mixtures_of_a_collapsed_fit_agree_with_its_draws():
    fit = bb.fit(
        with_covariates(grid()), model(), seed=shifted(1), draws=300, chains=2, engine="quick", progress=False
    )
    assert fit.provenance["sampler"]["method"] == "collapsed"
    row = contrasts_at(fit, {"frequency": 0, "age": 0}, estimand="listed_words", level="overall").iloc[0]
    mc.assert_near(mc.mean_of(by_hand(fit, frequency=0.0, age=0.0)), row["mean"])


def test_what_the_model_has_no_slope_on_is_refused(made):
    for covariates, said in (
        ({}, "no covariate is named"),
        ({"frequenci": 0}, "did you mean 'frequency'"),
        ({"age": np.nan}, "covariates, age"),
        ({"year": 0}, "unknown covariate of the model"),
    ):
        with pytest.raises(InputError, match=said):
            contrasts_at(made, covariates)
    with pytest.raises(InputError, match="fit: model cells has no slope on a covariate"):
        contrasts_at(made_up_fit(grid(), "default"), {"age": 0})
    with pytest.raises(InputError, match="estimand"):
        contrasts_at(made, {"age": 0}, estimand="everyone")
    with pytest.raises(InputError, match="level"):
        contrasts_at(made, {"age": 0}, level="clas")
