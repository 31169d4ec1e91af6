"""Contrasts in standard deviations, and probabilities of superiority: by hand, by drawing pairs, and on another scale."""

from __future__ import annotations

import math

import numpy as np
import pytest
from helpers.definitions import brute_hpdi
from helpers.fits import made_up, pairs
from helpers.monte_carlo import (
    assert_near,
    assert_rate,
    hpdi,
    independent,
    log_sd,
    mean,
    probability,
)
from helpers.seeds import shifted

from bayesbias.core.errors import FitError
from bayesbias.inference.fitting import fit
from bayesbias.tables.reading import load_distances

MEANS = {"associated": 0.8, "different": 0.9, "human": 1.0, "neutral": 1.05}
VALUES = {
    "connection_mean": lambda connection: MEANS[connection],
    "word_by_connection": lambda word, connection: MEANS[connection] + 0.02 * (int(word[1]) - 1),
    "attribute_effect": 0.0,
    "word_by_connection_sd": lambda connection: {"associated": 0.1, "different": 0.2, "human": 0.3, "neutral": 0.4}[connection],
    "sigma": lambda connection: {"associated": 0.15, "different": 0.25, "human": 0.35, "neutral": 0.45}[connection],
    "attribute_sd": 0.3,
}  # fmt: skip


@pytest.fixture(scope="module")
def result():
    return made_up(load_distances(pairs()).frame, "crossed", VALUES, sd=0.01)


def variance(result, connection: str, *, word: bool = False) -> np.ndarray:
    """The variance of single pairs under every draw; of the pairs of one word, without what is its own."""
    draws, k = result.parameter_draws(), result.design.coords["connection"].index(connection)
    own = 0.0 if word else draws["word_by_connection_sd"][:, k] ** 2
    return own + draws["attribute_sd"] ** 2 + draws["sigma"][:, k] ** 2


def phi(z: np.ndarray) -> np.ndarray:
    return np.array([0.5 * math.erfc(-value / math.sqrt(2)) for value in z])


def test_each_draw_is_divided_by_the_same_draw_of_the_neutral_pairs(result):
    frame, raw = result.standardized(0.8, 0.3), result.table_draws("contrasts")
    labels = ["level", "name", "contrast", "estimand"]
    assert frame[labels].equals(result.contrasts(detail=True)[labels])
    assert set(frame["unit"]) == {"sd of neutral pairs"}
    flat = raw.to_numpy().reshape(-1, len(frame)) / np.sqrt(variance(result, "neutral"))[:, None]
    observed = (
        result.contrasts(detail=True)["mean"] * (1 / np.sqrt(variance(result, "neutral"))).mean()
    )
    for row, x, known in zip(frame.itertuples(), flat.T, observed, strict=True):
        assert row.mean == pytest.approx(
            known if row.estimand == "listed_words" else x.mean(), rel=1e-10
        )
        assert row.sd == pytest.approx(x.std(ddof=1), rel=1e-10)
        assert (row.hpdi_low, row.hpdi_high) == pytest.approx(brute_hpdi(x, 0.8), rel=1e-10)
        assert (row.p_below_zero, row.p_in_rope) == pytest.approx(
            ((x < 0).mean(), (abs(x) < 0.3).mean())
        )
        assert (row.prob, row.rope) == (0.8, 0.3)


def test_without_neutral_pairs_it_is_those_of_the_contrast_each_connection_once():
    table = load_distances(pairs({key: 0.9 for key in ("associated", "different", "human")})).frame
    result = made_up(table, "crossed", VALUES, sd=0.01)
    frame = result.standardized(level="overall", estimand="population").set_index("contrast")
    raw = (
        result.table_draws("contrasts", level="overall", estimand="population")
        .to_numpy()
        .reshape(-1, 2)
    )
    for column, second in enumerate(("different", "human")):
        sd = np.sqrt((variance(result, "associated") + variance(result, second)) / 2)
        row = frame.loc[f"associated - {second}"]
        assert row["unit"] == f"sd of associated and {second} pairs"
        assert row["mean"] == pytest.approx((raw[:, column] / sd).mean(), rel=1e-10)


