"""Plan how many words, prompts, items and repeats make an interval of answers narrow enough.

Tables of answers are simulated with the SDs of a fit, or with given ones, and fitted. Every word of a
group answers every prompt and item, equally often.
"""

from __future__ import annotations

import functools
import itertools
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from bayesbias.core import InputError, checks, describe_error, join_words
from bayesbias.core.conventions import PROB
from bayesbias.core.factors import Factors
from bayesbias.core.progress import announce, ticking
from bayesbias.core.result import opened
from bayesbias.core.workers import Hands, Task
from bayesbias.models.design import Design
from bayesbias.models.spec import ModelSpec, load_model
from bayesbias.studies.responses.fitting import ResponsesResult, fit_responses
from bayesbias.studies.responses.kinds import Kind, kind_named
from bayesbias.studies.responses.table import ESTIMANDS, LABELS, responses_table

PARTS = {"words": "word", "prompts": "template", "items": "item"}
"""The numbers of a plan, and the columns of the labels that they count."""
SDS = (
    "word", "template", "item", "item_by_template", "group_by_item", "group_by_template",
    "group_by_item_by_template", "question",
)  # fmt: skip
"""Effects whose SDs may be given; of those left out it is zero. ``answer`` is that of repeats."""
KINDS = ("number", "choice", "paired")
WITHOUT_END = 100
"""Repeats of 0/1 answers that stand for infinitely many."""
LITTLE_NOISE = 0.01
"""By what the noise of numbers is multiplied then; without any, no model could be fitted."""
SAMPLING: dict[str, Any] = {"draws": 250, "chains": 2, "engine": "quick", "progress": False}
_BATCH = 5  # tables that a worker takes at a time
_CLEAR = 2.0  # standard errors


@dataclass(frozen=True)
class Size:
    """The numbers of a design; a table has each word of a group in each prompt and item."""

    words: int = 1
    prompts: int = 1
    items: int = 1
    repeats: int = 1
    endless: bool = False  # infinitely many repeats

    def doubled(self, name: str) -> Size:
        """Return the design with twice as many of one of its numbers."""
        return self.with_number(name, 2 * getattr(self, name))

    def with_number(self, name: str, n: int) -> Size:
        """Return the design with another number."""
        changed: dict[str, Any] = {name: n}
        return replace(self, **changed)


@dataclass(frozen=True, eq=False)
class Truth:
    """What answers are simulated from.

    Attributes
    ----------
    spec : ModelSpec
    kind : Kind
    values : Mapping of str to (ndarray, list of list of str)
        SDs and means of groups, with the labels of each axis.
    groups, models : list of str
    factors : Mapping of str to Mapping of str to str
        Where groups cross factors.
    columns : frozenset of str
        The columns of labels that may have several.
    apart : bool
        Whether every group has words of its own.
    has_repeats : bool
        Whether it is known how far repeated answers differ.
    """

    spec: ModelSpec
    kind: Kind
    values: Mapping[str, tuple[np.ndarray, list[list[str]]]]
    groups: list[str]
    models: list[str]
    columns: frozenset[str]
    factors: Factors = field(default_factory=dict)
    apart: bool = True
    has_repeats: bool = True

    def given(self, design: Design) -> dict[str, np.ndarray]:
        """Return the values of a design, whose labels are among those that are known."""
        out = {}
        for name, (values, labels) in self.values.items():
            dims = self.spec.parameters[name].dims
            if not labels:
                out[name] = np.broadcast_to(values, design.shape(name))
                continue
            places = []
            for dim, known in zip(dims, labels, strict=True):
                places.append([known.index(label) for label in design.coords[dim]])
            out[name] = values[np.ix_(*places)]
        return out

    def labels(self, size: Size) -> pd.DataFrame:
        """Return the labels of each answer of a design; repeats of a question follow each other."""
        numbers = (size.words, size.prompts, size.items)
        kinds = []
        for column, n in zip(PARTS.values(), numbers, strict=True):
            kinds.append([f"{column} {k}" for k in range(n)] if column in self.columns else [""])
        rows = []
        for model, group, word, template, item in itertools.product(
            self.models, self.groups, *kinds
        ):
            own = f"{word} of {group}" if word and self.apart else word
            rows += [(model, group, own, template, item)] * size.repeats
        frame = pd.DataFrame(rows, columns=[*LABELS])
        cells = frame["group"]  # a factor may have the name of this column
        for name, by_group in self.factors.items():
            frame[name] = cells.map(dict(by_group))
        return frame

    def table(self, frame: pd.DataFrame) -> Any:
        """Return answers with their labels as a table of responses."""
        names = ["word", "template", "item", "model"]
        named: dict[str, Any] = {name: name for name in names if frame[name].ne("").any()}
        named["group"] = [*self.factors] or "group"
        return responses_table(frame, outcome="outcome", **named)


