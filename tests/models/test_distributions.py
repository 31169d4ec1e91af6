"""Densities and draws, held to scipy."""

from __future__ import annotations

import numpy as np
import pytest
from helpers import monte_carlo as mc
from helpers.models import OWN, own
from helpers.seeds import shifted
from scipy import stats

from bayesbias.core.errors import InputError
from bayesbias.models.design import Design
from bayesbias.models.distributions import DISTRIBUTIONS, Distribution
from bayesbias.models.outcomes import LIKELIHOODS


@pytest.fixture(scope="module")
def values() -> dict[str, np.ndarray]:
    """Arbitrary parameter values for the own model, two chains of three draws."""
    rng = np.random.default_rng(5)
    shapes = {
        "word_by_connection": (3, 4),
        "connection_mean": (4,),
        "word_by_connection_sd": (4,),
        "attribute_effect": (6,),
        "attribute_sd": (3,),
        "shift": (),
        "sigma": (3, 4),
    }
    return {
        name: np.exp(rng.normal(-1, 0.3, (2, 3, *shape)))
        if name in ("word_by_connection_sd", "attribute_sd", "sigma")
        else rng.normal(0.5, 0.2, (2, 3, *shape))
        for name, shape in shapes.items()
    }


def by_hand(design, values, table):
    """Mean and sigma of each row, from the labels."""
    at = {dim: labels.index for dim, labels in design.coords.items()}
    mean, sigma = [], []
    for row in table.itertuples():
        k, w, a = (
            at["connection"](row.connection),
            at["protected_word"](row.protected_word),
            at["attribute"](row.attribute),
        )
        mean.append(
            values["word_by_connection"][..., w, k]
            + values["attribute_effect"][..., a]
            + values["shift"]
        )
        sigma.append(values["sigma"][..., at["attribute_kind"](row.attribute_kind), k])
    return np.stack(mean, axis=-1), np.stack(sigma, axis=-1)


def test_mean_and_log_likelihood_equal_scipy(table, values):
    design = Design.of(own(), table)
    mean, sigma = by_hand(design, values, table)
    np.testing.assert_allclose(design.mean(values), mean, rtol=1e-13)
    expected = stats.t.logpdf(design.y, df=4, loc=mean, scale=sigma)
    np.testing.assert_allclose(design.log_likelihood(values), expected, rtol=1e-11)

    normal = own(('distribution = "StudentT"\nnu = 4', 'distribution = "Normal"'))
    expected = stats.norm.logpdf(design.y, loc=mean, scale=sigma)
    np.testing.assert_allclose(
        Design.of(normal, table).log_likelihood(values), expected, rtol=1e-12
    )

    with_nu = own(
        ("nu = 4", 'nu = "nu"'),
        ("[parameter.word_by_connection_sd]", NU + "[parameter.word_by_connection_sd]"),
    )
    nu = np.array([[2.5, 4.0, 30.0], [1.0, 7.0, 1e4]])
    expected = stats.t.logpdf(design.y, df=nu[..., None], loc=mean, scale=sigma)
    found = Design.of(with_nu, table).log_likelihood(values | {"nu": nu})
    np.testing.assert_allclose(found, expected, rtol=1e-9)

    fixed = own(('sigma = "sigma"', "sigma = 0.2"), (OWN[OWN.index("[parameter.sigma]") :], ""))
    expected = stats.t.logpdf(design.y, df=4, loc=mean, scale=0.2)
    np.testing.assert_allclose(Design.of(fixed, table).log_likelihood(values), expected, rtol=1e-11)


NU = '[parameter.nu]\ndistribution = "Gamma"\nalpha = 2\nbeta = 0.1\n'


def test_outcome_draws_have_mean_spread_and_shape_of_the_likelihood(table, values):
    design = Design.of(own(), table)
    many = {
        name: np.broadcast_to(value[1, 2], (4000, *value.shape[2:]))
        for name, value in values.items()
    }
    mean, sigma = (x[1, 2] for x in by_hand(design, values, table))
    drawn = design.outcome_draws(many, seed=shifted(1))
    assert drawn.shape == (4000, len(table))
    worst = min(stats.kstest(z, stats.t(4).cdf).pvalue for z in ((drawn - mean) / sigma).T)
    assert worst > mc.CHANCE / len(table)
    assert np.array_equal(drawn, design.outcome_draws(many, seed=shifted(1)))
    assert not np.array_equal(drawn, design.outcome_draws(many, seed=shifted(2)))

    normal = own(('distribution = "StudentT"\nnu = 4', 'distribution = "Normal"'))
    z = (Design.of(normal, table).outcome_draws(many, seed=shifted(1)) - mean) / sigma
    assert min(stats.kstest(column, "norm").pvalue for column in z.T) > mc.CHANCE / len(table)
    apart = abs(np.corrcoef(z.T)[np.triu_indices(len(table), 1)]) * np.sqrt(4000)
    assert apart.max() < mc.limit(apart.size)


