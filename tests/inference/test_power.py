"""Power-scaling sensitivities: ArviZ's on a idata made by hand, and what they must say."""

from __future__ import annotations

import arviz as az
import numpy as np
import pytest
import xarray as xr
from helpers.seeds import shifted
from helpers.tables import grid
from scipy import stats

from bayesbias.inference import power as room
from bayesbias.inference.fitting import fit
from bayesbias.inference.power import power_scaling
from bayesbias.inference.prediction import with_pointwise
from bayesbias.models.loading import load_model
from bayesbias.models.stretching import stretched_prior


@pytest.fixture(scope="module")
def result():
    table = grid((2, 2), (2, 2), human=2, neutral=2, seed=3)
    return fit(table, "crossed", seed=shifted(1), draws=400, tune=500)


def test_equal_to_arviz_on_densities_by_hand(result, monkeypatch):
    monkeypatch.setattr(room, "_VALUES_AT_A_TIME", 7 * len(result.table))  # in uneven slices
    frame = power_scaling(result)
    posterior = result.idata["posterior"]
    prior = xr.Dataset(
        {
            "connection_mean": xr.zeros_like(posterior["connection_mean"])
            + stats.norm(1, 0.3).logpdf(posterior["connection_mean"]),
            **{
                name: xr.zeros_like(posterior[name])
                + stats.expon(scale=0.5).logpdf(posterior[name])
                for name in ("word_by_connection_sd", "attribute_sd", "sigma")
            },
        }
    )
    contrasts = result.draws_of("contrasts", estimand="population")
    rows = [
        int(np.flatnonzero(
            (contrasts["level"] == row.level) & (contrasts["name"] == row.name_)
            & (contrasts["contrast"] == row.contrast)
        )[0])
        for row in frame.rename(columns={"name": "name_"}).itertuples()
    ]  # fmt: skip
    idata = xr.DataTree.from_dict(
        {
            "posterior": xr.Dataset(
                {"x": (("chain", "draw", "row"), contrasts.to_numpy()[..., rows])}
            ),
            "log_prior": prior,
            "log_likelihood": with_pointwise(result).idata["log_likelihood"].to_dataset(),
        }
    )
    for group in ("prior", "likelihood"):
        np.testing.assert_allclose(
            frame[group], az.psense(idata, group=group)["x"], rtol=1e-6, atol=1e-9
        )
    assert list(frame.columns) == ["level", "name", "contrast", "prior", "likelihood"]


@pytest.mark.slow
def test_a_narrow_prior_is_seen():
    table = grid((3, 3), (2, 2), human=0, neutral=0, seed=2)
    table = table.assign(distance=table["distance"] + 0.5 * (table["connection"] == "different"))
    wide, narrow = (
        power_scaling(
            fit(
                table,
                stretched_prior(load_model("hierarchical"), "connection_mean", factor),
                seed=shifted(1),
                draws=500,
                tune=500,
            )
        )
        for factor in (1, 0.2)
    )
    overall = narrow["level"] == "overall"
    assert (narrow[overall]["prior"] > 0.05).all()
    assert (narrow[overall]["prior"] > 3 * wide[overall]["prior"]).all()
