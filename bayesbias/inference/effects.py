"""The effects of a collapsed fit: drawn from its scales and its seed when asked for, and not kept.

Given the scales all effects are normal (`bayesbias.inference.collapsed`), and one draw of them belongs to each draw of the
scales. Scales are some twenty numbers a draw, effects of attributes a thousand. A seed gives the same effects again, so
that a fit holds its scales alone and still offers every parameter.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.core.errors import FitError
from bayesbias.inference.collapsed import Collapsed, NotCollapsible, collapse
from bayesbias.inference.lately import Lately
from bayesbias.models.design import Design

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr


class Effects:
    """All location parameters of a collapsed fit as a function of its scales.

    Parameters
    ----------
    design : Design
        What `table` is under its model; asked for labels and shapes, and not kept.
    table : pandas.DataFrame
        The rows that were fitted.
    scales : mapping of str to ndarray, shape (chains, draws, *shape of the parameter)
    seed : int
        That of the fit.
    """

    def __init__(
        self, design: Design, table: pd.DataFrame, scales: Mapping[str, np.ndarray], seed: int
    ) -> None:
        self.spec, self.table, self.scales, self.seed = design.spec, table, dict(scales), design.stream(seed)
        self.sampled = next(iter(self.scales.values())).shape[:2]
        self.shapes = {name: design.shape(name) for name in self.spec.location_parameters()}
        size = 8 * int(np.prod(self.sampled)) * sum(int(np.prod(shape)) for shape in self.shapes.values())
        self._lately = Lately(size)

    def drawn(self, reduced: Collapsed | None = None) -> dict[str, np.ndarray]:
        """Return draws of all of them, shape (chains, draws, *shape of the parameter), always the same.

        Parameters
        ----------
        reduced : Collapsed, optional
            Where it is at hand; else it is made again.

        Raises
        ------
        FitError
            Where the noise runs to zero.
        """
        return self._lately.get("drawn", lambda: self._draw(reduced))

    def tried(self, reduced: Collapsed) -> None:
        """Draw them where each scale is smallest and largest, since rounding shows there first; nothing is kept of it.

        Raises
        ------
        FitError
            Where the noise runs to zero.
        """
        theta = self._theta(self._lately.get("reduced", lambda: reduced))
        extreme = np.unique([theta.argmin(axis=0), theta.argmax(axis=0)])
        self._drawn_at(reduced, theta[extreme])

    def _theta(self, reduced: Collapsed) -> np.ndarray:
        return reduced.joined({name: x.reshape(-1, *x.shape[2:]) for name, x in self.scales.items()})

    def _drawn_at(self, reduced: Collapsed, theta: np.ndarray) -> dict[str, np.ndarray]:
        try:
            return reduced.draw_effects(theta, np.random.default_rng(np.random.SeedSequence([self.seed, 1])))
        except np.linalg.LinAlgError:
            raise FitError(
                "the noise runs to zero: do some rows repeat others exactly, such as words that stand in two sets?"
            ) from None

    def _draw(self, reduced: Collapsed | None) -> dict[str, np.ndarray]:
        if reduced is None:
            reduced = self._lately.get("reduced", lambda: collapse(Design.of(self.spec, self.table)))
        drawn = self._drawn_at(reduced, self._theta(reduced))
        out = {}
        for name, shape in self.shapes.items():
            out[name] = drawn[name].reshape(*self.sampled, *shape)
            out[name].flags.writeable = False
        return out


def with_effects(posterior: xr.Dataset, effects: Effects, design: Design) -> xr.Dataset:
    """Return draws of the scales with the effects beside them, which are drawn where they are read."""
    import xarray as xr

    variables: dict[str, Any] = {}
    for name, parameter in design.spec.parameters.items():
        values = _lazily(effects, name) if name in effects.shapes else effects.scales[name]
        variables[name] = (("chain", "draw", *parameter.dims), values)
    dims = {dim for parameter in design.spec.parameters.values() for dim in parameter.dims}
    coords: dict[str, Any] = {dim: labels for dim, labels in design.coords.items() if dim in dims}
    coords |= {dim: posterior[dim].to_numpy() for dim in ("chain", "draw")}
    return xr.Dataset(
        {name: xr.Variable(*variable) for name, variable in variables.items()}, coords, posterior.attrs
    )


def scales_alone(
    posterior: xr.Dataset, table: pd.DataFrame, design: Design, sampler: Mapping[str, Any]
) -> xr.Dataset:
    """Return a posterior without its effects where scales and seed give the very same again, else as it is."""
    names = design.spec.location_parameters()
    if sampler.get("method") != "collapsed" or not set(design.spec.parameters) <= set(posterior.data_vars):
        return posterior
    try:
        drawn = effects_of(posterior, table, design, int(sampler["seed"])).drawn()
    except (FitError, NotCollapsible):
        return posterior  # of draws that were changed
    same = all(np.array_equal(drawn[name], in_order(posterior[name])) for name in names)
    return posterior.drop_vars(names) if same else posterior


def effects_of(posterior: xr.Dataset, table: pd.DataFrame, design: Design, seed: int) -> Effects:
    """Return the effects that belong to draws of the scales."""
    scales = {name: in_order(posterior[name]) for name, p in design.spec.parameters.items() if p.positive}
    return Effects(design, table, scales, seed)


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


def _lazily(effects: Effects, name: str) -> Any:
    from xarray.core.indexing import LazilyIndexedArray

    return LazilyIndexedArray(_drawn_array(effects, name))


def _drawn_array(effects: Effects, name: str) -> Any:
    return _drawn_arrays()(effects, name)


@functools.cache
def _drawn_arrays() -> Any:
    """Return the class of arrays that are made where they are read, as xarray has for files."""
    from xarray.backends import BackendArray
    from xarray.core import indexing

    class Drawn(BackendArray):
        def __init__(self, effects: Effects, name: str) -> None:
            self.effects, self.name = effects, name
            self.shape = (*effects.sampled, *effects.shapes[name])
            self.dtype = np.dtype(float)

        def __getitem__(self, key: Any) -> Any:
            return indexing.explicit_indexing_adapter(
                key, self.shape, indexing.IndexingSupport.BASIC, self._read
            )

        def __reduce__(self) -> tuple[Any, ...]:
            return _drawn_array, (self.effects, self.name)

        def _read(self, key: tuple[Any, ...]) -> np.ndarray:
            return self.effects.drawn()[self.name][key]

    return Drawn
