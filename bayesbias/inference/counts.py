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
`bayesbias.inference.build` states the same model in PyMC.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numba import carray

from bayesbias.core.workers import one_thread_of_blas
from bayesbias.inference import kernel
from bayesbias.inference.diagnostics import MAX_R_HAT, MIN_ESS_PER_CHAIN, r_hat_and_ess
from bayesbias.inference.likelihood import NotCollapsible, check_priors, prior_arrays
from bayesbias.inference.sampling import AT_MODE, LONG_RUN, nuts, parameter_dataset, thinned
from bayesbias.models.design import Design

if TYPE_CHECKING:
    import xarray as xr

_ROUNDS = 60
COUNTS_TARGET_ACCEPT, COUNTS_TARGET_OF_FEW = 0.95, 0.97
_MANY = 200  # effects
COUNTS_TARGET_AGAIN = 0.995  # where a step diverged or chains mixed slowly
_LONGER = 2  # times as many draws, of which each second is kept
_LEAST, _LEAST_MODE, _LEAST_WEIGHT = 0.05, 0.4, 1e-3
_MOST_TOGETHER = 2000  # effects whose axes are a matrix
_WHOLE = (0, 1, 2, 3, 4)


@dataclass(frozen=True, eq=False)
class Layout:
    r"""A binomial model as arrays.

    Where G groups have an effect each within what they share (``group by template`` within
    ``template``), data tell the mean over groups and the deviations from it, not the two effects.
    So these are sampled: means with the variance :math:`\sigma_A^2 + \sigma_B^2 / G`, and
    deviations along G - 1 orthonormal contrasts.

    Attributes
    ----------
    terms : tuple of str
        The parameters whose effects are sampled as they are; these come first.
    pairs : tuple of (str, str, ndarray)
        The shared parameter, that of groups within it, and entries of the latter, shape (shared,
        G).
    single : str
        The parameter with an effect for each row; empty if there is none.
    scales : tuple of str
    index : ndarray of int, shape (columns, rows)
        The effects that enter the log odds of each row.
    weight : ndarray, shape (columns, rows)
        Their weights.
    scale_of, second_of : ndarray of int, shape (effects,)
        The scales A and B of each effect, or -1: its variance is that of A plus `share` times that
        of B.
    share, fixed : ndarray, shape (effects,)
        `fixed` is the standard deviation of effects without a scale.
    row_scale : ndarray of int, shape (rows,)
        The scale of the effects of single rows; -1 where there are none.
    offset : ndarray, shape (rows,)
    """

    terms: tuple[str, ...]
    pairs: tuple[tuple[str, str, np.ndarray], ...]
    single: str
    scales: tuple[str, ...]
    index: np.ndarray
    weight: np.ndarray
    scale_of: np.ndarray
    second_of: np.ndarray
    share: np.ndarray
    fixed: np.ndarray
    row_scale: np.ndarray
    offset: np.ndarray

    @classmethod
    def of(cls, design: Design) -> Layout | None:
        """Return the arrays of a model; None if only PyMC samples its form."""
        spec, n = design.spec, len(design.y)
        scales = tuple(spec.scales())
        starts = dict(zip(scales, np.cumsum([0, *map(design.size, scales)]), strict=False))
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
        if not plain:
            return None
        singles = [
            name for name in spec.mu
            if spec.is_random(name) and design.size(name) == n == len(np.unique(design.index[name]))
        ]  # fmt: skip
        single = singles[-1] if singles else ""
        pairs = _pairs_of(design, single)
        paired = {name for pair in pairs for name in pair[:2]}
        terms = tuple(name for name in spec.mu if name != single and name not in paired)
        if sum(design.size(name) for name in {*terms, *paired}) > _MOST_TOGETHER:
            return None
        # Of each block of effects: entry and weight of each row, size, both scales, share, fixed SD.
        blocks: list[tuple[Any, ...]] = []
        for name in terms:
            sigma = spec.parameters[name].args["sigma"]
            fixed_sd = not isinstance(sigma, str)
            first = -1 if fixed_sd else starts[str(sigma)] + design.parent[name, "sigma"]
            sd = float(sigma) if fixed_sd else 0.0
            blocks.append((design.index[name], np.ones(n), design.size(name), first, -1, 0.0, sd))
        for shared, within, children in pairs:
            a, b = (starts[str(spec.parameters[name].args["sigma"])] for name in (shared, within))
            rows, (size, groups) = design.index[shared], children.shape
            blocks.append((rows, np.ones(n), size, a, b, 1 / groups, 0.0))
            place = np.zeros(design.size(within), dtype=np.int64)
            place[children] = np.arange(groups)
            blocks += [
                (rows, contrast[place[design.index[within]]], size, b, -1, 0.0, 0.0)
                for contrast in _contrasts(groups).T
            ]
        sizes = [block[2] for block in blocks]
        before = np.cumsum([0, *sizes[:-1]])
        scale_of, second_of, share, fixed = (
            np.concatenate([np.broadcast_to(block[k], block[2]) for block in blocks])
            for k in (3, 4, 5, 6)
        )
        row_scale = np.full(n, -1)
        if single:
            sigma = str(spec.parameters[single].args["sigma"])
            row_scale = starts[sigma] + design.parent[single, "sigma"][design.index[single]]
        offset = np.full(n, sum(float(spec.parameters[name].args["mu"]) for name in spec.mu))
        return cls(
            terms, pairs, single, scales,
            np.stack([block[0] + start for block, start in zip(blocks, before, strict=True)]),
            np.stack([block[1] for block in blocks]),
            scale_of, second_of, share, fixed, row_scale, offset,
        )  # fmt: skip

    def sds(self, sd: np.ndarray) -> np.ndarray:
        """Return the standard deviations of the effects, for scales of shape (..., scales)."""
        first = np.where(self.scale_of < 0, self.fixed, sd[..., self.scale_of])
        return np.sqrt(
            first**2 + self.share * np.where(self.second_of < 0, 0.0, sd[..., self.second_of]) ** 2
        )


