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
from bayesbias.core.digits import as_known
from bayesbias.core.errors import FitError, InputError
from bayesbias.core.workers import Hands
from bayesbias.inference.engine import ENGINES
from bayesbias.inference.estimands import PROB, level_means
from bayesbias.inference.estimates import describe_draws, error_of_share
from bayesbias.inference.posterior import BiasFit
from bayesbias.inference.reliability import (
    LEFT_OUT,
    MEASURES,
    Components,
    numbers_of_words,
    score_components,
)
from bayesbias.simulation.answers import analyse_batch
from bayesbias.simulation.batches import in_batches
from bayesbias.simulation.scenario import Scenario, scenario_frame, true_contrasts, true_parameters

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ReliabilityPlan", "plan_reliability", "sample_size"]

_BATCH = 5  # simulated tables that a worker takes at a time
_FEWEST_FOR_80 = 5  # tables, of which one lies beyond a quantile of 80 %
_DRAWS_PLANNED = 1024  # draws behind a width at known spreads
_MOST_WORDS = 10_000  # beyond which no list of words goes


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
        Number of classes, controls and spreads, and the model that they are of, for which the answer holds; by default
        those of religion/Reddit by the default model (`Scenario.for_claims`).
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
        The address of a Dask scheduler that does the fits instead (extra ``dask``), as of `run_sweep`.

    Returns
    -------
    DataFrame
        ``words, attributes, pairs, known_width, enough, simulated_width, simulated_se, simulated_80``, leanest first
        among those that are enough. `known_width` is the width at known spreads; the last three, mean width of the
        simulated tables, its standard error, and the width that 80 % of them stay below, stand only where tables
        were simulated: the second of two and more, the last of five and more. `enough` goes by `simulated_width`, the mean,
        so that single studies may have a wider interval; it is missing where `known_width` would do and nothing was
        simulated. Only where `check` is 0 does it go by `known_width`.

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

    from bayesbias.core.progress import ticking

    scenario = checks.instance(
        Scenario.for_claims() if scenario is None else scenario, Scenario, "scenario", "a Scenario"
    )
    checks.positive(width, "width")
    checks.seed(seed, most=None)
    prob = checks.probability(prob)
    checks.choice(engine, ENGINES, "engine")
    checks.count(check, "check", 0, checks.MOST_TABLES)
    words, attributes = _tried(words, "words"), _tried(attributes, "attributes")
    known = true_contrasts(scenario)
    checks.choice(contrast, known, "contrast")
    z = 2 * stats.norm.ppf(0.5 + prob / 2)
    classes = len(scenario.words)
    settings = {"prob": prob, "draws": 500, "tune": 500, "chains": 2, "engine": engine}
    hands = Hands(1 if workers is None and dask is None else workers, dask)
    rows: list[dict[str, Any]] = []
    with ticking("combinations", len(words) * len(attributes), progress) as tick:
        for n_words, n_attributes in itertools.product(words, attributes):
            sized = dataclasses.replace(
                scenario, words=(n_words,) * classes, attributes=(n_attributes,) * classes
            )
            pairs, spread = _spread_of(sized, contrast, [seed, n_words, n_attributes])
            row = {"words": n_words, "attributes": n_attributes, "pairs": pairs, "known_width": z * spread}
            rows.append({**row, "enough": bool(z * spread <= width), "sized": sized})
            tick(1)
    # A lean design is little work to set up, whichever of its words are hard to find.
    rows.sort(key=lambda row: (row["words"] + row["attributes"], row["known_width"]))
    with hands:
        for row in (row for row in rows if row["enough"] and check):
            label = f"simulating {row['words']} x {row['attributes']}"
            work = functools.partial(analyse_batch, row["sized"], [scenario.model], seed, settings=settings)
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
    given = checks.several(numbers, "number", name)
    if not given:
        raise InputError(
            "holds no number to try", where=name, found=given, valid="whole numbers of at least 1"
        )
    return list(dict.fromkeys(checks.count(n, name) for n in given))


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
            valid="cells, crossed, hierarchical, shared",
            hint="plan with cells, or crossed",
        ) from None
    theta = np.log(np.concatenate([np.ravel(given[name]) for name in reduced.scales]))
    drawn = reduced.draw_effects(np.tile(theta, (_DRAWS_PLANNED, 1)), _EvenNormals(seed))
    frame = scenario_frame(scenario.words, scenario.attributes, scenario.human, scenario.neutral)
    factors = {
        name: np.broadcast_to(given[name], (_DRAWS_PLANNED, *design.shape(name)))
        for name in design.spec.factors()
    }
    keys, means = level_means(design, frame, {**drawn, **factors}, "population")
    at = {connection: i for i, (level, _, connection) in enumerate(keys) if level == "overall"}
    a, b = contrast.split(" - ")
    return len(frame), float((means[:, at[a]] - means[:, at[b]]).std())


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
        ``words, attributes, mean, sd, hpdi_low, hpdi_high, prob, p_reached, enough``, the leanest that is enough first.
        `p_reached` is the posterior probability that the coefficient is at least `target`; `enough` goes by its mean.
    fewest_words : int or None
        With the attributes of the table; None where no number of words is enough.
    fewest_attributes : int or None
        With the words of the table.
    endless_words, endless_attributes : float
        Mean of the coefficient with as many as one likes of the one, and the other as in the table.
    limit : {"", "attributes", "words", "both"}
        What keeps the coefficient below `target` however many there are of the other; ``both``: neither more words nor
        more attributes alone are enough.

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
            "none of those tried" if self.best is None else "{words:g} x {attributes:g}".format(**self.best)
        )
        now = as_known(self.now, "mean", 2)
        return (
            f"<ReliabilityPlan {self.measure}, {self.coefficient}: {now} with {self.listed_words:.3g} words x "
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
    A decision study (Brennan 2001, chapter 4): what the coefficient is with other numbers follows from the spreads.

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.distance_table("minilm-static", "gender", controls=None)
    >>> fit = bb.fit(table, "shared", seed=1, draws=200, pointwise=False)
    >>> plan = bb.simulation.plan_reliability(fit, 0.8, measure="word")
    >>> plan.fewest_attributes > plan.listed_attributes, plan.endless_attributes
    (True, 1.0)
    """
    checks.instance(fit, BiasFit, "fit", "what bayesbias.fit returns")
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
    listed_words, listed_attributes = numbers_of_words(fit.table)
    if measure == "word":
        listed_words, words = 1.0, [1]
    chains = int(fit.idata["posterior"].sizes["chain"])
    return _planned(
        parts, measure, kind, target, prob, (listed_words, listed_attributes), words, attributes, chains
    )


def _planned(
    parts: Components,
    measure: str,
    kind: str,
    target: float,
    prob: float,
    listed: tuple[float, float],
    words: Sequence[int],
    attributes: Sequence[int],
    chains: int,
) -> ReliabilityPlan:
    import pandas as pd

    def described(k: float, m: float) -> dict[str, float]:
        draws = parts.coefficient(k, m)
        (summary,) = describe_draws(draws.reshape(chains, -1, 1), prob).to_dict("records")
        reached = float((draws >= target).mean())
        errors = {f"mcse_{of}": summary[f"mcse_{of}"] for of in ("mean", "sd", "low", "high")}
        errors["mcse_p_reached"] = float(error_of_share(np.array(reached), np.array(summary["ess_bulk"])))
        out = {name: summary[name] for name in ("mean", "sd", "hpdi_low", "hpdi_high", "prob")}
        return {**out, "p_reached": reached, **errors}

    def mean(k: float, m: float) -> float:
        return float(parts.coefficient(k, m).mean())

    rows = [{"words": k, "attributes": m, **described(k, m)} for k, m in itertools.product(words, attributes)]
    for row in rows:
        row["enough"] = row["mean"] >= target
    # A list is easier found the fewer words it takes, whichever they are.
    rows.sort(key=lambda row: (not row["enough"], row["words"] + row["attributes"], -row["mean"]))
    k, m = listed
    of_words = 1 if measure == "word" else math.inf
    endless_words, endless_attributes = mean(of_words, m), mean(k, math.inf)
    short = {"attributes": endless_words < target, "words": endless_attributes < target}
    limit = (
        "both" if all(short.values()) else next((name for name, is_short in short.items() if is_short), "")
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
