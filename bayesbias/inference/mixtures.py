"""Normal mixtures described: mean, sd, shortest interval, tail probabilities.

Given the scales of a normal model every contrast is normal, so that over the draws of the scales
its posterior is the mixture of those normals (Rao-Blackwell). Its ends jitter far less between
seeds than those of sorted draws.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from bayesbias.inference.estimands import Rows
from bayesbias.inference.likelihood import Collapsed
from bayesbias.inference.linear import Projected
from bayesbias.models.design import Design

MOST_MIXED = 1000
"""Draws of the scales that are mixed at most: of mixtures these say as much as many times as many draws of the rows."""
_STEPS = 60
_EXACT = 1e-10
_GRID = 2001


@dataclass(frozen=True, eq=False)
class Mixtures:
    """One normal mixture a row: over the draws of the scales and, where a row is a mixture itself, over its parts.

    Attributes
    ----------
    mean, sd : ndarray, shape (chains, draws, parts)
    row : ndarray of int, shape (parts,)
        The row that each part belongs to, in order.
    weight : ndarray, shape (parts,)
    """

    mean: np.ndarray
    sd: np.ndarray
    row: np.ndarray
    weight: np.ndarray

    def described(self, prob: float) -> dict[str, np.ndarray]:
        """Return mean, sd and the ends of the shortest interval, ``low`` and ``high``, shape (rows,)."""
        mean, sd = (values.reshape(-1, values.shape[-1]) for values in (self.mean, self.sd))
        out = {key: np.full(self.rows, np.nan) for key in ("mean", "sd", "low", "high")}
        for rows, parts, weight in self._alike():
            shape = (-1, len(rows))
            m, s = (x[:, parts].transpose(0, 2, 1).reshape(shape) for x in (mean, sd))
            each = None if weight is None else np.tile(weight, len(mean)) / len(mean)
            out["mean"][rows], out["sd"][rows] = mixture_mean_sd(m, s, each)
            out["low"][rows], out["high"][rows] = mixture_interval(m, s, prob, each)
        return out

    def in_batches(self, batches: int) -> list[Mixtures]:
        """Return the mixtures over each of so many batches of the draws."""
        n = self.mean.shape[0] * self.mean.shape[1]
        length = n // batches
        mean, sd = (values.reshape(n, -1) for values in (self.mean, self.sd))
        parts = (slice(at * length, (at + 1) * length) for at in range(batches))
        return [Mixtures(mean[None, part], sd[None, part], self.row, self.weight) for part in parts]

    def below(self, at: float) -> np.ndarray:
        """Return the probability of lying below a number, shape (rows,)."""
        n = self.mean.shape[0] * self.mean.shape[1]
        mean, sd = self.mean.reshape(n, -1), self.sd.reshape(n, -1)
        own = mixture_below(mean, sd, at)
        return np.bincount(self.row, self.weight * own, minlength=self.rows)

    def sampled(self, seed: int) -> np.ndarray:
        """Draw once from each of the normals, from one of the parts of each row; shape (chains, draws, rows)."""
        rng = np.random.default_rng(np.random.SeedSequence([seed, 4]))
        values = self.mean + self.sd * rng.standard_normal(self.mean.shape)
        out = np.empty((*values.shape[:2], self.rows))
        for row in range(self.rows):
            parts = np.flatnonzero(self.row == row)
            which = parts[rng.choice(len(parts), values.shape[:2], p=self.weight[parts])]
            out[..., row] = np.take_along_axis(values, which[..., None], axis=-1)[..., 0]
        return out

    @property
    def rows(self) -> int:
        """The number of rows."""
        return int(self.row[-1]) + 1 if len(self.row) else 0

    def _alike(self) -> list[tuple[np.ndarray, np.ndarray, np.ndarray | None]]:
        """Return rows with the same weights together: their numbers, their parts (rows, parts), and the weights."""
        groups: dict[bytes, list[int]] = {}
        starts = np.searchsorted(self.row, np.arange(self.rows + 1))
        for row in range(self.rows):
            groups.setdefault(self.weight[starts[row] : starts[row + 1]].tobytes(), []).append(row)
        out = []
        for rows in groups.values():
            width = int(starts[rows[0] + 1] - starts[rows[0]])
            parts = np.stack([np.arange(starts[row], starts[row + 1]) for row in rows])
            weight = None if width == 1 else self.weight[parts[0]]
            out.append((np.array(rows), parts, weight))
        return out


def mixture_mean_sd(
    mean: np.ndarray, sd: np.ndarray, weight: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and sd of mixtures; arguments as of `mixture_interval`."""
    centre = _average(mean, weight)
    return centre, np.sqrt(_average(sd**2 + (mean - centre) ** 2, weight))


def mixture_below(
    mean: np.ndarray, sd: np.ndarray, at: float, weight: np.ndarray | None = None
) -> np.ndarray:
    """Return the probability of lying below a number; arguments as of `mixture_interval`."""
    from scipy.special import ndtr

    return _average(ndtr((at - mean) / sd), weight)


