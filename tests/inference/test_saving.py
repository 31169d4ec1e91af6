"""Fits are saved and loaded whole or not at all."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from helpers.definitions import FITS

from bayesbias.core.errors import InputError
from bayesbias.inference.cross_validation import loo, with_pointwise
from bayesbias.inference.fitting import load_fit

pytestmark = pytest.mark.slow  # fits are written and read

FRAMES = ("summary", "words", "contrasts", "parameters")


@pytest.fixture(scope="session")
def saved(crossed, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("saved") / "fit.nc"
    crossed.save(path)
    return path


@pytest.mark.parametrize("result", FITS, indirect=True)
def test_a_saved_fit_loads_the_same(result, tmp_path):
    path = tmp_path / "fit.nc"
    result.save(path)
    back = load_fit(path)
    assert [p.name for p in tmp_path.iterdir()] == ["fit.nc"]
    assert repr(back) == repr(result)
    for name in FRAMES:
        pd.testing.assert_frame_equal(
            getattr(back, name)(), getattr(result, name)(), check_exact=True
        )
    assert back.diagnostics() == result.diagnostics()
    assert back.spec == result.spec
    assert back.provenance == result.provenance
    for column in result.table.columns:
        assert back.table[column].tolist() == result.table[column].tolist()
    assert set(back.idata.children) == set(result.idata.children)
    for group in result.idata.children:
        for name, values in result.idata[group].data_vars.items():
            np.testing.assert_array_equal(
                back.idata[group][name].values, values.values, err_msg=f"{group} {name}"
            )
    assert loo(back).elpd == loo(result).elpd


def test_pointwise_values_come_back_where_a_fit_held_them(additive, tmp_path):
    held = with_pointwise(additive)
    held.save(tmp_path / "fit.nc")
    with xr.open_datatree(tmp_path / "fit.nc", engine="h5netcdf") as idata:
        assert "log_likelihood" not in idata.children
    back = load_fit(tmp_path / "fit.nc")
    assert set(back.idata.children) == set(held.idata.children)
    for group in ("log_likelihood", "posterior_predictive", "prior_predictive"):
        assert back.idata[group].equals(held.idata[group])


def refused(path, said: str) -> None:
    with pytest.raises(InputError, match=said) as caught:
        load_fit(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_is_no_fit_is_refused(saved, tmp_path):
    refused(tmp_path / "none.nc", "got nothing at this path")
    refused(tmp_path, "expected a folder with run.json")
    (tmp_path / "text.nc").write_text("hello")
    refused(tmp_path / "text.nc", "got an error")
    (tmp_path / "noise.nc").write_bytes(np.random.default_rng(1).bytes(4000))
    refused(tmp_path / "noise.nc", "got an error")
    xr.Dataset({"x": ("a", [1.0, 2.0])}).to_netcdf(tmp_path / "other.nc", engine="h5netcdf")
    refused(tmp_path / "other.nc", "expected a fit, got another netCDF file")
    (tmp_path / "short.nc").write_bytes(saved.read_bytes()[:500])
    refused(tmp_path / "short.nc", "got an error")
