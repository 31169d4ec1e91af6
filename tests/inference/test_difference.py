"""The difference of two independent results: its draws, its table, and what is refused."""

import numpy as np
import pytest
from helpers.changes import NONE, changed, table
from helpers.draws import made_up_comparison, made_up_fit

import bayesbias as bb
from bayesbias.tables.reading import as_pair_table

KEYS = ["level", "name", "contrast", "estimand"]


@pytest.fixture(scope="module")
def fits():
    return (
        made_up_fit(table(seed=1), draws=2000, seed=1),
        made_up_fit(table(seed=2), draws=1500, seed=2),
    )


def test_draws_are_subtracted_row_by_row(fits):
    found = bb.difference(*fits)
    one, other = (fit.table_draws("contrasts").to_numpy()[:, :1500] for fit in fits)
    np.testing.assert_array_equal(found.draws.to_numpy(), one - other)
    flat = found.draws.to_numpy().reshape(3000, -1)
    population = (found.table["estimand"] == "population").to_numpy()
    mean, sd = flat.mean(axis=0)[population], flat.std(axis=0, ddof=1)[population]
    rows = found.table[population]
    assert (np.abs(mean - rows["mean"]) < 5 * sd / np.sqrt(1500)).all()
    assert np.allclose(sd, rows["sd"], rtol=0.1)


def test_mean_and_sd_are_those_of_the_tables(fits):
    found = bb.difference(*fits, prob=0.5, rope=0.1).table.set_index(KEYS)
    one, other = (fit.contrasts(detail=True).set_index(KEYS).loc[found.index] for fit in fits)
    np.testing.assert_allclose(found["mean"], one["mean"] - other["mean"])
    np.testing.assert_allclose(found["sd"] ** 2, one["sd"] ** 2 + other["sd"] ** 2)
    assert set(found["prob"]) == {0.5}
    assert set(found["rope"]) == {0.1}


def test_only_contrasts_in_common_are_given(fits):
    cut = table(seed=5).query("attribute_class != 'human'")
    found = bb.difference(fits[0], made_up_fit(cut, seed=5), level="class").table
    assert set(found["contrast"]) == {
        "associated - different",
        "associated - neutral",
        "different - neutral",
    }
    assert set(found["level"]) == {"class"}


def test_comparisons_differ_method_by_method():
    results = [
        made_up_comparison(
            as_pair_table(table(seed)),
            {"a": as_pair_table(changed(table(seed), NONE, seed + 5))},
            seed=seed + 1,
        )
        for seed in (0, 1)
    ]
    found = bb.difference(*results, level="overall", estimand="population")
    assert set(found.table["method"]) == {"a"}
    assert list(found.draws.coords) == ["method", *KEYS]


def test_what_cannot_be_subtracted_is_refused(fits):
    with pytest.raises(bb.InputError, match="same random numbers"):
        bb.difference(fits[0], fits[0])
    with pytest.raises(bb.InputError, match="expected a fit"):
        bb.difference(fits[0], "fit")
    other = table(seed=3).replace({"connection": {"different": "human"}})
    other = other[other["connection"].isin(["associated", "neutral"])]
    with pytest.raises(bb.InputError, match="in common"):
        bb.difference(made_up_fit(table().query("connection != 'neutral'")), made_up_fit(other))


def test_fits_of_other_tables_are_independent():
    settings = {"seed": 1, "draws": 500, "tune": 500, "chains": 2}
    fits = [
        bb.fit(bb.distance_table("minilm-static", name, controls="none"), **settings)
        for name in ("gender", "religion")
    ]
    found = bb.difference(*fits, level="overall", estimand="population")
    drawn = found.draws.to_numpy().std()
    assert drawn == pytest.approx(found.table["sd"].item(), rel=0.15)
