r"""Counts with normal effects in log odds: scales and effects sampled together.

*Model.* Row r has :math:`n_r` answers, of which :math:`y_r` are *yes*. The log odds of *yes* are

.. math:: \eta = o + X D z + \sigma_q z_q,

with o the prior means, D the standard deviations (SDs) of the effects, and X their weights in the
rows. The last term is an effect that each row has for itself, such as that of a question. All z are
standard normal (non-centered). NUTS samples the logarithms of the SDs that are parameters (the
scales), and z.

*Blocks.* Answers tell sums of effects better than single ones. So the effects that are sampled are
blocks: means and contrasts of those that share units. `Family` has them. Given a block, its effects
are drawn afterward from their normal distribution.

*Axes.* The z depend on each other in the posterior. So w is sampled in their place, along the axes
of a normal pilot. Near the mode of scales and effects, the pilot has the working responses
:math:`\tilde y = \eta + (y - n p) / W` with the weights :math:`W = n p (1 - p)` (iteratively
reweighted least squares), and

.. math::

    z &= c + L w, \qquad L L^T = A^{-1}, \\
    A &= I + D X^T V^{-1} X D, \qquad V = W^{-1} + \sigma_q^2, \qquad
         c = A^{-1} D X^T V^{-1} (\tilde y - o), \\
    z_q &= k (\tilde y - \eta_s) + (1 + W \sigma_q^2)^{-1/2} w_q, \qquad
           k = W \sigma_q / (1 + W \sigma_q^2),

with :math:`\eta_s` the log odds without :math:`z_q`. If the pilot were exact, all w would be
independent standard normals.

*Other scales.* Where the SD of an effect is s, and :math:`\hat s` at the pilot, its z is multiplied
by the width

.. math:: g = \left(\frac{1 + H \hat s^2}{1 + H s^2}\right)^{1/2}.

H is the precision that the data give the effect itself: W for :math:`z_q`, and
:math:`(1 / (A^{-1})_{jj} - 1) / \hat s^2` for :math:`z_j`, or zero if its SD is a number of the
model file. A larger SD leaves z less room.

*Density.* What is sampled is the exact posterior, whatever the pilot is: the log density of w is

.. math:: \sum_r \log p(y_r \mid \eta_r) + \sum_j \bigl(\log g_j - \tfrac12 z_j^2\bigr)

with the :math:`z_q` among the z, and with the priors of the scales in the coordinates of
`bayesbias.inference.kernel`. So the pilot decides over the number of steps alone.
`bayesbias.inference.graph` states the same model in PyMC.

For instance, 3 of 4 answers to one question are *yes*, and the SD of its effect at the pilot is 1,
around zero. The mode is z = 0.505 with W = 0.939, as in `bayesbias.inference.binomial`, and the
working response is 0.505 + (3 - 4 · 0.624) / 0.939 = 1.043. So A is 1.939, c is 0.939 · 1.043 / 1.939
= 0.505, L is 0.718, and z = 0.505 + 0.718 w. Where the SD is 2, H is 0.939 and g is
:math:`(1.939 / 4.755)^{1/2} = 0.639`. The effect 2 · 0.639 z then has the mean 0.645 and the SD 0.917
for standard normal w. Its posterior has 0.973 and 1.033 (quadrature). The density above makes up for
that. As an effect of a single row it would be the same: k is 0.484, and 0.484 · 1.043 = 0.505.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numba import carray

from bayesbias.core.workers import one_thread_of_blas
from bayesbias.inference import kernel
from bayesbias.inference.likelihood import NotCollapsible, check_priors, prior_arrays
from bayesbias.inference.sampling import (
    AT_MODE,
    LONG_RUN,
    Engine,
    Sampled,
    mixed,
    nuts,
    parameter_dataset,
    thinned,
)
from bayesbias.models.design import Design

if TYPE_CHECKING:
    import xarray as xr

_ROUNDS = 60
COUNTS_TARGET_ACCEPT, COUNTS_TARGET_OF_FEW = 0.95, 0.97
_MANY = 200  # effects
COUNTS_TARGET_SLOW, COUNTS_TARGET_DIVERGED = 0.98, 0.995  # of a second run
_LONGER = 2  # times as many draws, of which each second is kept
_LEAST, _LEAST_MODE, _LEAST_WEIGHT = 0.05, 0.4, 1e-3
_MOST_TOGETHER = 2000  # effects whose axes are a matrix
_MOST_CELLS = 16  # of a family
_WHOLE = (0, 1, 2, 3, 4)


@dataclass(frozen=True, eq=False)
class Family:
    r"""Effects of units (of items, say), and of groups and models within units.

    A *cell* is a group under a model within a unit. Data tell the sum of the effects in a cell, not
    each of them. So what is sampled are *blocks*: the mean over the cells of a unit, and
    orthonormal contrasts between its groups, between its models, and of both. For a block that
    varies with the factors S, the variance is :math:`\sum_{T \supseteq S} \sigma_T^2 / \prod_{f
    \in T \setminus S} n_f` over the effects, where T are the factors of an effect and factor f has
    :math:`n_f` levels.

    For instance, an item has an effect a with the SD 1, and effects b and b' of its own for two
    groups, also with the SD 1. Its cells have the sums a + b and a + b'. There are two blocks. The
    mean a + (b + b') / 2 has the variance 1 + 1/2, and the weight 1 in both cells. The contrast
    (b' - b) / sqrt(2) has the variance 1, and the weights -0.707 and 0.707. If they are drawn as 0.9
    and 0.6, the cells are 0.476 and 1.324. Then a is normal with mean 0.9 · 1 / 1.5 = 0.6 and
    variance 1 · 0.5 / 1.5 = 1/3, and b = 0.476 - a.

    Attributes
    ----------
    unit, cell : ndarray of int, shape (rows,)
        The unit and the cell of each row.
    entries : dict of str to ndarray of int, shape (units, cells)
        The entry of each parameter in each cell.
    share : tuple of dict of str to float
        For each block, the shares that its variance has in those of parameters.
    contrasts : tuple of ndarray, shape (cells, contrasts)
        The weights of each block in the cells.
    """

    unit: np.ndarray
    cell: np.ndarray
    entries: dict[str, np.ndarray]
    share: tuple[dict[str, float], ...]
    contrasts: tuple[np.ndarray, ...]

    @classmethod
    def of(
        cls, design: Design, names: Sequence[str], base: str | None, factors: Sequence[str]
    ) -> Family | None:
        """Return the family of some effects; None if a unit lacks a cell, or cells are many."""
        base_entry = design.index[base] if base else np.zeros(len(design.y), dtype=np.int64)
        units, unit = np.unique(base_entry, return_inverse=True)
        ranks = [_ranks(unit, design.codes[factor]) for factor in factors]
        levels = [int(rank.max()) + 1 for rank in ranks]
        axes = range(len(levels))
        cells = math.prod(levels)
        cell = np.ravel_multi_index(ranks, levels) if factors else np.zeros_like(unit)
        filled, first_row = np.unique(unit * cells + cell, return_index=True)
        if len(filled) < len(units) * cells or cells > _MOST_CELLS:
            return None

        # With which factors does each effect vary?
        entries = {name: design.index[name][first_row].reshape(-1, cells) for name in names}
        varies = {}
        for name, of_cells in entries.items():
            grid = of_cells.reshape(-1, *levels)
            varies[name] = {k for k in axes if (grid.take(0, k + 1) != grid.take(-1, k + 1)).any()}
            if len(np.unique(of_cells)) != len(units) * math.prod(levels[k] for k in varies[name]):
                return None  # units share an effect

        # A block for each set of factors, the mean over all cells first.
        share, contrasts = [], []
        sizes = range(len(levels) + 1)
        for block in itertools.chain.from_iterable(itertools.combinations(axes, k) for k in sizes):
            shares = {}
            for name, factors_of_effect in varies.items():
                if factors_of_effect.issuperset(block):
                    averaged = factors_of_effect.difference(block)
                    shares[name] = 1 / math.prod(levels[k] for k in averaged)
            if not shares:
                continue
            weights = np.ones((1, 1))
            for k, n in enumerate(levels):
                weights = np.kron(weights, _contrasts(n) if k in block else np.ones((n, 1)))
            share.append(shares)
            contrasts.append(weights)
        return cls(unit, cell, entries, tuple(share), tuple(contrasts))

    @property
    def blocks_of_unit(self) -> int:
        """The number of effects that are sampled for each unit."""
        return sum(contrasts.shape[1] for contrasts in self.contrasts)

    def effects(
        self, drawn: np.ndarray, sds: Mapping[str, np.ndarray], rng: np.random.Generator
    ) -> dict[str, np.ndarray]:
        """Return draws of the effects in each cell, given draws of the blocks.

        A block is a sum of one part of each effect. The parts are drawn independently, and each
        takes its share of what their sum misses of the block.

        Parameters
        ----------
        drawn : ndarray, shape (chains, draws, contrasts of all blocks * units)
        sds : Mapping of str to ndarray, shape (units,) or (chains, draws, units)
        rng : Generator

        Returns
        -------
        dict of str to ndarray, shape (chains, draws, units, cells)
        """
        units = len(next(iter(self.entries.values())))
        out, start = dict.fromkeys(self.entries, np.zeros(1)), 0
        for shares, contrasts in zip(self.share, self.contrasts, strict=True):
            size = units * contrasts.shape[1]
            whole = drawn[..., start : start + size].reshape(*drawn.shape[:2], -1, units)
            start += size
            variance, parts = {}, {}
            for name, share in shares.items():
                variance[name] = share * sds[name][..., None, :] ** 2
                parts[name] = np.sqrt(variance[name]) * rng.standard_normal(whole.shape)
            missing = (whole - sum(parts.values())) / sum(variance.values())
            for name, part in parts.items():
                completed = part + variance[name] * missing
                out[name] = out[name] + np.einsum("gk,cdks->cdsg", contrasts, completed)
        return out


@dataclass(frozen=True, eq=False)
class Layout:
    """A binomial model as arrays.

    The effects are the blocks of all families: X is `matrix`, and the SDs D are `sds`.

    Attributes
    ----------
    families : tuple of Family
        All parameters of the mean, but for `single`.
    single : str
        The parameter with an effect for each row; empty if there is none.
    scales : tuple of str
    cell : ndarray of int, shape (families, rows)
        The cells of all families that enter the log odds of each row.
    index : ndarray of int, shape (columns, cells)
        The effects that enter each cell.
    weight : ndarray, shape (columns, cells)
        Their weights; 0 in columns that a family lacks.
    share : ndarray, shape (effects, scales)
        The variance of an effect is the sum over scales of share times the square of the scale.
    fixed : ndarray, shape (effects,)
        What is added to the variance: of effects without a scale, all of it.
    row_scale : ndarray of int, shape (rows,)
        The scale of the effects of single rows; -1 where there are none.
    offset : ndarray, shape (rows,)
    """

    families: tuple[Family, ...]
    single: str
    scales: tuple[str, ...]
    cell: np.ndarray
    index: np.ndarray
    weight: np.ndarray
    share: np.ndarray
    fixed: np.ndarray
    row_scale: np.ndarray
    offset: np.ndarray

    @classmethod
    def of(cls, design: Design) -> Layout | None:
        """Return the arrays of a model; None if only PyMC samples its form."""
        spec, n = design.spec, len(design.y)
        scales = tuple(spec.scales())
        sizes = [design.size(name) for name in scales]
        starts = dict(zip(scales, np.cumsum([0, *sizes]), strict=False))
        plain = all(
            spec.parameters[name].distribution == "Normal"
            and not isinstance(spec.parameters[name].args["mu"], str)
            and design.lever(name) is None
            for name in spec.location_parameters()
        )
        try:
            check_priors(spec)
        except NotCollapsible:
            return None
        singles = [
            name for name in spec.mu
            if spec.is_random(name) and design.size(name) == n == len(np.unique(design.index[name]))
        ]  # fmt: skip
        single = singles[-1] if singles else ""
        effects = sum(len(np.unique(design.index[name])) for name in spec.mu if name != single)
        if not plain or effects > _MOST_TOGETHER:
            return None

        families = _families(design, single)
        columns = max(family.blocks_of_unit for family in families)
        shapes = [next(iter(family.entries.values())).shape for family in families]
        before = np.cumsum([0, *(units * cells for units, cells in shapes)])
        index = np.zeros((columns, before[-1]), dtype=np.int64)
        weight, share, fixed = np.zeros(index.shape), [], []
        cell, place = [], 0
        for family, (units, cells), start in zip(families, shapes, before[:-1], strict=True):
            cell.append(start + family.unit * cells + family.cell)
            unit_of_cell, cell_of_unit = np.indices((units, cells)).reshape(2, -1)
            of_family = slice(start, start + units * cells)
            column = 0
            for shares, contrasts in zip(family.share, family.contrasts, strict=True):
                of_scales, of_numbers = np.zeros((units, sum(sizes))), np.zeros(units)
                for name, part in shares.items():
                    sigma = spec.parameters[name].args["sigma"]
                    if isinstance(sigma, str):
                        entry = family.entries[name][:, 0]
                        scale = starts[sigma] + design.parent[name, "sigma"][entry]
                        of_scales[np.arange(units), scale] += part
                    else:
                        of_numbers += part * float(sigma) ** 2
                # A contrast is one effect for each unit, which enters all cells of the unit.
                for contrast in contrasts.T:
                    index[column, of_family] = place + unit_of_cell
                    weight[column, of_family] = contrast[cell_of_unit]
                    share.append(of_scales)
                    fixed.append(of_numbers)
                    place, column = place + units, column + 1

        row_scale = np.full(n, -1)
        if single:
            sigma = str(spec.parameters[single].args["sigma"])
            row_scale = starts[sigma] + design.parent[single, "sigma"][design.index[single]]
        offset = np.full(n, sum(float(spec.parameters[name].args["mu"]) for name in spec.mu))
        arrays = np.stack(cell), index, weight, np.concatenate(share), np.concatenate(fixed)
        return cls(families, single, scales, *arrays, row_scale, offset)

    def matrix(self) -> np.ndarray:
        """Return the weights of all effects in the log odds of each row."""
        of_cells = np.zeros((self.index.shape[1], len(self.fixed)))
        for index, weight in zip(self.index, self.weight, strict=True):
            of_cells[np.arange(len(index)), index] += weight
        return of_cells[self.cell].sum(axis=0)

    def sds(self, sd: np.ndarray) -> np.ndarray:
        """Return the standard deviations of the effects, for scales of shape (..., scales)."""
        return np.sqrt(self.fixed + sd**2 @ self.share.T)


def _contrasts(groups: int) -> np.ndarray:
    """Return orthonormal contrasts, shape (groups, groups - 1)."""
    return np.linalg.svd(np.eye(groups) - 1 / groups)[0][:, : groups - 1]


def _ranks(unit: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return the place of the label of each row among those of its unit."""
    labels = int(codes.max()) + 1
    joint, inverse = np.unique(unit * labels + codes, return_inverse=True)
    of_unit = joint // labels
    return (np.arange(len(joint)) - np.searchsorted(of_unit, of_unit))[inverse]


def _families(design: Design, single: str) -> tuple[Family, ...]:
    """Return families so that each effect is in one.

    That of the means comes first, without units if it has few cells, then families of many effects.
    """
    spec, group = design.spec, design.spec.results.group
    # An arm is a group under a model.
    arm = [name for name in spec.results.fixed if name in design.codes and name != group] or [group]
    dims = {
        name: {part for dim in spec.parameters[name].dims for part in (arm if dim == group else [dim])}
        for name in spec.mu if name != single
    }  # fmt: skip
    joined = [
        name for name in dims
        if not spec.is_random(name) or design.size(str(spec.parameters[name].args["sigma"])) == 1
    ]  # fmt: skip
    columns = sorted(set().union(*dims.values()))
    sets = itertools.chain(*(itertools.combinations(columns, n + 1) for n in range(len(columns))))
    possible = []
    for base, factors in itertools.product((None, *joined), sets):
        inside = dims[base] if base else set[str]()
        names = [name for name in joined if inside <= dims[name] <= inside.union(factors)]
        of_means = base or any(not spec.is_random(name) for name in names)
        if inside.isdisjoint(factors) and len(names) > 1 and of_means:
            possible.append((base, names, factors))
    out, taken = [], set[str]()
    for base, names, factors in sorted(possible, key=lambda each: (bool(each[0]), -len(each[1]))):
        if taken.isdisjoint(names):
            family = Family.of(design, names, base, factors)
            if family is not None:
                out.append(family)
                taken |= {*names}
    for name in (name for name in dims if name not in taken):
        family = Family.of(design, [name], name, ())
        assert family is not None
        out.append(family)
    return tuple(out)


class Pilot(NamedTuple):
    """The normal distribution of the effects near the mode, in the symbols of the module.

    Attributes
    ----------
    center : ndarray, shape (effects,)
        c.
    root : ndarray, shape (effects, effects)
        L.
    pull, row_root : ndarray, shape (rows,)
        k, and what multiplies :math:`w_q`.
    working : ndarray, shape (rows,)
        The working responses without the offset.
    log_scales : ndarray, shape (scales,)
        Of the pilot, which the coordinates of the scales are relative to.
    precision, row_precision : ndarray, shape (effects,) and (rows,)
        H, of the effects and of those of single rows.
    width, row_width : ndarray, shape (effects,) and (rows,)
        The numerators of g.
    """

    center: np.ndarray
    root: np.ndarray
    pull: np.ndarray
    row_root: np.ndarray
    working: np.ndarray
    log_scales: np.ndarray
    precision: np.ndarray
    row_precision: np.ndarray
    width: np.ndarray
    row_width: np.ndarray


def pilot(design: Design, layout: Layout) -> Pilot:
    """Find scales and effects near the mode, and the normal distribution of the effects there.

    A round takes the effects given the scales (weighted least squares), and then the scales from
    the expected squares of the effects (expectation maximization).
    """
    y, n = design.y, np.asarray(design.trials, dtype=float)
    x, q = layout.matrix(), len(layout.fixed)
    sd, has, one = np.ones(layout.share.shape[1]), layout.share > 0, layout.row_scale >= 0
    of_rows, row_sd = layout.row_scale[one], np.zeros(len(y))
    eta = np.log((y + 0.5) / (n - y + 0.5))
    for _ in range(_ROUNDS):
        p = 1 / (1 + np.exp(-eta))
        w = np.maximum(n * p * (1 - p), _LEAST_WEIGHT)
        working = eta + np.clip((y - n * p) / w, -5, 5) - layout.offset

        scale = layout.sds(sd)
        row_sd[one] = sd[of_rows]
        v = 1 / w + row_sd**2
        xd = x * scale
        inverse = np.linalg.inv(xd.T @ (xd / v[:, None]) + np.eye(q))
        center = inverse @ (xd.T @ (working / v))
        smooth = xd @ center
        left = row_sd**2 / v * (working - smooth)
        eta = layout.offset + smooth + left

        row_squares = left**2 + row_sd**2 * (1 - row_sd**2 / v)
        # Of each scale, the expected square of the part that it has in each of its effects.
        part = layout.share * sd**2 / scale[:, None] ** 2
        of_parts = sd**2 * (1 + part * (center**2 + np.diag(inverse) - 1)[:, None])
        total = (of_parts * has).sum(axis=0) + np.bincount(of_rows, row_squares[one], len(sd))
        count = has.sum(axis=0) + np.bincount(of_rows, minlength=len(sd))
        sd = np.sqrt(np.maximum(total / np.maximum(count, 1), _LEAST**2))

    of_data = np.maximum(1 / np.diag(inverse) - 1, 0) / scale**2
    precision = np.where(has.any(axis=1), of_data, 0.0)
    return Pilot(
        center=center,
        root=np.linalg.cholesky(inverse),
        pull=w * row_sd / (1 + w * row_sd**2),
        row_root=1 / np.sqrt(1 + w * row_sd**2),
        working=working,
        log_scales=np.log(np.maximum(sd, _LEAST_MODE)),
        precision=precision,
        row_precision=w,
        width=np.sqrt(1 + precision * scale**2),
        row_width=np.sqrt(1 + w * row_sd**2),
    )


def sample_counts(design: Design, settings: Mapping[str, Any], cores: int) -> Sampled | None:
    """Sample a binomial model over sorted rows; return None if only PyMC samples its form.

    If a step diverged, or a long run has not mixed, it is sampled again: longer, by smaller steps.
    """
    layout = Layout.of(design)
    if layout is None:
        return None

    def run(target: float, times: int) -> Sampled:
        now = {**settings, "target_accept": target, "thin": times}
        engine = Engine.without_reduction(settings.get("engine", "nuts"))
        return Sampled(_sampled(design, layout, now, cores), engine, target, times)

    asked = settings.get("target_accept")
    usual = COUNTS_TARGET_ACCEPT if len(layout.fixed) > _MANY else COUNTS_TARGET_OF_FEW
    out = run(asked or usual, 1)
    if asked:
        return out
    if out.idata["sample_stats"]["diverging"].any():
        return run(COUNTS_TARGET_DIVERGED, _LONGER)
    drawn = [values.to_numpy() for values in out.idata["posterior"].data_vars.values()]
    flat = [values.reshape(*values.shape[:2], -1) for values in drawn]
    if settings["draws"] >= LONG_RUN and not mixed(np.concatenate(flat, axis=2)):
        return run(COUNTS_TARGET_SLOW, _LONGER)
    return out


def _sampled(
    design: Design, layout: Layout, settings: Mapping[str, Any], cores: int
) -> xr.DataTree:
    import xarray as xr

    spec, rows, times = design.spec, len(design.y), settings["thin"]
    lengths = {name: times * settings[name] for name in ("tune", "draws")}
    with one_thread_of_blas():
        at_pilot = pilot(design, layout)
        code, *arguments = prior_arrays(design)
        arrays = [  # in the order of `_density`
            layout.cell, layout.index, layout.row_scale, code, np.array([layout.index.shape[1]]), design.y,
            np.asarray(design.trials, dtype=float), layout.offset, layout.weight, layout.share, layout.fixed,
            at_pilot.center, at_pilot.root, at_pilot.pull, at_pilot.row_root, at_pilot.working, *arguments,
            at_pilot.log_scales, at_pilot.precision, at_pilot.row_precision,
            at_pilot.width, at_pilot.row_width,
        ]  # fmt: skip
        scales, effects = len(code), len(layout.fixed)
        n = scales + effects + (rows if layout.single else 0)
        callbacks = (logp_of_counts, expand_counts)
        data, seed = kernel.packed(arrays, _WHOLE), design.stream(settings["seed"])
        kept, stats = nuts(n, callbacks, data, {**settings, **lengths}, cores, seed)

    # A draw has the log scales, the blocks of each family, and the effects of single rows.
    values, start = {}, 0
    for name in layout.scales:
        values[name] = np.exp(kept[..., start : start + design.size(name)])
        start += design.size(name)
    rng = np.random.default_rng([seed, 7])
    for family in layout.families:
        sds = {}
        for name, entries in family.entries.items():
            sigma = spec.parameters[name].args["sigma"]
            if isinstance(sigma, str):
                sd = values[sigma][..., design.parent[name, "sigma"]]
            else:
                sd = np.full(design.size(name), float(sigma))
            # Entries without rows have their prior.
            values[name] = sd * rng.standard_normal((*kept.shape[:2], design.size(name)))
            sds[name] = sd[..., entries[:, 0]]
        size = len(entries) * family.blocks_of_unit
        effects_of_cells = family.effects(kept[..., start : start + size], sds, rng)
        start += size
        for name, entries in family.entries.items():
            values[name][..., entries] = effects_of_cells[name]
    if layout.single:
        values[layout.single] = kept[..., start:][..., np.argsort(design.index[layout.single])]
    for name in spec.location_parameters():
        values[name] = values[name] + float(spec.parameters[name].args["mu"])
    drawn = {"posterior": parameter_dataset(design, values, len(kept)), "sample_stats": stats}
    return xr.DataTree.from_dict({name: thinned(part, times) for name, part in drawn.items()})


@kernel.compiled
def _density(
    integers: np.ndarray, reals: np.ndarray, at: np.ndarray, grad: np.ndarray, out: np.ndarray
) -> float:
    """Return the log density at a point and write its gradient; write the draw if `out` has room.

    A point is the coordinates of the scales, w of the effects, and w of the single rows. A draw is
    the log scales and the effects. What starts with `to_` is a derivative by what follows.
    """

    def whole(k: int) -> np.ndarray:
        return integers[integers[1 + 2 * k] : integers[1 + 2 * k] + integers[2 + 2 * k]]

    def real(k: int) -> np.ndarray:
        return reals[integers[1 + 2 * k] : integers[1 + 2 * k] + integers[2 + 2 * k]]

    cell, index, row_scale, code, n_cells = whole(0), whole(1), whole(2), whole(3), whole(4)[0]
    y, trials, offset, weight, share, fixed = real(5), real(6), real(7), real(8), real(9), real(10)
    center, root, pull, row_root, working = real(11), real(12), real(13), real(14), real(15)
    a, b, log_m = real(16), real(17), real(18)
    precision, row_precision, width_at_pilot, row_width = real(19), real(20), real(21), real(22)
    n_scales, n_effects, rows = code.shape[0], fixed.shape[0], y.shape[0]
    columns, families = index.shape[0] // n_cells, cell.shape[0] // rows
    single = at.shape[0] > n_scales + n_effects

    # Scales.
    theta, slope, bend = np.empty(n_scales), np.empty(n_scales), np.empty(n_scales)
    value = kernel.logs_of_coordinates(at[:n_scales] + AT_MODE, log_m, theta, slope, bend)
    if not math.isfinite(value):
        return -math.inf
    sd, to_sd, to_log = np.exp(theta), np.zeros(n_scales), np.zeros(n_scales)

    # Effects: z = g (c + L w), and their SDs. `gain` is minus the slope of log g by the log SD.
    matrix = root.reshape((n_effects, n_effects))
    z = center + matrix @ at[n_scales : n_scales + n_effects]
    part = share.reshape((n_effects, n_scales)) * sd**2  # of variances
    scale, width, gain = np.empty(n_effects), np.empty(n_effects), np.empty(n_effects)
    for j in range(n_effects):
        variance = fixed[j]
        for k in range(n_scales):
            variance += part[j, k]
        scale[j] = math.sqrt(variance)
        ratio = precision[j] * variance
        gain[j] = ratio / (1.0 + ratio)
        width[j] = width_at_pilot[j] / math.sqrt(1.0 + ratio)
        z[j] *= width[j]
        value += math.log(width[j]) - 0.5 * z[j] * z[j]
    effect = scale * z
    if out.shape[0] > 0:
        out[:n_scales] = theta
        out[n_scales : n_scales + n_effects] = effect

    # Log odds of rows, first without the effects of single rows. An effect enters cells, and each
    # row is in one cell of each family.
    of_cells, smooth, error = np.zeros(n_cells), np.zeros(rows), np.empty(rows)
    for t in range(columns):
        for c in range(n_cells):
            of_cells[c] += weight[t * n_cells + c] * effect[index[t * n_cells + c]]
    for t in range(families):
        for r in range(rows):
            smooth[r] += of_cells[cell[t * rows + r]]

    # The likelihood. `error` becomes the derivative by the log odds without the single effect.
    for r in range(rows):
        z_row, row_sd, shrink, row_gain = 0.0, 0.0, 1.0, 0.0
        if single:
            place = n_scales + n_effects + r
            row_sd = sd[row_scale[r]]
            ratio = row_precision[r] * row_sd * row_sd
            row_gain = ratio / (1.0 + ratio)
            shrink = row_width[r] / math.sqrt(1.0 + ratio)
            z_row = shrink * (pull[r] * (working[r] - smooth[r]) + row_root[r] * at[place])
            value += math.log(shrink) - 0.5 * z_row * z_row
            if out.shape[0] > 0:
                out[place] = row_sd * z_row
        eta = offset[r] + smooth[r] + row_sd * z_row
        odds = math.exp(-abs(eta))
        p = (1.0 if eta > 0 else odds) / (1.0 + odds)
        value += y[r] * eta - trials[r] * (max(eta, 0.0) + math.log1p(odds))
        error[r] = y[r] - trials[r] * p
        if single:
            to_z_row = error[r] * row_sd - z_row
            to_sd[row_scale[r]] += error[r] * z_row
            to_log[row_scale[r]] -= row_gain * (z_row * to_z_row + 1.0)
            grad[place] = shrink * row_root[r] * to_z_row
            error[r] -= shrink * pull[r] * to_z_row

    # Back from the rows to the cells, the effects, and their SDs.
    to_cells, to_z = np.zeros(n_cells), np.zeros(n_effects)
    for t in range(families):
        for r in range(rows):
            to_cells[cell[t * rows + r]] += error[r]
    for t in range(columns):
        for c in range(n_cells):
            to_z[index[t * n_cells + c]] += weight[t * n_cells + c] * to_cells[c]
    to_z *= scale
    for j in range(n_effects):
        by_log = to_z[j] * z[j]  # of the effect: by the logarithm of its own standard deviation
        to_z[j] -= z[j]
        by_log -= gain[j] * (z[j] * to_z[j] + 1.0)
        for k in range(n_scales):
            to_log[k] += by_log * part[j, k] / scale[j] ** 2
    grad[n_scales : n_scales + n_effects] = matrix.T @ (to_z * width)

    # Priors of the scales, and their coordinates.
    for k in range(n_scales):
        shape, first = kernel.prior_shape(code[k], a[k], b[k], sd[k], theta[k])
        value += shape + theta[k]
        grad[k] = ((first + to_sd[k]) * sd[k] + to_log[k] + 1.0) * slope[k] + bend[k]
    return value


@kernel.callback(kernel.LOGP)
def logp_of_counts(n, at_at, grad_at, value_at, data):
    """Write log density and gradient at a point of the sampler."""
    integers, reals = kernel.unpacked(data)
    grad = carray(grad_at, (n,))
    value = _density(integers, reals, carray(at_at, (n,)), grad, np.empty(0))
    return kernel.reported(value, grad, value_at)


@kernel.callback(kernel.EXPAND)
def expand_counts(n, expanded, at_at, out_at, data):
    """Write the log scales and effects of a point, which are the draw that is kept."""
    integers, reals = kernel.unpacked(data)
    _density(integers, reals, carray(at_at, (n,)), np.empty(n), carray(out_at, (n,)))
    return 0
