"""Fits are saved and loaded whole or not at all."""

from __future__ import annotations

import dataclasses
import errno
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from helpers.definitions import FITS, SETTINGS

from bayesbias.core.errors import FitError, InputError
from bayesbias.core.seals import seal_bytes
from bayesbias.inference.fitting import fit, load_fit
from bayesbias.inference.prediction import loo, with_pointwise
from bayesbias.tables.distances import distance_table

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


def test_a_fit_is_read_while_its_writer_holds_its_lock(saved):
    """Who writes lets go of the lock only after the file is in its place."""
    fcntl = pytest.importorskip("fcntl")
    with open(saved, "rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert len(load_fit(saved).summary())


def test_saving_changes_nothing(crossed, saved):
    assert set(crossed.idata.children) == {"posterior", "sample_stats", "observed_data"}
    assert not any(str(key).startswith("bayesbias") for key in crossed.idata.attrs)
    with xr.open_datatree(saved, engine="h5netcdf") as idata:
        assert set(idata["posterior"].data_vars) == {
            "word_by_connection_sd",
            "attribute_sd",
            "sigma",
        }  # the effects follow from them
        assert idata.attrs["bayesbias_format"] == 2


def test_pointwise_values_come_back_where_a_fit_held_them(additive, tmp_path):
    held = with_pointwise(additive)
    held.save(tmp_path / "fit.nc")
    with xr.open_datatree(tmp_path / "fit.nc", engine="h5netcdf") as idata:
        assert "log_likelihood" not in idata.children
    back = load_fit(tmp_path / "fit.nc")
    assert set(back.idata.children) == set(held.idata.children)
    for group in ("log_likelihood", "posterior_predictive", "prior_predictive"):
        assert back.idata[group].equals(held.idata[group])


def test_a_file_with_all_effects_loads(crossed, saved, tmp_path):
    """As earlier versions wrote them."""
    with xr.open_datatree(saved, engine="h5netcdf") as opened:
        idata = opened.load()
    idata["posterior"] = xr.DataTree(crossed.idata["posterior"].to_dataset().load())
    idata.attrs["bayesbias_format"] = 1
    del idata.attrs["bayesbias_sealed"]  # nor had they a hash
    idata.to_netcdf(tmp_path / "fit.nc", engine="h5netcdf")
    back = load_fit(tmp_path / "fit.nc")
    for name, values in crossed.draws().items():
        np.testing.assert_array_equal(back.draws()[name], values)


def test_draws_that_the_seed_does_not_give_are_written(crossed, tmp_path):
    idata = crossed.idata.copy()
    idata["posterior"]["attribute_effect"] = idata["posterior"]["attribute_effect"] + 1
    dataclasses.replace(crossed, idata=idata).save(tmp_path / "fit.nc")
    back = load_fit(tmp_path / "fit.nc")
    for name, values in crossed.draws().items():
        np.testing.assert_array_equal(back.draws()[name], values + (name == "attribute_effect"))


def test_odd_words_survive_a_file(tmp_path):
    rng = np.random.default_rng(0)
    words = {"x y": {"protected": ["żółw", "nan", "東京"], "attributes": ["naïve", "NA", "a,b"]}}
    names = [w for key in words["x y"].values() for w in key]
    controls = {"neutral": ["lamp", "door"]}
    table = distance_table(
        {w: rng.normal(size=5) for w in [*names, "lamp", "door"]}, words, controls=controls
    )
    result = fit(table, "hierarchical", **SETTINGS, pointwise=False)
    result.save(tmp_path / "fit.nc")
    back = load_fit(tmp_path / "fit.nc")
    assert back.table["protected_word"].unique().tolist() == ["żółw", "nan", "東京"]
    assert back.table["attribute"].tolist() == result.table["attribute"].tolist()
    assert back.table["protected_class"].unique().tolist() == ["x y"]


def refused(path, said: str) -> None:
    with pytest.raises(InputError, match=said) as caught:
        load_fit(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("keep", [0, 7, 500, 0.5, -1, -40, -89, -1000])
def test_truncated_fits_are_refused(saved, tmp_path, keep):
    content = saved.read_bytes()
    short = tmp_path / "short.nc"
    short.write_bytes(content[: keep if isinstance(keep, int) else int(keep * len(content))])
    refused(
        short,
        "is damaged: the line that ends it is gone"
        if -90 < keep < 0
        else "cannot be read as netCDF",
    )


def test_what_is_no_fit_is_refused(saved, tmp_path):
    refused(tmp_path / "none.nc", "no such file")
    refused(tmp_path, "is a folder")
    (tmp_path / "text.nc").write_text("hello")
    refused(tmp_path / "text.nc", "cannot be read as netCDF")
    (tmp_path / "noise.nc").write_bytes(np.random.default_rng(1).bytes(4000))
    refused(tmp_path / "noise.nc", "cannot be read as netCDF")
    xr.Dataset({"x": ("a", [1.0, 2.0])}).to_netcdf(tmp_path / "other.nc", engine="h5netcdf")
    refused(tmp_path / "other.nc", "no bayesbias fit")
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "plain.h5", "w") as file:
        file["x"] = [1, 2]
    refused(tmp_path / "plain.h5", "no bayesbias fit")


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (
            lambda t: t.attrs.update(bayesbias_format=3),
            "form that this version does not know; found: 3; valid: 1 or 2",
        ),
        pytest.param(
            lambda t: t.__delitem__("table"),
            "no complete fit; found: 'no table'",
            marks=pytest.mark.claim,
        ),
        (
            lambda t: t["posterior"].__delitem__("attribute_sd"),
            "no complete fit; found: 'no draws of c, cbar, v, ws'",
        ),
        pytest.param(
            lambda t: t.__delitem__("posterior"),
            "no complete fit; found: 'no posterior'",
            marks=pytest.mark.claim,
        ),
        pytest.param(
            lambda t: t.attrs.pop("bayesbias_model"), "no bayesbias_model", marks=pytest.mark.claim
        ),
        (lambda t: t.attrs.update(bayesbias_provenance="{"), "model or provenance is damaged"),
        (lambda t: t.attrs.update(bayesbias_model="schema = 9"), "the model in .*fit.nc"),
    ],
)
def test_incomplete_fits_are_refused(saved, tmp_path, damage, said):
    with xr.open_datatree(saved, engine="h5netcdf") as opened:
        idata = opened.load()
    damage(idata)
    idata.to_netcdf(tmp_path / "fit.nc", engine="h5netcdf")
    refused(
        tmp_path / "fit.nc",
        "the line that ends it is gone" if "bayesbias_format" in idata.attrs else said,
    )
    del idata.attrs["bayesbias_sealed"]
    idata.to_netcdf(tmp_path / "fit.nc", engine="h5netcdf")
    refused(tmp_path / "fit.nc", said)


