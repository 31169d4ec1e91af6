r"""The compiled log density of the scales, as `bayesbias.inference.likelihood` derives it.

One function serves every model and every table: what differs is in the arrays. It is compiled once
and kept on disk (`bayesbias.inference.compiling`). Only these two modules and `counts` import
Numba, so that they are imported inside functions alone.

*Coordinates.* NUTS and the Laplace approximation move in coordinates u in which the posterior of
the scales is nearly normal. A scale s has :math:`u = \Phi^{-1}(1 - e^{-s/m})`, with m its value at
the mode of the log scales. Where the data allow zero, the posterior of s is nearly exponential and
that of u standard normal; where the data determine s, u is nearly linear in it. The inverse is
:math:`s = m h(u)` with :math:`h(u) = -\log \Phi(-u)`, and the density of u is that of
:math:`\theta = \log s` times :math:`d\theta/du = h'(u) / h(u)`. The sampler sees z, with u = mode +
root z, whose elements are nearly independent standard normals.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import carray, types

from bayesbias.inference.compiling import callback, compiled

LOG_2PI = math.log(2.0 * math.pi)
# Logarithms of scales beyond this have squares that overflow or vanish.
FARTHEST = 150.0


def prior_constant(code: int, a: float, b: float) -> float:
    """Return the part of the log density of a positive parameter that is constant.

    The codes are those of the rows of `bayesbias.models.distributions`, and `a` and `b` their
    arguments in order: 0 Exponential, 1 HalfNormal, 2 HalfCauchy, 3 Gamma, 4 HalfStudentT, 5
    InverseGamma, 6 LogNormal. Of any other code the density is no number.
    """
    if code == 0:
        return math.log(a)
    if code == 1:
        return 0.5 * math.log(2.0 / math.pi) - math.log(a)
    if code == 2:
        return math.log(2.0 / (math.pi * a))
    if code == 3 or code == 5:
        return a * math.log(b) - math.lgamma(a)
    if code == 4:
        tails = math.lgamma((a + 1.0) / 2.0) - math.lgamma(a / 2.0)
        return math.log(2.0) + tails - 0.5 * math.log(a * math.pi) - math.log(b)
    if code == 6:
        return -0.5 * LOG_2PI - math.log(b)
    return math.nan


@compiled
def prior_shape(code: int, a: float, b: float, s: float, log_s: float) -> tuple[float, float]:
    """Return the part of the log density of a positive parameter `s` that varies, and its slope."""
    if code == 0:
        return -a * s, -a
    if code == 1:
        z = s / a
        return -0.5 * z * z, -z / a
    if code == 2:
        z = s / a
        return -math.log1p(z * z), -2.0 * z / (a * (1.0 + z * z))
    if code == 3:
        return (a - 1.0) * log_s - b * s, (a - 1.0) / s - b
    if code == 4:
        z2 = (s / b) ** 2
        return -(a + 1.0) / 2.0 * math.log1p(z2 / a), -(a + 1.0) * s / (b * b * a * (1.0 + z2 / a))
    if code == 5:
        return -(a + 1.0) * log_s - b / s, -(a + 1.0) / s + b / (s * s)
    if code == 6:
        z = (log_s - a) / b
        return -log_s - 0.5 * z * z, -(1.0 + z / b) / s
    return math.nan, math.nan


@compiled
def log_density(
    theta: np.ndarray, integers: np.ndarray, reals: np.ndarray, grad: np.ndarray
) -> float:
    """Return the log marginal posterior of the log scales `theta`, and write its gradient.

    `integers` is what `packed` makes of the arrays below, and `reals` the same memory as real
    numbers. An empty `grad` asks for the value alone. Priors have codes, two arguments and
    constants (`prior_constant`). `constants` are fixed variances, numbered after those of the
    scales. Component j has

    - ``comp_m[j]`` rows, with noise variances ``obs_var[comp_obs[j]:]``;
    - F, row by row, in ``gram_roots[comp_gram[j]:comp_gram[j + 1]]``, where FF' is the Gram matrix
      G of ``comp_nu[j]`` copies (its rank is at most their number, which is 1 for the largest
      component);
    - the effects ``comp_eff[j]:comp_eff[j + 1]``, each with a variance, and coefficients on rows
      (``inc_coef`` and ``inc_obs`` from ``eff_ptr`` on).

    Beyond the range of floating point the density is zero (-inf), which the sampler takes for a
    divergence.
    """

    def whole(k: int) -> np.ndarray:
        return integers[integers[1 + 2 * k] : integers[1 + 2 * k] + integers[2 + 2 * k]]

    def real(k: int) -> np.ndarray:
        return reals[integers[1 + 2 * k] : integers[1 + 2 * k] + integers[2 + 2 * k]]

    prior_code, prior_a, prior_b, prior_c, constants = whole(0), real(1), real(2), real(3), real(4)
    comp_m, comp_nu, comp_obs, comp_gram = whole(5), real(6), whole(7), whole(8)
    comp_eff, obs_var, gram_roots = whole(9), whole(10), real(11)
    eff_var, eff_ptr, inc_obs, inc_coef = whole(12), whole(13), whole(14), real(15)
    n_theta = theta.shape[0]
    sloped = grad.shape[0] > 0
    n_var = n_theta + constants.shape[0]
    var = np.empty(n_var)
    gvar = np.zeros(n_var)
    total = 0.0
    for t in range(n_theta):
        if not abs(theta[t]) < FARTHEST:
            return -math.inf
        s = math.exp(theta[t])
        var[t] = s * s
        lp, d = prior_shape(prior_code[t], prior_a[t], prior_b[t], s, theta[t])
        total += prior_c[t] + lp + theta[t]
        if sloped:
            grad[t] = d * s + 1.0
    for t in range(n_theta, n_var):
        var[t] = constants[t - n_theta]
    largest, widest = 1, 1  # rows of a component, and columns of its data
    for j in range(comp_m.shape[0]):
        largest = max(largest, comp_m[j])
        widest = max(widest, (comp_gram[j + 1] - comp_gram[j]) // comp_m[j])
    # Room for the matrices of the largest, row by row.
    up, tri, inv = np.empty(largest**2), np.empty(largest**2), np.empty(largest**2)
    solved = np.empty(widest * largest)
    for j in range(comp_m.shape[0]):
        m = comp_m[j]
        nu = comp_nu[j]
        o = comp_obs[j]
        g = comp_gram[j]
        if m == 1:  # no matrix is needed
            v = var[obs_var[o]]
            for e in range(comp_eff[j], comp_eff[j + 1]):
                for x in range(eff_ptr[e], eff_ptr[e + 1]):
                    v += var[eff_var[e]] * inc_coef[x] * inc_coef[x]
            if not v > 0.0:
                return -math.inf
            square = 0.0
            for c in range(g, comp_gram[j + 1]):
                square += gram_roots[c] * gram_roots[c]
            total -= 0.5 * (nu * (LOG_2PI + math.log(v)) + square / v)
            slope = -0.5 * (nu / v - square / (v * v))
            gvar[obs_var[o]] += slope
            for e in range(comp_eff[j], comp_eff[j + 1]):
                for x in range(eff_ptr[e], eff_ptr[e + 1]):
                    gvar[eff_var[e]] += inc_coef[x] * inc_coef[x] * slope
            continue
        # Every inner loop runs along rows cut out beforehand: only so does the compiler make vector
        # instructions of it.
        size = m * m
        up[:size] = 0.0
        tri[:size] = 0.0
        inv[:size] = 0.0
        for i in range(m):
            up[i * m + i] = var[obs_var[o + i]]
        for e in range(comp_eff[j], comp_eff[j + 1]):
            v = var[eff_var[e]]
            for x in range(eff_ptr[e], eff_ptr[e + 1]):
                for y in range(eff_ptr[e], x + 1):
                    up[inc_obs[y] * m + inc_obs[x]] += v * inc_coef[x] * inc_coef[y]
        # V = U'U, with U in the upper triangle.
        logdet = 0.0
        for r in range(m):
            if not up[r * m + r] > 0.0:
                return -math.inf
            logdet += math.log(up[r * m + r])
            inverse = 1.0 / math.sqrt(up[r * m + r])
            for k in range(r, m):
                up[r * m + k] *= inverse
            for i in range(r + 1, m):
                a = up[r * m + i]
                row, out = up[r * m + i : (r + 1) * m], up[i * m + i : (i + 1) * m]
                for k in range(m - i):
                    out[k] -= a * row[k]
        # The inverse of U', then of V.
        for i in range(m):
            for r in range(i):
                a = up[r * m + i]
                row, out = tri[r * m : (r + 1) * m], tri[i * m : (i + 1) * m]
                for k in range(r + 1):
                    out[k] -= a * row[k]
            inverse = 1.0 / up[i * m + i]
            for k in range(i):
                tri[i * m + k] *= inverse
            tri[i * m + i] = inverse
        for r in range(m):
            for i in range(r + 1):
                a = tri[r * m + i]
                row, out = tri[r * m : (r + 1) * m], inv[i * m : (i + 1) * m]
                for k in range(i + 1):
                    out[k] += a * row[k]
        for i in range(m):
            for k in range(i):
                inv[k * m + i] = inv[i * m + k]
        # The transpose of V^-1 F, and the trace of V^-1 G = V^-1 FF'.
        width = (comp_gram[j + 1] - g) // m
        solved[: width * m] = 0.0
        trace = 0.0
        for c in range(width):
            out = solved[c * m : (c + 1) * m]
            for r in range(m):
                a = gram_roots[g + r * width + c]
                row = inv[r * m : (r + 1) * m]
                for k in range(m):
                    out[k] += a * row[k]
            for r in range(m):
                trace += gram_roots[g + r * width + c] * out[r]
        total -= 0.5 * (nu * (m * LOG_2PI + logdet) + trace)
        if not sloped:
            continue
        # d logp / dV = -(nu V^-1 - V^-1 G V^-1) / 2
        for i in range(m):
            row, out = inv[i * m : (i + 1) * m], tri[i * m : (i + 1) * m]
            for k in range(i + 1):
                out[k] = -0.5 * nu * row[k]
            for c in range(width):
                a = 0.5 * solved[c * m + i]
                row = solved[c * m : (c + 1) * m]
                for k in range(i + 1):
                    out[k] += a * row[k]
        for i in range(m):
            gvar[obs_var[o + i]] += tri[i * m + i]
        for e in range(comp_eff[j], comp_eff[j + 1]):
            acc = 0.0
            for x in range(eff_ptr[e], eff_ptr[e + 1]):
                for y in range(eff_ptr[e], x + 1):
                    term = inc_coef[x] * inc_coef[y] * tri[inc_obs[x] * m + inc_obs[y]]
                    acc += term if x == y else 2.0 * term
            gvar[eff_var[e]] += acc
    if sloped:
        for t in range(n_theta):
            grad[t] += 2.0 * var[t] * gvar[t]
    return total


FARTHEST_COORDINATE = 36.0  # beyond, the normal distribution leaves the range of floating point


@compiled
def logs_of_coordinates(
    u: np.ndarray, log_m: np.ndarray, theta: np.ndarray, slope: np.ndarray, bend: np.ndarray
) -> float:
    """Return the log of dtheta/du, summed; NaN if a coordinate is too far out.

    Write the log scales `theta` of coordinates `u`, `slope` = dtheta/du, and `bend`, the derivative
    of log slope.
    """
    volume = 0.0
    for k in range(u.shape[0]):
        if not abs(u[k]) < FARTHEST_COORDINATE:
            return math.nan
        if u[k] < 0.0:
            h = -math.log1p(-0.5 * math.erfc(-u[k] * math.sqrt(0.5)))
        else:
            h = -math.log(0.5 * math.erfc(u[k] * math.sqrt(0.5)))
        first = math.exp(h - 0.5 * u[k] * u[k] - 0.5 * LOG_2PI)  # of h: the inverse of Mills' ratio
        theta[k] = log_m[k] + math.log(h)
        slope[k] = first / h
        bend[k] = first - u[k] - slope[k]
        volume += math.log(slope[k])
    return volume


_ARRAYS = 16  # the arrays of `log_density`
_WHOLE = (0, 5, 7, 8, 9, 10, 12, 13, 14)  # which of them hold whole numbers
_LOG_M, _MODE, _ROOT = _ARRAYS, _ARRAYS + 1, _ARRAYS + 2


def packed(parts: Sequence[Any], whole: Sequence[int] = _WHOLE) -> np.ndarray:
    """Return the block of memory that the callbacks read; `whole` lists the parts of integers.

    It holds its length, then starts and lengths of the parts, then the parts.
    """
    head = 1 + 2 * len(parts)
    lengths = np.array([part.size for part in parts])
    starts = head + np.concatenate([[0], np.cumsum(lengths)[:-1]])
    out = np.zeros(head + int(lengths.sum()), dtype=np.int64)
    out[0], out[1:head:2], out[2:head:2] = len(out), starts, lengths
    for place, (start, part) in enumerate(zip(starts, parts, strict=True)):
        values = np.ascontiguousarray(part, dtype=np.int64 if place in whole else np.float64)
        out[start : start + part.size] = values.ravel().view(np.int64)
    return out


@compiled
def _coordinates_at(integers: np.ndarray, reals: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Return the coordinates u = mode + root z."""
    n = z.shape[0]
    mode, root = integers[1 + 2 * _MODE], integers[1 + 2 * _ROOT]
    u = np.empty(n)
    for k in range(n):
        u[k] = reals[mode + k]
        for r in range(n):
            u[k] += reals[root + k * n + r] * z[r]
    return u


