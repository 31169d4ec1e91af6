"""How many words make an interval narrow enough? The simulation of a scenario turned round."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.basics import checks
from bayesbias.basics.errors import InputError
from bayesbias.inference.estimands import PROB, level_means
from bayesbias.simulation.answers import analyse_batch
from bayesbias.simulation.scenario import Scenario, scenario_frame, true_contrasts, true_parameters

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["plan_words"]

_DRAWS_PLANNED = 1024  # draws behind a width at known spreads


class _EvenNormals:
    """Standard normals whose sample means, variances and covariances are exactly 0, 1 and 0, where they are few.

    In place of a generator: moments of linear functions of such draws are those of the distribution, without noise.
    """

    def __init__(self, seed: Sequence[int]) -> None:
        self._random = np.random.default_rng(seed)
        self._used = np.full(
            (_DRAWS_PLANNED, 1), _DRAWS_PLANNED**-0.5
        )  # a constant: what is orthogonal to it has mean zero

    def standard_normal(self, shape: tuple[int, ...]) -> np.ndarray:
        drawn = self._random.standard_normal((shape[0], int(np.prod(shape[1:]))))
        many = (
            drawn.shape[1] > _DRAWS_PLANNED // 8 or self._used.shape[1] + drawn.shape[1] > _DRAWS_PLANNED // 2
        )
        if len(drawn) == _DRAWS_PLANNED and not many:
            new = np.linalg.qr(drawn - self._used @ (self._used.T @ drawn))[0]
            self._used = np.hstack([self._used, new])
            drawn = new * np.sqrt(_DRAWS_PLANNED)
        return drawn.reshape(shape)


def plan_words(
    width: float,
    *,
    contrast: str = "associated - different",
    scenario: Scenario | None = None,
    prob: float = PROB,
    words: Sequence[int] = (3, 4, 5, 6, 8, 10, 12, 15, 20, 30),
    attributes: Sequence[int] = (3, 4, 5, 6, 8, 10, 12, 15, 20, 30, 50),
    check: int = 20,
    seed: int = 0,
    progress: bool | None = None,
) -> pd.DataFrame:
    """Say how many words make the interval of a population contrast narrow enough.

    For each combination of words and attributes per class the width follows from the exact conditional posterior, were
    the scenario's spreads known. A real study has to learn them, which makes its interval wider: so combinations that
    reach `width` are checked, leanest first (fewest words and attributes per class), by fits of the scenario's model to
    simulated tables, until one passes. Control words are as many as the scenario has.

    Parameters
    ----------
    width : float > 0
        Wanted width of the HPDI, in cosine distance.
    contrast : str
    scenario : Scenario, optional
        Number of classes, controls and spreads; by default those of religion/Reddit.
    prob : float in (0, 1)
        Probability of the interval.
    words, attributes : sequence of int
        Numbers per class to try.
    check : int
        Simulated tables for each check; 0 leaves it out.
    seed : int

    Returns
    -------
    DataFrame
        ``words, attributes, pairs, known_width, enough, simulated_width, simulated_se, simulated_80``, leanest first
        among those that are enough. `known_width` is the width at known spreads; the last three, mean width of the
        simulated tables, its standard error, and the width that 80 % of them stay below, stand only where tables
        were simulated. `enough` goes by `simulated_width` where there is one, else by `known_width`.
    """
    import pandas as pd
    from scipy import stats

    from bayesbias.basics.progress import ticking

    scenario = scenario or Scenario()
    checks.positive(width, "width")
    checks.seed(seed, most=None)
    checks.probability(prob)
    for name, numbers in (("words", words), ("attributes", attributes)):
        if not numbers:
            raise InputError(f"`{name}` holds no number to try", found=numbers)
        for n in numbers:
            checks.count(n, name)
    known = true_contrasts(scenario)
    checks.choice(contrast, known, "contrast")
    z = 2 * stats.norm.ppf(0.5 + prob / 2)
    classes = len(scenario.words)
    settings = {"prob": prob, "draws": 500, "tune": 500, "chains": 2}
    rows: list[dict[str, Any]] = []
    with ticking("combinations", len(words) * len(attributes), progress) as tick:
        for n_words, n_attributes in itertools.product(words, attributes):
            sized = dataclasses.replace(
                scenario, words=(n_words,) * classes, attributes=(n_attributes,) * classes
            )
            pairs, spread = _spread_of(sized, contrast, [seed, n_words, n_attributes])
            row = {"words": n_words, "attributes": n_attributes, "pairs": pairs, "known_width": z * spread}
            rows.append({**row, "enough": z * spread <= width, "sized": sized})
            tick(1)
    # A lean design is little work to set up, whichever of its words are hard to find.
    rows.sort(key=lambda row: (row["words"] + row["attributes"], row["known_width"]))
    for row in (row for row in rows if row["enough"] and check):
        widths = []
        with ticking(f"simulating {row['words']} x {row['attributes']}", check, progress) as tick:
            for number in range(check):
                analysed = analyse_batch(row["sized"], [scenario.model], seed, number, 1, settings)
                widths += [r["high"] - r["low"] for r in analysed if r["contrast"] == contrast]
                tick(1)
        row["simulated_width"] = float(np.mean(widths))
        row["simulated_80"] = float(np.quantile(widths, 0.8))
        if check > 1:
            row["simulated_se"] = float(np.std(widths, ddof=1) / np.sqrt(check))
        row["enough"] = row["simulated_width"] <= width
        if row["enough"]:
            break
    columns = ["words", "attributes", "pairs", "known_width", "enough"]
    columns += ["simulated_width", "simulated_se", "simulated_80"]
    rows.sort(key=lambda row: not row["enough"])
    return pd.DataFrame(rows).reindex(columns=columns)


def _spread_of(scenario: Scenario, contrast: str, seed: Sequence[int]) -> tuple[int, float]:
    """Return the number of pairs, and the posterior sd of a contrast were the spreads known."""
    from bayesbias.inference.collapsed import NotCollapsible, collapse

    design, given = true_parameters(scenario)
    try:
        reduced = collapse(design)
    except NotCollapsible as error:
        raise InputError(
            f"widths can be told in advance for normal models only: {error}",
            where=scenario.model,
            valid="crossed, hierarchical, shared",
            hint="plan with crossed",
        ) from None
    theta = np.log(np.concatenate([np.ravel(given[name]) for name in reduced.scales]))
    drawn = reduced.draw_effects(np.tile(theta, (_DRAWS_PLANNED, 1)), _EvenNormals(seed))
    frame = scenario_frame(scenario.words, scenario.attributes, scenario.human, scenario.neutral)
    keys, means = level_means(design, frame, drawn, "population")
    at = {connection: i for i, (level, _, connection) in enumerate(keys) if level == "overall"}
    a, b = contrast.split(" - ")
    return len(frame), float((means[:, at[a]] - means[:, at[b]]).std())