def plan_responses(
    x: Any,
    *,
    width: float | None = None,
    words: int | None = None,
    prompts: int | None = None,
    items: int | None = None,
    repeats: int | None = None,
    contrast: str | None = None,
    estimand: str = "population",
    prob: float = PROB,
    check: int = 20,
    seed: int = 0,
    workers: int | None = None,
    dask: str | None = None,
    progress: bool | None = None,
) -> pd.DataFrame:
    """Find the width of an interval for numbers of words, prompts, items and repeats.

    Tables with the SDs of a fit are simulated and fitted: of the design, of designs with twice as
    many of each number, and with infinitely many repeats, whose width no number of repeats can pass.

    Parameters
    ----------
    x : ResponsesResult, Run, path or mapping
        What `fit_responses` returned, or the folder of its run: posterior means of its SDs are
        taken. Or SDs of numbers of two groups, ``{"word": 0.2, "template": 0.1, "answer": 0.15}``,
        with any of `SDS` and ``answer``, the SD of repeated answers. With ``rate``, the share of
        answers that are 1, they are those of log odds.
    width : float > 0, optional
        Wanted width of the interval.
    words, prompts, items, repeats : int, optional
        The design: numbers of each group, and of answers to a question. By default those of the fit.
    contrast : str, optional
        By default the first.
    estimand : {"population", "new_words", "new_prompts", "listed_words"}
        What the interval is for.
    prob : float in (0, 1)
        Probability of the interval.
    check : int
        Simulated tables of each design, at least two.
    seed : int
        Seed of all random numbers.
    workers : int, optional
        Processes; by default this one alone.
    dask : str, optional
        The address of a Dask scheduler that does the fits instead (extra ``dask``).
    progress : bool, optional
        Whether to show a bar; by default on a terminal.

    Returns
    -------
    DataFrame
        ``design, words, prompts, items, repeats, answers, mean_width, se, width_80, enough``.
        `mean_width` is the mean over the simulated tables with its standard error, and `width_80` the
        width that 80 % of them stay below, which `enough` compares with `width`. ``attrs`` have
        ``contrast, estimand``, ``floor`` (the mean width with infinitely many repeats, missing
        without repeats) and ``first``: the number to raise first, or empty if none clearly helps.

    Raises
    ------
    InputError
        If the fit has covariates, weights or raters, or a number was asked for of which it has one only.

    Examples
    --------
    >>> import bayesbias as bb
    >>> sds = {"word": 0.2, "template": 0.1, "answer": 0.15}
    >>> plan = bb.simulation.plan_responses(sds, words=5, prompts=4, check=4, progress=False)
    >>> plan["design"].tolist()
    ['as given', 'twice the words', 'twice the prompts', 'twice the repeats', 'endless repeats']
    """
    checks.count(check, "check", 2)
    checks.probability(prob)
    checks.choice(estimand, ESTIMANDS, "estimand")
    if width is not None:
        checks.positive(width, "width")
    x = opened(x)
    truth, size = _of_sds(x) if isinstance(x, Mapping) else _of_result(x, contrast)
    wanted = {"words": words, "prompts": prompts, "items": items, "repeats": repeats}
    size = _sized(truth, size, wanted)

    varied = [name for name, column in PARTS.items() if column in truth.columns]
    designs = {"as given": size}
    designs |= {f"twice the {name}": size.doubled(name) for name in varied}
    if truth.has_repeats:
        designs["twice the repeats"] = size.doubled("repeats")
        designs["endless repeats"] = replace(size, repeats=1, endless=True)

    rows = []
    begin = time.perf_counter()
    with Hands(1 if workers is None and dask is None else workers, dask) as hands:
        for name, design in designs.items():
            simulate = functools.partial(_widths, truth, design, contrast, estimand, prob, seed)
            widths = pd.Series(_simulated(simulate, check, hands, name, progress))
            numbers = {part: getattr(design, part) for part in (*PARTS, "repeats")}
            answers = int(np.prod([*numbers.values(), len(truth.groups), len(truth.models)]))
            if design.endless:
                numbers["repeats"] = answers = pd.NA
            row = {"design": name, **numbers, "answers": answers, "mean_width": widths.mean()}
            rows.append({**row, "se": widths.sem(), "width_80": widths.quantile(0.8)})
            if len(rows) == 1:
                ratio = sum(_ratio_of_answers(size, other) for other in designs.values()) - 1
                what = f"Simulating {len(designs) - 1} more designs"
                announce(what, ratio * (time.perf_counter() - begin), progress)

    frame = pd.DataFrame(rows).astype(dict.fromkeys((*PARTS, "repeats", "answers"), "Int64"))
    frame["enough"] = pd.array([pd.NA] * len(frame), "boolean")
    if width is not None:
        frame["enough"] = (frame["width_80"] <= width).astype("boolean")
    frame.attrs["estimand"] = estimand
    frame.attrs["contrast"] = contrast or _first_contrast(truth)
    endless = frame.loc[frame["design"] == "endless repeats", "mean_width"]
    frame.attrs["floor"] = float(endless.iloc[0]) if len(endless) else None
    frame.attrs["first"] = _first_to_raise(frame)
    return frame


