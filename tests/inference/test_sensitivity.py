"""Priors half and twice as wide: weights against closed forms, refits and each other."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from helpers import monte_carlo as mc
from helpers.fits import made_up, pairs
from helpers.seeds import shifted
from helpers.tables import grid
from scipy import stats
from scipy.special import logsumexp

import bayesbias as bb
from bayesbias.core.errors import FitError
from bayesbias.inference import sensitivity
from bayesbias.inference.diagnostics import shortest_interval
from bayesbias.inference.fitting import fit
from bayesbias.inference.sensitivity import (
    largest_shift,
    smoothed_weights,
    unexamined,
    weighted_width,
)
from bayesbias.models.loading import load_model, parse_model
from bayesbias.models.stretching import stretchable, stretched_prior

KEYS = ["level", "name", "contrast"]
QUICK = {"draws": 500, "tune": 500, "pointwise": False}

# Means per connection with noise that all share: given the noise a conjugate normal model.
CONJUGATE = b"""
schema = 1
name = "conjugate"
description = "for the test"
[likelihood]
outcome = "distance"
distribution = "Normal"
mu = ["word_by_connection"]
sigma = "sigma"
[results]
group = "connection"
fixed = ["connection"]
[parameter.word_by_connection]
dims = ["connection"]
distribution = "Normal"
mu = 1
sigma = 0.05
[parameter.sigma]
distribution = "HalfNormal"
sigma = 0.1
"""


def after(frame: pd.DataFrame, sd: np.ndarray) -> mc.Estimate:
    """The means under another prior, with their Monte Carlo errors."""
    return mc.Estimate(frame["mean_after"].to_numpy(), frame["error"].to_numpy() * sd)


def chosen(frame: pd.DataFrame, parameter: str, direction: str) -> pd.DataFrame:
    return frame[(frame["parameter"] == parameter) & (frame["direction"] == direction)]


def by_quadrature(table: pd.DataFrame, sd_of_c: float, sd_of_sigma: float) -> tuple[float, float]:
    """Mean and sd of associated - different in the conjugate model: sums over a fine grid of the noise."""
    sigma = np.exp(np.linspace(np.log(0.02), np.log(2), 4001))
    log_weight = stats.halfnorm(scale=sd_of_sigma).logpdf(sigma) + np.log(sigma)
    means, variances = [], []
    for name, group in table.groupby("connection"):
        y = group["distance"].to_numpy()
        precision = 1 / sd_of_c**2 + len(y) / sigma**2
        centre = (1 / sd_of_c**2 + y.sum() / sigma**2) / precision
        for n, value in enumerate(y):  # each value given those before it
            before = 1 / sd_of_c**2 + n / sigma**2
            m = (1 / sd_of_c**2 + y[:n].sum() / sigma**2) / before
            log_weight += stats.norm(m, np.sqrt(1 / before + sigma**2)).logpdf(value)
        if name in ("associated", "different"):
            means.append(centre)
            variances.append(1 / precision)
    weight = np.exp(log_weight - logsumexp(log_weight))
    difference = means[0] - means[1]
    mean = weight @ difference
    return mean, np.sqrt(weight @ (variances[0] + variances[1] + (difference - mean) ** 2))


@pytest.mark.slow
def test_a_conjugate_model_moves_as_the_closed_form_says():
    table = pairs({"associated": 0.8, "different": 1.1}, noise=0.2, seed=4)
    result = fit(
        table, parse_model(CONJUGATE, "conjugate"), seed=shifted(1), draws=1000, pointwise=False
    )
    frame = result.prior_sensitivity()
    assert list(frame["how"].unique()) == ["weights"]
    sd = result.draws_of("contrasts", level="overall", estimand="population").to_numpy().std()
    expected = {
        ("word_by_connection", "halved"): (0.025, 0.1),
        ("word_by_connection", "doubled"): (0.1, 0.1),
    }
    expected |= {("sigma", "halved"): (0.05, 0.05), ("sigma", "doubled"): (0.05, 0.2)}
    mean_now, sd_now = by_quadrature(table, 0.05, 0.1)
    for key, widths in expected.items():
        (row,) = chosen(frame, *key).itertuples()
        mean, spread = by_quadrature(table, *widths)
        mc.assert_near(mc.Estimate(np.array(row.mean_after), np.array(row.error * sd)), mean, key)
        # Nearly normal, so that intervals are as many sd wide; nothing of them is drawn but the noise.
        assert row.width_ratio == pytest.approx(spread / sd_now, abs=0.02), key
        assert row.mean_before == pytest.approx(mean_now, abs=0.02 * sd_now)
    large = chosen(frame, "word_by_connection", "halved")["shift_in_sd"].iloc[0]
    assert large > 1  # from -.21 towards the prior's zero: the case is one of a strong prior


@pytest.fixture(scope="module")
def small() -> pd.DataFrame:
    return grid((2, 2), (2, 2), human=2, neutral=2, seed=3)


@pytest.fixture(scope="module")
def small_fit(small):
    return fit(small, "crossed", seed=shifted(1), draws=1000, pointwise=False)


CHANGES = [
    ("connection_mean", "halved"),
    ("word_by_connection_sd", "halved"),
    pytest.param("connection_mean", "doubled", marks=pytest.mark.claim),
    pytest.param("word_by_connection_sd", "doubled", marks=pytest.mark.claim),
    pytest.param("attribute_sd", "halved", marks=pytest.mark.slow),
    pytest.param("attribute_sd", "doubled", marks=pytest.mark.claim),
    pytest.param("sigma", "halved", marks=pytest.mark.claim),
    pytest.param("sigma", "doubled", marks=pytest.mark.claim),
]


@pytest.mark.parametrize(("parameter", "direction"), CHANGES)
@pytest.mark.slow
def test_weights_say_what_a_fit_with_the_changed_prior_says(small, small_fit, parameter, direction):
    frame = chosen(small_fit.prior_sensitivity(), parameter, direction)
    changed = stretched_prior(small_fit.spec, parameter, sensitivity.DIRECTIONS[direction])
    again = fit(small, changed, seed=shifted(2), draws=1000, pointwise=False)
    values, other = (
        result.draws_of("contrasts", estimand="population").to_numpy()
        for result in (small_fit, again)
    )
    rows = small_fit.contrasts(estimand="population").reset_index(drop=True)
    places = [
        rows.index[(rows[KEYS] == list(key)).all(axis=1)][0]
        for key in frame[KEYS].itertuples(index=False)
    ]
    values, other = values[..., places], other[..., places]
    assert len(places) == 5 + 2
    mc.assert_near(after(frame, values.std(axis=(0, 1))), mc.mean(other), (parameter, direction))
    widths = [
        mc.Estimate(
            *(
                np.array(x)
                for x in zip(*[_width(each[..., k]) for k in range(len(places))], strict=True)
            )
        )
        for each in (values, other)
    ]
    ratio = frame["width_ratio"].to_numpy()
    # The ratio has the error of the weighted draws beside that of the two widths that it is compared with.
    expected = mc.Estimate(widths[1].value, np.hypot(widths[1].error, np.sqrt(2) * widths[0].error))
    mc.assert_near(
        mc.Estimate(ratio * widths[0].value, ratio * widths[0].error), expected, parameter
    )


def _width(draws: np.ndarray) -> tuple[float, float]:
    low, high = mc.hpdi(draws, 0.89)
    return float(high.value - low.value), float(np.hypot(high.error, low.error))


@pytest.mark.slow
def test_a_refit_is_made_where_weights_cannot_be_trusted(small, monkeypatch):
    result = fit(small, "crossed", seed=shifted(1), **QUICK)
    weighed = result.prior_sensitivity()
    assert set(weighed["how"]) == {"weights"}
    monkeypatch.setattr(sensitivity, "MOST_PARETO_K", -10.0)
    monkeypatch.setattr(
        sensitivity, "stretchable", lambda spec: ["connection_mean", "word_by_connection_sd"]
    )
    unknown = fit(small, "crossed", seed=shifted(1), **QUICK).prior_sensitivity(refit=False)
    assert set(unknown["how"]) == {"not_refitted"}
    assert unexamined(unknown) == [
        (name, direction, "not_refitted")
        for name in ("connection_mean", "word_by_connection_sd")
        for direction in sensitivity.DIRECTIONS
    ]
    assert unknown[["shift_in_sd", "mean_after", "width_ratio"]].isna().all(axis=None)
    assert largest_shift(unknown) is None
    refitted = fit(small, "crossed", seed=shifted(1), **QUICK).prior_sensitivity()
    assert set(refitted["how"]) == {"refit"}
    values = result.draws_of("contrasts", level="overall", estimand="population").to_numpy()
    for key in (("connection_mean", "halved"), ("word_by_connection_sd", "doubled")):
        one, other = (
            chosen(frame, *key)[lambda f: f["level"] == "overall"] for frame in (weighed, refitted)
        )
        sd = values.std(axis=(0, 1))
        mc.assert_near(after(one, sd), after(other, sd), key)
    again = fit(small, "crossed", seed=shifted(1), **QUICK).prior_sensitivity()
    pd.testing.assert_frame_equal(again, refitted)  # a refit has the seed of the fit


def test_weights_on_all_draws_agree_with_those_on_scales_alone(small, small_fit):
    """As of a fit that was sampled pair by pair: the same draws, weighted by all they hold."""
    sampler = {**small_fit.provenance["sampler"], "method": "pairwise"}
    arguments = (small_fit.design, small_fit.table, small_fit.draws(), sampler, 4)
    joint, scales = sensitivity.prior_sensitivity(*arguments), small_fit.prior_sensitivity()
    known = joint["how"] == "weights"
    assert known.sum() > 4 * 7
    assert set(joint["how"]) <= {"weights", "not_refitted"}
    pd.testing.assert_frame_equal(joint[[*KEYS, "parameter"]], scales[[*KEYS, "parameter"]])
    both = joint["shift_in_sd"] - scales["shift_in_sd"]
    error = np.hypot(joint["error"], scales["error"])
    # Two ways on one set of scales; the larger error is that of the weights on everything.
    mc.assert_near(mc.Estimate(both[known].to_numpy(), error[known].to_numpy()), 0.0)
    with pytest.raises(FitError, match="sampled pair by pair"):
        sensitivity.prior_sensitivity(*arguments, refit=True)


def test_every_prior_with_a_width_is_changed_both_ways(small_fit):
    frame = small_fit.prior_sensitivity()
    assert list(frame.columns) == sensitivity.COLUMNS
    names = frame["parameter"].drop_duplicates().tolist()
    assert (
        names
        == stretchable(load_model("crossed"))
        == ["connection_mean", "word_by_connection_sd", "attribute_sd", "sigma"]
    )
    assert (
        frame.groupby("parameter")["direction"].agg(lambda x: list(dict.fromkeys(x))).str.join(",")
        == "halved,doubled"
    ).all()
    overall = frame[frame["level"] == "overall"]
    assert (overall.groupby(["parameter", "direction"]).size() == 5).all()
    assert set(frame[frame["level"] == "class"]["contrast"]) == {"associated - different"}
    assert set(frame["level"]) == {"overall", "class"}
    # Twice the same answer, and no way to change what is kept.
    frame.loc[0, "shift_in_sd"] = 9
    assert small_fit.prior_sensitivity()["shift_in_sd"].max() < 9
    published = small_fit.contrasts(estimand="population", level="overall")
    first = chosen(small_fit.prior_sensitivity(), "word_by_connection_sd", "halved").iloc[:5]
    sd = (first["mean_after"] - first["mean_before"]) / first["shift_in_sd"]
    mc.assert_near(mc.log_sd_of_row(published), np.log(sd.to_numpy()))
    mc.assert_near(mc.mean_of_row(published), first["mean_before"].to_numpy())


def test_a_table_with_nothing_to_contrast_is_refused(small):
    one = small[small["connection"] == "associated"].reset_index(drop=True)
    with pytest.raises(FitError, match="no two connections"):
        fit(one, "hierarchical", seed=1, **QUICK).prior_sensitivity()


def test_a_single_draw_tells_of_no_prior():
    made = made_up(
        pairs(),
        values={
            "connection_mean": 0.9,
            "word_by_connection": 0.9,
            "word_by_connection_sd": 0.1,
            "attribute_sd": 0.1,
            "sigma": 0.1,
        },
    )

    def of_first(draws):
        cut = {name: values[:draws] for name, values in made.draws().items()}
        return sensitivity.prior_sensitivity(made.design, made.table, cut, {}, 1)

    with pytest.raises(FitError, match="2 draws or more, of all chains, and here is 1"):
        of_first(1)
    assert len(of_first(2))


def test_made_up_draws_have_an_answer_too():
    result = made_up(
        pairs(),
        values={
            "connection_mean": 0.9,
            "word_by_connection": 0.9,
            "word_by_connection_sd": 0.1,
            "attribute_sd": 0.1,
            "sigma": 0.1,
        },
    )
    frame = result.prior_sensitivity()
    assert set(frame["how"]) == {"weights"}
    assert frame["shift_in_sd"].abs().max() < 0.5


def test_weights_have_a_known_tail():
    rng = np.random.default_rng(shifted(5))
    for k in (0.3, 1.5):  # weights with a generalized Pareto tail
        ratio = np.log1p(stats.genpareto(k).rvs(4000, random_state=rng))
        weights, found = smoothed_weights(ratio)
        assert weights.sum() == pytest.approx(1)
        assert found == pytest.approx(k, abs=mc.K * (1 + k) / np.sqrt(3 * np.sqrt(4000)))
    even, none = smoothed_weights(np.full(100, 3.0))
    assert none == -np.inf
    assert (even == 0.01).all()
    assert smoothed_weights(np.array([0.0, np.nan, 1.0]))[1] == np.inf
    assert smoothed_weights(rng.normal(size=24))[1] == np.inf  # too few for a tail


def test_the_width_of_weighted_draws_is_that_of_repeated_ones():
    rng = np.random.default_rng(6)
    values, times = rng.gamma(2, size=(300, 2)), rng.integers(1, 5, 300)
    repeated = np.repeat(values, times, axis=0)
    found = weighted_width(values, times / times.sum(), 0.89)
    even = weighted_width(repeated, np.full(len(repeated), 1 / len(repeated)), 0.89)
    np.testing.assert_allclose(found, even, rtol=1e-12)
    low, high = shortest_interval(rng.normal(size=(5000, 1)), 0.89)
    assert weighted_width(values, np.full(300, 1 / 300), 0.999)[0] == pytest.approx(
        np.ptp(values[:, 0]), rel=0.3
    )
    normal = stats.norm.ppf((np.arange(4000) + 0.5) / 4000)[:, None]
    low, high = shortest_interval(normal, 0.89)
    assert weighted_width(normal, np.full(4000, 1 / 4000), 0.89) == pytest.approx(
        high - low, rel=2e-3
    )


@pytest.mark.slow
def test_of_sentiment_the_means_are_asked_for_too():
    table = bb.sentiment_table(bb.list_predictions("m1"))
    result = fit(table, "sentiment", seed=shifted(1), **QUICK)
    frame = result.prior_sensitivity()
    assert set(frame["contrast"]) == {"m1"}
    assert set(frame["level"]) == {"overall"}
    row = result.summary(estimand="population").iloc[0]
    mc.assert_near(mc.mean_of_row(row), frame["mean_before"].iloc[0])
    # A narrower prior around zero draws the mean towards it, a wider one lets it go.
    (narrow,), (wide,) = (chosen(frame, "b", way)["mean_after"] for way in ("halved", "doubled"))
    assert abs(narrow) < abs(frame["mean_before"].iloc[0]) < abs(wide)


def few() -> pd.DataFrame:
    """Three words and two stereotypes, and far apart."""
    table = grid((2, 1), (1, 1), human=0, neutral=0, seed=2)
    return table.assign(distance=table["distance"] + 0.8 * (table["connection"] == "different"))


@pytest.mark.parametrize("model", ["crossed", "shared"])
@pytest.mark.slow
def test_three_words_and_two_attributes_rest_on_the_prior(model):
    frame = fit(few(), model, seed=shifted(1), **QUICK).prior_sensitivity()
    overall = frame[frame["level"] == "overall"]
    assert largest_shift(overall)["parameter"] == "connection_mean"
    assert overall["shift_in_sd"].abs().max() > sensitivity.LARGE_SHIFT


@pytest.mark.slow
def test_many_words_do_not_rest_on_the_prior():
    table = grid((6, 6), (12, 12), 20, 20)
    frame = fit(table, "crossed", seed=shifted(1), **QUICK).prior_sensitivity()
    assert set(frame["how"]) == {"weights"}
    assert frame["shift_in_sd"].abs().max() < sensitivity.LARGE_SHIFT


@pytest.fixture(scope="module")
def cells(small):
    return fit(small, "default", seed=shifted(1), **QUICK)


@pytest.mark.slow
def test_a_model_with_more_levels(cells):
    frame = cells.prior_sensitivity()
    assert set(frame["level"]) == {"overall", "class", "attribute_set"}
    assert set(frame["parameter"]) == set(stretchable(cells.spec))
    assert frame["shift_in_sd"].notna().all()
    assert unexamined(frame) == []


@pytest.mark.slow
def test_where_weights_are_not_to_be_trusted_every_prior_is_fitted_again(cells, monkeypatch):
    """Weights are never trusted here, so that only refits answer."""
    monkeypatch.setattr(sensitivity, "MOST_PARETO_K", -np.inf)
    monkeypatch.setattr(sensitivity, "stretchable", lambda spec: ["fsd", "kw"])
    again = []
    plain = sensitivity._Weighing.fitted_again

    def noted(self, changed, *arguments, **settings):
        again.append(changed)
        return plain(self, changed, *arguments, **settings)

    monkeypatch.setattr(sensitivity._Weighing, "fitted_again", noted)
    arguments = (cells.design, cells.table, cells.draws(), cells.provenance["sampler"], 4)
    itself = sensitivity.prior_sensitivity(*arguments)
    assert {spec.parameters["kw"].args["sigma"] for spec in again} == {0.2, 0.4, 0.8}
    assert set(itself["how"]) <= {"refit", "unknown"}
    again.clear()
    asked = sensitivity.prior_sensitivity(*arguments, refit=False)
    assert not again
    assert set(asked["how"]) == {"not_refitted"}
