"""The model `fact` as far as the single-category test asks it: lines, slopes, and the deviations of targets from them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from bayesbias.inference.answers import MOST_MIXED
from bayesbias.inference.linear import Linear, Part
from bayesbias.inference.mixtures import Mixtures

if TYPE_CHECKING:
    from bayesbias.inference.collapsed import Collapsed
    from bayesbias.inference.posterior import BiasFit

_SLOPES_A_DRAW = 10


class Lines:
    """A fit of the model `fact` as far as it is asked: its reduction, and draws of its scales."""

    def __init__(self, fit: BiasFit) -> None:
        from bayesbias.inference.collapsed import collapse

        self.reduced = collapse(fit.design)
        posterior = fit.tree["posterior"]
        draws = posterior.sizes["draw"]
        # Of mixtures a thousand parts say as much as all.
        step = max(1, posterior.sizes["chain"] * draws // MOST_MIXED)
        self._scales = {name: posterior[name].to_numpy()[:, ::step] for name in self.reduced.scales}

    @property
    def spread_of_targets(self) -> np.ndarray:
        """Draws of the spread of targets around the line of one set, shape (chains, draws)."""
        return self._scales["bsd"]

    def mixtures(self, rows: Linear) -> Mixtures:
        """Return linear quantities as normal mixtures over the draws of the scales."""
        from bayesbias.inference.moments import conditional_moments

        chains, draws = self.spread_of_targets.shape
        flat = {
            name: values.reshape(chains * draws, *values.shape[2:]) for name, values in self._scales.items()
        }
        mean, variance = conditional_moments(self.reduced, self.reduced.joined(flat), rows)
        shape = (chains, draws, len(rows))
        return Mixtures(
            mean.reshape(shape), np.sqrt(variance).reshape(shape), np.arange(len(rows)), np.ones(len(rows))
        )


def slope_row(reduced: Collapsed, sets: tuple[str, str]) -> Linear:
    """Return the slope of the association: of the distance to the second set, less that to the first."""
    from scipy import sparse

    return Linear(np.zeros(1), (Part("s", None, sparse.csr_array(_between(reduced, sets)[None])),))


def association_rows(
    reduced: Collapsed, sets: tuple[str, str], x: np.ndarray | None, targets: Sequence[str] | None = None
) -> Linear:
    """Return associations: the line at some facts (none: zero everywhere), with the deviations of listed targets."""
    from scipy import sparse

    gap = _between(reduced, sets)
    n = len(targets) if x is None else len(x)  # type: ignore[arg-type]
    parts = []
    if x is not None:
        parts += [
            Part("d", None, sparse.csr_array(np.tile(gap, (n, 1)))),
            Part("s", None, sparse.csr_array(x[:, None] * gap)),
        ]
    if targets is not None:
        labels = reduced.design.coords["target"]
        weights = np.zeros((n, len(gap), len(labels)))
        weights[np.arange(n), :, [labels.index(word) for word in targets]] = gap
        parts.append(Part("b", None, sparse.csr_array(weights.reshape(n, -1))))
    return Linear(np.zeros(n), tuple(parts))


def _between(reduced: Collapsed, sets: tuple[str, str]) -> np.ndarray:
    """Return weights of the sets: the distance to the second less that to the first."""
    labels = reduced.design.coords["set"]
    out = np.zeros(len(labels))
    out[labels.index(sets[1])], out[labels.index(sets[0])] = 1.0, -1.0
    return out


def true_correlations(slope: Mixtures, spread: np.ndarray, seed: int) -> np.ndarray:
    """Draw the correlation of true associations with the fact, several times for each draw of the scales."""
    rng = np.random.default_rng(np.random.SeedSequence([seed, 11]))
    beta = slope.mean + slope.sd * rng.standard_normal((*slope.mean.shape[:2], _SLOPES_A_DRAW))
    return beta / np.sqrt(beta**2 + 2 * spread[..., None] ** 2)
