"""The effect size of WEAT where there is no difference at all, drawn and exact.

For 2 + 2 words without any difference it is uniformly distributed between -sqrt(3) and sqrt(3): 13 % are
above 1.5 in size. The permutation test knows this: with 2 + 2 words its p-value is never below 1/6.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bayesbias.core import checks
from bayesbias.core.errors import InputError
from bayesbias.scores.association import DENOMINATORS, largest_effect_size
from bayesbias.scores.counting import error_of_quantile
from bayesbias.simulation.accounting import standard_error_of_share

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["NullDistribution", "null_distribution"]

Floats = npt.NDArray[np.float64]
SPREADS = (
    1e-9,
    1e9,
)  # of simulated pairs; scores do not hang on the unit, and squares of these are numbers still


@dataclass(frozen=True, eq=False)
class NullDistribution:
    """Effect sizes where all pairs are drawn alike.

    Attributes
    ----------
    n_x, n_y, n_attributes : int
        Words of X and Y; attributes in A and in B.
    sd : float
        Of a pair. The distribution does not depend on it.
    denominator : str
        See `effect_size`.
    draws, seed : int
    largest : float
        What the absolute effect size cannot exceed.
    effect_sizes : ndarray, shape (draws,)
    """

    n_x: int
    n_y: int
    n_attributes: int
    sd: float
    denominator: str
    draws: int
    seed: int
    largest: float
    effect_sizes: Floats = field(repr=False)

    def quantile(self, prob: npt.ArrayLike) -> Floats:
        """Return exact quantiles of the null distribution.

        The squared effect size over its squared ceiling is the share of the sum of squares that lies
        between X and Y. For independent normal scores that share has a Beta(1/2, (n - 2)/2) distribution,
        whatever their spread and however many attributes went into them.

        Parameters
        ----------
        prob : array_like
            Probabilities in [0, 1].

        Examples
        --------
        With 2 + 2 words it is uniform:

        >>> from bayesbias.simulation import null_distribution
        >>> null_distribution(2, 2, draws=1).quantile([0.5, 0.75, 1]).round(3).tolist()
        [0.0, 0.866, 1.732]
        """
        from scipy import stats

        p = np.asarray(prob, dtype=float)
        outside = ~((p >= 0) & (p <= 1))
        if outside.any():
            raise InputError(
                "not a probability", where="prob", found=float(p[outside].flat[0]), valid="0 to 1"
            )
        n = self.n_x + self.n_y
        if n == 2:
            return np.where(p < 0.5, -self.largest, self.largest)
        return self.largest * np.sign(p - 0.5) * np.sqrt(stats.beta.ppf(np.abs(2 * p - 1), 0.5, (n - 2) / 2))

    def above(self, size: float) -> float:
        """Return the exact probability that the absolute effect size is at least `size`.

        Examples
        --------
        >>> from bayesbias.simulation import null_distribution
        >>> [round(null_distribution(n, n, draws=1).above(1), 3) for n in (2, 8, 32)]
        [0.423, 0.041, 0.0]
        """
        from scipy import stats

        share = min(abs(size) / self.largest, 1.0) ** 2
        n = self.n_x + self.n_y
        if n == 2:
            return 1.0 if abs(size) <= self.largest else 0.0
        return float(stats.beta.sf(share, 0.5, (n - 2) / 2))

    def summary(self) -> pd.DataFrame:
        """Return ``quantity, simulated, mcse_simulated, exact``: standard deviation, quantiles, and shares above a size.

        Errors of quantiles are those of their order statistics; that of the largest one is what it is from the ceiling.
        """
        import pandas as pd

        d = self.effect_sizes
        n = self.n_x + self.n_y
        # The mean of a Beta(1/2, (n - 2)/2) is 1/(n - 1).
        sd = float(np.sqrt(np.mean(d**2)))
        of_sd = float(np.std(d**2)) / (2 * sd * math.sqrt(len(d)))  # delta method
        rows = [("sd", sd, of_sd, self.largest / math.sqrt(n - 1))]
        for q in (0.025, 0.25, 0.5, 0.75, 0.975):
            rows.append(
                (
                    f"quantile {q:.1%}",
                    float(np.quantile(d, q)),
                    error_of_quantile(d, q),
                    float(self.quantile(q)),
                )
            )
        for size in (0.5, 0.8, 1.0, 1.5):
            share = float(np.mean(np.abs(d) >= size))
            rows.append((f"|d| >= {size:g}", share, standard_error_of_share(share, len(d)), self.above(size)))
        most = float(np.abs(d).max())
        rows.append(("largest |d|", most, self.largest - most, self.largest))
        return pd.DataFrame(rows, columns=["quantity", "simulated", "mcse_simulated", "exact"])


def null_distribution(
    n_x: int = 2,
    n_y: int = 2,
    n_attributes: int = 5,
    sd: float = 0.05,
    *,
    denominator: str = "union_n_minus_1",
    draws: int = 10_000,
    seed: int = 1,
) -> NullDistribution:
    """Draw effect sizes where every similarity comes from one normal distribution.

    Parameters
    ----------
    n_x, n_y : int, default 2
        Words of X and of Y, at least 1.
    n_attributes : int, default 5
        Attributes in A and in B, at least 1.
    sd : float, default 0.05
        Standard deviation of a pair, from 1e-9 to 1e9.
    denominator : {"union_n_minus_1", "union_n"}
        See `effect_size`.
    draws : int, default 10000
    seed : int, default 1

    Returns
    -------
    NullDistribution

    Raises
    ------
    InputError
        For an argument outside its range, or the denominator ``pooled``, which has no ceiling.

    Examples
    --------
    >>> from bayesbias.simulation import null_distribution
    >>> wide, narrow = null_distribution(sd=0.05), null_distribution(sd=0.001)
    >>> bool(abs(wide.effect_sizes - narrow.effect_sizes).max() < 1e-9)
    True
    """
    n_x, n_y = checks.count(n_x, "n_x"), checks.count(n_y, "n_y")
    n_attributes, draws = (
        checks.count(n_attributes, "n_attributes"),
        checks.count(draws, "draws", most=checks.MOST_DRAWS),
    )
    refuse_large(max(n_x, n_y), n_attributes)
    sd = checks.within(sd, "sd", *SPREADS)
    largest = largest_effect_size(n_x, n_y, denominator)
    if largest is None:
        raise InputError("this denominator has no ceiling", found=denominator, valid=DENOMINATORS[:2])
    random = np.random.default_rng(checks.seed(seed, most=None))
    n = n_x + n_y
    d = np.empty(draws)
    for part in chunks_of_draws(draws, 2 * n * n_attributes):
        pairs = random.standard_normal((part.stop - part.start, n, 2, n_attributes)) * sd
        means = pairs.mean(axis=3)
        s = means[:, :, 0] - means[:, :, 1]
        numerator = s[:, :n_x].mean(axis=1) - s[:, n_x:].mean(axis=1)
        d[part] = numerator / s.std(axis=1, ddof=int(denominator == "union_n_minus_1"))
    return NullDistribution(n_x, n_y, n_attributes, sd, denominator, draws, int(seed), largest, d)


def refuse_large(words: int, attributes: int) -> None:
    """Refuse tables whose pairs of one class and one set of attributes are more than memory and patience hold."""
    if words * attributes > checks.MOST_PAIRS:
        raise InputError(
            "a simulated table would have more pairs than are simulated",
            found=f"{words:,} words by {attributes:,} attributes",
            valid=f"at most {checks.MOST_PAIRS:,}",
        )


def chunks_of_draws(draws: int, numbers_each: int, most: int = 2_000_000) -> list[slice]:
    """Cut the draws so that a chunk's random numbers take at most 16 MB, or one draw does."""
    size = max(1, most // numbers_each)
    return [slice(start, min(start + size, draws)) for start in range(0, draws, size)]
