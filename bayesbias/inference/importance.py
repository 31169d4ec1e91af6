r"""Importance sampling of the scales where a density is costly.

A density of a large table takes milliseconds, so that a few hundred must do. Three things make them
go far:

1. *A split proposal.* The posterior of a standard deviation (SD) is skewed, also in the coordinates
   of `bayesbias.inference.kernel`. Along each principal axis of the curvature at the mode, the log
   density is taken 1.5 standard deviations up and down. Its drop gives either half of the
   proposal, a Student-t, a width of its own: a normal half of width w drops by :math:`(1.5 / w)^2
   / 2`. A half is taken in proportion to its width, so that the density has no step.
2. *Sobol points.* Each chain has scrambled points of its own, which fill the space evenly. Chains
   are independent, so that R-hat compares what it should.
3. *Rounds.* If few points count (under a quarter) or the weights have a heavy tail (Pareto k above
   0.7), the next round proposes along axes with the weighted covariance. Blocks of points are added
   until there are enough effective draws.

For instance, let the log density of one coordinate drop by 2.25 at 1.5 down, and by 0.5 at 1.5 up.
The halves are 1.5 / sqrt(4.5) = 0.71 and 1.5 / sqrt(1) = 1.5 wide, so that 68 % of the points lie
above the mode.

4. *Bounds.* Counts have an approximate density, and a closer one that costs more
   (`bayesbias.inference.binomial`). The latter is computed at some points. What it has more is
   predicted for the others, and all are weighted by it.

The effects need no points: given the SDs they are normal, and results are mixtures over the SDs.
"""

from __future__ import annotations

import itertools
import math
import sys
from dataclasses import dataclass

import numpy as np

from bayesbias.core.progress import Tick, ticking
from bayesbias.core.workers import threads
from bayesbias.inference.likelihood import Reduction
from bayesbias.inference.sampling import (
    MOST_PARETO_K,
    Engine,
    ScaleApproximation,
    laplace,
    pareto_smoothed,
)

_DEGREES = 10.0
_ROUNDS = 5
_LEAST_SHARE, _LEAST_SHARE_LATER = 0.25, 0.1  # of points that count, in the first round and later
_CHEAP_S, _ENOUGH_PER_CHAIN = 0.1, 750.0
_FEWEST, _MOST = 64, 512  # points of a chain in a block, powers of two
_MOST_POINTS = 8192  # of a chain
_BLOCK_S = 1.5  # how long a block of more than the fewest points may take
_TRUST = 200.0  # effective draws that the covariance of the last proposal counts for
_FEWEST_BOUNDS, _BOUNDS_PER_COEFFICIENT = 64, 4  # points whose bounds are computed
_SEARCHES = 300  # densities that the mode and the curvature take
_LONG_S = 10.0
_REACH = 1.5  # where drops of the log density are measured
_NARROWEST, _WIDEST = 0.6, 2.5
_LEAST_DROP = 0.05
_MEAN_OF_HALF = math.sqrt(2 / math.pi)  # of a standard normal
_EDGE = 1e-9  # how close to 0 and 1 a point may come


