"""The outcome of each likelihood agrees with itself, with SciPy, and with PyMC."""

import numpy as np
import pandas as pd
import pytest
from helpers import monte_carlo as mc
from helpers.models import own
from helpers.seeds import shifted
from scipy import stats

from bayesbias.core.errors import InputError
from bayesbias.inference.fitting import SAMPLERS
from bayesbias.models.design import Design
from bayesbias.models.outcomes import LIKELIHOODS
from bayesbias.models.spec import load_model

ARGUMENTS = {
    "Normal": {"sigma": 0.7},
    "StudentT": {"nu": 5.0, "sigma": 0.7},
    "Binomial": {"trials": 6.0},
    "Ordered": {"gap_2": 0.6, "gap_3": 1.1, "gap_4": 0.4},
}
MEANS = np.array([-1.2, 0.3, 1.6])
EXPECTED = {
    "Normal": MEANS,
    "StudentT": MEANS,
    "Binomial": 6 / (1 + np.exp(-MEANS)),
    "Ordered": 1 / (1 + np.exp(-MEANS)),  # of a level above the lowest
}


@pytest.mark.parametrize("name", sorted(LIKELIHOODS))
def test_draws_have_the_mean_that_is_expected(name):
    outcome = LIKELIHOODS[name]
    named = {*outcome.args, *(["trials"] if outcome.has_trials else [])}
    assert {*ARGUMENTS[name]} == named | {*outcome.optional[: len(ARGUMENTS[name]) - len(named)]}
    rng = np.random.default_rng(shifted(3))
    drawn = outcome.draw(rng, mu=MEANS, **ARGUMENTS[name], size=(4000, 3))
    trials = ARGUMENTS[name].get("trials", 1.0)
    np.testing.assert_allclose(trials * outcome.expected(MEANS), EXPECTED[name])
    if name == "Ordered":
        drawn = (drawn > 0).astype(float)
    for values, mean in zip(drawn.T, EXPECTED[name], strict=True):
        mc.assert_near(mc.mean_of(values), mean)
    assert outcome.possible(drawn[0], np.full(3, trials), ARGUMENTS[name]).all()


@pytest.mark.parametrize("name", sorted(LIKELIHOODS))
def test_the_density_is_that_of_pymc(name):
    import pymc as pm

    outcome, y = LIKELIHOODS[name], np.array([0.0, 1.0, 4.0])
    args = {arg: np.full(3, value) for arg, value in ARGUMENTS[name].items()}
    with pm.Model() as model:
        outcome.pymc("y", y, MEANS, **args)
    by_pymc = model.compile_logp(sum=False)({})
    np.testing.assert_allclose(outcome.log_density(y, mu=MEANS, **args), by_pymc[0], rtol=1e-10)


def test_ordered_levels_are_differences_of_the_logistic_distribution():
    """The density is factored for the engine; here it is the plain difference."""
    gaps = {"gap_2": 0.6, "gap_3": 1.1}
    ends = np.array([-np.inf, 0.0, 0.6, 1.7, np.inf])
    log_odds = np.linspace(-3, 3, 5)
    for level in range(4):
        density = LIKELIHOODS["Ordered"].log_density(np.full(5, level), mu=log_odds, **gaps)
        upper, lower = (stats.logistic.cdf(ends[level + k] - log_odds) for k in (1, 0))
        np.testing.assert_allclose(density, np.log(upper - lower))


def test_draws_of_levels_have_their_probabilities():
    gaps = {"gap_2": 0.6, "gap_3": 1.1}
    mu = np.full(1, 0.4)
    rng = np.random.default_rng(shifted(5))
    drawn = LIKELIHOODS["Ordered"].draw(rng, mu=mu, size=(20_000, 1), **gaps)
    for level in range(4):
        expected = np.exp(LIKELIHOODS["Ordered"].log_density(float(level), mu=mu, **gaps))[0]
        mc.assert_near(mc.mean_of((drawn[:, 0] == level).astype(float)), expected)


def test_what_a_likelihood_says_of_its_noise():
    logistic = stats.logistic.var()
    assert LIKELIHOODS["Binomial"].noise_variance == pytest.approx(logistic)
    assert [name for name, outcome in LIKELIHOODS.items() if outcome.normal] == ["Normal"]
    assert not LIKELIHOODS["Binomial"].in_units
    # An effect of each row is what a count of several trials has beyond chance.
    assert LIKELIHOODS["Binomial"].row_effects(np.array([1.0, 2.0]))
    assert not LIKELIHOODS["Binomial"].row_effects(np.ones(2))
    assert not LIKELIHOODS["Normal"].row_effects(None)


def test_every_engine_of_an_outcome_is_a_sampler():
    named = {outcome.engine for outcome in LIKELIHOODS.values()} - {""}
    assert named == {*SAMPLERS}


def test_a_design_has_the_outcome_of_its_model(table):
    assert Design.of(own(), table).outcome_type is LIKELIHOODS["StudentT"]


def test_counts_above_their_trials_are_refused():
    spec = load_model("responses_choice")
    columns = {column: ["a", "b"] for column in spec.label_columns()}
    frame = pd.DataFrame(columns).assign(chosen=[1, 3], answers=[2, 2])
    with pytest.raises(InputError, match="chosen, answers: expected counts from 0 to their number"):
        Design.of(spec, frame)
