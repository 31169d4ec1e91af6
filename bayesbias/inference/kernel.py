"""The compiled log-density of the collapsed model; see `bayesbias.inference.collapsed` for what it computes.

One function serves every model and every table: what differs is in the arrays. Numba compiles it once
and keeps the result on disk, so a second process starts sampling at once. Only rooms of this name import Numba,
and are therefore imported inside functions alone.
"""

from __future__ import annotations

import math

import numpy as np

from bayesbias.inference.kernel_compiling import compiled

LOG_2PI = math.log(2.0 * math.pi)
# Logarithms of scales beyond this have squares that overflow or vanish.
FARTHEST = 150.0


@compiled
def log_prior(code: int, a: float, b: float, s: float) -> tuple[float, float]:
    """Return the log-density of a positive parameter at `s` and its derivative.

    The codes are those of the rows of `bayesbias.models.distributions`, and `a` and `b` their arguments in order: 0
    Exponential, 1 HalfNormal, 2 HalfCauchy, 3 Gamma, 4 HalfStudentT, 5 InverseGamma, 6 LogNormal. Of any other code
    the density is no number.
    """
    value, slope = prior_shape(code, a, b, s, math.log(s))
    return prior_constant(code, a, b) + value, slope


@compiled
def prior_constant(code: int, a: float, b: float) -> float:
    """Return the part of a log-density that is the same at every `s`."""
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
    """Return the rest of the log-density, and its derivative."""
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
    theta: np.ndarray,
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
    grad: np.ndarray,
) -> float:
    """Return the marginal log-posterior of the logarithms of the scales; write its gradient.

    `theta` are logarithms; `prior_c` are the constants of their priors (`prior_constant`); `constants` are fixed
    variances, numbered after those of the scales. For component j: `comp_m[j]` rows with noise variances
    ``obs_var[comp_obs[j]:]``; F with one line a row at ``halves[comp_half[j]:comp_half[j + 1]]``, where FF' is the
    Gram matrix G of the data summed over ``comp_nu[j]``
    independent copies; and the effects ``comp_eff[j]:comp_eff[j + 1]``, each with a variance and a sparse
    incidence on the rows, each coefficient times the scale ``inc_factor`` where that is not -1. G enters
    by F since its rank is that of the copies, which is 1 for the largest component.

    Where a trial step of the sampler leaves the range of floating point the density is zero (-inf), which the
    sampler takes for a divergence; nothing is raised.
    """
    n_theta = theta.shape[0]
    n_var = n_theta + constants.shape[0]
    var = np.empty(n_var)
    gvar = np.zeros(n_var)
    gfactor = np.zeros(n_theta)  # with respect to logarithms
    total = 0.0
    scale = np.empty(n_theta)
    for t in range(n_theta):
        if not abs(theta[t]) < FARTHEST:
            return -math.inf
        s = math.exp(theta[t])
        scale[t] = s
        var[t] = s * s
        lp, d = prior_shape(prior_code[t], prior_a[t], prior_b[t], s, theta[t])
        total += prior_c[t] + lp + theta[t]
        grad[t] = d * s + 1.0
    for t in range(n_theta, n_var):
        var[t] = constants[t - n_theta]
    coef = inc_coef.copy()
    inc_var = np.empty(coef.shape[0], dtype=np.int64)
    for e in range(eff_var.shape[0]):
        for x in range(eff_ptr[e], eff_ptr[e + 1]):
            inc_var[x] = eff_var[e]
            if inc_factor[x] >= 0:
                coef[x] *= scale[inc_factor[x]]
    largest, widest = largest_of(comp_m, comp_half)
    # Room for the matrices of the largest, row by row.
    up, tri, inv = np.empty(largest**2), np.empty(largest**2), np.empty(largest**2)
    half = np.empty(widest * largest)
    for j in range(comp_m.shape[0]):
        m = comp_m[j]
        nu = comp_nu[j]
        o = comp_obs[j]
        g = comp_half[j]
        if m == 1:  # no matrix is needed
            v = var[obs_var[o]]
            for x in range(eff_ptr[comp_eff[j]], eff_ptr[comp_eff[j + 1]]):
                v += var[inc_var[x]] * coef[x] * coef[x]
            if not v > 0.0:
                return -math.inf
            square = 0.0
            for c in range(g, comp_half[j + 1]):
                square += halves[c] * halves[c]
            total -= 0.5 * (nu * (LOG_2PI + math.log(v)) + square / v)
            slope = -0.5 * (nu / v - square / (v * v))
            gvar[obs_var[o]] += slope
            for x in range(eff_ptr[comp_eff[j]], eff_ptr[comp_eff[j + 1]]):
                term = coef[x] * coef[x] * slope
                gvar[inc_var[x]] += term
                if inc_factor[x] >= 0:
                    gfactor[inc_factor[x]] += 2.0 * var[inc_var[x]] * term
            continue
        # Every inner loop runs along rows cut out beforehand: only so does the compiler make vector instructions of it.
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
                    up[inc_obs[y] * m + inc_obs[x]] += v * coef[x] * coef[y]
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
        # The transpose of V^-1 F, and the trace of V^-1 G.
        width = (comp_half[j + 1] - g) // m
        half[: width * m] = 0.0
        trace = 0.0
        for c in range(width):
            out = half[c * m : (c + 1) * m]
            for r in range(m):
                a = halves[g + r * width + c]
                row = inv[r * m : (r + 1) * m]
                for k in range(m):
                    out[k] += a * row[k]
            for r in range(m):
                trace += halves[g + r * width + c] * out[r]
        total -= 0.5 * (nu * (m * LOG_2PI + logdet) + trace)
        # d logp / dV = -(nu V^-1 - V^-1 G V^-1) / 2
        for i in range(m):
            row, out = inv[i * m : (i + 1) * m], tri[i * m : (i + 1) * m]
            for k in range(i + 1):
                out[k] = -0.5 * nu * row[k]
            for c in range(width):
                a = 0.5 * half[c * m + i]
                row = half[c * m : (c + 1) * m]
                for k in range(i + 1):
                    out[k] += a * row[k]
        for i in range(m):
            gvar[obs_var[o + i]] += tri[i * m + i]
        for e in range(comp_eff[j], comp_eff[j + 1]):
            acc = 0.0
            for x in range(eff_ptr[e], eff_ptr[e + 1]):
                for y in range(eff_ptr[e], x + 1):
                    term = coef[x] * coef[y] * tri[inc_obs[x] * m + inc_obs[y]]
                    if x != y:
                        term *= 2.0
                    acc += term
                    if inc_factor[x] >= 0:
                        gfactor[inc_factor[x]] += var[eff_var[e]] * term
                    if inc_factor[y] >= 0:
                        gfactor[inc_factor[y]] += var[eff_var[e]] * term
            gvar[eff_var[e]] += acc
    for t in range(n_theta):
        grad[t] += 2.0 * var[t] * gvar[t] + gfactor[t]
    return total


@compiled
def largest_of(comp_m: np.ndarray, comp_half: np.ndarray) -> tuple[int, int]:
    """Return the most rows of a component, and the most columns of its data."""
    largest = 1
    widest = 1
    for j in range(comp_m.shape[0]):
        largest = max(largest, comp_m[j])
        widest = max(widest, (comp_half[j + 1] - comp_half[j]) // comp_m[j])
    return largest, widest