_DOUBLES = types.CPointer(types.float64)
LOGP = types.int64(types.uint64, _DOUBLES, _DOUBLES, _DOUBLES, types.voidptr)
EXPAND = types.int64(types.uint64, types.uint64, _DOUBLES, _DOUBLES, types.voidptr)


@compiled
def unpacked(data):
    """Return the block that `packed` made, seen as integers and as real numbers."""
    head = carray(data, (1,), np.int64)
    return carray(data, (head[0],), np.int64), carray(data, (head[0],), np.float64)


@compiled
def reported(value, grad, value_at):
    """Write the log density; return 0, or 3 or 4 if its gradient or itself is not finite."""
    carray(value_at, (1,))[0] = value
    if not math.isfinite(value):
        return 4  # a divergence, as the sampler calls it
    return 0 if np.isfinite(grad).all() else 3


@callback(LOGP)
def logp_callback(n, at_at, grad_at, value_at, data):
    """Write log density and gradient at a point of the sampler."""
    integers, reals = unpacked(data)
    log_m, root = integers[1 + 2 * _LOG_M], integers[1 + 2 * _ROOT]
    grad = carray(grad_at, (n,))
    theta, slope, bend, by_theta = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    u = _coordinates_at(integers, reals, carray(at_at, (n,)))
    value = logs_of_coordinates(u, reals[log_m : log_m + n], theta, slope, bend)
    if math.isfinite(value):
        value += log_density(theta, integers, reals, by_theta)
    grad[:] = 0.0
    for k in range(n):
        by_u = by_theta[k] * slope[k] + bend[k]
        for r in range(n):
            grad[r] += reals[root + k * n + r] * by_u
    return reported(value, grad, value_at)


@callback(EXPAND)
def expand_callback(n, expanded, at_at, out_at, data):
    """Write the log scales of a point, which are the draw that is kept."""
    integers, reals = unpacked(data)
    log_m = integers[1 + 2 * _LOG_M]
    slope, bend = np.empty(n), np.empty(n)
    u = _coordinates_at(integers, reals, carray(at_at, (n,)))
    logs_of_coordinates(u, reals[log_m : log_m + n], carray(out_at, (n,)), slope, bend)
    return 0
