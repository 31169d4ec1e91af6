"""The distributions a model file may name for parameters, one row each.

A new distribution is one row here. Names and arguments are PyMC's. An argument must be positive
unless the row says that it is free. A positive distribution, which may be the prior of a scale,
also needs one branch in `bayesbias.inference.kernel.prior_shape`, under the code of its row:
compiled code cannot be stored in a table and stay on the disk between processes. Without a code it
is sampled pair by pair.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Distribution:
    """A distribution with its arguments, sampler and density.

    `args` are PyMC's, positive but for those that are `free`; `log_density` takes values and
    `args`. `code` is its number in the compiled density.
    """

    args: tuple[str, ...]
    support: str  # "real" or "positive"
    draw: Callable[..., np.ndarray]
    log_density: Callable[..., np.ndarray]
    free: tuple[str, ...] = ()
    code: int | None = None

    @property
    def positive_args(self) -> tuple[str, ...]:
        """The arguments that must be positive."""
        return tuple(arg for arg in self.args if arg not in self.free)


def _normal(x: Any, mu: Any, sigma: Any) -> np.ndarray:
    return -0.5 * ((x - mu) / sigma) ** 2 - np.log(sigma) - 0.5 * math.log(2 * math.pi)


def _student(x: Any, nu: Any, mu: Any, sigma: Any) -> np.ndarray:
    from scipy.special import gammaln

    constant = gammaln((nu + 1) / 2) - gammaln(nu / 2) - 0.5 * np.log(nu * np.pi) - np.log(sigma)
    return constant - (nu + 1) / 2 * np.log1p(((x - mu) / sigma) ** 2 / nu)


def _gamma(x: Any, alpha: Any, beta: Any) -> np.ndarray:
    from scipy.special import gammaln

    return alpha * np.log(beta) - gammaln(alpha) + (alpha - 1) * np.log(x) - beta * x


_LOG_2 = math.log(2)  # of a density that is folded at zero
DISTRIBUTIONS: Mapping[str, Distribution] = {
    "Normal": Distribution(
        ("mu", "sigma"), "real",
        lambda r, mu, sigma, size: r.normal(mu, sigma, size),
        _normal, free=("mu",),
    ),
    "StudentT": Distribution(
        ("nu", "mu", "sigma"), "real",
        lambda r, nu, mu, sigma, size: mu + sigma * r.standard_t(nu, size),
        _student, free=("mu",),
    ),
    "Exponential": Distribution(
        ("lam",), "positive",
        lambda r, lam, size: r.exponential(1 / np.asarray(lam), size),
        lambda x, lam: np.log(lam) - lam * x, code=0,
    ),
    "Gamma": Distribution(
        ("alpha", "beta"), "positive",
        lambda r, alpha, beta, size: r.gamma(alpha, 1 / np.asarray(beta), size),
        _gamma, code=3,
    ),
    "HalfCauchy": Distribution(
        ("beta",), "positive",
        lambda r, beta, size: np.abs(r.standard_cauchy(size)) * beta,
        lambda x, beta: _LOG_2 + _student(x, 1, 0, beta), code=2,
    ),
    "HalfNormal": Distribution(
        ("sigma",), "positive",
        lambda r, sigma, size: np.abs(r.normal(0, sigma, size)),
        lambda x, sigma: _LOG_2 + _normal(x, 0, sigma), code=1,
    ),
    "HalfStudentT": Distribution(
        ("nu", "sigma"), "positive",
        lambda r, nu, sigma, size: np.abs(r.standard_t(nu, size)) * sigma,
        lambda x, nu, sigma: _LOG_2 + _student(x, nu, 0, sigma), code=4,
    ),
    "InverseGamma": Distribution(
        ("alpha", "beta"), "positive",
        lambda r, alpha, beta, size: np.asarray(beta) / r.gamma(alpha, 1.0, size),
        lambda x, alpha, beta: _gamma(1 / np.asarray(x), alpha, beta) - 2 * np.log(x), code=5,
    ),
    "LogNormal": Distribution(
        ("mu", "sigma"), "positive",
        lambda r, mu, sigma, size: r.lognormal(mu, sigma, size),
        lambda x, mu, sigma: _normal(np.log(x), mu, sigma) - np.log(x), free=("mu",), code=6,
    ),
}  # fmt: skip
