"""Slopes on a covariate, added to a model."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from helpers.models import MODELS, own, spec_of
from helpers.tables import grid, with_covariates

from bayesbias.core.errors import InputError
from bayesbias.models.design import Design
from bayesbias.models.spec import parse_model
from bayesbias.models.variants import slopes_for, with_slopes


@pytest.mark.parametrize("name", MODELS)
def test_slopes_are_added_and_nothing_else_changes(name):
    spec = spec_of(name)
    more = with_slopes(spec, "year of birth")
    added = [key for key in more.parameters if key not in spec.parameters]
    assert {key: more.parameters[key] for key in spec.parameters} == dict(spec.parameters)
    assert added == ["slope_year_of_birth", f"slope_year_of_birth_{spec.results.group}"]
    assert more.mu == (*spec.mu, *added)
    assert more.covariates() == [*spec.covariates(), "year of birth"]
    assert [more.parameters[key].dims for key in added] == [(), (spec.results.group,)]
    assert (more.noise, more.results, more.units, more.notes) == (
        spec.noise,
        spec.results,
        spec.units,
        spec.notes,
    )
    assert (more.name, more.origin) == (f"{spec.name} + year of birth", spec.origin)
    # What it says of itself is what it is.
    assert parse_model(more.text.encode(), "again").parameters == more.parameters
    assert more.sha256 != spec.sha256


def test_kinds_of_slopes_and_their_priors():
    spec = with_slopes(
        own(),
        "age",
        ["protected_class", ("protected_class", "connection")],
        varying=["attribute"],
        sd=0.25,
    )
    of = {name: about for name, about in spec.parameters.items() if about.covariate == "age"}
    assert {name: about.dims for name, about in of.items()} == {
        "slope_age": (),
        "slope_age_protected_class": ("protected_class",),
        "slope_age_protected_class_connection": ("protected_class", "connection"),
        "slope_age_attribute": ("attribute",),
    }
    assert [about.args["sigma"] for about in of.values()] == [0.25] * 3 + ["slope_age_attribute_sd"]
    assert dict(spec.parameters["slope_age_attribute_sd"].args) == {"lam": 4.0}
    assert [spec.is_random(name) for name in of] == [False, False, False, True]
    assert with_slopes(own(), "age", ()).mu == (*own().mu, "slope_age")


def test_the_mean_gains_covariate_times_slope():
    table = with_covariates(grid())
    spec = with_slopes(
        with_slopes("default", "frequency", varying=["attribute"]), "age", ["protected_class"]
    )
    design, rng = Design.of(spec, table), np.random.default_rng(3)
    draws = {name: rng.normal(0, 1, design.shape(name)) for name in spec.parameters}
    without = {
        name: np.zeros_like(draw) if name.startswith("slope_") else draw
        for name, draw in draws.items()
    }

    def at(name, column):
        return draws[name][[design.coords[column].index(label) for label in table[column]]]

    expected = table["frequency"] * (
        draws["slope_frequency"]
        + at("slope_frequency_connection", "connection")
        + at("slope_frequency_attribute", "attribute")
    ) + table["age"] * (draws["slope_age"] + at("slope_age_protected_class", "protected_class"))
    np.testing.assert_allclose(design.mean(draws) - design.mean(without), expected, atol=1e-12)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("distance",), r"expected a column of numbers.*got 'distance'"),
        (("attribute",), "column of numbers"),
        (("",), "covariate"),
        ((3,), "covariate"),
        (("age", ["connection", "connection"]), "by and varying"),
        (("age", [()]), "by"),
        (("age", ["chain"]), "other than those of the draws"),
    ],
)
def test_what_cannot_be_is_refused(arguments, said):
    with pytest.raises(InputError, match=said):
        with_slopes("default", *arguments)


def test_a_covariate_that_the_model_has_is_refused():
    once = with_slopes("default", "age")
    with pytest.raises(InputError, match=r"no slopes yet, got 'age'"):
        with_slopes(once, "age")
    with pytest.raises(InputError, match="sd"):
        with_slopes("default", "age", sd=0)
    with pytest.raises(InputError, match="by and varying"):
        with_slopes("default", "age", ["attribute"], varying=["attribute"])


@pytest.mark.parametrize(
    ("covariate", "varying"),
    [("year", ["attribute"]), ("age", ["protected_word"])],
    ids=["of words", "of attributes"],
)
def test_slopes_of_a_command_scatter_over_the_other_side(covariate, varying):
    table = with_covariates(grid())
    assert slopes_for("default", table, covariate) == with_slopes(
        "default", covariate, varying=varying
    )
    by_class = slopes_for("default", table, covariate, ["protected_class"])
    assert by_class.parameters[f"slope_{covariate}_protected_class"].args["sigma"] == 0.1


def test_slopes_of_a_command_fit_the_outcome():
    table = pd.DataFrame(
        {"classifier": "a", "noun_pair": list("nnmmoo"), "profession": list("pqpqpq")}
    )
    table = table.assign(pay=table["profession"].map({"p": -1.0, "q": 1.0}), difference=0.1)
    spec = slopes_for("sentiment", table, "pay")
    assert (
        spec.parameters["slope_pay_noun_pair_classifier"].args["sigma"]
        == "slope_pay_noun_pair_classifier_sd"
    )
    assert slopes_for("sentiment_logit", table, "pay").parameters["slope_pay"].args["sigma"] == 0.5
    # Two professions are no sample of professions.
    few = slopes_for(
        "sentiment", table.assign(age=table["noun_pair"].map({"n": 1.0, "m": 2.0, "o": 0.0})), "age"
    )
    assert list(few.parameters)[-2:] == ["slope_age", "slope_age_classifier"]


@pytest.mark.parametrize(
    ("covariate", "said"),
    [
        ("ago", "covariate: expected .*Did you mean 'age'"),
        ("attribute_class", "covariate: expected"),
        ("distance", "covariate: expected"),
        ("noise", "varies within each"),
    ],
)
def test_what_is_no_covariate_is_refused(covariate, said):
    table = with_covariates(grid())
    table = table.assign(noise=np.random.default_rng(1).normal(0, 1, len(table)))
    with pytest.raises(InputError, match=said):
        slopes_for("default", table, covariate)


def test_a_covariate_that_tells_nothing_is_refused():
    table = with_covariates(grid())
    of_class = table.assign(
        rank=table["protected_class"].map({"class0": 1.0, "class1": 2.0, "class2": 4.0})
    )
    assert (
        slopes_for("default", of_class, "rank").name == "default + rank"
    )  # the table's coverage says what it is
    with pytest.raises(InputError, match="same for all words of each protected_class"):
        slopes_for("default", of_class, "rank", ["protected_class"])
    with pytest.raises(InputError, match=r"'one', which is the same in all rows"):
        slopes_for("default", table.assign(one=1.0), "one")
    with pytest.raises(InputError, match=r"is no parameter .* got 'set_mean'"):
        slopes_for("default", table.assign(set_mean=table["year"]), "set_mean")


def test_a_table_without_covariates_says_how_it_gets_them():
    with pytest.raises(
        InputError,
        match=r"column of numbers.*--covariates FILE.*join_covariates",
    ):
        slopes_for("crossed", grid(), "year")
