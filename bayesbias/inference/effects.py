"""The effects of a fit with an exact reduction, and its file.

Given the scales all effects are normal (`bayesbias.inference.likelihood`), and one draw of them
belongs to each draw of the scales. Scales are some twenty numbers a draw, effects of attributes a
thousand. A seed gives the same effects again, so that a fit and its file hold the scales alone.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import xarray as xr

from bayesbias.core.errors import FitError, InputError
from bayesbias.core.files import check_file, guarded, path_of, whole_file
from bayesbias.inference.likelihood import Collapsed
from bayesbias.inference.sampling import labelled
from bayesbias.models.spec import ModelSpec, parse_model
from bayesbias.tables.reading import with_repeats_noted

if TYPE_CHECKING:
    from bayesbias.inference.posterior import BiasFit


def with_effects(posterior: xr.Dataset, reduced: Collapsed, seed: int) -> xr.Dataset:
    """Return draws of the scales together with one of the effects for each.

    Parameters
    ----------
    posterior : Dataset
    reduced : Collapsed
    seed : int
        Of the random numbers of the fit. It always gives the same effects.

    Raises
    ------
    FitError
        If the noise goes to zero.
    """
    draws = joined_draws(posterior, reduced.scales)
    rng = np.random.default_rng(np.random.SeedSequence([seed, 1]))
    try:
        draws |= reduced.draw_effects(reduced.joined(draws), rng)
    except np.linalg.LinAlgError:
        raise FitError(
            "the noise goes to zero: do some rows repeat others exactly, such as words that are in "
            "two sets?"
        ) from None
    return labelled(reduced.design, draws, posterior.sizes["chain"])


def joined_draws(posterior: xr.Dataset, names: Iterable[str]) -> dict[str, np.ndarray]:
    """Return draws of some parameters with chains joined, to be read and not to be written into."""
    out = {}
    for name in names:
        values = posterior[name].transpose("chain", "draw", ...).to_numpy()
        out[name] = values.reshape((-1, *values.shape[2:]))
        out[name].flags.writeable = False
    return out


_VALID = "a file written by BiasFit.save"


def write_fit(path: str | os.PathLike[str], fit: BiasFit) -> None:
    """Write a fit without what can be made again: effects and pointwise values."""
    table, pointwise = fit.table, "log_likelihood" in fit.sampled.children
    kept = ("posterior", "sample_stats", "observed_data")
    idata = xr.DataTree.from_dict({name: fit.sampled[name].to_dataset() for name in kept})
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
    """Return numbers and truth values as they are, everything else as text.

    A missing text is empty.
    """
    extension = isinstance(column.dtype, pd.api.extensions.ExtensionDtype)
    if extension and column.dtype.kind in "fiu" and column.isna().any():
        return column.to_numpy(dtype=float, na_value=np.nan)
    if column.dtype.kind in ("fiu" if extension else "fiub"):
        return column.to_numpy()
    return column.astype(object).where(column.notna(), "").astype(str).to_numpy(dtype=object)


def read_fit(
    path: str | os.PathLike[str],
) -> tuple[xr.DataTree, pd.DataFrame, ModelSpec, dict[str, Any], bool]:
    """Return idata, table, model and provenance of a fit.

    Also whether it had a pointwise log-likelihood.

    Raises
    ------
    InputError
        If the file is missing, damaged, or not a fit.
    """
    where = path_of(path, "path", _VALID)
    check_file(where, valid=_VALID)
    with (
        guarded(where, "cannot be read as netCDF", valid=_VALID),
        xr.open_datatree(where, engine="h5netcdf") as opened,
    ):
        idata = opened.load()
    groups = {"posterior", "sample_stats", "table"}
    if not groups <= set(idata.children) or "bayesbias" not in idata.attrs:
        raise InputError("is a netCDF file, but not a bayesbias fit", where=where, valid=_VALID)
    with guarded(where, "is not a complete fit", valid=_VALID):
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
    return idata, table, spec, provenance, bool(about["pointwise"])
