"""By how much single pairs scatter: by hand from the spreads, and by drawing pairs."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.fits import made_up, pairs
from helpers.monte_carlo import assert_near, independent, log_sd
from helpers.seeds import shifted

from bayesbias.core.errors import FitError
from bayesbias.inference.fitting import fit
from bayesbias.inference.variances import total_sd
from bayesbias.models.design import Design
from bayesbias.models.variants import with_slopes
from bayesbias.tables.reading import load_distances


@pytest.fixture(scope="module")
def table():
    return load_distances(pairs()).frame


def of(table, connection: str) -> np.ndarray:
    return (table["connection"] == connection).to_numpy()


SPREADS = {
    "word_by_connection_sd": lambda connection: {"associated": 0.1, "different": 0.2, "human": 0.3, "neutral": 0.4}[connection],
    "sigma": lambda connection: {"associated": 0.15, "different": 0.25, "human": 0.35, "neutral": 0.45}[connection],
    "class_by_attribute_sd": lambda kind: {"stereotype": 0.11, "human": 0.12, "neutral": 0.13}[kind],
    "word_by_kind_sd": lambda kind: {"stereotype": 0.21, "human": 0.22, "neutral": 0.23}[kind],
    "attribute_sd": 0.3,
}  # fmt: skip


def test_variances_add_up_under_every_draw(table):
    result = made_up(table, "shared", SPREADS, sd=0.01)
    draws, coords = result.parameter_draws(), result.design.coords
    for connection, kind in (("neutral", "neutral"), ("associated", "stereotype")):
        k, a = coords["connection"].index(connection), coords["attribute_kind"].index(kind)
        parts = (
            draws["word_by_connection_sd"][:, k],
            draws["sigma"][:, k],
            draws["class_by_attribute_sd"][:, a],
            draws["word_by_kind_sd"][:, a],
            draws["attribute_sd"],
        )
        expected = np.sqrt(sum(np.square(part) for part in parts))
        found = total_sd(result.design, draws, of(table, connection))
        np.testing.assert_allclose(found, expected, rtol=1e-12)
        np.testing.assert_array_equal(
            found, total_sd(result.design, draws, np.flatnonzero(of(table, connection)))
        )


def test_of_one_word_its_own_terms_do_not_scatter(table):
    result = made_up(table, "shared", SPREADS, sd=0.01)
    draws, coords = result.parameter_draws(), result.design.coords
    rows = of(table, "neutral") & (table["protected_word"] == "x1").to_numpy()
    k, a = coords["connection"].index("neutral"), coords["attribute_kind"].index("neutral")
    own = (
        draws["attribute_sd"] ** 2
        + draws["class_by_attribute_sd"][:, a] ** 2
        + draws["sigma"][:, k] ** 2
    )
    held = total_sd(result.design, draws, rows, held=("protected_word",))
    np.testing.assert_allclose(held, np.sqrt(own), rtol=1e-12)
    # Without being told, another word could have been drawn in its place.
    whole = np.sqrt(
        own + draws["word_by_connection_sd"][:, k] ** 2 + draws["word_by_kind_sd"][:, a] ** 2
    )
    np.testing.assert_allclose(total_sd(result.design, draws, rows), whole, rtol=1e-12)


@pytest.mark.parametrize("model", ["hierarchical", "crossed", "shared"])
def test_new_pairs_that_are_drawn_scatter_so(table, model):
    """The spread of outcomes drawn from the model with its fixed parameters and spreads given, effects drawn anew."""
    result = made_up(table, model, {**SPREADS, "connection_mean": 0.9}, sd=0.0)
    design, spec = result.design, result.spec
    given = {
        name: values[0]
        for name, values in result.parameter_draws().items()
        if name not in spec.location_parameters() or not spec.is_random(name)
    }
    draws = design.prior_draws(20_000, shifted(5), given)
    outcomes = design.outcome_draws(draws, shifted(6))
    for connection in ("associated", "neutral"):
        row = np.flatnonzero(of(table, connection))[0]
        expected = total_sd(design, result.parameter_draws(), of(table, connection))[0]
        assert_near(log_sd(independent(outcomes[:, row])), np.log(expected), (model, connection))


def test_words_lie_along_one_line_whichever_slopes_it_is_the_sum_of(table):
    x = table["protected_word"].map(
        {word: float(n) for n, word in enumerate(table["protected_word"].unique())}
    )
    design = Design.of(with_slopes("crossed", "x"), table.assign(x=x))
    draws = {name: 0 * values for name, values in design.prior_draws(2, 7).items()}
    rows = of(table, "neutral")
    draws["slope_x"] = np.full(2, 0.3)
    draws["slope_x_connection"] = np.full((2, len(design.coords["connection"])), -0.2)
    np.testing.assert_allclose(total_sd(design, draws, rows), 0.1 * x[rows].std(ddof=0), rtol=1e-12)


def test_noise_without_a_variance_is_refused(table):
    result = made_up(table, "robust", SPREADS)
    with pytest.raises(
        FitError, match="pairs: expected normal noise, got StudentT of model robust"
    ):
        total_sd(result.design, result.parameter_draws(), of(table, "neutral"))


TABLES = ["reddit_pairs_2021/genderReddit.csv", "google_2021/genderGoogle.csv"]


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLES)
def test_neutral_pairs_of_published_tables_scatter_as_the_fit_says(name, shared):
    """What lies between words and between attributes of the sample is known about as well as the posterior says."""
    table = load_distances(shared / "data" / "bayesbias_distances" / name)
    result = fit(table, "crossed", draws=300, tune=300, chains=2, seed=shifted(1), pointwise=False)
    rows = of(result.table, "neutral")
    low, high = np.quantile(total_sd(result.design, result.parameter_draws(), rows), (0.01, 0.99))
    assert low < result.table["distance"][rows].std() < high


def test_how_classes_differ_is_no_scatter_of_pairs(table):
    known = {
        "attribute_sd": 0.1,
        "class_by_attribute_sd": 0.1,
        "word_sd": 0.2,
        "word_by_connection_sd": 0.1,
        "word_to_stereotypes_sd": 0.1,
        "sigma": 0.3,
    }
    result = made_up(table, "default", known, sd=0.0)
    found = total_sd(result.design, result.parameter_draws(), of(table, "neutral"))
    np.testing.assert_allclose(found, np.sqrt(3 * 0.1**2 + 0.2**2 + 0.3**2))
