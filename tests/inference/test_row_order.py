"""The same answer whatever the order of the rows, of categories and of columns: to the last bit."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from helpers.seeds import shifted

from bayesbias.inference.expectation import prior_expectation
from bayesbias.inference.fitting import fit
from bayesbias.inference.prediction import with_pointwise
from bayesbias.models.design import Design
from bayesbias.models.loading import load_model
from bayesbias.simulation.grid import grid_of
from bayesbias.simulation.pools import Pool
from bayesbias.tables.coverage import Coverage
from bayesbias.tables.pair_table import COLUMNS, PairTable

QUICK = {"draws": 60, "tune": 100, "chains": 2}
LABELS = ["level", "name", "connection", "contrast", "estimand", "index", "parameter", "direction", "source"]


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(shifted(2))
    words = {"zoe": "b", "ann": "a", "bob": "a", "max": "b", "eve": "a"}
    lists = {
        "late": "b",
        "kind": "a",
        "hand": "human",
        "loud": "b",
        "idata": "neutral",
        "calm": "a",
        "arm": "human",
    }
    rows = [
        (word, of, attribute, kind, kind if kind in ("human", "neutral") else "stereotype")
        for word, of in words.items()
        for attribute, kind in lists.items()
    ]
    frame = pd.DataFrame(rows, columns=list(COLUMNS[:5]))
    own = np.where(frame["protected_class"] == frame["attribute_class"], "associated", "different")
    controls = frame["attribute_kind"] != "stereotype"
    frame["connection"] = np.where(controls, frame["attribute_kind"], own)
    return frame.assign(distance=np.clip(0.8 + 0.1 * rng.normal(size=len(frame)), 0, 2))


def otherwise(frame: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Return the same rows in another order, with a column of one's own and categories in any order."""
    rng = np.random.default_rng(seed)
    out = frame.assign(mine=range(len(frame))).iloc[rng.permutation(len(frame))].reset_index(drop=True)
    out.attrs = dict(frame.attrs)
    for name in ("protected_word", "attribute", "protected_class"):
        out[name] = pd.Categorical(out[name], categories=rng.permutation(out[name].unique()))
    return out


def by_labels(frame: pd.DataFrame) -> pd.DataFrame:
    keys = [name for name in [*LABELS, "protected_word"] if name in frame]
    return frame.sort_values(keys).reset_index(drop=True)


@pytest.mark.parametrize(
    "model",
    [
        "crossed",
        pytest.param("default", marks=pytest.mark.slow),
        pytest.param("robust", marks=pytest.mark.claim),
    ],
)
@pytest.mark.slow
def test_a_fit_does_not_depend_on_the_order_of_rows(table, model):
    seed = shifted(5)
    one = fit(table, model, seed=seed, **QUICK)
    mixed = otherwise(table, seed)
    other = fit(mixed, model, seed=seed, **QUICK)
    assert other.table["mine"].tolist() == mixed["mine"].tolist()
    asked = [
        lambda f: f.summary(),
        lambda f: f.words(),
        lambda f: f.contrasts(),
        lambda f: f.contrasts(estimand="one_new_word"),
        lambda f: f.new_words(),
        lambda f: f.parameters(),
    ]
    if model != "robust":
        asked += [lambda f: f.shares(), lambda f: f.standardized(), lambda f: f.prior_sensitivity()]
    for ask in asked:
        pd.testing.assert_frame_equal(by_labels(ask(one)), by_labels(ask(other)), check_exact=True)
    # Answers come in the order of the table that was given.
    for result in (one, other):
        words = list(dict.fromkeys(result.table["protected_word"].astype(str)))
        assert list(dict.fromkeys(result.words()["protected_word"])) == words
    # What is drawn for a row belongs to the row.
    place = mixed["mine"].to_numpy()
    for group in ("log_likelihood", "posterior_predictive"):
        first, second = (with_pointwise(f).idata[group]["distance"].to_numpy() for f in (one, other))
        np.testing.assert_array_equal(first[..., place], second)


def test_rows_of_one_key_come_in_the_order_of_their_outcome(table):
    spec = load_model("crossed")
    twice = pd.concat([table, table.assign(distance=table["distance"] / 2)], ignore_index=True)
    one, other = (Design.of(spec, f) for f in (twice, otherwise(twice, 3)))
    assert one.coords == other.coords
    assert one.ordered().order() is None
    np.testing.assert_array_equal(one.ordered().y, other.ordered().y)
    for name in one.index:
        np.testing.assert_array_equal(one.ordered().index[name], other.ordered().index[name])


def test_priors_do_not_depend_on_the_order_of_rows(table):
    one, other = (prior_expectation("default", f, draws=200, seed=3) for f in (table, otherwise(table, 4)))
    pd.testing.assert_frame_equal(one.contrasts, other.contrasts, check_exact=True)
    assert one.impossible == other.impossible


def test_what_is_drawn_from_a_pool_does_not_depend_on_its_order(table):
    drawn = []
    for frame in (table, otherwise(table, 6)):
        grid = grid_of(frame, "pool")
        pool = Pool.of(grid, grid.sizes()[0] - 1, np.maximum(grid.sizes()[1] - 1, 1))
        part = grid.part(*pool.places(np.random.default_rng(shifted(7))))
        drawn.append((sorted(part.words), sorted(part.attributes)))
    assert drawn[0] == drawn[1]


def test_a_table_that_was_read_is_fitted_as_its_rows_are(table):
    mixed = otherwise(table, 9)
    given = PairTable(mixed, Coverage({}, {}), {"name": "mixed"})
    seed = shifted(8)
    one = fit(given, "crossed", seed=seed, **QUICK).summary()
    pd.testing.assert_frame_equal(
        by_labels(one), by_labels(fit(table, "crossed", seed=seed, **QUICK).summary()), check_exact=True
    )
