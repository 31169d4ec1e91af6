"""R's default random numbers, so that simulations printed in R come out digit for digit.

``set.seed(s)`` in R starts a Mersenne Twister from a linear congruential sequence; ``runif`` scales its
32-bit words to the open unit interval; ``rnorm`` joins two uniforms into one of about 59 bits and sends it
through the inverse of the normal distribution function. Each of these steps is repeated here on whole
arrays, so that a million normal draws take a fraction of a second.

Sources: Matsumoto and Nishimura (1998) for the generator, Wichura (1988), algorithm AS 241, for the inverse,
and R's help page ``?RNGkind`` for how they are put together ("Mersenne-Twister", "Inversion").
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bayesbias.core import checks
from bayesbias.core.errors import InputError

__all__ = ["RRandom", "qnorm"]

_WORDS = 624  # the length of the Mersenne Twister's state
_MOST_SEED = 2**31 - 1  # R's integers have 32 bits, and the lowest one means NA
_TO_UNIT = 2.3283064365386963e-10  # 2 ** -32
_SMALLEST = 2.328306437080797e-10  # 1 / (2 ** 32 - 1), half of which stands in for 0
_BIG = 134217728.0  # 2 ** 27: the first of two uniforms gives the upper 27 bits
# The coefficients of AS 241's three rational approximations, highest power first, as `np.polyval` takes them.
# fmt: off
_CENTRE = (
    (2.5090809287301226727e3, 3.3430575583588128105e4, 6.7265770927008700853e4, 4.5921953931549871457e4,
     1.3731693765509461125e4, 1.9715909503065514427e3, 1.3314166789178437745e2, 3.3871328727963666080e0),
    (5.2264952788528545610e3, 2.8729085735721942674e4, 3.9307895800092710610e4, 2.1213794301586595867e4,
     5.3941960214247511077e3, 6.8718700749205790830e2, 4.2313330701600911252e1, 1.0),
)
_TAIL = (
    (7.74545014278341407640e-4, 2.27238449892691845833e-2, 2.41780725177450611770e-1,
     1.27045825245236838258e0, 3.64784832476320460504e0, 5.76949722146069140550e0,
     4.63033784615654529590e0, 1.42343711074968357734e0),
    (1.05075007164441684324e-9, 5.47593808499534494600e-4, 1.51986665636164571966e-2,
     1.48103976427480074590e-1, 6.89767334985100004550e-1, 1.67638483018380384940e0,
     2.05319162663775882187e0, 1.0),
)
_FAR_TAIL = (
    (2.01033439929228813265e-7, 2.71155556874348757815e-5, 1.24266094738807843860e-3,
     2.65321895265761230930e-2, 2.96560571828504891230e-1, 1.78482653991729133580e0,
     5.46378491116411436990e0, 6.65790464350110377720e0),
    (2.04426310338993978564e-15, 1.42151175831644588870e-7, 1.84631831751005468180e-5,
     7.86869131145613259100e-4, 1.48753612908506148525e-2, 1.36929880922735805310e-1,
     5.99832206555887937690e-1, 1.0),
)


class RRandom:
    """R's default stream of random numbers, as ``set.seed(seed)`` starts it.

    The stream goes on from call to call, as in R: ``rnorm(5)`` twice gives the same ten numbers as
    ``rnorm(10)``, and a ``runif`` in between takes its share.

    Parameters
    ----------
    seed : int
        The argument of ``set.seed``: a whole number from -2147483647 to 2147483647.

    Raises
    ------
    InputError
        If `seed` is not such a number.

    Examples
    --------
    >>> from bayesbias.simulation import RRandom
    >>> RRandom(123).rnorm(3).round(8).tolist()
    [-0.56047565, -0.23017749, 1.55870831]
    >>> RRandom(42).runif(3).round(7).tolist()
    [0.914806, 0.9370754, 0.2861395]
    """

    def __init__(self, seed: int | np.integer) -> None:
        checks.count(seed, "seed", -_MOST_SEED, _MOST_SEED)
        # R first runs its congruential generator 50 times to scramble the seed. Then it fills 625 words with
        # it, the first of which is the position in the state and is overwritten by 624: "start afresh".
        word = int(seed) & 0xFFFFFFFF
        for _ in range(51):
            word = (69069 * word + 1) & 0xFFFFFFFF
        key = np.empty(_WORDS, dtype=np.uint32)
        for i in range(_WORDS):
            word = (69069 * word + 1) & 0xFFFFFFFF
            key[i] = word
        self._bits = np.random.MT19937()
        self._bits.state = {"bit_generator": "MT19937", "state": {"key": key, "pos": _WORDS}}

    def runif(self, n: int) -> npt.NDArray[np.float64]:
        """Draw `n` numbers from the uniform distribution on the open unit interval, as R's ``runif(n)``.

        Parameters
        ----------
        n : int
            How many, 0 or more.

        Returns
        -------
        numpy.ndarray
            Shape ``(n,)``, each strictly between 0 and 1.

        Raises
        ------
        InputError
            If `n` is not a whole number of at least 0.

        Examples
        --------
        >>> from bayesbias.simulation import RRandom
        >>> random = RRandom(1)
        >>> random.runif(2).round(7).tolist(), random.runif(1).round(7).tolist()
        ([0.2655087, 0.3721239], [0.5728534])
        """
        unit = self._bits.random_raw(checks.count(n, "n", 0)) * _TO_UNIT
        # R never returns 0 or 1, which would be infinite after inversion.
        return np.clip(unit, 0.5 * _SMALLEST, 1.0 - 0.5 * _SMALLEST)

    def rnorm(self, n: int, mean: float = 0.0, sd: float = 1.0) -> npt.NDArray[np.float64]:
        """Draw `n` numbers from a normal distribution, as R's ``rnorm(n, mean, sd)``.

        Each takes two uniforms from the stream. With ``sd=0`` R returns the mean and takes none, and so
        does this.

        Parameters
        ----------
        n : int
            How many, 0 or more.
        mean : float, default 0
            The mean, finite.
        sd : float, default 1
            The standard deviation, finite and not negative.

        Returns
        -------
        numpy.ndarray
            Shape ``(n,)``.

        Raises
        ------
        InputError
            If `n` is not a whole number of at least 0, or `mean` or `sd` is outside its range.

        Examples
        --------
        >>> from bayesbias.simulation import RRandom
        >>> RRandom(123).rnorm(2, mean=10, sd=2).round(6).tolist()
        [8.879049, 9.539645]
        """
        checks.count(n, "n", 0)
        checks.finite(mean, "mean")
        checks.not_negative(sd, "sd")
        if sd == 0:
            return np.full(n, float(mean))
        pairs = self.runif(2 * n).reshape(n, 2)
        return mean + sd * qnorm((np.floor(_BIG * pairs[:, 0]) + pairs[:, 1]) / _BIG)


def qnorm(p: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return quantiles of the standard normal distribution by algorithm AS 241, as R does.

    Other inverses, such as ``scipy.special.ndtri``, agree to about 1e-15 but not in the last digit.

    Parameters
    ----------
    p : array_like
        Probabilities in [0, 1], of any shape.

    Returns
    -------
    numpy.ndarray
        The quantiles, of the same shape; infinite at 0 and 1.

    Raises
    ------
    InputError
        If a probability is outside [0, 1] or missing.

    Examples
    --------
    >>> from bayesbias.simulation.rrandom import qnorm
    >>> qnorm([0.5, 0.975]).round(6).tolist()
    [0.0, 1.959964]
    """
    shape = np.shape(p)
    p = np.asarray(p, dtype=np.float64).reshape(-1)
    outside = ~((p >= 0) & (p <= 1))
    if outside.any():
        raise InputError("not a probability", found=float(p[outside][0]), valid="0 to 1")
    from_middle = p - 0.5
    squared = 0.180625 - from_middle * from_middle
    quantile = from_middle * _rational(_CENTRE, squared)
    in_tail = np.abs(from_middle) > 0.425
    if in_tail.any():
        in_upper = from_middle[in_tail] > 0
        tail = np.where(in_upper, 0.5 - p[in_tail] + 0.5, p[in_tail])
        with np.errstate(divide="ignore", invalid="ignore"):
            root = np.sqrt(-np.log(tail))
            size = np.where(root <= 5, _rational(_TAIL, root - 1.6), _rational(_FAR_TAIL, root - 5))
        size[tail == 0] = np.inf
        quantile[in_tail] = np.where(in_upper, size, -size)
    return quantile.reshape(shape)


def _rational(coefficients: tuple[tuple[float, ...], tuple[float, ...]], at: Any) -> Any:
    above, below = coefficients
    return np.polyval(above, at) / np.polyval(below, at)
