"""What a model expects before it has seen a pair: its prior in the units of the result."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayesbias.core import checks
from bayesbias.inference.estimands import contrasted_groups, no_contrasts
from bayesbias.inference.estimates import (
    chosen_rows,
    contrast_draws,
    end_to_mean,
    keys_of_rows,
    level_draws,
    shortest_interval,
)
from bayesbias.inference.scope import words_said
from bayesbias.inference.view import PROB
from bayesbias.models.design import Design
from bayesbias.models.loading import load_model
from bayesbias.models.spec import ModelSpec
from bayesbias.tables.pair_table import PairTable
from bayesbias.wordlists.pairing import pairs

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

__all__ = ["PriorExpectation", "prior_expectation"]

USUAL_LIST = "religion"
"""The word list that a model is shown on where no table is given: three classes, 15 words, 11 stereotypes, 311 controls."""
MOST_IMPOSSIBLE = 0.05
"""The largest share of impossible pairs that a prior of distances should have."""
_POSSIBLE = {"distance": (0.0, 2.0), "change": (-2.0, 2.0), "difference": (-1.0, 1.0)}
_PAIRS = 20_000


@dataclass(frozen=True, eq=False, repr=False)
class PriorExpectation:
    """What a model expects before any data.

    Attributes
    ----------
    model, on : str
        Name of the model, and which pairs it was laid over.
    contrasts : DataFrame
        One row per level, of the first contrast: ``level, contrast, mean, sd, low, high, prob``; at levels of several
        labels for any one of them.
    impossible : float or None
        The share of simulated single pairs that no data can show: distances outside [0, 2], changes of a distance
        outside [-2, 2], differences of two probabilities outside [-1, 1]. None where every number is possible.
    words : str
        Whose differences these are.

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.distance_table("minilm-static", "religion", controls="none")
    >>> found = bb.inference.prior_expectation(bb.load_model("crossed"), table)
    >>> found.model, "for new words like these" in found.sentence()
    ('crossed', True)
    """

    model: str
    on: str
    contrasts: pd.DataFrame
    impossible: float | None
    words: str = "new words like these"

    @property
    def possible(self) -> bool:
        """Whether at most 5 % of the pairs are impossible."""
        return self.impossible is None or self.impossible <= MOST_IMPOSSIBLE

    def lines(self) -> list[str]:
        """Return the same in lines; the first says what they are about."""
        first = str(self.contrasts["contrast"].iloc[0])
        return [
            f"Before any data, on {self.on}, model {self.model} expects of {first}, for {self.words}:",
            *(f"  {part}" for part in self._parts()),
        ]

    def sentence(self) -> str:
        """Return the same in one sentence."""
        return f"{self.lines()[0]} {'; '.join(self._parts())}."

    def _parts(self) -> list[str]:
        out = []
        for row in self.contrasts.itertuples():
            of = "overall" if row.level == "overall" else f"of one {row.level.replace('_', ' ')}"
            out.append(
                f"{of} sd {row.sd:.2f}, {row.prob:.0%} between {row.low:+.2f} and {row.high:+.2f}"
            )
        if self.impossible is not None:
            verdict = (
                "" if self.possible else f" (a prior should have at most {MOST_IMPOSSIBLE:.0%})"
            )
            out.append(f"{self.impossible:.0%} of single pairs where no pair can be{verdict}")
        return out

    def __repr__(self) -> str:
        return "\n".join(self.lines())


def prior_expectation(
    model: str | os.PathLike[str] | ModelSpec,
    table: PairTable | pd.DataFrame | None = None,
    *,
    prob: float = PROB,
    draws: int = 4000,
    seed: int = 0,
) -> PriorExpectation:
    """State the prior of a model in the units of its result.

    Parameters
    ----------
    model : str, path or ModelSpec
    table : PairTable or DataFrame, optional
        What the model would be fitted to; its outcomes are not read. By default the pairs of the list religion.
    prob : float in (0, 1)
        Probability of the intervals, the shortest ones.
    draws, seed : int
        Draws from the prior, at least 2. Shares of impossible pairs are of 20,000 draws of a pair of each connection.

    Returns
    -------
    PriorExpectation

    Raises
    ------
    InputError
        If the model is unknown, or needs a column that the table lacks.
    FitError
        If the table has nothing to contrast.

    Examples
    --------
    >>> expected = prior_expectation("crossed")
    >>> list(expected.contrasts["level"]), expected.possible
    (['overall', 'class', 'word'], False)
    >>> bool(abs(expected.contrasts["sd"][0] - 0.3 * 2**0.5) < 0.02)  # of the difference of two means, each with sd 0.3
    True
    """
    import pandas as pd

    seed, prob = checks.seed(seed), checks.probability(prob)
    checks.count(draws, "draws", 2)
    spec = load_model(model)
    if table is None:
        frame, on = usual_pairs(spec), f"the pairs of the list {USUAL_LIST}"
    elif isinstance(table, PairTable):
        frame, on = table.frame, str(table.provenance.get("name", "this table"))
    else:
        frame, on = table, "this table"
    contrasts = prior_contrasts(spec, frame, draws, seed)
    first = keys_of_rows(contrasts, "contrast")[0][0]
    rows = []
    for level in ("overall", *spec.results.levels):
        # Sorted, since a sum in another order is another in its last digit.
        values = np.sort(chosen_rows(contrasts, level=level, contrast=first).to_numpy(), axis=None)
        if values.size:
            low, high = shortest_interval(values, prob)
            sd = values.std(ddof=1)
            # Draws of a prior are independent; the contrasts of one draw, as of several classes, need not be.
            error = sd / np.sqrt(draws)
            errors = {
                "mean": error,
                "sd": error / np.sqrt(2),
                **dict.fromkeys(("low", "high"), error * end_to_mean(prob)),
            }
            about = {
                "level": level,
                "contrast": first,
                "mean": values.mean(),
                "sd": sd,
                "low": float(low),
            }
            about |= {
                "high": float(high),
                "prob": prob,
                **{f"mcse_{name}": each for name, each in errors.items()},
            }
            rows.append(about)
    impossible = impossible_share(spec, frame, seed)
    return PriorExpectation(spec.name, on, pd.DataFrame(rows), impossible, words_said(spec))


def fits_usual_pairs(spec: ModelSpec) -> bool:
    """Say whether a model names no column beyond those of pairs of words."""
    return spec.label_columns() | {spec.results.group} <= set(pairs(USUAL_LIST))


def usual_pairs(spec: ModelSpec) -> pd.DataFrame:
    """Return the pairs of a usual list with an outcome that nobody reads, for a model without data."""
    import pandas as pd

    return pd.DataFrame(pairs(USUAL_LIST)).assign(**{spec.outcome: 1.0})


def prior_contrasts(spec: ModelSpec, frame: pd.DataFrame, draws: int, seed: int) -> xr.DataArray:
    """Draw the contrasts for new words at every level from the prior, labeled as those of a fit."""
    design = Design.of(spec, frame)
    group = spec.results.group
    means = level_draws(design, frame, design.prior_draws(draws, seed), "population")
    contrasts = contrast_draws(means, contrasted_groups(group, frame[group].astype(str)), group)
    if not contrasts.sizes["row"]:
        raise no_contrasts(spec)
    return contrasts


def predictive_of_pairs(spec: ModelSpec, frame: pd.DataFrame, seed: int) -> dict[str, np.ndarray]:
    """Draw a single pair of each connection (or whatever the model gives results for) from the prior."""
    order = Design.of(spec, frame).order()
    one = (frame if order is None else frame.iloc[order]).drop_duplicates(spec.results.group)
    design = Design.of(spec, one)
    new = design.outcome_draws(design.prior_draws(_PAIRS, seed), seed + 1)
    return {str(name): new[:, place] for place, name in enumerate(one[spec.results.group])}


def impossible_share(spec: ModelSpec, frame: pd.DataFrame, seed: int) -> float | None:
    """Return the share of pairs drawn from the prior that no data can show; None where every number is possible."""
    if spec.outcome not in _POSSIBLE:
        return None
    low, high = _POSSIBLE[spec.outcome]
    drawn = predictive_of_pairs(spec, frame, seed)
    counts = frame[spec.results.group].astype(str).value_counts()
    shares = [((new < low) | (new > high)).mean() for new in drawn.values()]
    return float(np.average(shares, weights=[counts[name] for name in drawn]))
