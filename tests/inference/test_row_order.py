"""The same answer whatever the order of the rows, of categories and of columns."""

import numpy as np
import pandas as pd
import pytest
from helpers.seeds import shifted
from helpers.tables import grid

from bayesbias.inference.cross_validation import with_pointwise
from bayesbias.inference.fitting import fit
from bayesbias.inference.priors import prior_answers
from bayesbias.models.design import Design
from bayesbias.models.spec import load_model

LABELS = [
    "level",
    "name",
    "connection",
    "contrast",
    "estimand",
    "index",
    "source",
    "protected_word",
]


def otherwise(frame: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Return the same rows in another order, with a column of one's own and categories in any order."""
    rng = np.random.default_rng(seed)
    out = (
        frame.assign(mine=range(len(frame)))
        .iloc[rng.permutation(len(frame))]
        .reset_index(drop=True)
    )
    for name in ("protected_word", "attribute", "protected_class"):
        out[name] = pd.Categorical(out[name], categories=rng.permutation(out[name].unique()))
    return out


def by_labels(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.sort_values([name for name in LABELS if name in frame]).reset_index(drop=True)


@pytest.mark.parametrize("model", ["crossed", pytest.param("default", marks=pytest.mark.slow)])
def test_a_fit_does_not_depend_on_the_order_of_rows(model):
    table, seed = grid((3, 2), (2, 2), 2, 1), shifted(5)
    mixed = otherwise(table, seed)
    one, other = (
        fit(rows, model, seed=seed, draws=60, tune=100, chains=2) for rows in (table, mixed)
    )
    assert other.table["mine"].tolist() == mixed["mine"].tolist()
    for ask in (
        lambda f: f.words(),
        lambda f: f.contrasts(detail=True),
        lambda f: f.contrasts(estimand="one_new_word", detail=True),
        lambda f: f.new_words(),
        lambda f: f.parameters(),
        lambda f: f.standardized(),
    ):
        pd.testing.assert_frame_equal(by_labels(ask(one)), by_labels(ask(other)), rtol=1e-9)
    # Answers come in the order of the table that was given.
    words = list(dict.fromkeys(other.table["protected_word"].astype(str)))
    assert list(dict.fromkeys(other.words()["protected_word"])) == words
    # What is drawn for a row belongs to the row.
    for group in ("log_likelihood", "posterior_predictive"):
        first, second = (
            with_pointwise(f).idata[group]["distance"].to_numpy() for f in (one, other)
        )
        np.testing.assert_allclose(first[..., mixed["mine"].to_numpy()], second, rtol=1e-9)


def test_rows_of_one_key_come_in_the_order_of_their_outcome():
    table = grid()
    twice = pd.concat([table, table.assign(distance=table["distance"] / 2)], ignore_index=True)
    one, other = (
        Design.of(load_model("crossed"), f).ordered() for f in (twice, otherwise(twice, 3))
    )
    np.testing.assert_array_equal(one.y, other.y)
    for name in one.index:
        np.testing.assert_array_equal(one.index[name], other.index[name])


def test_priors_do_not_depend_on_the_order_of_rows():
    table = grid()
    found = []
    for frame in (table, otherwise(table, 4)):
        found.append(prior_answers(load_model("default"), frame, True, 200, 3))
    assert found[0].keys() == found[1].keys()
    for key, values in found[0].items():
        np.testing.assert_allclose(values, found[1][key], atol=1e-12)
