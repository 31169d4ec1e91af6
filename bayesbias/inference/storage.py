"""A fit as a netCDF file: sampled SDs, table, model and provenance.

Effects and pointwise values are not stored: the seed gives the same ones again.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import xarray as xr

from bayesbias.core import InputError, checks
from bayesbias.core.files import check_file, guarded, path_of, write_whole
from bayesbias.inference.sampling import Sampling
from bayesbias.models.spec import parse_model
from bayesbias.tables.reading import with_repeats_noted

if TYPE_CHECKING:
    from bayesbias.inference.posterior import BiasFit


_VALID = "a file written by BiasFit.save"


def write_fit(path: checks.FilePath, fit: BiasFit) -> None:
    """Write a fit without effects and pointwise values."""
    table, pointwise = fit.table, "log_likelihood" in fit.sampled.children
    kept = ("posterior", "sample_stats", "observed_data")
    idata = xr.DataTree.from_dict({name: fit.sampled[name].to_dataset() for name in kept})
    # Names of columns may be anything, those of netCDF variables may not.
    columns = {f"column_{i}": ("row", _as_stored(table.iloc[:, i])) for i in range(table.shape[1])}
    idata["table"] = xr.DataTree(xr.Dataset(columns))
    idata["table"].attrs["columns"] = json.dumps([str(name) for name in table.columns])
    about = {
        "model": fit.spec.text,
        "provenance": fit.provenance,
        "sampling": fit.sampling.as_dict(),
        "frequency": fit.frequency,
        "pointwise": pointwise,
    }
    idata.attrs["bayesbias"] = json.dumps(about)
    # Made in memory first: HDF5 that runs out of disk space crashes the interpreter.
    content = bytes(idata.to_netcdf(engine="h5netcdf"))
    write_whole(path, content)


def _as_stored(column: pd.Series) -> np.ndarray:
    """Return numbers and truth values as they are, anything else as text, missing text as empty."""
    extension = isinstance(column.dtype, pd.api.extensions.ExtensionDtype)
    if extension and column.dtype.kind in "fiu" and column.isna().any():
        return column.to_numpy(dtype=float, na_value=np.nan)
    if column.dtype.kind in ("fiu" if extension else "fiub"):
        return column.to_numpy()
    return column.astype(object).where(column.notna(), "").astype(str).to_numpy(dtype=object)


def read_fit(path: checks.FilePath) -> tuple[BiasFit, bool]:
    """Return a fit, and whether it had pointwise values.

    Raises
    ------
    InputError
        If the file is missing, damaged, or not a fit.
    """
    from bayesbias.inference.posterior import BiasFit

    where = path_of(path, "path", _VALID)
    check_file(where, _VALID)
    with guarded(where, _VALID), xr.open_datatree(where, engine="h5netcdf") as opened:
        idata = opened.load()
    groups = {"posterior", "sample_stats", "table"}
    if not groups <= set(idata.children) or "bayesbias" not in idata.attrs:
        raise InputError("expected a fit, got another netCDF file", where=where, valid=_VALID)
    with guarded(where, _VALID):
        about = json.loads(idata.attrs.pop("bayesbias"))
        provenance = about["provenance"]
        spec = parse_model(about["model"].encode("utf-8"), f"the model in {where}")
        stored = idata["table"].to_dataset()
        names = json.loads(stored.attrs["columns"])
        columns = stored[[f"column_{i}" for i in range(len(names))]]
        table = columns.to_dataframe().reset_index(drop=True)
        table.columns = names
        del idata["table"]
        table = with_repeats_noted(table, str(provenance.get("table", {}).get("repeats", "once")))
        sampling = Sampling.from_dict(about["sampling"])
        fit = BiasFit(idata, table, spec, provenance, sampling, about["frequency"])
    return fit, bool(about["pointwise"])
