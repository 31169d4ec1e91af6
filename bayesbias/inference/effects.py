"""The effects of a fit with an exact reduction, drawn from its scales and its seed when they are first read.

Given the scales all effects are normal (`bayesbias.inference.likelihood`), and one draw of them
belongs to each draw of the scales. Scales are some twenty numbers a draw, effects of attributes a
thousand. A seed gives the same effects again, so that a file of a fit holds its scales alone.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.core.errors import FitError
from bayesbias.inference.likelihood import Collapsed, NotCollapsible, collapse
from bayesbias.models.design import Design

if TYPE_CHECKING:
    import xarray as xr


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
        """Draws of all of them, shape (chains, draws, *shape of the parameter), always the same."""
        reduced = collapse(self.design)
        out = {}
        for name, values in self._drawn_at(reduced, self._theta(reduced)).items():
            out[name] = values.reshape(*self.sampled, *self.design.shape(name))
            out[name].flags.writeable = False
        return out

    def tried(self, reduced: Collapsed) -> None:
        """Draw them where each scale is smallest and largest, since rounding shows there first.

        Raises
        ------
        FitError
            If the noise goes to zero.
        """
        theta = self._theta(reduced)
        self._drawn_at(reduced, theta[np.unique([theta.argmin(axis=0), theta.argmax(axis=0)])])

    def _theta(self, reduced: Collapsed) -> np.ndarray:
        return reduced.joined(
            {name: x.reshape(-1, *x.shape[2:]) for name, x in self.scales.items()}
        )

    def _drawn_at(self, reduced: Collapsed, theta: np.ndarray) -> dict[str, np.ndarray]:
        try:
            rng = np.random.default_rng(np.random.SeedSequence([self.design.stream(self.seed), 1]))
            return reduced.draw_effects(theta, rng)
        except np.linalg.LinAlgError:
            raise FitError(
                "the noise goes to zero: do some rows repeat others exactly, such as words that are in two sets?"
            ) from None


def effects_of(posterior: xr.Dataset, design: Design, seed: int) -> Effects:
    """Return the effects that belong to draws of the scales."""
    names = [name for name, parameter in design.spec.parameters.items() if parameter.positive]
    return Effects(design, {name: in_order(posterior[name]) for name in names}, seed)


def with_effects(posterior: xr.Dataset, effects: Effects) -> xr.Dataset:
    """Return draws of the scales together with the effects, which are drawn where they are read."""
    import xarray as xr

    design = effects.design
    variables: dict[str, Any] = {}
    for name, parameter in design.spec.parameters.items():
        values = effects.scales[name] if name in effects.scales else _lazily(effects, name)
        variables[name] = xr.Variable(("chain", "draw", *parameter.dims), values)
    dims = {dim for parameter in design.spec.parameters.values() for dim in parameter.dims}
    coords: dict[str, Any] = {dim: labels for dim, labels in design.coords.items() if dim in dims}
    coords |= {dim: posterior[dim].to_numpy() for dim in ("chain", "draw")}
    return xr.Dataset(variables, coords, posterior.attrs)


def scales_alone(posterior: xr.Dataset, design: Design, sampler: Mapping[str, Any]) -> xr.Dataset:
    """Return a posterior without its effects where scales and seed give the very same again, else as it is."""
    names = design.spec.location_parameters()
    if sampler.get("method") != "collapsed" or not set(design.spec.parameters) <= set(
        posterior.data_vars
    ):
        return posterior
    try:
        drawn = effects_of(posterior, design, int(sampler["seed"])).drawn
    except (FitError, NotCollapsible):
        return posterior  # of draws that were changed
    same = all(np.array_equal(drawn[name], in_order(posterior[name])) for name in names)
    return posterior.drop_vars(names) if same else posterior


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
    return _array_class()(effects, name)


@functools.cache
def _array_class() -> Any:
    """Return the class of arrays that are made where they are read, as xarray has for files."""
    from xarray.backends import BackendArray
    from xarray.core import indexing

    class Drawn(BackendArray):
        def __init__(self, effects: Effects, name: str) -> None:
            self.effects, self.name = effects, name
            self.shape = (*effects.sampled, *effects.design.shape(name))
            self.dtype = np.dtype(float)

        def __getitem__(self, key: Any) -> Any:
            basic = indexing.IndexingSupport.BASIC
            return indexing.explicit_indexing_adapter(key, self.shape, basic, self._read)

        def __reduce__(self) -> tuple[Any, ...]:
            return _drawn_array, (self.effects, self.name)

        def _read(self, key: tuple[Any, ...]) -> np.ndarray:
            return self.effects.drawn[self.name][key]

    return Drawn
