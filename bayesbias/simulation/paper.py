"""The seed paper's own simulations, digit for digit: as coded, and as intended.

Section 3 of the seed paper draws similarities for two protected classes of two words and two
attribute sets of five, and computes WEAT's effect size. Its code averages two scores with R's
``mean(s1, s2)``. R's ``mean`` takes one vector; the second argument is ``trim``. So ``mean(s1,
s2)`` is ``s1`` alone, and the numerator is the difference of two single words over the standard
deviation of all four. `simulate_paper` gives every result *as coded*, which are the printed
numbers, and *as intended*.

What follows from the slip, and what does not:

* The printed effect sizes 1.825 and -1.933, drawn where there is no difference, are impossible.
  With n - 1 in the denominator the effect size of 2 + 2 words cannot exceed sqrt(3) = 1.732
  (`largest_effect_size`); as coded the ceiling is sqrt(6). As intended the same draws give 0.648
  and -0.220.
* The effect size has no scale. Draws with a hundredth of the spread give the same distribution, so
  that the second null case shows nothing that the first does not.
* The 27.5 % quantiles are meant as 2.5 %; both are in the table.
* The critique survives in a weaker, truer form (`null_distribution`). What the permutation test
  does not know is that other *attribute* words might have been chosen. `simulate_grid` counts what
  that costs.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from bayesbias.core import checks

FORMULAS = ("as coded", "as intended")
"""The two readings of the paper's ``mean(s1, s2)``."""
_WORDS, _ATTRIBUTES = 4, 5  # protected words, two in each class; attributes in each set
_QUANTILES = (0.025, 0.275, 0.975)  # the paper prints the last two and means the outer two


@dataclass(frozen=True, eq=False)
class PaperCase:
    """One of the paper's four set-ups.

    Attributes
    ----------
    name : str
        The case, as the paper calls it.
    seed : int
        Of R's ``set.seed`` before the single draw.
    reseeded : bool
        Whether the seed is set again before the loop; if not, the loop continues the stream.
    mean : float
        The mean similarity of X with A and of Y with B; that of X with B and of Y with A is 0.
    sd : float
        The standard deviation of a pair.
    printed : mapping of str to float
        The numbers in the paper.
    """

    name: str
    seed: int
    reseeded: bool
    mean: float
    sd: float
    printed: Mapping[str, float]


PAPER_CASES = (
    PaperCase(
        "no difference, sd 0.05", 123, False, 0.0, 0.05,
        {"factor": 0.02342637, "numerator": 0.04275325, "bias": 1.825005},
    ),
    PaperCase(
        "no difference, sd 0.001", 124, True, 0.0, 0.001,
        {"factor": 0.0006402666, "numerator": -0.001237637, "bias": -1.933003},
    ),
    PaperCase(
        "difference, sd 0.05", 766, False, 0.1, 0.05,
        {"bias": 1.490014, "mean": 1.690664, "median": 1.707511,
         "quantile 27.5%": 1.539149, "quantile 97.5%": 2.166488},
    ),
    PaperCase(
        "difference, sd 0.1", 766, False, 0.1, 0.1,
        {"bias": 1.223023, "mean": 1.563319, "median": 1.638136,
         "quantile 27.5%": 1.300648, "quantile 97.5%": 2.356815},
    ),
)  # fmt: skip
"""The four set-ups of section 3, in the paper's order."""


@dataclass(frozen=True, eq=False)
class PaperDraws:
    """The draws of one of the paper's cases.

    Attributes
    ----------
    case : PaperCase
    similarities : ndarray, shape (4, 2, 5)
        Of the single draw: of each word, with A and with B.
    single : mapping of str to mapping of str to float
        For each formula ``factor``, ``numerator`` and ``bias`` of the single draw.
    effect_sizes : mapping of str to ndarray, shape (draws,)
        For each formula, the effect sizes of the loop.
    """

    case: PaperCase
    similarities: np.ndarray
    single: Mapping[str, Mapping[str, float]]
    effect_sizes: Mapping[str, np.ndarray]

    def __repr__(self) -> str:
        return (
            f"PaperDraws of {self.case.name}: {len(self.effect_sizes[FORMULAS[0]]):,} runs of the "
            "loop"
        )


