"""Plan how many words make an interval narrow enough, or a score reliable.

By simulated tables, and by the SDs of a fit.
"""

import dataclasses
import functools
import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from bayesbias.core import FitError, InputError, checks
from bayesbias.core.conventions import PROB
from bayesbias.core.workers import Hands
from bayesbias.inference import reliability
from bayesbias.inference.estimands import asked_quantities
from bayesbias.inference.estimates import describe_draws
from bayesbias.inference.likelihood import NotCollapsible, collapse
from bayesbias.inference.linear import Key, moments_of
from bayesbias.inference.posterior import BiasFit
from bayesbias.simulation import coverage
from bayesbias.simulation.scenario import LEVELS, Scenario

SIZES = (3, 4, 5, 6, 8, 10, 12, 15, 20, 30, 50)
"""Numbers of words, or of attributes, that are tried."""
_FEWEST_FOR_80 = 5  # tables, of which one lies beyond a quantile of 80 %


def sample_size(
    width: float,
    *,
    contrast: str | None = None,
    scenario: Scenario | None = None,
    prob: float = PROB,
    words: Sequence[int] = SIZES[:-1],
    attributes: Sequence[int] = SIZES,
    check: int = 20,
    engine: str = "quick",
    seed: int = 0,
    workers: int | None = None,
    dask: str | None = None,
    progress: bool | None = None,
) -> pd.DataFrame:
    """Find how many words make the interval of a contrast narrow enough.

    If the SDs were known, the width of each combination of words and attributes would follow from
    the exact conditional posterior. A real study has to estimate them, so its intervals are wider.
    Combinations that reach `width` are therefore checked by fits to simulated tables, smallest
    first, until one passes. The number of control words is that of the scenario.

    Parameters
    ----------
    width : float > 0
        Wanted width of the HPDI, in cosine distance.
    contrast : str, optional
        By default ``associated - different``. For groups on shared attribute sets such as ``men -
        women: career - family``, by default the one with the widest interval.
    scenario : Scenario, optional
        Number of classes, controls, SDs and the model for which the answer holds. By default those
        of religion on Reddit by the default model (`Scenario.for_claims`).
    prob : float in (0, 1)
        Probability of the interval.
    words, attributes : sequence of int
        Numbers per class to try.
    check : int
        Simulated tables for each check; 0 leaves it out.
    engine : {"quick", "nuts"}
        What samples their fits, as of `fit`.
    seed : int
        Seed of all random numbers.
    workers : int, optional
        Processes; by default this one alone.
    dask : str, optional
        The address of a Dask scheduler that does the fits instead (extra ``dask``), as of
        `run_sweep`.

    Returns
    -------
    DataFrame
        ``words, attributes, pairs, known_width, enough, simulated_width, simulated_se,
        simulated_80``, smallest first among those that are enough. `known_width` is the width if
        the SDs are known. The last three are missing if nothing was simulated: mean width of the
        simulated tables, its standard error, and the width that 80 % of them stay below. `enough`
        compares `simulated_80`: four of five studies are to have an interval as narrow. With fewer
        than five tables it compares the widest, and `known_width` if `check` is 0.
        ``attrs["contrast"]`` is the contrast.

    Examples
    --------
    >>> import bayesbias as bb
    >>> plan = bb.sample_size(
    ...     0.1, words=[5, 10], attributes=[5, 10], check=0, seed=1, progress=False
    ... )
    >>> narrowest = plan.sort_values("known_width").iloc[0]
    >>> int(narrowest["words"]), int(narrowest["attributes"])
    (10, 10)
    """
    from scipy.special import ndtri

    scenario = Scenario.for_claims() if scenario is None else scenario
    checks.positive(width, "width")
    checks.count(check, "check", 0)
    settings = coverage.settings_of(prob, engine=engine)
    sds = _known_sds(scenario)
    keys = {f"{key[1]}: {key[2]}" if scenario.sets else key[2]: key for key in sds}
    if contrast is None:
        widest = max(keys, key=lambda name: sds[keys[name]])
        contrast = widest if scenario.sets else "associated - different"
    key = keys[checks.choice(contrast, keys, "contrast")]
    rows: list[dict[str, Any]] = []
    sized: dict[tuple[int, int], Scenario] = {}
    for n, m in itertools.product(_tried(words, "words"), _tried(attributes, "attributes")):
        own = dataclasses.replace(
            scenario,
            words=(n,) * len(scenario.words),
            attributes=(m,) * len(scenario.attributes),
        )
        sized[n, m] = own
        known = 2 * float(ndtri(0.5 + prob / 2)) * _known_sds(own)[key]
        known_row = {"words": n, "attributes": m, "pairs": len(own.frame), "known_width": known}
        rows.append({**known_row, "enough": known <= width})
    # A lean design is little work to set up, whichever of its words are hard to find.
    rows.sort(key=lambda row: (row["words"] + row["attributes"], row["known_width"]))
    passed = not check
    with Hands(1 if workers is None and dask is None else workers, dask) as hands:
        for row in (row for row in rows if row["enough"] and check):
            if passed:
                row["enough"] = None
                continue
            own = sized[row["words"], row["attributes"]]
            analyzed = coverage.analyse_tables(
                functools.partial(coverage.simulated, own, seed), check, [own.model], settings, hands,
                label=f"simulating {row['words']} x {row['attributes']}", progress=progress,
                pairs=own.frame,
            )  # fmt: skip
            mine = [r for r in analyzed if tuple(r[name] for name in coverage.LABELS) == key]
            widths = pd.Series([r["high"] - r["low"] for r in mine])
            row["simulated_width"], row["simulated_se"] = widths.mean(), widths.sem()
            most = widths.max()
            if check >= _FEWEST_FOR_80:
                row["simulated_80"] = most = widths.quantile(0.8)
            row["enough"] = passed = bool(most <= width)
    rows.sort(key=lambda row: (True, None, False).index(row["enough"]))
    columns = ["words", "attributes", "pairs", "known_width", "enough"]
    columns += ["simulated_width", "simulated_se", "simulated_80"]
    out = pd.DataFrame(rows, columns=columns).astype({"enough": "boolean"})
    out.attrs["contrast"] = contrast
    return out


