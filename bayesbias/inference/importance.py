r"""Importance sampling of the scales where a density is costly.

A density of a large table takes milliseconds, so that a few hundred must do. Four things make them
go far:

1. *A split proposal.* The posterior of a standard deviation (SD) is skewed, also in the coordinates
   of `bayesbias.inference.kernel`. Axes stay close to these coordinates: the covariance at the mode
   is :math:`D R D` with correlations R, and :math:`D R^{1/2}` has the axes. Along each the log
   density is taken 3 standard deviations up and down, where an SD near zero has its long tail. Its
   drop gives either half of the proposal, a Student-t, a width of its own: a normal half of width w
   drops by :math:`(3 / w)^2 / 2`. A half is taken in proportion to its width, so that the density
   has no step.
2. *Sobol points.* Each chain has scrambled points of its own, which fill the space evenly. Chains
   are independent, so that R-hat compares what it should.
3. *Rounds, of which every point counts.* The points so far give the next proposal its mean and
   its covariance. With many SDs the mean is far from the mode, and few points know correlations
   badly, so that these shrink most. A point is weighted by its density over that of the mixture of
   all proposals so far. The first proposal, whose tails are heavy, keeps the weights bounded. It
   stays where half of its points count, or where only the tails need more points.
4. *Bounds.* Counts have an approximate density, and a closer one that costs more
   (`bayesbias.inference.binomial`). The latter is computed at some points. What it has more is
   predicted for the others, and all are weighted by it.

Rounds end when there are enough effective draws. A scale that is close to zero in a part of its
posterior may have fewer. It gets more rounds where these are cheap.

For instance, let the log density of one coordinate drop by 9 at 3 down, and by 2 at 3 up. The halves
are 3 / sqrt(18) = 0.71 and 3 / sqrt(4) = 1.5 wide, so that 68 % of the points lie above the mode.

The effects need no points: given the SDs they are normal, and results are mixtures over the SDs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from bayesbias.core.progress import announce as announce_duration, ticking
from bayesbias.core.workers import threads
from bayesbias.inference.diagnostics import r_hat_and_ess
from bayesbias.inference.likelihood import Reduction
from bayesbias.inference.sampling import (
    MOST_PARETO_K,
    Engine,
    ScaleApproximation,
    laplace,
    pareto_smoothed,
)

_DEGREES, _DEGREES_LATER = 10.0, 30.0  # of the Student-t of the first and of later proposals
_ROUNDS = 12
_CHEAP_S, _ENOUGH_PER_CHAIN = 0.1, 750.0
_FEWEST, _MOST = 64, 256  # points of a chain in the first round
_MOST_POINTS = 8192  # of a chain
_FIRST_S = 1.0  # how long a first round of more than the fewest points may take
_LONG_FIRST_S = 60.0  # beyond which a first round of the fewest has half of them
_PATIENCE_S = 1.0  # the work of all rounds for the scale with the fewest effective draws
# Effective draws that the widths, and the correlations, of the first proposal count for.
_TRUST, _TRUST_CORRELATIONS = 20.0, 200.0
_EFFICIENT = 0.5  # effective draws of a point, with which the first proposal stays
_GROWTH = 1.0, 0.1  # the most and the least share by which a round adds to the points
_FEWEST_BOUNDS = 32  # points whose bounds are computed
_BOUNDS_PER_COEFFICIENT = 2  # the same, where these predict each other well
_MOST_PER_COEFFICIENT = 4  # the same, where they do not
_WELL = 0.05  # the SD of a gain in log density around its prediction
_SEARCHES = 300  # densities that the mode and the curvature take
_REACH = 3.0  # where drops of the log density are measured
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
    degrees : float
        Degrees of freedom.
    """

    center: np.ndarray
    root: np.ndarray
    up: np.ndarray
    down: np.ndarray
    degrees: float = _DEGREES

    @property
    def offset(self) -> np.ndarray:
        """The mean along each axis, which lies on the wider side of the center."""
        return _MEAN_OF_HALF * (self.up - self.down)

    def points(self, uniform: np.ndarray) -> np.ndarray:
        """Turn uniform numbers, shape (n, axes + 1), into points."""
        from scipy.special import chdtri, ndtri

        axes = len(self.center)
        x = np.clip(uniform, _EDGE, 1 - _EDGE)
        side = x[:, :axes]
        below = self.down / (self.up + self.down)
        is_up = side > below
        within = np.where(is_up, 0.5 + 0.5 * (side - below) / (1 - below), 0.5 * side / below)
        z = ndtri(np.clip(within, _EDGE, 1 - _EDGE))
        t = z / np.sqrt(chdtri(self.degrees, x[:, axes:]) / self.degrees)
        return self.center + (t * np.where(is_up, self.up, self.down)) @ self.root.T

    def along(self, u: np.ndarray) -> np.ndarray:
        """Return where points, shape (n, axes), are along the axes."""
        return np.linalg.solve(self.root, (u - self.center).T).T

    def log_density(self, u: np.ndarray) -> np.ndarray:
        """Return the log density of points, shape (n, axes)."""
        from scipy.special import gammaln

        axes, degrees = len(self.center), self.degrees
        z = self.along(u)
        t = np.where(z > 0, z / self.up, z / self.down)
        constant = gammaln((degrees + axes) / 2) - gammaln(degrees / 2)
        constant -= axes / 2 * math.log(degrees * math.pi) + np.linalg.slogdet(self.root)[1]
        constant -= np.log((self.up + self.down) / 2).sum()
        return constant - 0.5 * (degrees + axes) * np.log1p((t * t).sum(axis=1) / degrees)