def paper_draws(case: str | PaperCase, draws: int = 10_000) -> PaperDraws:
    """Run one of the paper's cases with R's random numbers.

    Parameters
    ----------
    case : str or PaperCase
        The name of one of `PAPER_CASES`, or a case of your own.
    draws : int, default 10000
        The runs of the loop, at least 1.

    Returns
    -------
    PaperDraws

    Raises
    ------
    InputError
        If the case is unknown.

    Examples
    --------
    >>> from bayesbias.simulation import paper_draws
    >>> result = paper_draws("no difference, sd 0.05")
    >>> {name: round(single["bias"], 3) for name, single in result.single.items()}
    {'as coded': 1.825, 'as intended': 0.648}
    >>> {name: round(float(abs(d).max()), 3) for name, d in result.effect_sizes.items()}
    {'as coded': 2.449, 'as intended': 1.732}
    """
    if isinstance(case, str):
        by_name = {c.name: c for c in PAPER_CASES}
        case = by_name[checks.choice(case, by_name, "case")]
    stream = _r_stream(case.seed)
    first = _similarities(stream, 1, case)
    loop = _similarities(_r_stream(case.seed) if case.reseeded else stream, draws, case)
    single, effects = _effect_sizes(first), _effect_sizes(loop)
    return PaperDraws(
        case,
        first[0],
        {
            formula: {key: float(x[0]) for key, x in values.items()}
            for formula, values in single.items()
        },
        {formula: values["bias"] for formula, values in effects.items()},
    )


def _similarities(stream: np.random.MT19937, draws: int, case: PaperCase) -> np.ndarray:
    """Return pairs, shape (draws, word, set, attribute), in the order in which R draws them."""
    z = _r_normals(stream, draws * _WORDS * 2 * _ATTRIBUTES).reshape(draws, _WORDS, 2, _ATTRIBUTES)
    mean = np.array([[case.mean, 0.0], [case.mean, 0.0], [0.0, case.mean], [0.0, case.mean]])
    return mean[:, :, None] + case.sd * z


def _effect_sizes(pairs: np.ndarray) -> dict[str, dict[str, np.ndarray]]:
    means = pairs.mean(axis=3)
    s = means[:, :, 0] - means[:, :, 1]
    factor = s.std(axis=1, ddof=1)
    numerators = (s[:, 0] - s[:, 2], s[:, :2].mean(axis=1) - s[:, 2:].mean(axis=1))
    return {
        formula: {"factor": factor, "numerator": numerator, "bias": numerator / factor}
        for formula, numerator in zip(FORMULAS, numerators, strict=True)
    }


def _r_stream(seed: int) -> np.random.MT19937:
    """Return a Mersenne Twister in the state of R's ``set.seed(seed)``.

    R scrambles the seed by 50 steps of a congruential generator. Then it fills 625 words with it,
    the first of which is the position in the state and is overwritten by "start afresh" (R's help
    page ``?RNGkind``).
    """
    word = seed & 0xFFFFFFFF
    key = np.empty(675, dtype=np.uint32)
    for i in range(len(key)):
        word = (69069 * word + 1) & 0xFFFFFFFF
        key[i] = word
    bits = np.random.MT19937()
    bits.state = {"bit_generator": "MT19937", "state": {"key": key[51:], "pos": 624}}
    return bits


def _r_normals(stream: np.random.MT19937, n: int) -> np.ndarray:
    """Draw standard normals as R's ``rnorm``.

    Two uniforms make one of 59 bits, which is inverted.
    """
    from scipy.special import ndtri

    uniforms = (
        stream.random_raw(2 * n).reshape(n, 2) * 2.3283064365386963e-10
    )  # 2 ** -32, as R has it
    big = 134217728.0  # 2 ** 27
    return ndtri((np.floor(big * uniforms[:, 0]) + uniforms[:, 1]) / big)


def simulate_paper(draws: int = 10_000) -> pd.DataFrame:
    """Run all of the paper's simulations, as coded and as intended.

    Parameters
    ----------
    draws : int, default 10000
        The runs of each loop. The printed numbers are those of 10,000.

    Returns
    -------
    pandas.DataFrame
        ``case, formula, quantity, printed, value``. `formula` is one of `FORMULAS`; `quantity` is
        ``factor``, ``numerator`` and ``bias`` for the single draw, ``mean``, ``median``, ``quantile
        2.5%``, ``quantile 27.5%`` and ``quantile 97.5%`` for the loop (quantiles as in R);
        `printed` is the number in the paper, and missing where it prints none.

    Examples
    --------
    >>> from bayesbias.simulation import simulate_paper
    >>> frame = simulate_paper()
    >>> printed = frame.dropna()
    >>> len(printed), bool(((printed["value"] / printed["printed"] - 1).abs() < 5e-7).all())
    (16, True)
    """
    rows = []
    for case in PAPER_CASES:
        result = paper_draws(case, draws)
        for formula in FORMULAS:
            loop = result.effect_sizes[formula]
            values = {
                **result.single[formula],
                "mean": float(loop.mean()),
                "median": float(np.median(loop)),
                **{f"quantile {q:.1%}": float(np.quantile(loop, q)) for q in _QUANTILES},
            }
            for quantity, value in values.items():
                printed = case.printed.get(quantity) if formula == "as coded" else None
                rows.append((case.name, formula, quantity, printed, value))
    columns = ["case", "formula", "quantity", "printed", "value"]
    return pd.DataFrame(rows, columns=columns).astype({"printed": "Float64"})