def _contrasts(groups: int) -> np.ndarray:
    """Return orthonormal contrasts, shape (groups, groups - 1)."""
    return np.linalg.svd(np.eye(groups) - 1 / groups)[0][:, : groups - 1]


def _pairs_of(design: Design, single: str) -> tuple[tuple[str, str, np.ndarray], ...]:
    """Return pairs of effects, the second with one entry for each group within those of the first.

    An effect is in one pair at most.
    """
    spec, found = design.spec, []
    random = {name: spec.parameters[name] for name in spec.mu if spec.is_random(name)}
    of_one_sd = [name for name, own in random.items() if design.size(str(own.args["sigma"])) == 1]
    for shared, within in itertools.permutations(of_one_sd, 2):
        nested = {*random[shared].dims} < {*random[within].dims} and single not in (shared, within)
        both = np.unique(np.stack([design.index[shared], design.index[within]]), axis=1)
        groups = design.size(within) // design.size(shared)
        full = both.shape[1] == design.size(within) == groups * design.size(shared)
        if nested and groups > 1 and full:
            found.append((groups, shared, within, both[1].reshape(-1, groups)))
    out: list[tuple[str, str, np.ndarray]] = []
    taken: set[str] = set()
    # Few groups come first: their mean varies most.
    for _, shared, within, children in sorted(found, key=lambda each: each[0]):
        if not taken & {shared, within}:
            out.append((shared, within, children))
            taken |= {shared, within}
    return tuple(out)


def pilot(design: Design, layout: Layout) -> dict[str, np.ndarray]:
    """Find scales and effects near the mode, and the normal distribution of the effects there."""
    y, n = design.y, np.asarray(design.trials, dtype=float)
    rows, q = len(y), len(layout.scale_of)
    x = np.zeros((rows, q))
    x[np.arange(rows)[None, :], layout.index] = layout.weight
    sizes = sum(design.size(name) for name in layout.scales)
    sd = np.ones(sizes)
    eta = np.log((y + 0.5) / (n - y + 0.5))
    for _ in range(_ROUNDS):
        p = 1 / (1 + np.exp(-eta))
        w = np.maximum(n * p * (1 - p), _LEAST_WEIGHT)
        working = eta + np.clip((y - n * p) / w, -5, 5) - layout.offset
        scale = layout.sds(sd)
        row_sd = np.where(layout.row_scale < 0, 0.0, sd[layout.row_scale])
        v = 1 / w + row_sd**2
        xd = x * scale
        inverse = np.linalg.inv(xd.T @ (xd / v[:, None]) + np.eye(q))
        center = inverse @ (xd.T @ (working / v))
        smooth = xd @ center
        left = row_sd**2 / v * (working - smooth)
        eta = layout.offset + smooth + left
        squares = scale**2 * (center**2 + np.diag(inverse))
        row_squares = left**2 + row_sd**2 * (1 - row_sd**2 / v)
        new = sd.copy()
        # The second scale of effects with two is that of the round before.
        for k in range(sizes):
            mine, its, two = layout.scale_of == k, layout.row_scale == k, layout.second_of >= 0
            total, count = squares[mine].sum() + row_squares[its].sum(), mine.sum() + its.sum()
            total -= (layout.share * sd[layout.second_of] ** 2)[mine & two].sum()
            new[k] = math.sqrt(max(total / count, _LEAST**2)) if count else sd[k]
        sd = new
    kept = w * row_sd / (1 + w * row_sd**2)
    of_data = np.maximum(1 / np.diag(inverse) - 1, 0) / scale**2
    precision = np.where(layout.scale_of < 0, 0.0, of_data)
    return {
        "center": center, "root": np.linalg.cholesky(inverse), "k": kept, "wide": 1 / np.sqrt(1 + w * row_sd**2),
        "working": working, "log_m": np.log(np.maximum(sd, _LEAST_MODE)), "precision": precision, "row_precision": w,
        "wider": 0.5 * np.log1p(precision * scale**2), "row_wider": 0.5 * np.log1p(w * row_sd**2),
    }  # fmt: skip


