"""Vectors that a method destroyed have no gap either: what the ranking says of them."""

from __future__ import annotations

import dataclasses

import matplotlib as mpl
import numpy as np
import pytest
import xarray as xr
from helpers.changes import NONE, changed, destroyed_comparison, table
from helpers.draws import made_up_comparison
from helpers.seeds import shifted

mpl.use("Agg")


from bayesbias.inference.posterior import BiasFit
from bayesbias.studies.debiasing.comparison import Comparison
from bayesbias.tables.reading import as_pair_table

pytestmark = pytest.mark.slow  # many draws are made


@pytest.fixture(scope="module")
def destroyed() -> Comparison:
    return destroyed_comparison()


def test_a_method_is_no_nearer_to_zero_because_it_stands_first(destroyed):
    between = destroyed.between_methods().set_index("method")
    assert between.loc["copy", "verdict"] == "above"
    assert between.loc["copy", "p_nearer_zero"] < 0.05


def test_draws_of_fits_that_share_their_random_numbers_are_not_held_against_each_other():
    before = as_pair_table(table())
    after = {
        name: as_pair_table(changed(table(), NONE, seed)) for name, seed in (("a", 1), ("b", 2))
    }
    found = made_up_comparison(before, after, draws=500)
    same = np.random.default_rng(shifted(1)).standard_normal((2, 500))

    def around_zero(fit: BiasFit | None, sd: float) -> BiasFit:
        """Return a fit in which nothing is known of but associated pairs, by the same random numbers for all fits."""
        assert fit is not None
        posterior = 0 * fit.idata["posterior"].to_dataset()
        posterior["d"].loc[{"connection": "associated"}] = sd * same
        idata = fit.idata.copy()
        idata["posterior"] = xr.DataTree(posterior)
        return dataclasses.replace(fit, idata=idata)

    methods = {
        name: dataclasses.replace(item, after=around_zero(item.after, 0.02))
        for name, item in found.methods.items()
    }
    between = {
        key: dataclasses.replace(item, fit=around_zero(item.fit, 0.03))
        for key, item in found.between.items()
    }
    row = dataclasses.replace(found, methods=methods, between=between).between_methods().iloc[0]
    assert abs(row["p_nearer_zero"] - 0.5) < 4 * row["mcse_p_nearer_zero"]
    assert abs(row["mean"]) < 4 * row["mcse_mean"]


def test_the_gap_beside_the_spread_of_controls(destroyed):
    frame = destroyed.geometry().set_index("method")
    gaps = destroyed.contrasts(estimand="population")
    gaps = gaps[
        (gaps["level"] == "overall") & (gaps["contrast"] == "associated - different")
    ].set_index("method")
    for name, item in destroyed.methods.items():
        controls = item.pairs[item.pairs["connection"].isin(["human", "neutral"])]
        for when, column in (("before", "original"), ("after", "debiased")):
            sd = controls[column].to_numpy().std()
            for end in ("", "_low", "_high"):
                assert frame.loc[name, f"gap_{when}{end}"] == pytest.approx(
                    gaps.loc[name, f"{when}{end}"] / sd
                )
    wide = destroyed.geometry(0.99, "kept").iloc[0]
    assert wide["correlation_low"] < frame.loc["kept", "correlation_low"]
    assert wide["prob"] == 0.99