def _tried(numbers: Sequence[int], name: str) -> list[int]:
    """Return the numbers to try, each once."""
    if not (given := [checks.count(n, name) for n in numbers]):
        raise InputError("expected numbers to try, got none", where=name)
    return checks.once(given)


def _known_sds(scenario: Scenario) -> dict[Key, float]:
    """Return the posterior SD of each overall contrast, or between groups, given the SDs."""
    design, given = scenario.truth
    try:
        reduced = collapse(design)
    except NotCollapsible as error:
        problem = f"expected a normal model, got another: {error}"
        raise InputError(
            problem, where=scenario.model, hint="plan with default, or crossed"
        ) from None
    asked = asked_quantities(design, "population", contrasted=True)
    theta = reduced.theta_of({name: given[name][None] for name in reduced.scales})
    sds = np.sqrt(moments_of(reduced, asked.linear).moments(reduced, theta)[1][0])
    level = LEVELS[bool(scenario.sets)]
    return {key: sd for key, sd in zip(asked.keys, sds.tolist(), strict=True) if key[0] == level}


def plan_reliability(
    fit: BiasFit,
    target: float = 0.8,
    *,
    measure: str = "weat",
    coefficient: str = "against_zero",
    prob: float = PROB,
    words: Sequence[int] = SIZES,
    attributes: Sequence[int] = SIZES,
) -> pd.DataFrame:
    """Find how many words and attributes make a score reliable.

    Parameters
    ----------
    fit : BiasFit
        What `fit` returned.
    target : float in (0, 1)
        The wanted coefficient.
    measure : {"weat", "word", "class", "attribute_set"}
        The score, see `BiasFit.reliability`.
    coefficient : {"against_zero", "absolute", "relative"}
        Of other scores than that of a word against zero alone.
    prob : float in (0, 1)
        Probability of the intervals.
    words, attributes : sequence of int
        Numbers per class and per list to try. The score of a word is of one word.

    Returns
    -------
    DataFrame
        ``words, attributes, mean, sd, hpdi_low, hpdi_high, prob, p_reached, enough``, the smallest
        that is enough first. `p_reached` is the posterior probability that the coefficient is at
        least `target`. `enough` compares its mean.

    Raises
    ------
    InputError
        If the measure, its coefficient or the numbers to try are invalid.
    FitError
        If the model has no such coefficient.

    Notes
    -----
    A decision study (Brennan 2001, chapter 4): the coefficient with other numbers follows from the
    SDs.

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.distance_table("minilm-static", "gender", controls=None)
    >>> fit = bb.fit(table, "shared", seed=1, draws=200)
    >>> plan = bb.simulation.plan_reliability(fit, 0.8, measure="word")
    >>> bool(plan["enough"].any())
    True
    """
    checks.probability(target, "target")
    checks.probability(prob)
    kinds = reliability.MEASURES[checks.choice(measure, reliability.MEASURES, "measure")]
    kind = checks.choice(coefficient, kinds, f"{measure}, coefficient")
    parts = reliability.score_variances(fit.design, fit.parameter_draws())[measure, kind]
    if not isinstance(parts, reliability.ScoreVariance):
        what = f"{measure} no coefficient that is {kind.replace('_', ' ')}"
        raise FitError(f"{fit.spec.label} gives {what}: {reliability.LEFT_OUT[parts]}")
    tried = _tried(words, "words"), _tried(attributes, "attributes")
    sizes = list(itertools.product([1] if measure == "word" else tried[0], tried[1]))
    draws = np.stack([parts.coefficient(k, m) for k, m in sizes], axis=-1)
    described = describe_draws(draws.reshape(*fit.shape, -1), prob)
    frame = pd.DataFrame(sizes, columns=["words", "attributes"])
    frame = frame.join(described[["mean", "sd", "hpdi_low", "hpdi_high", "prob"]])
    frame = frame.assign(p_reached=(draws >= target).mean(axis=0), enough=frame["mean"] >= target)
    # A list is easier found the fewer words it takes, whichever they are.
    frame["all"] = frame["words"] + frame["attributes"]
    frame = frame.sort_values(["enough", "all", "mean"], ascending=[False, True, False])
    return frame.drop(columns="all").reset_index(drop=True)
