"""A fit as one netCDF file."""

from __future__ import annotations

import json
import os

from bayesbias.basics.errors import InputError
from bayesbias.inference.posterior import FIT_FORMAT, BiasFit
from bayesbias.inference.prediction import with_pointwise
from bayesbias.models.loading import parse_model

__all__ = ["load_fit"]

_ATTRIBUTES = ("model", "provenance", "pointwise")


def load_fit(path: str | os.PathLike[str]) -> BiasFit:
    """Read a fit that `BiasFit.save` wrote.

    Raises
    ------
    InputError
        Where the file is missing, cut short, or no bayesbias fit.
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
    if tree.attrs["bayesbias_format"] != FIT_FORMAT:
        raise InputError(
            "is a fit in a form that this version does not know",
            where=where,
            found=int(tree.attrs["bayesbias_format"]),
            valid=str(FIT_FORMAT),
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
    fit = BiasFit(tree=tree, table=table, spec=spec, provenance=provenance)
    return with_pointwise(fit) if pointwise else fit