@dataclass(frozen=True, eq=False)
class Weighted:
    """Points of all chains with their weights.

    Attributes
    ----------
    proposals : tuple of Proposal
        In the order in which they were made.
    counts : tuple of int
        How many points each of them gave each chain.
    u : ndarray, shape (chains, points, n)
    density : ndarray, shape (chains, points)
        The log posterior density of the coordinates.
    weights : ndarray, shape (chains, points)
        Smoothed weights, which add up to one; NaN if no point has a density.
    pareto_k : float
    """

    proposals: tuple[Proposal, ...]
    counts: tuple[int, ...]
    u: np.ndarray
    density: np.ndarray
    weights: np.ndarray
    pareto_k: float

    @classmethod
    def of(
        cls,
        proposals: tuple[Proposal, ...],
        counts: tuple[int, ...],
        u: np.ndarray,
        density: np.ndarray,
    ) -> Weighted:
        """Weight points by their density over that of the mixture of the proposals."""
        from scipy.special import logsumexp

        flat = u.reshape(-1, u.shape[2])
        parts = np.stack([proposal.log_density(flat) for proposal in proposals])
        shares = np.array(counts) / sum(counts)
        ratio = density.ravel() - logsumexp(parts, axis=0, b=shares[:, None])
        if not np.isfinite(ratio.max()):
            nothing = np.full(density.shape, np.nan)
            return cls(proposals, counts, u, density, nothing, math.nan)
        log_weights, k = pareto_smoothed(np.maximum(ratio, ratio.max() - 700))
        weights = np.exp(log_weights - log_weights.max()).reshape(density.shape)
        return cls(proposals, counts, u, density, weights / weights.sum(), k)

    @property
    def number(self) -> int:
        """The number of points."""
        return self.density.size

    @property
    def effective(self) -> float:
        """How many draws of equal weight the points are worth."""
        return float(1 / (self.weights**2).sum())

    def joined(self, proposal: Proposal, u: np.ndarray, density: np.ndarray) -> Weighted:
        """Return these points with more of another proposal."""
        return Weighted.of(
            (*self.proposals, proposal),
            (*self.counts, u.shape[1]),
            np.concatenate([self.u, u], axis=1),
            np.concatenate([self.density, density], axis=1),
        )

    def next_proposal(self) -> Proposal:
        """Return a proposal whose axes have the weighted mean and covariance.

        Halves keep the ratio of their widths. Few effective draws shrink the widths a little, and
        the correlations more, toward those of the first proposal.
        """
        first = self.proposals[0]
        flat, weights = self.u.reshape(-1, self.u.shape[2]), self.weights.ravel()
        along = first.along(flat)
        mean = weights @ along
        away = along - mean
        covariance = (away * weights[:, None]).T @ away
        share = self.effective / (self.effective + _TRUST)
        widths = np.sqrt((first.up**2 + first.down**2) / 2)
        sds = np.sqrt(share * np.diag(covariance) + (1 - share) * widths**2)
        correlations = covariance / np.sqrt(np.outer(np.diag(covariance), np.diag(covariance)))
        correlations *= self.effective / (self.effective + _TRUST_CORRELATIONS)
        np.fill_diagonal(correlations, 1.0)
        root = sds[:, None] * np.linalg.cholesky(correlations)
        up, down = first.up / widths, first.down / widths
        center = share * mean + (1 - share) * first.offset - root @ (_MEAN_OF_HALF * (up - down))
        return Proposal(
            first.center + first.root @ center, first.root @ root, up, down, _DEGREES_LATER
        )


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
    reduced.started(start.theta(start.mode)[0])
    gain: Gain | None = None
    # Ends of intervals of the SDs themselves gain from more draws, where these are cheap.
    cheap = min(_CHEAP_S / reduced.seconds, _ENOUGH_PER_CHAIN)
    distinct = draws
    if reduced.is_approximate:
        cheap, distinct = 0.0, max(reduced.most_mixed // chains, 1)
        distinct = min(draws, distinct)
    wanted = min(max(cheap, wanted_per_chain), draws / 3) * chains
    least = min(least_per_chain, draws / 3) * chains

    def draws_of(found: Weighted) -> tuple[np.ndarray, np.ndarray]:
        theta, _, log_slope = start.theta(found.u)
        density = found.density - log_slope.sum(axis=2)
        taken = _resampled(found.weights, distinct, np.random.default_rng([seed, 5]))
        taken = taken[:, np.arange(draws) * distinct // draws]
        along = np.arange(chains)[:, None]
        return theta[along, taken], density[along, taken]

    proposal, size = _split_proposal(reduced, start), _first_size(reduced, chains)
    with ticking("sampling standard deviations", _MOST_POINTS * chains, progress) as tick:
        for number in range(_ROUNDS):
            points, density = [], []
            for chain in range(chains):
                uniform = _sobol(reduced.n_theta + 1, size, [seed, 8, number, chain])
                points.append(proposal.points(uniform))
                density.append(start.log_densities(reduced, points[-1]))
                tick(size)
            u, values = np.stack(points), np.stack(density)
            if gain is not None:
                values = values + gain(u)
            if number == 0:
                found = Weighted.of((proposal,), (size,), u, values)
            else:
                found = found.joined(proposal, u, values)
            if math.isnan(found.pareto_k):
                return *nothing, Engine(asked="quick", why_not="no mode"), start
            if number == 0 and reduced.is_approximate:
                gain = Gain.of(found, reduced, start, seed)
                if gain is not None:
                    found = Weighted.of((proposal,), (size,), u, values + gain(u))

            theta, logp = draws_of(found)
            few = found.effective < least
            worst = found.effective
            if not reduced.is_approximate and found.number * reduced.seconds < _PATIENCE_S:
                worst = min(worst, float(np.nanmin(r_hat_and_ess(theta)[1])))
            if worst >= wanted and found.pareto_k <= MOST_PARETO_K:
                break
            most, fewest = _GROWTH
            growth = min(max(wanted / worst - 1, fewest), most)
            size = min(math.ceil(growth * found.u.shape[1]), _MOST_POINTS - found.u.shape[1])
            if size < 1:
                break
            if found.effective < min(wanted, _EFFICIENT * found.number):
                proposal = found.next_proposal()
            else:
                proposal = found.proposals[0]

    why_not = "pareto_k" if not found.pareto_k <= MOST_PARETO_K else "effective" if few else ""
    k = float(found.pareto_k) if math.isfinite(found.pareto_k) else None
    if not reduced.has_nuts:  # diagnostics say what is wrong
        why_not = ""
    engine = Engine(
        "nuts" if why_not else "quick", "quick", k, found.effective, found.number, why_not
    )
    if why_not:
        return *nothing, engine, start
    return theta, logp, engine, start


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
        """Regress the gain at some of the points on their coordinates; None without bounds.

        More points follow where the first do not predict each other well.
        """
        points, density = found.u.reshape(-1, reduced.n_theta), found.density.ravel()
        coefficients = 1 + 2 * reduced.n_theta
        first = max(_FEWEST_BOUNDS, _BOUNDS_PER_COEFFICIENT * coefficients)
        number = max(_FEWEST_BOUNDS, _MOST_PER_COEFFICIENT * coefficients)
        # Not in proportion to their weights, so that some lie where those of the bounds are larger.
        spread = np.sqrt(found.weights.reshape(1, -1))
        rng = np.random.default_rng([seed, 9])
        chosen = rng.permutation(np.unique(_resampled(spread, number, rng)))

        gains = np.empty(0)
        for more in (chosen[:first], chosen[first:]):
            theta, _, log_slope = start.theta(points[more])
            bounds = reduced.bounds(theta)
            if bounds is None:
                return None
            gains = np.concatenate([gains, bounds + log_slope.sum(axis=1) - density[more]])
            finite = np.isfinite(gains)
            along = cls._along(start, points[chosen[: len(gains)][finite]])
            terms = cls._terms(along)
            coefs = np.linalg.lstsq(terms, gains[finite], rcond=None)[0]
            left = gains[finite] - terms @ coefs
            if left @ left < (len(left) - coefficients) * _WELL**2:
                break
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
    rows = f"{len(reduced.design.y):,} rows"
    announce_duration(f"Sampling the model of {rows}", densities * reduced.seconds, progress)


def _first_size(reduced: Reduction, chains: int) -> int:
    """Return how many points a chain has in the first round: more where they are cheap."""
    number = _FEWEST
    if number * chains * reduced.seconds > _LONG_FIRST_S:
        return number // 2
    most = 2 * _FEWEST if reduced.is_approximate else _MOST
    while number < most and 2 * number * chains * reduced.seconds <= _FIRST_S:
        number *= 2
    return number


def _sobol(dimensions: int, number: int, seed: list[int]) -> np.ndarray:
    """Return scrambled Sobol points: the first of a power of two."""
    from scipy.stats import qmc

    rng = np.random.default_rng(seed)
    points: np.ndarray = qmc.Sobol(dimensions, rng=rng).random_base2(math.ceil(math.log2(number)))
    return points[:number]


def _split_proposal(reduced: Reduction, start: ScaleApproximation) -> Proposal:
    """Return the proposal around the mode, whose halves follow the drop of the log density."""
    covariance = start.root @ start.root.T
    sds = np.sqrt(np.diag(covariance))
    root = sds[:, None] * _square_root(covariance / np.outer(sds, sds))
    steps = _REACH * root.T
    points = np.concatenate([start.mode[None], start.mode + steps, start.mode - steps])
    density = start.log_densities(reduced, points)
    drops = np.maximum(density[0] - density[1:], _LEAST_DROP)
    widths = np.clip(_REACH / np.sqrt(2 * drops), _NARROWEST, _WIDEST)
    up, down = np.split(widths, 2)
    return Proposal(start.mode, root, up, down)


def _square_root(correlations: np.ndarray) -> np.ndarray:
    """Return the symmetric root, whose columns are as close to the coordinates as can be."""
    values, vectors = np.linalg.eigh(correlations)
    return (vectors * np.sqrt(values)) @ vectors.T


def _resampled(weights: np.ndarray, draws: int, rng: np.random.Generator) -> np.ndarray:
    """Return the places of draws in each chain: one random start, even steps."""
    chains, points = weights.shape
    along = np.cumsum(weights, axis=1)
    comb = (np.arange(draws) + rng.random((chains, 1))) / draws
    places = [
        np.searchsorted(total / total[-1], ends) for total, ends in zip(along, comb, strict=True)
    ]
    return np.minimum(np.stack(places), points - 1)
