r"""Coordinates in which the posterior of the scales is near normal, and its mode there.

Logarithms of scales, with two changes. Factors and their spread are sampled as `Collapsed.coordinates` says. And two
spreads whose effects fall on the same rows, such as a word's own gap for neutral words and its distance to neutral words,
are told apart by their priors alone: the data see :math:`s_1^2 + s_2^2`. These are sampled as
:math:`\log\sqrt{s_1^2 + s_2^2}` and :math:`\Phi^{-1}(2\varphi/\pi)` with :math:`\tan\varphi = s_2/s_1`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from bayesbias.inference.collapsed import Collapsed

_STEP = 1e-4  # of differences of the gradient
_MOST_STEPS = 60
_LONGEST = 2.0  # a step, in each coordinate
_DAMPINGS = (0.0, 1e-2, 0.1, 1.0, 10.0, 100.0, 1e3, 1e4)
_GAIN = 1e-5
_LEAST_CURVATURE = 0.05  # a coordinate that only a flat prior holds


@dataclass(frozen=True, eq=False)
class Straight:
    """The log-posterior of a collapsed model in these coordinates.

    Parameters
    ----------
    reduced : Collapsed
    """

    reduced: Collapsed
    turn: np.ndarray = field(init=False)
    pairs: tuple[tuple[int, int], ...] = field(init=False)

    def __post_init__(self) -> None:
        # They follow from the labels of the table: all that share a layout have the same.
        turn, pairs = self.reduced.layout.once(
            "straight", lambda: (self.reduced.coordinates(), same_rows(self.reduced))
        )
        object.__setattr__(self, "turn", turn)
        object.__setattr__(self, "pairs", pairs)

    def theta(self, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return log-scales, shape (n, n_theta), and the logarithm of the volume that they have there, shape (n,)."""
        from scipy.special import ndtr

        turned, volume = at.copy(), np.zeros(len(at))
        for a, b in reversed(self.pairs):
            u = at[:, b]
            # The cosine as the sine of the rest, which is exact where it is small.
            log_cos, log_sin = (np.log(np.sin(ndtr(end) * (np.pi / 2))) for end in (-u, u))
            size = turned[:, a].copy()
            turned[:, a], turned[:, b] = size + log_cos, size + log_sin
            volume += 0.5 * np.log(np.pi / 8) - log_cos - log_sin - 0.5 * u * u
        return np.ascontiguousarray(turned @ self.turn.T), volume

    def at(self, theta: np.ndarray) -> np.ndarray:
        """Return the coordinates of log-scales, shape (n, n_theta); undoes `theta`."""
        from scipy.special import ndtri

        out = np.linalg.solve(self.turn, theta.T).T
        for a, b in self.pairs:
            angle = np.arctan2(np.exp(out[:, b]), np.exp(out[:, a]))
            out[:, a] = 0.5 * np.logaddexp(2 * out[:, a], 2 * out[:, b])
            out[:, b] = ndtri(angle * (2 / np.pi))
        return out

    def log_density(self, at: np.ndarray) -> np.ndarray:
        """Return the log-density at each row of coordinates; -inf beyond the range of floating point."""
        with np.errstate(all="ignore"):  # out of range is no number, and has no density
            theta, volume = self.theta(at)
            value = self.reduced.log_densities(theta) + volume
        return np.where(np.isfinite(value), value, -np.inf)

    def gradient(self, at: np.ndarray) -> np.ndarray:
        """Return its gradient at each row."""
        from scipy.special import ndtr

        theta, _ = self.theta(at)
        out = self.reduced.log_gradients(theta) @ self.turn
        for a, b in self.pairs:
            u = at[:, b]
            by = np.sqrt(np.pi / 8) * np.exp(-0.5 * u * u)  # the derivative of the angle
            tan = np.tan(ndtr(u) * (np.pi / 2))
            uphill = (1 - out[:, a]) * tan - (1 - out[:, b]) / tan
            out[:, a], out[:, b] = out[:, a] + out[:, b], uphill * by - u
        return out

    def curvature(self, at: np.ndarray) -> np.ndarray:
        """Return the matrix of second derivatives at one point, from differences of the gradient."""
        n = len(at)
        by = np.eye(n) * _STEP
        gradient = self.gradient(np.concatenate([at + by, at - by]))
        out = (gradient[:n] - gradient[n:]) / (2 * _STEP)
        return (out + out.T) / 2

    def _slope_and_bend(self, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the gradient at one point and about the second derivatives, at half the cost of `curvature`."""
        near = np.concatenate([at[None], at + np.eye(len(at)) * _STEP])
        gradient = self.gradient(near)
        out = (gradient[1:] - gradient[0]) / _STEP
        return gradient[0], (out + out.T) / 2

    def mode(
        self, start: np.ndarray, known: np.ndarray | None = None, near: np.ndarray | float = 0.0
    ) -> tuple[np.ndarray, float]:
        """Climb from a point by damped Newton steps, the best of several dampings each time.

        Parameters
        ----------
        start : ndarray, shape (n_theta,)
        known : ndarray, shape (n_theta,), optional
            A mode: who comes within `near` of it, in every coordinate, need not climb to it.
        near : ndarray, shape (n_theta,), or float

        Returns
        -------
        ndarray, shape (n_theta,)
        float
            The log-density there; -inf where `start` has none.
        """
        here, value = start, float(self.log_density(start[None])[0])
        if not np.isfinite(value):
            return here, -np.inf
        for _ in range(_MOST_STEPS):
            slope, bends = self._slope_and_bend(here)
            if not np.isfinite(
                bends
            ).all():  # at the edge of floating point, as where there is hardly any noise
                return here, -np.inf
            values, vectors = np.linalg.eigh(-bends)
            along = vectors.T @ slope
            bend = np.maximum(np.abs(values), 1e-3)
            steps = (along / (bend + np.array(_DAMPINGS)[:, None])) @ vectors.T
            steps *= np.minimum(1, _LONGEST / np.maximum(np.abs(steps).max(axis=1, keepdims=True), _GAIN))
            densities = self.log_density(here + steps)
            best = int(np.argmax(np.where(np.isfinite(densities), densities, -np.inf)))
            gain = float(densities[best]) - value
            if gain > 0:
                here, value = here + steps[best], float(densities[best])
            if not gain > _GAIN or (known is not None and (np.abs(here - known) < near).all()):
                break
        return here, value

    def covariance(self, mode: np.ndarray) -> np.ndarray:
        """Return the covariance of the normal distribution with the curvature at a mode; no numbers where that has none."""
        curvature = self.curvature(mode)
        if not np.isfinite(curvature).all():
            return np.full(curvature.shape, np.nan)
        values, vectors = np.linalg.eigh(-curvature)
        return (vectors / np.maximum(values, _LEAST_CURVATURE)) @ vectors.T


def same_rows(reduced: Collapsed) -> tuple[tuple[int, int], ...]:
    """Return pairs of spreads, by their place in theta, whose effects have the same incidence in every component."""
    effects: dict[int, list[tuple[object, ...]]] = {}
    taken: set[int] = set()
    for place, component in enumerate(reduced.components):
        taken.update(int(number) for number in component.noise)
        for effect in component.effects:
            taken.update(int(number) for number in effect.factors)
            key = (place, effect.blocks.tobytes(), effect.coef.round(9).tobytes(), effect.factors.tobytes())
            effects.setdefault(effect.variance, []).append(key)
    groups: dict[tuple[tuple[object, ...], ...], list[int]] = {}
    for number, keys in effects.items():
        if number < reduced.n_theta and number not in taken:
            groups.setdefault(tuple(sorted(keys)), []).append(number)
    return tuple((group[0], other) for group in groups.values() for other in group[1:])
