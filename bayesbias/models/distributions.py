"""The distributions a model file may name: their arguments, support and a sampler, one row each.

A new prior is one row here, its code in `bayesbias.inference.collapsed` and its density in the
kernel. Names and arguments are PyMC's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["DISTRIBUTIONS"]


@dataclass(frozen=True)
class Distribution:
    """One entry of the allow-list: its arguments (PyMC's names), support and a sampler."""

    args: tuple[str, ...]
    support: str  # "real" or "positive"
    draw: Callable[..., np.ndarray]


def _half_student(rng: np.random.Generator, nu: Any, sigma: Any, size: Any) -> np.ndarray:
    return np.abs(rng.standard_t(nu, size)) * sigma


DISTRIBUTIONS: Mapping[str, Distribution] = {
    "Normal": Distribution(("mu", "sigma"), "real", lambda r, mu, sigma, size: r.normal(mu, sigma, size)),
    "StudentT": Distribution(
        ("nu", "mu", "sigma"),
        "real",
        lambda r, nu, mu, sigma, size: mu + sigma * r.standard_t(nu, size),
    ),
    "Exponential": Distribution(
        ("lam",), "positive", lambda r, lam, size: r.exponential(1 / np.asarray(lam), size)
    ),
    "Gamma": Distribution(
        ("alpha", "beta"),
        "positive",
        lambda r, alpha, beta, size: r.gamma(alpha, 1 / np.asarray(beta), size),
    ),
    "HalfCauchy": Distribution(
        ("beta",), "positive", lambda r, beta, size: np.abs(r.standard_cauchy(size)) * beta
    ),
    "HalfNormal": Distribution(
        ("sigma",), "positive", lambda r, sigma, size: np.abs(r.normal(0, sigma, size))
    ),
    "HalfStudentT": Distribution(("nu", "sigma"), "positive", _half_student),
    "InverseGamma": Distribution(
        ("alpha", "beta"),
        "positive",
        lambda r, alpha, beta, size: np.asarray(beta) / r.gamma(alpha, 1.0, size),
    ),
    "LogNormal": Distribution(
        ("mu", "sigma"), "positive", lambda r, mu, sigma, size: r.lognormal(mu, sigma, size)
    ),
}
LIKELIHOODS = ("Normal", "StudentT")
POSITIVE_ARGS = {"sigma", "lam", "beta", "alpha", "nu"}
