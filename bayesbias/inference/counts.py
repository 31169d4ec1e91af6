r"""Counts with normal effects in log odds: scales and effects sampled together.

Of a count of :math:`n_r` trials the log odds are :math:`\eta = o + X D z + \sigma_q z_q`, with D
the standard deviations of the effects, and :math:`z_q` an effect that each row has for itself. All
z are standard normal (non-centered). They are sampled along the axes of a normal pilot: at the
scales of the pilot, with working responses :math:`\tilde y` and weights W (iteratively reweighted
least squares),

.. math:: z \sim N(c, A^{-1}), \quad A = I + D X^T (W^{-1} + \sigma_q^2)^{-1} X D, \qquad
          z_q \mid \eta_s \sim N(k (\tilde y - \eta_s),\ (1 + W \sigma_q^2)^{-1}),

with :math:`\eta_s` the log odds without :math:`z_q`. At other scales they are wider or narrower,
in proportion to :math:`(1 + I \sigma^2)^{-1/2}`, with I the precision that data give an effect. The
density that is sampled is the exact one, so that the pilot decides over the number of steps alone.
`bayesbias.inference.graph` states the same model in PyMC.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

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
        of_unit = design.index[base] if base else np.zeros(len(design.y), dtype=np.int64)
        labels, unit = np.unique(of_unit, return_inverse=True)
        ranks = [_ranks(unit, design.codes[factor]) for factor in factors]
        levels = [int(rank.max()) + 1 for rank in ranks]
        cells = math.prod(levels)
        cell = np.ravel_multi_index(ranks, levels) if factors else np.zeros_like(unit)
        found, first = np.unique(unit * cells + cell, return_index=True)
        if len(found) < len(labels) * cells or cells > _MOST_CELLS:
            return None
        entries = {name: design.index[name][first].reshape(-1, cells) for name in names}
        varies = {}
        for name, own in entries.items():
            grid = own.reshape(-1, *levels)
            axes = range(len(levels))
            varies[name] = {k for k in axes if (grid.take(0, k + 1) != grid.take(-1, k + 1)).any()}
            if len(np.unique(own)) != len(own) * math.prod(levels[k] for k in varies[name]):
                return None  # units share an effect
        share, contrasts = [], []
        for size in range(len(levels) + 1):
            for block in itertools.combinations(range(len(levels)), size):
                over = {
                    name: 1 / math.prod(levels[k] for k in own.difference(block))
                    for name, own in varies.items() if own.issuperset(block)
                }  # fmt: skip
                if over:
                    weights = np.ones((1, 1))
                    for k, n in enumerate(levels):
                        weights = np.kron(weights, _contrasts(n) if k in block else np.ones((n, 1)))
                    share.append(over)
                    contrasts.append(weights)
        return cls(unit, cell, entries, tuple(share), tuple(contrasts))

    def effects(
        self, drawn: np.ndarray, sds: Mapping[str, np.ndarray], rng: np.random.Generator
    ) -> dict[str, np.ndarray]:
        """Return draws of the effects in each cell, given draws of the blocks.

        A block is a sum of one part of each effect. The parts are drawn independently, and each
        takes its share of what their sum lacks.

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
            variance = {name: part * sds[name][..., None, :] ** 2 for name, part in shares.items()}
            parts = {
                name: np.sqrt(own) * rng.standard_normal(whole.shape)
                for name, own in variance.items()
            }
            lacks = (whole - sum(parts.values())) / sum(variance.values())
            for name, part in parts.items():
                mine = part + variance[name] * lacks
                out[name] = out[name] + np.einsum("gk,cdks->cdsg", contrasts, mine)
        return out


