r"""The scales of a collapsed model by importance sampling: weighted draws from a distribution shaped after the posterior.

Some twenty scales are left of a collapsed model, and their posterior is near normal in the right coordinates
(`bayesbias.inference.straight`). A proposal (`bayesbias.inference.proposals`) is made from the neighbourhood of its mode,
bettered by its own weighted draws where it fits badly, and drawn from once more. Weights :math:`p(\theta) / q(\theta)`
correct for what it lacks. Their tail is smoothed by a generalized Pareto distribution, whose shape k says whether they can
be trusted: up to 0.7 (Vehtari, Simpson, Gelman, Yao & Gabry 2024, *Journal of Machine Learning Research* 25:72).

Where they cannot, where climbing from elsewhere finds another mode, or where too few draws count, the answer is none: the
caller samples by NUTS, and says so.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayesbias.inference.collapsed import Collapsed
from bayesbias.inference.engine import Engine, finite_or_none
from bayesbias.inference.proposals import Proposal, adapted, at_mode, effective_weights
from bayesbias.inference.straight import Straight

MOST_PARETO_K = 0.7
FEWEST_PER_CHAIN = 100.0  # effective draws, as diagnostics ask of any sampler
_DEGREES = 20.0
_TRIED = 800  # draws of the first proposal
_ADAPTING = 1000  # draws of each later one
_MOST_ROUNDS = 4
_FIRST_ROUNDS = 2
_GOOD_PARETO_K = 0.5  # above it another round is worth its cost
_ENOUGH = 0.75  # efficiency from which on adapting does not pay
_TRUST = (200.0, 600.0)
_LEAST_EFFECTIVE = 60.0  # in a round; weights are flattened until there are as many
_MOST_PROPOSED = 8.0  # draws proposed for each that is kept
_FEWEST_PROPOSED = (
    4000  # of all chains together: some milliseconds, and few draws of small samples are repeated
)
_LIKELY = 0.4
_IN_REACH = 0.5  # of a mode, in standard deviations: whoever climbs from there climbs to it


def best_proposal(straight: Straight, start: np.ndarray, seed: int) -> tuple[Proposal | None, float]:
    """Return the proposal that draws of `weigh_scales` come from at first, and its efficiency; none without a single mode."""
    mode, height = straight.mode(straight.at(start[None])[0])
    if not np.isfinite(height):
        return None, 0.0
    covariance = straight.covariance(mode)
    if not np.isfinite(covariance).all() or _other_mode(straight, start, mode, height, covariance):
        return None, 0.0
    rng = np.random.default_rng(np.random.SeedSequence([seed, 6]))
    return _found_proposal(straight, mode, covariance, rng)[:2]


@dataclass(frozen=True, eq=False)
class _Round:
    draws: np.ndarray
    weights: np.ndarray
    efficiency: float


def weigh_scales(
    reduced: Collapsed, start: np.ndarray, draws: int, chains: int, seed: int
) -> tuple[np.ndarray, Engine]:
    """Return draws of the log-scales, all of the same weight, shape (chains, draws, n_theta), and how it went.

    Each chain has proposals of its own, resampled after their weights by one even comb; their order stays, so that one that
    is taken twice stands beside itself, and effective draws and R-hat of such chains mean what they mean elsewhere.

    Parameters
    ----------
    reduced : Collapsed
    start : ndarray, shape (n_theta,)
        Log-scales to climb from.
    draws, chains, seed : int

    Returns
    -------
    ndarray, shape (chains, draws, n_theta)
        Of no draws where the weights cannot be trusted.
    Engine
    """
    straight = Straight(reduced)
    none = np.empty((chains, 0, reduced.n_theta))
    mode, height = straight.mode(straight.at(start[None])[0])
    if not np.isfinite(height):
        return none, Engine(asked="quick", why_not="no mode")
    covariance = straight.covariance(mode)
    if not np.isfinite(covariance).all():
        return none, Engine(asked="quick", why_not="no mode")
    if _other_mode(straight, start, mode, height, covariance):
        return none, Engine(asked="quick", why_not="modes")
    first, *streams = (
        np.random.default_rng(one) for one in np.random.SeedSequence([seed, 5]).spawn(1 + chains)
    )
    proposal, efficiency, rounds = _found_proposal(straight, mode, covariance, first)
    while True:
        proposed = int(np.ceil(draws * np.clip(1.2 / efficiency, 1.5, _MOST_PROPOSED)))
        proposed = max(proposed, -(-_FEWEST_PROPOSED // chains))
        drawn = [proposal.draw(proposed, stream) for stream in streams]
        at, log_q = (np.concatenate(parts) for parts in zip(*drawn, strict=True))
        ratio = straight.log_density(at) - log_q
        log_weights, k = pareto_smoothed(ratio)
        weights = np.exp(log_weights).reshape(chains, proposed)
        effective = sum(effective_weights(own) for own in weights) if np.isfinite(k) else 0.0
        few = effective < min(FEWEST_PER_CHAIN, draws / 2) * chains
        if rounds >= _MOST_ROUNDS or (k <= _GOOD_PARETO_K and not few):
            break
        even = weights.ravel() / weights.sum()
        # So many draws make a better proposal than it had.
        efficiency = max(effective_weights(even) / len(even), _LIKELY)
        proposal = adapted(proposal, at, even, _TRUST)
        rounds += 1
    why_not = "pareto_k" if not k <= MOST_PARETO_K else "effective" if few else ""
    how = Engine(
        "nuts" if why_not else "quick", "quick", finite_or_none(k), effective, len(at), rounds, why_not
    )
    if why_not:
        return none, how
    theta = straight.theta(at)[0].reshape(chains, proposed, -1)
    kept = np.empty((chains, draws, reduced.n_theta))
    for chain, stream in enumerate(streams):
        comb = (np.arange(draws) + stream.random()) / draws
        along = np.cumsum(weights[chain])
        kept[chain] = theta[chain][np.minimum(np.searchsorted(along / along[-1], comb), proposed - 1)]
    return kept, how


def _other_mode(
    straight: Straight, start: np.ndarray, mode: np.ndarray, height: float, covariance: np.ndarray
) -> bool:
    """Whether climbing from elsewhere ends elsewhere, at a height that counts."""
    sd = np.sqrt(np.diag(covariance))
    factors = straight.reduced.factor_places()
    elsewhere = start - 3.0
    elsewhere[factors] = start[factors]
    # Half a standard deviation from the mode the density is that of its normal distribution, but for small terms.
    other, its = straight.mode(straight.at(elsewhere[None])[0], mode, _IN_REACH * sd)
    return bool(its > height - 10.0 and (np.abs(other - mode) > _IN_REACH * sd).any())


def _found_proposal(
    straight: Straight, mode: np.ndarray, covariance: np.ndarray, rng: np.random.Generator
) -> tuple[Proposal, float, int]:
    """Return the best proposal found, its efficiency, and how often it was adapted."""
    last = proposal = at_mode(straight.log_density, mode, covariance, _DEGREES)
    rounds = [_weighed(straight, proposal, _TRIED, rng)]
    efficiency, count = rounds[0].efficiency, 0
    while efficiency < _ENOUGH and count < _FIRST_ROUNDS and (count == 0 or efficiency < 0.4):
        shares = np.array([effective_weights(one.weights) for one in rounds])
        weights = np.concatenate([share * one.weights for share, one in zip(shares, rounds, strict=True)])
        draws = np.concatenate([one.draws for one in rounds])
        last = adapted(last, draws, weights / weights.sum(), _TRUST)
        rounds.append(_weighed(straight, last, _ADAPTING, rng))
        count += 1
        if rounds[-1].efficiency > efficiency:
            proposal, efficiency = last, rounds[-1].efficiency
    return proposal, max(efficiency, 1e-3), count


def _weighed(straight: Straight, proposal: Proposal, n: int, rng: np.random.Generator) -> _Round:
    """Draw and weigh; where few draws hold all the weight, weights are flattened by a power."""
    draws, log_q = proposal.draw(n, rng)
    ratio = straight.log_density(draws) - log_q
    if not np.isfinite(ratio.max()):
        return _Round(draws, np.full(n, 1 / n), 0.0)
    ratio -= ratio.max()
    efficiency = effective_weights(np.exp(ratio)) / n
    weights = np.exp(ratio)
    for power in (0.8, 0.6, 0.45, 0.3, 0.2, 0.1):
        if effective_weights(weights) >= _LEAST_EFFECTIVE:
            break
        weights = np.exp(power * ratio)
    return _Round(draws, weights / weights.sum(), efficiency)


def pareto_smoothed(log_ratio: np.ndarray) -> tuple[np.ndarray, float]:
    r"""Return log-weights, the largest at most 0, with a smoothed tail, and the Pareto k of the tail.

    The tail are the largest :math:`\min(n / 5, 3 \sqrt n)` ratios, replaced by quantiles of the generalized Pareto
    distribution fitted to them after Zhang and Stephens (2009, *Technometrics* 51:316-325), k drawn towards 0.5 by ten
    observations, as in Vehtari et al. (2024), appendix C.

    Parameters
    ----------
    log_ratio : ndarray, shape (n,)

    Returns
    -------
    ndarray, shape (n,)
    float
        Infinite where a ratio is not a number, or where hardly any has weight.
    """
    highest = np.max(log_ratio)
    if not np.isfinite(highest):
        return np.zeros(len(log_ratio)), np.inf
    out = log_ratio - highest
    n = len(out)
    size = int(3 * np.sqrt(n)) if n > 225 else n // 5
    order = np.argsort(out)
    tail, cut = order[-size:], out[order[-size - 1]]
    beyond = np.exp(out[tail]) - np.exp(cut)
    if size < 5 or not np.isfinite(cut) or beyond[int(size / 4 + 0.5) - 1] <= beyond[0]:
        return out, np.inf
    k, scale = _pareto_fit(beyond)
    at = (np.arange(size) + 0.5) / size
    smooth = -scale * np.log1p(-at) if abs(k) < 1e-12 else scale * np.expm1(-k * np.log1p(-at)) / k
    out[tail] = np.minimum(np.log(smooth + np.exp(cut)), 0.0)
    return out, k


def _pareto_fit(ordered: np.ndarray) -> tuple[float, float]:
    """Return shape and scale of the generalized Pareto distribution of ordered positive numbers."""
    n = len(ordered)
    quarter = ordered[int(n / 4 + 0.5) - 1]
    grid = 30 + int(np.sqrt(n))
    theta = 1 / ordered[-1] + (1 - np.sqrt(grid / (np.arange(1, grid + 1) - 0.5))) / (3 * quarter)
    shapes = np.log1p(-theta[:, None] * ordered).mean(axis=1)
    profile = n * (np.log(-theta / shapes) - shapes - 1)
    weights = np.exp(profile - profile.max())
    weights /= weights.sum()
    best = float(weights @ theta)
    shape = float(np.log1p(-best * ordered).mean())
    scale = -shape / best
    return (n * shape + 10 * 0.5) / (n + 10), scale