@pytest.mark.parametrize("value", [-1.0, 0.0, 1e200, math.nan, math.inf])
def test_draws_that_no_sampler_gives_are_damage(saved, tmp_path, value):
    """As earlier versions wrote fits, without a hash that would tell."""
    with xr.open_datatree(saved, engine="h5netcdf") as opened:
        idata = opened.load()
    del idata.attrs["bayesbias_sealed"]
    draws = idata["posterior"]["attribute_sd"].to_numpy().copy()
    draws.flat[3] = value
    idata["posterior"]["attribute_sd"] = idata["posterior"]["attribute_sd"].copy(data=draws)
    idata.to_netcdf(tmp_path / "fit.nc", engine="h5netcdf")
    refused(tmp_path / "fit.nc", r"is damaged: ws cannot be .*, since it is positive")


def test_draws_beyond_the_arithmetic_are_said_to_be(crossed):
    draws = crossed.idata["posterior"]["attribute_sd"].to_numpy().copy()
    draws.flat[0] = 1e20
    idata = crossed.idata.copy()
    idata["posterior"]["attribute_sd"] = idata["posterior"]["attribute_sd"].copy(data=draws)
    odd = dataclasses.replace(crossed, idata=idata)
    with pytest.raises(FitError, match="the arithmetic does not reach as far"):
        odd.contrasts()


def test_a_disk_that_is_full_leaves_the_old_file(crossed, tmp_path, monkeypatch):
    path = tmp_path / "fit.nc"
    path.write_text("old")

    def full(self, content):
        with open(self, "wb") as file:
            file.write(bytes(content)[:100])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(
        InputError, match=r"fit\.nc: cannot be written: No space left on device; nothing was left"
    ):
        crossed.save(path)
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["fit.nc"]


SAVE_IN_LITTLE_SPACE = """
import resource, sys
import bayesbias as bb
fit = bb.load_fit(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))
try:
    fit.save(sys.argv[2])
except bb.InputError as error:
    print(error)
"""


@pytest.mark.slow
def test_the_interpreter_survives_a_file_that_cannot_grow(saved, tmp_path):
    """A file system that stops the writing for real: HDF5 on a path crashes at exit here."""
    pytest.importorskip("resource", reason="limits on the size of files are a matter of Unix")
    path = tmp_path / "fit.nc"
    path.write_text("old")
    command = [sys.executable, "-c", SAVE_IN_LITTLE_SPACE, str(saved), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert (done.returncode, done.stderr) == (0, "")
    assert "fit.nc: cannot be written: File too large" in done.stdout
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["fit.nc"]


def test_saving_where_nothing_can_be_saved(crossed, tmp_path):
    with pytest.raises(InputError, match="is a folder, and no file can be written in its place"):
        crossed.save(tmp_path)
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match=r"fit\.nc: cannot be written"):
        crossed.save(tmp_path / "file" / "fit.nc")
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def _sealed_anew(idata: xr.DataTree, path: Path) -> Path:
    """Write a fit that was changed as anyone can: with a seal that fits."""
    content = bytes(idata.to_netcdf(engine="h5netcdf"))
    path.write_bytes(content + seal_bytes(content))
    return path


@pytest.mark.parametrize(
    ("group", "name", "value", "says"),
    [
        ("posterior", "sigma", np.nan, "sigma cannot be nan"),
        ("posterior", "sigma", np.inf, "sigma cannot be inf"),
        ("posterior", "word_by_connection_sd", -1.0, "csd cannot be -1"),
        ("table", "distance", np.nan, "distance in its table cannot be"),
    ],
)
def test_a_fit_that_was_changed_and_sealed_anew_is_looked_at(
    group, name, value, says, saved, tmp_path
):
    with xr.open_datatree(saved, engine="h5netcdf") as opened:
        idata = opened.load()
    idata[group][name].values.flat[3] = value
    with pytest.raises(InputError, match=says):
        load_fit(_sealed_anew(idata, tmp_path / "fit.nc"))


def test_columns_of_several_lengths_make_no_table(saved, tmp_path):
    """They were multiplied with each other, for minutes and gigabytes."""
    with xr.open_datatree(saved, engine="h5netcdf") as opened:
        idata = opened.load()
    table = idata["table"].to_dataset()
    short = table["connection"].values[:-1]
    idata["table"] = xr.DataTree(
        table.drop_vars("connection").assign(connection=("other", short)).assign_attrs(table.attrs)
    )
    with pytest.raises(InputError, match="the columns of its table differ in length"):
        load_fit(_sealed_anew(idata, tmp_path / "fit.nc"))
