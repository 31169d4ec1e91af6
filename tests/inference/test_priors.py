"""The prior in the units of the result."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from helpers import monte_carlo as mc
from helpers.fits import pairs
from helpers.seeds import shifted
from scipy import integrate, stats

from bayesbias.core.errors import FitError, InputError
from bayesbias.inference.priors import (
    MOST_IMPOSSIBLE,
    fits_usual_pairs,
    predictive_of_pairs,
    prior_contrasts,
    prior_expectation,
    usual_pairs,
)
from bayesbias.models.loading import DEFAULT_MODEL, load_model, parse_model

# The share of single pairs from the prior outside [0, 2], as measured; the default alone is held to 5 %. Spreads of 0.5
# on average, one for each term: each further term makes the prior of a pair wider.


@pytest.mark.slow
def test_the_default_expects_few_impossible_pairs():
    expected = prior_expectation(DEFAULT_MODEL, seed=shifted(3))
    assert expected.impossible <= MOST_IMPOSSIBLE
    assert expected.possible


@pytest.mark.slow
def test_contrasts_of_crossed_by_hand():
    """Overall a difference of two N(1, .3); a word adds two N(0, s) with s of mean 1/2, so that E s^2 = 1/2."""
    found = prior_contrasts(
        load_model("crossed"), usual_pairs(load_model("crossed")), 4000, shifted(3)
    )
    frame = found.to_dataframe(name="value").reset_index()
    overall = frame[
        (frame["level"] == "overall") & (frame["contrast"] == "associated - different")
    ]["value"]
    mc.assert_near(mc.log_sd_of(overall), np.log(0.3 * np.sqrt(2)))
    mc.assert_near(mc.mean_of(overall), 0.0)
    word = frame[(frame["level"] == "word") & (frame["contrast"] == "associated - different")]
    squares = (word["value"] ** 2).groupby(word["draw"]).mean()
    mc.assert_near(mc.mean_of(squares), 2 * 0.3**2 + 2 * 0.5)
    expected = prior_expectation("crossed", seed=shifted(3)).contrasts.set_index("level")
    assert expected.loc["overall", "sd"] == pytest.approx(0.3 * np.sqrt(2), rel=0.06)
    assert expected.loc["word", "sd"] == pytest.approx(np.sqrt(1.18), rel=0.1)
    assert (expected["hpdi_low"] < 0).all()
    assert (expected["hpdi_high"] > 0).all()
    half = stats.norm.ppf(0.945) * 0.3 * np.sqrt(2)
    assert expected.loc["overall", "hpdi_high"] - expected.loc[
        "overall", "hpdi_low"
    ] == pytest.approx(2 * half, rel=0.1)


@pytest.mark.slow
def test_the_share_of_impossible_pairs_by_quadrature():
    """Of hierarchical: a normal with variance .09 + s^2 + t^2, both spreads exponential with mean 1/2."""
    grid, weights = np.polynomial.laguerre.laggauss(40)
    s, t = np.meshgrid(grid / 2, grid / 2)
    tail = 2 * stats.norm.sf(1 / np.sqrt(0.09 + s**2 + t**2))
    share = float((weights[:, None] * weights * tail).sum())
    assert share == pytest.approx(
        integrate.dblquad(
            lambda x, y: 4 * np.exp(-2 * (x + y)) * 2 * stats.norm.sf(1 / np.sqrt(0.09 + x * x + y * y)),
            0, 15, 0, 15, epsabs=1e-5,
        )[0],
        abs=1e-3,
    )  # fmt: skip
    spec = load_model("hierarchical")
    drawn = np.stack(
        list(predictive_of_pairs(spec, usual_pairs(spec), shifted(3)).values()), axis=1
    )
    outside = ((drawn < 0) | (drawn > 2)).mean(axis=1)
    mc.assert_near(mc.mean_of(outside), share)
    expected = prior_expectation(spec, seed=shifted(3)).impossible
    assert expected == pytest.approx(share, abs=0.02)


def test_what_has_no_contrast_or_needs_a_table_is_refused():
    one = pairs()[lambda frame: frame["connection"] == "neutral"]
    with pytest.raises(FitError, match="no two connections"):
        prior_expectation("crossed", one)
    with pytest.raises(InputError, match="draws: expected a whole number of at least 2"):
        prior_expectation("crossed", draws=1)
    with pytest.raises(InputError, match="this one is missing"):
        prior_expectation("sentiment")
    assert not fits_usual_pairs(load_model("sentence"))
    with pytest.raises(InputError, match="Did you mean 'crossed'"):
        prior_expectation("crosed")
    # A table without limits to its outcome has no impossible rows.
    free = load_model("hierarchical").text.replace('outcome = "distance"', 'outcome = "rating"')
    table: pd.DataFrame = pairs().rename(columns={"distance": "rating"})
    assert prior_expectation(parse_model(free.encode(), "free"), table).impossible is None
