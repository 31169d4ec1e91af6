"""The index arrays that every way of fitting shares."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from helpers.models import MODELS, own, slopes_model, spec_of
from helpers.tables import grid, with_covariates

from bayesbias.core.errors import FitError, InputError
from bayesbias.inference.fitting import fit
from bayesbias.models.design import Design, encoded
from bayesbias.models.spec import ModelSpec, load_model, parse_model
from bayesbias.wordlists.wordlist import CONNECTIONS


@pytest.mark.parametrize("name", MODELS)
def test_index_arrays_equal_a_slow_loop(name, table):
    spec = spec_of(name)
    rng = np.random.default_rng(0)
    number = table["distance"].round() if spec.outcome == "level" else table["distance"]
    table = table.assign(**{spec.outcome: number})  # any number serves here
    for column in sorted(spec.label_columns() - set(table)):  # and any label
        table = table.assign(**{column: rng.choice(["x", "y", "z"], len(table))})
    if "word" in table and "group" in table:  # a word belongs to one group
        table["word"] = table["group"] + table["word"]
    table = table.assign(covariate=table["distance"], answers=2.0)
    design = Design.of(spec, table)
    used = {*spec.mu, *(v for v in spec.noise.values() if isinstance(v, str))}
    assert used <= set(design.index)
    np.testing.assert_array_equal(design.y, number)

    def entry(parameter: str, row) -> int:
        position = 0
        for dim in spec.parameters[parameter].dims:
            labels = design.coords[dim]
            assert labels.count(row[dim]) == 1
            position = position * len(labels) + labels.index(row[dim])
        return position

    for parameter, index in design.index.items():
        assert index.dtype.kind == "i"
        assert index.tolist() == [entry(parameter, row) for _, row in table.iterrows()], parameter
    links = {
        (child, arg): value
        for child, p in spec.parameters.items()
        for arg, value in p.args.items()
        if isinstance(value, str)
    }
    assert set(design.parent) == set(links)
    for (child, arg), up in links.items():
        assert design.parent[child, arg].shape == (design.size(child),)
        for _, row in table.iterrows():
            assert design.parent[child, arg][entry(child, row)] == entry(up, row), (child, arg)


def test_entries_without_rows_have_the_parent_their_own_labels_name(table):
    design = Design.of(
        own(), table[~((table["protected_word"] == "b1") & (table["connection"] == "human"))]
    )
    words, connections = design.coords["protected_word"], design.coords["connection"]
    parent = design.parent["word_by_connection", "mu"].reshape(len(words), len(connections))
    np.testing.assert_array_equal(parent, np.tile(np.arange(len(connections)), (len(words), 1)))


def test_labels_come_in_the_order_of_the_alphabet_and_connections_in_theirs(table):
    design = Design.of(load_model("crossed"), table)
    assert design.coords["connection"] == list(CONNECTIONS)
    assert design.coords["attribute"] == sorted(set(table["attribute"]))
    assert design.shape("word_by_connection") == (3, 4)
    assert design.size("attribute_sd") == 1
    only = Design.of(
        load_model("crossed"), table[table["connection"].isin(["neutral", "different"])]
    )
    assert only.coords["connection"] == ["different", "neutral"]


def test_a_dimension_that_another_determines_is_found_and_any_other_refused(table):
    spec = own()
    design = Design.of(spec, table)
    kind = dict(zip(table["attribute"], table["attribute_kind"], strict=True))
    told = [design.coords["attribute_kind"][i] for i in design.parent["attribute_effect", "sigma"]]
    assert told == [kind[word] for word in design.coords["attribute"]]
    for dim in ("connection", "protected_word"):
        other = own(
            (
                '[parameter.attribute_sd]\ndims = ["attribute_kind"]',
                f'[parameter.attribute_sd]\ndims = ["{dim}"]',
            )
        )
        with pytest.raises(
            InputError,
            match=rf"expected dims of 'attribute_sd' that those of 'attribute_effect' determine, got '{dim}'",
        ):
            Design.of(other, table)
    # One attribute of two kinds: the kind no longer follows from the word.
    two = table.assign(attribute_kind=["other", *table["attribute_kind"][1:]])
    assert (two["attribute"] == two["attribute"].iloc[0]).sum() > 1
    with pytest.raises(InputError, match="determine, got 'attribute_kind'"):
        Design.of(spec, two)


@pytest.mark.parametrize(
    ("edit", "error", "said"),
    [
        (lambda t: t.drop(columns="attribute"), InputError, "the column 'attribute', got"),
        (
            lambda t: t.rename(columns={"distance": "distanc"}),
            InputError,
            "Did you mean 'distanc'?",
        ),
        (
            lambda t: t.assign(distance="far"),
            InputError,
            "distance, row 0: expected a finite number, got 'far'",
        ),
        (
            lambda t: t.assign(distance=[1.0, np.nan, *t["distance"][2:]]),
            InputError,
            "row 1: .*got nan",
        ),
        (
            lambda t: t.assign(distance=[np.inf, *t["distance"][1:]]),
            InputError,
            "row 0: .*got inf",
        ),
        (
            lambda t: t.assign(attribute=[None, *t["attribute"][1:]]),
            InputError,
            "attribute, row 0: .*empty",
        ),
        (lambda t: t[:0], FitError, "expected a table with rows"),
    ],
)
def test_tables_that_do_not_fit_the_model(edit, error, said, table):
    with pytest.raises(error, match=said):
        Design.of(load_model("crossed"), edit(table))


def test_a_column_that_is_not_there_is_traced_to_its_file(table, tmp_path):
    path = tmp_path / "mine.toml"
    for old, new, column in [
        (
            '[parameter.attribute_effect]\ndims = ["attribute"]',
            '[parameter.attribute_effect]\ndims = ["atribute"]',
            "atribute",
        ),
        ('outcome = "distance"', 'outcome = "distence"', "distence"),
        ('outcome = "distance"', 'outcome = "distance"\nunits = ["pear"]', "pear"),
    ]:
        text = load_model("crossed").text
        assert text.count(old) == 1
        path.write_text(text.replace(old, new), encoding="utf-8")
        with pytest.raises(InputError, match=f"the column '{column}'") as caught:
            Design.of(load_model(path), table)
        assert str(caught.value).startswith(f"model crossed ({path})")
    with pytest.raises(InputError, match=r"^model crossed: .* the column 'attribute'"):
        Design.of(load_model("crossed"), table.drop(columns="attribute"))
    # Where a model was read from is no part of what it is.
    path.write_text(load_model("crossed").text, encoding="utf-8")
    assert load_model(path) == load_model("crossed")


@pytest.mark.parametrize("categorical", [False, True])
def test_labels_come_in_order_of_appearance_also_of_categories(categorical):
    column = pd.Series(["b", "a", "b", "word_by_connection"])
    if categorical:
        column = column.astype(pd.CategoricalDtype(["a", "z", "word_by_connection", "b"]))
    shown, order, places = encoded(column, "x")
    assert shown == ["b", "a", "word_by_connection"]
    assert order == ["a", "b", "word_by_connection"]
    assert places.tolist() == [1, 0, 1, 2]
    column = pd.Series(
        ["neutral", "own", "associated"], dtype="category" if categorical else object
    )
    shown, order, places = encoded(column, "connection")
    assert shown == order == ["associated", "neutral", "own"]
    assert places.tolist() == [1, 2, 0]


def test_a_shipped_model_of_another_kind_of_table_is_no_spelling_mistake(table):
    with pytest.raises(InputError) as caught:
        Design.of(load_model("sentence"), table)
    assert "Did you mean" not in str(caught.value)
    assert "A row of it is one protected_word x protected_template x attribute" in str(caught.value)


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        (lambda t: t.drop(columns="frequency"), ["frequency"]),
        (
            lambda t: t.assign(frequency="often"),
            ["expected a finite number"],
        ),
        (lambda t: t.assign(frequency=np.nan), ["finite", "row 0"]),
    ],
    ids=["missing", "text", "empty"],
)
def test_a_column_of_covariates_that_is_none_is_said(change, parts):
    with pytest.raises(InputError) as error:
        Design.of(slopes_model("a"), change(with_covariates(grid())))
    assert all(part in str(error.value) for part in parts), error.value


def test_a_slope_is_multiplied_by_its_covariate():
    table = with_covariates(grid())
    design = Design.of(slopes_model("a"), table)
    draws = design.prior_draws(3, 1)
    without = design.mean(draws | {"a": np.zeros_like(draws["a"])})
    connection = [design.coords["connection"].index(c) for c in table["connection"]]
    slopes = draws["a"][:, connection] * table["frequency"].to_numpy()
    np.testing.assert_allclose(design.mean(draws) - without, slopes)


def of_some_rows(column: str = "attribute_kind", label: str = "stereotype") -> ModelSpec:
    """Return the model crossed with attribute effects in some rows alone."""
    text = load_model("crossed").text
    only = f'[parameter.attribute_effect]\nonly = {{ {column} = "{label}" }}'
    return parse_model(text.replace("[parameter.attribute_effect]", only).encode(), "own.toml")


def test_a_term_of_some_rows_is_nothing_in_the_others():
    table = grid()
    having = (table["attribute_kind"] == "stereotype").to_numpy()
    design = Design.of(of_some_rows(), table)
    assert 0 < having.sum() < len(having)
    np.testing.assert_array_equal(design.lever("attribute_effect"), having)
    np.testing.assert_array_equal(design.lever("attribute_effect", [0, -1]), having[[0, -1]])
    assert design.lever("word_by_connection") is None
    draws = design.prior_draws(3, 1)
    whole = Design.of(load_model("crossed"), table).mean(draws)
    found = design.mean(draws)
    np.testing.assert_array_equal(found[:, having], whole[:, having])
    without = design.mean(draws | {"attribute_effect": np.zeros_like(draws["attribute_effect"])})
    np.testing.assert_array_equal(found[:, ~having], without[:, ~having])


def test_rows_in_another_order_keep_their_terms():
    table = grid().sample(frac=1, random_state=3).reset_index(drop=True)
    design = Design.of(of_some_rows(), table)
    ordered, order = design.ordered(), design.order()
    np.testing.assert_array_equal(
        ordered.only["attribute_effect"], design.only["attribute_effect"][order]
    )


def test_the_column_that_rows_are_told_by_is_needed():
    with pytest.raises(InputError) as error:
        Design.of(of_some_rows("kind_of_attribute"), grid())
    message = str(error.value)
    assert "'kind_of_attribute'" in message
    assert "kind_of_attribute" in message
    nowhere = grid().query("attribute_kind != 'stereotype'")
    assert (
        not Design.of(of_some_rows(), nowhere).only["attribute_effect"].any()
    )  # as for a fit that is read back
    said = r"attribute_kind: expected human, neutral.*got 'stereotypes'"
    with pytest.raises(InputError, match=said) as error:
        fit(grid(), of_some_rows(label="stereotypes"), progress=False)
    assert "Did you mean 'stereotype'" in str(error.value)
