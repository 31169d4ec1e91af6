r"""The approximate marginal likelihood of counts, on any table.

Of a row with :math:`n_r` answers, :math:`y_r` are *yes*. Their log odds are those of
`bayesbias.inference.unbalanced`, without noise:

.. math:: y_r \sim \mathrm{Binomial}\bigl(n_r, p_r\bigr), \quad \operatorname{logit} p = \eta =
          Z (m + S v), \quad v \sim N(0, I).

Given the standard deviations (SDs) S, the effects are not normal, but nearly so. Two normal
distributions stand for theirs.

*Laplace.* With :math:`W = n p (1 - p)`, Newton's method finds the mode of the effects:

.. math:: M = I + S Z^T W Z S, \qquad v \leftarrow v + M^{-1} \bigl(S Z^T (y - n p) - v\bigr).

The normal distribution with this mean and the covariance :math:`M^{-1}` gives

.. math:: \log p(y) \approx \sum_r \log p(y_r \mid \eta_r) - \tfrac12 v^T v - \tfrac12 \log |M|.

Where the SDs move, so does the mode, and M with it. With :math:`h_r = z_r^T S M^{-1} S z_r` (the
variance of log odds), :math:`w' = n p (1 - p) (1 - 2 p)` and :math:`a = M^{-1} S Z^T (h w')`, the
gradient for the SD :math:`s_k` of the columns k is

.. math:: \frac{d}{d \log s_k} = \sum_{i \in k} \bigl((M^{-1})_{ii} + v_i^2 - 1 - a_i v_i\bigr).

It serves to find the mode of the SDs and the curvature there.

*Gaussian variational.* The mean of skewed effects is not their mode, so that Laplace shrinks
differences, by up to a fifth where cells have one answer each. The normal distribution that is
closest to the posterior has expectations in place of p and W, over log odds with the mean
:math:`\eta_r` and the variance :math:`h_r`:

.. math:: M = I + S Z^T E[W] Z S, \qquad v \leftarrow v + M^{-1} \bigl(S Z^T (y - n E[p]) - v\bigr).

Both change h, so that a few rounds are needed. Expectations are sums over 9 Gauss-Hermite points.
The SDs are weighted by the lower bound of the log density,

.. math:: \log p(y) \ge \sum_r E[\log p(y_r \mid \eta_r)] - \tfrac12 v^T v - \tfrac12
          \mathrm{tr}\, M^{-1} + \tfrac q2 - \tfrac12 \log |M|, \quad q \text{ columns}.

For instance, 3 of 4 answers to one question are *yes*, and its effect has the SD 1 around zero. At
:math:`v = 0.505`, p is 0.624, so that 4 p + v = 3: this is the mode. W is 0.939 and M is 1.939.
Laplace has the effect at 0.505, with the SD 0.718 and a log density of -1.466. The variational mean
is 0.533, with the SD 0.736. Its bound is -1.4534; quadrature gives 0.534, 0.737 and -1.4529.
"""

from __future__ import annotations

import functools
import math
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from bayesbias.core import FitError
from bayesbias.core.workers import one_thread_of_blas
from bayesbias.inference.factorization import Factor
from bayesbias.inference.importance import sample_costly
from bayesbias.inference.kernel import FARTHEST, compiled, prior_constant
from bayesbias.inference.likelihood import (
    NotCollapsible,
    normal_effects,
    numbered_variances,
    prior_arrays,
)
from bayesbias.inference.sampling import (
    FEW_EFFECTS,
    Engine,
    Sampled,
    ScaleApproximation,
    laplace,
    parameter_dataset,
)
from bayesbias.inference.unbalanced import (
    NO_NOISE,
    Conditional,
    Layout,
    Unbalanced,
    _log_prior,
)
from bayesbias.models.design import Arrays, Design