@dataclass(frozen=True, eq=False)
class Layout:
    """A binomial model as arrays.

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
        columns = max(sum(each.shape[1] for each in own.contrasts) for own in families)
        shapes = [next(iter(family.entries.values())).shape for family in families]
        before = np.cumsum([0, *(units * cells for units, cells in shapes)])
        index = np.zeros((columns, before[-1]), dtype=np.int64)
        weight, share, fixed = np.zeros(index.shape), [], []
        cell, place = [], 0
        for family, (units, cells), start in zip(families, shapes, before[:-1], strict=True):
            here, column = np.indices((units, cells)).reshape(2, -1), 0
            cell.append(start + family.unit * cells + family.cell)
            for shares, contrasts in zip(family.share, family.contrasts, strict=True):
                of_scales, of_numbers = np.zeros((units, sum(sizes))), np.zeros(units)
                for name, part in shares.items():
                    sigma = spec.parameters[name].args["sigma"]
                    if isinstance(sigma, str):
                        its = design.parent[name, "sigma"][family.entries[name][:, 0]]
                        of_scales[np.arange(units), starts[sigma] + its] += part
                    else:
                        of_numbers += part * float(sigma) ** 2
                for contrast in contrasts.T:
                    index[column, start : start + units * cells] = place + here[0]
                    weight[column, start : start + units * cells] = contrast[here[1]]
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


def pilot(design: Design, layout: Layout) -> dict[str, np.ndarray]:
    """Find scales and effects near the mode, and the normal distribution of the effects there."""
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
    kept = w * row_sd / (1 + w * row_sd**2)
    of_data = np.maximum(1 / np.diag(inverse) - 1, 0) / scale**2
    precision = np.where(has.any(axis=1), of_data, 0.0)
    return {
        "center": center, "root": np.linalg.cholesky(inverse), "k": kept, "wide": 1 / np.sqrt(1 + w * row_sd**2),
        "working": working, "log_m": np.log(np.maximum(sd, _LEAST_MODE)), "precision": precision, "row_precision": w,
        "width": np.sqrt(1 + precision * scale**2), "row_width": np.sqrt(1 + w * row_sd**2),
    }  # fmt: skip


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
        found = pilot(design, layout)
        code, *arguments = prior_arrays(design)
        arrays = [
            layout.cell, layout.index, layout.row_scale, code, np.array([layout.index.shape[1]]), design.y,
            np.asarray(design.trials, dtype=float), layout.offset, layout.weight, layout.share, layout.fixed,
            found["center"], found["root"], found["k"], found["wide"], found["working"], *arguments,
            *(found[name] for name in ("log_m", "precision", "row_precision", "width", "row_width")),
        ]  # fmt: skip
        scales, effects = len(code), len(layout.fixed)
        n = scales + effects + (rows if layout.single else 0)
        callbacks = (logp_of_counts, expand_counts)
        data, seed = kernel.packed(arrays, _WHOLE), design.stream(settings["seed"])
        kept, stats = nuts(n, callbacks, data, {**settings, **lengths}, cores, seed)
    values, start = {}, 0
    for name in layout.scales:
        values[name] = np.exp(kept[..., start : start + design.size(name)])
        start += design.size(name)
    rng = np.random.default_rng([seed, 7])
    for family in layout.families:
        sds = {}
        for name, own in family.entries.items():
            sigma = spec.parameters[name].args["sigma"]
            if isinstance(sigma, str):
                sd = values[sigma][..., design.parent[name, "sigma"]]
            else:
                sd = np.full(design.size(name), float(sigma))
            # Entries without rows have their prior.
            values[name] = sd * rng.standard_normal((*kept.shape[:2], design.size(name)))
            sds[name] = sd[..., own[:, 0]]
        size = len(own) * sum(each.shape[1] for each in family.contrasts)
        found_in = family.effects(kept[..., start : start + size], sds, rng)
        start += size
        for name, own in family.entries.items():
            values[name][..., own] = found_in[name]
    if layout.single:
        values[layout.single] = kept[..., start:][..., np.argsort(design.index[layout.single])]
    for name in spec.location_parameters():
        values[name] = values[name] + float(spec.parameters[name].args["mu"])
    drawn = {"posterior": parameter_dataset(design, values, len(kept)), "sample_stats": stats}
    return xr.DataTree.from_dict({name: thinned(own, times) for name, own in drawn.items()})


@kernel.compiled
def _density(
    integers: np.ndarray, reals: np.ndarray, at: np.ndarray, grad: np.ndarray, out: np.ndarray
) -> float:
    """Return the log density at a point and write its gradient; write the draw if `out` has room.

    A draw is the log scales and the effects.
    """

    def whole(k: int) -> np.ndarray:
        return integers[integers[1 + 2 * k] : integers[1 + 2 * k] + integers[2 + 2 * k]]

    def real(k: int) -> np.ndarray:
        return reals[integers[1 + 2 * k] : integers[1 + 2 * k] + integers[2 + 2 * k]]

    cell, index, row_scale, code, n_cells = whole(0), whole(1), whole(2), whole(3), whole(4)[0]
    y, trials, offset, weight, share, fixed = real(5), real(6), real(7), real(8), real(9), real(10)
    center, root, pull, wide, working = real(11), real(12), real(13), real(14), real(15)
    a, b, log_m = real(16), real(17), real(18)
    precision, row_precision, at_pilot, row_width = real(19), real(20), real(21), real(22)
    n_scales, n_effects, rows = code.shape[0], fixed.shape[0], y.shape[0]
    columns, families = index.shape[0] // n_cells, cell.shape[0] // rows
    single = at.shape[0] > n_scales + n_effects
    theta, slope, bend = np.empty(n_scales), np.empty(n_scales), np.empty(n_scales)
    value = kernel.logs_of_coordinates(at[:n_scales] + AT_MODE, log_m, theta, slope, bend)
    if not math.isfinite(value):
        return -math.inf
    sd, to_sd, to_log = np.exp(theta), np.zeros(n_scales), np.zeros(n_scales)
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
        width[j] = at_pilot[j] / math.sqrt(1.0 + ratio)
        z[j] *= width[j]
        value += math.log(width[j]) - 0.5 * z[j] * z[j]
    effect = scale * z
    if out.shape[0] > 0:
        out[:n_scales] = theta
        out[n_scales : n_scales + n_effects] = effect
    of_cells, smooth, error = np.zeros(n_cells), np.zeros(rows), np.empty(rows)
    for t in range(columns):
        for c in range(n_cells):
            of_cells[c] += weight[t * n_cells + c] * effect[index[t * n_cells + c]]
    for t in range(families):
        for r in range(rows):
            smooth[r] += of_cells[cell[t * rows + r]]
    for r in range(rows):
        z_row, row_sd, shrink, row_gain = 0.0, 0.0, 1.0, 0.0
        if single:
            place = n_scales + n_effects + r
            row_sd = sd[row_scale[r]]
            ratio = row_precision[r] * row_sd * row_sd
            row_gain = ratio / (1.0 + ratio)
            shrink = row_width[r] / math.sqrt(1.0 + ratio)
            z_row = shrink * (pull[r] * (working[r] - smooth[r]) + wide[r] * at[place])
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
            grad[place] = shrink * wide[r] * to_z_row
            error[r] -= shrink * pull[r] * to_z_row
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
