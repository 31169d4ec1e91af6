"""A fit as one netCDF file: written whole or not at all, read and checked."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bayesbias.basics.errors import InputError
from bayesbias.basics.files import whole_file
from bayesbias.models.loading import parse_model
from bayesbias.models.spec import ModelSpec

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

_FORMAT = 1
_ATTRIBUTES = ("model", "provenance", "pointwise")


def write_fit(
    path: str | os.PathLike[str],
    tree: xr.DataTree,
    table: pd.DataFrame,
    spec: ModelSpec,
    provenance: Mapping[str, Any],
) -> None:
    """Write the parts of a fit; the pointwise log-likelihood is left out, and that it was there is noted."""
    import xarray as xr

    tree = tree.copy()
    pointwise = "log_likelihood" in tree.children
    if pointwise:
        del tree["log_likelihood"]
    columns = {
        str(name): (
            "row",
            column.astype(str).to_numpy(dtype=object)
            if column.dtype.kind not in "fiu"
            else column.to_numpy(),
        )
        for name, column in table.reset_index(drop=True).items()
    }
    tree["table"] = xr.DataTree(xr.Dataset(columns))
    tree.attrs["bayesbias_format"] = _FORMAT
    tree.attrs["bayesbias_model"] = spec.text
    tree.attrs["bayesbias_provenance"] = json.dumps(provenance)
    tree.attrs["bayesbias_pointwise"] = int(pointwise)
    # Made in memory first: HDF5 that runs out of disk keeps the file open and crashes the interpreter when
    # that ends. A copy, since an error would keep the view of its buffer alive longer than the buffer.
    content = bytes(tree.to_netcdf(engine="h5netcdf"))
    with whole_file(path) as temporary:
        temporary.write_bytes(content)


def read_fit(
    path: str | os.PathLike[str],
) -> tuple[xr.DataTree, pd.DataFrame, ModelSpec, dict[str, Any], bool]:
    """Return tree, table, model and provenance of a fit, and whether it had a pointwise log-likelihood.

    Raises
    ------
    InputError
        Where the file is missing, cut short, or no fit.
    """
    import xarray as xr

    where, valid = os.fspath(path), "a file written by BiasFit.save"
    if os.path.isdir(where):
        raise InputError("is a folder, not a file", where=where, valid=valid)
    try:
        with xr.open_datatree(where, engine="h5netcdf", phony_dims="access") as opened:
            tree = opened.load()
    except FileNotFoundError:
        raise InputError("no such file", where=where) from None
    except (
        OSError,
        ValueError,
        KeyError,
        RuntimeError,
        AttributeError,
    ) as error:  # h5netcdf on damaged files
        raise InputError(
            f"cannot be read as netCDF ({str(error).splitlines()[0]})", where=where, valid=valid
        ) from None
    if "bayesbias_format" not in tree.attrs:
        raise InputError("is a netCDF file, but no bayesbias fit", where=where, valid=valid)
    if tree.attrs["bayesbias_format"] != _FORMAT:
        raise InputError(
            "is a fit in a form that this version does not know",
            where=where,
            found=int(tree.attrs["bayesbias_format"]),
            valid=str(_FORMAT),
        )
    lacking = [name for name in ("posterior", "sample_stats", "table") if name not in tree.children]
    lacking += [f"bayesbias_{name}" for name in _ATTRIBUTES if f"bayesbias_{name}" not in tree.attrs]
    if lacking:
        raise InputError("is no complete fit", where=where, found=f"no {', '.join(lacking)}", valid=valid)
    try:
        text = str(tree.attrs["bayesbias_model"]).encode("utf-8")
        provenance = json.loads(tree.attrs["bayesbias_provenance"])
    except ValueError as error:
        raise InputError(f"its model or provenance is damaged ({error})", where=where, valid=valid) from None
    spec = parse_model(text, f"the model in {where}")
    table = tree["table"].to_dataset().to_dataframe().reset_index(drop=True)
    table.index.name = None
    pointwise = bool(tree.attrs["bayesbias_pointwise"])
    del tree["table"]
    for key in [key for key in tree.attrs if str(key).startswith("bayesbias_")]:
        del tree.attrs[key]
    return tree, table, spec, provenance, pointwise
