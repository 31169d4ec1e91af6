"""The effects of a fit with an exact reduction.

They are drawn from its scales and its seed when they are first read.

Given the scales all effects are normal (`bayesbias.inference.likelihood`), and one draw of them
belongs to each draw of the scales. Scales are some twenty numbers a draw, effects of attributes a
thousand. A seed gives the same effects again, so that a file of a fit holds its scales alone.
"""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import xarray as xr
from xarray.backends import BackendArray
from xarray.core import indexing

from bayesbias.core.errors import FitError, InputError
from bayesbias.core.files import guarded, path_of, state_of, whole_file
from bayesbias.inference.likelihood import collapse
from bayesbias.models.design import Design
from bayesbias.models.loading import parse_model
from bayesbias.models.spec import ModelSpec
from bayesbias.tables.rows import with_repeats_noted

if TYPE_CHECKING:
    from bayesbias.inference.posterior import BiasFit


@dataclass(eq=False)
class Effects:
    """All location parameters of a collapsed fit as a function of its scales.

    Attributes
    ----------
    design : Design
    scales : mapping of str to ndarray, shape (chains, draws, *shape of the parameter)
    seed : int
        That of the fit.
    """

    design: Design
    scales: Mapping[str, np.ndarray]
    seed: int

    @property
    def sampled(self) -> tuple[int, ...]:
        """Chains and draws."""
        return next(iter(self.scales.values())).shape[:2]

    @functools.cached_property
    def drawn(self) -> dict[str, np.ndarray]:
        """Draws of all of them, shape (chains, draws, *shape of the parameter), always the same.

        Raises
        ------
        FitError
            If the noise goes to zero.
        """
        reduced, out = collapse(self.design), {}
        flat = {name: x.reshape(-1, *x.shape[2:]) for name, x in self.scales.items()}
        rng = np.random.default_rng(np.random.SeedSequence([self.design.stream(self.seed), 1]))
        try:
            drawn = reduced.draw_effects(reduced.joined(flat), rng)
        except np.linalg.LinAlgError:
            raise FitError(
                "the noise goes to zero: do some rows repeat others exactly, such as words that "
                "are in two sets?"
            ) from None
        for name, values in drawn.items():
            out[name] = values.reshape(*self.sampled, *self.design.shape(name))
            out[name].flags.writeable = False
        return out


def effects_of(posterior: xr.Dataset, design: Design, seed: int) -> Effects:
    """Return the effects that belong to draws of the scales."""
    names = [name for name, parameter in design.spec.parameters.items() if parameter.positive]
    return Effects(design, {name: in_order(posterior[name]) for name in names}, seed)


def with_effects(posterior: xr.Dataset, effects: Effects) -> xr.Dataset:
    """Return draws of the scales together with the effects, which are drawn where they are read."""
    design = effects.design
    variables: dict[str, Any] = {}
    for name, parameter in design.spec.parameters.items():
        values: Any = effects.scales.get(name)
        if values is None:
            values = indexing.LazilyIndexedArray(_Drawn(effects, name))
        variables[name] = xr.Variable(("chain", "draw", *parameter.dims), values)
    dims = {dim for parameter in design.spec.parameters.values() for dim in parameter.dims}
    coords: dict[str, Any] = {dim: labels for dim, labels in design.coords.items() if dim in dims}
    coords |= {dim: posterior[dim].to_numpy() for dim in ("chain", "draw")}
    return xr.Dataset(variables, coords, posterior.attrs)


def in_order(values: xr.DataArray) -> np.ndarray:
    """Return draws by chain and draw; without a copy where they are already."""
    return values.transpose("chain", "draw", ...).to_numpy()


def joined_draws(posterior: xr.Dataset, names: Iterable[str]) -> dict[str, np.ndarray]:
    """Return draws of some parameters with chains joined, to be read and not to be written into."""
    out = {}
    for name in names:
        values = in_order(posterior[name])
        out[name] = values.reshape((-1, *values.shape[2:]))
        out[name].flags.writeable = False
    return out


class _Drawn(BackendArray):
    """An array that is made where it is read, as xarray has for files."""

    def __init__(self, effects: Effects, name: str) -> None:
        self.effects, self.name = effects, name
        self.shape = (*effects.sampled, *effects.design.shape(name))
        self.dtype = np.dtype(float)

    def __getitem__(self, key: Any) -> Any:
        basic = indexing.IndexingSupport.BASIC
        return indexing.explicit_indexing_adapter(key, self.shape, basic, self._read)

    def _read(self, key: tuple[Any, ...]) -> np.ndarray:
        return self.effects.drawn[self.name][key]


_VALID = "a file written by BiasFit.save"


def write_fit(path: str | os.PathLike[str], fit: BiasFit) -> None:
    """Write a fit without what can be made again.

    Effects given the scales, and the pointwise log-likelihood.
    """
    idata, table = fit.idata.copy(), fit.table
    if fit.provenance.get("sampler", {}).get("method") == "collapsed":
        names, posterior = fit.spec.location_parameters(), idata["posterior"].to_dataset()
        idata["posterior"] = xr.DataTree(posterior.drop_vars(names, errors="ignore"))
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
    state_of(where, valid=_VALID)
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
        posterior, sampler = idata["posterior"].to_dataset(), provenance.get("sampler", {})
        if set(spec.parameters) - set(posterior.data_vars):
            effects = effects_of(posterior, Design.of(spec, table), int(sampler["seed"]))
            idata["posterior"] = xr.DataTree(with_effects(posterior, effects))
    return idata, table, spec, provenance, bool(about["pointwise"])