# Arguments as PyMC has them, and the distribution function from SciPy.
LAWS = {
    "Normal": ({"mu": 1.0, "sigma": 0.3}, stats.norm(1, 0.3).cdf),
    "StudentT": ({"nu": 3.0, "mu": 0.5, "sigma": 2.0}, stats.t(3, 0.5, 2).cdf),
    "Exponential": ({"lam": 4.0}, stats.expon(scale=1 / 4).cdf),
    "Gamma": ({"alpha": 2.0, "beta": 0.1}, stats.gamma(2, scale=10).cdf),
    "HalfCauchy": ({"beta": 2.0}, stats.halfcauchy(scale=2).cdf),
    "HalfNormal": ({"sigma": 0.5}, stats.halfnorm(scale=0.5).cdf),
    "HalfStudentT": ({"nu": 3.0, "sigma": 0.5}, lambda x: 2 * stats.t(3, 0, 0.5).cdf(x) - 1),
    "InverseGamma": ({"alpha": 3.0, "beta": 0.5}, stats.invgamma(3, scale=0.5).cdf),
    "LogNormal": ({"mu": -1.0, "sigma": 0.4}, stats.lognorm(0.4, scale=np.exp(-1)).cdf),
}


@pytest.mark.parametrize("name", sorted(LAWS))
def test_prior_draws_follow_their_distribution(name):
    arguments, cdf = LAWS[name]
    assert tuple(arguments) == DISTRIBUTIONS[name].args
    drawn = DISTRIBUTIONS[name].draw(np.random.default_rng(shifted(7)), **arguments, size=(2000, 3))
    assert drawn.shape == (2000, 3)
    if DISTRIBUTIONS[name].support == "positive":
        assert (drawn > 0).all()
    assert stats.kstest(drawn.ravel(), cdf).pvalue > mc.CHANCE


@pytest.mark.parametrize("name", sorted(LAWS))
def test_the_density_of_a_row_is_that_of_its_draws(name):
    arguments, cdf = LAWS[name]
    for at in (0.07, 0.4, 1.3):
        step = 1e-5 * at
        density = (cdf(at + step) - cdf(at - step)) / (2 * step)
        assert DISTRIBUTIONS[name].log_density(at, **arguments) == pytest.approx(
            np.log(density), abs=1e-6
        )
    several = {arg: np.array([[value], [1.5 * value]]) for arg, value in arguments.items()}
    both = DISTRIBUTIONS[name].log_density(np.array([0.07, 0.4, 1.3]), **several)
    assert both.shape == (2, 3)
    np.testing.assert_allclose(
        both[0], DISTRIBUTIONS[name].log_density(np.array([0.07, 0.4, 1.3]), **arguments)
    )


# Without a code a row is sampled pair by pair, and has no compiled density.
COMPILED = {name: row for name, row in DISTRIBUTIONS.items() if row.code is not None}


def log_prior(code, a, b, s):
    from bayesbias.inference.kernel import prior_constant, prior_shape

    value, slope = prior_shape(code, a, b, s, np.log(s))
    return prior_constant(code, a, b) + value, slope


@pytest.mark.parametrize("name", sorted(COMPILED))
def test_the_compiled_density_is_that_of_the_row(name):
    arguments, cdf = LAWS[name]
    a, b = [*(arguments[arg] for arg in COMPILED[name].args), 0.0][:2]
    for at in (0.07, 0.4, 1.3):
        step = 1e-5 * at
        density = (cdf(at + step) - cdf(at - step)) / (2 * step)
        value, slope = log_prior(COMPILED[name].code, a, b, at)
        assert value == pytest.approx(np.log(density), abs=1e-6)
        near = [log_prior(COMPILED[name].code, a, b, at + side * step)[0] for side in (-1, 1)]
        assert slope == pytest.approx((near[1] - near[0]) / (2 * step), rel=1e-5, abs=1e-6)


def test_codes_of_the_compiled_density_are_those_of_the_rows():
    codes = [row.code for row in COMPILED.values()]
    assert sorted(codes) == list(range(len(codes)))
    assert all(row.code is None for row in DISTRIBUTIONS.values() if row.support == "real")
    assert all(np.isnan(log_prior(code, 1.0, 1.0, 1.0)).all() for code in (-1, len(codes)))


