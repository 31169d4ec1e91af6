"""The coordinates that NUTS moves in: near a standard normal, so that few steps cross the posterior.

A logarithm of a spread that may be zero has a long tail, and pairs of spreads bend around each other. In the coordinates of
`bayesbias.inference.straight` the posterior is near normal, and the margins and correlations of a proposal of the quick
engine (`bayesbias.inference.proposals`) turn it into scores that are near independent standard normals. Whatever the
coordinates, the density is that of the model with the volume of the change; they decide over the number of steps alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayesbias.inference.collapsed import Collapsed
from bayesbias.inference.importance import best_proposal
from bayesbias.inference.proposals import LEFT, RIGHT
from bayesbias.inference.straight import Straight

_LEAST_EFFICIENCY = 0.02  # of draws of a proposal, for its shape to say anything


@dataclass(frozen=True, eq=False)
class Coordinates:
    """How the logarithms of the scales follow from what is sampled.

    Attributes
    ----------
    turn : ndarray, shape (n_theta, n_theta)
        From the coordinates without pairs to the logarithms; see `Collapsed.coordinates`.
    pairs : tuple of (int, int)
        Spreads of the same rows; see `bayesbias.inference.straight`.
    root : ndarray, shape (n_theta, n_theta)
        From independent scores to correlated ones, lower triangular; not used without `shapes`.
    shapes : ndarray, shape (n_theta, 2 + len(left) + len(right)) or (0, 0)
        Of the margins; see `Proposal`. Without them what is sampled are the coordinates themselves.
    """

    turn: np.ndarray
    pairs: tuple[tuple[int, int], ...]
    root: np.ndarray
    shapes: np.ndarray

    left = LEFT
    right = RIGHT

    @property
    def shaped(self) -> bool:
        """Whether the posterior should be near a standard normal in them."""
        return bool(self.shapes.size)


def plain_coordinates(reduced: Collapsed) -> Coordinates:
    """Return those of which nothing has to be known: logarithms, and factors as `Collapsed.coordinates` says."""
    n = reduced.n_theta
    return Coordinates(reduced.coordinates(), (), np.eye(n), np.zeros((0, 0)))


def shaped_coordinates(reduced: Collapsed, start: np.ndarray, seed: int) -> Coordinates | None:
    """Return coordinates shaped after the posterior; None where no single mode, or no proposal that fits at all, is found.

    Parameters
    ----------
    reduced : Collapsed
    start : ndarray, shape (n_theta,)
        Log-scales to climb from.
    seed : int
    """
    straight = Straight(reduced)
    proposal, efficiency = best_proposal(straight, start, seed)
    if proposal is None or efficiency < _LEAST_EFFICIENCY:
        return None
    root = np.linalg.cholesky(proposal.correlation)
    return Coordinates(straight.turn, straight.pairs, root, proposal.shapes)
