"""The seed paper's own simulations, digit for digit: as coded, and as intended.

Section 3 of the seed paper draws similarities for two protected classes of two words
and two attribute sets of five, and computes WEAT's effect size. Its code averages two scores with R's
``mean(s1, s2)``. R's ``mean`` takes one vector; the second argument is ``trim``. So ``mean(s1, s2)`` is ``s1``
alone, and the numerator is the difference of two single words over the standard deviation of all four.
`simulate_paper` gives every result *as coded*, which are the printed numbers, and *as intended*.

What follows from the slip, and what does not:

* The printed effect sizes 1.825 and -1.933, drawn where there is no difference, are impossible. With n - 1
  in the denominator the effect size of 2 + 2 words cannot exceed sqrt(3) = 1.732 (`largest_effect_size`);
  as coded the ceiling is sqrt(6). As intended the same draws give 0.648 and -0.220.
* The effect size has no scale. Draws with a hundredth of the spread give the same distribution, so that
  the second null case shows nothing that the first does not.
* The 27.5 % quantiles are meant as 2.5 %; both are in the table.
* The critique survives in a weaker, truer form (`null_distribution`). What the permutation test does not know is
  that other *attribute* words might have been chosen. `simulate_grid` counts what that costs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from bayesbias.core import checks
from bayesbias.core.errors import InputError, nearest
from bayesbias.scores.counting import error_of_quantile
from bayesbias.simulation.nulls import Floats
from bayesbias.simulation.rrandom import RRandom

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["FORMULAS", "PAPER_CASES", "PaperCase", "PaperDraws", "paper_draws", "simulate_paper"]

FORMULAS = ("as coded", "as intended")
"""The two readings of the paper's ``mean(s1, s2)``."""
_WORDS, _ATTRIBUTES = 4, 5  # protected words, two in each class; attributes in each set
USUAL_DRAWS = 10_000
"""The runs of the paper's loops."""
_QUANTILES = (0.025, 0.275, 0.975)  # the paper prints the last two and means the outer two


@dataclass(frozen=True)
class PaperCase:
    """One of the paper's four set-ups.

    Attributes
    ----------
    name : str
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
        MappingProxyType({"factor": 0.02342637, "numerator": 0.04275325, "bias": 1.825005}),
    ),
    PaperCase(
        "no difference, sd 0.001", 124, True, 0.0, 0.001,
        MappingProxyType({"factor": 0.0006402666, "numerator": -0.001237637, "bias": -1.933003}),
    ),
    PaperCase(
        "difference, sd 0.05", 766, False, 0.1, 0.05,
        MappingProxyType({"bias": 1.490014, "mean": 1.690664, "median": 1.707511,
                          "quantile 27.5%": 1.539149, "quantile 97.5%": 2.166488}),
    ),
    PaperCase(
        "difference, sd 0.1", 766, False, 0.1, 0.1,
        MappingProxyType({"bias": 1.223023, "mean": 1.563319, "median": 1.638136,
                          "quantile 27.5%": 1.300648, "quantile 97.5%": 2.356815}),
    ),
)  # fmt: skip
"""The four set-ups of section 3, in the paper's order."""


