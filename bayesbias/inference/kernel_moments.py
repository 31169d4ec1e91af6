"""The compiled moments of linear quantities given the scales; see `bayesbias.inference.moments` for what it computes."""

from __future__ import annotations

import math

import numpy as np

from bayesbias.inference.kernel_compiling import compiled
from bayesbias.inference.kernel_lanes import lanes_of


@compiled
def add_moments(
    var: np.ndarray,
    obs_var: np.ndarray,
    eff_var: np.ndarray,
    eff_ptr: np.ndarray,
    inc_obs: np.ndarray,
    inc_coef: np.ndarray,
    inc_factor: np.ndarray,
    data: np.ndarray,
    load_effect: np.ndarray,
    load_factor: np.ndarray,
    by_rows: bool,
    weights: np.ndarray,
    onto: np.ndarray,
    among: np.ndarray,
    pair_first: np.ndarray,
    pair_second: np.ndarray,
    products: np.ndarray,
    mean: np.ndarray,
    variance: np.ndarray,
) -> bool:
    """Add what one component contributes to mean and variance of some quantities, for draws of the variances.

    The component has ``m`` rows with noise variances `obs_var`, and effects with variances `eff_var` and the incidence
    ``eff_ptr, inc_obs, inc_coef, inc_factor`` of `bayesbias.inference.kernel.log_density`. Its data are (m, size). Load l is
    a share that quantities have in effect ``load_effect[l]``, times the scale ``load_factor[l]`` where that is not -1;
    `weights` are (rows, size, loads). Where `by_rows`, each row and position is turned towards the data; else each load is,
    and `onto` (loads, m, rows) and `among` (rows, loads, loads) hold the products of the weights with the data and with each
    other. The pairs ``pair_first, pair_second`` are loads of one effect, with `products` (pairs, rows).

    Returns
    -------
    bool
        False where a covariance is not positive definite in floating point.
    """
    n = var.shape[0]
    m, size = data.shape
    n_rows, n_loads = mean.shape[1], load_effect.shape[0]
    most = max(1, min(n, lanes_of(m * m + m * (size if by_rows else n_loads))))
    low = np.empty((m, m, most))
    turned = np.empty((m, size if by_rows else 1, most))
    vec = np.empty((m, most))
    halves = np.empty((1 if by_rows else n_loads, m, most))
    coef = np.empty((inc_coef.shape[0], most))
    lift = np.empty((n_loads, most))
    work = np.empty(most)
    for begin in range(0, n, most):
        count = min(most, n - begin)
        for x in range(inc_coef.shape[0]):
            for k in range(count):
                coef[x, k] = inc_coef[x]
                if inc_factor[x] >= 0:
                    coef[x, k] *= math.sqrt(var[begin + k, inc_factor[x]])
        for c in range(n_loads):
            for k in range(count):
                lift[c, k] = 1.0 if load_factor[c] < 0 else math.sqrt(var[begin + k, load_factor[c]])
        low[:] = 0.0
        for i in range(m):
            for k in range(count):
                low[i, i, k] = var[begin + k, obs_var[i]]
        for e in range(eff_var.shape[0]):
            for x in range(eff_ptr[e], eff_ptr[e + 1]):
                for k in range(count):
                    work[k] = var[begin + k, eff_var[e]] * coef[x, k]
                for y in range(eff_ptr[e], x + 1):
                    cell, other = low[max(inc_obs[x], inc_obs[y]), min(inc_obs[x], inc_obs[y])], coef[y]
                    for k in range(count):
                        cell[k] += work[k] * other[k]
        # V = LL'; the diagonal holds one over that of L.
        for r in range(m):
            pivot = low[r, r]
            for k in range(count):
                if not pivot[k] > 0.0:
                    return False
                pivot[k] = 1.0 / math.sqrt(pivot[k])
            for i in range(r + 1, m):
                left = low[i, r]
                for k in range(count):
                    left[k] *= pivot[k]
            for i in range(r + 1, m):
                left = low[i, r]
                # Rows below are not divided yet where q = i.
                for q in range(r + 1, i + 1):
                    cell, other = low[i, q], low[q, r]
                    for k in range(count):
                        cell[k] -= left[k] * other[k]
        if by_rows:
            for i in range(m):
                for s in range(size):
                    out = turned[i, s]
                    for k in range(count):
                        out[k] = data[i, s]
                    for r in range(i):
                        left, other = low[i, r], turned[r, s]
                        for k in range(count):
                            out[k] -= left[k] * other[k]
                    for k in range(count):
                        out[k] *= low[i, i, k]
            for q in range(n_rows):
                for s in range(size):
                    first = m
                    vec[:] = 0.0
                    for c in range(n_loads):
                        weight = weights[q, s, c]
                        if weight == 0.0:
                            continue
                        e = load_effect[c]
                        for k in range(count):
                            work[k] = weight * var[begin + k, eff_var[e]] * lift[c, k]
                        for x in range(eff_ptr[e], eff_ptr[e + 1]):
                            first = min(first, inc_obs[x])
                            out, other = vec[inc_obs[x]], coef[x]
                            for k in range(count):
                                out[k] += work[k] * other[k]
                    for i in range(first, m):
                        out, inverse = vec[i], low[i, i]
                        for r in range(first, i):
                            left, other = low[i, r], vec[r]
                            for k in range(count):
                                out[k] -= left[k] * other[k]
                        for k in range(count):
                            out[k] *= inverse[k]
                        for k in range(count):
                            mean[begin + k, q] += out[k] * turned[i, s, k]
                            variance[begin + k, q] -= out[k] * out[k]
        else:
            for c in range(n_loads):
                e = load_effect[c]
                half = halves[c]
                half[:] = 0.0
                for k in range(count):
                    work[k] = var[begin + k, eff_var[e]] * lift[c, k]
                for x in range(eff_ptr[e], eff_ptr[e + 1]):
                    out, other = half[inc_obs[x]], coef[x]
                    for k in range(count):
                        out[k] += work[k] * other[k]
                for i in range(m):
                    out, inverse = half[i], low[i, i]
                    for r in range(i):
                        left, other = low[i, r], half[r]
                        for k in range(count):
                            out[k] -= left[k] * other[k]
                    for k in range(count):
                        out[k] *= inverse[k]
            for c in range(n_loads):
                for d in range(c + 1):
                    work[:] = 0.0
                    for i in range(m):
                        one, other = halves[c, i], halves[d, i]
                        for k in range(count):
                            work[k] += one[k] * other[k]
                    for k in range(count):
                        twice = work[k] if c == d else 2.0 * work[k]
                        for q in range(n_rows):
                            variance[begin + k, q] -= twice * among[q, c, d]
            for c in range(n_loads):
                # V^-1 X D of this load
                for i in range(m - 1, -1, -1):
                    out = vec[i]
                    for k in range(count):
                        out[k] = halves[c, i, k]
                    for r in range(i + 1, m):
                        left, other = low[r, i], vec[r]
                        for k in range(count):
                            out[k] -= left[k] * other[k]
                    for k in range(count):
                        out[k] *= low[i, i, k]
                    for k in range(count):
                        for q in range(n_rows):
                            mean[begin + k, q] += out[k] * onto[c, i, q]
        for p in range(pair_first.shape[0]):
            c, d = pair_first[p], pair_second[p]
            for k in range(count):
                scale = var[begin + k, eff_var[load_effect[c]]] * lift[c, k] * lift[d, k]
                for q in range(n_rows):
                    variance[begin + k, q] += scale * products[p, q]
    return True
