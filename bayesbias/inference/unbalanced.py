r"""The exact marginal likelihood of a normal model on any table.

`bayesbias.inference.likelihood` uses the symmetry of a grid. A table whose rows follow no grid has
none: names that each occur in three of 135 scenarios, or words with a fifth of their pairs missing.
Here the effects are integrated out by the factorization of a sparse matrix
(`bayesbias.inference.factorization`). The price of one density is that of one factorization, which
does not depend on the number of rows.

*Model.* Row r has the outcome

.. math:: y_r = \sum_j z_{rj} u_j + \epsilon_r, \quad
          \epsilon_r \sim N(0, \sigma_{c(r)}^2 / w_r), \quad u = m + S v, \quad v \sim N(0, I).

A column j of Z stands for one entry of one location parameter. Means of groups are columns like all
others: their standard deviation (SD) is a number. An effect that is centered on another gives a row
two entries, its parent's and its own deviation. A row without the term has no entry. S is the
diagonal matrix of SDs, c(r) the noise class of a row, and :math:`w_r` its weight: the mean of n
answers has weight n.

*Likelihood.* With y in place of y - Zm,

.. math::

    A_c &= Z_c^T W_c Z_c, \qquad b = S \sum_c Z_c^T W_c y_c / \sigma_c^2, \\
    M &= I + S \left(\sum_c A_c / \sigma_c^2\right) S, \qquad v = M^{-1} b, \\
    \log p(y) &= -\tfrac12 \left[\log |M| - b^T v + \sum_c \bigl(n_c \log 2 \pi \sigma_c^2 + y_c^T
    W_c y_c / \sigma_c^2\bigr) - \sum_r \log w_r\right].

The cross-products :math:`A_c`, :math:`Z_c^T W_c y_c` and :math:`y_c^T W_c y_c` are made once.

*Gradient.* For the SD :math:`s_k` of the columns k, and for the noise of a class,

.. math::

    \frac{d}{d \log s_k} &= \sum_{i \in k} \bigl((M^{-1})_{ii} + v_i^2 - 1\bigr), \\
    \frac{d}{d \log \sigma_c} &= -n_c + \left[y_c^T W_c y_c - 2 v^T S Z_c^T W_c y_c
    + \sum_{ij} A_{c,ij} s_i s_j \bigl(M^{-1}_{ij} + v_i v_j\bigr)\right] / \sigma_c^2.

*Effects.* Given the SDs they are normal with mean :math:`m + S v` and covariance :math:`S M^{-1}
S`. So a contrast has a normal distribution that one solve gives.

For instance, two answers of 1 and 3 to one question, whose effect has the SD s around zero, have
the single column :math:`Z = (1, 1)^T`. With noise :math:`\sigma`, :math:`A = 2 / \sigma^2`,
:math:`M = 1 + 2 s^2 / \sigma^2` and :math:`b = 4 s / \sigma^2`. With :math:`s = \sigma = 1`, M is
3, v is 4/3, and the effect is normal with mean 4/3 and variance 1/3. The log density of the answers
is :math:`-\frac12 [\log 3 - 16/3 + 2 \log 2 \pi + 10] = -4.72`. That of a normal vector with the
covariance (2, 1; 1, 2) is the same.

Weights and outcomes may change while the pattern stays: `Layout` makes the cross-products of any
weights.
"""

from __future__ import annotations

import functools
import math
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from bayesbias.core import FitError
from bayesbias.core.errors import TooLargeError
from bayesbias.core.workers import one_thread_of_blas, threads
from bayesbias.inference.diagnostics import ENOUGH_MIXED
from bayesbias.inference.factorization import Factor, Pattern
from bayesbias.inference.kernel import FARTHEST, LOG_2PI, compiled, prior_constant, prior_shape
from bayesbias.inference.likelihood import (
    Reduction,
    normal_terms,
    numbered_variances,
    prior_arrays,
)
from bayesbias.models.design import Design

MOST_BYTES = 4 * 2**30
_SHORT_TERM = 12  # entries of a term whose columns go last
_PER_SECOND, _CALL_S = 5e8, 5e-5  # operations of a factorization, and what each call costs
# Draws of the scales in a mixture, up to a cost of each in seconds.
_MIXED, _FEWEST_MIXED = ((3e-4, ENOUGH_MIXED), (1e-3, 400)), 200
_AT_ONCE = 128  # quantities, or draws, that are solved for together
_NORMALS = 4_000_000  # random numbers that are drawn together
_MOST_COMPARED = 4_000_000  # weights
_KEPT_BYTES = 200e6  # of the factors that further questions about the same fit need again
_CALM, _TINY, _CLOSER = 1e-3, 1e-6, 3.0  # see `Unbalanced.without_noise`


