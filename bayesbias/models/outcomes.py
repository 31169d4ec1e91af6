"""The likelihoods a model file may name: what the outcome of each is, one entry each.

Whatever depends on the likelihood stands here: draws and densities, the outcome of a PyMC model, the
mean on the scale of the outcome, and words. A new likelihood is one entry of `LIKELIHOODS`. Without an
`engine` it is sampled row by row with PyMC.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesbias.models.distributions import DISTRIBUTIONS


def _same(mean: Any) -> Any:
    return mean


def _never(trials: np.ndarray | None) -> bool:
    return False


def _all_possible(
    outcome: np.ndarray, trials: np.ndarray | None, noise: Mapping[str, Any]
) -> np.ndarray:
    return np.ones(len(outcome), dtype=bool)


@dataclass(frozen=True)
class Outcome:
    """What a likelihood takes the outcome to be.

    The arguments of a row, ``**args``, are those that `args` names and, with `has_trials`,
    ``trials``. ``mu`` is the linear predictor.

    Attributes
    ----------
    words : str
        The likelihood in a methods paragraph.
    args : tuple of str
        Keys of ``[likelihood]`` beside ``mu``, each a positive number or parameter.
    optional : tuple of str
        More such keys, of which a model has the first ones, as many as it needs.
    draw : callable
        ``draw(rng, mu, size, **args)`` returns new outcomes.
    log_density : callable
        ``log_density(y, mu, **args)`` of each row.
    pymc : callable
        ``pymc(name, y, mu, **args)`` adds the observed outcome to the PyMC model that is open.
    expected : callable
        The mean of the outcome, of one trial, as a function of the linear predictor; of ordered levels
        the probability that it is above the lowest.
    in_units : bool
        Whether the linear predictor has the unit of the outcome. Else it has another, such as log
        odds, and so do all SDs of effects.
    normal : bool
        Whether the noise is normal. Then effects are integrated out exactly, and single rows have a
        variance.
    continuous : bool
        Whether the outcome is a number with noise around its mean. Else it is a count or a label.
    noise_variance : float, optional
        The variance of a single outcome on the scale of the linear predictor, where no argument
        says it.
    has_trials : bool
        Whether a column says how many trials each outcome is out of.
    row_effects : callable
        ``row_effects(trials)`` says whether a term with an entry for each row can be told from the
        noise of the likelihood.
    possible, possible_words : callable, str
        ``possible(y, trials, noise)`` returns a mask of outcomes that can be, given the arguments that a
        model has; and what they have to be.
    rows_words : str
        What rows are in a sentence, with ``{trials}`` and ``{rows}``; by default the outcome names
        them.
    engine : str
        The sampler for what cannot be integrated out, a key of ``SAMPLERS`` in
        `bayesbias.inference.fitting`; empty for PyMC. It is not the `engine` of `bayesbias.fit`.
    """

    words: str
    args: tuple[str, ...]
    draw: Callable[..., np.ndarray]
    log_density: Callable[..., np.ndarray]
    pymc: Callable[..., Any]
    expected: Callable[[Any], Any] = _same
    in_units: bool = True
    normal: bool = False
    continuous: bool = True
    noise_variance: float | None = None
    has_trials: bool = False
    row_effects: Callable[[np.ndarray | None], bool] = _never
    possible: Callable[[np.ndarray, np.ndarray | None, Mapping[str, Any]], np.ndarray] = (
        _all_possible
    )
    possible_words: str = ""
    rows_words: str = ""
    engine: str = ""
    optional: tuple[str, ...] = ()


# -- numbers ---------------------------------------------------------------------------------------


def _pymc_normal(name: str, y: np.ndarray, mu: Any, sigma: Any) -> Any:
    import pymc as pm

    return pm.Normal(name, mu=mu, sigma=sigma, observed=y)


def _pymc_student(name: str, y: np.ndarray, mu: Any, nu: Any, sigma: Any) -> Any:
    import pymc as pm

    return pm.StudentT(name, mu=mu, nu=nu, sigma=sigma, observed=y)


# -- counts of trials, such as 0/1 answers ---------------------------------------------------------


def _draw_binomial(rng: np.random.Generator, mu: Any, trials: Any, size: Any) -> np.ndarray:
    return rng.binomial(np.int_(trials), 1 / (1 + np.exp(-mu)), size)


def _binomial(y: Any, mu: Any, trials: Any) -> np.ndarray:
    from scipy.special import gammaln

    ways = gammaln(trials + 1) - gammaln(y + 1) - gammaln(trials - y + 1)
    return ways + y * mu - trials * np.logaddexp(0, mu)


def _pymc_binomial(name: str, y: np.ndarray, mu: Any, trials: np.ndarray) -> Any:
    import pymc as pm

    return pm.Binomial(name, n=trials.astype(int), logit_p=mu, observed=y.astype(int))


def _probability(mu: Any) -> Any:
    from scipy.special import expit

    return expit(mu)


def _vary_beyond_chance(trials: np.ndarray | None) -> bool:
    return trials is not None and bool((trials != 1).any())


def _out_of_trials(
    y: np.ndarray, trials: np.ndarray | None, noise: Mapping[str, Any]
) -> np.ndarray:
    return (y >= 0) & (y <= trials)


# -- ratings in order ------------------------------------------------------------------------------

MOST_LEVELS = 11
GAPS = tuple(f"gap_{cut}" for cut in range(2, MOST_LEVELS))
"""How far each cut between two levels is above the one before; the first cut is at zero."""


def cuts_of(gaps: Mapping[str, Any]) -> list[Any]:
    """Return the cuts in log odds, the first at zero, from the gaps between them.

    Examples
    --------
    >>> cuts_of({"gap_2": 1.5, "gap_3": 2.0})
    [0.0, 1.5, 3.5]
    """
    cuts: list[Any] = [0.0]
    for name in GAPS[: len(gaps)]:
        cuts.append(cuts[-1] + gaps[name])
    return cuts


def _draw_ordered(rng: np.random.Generator, mu: Any, size: Any, **gaps: Any) -> np.ndarray:
    latent = mu + rng.logistic(size=size)
    levels = np.zeros(np.shape(latent))
    for cut in cuts_of(gaps):
        levels += latent > cut
    return levels


def _ordered(y: Any, mu: Any, **gaps: Any) -> Any:
    """Return log P(y): above the cut below its level, below the cut above it, and their gap.

    With a > b, F(a) - F(b) is F(a) F(-b) (1 - exp(b - a)), F being the logistic distribution.
    """
    from scipy.special import log_expit

    total = np.zeros(np.broadcast_shapes(np.shape(y), np.shape(mu)))
    for number, cut in enumerate(cuts_of(gaps), start=1):
        total = total + np.where(y == number, log_expit(mu - cut), 0.0)
        total = total + np.where(y == number - 1, log_expit(cut - mu), 0.0)
    for level, name in enumerate(GAPS[: len(gaps)], start=1):
        total = total + np.where(y == level, np.log(-np.expm1(-gaps[name])), 0.0)
    return total


def _pymc_ordered(name: str, y: np.ndarray, mu: Any, **gaps: Any) -> Any:
    import pymc as pm
    import pytensor.tensor as pt

    columns = [cut * pt.ones_like(mu) for cut in cuts_of(gaps)]
    cuts = pt.stack(columns, axis=-1)
    return pm.OrderedLogistic(name, eta=mu, cutpoints=cuts, observed=y.astype(int))


def _of_levels(y: np.ndarray, trials: np.ndarray | None, noise: Mapping[str, Any]) -> np.ndarray:
    return (y >= 0) & (y <= len(noise) + 1) & (y == np.floor(y))


LIKELIHOODS: Mapping[str, Outcome] = {
    "Normal": Outcome(
        words="normal",
        args=("sigma",),
        draw=DISTRIBUTIONS["Normal"].draw,
        log_density=DISTRIBUTIONS["Normal"].log_density,
        pymc=_pymc_normal,
        normal=True,
    ),
    "Binomial": Outcome(
        words="binomial, with a logit link",
        args=(),
        draw=_draw_binomial,
        log_density=_binomial,
        pymc=_pymc_binomial,
        expected=_probability,
        in_units=False,
        continuous=False,
        noise_variance=math.pi**2 / 3,  # of a standard logistic variable
        has_trials=True,
        row_effects=_vary_beyond_chance,
        possible=_out_of_trials,
        possible_words="counts from 0 to their number of trials",
        rows_words="{trials:,} answers (0 or 1) to {rows:,} questions",
        engine="counts",
    ),
    "Ordered": Outcome(
        words="cumulative logit, with the same cuts for all answers",
        args=(),
        optional=GAPS,
        draw=_draw_ordered,
        log_density=_ordered,
        pymc=_pymc_ordered,
        expected=_probability,
        in_units=False,
        continuous=False,
        noise_variance=math.pi**2 / 3,
        possible=_of_levels,
        possible_words="levels that are numbered from 0 to one more than the number of gaps",
        rows_words="{rows:,} ordered answers",
        engine="ordered",
    ),
    "StudentT": Outcome(
        words="Student-t",
        args=("nu", "sigma"),
        draw=DISTRIBUTIONS["StudentT"].draw,
        log_density=DISTRIBUTIONS["StudentT"].log_density,
        pymc=_pymc_student,
    ),
}
"""The outcome of each likelihood, by the name that a model file has for it."""
