"""How many words make an interval narrow enough, or a score reliable? A simulation, and a fit, turned round."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.core import checks
from bayesbias.core.errors import FitError, InputError
from bayesbias.core.progress import ticking
from bayesbias.core.workers import Hands
from bayesbias.inference.estimands import PROB, asked_rows
from bayesbias.inference.estimates import describe_draws, error_of_share
from bayesbias.inference.posterior import BiasFit
from bayesbias.inference.reliability import (
    LEFT_OUT,
    MEASURES,
    Components,
    numbers_of_words,
    score_components,
)
from bayesbias.simulation.coverage import analyse_batch, in_batches, settings_of
from bayesbias.simulation.scenario import (
    Scenario,
    scenario_frame,
    sizes_of,
    true_contrasts,
    true_parameters,
)

if TYPE_CHECKING:
    import pandas as pd

_BATCH = 5  # simulated tables that a worker takes at a time
_FEWEST_FOR_80 = 5  # tables, of which one lies beyond a quantile of 80 %
_MOST_WORDS = 10_000  # beyond which no list of words goes


def sample_size(
    width: float,
    *,
    contrast: str = "associated - different",
    scenario: Scenario | None = None,
    prob: float = PROB,
    words: Sequence[int] = (3, 4, 5, 6, 8, 10, 12, 15, 20, 30),
    attributes: Sequence[int] = (3, 4, 5, 6, 8, 10, 12, 15, 20, 30, 50),
    check: int = 20,
    engine: str = "quick",
    seed: int = 0,
    workers: int | None = None,
    dask: str | None = None,
    progress: bool | None = None,
) -> pd.DataFrame:
    """Say how many words make the interval of a population contrast narrow enough.

    For each combination of words and attributes per class the width follows from the exact
    conditional posterior, were the scenario's spreads known. A real study has to learn them, which
    makes its interval wider: so combinations that reach `width` are checked, leanest first (fewest
    words and attributes per class), by fits of the scenario's model to simulated tables, until one
    passes. Control words are as many as the scenario has.

    Parameters
    ----------
    width : float > 0
        Wanted width of the HPDI, in cosine distance.
    contrast : str
    scenario : Scenario, optional
        Number of classes, controls and spreads, and the model that they are of, for which the
        answer holds; by default those of religion/Reddit by the default model
        (`Scenario.for_claims`).
    prob : float in (0, 1)
        Probability of the interval.
    words, attributes : sequence of int
        Numbers per class to try.
    check : int
        Simulated tables for each check; 0 leaves it out.
    engine : {"quick", "nuts"}
        What samples their fits, as of `fit`.
    seed : int
    workers : int, optional
        Processes; by default this one alone.
    dask : str, optional
        The address of a Dask scheduler that does the fits instead (extra ``dask``), as of
        `run_sweep`.

    Returns
    -------
    DataFrame
        ``words, attributes, pairs, known_width, enough, simulated_width, simulated_se,
        simulated_80``, leanest first among those that are enough. `known_width` is the width at
        known spreads; the last three, mean width of the simulated tables, its standard error, and
        the width that 80 % of them stay below, stand only where tables were simulated: the second
        of two and more, the last of five and more. `enough` goes by `simulated_width`, the mean, so
        that single studies may have a wider interval; it is missing where `known_width` would do
        and nothing was simulated. Only where `check` is 0 does it go by `known_width`.

    Examples
    --------
    >>> import bayesbias as bb
    >>> plan = bb.sample_size(0.1, words=[5, 10], attributes=[5, 10], check=0, seed=1, progress=False)
    >>> narrowest = plan.sort_values("known_width").iloc[0]
    >>> int(narrowest["words"]), int(narrowest["attributes"])
    (10, 10)
    """
    import pandas as pd
    from scipy import stats

    scenario = Scenario.for_claims() if scenario is None else scenario
    checks.positive(width, "width")
    checks.count(check, "check", 0, checks.MOST_TABLES)
    settings = settings_of(prob, 500, 500, 2, engine)
    words, attributes = _tried(words, "words"), _tried(attributes, "attributes")
    checks.choice(contrast, true_contrasts(scenario), "contrast")
    z = 2 * stats.norm.ppf(0.5 + prob / 2)
    classes = len(scenario.words)
    rows: list[dict[str, Any]] = []
    with ticking("combinations", len(words) * len(attributes), progress) as tick:
        for n_words, n_attributes in itertools.product(words, attributes):
            sized = dataclasses.replace(
                scenario, words=(n_words,) * classes, attributes=(n_attributes,) * classes
            )
            pairs, sd = _known_sd(sized, contrast)
            row = {
                "words": n_words,
                "attributes": n_attributes,
                "pairs": pairs,
                "known_width": z * sd,
            }
            rows.append({**row, "enough": bool(z * sd <= width), "sized": sized})
            tick(1)
    # A lean design is little work to set up, whichever of its words are hard to find.
    rows.sort(key=lambda row: (row["words"] + row["attributes"], row["known_width"]))
    with Hands(1 if workers is None and dask is None else workers, dask) as hands:
        for row in (row for row in rows if row["enough"] and check):
            label = f"simulating {row['words']} x {row['attributes']}"
            work = functools.partial(
                analyse_batch, row["sized"], [scenario.model], seed, settings=settings
            )
            analysed = in_batches(work, check, None, hands, label, progress, _BATCH)
            widths = [r["high"] - r["low"] for r in analysed if r["contrast"] == contrast]
            row["simulated_width"] = float(np.mean(widths))
            if check >= _FEWEST_FOR_80:
                row["simulated_80"] = float(np.quantile(widths, 0.8))
            if check > 1:
                row["simulated_se"] = float(np.std(widths, ddof=1) / np.sqrt(check))
            row["enough"] = row["simulated_width"] <= width
            if row["enough"]:
                break
    for row in rows:
        if check and row["enough"] and "simulated_width" not in row:
            row["enough"] = None
    columns = ["words", "attributes", "pairs", "known_width", "enough"]
    columns += ["simulated_width", "simulated_se", "simulated_80"]
    rows.sort(key=lambda row: (True, None, False).index(row["enough"]))
    return pd.DataFrame(rows).reindex(columns=columns).astype({"enough": "boolean"})


def _tried(numbers: Iterable[int], name: str) -> list[int]:
    """Return the numbers to try, each once."""
    given = [checks.count(n, name) for n in checks.several(numbers, "number", name)]
    if not given:
        raise InputError("no number to try", where=name, valid="whole numbers of at least 1")
    return list(dict.fromkeys(given))


def _known_sd(scenario: Scenario, contrast: str) -> tuple[int, float]:
    """Return the number of pairs, and the exact posterior SD of a contrast were the spreads known."""
    from bayesbias.inference.likelihood import NotCollapsible, collapse
    from bayesbias.inference.linear import conditional_moments

    design, given = true_parameters(scenario)
    try:
        reduced = collapse(design)
    except NotCollapsible as error:
        raise InputError(
            f"widths are known in advance for normal models only: {error}",
            where=scenario.model,
            hint="plan with default, or crossed",
        ) from None
    frame = scenario_frame(*sizes_of(scenario))
    rows = asked_rows(design, frame, "population", contrasted=True)
    theta = reduced.joined({name: given[name][None] for name in reduced.scales})
    variance = conditional_moments(reduced, theta, rows.linear)[1][0]
    return len(frame), math.sqrt(variance[rows.keys.index(("overall", "all", contrast))])


@dataclass(frozen=True, eq=False, repr=False)
class ReliabilityPlan:
    """How many words and attributes make a score reliable.

    Attributes
    ----------
    measure, coefficient : str
        As in `BiasFit.reliability`.
    target, prob : float
        The wanted coefficient, and the probability of the intervals.
    listed_words, listed_attributes : float
        Of a class and of a list of the table (harmonic means); of the score of one word, 1 word.
    now : Mapping
        What the coefficient is with those: ``mean, sd, hpdi_low, hpdi_high, p_reached``.
    combinations : DataFrame
        ``words, attributes, mean, sd, hpdi_low, hpdi_high, prob, p_reached, enough``, the leanest
        that is enough first. `p_reached` is the posterior probability that the coefficient is at
        least `target`; `enough` goes by its mean.
    fewest_words : int or None
        With the attributes of the table; None where no number of words is enough.
    fewest_attributes : int or None
        With the words of the table.
    endless_words, endless_attributes : float
        Mean of the coefficient with as many as one likes of the one, and the other as in the table.
    limit : {"", "attributes", "words", "both"}
        What keeps the coefficient below `target` however many there are of the other; ``both``:
        neither more words nor more attributes alone are enough.

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.distance_table("minilm-static", "religion", controls="none")
    >>> fit = bb.fit(table, seed=1, draws=100, tune=100, chains=2)
    >>> plan = bb.simulation.plan_reliability(fit, target=0.5)
    >>> plan.measure, plan.target
    ('weat', 0.5)
    """

    measure: str
    coefficient: str
    target: float
    prob: float
    listed_words: float
    listed_attributes: float
    now: dict[str, float]
    combinations: pd.DataFrame
    fewest_words: int | None
    fewest_attributes: int | None
    endless_words: float
    endless_attributes: float
    limit: str

    @property
    def best(self) -> dict[str, Any] | None:
        """The leanest combination that is enough; None where none of those tried is."""
        row = self.combinations.iloc[0]
        return row.to_dict() if row["enough"] else None

    def __repr__(self) -> str:
        best = (
            "none of those tried"
            if self.best is None
            else "{words:g} x {attributes:g}".format(**self.best)
        )
        return (
            f"<ReliabilityPlan {self.measure}, {self.coefficient}: {self.now['mean']:.2f} with {self.listed_words:.3g} words x "
            f"{self.listed_attributes:.3g} attributes; for {self.target:g}: {best}>"
        )


def plan_reliability(
    fit: BiasFit,
    target: float = 0.8,
    *,
    measure: str = "weat",
    coefficient: str | None = None,
    prob: float = PROB,
    words: Sequence[int] = (3, 4, 5, 6, 8, 10, 12, 15, 20, 30, 50),
    attributes: Sequence[int] = (3, 4, 5, 6, 8, 10, 12, 15, 20, 30, 50),
) -> ReliabilityPlan:
    """Say how many words and attributes make a score reliable, from a fit of your own table.

    Parameters
    ----------
    fit : BiasFit
    target : float in (0, 1)
        The wanted coefficient.
    measure : {"weat", "word", "class", "attribute_set", "mac"}
        The score, see `BiasFit.reliability`.
    coefficient : {"against_zero", "absolute", "relative"}, optional
        By default against zero, for MAC relative.
    prob : float in (0, 1)
        Probability of the intervals.
    words, attributes : sequence of int
        Numbers per class and per list to try. The score of a word is of one word.

    Returns
    -------
    ReliabilityPlan

    Raises
    ------
    InputError
        For an unknown measure, a coefficient that it does not have, or numbers that are none.
    FitError
        Where the model has no such coefficient.

    Notes
    -----
    A decision study (Brennan 2001, chapter 4): what the coefficient is with other numbers follows
    from the spreads.

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.distance_table("minilm-static", "gender", controls=None)
    >>> fit = bb.fit(table, "shared", seed=1, draws=200, pointwise=False)
    >>> plan = bb.simulation.plan_reliability(fit, 0.8, measure="word")
    >>> plan.fewest_attributes > plan.listed_attributes, plan.endless_attributes
    (True, 1.0)
    """
    import pandas as pd

    checks.between(target, "target", 0, 1)
    prob = checks.probability(prob)
    checks.choice(measure, MEASURES, "measure")
    usual = "against_zero" if "against_zero" in MEASURES[measure] else MEASURES[measure][0]
    kind = checks.choice(coefficient or usual, MEASURES[measure], "coefficient", measure)
    words, attributes = _tried(words, "words"), _tried(attributes, "attributes")
    parts = score_components(fit.design, fit.table, fit.draws())[measure, kind]
    if not isinstance(parts, Components):
        raise FitError(
            f"{fit.spec.label} gives {measure} no coefficient that is {kind.replace('_', ' ')}: {LEFT_OUT[parts]}"
        )
    k, m = numbers_of_words(fit.table)
    if measure == "word":
        k, words = 1.0, [1]
    chains = int(fit.idata["posterior"].sizes["chain"])

    def described(k: float, m: float) -> dict[str, float]:
        draws = parts.coefficient(k, m)
        (summary,) = describe_draws(draws.reshape(chains, -1, 1), prob).to_dict("records")
        reached = float((draws >= target).mean())
        errors = {f"mcse_{of}": summary[f"mcse_{of}"] for of in ("mean", "sd", "low", "high")}
        errors["mcse_p_reached"] = float(
            error_of_share(np.array(reached), np.array(summary["ess_bulk"]))
        )
        out = {name: summary[name] for name in ("mean", "sd", "hpdi_low", "hpdi_high", "prob")}
        return {**out, "p_reached": reached, **errors}

    def mean(k: float, m: float) -> float:
        return float(parts.coefficient(k, m).mean())

    rows = [
        {"words": k, "attributes": m, **described(k, m)}
        for k, m in itertools.product(words, attributes)
    ]
    for row in rows:
        row["enough"] = row["mean"] >= target
    # A list is easier found the fewer words it takes, whichever they are.
    rows.sort(key=lambda row: (not row["enough"], row["words"] + row["attributes"], -row["mean"]))
    of_words = 1 if measure == "word" else math.inf
    endless_words, endless_attributes = mean(of_words, m), mean(k, math.inf)
    short = {"attributes": endless_words < target, "words": endless_attributes < target}
    limit = (
        "both"
        if all(short.values())
        else next((name for name, is_short in short.items() if is_short), "")
    )
    return ReliabilityPlan(
        measure=measure,
        coefficient=kind,
        target=target,
        prob=prob,
        listed_words=k,
        listed_attributes=m,
        now=described(k, m),
        combinations=pd.DataFrame(rows),
        fewest_words=None if measure == "word" else _fewest(lambda n: mean(n, m) >= target),
        fewest_attributes=_fewest(lambda n: mean(k, n) >= target),
        endless_words=endless_words,
        endless_attributes=endless_attributes,
        limit=limit,
    )


def _fewest(enough: Callable[[int], bool]) -> int | None:
    """Return the smallest number that is enough, where more are never worse; None where none is."""
    if not enough(_MOST_WORDS):
        return None
    low, high = 0, _MOST_WORDS
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