@pytest.mark.parametrize("level", ["overall", "class", "word"])
def test_superiority_is_the_normal_probability_under_every_draw(result, level):
    draws = result.table_draws("probability_of_superiority", level=level)
    raw = result.table_draws("contrasts", level=level).to_numpy()
    frame = result.standardized(0.8, level=level)
    for row, contrast in enumerate(draws["contrast"].to_numpy()):
        first, second = (
            variance(result, name, word=level == "word") for name in contrast.split(" - ")
        )
        expected = phi(-raw[..., row].ravel() / np.sqrt(first + second))
        np.testing.assert_allclose(draws.to_numpy()[..., row].ravel(), expected, rtol=1e-10)
        assert frame["probability_of_superiority"][row] == pytest.approx(expected.mean(), rel=1e-10)
        ends = (
            frame["probability_of_superiority_low"][row],
            frame["probability_of_superiority_high"][row],
        )
        assert ends == pytest.approx(brute_hpdi(expected, 0.8), rel=1e-10)


@pytest.mark.parametrize("level", ["overall", "word"])
@pytest.mark.slow
def test_of_pairs_that_are_drawn_as_many_are_nearer(level):
    """New words and attributes drawn from the model, or new attributes for one word; two pairs that share nothing."""
    table = load_distances(pairs()).frame
    result = made_up(table, "crossed", VALUES, sd=0.0)
    given = {
        name: values[0]
        for name, values in result.parameter_draws().items()
        if name not in ("word_by_connection", "attribute_effect")
    }
    if level == "word":
        given["word_by_connection"] = result.parameter_draws()["word_by_connection"][0]
    outcomes = []
    for seed, connection in ((1, "associated"), (3, "different")):
        drawn = result.design.prior_draws(20_000, shifted(seed), given)
        row = np.flatnonzero(
            (table["connection"] == connection) & (table["protected_word"] == "x2")
        )[0]
        outcomes.append(result.design.outcome_draws(drawn, shifted(seed + 1))[:, row])
    frame = result.probability_of_superiority(estimand="population", level=level)
    chosen = frame[
        (frame["contrast"] == "associated - different") & frame["name"].isin(["all", "x2"])
    ]
    assert_near(probability(independent(outcomes[0] < outcomes[1])), chosen["mean"].iloc[0], level)


@pytest.fixture(scope="module")
def fitted():
    table = load_distances(
        pairs({"associated": 0.8, "different": 0.9, "human": 1.0, "neutral": 1.05}, 0.1)
    )
    return fit(table, "crossed", seed=shifted(3), draws=400, tune=300, chains=2, pointwise=False)


@pytest.mark.slow
@pytest.mark.parametrize("estimand", ["population", "listed_words", "one_new_word"])
def test_of_a_normal_model_they_are_described_as_the_mixtures_they_are(fitted, estimand):
    """Division by a positive number moves nothing across zero; and the mixture lies where its draws do."""
    frame, raw = (table(estimand=estimand) for table in (fitted.standardized, fitted.contrasts))
    np.testing.assert_allclose(frame["p_below_zero"], raw["p_below_zero"], rtol=1e-9)
    draws = fitted.table_draws("standardized", estimand=estimand).to_numpy()
    for row in range(len(frame)):
        if estimand != "listed_words":
            assert_near(mean(draws[..., row]), frame["mean"][row], frame.iloc[row].tolist())
        assert_near(log_sd(draws[..., row]), np.log(frame["sd"][row]))
        for found, end in zip(hpdi(draws[..., row], 0.89), ("hpdi_low", "hpdi_high"), strict=True):
            assert_near(found, frame[end][row])
        assert_rate(abs(draws[..., row]) < 0.1, frame["p_in_rope"][row])


def test_noise_without_a_variance_is_refused():
    result = made_up(load_distances(pairs()).frame, "robust", VALUES)
    with pytest.raises(
        FitError, match="pairs: expected normal noise, got StudentT of model robust"
    ):
        result.standardized()
    with pytest.raises(FitError, match="pairs: expected normal noise"):
        result.probability_of_superiority()
    with pytest.raises(FitError, match="shares of variance: expected normal noise"):
        result.variance_partition()