def _ratio_of_answers(size: Size, other: Size) -> float:
    """Return how many times as many answers another design has."""
    numbers = [getattr(other, part) / getattr(size, part) for part in (*PARTS, "repeats")]
    return float(np.prod(numbers))


def _of_result(result: Any, contrast: str | None) -> tuple[Truth, Size]:
    """Return what a fit says of answers, and its design."""
    checks.instance(result, ResponsesResult, "x", "a result of fit_responses, its run, or SDs")
    assert isinstance(result, ResponsesResult)
    fit, table, kind = result._fitted(), result.responses, result.answer_kind
    if kind.name not in KINDS:
        raise InputError(f"expected numbers, 0/1 answers or pairs, got {kind.name}", where="x")
    if table.beside:
        problem = (
            f"expected a fit without covariates, weights and raters, got {join_words(table.beside)}"
        )
        raise InputError(problem, where="x")

    draws = fit.parameter_draws()
    values = {}
    for name, parameter in fit.spec.parameters.items():
        if parameter.positive or not fit.spec.is_random(name):
            labels = [fit.design.coords[dim] for dim in parameter.dims]
            values[name] = draws[name].mean(axis=0), labels

    frame = table.frame
    nouns = {noun: column for column, noun in table.nouns.items()}
    columns = {nouns[noun] for noun in result._kinds()}
    # Labels that no group has several of tell nothing about others.
    by_group = frame.groupby(["model", "group"])
    numbers = {}
    for part, column in PARTS.items():
        numbers[part] = int(by_group[column].nunique().median()) if column in columns else 1
    question = frame.groupby([*LABELS], sort=False).size()
    size = Size(repeats=max(1, round(float(question.median()))))
    groups, factors = table.groups, table.factors
    if kind.name == "paired":
        first = contrast or _first_of(result)
        groups, factors = first.split(" - "), {}
        columns &= {*(table.pairing or ())}
    truth = Truth(
        fit.spec,
        kind,
        values,
        groups,
        table.models[:1] if kind.name == "paired" else table.models,
        frozenset(columns),
        factors,
        apart=not table.shares("word"),
        has_repeats=bool((question > 1).any()),
    )
    for part, n in numbers.items():
        size = size.with_number(part, n)
    return truth, size


def _first_of(result: ResponsesResult) -> str:
    """Return the first contrast of a result."""
    return str(result.contrasts(level="overall", families=False)["contrast"].iloc[0])


def _of_sds(sds: Mapping[str, Any]) -> tuple[Truth, Size]:
    """Return what given SDs say of answers of two groups, a and b."""
    is_choice = "rate" in sds
    valid = [*SDS, "rate" if is_choice else "answer"]
    for name, value in sds.items():
        checks.choice(name, valid, "SD of")
        if name == "rate":
            checks.probability(value, "rate")
        else:
            checks.positive(value, f"SD of {name}")
    if not is_choice and "answer" not in sds:
        raise InputError("expected the SD of repeated answers, got none", where="answer")
    kind = kind_named("choice" if is_choice else "number")
    spec = load_model(kind.model)
    values: dict[str, tuple[np.ndarray, list[list[str]]]] = {}
    for name, parameter in spec.parameters.items():
        if parameter.positive:
            values[name] = np.array(sds.get(name.removesuffix("_sd"), 0.0)), []
    mean = np.log(sds["rate"] / (1 - sds["rate"])) if is_choice else 0.0
    values["arm_mean"] = np.array(mean), []
    if not is_choice:
        values["sigma"] = np.array(sds["answer"]), []
    parts = {*itertools.chain(*(name.split("_by_") for name in sds))}
    columns = frozenset(column for column in PARTS.values() if column in parts)
    return Truth(spec, kind, values, ["a", "b"], [""], columns), Size()