@dataclass(frozen=True, eq=False, repr=False)
class PaperDraws:
    """The draws of one of the paper's cases.

    Attributes
    ----------
    case : PaperCase
    single : mapping of str to mapping of str to float
        For each formula ``factor``, ``numerator`` and ``bias`` of the single draw.
    effect_sizes : mapping of str to ndarray, shape (draws,)
        For each formula, the effect sizes of the loop.
    """

    case: PaperCase
    single: Mapping[str, Mapping[str, float]]
    effect_sizes: Mapping[str, Floats]

    def __repr__(self) -> str:
        draws = max((len(sizes) for sizes in self.effect_sizes.values()), default=0)
        return f"<PaperDraws {self.case.name}: {draws:,} runs of the loop, by formula {' and '.join(self.single)}>"


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
        For an unknown case or a number of draws below 1.

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
        names = [c.name for c in PAPER_CASES]
        if case not in names:
            raise InputError("unknown case", found=case, valid=" / ".join(names), hint=nearest(case, names))
        case = PAPER_CASES[names.index(case)]
    draws = checks.count(draws, "draws", most=checks.MOST_DRAWS)
    random = RRandom(case.seed)
    first = _paper_scores(random, 1, case)
    if case.reseeded:
        random = RRandom(case.seed)
    singles = _paper_effect_sizes(first)
    loop = _paper_effect_sizes(_paper_scores(random, draws, case))
    return PaperDraws(
        case,
        {name: {key: float(value[0]) for key, value in result.items()} for name, result in singles.items()},
        {name: result["bias"] for name, result in loop.items()},
    )


def _paper_scores(random: RRandom, draws: int, case: PaperCase) -> Floats:
    """Return s of the four words, shape (draws, 4), in the order in which R draws them."""
    z = random.rnorm(draws * _WORDS * 2 * _ATTRIBUTES).reshape(draws, _WORDS, 2, _ATTRIBUTES)
    mean = np.array([[case.mean, 0.0], [case.mean, 0.0], [0.0, case.mean], [0.0, case.mean]])
    means = (mean[:, :, None] + case.sd * z).mean(axis=3)
    return means[:, :, 0] - means[:, :, 1]


def _paper_effect_sizes(s: Floats) -> dict[str, dict[str, Floats]]:
    factor = s.std(axis=1, ddof=1)
    numerators = {
        "as coded": s[:, 0] - s[:, 2],
        "as intended": s[:, :2].mean(axis=1) - s[:, 2:].mean(axis=1),
    }
    return {
        name: {"factor": factor, "numerator": numerator, "bias": numerator / factor}
        for name, numerator in numerators.items()
    }


def simulate_paper(draws: int = USUAL_DRAWS) -> pd.DataFrame:
    """Run all of the paper's simulations, as coded and as intended.

    Parameters
    ----------
    draws : int, default 10000
        The runs of each loop. The printed numbers are those of 10,000.

    Returns
    -------
    pandas.DataFrame
        ``case, formula, quantity, printed, value``. `formula` is one of `FORMULAS`; `quantity` is ``factor``,
        ``numerator`` and ``bias`` for the single draw, ``mean``, ``median``, ``quantile 2.5%``, ``quantile
        27.5%`` and ``quantile 97.5%`` for the loop (quantiles as in R); `printed` is the number in the paper,
        and missing where it prints none.

    Examples
    --------
    >>> from bayesbias.simulation import simulate_paper
    >>> frame = simulate_paper()
    >>> printed = frame.dropna()
    >>> len(printed), bool(((printed["value"] / printed["printed"] - 1).abs() < 5e-7).all())
    (16, True)
    """
    return paper_rows(draws).drop(columns="mcse_value")


def paper_rows(draws: int) -> pd.DataFrame:
    """Return the rows of `simulate_paper` with their Monte Carlo errors, ``mcse_value``.

    The single draw has none, nor has what the paper prints of as many draws: they are those of R, digit for digit.
    """
    import pandas as pd

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
            errors = {
                "mean": float(loop.std()) / math.sqrt(draws),
                "median": error_of_quantile(loop, 0.5),
                **{f"quantile {q:.1%}": error_of_quantile(loop, q) for q in _QUANTILES},
            }
            for quantity, value in values.items():
                printed = case.printed.get(quantity) if formula == "as coded" else None
                same = printed is not None and draws == USUAL_DRAWS
                error = 0.0 if same else errors.get(quantity, 0.0)
                rows.append((case.name, formula, quantity, printed, value, error))
    columns = ["case", "formula", "quantity", "printed", "value", "mcse_value"]
    frame = pd.DataFrame(rows, columns=columns)
    frame["printed"] = frame["printed"].astype("Float64")
    return frame