_NODES, _NODE_WEIGHTS = np.polynomial.hermite_e.hermegauss(9)
_NODE_WEIGHTS = _NODE_WEIGHTS / _NODE_WEIGHTS.sum()
_MOST_STEPS, _MOST_CHORDS, _MOST_ROUNDS = 60, 12, 30
_ROUNDS_IN_FULL = 2  # after which the spread moves half as far
_CONTRACTS = 0.2  # steps with the same factor go on while each gains less than this share
_SHORTEST = 1e-4  # of a Newton step that is halved
_LEAST_GAIN = 1e-4  # of a Newton step, over the square of how close its end has to be
_ROUNDING = 1e-12  # of a sum of log densities, relative
_CLOSE, _CLOSER = 3e-4, 1e-7  # how far log odds may be from those at the mode
_LITTLE_CHANGE = 0.2  # of a log determinant
_MOST_LOG_ODDS = 300.0  # beyond which p is 0 or 1, and odds still have products in floating point
_FARTHEST_START = 8.0  # of a standardized effect
_FARTHEST_STEP = 2.0  # of log odds in one round
_STILL, _STILL_WIDE = 1e-3, 1e-2  # in log odds, and relative to their variance
_LEAST_PER_CHAIN, _WANTED_PER_CHAIN = 25.0, 25.0  # effective draws
# Draws of the scales in a mixture, up to a cost of each in seconds.
_MIXED, _FEWEST_MIXED = ((3e-4, 400), (1e-2, 200), (1e-1, 128)), 64
_MOST_OF_NUTS = 2000  # effects
_BOUNDS_OF_A_FIT, _LONG_S = 1000, 60.0  # densities' worth, and the time they may take
_LITTLE = 0.1  # in posterior SDs
_CHECKED = 6  # points
_MOST_KEPT = 2**27  # numbers: of conditional distributions of the effects


class Start(NamedTuple):
    """Effects at some scales, from which those at others are searched.

    Attributes
    ----------
    theta : ndarray, shape (n_theta,)
    effects : ndarray, shape (columns,)
        S v.
    slopes : ndarray, shape (columns, n_theta)
        Their derivatives.
    spread : ndarray, shape (rows,)
        The variances of log odds.
    """

    theta: np.ndarray
    effects: np.ndarray
    slopes: np.ndarray
    spread: np.ndarray

    def at(self, theta: np.ndarray) -> np.ndarray:
        """Return about what the effects are at other scales."""
        return self.effects + self.slopes @ np.clip(theta - self.theta, -1.0, 1.0)


class Fitted(NamedTuple):
    """The normal distribution of the effects given the scales.

    Attributes
    ----------
    log_likelihood : float
        Laplace's, or the bound; minus infinity beyond the range of floating point.
    standard : ndarray, shape (columns,)
        v.
    log_odds, spread : ndarray, shape (rows,)
        Mean and variance of the log odds; Laplace has no need of the latter.
    """

    log_likelihood: float
    standard: np.ndarray
    log_odds: np.ndarray
    spread: np.ndarray


