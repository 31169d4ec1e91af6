"""The distributions a model file may name: their arguments, support, sampler, density, scale and code, one row each.

A new distribution is one row here. Names and arguments are PyMC's. An argument must be positive
unless the row says that it is free. A positive distribution, which may be the prior of a scale,
also needs one branch in `bayesbias.inference.kernel.prior_shape`, under the code of its row:
compiled code cannot be stored in a table and stay on the disk between processes. Without a code it
is sampled pair by pair.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["DISTRIBUTIONS"]


@dataclass(frozen=True)
class Distribution:
    """One entry of the allow-list: its arguments (PyMC's names), support, a sampler and its place in the kernel."""

    args: tuple[str, ...]
    support: str  # "real" or "positive"
    draw: Callable[..., np.ndarray]
    free: tuple[
        str, ...
    ] = ()  # those of `args` that may be any number; all others must be positive
    code: int | None = (
        None  # what the compiled density calls it; its arguments there are `args`, one or two
    )
    noise: bool = False  # whether it may be the distribution of the outcome
    log_density: Callable[..., np.ndarray] | None = None  # of values and `args`; they broadcast

    @property
    def positive_args(self) -> tuple[str, ...]:
        """The arguments that must be positive."""
        return tuple(arg for arg in self.args if arg not in self.free)


def _half_student(rng: np.random.Generator, nu: Any, sigma: Any, size: Any) -> np.ndarray:
    return np.abs(rng.standard_t(nu, size)) * sigma


_LOG_2PI = math.log(2 * math.pi)


def _normal(x: Any, mu: Any, sigma: Any) -> np.ndarray:
    return -0.5 * ((x - mu) / sigma) ** 2 - np.log(sigma) - 0.5 * _LOG_2PI


def _student(x: Any, nu: Any, mu: Any, sigma: Any) -> np.ndarray:
    from scipy.special import gammaln

    constant = gammaln((nu + 1) / 2) - gammaln(nu / 2) - 0.5 * np.log(nu * np.pi) - np.log(sigma)
    return constant - (nu + 1) / 2 * np.log1p(((x - mu) / sigma) ** 2 / nu)


def _gamma(x: Any, alpha: Any, beta: Any) -> np.ndarray:
    from scipy.special import gammaln

    return alpha * np.log(beta) - gammaln(alpha) + (alpha - 1) * np.log(x) - beta * x


def _inverse_gamma(x: Any, alpha: Any, beta: Any) -> np.ndarray:
    return _gamma(1 / np.asarray(x), alpha, beta) - 2 * np.log(x)


DISTRIBUTIONS: Mapping[str, Distribution] = {
    "Normal": Distribution(
        ("mu", "sigma"),
        "real",
        lambda r, mu, sigma, size: r.normal(mu, sigma, size),
        free=("mu",),
        noise=True,
        log_density=_normal,
    ),
    "StudentT": Distribution(
        ("nu", "mu", "sigma"),
        "real",
        lambda r, nu, mu, sigma, size: mu + sigma * r.standard_t(nu, size),
        free=("mu",),
        noise=True,
        log_density=_student,
    ),
    "Exponential": Distribution(
        ("lam",),
        "positive",
        lambda r, lam, size: r.exponential(1 / np.asarray(lam), size),
        code=0,
        log_density=lambda x, lam: np.log(lam) - lam * x,
    ),
    "Gamma": Distribution(
        ("alpha", "beta"),
        "positive",
        lambda r, alpha, beta, size: r.gamma(alpha, 1 / np.asarray(beta), size),
        code=3,
        log_density=_gamma,
    ),
    "HalfCauchy": Distribution(
        ("beta",),
        "positive",
        lambda r, beta, size: np.abs(r.standard_cauchy(size)) * beta,
        code=2,
        log_density=lambda x, beta: math.log(2) + _student(x, 1, 0, beta),
    ),
    "HalfNormal": Distribution(
        ("sigma",),
        "positive",
        lambda r, sigma, size: np.abs(r.normal(0, sigma, size)),
        code=1,
        log_density=lambda x, sigma: math.log(2) + _normal(x, 0, sigma),
    ),
    "HalfStudentT": Distribution(
        ("nu", "sigma"),
        "positive",
        _half_student,
        code=4,
        log_density=lambda x, nu, sigma: math.log(2) + _student(x, nu, 0, sigma),
    ),
    "InverseGamma": Distribution(
        ("alpha", "beta"),
        "positive",
        lambda r, alpha, beta, size: np.asarray(beta) / r.gamma(alpha, 1.0, size),
        code=5,
        log_density=_inverse_gamma,
    ),
    "LogNormal": Distribution(
        ("mu", "sigma"),
        "positive",
        lambda r, mu, sigma, size: r.lognormal(mu, sigma, size),
        free=("mu",),
        code=6,
        log_density=lambda x, mu, sigma: _normal(np.log(x), mu, sigma) - np.log(x),
    ),
}
LIKELIHOODS = tuple(name for name, row in DISTRIBUTIONS.items() if row.noise)