def sample_counts(design: Design, settings: dict[str, Any], cores: int) -> xr.DataTree | None:
    """Sample a binomial model over sorted rows; return None if only PyMC samples its form.

    If a step diverged, or scales and means mix slowly, it is sampled once more: longer, by smaller
    steps. If a long run mixes slowly in any effect, it is sampled once more: longer.
    """
    layout = Layout.of(design)
    if layout is None:
        return None

    def run(target: float, times: int) -> xr.DataTree:
        settings["target_accept"], settings["thin"] = target, times
        return _sampled(design, layout, settings, cores)

    asked = settings["target_asked"]
    usual = COUNTS_TARGET_ACCEPT if len(layout.scale_of) > _MANY else COUNTS_TARGET_OF_FEW
    out = run(asked or usual, 1)
    if asked:
        return out
    few = [name for name in design.spec.mu if not design.spec.is_random(name)]
    main = {*layout.scales, *few}
    mixing = {name: _mixing(values) for name, values in out["posterior"].data_vars.items()}
    r_hat, ess = (max(mixing[name][0] for name in main), min(mixing[name][1] for name in main))
    least = min(MIN_ESS_PER_CHAIN, settings["draws"] / 5) * settings["chains"]
    if out["sample_stats"]["diverging"].any() or r_hat > MAX_R_HAT or ess < least:
        return run(COUNTS_TARGET_AGAIN, _LONGER)
    of_all = max(r_hat for r_hat, _ in mixing.values())
    if settings["draws"] >= LONG_RUN and of_all >= MAX_R_HAT:
        return run(usual, _LONGER)
    return out


