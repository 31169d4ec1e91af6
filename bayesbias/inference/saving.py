"""A fit as one netCDF file: written whole or not at all, read and checked."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.core.errors import InputError
from bayesbias.core.files import guarded, path_of, state_of, whole_file
from bayesbias.inference.effects import effects_of, scales_alone, with_effects
from bayesbias.models.design import Design
from bayesbias.models.loading import parse_model
from bayesbias.models.spec import ModelSpec
from bayesbias.tables.checking import with_repeats_noted

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

_FORMAT = 2
_KNOWN = (1, 2)  # of the first, all effects are in the file
_PLAIN = re.compile(
    r"(?!row$|column_\d+$)[A-Za-z]\w*", re.ASCII
)  # names of columns that netCDF takes as they are
_ATTRIBUTES = ("model", "provenance", "pointwise")


def write_fit(
    path: str | os.PathLike[str],
    idata: xr.DataTree,
    table: pd.DataFrame,
    spec: ModelSpec,
    provenance: Mapping[str, Any],
) -> None:
    """Write the parts of a fit without what is made again: effects given the scales, and the pointwise log-likelihood.

    That the latter was there is noted.
    """
    import xarray as xr

    idata = idata.copy()
    posterior = scales_alone(
        idata["posterior"].to_dataset(), table, Design.of(spec, table), provenance.get("sampler", {})
    )
    idata["posterior"] = xr.DataTree(posterior)
    pointwise = "log_likelihood" in idata.children
    if pointwise:
        del idata["log_likelihood"]
    names = [str(name) for name in table.columns]
    # Names of columns may be anything, and those of netCDF variables may not.
    variables = [name if _PLAIN.fullmatch(name) else f"column_{i}" for i, name in enumerate(names)]
    columns = (_as_stored(table[name]) for name in table.columns)
    idata["table"] = xr.DataTree(
        xr.Dataset({name: ("row", values) for name, values in zip(variables, columns, strict=True)})
    )
    idata["table"].attrs["columns"] = json.dumps(dict(zip(variables, names, strict=True)))
    idata.attrs["bayesbias_format"] = _FORMAT
    idata.attrs["bayesbias_model"] = spec.text
    idata.attrs["bayesbias_provenance"] = json.dumps(provenance)
    idata.attrs["bayesbias_pointwise"] = int(pointwise)
    # Made in memory first: HDF5 that runs out of disk keeps the file open and crashes the interpreter when
    # that ends. A copy, since an error would keep the view of its buffer alive longer than the buffer.
    content = bytearray(idata.to_netcdf(engine="h5netcdf"))
    with whole_file(path) as temporary:
        temporary.write_bytes(content)


def _as_stored(column: pd.Series) -> np.ndarray:
    """Return numbers and truth values as they are, whatever else as texts; where there is none, empty or NaN."""
    import pandas as pd

    if column.dtype.kind in "fiub" and not isinstance(column.dtype, pd.api.extensions.ExtensionDtype):
        return column.to_numpy()
    if column.dtype.kind in "fiu":
        return column.to_numpy(dtype=float, na_value=np.nan) if column.isna().any() else column.to_numpy()
    return column.astype(object).where(column.notna(), "").astype(str).to_numpy(dtype=object)


def read_fit(
    path: str | os.PathLike[str],
) -> tuple[xr.DataTree, pd.DataFrame, ModelSpec, dict[str, Any], bool]:
    """Return idata, table, model and provenance of a fit, and whether it had a pointwise log-likelihood.

    Raises
    ------
    InputError
        If the file is missing, damaged, or no fit.
    """
    import xarray as xr

    valid = "a file written by BiasFit.save"
    where = path_of(path, "path", valid)
    state_of(where, valid=valid)
    with (
        guarded(where, "cannot be read as netCDF", valid=valid),
        # A writer renames its file when it is whole: nobody need wait for its lock.
        xr.open_datatree(
            where, engine="h5netcdf", phony_dims="access", driver_kwds={"locking": False}
        ) as opened,
    ):
        idata = opened.load()
    with guarded(where, "is no complete fit", valid=valid):
        return _fit_of(idata, str(where), valid)


def _fit_of(
    idata: xr.DataTree, where: str, valid: str
) -> tuple[xr.DataTree, pd.DataFrame, ModelSpec, dict[str, Any], bool]:
    if "bayesbias_format" not in idata.attrs:
        raise InputError("is a netCDF file, but no bayesbias fit", where=where, valid=valid)
    if idata.attrs["bayesbias_format"] not in _KNOWN:
        raise InputError(
            "is a fit in a form that this version does not know",
            where=where,
            found=int(idata.attrs["bayesbias_format"]),
            valid=" or ".join(map(str, _KNOWN)),
        )
    lacking = [name for name in ("posterior", "sample_stats", "table") if name not in idata.children]
    lacking += [f"bayesbias_{name}" for name in _ATTRIBUTES if f"bayesbias_{name}" not in idata.attrs]
    if lacking:
        raise InputError("is no complete fit", where=where, found=f"no {', '.join(lacking)}", valid=valid)
    try:
        text = str(idata.attrs["bayesbias_model"]).encode("utf-8")
        provenance = json.loads(idata.attrs["bayesbias_provenance"])
    except ValueError as error:
        raise InputError(f"its model or provenance is damaged ({error})", where=where, valid=valid) from None
    spec = parse_model(text, f"the model in {where}")
    stored = idata["table"].to_dataset()
    table = stored.to_dataframe().reset_index(drop=True)
    table.index.name = None
    if "columns" in stored.attrs:  # files of earlier versions have plain names alone
        names = json.loads(stored.attrs["columns"])
        table = table[list(names)].rename(columns=names)
    of_table = provenance.get("table", {})
    table = with_repeats_noted(table, str(of_table.get("repeats", "once")))
    pointwise = bool(idata.attrs["bayesbias_pointwise"])
    del idata["table"]
    for key in [key for key in idata.attrs if str(key).startswith("bayesbias_")]:
        del idata.attrs[key]
    _add_effects(idata, table, spec, provenance, where)
    return idata, table, spec, provenance, pointwise


def _add_effects(
    idata: xr.DataTree, table: pd.DataFrame, spec: ModelSpec, provenance: Mapping[str, Any], where: str
) -> None:
    """Add the effects that a file leaves out."""
    import xarray as xr

    posterior, sampler = idata["posterior"].to_dataset(), provenance.get("sampler", {})
    lacking = set(spec.parameters) - set(posterior.data_vars)
    if not lacking:
        return
    if lacking != set(spec.location_parameters()) or sampler.get("method") != "collapsed":
        raise InputError("is no complete fit", where=where, found=f"no draws of {', '.join(sorted(lacking))}")
    design = Design.of(spec, table)
    for dim, labels in design.coords.items():  # files of earlier versions have them as they came
        if dim in posterior.dims:
            posterior = posterior.sel({dim: labels})
    effects = effects_of(posterior, table, design, int(sampler["seed"]))
    idata["posterior"] = xr.DataTree(with_effects(posterior, effects, design))
