"""The model `covariate` as far as the single-category test asks it: lines, slopes, and the deviations of targets from them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from bayesbias.inference.estimates import batches_of, end_to_mean
from bayesbias.inference.linear import MOST_MIXED, Linear, Mixtures, Part

if TYPE_CHECKING:
    from bayesbias.inference.likelihood import Collapsed
    from bayesbias.inference.posterior import BiasFit

_PLACES = np.linspace(-3, 3, 9)  # in sds of each normal, from which the grid is taken
_GRID = 1001
_STEPS = 20_001  # many, since the length of an interval hardly changes around the shortest one


class Lines:
    """A fit of the model `covariate` as far as it is asked: its reduction, and draws of its scales."""

    def __init__(self, fit: BiasFit) -> None:
        from bayesbias.inference.likelihood import collapse

        self.reduced = collapse(fit.design)
        posterior = fit.idata["posterior"]
        draws = posterior.sizes["draw"]
        # Of mixtures a thousand parts say as much as all.
        step = max(1, posterior.sizes["chain"] * draws // MOST_MIXED)
        self._scales = {name: posterior[name].to_numpy()[:, ::step] for name in self.reduced.scales}

    @property
    def spread_of_targets(self) -> np.ndarray:
        """Draws of the spread of targets around the line of one set, shape (chains, draws)."""
        return self._scales["target_by_set_sd"]

    def mixtures(self, rows: Linear) -> Mixtures:
        """Return linear quantities as normal mixtures over the draws of the scales."""
        from bayesbias.inference.linear import conditional_moments

        chains, draws = self.spread_of_targets.shape
        flat = {
            name: values.reshape(chains * draws, *values.shape[2:])
            for name, values in self._scales.items()
        }
        mean, variance = conditional_moments(self.reduced, self.reduced.joined(flat), rows)
        shape = (chains, draws, len(rows))
        return Mixtures(
            mean.reshape(shape),
            np.sqrt(variance).reshape(shape),
            np.arange(len(rows)),
            np.ones(len(rows)),
        )


def slope_row(reduced: Collapsed, sets: tuple[str, str]) -> Linear:
    """Return the slope of the association: of the distance to the second set, less that to the first."""
    from scipy import sparse

    return Linear(
        np.zeros(1), (Part("set_slope", sparse.csr_array(_between(reduced, sets)[None])),)
    )


def association_rows(
    reduced: Collapsed,
    sets: tuple[str, str],
    x: np.ndarray | None,
    targets: Sequence[str] | None = None,
) -> Linear:
    """Return associations: the line at some covariates (none: zero everywhere), with the deviations of listed targets."""
    from scipy import sparse

    gap = _between(reduced, sets)
    n = len(targets) if x is None else len(x)  # type: ignore[arg-type]
    parts = []
    if x is not None:
        parts += [
            Part("set_mean", sparse.csr_array(np.tile(gap, (n, 1)))),
            Part("set_slope", sparse.csr_array(x[:, None] * gap)),
        ]
    if targets is not None:
        labels = reduced.design.coords["target"]
        weights = np.zeros((n, len(gap), len(labels)))
        weights[np.arange(n), :, [labels.index(word) for word in targets]] = gap
        parts.append(Part("target_by_set", sparse.csr_array(weights.reshape(n, -1))))
    return Linear(np.zeros(n), tuple(parts))


def _between(reduced: Collapsed, sets: tuple[str, str]) -> np.ndarray:
    """Return weights of the sets: the distance to the second less that to the first."""
    labels = reduced.design.coords["set"]
    out = np.zeros(len(labels))
    out[labels.index(sets[1])], out[labels.index(sets[0])] = 1.0, -1.0
    return out


def true_correlation(slope: Mixtures, spread: np.ndarray, prob: float) -> dict[str, float]:
    """Describe the correlation of true associations with the covariate: mean, sd, shortest interval, Monte Carlo errors.

    Given the scales the slope in units of ``c = sqrt(2) * spread`` is normal, and the correlation
    rises with it: its distribution function is exact for each draw of the scales, and no slope is
    drawn.
    """
    unit = np.sqrt(2) * spread
    mean, sd = ((values[..., 0] / unit).ravel() for values in (slope.mean, slope.sd))
    whole = _described(mean, sd, prob)
    batches = batches_of(*spread.shape)
    if batches > 1:
        length = len(mean) // batches
        each = np.array(
            [
                _described(mean[at : at + length], sd[at : at + length], prob)
                for at in range(0, batches * length, length)
            ]
        )
        errors = each.std(axis=0, ddof=1) / np.sqrt(batches)
    else:  # as of so many draws of the correlation itself, which are larger
        error = whole[1] / np.sqrt(len(mean))
        errors = error * np.array([1, 1 / np.sqrt(2), *2 * [end_to_mean(prob)]])
    names = ("mean", "sd", "hpdi_low", "hpdi_high")
    keys = [*names, *(f"mcse_{name.removeprefix('hpdi_')}" for name in names)]
    return dict(zip(keys, map(float, [*whole, *errors]), strict=True))


def _described(mean: np.ndarray, sd: np.ndarray, prob: float) -> tuple[float, float, float, float]:
    """Return mean, sd and the shortest interval of ``t / sqrt(1 + t ** 2)``, of a mixture of normals t."""
    from scipy.interpolate import PchipInterpolator
    from scipy.special import ndtr

    shares = np.sin(np.linspace(0, np.pi / 2, _GRID)) ** 2  # closer together in the tails
    places = np.quantile(mean[:, None] + sd[:, None] * _PLACES, shares)
    below, at = np.unique(ndtr((places[:, None] - mean) / sd).mean(axis=1), return_index=True)
    inside = (below > 0) & (below < 1)  # both are reached at -1 and 1 alone, but for rounding
    value = (places / np.hypot(1, places))[at]
    quantile = PchipInterpolator([0, *below[inside], 1], [-1, *value[inside], 1])
    start = np.linspace(0, 1 - prob, _STEPS)
    low, high = quantile(start), quantile(start + prob)
    best = int(np.argmin(high - low))
    values = quantile((np.arange(_STEPS) + 0.5) / _STEPS)
    return float(values.mean()), float(values.std()), float(low[best]), float(high[best])