@dataclass(frozen=True, eq=False)
class Proposal:
    """A Student-t in coordinates of the scales, with halves of different widths.

    Attributes
    ----------
    center : ndarray, shape (n,)
    root : ndarray, shape (n, n)
        Its columns are the axes, one standard deviation long.
    up, down : ndarray, shape (n,)
        The widths of the two halves along each axis.
    """

    center: np.ndarray
    root: np.ndarray
    up: np.ndarray
    down: np.ndarray

    @property
    def offset(self) -> np.ndarray:
        """The mean along each axis, which lies on the wider side of the center."""
        return _MEAN_OF_HALF * (self.up - self.down)

    def points(self, uniform: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Turn uniform numbers, shape (n, axes + 1), into points and log densities.

        A constant of the log densities is left out.
        """
        from scipy.special import chdtri, ndtri

        axes = len(self.center)
        x = np.clip(uniform, _EDGE, 1 - _EDGE)
        side = x[:, :axes]
        below = self.down / (self.up + self.down)
        is_up = side > below
        within = np.where(is_up, 0.5 + 0.5 * (side - below) / (1 - below), 0.5 * side / below)
        z = ndtri(np.clip(within, _EDGE, 1 - _EDGE))
        t = z / np.sqrt(chdtri(_DEGREES, x[:, axes:]) / _DEGREES)
        log_density = -0.5 * (_DEGREES + axes) * np.log1p((t * t).sum(axis=1) / _DEGREES)
        return self.center + (t * np.where(is_up, self.up, self.down)) @ self.root.T, log_density


@dataclass(frozen=True, eq=False)
class Weighted:
    """Points of all chains with their weights.

    Attributes
    ----------
    u : ndarray, shape (chains, points, n)
    density : ndarray, shape (chains, points)
        The log posterior density of the coordinates.
    proposed : ndarray, shape (chains, points)
        The log density of the proposal.
    weights : ndarray, shape (chains, points)
        Smoothed weights, which add up to one.
    pareto_k : float
    """

    u: np.ndarray
    density: np.ndarray
    proposed: np.ndarray
    weights: np.ndarray
    pareto_k: float

    @classmethod
    def of(cls, u: np.ndarray, density: np.ndarray, proposed: np.ndarray) -> Weighted:
        """Weight points by the ratio of densities."""
        ratio = (density - proposed).ravel()
        if not np.isfinite(ratio.max()):
            return cls(u, density, proposed, np.full(density.shape, np.nan), math.nan)
        log_weights, k = pareto_smoothed(np.maximum(ratio, ratio.max() - 700))
        weights = np.exp(log_weights - log_weights.max()).reshape(density.shape)
        return cls(u, density, proposed, weights / weights.sum(), k)

    @property
    def number(self) -> int:
        """The number of points."""
        return self.density.size

    @property
    def effective(self) -> float:
        """How many draws of equal weight the points are worth."""
        return float(1 / (self.weights**2).sum())

    def joined(self, more: Weighted) -> Weighted:
        """Return these points with more of the same proposal."""
        u = np.concatenate([self.u, more.u], axis=1)
        density = np.concatenate([self.density, more.density], axis=1)
        return Weighted.of(u, density, np.concatenate([self.proposed, more.proposed], axis=1))

    def proposal(self, last: Proposal) -> Proposal:
        """Return a proposal whose axes have the weighted covariance.

        Halves keep their widths. Few effective draws shrink the covariance toward that of the last
        proposal.
        """
        flat, weights = self.u.reshape(-1, self.u.shape[2]), self.weights.ravel()
        along = np.linalg.solve(last.root, (flat - last.center).T).T
        away = along - weights @ along
        widths = np.sqrt((last.up**2 + last.down**2) / 2)
        share = self.effective / (self.effective + _TRUST)
        covariance = share * (away * weights[:, None]).T @ away
        covariance += (1 - share) * np.diag(widths**2)
        turned = np.linalg.cholesky(covariance / np.outer(widths, widths))
        root = last.root @ (widths[:, None] * turned / widths)
        center = last.center + share * last.root @ (weights @ along - last.offset)
        return Proposal(center, root, last.up, last.down)


def sample_costly(
    reduced: Reduction,
    draws: int,
    chains: int,
    seed: int,
    progress: bool | None = None,
    start: ScaleApproximation | None = None,
) -> tuple[np.ndarray, np.ndarray, Engine, ScaleApproximation]:
    """Return draws of the log scales of the same weight, and their log densities.

    Returns
    -------
    ndarray, shape (chains, draws, n_theta)
        No draws if the weights cannot be trusted.
    ndarray, shape (chains, draws)
    Engine
    ScaleApproximation
    """
    least_per_chain, wanted_per_chain = reduced.per_chain
    announce(wanted_per_chain * chains * 2 / threads() + _SEARCHES, reduced, progress)
    start = laplace(reduced, near=True) if start is None else start
    nothing = np.empty((chains, 0, reduced.n_theta)), np.empty((chains, 0))
    if not start.found:
        return *nothing, Engine(asked="quick", why_not="no mode"), start
    block = _points_in_a_block(reduced, chains)
    reduced.started(start.theta(start.mode)[0])
    proposal = _split_proposal(reduced, start)
    streams = itertools.count()
    gain: Gain | None = None

    def weighted(blocks: int, tick: Tick) -> Weighted:
        parts = []
        for _, chain in itertools.product(range(blocks), range(chains)):
            uniform = _sobol(reduced.n_theta + 1, block, [seed, 8, next(streams), chain])
            points, proposed = proposal.points(uniform)
            density = start.log_densities(reduced, points)
            parts.append((points, density if gain is None else density + gain(points), proposed))
            tick(block)
        arrays = (np.stack(array) for array in zip(*parts, strict=True))
        # By chain, then by block.
        u, density, proposed = (
            array.reshape(blocks, chains, *array.shape[1:])
            .swapaxes(0, 1)
            .reshape(chains, blocks * block, *array.shape[2:])
            for array in arrays
        )
        return Weighted.of(u, density, proposed)

    # Ends of intervals of the SDs themselves gain from more draws, where these are cheap.
    cheap = min(_CHEAP_S / reduced.seconds, _ENOUGH_PER_CHAIN)
    if reduced.is_approximate:  # few of which will differ
        cheap = 0.0
    wanted = min(max(cheap, wanted_per_chain), draws / 3) * chains
    most = _MOST_POINTS * chains
    least = min(least_per_chain, draws / 3) * chains
    with ticking("sampling standard deviations", most, progress) as tick:
        for number in range(_ROUNDS):
            found = weighted(1, tick)
            if math.isnan(found.pareto_k):
                return *nothing, Engine(asked="quick", why_not="no mode"), start
            if number == 0 and reduced.is_approximate:
                gain = Gain.of(found, reduced, start, seed)
                if gain is not None:
                    found = Weighted.of(found.u, found.density + gain(found.u), found.proposed)
            is_first = number == 0 and not reduced.is_approximate
            least_share = _LEAST_SHARE if is_first else _LEAST_SHARE_LATER
            while found.effective < wanted and found.number < most:
                if found.effective < least_share * found.number:
                    break
                lacking = wanted / found.effective - 1
                blocks = max(1, round(min(lacking, 1.0) * found.u.shape[1] / block))
                found = found.joined(weighted(blocks, tick))
            if found.pareto_k <= MOST_PARETO_K and found.effective >= least:
                break
            proposal = found.proposal(proposal)

    few = found.effective < least
    why_not = "pareto_k" if not found.pareto_k <= MOST_PARETO_K else "effective" if few else ""
    k = float(found.pareto_k) if math.isfinite(found.pareto_k) else None
    if not reduced.has_nuts:  # diagnostics say what is wrong
        why_not = ""
    engine = Engine(
        "nuts" if why_not else "quick", "quick", k, found.effective, found.number, why_not
    )
    if why_not:
        return *nothing, engine, start
    theta, _, log_slope = start.theta(found.u)
    density = found.density - log_slope.sum(axis=2)
    distinct = min(draws, max(reduced.most_mixed // chains, 1)) if reduced.is_approximate else draws
    taken = _resampled(found.weights, distinct, np.random.default_rng([seed, 5]))
    taken = taken[:, np.arange(draws) * distinct // draws]
    along = np.arange(chains)[:, None]
    return theta[along, taken], density[along, taken], engine, start


@dataclass(frozen=True, eq=False)
class Gain:
    """What a closer bound of the log density has more, predicted from coordinates of the scales.

    Attributes
    ----------
    start : ScaleApproximation
        The axes along which coordinates count.
    low, high : ndarray, shape (n,)
        The range along each axis where bounds are known; beyond, the gain stays as it is there.
    coefs : ndarray, shape (1 + 2 n,)
        Of one, the coordinates along the axes, and their squares.
    """

    start: ScaleApproximation
    low: np.ndarray
    high: np.ndarray
    coefs: np.ndarray

    @classmethod
    def of(
        cls, found: Weighted, reduced: Reduction, start: ScaleApproximation, seed: int
    ) -> Gain | None:
        """Regress the gain at some of the points on their coordinates; None without bounds."""
        n, points = reduced.n_theta, found.u.reshape(-1, reduced.n_theta)
        number = max(_FEWEST_BOUNDS, _BOUNDS_PER_COEFFICIENT * (1 + 2 * n))
        # Not in proportion to their weights, so that some lie where those of the bounds are larger.
        spread = np.sqrt(found.weights.reshape(1, -1))
        chosen = np.unique(_resampled(spread, number, np.random.default_rng([seed, 9])))
        theta, _, log_slope = start.theta(points[chosen])
        bounds = reduced.bounds(theta)
        if bounds is None:
            return None
        gains = bounds + log_slope.sum(axis=1) - found.density.ravel()[chosen]
        finite = np.isfinite(gains)
        along = cls._along(start, points[chosen[finite]])
        coefs = np.linalg.lstsq(cls._terms(along), gains[finite], rcond=None)[0]
        return cls(start, along.min(axis=0), along.max(axis=0), coefs)

    def __call__(self, u: np.ndarray) -> np.ndarray:
        """Return the gain at coordinates, shape (..., n)."""
        along = self._along(self.start, u.reshape(-1, u.shape[-1]))
        terms = self._terms(np.clip(along, self.low, self.high))
        return (terms @ self.coefs).reshape(u.shape[:-1])

    @staticmethod
    def _along(start: ScaleApproximation, u: np.ndarray) -> np.ndarray:
        return np.linalg.solve(start.root, (u - start.mode).T).T

    @staticmethod
    def _terms(along: np.ndarray) -> np.ndarray:
        return np.concatenate([np.ones((len(along), 1)), along, along**2], axis=1)


def announce(densities: float, reduced: Reduction, progress: bool | None) -> None:
    """Say on standard error how long sampling takes, if that is over ten seconds."""
    seconds = densities * reduced.seconds
    if seconds > _LONG_S and progress is not False:
        amount = f"{seconds:.0f} seconds" if seconds < 120 else f"{seconds / 60:.0f} minutes"
        rows = f"{len(reduced.design.y):,} rows"
        print(f"Sampling the model of {rows} takes about {amount}.", file=sys.stderr)


def _points_in_a_block(reduced: Reduction, chains: int) -> int:
    """Return how many points a chain has in a block: more where they are cheap."""
    number = _FEWEST
    most = 2 * _FEWEST if reduced.is_approximate else _MOST
    while number < most and 2 * number * chains * reduced.seconds <= _BLOCK_S:
        number *= 2
    return number


def _sobol(dimensions: int, number: int, seed: list[int]) -> np.ndarray:
    """Return scrambled Sobol points, of which there is a power of two."""
    from scipy.stats import qmc

    rng = np.random.default_rng(seed)
    return qmc.Sobol(dimensions, rng=rng).random_base2(int(math.log2(number)))


def _split_proposal(reduced: Reduction, start: ScaleApproximation) -> Proposal:
    """Return the proposal around the mode, whose halves follow the drop of the log density."""
    values, vectors = np.linalg.eigh(start.root @ start.root.T)
    root = vectors * np.sqrt(values)
    steps = _REACH * root.T
    points = np.concatenate([start.mode[None], start.mode + steps, start.mode - steps])
    density = start.log_densities(reduced, points)
    drops = np.maximum(density[0] - density[1:], _LEAST_DROP)
    widths = np.clip(_REACH / np.sqrt(2 * drops), _NARROWEST, _WIDEST)
    up, down = np.split(widths, 2)
    return Proposal(start.mode, root, up, down)


def _resampled(weights: np.ndarray, draws: int, rng: np.random.Generator) -> np.ndarray:
    """Return the places of draws in each chain: one random start, even steps."""
    chains, points = weights.shape
    along = np.cumsum(weights, axis=1)
    comb = (np.arange(draws) + rng.random((chains, 1))) / draws
    places = [
        np.searchsorted(total / total[-1], ends) for total, ends in zip(along, comb, strict=True)
    ]
    return np.minimum(np.stack(places), points - 1)