def _sized(truth: Truth, size: Size, wanted: Mapping[str, int | None]) -> Size:
    """Return a design with the numbers that are asked for."""
    for name, n in wanted.items():
        if n is None:
            continue
        checks.count(n, name)
        column = PARTS.get(name)
        known = truth.has_repeats if column is None else column in truth.columns
        if n > 1 and not known:
            problem = f"expected 1, got {n}: nothing is known about how {name} differ"
            raise InputError(problem, where=name)
        size = size.with_number(name, n)
    if all(getattr(size, name) < 2 for name, column in PARTS.items() if column in truth.columns):
        names = [name for name, column in PARTS.items() if column in truth.columns]
        problem = f"expected two or more of {join_words(names, 'or')}, got one"
        raise InputError(problem, where="plan")
    return size


def _simulated(
    simulate: Any, tables: int, hands: Hands, name: str, progress: bool | None
) -> list[float]:
    """Return the widths of the tables 0, 1, ... of one design."""
    widths: dict[int, list[float]] = {}
    firsts = range(0, tables, _BATCH)
    tasks = deque(Task(k, simulate, (k, min(_BATCH, tables - k))) for k in firsts)
    with ticking(f"simulating {name}", tables, progress) as tick:
        for first, answer, error in hands.answers(tasks):
            if error is not None:
                problem = f"the simulation of {name} failed: {describe_error(error)}"
                raise InputError(problem) from error
            widths[first] = answer
            tick(len(answer))
    return [width for first in firsts for width in widths[first]]


def _widths(
    truth: Truth,
    size: Size,
    contrast: str | None,
    estimand: str,
    prob: float,
    seed: int,
    first: int,
    count: int,
) -> list[float]:
    """Return the widths of the interval in some simulated tables."""
    if size.endless and truth.kind.name == "choice":
        size = replace(size, repeats=WITHOUT_END)
    labels = truth.labels(size)
    n = len(labels)
    # Any outcomes of the kind: only their labels are used.
    blank = truth.table(
        labels.assign(outcome=np.arange(n) % 2 + 0.5 * (truth.kind.name != "choice"))
    )
    rows, _ = truth.kind.rows(blank, "question_effect" in truth.spec.mu)
    design = Design.of(truth.spec, rows)
    given = truth.given(design)
    if size.endless and truth.kind.name != "choice":
        noise = str(truth.spec.noise["sigma"])
        given[noise] = LITTLE_NOISE * given[noise]

    widths = []
    for number in range(first, first + count):
        own = checks.derived_seed(seed, number)
        drawn = {name: values[0] for name, values in design.prior_draws(1, own, given).items()}
        outcomes = design.outcome_draws(drawn, seed=checks.derived_seed(own, 1))
        table = truth.table(_answers(truth, labels, rows, outcomes, size.repeats))
        result = fit_responses(table, seed=own, **SAMPLING)
        found = result.contrasts(prob, estimand, "overall", families=False)
        found = found[found["scale"] == result.main_scale]
        if contrast is not None:
            checks.choice(contrast, found["contrast"].unique(), "contrast")
            found = found[found["contrast"] == contrast]
        row = found.iloc[0]
        widths.append(float(row["hpdi_high"] - row["hpdi_low"]))
    return widths


def _answers(
    truth: Truth, labels: pd.DataFrame, rows: pd.DataFrame, outcomes: np.ndarray, repeats: int
) -> pd.DataFrame:
    """Return answers with the outcomes of the rows of a fit: counts, differences or numbers."""
    if truth.kind.name == "number":
        return labels.assign(outcome=outcomes)
    if truth.kind.name == "choice":
        place = np.arange(len(labels)) % repeats
        return labels.assign(outcome=(place < np.repeat(outcomes, repeats)).astype(float))
    parts = []
    for group, sign in zip(truth.groups, (0.5, -0.5), strict=True):
        asked = rows[["model", "word", "template", "item"]]
        parts.append(asked.assign(group=group, outcome=sign * outcomes))
    return pd.concat(parts, ignore_index=True)


def _first_contrast(truth: Truth) -> str:
    """Return what is compared where no contrast was named."""
    from bayesbias.studies.responses.factorial import contrasts_of

    blank = truth.labels(Size(words=2, prompts=2, items=2))
    pairs = contrasts_of(truth.table(blank.assign(outcome=np.arange(len(blank)) / 7)))
    return pairs[0].name if pairs else join_words(truth.models[:2])


def _first_to_raise(frame: pd.DataFrame) -> str:
    """Return which number makes the interval narrowest if it is doubled, if any clearly does."""
    doubled = frame[frame["design"].str.startswith("twice the ")]
    if doubled.empty:
        return ""
    best, now = doubled.loc[doubled["mean_width"].idxmin()], frame.iloc[0]
    error = float(np.hypot(best["se"], now["se"]))
    if now["mean_width"] - best["mean_width"] < _CLEAR * error:
        return ""
    return str(best["design"]).removeprefix("twice the ")