def mixture_interval(
    mean: np.ndarray, sd: np.ndarray, prob: float, weight: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of the shortest interval of each mixture: the highest posterior density interval of one hump.

    The ends have equal density and hold `prob` between them; solved by Newton's method for all rows
    at once. A row where that does not succeed (humps apart) is solved on a grid.

    Parameters
    ----------
    mean, sd : ndarray, shape (n, rows)
        Of the normals; sd > 0.
    prob : float in (0, 1)
    weight : ndarray, shape (n,), optional
        By default all alike; they add up to one.

    Returns
    -------
    low, high : ndarray, shape (rows,)
    """
    from scipy.special import ndtr, ndtri

    centre, spread = mixture_mean_sd(mean, sd, weight)
    z = float(ndtri(0.5 + prob / 2))
    low, high = centre - z * spread, centre + z * spread
    open_rows = np.arange(mean.shape[1])
    for _ in range(_STEPS):
        m, s, unit = mean[:, open_rows], sd[:, open_rows], spread[open_rows]
        sides = []
        for end in (low[open_rows], high[open_rows]):
            x = (end - m) / s
            density = np.exp(-0.5 * x * x) / (s * np.sqrt(2 * np.pi))
            sides.append(
                (
                    _average(ndtr(x), weight),
                    _average(density, weight),
                    _average(-x * density / s, weight),
                )
            )
        (f_low, d_low, slope_low), (f_high, d_high, slope_high) = sides
        mass, tilt = f_high - f_low - prob, (d_low - d_high) * unit
        # Of [mass, tilt] with respect to [low, high].
        a, b, c, d = -d_low, d_high, slope_low * unit, -slope_high * unit
        with np.errstate(divide="ignore", invalid="ignore"):
            by = 1 / (a * d - b * c)
            step_low, step_high = (d * mass - b * tilt) * by, (a * tilt - c * mass) * by
        reach = 0.5 * unit
        low[open_rows] -= np.clip(np.nan_to_num(step_low, nan=np.inf), -reach, reach)
        high[open_rows] -= np.clip(np.nan_to_num(step_high, nan=np.inf), -reach, reach)
        moving = (np.abs(mass) > _EXACT) | (np.abs(tilt * unit) > _EXACT)
        # Rising at the low end and falling at the high one, or it is no interval of highest density.
        moving |= ~((slope_low > 0) & (slope_high < 0))
        open_rows = open_rows[moving]
        if len(open_rows) == 0:
            break
    for row in open_rows:
        low[row], high[row] = _on_a_grid(mean[:, row], sd[:, row], prob, weight)
    return low, high


def _on_a_grid(
    mean: np.ndarray, sd: np.ndarray, prob: float, weight: np.ndarray | None
) -> tuple[float, float]:
    """Return the shortest interval of one mixture, from its distribution function on a grid."""
    from scipy.special import ndtr

    grid = np.linspace((mean - 6 * sd).min(), (mean + 6 * sd).max(), _GRID)
    below = np.array([_average(ndtr((x - mean) / sd)[:, None], weight)[0] for x in grid])
    start = np.linspace(below[0], 1 - prob, _GRID)
    ends = np.interp(start, below, grid), np.interp(start + prob, below, grid)
    at = int(np.argmin(ends[1] - ends[0]))
    return float(ends[0][at]), float(ends[1][at])


def _average(values: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
    return values.mean(axis=0) if weight is None else weight @ values


def mixed_rows(
    rows: Rows,
    design: Design,
    reduced: Collapsed | None,
    draws: Mapping[str, np.ndarray],
    chains: int,
    projected: Projected | None = None,
) -> tuple[Mixtures, dict[str, np.ndarray]] | None:
    """Return the rows as normal mixtures, and the draws of the scales that they are mixtures over; None where they are not.

    Of a model that was sampled pair by pair only what is new is normal given the draws. `projected`
    are the same rows turned as the components of the reduction are, where that is done already.
    """
    if not rows.keys:
        return None
    names = list(draws) if reduced is None else list(reduced.scales)
    n = len(draws[names[0]])
    step = -(-n // MOST_MIXED)
    # The same number of draws of each chain.
    chosen = np.concatenate(
        [
            np.arange(chain * (n // chains), (chain + 1) * (n // chains), step)
            for chain in range(chains)
        ]
    )
    some = {name: draws[name][chosen] for name in names}
    if reduced is not None and all((some[name] > 0).all() for name in names):
        turned = Projected.of(reduced, rows.linear) if projected is None else projected
        mean, variance = turned.moments(reduced, reduced.joined(some))
    elif reduced is None and (rows.linear.shared or rows.linear.apart):
        mean = rows.linear.draws(some)
        variance = np.zeros_like(mean)
    else:
        return None
    variance = variance + rows.linear.new_variance(some)
    if not (variance > 0).all():
        return None  # such as a mean that is a number of the model file
    shape = (chains, len(chosen) // chains, mean.shape[1])
    return Mixtures(
        mean.reshape(shape), np.sqrt(variance).reshape(shape), rows.row, rows.weight
    ), some