def test_a_new_distribution_is_one_row(monkeypatch, table):
    from bayesbias.inference.graph import pymc_model
    from bayesbias.inference.likelihood import NotCollapsible, collapse

    row = Distribution(
        ("alpha", "beta"),
        "positive",
        lambda r, alpha, beta, size: beta * r.weibull(alpha, size),
        lambda x, alpha, beta: stats.weibull_min(alpha, scale=beta).logpdf(x),
    )
    monkeypatch.setitem(DISTRIBUTIONS, "Weibull", row)
    spec = own(
        ('distribution = "Exponential"\nlam = 2', 'distribution = "Weibull"\nalpha = 2\nbeta = 0.3')
    )
    assert spec.parameters["word_by_connection_sd"].positive
    assert spec.parameters["word_by_connection_sd"].args == {"alpha": 2.0, "beta": 0.3}
    design = Design.of(spec, table)
    drawn = design.prior_draws(4000, seed=1)["word_by_connection_sd"]
    assert stats.kstest(drawn.ravel(), stats.weibull_min(2, scale=0.3).cdf).pvalue > 0.001
    with pytest.raises(NotCollapsible):  # without a compiled density it is sampled pair by pair
        collapse(design)
    assert "word_by_connection_sd" in {variable.name for variable in pymc_model(design).free_RVs}


def test_a_row_says_which_arguments_are_positive(monkeypatch):
    row = Distribution(
        ("low", "width"),
        "positive",
        lambda r, low, width, size: low + width * r.random(size),
        lambda x, low, width: stats.uniform(low, width).logpdf(x),
        free=("low",),
    )
    monkeypatch.setitem(DISTRIBUTIONS, "Shifted", row)

    def spec(low, width):
        return own(
            (
                'distribution = "Exponential"\nlam = 2',
                f'distribution = "Shifted"\nlow = {low}\nwidth = {width}',
            )
        )

    assert spec("-1", "1").parameters["word_by_connection_sd"].args == {"low": -1.0, "width": 1.0}
    with pytest.raises(
        InputError,
        match=r"parameter.word_by_connection_sd\], key width: expected a finite number above 0, got -1",
    ):
        spec("-1", "-1")
    with pytest.raises(
        InputError, match="key width: expected a positive parameter, got 'connection_mean'"
    ):
        spec("-1", '"connection_mean"')
    for own_row in DISTRIBUTIONS.values():
        assert set(own_row.free) <= set(own_row.args)
        assert "mu" not in own_row.positive_args


def test_prior_draws_follow_their_parents(table):
    design = Design.of(own(), table)
    prior = design.prior_draws(3000, seed=shifted(4))
    assert list(prior) == list(design.spec.parameters)
    assert {name: x.shape for name, x in prior.items()} == {
        name: (3000, *design.shape(name)) for name in prior
    }
    # csd and cbar belong to a connection, the second dimension of c.
    z = (prior["word_by_connection"] - prior["connection_mean"][:, None, :]) / prior[
        "word_by_connection_sd"
    ][:, None, :]
    assert stats.kstest(z.ravel(), "norm").pvalue > mc.CHANCE
    scales = prior["attribute_sd"][:, design.parent["attribute_effect", "sigma"]]
    assert stats.kstest((prior["attribute_effect"] / scales).ravel(), "norm").pvalue > mc.CHANCE
    # Words of one kind share a spread, words of two kinds do not.
    kinds = np.array(design.parent["attribute_effect", "sigma"])
    size = np.log(np.abs(prior["attribute_effect"]))
    together = np.corrcoef(size.T)
    same = kinds[:, None] == kinds[None, :]
    off = ~np.eye(len(kinds), dtype=bool)
    assert together[same & off].min() > 0.3
    assert np.abs(together[~same]).max() * np.sqrt(3000) < mc.limit((~same).sum())
    # Moments by hand: E cbar = 1, sd 0.3; E csd = 1/2; var c = 0.09 + E csd^2 = 0.09 + 2/4.
    mc.assert_near(mc.mean_of(prior["connection_mean"]), 1)
    mc.assert_near(mc.log_sd_of(prior["connection_mean"]), np.log(0.3))
    mc.assert_near(mc.mean_of(prior["word_by_connection_sd"]), 0.5)
    squares = (prior["word_by_connection"].reshape(3000, -1) - 1) ** 2
    mc.assert_near(
        mc.mean_of(squares.mean(axis=1)), 0.59
    )  # entries of one draw share their parents
    again = design.prior_draws(3000, seed=shifted(4))
    assert all(np.array_equal(prior[name], again[name]) for name in prior)


def test_counts_have_the_binomial_density_in_log_odds():
    from scipy import stats
    from scipy.special import expit

    binomial = LIKELIHOODS["Binomial"]
    x, mu = np.array([0, 3, 7]), np.array([-1.0, 0.2, 2.0])
    expected = stats.binom.logpmf(x, 7, expit(mu))
    np.testing.assert_allclose(binomial.log_density(x, mu=mu, trials=7), expected)
    rng, trials = np.random.default_rng(1), np.full(3, 7.0)
    drawn = binomial.draw(rng, mu=mu, trials=trials, size=(999, 3))
    np.testing.assert_allclose(drawn.mean(axis=0), 7 * expit(mu), atol=0.2)  # 4 standard errors
    assert {*DISTRIBUTIONS} == {*LAWS}
