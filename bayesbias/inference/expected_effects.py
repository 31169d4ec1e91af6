"""Effects in standard deviations from where the exact reduction expects them: coordinates to sample a normal model in.

The model is that of its TOML file, pair by pair with all its effects (`bayesbias.inference.graph`). Given the scales, the
small vectors that it falls into (`bayesbias.inference.components`) say where effects lie; in standard deviations from there
they are near standard normal whatever the scales are, and no funnel is left. The density stays that of all pairs and all
effects, and owes the reduction nothing: a wrong one would make poor coordinates, not another posterior. Positive parameters
are sampled in the coordinates of their logarithms that the reduction has (`log_coordinates`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.inference.collapsed import Collapsed, NotCollapsible, collapse, log_coordinates
from bayesbias.inference.components import Component
from bayesbias.inference.graph import coords_of, entries_of, left_out, mean_of_rows, observe, pymc_model
from bayesbias.models.design import Design

if TYPE_CHECKING:
    import pymc as pm

# Copies up to which small vectors are worked on together, and how many of their effects at most: as one matrix.
_FEW = 8
_MOST_TOGETHER = 150
# Levels of a factor, whose deviations have a basis that is a matrix of them.
_MOST_LEVELS = 1000


@dataclass(frozen=True, eq=False)
class ExpectedEffects:
    """A normal model on one table, and its exact reduction."""

    design: Design
    reduced: Collapsed

    @classmethod
    def of(cls, design: Design) -> ExpectedEffects | None:
        """Find the reduction; None where there is none, or where it would be dear to work with."""
        spec = design.spec
        try:
            reduced = collapse(design)
        except NotCollapsible:
            return None
        effects = [len(component.effects) * component.copies for component in reduced.components]
        touched = [int((~design.untouched(name)).sum()) for name in spec.location_parameters()]
        together = sum(len(c.effects) for c in reduced.components if c.copies <= _FEW)
        levels = [len(np.unique(codes)) for codes in design.units.values()]
        dear = together > _MOST_TOGETHER or max(levels, default=0) > _MOST_LEVELS
        return None if dear or sum(effects) != sum(touched) or not any(touched) else cls(design, reduced)

    def model(self) -> pm.Model:
        """Make the PyMC model; entries that no row touches stay at their mean."""
        import pymc as pm
        import pytensor.tensor as pt

        design, spec = self.design, self.design.spec
        positive = [name for name, parameter in spec.parameters.items() if parameter.positive]
        effects = [
            name for name in spec.location_parameters() if spec.parameters[name].distribution == "Normal"
        ]
        values: dict[str, Any] = {}
        start = pymc_model(design).initial_point()
        with pm.Model(coords=coords_of(design)) as model:

            def argument(name: str, arg: str) -> Any:
                value = spec.parameters[name].args[arg]
                if not isinstance(value, str):
                    return np.float64(value)
                make(value)
                return entries_of(design, name, arg, values[value])

            def make(name: str) -> None:
                if name in values:
                    return
                dims = spec.parameters[name].dims or None
                if name in effects:
                    own = deviations[name].reshape(design.shape(name))
                    values[name] = pm.Deterministic(name, argument(name, "mu") + own, dims=dims)
                else:
                    args = {arg: argument(name, arg) for arg in spec.parameters[name].args}
                    values[name] = getattr(pm, spec.parameters[name].distribution)(name, **args, dims=dims)

            logs = _logarithms(design, positive, start)
            for name in positive:
                values[name] = pm.Deterministic(
                    name, pt.exp(logs[name]), dims=spec.parameters[name].dims or None
                )
            spreads = {
                name: pt.broadcast_to(argument(name, "sigma"), design.shape(name)).flatten()
                for name in effects
            }
            deviations = self.deviations(spreads, values)
            for name in spec.parameters:
                make(name)
            for name in positive:
                args = {arg: argument(name, arg) for arg in spec.parameters[name].args}
                prior = getattr(pm, spec.parameters[name].distribution).dist(**args)
                pm.Potential(f"{name}: prior", (pm.logp(prior, values[name]) + logs[name]).sum())
            observe(design, values, mean_of_rows(design, values))
        return model

    def deviations(self, spread: Mapping[str, Any], scales: Mapping[str, Any]) -> dict[str, Any]:
        r"""Make the deviations of effects from their means, with their prior, out of numbers that are near standard normal.

        In a component, with incidence X, noise variances S and effects' spreads D, effects are normal with precision
        :math:`D^{-1} A D^{-1}`, :math:`A = I + D X^T S^{-1} X D = LL^T`. They are sampled as
        :math:`D (A^{-1} D X^T S^{-1} y + L^{-T} z)`, whose volume is :math:`\prod d_e / \prod L_{ee}` for each copy.

        Parameters
        ----------
        spread : Mapping of str to variable, shape (entries of the effect,)
        scales : Mapping of str to variable

        Returns
        -------
        dict of str to variable, shape (entries,)
        """
        import pymc as pm
        import pytensor.tensor as pt

        reduced = self.reduced
        fixed = np.sqrt(np.append(reduced.constants, 1.0))  # the last for whatever has no factor
        scale = pt.concatenate([*(scales[name].flatten() for name in reduced.scales), fixed])
        untouched = {name: self.design.untouched(name) & ~left_out(self.design, name) for name in spread}
        components = [component for component in reduced.components if component.effects]
        count = sum(len(c.effects) * c.copies for c in components)
        standard = pm.Flat("effects: standard", shape=count + sum(int(u.sum()) for u in untouched.values()))
        done, level = 0, 0
        volume: Any = 0.0
        pool: list[Any] = []
        parts: dict[str, list[np.ndarray]] = {name: [] for name in spread}
        for own in ([c for c in components if c.copies <= _FEW], [c for c in components if c.copies > _FEW]):
            if not own:
                continue
            size = sum(len(c.effects) * c.copies for c in own)
            made, log_volume = _effects_of(own, scale, standard[done : done + size])
            pool += made
            volume = volume + log_volume
            done += size
            for component in own:
                for effect, places in zip(component.effects, _places(component, level), strict=True):
                    shape = effect.entries.shape
                    each = effect.entries, np.broadcast_to(places, shape), np.broadcast_to(effect.load, shape)
                    parts[effect.name].append(np.stack([np.ravel(part) for part in each]))
                level += len(component.effects) * int(np.prod(_shape(component)))
        pooled = pt.concatenate(pool)
        out = {}
        for name, own_spread in spread.items():
            flat = _gathered(
                np.concatenate([np.zeros((3, 0)), *parts[name]], axis=1), pooled, len(untouched[name])
            )
            alone = np.flatnonzero(untouched[name])
            if len(alone):
                flat = pt.set_subtensor(flat[alone], own_spread[alone] * standard[done : done + len(alone)])
                volume = volume + pt.log(own_spread[alone]).sum()
                done += len(alone)
            kept = np.flatnonzero(~left_out(self.design, name))
            volume = volume - (0.5 * (flat / own_spread)[kept] ** 2 + pt.log(own_spread)[kept]).sum()
            out[name] = flat
        pm.Potential("effects: prior", volume)
        return out


def _logarithms(design: Design, positive: Sequence[str], start: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """Make the logarithms of positive parameters out of the coordinates that they are sampled in."""
    import pymc as pm

    if not positive:
        return {}
    turn = log_coordinates(design, positive)
    at = np.linalg.solve(turn, np.concatenate([np.ravel(start[f"{name}_log__"]) for name in positive]))
    joint = turn @ pm.Flat("scales: standard", shape=len(at), initval=at)
    ends = np.cumsum([design.size(name) for name in positive])
    return {
        name: joint[end - design.size(name) : end].reshape(design.shape(name))
        for name, end in zip(positive, ends, strict=True)
    }


def _effects_of(components: Sequence[Component], scale: Any, standard: Any) -> tuple[list[Any], Any]:
    """Return the effects of some components, each of shape (effects times levels,), and the logarithm of their volume.

    They are worked on as one with a matrix in blocks, since every operation is compiled for itself.
    """
    import pytensor.tensor as pt

    effects = [effect for component in components for effect in component.effects]
    copies = np.repeat([c.copies for c in components], [len(c.effects) for c in components])
    n, widest = len(effects), int(copies.max())
    m = sum(len(c.noise) for c in components)
    coef, factor = np.zeros((m, n)), np.full((m, n), -1)
    data = np.zeros((m, widest))
    row, column = 0, 0
    for component in components:
        its = slice(row, row + len(component.noise))
        data[its, : component.copies] = _free(component)
        for effect in component.effects:
            coef[row + effect.blocks, column] = effect.coef
            factor[row + effect.blocks, column] = effect.factors
            column += 1
        row = its.stop
    noise = scale[np.concatenate([component.noise for component in components])]
    spread = scale[np.array([effect.variance for effect in effects])]
    enter = coef * (scale[factor.ravel()].reshape((m, n)) if (factor >= 0).any() else 1.0)
    enter = enter * spread / noise[:, None]
    lower = pt.linalg.cholesky(pt.eye(n) + enter.T @ enter)
    root = pt.linalg.solve_triangular(lower, pt.eye(n), lower=True).T
    there = np.arange(widest) < copies[:, None]
    numbers = pt.zeros((n, widest))[there.nonzero()]
    numbers = pt.set_subtensor(numbers, standard)
    centre = root.T @ (enter.T @ (data / noise[:, None]))
    own = spread[:, None] * (root @ (centre + numbers))
    volume = (copies * (pt.log(spread) - pt.log(pt.diag(lower)))).sum()
    made, column = [], 0
    for component in components:
        made.append(_of_levels(component, own[column : column + len(component.effects), : component.copies]))
        column += len(component.effects)
    return made, volume


def _free(component: Component) -> np.ndarray:
    """Return the rows of a component in coordinates of their deviations, shape (rows, copies)."""
    rows = component.data
    assert rows is not None
    for axis, basis in component.bases:
        rows = np.moveaxis(np.tensordot(rows, _beside(basis), axes=(1 + axis, 0)), -1, 1 + axis)
    return rows.reshape(len(rows), -1)


def _of_levels(component: Component, own: Any) -> Any:
    """Return the effects of every level out of those in coordinates of deviations; both flat, or effects by copies."""
    import pytensor.tensor as pt

    besides = {axis: _beside(basis) for axis, basis in component.bases}
    if len(besides) == 1:
        return (own @ next(iter(besides.values())).T).flatten()
    shape = [besides[axis].shape[1] if axis in besides else 1 for axis in range(len(_shape(component)))]
    own = own.reshape((len(component.effects), *shape))
    for axis, beside in besides.items():
        own = pt.moveaxis(pt.tensordot(own, beside, axes=[[1 + axis], [1]]), -1, 1 + axis)
    return own.flatten()


def _beside(basis: np.ndarray) -> np.ndarray:
    """Return orthonormal columns that are orthogonal to those of a basis, and complete it."""
    return np.linalg.qr(basis, mode="complete")[0][:, basis.shape[1] :]


def _shape(component: Component) -> tuple[int, ...]:
    """Return how many levels a component has along each factor; 1 where it is not of their deviations."""
    assert component.data is not None
    return component.data.shape[1:]


def _places(component: Component, start: int) -> np.ndarray:
    """Return where each effect of a component stands in the pool of all, shape (effects, *levels)."""
    shape = (len(component.effects), *_shape(component))
    return start + np.arange(len(component.effects) * int(np.prod(_shape(component)))).reshape(shape)


def _gathered(parts: np.ndarray, pooled: Any, size: int) -> Any:
    """Add up in each entry what stands for it in the pool.

    Parameters
    ----------
    parts : ndarray, shape (3, parts)
        Entries, places in the pool, and factors.
    """
    import pytensor.tensor as pt

    parts = parts[:, np.argsort(parts[0], kind="stable")]
    entry, place = parts[:2].astype(np.int64)
    turn = np.arange(len(entry)) - np.searchsorted(entry, entry)
    out: Any = pt.zeros(size)
    for number in range(int(turn.max(initial=-1)) + 1):
        its = turn == number
        at, load = np.zeros(size, dtype=np.int64), np.zeros(size)
        at[entry[its]], load[entry[its]] = place[its], parts[2, its]
        out = out + load * pooled[at]
    return out
