r"""Distributions to propose the scales from: margins of any shape on a multivariate t.

A draw is :math:`q_k(z_k)` in each coordinate, where :math:`z` has a multivariate t with unit scales and a correlation, and
:math:`q_k` rises: a line, bent to the left and to the right of a few places by squares of the distance. Such margins hold
the skewed logarithm of a spread that may be zero: near zero its density is flat in the spread itself, so that
:math:`q(z) \approx \log \Phi(z)`, whose slope is nearly linear between these places and rises as :math:`-z` beyond.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

LEFT = np.array([-2.0, -1.0, 0.0, 1.0, 2.0])
RIGHT = np.array([-1.0, 0.0, 1.0, 2.0])
_PLACES = np.linspace(-2.6, 2.6, 27)  # where quantile functions are fitted
_LEAST_SLOPE = 0.02  # of the standard deviation
_SLICE = np.linspace(-8.0, 5.0, 27)  # in standard deviations of the normal distribution at the mode
_FINE = np.linspace(_SLICE[0], _SLICE[-1], 400)


@dataclass(frozen=True, eq=False)
class Proposal:
    """A distribution of `n` coordinates.

    Attributes
    ----------
    shapes : ndarray, shape (n, 2 + len(LEFT) + len(RIGHT))
        Of the margins: level, slope, and the bends.
    correlation : ndarray, shape (n, n)
    degrees : float
        Degrees of freedom of the t.
    """

    shapes: np.ndarray
    correlation: np.ndarray
    degrees: float

    def draw(self, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Return draws, shape (n, coordinates), and their log-densities."""
        from scipy.special import gammaln

        from bayesbias.inference.kernel_lanes import quantiles

        size, nu = len(self.shapes), self.degrees
        root = np.linalg.cholesky(self.correlation)
        normal = rng.standard_normal((n, size)) / np.sqrt(rng.chisquare(nu, n) / nu)[:, None]
        log_density = (
            gammaln((nu + size) / 2)
            - gammaln(nu / 2)
            - 0.5 * size * np.log(nu * np.pi)
            - 0.5 * (nu + size) * np.log1p((normal**2).sum(axis=1) / nu)
            - np.log(np.diag(root)).sum()
        )
        draws, slopes = np.empty((size, n)), np.empty(n)
        quantiles(root @ normal.T, self.shapes, LEFT, RIGHT, draws, slopes)
        return draws.T, log_density - slopes


def at_mode(
    log_density: Callable[[np.ndarray], np.ndarray],
    mode: np.ndarray,
    covariance: np.ndarray,
    degrees: float,
) -> Proposal:
    """Return the proposal that the neighbourhood of a mode suggests: correlations from the curvature, margins from slices.

    Parameters
    ----------
    log_density : callable
        Takes points, shape (n, coordinates).
    mode, covariance : ndarray
        The normal distribution with the curvature at the mode.
    degrees : float
    """
    from scipy.special import ndtr

    sd = np.sqrt(np.diag(covariance))
    points = mode + _SLICE[None, :, None] * np.diag(sd)[:, None, :]
    heights = log_density(points.reshape(-1, len(mode))).reshape(len(mode), -1)
    heights = heights - np.nanmax(np.where(np.isfinite(heights), heights, -np.inf), axis=1, keepdims=True)
    heights = np.nan_to_num(np.maximum(heights, -50.0), nan=-50.0)
    wanted = ndtr(_PLACES)
    levels = np.empty((len(mode), len(_PLACES)))
    for k in range(len(mode)):
        below = np.cumsum(np.exp(np.interp(_FINE, _SLICE, heights[k])))
        levels[k] = mode[k] + sd[k] * np.interp(wanted, below / below[-1], _FINE)
    return Proposal(fitted_shapes(levels), _correlation(covariance), degrees)


def adapted(before: Proposal, draws: np.ndarray, weights: np.ndarray, trust: tuple[float, float]) -> Proposal:
    """Return a proposal nearer to weighted draws.

    Parameters
    ----------
    before : Proposal
    draws : ndarray, shape (n, coordinates)
    weights : ndarray, shape (n,)
        They add up to one.
    trust : tuple of float
        How many draws margins and correlations of `before` are worth.
    """
    from scipy.special import ndtr, ndtri

    columns = np.ascontiguousarray(draws.T)
    order = np.argsort(columns, axis=1)
    own = weights[order]
    below = np.cumsum(own, axis=1) - 0.5 * own
    scores = np.empty_like(columns)
    np.put_along_axis(scores, order, ndtri(np.clip(below, 1e-9, 1 - 1e-9)), axis=1)
    ordered = np.take_along_axis(columns, order, axis=1)
    wanted = ndtr(_PLACES)
    levels = np.array([np.interp(wanted, *each) for each in zip(below, ordered, strict=True)])
    effective = effective_weights(weights)
    levels = _blend(levels, before.shapes @ _bends(_PLACES).T, effective, trust[0])
    covariance = (scores * weights) @ scores.T
    # One draw that holds all the weight lies in the middle of every margin, and shows no correlation.
    seen = _correlation(covariance) if np.diag(covariance).min() > 1e-12 else before.correlation
    correlation = _correlation(_blend(seen, before.correlation, effective, trust[1]))
    return Proposal(fitted_shapes(levels), correlation, before.degrees)


def effective_weights(weights: np.ndarray) -> float:
    """Return how many even weights are worth as much (Kish): the square of their sum over the sum of their squares."""
    return float(weights.sum() ** 2 / (weights @ weights))


def fitted_shapes(levels: np.ndarray) -> np.ndarray:
    """Return the rising quantile functions nearest to some values of them at the places, shape (coordinates, places)."""
    from scipy.optimize import nnls

    matrix, centred, weights = _design()
    share = weights**2 / (weights @ weights)
    out = np.empty((len(levels), matrix.shape[1]))
    for k, own in enumerate(weights * (levels - (levels @ share)[:, None])):
        out[k, 1:], _ = nnls(centred, own)
    out[:, 1] = np.maximum(out[:, 1], np.maximum(_LEAST_SLOPE * levels.std(axis=1), 1e-8))
    out[:, 0] = (levels - out[:, 1:] @ matrix[:, 1:].T) @ share
    return out


@functools.cache
def _design() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the bends at the places, the same without their weighted means and weighted, and the weights."""
    matrix, weights = _bends(_PLACES), np.exp(-(_PLACES**2) / 8)
    centred = matrix - (weights**2 @ matrix) / (weights @ weights)
    return matrix, weights[:, None] * centred[:, 1:], weights


def _bends(z: np.ndarray) -> np.ndarray:
    left = [-(np.minimum(z - at, 0.0) ** 2) for at in LEFT]
    right = [np.maximum(z - at, 0.0) ** 2 for at in RIGHT]
    return np.stack([np.ones_like(z), z, *left, *right], axis=-1)


def _blend(new: np.ndarray, old: np.ndarray, n: float, trust: float) -> np.ndarray:
    return (n * new + trust * old) / (n + trust)


def _correlation(covariance: np.ndarray) -> np.ndarray:
    sd = np.sqrt(np.diag(covariance))
    return covariance / np.outer(sd, sd)