@dataclass(frozen=True, eq=False, kw_only=True)
class Binomial(Unbalanced):
    """The approximate reduction of a table of counts.

    Attributes
    ----------
    weights : ndarray, shape (rows,)
        The number of answers of each row.
    offset : ndarray, shape (rows,)
        Z m.
    constant : float
        The logarithms of the binomial coefficients, summed.
    variational : bool
        Whether the effects are those of the variational normal; else of Laplace's.
    """

    offset: np.ndarray
    constant: float
    variational: bool = True
    _starts: dict[str, Start] = field(default_factory=dict)
    _kept: dict[bytes, Fitted] = field(default_factory=dict)

    @classmethod
    def of(cls, design: Design, weights: np.ndarray | None = None) -> Binomial:
        """Integrate the effects of a binomial design out.

        Raises
        ------
        NotCollapsible
            If the outcomes are no counts, or the effects not normal.
        FitError
            If the table takes too much memory or time.
        """
        from scipy.special import gammaln

        design = design.ordered()
        terms = normal_effects(design)
        numbered = numbered_variances(design, terms)
        layout = Layout.of(design)
        trials = np.asarray(design.trials if weights is None else weights, dtype=float)
        ways = gammaln(trials + 1) - gammaln(design.y + 1) - gammaln(trials - design.y + 1)
        priors = prior_arrays(design)
        constants = [prior_constant(*prior) for prior in zip(*priors, strict=True)]
        return cls(
            design=design,
            scales=numbered.scales,
            constants=numbered.constants,
            variance_of=numbered.of_entries,
            layout=layout,
            number=layout.numbers(numbered.of_entries),
            noise=NO_NOISE,
            of_rows=numbered.of_rows,
            weights=trials,
            priors=(*priors, np.array(constants)),
            offset=layout.sums(layout.means),
            constant=float(ways.sum()),
        )

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what is only worked with."""
        return {**vars(self), "_factors": deque(), "_starts": {}, "_kept": {}}

    def of_outcome(self, y: np.ndarray) -> Binomial:
        """Return the reduction of other counts of the same rows."""
        again = Binomial.of(replace(self.design, y=y))
        return replace(again, variational=self.variational)

    @property
    def seconds(self) -> float:
        """About how long a density takes on one core: a factorization, and as long for the rows."""
        return 2 * super().seconds

    @property
    def per_chain(self) -> tuple[float, float]:
        """The fewest effective draws of a chain, and how many are wanted."""
        return _LEAST_PER_CHAIN, _WANTED_PER_CHAIN

    @property
    def usual_sd(self) -> float:
        """The SD of log odds, from which the search for scales starts."""
        return 1.0

    @property
    def is_approximate(self) -> bool:
        """True: effects given the scales are searched for."""
        return True

    @property
    def has_nuts(self) -> bool:
        """Whether NUTS samples so many effects in reasonable time."""
        return self.layout.pattern.size <= _MOST_OF_NUTS

    @property
    def most_mixed(self) -> int:
        """How many draws of the scales differ, each with its distribution of the effects."""
        return next((most for seconds, most in _MIXED if self.seconds < seconds), _FEWEST_MIXED)

    def without_noise(self) -> bool:
        """Return False: log odds have no noise that could vanish."""
        return False

    # -- the density -------------------------------------------------------------------------------

    def log_density(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        """Return Laplace's log posterior density of log scales (n_theta,), and its gradient."""
        with one_thread_of_blas(), self._factor() as factor, np.errstate(all="ignore"):
            value, gradient, start = self._with_start(theta, factor)
        if start is not None:
            self._starts["mode"] = start
        return value, gradient

    def _with_gradient(self, theta: np.ndarray, factor: Factor) -> tuple[float, np.ndarray]:
        value, gradient, _ = self._with_start(theta, factor)
        return value, gradient

    def _with_start(
        self, theta: np.ndarray, factor: Factor
    ) -> tuple[float, np.ndarray, Start | None]:
        """Return Laplace's log density, its gradient, and where searches nearby start."""
        value, gradient = self._log_prior(theta)
        if not math.isfinite(value):
            return value, gradient, None
        sds = self._sds(theta)
        fitted = self._mode(theta, sds, factor, exact=True)
        value += fitted.log_likelihood
        if not math.isfinite(value):
            return -math.inf, gradient, None

        inverse, diagonal = factor.inverse_at_entries()
        spread = self.layout.row_variances(inverse, sds)
        p = 1.0 / (1.0 + np.exp(-fitted.log_odds))
        weight = self.weights * p * (1.0 - p)
        bends = spread * weight * (1.0 - 2.0 * p)
        shift = factor.solve(sds * self.layout.products(bends))
        v = fitted.standard
        of_columns = diagonal + v * v - 1.0 - shift * v
        gradient += np.bincount(self.number, of_columns, self.n_theta)[: self.n_theta]
        of_rows = self.design.y - self.weights * p
        of_rows -= 0.5 * (bends - weight * self.layout.sums(sds * shift))
        self._add_slopes(theta, of_rows, gradient)
        return value, gradient, self._start(theta, sds, fitted, factor, spread)

    def log_densities(self, thetas: np.ndarray) -> np.ndarray:
        """Return Laplace's log posterior density at many log scales, shape (n, n_theta)."""

        def density(theta: np.ndarray, factor: Factor) -> float:
            value = self._log_prior(theta)[0]
            if not math.isfinite(value):
                return value
            return value + self._mode(theta, self._sds(theta), factor).log_likelihood

        return np.array(self.each(density, np.ascontiguousarray(thetas, dtype=float)))

    @property
    def method(self) -> str:
        """What the effects given the scales are approximated by."""
        return "variational" if self.variational else "laplace"

    def bounds(self, thetas: np.ndarray) -> np.ndarray | None:
        """Return the variational bound of the log density at log scales, shape (n, n_theta)."""
        if not self.variational:
            return None

        def bound(theta: np.ndarray, factor: Factor) -> float:
            value = self._log_prior(theta)[0]
            if not math.isfinite(value):
                return value
            return value + self._closest(theta, self._sds(theta), factor).log_likelihood

        return np.array(self.each(bound, np.ascontiguousarray(thetas, dtype=float)))

    def _log_prior(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        gradient = np.zeros(self.n_theta)
        if not (np.abs(theta) < FARTHEST).all():
            return -math.inf, gradient
        return _log_prior(theta, *self.priors, gradient), gradient

    def _sds(self, theta: np.ndarray) -> np.ndarray:
        variances = np.concatenate([np.exp(2.0 * theta), self.constants])
        return np.sqrt(variances[self.number])

    # -- the effects given the scales --------------------------------------------------------------

    def _given(self, theta: np.ndarray, factor: Factor) -> Conditional:
        """Return the effects given log scales; `factor` becomes that of M.

        Raises
        ------
        FitError
            If there is no factor in floating point.
        """
        sds, key = self._sds(theta), np.round(theta, 9).tobytes()
        with np.errstate(all="ignore"):
            fitted = self._kept.get(key)
            if fitted is None:
                search = self._closest if self.variational else self._mode
                fitted = search(theta, sds, factor)
                if (1 + len(self._kept)) * (len(sds) + 2 * len(self.offset)) < _MOST_KEPT:
                    self._kept[key] = fitted
            # That of the search is of log odds a little away; and what was kept has none.
            factor.update(self.layout.cross_products(self._weight_of(fitted)), sds)
        if not math.isfinite(fitted.log_likelihood):
            raise FitError(
                "log odds leave the range of floating point: are standard deviations in the "
                "thousands?"
            )
        return Conditional(fitted.log_likelihood, sds, fitted.standard)

    def _weight_of(self, fitted: Fitted) -> np.ndarray:
        """Return the weights W of the rows, of which M is made."""
        y, n, log_odds = self.design.y, self.weights, fitted.log_odds
        residual, weight = np.empty(len(y)), np.empty(len(y))
        if len(fitted.spread):
            _expected(y, n, log_odds, fitted.spread, _NODES, _NODE_WEIGHTS, residual, weight)
        else:
            _at_log_odds(y, n, log_odds, residual, weight)
        return weight

    def _log_odds(self, theta: np.ndarray, sds: np.ndarray, standard: np.ndarray) -> np.ndarray:
        return self._offset_at(theta) + self.layout.sums(sds * standard)

    # -- what other parameters than SDs of effects change ------------------------------------------

    def _offset_at(self, theta: np.ndarray) -> np.ndarray:
        """Return the log odds of the rows without effects."""
        return self.offset

    def _constant_at(self, theta: np.ndarray) -> float:
        """Return what the log likelihood has beside the log odds of rows."""
        return self.constant

    def _pulls(self, theta: np.ndarray, weight: np.ndarray) -> np.ndarray | float:
        """Return how parameters that move the offset pull at effects, (columns, n_theta), halved."""
        return 0.0

    def _add_slopes(
        self,
        theta: np.ndarray,
        of_rows: np.ndarray,
        gradient: np.ndarray,
    ) -> None:
        """Add to the gradient what parameters beside SDs have, given the slopes for log odds."""

    def _standardized(self, effects: np.ndarray, sds: np.ndarray) -> np.ndarray:
        """Return effects over their SDs; zero where that would be far out."""
        standard = np.divide(effects, sds, out=np.zeros(len(sds)), where=sds > 0)
        return np.where(np.abs(standard) < _FARTHEST_START, standard, 0.0)

    def _mode(
        self, theta: np.ndarray, sds: np.ndarray, factor: Factor, exact: bool = False
    ) -> Fitted:
        """Return the effects at their mode, with Laplace's log likelihood.

        `factor` becomes that of M at the mode if that has to be exact, as for gradients; else near it.
        Between there and the mode the log determinant changes by the sum of h dW, to first order. The
        variances h of a start nearby do: of 500,000 answers the change was right to .003.
        Twice what a Newton step gains is the square of its length in SDs.
        """
        layout, y, n = self.layout, self.design.y, self.weights
        close = _CLOSER if exact else _CLOSE
        start = self._starts.get("mode")
        residual, weight = np.empty(len(y)), np.empty(len(y))

        def joint(effects: np.ndarray) -> tuple[np.ndarray, float]:
            """Return log odds and log density; write residuals and weights."""
            log_odds = self._log_odds(theta, sds, effects)
            value = _at_log_odds(y, n, log_odds, residual, weight)
            return log_odds, value - 0.5 * float(effects @ effects)

        standard = np.zeros(len(sds))
        log_odds, value = joint(standard)
        if start is not None:
            near = self._standardized(start.at(theta), sds)
            if joint(near)[1] > value:
                standard = near

        for _ in range(_MOST_STEPS):
            log_odds, value = joint(standard)
            log_determinant = factor.update(layout.cross_products(weight), sds)
            if not math.isfinite(log_determinant):
                break
            log_odds_of_factor, weight_of_factor = log_odds, weight.copy()
            last, found, share = math.inf, False, 1.0
            for _ in range(_MOST_CHORDS):
                gradient = sds * layout.products(residual) - standard
                step = factor.solve(gradient)
                gain = float(gradient @ step)
                found = gain < _LEAST_GAIN * close**2
                if found or gain > _CONTRACTS * last or share < 1.0:
                    break
                last, least = gain, value - _ROUNDING * (1.0 + abs(value))
                log_odds, value = joint(standard + step)
                while value < least and share >= _SHORTEST:
                    share /= 2
                    log_odds, value = joint(standard + share * step)
                standard = standard + share * step
            if not found:
                continue
            if exact:
                log_determinant = factor.update(layout.cross_products(weight), sds)
            elif start is not None:
                change = float(start.spread @ (weight - weight_of_factor))
                if abs(change) > _LITTLE_CHANGE:
                    continue
                log_determinant += change
            elif np.abs(log_odds - log_odds_of_factor).max() > close:
                continue
            log_likelihood = value + self._constant_at(theta) - 0.5 * log_determinant
            return Fitted(log_likelihood, standard, log_odds, np.zeros(0))
        return Fitted(-math.inf, standard, log_odds, np.zeros(0))

    def _closest(self, theta: np.ndarray, sds: np.ndarray, factor: Factor) -> Fitted:
        """Return the normal distribution that is closest to that of the effects, with its bound."""
        layout, y, n = self.layout, self.design.y, self.weights
        start = self._starts.get("closest")
        if start is not None:
            standard = self._standardized(start.at(theta), sds)
            log_odds, spread = self._log_odds(theta, sds, standard), start.spread
        else:
            at_mode = self._mode(theta, sds, factor)
            if not math.isfinite(at_mode.log_likelihood):
                return at_mode
            standard, log_odds = at_mode.standard, at_mode.log_odds
            spread = layout.row_variances(factor.inverse_at_entries()[0], sds)

        residual, weight = np.empty(len(y)), np.empty(len(y))
        for number in range(_MOST_ROUNDS):
            _expected(y, n, log_odds, spread, _NODES, _NODE_WEIGHTS, residual, weight)
            log_determinant = factor.update(layout.cross_products(weight), sds)
            if not math.isfinite(log_determinant):
                break
            last = math.inf
            for _ in range(_MOST_CHORDS):
                step = factor.solve(sds * layout.products(residual) - standard)
                change = layout.sums(sds * step)
                moved = float(np.abs(change).max())
                share = min(1.0, _FARTHEST_STEP / max(moved, _STILL))
                standard = standard + share * step
                log_odds = log_odds + share * change
                if moved < _STILL or moved > _CONTRACTS * last:
                    break
                last = moved
                _expected(y, n, log_odds, spread, _NODES, _NODE_WEIGHTS, residual, weight)
            inverse, diagonal = factor.inverse_at_entries()
            found = layout.row_variances(inverse, sds)
            widened = float((np.abs(found - spread) / (1.0 + found)).max())
            if moved < _STILL and widened < _STILL_WIDE:
                break
            # Where p is small, a wider spread raises W, which makes it narrow again.
            spread = found if number < _ROUNDS_IN_FULL else 0.5 * (spread + found)
        if not math.isfinite(log_determinant):
            return Fitted(-math.inf, standard, log_odds, spread)
        value = _expected_log_likelihood(y, n, log_odds, found, _NODES, _NODE_WEIGHTS)
        value += self._constant_at(theta) - 0.5 * (standard @ standard + diagonal.sum() - len(sds))
        return Fitted(value - 0.5 * log_determinant, standard, log_odds, found)

    def _start(
        self,
        theta: np.ndarray,
        sds: np.ndarray,
        fitted: Fitted,
        factor: Factor,
        spread: np.ndarray,
    ) -> Start:
        """Return where searches at other scales start.

        A larger SD adds to the effects of its columns, and to others what these leave to them.
        """
        v, n_theta = fitted.standard, self.n_theta
        columns = np.where(self.number[:, None] == np.arange(n_theta), v[:, None], 0.0)
        columns -= sds[:, None] * self._pulls(theta, self._weight_of(fitted))
        slopes = factor.unwhitened(factor.whitened(columns))
        slopes *= 2.0 * sds[:, None]
        return Start(theta.copy(), sds * v, slopes, spread)

    def shift_of_groups(self, theta: np.ndarray) -> float:
        """Return how far Laplace has differences between groups from the variational ones, in SDs.

        The largest difference from the first group counts, of means over the rows.
        """
        _, group = self.design.labels(self.design.spec.results.group)
        rows, sds = np.arange(len(group)), self._sds(theta)
        means = np.zeros((len(group), int(group.max()) + 1))
        means[rows, group] = 1.0
        means /= means.sum(axis=0)
        sums = np.stack([self.layout.products(column) for column in means.T], axis=1)
        compared = (sums[:, 1:] - sums[:, :1]) * sds[:, None]
        if not compared.shape[1]:
            return 0.0
        with one_thread_of_blas(), self._factor() as factor, np.errstate(all="ignore"):
            at_mode = self._mode(theta, sds, factor, exact=True)
            closest = self._closest(theta, sds, factor)
            moved = compared.T @ (closest.standard - at_mode.standard)
            sd = np.sqrt((factor.whitened(compared) ** 2).sum(axis=0))
        return float(np.abs(moved / sd).max())

    def anchored(self, draws: Arrays) -> Binomial:
        """Return the reduction with all searches from the effects at the mean of draws of the scales.

        What it says of effects then depends on these draws, not on what was computed before.
        """
        out = replace(self, _starts={}, _kept={})
        out.started(self.theta_of(draws).mean(axis=0))
        return out

    def started(self, theta: np.ndarray) -> None:
        """Let searches start from the effects at log scales near those to come."""
        sds = self._sds(theta)
        with one_thread_of_blas(), self._factor() as factor, np.errstate(all="ignore"):
            fitted = self._mode(theta, sds, factor, exact=True)
            spread = self.layout.row_variances(factor.inverse_at_entries()[0], sds)
            self._starts["mode"] = self._start(theta, sds, fitted, factor, spread)
            if not self.variational:
                return
            fitted = self._closest(theta, sds, factor)
            self._starts["closest"] = self._start(theta, sds, fitted, factor, fitted.spread)


@functools.lru_cache(maxsize=2)  # a fit and the questions asked of it share a design
def approximated(design: Design, method: str) -> Binomial:
    """Integrate the effects of counts out, by the normal distribution that a method has for them.

    Parameters
    ----------
    design : Design
        With its rows sorted.
    method : {"variational", "laplace"}
    """
    return replace(_reduction_of(design), variational=method == "variational")


def _reduction_of(design: Design) -> Binomial:
    """Return the reduction of counts, or of ordered levels, which are counts at each cut.

    A likelihood with another `engine` has none, and is left to ``SAMPLERS`` of
    `bayesbias.inference.fitting`.
    """
    sampler = design.outcome_type.engine
    if sampler == "counts":
        return Binomial.of(design)
    if sampler == "ordered":
        from bayesbias.inference.ordered import Ordered

        return Ordered.of(design)
    raise NotCollapsible(f"{design.spec.likelihood} has no normal approximation of its effects")


def has_few_effects(design: Design) -> bool:
    """Return whether counts have so few effects that NUTS takes seconds.

    Means of groups and effects of single rows count. The posterior of few effects is skewed, so that no
    normal distribution is close to it. Levels have no compiled density for NUTS: row by row it would
    take a minute.
    """
    return design.trials is not None and design.effects <= FEW_EFFECTS


def laplace_is_enough(reduced: Binomial, start: ScaleApproximation, seed: int) -> bool:
    """Return whether a costly table may do without the variational normal.

    That is so where it would move neither differences between groups, at the mode of the scales,
    nor the scales themselves by a tenth of an SD. A linear gain in log density with the SD g over
    the posterior moves it by g of its SDs.
    """
    if reduced.seconds * _BOUNDS_OF_A_FIT < _LONG_S:
        return False
    mode = start.theta(start.mode)[0]
    if reduced.shift_of_groups(mode) > _LITTLE:
        return False
    normal = np.random.default_rng([seed, 10]).standard_normal((_CHECKED, reduced.n_theta))
    thetas = start.theta(start.mode + normal @ start.root.T)[0]
    gain = reduced.bounds(thetas) - reduced.log_densities(thetas)
    return float(gain.std(ddof=1)) < _LITTLE


def sample_quickly(
    design: Design, settings: Mapping[str, Any]
) -> tuple[Sampled | None, Engine, Binomial | None]:
    """Sample the scales of counts, or of levels, by importance; return no draws where NUTS has to.

    NUTS has to if it was asked for, if by default there are few effects (`has_few_effects`), if the
    effects are not normal, and if the weights fail.

    Parameters
    ----------
    design : Design
        With its rows sorted.
    settings : Mapping
        As of `bayesbias.inference.sampling.sample_collapsed`.

    Returns
    -------
    Sampled or None
    Engine
        What was done, or why there are no draws.
    Binomial or None
        The reduction of the draws; its `method` is the one of the fit.
    """
    import xarray as xr

    asked = settings.get("engine", "nuts")
    if asked == "nuts" or (asked == "auto" and has_few_effects(design)):
        return None, Engine(asked=asked), None
    try:
        reduced = approximated(design, "variational")
    except NotCollapsible:
        return None, Engine.without_reduction(asked), None

    size, seed = (settings["draws"], settings["chains"]), design.stream(settings["seed"])
    progress = settings.get("progress")
    with one_thread_of_blas():
        start = laplace(reduced, near=True)
        if start.found and laplace_is_enough(reduced, start, seed):
            reduced = replace(reduced, variational=False)
        theta, logp, engine, _ = sample_costly(reduced, *size, seed, progress, start)
    engine = replace(engine, asked=asked)
    if engine.name != "quick":
        return None, engine, None
    posterior = parameter_dataset(design, reduced.scales_of(theta), len(theta))
    stats = xr.Dataset({"logp": (("chain", "draw"), logp)})
    idata = xr.DataTree.from_dict({"posterior": posterior, "sample_stats": stats})
    return Sampled(idata, engine, settings.get("target_accept")), engine, reduced


@compiled
def _at_log_odds(
    y: np.ndarray, n: np.ndarray, log_odds: np.ndarray, residual: np.ndarray, weight: np.ndarray
) -> float:
    """Return the log likelihood without its constant; write y - np and np(1 - p)."""
    total = 0.0
    for r in range(len(y)):
        eta = log_odds[r]
        odds = math.exp(-abs(eta))
        p = (1.0 if eta > 0 else odds) / (1.0 + odds)
        total += y[r] * eta - n[r] * (max(eta, 0.0) + math.log1p(odds))
        residual[r] = y[r] - n[r] * p
        weight[r] = n[r] * odds / (1.0 + odds) ** 2
    return total


@compiled
def _expected(
    y: np.ndarray,
    n: np.ndarray,
    log_odds: np.ndarray,
    spread: np.ndarray,
    nodes: np.ndarray,
    node_weights: np.ndarray,
    residual: np.ndarray,
    weight: np.ndarray,
) -> None:
    """Write E[y - np] and E[np(1 - p)] over normal log odds.

    Nodes lie evenly around zero, so that the odds at a pair of them are those in the middle, times and
    over the same factor.
    """
    middle = len(nodes) // 2
    for r in range(len(y)):
        sd = math.sqrt(max(spread[r], 0.0))
        odds = math.exp(min(max(log_odds[r], -_MOST_LOG_ODDS), _MOST_LOG_ODDS))
        p = odds / (1.0 + odds)
        expected_p = node_weights[middle] * p
        expected_weight = node_weights[middle] * p / (1.0 + odds)
        for k in range(middle + 1, len(nodes)):
            factor = math.exp(min(sd * nodes[k], _MOST_LOG_ODDS))
            higher, lower = odds * factor, odds / factor
            above, below = 1.0 / (1.0 + higher), 1.0 / (1.0 + lower)  # 1 - p
            expected_p += node_weights[k] * (higher * above + lower * below)
            expected_weight += node_weights[k] * (higher * above * above + lower * below * below)
        residual[r] = y[r] - n[r] * expected_p
        weight[r] = n[r] * expected_weight


@compiled
def _expected_log_likelihood(
    y: np.ndarray,
    n: np.ndarray,
    log_odds: np.ndarray,
    spread: np.ndarray,
    nodes: np.ndarray,
    node_weights: np.ndarray,
) -> float:
    """Return the expected log likelihood over normal log odds, without its constant."""
    total = 0.0
    for r in range(len(y)):
        sd = math.sqrt(max(spread[r], 0.0))
        expected_log = 0.0
        for k in range(len(nodes)):
            eta = log_odds[r] + sd * nodes[k]
            expected_log += node_weights[k] * (max(eta, 0.0) + math.log1p(math.exp(-abs(eta))))
        total += y[r] * log_odds[r] - n[r] * expected_log
    return total
