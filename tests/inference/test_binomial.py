"""Counts on any table: Laplace and the variational bound against dense algebra, quadrature, differences and NUTS."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from inference.test_counts import table
from scipy import integrate, special, stats

import bayesbias as bb
from bayesbias.inference import binomial
from bayesbias.inference.binomial import Binomial, has_few_effects, sample_quickly
from bayesbias.inference.estimands import mean_quantities
from bayesbias.inference.factorization import Factor
from bayesbias.models import outcomes
from bayesbias.models.design import Design
from bayesbias.models.spec import parse_model
from bayesbias.models.variants import trimmed

ONE = b"""
schema = 1
name = "one"
description = "for the test"
[likelihood]
outcome = "chosen"
trials = "answers"
distribution = "Binomial"
units = ["question"]
mu = ["effect"]
[results]
group = "question"
[parameter.effect]
dims = ["question"]
distribution = "Normal"
mu = 0.3
sigma = "sd"
[parameter.sd]
distribution = "Exponential"
lam = 1
"""


def laid(frame: pd.DataFrame) -> Binomial:
    return Binomial.of(Design.of(trimmed(bb.load_model("responses_choice"), frame), frame))


def ragged(n: int = 2, seed: int = 1) -> pd.DataFrame:
    """A table of two groups and two models that lacks a third of its questions."""
    frame = table(words=2, templates=2, items=3, n=n, models=("m", "n"), seed=seed)
    return frame[np.random.default_rng(seed).random(len(frame)) < 0.67]


def one_effect(chosen: float, answers: int) -> Binomial:
    frame = pd.DataFrame({"question": ["q"], "chosen": [chosen], "answers": [answers]})
    return Binomial.of(Design.of(parse_model(ONE, "one"), frame))


def prior(reduced: Binomial, theta: np.ndarray) -> float:
    return reduced._log_prior(theta)[0]


class Dense:
    """The rows of a table as a dense model: covariance of the log odds, and their two normals."""

    def __init__(self, reduced: Binomial, theta: np.ndarray) -> None:
        design, scales = reduced.design, reduced.scales_of(theta)
        self.y, self.n = design.y, np.asarray(design.trials, dtype=float)
        self.covariance = np.zeros((len(self.y), len(self.y)))
        self.mean = np.zeros(len(self.y))
        for name in design.spec.mu:
            arguments = design.spec.parameters[name].args
            sigma = arguments["sigma"]
            sd = float(scales[sigma]) if isinstance(sigma, str) else float(sigma)
            same = design.index[name][:, None] == design.index[name]
            self.covariance += sd**2 * same
            self.mean += float(arguments["mu"])
        self.precision = np.linalg.inv(self.covariance)

    def log_prior(self, log_odds: np.ndarray) -> float:
        return float(stats.multivariate_normal.logpdf(log_odds, self.mean, self.covariance))

    def log_likelihood(self, log_odds: np.ndarray) -> np.ndarray:
        p = 1 / (1 + np.exp(-log_odds))
        return stats.binom.logpmf(self.y, self.n.astype(int), p)

    def laplace(self) -> float:
        """Return Laplace's log density, by Newton's method on the log odds of the rows."""
        log_odds = self.mean.copy()
        for _ in range(100):
            p = 1 / (1 + np.exp(-log_odds))
            slope = self.y - self.n * p - self.precision @ (log_odds - self.mean)
            curvature = self.precision + np.diag(self.n * p * (1 - p))
            log_odds = log_odds + np.linalg.solve(curvature, slope)
        p = 1 / (1 + np.exp(-log_odds))
        curvature = self.precision + np.diag(self.n * p * (1 - p))
        joint = self.log_likelihood(log_odds).sum() + self.log_prior(log_odds)
        half_log_determinant = 0.5 * np.linalg.slogdet(curvature / (2 * np.pi))[1]
        return float(joint - half_log_determinant)

    def bound(self, mean: np.ndarray, covariance: np.ndarray) -> float:
        """Return the lower bound that a normal distribution of the log odds gives."""
        nodes, weights = np.polynomial.hermite_e.hermegauss(40)
        expected = 0.0
        for node, weight in zip(nodes, weights / weights.sum(), strict=True):
            log_odds = mean + node * np.sqrt(np.diag(covariance))
            expected += weight * self.log_likelihood(log_odds).sum()
        away = mean - self.mean
        divergence = np.trace(self.precision @ covariance) + away @ self.precision @ away
        divergence -= len(mean) + np.linalg.slogdet(self.precision @ covariance)[1]
        return float(expected - 0.5 * divergence)

    def closest(self) -> tuple[np.ndarray, np.ndarray, float]:
        """Return mean and covariance with the largest bound, by rounds until they stand still."""
        nodes, weights = np.polynomial.hermite_e.hermegauss(40)
        weights = weights / weights.sum()
        mean, covariance = self.mean.copy(), self.covariance.copy()
        for _ in range(300):
            sd = np.sqrt(np.diag(covariance))
            p = 1 / (1 + np.exp(-(mean[:, None] + sd[:, None] * nodes)))
            curvature = self.precision + np.diag(self.n * ((p * (1 - p)) @ weights))
            slope = self.y - self.n * (p @ weights) - self.precision @ (mean - self.mean)
            mean = mean + 0.5 * np.linalg.solve(curvature, slope)
            covariance = np.linalg.inv(curvature)
        return mean, covariance, self.bound(mean, covariance)


# Without effects of single questions the covariance of the rows would have no inverse.
def test_laplace_and_bound_are_those_of_dense_algebra():
    reduced = laid(ragged())
    assert "question_effect" in reduced.design.spec.mu
    for seed in (1, 2):
        theta = np.random.default_rng(seed).normal(-0.3, 0.5, reduced.n_theta)
        dense = Dense(reduced, theta)
        laplace = reduced.log_density(theta)[0] - prior(reduced, theta)
        assert laplace == pytest.approx(dense.laplace(), abs=1e-6)

        bound = reduced.bounds(theta[None])[0] - prior(reduced, theta)
        mean, covariance, highest = dense.closest()
        assert bound == pytest.approx(highest, abs=1e-3)

        reduced = laid(ragged())
        sds = reduced._sds(theta)
        with reduced._factor() as factor:
            fitted = reduced._closest(theta, sds, factor)
        np.testing.assert_allclose(fitted.log_odds, mean, atol=1e-2)
        np.testing.assert_allclose(fitted.spread, np.diag(covariance), rtol=1e-2)


def test_the_gradient_is_that_of_laplace():
    reduced = laid(ragged())
    theta = np.random.default_rng(3).normal(-0.5, 0.5, reduced.n_theta)
    gradient = reduced.log_density(theta)[1]
    for k in range(reduced.n_theta):
        step = np.zeros(reduced.n_theta)
        step[k] = 1e-3
        above, below = (reduced.log_density(theta + by * step)[0] for by in (1, -1))
        assert gradient[k] == pytest.approx((above - below) / 2e-3, abs=1e-4)


@pytest.mark.parametrize(("chosen", "answers"), [(3, 4), (0, 5), (40, 50)])
def test_one_effect_against_quadrature(chosen, answers):
    reduced = one_effect(chosen, answers)
    theta = np.log(np.array([1.2]))

    def joint(effect: float, power: int = 0) -> float:
        p = 1 / (1 + np.exp(-effect))
        density = stats.binom.pmf(chosen, answers, p) * stats.norm.pdf(effect, 0.3, 1.2)
        return effect**power * density

    whole, first, second = (integrate.quad(joint, -12, 12, args=(k,))[0] for k in (0, 1, 2))
    mean, sd = first / whole, np.sqrt(second / whole - (first / whole) ** 2)

    bound = reduced.bounds(theta[None])[0] - prior(reduced, theta)
    assert np.log(whole) - 0.02 < bound < np.log(whole)
    linear = mean_quantities(reduced.design, "listed_words").linear
    from bayesbias.inference.linear import moments_of

    found, variance = moments_of(reduced, linear).moments(reduced, theta[None])
    assert found[0, 0] == pytest.approx(mean, abs=0.02 * sd)
    assert np.sqrt(variance[0, 0]) == pytest.approx(sd, rel=0.03)


def test_the_worked_example_is_right():
    """The numbers of the docstring, worked out by hand there."""
    frame = pd.DataFrame({"question": ["q"], "chosen": [3.0], "answers": [4]})
    reduced = Binomial.of(Design.of(parse_model(ONE.replace(b"0.3", b"0"), "one"), frame))
    theta = np.zeros(1)
    laplace = reduced.log_density(theta)[0] - prior(reduced, theta)
    assert laplace == pytest.approx(-1.466, abs=5e-4)
    assert reduced.bounds(theta[None])[0] - prior(reduced, theta) == pytest.approx(
        -1.4534, abs=5e-5
    )


def test_a_mode_is_found_in_spite_of_rounding():
    """Of thousands of rows the last steps change the density by less than rounding does."""
    frame = table(words=10, templates=12, items=8, n=10, models=("m", "n"), seed=8)
    reduced = laid(frame)
    for sd in (0.02, 0.5, 3.0):
        value, gradient = reduced.log_density(np.full(reduced.n_theta, np.log(sd)))
        assert np.isfinite(value)
        assert np.isfinite(gradient).all()


def test_searches_that_start_elsewhere_end_at_the_same_place():
    reduced = laid(ragged())
    rng = np.random.default_rng(5)
    first, second = rng.normal(-0.5, 0.7, (2, reduced.n_theta))
    alone = reduced.bounds(second[None])[0], reduced.log_densities(second[None])[0]
    reduced.started(first)
    assert {"mode", "closest"} == reduced._starts.keys()
    assert reduced.bounds(second[None])[0] == pytest.approx(alone[0], abs=1e-3)
    assert reduced.log_densities(second[None])[0] == pytest.approx(alone[1], abs=1e-3)


def test_densities_near_a_start_need_no_second_factor(monkeypatch):
    """What the log determinant changes by on the way to the mode follows from variances at the start."""
    reduced = laid(table(words=8, templates=6, items=9, n=2, models=("m", "n"), seed=4))
    rng = np.random.default_rng(7)
    center = np.full(reduced.n_theta, -0.7)
    thetas = center + rng.normal(0, 0.05, (20, reduced.n_theta))
    exact, gradients = zip(*(reduced.log_density(theta) for theta in thetas), strict=True)

    reduced.started(center)
    factored, update = [], Factor.update
    monkeypatch.setattr(Factor, "update", lambda *given: factored.append(1) or update(*given))
    found = reduced.log_densities(thetas)
    assert len(factored) == len(thetas)
    assert np.ptp(exact) > 5
    np.testing.assert_allclose(found, exact, atol=0.01)
    np.testing.assert_allclose(reduced.gradients(thetas), gradients, atol=1e-5)


def test_expectations_of_odds_far_out_stay_in_their_range():
    rng = np.random.default_rng(8)
    y, n = rng.integers(0, 6, 400).astype(float), np.full(400, 5.0)
    log_odds, spread = rng.normal(0, 300, 400), rng.gamma(1, 100, 400)
    log_odds[:200] /= 100
    spread[:200] /= 100
    residual, weight = np.empty(400), np.empty(400)
    binomial._expected(
        y, n, log_odds, spread, binomial._NODES, binomial._NODE_WEIGHTS, residual, weight
    )
    log_odds_at_nodes = log_odds[:, None] + np.sqrt(spread)[:, None] * binomial._NODES
    p = special.expit(log_odds_at_nodes)
    np.testing.assert_allclose(residual, y - n * (p @ binomial._NODE_WEIGHTS), atol=1e-12)
    expected = n * ((p * special.expit(-log_odds_at_nodes)) @ binomial._NODE_WEIGHTS)
    np.testing.assert_allclose(weight, expected, rtol=1e-9, atol=1e-60)


def test_a_copy_in_another_process_has_the_same_effects():
    reduced = laid(ragged())
    theta = np.full((2, reduced.n_theta), -0.5)
    again = pickle.loads(pickle.dumps(reduced))
    assert not again._starts
    drawn, drawn_again = (
        each.draw_effects(theta, np.random.default_rng(6)) for each in (reduced, again)
    )
    for name, values in drawn.items():
        np.testing.assert_allclose(drawn_again[name], values, atol=1e-8)


def test_few_effects_are_left_to_nuts():
    for sizes, expected in (
        (dict(words=1, templates=2, items=2), True),
        (dict(words=9, templates=6, items=9), False),
    ):
        frame = table(**sizes)
        spec = trimmed(bb.load_model("responses_choice"), frame)
        assert has_few_effects(Design.of(spec, frame)) == expected


def test_the_fit_says_which_engine_it_was():
    settings = {"seed": 1, "draws": 200, "tune": 100, "chains": 2, "progress": False}
    frame = table(words=2, templates=2, items=2)
    by_default = bb.fit(frame, "responses_choice", **settings)
    assert (by_default.engine.name, by_default.engine.asked) == ("nuts", "auto")
    fitted = bb.fit(frame, "responses_choice", engine="quick", **settings)
    assert (fitted.engine.name, fitted.engine.asked) == ("quick", "quick")
    assert fitted.engine.pareto_k < 0.7
    assert fitted.sampling.method == "variational"
    assert "importance sampling" in fitted.engine.in_words()
    assert by_default.sampling.method == "counts"


def test_weights_that_cannot_be_trusted_leave_it_to_nuts(monkeypatch):
    frame = table(words=2, templates=2, items=2)
    design = Design.of(trimmed(bb.load_model("responses_choice"), frame), frame).ordered()
    engine = bb.inference.sampling.Engine("nuts", "quick", 0.9, 5.0, 100, "pareto_k")
    monkeypatch.setattr(binomial, "sample_costly", lambda *_: (None, None, engine, None))
    sampled, tried, _ = sample_quickly(
        design, {"draws": 10, "chains": 2, "seed": 1, "engine": "quick"}
    )
    assert sampled is None
    assert (tried.why_not, tried.asked) == ("pareto_k", "quick")


def test_a_likelihood_with_a_sampler_of_its_own_is_not_taken_for_counts(monkeypatch):
    """As CONTRIBUTING.md has it: a sampler is named by the `engine` of the entry."""
    frame = table(words=2, templates=2, items=2)
    design = Design.of(trimmed(bb.load_model("responses_choice"), frame), frame).ordered()
    monkeypatch.setitem(
        outcomes.LIKELIHOODS, "Binomial", replace(outcomes.LIKELIHOODS["Binomial"], engine="other")
    )
    sampled, tried, _ = sample_quickly(
        design, {"draws": 10, "chains": 2, "seed": 1, "engine": "quick"}
    )
    assert sampled is None
    assert tried.why_not == "not collapsed"


def answers(groups: int, items: int, repeats: int, difference: float, seed: int) -> pd.DataFrame:
    """Simulate single answers about words of groups in templates and items."""
    rng = np.random.default_rng(seed)
    words, templates = 3, 4
    of_item, of_template = rng.normal(0, 0.8, items), rng.normal(0, 0.5, templates)
    of_word = rng.normal(0, 0.3, (groups, words))
    rows = []
    for group, word, template, item in np.ndindex(groups, words, templates, items):
        log_odds = difference * group - 0.3 + of_item[item] + of_template[template]
        log_odds += of_word[group, word] + rng.normal(0, 0.3)
        chosen = rng.random(repeats) < 1 / (1 + np.exp(-log_odds))
        labels = {
            "group": f"g{group}",
            "word": f"g{group}w{word}",
            "template": f"t{template}",
            "item": f"i{item}",
        }
        for repeat, outcome in enumerate(chosen):
            rows.append({**labels, "repeat": repeat, "outcome": float(outcome)})
    return pd.DataFrame(rows)


def differences(fitted: bb.BiasFit, estimand: str) -> np.ndarray:
    """Return draws of the difference between two groups in log odds."""
    asked = mean_quantities(fitted.ordered, estimand).at("overall")
    draws = asked.linear.draws(fitted.parameter_draws())
    return draws[:, 1] - draws[:, 0]


@pytest.mark.slow
@pytest.mark.claim
@pytest.mark.parametrize(
    ("items", "repeats", "difference"),
    [(20, 1, 0.8), pytest.param(20, 2, -1.2, marks=pytest.mark.full)],
)
def test_rows_are_those_of_nuts(items, repeats, difference):
    """480 answers, one to a cell, and 960, two to a cell: Laplace alone shrinks differences.

    Means and ends of three quick runs move by about .06 posterior SDs from one run to another, and those of NUTS
    by .03: the test allows for two such errors.
    """
    data = bb.responses_table(answers(2, items, repeats, difference, seed=repeats))
    by_nuts = bb.fit_responses(data, seed=1, draws=2000, engine="nuts", progress=False)
    by_chance = 2 * np.hypot(0.06 / np.sqrt(3), 0.03)
    runs = [
        bb.fit_responses(data, seed=seed, draws=1000, engine="quick", progress=False)
        for seed in (1, 2, 3)
    ]
    assert by_nuts.fit.sampling.method == "counts"
    assert {run.fit.sampling.method for run in runs} == {"variational"}
    for estimand in ("population", "new_words", "new_prompts", "listed_words"):
        theirs = differences(by_nuts.fit, estimand)
        ours = [differences(run.fit, estimand) for run in runs]
        sd = theirs.std()
        assert np.mean(ours) == pytest.approx(theirs.mean(), abs=(0.1 + by_chance) * sd)
        # Ends of the central interval: those of the shortest one vary more from run to run.
        ends = np.mean([np.quantile(draws, [0.055, 0.945]) for draws in ours], axis=0)
        expected = np.quantile(theirs, [0.055, 0.945])
        atol = (0.15 + by_chance) * sd
        np.testing.assert_allclose(ends, expected, rtol=0, atol=atol, err_msg=estimand)


def test_a_fit_that_is_read_again_says_the_same(tmp_path):
    frame = table(words=2, templates=2, items=2)
    fitted = bb.fit(frame, "responses_choice", seed=1, draws=200, chains=2, progress=False)
    fitted.save(tmp_path / "fit.nc")
    again = bb.load_fit(tmp_path / "fit.nc")
    pd.testing.assert_frame_equal(again.means("overall"), fitted.means("overall"))
    for name, values in fitted.parameter_draws().items():
        np.testing.assert_array_equal(again.parameter_draws()[name], values)


def test_rates_of_questions_that_one_group_was_asked_once():
    """No SD is left. The rates of two groups are then independent, with log odds around zero."""
    rows = []
    for group, chosen in (("a", 16), ("b", 32)):
        for k in range(40):
            rows.append({"group": group, "item": f"{group}{k}", "outcome": float(k < chosen)})
    data = bb.responses_table(pd.DataFrame(rows))
    found = bb.fit_responses(data, seed=1, progress=False)
    rows = found.contrasts(estimand="population", level="overall").set_index("scale")

    log_odds = np.linspace(-8, 8, 4001)
    p, means = 1 / (1 + np.exp(-log_odds)), []
    for chosen in (16, 32):
        weight = stats.binom.pmf(chosen, 40, p) * stats.norm.pdf(log_odds, 0, 2.5)
        means.append((weight * p).sum() / weight.sum())
    assert rows.loc["probability", "mean"] == pytest.approx(means[0] - means[1], abs=0.012)
