"""The compiled log-density at many values of the scales, side by side; and what proposals are drawn by.

The same numbers as `bayesbias.inference.kernel.log_density` by another order of work. Inner loops run over values of the
scales, by a number that the compiler does not know: loops of a fixed few it would unroll, and check each step for arrays
that overlap, at three times the cost. Of symmetric matrices the lower triangle is kept, row by row.
"""

from __future__ import annotations

import math

import numpy as np

from bayesbias.inference.kernel import FARTHEST, LOG_2PI, largest_of, prior_shape
from bayesbias.inference.kernel_compiling import compiled

_MOST_LANES = 64
_FEWEST_LANES = 8
_CELLS = 2**16  # of numbers that stay near the processor


@compiled
def lanes_of(cells: int) -> int:
    """Return how many values of the scales to work on side by side, where each needs so many cells of a matrix."""
    return max(_FEWEST_LANES, min(_MOST_LANES, _CELLS // max(cells, 1)))


@compiled
def _begin(var: np.ndarray, coef: np.ndarray, constants: np.ndarray, inc_coef: np.ndarray) -> None:
    """Write what is the same at all values of the scales: constant variances, and coefficients without a factor."""
    n_theta = var.shape[0] - constants.shape[0]
    for t in range(constants.shape[0]):
        var[n_theta + t] = constants[t]
    for x in range(inc_coef.shape[0]):
        coef[x] = inc_coef[x]


@compiled
def _times_factors(
    coef: np.ndarray, scale: np.ndarray, lanes: int, inc_coef: np.ndarray, inc_factor: np.ndarray
) -> None:
    """Write the coefficients that a factor multiplies."""
    for x in range(inc_coef.shape[0]):
        t = inc_factor[x]
        if t >= 0:
            c = inc_coef[x]
            mine, other = coef[x], scale[t]
            for k in range(lanes):
                mine[k] = c * other[k]


@compiled
def _fill(
    low: np.ndarray,
    data: np.ndarray,
    var: np.ndarray,
    coef: np.ndarray,
    work: np.ndarray,
    lanes: int,
    obs_var: np.ndarray,
    half: np.ndarray,
    eff_var: np.ndarray,
    eff_ptr: np.ndarray,
    inc_obs: np.ndarray,
) -> None:
    """Write the covariance of a component, and the root of its data beside it."""
    m = obs_var.shape[0]
    width = half.shape[0] // m
    low[: m * (m + 1) // 2] = 0.0
    for i in range(m):
        own, cell = var[obs_var[i]], low[i * (i + 1) // 2 + i]
        for k in range(lanes):
            cell[k] = own[k]
        for c in range(width):
            cell = data[i * width + c]
            a = half[i * width + c]
            for k in range(lanes):
                cell[k] = a
    for e in range(eff_var.shape[0]):
        own = var[eff_var[e]]
        for x in range(eff_ptr[e], eff_ptr[e + 1]):
            mine = coef[x]
            for k in range(lanes):
                work[k] = own[k] * mine[k]
            for y in range(eff_ptr[e], x + 1):
                a, b = max(inc_obs[x], inc_obs[y]), min(inc_obs[x], inc_obs[y])
                cell, other = low[a * (a + 1) // 2 + b], coef[y]
                for k in range(lanes):
                    cell[k] += work[k] * other[k]


@compiled
def log_densities(
    thetas: np.ndarray,
    scales: np.ndarray,
    prior_code: np.ndarray,
    prior_a: np.ndarray,
    prior_b: np.ndarray,
    prior_c: np.ndarray,
    constants: np.ndarray,
    comp_m: np.ndarray,
    comp_nu: np.ndarray,
    comp_obs: np.ndarray,
    comp_half: np.ndarray,
    comp_eff: np.ndarray,
    obs_var: np.ndarray,
    halves: np.ndarray,
    eff_var: np.ndarray,
    eff_ptr: np.ndarray,
    inc_obs: np.ndarray,
    inc_coef: np.ndarray,
    inc_factor: np.ndarray,
    out: np.ndarray,
) -> None:
    """Write what `log_density` returns for each row of `thetas`, without gradients; `scales` are their exponentials.

    Of each covariance only its Cholesky factor is needed.
    """
    n, n_theta = thetas.shape
    n_var = n_theta + constants.shape[0]
    largest, widest = largest_of(comp_m, comp_half)
    most = lanes_of(largest * (largest + 1) // 2)
    var = np.empty((n_var, most))
    scale = np.empty((n_theta, most))
    coef = np.empty((inc_coef.shape[0], most))
    low = np.empty((largest * (largest + 1) // 2, most))
    data = np.empty((largest * widest, most))
    total = np.empty(most)
    product = np.empty(most)
    work = np.empty(most)
    ratio = np.empty(most)
    bad = np.empty(most, dtype=np.bool_)
    _begin(var, coef, constants, inc_coef)
    for first in range(0, n, most):
        lanes = min(most, n - first)
        for k in range(lanes):
            total[k] = 0.0
            bad[k] = False
        for t in range(n_theta):
            own, square = scale[t], var[t]
            for k in range(lanes):
                row = first + k
                at = thetas[row, t]
                s = scales[row, t]
                if not abs(at) < FARTHEST:
                    bad[k] = True
                    s = 1.0
                own[k] = s
                square[k] = s * s
                work[k] = at
            if prior_code[t] == 0:
                a, c = prior_a[t], prior_c[t]
                for k in range(lanes):
                    total[k] += c - a * own[k] + work[k]
            else:
                for k in range(lanes):
                    shape = prior_shape(prior_code[t], prior_a[t], prior_b[t], own[k], work[k])[0]
                    total[k] += prior_c[t] + shape + work[k]
        _times_factors(coef, scale, lanes, inc_coef, inc_factor)
        for j in range(comp_m.shape[0]):
            m = comp_m[j]
            nu = comp_nu[j]
            o = comp_obs[j]
            g = comp_half[j]
            width = (comp_half[j + 1] - g) // m
            first_effect, end = comp_eff[j], comp_eff[j + 1]
            _fill(
                low,
                data,
                var,
                coef,
                work,
                lanes,
                obs_var[o : o + m],
                halves[g : comp_half[j + 1]],
                eff_var[first_effect:end],
                eff_ptr[first_effect : end + 1],
                inc_obs,
            )
            # V = LDL', a column of LD where it was; and the rows of L^-1 F as they come.
            for k in range(lanes):
                product[k] = 1.0
            for r in range(m):
                pivot = low[r * (r + 1) // 2 + r]
                far = False
                for k in range(lanes):
                    if not pivot[k] > 0.0:
                        bad[k] = True
                        pivot[k] = 1.0
                    work[k] = 1.0 / pivot[k]
                    product[k] *= pivot[k]
                    far |= not (1e-100 < product[k] < 1e100)
                if far or r == m - 1:  # one logarithm for as many as are in the range of floating point
                    for k in range(lanes):
                        if r == m - 1 or not (1e-100 < product[k] < 1e100):
                            total[k] -= 0.5 * nu * math.log(product[k])
                            product[k] = 1.0
                for c in range(width):
                    mine = data[r * width + c]
                    for k in range(lanes):
                        total[k] -= 0.5 * mine[k] * mine[k] * work[k]
                for i in range(r + 1, m):
                    at = i * (i + 1) // 2
                    left = low[at + r]
                    for k in range(lanes):
                        ratio[k] = left[k] * work[k]
                    for q in range(r + 1, i + 1):
                        cell, other = low[at + q], low[q * (q + 1) // 2 + r]
                        for k in range(lanes):
                            cell[k] -= ratio[k] * other[k]
                    for c in range(width):
                        cell, mine = data[i * width + c], data[r * width + c]
                        for k in range(lanes):
                            cell[k] -= ratio[k] * mine[k]
            for k in range(lanes):
                total[k] -= 0.5 * nu * m * LOG_2PI
        for k in range(lanes):
            out[first + k] = -math.inf if bad[k] else total[k]


@compiled
def log_gradients(
    thetas: np.ndarray,
    scales: np.ndarray,
    prior_code: np.ndarray,
    prior_a: np.ndarray,
    prior_b: np.ndarray,
    prior_c: np.ndarray,
    constants: np.ndarray,
    comp_m: np.ndarray,
    comp_nu: np.ndarray,
    comp_obs: np.ndarray,
    comp_half: np.ndarray,
    comp_eff: np.ndarray,
    obs_var: np.ndarray,
    halves: np.ndarray,
    eff_var: np.ndarray,
    eff_ptr: np.ndarray,
    inc_obs: np.ndarray,
    inc_coef: np.ndarray,
    inc_factor: np.ndarray,
    out: np.ndarray,
) -> None:
    """Write the gradient that `log_density` has at each row of `thetas`; `scales` are their exponentials.

    No numbers where `thetas` leave the range of floating point.
    """
    n, n_theta = thetas.shape
    n_var = n_theta + constants.shape[0]
    largest, widest = largest_of(comp_m, comp_half)
    size = largest * (largest + 1) // 2
    most = max(1, min(n, lanes_of(3 * size)))
    var, scale = np.empty((n_var, most)), np.empty((n_theta, most))
    by_var, by_factor = np.empty((n_var, most)), np.empty((n_theta, most))
    coef = np.empty((inc_coef.shape[0], most))
    low, tri, inv = np.empty((size, most)), np.empty((size, most)), np.empty((size, most))
    data, half = np.empty((largest * widest, most)), np.empty((largest * widest, most))
    work, term = np.empty(most), np.empty(most)
    _begin(var, coef, constants, inc_coef)
    for first in range(0, n, most):
        lanes = min(most, n - first)
        by_var[:] = 0.0
        by_factor[:] = 0.0
        for t in range(n_theta):
            for k in range(lanes):
                s = scales[first + k, t]
                scale[t, k] = s
                var[t, k] = s * s
        _times_factors(coef, scale, lanes, inc_coef, inc_factor)
        for j in range(comp_m.shape[0]):
            m = comp_m[j]
            nu = comp_nu[j]
            o = comp_obs[j]
            g = comp_half[j]
            width = (comp_half[j + 1] - g) // m
            first_effect, end = comp_eff[j], comp_eff[j + 1]
            _fill(
                low,
                data,
                var,
                coef,
                work,
                lanes,
                obs_var[o : o + m],
                halves[g : comp_half[j + 1]],
                eff_var[first_effect:end],
                eff_ptr[first_effect : end + 1],
                inc_obs,
            )
            # V = LL'; the diagonal holds one over that of L.
            for r in range(m):
                pivot = low[r * (r + 1) // 2 + r]
                for k in range(lanes):
                    pivot[k] = 1.0 / math.sqrt(pivot[k]) if pivot[k] > 0.0 else math.nan
                for i in range(r + 1, m):
                    left = low[i * (i + 1) // 2 + r]
                    for k in range(lanes):
                        left[k] *= pivot[k]
                for i in range(r + 1, m):
                    at = i * (i + 1) // 2
                    left = low[at + r]
                    for q in range(r + 1, i + 1):
                        cell, other = low[at + q], low[q * (q + 1) // 2 + r]
                        for k in range(lanes):
                            cell[k] -= left[k] * other[k]
            # The inverse of L, and with it that of V and V^-1 F.
            for i in range(m):
                at = i * (i + 1) // 2
                inverse = low[at + i]
                for c in range(i):
                    cell = tri[at + c]
                    cell[:lanes] = 0.0
                    for r in range(c, i):
                        left, other = low[at + r], tri[r * (r + 1) // 2 + c]
                        for k in range(lanes):
                            cell[k] -= left[k] * other[k]
                    for k in range(lanes):
                        cell[k] *= inverse[k]
                cell = tri[at + i]
                for k in range(lanes):
                    cell[k] = inverse[k]
            for i in range(m):
                for c in range(i + 1):
                    cell = inv[i * (i + 1) // 2 + c]
                    cell[:lanes] = 0.0
                    for r in range(i, m):
                        left, other = tri[r * (r + 1) // 2 + i], tri[r * (r + 1) // 2 + c]
                        for k in range(lanes):
                            cell[k] += left[k] * other[k]
            for i in range(m):
                for c in range(width):
                    cell = half[i * width + c]
                    cell[:lanes] = 0.0
                    for r in range(m):
                        left = inv[max(i, r) * (max(i, r) + 1) // 2 + min(i, r)]
                        other = data[r * width + c]
                        for k in range(lanes):
                            cell[k] += left[k] * other[k]
            # d logp / dV = -(nu V^-1 - V^-1 G V^-1) / 2
            for i in range(m):
                for r in range(i + 1):
                    cell = inv[i * (i + 1) // 2 + r]
                    for k in range(lanes):
                        cell[k] *= -0.5 * nu
                    for c in range(width):
                        one, other = half[i * width + c], half[r * width + c]
                        for k in range(lanes):
                            cell[k] += 0.5 * one[k] * other[k]
            for i in range(m):
                cell, own = inv[i * (i + 1) // 2 + i], by_var[obs_var[o + i]]
                for k in range(lanes):
                    own[k] += cell[k]
            for e in range(first_effect, end):
                own, spread = by_var[eff_var[e]], var[eff_var[e]]
                for x in range(eff_ptr[e], eff_ptr[e + 1]):
                    for y in range(eff_ptr[e], x + 1):
                        a, b = max(inc_obs[x], inc_obs[y]), min(inc_obs[x], inc_obs[y])
                        cell, mine, other = inv[a * (a + 1) // 2 + b], coef[x], coef[y]
                        twice = 1.0 if x == y else 2.0
                        for k in range(lanes):
                            term[k] = twice * mine[k] * other[k] * cell[k]
                            own[k] += term[k]
                        for factor in (inc_factor[x], inc_factor[y]):
                            if factor >= 0:
                                its = by_factor[factor]
                                for k in range(lanes):
                                    its[k] += spread[k] * term[k]
        for t in range(n_theta):
            for k in range(lanes):
                s = scale[t, k]
                slope = prior_shape(prior_code[t], prior_a[t], prior_b[t], s, thetas[first + k, t])[1]
                out[first + k, t] = slope * s + 1.0 + 2.0 * var[t, k] * by_var[t, k] + by_factor[t, k]


@compiled
def quantiles(
    z: np.ndarray,
    shapes: np.ndarray,
    left: np.ndarray,
    right: np.ndarray,
    out: np.ndarray,
    slopes: np.ndarray,
) -> None:
    """Write for each row of `z` its quantile function, and the sum of the logarithms of its slopes for each column.

    ``shapes[k]`` holds level and slope, then what is bent to the left of each of `left` and to the right of each of
    `right`, in squares of the distance; all but the level are at least zero. See `bayesbias.inference.proposals`.
    """
    size, n = z.shape
    n_left = left.shape[0]
    product = np.ones(_MOST_LANES)
    slope = np.empty(_MOST_LANES)
    for first in range(0, n, _MOST_LANES):
        lanes = min(_MOST_LANES, n - first)
        total = slopes[first : first + lanes]
        total[:] = 0.0
        for k in range(size):
            at, value = z[k, first : first + lanes], out[k, first : first + lanes]
            level, line = shapes[k, 0], shapes[k, 1]
            for i in range(lanes):
                value[i] = level + line * at[i]
                slope[i] = line
            for c in range(n_left):
                place, bend = left[c], shapes[k, 2 + c]
                if bend > 0.0:
                    for i in range(lanes):
                        by = min(at[i] - place, 0.0)
                        value[i] -= bend * by * by
                        slope[i] -= 2.0 * bend * by
            for c in range(right.shape[0]):
                place, bend = right[c], shapes[k, 2 + n_left + c]
                if bend > 0.0:
                    for i in range(lanes):
                        by = max(at[i] - place, 0.0)
                        value[i] += bend * by * by
                        slope[i] += 2.0 * bend * by
            far = k == size - 1
            for i in range(lanes):
                product[i] *= slope[i]
                far |= not 1e-100 < product[i] < 1e100
            if far:  # one logarithm for as many factors as are in the range of floating point
                for i in range(lanes):
                    if k == size - 1 or not 1e-100 < product[i] < 1e100:
                        total[i] += math.log(product[i])
                        product[i] = 1.0
