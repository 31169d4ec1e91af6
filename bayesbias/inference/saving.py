"""A fit as one netCDF file."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.core.errors import InputError
from bayesbias.core.files import guarded, path_of, state_of, whole_file
from bayesbias.inference.effects import effects_of, scales_alone, with_effects
from bayesbias.models.design import Design
from bayesbias.models.loading import parse_model
from bayesbias.models.spec import ModelSpec
from bayesbias.tables.rows import with_repeats_noted

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from bayesbias.inference.posterior import BiasFit

_VALID = "a file written by BiasFit.save"


def write_fit(path: str | os.PathLike[str], fit: BiasFit) -> None:
    """Write a fit without what can be made again: effects given the scales, and the pointwise log-likelihood."""
    import xarray as xr

    idata, table = fit.idata.copy(), fit.table
    sampler = fit.provenance.get("sampler", {})
    idata["posterior"] = xr.DataTree(
        scales_alone(idata["posterior"].to_dataset(), fit.design, sampler)
    )
    pointwise = "log_likelihood" in idata.children
    if pointwise:
        del idata["log_likelihood"]
    # Names of columns may be anything, those of netCDF variables may not.
    columns = {f"column_{i}": ("row", _as_stored(table.iloc[:, i])) for i in range(table.shape[1])}
    idata["table"] = xr.DataTree(xr.Dataset(columns))
    idata["table"].attrs["columns"] = json.dumps([str(name) for name in table.columns])
    idata.attrs["bayesbias"] = json.dumps(
        {"model": fit.spec.text, "provenance": fit.provenance, "pointwise": pointwise}
    )
    # Made in memory first: HDF5 that runs out of disk space crashes the interpreter.
    content = bytes(idata.to_netcdf(engine="h5netcdf"))
    with whole_file(path) as temporary:
        temporary.write_bytes(content)


def _as_stored(column: pd.Series) -> np.ndarray:
    """Return numbers and truth values as they are, everything else as text; a missing text is empty."""
    import pandas as pd

    if column.dtype.kind in "fiub" and not isinstance(
        column.dtype, pd.api.extensions.ExtensionDtype
    ):
        return column.to_numpy()
    if column.dtype.kind in "fiu":
        return (
            column.to_numpy(dtype=float, na_value=np.nan)
            if column.isna().any()
            else column.to_numpy()
        )
    return column.astype(object).where(column.notna(), "").astype(str).to_numpy(dtype=object)


def read_fit(
    path: str | os.PathLike[str],
) -> tuple[xr.DataTree, pd.DataFrame, ModelSpec, dict[str, Any], bool]:
    """Return idata, table, model and provenance of a fit, and whether it had a pointwise log-likelihood.

    Raises
    ------
    InputError
        If the file is missing, damaged, or not a fit.
    """
    import xarray as xr

    where = path_of(path, "path", _VALID)
    state_of(where, valid=_VALID)
    with (
        guarded(where, "cannot be read as netCDF", valid=_VALID),
        xr.open_datatree(where, engine="h5netcdf") as opened,
    ):
        idata = opened.load()
    if (
        not {"posterior", "sample_stats", "table"} <= set(idata.children)
        or "bayesbias" not in idata.attrs
    ):
        raise InputError("is a netCDF file, but not a bayesbias fit", where=where, valid=_VALID)
    with guarded(where, "is not a complete fit", valid=_VALID):
        about = json.loads(idata.attrs.pop("bayesbias"))
        provenance = about["provenance"]
        spec = parse_model(about["model"].encode("utf-8"), f"the model in {where}")
        stored = idata["table"].to_dataset()
        names = json.loads(stored.attrs["columns"])
        table = (
            stored[[f"column_{i}" for i in range(len(names))]].to_dataframe().reset_index(drop=True)
        )
        table.columns = names
        del idata["table"]
        table = with_repeats_noted(table, str(provenance.get("table", {}).get("repeats", "once")))
        posterior, sampler = idata["posterior"].to_dataset(), provenance.get("sampler", {})
        if set(spec.parameters) - set(posterior.data_vars):
            effects = effects_of(posterior, Design.of(spec, table), int(sampler["seed"]))
            idata["posterior"] = xr.DataTree(with_effects(posterior, effects))
    return idata, table, spec, provenance, bool(about["pointwise"])