@dataclass(frozen=True, eq=False)
class Layout:
    """The columns of a design over its rows, in the order in which they are eliminated.

    Attributes
    ----------
    pattern : Pattern
    incidence : scipy.sparse.csr_array, shape (rows, columns)
        Z, with its columns in that order.
    means : ndarray, shape (columns,)
        The prior means m that are numbers of the model file.
    columns : Mapping of str to ndarray of int
        The column of each entry of a location parameter; -1 for entries that enter no row.
    """

    pattern: Pattern
    incidence: Any
    means: np.ndarray
    columns: Mapping[str, np.ndarray]

    @classmethod
    def of(cls, design: Design) -> Layout:
        """Lay the effects of a design over its rows.

        Raises
        ------
        TooLargeError
            If it would take too much memory.
        """
        from scipy import sparse

        spec = design.spec
        terms = spec.location_parameters()
        starts = dict(zip(terms, np.cumsum([0, *map(design.size, terms)]), strict=False))
        total = sum(map(design.size, terms))
        means = np.zeros(total)
        rows, places, coefs = [], [], []
        for name in spec.mu:
            lever, entries = design.lever(name), design.index[name]
            present = np.arange(len(design.y)) if lever is None else np.flatnonzero(lever)
            center: Any = name
            while isinstance(center, str):  # a parameter, that which it is centered on, and so on
                rows.append(present)
                places.append(starts[center] + entries[present].astype(np.int64))
                coefs.append(np.ones(len(present)) if lever is None else lever[present])
                above = spec.parameters[center].args["mu"]
                if isinstance(above, str):
                    entries = design.parent[center, "mu"][entries]
                else:
                    means[starts[center] : starts[center] + design.size(center)] = above
                center = above
        at = np.concatenate(rows), np.concatenate(places)
        shape = len(design.y), total
        incidence = sparse.csr_array((np.concatenate(coefs), at), shape=shape)
        used = np.zeros(total, dtype=bool)
        used[at[1]] = True
        incidence, means = incidence[:, np.flatnonzero(used)], means[used]
        _refuse_bytes(incidence.nnz * np.mean(np.diff(incidence.indptr)) * 8)

        kept = np.cumsum(used) - 1
        last: list[int] = []
        term_sizes = np.empty(used.sum(), dtype=np.int64)
        for name in terms:
            of_term = np.arange(starts[name], starts[name] + design.size(name))
            of_term = kept[of_term[used[of_term]]]
            term_sizes[of_term] = len(of_term)
            if design.size(name) <= _SHORT_TERM:
                last.extend(of_term)
        connected = incidence.copy()
        connected.data = np.ones(len(connected.data))
        shared = sparse.csr_array(connected.T @ connected)
        _refuse_bytes(threads() * Pattern.bytes_at_least(shared, last))
        pattern = Pattern.of(shared, last, term_sizes=term_sizes)
        _refuse_bytes(threads() * pattern.nbytes)

        incidence = incidence[:, pattern.order]
        incidence.sort_indices()
        columns = {}
        for name in terms:
            of_entries = slice(starts[name], starts[name] + design.size(name))
            columns[name] = np.where(used[of_entries], pattern.places[kept[of_entries]], -1)
        return cls(pattern, incidence, means[pattern.order], columns)

    @functools.cached_property
    def _places(self) -> np.ndarray:
        """The entry of A that each pair of entries of each row adds to."""
        incidence, pattern = self.incidence, self.pattern
        counts = np.diff(incidence.indptr).astype(np.int64)
        total = int((counts * (counts + 1) // 2).sum())
        return _places_of_pairs(
            incidence.indptr, incidence.indices, pattern.starts, pattern.columns, total
        )

    @functools.cached_property
    def _transposed(self) -> Any:
        return self.incidence.T

    def cross_products(self, weights: np.ndarray) -> np.ndarray:
        """Return the lower triangle of Z'WZ for weights of the rows, in the order of the pattern."""
        incidence = self.incidence
        out = np.zeros(len(self.pattern.columns))
        _add_cross_products(incidence.indptr, incidence.data, self._places, weights, out)
        return out

    def row_variances(self, inverse: np.ndarray, sds: np.ndarray) -> np.ndarray:
        """Return z'S M^-1 S z of each row, given the entries of M^-1 where A has its own."""
        incidence, pattern = self.incidence, self.pattern
        scaled = inverse * sds[pattern.rows] * sds[pattern.columns]
        out = np.zeros(incidence.shape[0])
        _add_row_variances(incidence.indptr, incidence.data, self._places, scaled, out)
        return out

    def numbers(self, of_entries: Mapping[str, np.ndarray]) -> np.ndarray:
        """Return a number for each column, given those of the entries of each parameter."""
        out = np.zeros(self.pattern.size, dtype=np.int64)
        for name, columns in self.columns.items():
            used = columns >= 0
            out[columns[used]] = of_entries[name][used]
        return out

    def products(self, values: np.ndarray) -> np.ndarray:
        """Return Z' times values of the rows."""
        return self._transposed @ values

    def sums(self, effects: np.ndarray) -> np.ndarray:
        """Return Z times effects: the means of the rows."""
        return self.incidence @ effects


def _refuse_bytes(wanted: float) -> None:
    if wanted > MOST_BYTES:
        raise TooLargeError(
            f"the table: expected a model that fits into {MOST_BYTES / 2**30:.0f} GiB, got one that "
            f"takes {wanted / 2**30:.1f} GiB. Fit fewer rows or units, or a model with fewer terms."
        )


@compiled
def _places_of_pairs(
    row_starts: np.ndarray,
    row_columns: np.ndarray,
    starts: np.ndarray,
    columns: np.ndarray,
    total: int,
) -> np.ndarray:
    """Return the entry of the lower triangle for each pair of entries of each row."""
    out = np.empty(total, np.int32)
    count = 0
    for r in range(len(row_starts) - 1):
        for a in range(row_starts[r], row_starts[r + 1]):
            k = row_columns[a]
            start = starts[k]
            below = columns[start : starts[k + 1]]
            for b in range(row_starts[r], a + 1):
                out[count] = start + np.searchsorted(below, row_columns[b])
                count += 1
    return out


@compiled
def _add_cross_products(
    row_starts: np.ndarray,
    coefs: np.ndarray,
    places: np.ndarray,
    weights: np.ndarray,
    out: np.ndarray,
) -> None:
    """Add what each row contributes to the cross-products of columns."""
    count = 0
    for r in range(len(row_starts) - 1):
        for a in range(row_starts[r], row_starts[r + 1]):
            weighted = weights[r] * coefs[a]
            for b in range(row_starts[r], a + 1):
                out[places[count]] += weighted * coefs[b]
                count += 1


@compiled
def _add_row_variances(
    row_starts: np.ndarray,
    coefs: np.ndarray,
    places: np.ndarray,
    values: np.ndarray,
    out: np.ndarray,
) -> None:
    """Add to each row the entries of a symmetric matrix between its columns."""
    count = 0
    for r in range(len(row_starts) - 1):
        total = 0.0
        for a in range(row_starts[r], row_starts[r + 1]):
            beside = 0.0
            for b in range(row_starts[r], a):
                beside += coefs[b] * values[places[count]]
                count += 1
            total += coefs[a] * (2.0 * beside + coefs[a] * values[places[count]])
            count += 1
        out[r] += total


@compiled
def _second_moments(
    starts: np.ndarray, columns: np.ndarray, sds: np.ndarray, u: np.ndarray, inverse: np.ndarray
) -> np.ndarray:
    """Return E[u_i u_j] at the entries of A; beside the diagonal twice, for the upper triangle."""
    out = np.empty(len(columns))
    for k in range(len(starts) - 1):
        for place in range(starts[k], starts[k + 1]):
            j = columns[place]
            moment = sds[k] * sds[j] * inverse[place] + u[k] * u[j]
            out[place] = moment if j == k else 2.0 * moment
    return out


@compiled
def _log_prior(
    theta: np.ndarray,
    codes: np.ndarray,
    first: np.ndarray,
    second: np.ndarray,
    constants: np.ndarray,
    gradient: np.ndarray,
) -> float:
    """Return the log prior density of log scales, and write its gradient."""
    total = 0.0
    for t in range(len(theta)):
        scale = math.exp(theta[t])
        shape, slope = prior_shape(codes[t], first[t], second[t], scale, theta[t])
        total += constants[t] + shape + theta[t]
        gradient[t] = slope * scale + 1.0
    return total


class Noise(NamedTuple):
    """What the rows are to a density: cross-products of those that share a noise variance.

    Attributes
    ----------
    variance : ndarray of int, shape (classes,)
        The number of the variance of each class of rows.
    rows : ndarray, shape (classes,)
        How many rows it has.
    crosses : scipy.sparse.csr_array, shape (entries, classes)
        A_c, its lower triangle in the order of the pattern.
    products : ndarray, shape (columns, classes)
        Z_c'W_c y_c.
    squares : ndarray, shape (classes,)
        y_c'W_c y_c.
    log_weights : float
        The sum of the logarithms of the weights.
    """

    variance: np.ndarray
    rows: np.ndarray
    crosses: Any
    products: np.ndarray
    squares: np.ndarray
    log_weights: float

    @classmethod
    def of(
        cls,
        layout: Layout,
        y: np.ndarray,
        of_rows: np.ndarray,
        weights: np.ndarray,
        known: Noise | None = None,
    ) -> Noise:
        """Make the cross-products; those of columns alone may be known of another outcome."""
        from scipy import sparse

        variance, place, rows = np.unique(of_rows, return_inverse=True, return_counts=True)
        within = sparse.csr_array(
            (weights, place.ravel(), np.arange(len(y) + 1)), shape=(len(y), len(rows))
        )
        if known is None:
            columns = [
                sparse.csc_array(layout.cross_products(within[:, [c]].toarray().ravel())[:, None])
                for c in range(len(rows))
            ]
            crosses = sparse.csr_array(sparse.hstack(columns))
        else:
            crosses = known.crosses
        left = y - layout.sums(layout.means)
        return cls(
            variance=variance,
            rows=rows,
            crosses=crosses,
            products=layout.products((within * left[:, None]).toarray()),
            squares=within.T @ left**2,
            log_weights=float(np.log(weights).sum()),
        )


NO_NOISE = Noise(np.zeros(0, int), np.zeros(0), None, np.zeros((0, 0)), np.zeros(0), 0.0)


class Conditional(NamedTuple):
    """The effects given the scales.

    Attributes
    ----------
    log_likelihood : float
        Minus infinity beyond the range of floating point.
    sds : ndarray, shape (columns,)
        S.
    standard : ndarray, shape (columns,)
        v, the mean of the standardized effects.
    """

    log_likelihood: float
    sds: np.ndarray
    standard: np.ndarray


@dataclass(frozen=True, eq=False, kw_only=True)
class Unbalanced(Reduction):
    """The reduction of a design whose rows may follow any pattern.

    Attributes
    ----------
    layout : Layout
    number : ndarray of int, shape (columns,)
        The number of the variance of each column.
    noise : Noise
        `NO_NOISE` of counts.
    of_rows : ndarray of int, shape (rows,)
        The number of the noise variance of each row.
    weights : ndarray, shape (rows,)
    priors : tuple of ndarray
        Code, two arguments and constant of the prior of each scale.
    """

    layout: Layout
    number: np.ndarray
    noise: Noise
    of_rows: np.ndarray
    weights: np.ndarray
    priors: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
    _factors: deque[Factor] = field(default_factory=deque)

    @classmethod
    def of(cls, design: Design, weights: np.ndarray | None = None) -> Unbalanced:
        """Integrate the effects of a design out.

        Parameters
        ----------
        design : Design
        weights : ndarray, shape (rows,), optional
            The number of answers that the outcome of each sorted row is the mean of; by default that of
            the design.

        Raises
        ------
        NotCollapsible
            If the model is not normal.
        FitError
            If the table takes too much memory or time.
        """
        design = design.ordered()
        terms = normal_terms(design)
        numbered = numbered_variances(design, terms)
        layout = Layout.of(design)
        if weights is None:
            weights = np.ones(len(design.y)) if design.weights is None else design.weights
        priors = prior_arrays(design)
        constants = [prior_constant(*prior) for prior in zip(*priors, strict=True)]
        return cls(
            design=design,
            scales=numbered.scales,
            constants=numbered.constants,
            variance_of=numbered.of_entries,
            layout=layout,
            number=layout.numbers(numbered.of_entries),
            noise=Noise.of(layout, design.y, numbered.of_rows, weights),
            of_rows=numbered.of_rows,
            weights=weights,
            priors=(*priors, np.array(constants)),
        )

    def __getstate__(self) -> dict[str, Any]:
        """Leave out memory that is only worked in."""
        return {**vars(self), "_factors": deque()}

    def of_outcome(self, y: np.ndarray) -> Unbalanced:
        """Return the reduction of another outcome of the same pairs, in the order of this one's."""
        noise = Noise.of(self.layout, y, self.of_rows, self.weights, self.noise)
        return replace(self, design=replace(self.design, y=y), noise=noise)

    @property
    def seconds(self) -> float:
        """About how long a density takes on one core."""
        pattern = self.layout.pattern
        return _CALL_S + (pattern.arithmetic + len(pattern.columns)) / _PER_SECOND

    @property
    def costly(self) -> bool:
        """True: chains of NUTS would call back for each of their many steps."""
        return True

    @property
    def most_mixed(self) -> int:
        """How many draws of the scales a mixture of normals is over."""
        return next((most for seconds, most in _MIXED if self.seconds < seconds), _FEWEST_MIXED)

    def without_data(self, name: str) -> np.ndarray:
        """Return a mask of the entries of a location parameter that enter no row."""
        return self.layout.columns[name] < 0

    # -- the density -------------------------------------------------------------------------------

    def log_density(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the log posterior density of log scales (n_theta,), and its gradient."""
        with one_thread_of_blas(), self._factor() as factor, np.errstate(all="ignore"):
            return self._with_gradient(theta, factor)

    def gradients(self, thetas: np.ndarray) -> np.ndarray:
        """Return the gradient of the log posterior density at many log scales, shape (n, n_theta)."""
        found = self.each(self._with_gradient, np.ascontiguousarray(thetas, dtype=float))
        return np.stack([gradient for _, gradient in found])

    def _with_gradient(self, theta: np.ndarray, factor: Factor) -> tuple[float, np.ndarray]:
        value, gradient, given = self._at(theta, factor)
        if not math.isfinite(value):
            return value, gradient
        inverse, diagonal = factor.inverse_at_entries()
        v, sds, pattern = given.standard, given.sds, self.layout.pattern
        both = np.bincount(self.number, diagonal + v * v - 1.0, self.n_theta)
        gradient += both[: self.n_theta]
        u = sds * v
        moments = _second_moments(pattern.starts, pattern.columns, sds, u, inverse)
        noise = self.noise
        sampled = noise.variance < self.n_theta
        squares = noise.squares - 2.0 * u @ noise.products + noise.crosses.T @ moments
        of_classes = noise.variance[sampled]
        gradient[of_classes] += squares[sampled] * np.exp(-2.0 * theta[of_classes])
        gradient[of_classes] -= noise.rows[sampled]
        return value, gradient

    def log_densities(self, thetas: np.ndarray) -> np.ndarray:
        """Return the log posterior density at many values of the log scales, shape (n, n_theta)."""
        rows = np.ascontiguousarray(thetas, dtype=float)

        def density(row: np.ndarray, factor: Factor) -> float:
            return self._at(row, factor)[0]

        return np.array(self.each(density, rows))

    def _at(self, theta: np.ndarray, factor: Factor) -> tuple[float, np.ndarray, Conditional]:
        """Return the log density, the gradient of the prior, and the effects given the scales."""
        gradient = np.zeros(self.n_theta)
        if not (np.abs(theta) < FARTHEST).all():
            nothing = np.zeros(0)
            return -math.inf, gradient, Conditional(-math.inf, nothing, nothing)
        codes, first, second, constants = self.priors
        value = _log_prior(theta, codes, first, second, constants, gradient)
        given = self.conditional(np.concatenate([np.exp(2.0 * theta), self.constants]), factor)
        value += given.log_likelihood
        return (value if math.isfinite(value) else -math.inf), gradient, given

    def conditional(self, variances: np.ndarray, factor: Factor) -> Conditional:
        """Return log likelihood and effects given all variances; `factor` becomes that of M."""
        sds = np.sqrt(variances[self.number])
        noise = self.noise
        of_classes = variances[noise.variance]
        product = sds * (noise.products @ (1.0 / of_classes))
        log_determinant = factor.update(noise.crosses @ (1.0 / of_classes), sds)
        if not math.isfinite(log_determinant):
            return Conditional(-math.inf, sds, np.zeros(len(sds)))
        standard = factor.solve(product)
        total = log_determinant - product @ standard - noise.log_weights
        total += noise.rows @ (LOG_2PI + np.log(of_classes)) + noise.squares @ (1.0 / of_classes)
        return Conditional(-0.5 * total, sds, standard)

    def without_noise(self) -> bool:
        """Return whether the effects reproduce some rows exactly.

        Then the density of these rows rises without end as their noise goes to zero. If noise is
        needed, its density falls. If each row has an effect for itself, it stays as it is.
        """
        spread = float(np.std(self.design.y))
        usual = np.concatenate([np.full(self.n_theta, spread**2), self.constants])
        with one_thread_of_blas(), self._factor() as factor, np.errstate(all="ignore"):
            for of_class in self.noise.variance:
                if of_class >= self.n_theta or of_class in self.number:
                    continue
                values = []
                for share in (_CALM, _TINY):
                    variances = usual.copy()
                    variances[of_class] = (share * spread) ** 2
                    values.append(self.conditional(variances, factor).log_likelihood)
                if values[1] - values[0] > _CLOSER:
                    return True
        return False

    # -- the effects -------------------------------------------------------------------------------

    def _add_effects(
        self, theta: np.ndarray, flat: dict[str, np.ndarray], rng: np.random.Generator
    ) -> None:
        """Add draws of the deviations of effects from their means, for some parameters."""
        points, point = np.unique(theta, axis=0, return_inverse=True)
        draws = np.argsort(point.ravel(), kind="stable")
        ends = np.cumsum(np.bincount(point.ravel()))
        tasks = []
        for place, (start, end) in enumerate(zip([0, *ends[:-1]], ends, strict=True)):
            for first in range(start, end, _AT_ONCE):
                tasks.append((points[place], draws[first : min(first + _AT_ONCE, end)]))
        size = self.layout.pattern.size
        together = max(4 * threads(), _NORMALS * len(tasks) // (size * len(theta)))

        def drawn(task: tuple[Any, ...], factor: Factor) -> np.ndarray:
            row, _, normals = task
            given = self._given(row, factor)
            return given.sds[:, None] * (given.standard[:, None] + factor.unwhitened(normals))

        for begin in range(0, len(tasks), together):
            some = [
                (row, chosen, rng.standard_normal((size, len(chosen))))
                for row, chosen in tasks[begin : begin + together]
            ]
            for (_, chosen, _), effects in zip(some, self.each(drawn, some), strict=True):
                for name, out in flat.items():
                    columns = self.layout.columns[name]
                    used = np.flatnonzero(columns >= 0)
                    out[np.ix_(chosen, used)] += effects[columns[used]].T

    def _given(self, theta: np.ndarray, factor: Factor) -> Conditional:
        """Return the effects given log scales.

        Raises
        ------
        FitError
            If there is no factor in floating point.
        """
        variances = np.concatenate([np.exp(2.0 * theta), self.constants])
        with np.errstate(all="ignore"):
            given = self.conditional(variances, factor)
        if not math.isfinite(given.log_likelihood):
            raise FitError(
                "a covariance is not positive definite in floating point: a standard deviation is "
                "millions of times the noise"
            )
        return given

    def given(self, theta: np.ndarray, factor: Factor) -> tuple[Conditional, Factor]:
        """Return the effects given log scales, and the factor of M.

        Both are kept, since the next question about a fit has the same log scales.
        """
        kept, key = _kept_factors(self), theta.tobytes()
        if key in kept:
            return kept[key]
        given = self._given(theta, factor)
        if len(kept) < _KEPT_BYTES // factor.nbytes:
            kept[key] = given, factor.copy()
        return given, factor

    # -- work in threads ---------------------------------------------------------------------------

    @contextmanager
    def _factor(self) -> Iterator[Factor]:
        """Lend memory for a factorization to one thread."""
        try:
            factor = self._factors.pop()
        except IndexError:
            factor = Factor(self.layout.pattern)
        try:
            yield factor
        finally:
            self._factors.append(factor)

    def each[Item, Answer](
        self, work: Callable[[Item, Factor], Answer], items: Sequence[Item] | np.ndarray
    ) -> list[Answer]:
        """Return what work makes of each item, on a few threads."""
        number = min(threads(), len(items))

        def some(first: int) -> list[Answer]:
            with self._factor() as factor, np.errstate(all="ignore"):
                return [work(item, factor) for item in items[first::number]]

        with one_thread_of_blas():
            if number < 2:
                return some(0) if len(items) else []
            with ThreadPoolExecutor(number) as pool:
                parts = list(pool.map(some, range(number)))
        return [parts[k % number][k // number] for k in range(len(items))]


@functools.lru_cache(maxsize=1)  # of the reduction that was asked last
def _kept_factors(_reduced: Unbalanced) -> dict[bytes, tuple[Conditional, Factor]]:
    """Return the effects and factors of some log scales."""
    return {}


@dataclass(frozen=True, eq=False)
class Solved:
    """Linear quantities of the columns of a layout; their moments take a solve each.

    Attributes
    ----------
    constant : ndarray, shape (quantities,)
        With the prior means that are numbers of the model file.
    weights : scipy.sparse.csr_array, shape (columns, quantities)
    basis : scipy.sparse.csr_array, shape (columns, parts)
        What is solved for: sums of columns that have the same weights in all quantities, where
        these are fewer than the quantities, such as contrasts of a few groups.
    mixing : ndarray, shape (parts, quantities), optional
        The weights of the parts; without it parts are quantities.
    apart : tuple of (ndarray of int, scipy.sparse array)
        Variances of entries that enter no row, by number, and the weights of quantities on them.
    """

    constant: np.ndarray
    weights: Any
    basis: Any
    mixing: np.ndarray | None
    apart: tuple[tuple[np.ndarray, Any], ...]

    @classmethod
    def of(cls, reduced: Unbalanced, constant: np.ndarray, weights: Mapping[str, Any]) -> Solved:
        """Take weights of quantities on effects around zero to the columns of a reduction."""
        from scipy import sparse

        shape = reduced.layout.pattern.size, len(constant)
        onto = sparse.csr_array(shape)
        apart = []
        for name, of_entries in weights.items():
            entries = sparse.coo_array(of_entries)
            quantities, places = entries.coords
            columns = reduced.layout.columns[name][places]
            used = columns >= 0
            at = columns[used], quantities[used]
            onto = onto + sparse.csr_array((entries.data[used], at), shape=shape)
            if not used.all():
                unused = reduced.without_data(name)
                numbers = reduced.variance_of[name][unused]
                apart.append((numbers, sparse.csr_array(of_entries)[:, np.flatnonzero(unused)]))
        basis, mixing = onto, None
        rows = np.flatnonzero(np.diff(onto.indptr))
        if len(rows) * len(constant) <= _MOST_COMPARED:
            parts, part = np.unique(onto[rows].toarray(), axis=0, return_inverse=True)
            if len(parts) < len(constant):
                at = rows, part.ravel()
                basis = sparse.csr_array((np.ones(len(rows)), at), shape=(shape[0], len(parts)))
                mixing = parts
        return cls(constant, onto, basis, mixing, tuple(apart))

    def moments(self, reduced: Unbalanced, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return mean and variance of the quantities given log scales, without new effects.

        Both have the shape (n, quantities), for log scales of the shape (n, n_theta).
        """
        points, point = np.unique(theta, axis=0, return_inverse=True)
        starts = range(0, self.basis.shape[1], _AT_ONCE)
        batches = [self.basis[:, start : start + _AT_ONCE].toarray() for start in starts]

        def of_point(row: np.ndarray, factor: Factor) -> tuple[np.ndarray, np.ndarray]:
            given, factor = reduced.given(row, factor)
            mean = self.weights.T @ (given.sds * given.standard)
            if self.mixing is not None:
                parts = [factor.whitened(given.sds[:, None] * batch) for batch in batches]
                whitened = np.concatenate(parts, axis=1)
                mixed = (whitened.T @ whitened) @ self.mixing
                return mean, np.einsum("ij,ij->j", self.mixing, mixed)
            squares = [np.zeros(0)]
            for batch in batches:
                whitened = factor.whitened(given.sds[:, None] * batch)
                squares.append(np.einsum("ij,ij->j", whitened, whitened))
            return mean, np.concatenate(squares)

        solved = reduced.each(of_point, points)
        mean = self.constant + np.array([part[0] for part in solved])[point.ravel()]
        variance = np.array([part[1] for part in solved])[point.ravel()]
        for numbers, weights in self.apart:
            variance = variance + reduced.variances_at(theta)[:, numbers] @ weights.power(2).T
        return mean, variance
