"""Plan how many words make an interval narrow enough, or a score reliable.

A simulation, and a fit, turned round.
"""

from __future__ import annotations

import bisect
import dataclasses
import functools
import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bayesbias.core import checks
from bayesbias.core.errors import FitError, InputError
from bayesbias.core.workers import Hands
from bayesbias.inference import reliability
from bayesbias.inference.estimands import asked_rows
from bayesbias.inference.estimates import describe_draws
from bayesbias.inference.likelihood import NotCollapsible, collapse
from bayesbias.inference.linear import conditional_moments
from bayesbias.inference.posterior import BiasFit
from bayesbias.inference.view import PROB
from bayesbias.simulation import coverage
from bayesbias.simulation.scenario import Scenario, true_contrasts

if TYPE_CHECKING:
    import pandas as pd

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
    from scipy.special import ndtri

    scenario = Scenario.for_claims() if scenario is None else scenario
    checks.positive(width, "width")
    checks.count(check, "check", 0, checks.MOST_TABLES)
    settings = coverage.settings_of(prob, 500, 500, 2, engine)
    checks.choice(contrast, true_contrasts(scenario), "contrast")
    rows: list[dict[str, Any]] = []
    sized: dict[tuple[int, int], Scenario] = {}
    for n, m in itertools.product(_tried(words, "words"), _tried(attributes, "attributes")):
        classes = len(scenario.words)
        own = dataclasses.replace(scenario, words=(n,) * classes, attributes=(m,) * classes)
        pairs, sd = _known_sd(own, contrast)
        sized[n, m] = own
        known = 2 * float(ndtri(0.5 + prob / 2)) * sd
        row: dict[str, Any] = {"words": n, "attributes": m, "pairs": pairs, "known_width": known}
        rows.append({**row, "enough": known <= width})
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
            mine = [r for r in analyzed if (r["level"], r["contrast"]) == ("overall", contrast)]
            widths = pd.Series([r["high"] - r["low"] for r in mine])
            row["simulated_width"], row["simulated_se"] = widths.mean(), widths.sem()
            if check >= _FEWEST_FOR_80:
                row["simulated_80"] = widths.quantile(0.8)
            row["enough"] = passed = bool(row["simulated_width"] <= width)
    rows.sort(key=lambda row: (True, None, False).index(row["enough"]))
    columns = ["words", "attributes", "pairs", "known_width", "enough"]
    columns += ["simulated_width", "simulated_se", "simulated_80"]
    return pd.DataFrame(rows, columns=columns).astype({"enough": "boolean"})


def _tried(numbers: Sequence[int], name: str) -> list[int]:
    """Return the numbers to try, each once."""
    if not (given := [checks.count(n, name) for n in numbers]):
        raise InputError("no number to try", where=name, valid="whole numbers of at least 1")
    return list(dict.fromkeys(given))


def _known_sd(scenario: Scenario, contrast: str) -> tuple[int, float]:
    """Return the number of pairs, and the exact posterior SD of a contrast were the spreads known."""
    design, given = scenario.truth
    try:
        reduced = collapse(design)
    except NotCollapsible as error:
        raise InputError(
            f"widths are known in advance for normal models only: {error}",
            where=scenario.model,
            hint="plan with default, or crossed",
        ) from None
    rows = asked_rows(design, scenario.frame, "population", contrasted=True)
    theta = reduced.joined({name: given[name][None] for name in reduced.scales})
    variance = conditional_moments(reduced, theta, rows.linear)[1][0]
    return len(scenario.frame), math.sqrt(variance[rows.keys.index(("overall", "all", contrast))])


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
        best = self.best and f"{self.best['words']:g} x {self.best['attributes']:g}"
        return (
            f"<ReliabilityPlan {self.measure}, {self.coefficient}: {self.now['mean']:.2f} with "
            f"{self.listed_words:.3g} words x {self.listed_attributes:.3g} attributes; "
            f"for {self.target:g}: {best or 'none of those tried'}>"
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
    checks.probability(prob)
    kinds = reliability.MEASURES[checks.choice(measure, reliability.MEASURES, "measure")]
    usual = "against_zero" if "against_zero" in kinds else kinds[0]
    kind = checks.choice(coefficient or usual, kinds, "coefficient", measure)
    parts = reliability.score_components(fit.design, fit.table, fit.draws())[measure, kind]
    if not isinstance(parts, reliability.Components):
        what = f"{measure} no coefficient that is {kind.replace('_', ' ')}"
        raise FitError(f"{fit.spec.label} gives {what}: {reliability.LEFT_OUT[parts]}")
    k, m = reliability.numbers_of_words(fit.table)
    tried = _tried(words, "words"), _tried(attributes, "attributes")
    if measure == "word":
        k, tried = 1.0, ([1], tried[1])
    chains = int(fit.idata["posterior"].sizes["chain"])

    def described(k: float, m: float) -> dict[str, float]:
        draws = parts.coefficient(k, m)
        (row,) = describe_draws(draws.reshape(chains, -1, 1), prob).to_dict("records")
        out = {name: row[name] for name in ("mean", "sd", "hpdi_low", "hpdi_high", "prob")}
        return {**out, "p_reached": float((draws >= target).mean())}

    def mean(k: float, m: float) -> float:
        return float(parts.coefficient(k, m).mean())

    rows = [{"words": n, "attributes": a, **described(n, a)} for n, a in itertools.product(*tried)]
    for row in rows:
        row["enough"] = row["mean"] >= target
    # A list is easier found the fewer words it takes, whichever they are.
    rows.sort(key=lambda row: (not row["enough"], row["words"] + row["attributes"], -row["mean"]))
    endless_words = mean(1 if measure == "word" else math.inf, m)
    endless_attributes = mean(k, math.inf)
    short = endless_words < target, endless_attributes < target
    limits = {(True, True): "both", (True, False): "attributes", (False, True): "words"}
    fewest_words = None if measure == "word" else _fewest(lambda n: mean(n, m) >= target)
    return ReliabilityPlan(
        measure,
        kind,
        target,
        prob,
        listed_words=k,
        listed_attributes=m,
        now=described(k, m),
        combinations=pd.DataFrame(rows),
        fewest_words=fewest_words,
        fewest_attributes=_fewest(lambda n: mean(k, n) >= target),
        endless_words=endless_words,
        endless_attributes=endless_attributes,
        limit=limits.get(short, ""),
    )


def _fewest(enough: Callable[[int], bool]) -> int | None:
    """Return the smallest number that is enough, where more are never worse; None where none is."""
    fewest = 1 + bisect.bisect_left(range(1, _MOST_WORDS + 1), True, key=enough)
    return fewest if fewest <= _MOST_WORDS else None