def _mixing(values: xr.DataArray) -> tuple[float, float]:
    """Return the largest R-hat, of chains that have one, and the fewest effective draws."""
    flat = values.to_numpy().reshape(*values.shape[:2], -1)
    r_hat, ess = (np.nan_to_num(each, nan=np.inf) for each in r_hat_and_ess(flat))
    return r_hat[np.isfinite(r_hat)].max(initial=1.0), ess.min()


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
            layout.index, layout.scale_of, layout.second_of, layout.row_scale, code, design.y,
            np.asarray(design.trials, dtype=float), layout.offset, layout.weight, layout.share, layout.fixed,
            found["center"], found["root"], found["k"], found["wide"], found["working"], *arguments,
            *(found[name] for name in ("log_m", "precision", "row_precision", "wider", "row_wider")),
        ]  # fmt: skip
        scales, effects = len(code), len(layout.scale_of)
        n = scales + effects + (rows if layout.single else 0)
        callbacks = (logp_of_counts, expand_counts)
        data, seed = kernel.packed(arrays, _WHOLE), design.stream(settings["seed"])
        kept, stats = nuts(n, callbacks, data, {**settings, **lengths}, cores, seed)
    values, start = {}, 0
    for name in (*layout.scales, *layout.terms):
        values[name] = kept[..., start : start + design.size(name)]
        start += design.size(name)
    for name in layout.scales:
        values[name] = np.exp(values[name])
    rng = np.random.default_rng([seed, 7])
    for shared, within, children in layout.pairs:
        size, groups = children.shape
        parts = kept[..., start : start + size * groups].reshape(*kept.shape[:2], groups, size)
        start += size * groups
        sds = (str(spec.parameters[name].args["sigma"]) for name in (shared, within))
        a, b = (values[sd][..., 0, None] for sd in sds)
        part = a**2 / (a**2 + b**2 / groups)  # of a mean over groups that is what they share
        noise = np.sqrt(part * b**2 / groups) * rng.standard_normal(parts[..., 0, :].shape)
        values[shared] = part * parts[..., 0, :] + noise
        apart = np.einsum("gk,cdks->cdsg", _contrasts(groups), parts[..., 1:, :])
        values[within] = np.empty((*kept.shape[:2], size * groups))
        values[within][..., children] = apart + (parts[..., 0, :] - values[shared])[..., None]
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

    index, scale_of, second_of = whole(0), whole(1), whole(2)
    row_scale, code = whole(3), whole(4)
    y, trials, offset, weight, share, fixed = real(5), real(6), real(7), real(8), real(9), real(10)
    center, root, pull, wide, working = real(11), real(12), real(13), real(14), real(15)
    a, b, log_m = real(16), real(17), real(18)
    precision, row_precision, wider, row_wider = real(19), real(20), real(21), real(22)
    n_scales, n_effects, rows = code.shape[0], scale_of.shape[0], y.shape[0]
    terms, single = index.shape[0] // rows, at.shape[0] > code.shape[0] + scale_of.shape[0]
    theta, slope, bend = np.empty(n_scales), np.empty(n_scales), np.empty(n_scales)
    value = kernel.logs_of_coordinates(at[:n_scales] + AT_MODE, log_m, theta, slope, bend)
    if not math.isfinite(value):
        return -math.inf
    sd, to_sd, to_log = np.exp(theta), np.zeros(n_scales), np.zeros(n_scales)
    matrix = root.reshape((n_effects, n_effects))
    z = center + matrix @ at[n_scales : n_scales + n_effects]
    scale, width, gain = fixed.copy(), np.ones(n_effects), np.zeros(n_effects)
    for j in range(n_effects):
        if scale_of[j] >= 0:
            square = sd[scale_of[j]] ** 2
            if second_of[j] >= 0:
                square += share[j] * sd[second_of[j]] ** 2
            scale[j] = math.sqrt(square)
            ratio = precision[j] * square
            gain[j] = ratio / (1.0 + ratio)
            away = 0.5 * math.log1p(ratio) - wider[j]
            width[j] = math.exp(-away)
            z[j] *= width[j]
            value -= away
        value -= 0.5 * z[j] * z[j]
    if out.shape[0] > 0:
        out[:n_scales] = theta
        out[n_scales : n_scales + n_effects] = scale * z
    to_z = np.zeros(n_effects)
    for r in range(rows):
        smooth = 0.0
        for t in range(terms):
            j = index[t * rows + r]
            smooth += weight[t * rows + r] * scale[j] * z[j]
        z_row, row_sd, away, row_gain = 0.0, 0.0, 0.0, 0.0
        if single:
            place = n_scales + n_effects + r
            row_sd = sd[row_scale[r]]
            ratio = row_precision[r] * row_sd * row_sd
            row_gain = ratio / (1.0 + ratio)
            away = 0.5 * math.log1p(ratio) - row_wider[r]
            z_row = math.exp(-away) * (pull[r] * (working[r] - smooth) + wide[r] * at[place])
            value -= 0.5 * z_row * z_row + away
            if out.shape[0] > 0:
                out[place] = row_sd * z_row
        eta = offset[r] + smooth + row_sd * z_row
        p = 1.0 / (1.0 + math.exp(-eta)) if eta > 0 else math.exp(eta) / (1.0 + math.exp(eta))
        value += y[r] * eta - trials[r] * (max(eta, 0.0) + math.log1p(math.exp(-abs(eta))))
        error = y[r] - trials[r] * p
        if single:
            to_z_row = error * row_sd - z_row
            to_sd[row_scale[r]] += error * z_row
            to_log[row_scale[r]] -= row_gain * (z_row * to_z_row + 1.0)
            to_z_row *= math.exp(-away)
            grad[place] = wide[r] * to_z_row
            error -= pull[r] * to_z_row
        for t in range(terms):
            j = index[t * rows + r]
            to_z[j] += error * scale[j] * weight[t * rows + r]
    for j in range(n_effects):
        by_log = to_z[j] * z[j]  # of the effect: by the logarithm of its own standard deviation
        to_z[j] -= z[j]
        by_log -= gain[j] * (z[j] * to_z[j] + 1.0)
        if scale_of[j] >= 0:
            first = (sd[scale_of[j]] / scale[j]) ** 2
            to_log[scale_of[j]] += by_log * first
            if second_of[j] >= 0:
                to_log[second_of[j]] += by_log * (1.0 - first)
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
